/* SPDX-License-Identifier: Apache-2.0 */
/* From members to pieces that must share a node, and from a placement to a plan. */
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/values/rfc3339.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/map.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/encode.h"
#include "controller/commit/parts.h"
#include "controller/commit/rules.h"

/* --- pieces: members connected by shared claims (union-find over the chosen) -------------------
 */

static size_t root_of(size_t *parents, size_t i)
{
    while (parents[i] != i)
        i = parents[i] = parents[parents[i]];
    return i;
}

static void connect(const struct tg_unit *unit, const struct tg_decision *decision, size_t *parents)
{
    TG_AUTOMAP struct tg_map *first_user =
        tg_map_new(NULL); /* claim -> 1 + position of its first user */

    for (size_t i = 0; i < decision->n_chosen; i++)
        parents[i] = i;
    for (size_t i = 0; i < decision->n_chosen; i++) {
        const struct tg_unit_member *member = &unit->members[decision->chosen[i]];

        for (size_t j = 0; j < member->n_claims; j++) {
            const char *name = member->claims[j]->metadata->name;
            uintptr_t user = (uintptr_t)tg_map_get(first_user, name);

            if (user == 0) {
                tg_map_set(first_user, name, (void *)(uintptr_t)(i + 1));
                continue;
            }
            /* The smaller position wins, so that pieces keep the order of their oldest member. */
            size_t a = root_of(parents, user - 1), b = root_of(parents, i);

            parents[a > b ? a : b] = a > b ? b : a;
        }
    }
}

struct piece_builder {
    const struct tg_pod **pods;
    const struct tg_resource_claim **claims;
    struct tg_piece piece;
    const struct tg_resource_claim *astray; /* allocated where the others are not */
    const char *wish;                       /* where the first member is to go, or NULL */
};

static bool has_claim(const struct piece_builder *b, const struct tg_resource_claim *claim)
{
    for (size_t i = 0; i < b->piece.n_claims; i++)
        if (b->claims[i] == claim)
            return true;
    return false;
}

/* The pods must follow to where the claim is; no pod can follow to two nodes, or to one that is not
 * named. */
static void fix_node(struct piece_builder *b, const struct tg_resource_claim *claim)
{
    const char *node = tg_claim_node(claim);

    if (node == NULL || (b->piece.fixed_node != NULL && !tg_streq(node, b->piece.fixed_node)))
        b->astray = claim;
    else
        b->piece.fixed_node = node;
}

static void add_member(struct piece_builder *b, const struct tg_unit_member *member)
{
    b->pods[b->piece.n_pods++] = member->pod;
    for (size_t i = 0; i < member->n_claims; i++) {
        const struct tg_resource_claim *claim = member->claims[i];

        if (tg_claim_allocated(claim))
            fix_node(b, claim);
        else if (!has_claim(b, claim))
            b->claims[b->piece.n_claims++] = claim;
    }
}

static int build_piece(const struct tg_unit *unit, const struct tg_decision *decision,
                       size_t *parents, size_t root, bool on_nodes, struct tg_arena *arena,
                       struct tg_piece *ret, struct tg_error *err)
{
    struct piece_builder b = {.wish = on_nodes ? decision->nodes[root] : NULL};
    size_t n_pods = 0, n_claims = 0;

    for (size_t i = root; i < decision->n_chosen; i++)
        if (root_of(parents, i) == root) {
            n_pods++;
            n_claims += unit->members[decision->chosen[i]].n_claims;
        }
    b.pods = tg_arena_alloc_array(arena, n_pods, sizeof(*b.pods));
    b.claims = tg_arena_alloc_array(arena, n_claims, sizeof(*b.claims));
    if (b.pods == NULL || b.claims == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "%s: the memory budget of a pass is used up", unit->key);
    for (size_t i = root; i < decision->n_chosen; i++)
        if (root_of(parents, i) == root)
            add_member(&b, &unit->members[decision->chosen[i]]);
    if (b.astray != NULL)
        return tg_error_set(
            err, TG_FAILED_PRECONDITION,
            "claim %s is allocated on another node than the other claims of pod %s, or on none in "
            "particular: no node has them all",
            b.astray->metadata->name, b.pods[0]->metadata->name);
    if (b.piece.fixed_node == NULL)
        b.piece.fixed_node = b.wish;
    b.piece.role = tg_commit_role(unit->gang, unit->members[decision->chosen[root]].role);
    b.piece.pods = b.pods;
    b.piece.claims = b.claims;
    *ret = b.piece;
    return 0;
}

