/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/drain.h"

#include "api/runtime/base/str.h"
#include "controller/core/fit/room.h"
#include "controller/core/fit/rule.h"
#include "controller/core/gang/board.h"
#include "controller/core/gang/pack.h"
#include "controller/core/model/sort.h"

struct draining {
    struct tg_board *board;
    const char *const *before;
    size_t n_before;
    struct tg_arena *arena;
    /* One a node: */
    bool *was;      /* it is kept already */
    size_t *all;    /* devices that some member could have, held ones included */
    size_t *free;   /* of them, those that are free */
    size_t *wanted; /* that the members chosen for it take */
    const void **order;
};

static bool was_kept(const struct draining *d, const char *name)
{
    for (size_t i = 0; i < d->n_before; i++) {
        if (tg_streq(d->before[i], name))
            return true;
    }
    return false;
}

static int count_node(struct draining *d, size_t node, struct tg_error *err)
{
    const struct tg_fleet *fleet = d->board->fleet;
    const struct tg_fleet_node *row = &fleet->nodes[node];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < row->n_devices; i++) {
        const struct tg_fleet_device *device = &fleet->devices[row->devices[i]];
        bool wanted = false;

        if (device->unsupported != NULL || device->contested != NULL)
            continue;
        rc = tg_ask_any(&d->board->book, row->devices[i], &wanted, err);
        d->all[node] += wanted;
        d->free[node] += wanted && device->holder == NULL;
    }
    return rc;
}

/* Members of the group that the node takes once nobody else is there, beside those that were
 * chosen for it already. Pods go with their devices: what the node offers in all counts. */
static size_t places(const struct draining *d, size_t node, const struct tg_board_group *group)
{
    const struct tg_fleet_node *row = &d->board->fleet->nodes[node];
    size_t left = d->all[node] - d->wanted[node];
    size_t n = group->devices == 0 ? group->n : left / group->devices;

    for (size_t i = 0; i < group->demand.n; i++) {
        for (size_t k = 0; k < row->n_rooms; k++) {
            if (tg_streq(row->rooms[k].name, group->demand.items[i].name))
                n = tg_room_share(row->rooms[k].allocatable, group->demand.items[i].value, n);
        }
    }
    return group->failed[node] == tg_fit_rules_count ? n : 0;
}

/* What is kept already, then where most is free, then by name. */
static int by_patience(const void *pa, const void *pb, const void *context)
{
    const struct draining *d = context;
    size_t a = *(const size_t *)pa, b = *(const size_t *)pb;
    const struct tg_fleet_node *nodes = d->board->fleet->nodes;

    if (d->was[a] != d->was[b])
        return d->was[a] ? -1 : 1;
    if (d->free[a] != d->free[b])
        return d->free[a] > d->free[b] ? -1 : 1;
    return (nodes[a].order > nodes[b].order) - (nodes[a].order < nodes[b].order);
}

static size_t missing_of(const struct draining *d, const struct tg_scope *scope)
{
    size_t missing = 0;

    for (size_t i = 0; i < scope->n; i++) {
        size_t node = scope->nodes[i];

        missing += d->wanted[node] > d->free[node] ? d->wanted[node] - d->free[node] : 0;
    }
    return missing;
}

/* The largest members first (the board has them so), each group on the nodes in their order. *ret:
 * all have their nodes, d->wanted says how much of each. */
static int choose_nodes(struct draining *d, const struct tg_scope *scope, bool *ret,
                        struct tg_error *err)
{
    int rc = 0;

    *ret = true;
    for (size_t i = 0; i < scope->n; i++) {
        d->wanted[scope->nodes[i]] = 0;
        d->order[i] = &scope->nodes[i];
    }
    rc = tg_core_sort(d->order, scope->n, by_patience, d, d->arena, err);
    for (size_t k = 0; rc == 0 && *ret && k < d->board->n_groups; k++) {
        const struct tg_board_group *group = &d->board->groups[k];
        size_t left = group->n;

        for (size_t i = 0; left > 0 && i < scope->n; i++) {
            size_t node = *(const size_t *)d->order[i], n = places(d, node, group);

            n = n < left ? n : left;
            d->wanted[node] += n * group->devices;
            left -= n;
        }
        *ret = left == 0;
    }
    return rc;
}

static size_t count_kept(const struct draining *d, const struct tg_scope *scope)
{
    size_t n = 0;

    for (size_t i = 0; i < scope->n; i++)
        n += d->was[scope->nodes[i]];
    return n;
}

/* The domain that is kept already; else that for which least is missing, of equal ones the first,
 * which is the tightest. */
