/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/search.h"

#include "controller/core/fit/bound.h"
#include "controller/core/fit/loss.h"
#include "controller/core/fit/memo.h"
#include "controller/core/fit/order.h"
#include "controller/core/fit/prepare.h"
#include "controller/core/model/sort.h"

/* Failed branches before states are remembered, and before the bound is made exact everywhere. */
#define FAILS_BEFORE_MEMO 16
#define FAILS_BEFORE_MATCHING 32
/* Requests times devices up to which the bound is cheap enough to be looked at before anything has
 * failed. */
#define CHEAP_BOUND ((size_t)1024)
/* Of all steps the part that one claim may take when it is tried alone. */
#define SHARE_OF_ONE_CLAIM 16

/* One decision on the way: which alternative of a request (choice NULL), or which device. */
struct frame {
    struct tg_fit_place place;
    size_t next;         /* alternative, or place in the order, to be tried next */
    size_t device;       /* that it holds, TG_NO_DEVICE: none */
    size_t failed;       /* the device that failed last, TG_NO_DEVICE: none */
    size_t failed_fresh; /* an orbit of which a device failed whose part was untouched */
};

enum mode {
    /* The built-in allocator's order, or what spoils least first, until something fails for the
     * first time. */
    FIRST_FIT,
    AS_GIVEN, /* its order to the end: an error may lie on the way, and must be met */
    CLEVER,   /* alike devices side by side, with bounds */
};

enum status { GOING, FOUND, FAILED, BROKEN /* problem or steps or memory */ };

struct search {
    struct tg_fit_table table;
    struct tg_fit_state state;
    struct tg_fit_order order;
    struct tg_fit_turns turns;
    struct tg_fit_bound bound;
    struct tg_fit_memo memo;
    enum mode mode;
    struct frame *frames;
    size_t n_frames;
    size_t steps, max_steps, fails;
    bool skips;   /* AS_GIVEN: alike devices may be skipped */
    bool lenient; /* a solution is known: what would be an error just does not do */
    /* Requests of all claims, one after the other: */
    size_t *first_request; /* one a claim: its first */
    size_t *fixed;         /* the only alternative to be tried, or TG_ANY_CHOICE */
    size_t *ranks;         /* of the best solution so far: the alternative chosen */
    size_t n_requests;
    struct tg_fit_take *best; /* its devices, n_best */
    size_t n_best;
    struct tg_fit_answer *answer;
    struct tg_error *err;
    int rc;
};

static const struct tg_fit_request *request_at(const struct search *s,
                                               const struct tg_fit_place *place)
{
    const struct tg_fit_turn *turn = &s->turns.items[place->turn];

    return &s->state.claims[turn->claim].requests[turn->request];
}

static size_t claim_at(const struct search *s, const struct tg_fit_place *place)
{
    return s->turns.items[place->turn].claim;
}

static bool is_all(const struct search *s, const struct tg_fit_choice *choice)
{
    return s->table.book->wants[choice->want].all;
}

/* Results that the claim must have by its later turns. */
static size_t least_to_come(const struct search *s, size_t turn)
{
    const struct tg_fit_turn *own = &s->turns.items[turn];
    const struct tg_fit_claim *claim = &s->state.claims[own->claim];
    size_t sum = 0;

    for (size_t i = turn + 1; i < s->turns.n; i++) {
        if (s->turns.items[i].claim == own->claim)
            sum += tg_fit_least_of_request(&s->table, &claim->requests[s->turns.items[i].request]);
    }
    return sum;
}

static void push(struct search *s, const struct tg_fit_place *place)
{
    s->frames[s->n_frames++] = (struct frame){.place = *place,
                                              .next = place->start,
                                              .device = TG_NO_DEVICE,
                                              .failed = TG_NO_DEVICE,
                                              .failed_fresh = TG_NO_DEVICE};
}

static enum status pop(struct search *s)
{
    const struct frame *frame = &s->frames[--s->n_frames];

