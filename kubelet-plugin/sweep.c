/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/sweep.h"

#include <stdlib.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"

#define LIST_BUDGET ((size_t)4 << 20) /* names of all claims that a node may have */
#define CLAIM_BUDGET ((size_t)2 << 20)

struct tg_sweep {
    struct tg_loop *loop;
    struct tg_device_worker *devices;
    struct tg_claims *claims;
    const struct tg_claim_source *source;
    struct tg_timer timer;
    int64_t delay;
    bool active;
    bool doubt; /* the API server could not say of some */
    /* Of this round. */
    struct tg_device_job job; /* what is prepared */
    bool *asked;              /* of job.claims: the kubelet knows it */
    size_t at;                /* the claim that is looked for */
    void *reading;
    struct tg_claim_batch *releasing;
    bool calling; /* what is asked now, we ask */
};

static const struct tg_kubelet_claim *current(const struct tg_sweep *sweep)
{
    return &sweep->job.claims[sweep->at];
}

/* ---- what the API server says ---- */

/* Why nobody has it, or NULL. */
static const char *why_gone(const struct tg_resource_claim *claim, const char *uid)
{
    if (claim->metadata == NULL || !tg_streq(claim->metadata->uid, uid))
        return "another claim bears its name";
    if (claim->status == NULL || claim->status->allocation == NULL)
        return "it is not allocated";
    return claim->status->reserved_for.n == 0 ? "it is reserved for no pod" : NULL;
}

static void next(struct tg_sweep *sweep);

static void on_released(void *data, const struct tg_kubelet_answer *answers, size_t n)
{
    struct tg_sweep *sweep = data;

    sweep->releasing = NULL;
    for (size_t i = 0; i < n; i++) {
        if (answers[i].error != NULL) {
            TG_WARN("A claim that nobody has cannot be unprepared yet",
                    TG_S("problem", answers[i].error));
            sweep->doubt = true;
        }
    }
    sweep->at++;
    next(sweep);
}

static void release(struct tg_sweep *sweep, const char *why)
{
    struct tg_kubelet_claim one = *current(sweep);
    const struct tg_kubelet_claims request = {.items = &one, .n = 1};

    TG_INFO("Unpreparing a claim that nobody has any more", TG_S("namespace", one.namespace_),
            TG_S("claim", one.name), TG_S("uid", one.uid), TG_S("why", why));
    sweep->calling = true;
    sweep->releasing = tg_claims_unprepare(sweep->claims, &request, on_released, sweep);
    sweep->calling = false;
}

static void judge(struct tg_sweep *sweep, const char *json, size_t n, const struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(CLAIM_BUDGET);
    const char *why = NULL;
    void *claim = NULL;

    if (err != NULL && err->code == TG_NOT_FOUND)
        why = "there is no such claim";
    else if (err != NULL ||
             tg_json_decode_new(&tg_resource_claim_type, json, n, arena, &claim, NULL) != 0)
        sweep->doubt = true;
    else
        why = why_gone(claim, current(sweep)->uid);
    if (why != NULL && !sweep->asked[sweep->at]) {
        release(sweep, why);
        return;
    }
    sweep->at++;
    next(sweep);
}

static void on_read(void *data, const char *json, size_t n, const struct tg_error *err)
{
    struct tg_sweep *sweep = data;
    sweep->reading = NULL;
    judge(sweep, json, n, err);
}

/* ---- a round ---- */

static void end_round(struct tg_sweep *sweep)
{
    bool again = sweep->doubt;

    free(TG_TAKE(sweep->asked));
    tg_arena_reset(sweep->job.arena);
    sweep->job.claims = NULL;
    sweep->job.n_claims = 0;
    sweep->active = again;
    if (again)
        tg_timer_start(sweep->loop, &sweep->timer,
                       sweep->delay < TG_SECOND ? TG_SECOND : sweep->delay);
}

/* One after the other: nobody waits for this. */
static void next(struct tg_sweep *sweep)
{
    while (sweep->at < sweep->job.n_claims && sweep->asked[sweep->at])
        sweep->at++;
    if (sweep->at == sweep->job.n_claims) {
        end_round(sweep);
        return;
    }
    const struct tg_kubelet_claim *claim = current(sweep);
    sweep->reading =
        sweep->source->get(sweep->source->data, claim->namespace_, claim->name, on_read, sweep);
}

static void on_listed(struct tg_device_job *job)
{
    struct tg_sweep *sweep = job->data;

    sweep->doubt = job->err.code != TG_OK;
    sweep->asked = tg_xcalloc(job->n_claims + 1, sizeof(*sweep->asked));
    sweep->at = 0;
    next(sweep);
}

static void on_timer(struct tg_timer *timer)
{
    struct tg_sweep *sweep = timer->data;
    sweep->job.err = TG_ERROR_INIT;
    tg_device_worker_claims(sweep->devices, &sweep->job);
}

/* The kubelet's word counts more than what was found, or will be, in this round. */
static void on_asked(void *data, const char *uid)
{
    struct tg_sweep *sweep = data;

    if (sweep->calling || sweep->asked == NULL)
        return;
    for (size_t i = 0; i < sweep->job.n_claims; i++)
        sweep->asked[i] = sweep->asked[i] || tg_streq(sweep->job.claims[i].uid, uid);
}

struct tg_sweep *tg_sweep_new(struct tg_loop *loop, struct tg_device_worker *devices,
                              struct tg_claims *claims, const struct tg_claim_source *source)
{
    struct tg_sweep *sweep = tg_xcalloc(1, sizeof(*sweep));

    sweep->loop = loop;
    sweep->devices = devices;
    sweep->claims = claims;
    sweep->source = source;
    sweep->timer = (struct tg_timer){.callback = on_timer, .data = sweep};
    sweep->job = (struct tg_device_job){
        .done = on_listed, .data = sweep, .arena = tg_arena_new(LIST_BUDGET)};
    tg_claims_when_asked(claims, on_asked, sweep);
    return sweep;
}

void tg_sweep_start(struct tg_sweep *sweep, int64_t delay)
{
    if (sweep->active)
        return;
    sweep->active = true;
    sweep->delay = delay;
    tg_timer_start(sweep->loop, &sweep->timer, delay);
}

void tg_sweep_free(struct tg_sweep *sweep)
{
    if (sweep == NULL)
        return;
    tg_timer_stop(&sweep->timer);
    if (sweep->reading != NULL)
        sweep->source->cancel(sweep->source->data, sweep->reading);
    if (sweep->releasing != NULL)
        tg_claims_abandon(sweep->releasing);
    tg_claims_when_asked(sweep->claims, NULL, NULL);
    free(sweep->asked);
    tg_arena_free(sweep->job.arena);
    free(sweep);
}