static int choose_domain(struct draining *d, const struct tg_domains *domains,
                         const struct tg_domain **ret, struct tg_error *err)
{
    size_t best_kept = 0, best_missing = 0;
    int rc = 0;

    *ret = NULL;
    for (size_t i = 0; rc == 0 && i < domains->n; i++) {
        const struct tg_domain *domain = &domains->items[i];
        size_t kept = count_kept(d, &domain->scope), missing;
        bool fits = false;

        rc = choose_nodes(d, &domain->scope, &fits, err);
        missing = missing_of(d, &domain->scope);
        if (rc < 0 || !fits ||
            (*ret != NULL && (kept < best_kept || (kept == best_kept && missing >= best_missing))))
            continue;
        *ret = domain;
        best_kept = kept;
        best_missing = missing;
    }
    return rc;
}

static int write_nodes(const struct draining *d, const struct tg_scope *scope, struct tg_drain *ret,
                       struct tg_error *err)
{
    int rc = tg_core_alloc(d->arena, scope->n, sizeof(*ret->nodes), &ret->nodes, err);

    for (size_t i = 0; rc == 0 && i < scope->n; i++) {
        size_t node = scope->nodes[i];

        if (d->wanted[node] == 0)
            continue;
        ret->nodes[ret->n] = tg_arena_strdup(d->arena, d->board->fleet->nodes[node].name);
        if (ret->nodes[ret->n++] == NULL)
            return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                "the decision needs more memory than its budget");
    }
    ret->missing = missing_of(d, scope);
    return rc;
}

static int open_draining(struct draining *d, struct tg_error *err)
{
    size_t n = d->board->fleet->n_nodes;
    int rc = tg_core_alloc(d->arena, n, sizeof(*d->was), &d->was, err);

    if (rc == 0)
        rc = tg_core_alloc(d->arena, n, sizeof(*d->all), &d->all, err);
    if (rc == 0)
        rc = tg_core_alloc(d->arena, n, sizeof(*d->free), &d->free, err);
    if (rc == 0)
        rc = tg_core_alloc(d->arena, n, sizeof(*d->wanted), &d->wanted, err);
    if (rc == 0)
        rc = tg_core_alloc(d->arena, n, sizeof(*d->order), &d->order, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (d->board->fleet->nodes[i].object == NULL)
            continue;
        d->was[i] = was_kept(d, d->board->fleet->nodes[i].name);
        rc = count_node(d, i, err);
    }
    return rc;
}

int tg_drain_choose(const struct tg_fleet *fleet, const struct tg_place_request *request,
                    const char *const *before, size_t n_before, struct tg_arena *arena,
                    struct tg_drain *ret, struct tg_error *err)
{
    struct draining d = {.before = before, .n_before = n_before, .arena = arena};
    const struct tg_domain *domain = NULL;
    struct tg_pack pack;
    bool fits = false;
    int rc = 0;

    *ret = (struct tg_drain){.n = 0};
    if (request->n_rules > 0)
        return 0;
    rc = tg_core_alloc(arena, 1, sizeof(*d.board), &d.board, err);
    if (rc == 0)
        rc = tg_board_init(d.board, fleet, request, arena, err);
    if (rc == 0)
        rc = tg_pack_init(&pack, d.board, err);
    if (rc == 0)
        rc = tg_pack_open(&pack, d.board, err);
    if (rc == 0)
        rc = open_draining(&d, err);
    if (rc == 0)
        rc = choose_domain(&d, &pack.required, &domain, err);
    if (rc < 0 || domain == NULL)
        return rc;
    rc = choose_nodes(&d, &domain->scope, &fits, err);
    return rc < 0 ? rc : write_nodes(&d, &domain->scope, ret, err);
}

int tg_drain_hold(const struct tg_fleet *fleet, const char *node, const char *holder,
                  struct tg_arena *arena, struct tg_fleet_busy **ret, size_t *ret_n,
                  struct tg_error *err)
{
    size_t row = tg_fleet_find_node(fleet, node), n = 0;
    int rc = 0;

    *ret = NULL;
    *ret_n = 0;
    if (row == TG_NO_INDEX)
        return 0;
    rc = tg_core_alloc(arena, fleet->nodes[row].n_devices, sizeof(**ret), ret, err);
    for (size_t i = 0; rc == 0 && i < fleet->nodes[row].n_devices; i++) {
        const struct tg_fleet_device *device = &fleet->devices[fleet->nodes[row].devices[i]];

        if (tg_board_usable(device))
            (*ret)[n++] = (struct tg_fleet_busy){.driver = device->driver,
                                                 .pool = device->pool,
                                                 .device = device->name,
                                                 .holder = holder};
    }
    *ret_n = n;
    return rc;
}
