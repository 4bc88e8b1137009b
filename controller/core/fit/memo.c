/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/memo.h"

#define MAX_STATES ((size_t)16384)
#define MAX_BYTES ((size_t)4 * 1024 * 1024)

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

void tg_fit_memo_init(struct tg_fit_memo *memo, const struct tg_fit_state *state)
{
    *memo = (struct tg_fit_memo){
        .state = state, .key = {.arena = state->table->arena}, .off = any_admin(state)};
}

static void put_held(struct tg_fit_bytes *key, const struct tg_fit_state *state)
{
    size_t n = state->table->view->n_devices;

    for (size_t i = 0; i < n; i += 8) {
        unsigned char byte = 0;

        for (size_t k = i; k < n && k < i + 8; k++)
            byte = (unsigned char)(byte | (state->held[k] > 0) << (k - i));
        tg_fit_bytes_put(key, &byte, 1);
    }
}

static void put_shares(struct tg_fit_bytes *key, const struct tg_fit_state *state)
{
    const struct tg_view *view = state->table->view;

    for (size_t i = 0; i < view->n_devices; i++) {
        if (state->shares[i] == 0)
            continue;
        tg_fit_bytes_number(key, i);
        tg_fit_bytes_put(key, state->amounts + state->first_amount[i],
                         view->devices[i].n_capacity * sizeof(*state->amounts));
    }
}

/* Only of the claim that is being worked on: later ones have seen nothing, earlier ones are done.
 */
static void put_tracks(struct tg_fit_bytes *key, const struct tg_fit_state *state, size_t claim)
{
    for (size_t i = 0; i < state->claims[claim].n_constraints; i++) {
        const struct tg_fit_track *track = &state->tracks[claim][i];
        /* What all have in common says everything of a match; of distinct all of them count. */
        size_t from = track->distinct || track->n_levels == 0 ? 0 : track->n_levels - 1;

        tg_fit_bytes_number(key, track->n_levels == 0);
        for (size_t k = from; k < track->n_levels; k++) {
            tg_fit_bytes_number(key, track->levels[k].n);
            tg_fit_bytes_put(key, track->levels[k].ids,
                             track->levels[k].n * sizeof(*track->levels[k].ids));
        }
    }
}

static int put_key(struct tg_fit_memo *memo, const struct tg_fit_place *place)
{
    const struct tg_fit_request *request =
        &memo->state->claims[place->claim].requests[place->request];
    size_t choice =
        place->choice == NULL ? request->n_choices : (size_t)(place->choice - request->choices);

    memo->key.n = 0;
    tg_fit_bytes_number(&memo->key, place->claim);
    tg_fit_bytes_number(&memo->key, place->request);
    tg_fit_bytes_number(&memo->key, choice);
    tg_fit_bytes_number(&memo->key, place->found);
    tg_fit_bytes_number(&memo->key, place->start);
    tg_fit_bytes_number(&memo->key, memo->state->per_claim[place->claim]);
    put_tracks(&memo->key, memo->state, place->claim);
    put_held(&memo->key, memo->state);
    put_shares(&memo->key, memo->state);
    return memo->key.rc;
}

int tg_fit_memo_knows(struct tg_fit_memo *memo, const struct tg_fit_place *place, bool *ret,
                      struct tg_error *err)
{
    int rc = 0;

    *ret = false;
    if (memo->off || memo->failed.n == 0)
        return 0;
    memo->key.err = err;
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

    if (memo->off || memo->failed.n == MAX_STATES || memo->bytes > MAX_BYTES)
        return 0;
    if (!memo->ready)
        rc = tg_fit_blobs_init(&memo->failed, MAX_STATES, memo->state->table->arena, err);
    memo->ready = rc == 0;
    memo->key.err = err;
    if (rc == 0)
        rc = put_key(memo, place);
    if (rc < 0)
        return rc;
    memo->bytes += memo->key.n;
    return tg_fit_blobs_add(&memo->failed, memo->key.data, memo->key.n, &unused, err);
}
