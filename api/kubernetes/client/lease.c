/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The elector does one request at a time; each answer and each tick of its timer decides the next
 * one. Whether the lease of somebody else is over is judged by our own clock alone: by how long its
 * record did not change.
 */
#include "api/kubernetes/client/lease.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/client/internal.h"
#include "api/kubernetes/objects/coordination.h"
#include "api/kubernetes/values/rfc3339.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "api/runtime/json/encode.h"

enum { MAX_LEASE = 1 << 20, MAX_BODY = 16 << 10 };
static const int64_t release_limit = 2 * TG_SECOND;
static const int64_t shortest_pause = 10 * TG_MILLISECOND;
static const int64_t longest_look = 500 * TG_MILLISECOND;

enum step { STEP_NONE, STEP_READ, STEP_CREATE, STEP_ACQUIRE, STEP_RENEW, STEP_RELEASE };

/* The lease as we saw it last. */
struct record {
    bool known; /* false: it must be read before the next write */
    char *resource_version;
    char *holder;
    char *renew_time;
    int64_t transitions;
    int64_t duration;    /* as its holder promised */
    int64_t observed_at; /* when holder, time or transitions changed last, by our clock */
};

struct tg_elector {
    struct tg_kube_client *client;
    struct tg_elector_config config;
    struct tg_timer timer;
    struct tg_kube_request *request;
    enum step step; /* of the request */
    int64_t sent_at;
    int64_t read_at; /* when the last read was sent */
    struct record record;
    uint64_t highest_epoch; /* seen or used */
    uint64_t asked_epoch;   /* of an acquisition under way */
    bool leading;
    bool raise; /* a higher epoch is to be written, though we lead already */
    uint64_t epoch;
    int64_t renewed_at; /* when the last successful write was sent */
    bool releasing;
    struct tg_timer release_timer;
    void (*release_done)(void *data);
    void *release_data;
};

static int64_t now_of(const struct tg_elector *elector)
{
    return tg_now_monotonic(tg_kube_client_clock(elector->client));
}

static int64_t lost_at(const struct tg_elector *elector)
{
    return elector->renewed_at + elector->config.duration / 3 * 2;
}

/* How often somebody who does not lead looks. */
static int64_t look_every(const struct tg_elector *elector)
{
    int64_t sixth = elector->config.duration / 6;

    return sixth < longest_look ? sixth : longest_look;
}

static bool is_ours(const struct tg_elector *elector)
{
    return tg_streq(elector->record.holder, elector->config.identity);
}

static void set_string(char **to, const char *from)
{
    free(*to);
    *to = tg_xstrdup(tg_or(from, ""));
}

static void see_epoch(struct tg_elector *elector, const char *text)
{
    uint64_t epoch = 0;

    /* Half the range is nobody's honest count; taking it over would end the counting. */
    if (text != NULL && tg_parse_u64(text, strlen(text), &epoch) == 0 && epoch < UINT64_MAX / 2 &&
        epoch > elector->highest_epoch)
        elector->highest_epoch = epoch;
}

static int take_record(struct tg_elector *elector, const struct tg_kube_result *result,
                       struct tg_error *err)
{
    static const struct tg_lease_spec no_spec = {0};
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(MAX_LEASE);
    struct record *record = &elector->record;
    struct tg_lease lease = {0};
    const struct tg_lease_spec *spec;
    int rc = tg_json_decode(&tg_lease_type, result->body, result->len, &lease, arena, err);

    if (rc != 0)
        return rc;
    if (lease.metadata == NULL || lease.metadata->resource_version == NULL)
        return tg_error_set(err, TG_DATA_LOSS, "lease %s/%s: no metadata.resourceVersion",
                            elector->config.namespace_, elector->config.name);
    spec = lease.spec == NULL ? &no_spec : lease.spec;
    if (record->holder == NULL || !tg_streq(record->holder, tg_or(spec->holder_identity, "")) ||
        !tg_streq(record->renew_time, tg_or(spec->renew_time, "")) ||
        record->transitions != spec->lease_transitions.value)
        record->observed_at = now_of(elector);
    record->known = true;
    set_string(&record->resource_version, lease.metadata->resource_version);
    set_string(&record->holder, spec->holder_identity);
    set_string(&record->renew_time, spec->renew_time);
    record->transitions = spec->lease_transitions.value;
    record->duration = elector->config.duration;
    if (spec->lease_duration_seconds.set && spec->lease_duration_seconds.value > 0 &&
        spec->lease_duration_seconds.value < INT32_MAX)
        record->duration = spec->lease_duration_seconds.value * TG_SECOND;
    see_epoch(elector, tg_meta_annotation(lease.metadata, elector->config.epoch_annotation));
    return 0;
}

