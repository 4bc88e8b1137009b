/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/json/reader.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_parse.h>

#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/keys.h"

#define PATH_BYTES 256
#define PATH_KEY_BYTES 64

struct frame {
    bool array;
    size_t index;    /* of the current element plus one; 0 before the first */
    size_t count;    /* keys so far */
    size_t key_base; /* into reader->keys */
    const char *key; /* current key as written in the input, NULL before the first */
    size_t key_n;
};

struct tg_json_reader {
    yajl_handle yajl;
    tg_json_event_fn on_event;
    void *data;
    const char *text; /* the whole document, NULL when it comes in chunks */
    size_t base;      /* where the current chunk begins in the input */
    size_t previous_end;
    unsigned depth;
    unsigned key_depth;
    bool value_unjudged; /* of the next value; see TG_JSON_UNJUDGED */
    unsigned unjudged;   /* depth of the outermost object or array that is not judged; 0: none */
    struct frame frames[TG_JSON_MAX_DEPTH];
    struct tg_json_keys keys;
    struct tg_error *err; /* of the call that is running */
    int rc;               /* why a callback stopped the parser */
};

const char *tg_json_event_name(enum tg_json_event_kind kind)
{
    static const char *const names[] = {
        [TG_JSON_EVENT_NULL] = "null",
        [TG_JSON_EVENT_BOOL] = "a boolean",
        [TG_JSON_EVENT_NUMBER] = "a number",
        [TG_JSON_EVENT_STRING] = "a string",
        [TG_JSON_EVENT_KEY] = "a key",
        [TG_JSON_EVENT_BEGIN_OBJECT] = "an object",
        [TG_JSON_EVENT_END_OBJECT] = "the end of an object",
        [TG_JSON_EVENT_BEGIN_ARRAY] = "an array",
        [TG_JSON_EVENT_END_ARRAY] = "the end of an array",
    };

    return names[kind];
}

unsigned tg_json_reader_depth(const struct tg_json_reader *reader)
{
    return reader->depth;
}

static bool is_plain_key(const char *key, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char c = key[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-' || c == '$'))
            return false;
    }
    return n > 0;
}

/* spec.devices[3].attributes["a.b/c"], cut to fit; keys stand as they are written in the input. */
static void format_path(const struct tg_json_reader *reader, char *out, size_t size)
{
    size_t at = 0;

    out[0] = '\0';
    for (unsigned i = 0; i < reader->depth && i < TG_JSON_MAX_DEPTH && at + 1 < size; i++) {
        const struct frame *frame = &reader->frames[i];
        int n = (int)(frame->key_n < PATH_KEY_BYTES ? frame->key_n : PATH_KEY_BYTES);
        int written;

        if (frame->array && frame->index == 0)
            break;
        if (frame->array)
            written = snprintf(out + at, size - at, "[%zu]", frame->index - 1);
        else if (frame->key == NULL)
            break;
        else if (is_plain_key(frame->key, frame->key_n))
            written = snprintf(out + at, size - at, "%s%.*s", at == 0 ? "" : ".", n, frame->key);
        else
            written = snprintf(out + at, size - at, "[\"%.*s\"]", n, frame->key);
        at += written > 0 ? (size_t)written : 0;
    }
    tg_utf8_sanitize(out, strlen(out));
}

int tg_json_reader_refuse(const struct tg_json_reader *reader, struct tg_error *err,
                          enum tg_code code, const char *format, ...)
{
    char path[PATH_BYTES];
    char message[sizeof(err->message)];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    tg_utf8_sanitize(message, strlen(message));
    format_path(reader, path, sizeof(path));
    if (path[0] == '\0')
        return tg_error_set(err, code, "%s", message);
    return tg_error_set(err, code, "%s: %s", path, message);
}

int tg_json_too_large(struct tg_error *err, int rc)
{
    if (err != NULL)
        err->retry = false;
    return rc;
}

/* Where the token that ends at `end` begins: the first byte after the previous token that can begin
 * one. */
static size_t token_start(const struct tg_json_reader *reader, size_t end)
{
    size_t at = reader->previous_end;

    while (at < end && strchr(" \t\r\n:,", reader->text[at]) != NULL)
        at++;
    return at;
}

