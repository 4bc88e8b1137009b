/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/explain/trial.h"

#include <inttypes.h>
#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/gang/offer.h"
#include "controller/core/gang/pack.h"
#include "controller/core/gang/quick.h"

/* Steps of the search in one trial. */
#define SEARCH_STEPS ((size_t)20000)

static void free_scratch(void *data)
{
    tg_arena_free(data);
}

int tg_trial_init(struct tg_trial *trial, struct tg_fleet *fleet, size_t max_steps,
                  struct tg_arena *arena, struct tg_error *err)
{
    *trial = (struct tg_trial){
        .fleet = fleet, .scratch = tg_arena_new(tg_arena_left(arena)), .max_steps = max_steps};
    if (tg_arena_on_reset(arena, free_scratch, trial->scratch) == 0)
        return 0;
    tg_arena_free(trial->scratch);
    return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                        "the decision needs more memory than its budget");
}

/* --- a changed copy -------------------------------------------------------------------------- */

/* NULL only without memory: an empty list has an address too. */
static void *copy(struct tg_arena *arena, const void *object, size_t size)
{
    void *ret = tg_arena_alloc(arena, size + 1);

    if (ret != NULL && size > 0)
        memcpy(ret, object, size);
    return ret;
}

/* A list with one item more. */
static struct tg_toleration *with_toleration(struct tg_arena *arena,
                                             const struct tg_toleration *items, size_t n,
                                             const struct tg_toleration *more)
{
    struct tg_toleration *ret = tg_arena_alloc_array(arena, n + 1, sizeof(*ret));

    if (ret == NULL)
        return NULL;
    if (n > 0)
        memcpy(ret, items, n * sizeof(*ret));
    ret[n] = *more;
    return ret;
}

/* Where the only container asks for the resource; n: nowhere, or too little. */
static size_t find_shrinkable(const struct tg_pod_spec *spec, const struct tg_trial_change *change,
                              size_t n, int64_t *ret_has)
{
    const struct tg_resources *resources = spec->containers.items[0].resources;
    size_t i = 0;

    while (i < n && !tg_streq(resources->requests.items[i].key, change->resource))
        i++;
    if (i == n ||
        tg_amount_parse(change->resource, resources->requests.items[i].value, ret_has, NULL) < 0)
        return n;
    return *ret_has <= change->less ? n : i;
}

/* Requests of a pod of which it is plain what they add up to: one container, no more. */
static size_t plain_requests(const struct tg_pod_spec *spec)
{
    if (spec == NULL || spec->containers.n != 1 || spec->init_containers.n > 0 ||
        spec->resources != NULL || spec->containers.items[0].resources == NULL)
        return 0;
    return spec->containers.items[0].resources->requests.n;
}

bool tg_trial_can_shrink(const struct tg_piece *piece, const struct tg_trial_change *change)
{
    const struct tg_pod_spec *spec = piece->n_pods != 1 ? NULL : piece->pods[0]->spec;
    size_t n = plain_requests(spec);
    int64_t has = 0;

    return n > 0 && find_shrinkable(spec, change, n, &has) < n;
}

/* The only container asks for less; pods of another form stay as they are. */
static bool shrink(struct tg_arena *arena, struct tg_pod_spec *spec,
                   const struct tg_trial_change *change)
{
    struct tg_container *container;
    struct tg_resources *resources;
    struct tg_string_pair *pairs;
    size_t n = plain_requests(spec), i = n;
    int64_t has = 0;

    if (n > 0)
        i = find_shrinkable(spec, change, n, &has);
    if (i == n)
        return true;
    container = copy(arena, spec->containers.items, sizeof(*container));
    resources = copy(arena, spec->containers.items[0].resources, sizeof(*resources));
    if (container == NULL || resources == NULL)
        return false;
    pairs = copy(arena, resources->requests.items, n * sizeof(*pairs));
    if (pairs == NULL)
        return false;
    pairs[i].value = tg_arena_printf(arena, "%" PRId64 "%s", has - change->less,
                                     strcmp(change->resource, TG_RESOURCE_CPU) == 0 ? "m" : "");
    resources->requests.items = pairs;
    container->resources = resources;
    spec->containers.items = container;
    return pairs[i].value != NULL;
}

