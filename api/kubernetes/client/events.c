/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slot for each (object, reason, type): what was written last, and what waits to be written.
 * Waiting is a queue in order of arrival; a slot is written when its own pause is over.
 */
#include "api/kubernetes/client/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/client/internal.h"
#include "api/kubernetes/client/measures.h"
#include "api/kubernetes/values/rfc3339.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/map.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/encode.h"

enum {
    MAX_SLOTS = 1024,
    MAX_WAITING = 256,
    MAX_IN_FLIGHT = 4,
    MAX_TRIES = 3,
    MAX_MESSAGE = 1024,
    MAX_EVENT_NAME = 253,
    MAX_BODY = 64 << 10,
};
static const int64_t same_event_for = 600 * TG_SECOND;
static const int64_t pause_of_counts = 60 * TG_SECOND;
static const int64_t pause_of_news = 5 * TG_SECOND;
static const int64_t pause_after_failure = 10 * TG_SECOND;

struct slot {
    struct tg_events *events;
    char *key;
    const struct tg_kind *kind;
    char *namespace_, *name, *uid; /* of the object; namespace_ is NULL for cluster scope */
    char *type, *reason;

    char *event_name; /* NULL: none was tried yet */
    bool exists;      /* the API has taken it */
    char *message;    /* of that event */
    int64_t first_at; /* monotonic, of that event */
    int64_t first_wall;
    int64_t count;

    bool waiting;
    char *next_message; /* what waits: this as a new event, or NULL: a higher count */
    int64_t next_count; /* occurrences that were not written */
    int64_t written_at; /* when the API took the last write */
    int64_t not_before; /* after a failure */
    unsigned tries;
    uint64_t used; /* ticks of the recorder, to find the one that was not used for longest */

    struct tg_kube_request *request;
    bool creating; /* the request is a new event */
    int64_t sent_count;
};

struct tg_events {
    struct tg_kube_client *client;
    char *component, *instance;
    struct tg_map *slots; /* key -> slot */
    struct slot *queue[MAX_WAITING];
    size_t waiting;
    size_t in_flight;
    uint64_t ticks;
    uint64_t serial; /* makes names unique */
    struct tg_timer timer;
    struct tg_events_counters counters;
    struct tg_metric *metric[TG_EVENTS_METRICS];
};

static int64_t now_of(const struct tg_events *events)
{
    return tg_now_monotonic(tg_kube_client_clock(events->client));
}

static void free_slot(void *value)
{
    struct slot *slot = value;

    tg_kube_cancel(slot->request);
    free(slot->key);
    free(slot->namespace_);
    free(slot->name);
    free(slot->uid);
    free(slot->type);
    free(slot->reason);
    free(slot->event_name);
    free(slot->message);
    free(slot->next_message);
    free(slot);
}

static void set_string(char **to, char *from)
{
    free(*to);
    *to = from;
}

/* The longest beginning of at most MAX_MESSAGE bytes that does not end inside a character. */
static char *cut_message(const char *message)
{
    size_t n = strlen(message);
    char *text;

    if (n > MAX_MESSAGE) {
        n = MAX_MESSAGE;
        while (n > 0 && ((unsigned char)message[n] & 0xc0) == 0x80)
            n--;
    }
    text = tg_xstrndup(message, n);
    tg_utf8_sanitize(text, n);
    return text;
}

static void remove_from_queue(struct tg_events *events, struct slot *slot)
{
    size_t i = 0;

    while (i < events->waiting && events->queue[i] != slot)
        i++;
    if (i == events->waiting)
        return;
    memmove(&events->queue[i], &events->queue[i + 1],
            (events->waiting - i - 1) * sizeof(events->queue[0]));
    events->waiting--;
    slot->waiting = false;
}

static void forget_waiting(struct slot *slot)
{
    remove_from_queue(slot->events, slot);
    set_string(&slot->next_message, NULL);
    slot->next_count = 0;
    slot->tries = 0;
}