static void write_spec(const struct tg_elector *elector, struct tg_json_writer *w)
{
    const struct tg_clock *clock = tg_kube_client_clock(elector->client);
    int64_t seconds = (elector->config.duration + TG_SECOND - 1) / TG_SECOND;
    bool taking = elector->step == STEP_ACQUIRE || elector->step == STEP_CREATE;
    bool releasing = elector->step == STEP_RELEASE;
    char now[32];

    tg_time_format_micro(tg_now_wall(clock), now);
    tg_jw_key(w, "spec");
    tg_jw_begin_object(w);
    tg_jw_key(w, "holderIdentity");
    tg_jw_string(w, releasing ? NULL : elector->config.identity);
    tg_jw_kv_int(w, "leaseDurationSeconds", releasing ? 1 : seconds);
    tg_jw_kv_string(w, "renewTime", now);
    if (taking) {
        tg_jw_kv_string(w, "acquireTime", now);
        tg_jw_kv_int(
            w, "leaseTransitions",
            elector->step == STEP_CREATE ? 0 : elector->record.transitions + !is_ours(elector));
    }
    tg_jw_end_object(w);
}

/* The whole object for STEP_CREATE, a merge patch bound to the version that we read for the others:
 * fields and annotations of others stay. */
static void write_body(const struct tg_elector *elector, struct tg_buf *out)
{
    struct tg_json_writer w;
    char epoch[32];

    tg_json_writer_init(&w, out);
    tg_jw_begin_object(&w);
    if (elector->step == STEP_CREATE) {
        tg_jw_kv_string(&w, "apiVersion", "coordination.k8s.io/v1");
        tg_jw_kv_string(&w, "kind", "Lease");
    }
    tg_jw_key(&w, "metadata");
    tg_jw_begin_object(&w);
    if (elector->step == STEP_CREATE)
        tg_jw_kv_string(&w, "name", elector->config.name);
    else
        tg_jw_kv_string(&w, "resourceVersion", elector->record.resource_version);
    if (elector->step == STEP_CREATE || elector->step == STEP_ACQUIRE) {
        snprintf(epoch, sizeof(epoch), "%llu", (unsigned long long)elector->asked_epoch);
        tg_jw_key(&w, "annotations");
        tg_jw_begin_object(&w);
        tg_jw_kv_string(&w, elector->config.epoch_annotation, epoch);
        tg_jw_end_object(&w);
    }
    tg_jw_end_object(&w);
    write_spec(elector, &w);
    tg_jw_end_object(&w);
}

static void on_answer(void *data, const struct tg_kube_result *result);

static void send(struct tg_elector *elector, enum step step)
{
    static const enum tg_rest_method methods[] = {
        [STEP_READ] = TG_REST_GET,      [STEP_CREATE] = TG_REST_POST,
        [STEP_ACQUIRE] = TG_REST_PATCH, [STEP_RENEW] = TG_REST_PATCH,
        [STEP_RELEASE] = TG_REST_PATCH,
    };
    TG_AUTOBUF struct tg_buf body = TG_BUF_INIT(MAX_BODY);
    struct tg_kube_call call = {
        .method = methods[step],
        .target = {.kind = &tg_kind_lease,
                   .namespace_ = elector->config.namespace_,
                   .name = step == STEP_CREATE ? NULL : elector->config.name},
        .content_type = step == STEP_CREATE ? TG_KUBE_JSON : TG_KUBE_MERGE_PATCH,
        .timeout = elector->config.duration / 3,
        .done = on_answer,
        .data = elector,
    };

    assert(elector->request == NULL);
    elector->step = step;
    elector->sent_at = now_of(elector);
    if (step == STEP_READ)
        elector->read_at = elector->sent_at;
    if (step == STEP_CREATE || step == STEP_ACQUIRE)
        elector->asked_epoch = ++elector->highest_epoch;
    if (step != STEP_READ) {
        write_body(elector, &body);
        assert(!body.failed); /* names and identity are ours and short */
        call.body = tg_buf_str(&body);
        call.body_len = body.len;
    }
    elector->request = tg_kube_send(elector->client, &call);
}

