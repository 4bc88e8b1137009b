/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/quick.h"

#include "controller/core/gang/assign.h"
#include "controller/core/gang/exact.h"
#include "controller/core/gang/offer.h"
#include "controller/core/model/sort.h"

struct quick {
    const struct tg_fleet *fleet;
    const struct tg_piece *piece;
    const char *policy;
    struct tg_arena *arena;
    struct tg_offer *offer;
    struct tg_assigned *devices;
    size_t n_devices;
    struct tg_exact *exact; /* NULL: not needed so far */
    struct tg_fit_claim *claims;
    bool uncertain; /* a search gave up, or failed */
};

/* --- by counts -------------------------------------------------------------------------------- */

/* One need a device, in the order of claims and requests. */
static int list_needs(const struct quick *q, struct tg_need **ret, size_t *ret_n,
                      struct tg_error *err)
{
    size_t n_slots = 0, n = 0;
    const struct tg_offer_slot *slots = tg_offer_slots(q->offer, &n_slots);
    int rc = 0;

    for (size_t i = 0; i < n_slots; i++)
        n += slots[i].count;
    rc = tg_core_alloc(q->arena, n, sizeof(**ret), ret, err);
    *ret_n = 0;
    for (size_t i = 0; rc == 0 && i < n_slots; i++) {
        for (size_t k = 0; k < slots[i].count; k++)
            (*ret)[(*ret_n)++] = (struct tg_need){.ask = slots[i].ask, .count = 1};
    }
    return rc;
}

/* Slots are those of requests like these, whose names may be others. */
static void write_plain(struct quick *q, const size_t *found)
{
    size_t n_slots = 0, slot = 0;
    const struct tg_offer_slot *slots = tg_offer_slots(q->offer, &n_slots);

    for (size_t i = 0; i < q->piece->n_claims; i++) {
        const struct tg_resource_claim *claim = q->piece->claims[i];
        const struct tg_device_claim *devices = claim->spec == NULL ? NULL : claim->spec->devices;

        for (size_t k = 0; devices != NULL && k < devices->requests.n; k++, slot++) {
            for (size_t c = 0; c < slots[slot].count; c++)
                q->devices[q->n_devices++] = (struct tg_assigned){
                    .device = *found++, .claim = claim, .request = devices->requests.items[k].name};
        }
    }
}

static int assign_plain(struct quick *q, size_t node, struct tg_error *err)
{
    struct tg_need *needs;
    size_t *found, n = 0;
    int rc = list_needs(q, &needs, &n, err);

    if (rc == 0)
        rc = tg_core_alloc(q->arena, n, sizeof(*found), &found, err);
    if (rc == 0)
        rc = tg_core_alloc(q->arena, n, sizeof(*q->devices), &q->devices, err);
    if (rc == 0)
        rc = tg_offer_match(q->offer, node, needs, n, found, err);
    if (rc == 0)
        write_plain(q, found);
    return rc;
}

/* --- by the exact search ---------------------------------------------------------------------- */

static int open_exact(struct quick *q, struct tg_error *err)
{
    int rc = 0;

    if (q->exact != NULL)
        return 0;
    rc = tg_core_alloc(q->arena, 1, sizeof(*q->exact), &q->exact, err);
    if (rc == 0)
        rc = tg_exact_init(q->exact, q->fleet, false, q->arena, err);
    if (rc == 0)
        rc = tg_core_alloc(q->arena, q->piece->n_claims, sizeof(*q->claims), &q->claims, err);
    for (size_t i = 0; rc == 0 && i < q->piece->n_claims; i++)
        rc = tg_exact_add(q->exact, q->piece->claims[i], &q->claims[i], err);
    return rc;
}

static int search(struct quick *q, size_t node, bool *ret_found, struct tg_error *err)
{
    bool gave_up = false;
    int rc = open_exact(q, err);

    if (rc == 0)
        rc = tg_exact_learn(q->exact, node, err);
    if (rc == 0 && !tg_offer_lacks_counters(q->offer, node))
        rc = tg_exact_search(q->exact, node, q->claims, q->piece->n_claims, ret_found, &gave_up,
                             NULL, err);
    q->uncertain = q->uncertain || gave_up || rc < 0;
    return rc;
}

