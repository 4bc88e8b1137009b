/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/domain.h"

#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/gang/offer.h"
#include "controller/core/model/sort.h"

/* --- which is a node in? -----------------------------------------------------------------------
 */

/* What all devices of the node that members could use say; NULL: different things, or nothing. */
static int value_of_devices(const struct tg_board *board, const struct tg_level *level, size_t node,
                            const char **ret, struct tg_error *err)
{
    const struct tg_fleet_node *row = &board->fleet->nodes[node];

    char value[TG_FLEET_ATTRIBUTE], first[TG_FLEET_ATTRIBUTE] = "";

    *ret = NULL;
    for (size_t i = 0; i < row->n_devices; i++) {
        bool wanted = false;
        int rc = 0;

        if (tg_board_usable(&board->fleet->devices[row->devices[i]]))
            rc = tg_ask_any(&board->book, row->devices[i], &wanted, err);
        if (rc < 0)
            return rc;
        if (!wanted)
            continue;
        if (!tg_fleet_attribute(board->fleet, row->devices[i], level->device_attribute, value) ||
            (first[0] != '\0' && strcmp(first, value) != 0))
            return 0;
        memcpy(first, value, sizeof(first));
    }
    if (first[0] == '\0')
        return 0;
    *ret = tg_arena_strdup(board->arena, first);
    return *ret != NULL ? 0
                        : tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                       "the decision needs more memory than its budget");
}

static bool is_host(const struct tg_level *level)
{
    return level->device_attribute == NULL &&
           (level->node_label == NULL || tg_streq(level->name, TG_LEVEL_HOST));
}

int tg_domain_value(const struct tg_board *board, const struct tg_level *level, size_t node,
                    const char **ret, struct tg_error *err)
{
    const struct tg_fleet_node *row = &board->fleet->nodes[node];

    *ret = NULL;
    if (row->object == NULL)
        return 0;
    if (level->device_attribute != NULL)
        return value_of_devices(board, level, node, ret, err);
    *ret = is_host(level) ? row->name : tg_meta_label(row->object->metadata, level->node_label);
    return 0;
}

static int number_hosts(const struct tg_board *board, const struct tg_scope *scope,
                        struct tg_numbering *ret)
{
    for (size_t i = 0; i < scope->n; i++) {
        const struct tg_fleet_node *row = &board->fleet->nodes[scope->nodes[i]];

        ret->of[i] = row->object == NULL ? TG_NO_DOMAIN : (uint32_t)ret->n;
        if (row->object != NULL)
            ret->names[ret->n++] = row->name;
    }
    return 0;
}

static int number_regions(const struct tg_board *board, const struct tg_level *level,
                          const struct tg_scope *scope, struct tg_numbering *ret,
                          struct tg_error *err)
{
    const struct tg_regions *regions = tg_regions_get(board->fleet, level->node_label);
    uint32_t *numbers; /* of each region: 1 + its domain */
    int rc =
        tg_core_alloc(board->arena, tg_regions_count(regions), sizeof(*numbers), &numbers, err);

    for (size_t i = 0; rc == 0 && i < scope->n; i++) {
        uint32_t region = tg_regions_of(regions, scope->nodes[i]);

        ret->of[i] = TG_NO_DOMAIN;
        if (region == TG_NO_REGION)
            continue;
        if (numbers[region] == 0) {
            ret->names[ret->n++] = tg_regions_name(regions, region);
            numbers[region] = (uint32_t)ret->n;
        }
        ret->of[i] = numbers[region] - 1;
    }
    return rc;
}

struct valued {
    const char *value;
    size_t at; /* in the scope */
};

static int by_value(const void *pa, const void *pb, const void *context)
{
    (void)context;
    return strcmp(((const struct valued *)pa)->value, ((const struct valued *)pb)->value);
}

static int number_values(const struct tg_board *board, const struct tg_level *level,
                         const struct tg_scope *scope, struct tg_numbering *ret,
                         struct tg_error *err)
{
    struct valued *items;
    const void **order;
    size_t n = 0;
    int rc = tg_core_alloc(board->arena, scope->n, sizeof(*items), &items, err);

