/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens go straight into structs: a stack of open objects, lists and maps, and no tree. Lists and
 * maps grow in heap memory, one buffer a level, and are copied into the arena once their size is
 * known. */
#include "api/runtime/json/decode.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/reader.h"

#define KNOWN_FIELDS_BYTES 200
#define SCRATCH_KEPT ((size_t)64 * 1024)

enum frame_kind { FRAME_OBJECT, FRAME_LIST, FRAME_MAP };

struct frame {
    enum frame_kind kind;
    /* FRAME_OBJECT */
    const struct tg_type *type;
    char *base;
    uint64_t seen; /* fields that had a value */
    size_t cursor; /* where the next field probably is */
    /* FRAME_OBJECT: current field, NULL if unknown; FRAME_LIST, FRAME_MAP: the field that it is */
    const struct tg_field *field;
    /* FRAME_LIST, FRAME_MAP */
    struct tg_list *list;
    const char *key;
    size_t n;
};

struct scratch {
    char *data;
    size_t capacity;
};

struct decoder {
    const char *text;
    struct tg_arena *arena;
    const struct tg_type *root_type;
    void *root;
    unsigned depth;
    struct frame frames[TG_JSON_MAX_DEPTH];
    struct scratch scratch[TG_JSON_MAX_DEPTH];
    size_t growing;   /* bytes of items in scratch memory */
    unsigned skip;    /* open objects and arrays of a value that is skipped or kept as text */
    size_t raw_start; /* of the value that is kept as text */
    const char **raw; /* where its text goes; NULL if it is skipped */
};

/* Where the next value goes. */
struct place {
    enum tg_field_kind kind;
    const struct tg_field *field; /* NULL: the document itself */
    const struct tg_type *type;   /* of an object */
    char *slot;                   /* NULL: nowhere, it is skipped */
    bool item; /* of a list or map: objects lie in the slot itself, null is refused */
};

static int no_memory(const struct tg_json_reader *reader, struct tg_error *err)
{
    return tg_json_too_large(
        err, tg_json_reader_refuse(reader, err, TG_RESOURCE_EXHAUSTED,
                                   "the document needs more memory than it may use"));
}

static int mismatch(const struct tg_json_reader *reader, const struct tg_json_event *event,
                    const char *wanted, struct tg_error *err)
{
    return tg_json_reader_refuse(reader, err, TG_INVALID_ARGUMENT, "expected %s, found %s", wanted,
                                 tg_json_event_name(event->kind));
}

/* Fields mostly come in the order of the table, so the search begins after the last one found. */
static const struct tg_field *find_field(struct frame *frame, const char *key, size_t n)
{
    const struct tg_type *type = frame->type;

    for (size_t i = 0; i < type->n; i++) {
        size_t at = frame->cursor + i < type->n ? frame->cursor + i : frame->cursor + i - type->n;
        const char *name = type->fields[at].name;

        if (strlen(name) == n && memcmp(name, key, n) == 0) {
            frame->cursor = at + 1 < type->n ? at + 1 : 0;
            return &type->fields[at];
        }
    }
    return NULL;
}

static int unknown_field(const struct tg_json_reader *reader, const struct tg_type *type,
                         struct tg_error *err)
{
    struct tg_buf known TG_AUTOBUF = TG_BUF_INIT(KNOWN_FIELDS_BYTES);

    for (size_t i = 0; i < type->n && !known.failed; i++)
        tg_buf_printf(&known, "%s%s", i == 0 ? "" : ", ", type->fields[i].name);
    if (known.failed)
        return tg_json_reader_refuse(reader, err, TG_INVALID_ARGUMENT, "unknown field of %s",
                                     type->name);
    return tg_json_reader_refuse(reader, err, TG_INVALID_ARGUMENT, "unknown field (known: %s)",
                                 tg_buf_str(&known));
}

