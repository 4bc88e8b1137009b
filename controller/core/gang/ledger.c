/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/ledger.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "controller/core/gang/claim.h"
#include "controller/core/gang/offer.h"
#include "controller/core/model/sort.h"

/* Arrivals that are remembered, and what one counts for at first: enough for it to fade slowly. */
#define WINDOW ((int64_t)8192)
#define ONE ((int64_t)64)
/* A new mix is due when so much more has come: the n-th part. */
#define RENEW 4

struct entry {
    struct tg_pack_request request;
    int64_t arrived; /* times ONE */
    int64_t given;
};

struct ledger {
    struct tg_kinds *kinds;
    uint64_t kinds_version;
    struct entry entries[TG_MIX_TYPES_MAX];
    size_t n;
    int64_t arrived; /* of all, times ONE */
    int64_t fresh;   /* since the mix was last renewed, in arrivals */
    bool given;
    bool changed; /* what is given */
    uint64_t version;
};

static void free_ledger(void *data)
{
    struct ledger *ledger = data;

    tg_kinds_free(ledger->kinds);
    free(ledger);
}

static struct ledger *ledger_of(const struct tg_fleet *fleet)
{
    void **kept = tg_fleet_learned(fleet, free_ledger);
    struct ledger *ledger = *kept;

    if (ledger == NULL) {
        ledger = *kept = tg_xcalloc(1, sizeof(*ledger));
        ledger->kinds = tg_kinds_new(fleet);
    }
    return ledger;
}

struct tg_kinds *tg_ledger_kinds(const struct tg_fleet *fleet, uint64_t *ret_version)
{
    struct ledger *ledger = ledger_of(fleet);
    uint64_t version = tg_kinds_update(ledger->kinds);

    if (version != ledger->kinds_version) {
        for (size_t i = 0; i < ledger->n; i++)
            ledger->entries[i].request.kinds =
                tg_kinds_renumbered(ledger->kinds, ledger->entries[i].request.kinds);
        ledger->kinds_version = version;
        ledger->version++;
    }
    *ret_version = version;
    return ledger->kinds;
}

uint64_t tg_ledger_version(const struct tg_fleet *fleet)
{
    return ledger_of(fleet)->version;
}

/* --- requests --------------------------------------------------------------------------------- */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_requests(const struct tg_pack_request *a, const struct tg_pack_request *b)
{
    int order = compare_numbers(a->cards, b->cards);

    if (order == 0)
        order = compare_numbers(a->share, b->share);
    if (order == 0)
        order = compare_numbers(a->kinds, b->kinds);
    if (order == 0)
        order = compare_numbers(a->place, b->place);
    if (order == 0)
        order = compare_numbers((uint64_t)a->cpu, (uint64_t)b->cpu);
    return order != 0 ? order : compare_numbers((uint64_t)a->memory, (uint64_t)b->memory);
}

/* The place of the request, or one for it: that of the one of which least is remembered; NULL: all
 * are given. */
static struct entry *entry_of(struct ledger *ledger, const struct tg_pack_request *request)
{
    struct entry *spare = NULL;

    for (size_t i = 0; i < ledger->n; i++) {
        struct entry *e = &ledger->entries[i];

        if (compare_requests(&e->request, request) == 0)
            return e;
        if (e->given == 0 && (spare == NULL || e->arrived < spare->arrived))
            spare = e;
    }
    if (ledger->n < TG_MIX_TYPES_MAX / 2)
        spare = &ledger->entries[ledger->n++];
    if (spare == NULL)
        return NULL;
    ledger->arrived -= spare->arrived;
    *spare = (struct entry){.request = *request};
    return spare;
}

static int add_needs(struct tg_ask_book *book, const struct tg_resource_claim *claim,
                     struct tg_need *needs, size_t *n, struct tg_error *err)
{
    const struct tg_device_claim *devices = claim->spec == NULL ? NULL : claim->spec->devices;
    int rc = 0;

    for (size_t i = 0; rc == 0 && devices != NULL && i < devices->requests.n; i++) {
        const struct tg_device_request *request = &devices->requests.items[i];
        /* Of alternatives the first one is what is wanted. */
        const struct tg_exact_request *exactly =
            request->first_available.n > 0 ? &request->first_available.items[0] : request->exactly;

        if (exactly == NULL || (exactly->admin_access.set && exactly->admin_access.value))
            continue;
        rc = tg_ask_book_add(book, exactly, &needs[*n].ask, err);
        needs[*n].count = tg_request_count(exactly);
        *n += rc == 0;
    }
    return rc;
}

