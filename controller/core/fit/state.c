/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/state.h"

#include <string.h>

#include "controller/core/fit/capacity.h"
#include "controller/core/model/sort.h"

static int find_domain(struct tg_fit_state *state, const char *attribute,
                       const struct tg_fit_domain **ret, struct tg_error *err)
{
    struct tg_fit_domain *domain;
    int rc = 0;

    for (size_t i = 0; i < state->n_claims && state->tracks[i] != NULL; i++) {
        for (size_t k = 0; k < state->claims[i].n_constraints; k++) {
            const struct tg_fit_track *track = &state->tracks[i][k];

            if (track->domain == NULL)
                break;
            if (strcmp(track->domain->attribute, attribute) == 0) {
                *ret = track->domain;
                return 0;
            }
        }
    }
    rc = tg_core_alloc(state->table->arena, 1, sizeof(*domain), &domain, err);
    if (rc == 0)
        rc = tg_fit_domain_read(state->table->view, attribute, state->table->arena, domain, err);
    *ret = domain;
    return rc;
}

static int init_track(struct tg_fit_state *state, const struct tg_fit_constraint *constraint,
                      struct tg_fit_track *track, struct tg_error *err)
{
    const struct tg_fit_domain *domain = NULL;
    int rc = find_domain(state, constraint->attribute, &domain, err);

    if (rc == 0)
        rc = tg_core_alloc(state->table->arena, TG_RESULTS_MAX, sizeof(*track->levels),
                           &track->levels, err);
    if (rc == 0 && !constraint->distinct)
        rc = tg_core_alloc(state->table->arena, TG_RESULTS_MAX * domain->longest,
                           sizeof(*track->buffer), &track->buffer, err);
    track->distinct = constraint->distinct;
    track->domain = domain;
    return rc;
}

static int init_tracks(struct tg_fit_state *state, struct tg_error *err)
{
    int rc = tg_core_alloc(state->table->arena, state->n_claims, sizeof(*state->tracks),
                           &state->tracks, err);

    for (size_t i = 0; rc == 0 && i < state->n_claims; i++) {
        const struct tg_fit_claim *claim = &state->claims[i];

        rc = tg_core_alloc(state->table->arena, claim->n_constraints, sizeof(**state->tracks),
                           &state->tracks[i], err);
        for (size_t k = 0; rc == 0 && k < claim->n_constraints; k++)
            rc = init_track(state, &claim->constraints[k], &state->tracks[i][k], err);
    }
    return rc;
}

static int init_amounts(struct tg_fit_state *state, struct tg_error *err)
{
    const struct tg_view *view = state->table->view;
    size_t n = 0;

    for (size_t i = 0; i < view->n_devices; i++) {
        state->first_amount[i] = n;
        if (tg_fit_shareable(view, i))
            n += view->devices[i].n_capacity;
    }
    return tg_core_alloc(state->table->arena, n, sizeof(*state->amounts), &state->amounts, err);
}

int tg_fit_state_init(struct tg_fit_state *state, struct tg_fit_table *table,
                      const struct tg_fit_claim *claims, size_t n_claims, struct tg_error *err)
{
    const struct tg_view *view = table->view;
    struct tg_arena *arena = table->arena;
    int rc = 0;

    *state = (struct tg_fit_state){.table = table, .claims = claims, .n_claims = n_claims};
    rc = tg_core_alloc(arena, n_claims * TG_RESULTS_MAX, sizeof(*state->takes), &state->takes, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, n_claims, sizeof(size_t), &state->per_claim, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, view->n_devices, sizeof(size_t), &state->held, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, view->n_devices, sizeof(size_t), &state->shares, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, view->n_devices, sizeof(size_t), &state->first_amount, err);
    if (rc == 0)
        rc = init_amounts(state, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, view->n_counters, sizeof(*state->left), &state->left, err);
    for (size_t i = 0; rc == 0 && i < view->n_counters; i++)
        state->left[i] = view->counters[i].left;
    return rc < 0 ? rc : init_tracks(state, err);
}

bool tg_fit_repeats(const struct tg_rules *rules)
{
    return rules->release <= 35;
}

bool tg_fit_state_given(const struct tg_fit_state *state, size_t claim,
                        const struct tg_fit_choice *choice, size_t device)
{
    if (state->held[device] == 0)
        return false;
    if (!state->table->book->wants[choice->want].admin)
        return true;
    for (size_t i = state->n_takes; i > 0 && state->takes[i - 1].claim == claim; i--) {
        if (state->takes[i - 1].device == device)
            return true;
    }
    return false;
}

/* A share of a device that is shared already charges no counters. */
static bool charges_counters(const struct tg_fit_state *state, size_t device)
{
    return state->table->view->devices[device].n_consumes > 0 && state->shares[device] == 0 &&
           !tg_fit_in_use_shared(state->table->view, device);
}

static bool counters_suffice(const struct tg_fit_state *state, size_t device)
{
    const struct tg_view_device *d = &state->table->view->devices[device];

    for (size_t i = 0; i < d->n_consumes; i++) {
        if (state->left[d->consumes[i].counter] < d->consumes[i].amount)
            return false;
    }
    return true;
}

static void charge_counters(struct tg_fit_state *state, size_t device, int sign)
{
    const struct tg_view_device *d = &state->table->view->devices[device];

    for (size_t i = 0; i < d->n_consumes; i++)
        state->left[d->consumes[i].counter] -= sign * d->consumes[i].amount;
}

static bool is_fractional(const struct tg_fit_state *state)
{
    return tg_rules_have(&state->table->view->rules, TG_FEATURE_FRACTIONAL_CAPACITY_RANGE);
}

