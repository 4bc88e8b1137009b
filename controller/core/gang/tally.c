/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/tally.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "controller/core/gang/offer.h"

/* Those of an offer that are kept although they were not used of late. */
#define KEPT 6

struct tg_tally {
    const struct tg_fleet *fleet;
    char *label; /* NULL: there are no regions */
    uint32_t cap;
    bool exact;
    uint64_t used; /* in which decision last */
    const struct tg_regions *regions;
    uint64_t serial; /* of the regions that were counted */
    struct tg_tally_sum all, *sums;
    uint32_t n_sums;
    uint32_t *counted; /* in which region each row is counted */
    size_t n_rows, rows_size;
};

/* --- one -------------------------------------------------------------------------------------- */

static void free_tally(struct tg_tally *tally)
{
    free(tally->label);
    free(tally->sums);
    free(tally->counted);
    free(tally);
}

/* Rows and regions that are new have nothing yet. */
static void make_room(struct tg_tally *tally)
{
    size_t n = tally->fleet->n_nodes;
    uint32_t regions = tg_regions_count(tally->regions);

    if (n > tally->rows_size) {
        tally->rows_size = n + n / 8 + 16;
        tally->counted =
            tg_xreallocarray(tally->counted, tally->rows_size, sizeof(*tally->counted));
    }
    for (; tally->n_rows < n; tally->n_rows++)
        tally->counted[tally->n_rows] = TG_NO_REGION;
    if (regions > tally->n_sums) {
        uint32_t size = regions + regions / 8 + 16;

        tally->sums = tg_xreallocarray(tally->sums, size, sizeof(*tally->sums));
        memset(&tally->sums[tally->n_sums], 0, (size - tally->n_sums) * sizeof(*tally->sums));
        tally->n_sums = size;
    }
}

/* The regions as they are now. false: they are not those that were counted. */
static bool open_regions(struct tg_tally *tally)
{
    bool same;

    if (tally->label == NULL)
        return true;
    tally->regions = tg_regions_get(tally->fleet, tally->label);
    same = tg_regions_serial(tally->regions) == tally->serial;
    tally->serial = tg_regions_serial(tally->regions);
    make_room(tally);
    return same;
}

static void add(const struct tg_tally *tally, struct tg_tally_sum *sum,
                const struct tg_offer_node *node)
{
    sum->places += node->copies < tally->cap ? node->copies : tally->cap;
    sum->free += node->free;
    sum->unknown += node->copies > 0 && (tally->exact || node->exact) ? 1 : 0;
}

static void subtract(const struct tg_tally *tally, struct tg_tally_sum *sum,
                     const struct tg_offer_node *node)
{
    sum->places -= node->copies < tally->cap ? node->copies : tally->cap;
    sum->free -= node->free;
    sum->unknown -= node->copies > 0 && (tally->exact || node->exact) ? 1 : 0;
}

static void move(struct tg_tally *tally, size_t row, const struct tg_offer_node *before,
                 const struct tg_offer_node *now)
{
    uint32_t from = TG_NO_REGION, to = TG_NO_REGION;

    subtract(tally, &tally->all, before);
    add(tally, &tally->all, now);
    if (tally->label == NULL)
        return;
    from = tally->counted[row];
    to = tg_regions_of(tally->regions, row);
    if (from != TG_NO_REGION)
        subtract(tally, &tally->sums[from], before);
    if (to != TG_NO_REGION)
        add(tally, &tally->sums[to], now);
    tally->counted[row] = to;
}

static void count(struct tg_tally *tally, const struct tg_offer_node *nodes, size_t n)
{
    static const struct tg_offer_node nothing;

    tally->all = (struct tg_tally_sum){.places = 0};
    if (tally->n_sums > 0)
        memset(tally->sums, 0, tally->n_sums * sizeof(*tally->sums));
    for (size_t i = 0; i < tally->n_rows; i++)
        tally->counted[i] = TG_NO_REGION;
    for (size_t i = 0; i < n; i++)
        move(tally, i, &nothing, &nodes[i]);
}

