/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a list into its items while it arrives. Each item is handed out as text and decoded on its
 * own, so that memory is bounded by one item, whatever the size of the list. */
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/json/decode.h"
#include "api/runtime/json/reader.h"

/* Members of the list and of its metadata: depth 2. Deeper keys are compared when the item is
 * decoded. */
#define KEY_DEPTH 2
/* yajl keeps a token that is not complete; no token of the envelope needs more. */
#define TOKEN_BYTES ((size_t)64 * 1024)

enum section { SECTION_OTHER, SECTION_METADATA, SECTION_ITEMS };
enum meta_field { META_OTHER, META_RESOURCE_VERSION, META_CONTINUE };

struct tg_json_list_stream {
    int (*on_item)(void *data, const char *json, size_t n, struct tg_error *err);
    void *data;
    size_t max_item;
    struct tg_json_reader *reader;
    enum section section; /* of the last key of the list */
    enum meta_field meta_field;
    bool has_items;
    bool in_array; /* of the items */
    bool in_item;
    bool failed;
    size_t n_items;
    size_t fed;         /* bytes before the current chunk */
    const char *chunk;  /* the current one */
    size_t item_start;  /* in the input; or where the part of it begins that is not in `part` yet */
    size_t last_token;  /* end of the last whole token, in the input */
    struct tg_buf part; /* what earlier chunks held of the current item */
    struct tg_json_list_meta meta;
};

static int too_large(struct tg_error *err)
{
    return tg_json_too_large(err, tg_error_set(err, TG_RESOURCE_EXHAUSTED, "larger than allowed"));
}

static bool key_is(const struct tg_json_event *event, const char *name)
{
    return event->n == strlen(name) && memcmp(event->text, name, event->n) == 0;
}

static void on_list_key(struct tg_json_list_stream *stream, const struct tg_json_event *event)
{
    stream->section = SECTION_OTHER;
    stream->meta_field = META_OTHER;
    if (key_is(event, "metadata"))
        stream->section = SECTION_METADATA;
    else if (key_is(event, "items"))
        stream->section = SECTION_ITEMS;
}

static void on_meta_key(struct tg_json_list_stream *stream, const struct tg_json_event *event)
{
    stream->meta_field = META_OTHER;
    if (key_is(event, "resourceVersion"))
        stream->meta_field = META_RESOURCE_VERSION;
    else if (key_is(event, "continue"))
        stream->meta_field = META_CONTINUE;
}

static int on_meta_value(struct tg_json_list_stream *stream, const struct tg_json_event *event,
                         struct tg_error *err)
{
    bool version = stream->meta_field == META_RESOURCE_VERSION;
    char *out = version ? stream->meta.resource_version : stream->meta.continue_token;
    size_t size =
        version ? sizeof(stream->meta.resource_version) : sizeof(stream->meta.continue_token);

    if (stream->meta_field == META_OTHER || event->kind == TG_JSON_EVENT_NULL)
        return 0;
    if (event->kind != TG_JSON_EVENT_STRING || event->has_nul || event->n >= size)
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "metadata.%s: not a string of less than %zu bytes",
                            version ? "resourceVersion" : "continue", size);
    memcpy(out, event->text, event->n);
    out[event->n] = '\0';
    return 0;
}

/* The value of a member of the list. */
static int on_member(struct tg_json_list_stream *stream, const struct tg_json_event *event,
                     struct tg_error *err)
{
    if (stream->section == SECTION_METADATA && event->kind != TG_JSON_EVENT_BEGIN_OBJECT)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "metadata: expected an object, found %s",
                            tg_json_event_name(event->kind));
    if (stream->section != SECTION_ITEMS)
        return 0;
    /* Go writes an empty list as null when it was never made. */
    if (event->kind != TG_JSON_EVENT_BEGIN_ARRAY && event->kind != TG_JSON_EVENT_NULL)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "expected an array, found %s",
                            tg_json_event_name(event->kind));
    stream->has_items = true;
    stream->in_array = event->kind == TG_JSON_EVENT_BEGIN_ARRAY;
    return 0;
}

static int begin_item(struct tg_json_list_stream *stream, const struct tg_json_event *event,
                      struct tg_error *err)
{
    if (event->kind != TG_JSON_EVENT_BEGIN_OBJECT)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "expected an object, found %s",
                            tg_json_event_name(event->kind));
    stream->in_item = true;
    stream->item_start = event->start;
    return 0;
}

static int end_item(struct tg_json_list_stream *stream, const struct tg_json_event *event,
                    struct tg_error *err)
{
    const char *text = stream->chunk + (stream->item_start - stream->fed);
    size_t n = event->end - stream->item_start;
    int rc;

    stream->in_item = false;
    if (n > stream->max_item - stream->part.len)
        return too_large(err);
    if (stream->part.len > 0) {
        if (tg_buf_append(&stream->part, text, n) != 0)
            return too_large(err);
        text = stream->part.data;
        n = stream->part.len;
    }
    rc = stream->on_item(stream->data, text, n, err);
    tg_buf_clear(&stream->part);
    if (rc == 0)
        stream->n_items++;
    return rc;
}