    s->fails++;
    if (s->mode == FIRST_FIT)
        return FAILED;
    if (s->fails > FAILS_BEFORE_MEMO)
        s->rc = tg_fit_memo_add(&s->memo, &frame->place, s->err);
    if (s->rc < 0)
        return BROKEN;
    return s->n_frames == 0 ? FAILED : GOING;
}

/* May there be a solution at that place? Only ever wrong by saying yes. */
static bool promising(struct search *s, const struct tg_fit_place *place)
{
    bool known = false;

    if (s->fails > FAILS_BEFORE_MEMO)
        s->rc = tg_fit_memo_knows(&s->memo, place, &known, s->err);
    if (known || s->rc < 0)
        return false;
    if (s->mode != CLEVER || (s->fails == 0 && s->bound.max_demands * s->order.n > CHEAP_BOUND))
        return true;
    s->bound.steps = 0;
    known = tg_fit_bound_holds(&s->bound, place, s->fails > FAILS_BEFORE_MATCHING);
    s->steps += s->bound.steps;
    return known;
}

/* The next alternative that stays within the limit of results. */
static enum status choose(struct search *s, struct frame *frame)
{
    const struct tg_fit_request *request = request_at(s, &frame->place);
    size_t claim = claim_at(s, &frame->place);
    size_t fixed = s->fixed[s->first_request[claim] + s->turns.items[frame->place.turn].request];
    size_t rest = least_to_come(s, frame->place.turn);

    while (frame->next < request->n_choices) {
        const struct tg_fit_choice *choice = &request->choices[frame->next++];
        size_t need = tg_fit_choice_need(&s->table, choice);
        struct tg_fit_place place = frame->place;

        s->steps++;
        if (fixed != TG_ANY_CHOICE && choice != &request->choices[fixed])
            continue;
        if (need == 0 || need > TG_RESULTS_MAX ||
            s->state.per_claim[claim] + need + rest > TG_RESULTS_MAX)
            continue;
        place.choice = choice;
        if (!promising(s, &place)) {
            if (s->rc < 0)
                return BROKEN;
            continue;
        }
        push(s, &place);
        return GOING;
    }
    return pop(s);
}

static bool untouched(const struct search *s, size_t device)
{
    return s->order.taken[s->order.part[device]] == 0;
}

static void remember_failure(struct search *s, struct frame *frame, size_t device)
{
    frame->failed = device;
    if (s->mode != FIRST_FIT && untouched(s, device))
        frame->failed_fresh = s->order.orbit[device];
}

/* Is the device so much like one that failed here that it must fail as well? Alike ones of one part
 * differ in nothing; those of two parts differ in nothing as long as both are untouched. */
static bool is_hopeless(const struct search *s, const struct frame *frame, size_t device)
{
    size_t orbit, failed = frame->failed;

    if (failed == TG_NO_DEVICE || s->mode == FIRST_FIT)
        return false;
    if (s->mode == AS_GIVEN && (!s->skips || s->table.view->devices[device].n_consumes > 0))
        return false;
    orbit = s->order.orbit[device];
    if (s->order.orbit[failed] == orbit && s->order.part[failed] == s->order.part[device])
        return s->state.shares[device] == 0 && s->state.shares[failed] == 0;
    return frame->failed_fresh == orbit && untouched(s, device);
}

static enum status break_off(struct search *s)
{
    s->answer->outcome = TG_FIT_ERROR;
    return BROKEN;
}

static enum status forbidden_in_all(struct search *s, const struct tg_fit_place *place,
                                    size_t device)
{
    const struct tg_view_device *d = &s->table.view->devices[device];

    tg_fit_fail(&s->answer->problem, s->table.arena, TG_FAULT_CONSTRAINT_ALL,
                "request %s asks for all devices, but device %s/%s/%s cannot be added because a "
                "claim constraint would not be satisfied",
                place->choice->name, d->driver, d->pool_name, d->name);
    return break_off(s);
}

