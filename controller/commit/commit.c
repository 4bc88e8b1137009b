/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/commit/commit.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "api/runtime/json/encode.h"
#include "api/tangram/names.h"
#include "controller/commit/parts.h"

/* An object of etcd holds 1.5 MiB, and a Gang says more than its plan; all annotations of a pod
 * together hold 256 KiB. */
#define PLAN_MAX ((size_t)1024 * 1024)
#define POD_PLAN_MAX ((size_t)192 * 1024)
#define TEXT_MAX 1024

int tg_decide_out_of_memory(struct tg_deciding *d)
{
    return tg_error_set(d->err, TG_RESOURCE_EXHAUSTED, "%s: the memory budget of a pass is used up",
                        d->in->unit == NULL ? "taking over" : d->in->unit->key);
}

const char *tg_deciding_epoch(const struct tg_deciding *d)
{
    return tg_arena_printf(d->arena, "%llu", (unsigned long long)d->in->epoch);
}

int tg_decide_wait(struct tg_deciding *d, const char *phase, const char *reason, const char *format,
                   ...)
{
    char text[TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    d->out->kind = TG_DECIDE_WAIT;
    d->out->phase = phase;
    d->out->reason = reason;
    d->out->passing = d->out->passing || tg_streq(reason, "Gathering");
    d->out->text = tg_arena_strdup(d->arena, text);
    return d->out->text == NULL ? tg_decide_out_of_memory(d) : 0;
}

int tg_decide_problem(struct tg_deciding *d, const char *phase)
{
    const struct tg_unit_problem *problem = &d->in->unit->problem;

    d->out->kind = TG_DECIDE_WAIT;
    d->out->phase = phase;
    d->out->reason = problem->reason;
    d->out->text = problem->text;
    d->out->about = problem->claim;
    d->out->warning = true;
    return 0;
}

int tg_decide_write(struct tg_deciding *d, const struct tg_write *write)
{
    struct tg_decision *out = d->out;

    if (out->n_writes == d->writes_capacity) {
        size_t capacity = d->writes_capacity == 0 ? 16 : 2 * d->writes_capacity;
        struct tg_write *grown = tg_arena_alloc_array(d->arena, capacity, sizeof(*grown));

        if (grown == NULL)
            return tg_decide_out_of_memory(d);
        if (out->n_writes > 0)
            memcpy(grown, out->writes, out->n_writes * sizeof(*grown));
        out->writes = grown;
        d->writes_capacity = capacity;
    }
    out->writes[out->n_writes++] = *write;
    out->kind = TG_DECIDE_WRITE;
    return write->body == NULL ? tg_decide_out_of_memory(d) : 0;
}

int tg_commit_decide(const struct tg_commit_input *input, struct tg_arena *arena,
                     struct tg_decision *ret, struct tg_error *err)
{
    static int (*const decide[])(struct tg_deciding *) = {[TG_UNIT_GANG] = tg_decide_gang,
                                                          [TG_UNIT_POD] = tg_decide_pod,
                                                          [TG_UNIT_CLAIM] = tg_decide_claim};
    struct tg_deciding d = {.in = input, .arena = arena, .out = ret, .err = err};

    *ret = (struct tg_decision){0};
    return decide[input->unit->kind](&d);
}

/* A record that the server would refuse must not be begun. */
static int check_size(struct tg_deciding *d, const struct tg_plan *plan, size_t max)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(max);

    if (tg_json_encode(&tg_plan_type, plan, &buf, NULL) == 0)
        return 0;
    return tg_error_set(d->err, TG_RESOURCE_EXHAUSTED,
                        "%s: the plan of %zu members is larger than the %zu KiB that its record "
                        "holds: make the gang smaller, or the names of its pods, claims and nodes "
                        "shorter",
                        d->in->unit->key, plan->members.n, max / 1024);
}

