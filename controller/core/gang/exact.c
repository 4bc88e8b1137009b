/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/exact.h"

#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/fit/result.h"
#include "controller/core/gang/leeway.h"
#include "controller/core/model/sort.h"

/* Steps of one search on one node. What real cards and claims need is far below it. */
#define STEPS_A_NODE ((size_t)50000)

/* Bytes of views that are kept beside the one that is asked for: of some hundred nodes of eight
 * cards in partitions. */
#define VIEW_BYTES ((size_t)64 << 20)

static bool wants_admin(const struct tg_device_request *request)
{
    return request->first_available.n == 0 && request->exactly != NULL &&
           request->exactly->admin_access.set && request->exactly->admin_access.value;
}

bool tg_exact_is_admin(const struct tg_resource_claim *claim)
{
    const struct tg_device_claim *devices = claim->spec == NULL ? NULL : claim->spec->devices;

    for (size_t i = 0; devices != NULL && i < devices->requests.n; i++) {
        if (wants_admin(&devices->requests.items[i]))
            return true;
    }
    return false;
}

static bool is_plain(const struct tg_device_request *request)
{
    const struct tg_exact_request *exactly = request->exactly;

    return request->first_available.n == 0 && exactly != NULL && exactly->capacity == NULL &&
           !wants_admin(request) &&
           (exactly->allocation_mode == NULL || tg_streq(exactly->allocation_mode, "ExactCount"));
}

bool tg_exact_needed(const struct tg_resource_claim *claim)
{
    const struct tg_device_claim *devices = claim->spec == NULL ? NULL : claim->spec->devices;

    for (size_t i = 0; devices != NULL && i < devices->requests.n; i++) {
        if (!is_plain(&devices->requests.items[i]))
            return true;
    }
    return devices != NULL && devices->constraints.n > 0;
}

static const struct tg_device_class *find_class(const void *data, const char *name)
{
    const struct tg_fleet_class *klass = tg_fleet_find_class(data, name);

    return klass == NULL || klass->kind != TG_CLASS_MANAGED ? NULL : klass->object;
}

static void free_part(void *data)
{
    tg_arena_free(data);
}

/* Memory with a budget of its own, which is that of the decision. */
static int open_part(struct tg_arena *arena, struct tg_arena **ret, struct tg_error *err)
{
    *ret = tg_arena_new(tg_arena_left(arena));
    if (tg_arena_on_reset(arena, free_part, *ret) == 0)
        return 0;
    tg_arena_free(*ret);
    return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                        "the decision needs more memory than its budget");
}

int tg_exact_init(struct tg_exact *exact, const struct tg_fleet *fleet, bool several,
                  struct tg_arena *arena, struct tg_error *err)
{
    const struct tg_rules rules = tg_rules_of_objects();
    int rc = 0;

    *exact = (struct tg_exact){.fleet = fleet, .arena = arena, .apart = several};
    rc = tg_core_alloc(arena, fleet->n_nodes, sizeof(*exact->views), &exact->views, err);
    if (rc < 0)
        return rc;
    /* What one search needs is given back before the next one, views when they are many. */
    rc = open_part(arena, &exact->scratch, err);
    if (rc == 0)
        rc = open_part(arena, &exact->view, err);
    if (rc < 0)
        return rc;
    tg_fit_book_init(&exact->book, &rules, find_class, fleet, arena);
    if (fleet->selectors != NULL)
        exact->book.options = *fleet->selectors;
    return 0;
}

int tg_exact_add(struct tg_exact *exact, const struct tg_resource_claim *claim,
                 struct tg_fit_claim *ret, struct tg_error *err)
{
    int rc = tg_fit_book_add(&exact->book, claim, ret, err);

    if (rc < 0 || ret->problem.fault == TG_FAULT_NONE)
        return rc;
    return tg_error_set(
        err, ret->problem.fault == TG_FAULT_UNKNOWN_CLASS ? TG_NOT_FOUND : TG_INVALID_ARGUMENT,
        "%s", ret->problem.message);
}