static void give_back(struct search *s, struct frame *frame)
{
    if (s->mode != FIRST_FIT)
        s->order.taken[s->order.part[frame->device]]--;
    tg_fit_state_undo(&s->state);
    remember_failure(s, frame, frame->device);
    frame->device = TG_NO_DEVICE;
}

/* The device is taken: on to the next one, the next request, or the end. */
static enum status go_on(struct search *s, struct frame *frame, size_t at)
{
    struct tg_fit_place place = frame->place;
    size_t device = frame->device;
    bool again = tg_fit_repeats(&s->table.view->rules) && tg_fit_shareable(s->table.view, device);

    if (s->mode != FIRST_FIT)
        s->order.taken[s->order.part[device]]++;
    place.found++;
    place.start = at + (again ? 0 : 1);
    if (place.found == tg_fit_choice_need(&s->table, place.choice)) {
        place = (struct tg_fit_place){.turn = place.turn + 1};
        if (place.turn == s->turns.n)
            return FOUND;
    }
    if (promising(s, &place)) {
        push(s, &place);
        return GOING;
    }
    give_back(s, frame);
    return s->rc < 0 ? BROKEN : GOING;
}

static enum status pick_of_all(struct search *s, struct frame *frame)
{
    const struct tg_fit_place *place = &frame->place;
    const struct tg_fit_all *all = &s->table.all[place->choice->want];
    size_t device = all->devices[place->found];

    /* All of them are needed: which one comes first makes no difference. */
    if (frame->failed != TG_NO_DEVICE)
        return pop(s);
    s->steps++;
    frame->failed = device;
    if (tg_fit_state_given(&s->state, claim_at(s, place), place->choice, device) ||
        tg_fit_table_cell(&s->table, place->choice->want, device) != TG_CELL_YES)
        return GOING;
    switch (tg_fit_state_take(&s->state, claim_at(s, place), place->choice, device)) {
    case TG_TAKE_DONE:
        frame->device = device;
        return go_on(s, frame, 0);
    case TG_TAKE_FORBIDDEN:
        return s->lenient ? GOING : forbidden_in_all(s, place, device);
    case TG_TAKE_REFUSED:
        break;
    }
    return GOING;
}

/* Too few devices are left for the rest of the request, whatever else is chosen? Only where no
 * error can be met among them. */
static bool runs_short(struct search *s, const struct frame *frame)
{
    const struct tg_fit_place *place = &frame->place;
    size_t need = place->choice->count - place->found, n = 0;

    if (s->mode != AS_GIVEN || tg_fit_repeats(&s->table.view->rules))
        return false;
    for (size_t i = frame->next; i < s->order.n && n < need; i++) {
        enum tg_fit_cell cell =
            tg_fit_table_cell(&s->table, place->choice->want, s->order.devices[i]);

        if (cell == TG_CELL_ERROR)
            return false;
        n += cell == TG_CELL_YES;
    }
    return n < need;
}

/* The next device that can be had. */
static enum status pick(struct search *s, struct frame *frame)
{
    const struct tg_fit_place *place = &frame->place;

    while (!runs_short(s, frame) && frame->next < s->order.n) {
        size_t at = frame->next++, device = s->order.devices[at];
        enum tg_fit_cell cell;

        s->steps++;
        if (tg_fit_state_given(&s->state, claim_at(s, place), place->choice, device) ||
            is_hopeless(s, frame, device))
            continue;
        cell = tg_fit_table_cell(&s->table, place->choice->want, device);
        if (cell == TG_CELL_ERROR && !s->lenient) {
            tg_fit_table_explain(&s->table, place->choice->want, device, &s->answer->problem);
            return break_off(s);
        }
        if (cell != TG_CELL_YES)
            continue;
        if (tg_fit_state_take(&s->state, claim_at(s, place), place->choice, device) ==
            TG_TAKE_DONE) {
            frame->device = device;
            return go_on(s, frame, at);
        }
        remember_failure(s, frame, device);
    }
    return pop(s);
}

