/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/memo.h"

#include "controller/core/model/sort.h"

#define MAX_STATES ((size_t)16384)
#define MAX_BYTES ((size_t)4 * 1024 * 1024)
/* Different records that may be numbered; the last ones are never used
 * (is_full). */
#define MAX_RECORDS ((size_t)32768)

static bool any_admin(const struct tg_fit_state *state)
{
    const struct tg_fit_book *book = state->table->book;

    for (size_t c = 0; c < state->n_claims; c++) {
        for (size_t r = 0; r < state->claims[c].n_requests; r++) {
            for (size_t k = 0; k < state->claims[c].requests[r].n_choices; k++) {
                if (book->wants[state->claims[c].requests[r].choices[k].want].admin)
                    return true;
            }
        }
    }
    return false;
}

void tg_fit_memo_init(struct tg_fit_memo *memo, const struct tg_fit_state *state,
                      const struct tg_fit_order *order, const struct tg_fit_turns *turns)
{
    *memo = (struct tg_fit_memo){.state = state,
                                 .order = order,
                                 .turns = turns,
                                 .key = {.arena = state->table->arena},
                                 .record = {.arena = state->table->arena},
                                 .off = any_admin(state)};
}

void tg_fit_memo_clear(struct tg_fit_memo *memo)
{
    if (memo->ready)
        tg_fit_blobs_clear(&memo->failed);
    memo->bytes = 0;
}

static int make_room(struct tg_fit_memo *memo, struct tg_error *err)
{
    const struct tg_view *view = memo->state->table->view;
    struct tg_arena *arena = memo->state->table->arena;
    int rc = tg_fit_blobs_init(&memo->failed, MAX_STATES, arena, err);

    if (rc == 0)
        rc = tg_fit_blobs_init(&memo->records, MAX_RECORDS, arena, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, memo->state->n_claims * TG_RESULTS_MAX, sizeof(*memo->numbers),
                           &memo->numbers, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, view->n_counters + view->n_devices, sizeof(*memo->stamp),
                           &memo->stamp, err);
    memo->ready = rc == 0;
    return rc;
}

/* What has been taken from a part, and which it is: itself, or any of its
 * class. */
static void put_part(struct tg_fit_memo *memo, size_t part, bool itself)
{
    const struct tg_fit_state *state = memo->state;
    size_t at = 0;

    memo->record.n = 0;
    tg_fit_bytes_number(&memo->record, itself ? part : memo->order->class[part]);
    for (size_t d = memo->order->head[part]; d != TG_NO_DEVICE; d = memo->order->next[d], at++) {
        if (state->held[d] == 0 && state->shares[d] == 0)
            continue;
        tg_fit_bytes_number(&memo->record, at);
        if (state->shares[d] > 0)
            tg_fit_bytes_put(&memo->record, state->amounts + state->first_amount[d],
                             state->table->view->devices[d].n_capacity * sizeof(*state->amounts));
    }
}

static void insert_number(struct tg_fit_memo *memo, size_t number)
{
    size_t k = memo->n_numbers++;

    for (; k > 0 && memo->numbers[k - 1] > number; k--)
        memo->numbers[k] = memo->numbers[k - 1];
    memo->numbers[k] = number;
}

/* The records of all parts that have been taken from, in ascending order of
 * their numbers. */
static int put_parts(struct tg_fit_memo *memo, bool itself)
{
    memo->n_numbers = 0;
    memo->round++;
    for (size_t i = 0; i < memo->state->n_takes; i++) {
        size_t part = memo->order->part[memo->state->takes[i].device], number = 0;
        int rc = 0;

        if (memo->stamp[part] == memo->round)
            continue;
        memo->stamp[part] = memo->round;
        put_part(memo, part, itself);
        rc = memo->record.rc;
        if (rc == 0)
            rc = tg_fit_blobs_add(&memo->records, memo->record.data, memo->record.n, &number,
                                  memo->record.err);
        if (rc < 0)
            return rc;
        insert_number(memo, number);
    }
    tg_fit_bytes_put(&memo->key, memo->numbers, memo->n_numbers * sizeof(*memo->numbers));
    return 0;
}

/* What the constraints of a claim have seen. */
static void put_tracks(struct tg_fit_bytes *key, const struct tg_fit_state *state, size_t claim)
{
    for (size_t i = 0; i < state->claims[claim].n_constraints; i++) {
        const struct tg_fit_track *track = &state->tracks[claim][i];
        /* What all have in common says everything of a match; of distinct all of them count. */
        size_t from = track->distinct || track->n_levels == 0 ? 0 : track->n_levels - 1;

        tg_fit_bytes_number(key, track->distinct ? track->n_levels : track->n_levels == 0);
        for (size_t k = from; k < track->n_levels; k++) {
            tg_fit_bytes_number(key, track->levels[k].n);
            tg_fit_bytes_put(key, track->levels[k].ids,
                             track->levels[k].n * sizeof(*track->levels[k].ids));
        }
    }
}

static int put_key(struct tg_fit_memo *memo, const struct tg_fit_place *place)
{
    const struct tg_fit_turn *turn = &memo->turns->items[place->turn];
    const struct tg_fit_request *request =
        &memo->state->claims[turn->claim].requests[turn->request];
    size_t choice =
        place->choice == NULL ? request->n_choices : (size_t)(place->choice - request->choices);
    int rc = 0;

    memo->key.n = 0;
    tg_fit_bytes_number(&memo->key, place->turn);
    tg_fit_bytes_number(&memo->key, choice);
    tg_fit_bytes_number(&memo->key, place->found);
    tg_fit_bytes_number(&memo->key, place->start);
    for (size_t i = 0; i < memo->state->n_claims; i++) {
        tg_fit_bytes_number(&memo->key, memo->state->per_claim[i]);
        put_tracks(&memo->key, memo->state, i);
    }
    rc = put_parts(memo, place->start > 0);
    return rc < 0 ? rc : memo->key.rc;
}

/* No more states, or not surely enough numbers for the records of one more. */
static bool is_full(const struct tg_fit_memo *memo)
{
    return memo->failed.n == MAX_STATES || memo->bytes > MAX_BYTES ||
           memo->records.n + memo->state->n_takes > MAX_RECORDS;
}

int tg_fit_memo_knows(struct tg_fit_memo *memo, const struct tg_fit_place *place, bool *ret,
                      struct tg_error *err)
{
    int rc = 0;

    *ret = false;
    if (memo->off || memo->failed.n == 0 || is_full(memo))
        return 0;
    memo->key.err = memo->record.err = err;
    rc = put_key(memo, place);
    if (rc == 0)
        *ret = tg_fit_blobs_has(&memo->failed, memo->key.data, memo->key.n);
    return rc;
}

int tg_fit_memo_add(struct tg_fit_memo *memo, const struct tg_fit_place *place,
                    struct tg_error *err)
{
    size_t unused;
    int rc = 0;

    if (memo->off)
        return 0;
    if (!memo->ready)
        rc = make_room(memo, err);
    if (rc < 0 || is_full(memo))
        return rc;
    memo->key.err = memo->record.err = err;
    rc = put_key(memo, place);
    if (rc < 0)
        return rc;
    memo->bytes += memo->key.n;
    return tg_fit_blobs_add(&memo->failed, memo->key.data, memo->key.n, &unused, err);
}