static int on_key(struct decoder *decoder, const struct tg_json_reader *reader,
                  const struct tg_json_event *event, struct tg_error *err)
{
    struct frame *frame = &decoder->frames[decoder->depth - 1];

    if (frame->kind == FRAME_OBJECT) {
        frame->field = find_field(frame, event->text, event->n);
        if (frame->field == NULL && frame->type->strict)
            return unknown_field(reader, frame->type, err);
        /* Nobody looks into what is skipped or kept as text. */
        return frame->field == NULL || frame->field->kind == TG_FIELD_RAW ? TG_JSON_UNJUDGED : 0;
    }
    if (event->has_nul)
        return tg_json_reader_refuse(reader, err, TG_INVALID_ARGUMENT,
                                     "a key with a NUL character");
    frame->key = tg_arena_strndup(decoder->arena, event->text, event->n);
    if (frame->key == NULL)
        return no_memory(reader, err);
    return frame->field->item == TG_FIELD_RAW ? TG_JSON_UNJUDGED : 0;
}

/* Room for one more item, zeroed; NULL if the arena could not take what has gathered outside it. */
static char *push_item(struct decoder *decoder, struct frame *frame, size_t size)
{
    struct scratch *scratch = &decoder->scratch[decoder->depth - 1];
    size_t used = frame->n * size;
    char *item;

    if (decoder->growing + size > tg_arena_left(decoder->arena))
        return NULL;
    if (used + size > scratch->capacity) {
        scratch->capacity = used == 0 ? 8 * size : 2 * (used + size);
        scratch->data = tg_xrealloc(scratch->data, scratch->capacity);
    }
    frame->n++;
    decoder->growing += size;
    item = scratch->data + used;
    memset(item, 0, size);
    return item;
}

/* Hands the items to the arena. The scratch memory stays for the next list of this level unless it
 * is large. */
static void *keep_items(struct decoder *decoder, const struct frame *frame, size_t size)
{
    struct scratch *scratch = &decoder->scratch[decoder->depth];
    void *items = tg_arena_alloc_array(decoder->arena, frame->n, size);

    if (items != NULL && frame->n > 0)
        memcpy(items, scratch->data, frame->n * size);
    decoder->growing -= frame->n * size;
    if (scratch->capacity > SCRATCH_KEPT) {
        free(scratch->data);
        *scratch = (struct scratch){0};
    }
    return items;
}

static int find_place(struct decoder *decoder, const struct tg_json_reader *reader,
                      struct place *ret, struct tg_error *err)
{
    struct frame *frame;
    struct tg_field_layout layout;
    size_t max;
    char *item;

    if (decoder->depth == 0) {
        *ret = (struct place){.kind = TG_FIELD_OBJECT,
                              .type = decoder->root_type,
                              .slot = decoder->root,
                              .item = true};
        return 0;
    }
    frame = &decoder->frames[decoder->depth - 1];
    if (frame->field == NULL) {
        *ret = (struct place){.slot = NULL};
        return 0;
    }
    if (frame->kind == FRAME_OBJECT) {
        *ret = (struct place){.kind = frame->field->kind,
                              .field = frame->field,
                              .type = frame->field->type,
                              .slot = frame->base + frame->field->offset};
        return 0;
    }
    max = frame->field->max_items == 0 ? TG_JSON_MAX_ITEMS : frame->field->max_items;
    if (frame->n == max)
        return tg_json_reader_refuse(reader, err, TG_INVALID_ARGUMENT, "more than %zu items", max);
    layout = tg_field_item_layout(frame->field);
    item = push_item(decoder, frame, layout.size);
    if (item == NULL)
        return no_memory(reader, err);
    if (frame->kind == FRAME_MAP)
        memcpy(item, &frame->key, sizeof(frame->key));
    *ret = (struct place){.kind = frame->field->item,
                          .field = frame->field,
                          .type = frame->field->type,
                          .slot = item + layout.value,
                          .item = true};
    return 0;
}

static int store_text(struct decoder *decoder, const struct tg_json_reader *reader, char *slot,
                      const char *text, size_t n, struct tg_error *err)
{
    const char *copy = tg_arena_strndup(decoder->arena, text, n);

    if (copy == NULL)
        return no_memory(reader, err);
    memcpy(slot, &copy, sizeof(copy));
    return 0;
}