static enum status advance(struct search *s)
{
    struct frame *frame = &s->frames[s->n_frames - 1];

    if (s->steps > s->max_steps) {
        s->answer->outcome = TG_FIT_GAVE_UP;
        return BROKEN;
    }
    if (frame->place.choice == NULL)
        return choose(s, frame);
    if (frame->device != TG_NO_DEVICE) {
        give_back(s, frame);
        /* A failure far below may show that nothing is left to be tried here. */
        if (!promising(s, &frame->place))
            return s->rc < 0 ? BROKEN : pop(s);
    }
    return is_all(s, frame->place.choice) ? pick_of_all(s, frame) : pick(s, frame);
}

/* One run from the start, in the mode that is set. */
static enum status run(struct search *s)
{
    const struct tg_fit_place place = {.turn = 0};
    enum status status = GOING;

    s->n_frames = 0;
    s->fails = 0;
    tg_fit_memo_clear(&s->memo);
    for (size_t i = 0; i < s->order.n && s->mode != FIRST_FIT; i++)
        s->order.taken[s->order.part[s->order.devices[i]]] = 0;
    while (s->state.n_takes > 0)
        tg_fit_state_undo(&s->state);
    if (s->turns.n == 0)
        return FOUND;
    if (s->mode == CLEVER && !tg_fit_bound_holds(&s->bound, &place, true))
        return FAILED;
    push(s, &place);
    while (status == GOING)
        status = advance(s);
    return status;
}

/* Is there anything that must end the search with an error when it is met? Then the built-in
 * allocator's order must be kept. *ret_skips: alike devices lead to the same errors. */
static bool errors_lurk(struct search *s, bool *ret_skips)
{
    bool lurk = false;

    *ret_skips = true;
    for (size_t c = 0; c < s->state.n_claims; c++) {
        const struct tg_fit_claim *claim = &s->state.claims[c];

        for (size_t r = 0; r < claim->n_requests; r++) {
            for (size_t k = 0; k < claim->requests[r].n_choices; k++) {
                const struct tg_fit_choice *choice = &claim->requests[r].choices[k];

                /* Where there is nothing to be had nothing can be forbidden. */
                bool all = is_all(s, choice) && s->table.all[choice->want].n > 0;

                for (size_t i = 0; all && i < claim->n_constraints; i++)
                    *ret_skips = *ret_skips && !choice->bound[i];
                for (size_t d = 0; d < s->table.view->n_devices; d++)
                    lurk = lurk || tg_fit_table_cell(&s->table, choice->want, d) == TG_CELL_ERROR;
            }
        }
    }
    return lurk || !*ret_skips;
}

static int begin_first_fit(struct search *s)
{
    size_t n = s->table.view->n_devices;
    int rc = tg_core_alloc(s->table.arena, n, sizeof(size_t), &s->order.devices, s->err);

    s->mode = FIRST_FIT;
    s->order.n = n;
    for (size_t i = 0; rc == 0 && i < n; i++)
        s->order.devices[i] = i;
    return rc < 0 || !s->table.book->sparing || s->table.view->n_counters == 0 ||
                   errors_lurk(s, &s->skips)
               ? rc
               : tg_fit_loss_sort(&s->table, s->order.devices, n, s->err);
}

static bool any_admin(const struct search *s)
{
    for (size_t i = 0; i < s->table.book->n_wants; i++) {
        if (s->table.book->wants[i].admin)
            return true;
    }
    return false;
}

/* How much the request is in the way of others: what the least harmful device hinders that it may
 * have. */
