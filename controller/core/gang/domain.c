/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/domain.h"

#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/model/sort.h"

struct labelled {
    const char *value;
    size_t node;
};

/* Is it a device that some member could use? */
static int is_wanted(const struct tg_board *board, size_t device, bool *ret, struct tg_error *err)
{
    *ret = false;
    for (size_t i = 0; i < board->book.n_asks && !*ret; i++) {
        enum tg_ask_answer answer;
        int rc = tg_ask_answer(&board->book, i, device, &answer, err);

        if (rc < 0)
            return rc;
        *ret = answer == TG_ASK_YES;
    }
    return 0;
}

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
            rc = is_wanted(board, row->devices[i], &wanted, err);
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

int tg_domain_value(const struct tg_board *board, const struct tg_level *level, size_t node,
                    const char **ret, struct tg_error *err)
{
    const struct tg_fleet_node *row = &board->fleet->nodes[node];

    *ret = NULL;
    if (row->object == NULL)
        return 0;
    if (level->device_attribute != NULL)
        return value_of_devices(board, level, node, ret, err);
    *ret = level->node_label == NULL || tg_streq(level->name, TG_LEVEL_HOST)
               ? row->name
               : tg_meta_label(row->object->metadata, level->node_label);
    return 0;
}

/* Equal ones stay in the order of the scope: by name. */
static int compare_labelled(const void *pa, const void *pb, const void *context)
{
    (void)context;
    return strcmp(((const struct labelled *)pa)->value, ((const struct labelled *)pb)->value);
}

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

static void measure(const struct tg_board *board, struct tg_domain *domain)
{
    domain->emptiest = board->n_groups > 0 && tg_rank_spreads(board->groups[0].rank);
    for (size_t i = 0; i < domain->scope.n; i++)
        domain->free += board->free_wanted[domain->scope.nodes[i]];
    for (size_t k = 0; k < board->n_groups; k++) {
        size_t room = 0;

        for (size_t i = 0; i < domain->scope.n; i++)
            room += board->groups[k].capacity[domain->scope.nodes[i]];
        domain->room += room;
        domain->places += room < board->groups[k].n ? room : board->groups[k].n;
    }
}

/* order: labelled nodes in order of label. */
static int gather_domains(const struct tg_board *board, const void *const *order, size_t n,
                          struct tg_domain *domains, size_t *ret_n, struct tg_error *err)
{
    size_t *nodes;
    int rc = tg_core_alloc(board->arena, n, sizeof(*nodes), &nodes, err);

    *ret_n = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct labelled *item = order[i];

        nodes[i] = item->node;
        if (i == 0 || strcmp(((const struct labelled *)order[i - 1])->value, item->value) != 0)
            domains[(*ret_n)++] =
                (struct tg_domain){.name = item->value, .scope = {.nodes = nodes + i}};
        domains[*ret_n - 1].scope.n++;
    }
    for (size_t i = 0; rc == 0 && i < *ret_n; i++)
        measure(board, &domains[i]);
    return rc;
}

static int sort_domains(const struct tg_board *board, const struct tg_domain *domains,
                        const void **order, struct tg_domains *ret, struct tg_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < ret->n; i++)
        order[i] = &domains[i];
    rc = tg_core_sort(order, ret->n, compare_domains, NULL, board->arena, err);
    for (size_t i = 0; rc == 0 && i < ret->n; i++)
        ret->items[i] = *(const struct tg_domain *)order[i];
    return rc;
}

int tg_domains_find(const struct tg_board *board, const struct tg_level *level,
                    const struct tg_scope *scope, struct tg_domains *ret, struct tg_error *err)
{
    struct labelled *nodes;
    struct tg_domain *domains;
    const void **order;
    size_t n = 0;
    int rc = 0;

    rc = tg_core_alloc(board->arena, scope->n, sizeof(*nodes), &nodes, err);
    if (rc == 0)
        rc = tg_core_alloc(board->arena, scope->n, sizeof(*order), &order, err);
    if (rc == 0)
        rc = tg_core_alloc(board->arena, scope->n, sizeof(*domains), &domains, err);
    if (rc == 0)
        rc = tg_core_alloc(board->arena, scope->n, sizeof(*ret->items), &ret->items, err);
    for (size_t i = 0; rc == 0 && i < scope->n; i++) {
        const char *value;

        rc = tg_domain_value(board, level, scope->nodes[i], &value, err);
        if (rc < 0 || value == NULL)
            continue;
        nodes[n] = (struct labelled){.value = value, .node = scope->nodes[i]};
        order[n] = &nodes[n];
        n++;
    }
    if (rc == 0)
        rc = tg_core_sort(order, n, compare_labelled, NULL, board->arena, err);
    if (rc == 0)
        rc = gather_domains(board, (const void *const *)order, n, domains, &ret->n, err);
    return rc < 0 ? rc : sort_domains(board, domains, order, ret, err);
}