static unsigned hex4(const char *p)
{
    unsigned value = 0;

    for (int i = 0; i < 4; i++) {
        char c = p[i];
        unsigned digit = c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a' + 10);

        value = value << 4 | digit;
    }
    return value;
}

/* In the text of a string that yajl has found well-formed. */
static bool has_lone_surrogate(const char *p, size_t n)
{
    size_t i = 0;

    while (i < n) {
        const char *escape = memchr(p + i, '\\', n - i);

        if (escape == NULL)
            return false;
        i = (size_t)(escape - p);
        if (p[i + 1] != 'u') {
            i += 2;
            continue;
        }
        unsigned code = hex4(p + i + 2);

        i += 6;
        if (code < 0xd800 || code > 0xdfff)
            continue;
        if (code >= 0xdc00 || n - i < 6 || p[i] != '\\' || p[i + 1] != 'u')
            return true;
        code = hex4(p + i + 2);
        if (code < 0xdc00 || code > 0xdfff)
            return true;
        i += 6;
    }
    return false;
}

/* Are keys and text of the innermost object or array? */
static bool is_judged(const struct tg_json_reader *reader)
{
    return reader->unjudged == 0 && reader->key_depth > 0 && reader->depth <= reader->key_depth;
}

static int check_text(struct tg_json_reader *reader, struct tg_json_event *event)
{
    event->has_nul = memchr(event->text, '\0', event->n) != NULL;
    if (!is_judged(reader) || reader->value_unjudged)
        return 0;
    /* Every escape is longer than what it stands for. */
    if (reader->text != NULL && event->end - event->start - 2 != event->n) {
        if (has_lone_surrogate(reader->text + event->start + 1, event->end - event->start - 2))
            return tg_json_reader_refuse(reader, reader->err, TG_INVALID_ARGUMENT,
                                         "%s with half a surrogate pair (byte %zu)",
                                         tg_json_event_name(event->kind), event->end);
    }
    if (!tg_utf8_valid(event->text, event->n))
        return tg_json_reader_refuse(reader, reader->err, TG_INVALID_ARGUMENT,
                                     "%s that is not valid UTF-8 (byte %zu)",
                                     tg_json_event_name(event->kind), event->end);
    return 0;
}

/* Of the innermost object or array; NULL if it is too deep to be judged. */
static struct frame *innermost(struct tg_json_reader *reader)
{
    return reader->depth <= TG_JSON_MAX_DEPTH ? &reader->frames[reader->depth - 1] : NULL;
}

static int enter(struct tg_json_reader *reader, bool array)
{
    bool unjudged = reader->unjudged > 0 || reader->value_unjudged;
    unsigned limit = unjudged || reader->key_depth < TG_JSON_MAX_DEPTH ? TG_JSON_MAX_DEPTH_UNJUDGED
                                                                       : TG_JSON_MAX_DEPTH;
    struct frame *frame;

    if (reader->depth >= limit)
        return tg_json_reader_refuse(reader, reader->err, TG_INVALID_ARGUMENT,
                                     "nested deeper than %u levels", limit);
    reader->depth++;
    if (unjudged && reader->unjudged == 0)
        reader->unjudged = reader->depth;
    frame = innermost(reader);
    if (frame != NULL)
        *frame = (struct frame){.array = array, .key_base = reader->keys.n};
    return 0;
}

static int leave(struct tg_json_reader *reader)
{
    const struct frame *frame = innermost(reader);
    const struct tg_json_key *twice = NULL;

    if (frame != NULL && !frame->array && is_judged(reader))
        twice = tg_json_keys_pop(&reader->keys, frame->key_base);
    reader->depth--;
    if (reader->unjudged > reader->depth)
        reader->unjudged = 0;
    if (twice == NULL)
        return 0;
    if (twice->text == NULL)
        return tg_json_reader_refuse(reader, reader->err, TG_INVALID_ARGUMENT,
                                     "the object that ends here has a key twice");
    return tg_json_reader_refuse(reader, reader->err, TG_INVALID_ARGUMENT, "duplicate key \"%.*s\"",
                                 (int)(twice->n < PATH_KEY_BYTES ? twice->n : PATH_KEY_BYTES),
                                 twice->text);
}