static void add_to_queue(struct tg_events *events, struct slot *slot)
{
    if (slot->waiting)
        return;
    if (events->waiting == MAX_WAITING) {
        events->counters.dropped++;
        forget_waiting(events->queue[0]);
    }
    events->queue[events->waiting++] = slot;
    slot->waiting = true;
}

/* Forgetting a slot costs no more than a second event where a higher count would have done. */
static void make_room(struct tg_events *events)
{
    struct slot *oldest = NULL;

    if (tg_map_count(events->slots) < MAX_SLOTS)
        return;
    for (struct tg_map_entry *e = tg_map_first(events->slots); e != NULL; e = tg_map_next(e)) {
        struct slot *slot = tg_map_value(e);
        if (slot->waiting || slot->request != NULL)
            continue; /* never more than MAX_WAITING + MAX_IN_FLIGHT */
        if (oldest == NULL || slot->used < oldest->used)
            oldest = slot;
    }
    if (oldest != NULL)
        tg_map_remove(events->slots, oldest->key);
}

static struct slot *find_slot(struct tg_events *events, const struct tg_kind *kind,
                              const struct tg_object_meta *about, const char *type,
                              const char *reason)
{
    TG_AUTOFREE char *key =
        tg_xasprintf("%s/%s/%s/%s/%s/%s", kind->kind, tg_or(about->namespace_, ""),
                     tg_or(about->name, ""), tg_or(about->uid, ""), type, reason);
    struct slot *slot = tg_map_get(events->slots, key);

    if (slot == NULL) {
        make_room(events);
        slot = tg_xcalloc(1, sizeof(*slot));
        slot->events = events;
        slot->kind = kind;
        slot->namespace_ = about->namespace_ == NULL ? NULL : tg_xstrdup(about->namespace_);
        slot->name = tg_xstrdup(tg_or(about->name, ""));
        slot->uid = tg_xstrdup(tg_or(about->uid, ""));
        slot->type = tg_xstrdup(type);
        slot->reason = tg_xstrdup(reason);
        slot->key = TG_TAKE(key);
        slot->first_at = slot->written_at = slot->not_before = INT64_MIN / 2;
        tg_map_set(events->slots, slot->key, slot);
    }
    slot->used = ++events->ticks;
    return slot;
}

/* Names of events are free; this is client-go's form: the object's name, a dot, and a number. */
static char *make_name(struct tg_events *events, const struct slot *slot)
{
    uint64_t number =
        (uint64_t)tg_now_wall(tg_kube_client_clock(events->client)) + events->serial++;
    char suffix[32];
    int n = snprintf(suffix, sizeof(suffix), ".%016" PRIx64, number);
    size_t len = strlen(slot->name);

    if (len > MAX_EVENT_NAME - (size_t)n)
        len = MAX_EVENT_NAME - (size_t)n;
    while (len > 0 && (slot->name[len - 1] == '.' || slot->name[len - 1] == '-'))
        len--;
    return tg_xasprintf("%.*s%s", (int)len, slot->name, suffix);
}

static const char *namespace_of(const struct slot *slot)
{
    return tg_or(slot->namespace_, "default");
}

static void write_times(const struct slot *slot, struct tg_json_writer *w)
{
    char last[32];

    tg_time_format_seconds(tg_now_wall(tg_kube_client_clock(slot->events->client)) / TG_SECOND,
                           last);
    if (slot->creating) {
        char first[32];
        tg_time_format_seconds(slot->first_wall / TG_SECOND, first);
        tg_jw_kv_string(w, "firstTimestamp", first);
    }
    tg_jw_kv_string(w, "lastTimestamp", last);
    tg_jw_kv_int(w, "count", slot->sent_count);
}

