/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/bound.h"

#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "controller/core/model/sort.h"

/* Looks at devices that one step of the search pays for. */
#define LOOKS_A_STEP 64
/* Names of counters that are summed up; further ones are left out, which only
 * weakens the bound. */
#define MAX_SUMS 24

/* The length of a counter's name as far as it counts for the sum. */
static size_t length_for(const char *name, bool stem)
{
    size_t n = strlen(name);

    while (stem && n > 1 && name[n - 1] >= '0' && name[n - 1] <= '9')
        n--;
    return n;
}

static bool is_part_of(const struct tg_fit_bound *bound, const struct tg_fit_sum *sum,
                       const char *name)
{
    const char *first = bound->state->table->view->counters[sum->first].name;
    size_t n = length_for(name, sum->stem);

    return n == length_for(first, sum->stem) && strncmp(first, name, n) == 0;
}

static int add_sum(struct tg_fit_bound *bound, size_t counter, bool stem, struct tg_error *err)
{
    const struct tg_view *view = bound->state->table->view;
    const char *name = view->counters[counter].name;
    struct tg_fit_sum *sum = &bound->sums[bound->n_sums];

    if (stem && length_for(name, true) == strlen(name))
        return 0;
    for (size_t i = 0; i < bound->n_sums; i++) {
        if (bound->sums[i].stem == stem && is_part_of(bound, &bound->sums[i], name))
            return 0;
    }
    if (bound->n_sums == MAX_SUMS)
        return 0;
    bound->n_sums++;
    *sum = (struct tg_fit_sum){.first = counter, .stem = stem};
    return tg_core_alloc(bound->state->table->arena, view->n_devices, sizeof(*sum->consumes),
                         &sum->consumes, err);
}

/* Stems first: they say more. */
static int init_sums(struct tg_fit_bound *bound, struct tg_error *err)
{
    const struct tg_view *view = bound->state->table->view;
    int rc = tg_core_alloc(bound->state->table->arena, MAX_SUMS, sizeof(*bound->sums), &bound->sums,
                           err);

    for (size_t i = 0; rc == 0 && i < view->n_counters; i++)
        rc = add_sum(bound, i, true, err);
    for (size_t i = 0; rc == 0 && i < view->n_counters; i++)
        rc = add_sum(bound, i, false, err);
    for (size_t d = 0; rc == 0 && d < view->n_devices; d++) {
        const struct tg_view_device *device = &view->devices[d];

        for (size_t i = 0; i < device->n_consumes; i++) {
            const char *name = view->counters[device->consumes[i].counter].name;

            for (size_t k = 0; k < bound->n_sums; k++)
                bound->sums[k].consumes[d] +=
                    is_part_of(bound, &bound->sums[k], name) ? device->consumes[i].amount : 0;
        }
    }
    return rc;
}

static int make_room(struct tg_fit_bound *bound, size_t n_values, struct tg_error *err)
{
    size_t places = bound->order->n, demands = bound->max_demands;
    struct tg_arena *arena = bound->state->table->arena;
    struct {
        void *at;
        size_t n, size;
    } const rooms[] = {
        {&bound->demands, demands, sizeof(*bound->demands)},
        {&bound->scratch, places, 1},
        {&bound->covered, places, 1},
        {&bound->values, n_values, 1},
        {&bound->per_value, n_values, sizeof(size_t)},
        {&bound->owner, places, sizeof(size_t)},
        {&bound->came_from, demands, sizeof(size_t)},
        {&bound->came_over, demands, sizeof(size_t)},
        {&bound->queue, demands, sizeof(size_t)},
        {&bound->seen, demands, sizeof(bool)},
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < TG_ARRAY_SIZE(rooms); i++)
        rc = tg_core_alloc(arena, rooms[i].n, rooms[i].size, rooms[i].at, err);
    for (size_t i = 0; rc == 0 && i < demands; i++)
        rc = tg_core_alloc(arena, places, 1, &bound->demands[i].accepts, err);
    return rc;
}