static int note_key(struct tg_json_reader *reader, const struct tg_json_event *event)
{
    struct frame *frame = innermost(reader);

    if (frame != NULL && reader->text != NULL) {
        frame->key = reader->text + event->start + 1;
        frame->key_n = event->end - event->start - 2;
    }
    if (frame == NULL || !is_judged(reader))
        return 0;
    if (++frame->count > TG_JSON_MAX_ITEMS)
        return tg_json_reader_refuse(reader, reader->err, TG_INVALID_ARGUMENT,
                                     "an object with more than %zu keys", TG_JSON_MAX_ITEMS);
    /* Without escapes the decoded key is the text in the input, which stays. */
    tg_json_keys_push(&reader->keys, event->text, event->n,
                      reader->text != NULL && frame->key_n == event->n);
    return 0;
}

/* Checks the token and keeps the path. */
static int accept(struct tg_json_reader *reader, struct tg_json_event *event)
{
    int rc;

    switch (event->kind) {
    case TG_JSON_EVENT_STRING:
        return check_text(reader, event);
    case TG_JSON_EVENT_KEY:
        rc = check_text(reader, event);
        return rc != 0 ? rc : note_key(reader, event);
    case TG_JSON_EVENT_BEGIN_OBJECT:
        return enter(reader, false);
    case TG_JSON_EVENT_BEGIN_ARRAY:
        return enter(reader, true);
    case TG_JSON_EVENT_END_OBJECT:
    case TG_JSON_EVENT_END_ARRAY:
        return leave(reader);
    case TG_JSON_EVENT_NULL:
    case TG_JSON_EVENT_BOOL:
    case TG_JSON_EVENT_NUMBER:
        break;
    }
    return 0;
}

static bool is_value(enum tg_json_event_kind kind)
{
    return kind != TG_JSON_EVENT_KEY && kind != TG_JSON_EVENT_END_OBJECT &&
           kind != TG_JSON_EVENT_END_ARRAY;
}

static int take(struct tg_json_reader *reader, struct tg_json_event *event)
{
    int rc;

    if (is_value(event->kind) && reader->depth > 0 && reader->depth <= TG_JSON_MAX_DEPTH)
        reader->frames[reader->depth - 1].index++;
    rc = accept(reader, event);
    reader->value_unjudged = false;
    if (rc == 0)
        rc = reader->on_event(reader->data, reader, event, reader->err);
    if (rc != TG_JSON_UNJUDGED)
        return rc;
    if (event->kind == TG_JSON_EVENT_KEY)
        reader->value_unjudged = true;
    else if (reader->unjudged == 0)
        reader->unjudged = reader->depth;
    return 0;
}

static int emit(void *context, struct tg_json_event event)
{
    struct tg_json_reader *reader = context;

    event.end = reader->base + yajl_get_bytes_consumed(reader->yajl);
    event.start = reader->text != NULL ? token_start(reader, event.end) : event.end - 1;
    reader->previous_end = event.end;
    reader->rc = take(reader, &event);
    return reader->rc == 0;
}

static int on_null(void *context)
{
    return emit(context, (struct tg_json_event){.kind = TG_JSON_EVENT_NULL});
}

static int on_boolean(void *context, int value)
{
    return emit(context, (struct tg_json_event){.kind = TG_JSON_EVENT_BOOL, .boolean = value != 0});
}

static int on_number(void *context, const char *text, size_t n)
{
    return emit(context,
                (struct tg_json_event){.kind = TG_JSON_EVENT_NUMBER, .text = text, .n = n});
}

static int on_string(void *context, const unsigned char *text, size_t n)
{
    return emit(context, (struct tg_json_event){
                             .kind = TG_JSON_EVENT_STRING, .text = (const char *)text, .n = n});
}

static int on_key(void *context, const unsigned char *text, size_t n)
{
    return emit(context, (struct tg_json_event){
                             .kind = TG_JSON_EVENT_KEY, .text = (const char *)text, .n = n});
}

static int on_begin_object(void *context)
{
    return emit(context, (struct tg_json_event){.kind = TG_JSON_EVENT_BEGIN_OBJECT});
}

static int on_end_object(void *context)
{
    return emit(context, (struct tg_json_event){.kind = TG_JSON_EVENT_END_OBJECT});
}

