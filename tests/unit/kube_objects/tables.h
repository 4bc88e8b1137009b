/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One object of each kind, as an API server of 1.37 writes it with everything set, and what must be
 * true of every field table that reads it.
 */
#ifndef TG_TESTS_UNIT_KUBE_OBJECTS_TABLES_H
#define TG_TESTS_UNIT_KUBE_OBJECTS_TABLES_H

#ifndef TEST_SOURCE_DIR /* the build says where the source is */
#define TEST_SOURCE_DIR "."
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "api/runtime/json/encode.h"
#include "api/runtime/json/field.h"
#include "api/runtime/json/value.h"

struct document {
    struct tg_arena *arena;
    struct tg_buf text;
    void *object;
    struct tg_json *tree;
    const struct tg_field *reached[512];
    size_t n_reached;
};

/* Reads data/NAME.json. */
#define document_read(d, name, type) document_read_from((d), TEST_SOURCE_DIR, (name), (type))

static inline void document_read_from(struct document *d, const char *source, const char *name,
                                      const struct tg_type *type)
{
    struct tg_buf path = TG_BUF_INIT(4096);
    struct tg_error err = TG_ERROR_INIT;

    *d = (struct document){.arena = tg_arena_new(1 << 20), .text = TG_BUF_INIT(1 << 20)};
    tg_buf_printf(&path, "%s/tests/unit/kube_objects/data/%s.json", source, name);
    if (tg_file_read(tg_buf_str(&path), &d->text, &err) < 0 ||
        tg_json_parse(d->text.data, d->text.len, d->arena, &d->tree, &err) < 0 ||
        tg_json_decode_new(type, d->text.data, d->text.len, d->arena, &d->object, &err) < 0)
        fail_msg("%s: %s", name, err.message);
    tg_buf_done(&path);
}

static inline void document_done(struct document *d)
{
    tg_buf_done(&d->text);
    tg_arena_free(d->arena);
}

static inline bool document_is_set(enum tg_field_kind kind, const char *slot)
{
    const void *pointer;

    switch (kind) {
    case TG_FIELD_BOOL:
        return ((const struct tg_opt_bool *)(const void *)slot)->set;
    case TG_FIELD_INT:
        return ((const struct tg_opt_int *)(const void *)slot)->set;
    case TG_FIELD_LIST:
    case TG_FIELD_MAP:
        return ((const struct tg_list *)(const void *)slot)->n > 0;
    case TG_FIELD_STRING:
    case TG_FIELD_OBJECT:
    case TG_FIELD_RAW:
    case TG_FIELD_SCALAR_TEXT:
        break;
    }
    memcpy(&pointer, slot, sizeof(pointer));
    return pointer != NULL;
}

static inline void document_walk(struct document *d, const struct tg_type *type, const char *object)
{
    for (size_t i = 0; i < type->n; i++) {
        const struct tg_field *field = &type->fields[i];
        const char *slot = object + field->offset;

        if (!document_is_set(field->kind, slot))
            continue;
        assert_true(d->n_reached < sizeof(d->reached) / sizeof(d->reached[0]));
        d->reached[d->n_reached++] = field;
        if (field->kind == TG_FIELD_OBJECT) {
            const char *inner;

            memcpy(&inner, slot, sizeof(inner));
            document_walk(d, field->type, inner);
        } else if (field->type != NULL) {
            const struct tg_list *list = (const struct tg_list *)(const void *)slot;
            struct tg_field_layout layout = tg_field_item_layout(field);

            for (size_t j = 0; j < list->n; j++)
                document_walk(d, field->type,
                              (const char *)list->items + j * layout.size + layout.value);
        }
    }
}

static inline bool document_reached(const struct document *d, const struct tg_field *field)
{
    for (size_t i = 0; i < d->n_reached; i++)
        if (d->reached[i] == field)
            return true;
    return false;
}

static inline size_t document_slot_size(enum tg_field_kind kind)
{
    static const size_t sizes[] = {
        [TG_FIELD_STRING] = sizeof(char *),
        [TG_FIELD_BOOL] = sizeof(struct tg_opt_bool),
        [TG_FIELD_INT] = sizeof(struct tg_opt_int),
        [TG_FIELD_OBJECT] = sizeof(void *),
        [TG_FIELD_RAW] = sizeof(char *),
        [TG_FIELD_SCALAR_TEXT] = sizeof(char *),
        [TG_FIELD_LIST] = sizeof(struct tg_list),
        [TG_FIELD_MAP] = sizeof(struct tg_list),
    };

    return sizes[kind];
}