static int store_int(const struct tg_json_reader *reader, const struct tg_json_event *event,
                     char *slot, struct tg_error *err)
{
    struct tg_opt_int value = {.set = true};
    int n = event->n < 40 ? (int)event->n : 40;

    if (tg_parse_i64(event->text, event->n, &value.value) != 0)
        return tg_json_reader_refuse(reader, err, TG_INVALID_ARGUMENT,
                                     "expected an integer of 64 bits, found %.*s", n, event->text);
    memcpy(slot, &value, sizeof(value));
    return 0;
}

static const char *wanted_name(enum tg_field_kind kind)
{
    static const char *const names[] = {
        [TG_FIELD_STRING] = "a string", [TG_FIELD_BOOL] = "a boolean",
        [TG_FIELD_INT] = "an integer",  [TG_FIELD_OBJECT] = "an object",
        [TG_FIELD_RAW] = "a value",     [TG_FIELD_SCALAR_TEXT] = "a string or a number",
        [TG_FIELD_LIST] = "an array",   [TG_FIELD_MAP] = "an object",
    };

    return names[kind];
}

static int store_scalar(struct decoder *decoder, const struct tg_json_reader *reader,
                        const struct tg_json_event *event, const struct place *place,
                        struct tg_error *err)
{
    bool string = event->kind == TG_JSON_EVENT_STRING;
    bool number = event->kind == TG_JSON_EVENT_NUMBER;

    if (place->kind == TG_FIELD_RAW)
        return store_text(decoder, reader, place->slot, decoder->text + event->start,
                          event->end - event->start, err);
    if (place->kind == TG_FIELD_BOOL && event->kind == TG_JSON_EVENT_BOOL) {
        struct tg_opt_bool value = {.set = true, .value = event->boolean};

        memcpy(place->slot, &value, sizeof(value));
        return 0;
    }
    if (place->kind == TG_FIELD_INT && number)
        return store_int(reader, event, place->slot, err);
    if ((place->kind == TG_FIELD_STRING && string) ||
        (place->kind == TG_FIELD_SCALAR_TEXT && (string || number))) {
        if (event->has_nul)
            return tg_json_reader_refuse(reader, err, TG_INVALID_ARGUMENT,
                                         "a string with a NUL character");
        return store_text(decoder, reader, place->slot, event->text, event->n, err);
    }
    return mismatch(reader, event, wanted_name(place->kind), err);
}

static void mark_seen(struct decoder *decoder)
{
    struct frame *frame;

    if (decoder->depth == 0)
        return;
    frame = &decoder->frames[decoder->depth - 1];
    if (frame->kind == FRAME_OBJECT && frame->field != NULL)
        frame->seen |= UINT64_C(1) << (frame->field - frame->type->fields);
}

static int on_scalar(struct decoder *decoder, const struct tg_json_reader *reader,
                     const struct tg_json_event *event, struct tg_error *err)
{
    struct place place;
    int rc = find_place(decoder, reader, &place, err);

    if (rc != 0 || place.slot == NULL)
        return rc;
    if (event->kind == TG_JSON_EVENT_NULL && !place.item)
        return 0;
    mark_seen(decoder);
    return store_scalar(decoder, reader, event, &place, err);
}

static int begin_object(struct decoder *decoder, const struct tg_json_reader *reader,
                        const struct place *place, struct tg_error *err)
{
    struct frame frame = {.kind = FRAME_OBJECT, .type = place->type, .base = place->slot};

    assert(place->type->n <= 64);
    if (!place->item) {
        frame.base = tg_arena_alloc(decoder->arena, place->type->size);
        if (frame.base == NULL)
            return no_memory(reader, err);
        memcpy(place->slot, &frame.base, sizeof(frame.base));
    }
    decoder->frames[decoder->depth++] = frame;
    return 0;
}