/* The phase is what it was: those that run are not touched. */
static int begin_join(struct tg_deciding *d, const struct tg_plan *more)
{
    const char *phase = tg_gang_phase(d->in->unit);
    struct tg_progress p;
    struct tg_plan *plan;
    int r = tg_progress_of(d, d->in->plan, &p);

    if (r < 0)
        return r;
    plan = tg_plan_join(d, &p, more);
    if (plan == NULL)
        return tg_decide_out_of_memory(d);
    r = check_size(d, plan, PLAN_MAX);
    if (r < 0)
        return r;
    d->out->phase = phase;
    return tg_write_gang_status(
        d, &(struct tg_status_change){
               .phase = phase, .reason = "Joining", .plan_change = TG_PLAN_SET, .plan = plan});
}

static int begin_gang(struct tg_deciding *d, const struct tg_plan *plan)
{
    /* The finalizer first: a Gang must not vanish under an open plan. The next pass writes the
     * plan. */
    if (!tg_meta_has_finalizer(d->in->unit->gang->metadata, TG_FINALIZER_PLAN))
        return tg_write_gang_finalizer(d, true);
    if (d->in->plan != NULL)
        return begin_join(d, plan);
    return tg_write_gang_status(d, &(struct tg_status_change){.phase = TG_PHASE_COMMITTING,
                                                              .reason = "Committing",
                                                              .plan_change = TG_PLAN_SET,
                                                              .plan = plan,
                                                              .hold_change = TG_HOLDS_DROP});
}

int tg_commit_begin(const struct tg_commit_input *input, const struct tg_plan *plan,
                    struct tg_arena *arena, struct tg_decision *ret, struct tg_error *err)
{
    struct tg_deciding d = {.in = input, .arena = arena, .out = ret, .err = err};

    int r;

    *ret = (struct tg_decision){.phase = TG_PHASE_COMMITTING};
    switch (input->unit->kind) {
    case TG_UNIT_GANG:
        r = check_size(&d, plan, PLAN_MAX);
        return r < 0 ? r : begin_gang(&d, plan);
    case TG_UNIT_POD:
        r = check_size(&d, plan, POD_PLAN_MAX);
        return r < 0 ? r : tg_write_pod_plan(&d, input->unit->members[0].pod, plan);
    case TG_UNIT_CLAIM:
        return tg_write_open_claims(&d, plan);
    }
    return 0;
}

char *tg_plan_encode(const struct tg_plan *plan, struct tg_arena *arena)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(PLAN_MAX);

    if (tg_json_encode(&tg_plan_type, plan, &buf, NULL) < 0)
        return NULL;
    return tg_arena_strndup(arena, tg_buf_str(&buf), buf.len);
}

int tg_plan_decode(const char *json, struct tg_arena *arena, struct tg_plan **ret,
                   struct tg_error *err)
{
    void *plan;
    int r = tg_json_decode_new(&tg_plan_type, json, strlen(json), arena, &plan, err);

    if (r < 0)
        return r;
    *ret = plan;
    return tg_plan_validate(*ret, err);
}

int tg_commit_record(const struct tg_unit *unit, struct tg_arena *arena, const struct tg_plan **ret,
                     bool *ret_unreadable, struct tg_error *err)
{
    struct tg_error why = TG_ERROR_INIT;
    struct tg_plan *plan = NULL;
    const char *text;

    *ret = NULL;
    *ret_unreadable = false;
    if (unit->kind == TG_UNIT_GANG && unit->gang != NULL && unit->gang->status != NULL)
        *ret = unit->gang->status->plan;
    if (unit->kind == TG_UNIT_GANG && *ret != NULL && tg_plan_validate(*ret, &why) < 0)
        *ret_unreadable = true;
    if (unit->kind == TG_UNIT_POD) {
        text = tg_meta_annotation(unit->members[0].pod->metadata, TG_ANNOTATION_PLAN);
        if (text != NULL && tg_plan_decode(text, arena, &plan, &why) < 0) {
            if (why.code == TG_RESOURCE_EXHAUSTED)
                return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "%s: %s", unit->key, why.message);
            *ret_unreadable = true;
        }
        *ret = plan;
    }
    if (*ret_unreadable)
        *ret = NULL;
    return 0;
}