static bool is_begin(const struct tg_json_event *event)
{
    return event->kind == TG_JSON_EVENT_BEGIN_OBJECT || event->kind == TG_JSON_EVENT_BEGIN_ARRAY;
}

static bool is_end(const struct tg_json_event *event)
{
    return event->kind == TG_JSON_EVENT_END_OBJECT || event->kind == TG_JSON_EVENT_END_ARRAY;
}

static int on_document(const struct tg_json_event *event, struct tg_error *err)
{
    if (event->kind == TG_JSON_EVENT_BEGIN_OBJECT || is_end(event))
        return 0;
    return tg_error_set(err, TG_INVALID_ARGUMENT, "not a list: expected an object, found %s",
                        tg_json_event_name(event->kind));
}

/* Keys and values of the list, and the ends of the values. */
static int on_list(struct tg_json_list_stream *stream, const struct tg_json_event *event,
                   struct tg_error *err)
{
    if (event->kind == TG_JSON_EVENT_KEY)
        on_list_key(stream, event);
    else if (is_end(event))
        stream->in_array = false;
    else
        return on_member(stream, event, err);
    return 0;
}

/* Items and their ends; keys and values of the metadata, and the ends of the values. */
static int on_inner(struct tg_json_list_stream *stream, const struct tg_json_event *event,
                    struct tg_error *err)
{
    if (stream->section == SECTION_ITEMS)
        return is_end(event) ? end_item(stream, event, err) : begin_item(stream, event, err);
    if (stream->section != SECTION_METADATA || is_end(event))
        return 0;
    if (event->kind != TG_JSON_EVENT_KEY)
        return on_meta_value(stream, event, err);
    on_meta_key(stream, event);
    return 0;
}

static int on_event(void *data, const struct tg_json_reader *reader,
                    const struct tg_json_event *event, struct tg_error *err)
{
    struct tg_json_list_stream *stream = data;
    unsigned depth = tg_json_reader_depth(reader) - is_begin(event);

    stream->last_token = event->end;
    if (depth == 0)
        return on_document(event, err);
    if (depth == 1)
        return on_list(stream, event, err);
    return depth == 2 ? on_inner(stream, event, err) : 0;
}

struct tg_json_list_stream *tg_json_list_stream_new(int (*on_item)(void *data, const char *json,
                                                                   size_t n, struct tg_error *err),
                                                    void *data, size_t max_item)
{
    struct tg_json_list_stream *stream = tg_xcalloc(1, sizeof(*stream));

    stream->on_item = on_item;
    stream->data = data;
    stream->max_item = max_item;
    stream->reader = tg_json_reader_new(on_event, stream, KEY_DEPTH);
    tg_buf_init(&stream->part, max_item);
    return stream;
}

void tg_json_list_stream_free(struct tg_json_list_stream *stream)
{
    if (stream == NULL)
        return;
    tg_json_reader_free(stream->reader);
    tg_buf_done(&stream->part);
    free(stream);
}

/* Keeps what the chunk holds of an item that goes on; limits what yajl keeps of a token that goes
 * on. */
static int carry_over(struct tg_json_list_stream *stream, size_t n, struct tg_error *err)
{
    size_t limit = stream->max_item > TOKEN_BYTES ? stream->max_item : TOKEN_BYTES;

    if (stream->in_item) {
        size_t from = stream->item_start - stream->fed;

        if (tg_buf_append(&stream->part, stream->chunk + from, n - from) != 0)
            return too_large(err);
        stream->item_start = stream->fed + n;
    }
    stream->fed += n;
    return stream->fed - stream->last_token > limit ? too_large(err) : 0;
}

int tg_json_list_stream_feed(struct tg_json_list_stream *stream, const char *data, size_t n,
                             struct tg_error *err)
{
    int rc;

    if (stream->failed)
        return tg_error_set(err, TG_FAILED_PRECONDITION, "the list was refused before");
    stream->chunk = data;
    rc = tg_json_reader_feed(stream->reader, data, n, err);
    if (rc == 0)
        rc = carry_over(stream, n, err);
    stream->chunk = NULL;
    stream->failed = rc != 0;
    if (rc != 0 && err != NULL && err->code != TG_OK && stream->section == SECTION_ITEMS) {
        if (stream->in_array)
            tg_error_wrap(err, "items[%zu]", stream->n_items);
        else
            tg_error_wrap(err, "items");
    }
    return rc;
}

int tg_json_list_stream_end(struct tg_json_list_stream *stream, struct tg_json_list_meta *ret,
                            struct tg_error *err)
{
    int rc;

    if (stream->failed)
        return tg_error_set(err, TG_FAILED_PRECONDITION, "the list was refused before");
    rc = tg_json_reader_end(stream->reader, err);
    if (rc != 0)
        return rc;
    if (!stream->has_items)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "not a list: it has no \"items\"");
    *ret = stream->meta;
    return 0;
}