    if (rc == 0)
        rc = tg_core_alloc(board->arena, scope->n, sizeof(*order), &order, err);
    for (size_t i = 0; rc == 0 && i < scope->n; i++) {
        ret->of[i] = TG_NO_DOMAIN;
        items[n].at = i;
        rc = tg_domain_value(board, level, scope->nodes[i], &items[n].value, err);
        if (items[n].value == NULL)
            continue;
        order[n] = &items[n];
        n++;
    }
    if (rc == 0)
        rc = tg_core_sort(order, n, by_value, NULL, board->arena, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct valued *item = order[i];

        if (i == 0 || by_value(order[i - 1], item, NULL) != 0)
            ret->names[ret->n++] = item->value;
        ret->of[item->at] = (uint32_t)ret->n - 1;
    }
    return rc;
}

int tg_domains_number(const struct tg_board *board, const struct tg_level *level,
                      const struct tg_scope *scope, struct tg_numbering *ret, struct tg_error *err)
{
    int rc;

    *ret = (struct tg_numbering){.n = 0};
    rc = tg_core_alloc_unset(board->arena, scope->n, sizeof(*ret->of), &ret->of, err);
    if (rc == 0)
        rc = tg_core_alloc_unset(board->arena, scope->n, sizeof(*ret->names), &ret->names, err);
    if (rc < 0)
        return rc;
    if (is_host(level))
        return number_hosts(board, scope, ret);
    return level->device_attribute == NULL ? number_regions(board, level, scope, ret, err)
                                           : number_values(board, level, scope, ret, err);
}

/* --- what is there? ----------------------------------------------------------------------------
 */