int tg_fit_bound_init(struct tg_fit_bound *bound, const struct tg_fit_state *state,
                      const struct tg_fit_order *order, const struct tg_fit_turns *turns,
                      const size_t *fixed, const size_t *first_request, struct tg_error *err)
{
    size_t n = 0, n_values = 0;
    int rc = 0;

    *bound = (struct tg_fit_bound){.state = state,
                                   .order = order,
                                   .turns = turns,
                                   .fixed = fixed,
                                   .first_request = first_request};
    for (size_t i = 0; i < state->n_claims; i++) {
        n += state->claims[i].n_requests;
        for (size_t k = 0; k < state->claims[i].n_constraints; k++) {
            if (state->tracks[i][k].domain->n_values > n_values)
                n_values = state->tracks[i][k].domain->n_values;
        }
    }
    bound->max_demands = n;
    rc = make_room(bound, n_values, err);
    return rc < 0 ? rc : init_sums(bound, err);
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

/* Which places of the order the choice could still take, in scratch; what it
 * must have at least. */
struct outlook {
    size_t need;      /* devices */
    size_t exclusive; /* of them, when all shareable ones serve it */
};

static bool look_at_choice(struct tg_fit_bound *bound, const struct tg_fit_place *place,
                           const struct tg_fit_choice *choice, struct outlook *ret)
{
    size_t claim = bound->turns->items[place->turn].claim;
    const struct tg_fit_table *table = bound->state->table;
    const struct tg_fit_want *want = &table->book->wants[choice->want];
    size_t need = (want->all ? table->all[choice->want].n : choice->count) - place->found;
    size_t whole = 0, shared = 0, start = want->all ? 0 : place->start;

    memset(bound->scratch, 0, bound->order->n);
    if (want->all && !all_would_get(bound, claim, choice, place->found))
        return false;
    for (size_t i = start; i < bound->order->n; i++) {
        size_t device = bound->order->devices[i];

        if (!would_get(bound, claim, choice, device))
            continue;
        bound->scratch[i] =
            tg_fit_shareable(table->view, device) ? TG_ACCEPTS_SHARE : TG_ACCEPTS_WHOLE;
        whole += bound->scratch[i] == TG_ACCEPTS_WHOLE;
        shared += bound->scratch[i] == TG_ACCEPTS_SHARE;
    }
    bound->steps += (bound->order->n - start) / LOOKS_A_STEP + 1;
    if (shared > 0 && tg_fit_repeats(&table->view->rules))
        shared = need;
    if (whole + shared < need)
        return false;
    ret->need = need;
    /* Admin access takes what others have. */
    ret->exclusive = want->admin || shared >= need ? 0 : need - shared;
    return true;
}

/* The least that `need` devices of scratch consume of each sum; of several
 * choices the least. A shared device may be charged already. */
static void add_least(struct tg_fit_bound *bound, size_t need, bool first, __int128 *least)
{
    for (size_t s = 0; s < bound->n_sums; s++) {
        __int128 smallest = -1;

        for (size_t i = 0; i < bound->order->n && smallest != 0; i++) {
            __int128 amount = bound->sums[s].consumes[bound->order->devices[i]];

            if (bound->scratch[i] == TG_ACCEPTS_SHARE)
                smallest = 0;
            else if (bound->scratch[i] != 0 && (smallest < 0 || amount < smallest))
                smallest = amount;
        }
        if (smallest > 0)
            smallest *= (__int128)need;
        if (first || smallest < least[s])
            least[s] = smallest < 0 ? 0 : smallest;
    }
}

static bool look_at_request(struct tg_fit_bound *bound, const struct tg_fit_place *place)
{
    const struct tg_fit_turn *turn = &bound->turns->items[place->turn];
    const struct tg_fit_request *request =
        &bound->state->claims[turn->claim].requests[turn->request];
    const struct tg_fit_choice *first = place->choice == NULL ? request->choices : place->choice;
    size_t fixed = bound->fixed[bound->first_request[turn->claim] + turn->request];
    size_t n = place->choice == NULL ? request->n_choices : 1, least = SIZE_MAX;
    struct tg_fit_demand *demand = &bound->demands[bound->n_demands];
    __int128 amounts[MAX_SUMS] = {0};

    memset(demand->accepts, 0, bound->order->n);
    for (size_t i = 0; i < n; i++) {
        struct outlook outlook;

        if ((place->choice == NULL && fixed != TG_ANY_CHOICE && fixed != i) ||
            !look_at_choice(bound, place, &first[i], &outlook))
            continue;
        add_least(bound, outlook.need, least == SIZE_MAX, amounts);
        if (outlook.exclusive < least)
            least = outlook.exclusive;
        for (size_t k = 0; k < bound->order->n; k++)
            demand->accepts[k] |= bound->scratch[k];
    }
    if (least == SIZE_MAX)
        return false;
    for (size_t s = 0; s < bound->n_sums; s++)
        bound->sums[s].least += amounts[s];
    demand->need = least;
    bound->n_demands += least > 0;
    return true;
}

/* Marks the values of places that scratch has, and counts new ones. */
static size_t mark_values(struct tg_fit_bound *bound, const struct tg_fit_domain *domain)
{
    size_t n = 0, blank = 0;

    for (size_t i = 0; i < bound->order->n; i++) {
        const struct tg_fit_values *values = &domain->devices[bound->order->devices[i]];

        /* One that cannot be compared may be the first. */
        if (bound->scratch[i] != 0 && values->n == 0)
            blank = 1;
        for (size_t k = 0; bound->scratch[i] != 0 && k < values->n; k++) {
            n += bound->values[values->ids[k]] == 0;
            bound->values[values->ids[k]] = 1;
        }
    }
    return n + blank;
}

/* The next turn from *next on, of the claim, that the constraint covers whatever is chosen, with
 * what it could take in scratch. Alternatives may be covered or not, and differ in number: they are
 * not looked at. false: there is none. */
static bool next_covered(struct tg_fit_bound *bound, size_t claim, size_t constraint,
                         struct tg_fit_place *next, struct outlook *ret)
{
    for (; next->turn < bound->turns->n; next->turn++) {
        const struct tg_fit_turn *turn = &bound->turns->items[next->turn];
        const struct tg_fit_request *request =
            &bound->state->claims[turn->claim].requests[turn->request];
        const struct tg_fit_choice *choice = next->choice == NULL ? request->choices : next->choice;
        bool looked = turn->claim == claim && (next->choice != NULL || request->n_choices == 1) &&
                      choice->bound[constraint] && look_at_choice(bound, next, choice, ret);

        next->choice = NULL;
        if (looked) {
            next->turn++;
            next->found = next->start = 0;
            return true;
        }
        next->found = next->start = 0;
    }
    return false;
}

/* Are there as many different values as devices that a constraint of the claim wants to differ? */
static bool enough_values(struct tg_fit_bound *bound, const struct tg_fit_place *place,
                          size_t constraint)
{
    size_t claim = bound->turns->items[place->turn].claim;
    const struct tg_fit_domain *domain = bound->state->tracks[claim][constraint].domain;
    struct tg_fit_place next = *place;
    struct outlook outlook;
    size_t need = 0, n = 0;

    memset(bound->values, 0, domain->n_values);
    while (next_covered(bound, claim, constraint, &next, &outlook)) {
        need += outlook.need;
        n += mark_values(bound, domain);
    }
    return n >= need;
}

/* How often each value is there among the places that `accepts` has, a device that one request may
 * have several times as often as anybody wants; false: a place has none that can be compared. */
static bool count_values(struct tg_fit_bound *bound, const struct tg_fit_domain *domain,
                         const unsigned char *accepts)
{
    bool repeats = tg_fit_repeats(&bound->state->table->view->rules);

    memset(bound->per_value, 0, domain->n_values * sizeof(*bound->per_value));
    for (size_t i = 0; i < bound->order->n; i++) {
        const struct tg_fit_values *values = &domain->devices[bound->order->devices[i]];

        if (accepts[i] != 0 && values->n == 0)
            return false;
        for (size_t k = 0; accepts[i] != 0 && k < values->n; k++) {
            size_t *n = &bound->per_value[values->ids[k]];

            if (repeats && (accepts[i] & TG_ACCEPTS_SHARE) != 0)
                *n = SIZE_MAX;
            *n += *n < SIZE_MAX ? 1 : 0;
        }
    }
    return true;
}

/* Is there a value that each request which a constraint of the claim covers finds often enough, and
 * that is there often enough for all of them together? */
static bool common_value(struct tg_fit_bound *bound, const struct tg_fit_place *place,
                         size_t constraint)
{
    size_t claim = bound->turns->items[place->turn].claim;
    const struct tg_fit_domain *domain = bound->state->tracks[claim][constraint].domain;
    struct tg_fit_place next = *place;
    struct outlook outlook;
    size_t need = 0, covered = 0;

    memset(bound->values, 1, domain->n_values);
    memset(bound->covered, 0, bound->order->n);
    while (next_covered(bound, claim, constraint, &next, &outlook)) {
        if (!count_values(bound, domain, bound->scratch))
            return true;
        for (size_t v = 0; v < domain->n_values; v++)
            bound->values[v] &= bound->per_value[v] >= outlook.need;
        for (size_t i = 0; i < bound->order->n; i++)
            bound->covered[i] |= bound->scratch[i];
        need += outlook.exclusive;
        covered++;
    }
    if (covered == 0 || !count_values(bound, domain, bound->covered))
        return true;
    for (size_t v = 0; v < domain->n_values; v++) {
        if (bound->values[v] != 0 && bound->per_value[v] >= need)
            return true;
    }
    return false;
}

static bool constraints_hold(struct tg_fit_bound *bound, const struct tg_fit_place *place)
{
    const struct tg_fit_claim *claim =
        &bound->state->claims[bound->turns->items[place->turn].claim];

    for (size_t i = 0; i < claim->n_constraints; i++) {
        if (!(claim->constraints[i].distinct ? enough_values(bound, place, i)
                                             : common_value(bound, place, i)))
            return false;
    }
    return true;
}

static bool counters_hold(struct tg_fit_bound *bound)
{
    const struct tg_fit_state *state = bound->state;
    const struct tg_view *view = state->table->view;

    for (size_t s = 0; s < bound->n_sums; s++)
        bound->sums[s].left = 0;
    for (size_t i = 0; i < view->n_counters; i++) {
        for (size_t s = 0; s < bound->n_sums; s++)
            bound->sums[s].left +=
                state->left[i] > 0 && is_part_of(bound, &bound->sums[s], view->counters[i].name)
                    ? state->left[i]
                    : 0;
    }
    for (size_t s = 0; s < bound->n_sums; s++) {
        if (bound->sums[s].least > bound->sums[s].left)
            return false;
    }
    return true;
}

/* All remaining requests; false: one of them has too few devices of its own. */
static bool gather(struct tg_fit_bound *bound, const struct tg_fit_place *place)
{
    struct tg_fit_place next = *place;

    bound->n_demands = 0;
    for (size_t s = 0; s < bound->n_sums; s++)
        bound->sums[s].least = 0;
    for (; next.turn < bound->turns->n; next.turn++) {
        if (!look_at_request(bound, &next))
            return false;
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
            bound->scratch[k] |= bound->demands[i].accepts[k] & TG_ACCEPTS_WHOLE;
    }
    for (size_t k = 0; k < bound->order->n; k++)
        n += bound->scratch[k];
    return n >= need;
}

/* The device at `place` is free for `demand`: everyone on the way moves up by
 * one. */
static void shift(struct tg_fit_bound *bound, size_t place, size_t demand, size_t start)
{
    bound->owner[place] = demand;
    while (demand != start) {
        bound->owner[bound->came_over[demand]] = bound->came_from[demand];
        demand = bound->came_from[demand];
    }
}

/* One more device for demand `start`, moving others if need be: breadth first.
 */
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

            if ((bound->demands[demand].accepts[i] & TG_ACCEPTS_WHOLE) == 0)
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
    if (!gather(bound, place) || !enough_in_all(bound) || !counters_hold(bound) ||
        !constraints_hold(bound, place))
        return false;
    return !exact || bound->n_demands < 2 || can_be_matched(bound);
}
