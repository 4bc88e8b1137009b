/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/domain.h"

#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/model/sort.h"

struct labelled {
    const char *value;
    size_t node;
};

static const char *value_of(const struct tg_board *board, const struct tg_level *level, size_t node)
{
    const struct tg_fleet_node *row = &board->fleet->nodes[node];

    if (level->node_label == NULL || tg_streq(level->name, TG_LEVEL_HOST))
        return row->name;
    return tg_meta_label(row->object->metadata, level->node_label);
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

    if (level->device_attribute != NULL)
        return tg_error_set(err, TG_UNIMPLEMENTED,
                            "level %s is a device attribute (%s), which topology.pack cannot use "
                            "in this version: name a "
                            "level of a node label",
                            tg_or(level->name, "?"), level->device_attribute);
    rc = tg_core_alloc(board->arena, scope->n, sizeof(*nodes), &nodes, err);
    if (rc == 0)
        rc = tg_core_alloc(board->arena, scope->n, sizeof(*order), &order, err);
    if (rc == 0)
        rc = tg_core_alloc(board->arena, scope->n, sizeof(*domains), &domains, err);
    if (rc == 0)
        rc = tg_core_alloc(board->arena, scope->n, sizeof(*ret->items), &ret->items, err);
    for (size_t i = 0; rc == 0 && i < scope->n; i++) {
        const char *value = value_of(board, level, scope->nodes[i]);

        if (value == NULL)
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