static void write_event(const struct slot *slot, struct tg_json_writer *w)
{
    char api_version[128];

    tg_jw_kv_string(w, "apiVersion", "v1");
    tg_jw_kv_string(w, "kind", "Event");
    tg_jw_key(w, "metadata");
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "name", slot->event_name);
    tg_jw_kv_string(w, "namespace", namespace_of(slot));
    tg_jw_end_object(w);
    tg_jw_key(w, "involvedObject");
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "apiVersion", tg_kind_api_version(slot->kind, api_version));
    tg_jw_kv_string(w, "kind", slot->kind->kind);
    tg_jw_kv_string(w, "namespace", slot->namespace_);
    tg_jw_kv_string(w, "name", slot->name);
    tg_jw_kv_string(w, "uid", slot->uid[0] == '\0' ? NULL : slot->uid);
    tg_jw_end_object(w);
    tg_jw_kv_string(w, "type", slot->type);
    tg_jw_kv_string(w, "reason", slot->reason);
    tg_jw_kv_string(w, "message", slot->message);
    tg_jw_key(w, "source");
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "component", slot->events->component);
    tg_jw_end_object(w);
    tg_jw_kv_string(w, "reportingComponent", slot->events->component);
    tg_jw_kv_string(w, "reportingInstance", slot->events->instance);
}

static void on_written(void *data, const struct tg_kube_result *result);

/* Turns what waits into a request. */
static void send_slot(struct tg_events *events, struct slot *slot)
{
    TG_AUTOBUF struct tg_buf body = TG_BUF_INIT(MAX_BODY);
    const struct tg_clock *clock = tg_kube_client_clock(events->client);
    struct tg_json_writer w;
    struct tg_kube_call call = {
        .target = {.kind = &tg_kind_event, .namespace_ = namespace_of(slot)},
        .done = on_written,
        .data = slot,
    };

    remove_from_queue(events, slot);
    slot->creating = slot->next_message != NULL || !slot->exists;
    /* Tried again after a lost answer it keeps its name: there cannot be two of it. */
    if (slot->next_message != NULL || slot->event_name == NULL) {
        if (slot->next_message != NULL)
            set_string(&slot->message, TG_TAKE(slot->next_message));
        set_string(&slot->event_name, make_name(events, slot));
        slot->exists = false;
        slot->first_at = now_of(events);
        slot->first_wall = tg_now_wall(clock);
        slot->count = 0;
    }
    slot->sent_count = slot->count + slot->next_count;
    slot->next_count = 0;
    tg_json_writer_init(&w, &body);
    tg_jw_begin_object(&w);
    if (slot->creating)
        write_event(slot, &w);
    write_times(slot, &w);
    tg_jw_end_object(&w);
    call.method = slot->creating ? TG_REST_POST : TG_REST_PATCH;
    call.target.name = slot->creating ? NULL : slot->event_name;
    call.content_type = slot->creating ? TG_KUBE_JSON : TG_KUBE_MERGE_PATCH;
    call.body = tg_buf_str(&body);
    call.body_len = body.len;
    events->in_flight++;
    slot->request = tg_kube_send(events->client, &call);
}

static int64_t due_of(const struct slot *slot)
{
    bool news = slot->next_message != NULL || !slot->exists;
    int64_t due = news ? slot->first_at + pause_of_news : slot->written_at + pause_of_counts;

    return due > slot->not_before ? due : slot->not_before;
}

/* Writes what is due and sleeps until the next is. */
void tg_events_pump(struct tg_events *events)
{
    int64_t now = now_of(events);
    int64_t next = INT64_MAX;

    for (size_t i = 0; i < events->waiting && events->in_flight < MAX_IN_FLIGHT;) {
        struct slot *slot = events->queue[i];
        if (slot->request == NULL && due_of(slot) <= now) {
            send_slot(events, slot); /* removes it from the queue */
            continue;
        }
        if (slot->request == NULL && due_of(slot) < next)
            next = due_of(slot);
        i++;
    }
    /* With all places taken the next answer comes back here. */
    if (next != INT64_MAX && events->in_flight < MAX_IN_FLIGHT)
        tg_timer_start(tg_kube_client_loop(events->client), &events->timer, next - now);
}