/* --- all of an offer -------------------------------------------------------------------------- */

void tg_tallies_done(struct tg_tallies *tallies)
{
    for (size_t i = 0; i < tallies->n; i++)
        free_tally(tallies->items[i]);
    free(tallies->items);
    *tallies = (struct tg_tallies){.n = 0};
}

static void forget_idle(struct tg_tallies *tallies, uint64_t decision)
{
    while (tallies->n > KEPT) {
        size_t oldest = 0;

        for (size_t i = 1; i < tallies->n; i++) {
            if (tallies->items[i]->used < tallies->items[oldest]->used)
                oldest = i;
        }
        if (tallies->items[oldest]->used >= decision)
            return;
        free_tally(tallies->items[oldest]);
        tallies->items[oldest] = tallies->items[--tallies->n];
    }
}

void tg_tallies_open(struct tg_tallies *tallies, const struct tg_offer_node *nodes, size_t n,
                     uint64_t decision)
{
    forget_idle(tallies, decision);
    for (size_t i = 0; i < tallies->n; i++) {
        if (!open_regions(tallies->items[i]))
            count(tallies->items[i], nodes, n);
    }
}

void tg_tallies_count(struct tg_tallies *tallies, const struct tg_offer_node *nodes, size_t n)
{
    for (size_t i = 0; i < tallies->n; i++) {
        (void)open_regions(tallies->items[i]);
        count(tallies->items[i], nodes, n);
    }
}

void tg_tallies_move(struct tg_tallies *tallies, size_t row, const struct tg_offer_node *before,
                     const struct tg_offer_node *now)
{
    for (size_t i = 0; i < tallies->n; i++)
        move(tallies->items[i], row, before, now);
}

static struct tg_tally *add_tally(struct tg_tallies *tallies, const char *label, uint32_t cap)
{
    struct tg_tally *tally = tg_xcalloc(1, sizeof(*tally));

    *tally = (struct tg_tally){.fleet = tallies->fleet,
                               .label = label == NULL ? NULL : tg_xstrdup(label),
                               .cap = cap,
                               .exact = tallies->exact};
    if (tallies->n == tallies->size) {
        tallies->size = tallies->size + tallies->size / 2 + 4;
        tallies->items = tg_xreallocarray(tallies->items, tallies->size, sizeof(struct tg_tally *));
    }
    tallies->items[tallies->n++] = tally;
    return tally;
}

const struct tg_tally *tg_tallies_find(struct tg_tallies *tallies, const char *label, size_t cap,
                                       const struct tg_offer_node *nodes, size_t n,
                                       uint64_t decision)
{
    uint32_t most = cap < UINT32_MAX ? (uint32_t)cap : UINT32_MAX;
    struct tg_tally *tally = NULL;

    for (size_t i = 0; i < tallies->n && tally == NULL; i++) {
        if (tallies->items[i]->cap == most && tg_streq(tallies->items[i]->label, label))
            tally = tallies->items[i];
    }
    if (tally == NULL) {
        tally = add_tally(tallies, label, most);
        (void)open_regions(tally);
        count(tally, nodes, n);
    }
    tally->used = decision;
    return tally;
}

size_t tg_tallies_bytes(const struct tg_tallies *tallies)
{
    size_t bytes = 0;

    for (size_t i = 0; i < tallies->n; i++)
        bytes += tallies->items[i]->rows_size * sizeof(uint32_t) +
                 tallies->items[i]->n_sums * sizeof(struct tg_tally_sum);
    return bytes;
}

/* --- questions -------------------------------------------------------------------------------- */

const struct tg_tally_sum *tg_tally_all(const struct tg_tally *tally)
{
    return &tally->all;
}

const struct tg_regions *tg_tally_regions(const struct tg_tally *tally)
{
    return tally->regions;
}

const struct tg_tally_sum *tg_tally_region(const struct tg_tally *tally, uint32_t region)
{
    return &tally->sums[region];
}