static void end_release(struct tg_elector *elector)
{
    void (*done)(void *) = elector->release_done;

    tg_timer_stop(&elector->release_timer);
    tg_kube_cancel(elector->request);
    elector->request = NULL;
    elector->release_done = NULL;
    if (done != NULL)
        done(elector->release_data);
}

static void on_release_late(struct tg_timer *timer)
{
    end_release(timer->data);
}

static bool lease_is_free(const struct tg_elector *elector)
{
    const struct record *record = &elector->record;

    return record->holder[0] == '\0' || is_ours(elector) ||
           now_of(elector) >= record->observed_at + record->duration;
}

/* The next request, if one is due; STEP_NONE if not. */
static enum step next_step(const struct tg_elector *elector)
{
    int64_t now = now_of(elector);
    const struct record *record = &elector->record;

    if (elector->releasing)
        return !record->known ? STEP_READ : is_ours(elector) ? STEP_RELEASE : STEP_NONE;
    if (elector->leading) {
        if (!record->known)
            return STEP_READ;
        if (elector->raise)
            return STEP_ACQUIRE;
        return now >= elector->renewed_at + elector->config.duration / 3 ? STEP_RENEW : STEP_NONE;
    }
    if (record->known && lease_is_free(elector))
        return STEP_ACQUIRE;
    return now >= elector->read_at + look_every(elector) ? STEP_READ : STEP_NONE;
}

static void sleep_until_due(struct tg_elector *elector)
{
    int64_t now = now_of(elector);
    int64_t due = elector->read_at + look_every(elector);

    if (elector->leading && elector->request != NULL) {
        due = lost_at(elector);
    } else if (elector->leading) {
        due = elector->renewed_at + elector->config.duration / 3;
        /* A renewal that failed is tried again soon; the end of leadership is not slept through. */
        if (due <= now)
            due = now + elector->config.duration / 12;
        if (due > lost_at(elector))
            due = lost_at(elector);
    } else if (elector->request != NULL) {
        return; /* its answer, or its deadline, goes on */
    } else if (elector->record.known &&
               elector->record.observed_at + elector->record.duration < due) {
        due = elector->record.observed_at + elector->record.duration;
    }
    tg_timer_start(tg_kube_client_loop(elector->client), &elector->timer,
                   due - now > shortest_pause ? due - now : shortest_pause);
}

/* may_send: false after a failure, so that the next try waits for the timer. Releasing, it may end
 * in a callback that frees the elector. */
static void go_on(struct tg_elector *elector, bool may_send)
{
    enum step step = may_send && elector->request == NULL ? next_step(elector) : STEP_NONE;

    if (step != STEP_NONE)
        send(elector, step);
    if (!elector->releasing)
        sleep_until_due(elector);
    else if (elector->request == NULL)
        end_release(elector);
}

static void lose(struct tg_elector *elector, const struct tg_error *why)
{
    elector->leading = false;
    elector->raise = false;
    elector->record.known = false;
    go_on(elector, true);
    if (elector->config.on_lost != NULL)
        elector->config.on_lost(elector->config.data, why); /* may free us */
}

void tg_elector_tick(struct tg_elector *elector)
{
    struct tg_error why = TG_ERROR_INIT;

    if (!elector->leading || now_of(elector) < lost_at(elector)) {
        go_on(elector, true);
        return;
    }
    tg_error_set(&why, TG_DEADLINE_EXCEEDED,
                 "lease %s/%s: not renewed for %lld ms, so another may take it soon",
                 elector->config.namespace_, elector->config.name,
                 (long long)((now_of(elector) - elector->renewed_at) / TG_MILLISECOND));
    tg_kube_cancel(elector->request);
    elector->request = NULL;
    lose(elector, &why);
}

static void on_timer(struct tg_timer *timer)
{
    tg_elector_tick(timer->data);
}

static void on_written(struct tg_elector *elector)
{
    bool taken = elector->step != STEP_RENEW && !elector->releasing;

    elector->renewed_at = elector->sent_at;
    if (taken) {
        elector->leading = true;
        elector->raise = false;
        elector->epoch = elector->asked_epoch;
    }
    go_on(elector, true);
    if (taken && elector->config.on_leading != NULL)
        elector->config.on_leading(elector->config.data, elector->epoch);
}

static void on_read(struct tg_elector *elector)
{
    struct tg_error why = TG_ERROR_INIT;

    if (!elector->leading || is_ours(elector)) {
        go_on(elector, true);
        return;
    }
    tg_error_set(&why, TG_ABORTED, "lease %s/%s: taken over by %s", elector->config.namespace_,
                 elector->config.name, tg_or(elector->record.holder, "nobody (it was released)"));
    lose(elector, &why);
}

