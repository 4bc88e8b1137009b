/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/json/encode.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/json/reader.h"

/* Where the encoder stands, for messages. */
struct where {
    const struct where *parent;
    const char *name; /* NULL in a list */
    size_t index;
};

static int encode_object(struct tg_json_writer *w, const struct tg_type *type, const char *object,
                         const struct where *where, struct tg_error *err);

static void append_path(struct tg_buf *path, const struct where *where)
{
    if (where == NULL)
        return;
    append_path(path, where->parent);
    if (where->name == NULL)
        tg_buf_printf(path, "[%zu]", where->index);
    else
        tg_buf_printf(path, "%s%s", path->len == 0 ? "" : ".", where->name);
}

static int ignore_event(void *data, const struct tg_json_reader *reader,
                        const struct tg_json_event *event, struct tg_error *err)
{
    (void)data;
    (void)reader;
    (void)event;
    (void)err;
    return 0;
}

/* No more than that: what a server gave out is given back to it as it was. */
static int check_syntax(const char *text, struct tg_error *err)
{
    struct tg_json_reader *reader = tg_json_reader_new(ignore_event, NULL, 0);
    int rc = tg_json_reader_feed(reader, text, strlen(text), err);

    if (rc == 0)
        rc = tg_json_reader_end(reader, err);
    tg_json_reader_free(reader);
    return rc;
}

static int encode_raw(struct tg_json_writer *w, const char *text, const struct where *where,
                      struct tg_error *err)
{
    struct tg_buf path TG_AUTOBUF = TG_BUF_INIT(256);
    int rc = check_syntax(text, err);

    if (rc == 0) {
        tg_jw_raw(w, text);
        return 0;
    }
    append_path(&path, where);
    if (err != NULL)
        tg_error_wrap(err, "%s: raw value", tg_buf_str(&path));
    return rc;
}

static const char *text_at(const char *slot)
{
    const char *text;

    memcpy(&text, slot, sizeof(text));
    return text;
}

static bool is_present(const struct tg_field *field, const char *slot)
{
    struct tg_list list;

    if ((field->flags & TG_FIELD_EMIT_EMPTY) != 0 && field->kind != TG_FIELD_BOOL &&
        field->kind != TG_FIELD_INT)
        return true;
    switch (field->kind) {
    case TG_FIELD_BOOL:
        return ((const struct tg_opt_bool *)(const void *)slot)->set;
    case TG_FIELD_INT:
        return ((const struct tg_opt_int *)(const void *)slot)->set;
    case TG_FIELD_LIST:
    case TG_FIELD_MAP:
        memcpy(&list, slot, sizeof(list));
        return list.n > 0;
    case TG_FIELD_STRING:
    case TG_FIELD_OBJECT:
    case TG_FIELD_RAW:
    case TG_FIELD_SCALAR_TEXT:
        break;
    }
    return text_at(slot) != NULL;
}

static void encode_empty(struct tg_json_writer *w, enum tg_field_kind kind)
{
    if (kind == TG_FIELD_OBJECT || kind == TG_FIELD_RAW) {
        tg_jw_begin_object(w);
        tg_jw_end_object(w);
    } else {
        tg_jw_string(w, "");
    }
}

/* A value that is no list or map. Objects are given by address of the struct. */
static int encode_single(struct tg_json_writer *w, enum tg_field_kind kind,
                         const struct tg_type *type, const char *slot, const struct where *where,
                         struct tg_error *err)
{
    switch (kind) {
    case TG_FIELD_BOOL:
        tg_jw_bool(w, ((const struct tg_opt_bool *)(const void *)slot)->value);
        return 0;
    case TG_FIELD_INT:
        tg_jw_int(w, ((const struct tg_opt_int *)(const void *)slot)->value);
        return 0;
    case TG_FIELD_OBJECT:
        return encode_object(w, type, slot, where, err);
    case TG_FIELD_RAW:
        return encode_raw(w, text_at(slot), where, err);
    case TG_FIELD_STRING:
    case TG_FIELD_SCALAR_TEXT:
        tg_jw_string(w, text_at(slot));
        return 0;
    case TG_FIELD_LIST:
    case TG_FIELD_MAP:
        break;
    }
    assert(false); /* tg_field_item_layout refuses such tables */
    return 0;
}

static int encode_items(struct tg_json_writer *w, const struct tg_field *field, const char *slot,
                        const struct where *parent, struct tg_error *err)
{
    bool map = field->kind == TG_FIELD_MAP;
    struct tg_field_layout layout = tg_field_item_layout(field);
    struct tg_list list;
    int rc = 0;

    memcpy(&list, slot, sizeof(list));
    map ? tg_jw_begin_object(w) : tg_jw_begin_array(w);
    for (size_t i = 0; i < list.n && rc == 0; i++) {
        const char *item = (const char *)list.items + i * layout.size;
        struct where where = {.parent = parent, .name = map ? text_at(item) : NULL, .index = i};

        if (map)
            tg_jw_key(w, where.name);
        rc = encode_single(w, field->item, field->type, item + layout.value, &where, err);
    }
    map ? tg_jw_end_object(w) : tg_jw_end_array(w);
    return rc;
}

static int encode_field(struct tg_json_writer *w, const struct tg_field *field, const char *slot,
                        const struct where *parent, struct tg_error *err)
{
    struct where where = {.parent = parent, .name = field->name};

    if (!is_present(field, slot))
        return 0;
    tg_jw_key(w, field->name);
    if (field->kind == TG_FIELD_LIST || field->kind == TG_FIELD_MAP)
        return encode_items(w, field, slot, &where, err);
    if (field->kind == TG_FIELD_BOOL || field->kind == TG_FIELD_INT)
        return encode_single(w, field->kind, NULL, slot, &where, err);
    if (text_at(slot) == NULL) {
        encode_empty(w, field->kind);
        return 0;
    }
    if (field->kind == TG_FIELD_OBJECT)
        slot = text_at(slot);
    return encode_single(w, field->kind, field->type, slot, &where, err);
}

static int encode_object(struct tg_json_writer *w, const struct tg_type *type, const char *object,
                         const struct where *where, struct tg_error *err)
{
    int rc = 0;

    tg_jw_begin_object(w);
    for (size_t i = 0; i < type->n && rc == 0; i++)
        rc = encode_field(w, &type->fields[i], object + type->fields[i].offset, where, err);
    tg_jw_end_object(w);
    return rc;
}

int tg_json_encode(const struct tg_type *type, const void *object, struct tg_buf *out,
                   struct tg_error *err)
{
    struct tg_json_writer w;
    int rc;

    tg_json_writer_init(&w, out);
    rc = encode_object(&w, type, object, NULL, err);
    return rc != 0 ? rc : tg_jw_finish(&w, err);
}

void tg_jw_kv_object(struct tg_json_writer *w, const char *key, const struct tg_type *type,
                     const void *object)
{
    if (object == NULL)
        return;
    tg_jw_key(w, key);
    if (encode_object(w, type, object, NULL, NULL) != 0)
        w->invalid = true;
}