static bool stands(const struct tg_commit_input *input, const struct tg_plan_member *member)
{
    struct tg_plan_pod state = tg_plan_pod_state(input->view, input->unit->namespace_, member);

    return state.pod != NULL && state.bound && !state.finished && !state.deleting;
}

/* Who joins goes where the topology has the others: pieces of nothing stand for them. For pack of
 * the whole one is enough; who is bound by rules counts in each of their domains. */
static size_t add_anchors(const struct tg_commit_input *input, bool all, struct tg_piece *ret)
{
    const struct tg_plan *plan = input->plan;
    size_t n = 0;

    for (size_t i = 0; i < plan->members.n && (all || n == 0); i++) {
        const struct tg_plan_member *member = &plan->members.items[i];

        if (stands(input, member))
            ret[n++] = (struct tg_piece){.fixed_node = member->node,
                                         .role = tg_commit_role(input->unit->gang, member->role)};
    }
    return n;
}

/* Has the Gang more to say of its topology than pack of the whole? */
static bool has_rules(const struct tg_gang *gang)
{
    bool has = false;

    if (gang == NULL || gang->spec == NULL)
        return false;
    for (size_t i = 0; i < gang->spec->roles.n; i++)
        has = has || gang->spec->roles.items[i].topology != NULL;
    return has || gang->spec->device_constraints.n > 0 ||
           (gang->spec->topology != NULL && gang->spec->topology->spread.n > 0);
}

int tg_commit_place_request(const struct tg_commit_input *input, const struct tg_decision *decision,
                            const struct tg_level *pack_required,
                            const struct tg_level *pack_preferred, bool on_nodes,
                            struct tg_arena *arena, struct tg_place_request *ret,
                            struct tg_error *err)
{
    size_t *parents = tg_arena_alloc_array(arena, decision->n_chosen, sizeof(*parents));
    const size_t standing = decision->joins ? input->plan->members.n : 0;
    struct tg_piece *pieces =
        tg_arena_alloc_array(arena, decision->n_chosen + standing, sizeof(*pieces));
    const bool rules = has_rules(input->unit->gang);
    size_t n = 0;
    int r = 0;

    if (parents == NULL || pieces == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "%s: the memory budget of a pass is used up", input->unit->key);
    connect(input->unit, decision, parents);
    for (size_t i = 0; r == 0 && i < decision->n_chosen; i++)
        if (parents[i] == i)
            r = build_piece(input->unit, decision, parents, i, on_nodes && decision->joins, arena,
                            &pieces[n++], err);
    if (r == 0 && decision->joins && (rules || pack_required != NULL || pack_preferred != NULL))
        n += add_anchors(input, rules, &pieces[n]);
    *ret = (struct tg_place_request){.name = input->unit->key,
                                     .pieces = pieces,
                                     .n_pieces = n,
                                     .pack_required = pack_required,
                                     .pack_preferred = pack_preferred};
    return r;
}

/* --- the plan -------------------------------------------------------------------------------- */

static const char *role_of(const struct tg_unit *unit, const struct tg_pod *pod)
{
    for (size_t i = 0; i < unit->n_members; i++)
        if (unit->members[i].pod == pod)
            return unit->members[i].role;
    return NULL;
}