static int on_begin(struct decoder *decoder, const struct tg_json_reader *reader,
                    const struct tg_json_event *event, struct tg_error *err)
{
    bool array = event->kind == TG_JSON_EVENT_BEGIN_ARRAY;
    struct place place;
    int rc = find_place(decoder, reader, &place, err);

    if (rc != 0)
        return rc;
    if (place.slot == NULL || place.kind == TG_FIELD_RAW) {
        decoder->skip = 1;
        decoder->raw_start = event->start;
        decoder->raw = (const char **)(void *)place.slot;
        if (place.slot != NULL)
            mark_seen(decoder);
        return 0;
    }
    if (array ? place.kind != TG_FIELD_LIST
              : place.kind != TG_FIELD_OBJECT && place.kind != TG_FIELD_MAP)
        return mismatch(reader, event, wanted_name(place.kind), err);
    mark_seen(decoder);
    if (place.kind == TG_FIELD_OBJECT)
        return begin_object(decoder, reader, &place, err);
    decoder->frames[decoder->depth++] =
        (struct frame){.kind = array ? FRAME_LIST : FRAME_MAP,
                       .field = place.field,
                       .list = (struct tg_list *)(void *)place.slot};
    return array && place.field->item == TG_FIELD_RAW ? TG_JSON_UNJUDGED : 0;
}

static int end_skipped(struct decoder *decoder, const struct tg_json_reader *reader,
                       const struct tg_json_event *event, struct tg_error *err)
{
    if (--decoder->skip > 0 || decoder->raw == NULL)
        return 0;
    return store_text(decoder, reader, (char *)(void *)decoder->raw,
                      decoder->text + decoder->raw_start, event->end - decoder->raw_start, err);
}

static int check_required(const struct tg_json_reader *reader, const struct frame *frame,
                          struct tg_error *err)
{
    for (size_t i = 0; i < frame->type->n; i++) {
        const struct tg_field *field = &frame->type->fields[i];

        if ((field->flags & TG_FIELD_REQUIRED) != 0 && (frame->seen >> i & 1) == 0)
            return tg_json_reader_refuse(reader, err, TG_INVALID_ARGUMENT,
                                         "the required field \"%s\" is missing", field->name);
    }
    return 0;
}

static int on_end(struct decoder *decoder, const struct tg_json_reader *reader,
                  struct tg_error *err)
{
    struct frame *frame = &decoder->frames[decoder->depth - 1];
    void *items;

    decoder->depth--;
    if (frame->kind == FRAME_OBJECT)
        return frame->type->strict ? check_required(reader, frame, err) : 0;
    items = keep_items(decoder, frame, tg_field_item_layout(frame->field).size);
    if (items == NULL)
        return no_memory(reader, err);
    *frame->list = (struct tg_list){.items = items, .n = frame->n};
    return 0;
}

static int on_event(void *data, const struct tg_json_reader *reader,
                    const struct tg_json_event *event, struct tg_error *err)
{
    struct decoder *decoder = data;
    bool begin =
        event->kind == TG_JSON_EVENT_BEGIN_OBJECT || event->kind == TG_JSON_EVENT_BEGIN_ARRAY;
    bool end = event->kind == TG_JSON_EVENT_END_OBJECT || event->kind == TG_JSON_EVENT_END_ARRAY;

    if (decoder->skip > 0) {
        if (end)
            return end_skipped(decoder, reader, event, err);
        decoder->skip += begin;
        return 0;
    }
    if (begin)
        return on_begin(decoder, reader, event, err);
    if (end)
        return on_end(decoder, reader, err);
    if (event->kind == TG_JSON_EVENT_KEY)
        return on_key(decoder, reader, event, err);
    return on_scalar(decoder, reader, event, err);
}

int tg_json_decode(const struct tg_type *type, const char *data, size_t n, void *target,
                   struct tg_arena *arena, struct tg_error *err)
{
    struct decoder decoder = {.text = data, .arena = arena, .root_type = type, .root = target};
    int rc = tg_json_read(data, n, on_event, &decoder, err);

    for (size_t i = 0; i < TG_JSON_MAX_DEPTH; i++)
        free(decoder.scratch[i].data);
    return rc;
}

int tg_json_decode_new(const struct tg_type *type, const char *data, size_t n,
                       struct tg_arena *arena, void **ret, struct tg_error *err)
{
    void *object = tg_arena_alloc(arena, type->size);
    int rc;

    if (object == NULL)
        return tg_json_too_large(err,
                                 tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                              "the document needs more memory than it may use"));
    rc = tg_json_decode(type, data, n, object, arena, err);
    if (rc == 0)
        *ret = object;
    return rc;
}