static void on_refused(struct tg_elector *elector, const struct tg_error *error)
{
    struct tg_error why = TG_ERROR_INIT;

    TG_V(4, "Lease request failed", TG_S("error", error->message));
    elector->record.known = false;
    if (elector->step == STEP_RELEASE && error->code != TG_ABORTED) {
        end_release(elector);
        return;
    }
    if (error->code == TG_NOT_FOUND && elector->step == STEP_READ && elector->leading) {
        tg_error_set(&why, TG_NOT_FOUND, "lease %s/%s: deleted by somebody",
                     elector->config.namespace_, elector->config.name);
        lose(elector, &why);
    } else if (error->code == TG_NOT_FOUND && elector->step == STEP_READ && !elector->releasing) {
        /* Whoever held a lease that was deleted may not know it yet: it is waited out as well. */
        if (elector->record.holder == NULL || lease_is_free(elector))
            send(elector, STEP_CREATE);
        else
            go_on(elector, false);
    } else {
        /* Conflict: somebody wrote in between, which is read at once. A renewal that may have
         * happened too. Anything else waits. */
        go_on(elector, error->code == TG_ABORTED || elector->step == STEP_RENEW);
    }
}

static void on_answer(void *data, const struct tg_kube_result *result)
{
    struct tg_elector *elector = data;
    struct tg_error error = result->error;

    elector->request = NULL;
    if (error.code == TG_OK)
        (void)take_record(elector, result, &error);
    if (error.code != TG_OK)
        on_refused(elector, &error);
    else if (elector->step == STEP_READ)
        on_read(elector);
    else if (elector->step == STEP_RELEASE)
        end_release(elector);
    else
        on_written(elector);
}

struct tg_elector *tg_elector_new(struct tg_kube_client *client,
                                  const struct tg_elector_config *config)
{
    struct tg_elector *elector = tg_xcalloc(1, sizeof(*elector));

    elector->client = client;
    elector->config = *config;
    elector->config.namespace_ = tg_xstrdup(config->namespace_);
    elector->config.name = tg_xstrdup(config->name);
    elector->config.identity = tg_xstrdup(config->identity);
    elector->config.epoch_annotation = tg_xstrdup(config->epoch_annotation);
    elector->timer.callback = on_timer;
    elector->timer.data = elector;
    elector->release_timer.callback = on_release_late;
    elector->release_timer.data = elector;
    send(elector, STEP_READ);
    sleep_until_due(elector);
    return elector;
}

void tg_elector_free(struct tg_elector *elector)
{
    if (elector == NULL)
        return;
    tg_kube_cancel(elector->request);
    tg_timer_stop(&elector->timer);
    tg_timer_stop(&elector->release_timer);
    free(elector->record.resource_version);
    free(elector->record.holder);
    free(elector->record.renew_time);
    free((void *)(uintptr_t)elector->config.namespace_);
    free((void *)(uintptr_t)elector->config.name);
    free((void *)(uintptr_t)elector->config.identity);
    free((void *)(uintptr_t)elector->config.epoch_annotation);
    free(elector);
}

void tg_elector_release(struct tg_elector *elector, void (*done)(void *data), void *data)
{
    bool held = elector->leading || elector->request != NULL;

    elector->leading = false;
    elector->releasing = true;
    elector->release_done = done;
    elector->release_data = data;
    tg_timer_stop(&elector->timer);
    tg_timer_start(tg_kube_client_loop(elector->client), &elector->release_timer,
                   held ? release_limit : 0);
    /* An answer under way decides what is to be released. */
    if (held && elector->request == NULL)
        go_on(elector, true);
}

bool tg_elector_leading(const struct tg_elector *elector)
{
    return elector->leading && now_of(elector) < lost_at(elector);
}

void tg_elector_raise(struct tg_elector *elector, uint64_t seen)
{
    if (!elector->leading || seen < elector->epoch || seen >= UINT64_MAX / 2)
        return;
    if (seen > elector->highest_epoch)
        elector->highest_epoch = seen;
    elector->raise = true;
    go_on(elector, true);
}

uint64_t tg_elector_epoch(const struct tg_elector *elector)
{
    return elector->epoch;
}

int64_t tg_elector_valid_until(const struct tg_elector *elector)
{
    return elector->leading ? elector->renewed_at + elector->config.duration : 0;
}