static size_t hardness(struct search *s, const struct tg_fit_turn *turn)
{
    const struct tg_fit_request *request = &s->state.claims[turn->claim].requests[turn->request];
    size_t least = SIZE_MAX;

    for (size_t k = 0; k < request->n_choices; k++) {
        for (size_t i = 0; i < s->order.n; i++) {
            size_t device = s->order.devices[i], harm = s->order.harm[s->order.orbit[device]];

            if (harm < least &&
                tg_fit_table_cell(&s->table, request->choices[k].want, device) == TG_CELL_YES)
                least = harm;
        }
    }
    return least == SIZE_MAX ? 0 : least;
}

/* The hardest first, as long as order makes no difference: admin access sees who came before. */
static int sort_turns(struct search *s)
{
    size_t *hard;
    int rc = tg_core_alloc(s->table.arena, s->turns.n, sizeof(*hard), &hard, s->err);

    for (size_t i = 0; rc == 0 && i < s->turns.n; i++) {
        struct tg_fit_turn turn = s->turns.items[i];
        size_t own = hardness(s, &turn), k = i;

        for (; k > 0 && hard[k - 1] < own; k--) {
            hard[k] = hard[k - 1];
            s->turns.items[k] = s->turns.items[k - 1];
        }
        hard[k] = own;
        s->turns.items[k] = turn;
    }
    return rc;
}

/* The turns of the claims in that order, of each in the order of its requests. */
static void list_turns(struct search *s, const size_t *claims, size_t n)
{
    s->turns.n = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t r = 0; r < s->state.claims[claims[i]].n_requests; r++)
            s->turns.items[s->turns.n++] = (struct tg_fit_turn){.claim = claims[i], .request = r};
    }
}

static int begin_exhaustive(struct search *s)
{
    int rc = 0;

    s->mode = !s->lenient && errors_lurk(s, &s->skips) ? AS_GIVEN : CLEVER;
    while (s->state.n_takes > 0)
        tg_fit_state_undo(&s->state);
    rc = tg_fit_order_init(&s->order, &s->state, s->mode == AS_GIVEN, s->err);
    if (rc == 0)
        rc = tg_fit_bound_init(&s->bound, &s->state, &s->order, &s->turns, s->fixed,
                               s->first_request, s->err);
    tg_fit_memo_init(&s->memo, &s->state, &s->order, &s->turns);
    return rc;
}

/* Does the claim fail even without the others? *ret_effort: the steps that it took to know, and
 * more than any if that is still not known. */
static enum status try_alone(struct search *s, size_t claim, size_t *ret_effort)
{
    size_t before = s->steps, all = s->max_steps;
    enum status status;
    int rc = 0;

    list_turns(s, &claim, 1);
    if (!any_admin(s))
        rc = sort_turns(s);
    if (rc < 0) {
        s->rc = rc;
        return BROKEN;
    }
    s->max_steps = s->steps + all / SHARE_OF_ONE_CLAIM;
    status = run(s);
    s->max_steps = all;
    *ret_effort = s->steps - before;
    if (status == BROKEN && s->rc == 0 && s->answer->outcome == TG_FIT_GAVE_UP) {
        s->answer->outcome = TG_FIT_UNALLOCATABLE;
        *ret_effort = SIZE_MAX;
        return GOING;
    }
    return status;
}

/* One claim after the other, each alone: most proofs that there is no solution are found there.
 * Then all together, those that took the most effort first. */
static enum status run_claims(struct search *s)
{
    size_t n = s->state.n_claims, *order, *effort;

    s->rc = tg_core_alloc(s->table.arena, n, sizeof(*order), &order, s->err);
    if (s->rc == 0)
        s->rc = tg_core_alloc(s->table.arena, n, sizeof(*effort), &effort, s->err);
    for (size_t c = 0; s->rc == 0 && c < n; c++) {
        enum status status = n > 1 ? try_alone(s, c, &effort[c]) : GOING;
        size_t k = c;

        if (status == FAILED || status == BROKEN)
            return status;
        for (; k > 0 && !any_admin(s) && effort[order[k - 1]] < effort[c]; k--)
            order[k] = order[k - 1];
        order[k] = c;
    }
    if (s->rc < 0)
        return BROKEN;
    list_turns(s, order, n);
    if (!any_admin(s))
        s->rc = sort_turns(s);
    return s->rc < 0 ? BROKEN : run(s);
}

