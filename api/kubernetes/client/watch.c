/* SPDX-License-Identifier: Apache-2.0 */
/* What the bytes of a watch mean: lines, events, changes of the store. */
#include <string.h>

#include "api/kubernetes/client/informer_state.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"

struct watch_event {
    const char *type;
    const char *object; /* raw JSON */
};

static const struct tg_field event_fields[] = {
    TG_FIELD_STR(struct watch_event, type, "type"),
    TG_FIELD_RAWJSON(struct watch_event, object, "object"),
};
static const struct tg_type event_type = TG_TYPE(struct watch_event, event_fields);

/* The place from which to resume, after an event or a bookmark. */
static void move_on(struct tg_informer *informer, const struct tg_object_meta *meta)
{
    if (meta == NULL || meta->resource_version == NULL)
        return;
    snprintf(informer->resource_version, sizeof(informer->resource_version), "%s",
             meta->resource_version);
    informer->store.position = tg_store_version(meta);
    if (informer->store.position > informer->store.highest)
        informer->store.highest = informer->store.position;
}

/* TG_OUT_OF_RANGE makes the informer list again: what was missed is not known. */
static int lost(struct tg_informer *informer, struct tg_error *err)
{
    tg_informer_report_object(informer, err);
    return tg_error_set(err, TG_OUT_OF_RANGE, "watch %s: an event that cannot be read",
                        informer->config.kind->resource);
}

/* Changes move the place before they are told: a handler that applies an answer must find the store
 * up to date. */
static int on_changed(struct tg_informer *informer, const char *json, struct tg_error *err)
{
    const struct tg_object_meta *meta = NULL;
    const char *key = NULL;
    struct tg_stored *stored = NULL;
    struct tg_error why = TG_ERROR_INIT;

    if (tg_store_decode(&informer->store, json, strlen(json), &stored, err) == 0) {
        move_on(informer, stored->object->metadata);
        informer->counters.events += tg_store_put(&informer->store, stored);
        return 0;
    }
    if (tg_store_decode_key(&informer->store, json, strlen(json), informer->scratch, &key, &meta,
                            NULL) != 0)
        return lost(informer, err);
    why = *err;
    *err = TG_ERROR_INIT;
    tg_informer_report_object(informer, &why);
    move_on(informer, meta);
    informer->counters.events += tg_store_drop(&informer->store, key);
    return 0;
}

static int on_deleted(struct tg_informer *informer, const char *json, struct tg_error *err)
{
    const struct tg_object_meta *meta = NULL;
    const char *key = NULL;

    if (tg_store_decode_key(&informer->store, json, strlen(json), informer->scratch, &key, &meta,
                            err) != 0)
        return lost(informer, err);
    move_on(informer, meta);
    informer->counters.events += tg_store_delete(&informer->store, key, tg_store_version(meta));
    return 0;
}

static int on_bookmark(struct tg_informer *informer, const char *json, struct tg_error *err)
{
    static const struct tg_field fields[] = {
        TG_FIELD_OBJ(struct tg_object, metadata, "metadata", &tg_object_meta_type),
    };
    static const struct tg_type type = TG_TYPE(struct tg_object, fields);
    struct tg_object object = {0};

    if (tg_json_decode(&type, json, strlen(json), &object, informer->scratch, err) != 0)
        return -(int)err->code;
    move_on(informer, object.metadata);
    return 0;
}

static int on_error(struct tg_informer *informer, const char *json, struct tg_error *err)
{
    TG_AUTOFREE char *what = NULL;
    struct tg_status status = {0};
    struct tg_rest_response response = {.body = json, .len = strlen(json), .content_type = ""};

    if (tg_json_decode(&tg_status_type, json, strlen(json), &status, informer->scratch, NULL) == 0)
        response.status = status.code.set ? (int)status.code.value : 500;
    what = tg_xasprintf("watch %s", informer->config.kind->resource);
    tg_kube_error_from_answer(&response, what, err);
    return -(int)err->code;
}

static const struct {
    const char *type;
    int (*handle)(struct tg_informer *informer, const char *json, struct tg_error *err);
} handlers[] = {
    {"ADDED", on_changed},     {"MODIFIED", on_changed}, {"DELETED", on_deleted},
    {"BOOKMARK", on_bookmark}, {"ERROR", on_error},
};

static int on_line(struct tg_informer *informer, const char *line, size_t n)
{
    struct watch_event event = {0};

    while (n > 0 && (line[n - 1] == '\r' || line[n - 1] == ' '))
        n--;
    if (n == 0)
        return 0;
    tg_arena_reset(informer->scratch);
    if (tg_json_decode(&event_type, line, n, &event, informer->scratch, &informer->error) != 0)
        return lost(informer, &informer->error);
    for (size_t i = 0; i < TG_ARRAY_SIZE(handlers) && event.object != NULL; i++) {
        if (!tg_streq(handlers[i].type, event.type))
            continue;
        if (handlers[i].handle != on_error)
            informer->watch_events++;
        return handlers[i].handle(informer, event.object, &informer->error);
    }
    tg_error_set(&informer->error, TG_INVALID_ARGUMENT, "watch %s: unknown event type \"%s\"",
                 informer->config.kind->resource, tg_or(event.type, ""));
    return lost(informer, &informer->error);
}

int tg_informer_on_watch_data(void *data, const char *bytes, size_t n)
{
    struct tg_informer *informer = data;

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