static int on_begin_array(void *context)
{
    return emit(context, (struct tg_json_event){.kind = TG_JSON_EVENT_BEGIN_ARRAY});
}

static int on_end_array(void *context)
{
    return emit(context, (struct tg_json_event){.kind = TG_JSON_EVENT_END_ARRAY});
}

/* yajl does not check for NULL; what it holds is bounded by the input that it was given. */
static void *allocate(void *context, size_t size)
{
    (void)context;
    return tg_xmalloc(size);
}

static void *reallocate(void *context, void *p, size_t size)
{
    (void)context;
    return tg_xrealloc(p, size);
}

static void release(void *context, void *p)
{
    (void)context;
    free(p);
}

static void reader_init(struct tg_json_reader *reader, tg_json_event_fn on_event, void *data)
{
    static const yajl_callbacks callbacks = {
        .yajl_null = on_null,
        .yajl_boolean = on_boolean,
        .yajl_number = on_number,
        .yajl_string = on_string,
        .yajl_start_map = on_begin_object,
        .yajl_map_key = on_key,
        .yajl_end_map = on_end_object,
        .yajl_start_array = on_begin_array,
        .yajl_end_array = on_end_array,
    };
    yajl_alloc_funcs functions = {allocate, reallocate, release, NULL};

    *reader = (struct tg_json_reader){.on_event = on_event, .data = data};
    reader->yajl = yajl_alloc(&callbacks, &functions, reader);
    /* check_text is stricter; once is enough. */
    yajl_config(reader->yajl, yajl_dont_validate_strings, 1);
}

static void reader_done(struct tg_json_reader *reader)
{
    yajl_free(reader->yajl);
    tg_json_keys_done(&reader->keys);
}

struct tg_json_reader *tg_json_reader_new(tg_json_event_fn on_event, void *data, unsigned key_depth)
{
    struct tg_json_reader *reader = tg_xmalloc(sizeof(*reader));

    reader_init(reader, on_event, data);
    reader->key_depth = key_depth;
    return reader;
}

void tg_json_reader_free(struct tg_json_reader *reader)
{
    if (reader == NULL)
        return;
    reader_done(reader);
    free(reader);
}

static int finish(struct tg_json_reader *reader, yajl_status status)
{
    unsigned char *text;
    size_t at;
    int rc;

    if (status == yajl_status_ok)
        return 0;
    if (status == yajl_status_client_canceled)
        return reader->rc;
    at = reader->base + yajl_get_bytes_consumed(reader->yajl);
    text = yajl_get_error(reader->yajl, 0, NULL, 0);
    rc =
        tg_json_reader_refuse(reader, reader->err, TG_INVALID_ARGUMENT, "not JSON: %.*s (byte %zu)",
                              (int)strcspn((const char *)text, "\n"), (const char *)text, at);
    yajl_free_error(reader->yajl, text);
    return rc;
}

int tg_json_reader_feed(struct tg_json_reader *reader, const char *chunk, size_t n,
                        struct tg_error *err)
{
    int rc;

    if (reader->rc != 0)
        return tg_error_set(err, TG_FAILED_PRECONDITION, "the document was refused before");
    reader->err = err;
    rc = finish(reader, yajl_parse(reader->yajl, (const unsigned char *)chunk, n));
    reader->err = NULL;
    reader->base += n;
    reader->rc = rc;
    return rc;
}

int tg_json_reader_end(struct tg_json_reader *reader, struct tg_error *err)
{
    if (reader->rc != 0)
        return tg_error_set(err, TG_FAILED_PRECONDITION, "the document was refused before");
    reader->err = err;
    reader->rc = finish(reader, yajl_complete_parse(reader->yajl));
    reader->err = NULL;
    return reader->rc;
}

int tg_json_read(const char *text, size_t n, tg_json_event_fn on_event, void *data,
                 struct tg_error *err)
{
    struct tg_json_reader reader;
    int rc;

    reader_init(&reader, on_event, data);
    reader.text = text;
    reader.key_depth = TG_JSON_MAX_DEPTH;
    rc = tg_json_reader_feed(&reader, text, n, err);
    if (rc == 0)
        rc = tg_json_reader_end(&reader, err);
    reader_done(&reader);
    return rc;
}