static int compare_domains(const void *pa, const void *pb, const void *context)
{
    const struct tg_domain *a = pa, *b = pb;

    (void)context;
    if (a->emptiest && a->free != b->free)
        return a->free > b->free ? -1 : 1;
    if (!a->emptiest && a->room != b->room)
        return a->room < b->room ? -1 : 1;
    if (a->free != b->free)
        return a->free < b->free ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void sum_up(const struct tg_board *board, struct tg_domain *domain)
{
    domain->room = domain->places = 0;
    for (size_t k = 0; k < board->n_groups; k++) {
        domain->room += domain->rooms[k];
        domain->places +=
            domain->rooms[k] < board->groups[k].n ? domain->rooms[k] : board->groups[k].n;
    }
}

/* By its nodes, which are read. */
static int measure(struct tg_board *board, struct tg_domain *domain, size_t *rooms,
                   struct tg_error *err)
{
    int rc = tg_board_read(board, &domain->scope, err);

    if (rc < 0)
        return rc;
    domain->free = 0;
    domain->rooms = rooms;
    for (size_t i = 0; i < domain->scope.n; i++)
        domain->free += board->free_wanted[domain->scope.nodes[i]];
    for (size_t k = 0; k < board->n_groups; k++) {
        rooms[k] = 0;
        for (size_t i = 0; i < domain->scope.n; i++)
            rooms[k] += board->groups[k].capacity[domain->scope.nodes[i]];
    }
    sum_up(board, domain);
    return 0;
}

int tg_domain_open(struct tg_board *board, struct tg_domain *domain, struct tg_error *err)
{
    size_t *nodes;
    int rc = 0;

    if (domain->scope.nodes != NULL)
        return tg_board_read(board, &domain->scope, err);
    if (domain->regions == NULL) {
        rc = tg_board_everything(board, &domain->scope, err);
        return rc < 0 ? rc : tg_board_read(board, &domain->scope, err);
    }
    rc = tg_core_alloc_unset(board->arena, domain->scope.n, sizeof(*nodes), &nodes, err);
    if (rc == 0)
        rc = tg_regions_nodes(domain->regions, domain->region, board->arena, nodes, err);
    if (rc < 0)
        return rc;
    domain->scope.nodes = nodes;
    return tg_board_read(board, &domain->scope, err);
}

/* --- by sums -----------------------------------------------------------------------------------
 */

/* Do the offers tell all groups apart from the node that they are fixed to? */
static bool has_sums(const struct tg_board *board)
{
    for (size_t k = 0; k < board->n_groups; k++) {
        if (board->groups[k].piece->fixed_node != NULL)
            return false;
    }
    return true;
}

/* Devices are counted once for each offer, so that sums of several do not tell how many there are
 * for all. */
static bool is_one_offer(const struct tg_board *board)
{
    for (size_t k = 1; k < board->n_groups; k++) {
        if (board->groups[k].offer != board->groups[0].offer)
            return false;
    }
    return true;
}

/* The domain by the sums, one a group; by its nodes where they are not enough. */
static int tell(struct tg_board *board, struct tg_domain *domain,
                const struct tg_tally_sum *const *sums, size_t *rooms, struct tg_error *err)
{
    bool known = true;
    int rc = 0;

    domain->rooms = rooms;
    for (size_t k = 0; k < board->n_groups; k++) {
        rooms[k] = sums[k]->places;
        domain->free = sums[k]->free > domain->free ? sums[k]->free : domain->free;
        known = known && sums[k]->unknown == 0;
    }
    sum_up(board, domain);
    if (known && (is_one_offer(board) || !tg_domain_may_hold(board, domain)))
        return 0;
    rc = tg_domain_open(board, domain, err);
    return rc < 0 ? rc : measure(board, domain, rooms, err);
}

static int open_tallies(const struct tg_board *board, const char *label,
                        const struct tg_tally ***ret, const struct tg_tally_sum ***ret_sums,
                        struct tg_error *err)
{
    int rc = tg_core_alloc(board->arena, board->n_groups, sizeof(**ret), ret, err);

    if (rc == 0)
        rc = tg_core_alloc(board->arena, board->n_groups, sizeof(**ret_sums), ret_sums, err);
    for (size_t k = 0; rc == 0 && k < board->n_groups; k++)
        (*ret)[k] = tg_offer_tally(board->groups[k].offer, label, board->groups[k].n);
    return rc;
}

static int find_by_sums(struct tg_board *board, const struct tg_level *level,
                        struct tg_domains *ret, struct tg_error *err)
{
    const struct tg_regions *regions = tg_regions_get(board->fleet, level->node_label);
    uint32_t n = tg_regions_count(regions);
    bool emptiest = tg_rank_spreads(board->groups[0].rank);
    const struct tg_tally **tallies;
    const struct tg_tally_sum **sums;
    size_t *rooms;
    int rc = open_tallies(board, level->node_label, &tallies, &sums, err);

    if (rc == 0)
        rc = tg_core_alloc_unset(board->arena, n, sizeof(*ret->items), &ret->items, err);
    if (rc == 0)
        rc = tg_core_alloc_unset(board->arena, n * board->n_groups, sizeof(*rooms), &rooms, err);
    for (uint32_t r = 0; rc == 0 && r < n; r++) {
        struct tg_domain *domain = &ret->items[ret->n];

        if (tg_regions_name(regions, r) == NULL)
            continue;
        *domain = (struct tg_domain){.name = tg_regions_name(regions, r),
                                     .scope = {.n = tg_regions_size(regions, r)},
                                     .emptiest = emptiest,
                                     .regions = regions,
                                     .region = r};
        for (size_t k = 0; k < board->n_groups; k++)
            sums[k] = tg_tally_region(tallies[k], r);
        rc = tell(board, domain, sums, rooms + ret->n++ * board->n_groups, err);
    }
    return rc;
}

int tg_domain_whole(struct tg_board *board, struct tg_domain *ret, struct tg_error *err)
{
    const struct tg_tally **tallies;
    const struct tg_tally_sum **sums;
    size_t *rooms;
    int rc = tg_core_alloc(board->arena, board->n_groups, sizeof(*rooms), &rooms, err);

    *ret = (struct tg_domain){.name = "", .emptiest = tg_rank_spreads(board->groups[0].rank)};
    if (rc < 0)
        return rc;
    if (!has_sums(board)) {
        rc = tg_domain_open(board, ret, err);
        return rc < 0 ? rc : measure(board, ret, rooms, err);
    }
    rc = open_tallies(board, NULL, &tallies, &sums, err);
    for (size_t k = 0; rc == 0 && k < board->n_groups; k++)
        sums[k] = tg_tally_all(tallies[k]);
    return rc < 0 ? rc : tell(board, ret, sums, rooms, err);
}

/* --- by nodes ----------------------------------------------------------------------------------
 */

/* The nodes of each domain one after the other, in the order of the scope. */
static int list_nodes(const struct tg_board *board, const struct tg_scope *scope,
                      const struct tg_numbering *numbering, struct tg_domain *domains,
                      struct tg_error *err)
{
    size_t *nodes, *next, at = 0;
    int rc = tg_core_alloc_unset(board->arena, scope->n, sizeof(*nodes), &nodes, err);

    if (rc == 0)
        rc = tg_core_alloc(board->arena, numbering->n, sizeof(*next), &next, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < scope->n; i++) {
        if (numbering->of[i] != TG_NO_DOMAIN)
            domains[numbering->of[i]].scope.n++;
    }
    for (size_t i = 0; i < numbering->n; at += domains[i++].scope.n) {
        domains[i].scope.nodes = nodes + at;
        next[i] = at;
    }
    for (size_t i = 0; i < scope->n; i++) {
        if (numbering->of[i] != TG_NO_DOMAIN)
            nodes[next[numbering->of[i]]++] = scope->nodes[i];
    }
    return 0;
}

static int find_by_nodes(struct tg_board *board, const struct tg_level *level,
                         const struct tg_scope *scope, struct tg_domains *ret, struct tg_error *err)
{
    bool emptiest = tg_rank_spreads(board->groups[0].rank);
    struct tg_numbering numbering;
    size_t *rooms;
    int rc = tg_domains_number(board, level, scope, &numbering, err);

    if (rc == 0)
        rc = tg_core_alloc(board->arena, numbering.n, sizeof(*ret->items), &ret->items, err);
    if (rc == 0)
        rc = tg_core_alloc_unset(board->arena, numbering.n * board->n_groups, sizeof(*rooms),
                                 &rooms, err);
    if (rc == 0)
        rc = list_nodes(board, scope, &numbering, ret->items, err);
    for (; rc == 0 && ret->n < numbering.n; ret->n++) {
        ret->items[ret->n].name = numbering.names[ret->n];
        ret->items[ret->n].emptiest = emptiest;
        rc = measure(board, &ret->items[ret->n], rooms + ret->n * board->n_groups, err);
    }
    return rc;
}

static int sort_domains(const struct tg_board *board, struct tg_domains *ret, struct tg_error *err)
{
    struct tg_domain *sorted;
    const void **order;
    int rc = tg_core_alloc_unset(board->arena, ret->n, sizeof(*order), &order, err);

    if (rc == 0)
        rc = tg_core_alloc_unset(board->arena, ret->n, sizeof(*sorted), &sorted, err);
    for (size_t i = 0; rc == 0 && i < ret->n; i++)
        order[i] = &ret->items[i];
    if (rc == 0)
        rc = tg_core_sort(order, ret->n, compare_domains, NULL, board->arena, err);
    for (size_t i = 0; rc == 0 && i < ret->n; i++)
        sorted[i] = *(const struct tg_domain *)order[i];
    ret->items = sorted;
    return rc;
}

int tg_domains_find(struct tg_board *board, const struct tg_level *level,
                    const struct tg_scope *scope, struct tg_domains *ret, struct tg_error *err)
{
    struct tg_scope everything;
    int rc = 0;

    *ret = (struct tg_domains){.n = 0};
    if (scope == NULL && !is_host(level) && level->device_attribute == NULL && has_sums(board)) {
        rc = find_by_sums(board, level, ret, err);
        return rc < 0 ? rc : sort_domains(board, ret, err);
    }
    if (scope == NULL)
        rc = tg_board_everything(board, &everything, err);
    if (rc == 0)
        rc = find_by_nodes(board, level, scope == NULL ? &everything : scope, ret, err);
    return rc < 0 ? rc : sort_domains(board, ret, err);
}

/* Lists the nodes of all regions together: they come in order, so that nothing is sorted. */
static int list_regions(struct tg_board *board, const struct tg_regions *regions,
                        struct tg_domains *domains, struct tg_error *err)
{
    struct tg_scope everything;
    size_t *nodes, **next; /* of each region: where its next node goes */
    int rc = tg_board_everything(board, &everything, err);

    if (rc == 0)
        rc = tg_core_alloc_unset(board->arena, everything.n, sizeof(*nodes), &nodes, err);
    if (rc == 0)
        rc = tg_core_alloc(board->arena, tg_regions_count(regions), sizeof(*next), &next, err);
    for (size_t i = 0; rc == 0 && i < domains->n; i++) {
        struct tg_domain *domain = &domains->items[i];

        next[domain->region] = nodes;
        domain->scope.nodes = nodes;
        nodes += domain->scope.n;
    }
    for (size_t i = 0; rc == 0 && i < everything.n; i++) {
        uint32_t region = tg_regions_of(regions, everything.nodes[i]);

        if (region != TG_NO_REGION)
            *next[region]++ = everything.nodes[i];
    }
    return rc;
}

int tg_domains_open(struct tg_board *board, struct tg_domains *domains, struct tg_error *err)
{
    int rc = 0;

    if (domains->n > 0 && domains->items[0].regions != NULL)
        rc = list_regions(board, domains->items[0].regions, domains, err);
    for (size_t i = 0; rc == 0 && i < domains->n; i++)
        rc = tg_domain_open(board, &domains->items[i], err);
    return rc;
}