static void on_failed(struct slot *slot, const struct tg_error *error)
{
    struct tg_events *events = slot->events;
    bool gone = error->code == TG_NOT_FOUND && !slot->creating;
    int64_t unwritten = slot->sent_count - slot->count;

    TG_V(4, "Event not written", TG_S("reason", slot->reason), TG_S("error", error->message));
    events->counters.failed++;
    if (gone) {
        set_string(&slot->event_name, NULL);
        slot->exists = false;
    }
    if ((!gone && !error->retry) || ++slot->tries >= MAX_TRIES) {
        events->counters.dropped++;
        slot->tries = 0;
        slot->not_before = now_of(events) + pause_after_failure;
        return;
    }
    slot->next_count += unwritten;
    slot->not_before = now_of(events) + (gone ? 0 : pause_after_failure);
    add_to_queue(events, slot);
}

static void on_written(void *data, const struct tg_kube_result *result)
{
    struct slot *slot = data;
    struct tg_events *events = slot->events;

    slot->request = NULL;
    events->in_flight--;
    if (result->error.code != TG_OK && result->error.code != TG_ALREADY_EXISTS) {
        on_failed(slot, &result->error);
    } else {
        slot->count = slot->sent_count;
        slot->exists = true;
        slot->tries = 0;
        slot->written_at = now_of(events);
        events->counters.written++;
    }
    tg_events_pump(events);
}

static void on_timer(struct tg_timer *timer)
{
    tg_events_pump(timer->data);
}

static void collect(void *data)
{
    const struct tg_events *events = data;
    const struct tg_events_counters *counters = &events->counters;

    tg_metric_set(events->metric[TG_EVENTS_RECORDED], NULL, (double)counters->recorded);
    tg_metric_set(events->metric[TG_EVENTS_WRITTEN], NULL, (double)counters->written);
    tg_metric_set(events->metric[TG_EVENTS_FAILED], NULL, (double)counters->failed);
    tg_metric_set(events->metric[TG_EVENTS_DROPPED], NULL, (double)counters->dropped);
    tg_metric_set(events->metric[TG_EVENTS_WAITING], NULL, (double)events->waiting);
}

struct tg_events *tg_events_new(struct tg_kube_client *client, const char *component,
                                const char *instance)
{
    struct tg_events *events = tg_xcalloc(1, sizeof(*events));

    events->client = client;
    events->component = tg_xstrdup(component);
    events->instance = tg_xstrdup(instance);
    events->slots = tg_map_new(free_slot);
    events->timer.callback = on_timer;
    events->timer.data = events;
    tg_metrics_add(tg_kube_client_metrics(client), tg_events_metric_table, TG_EVENTS_METRICS,
                   events->metric);
    tg_metrics_on_collect(tg_kube_client_metrics(client), collect, events);
    return events;
}

void tg_events_free(struct tg_events *events)
{
    if (events == NULL)
        return;
    tg_metrics_forget(tg_kube_client_metrics(events->client), events);
    tg_timer_stop(&events->timer);
    tg_map_free(events->slots);
    free(events->component);
    free(events->instance);
    free(events);
}

void tg_events_record(struct tg_events *events, const struct tg_kind *kind,
                      const struct tg_object_meta *about, const char *type, const char *reason,
                      const char *message)
{
    TG_AUTOFREE char *text = cut_message(message);
    struct slot *slot = find_slot(events, kind, about, type, reason);
    int64_t now = now_of(events);
    bool same = slot->message != NULL && tg_streq(slot->message, text) &&
                now - slot->first_at < same_event_for;

    events->counters.recorded++;
    if (same && slot->next_message == NULL) {
        slot->next_count++;
    } else if (tg_streq(slot->next_message, text)) {
        slot->next_count++;
    } else if (same) {
        /* Back to what the API already says: the message in between is old news. */
        set_string(&slot->next_message, NULL);
        slot->next_count = 1;
    } else {
        set_string(&slot->next_message, TG_TAKE(text));
        slot->next_count = 1;
    }
    add_to_queue(events, slot);
    tg_events_pump(events);
}

struct tg_events_counters tg_events_counters(const struct tg_events *events)
{
    return events->counters;
}