static void charge_capacity(struct tg_fit_state *state, const struct tg_fit_want *want,
                            size_t device, int sign)
{
    const struct tg_view_device *d = &state->table->view->devices[device];
    __int128 *mine = state->amounts + state->first_amount[device];

    for (size_t i = 0; i < d->n_capacity; i++)
        mine[i] += sign * tg_fit_capacity_amount(&d->capacity[i],
                                                 tg_fit_capacity_asked(want, d->capacity[i].name),
                                                 is_fractional(state));
}

static bool capacity_suffices(const struct tg_fit_state *state, const struct tg_fit_want *want,
                              size_t device)
{
    /* Without shares of this attempt the table has said so already. */
    return state->shares[device] == 0 ||
           tg_fit_capacity_fits(&state->table->view->devices[device], want, is_fractional(state),
                                true, state->amounts + state->first_amount[device]);
}

static bool match_allows(const struct tg_fit_state *state, const struct tg_fit_track *track,
                         const struct tg_fit_values *values)
{
    const struct tg_fit_level *last = NULL;

    if (track->n_levels == 0)
        return values->n > 0 ||
               !tg_rules_have(&state->table->view->rules, TG_FEATURE_LIST_TYPE_ATTRIBUTES);
    last = &track->levels[track->n_levels - 1];
    return tg_fit_values_meet(last->ids, last->n, values->ids, values->n);
}

/* Pairwise, in every request. (The built-in allocator of some releases compares with the last
 * device of each request only.) */
static bool distinct_allows(const struct tg_fit_track *track, const struct tg_fit_values *values)
{
    if (track->n_levels > 0 && values->n == 0)
        return false;
    for (size_t i = 0; i < track->n_levels; i++) {
        if (tg_fit_values_meet(track->levels[i].ids, track->levels[i].n, values->ids, values->n))
            return false;
    }
    return true;
}

static bool constraints_allow(const struct tg_fit_state *state, size_t claim,
                              const struct tg_fit_choice *choice, size_t device)
{
    for (size_t i = 0; i < state->claims[claim].n_constraints; i++) {
        const struct tg_fit_track *track = &state->tracks[claim][i];
        const struct tg_fit_values *values = &track->domain->devices[device];

        if (!choice->bound[i])
            continue;
        if (!values->has || !(track->distinct ? distinct_allows(track, values)
                                              : match_allows(state, track, values)))
            return false;
    }
    return true;
}

static void push_constraints(struct tg_fit_state *state, size_t claim,
                             const struct tg_fit_choice *choice, size_t device)
{
    for (size_t i = 0; i < state->claims[claim].n_constraints; i++) {
        struct tg_fit_track *track = &state->tracks[claim][i];
        const struct tg_fit_values *values = &track->domain->devices[device];
        struct tg_fit_level *next = &track->levels[track->n_levels];

        if (!choice->bound[i])
            continue;
        *next = (struct tg_fit_level){.ids = values->ids, .n = values->n};
        if (!track->distinct && track->n_levels > 0) {
            const struct tg_fit_level *last = next - 1;
            size_t *room = track->buffer + track->n_levels * track->domain->longest;

            next->n = tg_fit_values_intersect(last->ids, last->n, values->ids, values->n, room);
            next->ids = room;
        }
        track->n_levels++;
    }
}

static bool resources_allow(const struct tg_fit_state *state, size_t claim,
                            const struct tg_fit_choice *choice, size_t device)
{
    const struct tg_fit_want *want = &state->table->book->wants[choice->want];

    if (tg_fit_state_given(state, claim, choice, device))
        return false;
    if (charges_counters(state, device) && !counters_suffice(state, device))
        return false;
    return capacity_suffices(state, want, device);
}

bool tg_fit_state_allows(const struct tg_fit_state *state, size_t claim,
                         const struct tg_fit_choice *choice, size_t device)
{
    return resources_allow(state, claim, choice, device) &&
           constraints_allow(state, claim, choice, device);
}

enum tg_fit_taken tg_fit_state_take(struct tg_fit_state *state, size_t claim,
                                    const struct tg_fit_choice *choice, size_t device)
{
    const struct tg_fit_want *want = &state->table->book->wants[choice->want];

    if (!resources_allow(state, claim, choice, device))
        return TG_TAKE_REFUSED;
    if (!constraints_allow(state, claim, choice, device))
        return TG_TAKE_FORBIDDEN;
    if (charges_counters(state, device))
        charge_counters(state, device, 1);
    push_constraints(state, claim, choice, device);
    if (tg_fit_shareable(state->table->view, device)) {
        charge_capacity(state, want, device, 1);
        state->shares[device]++;
    } else {
        state->held[device]++;
    }
    state->takes[state->n_takes++] =
        (struct tg_fit_take){.claim = claim, .device = device, .choice = choice};
    state->per_claim[claim]++;
    return TG_TAKE_DONE;
}

void tg_fit_state_undo(struct tg_fit_state *state)
{
    const struct tg_fit_take *take = &state->takes[--state->n_takes];
    const struct tg_fit_want *want = &state->table->book->wants[take->choice->want];

    state->per_claim[take->claim]--;
    if (tg_fit_shareable(state->table->view, take->device)) {
        state->shares[take->device]--;
        charge_capacity(state, want, take->device, -1);
    } else {
        state->held[take->device]--;
    }
    for (size_t i = 0; i < state->claims[take->claim].n_constraints; i++)
        state->tracks[take->claim][i].n_levels -= take->choice->bound[i];
    if (charges_counters(state, take->device))
        charge_counters(state, take->device, -1);
}
