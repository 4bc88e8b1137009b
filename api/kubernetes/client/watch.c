/* SPDX-License-Identifier: Apache-2.0 */
/* What the bytes of a watch mean: lines, events, changes of the store. */
#include <stdio.h>
#include <string.h>

#include "api/kubernetes/client/informer_state.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/probe.h"

struct event {
    char type[16];
    char name[256], namespace_[256];
    char version[64];
    struct tg_str object;
};

/* The place from which to resume, after an event or a bookmark. */
static void move_on(struct tg_informer *informer, const struct event *event)
{
    uint64_t version = 0;

    if (event->version[0] == '\0')
        return;
    (void)tg_parse_u64(event->version, strlen(event->version), &version);
    snprintf(informer->resource_version, sizeof(informer->resource_version), "%s", event->version);
    informer->store.position = version;
    if (version > informer->store.highest)
        informer->store.highest = version;
    if (informer->awaited != 0 && version >= informer->awaited) {
        tg_metric_observe(informer->metric[TG_INFORMER_LAG], TG_LABELS(informer->name),
                          (double)(tg_informer_now(informer) - informer->awaited_from) /
                              (double)TG_SECOND);
        informer->awaited = 0;
    }
}

/* TG_OUT_OF_RANGE makes the informer list again: what was missed is not known. */
static int lost(struct tg_informer *informer, struct tg_error *err)
{
    tg_informer_report_object(informer, NULL, err);
    return tg_error_set(err, TG_OUT_OF_RANGE, "watch %s: an event that cannot be read",
                        informer->config.kind->resource);
}

static int key_of(const struct tg_informer *informer, const struct event *event,
                  char key[TG_STORE_KEY], struct tg_error *err)
{
    bool namespaced = informer->config.kind->namespaced;

    if (event->name[0] == '\0' || event->version[0] == '\0' ||
        (namespaced && event->namespace_[0] == '\0') ||
        !tg_store_key(namespaced ? event->namespace_ : NULL, event->name, key))
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "an event of type %s without name, namespace or resourceVersion",
                            event->type);
    return 0;
}

static void count_event(struct tg_informer *informer)
{
    informer->counters.events++;
    tg_informer_count_one(informer, TG_INFORMER_EVENTS);
}

/* The answer to a write of ours was here first: of what the store would drop (tg_store_put) nothing
 * is decoded. */
static bool is_known(const struct tg_informer *informer, const struct event *event, const char *key)
{
    const struct tg_stored *known = tg_index_get(informer->store.objects, key);
    uint64_t version = 0;

    return known != NULL && tg_parse_u64(event->version, strlen(event->version), &version) == 0 &&
           version > 0 && version <= known->version;
}

/* Changes move the place before they are told: a handler that applies an answer must find the store
 * up to date. */
static int on_changed(struct tg_informer *informer, const struct event *event, struct tg_error *err)
{
    char key[TG_STORE_KEY];
    struct tg_stored *stored;

    if (key_of(informer, event, key, err) != 0)
        return lost(informer, err);
    if (is_known(informer, event, key)) {
        move_on(informer, event);
        return 0;
    }
    stored = tg_informer_read_object(informer, event->object.p, event->object.n);
    if (stored == NULL)
        return tg_error_set(err, TG_OUT_OF_RANGE, "watch %s: an event without a uid",
                            informer->config.kind->resource);
    move_on(informer, event);
    if (tg_store_put(&informer->store, stored))
        count_event(informer);
    return 0;
}

static int on_deleted(struct tg_informer *informer, const struct event *event, struct tg_error *err)
{
    char key[TG_STORE_KEY];

    if (key_of(informer, event, key, err) != 0)
        return lost(informer, err);
    move_on(informer, event);
    if (tg_store_delete(&informer->store, key, informer->store.position))
        count_event(informer);
    return 0;
}

static int on_bookmark(struct tg_informer *informer, const struct event *event,
                       struct tg_error *err)
{
    (void)err;
    move_on(informer, event);
    return 0;
}

static int on_error(struct tg_informer *informer, const struct event *event, struct tg_error *err)
{
    TG_AUTOFREE char *what = tg_xasprintf("watch %s", informer->config.kind->resource);
    TG_AUTOFREE char *body = tg_xstrndup(event->object.p, event->object.n);
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
    struct tg_status status = {0};
    struct tg_rest_response response = {
        .status = 500, .body = body, .len = event->object.n, .content_type = ""};

    if (tg_json_decode(&tg_status_type, body, response.len, &status, arena, NULL) == 0 &&
        status.code.value >= 400 && status.code.value < 600)
        response.status = (int)status.code.value;
    tg_kube_error_from_answer(&response, what, err);
    return -(int)err->code;
}

static const struct {
    const char *type;
    int (*handle)(struct tg_informer *informer, const struct event *event, struct tg_error *err);
} handlers[] = {
    {"ADDED", on_changed},     {"MODIFIED", on_changed}, {"DELETED", on_deleted},
    {"BOOKMARK", on_bookmark}, {"ERROR", on_error},
};

static int on_line(struct tg_informer *informer, const char *line, size_t n)
{
    struct event event;
    const struct tg_json_place places[] = {
        {.path = {"type"}, .text = event.type, .size = sizeof(event.type)},
        {.path = {"object"}, .raw = &event.object},
        {.path = {"object", "metadata", "name"}, .text = event.name, .size = sizeof(event.name)},
        {.path = {"object", "metadata", "namespace"},
         .text = event.namespace_,
         .size = sizeof(event.namespace_)},
        {.path = {"object", "metadata", "resourceVersion"},
         .text = event.version,
         .size = sizeof(event.version)},
    };
    struct tg_error *err = &informer->error;

    while (n > 0 && (line[n - 1] == '\r' || line[n - 1] == ' '))
        n--;
    if (n == 0)
        return 0;
    if (tg_json_probe(line, n, places, TG_ARRAY_SIZE(places), err) != 0)
        return lost(informer, err);
    for (size_t i = 0; i < TG_ARRAY_SIZE(handlers) && event.object.n > 0; i++) {
        if (!tg_streq(handlers[i].type, event.type))
            continue;
        if (handlers[i].handle != on_error)
            informer->watch_events++;
        return handlers[i].handle(informer, &event, err);
    }
    tg_error_set(err, TG_INVALID_ARGUMENT, "unknown event type \"%s\"", event.type);
    return lost(informer, err);
}

int tg_informer_on_watch_data(void *data, const char *bytes, size_t n)
{
    struct tg_informer *informer = data;

    informer->heard_at = tg_informer_now(informer);
    while (n > 0) {
        const char *end = memchr(bytes, '\n', n);
        size_t part = end == NULL ? n : (size_t)(end - bytes);
        const char *line = bytes;
        size_t len = part;

        if (end == NULL || informer->line.len > 0) {
            if (tg_buf_append(&informer->line, bytes, part) != 0) {
                tg_error_set(&informer->error, TG_RESOURCE_EXHAUSTED,
                             "watch %s: an event of more than %d bytes",
                             informer->config.kind->resource, TG_INFORMER_MAX_TEXT);
                return -1;
            }
            line = informer->line.data;
            len = informer->line.len;
        }
        if (end == NULL)
            return 0;
        if (on_line(informer, line, len) != 0)
            return -1;
        tg_buf_clear(&informer->line);
        bytes = end + 1;
        n -= part + 1;
    }
    return 0;
}