static const struct tg_pod *change_pod(struct tg_arena *arena, const struct tg_pod *pod,
                                       const struct tg_trial_change *change)
{
    struct tg_pod *ret;

    if (pod->spec == NULL || (change->pod_toleration == NULL && !change->no_node_selector &&
                              !change->no_node_affinity && change->resource == NULL))
        return pod;
    ret = copy(arena, pod, sizeof(*ret));
    if (ret == NULL)
        return NULL;
    ret->spec = copy(arena, pod->spec, sizeof(*ret->spec));
    if (ret->spec == NULL)
        return NULL;
    if (change->pod_toleration != NULL) {
        ret->spec->tolerations.items = with_toleration(
            arena, pod->spec->tolerations.items, pod->spec->tolerations.n, change->pod_toleration);
        if (ret->spec->tolerations.items == NULL)
            return NULL;
        ret->spec->tolerations.n++;
    }
    if (change->no_node_selector)
        ret->spec->node_selector.n = 0;
    if (change->no_node_affinity)
        ret->spec->affinity = NULL;
    return change->resource != NULL && !shrink(arena, ret->spec, change) ? NULL : ret;
}

static bool is_named(const struct tg_trial_change *change, const char *request, const char *sub)
{
    size_t n = strlen(request);

    if (change->request == NULL)
        return true;
    if (strncmp(change->request, request, n) != 0)
        return false;
    /* The name of a request is that of all its alternatives. */
    return change->request[n] == '\0' ||
           (sub != NULL && change->request[n] == '/' && strcmp(change->request + n + 1, sub) == 0);
}

static bool change_exact(struct tg_arena *arena, struct tg_exact_request *request,
                         const struct tg_trial_change *change)
{
    struct tg_device_selector *selectors;
    size_t n = 0;

    if (change->count > 0)
        request->count = (struct tg_opt_int){true, (int64_t)change->count};
    if (change->request_toleration != NULL) {
        request->tolerations.items = with_toleration(
            arena, request->tolerations.items, request->tolerations.n, change->request_toleration);
        if (request->tolerations.items == NULL)
            return false;
        request->tolerations.n++;
    }
    if (change->no_selector == NULL)
        return true;
    selectors = tg_arena_alloc_array(arena, request->selectors.n + 1, sizeof(*selectors));
    for (size_t i = 0; selectors != NULL && i < request->selectors.n; i++) {
        const struct tg_device_selector *one = &request->selectors.items[i];

        if (one->cel == NULL || !tg_streq(one->cel->expression, change->no_selector))
            selectors[n++] = *one;
    }
    request->selectors.items = selectors;
    request->selectors.n = n;
    return selectors != NULL;
}

static bool change_request(struct tg_arena *arena, struct tg_device_request *request,
                           const struct tg_trial_change *change)
{
    struct tg_exact_request *list;
    bool ok = true;

    if (request->first_available.n == 0) {
        if (request->exactly == NULL || !is_named(change, tg_or(request->name, ""), NULL))
            return true;
        request->exactly = copy(arena, request->exactly, sizeof(*request->exactly));
        return request->exactly != NULL && change_exact(arena, request->exactly, change);
    }
    list = copy(arena, request->first_available.items, request->first_available.n * sizeof(*list));
    request->first_available.items = list;
    for (size_t i = 0; list != NULL && ok && i < request->first_available.n; i++) {
        if (is_named(change, tg_or(request->name, ""), tg_or(list[i].name, "")))
            ok = change_exact(arena, &list[i], change);
    }
    return list != NULL && ok;
}