static struct tg_plan_result result_of(const struct tg_placed_device *device, const char *driver,
                                       const char *node)
{
    struct tg_plan_result result = {
        .request = device->request,
        .driver = tg_streq(device->driver, driver) ? NULL : device->driver,
        .pool = tg_streq(device->pool, node) ? NULL : device->pool,
        .admin_access = {.set = device->admin, .value = device->admin},
        .consumed = device->consumed,
    };

    if (device->bindings != NULL) {
        result.binding_conditions.items = device->bindings->binding_conditions.items;
        result.binding_conditions.n = device->bindings->binding_conditions.n;
        result.binding_failure_conditions.items =
            device->bindings->binding_failure_conditions.items;
        result.binding_failure_conditions.n = device->bindings->binding_failure_conditions.n;
    }
    return result;
}

static bool same_texts(const char *const *a, size_t n_a, const char *const *b, size_t n_b)
{
    if (n_a != n_b)
        return false;
    for (size_t i = 0; i < n_a; i++)
        if (!tg_streq(a[i], b[i]))
            return false;
    return true;
}

/* May their devices stand in one list? */
static bool same_result(const struct tg_plan_result *a, const struct tg_plan_result *b)
{
    return tg_streq(a->request, b->request) && tg_streq(a->driver, b->driver) &&
           tg_streq(a->pool, b->pool) && a->admin_access.value == b->admin_access.value &&
           tg_streq(a->consumed, b->consumed) &&
           same_texts(a->binding_conditions.items, a->binding_conditions.n,
                      b->binding_conditions.items, b->binding_conditions.n) &&
           same_texts(a->binding_failure_conditions.items, a->binding_failure_conditions.n,
                      b->binding_failure_conditions.items, b->binding_failure_conditions.n);
}

/* Devices of one claim, grouped by request. */
static int fill_claim(const struct tg_placed_piece *placed, const struct tg_resource_claim *claim,
                      const char *driver, struct tg_arena *arena, struct tg_plan_claim *ret)
{
    size_t capacity = placed->n_devices;
    struct tg_plan_result *results = tg_arena_alloc_array(arena, capacity, sizeof(*results));
    const char **names = tg_arena_alloc_array(arena, placed->n_devices, sizeof(*names));
    size_t used = 0;

    if (results == NULL || names == NULL)
        return -1;
    *ret = (struct tg_plan_claim){.name = claim->metadata->name, .uid = claim->metadata->uid};
    for (size_t i = 0; i < placed->n_devices; i++) {
        const struct tg_placed_device *device = &placed->devices[i];
        struct tg_plan_result *last = ret->results.n == 0 ? NULL : &results[ret->results.n - 1];
        const struct tg_plan_result own = result_of(device, driver, placed->node);

        if (device->claim != claim)
            continue;
        if (last == NULL || !same_result(last, &own)) {
            if (ret->results.n == capacity)
                return -1;
            last = &results[ret->results.n++];
            *last = own;
            last->devices.items = names + used;
        }
        names[used++] = device->device;
        last->devices.n++;
    }
    ret->results.items = results;
    return 0;
}

static int fill_members(const struct tg_unit *unit, const struct tg_piece *piece,
                        const struct tg_placed_piece *placed, const char *driver,
                        struct tg_arena *arena, struct tg_plan_member *ret)
{
    struct tg_plan_claim *claims = tg_arena_alloc_array(arena, piece->n_claims, sizeof(*claims));

    if (claims == NULL)
        return -1;
    for (size_t i = 0; i < piece->n_claims; i++)
        if (fill_claim(placed, piece->claims[i], driver, arena, &claims[i]) < 0)
            return -1;
    for (size_t i = 0; i < piece->n_pods; i++)
        ret[i] = (struct tg_plan_member){.pod = piece->pods[i]->metadata->name,
                                         .uid = piece->pods[i]->metadata->uid,
                                         .role = role_of(unit, piece->pods[i]),
                                         .node = placed->node};
    ret[0].claims.items = claims;
    ret[0].claims.n = piece->n_claims;
    return 0;
}

static const char *encode_configs(const struct tg_device_class *klass, struct tg_arena *arena)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(1024 * 1024);

    tg_buf_append_char(&buf, '[');
    for (size_t i = 0; i < klass->spec->config.n; i++) {
        if (i > 0)
            tg_buf_append_char(&buf, ',');
        if (tg_json_encode(&tg_device_config_type, &klass->spec->config.items[i], &buf, NULL) < 0)
            return NULL;
    }
    return tg_buf_append_char(&buf, ']') < 0 ? NULL
                                             : tg_arena_strndup(arena, tg_buf_str(&buf), buf.len);
}