size_t tg_exact_row(const struct tg_exact *exact, size_t node, size_t device)
{
    const struct tg_view_device *d = &exact->views[node]->devices[device];

    return tg_fleet_find_device(exact->fleet, d->driver, d->pool_name, d->name);
}

/* What a take of it would change for other nodes. */
static bool reaches_others(const struct tg_fleet *fleet, const struct tg_view_device *device)
{
    return device->reach != TG_REACH_NODE ||
           (device->n_consumes > 0 &&
            !tg_fleet_pool_is_local(fleet, device->driver, device->pool_name));
}

/* The view of the node, until the next one is opened, with everything barred that is not to be
 * given. */
static int open_view(struct tg_exact *exact, size_t node, struct tg_error *err)
{
    struct tg_view *view;
    int rc = 0;

    if (exact->views[node] != NULL)
        return 0;
    if (tg_arena_used(exact->view) > VIEW_BYTES) {
        tg_arena_reset(exact->view);
        memset(exact->views, 0, exact->fleet->n_nodes * sizeof(*exact->views));
    }
    rc = tg_core_alloc(exact->view, 1, sizeof(*view), &view, err);
    if (rc == 0)
        rc = tg_fleet_view(exact->fleet, exact->fleet->nodes[node].name, &exact->book.rules,
                           exact->view, view, err);
    if (rc < 0)
        return rc;
    exact->views[node] = view;
    tg_leeway_learn(exact->fleet, node, view);
    for (size_t i = 0; i < view->n_devices; i++) {
        /* Of an older generation than elsewhere, or of a pool that is whole for this node only:
         * such a device has no row. */
        if (tg_exact_row(exact, node, i) == TG_NO_INDEX)
            view->devices[i].barred = "not known";
        else if (exact->apart && reaches_others(exact->fleet, &view->devices[i]))
            view->devices[i].barred = "other nodes reach it";
    }
    return 0;
}

int tg_exact_learn(struct tg_exact *exact, size_t node, struct tg_error *err)
{
    return tg_leeway_is_known(exact->fleet, node) ? 0 : open_view(exact, node, err);
}

int tg_exact_consumed(const struct tg_exact *exact, size_t node, const struct tg_fit_take *take,
                      const char **ret, struct tg_error *err)
{
    const struct tg_view *view = exact->views[node];
    int rc = 0;

    *ret = NULL;
    if (!tg_fit_shareable(view, take->device))
        return 0;
    rc = tg_fit_consumed(&exact->book, view, take, exact->arena, ret, err);
    if (rc == 0 && *ret == NULL)
        *ret = "{}";
    return rc;
}

/* Of errors those that the fleet can mend on another node are no errors of the request. */
static bool is_of_the_node(enum tg_fit_fault fault)
{
    return fault == TG_FAULT_POOL_INCOMPLETE_ALL || fault == TG_FAULT_INVALID_POOLS ||
           fault == TG_FAULT_CONSTRAINT_ALL || fault == TG_FAULT_CLAIM_LIMIT;
}

int tg_exact_search(struct tg_exact *exact, size_t node, const struct tg_fit_claim *claims,
                    size_t n_claims, bool *ret_found, bool *ret_gave_up,
                    struct tg_fit_answer *ret_takes, struct tg_error *err)
{
    struct tg_fit_answer own, *answer = ret_takes != NULL ? ret_takes : &own;
    struct tg_arena *arena = ret_takes != NULL ? exact->arena : exact->scratch;
    int rc = open_view(exact, node, err);

    tg_arena_reset(exact->scratch);
    exact->book.sparing = ret_takes != NULL;
    if (rc == 0)
        rc = tg_fit_search(&exact->book, exact->views[node], claims, n_claims, STEPS_A_NODE, arena,
                           answer, err);
    if (rc < 0)
        return rc;
    *ret_found = answer->outcome == TG_FIT_ALLOCATED;
    *ret_gave_up = answer->outcome == TG_FIT_GAVE_UP;
    if (answer->outcome == TG_FIT_ERROR && !is_of_the_node(answer->problem.fault))
        return tg_error_set(err, TG_FAILED_PRECONDITION, "%s", answer->problem.message);
    return 0;
}