int tg_ledger_request(const struct tg_fleet *fleet, const struct tg_piece *piece,
                      struct tg_arena *arena, struct tg_pack_request *ret, struct tg_error *err)
{
    struct tg_ask_book book;
    struct tg_demand demand = {.n = 0};
    struct tg_need *needs;
    uint64_t version;
    size_t n = 0;
    int rc = tg_core_alloc(arena, tg_offer_count_slots(piece), sizeof(*needs), &needs, err);

    tg_ask_book_init(&book, fleet, arena);
    if (rc == 0)
        rc = tg_demand_sum(piece->pods, piece->n_pods, arena, &demand, err);
    for (size_t i = 0; rc == 0 && i < piece->n_claims; i++)
        rc = add_needs(&book, piece->claims[i], needs, &n, err);
    if (rc == 0)
        tg_kinds_request(tg_ledger_kinds(fleet, &version), &book, needs, n, &demand, ret);
    return rc;
}

/* --- counts ----------------------------------------------------------------------------------- */

static int find(struct tg_fleet *fleet, const struct tg_piece *piece, struct tg_arena *arena,
                struct entry **ret, struct tg_error *err)
{
    struct tg_pack_request request;
    int rc = tg_ledger_request(fleet, piece, arena, &request, err);

    *ret = rc < 0 ? NULL : entry_of(ledger_of(fleet), &request);
    return rc;
}

int tg_learn_arrived(struct tg_fleet *fleet, const struct tg_piece *piece, size_t n,
                     struct tg_arena *arena, struct tg_error *err)
{
    struct ledger *ledger = ledger_of(fleet);
    struct entry *entry;
    int rc = find(fleet, piece, arena, &entry, err);

    if (entry == NULL)
        return rc;
    entry->arrived += (int64_t)n * ONE;
    ledger->arrived += (int64_t)n * ONE;
    ledger->fresh += (int64_t)n;
    return 0;
}

int tg_learn_given(struct tg_fleet *fleet, const struct tg_piece *piece, int64_t count,
                   struct tg_arena *arena, struct tg_error *err)
{
    struct ledger *ledger = ledger_of(fleet);
    struct entry *entry;
    int rc = find(fleet, piece, arena, &entry, err);

    if (entry == NULL)
        return rc;
    entry->given += count;
    ledger->given = ledger->changed = true;
    return 0;
}

void tg_learn_levels(struct tg_fleet *fleet, const struct tg_level *levels, size_t n)
{
    tg_kinds_set_levels(ledger_of(fleet)->kinds, levels, n);
}

static void fade(struct ledger *ledger)
{
    ledger->arrived = 0;
    for (size_t i = 0; i < ledger->n; i++) {
        ledger->entries[i].arrived /= 2;
        ledger->arrived += ledger->entries[i].arrived;
    }
}

void tg_learn_settle(struct tg_fleet *fleet)
{
    struct ledger *ledger = ledger_of(fleet);
    int64_t old;

    while (ledger->arrived > WINDOW * ONE)
        fade(ledger);
    old = ledger->arrived / ONE - ledger->fresh;
    if (!ledger->changed && (ledger->given || ledger->fresh == 0 || ledger->fresh * RENEW < old))
        return;
    ledger->fresh = 0;
    ledger->changed = false;
    ledger->version++;
}

static int by_request(const void *a, const void *b)
{
    return compare_requests(&((const struct tg_mix_type *)a)->request,
                            &((const struct tg_mix_type *)b)->request);
}

bool tg_ledger_mix(const struct tg_fleet *fleet, struct tg_mix *ret)
{
    const struct ledger *ledger = ledger_of(fleet);

    ret->n = 0;
    ret->arrivals = 0;
    for (size_t i = 0; i < ledger->n; i++) {
        const struct entry *e = &ledger->entries[i];
        int64_t arrived = ledger->given ? e->given : e->arrived;

        if (arrived == 0)
            continue;
        ret->types[ret->n++] = (struct tg_mix_type){.request = e->request, .arrived = arrived};
        ret->arrivals += arrived;
    }
    qsort(ret->types, ret->n, sizeof(ret->types[0]), by_request);
    return ledger->given;
}