/* Fields lie inside their struct, and no two share a byte or a name. */
static inline void table_lies_well(const struct tg_type *type)
{
    for (size_t i = 0; i < type->n; i++) {
        const struct tg_field *a = &type->fields[i];

        assert_true(a->offset + document_slot_size(a->kind) <= type->size);
        for (size_t j = 0; j < i; j++) {
            const struct tg_field *b = &type->fields[j];

            if (tg_streq(a->name, b->name) ||
                (a->offset < b->offset + document_slot_size(b->kind) &&
                 b->offset < a->offset + document_slot_size(a->kind)))
                fail_msg("%s: %s and %s", type->name, a->name, b->name);
        }
    }
}

/* except: names of fields that this kind has no use for, with spaces around each. */
static inline void document_check_tables(const struct document *d, const struct tg_type *type,
                                         const char *except)
{
    table_lies_well(type);
    for (size_t i = 0; i < type->n; i++) {
        const struct tg_field *field = &type->fields[i];
        struct tg_buf word = TG_BUF_INIT(256);

        tg_buf_printf(&word, " %s ", field->name);
        if (!document_reached(d, field) && strstr(except, tg_buf_str(&word)) == NULL)
            fail_msg("%s.%s is not reached", type->name, field->name);
        tg_buf_done(&word);
        if (field->type != NULL)
            document_check_tables(d, field->type, except);
    }
}

/* Everything in `part` stands at the same place in `whole`. */
static inline void document_assert_part(const struct tg_json *whole, const struct tg_json *part,
                                        const char *name)
{
    if (part->kind != TG_JSON_OBJECT && part->kind != TG_JSON_ARRAY) {
        if (!tg_json_equal(whole, part))
            fail_msg("%s is another value: %s", name, part->text);
        return;
    }
    assert_non_null(whole);
    assert_int_equal(whole->kind, part->kind);
    assert_true(part->kind == TG_JSON_OBJECT ? part->n <= whole->n : part->n == whole->n);
    for (size_t i = 0; i < part->n; i++) {
        bool object = part->kind == TG_JSON_OBJECT;
        const struct tg_json *item = object ? tg_json_get(whole, part->keys[i]) : whole->items[i];

        if (item == NULL)
            fail_msg("%s.%s is not in the document", name, part->keys[i]);
        document_assert_part(item, part->items[i], object ? part->keys[i] : name);
    }
}

/* What goes out again is a part of what came in, and comes in again as the same. */
static inline void document_assert_round_trip(struct document *d, const struct tg_type *type)
{
    struct tg_buf out = TG_BUF_INIT(1 << 20);
    struct tg_buf again = TG_BUF_INIT(1 << 20);
    struct tg_error err = TG_ERROR_INIT;
    struct tg_json *part = NULL;
    void *object = NULL;

    assert_int_equal(tg_json_encode(type, d->object, &out, &err), 0);
    assert_int_equal(tg_json_parse(out.data, out.len, d->arena, &part, &err), 0);
    document_assert_part(d->tree, part, type->name);
    assert_int_equal(tg_json_decode_new(type, out.data, out.len, d->arena, &object, &err), 0);
    assert_int_equal(tg_json_encode(type, object, &again, &err), 0);
    assert_string_equal(tg_buf_str(&out), tg_buf_str(&again));
    assert_null(strstr(tg_buf_str(&out), "managedFields"));
    tg_buf_done(&out);
    tg_buf_done(&again);
}

static inline void document_check(struct document *d, const struct tg_type *type,
                                  const char *except)
{
    document_walk(d, type, d->object);
    document_check_tables(d, type, except);
    document_assert_round_trip(d, type);
}

#define assert_opt_int(opt, number)                                                                \
    do {                                                                                           \
        assert_true((opt).set);                                                                    \
        assert_int_equal((opt).value, number);                                                     \
    } while (0)
#define assert_opt_bool(opt, truth)                                                                \
    do {                                                                                           \
        assert_true((opt).set);                                                                    \
        assert_int_equal((opt).value, truth);                                                      \
    } while (0)

#endif