static int assign_exact(struct quick *q, size_t node, struct tg_error *err)
{
    struct tg_fit_answer answer = {.n_takes = 0};
    bool found = false, gave_up = false;
    int rc = tg_exact_search(q->exact, node, q->claims, q->piece->n_claims, &found, &gave_up,
                             &answer, err);

    if (rc == 0)
        rc = tg_core_alloc(q->arena, answer.n_takes, sizeof(*q->devices), &q->devices, err);
    for (; rc == 0 && q->n_devices < answer.n_takes; q->n_devices++) {
        const struct tg_fit_take *take = &answer.takes[q->n_devices];
        struct tg_assigned *out = &q->devices[q->n_devices];

        *out = (struct tg_assigned){.device = tg_exact_row(q->exact, node, take->device),
                                    .claim = q->piece->claims[take->claim],
                                    .request = take->choice->name,
                                    .admin = q->exact->book.wants[take->choice->want].admin};
        rc = tg_exact_consumed(q->exact, node, take, &out->consumed, err);
    }
    return rc;
}

/* --- both ------------------------------------------------------------------------------------- */

static bool is_simple(const struct tg_place_request *request)
{
    return request->n_pieces == 1 && request->pack_required == NULL &&
           request->pack_preferred == NULL && request->n_rules == 0 &&
           request->pieces[0].fixed_node == NULL;
}

/* The first node, the best first, that has the devices. */
static int find_node(struct quick *q, size_t *ret_node, struct tg_error *err)
{
    bool found = false;
    int rc = 0;

    while (rc == 0 && !found && (*ret_node = tg_offer_best(q->offer)) != TG_NO_INDEX) {
        found = !tg_offer_needs_search(q->offer, *ret_node);
        if (!found)
            rc = search(q, *ret_node, &found, err);
        if (rc == 0 && !found)
            tg_offer_rule_out(q->offer, *ret_node);
    }
    if (q->uncertain)
        tg_offer_recount(q->offer);
    return rc;
}

static int find_place(struct quick *q, size_t *ret_node, struct tg_error *err)
{
    int rc = tg_offer_get(q->fleet, q->piece, q->policy, q->arena, &q->offer, err);

    if (rc == 0)
        rc = tg_offer_fault(q->offer, TG_NO_INDEX, err);
    if (rc == 0)
        rc = find_node(q, ret_node, err);
    if (rc < 0 || *ret_node == TG_NO_INDEX)
        return rc;
    return tg_offer_needs_search(q->offer, *ret_node) ? assign_exact(q, *ret_node, err)
                                                      : assign_plain(q, *ret_node, err);
}

int tg_quick_place(const struct tg_fleet *fleet, const struct tg_place_request *request,
                   struct tg_arena *arena, struct tg_placement *ret, bool *ret_done,
                   struct tg_error *err)
{
    struct quick q = {.fleet = fleet,
                      .piece = &request->pieces[0],
                      .policy = tg_place_policy(request->policies, &request->pieces[0]),
                      .arena = arena};
    struct tg_error why = TG_ERROR_INIT;
    struct tg_placed_device *devices = NULL;
    struct tg_placed_piece *piece;
    size_t node = TG_NO_INDEX;
    int rc = 0;

    *ret_done = false;
    if (!is_simple(request))
        return 0;
    /* What is wrong is told by the board, with the names that belong to it. */
    if (find_place(&q, &node, &why) < 0 || node == TG_NO_INDEX)
        return why.code == TG_RESOURCE_EXHAUSTED
                   ? tg_error_set(err, TG_RESOURCE_EXHAUSTED, "%s", why.message)
                   : 0;
    rc = tg_assigned_write(fleet, &(struct tg_assignment){.items = q.devices, .n = q.n_devices},
                           arena, &devices, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, 1, sizeof(*piece), &piece, err);
    if (rc < 0)
        return rc;
    *piece = (struct tg_placed_piece){
        .node = fleet->nodes[node].name, .devices = devices, .n_devices = q.n_devices};
    *ret = (struct tg_placement){.pieces = piece, .n_pieces = 1};
    *ret_done = true;
    return 0;
}