static const struct tg_resource_claim *change_claim(struct tg_arena *arena,
                                                    const struct tg_resource_claim *claim,
                                                    const struct tg_trial_change *change)
{
    struct tg_resource_claim *ret;
    struct tg_resource_claim_spec *spec;
    struct tg_device_claim *devices;
    struct tg_device_request *requests;
    bool ok = true;

    if (claim->spec == NULL || claim->spec->devices == NULL ||
        (change->request_toleration == NULL && change->no_selector == NULL && change->count == 0))
        return claim;
    ret = copy(arena, claim, sizeof(*ret));
    spec = copy(arena, claim->spec, sizeof(*spec));
    devices = copy(arena, claim->spec->devices, sizeof(*devices));
    if (ret == NULL || spec == NULL || devices == NULL)
        return NULL;
    requests = copy(arena, devices->requests.items, devices->requests.n * sizeof(*requests));
    for (size_t i = 0; requests != NULL && ok && i < devices->requests.n; i++)
        ok = change_request(arena, &requests[i], change);
    devices->requests.items = requests;
    spec->devices = devices;
    ret->spec = spec;
    return requests != NULL && ok ? ret : NULL;
}

static bool change_piece(struct tg_arena *arena, struct tg_piece *piece,
                         const struct tg_trial_change *change)
{
    const struct tg_pod **pods = tg_arena_alloc_array(arena, piece->n_pods + 1, sizeof(*pods));
    const struct tg_resource_claim **claims =
        tg_arena_alloc_array(arena, piece->n_claims + 1, sizeof(*claims));

    if (pods == NULL || claims == NULL)
        return false;
    for (size_t i = 0; i < piece->n_pods; i++) {
        pods[i] = change_pod(arena, piece->pods[i], change);
        if (pods[i] == NULL)
            return false;
    }
    for (size_t i = 0; i < piece->n_claims; i++) {
        claims[i] = change_claim(arena, piece->claims[i], change);
        if (claims[i] == NULL)
            return false;
    }
    piece->pods = pods;
    piece->claims = claims;
    return true;
}

static const struct tg_piece *change_pieces(struct tg_arena *arena,
                                            const struct tg_place_request *request,
                                            const struct tg_trial_change *change)
{
    struct tg_piece *pieces = copy(arena, request->pieces, request->n_pieces * sizeof(*pieces));

    for (size_t i = 0; pieces != NULL && i < request->n_pieces; i++) {
        if (!change_piece(arena, &pieces[i], change))
            return NULL;
    }
    return pieces;
}

/* --- the trial ------------------------------------------------------------------------------- */

/* As tg_place, without a word of why not. */
static bool has_place(const struct tg_fleet *fleet, const struct tg_place_request *request,
                      struct tg_arena *arena)
{
    struct tg_board *board = tg_arena_alloc(arena, sizeof(*board));
    struct tg_placement placement;
    struct tg_pack pack;
    bool placed = false;

    if (board == NULL || tg_quick_place(fleet, request, arena, &placement, &placed, NULL) < 0)
        return false;
    if (placed)
        return true;
    return tg_board_init(board, fleet, request, arena, NULL) == 0 &&
           tg_pack_init(&pack, board, NULL) == 0 &&
           tg_pack_place(&pack, board, &placed, NULL) == 0 && placed;
}

bool tg_trial_charge(struct tg_trial *trial, size_t steps)
{
    if (steps > trial->max_steps - trial->steps) {
        trial->refused = true;
        return false;
    }
    trial->steps += steps;
    return true;
}

bool tg_trial_fits(struct tg_trial *trial, const struct tg_place_request *request,
                   const struct tg_trial_change *change, struct tg_placement *ret_placement)
{
    static const struct tg_trial_change none = {.count = 0};
    /* What is known of the kind of request is known already if it is the same. */
    size_t cost = trial->fleet->n_nodes + (change == NULL ? 0 : trial->fleet->n_devices);
    struct tg_place_request changed = *request;
    struct tg_no_place why;

    if (!tg_trial_charge(trial, cost))
        return false;
    tg_arena_reset(trial->scratch);
    changed.pieces = change_pieces(trial->scratch, request, change == NULL ? &none : change);
    if (changed.pieces == NULL) {
        trial->refused = true;
        return false;
    }
    changed.max_steps = SEARCH_STEPS;
    tg_offers_tick(trial->fleet);
    if (!has_place(trial->fleet, &changed, trial->scratch))
        return false;
    return ret_placement == NULL ||
           tg_place(trial->fleet, &changed, trial->scratch, ret_placement, &why, NULL) == 0;
}