static bool has_invalid_pool(const struct tg_view *view)
{
    for (size_t i = 0; i < view->n_pools; i++) {
        if (view->pools[i].state == TG_POOL_INVALID)
            return true;
    }
    return false;
}

static size_t request_of(const struct search *s, const struct tg_fit_take *take)
{
    const struct tg_fit_claim *claim = &s->state.claims[take->claim];
    size_t r = 0;

    while (take->choice < claim->requests[r].choices ||
           take->choice >= claim->requests[r].choices + claim->requests[r].n_choices)
        r++;
    return r;
}

static int compare_takes(const void *a, const void *b, const void *context)
{
    const struct tg_fit_take *x = a, *y = b;
    size_t p, q;

    if (x->claim != y->claim)
        return x->claim < y->claim ? -1 : 1;
    p = request_of(context, x);
    q = request_of(context, y);
    if (p != q)
        return p < q ? -1 : 1;
    return x->device < y->device ? -1 : x->device > y->device;
}

/* By claim, request, and place in the view. */
static int sort_takes(struct search *s)
{
    const struct tg_fit_take **sorted;
    struct tg_fit_take *copy;
    int rc = tg_core_alloc(s->table.arena, s->n_best, sizeof(*sorted), &sorted, s->err);

    if (rc == 0)
        rc = tg_core_alloc(s->table.arena, s->n_best, sizeof(*copy), &copy, s->err);
    for (size_t i = 0; rc == 0 && i < s->n_best; i++)
        sorted[i] = &s->best[i];
    if (rc == 0)
        rc = tg_core_sort((const void **)sorted, s->n_best, compare_takes, s, s->table.arena,
                          s->err);
    for (size_t i = 0; rc == 0 && i < s->n_best; i++)
        copy[i] = *sorted[i];
    if (rc == 0)
        s->best = copy;
    return rc;
}

/* The alternative that the solution has for each request, and its devices. */
static void keep_solution(struct search *s)
{
    for (size_t i = 0; i < s->state.n_takes; i++) {
        const struct tg_fit_take *take = &s->state.takes[i];
        size_t request = request_of(s, take);

        s->best[i] = *take;
        s->ranks[s->first_request[take->claim] + request] =
            (size_t)(take->choice - s->state.claims[take->claim].requests[request].choices);
    }
    s->n_best = s->state.n_takes;
}

/* Is there a solution in which this request has that alternative, and those before it what they
 * have in the best one? */
static bool improves(struct search *s, size_t request, size_t choice)
{
    for (size_t i = 0; i < s->n_requests; i++)
        s->fixed[i] = i < request ? s->ranks[i] : i == request ? choice : TG_ANY_CHOICE;
    if (run(s) != FOUND)
        return false;
    keep_solution(s);
    return true;
}

/* The first solution found is not always the one with the best alternatives: a device that an
 * earlier request might do without may stand in the way of a later one's. An error ends a search
 * that has no solution yet, not one for a better one. */
static int improve(struct search *s)
{
    int rc = 0;

    s->lenient = true;
    for (size_t i = 0; i < s->n_requests; i++) {
        if (s->ranks[i] > 0 && s->mode != CLEVER) {
            rc = begin_exhaustive(s);
            if (rc == 0 && !any_admin(s))
                rc = sort_turns(s);
            if (rc < 0)
                return rc;
        }
        for (size_t k = 0; k < s->ranks[i] && s->steps <= s->max_steps && s->rc == 0; k++) {
            if (improves(s, i, k))
                break;
        }
    }
    return s->rc;
}