static bool request_uses(const struct tg_device_request *request, const char *class_name)
{
    if (request->exactly != NULL && tg_streq(request->exactly->device_class_name, class_name))
        return true;
    for (size_t i = 0; i < request->first_available.n; i++)
        if (tg_streq(request->first_available.items[i].device_class_name, class_name))
            return true;
    return false;
}

static bool piece_uses(const struct tg_piece *piece, const char *class_name)
{
    for (size_t i = 0; i < piece->n_claims; i++) {
        const struct tg_device_claim *devices = piece->claims[i]->spec->devices;

        for (size_t j = 0; j < devices->requests.n; j++)
            if (request_uses(&devices->requests.items[j], class_name))
                return true;
    }
    return false;
}

static int compare_classes(const void *a, const void *b)
{
    return tg_strcmp(((const struct tg_plan_class *)a)->name,
                     ((const struct tg_plan_class *)b)->name);
}

/* Configuration of the classes that the plan uses, as it is now. */
static int fill_classes(const struct tg_view *view, const struct tg_place_request *request,
                        struct tg_arena *arena, struct tg_plan *plan)
{
    const struct tg_view_list *classes = &view->lists[TG_VIEW_CLASS];
    struct tg_plan_class *items = tg_arena_alloc_array(arena, classes->n, sizeof(*items));

    if (items == NULL)
        return -1;
    plan->classes.items = items;
    for (size_t i = 0; i < classes->n; i++) {
        const struct tg_device_class *klass = classes->items[i];
        bool used = false;

        for (size_t j = 0; j < request->n_pieces && !used; j++)
            used = piece_uses(&request->pieces[j], klass->metadata->name);
        if (!used || klass->spec == NULL || klass->spec->config.n == 0)
            continue;
        items[plan->classes.n] = (struct tg_plan_class){.name = klass->metadata->name,
                                                        .config = encode_configs(klass, arena)};
        if (items[plan->classes.n++].config == NULL)
            return -1;
    }
    if (plan->classes.n > 1)
        qsort(items, plan->classes.n, sizeof(*items), compare_classes);
    return 0;
}

static const char *first_driver(const struct tg_placement *placement)
{
    for (size_t i = 0; i < placement->n_pieces; i++)
        if (placement->pieces[i].n_devices > 0)
            return placement->pieces[i].devices[0].driver;
    return NULL;
}

int tg_commit_plan(const struct tg_commit_input *input, const struct tg_decision *decision,
                   const struct tg_place_request *request, const struct tg_placement *placement,
                   struct tg_arena *arena, struct tg_plan **ret, struct tg_error *err)
{
    struct tg_plan_member *members =
        tg_arena_alloc_array(arena, decision->n_chosen, sizeof(*members));
    struct tg_plan *plan = tg_arena_alloc(arena, sizeof(*plan));
    char now[32];

    if (members == NULL || plan == NULL)
        goto exhausted;
    tg_time_format_seconds(input->now / TG_SECOND, now);
    *plan = (struct tg_plan){.epoch = {true, (int64_t)input->epoch},
                             .allocation_timestamp = tg_arena_strdup(arena, now),
                             .driver = first_driver(placement)};
    for (size_t i = 0; i < placement->n_pieces; i++) {
        if (request->pieces[i].n_pods == 0)
            continue;
        if (fill_members(input->unit, &request->pieces[i], &placement->pieces[i], plan->driver,
                         arena, members + plan->members.n) < 0)
            goto exhausted;
        plan->members.n += request->pieces[i].n_pods;
    }
    plan->members.items = members;
    if (plan->allocation_timestamp == NULL || fill_classes(input->view, request, arena, plan) < 0)
        goto exhausted;
    *ret = plan;
    return 0;
exhausted:
    return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "%s: the memory budget of a pass is used up",
                        input->unit->key);
}
