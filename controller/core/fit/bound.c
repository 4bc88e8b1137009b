/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/bound.h"

#include <string.h>

#include "controller/core/model/sort.h"

/* Looks at devices that one step of the search pays for. */
#define LOOKS_A_STEP 64

int tg_fit_bound_init(struct tg_fit_bound *bound, const struct tg_fit_state *state,
                      const struct tg_fit_order *order, struct tg_error *err)
{
    struct tg_arena *arena = state->table->arena;
    size_t n = 0;
    int rc = 0;

    *bound = (struct tg_fit_bound){.state = state, .order = order};
    for (size_t i = 0; i < state->n_claims; i++)
        n += state->claims[i].n_requests;
    bound->max_demands = n;
    rc = tg_core_alloc(arena, n, sizeof(*bound->demands), &bound->demands, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = tg_core_alloc(arena, order->n, 1, &bound->demands[i].accepts, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, order->n, 1, &bound->scratch, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, order->n, sizeof(size_t), &bound->owner, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, n, sizeof(size_t), &bound->came_from, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, n, sizeof(size_t), &bound->came_over, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, n, sizeof(size_t), &bound->queue, err);
    return rc < 0 ? rc : tg_core_alloc(arena, n, sizeof(bool), &bound->seen, err);
}

static bool would_get(const struct tg_fit_bound *bound, size_t claim,
                      const struct tg_fit_choice *choice, size_t device)
{
    return tg_fit_table_cell(bound->state->table, choice->want, device) == TG_CELL_YES &&
           tg_fit_state_allows(bound->state, claim, choice, device);
}

/* Devices of All from the given one on: every one must be had. */
static bool all_would_get(const struct tg_fit_bound *bound, size_t claim,
                          const struct tg_fit_choice *choice, size_t found)
{
    const struct tg_fit_all *all = &bound->state->table->all[choice->want];

    for (size_t i = found; i < all->n; i++) {
        if (!would_get(bound, claim, choice, all->devices[i]))
            return false;
    }
    return all->n > 0;
}

/* Which places of the order the choice could still take; ret_need: exclusive devices that it must
 * have, the shareable ones being taken for granted. */
static bool look_at_choice(struct tg_fit_bound *bound, const struct tg_fit_place *place,
                           const struct tg_fit_choice *choice, size_t *ret_need)
{
    const struct tg_fit_table *table = bound->state->table;
    const struct tg_fit_want *want = &table->book->wants[choice->want];
    size_t need = (want->all ? table->all[choice->want].n : choice->count) - place->found;
    size_t exclusive = 0, shared = 0, start = want->all ? 0 : place->start;

    memset(bound->scratch, 0, bound->order->n);
    if (want->all && !all_would_get(bound, place->claim, choice, place->found))
        return false;
    for (size_t i = start; i < bound->order->n; i++) {
        size_t device = bound->order->devices[i];

        if (!would_get(bound, place->claim, choice, device))
            continue;
        if (tg_fit_shareable(table->view, device)) {
            shared++;
        } else {
            exclusive++;
            bound->scratch[i] = 1;
        }
    }
    bound->steps += (bound->order->n - start) / LOOKS_A_STEP + 1;
    if (shared > 0 && tg_fit_repeats(&table->view->rules))
        shared = need;
    if (exclusive + shared < need)
        return false;
    /* Admin access takes what others have. */
    *ret_need = want->admin || shared >= need ? 0 : need - shared;
    return true;
}

static bool look_at_request(struct tg_fit_bound *bound, const struct tg_fit_place *place)
{
    const struct tg_fit_request *request =
        &bound->state->claims[place->claim].requests[place->request];
    const struct tg_fit_choice *first = place->choice == NULL ? request->choices : place->choice;
    size_t n = place->choice == NULL ? request->n_choices : 1, least = SIZE_MAX;
    struct tg_fit_demand *demand = &bound->demands[bound->n_demands];

    memset(demand->accepts, 0, bound->order->n);
    for (size_t i = 0; i < n; i++) {
        size_t need = 0;

        if (!look_at_choice(bound, place, &first[i], &need))
            continue;
        if (need < least)
            least = need;
        for (size_t k = 0; k < bound->order->n; k++)
            demand->accepts[k] |= bound->scratch[k];
    }
    if (least == SIZE_MAX)
        return false;
    demand->need = least;
    bound->n_demands += least > 0;
    return true;
}

/* All remaining requests; false: one of them has too few devices of its own. */
static bool gather(struct tg_fit_bound *bound, const struct tg_fit_place *place)
{
    struct tg_fit_place next = *place;

    bound->n_demands = 0;
    while (next.claim < bound->state->n_claims) {
        if (next.request < bound->state->claims[next.claim].n_requests) {
            if (!look_at_request(bound, &next))
                return false;
            next.request++;
        } else {
            next.claim++;
            next.request = 0;
        }
        next.choice = NULL;
        next.found = next.start = 0;
    }
    return true;
}

static bool enough_in_all(struct tg_fit_bound *bound)
{
    size_t need = 0, n = 0;

    memset(bound->scratch, 0, bound->order->n);
    for (size_t i = 0; i < bound->n_demands; i++) {
        need += bound->demands[i].need;
        for (size_t k = 0; k < bound->order->n; k++)
            bound->scratch[k] |= bound->demands[i].accepts[k];
    }
    for (size_t k = 0; k < bound->order->n; k++)
        n += bound->scratch[k];
    return n >= need;
}

/* The device at `place` is free for `demand`: everyone on the way moves up by one. */
static void shift(struct tg_fit_bound *bound, size_t place, size_t demand, size_t start)
{
    bound->owner[place] = demand;
    while (demand != start) {
        bound->owner[bound->came_over[demand]] = bound->came_from[demand];
        demand = bound->came_from[demand];
    }
}

/* One more device for demand `start`, moving others if need be: breadth first. */
static bool augment(struct tg_fit_bound *bound, size_t start)
{
    size_t head = 0, tail = 0;

    memset(bound->seen, 0, bound->n_demands * sizeof(*bound->seen));
    bound->seen[start] = true;
    bound->queue[tail++] = start;
    while (head < tail) {
        size_t demand = bound->queue[head++];

        bound->steps += bound->order->n / (LOOKS_A_STEP * LOOKS_A_STEP);
        for (size_t i = 0; i < bound->order->n; i++) {
            size_t owner = bound->owner[i];

            if (!bound->demands[demand].accepts[i])
                continue;
            if (owner == TG_NO_DEVICE) {
                shift(bound, i, demand, start);
                return true;
            }
            if (bound->seen[owner])
                continue;
            bound->seen[owner] = true;
            bound->came_from[owner] = demand;
            bound->came_over[owner] = i;
            bound->queue[tail++] = owner;
        }
    }
    return false;
}

static bool can_be_matched(struct tg_fit_bound *bound)
{
    for (size_t i = 0; i < bound->order->n; i++)
        bound->owner[i] = TG_NO_DEVICE;
    for (size_t i = 0; i < bound->n_demands; i++) {
        for (size_t k = 0; k < bound->demands[i].need; k++) {
            if (!augment(bound, i))
                return false;
        }
    }
    return true;
}

bool tg_fit_bound_holds(struct tg_fit_bound *bound, const struct tg_fit_place *place, bool exact)
{
    if (!gather(bound, place) || !enough_in_all(bound))
        return false;
    return !exact || bound->n_demands < 2 || can_be_matched(bound);
}