static void conclude(struct search *s, enum status status)
{
    struct tg_fit_answer *answer = s->answer;

    answer->steps = s->steps;
    if (status == FOUND) {
        answer->outcome = TG_FIT_ALLOCATED;
        answer->takes = s->best;
        answer->n_takes = s->n_best;
    } else if (status == FAILED && has_invalid_pool(s->table.view)) {
        answer->outcome = TG_FIT_ERROR;
        tg_fit_fail(&answer->problem, s->table.arena, TG_FAULT_INVALID_POOLS,
                    "invalid resource pools were encountered");
    } else if (status == FAILED) {
        answer->outcome = TG_FIT_UNALLOCATABLE;
    }
}

static int make_room(struct search *s, const struct tg_fit_claim *claims, size_t n_claims)
{
    struct tg_arena *arena = s->table.arena;
    int rc = tg_core_alloc(arena, n_claims, sizeof(size_t), &s->first_request, s->err);

    for (size_t i = 0; rc == 0 && i < n_claims; i++) {
        s->first_request[i] = s->n_requests;
        s->n_requests += claims[i].n_requests;
    }
    if (rc == 0)
        rc = tg_core_alloc(arena, s->n_requests, sizeof(*s->turns.items), &s->turns.items, s->err);
    for (size_t i = 0; rc == 0 && i < n_claims; i++) {
        for (size_t r = 0; r < claims[i].n_requests; r++)
            s->turns.items[s->turns.n++] = (struct tg_fit_turn){.claim = i, .request = r};
    }
    if (rc == 0)
        rc = tg_core_alloc(arena, s->n_requests, sizeof(size_t), &s->fixed, s->err);
    if (rc == 0)
        rc = tg_core_alloc(arena, s->n_requests, sizeof(size_t), &s->ranks, s->err);
    if (rc == 0)
        rc = tg_core_alloc(arena, n_claims * TG_RESULTS_MAX, sizeof(*s->best), &s->best, s->err);
    if (rc == 0)
        rc = tg_core_alloc(arena, s->n_requests + n_claims * TG_RESULTS_MAX + 2, sizeof(*s->frames),
                           &s->frames, s->err);
    for (size_t i = 0; rc == 0 && i < s->n_requests; i++)
        s->fixed[i] = TG_ANY_CHOICE;
    return rc < 0 ? rc : tg_fit_state_init(&s->state, &s->table, claims, n_claims, s->err);
}

/* First fit, then everything, then better alternatives. */
static int solve(struct search *s)
{
    int rc = begin_first_fit(s);
    enum status status = rc < 0 ? BROKEN : run(s);

    if (status == FAILED) {
        rc = begin_exhaustive(s);
        if (rc < 0)
            status = BROKEN;
        else
            status = s->mode == CLEVER ? run_claims(s) : run(s);
    }
    if (status == FOUND) {
        keep_solution(s);
        rc = improve(s);
        if (rc == 0)
            rc = sort_takes(s);
    }
    rc = rc < 0 ? rc : s->rc;
    if (rc == 0)
        conclude(s, status);
    return rc;
}

int tg_fit_search(const struct tg_fit_book *book, const struct tg_view *view,
                  const struct tg_fit_claim *claims, size_t n_claims, size_t max_steps,
                  struct tg_arena *arena, struct tg_fit_answer *ret, struct tg_error *err)
{
    struct search s = {
        .answer = ret, .err = err, .max_steps = max_steps == 0 ? TG_FIT_DEFAULT_STEPS : max_steps};
    int rc = tg_fit_table_init(&s.table, book, view, arena, err);

    *ret = (struct tg_fit_answer){.outcome = TG_FIT_UNALLOCATABLE};
    if (rc == 0)
        rc = tg_fit_prepare(&s.table, claims, n_claims, &ret->problem, err);
    if (rc < 0 || ret->problem.fault != TG_FAULT_NONE) {
        ret->outcome = TG_FIT_ERROR;
        return rc;
    }
    rc = make_room(&s, claims, n_claims);
    return rc < 0 ? rc : solve(&s);
}
