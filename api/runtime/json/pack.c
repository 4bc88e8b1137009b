/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object is a bit set of the fields that are there and then their values, in the order of the
 * table. Of an object that has bytes of its own, the bit set names its flagged fields only, and the
 * number of the rest in the pool follows (0: no rest). Inside the rest nothing refers to the pool.
 */
#include "api/runtime/json/pack.h"

#include <assert.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"

/* Which fields of an object are meant. */
enum part { PART_OWN, PART_REST, PART_WHOLE };

enum { OWN_FLAGS = TG_FIELD_OWN | TG_FIELD_COMMON, MAX_REST = 1 << 30, UID_LENGTH = 36 };

/* How the text of a string is written; LITERAL + n: n bytes follow. */
enum text { TEXT_UID, TEXT_TIME, TEXT_LITERAL };

static bool is_meant(const struct tg_field *field, enum part part)
{
    return part == PART_WHOLE || ((field->flags & OWN_FLAGS) != 0) == (part == PART_OWN);
}

/* --- texts of a known shape --- */

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "01234567-89ab-cdef-0123-456789abcdef": 16 bytes. */
static bool pack_uid(const char *s, size_t n, unsigned char out[16])
{
    size_t digits = 0;

    if (n != UID_LENGTH)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (i == 8 || i == 13 || i == 18 || i == 23) {
            if (s[i] != '-')
                return false;
            continue;
        }
        if (hex_value(s[i]) < 0)
            return false;
        if (digits % 2 == 0)
            out[digits / 2] = (unsigned char)(hex_value(s[i]) << 4);
        else
            out[digits / 2] |= (unsigned char)hex_value(s[i]);
        digits++;
    }
    return true;
}

static void unpack_uid(const unsigned char in[16], char out[UID_LENGTH])
{
    static const char digits[] = "0123456789abcdef";
    size_t at = 0;

    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[at++] = '-';
        out[at++] = digits[in[i] >> 4];
        out[at++] = digits[in[i] & 15];
    }
}

/* "2026-11-30T07:37:10Z": its 14 digits in 7 bytes. */
static const char time_shape[] = "0000-00-00T00:00:00Z";
enum { TIME_LENGTH = sizeof(time_shape) - 1 };

static bool pack_time(const char *s, size_t n, unsigned char out[7])
{
    size_t digits = 0;

    if (n != TIME_LENGTH)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (time_shape[i] != '0') {
            if (s[i] != time_shape[i])
                return false;
            continue;
        }
        if (s[i] < '0' || s[i] > '9')
            return false;
        if (digits % 2 == 0)
            out[digits / 2] = (unsigned char)((s[i] - '0') << 4);
        else
            out[digits / 2] |= (unsigned char)(s[i] - '0');
        digits++;
    }
    return true;
}

static void unpack_time(const unsigned char in[7], char out[TIME_LENGTH])
{
    size_t digits = 0;

    for (size_t i = 0; i < TIME_LENGTH; i++) {
        out[i] = time_shape[i];
        if (time_shape[i] != '0')
            continue;
        out[i] = (char)('0' + (digits % 2 == 0 ? in[digits / 2] >> 4 : in[digits / 2] & 15));
        digits++;
    }
}

/* --- packing --- */

static void put_number(struct tg_buf *out, uint64_t value)
{
    while (value >= 128) {
        tg_buf_append_char(out, (char)(unsigned char)(value | 128));
        value >>= 7;
    }
    tg_buf_append_char(out, (char)(unsigned char)value);
}

static void put_text(struct tg_buf *out, const char *s)
{
    unsigned char bytes[16];
    size_t n = strlen(s);

    if (pack_uid(s, n, bytes)) {
        put_number(out, TEXT_UID);
        tg_buf_append(out, bytes, 16);
    } else if (pack_time(s, n, bytes)) {
        put_number(out, TEXT_TIME);
        tg_buf_append(out, bytes, 7);
    } else {
        put_number(out, TEXT_LITERAL + n);
        tg_buf_append(out, s, n);
    }
}

static const char *pointer_at(const char *slot)
{
    const char *pointer;

    memcpy(&pointer, slot, sizeof(pointer));
    return pointer;
}

static bool is_there(const struct tg_field *field, const char *slot)
{
    switch (field->kind) {
    case TG_FIELD_BOOL:
        return ((const struct tg_opt_bool *)(const void *)slot)->set;
    case TG_FIELD_INT:
        return ((const struct tg_opt_int *)(const void *)slot)->set;
    case TG_FIELD_LIST:
    case TG_FIELD_MAP:
        return ((const struct tg_list *)(const void *)slot)->items != NULL;
    case TG_FIELD_STRING:
    case TG_FIELD_RAW:
    case TG_FIELD_SCALAR_TEXT:
    case TG_FIELD_OBJECT:
        break;
    }
    return pointer_at(slot) != NULL;
}

static void put_object(const struct tg_type *type, const char *object, enum part part,
                       struct tg_pool *pool, struct tg_buf *out);

/* An object that has bytes of its own, and the rest of it. */
static void put_own_object(const struct tg_type *type, const char *object, struct tg_pool *pool,
                           struct tg_buf *out)
{
    TG_AUTOBUF struct tg_buf rest = TG_BUF_INIT(MAX_REST);

    put_object(type, object, PART_OWN, pool, out);
    put_object(type, object, PART_REST, NULL, &rest);
    assert(!rest.failed);
    /* One byte is an empty bit set. */
    put_number(out, rest.len == 1 ? 0 : tg_pool_take(pool, rest.data, rest.len));
}

static void put_scalar(enum tg_field_kind kind, const char *slot, struct tg_buf *out)
{
    if (kind == TG_FIELD_BOOL) {
        tg_buf_append_char(out, ((const struct tg_opt_bool *)(const void *)slot)->value ? 1 : 0);
    } else if (kind == TG_FIELD_INT) {
        int64_t value = ((const struct tg_opt_int *)(const void *)slot)->value;

        put_number(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
    } else {
        put_text(out, pointer_at(slot));
    }
}

static void put_items(const struct tg_field *field, const char *slot, enum part part,
                      struct tg_pool *pool, struct tg_buf *out)
{
    const struct tg_list *list = (const struct tg_list *)(const void *)slot;
    struct tg_field_layout layout = tg_field_item_layout(field);

    put_number(out, list->n);
    for (size_t i = 0; i < list->n; i++) {
        const char *item = (const char *)list->items + i * layout.size;

        if (field->kind == TG_FIELD_MAP)
            put_text(out, pointer_at(item));
        if (field->item != TG_FIELD_OBJECT)
            put_scalar(field->item, item + layout.value, out);
        else if (part == PART_OWN)
            put_own_object(field->type, item + layout.value, pool, out);
        else
            put_object(field->type, item + layout.value, PART_WHOLE, NULL, out);
    }
}

static void put_value(const struct tg_field *field, const char *slot, enum part part,
                      struct tg_pool *pool, struct tg_buf *out)
{
    const char *text;

    if (field->kind == TG_FIELD_LIST || field->kind == TG_FIELD_MAP) {
        put_items(field, slot, part, pool, out);
    } else if (field->kind == TG_FIELD_OBJECT && part == PART_OWN) {
        put_own_object(field->type, pointer_at(slot), pool, out);
    } else if (field->kind == TG_FIELD_OBJECT) {
        put_object(field->type, pointer_at(slot), PART_WHOLE, NULL, out);
    } else if (part == PART_OWN && (field->flags & TG_FIELD_COMMON) != 0) {
        text = pointer_at(slot);
        put_number(out, tg_pool_take(pool, text, strlen(text)));
    } else {
        put_scalar(field->kind, slot, out);
    }
}

static void put_object(const struct tg_type *type, const char *object, enum part part,
                       struct tg_pool *pool, struct tg_buf *out)
{
    uint64_t there = 0;
    unsigned bit = 0;

    /* Numbered among those that are meant, so that the set is small. */
    for (size_t i = 0; i < type->n; i++) {
        const struct tg_field *field = &type->fields[i];
        if (is_meant(field, part))
            there |= (uint64_t)is_there(field, object + field->offset) << bit++;
    }
    put_number(out, there);
    bit = 0;
    for (size_t i = 0; i < type->n; i++) {
        const struct tg_field *field = &type->fields[i];
        if (is_meant(field, part) && (there >> bit++ & 1) != 0)
            put_value(field, object + field->offset, part, pool, out);
    }
}

/* --- unpacking, and giving back --- */

struct reader {
    const unsigned char *at;
    struct tg_arena *arena;     /* NULL: nothing is made */
    const struct tg_pool *pool; /* NULL in a rest */
    struct tg_pool *release;    /* what is found is given back to it; NULL: nothing is */
    bool failed;                /* the arena is exhausted */
};

static uint64_t get_number(struct reader *r)
{
    uint64_t value = 0;

    for (unsigned shift = 0;; shift += 7) {
        unsigned char byte = *r->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return value;
    }
}

/* Room for n bytes in the arena; NULL if nothing is made, or none is left (told in failed). */
static void *make(struct reader *r, size_t count, size_t size)
{
    void *p;

    if (r->arena == NULL || r->failed)
        return NULL;
    p = tg_arena_alloc_array(r->arena, count, size);
    r->failed = p == NULL;
    return p;
}

static void set_pointer(char *slot, const void *pointer)
{
    if (slot != NULL)
        memcpy(slot, &pointer, sizeof(pointer));
}

static void get_text(struct reader *r, char *slot)
{
    uint64_t code = get_number(r);
    size_t n = code == TEXT_UID    ? UID_LENGTH
               : code == TEXT_TIME ? TIME_LENGTH
                                   : code - TEXT_LITERAL;
    char *text = slot == NULL ? NULL : make(r, n + 1, 1);

    if (code == TEXT_UID) {
        if (text != NULL)
            unpack_uid(r->at, text);
        r->at += 16;
    } else if (code == TEXT_TIME) {
        if (text != NULL)
            unpack_time(r->at, text);
        r->at += 7;
    } else {
        if (text != NULL)
            memcpy(text, r->at, n);
        r->at += n;
    }
    set_pointer(slot, text);
}

/* A string that is in the pool as a whole. */
static void get_common(struct reader *r, char *slot)
{
    uint32_t number = (uint32_t)get_number(r);
    size_t n;
    const void *bytes;
    char *text;

    if (slot != NULL) {
        bytes = tg_pool_get(r->pool, number, &n);
        text = make(r, n + 1, 1);
        if (text != NULL)
            memcpy(text, bytes, n);
        set_pointer(slot, text);
    }
    if (r->release != NULL)
        tg_pool_release(r->release, number);
}

static void get_object(struct reader *r, const struct tg_type *type, char *object, enum part part);

/* object NULL: nothing is made. */
static void get_own_object(struct reader *r, const struct tg_type *type, char *object)
{
    uint32_t number;
    size_t n;

    get_object(r, type, object, PART_OWN);
    number = (uint32_t)get_number(r);
    if (object != NULL && number != 0 && !r->failed) {
        struct reader rest = {.at = tg_pool_get(r->pool, number, &n), .arena = r->arena};

        get_object(&rest, type, object, PART_REST);
        r->failed = rest.failed;
    }
    if (r->release != NULL)
        tg_pool_release(r->release, number);
}

static void get_scalar(struct reader *r, enum tg_field_kind kind, char *slot)
{
    if (kind == TG_FIELD_BOOL) {
        struct tg_opt_bool value = {.set = true, .value = *r->at++ != 0};

        if (slot != NULL)
            memcpy(slot, &value, sizeof(value));
    } else if (kind == TG_FIELD_INT) {
        uint64_t bits = get_number(r);
        struct tg_opt_int value = {.set = true, .value = (int64_t)(bits >> 1 ^ (0 - (bits & 1)))};

        if (slot != NULL)
            memcpy(slot, &value, sizeof(value));
    } else {
        get_text(r, slot);
    }
}

static void get_items(struct reader *r, const struct tg_field *field, char *slot, enum part part)
{
    struct tg_field_layout layout = tg_field_item_layout(field);
    size_t n = get_number(r);
    char *items = slot == NULL ? NULL : make(r, n, layout.size);
    struct tg_list list = {.items = items, .n = items == NULL ? 0 : n};

    for (size_t i = 0; i < n; i++) {
        char *item = items == NULL ? NULL : items + i * layout.size;
        char *value = item == NULL ? NULL : item + layout.value;

        if (field->kind == TG_FIELD_MAP)
            get_text(r, item);
        if (field->item != TG_FIELD_OBJECT)
            get_scalar(r, field->item, value);
        else if (part == PART_OWN)
            get_own_object(r, field->type, value);
        else
            get_object(r, field->type, value, PART_WHOLE);
    }
    if (slot != NULL)
        memcpy(slot, &list, sizeof(list));
}

static void get_value(struct reader *r, const struct tg_field *field, char *slot, enum part part)
{
    char *object;

    if (field->kind == TG_FIELD_LIST || field->kind == TG_FIELD_MAP) {
        get_items(r, field, slot, part);
    } else if (field->kind == TG_FIELD_OBJECT) {
        object = slot == NULL ? NULL : make(r, 1, field->type->size);
        set_pointer(slot, object);
        if (part == PART_OWN)
            get_own_object(r, field->type, object);
        else
            get_object(r, field->type, object, PART_WHOLE);
    } else if (part == PART_OWN && (field->flags & TG_FIELD_COMMON) != 0) {
        get_common(r, slot);
    } else {
        get_scalar(r, field->kind, slot);
    }
}

static void get_object(struct reader *r, const struct tg_type *type, char *object, enum part part)
{
    uint64_t there = get_number(r);
    unsigned bit = 0;

    for (size_t i = 0; i < type->n; i++) {
        const struct tg_field *field = &type->fields[i];
        if (is_meant(field, part) && (there >> bit++ & 1) != 0)
            get_value(r, field, object == NULL ? NULL : object + field->offset, part);
    }
}

void tg_json_pack(const struct tg_type *type, const void *object, struct tg_pool *pool,
                  struct tg_buf *out)
{
    put_own_object(type, object, pool, out);
    assert(!out->failed);
}

int tg_json_unpack(const struct tg_type *type, const void *bytes, const struct tg_pool *pool,
                   struct tg_arena *arena, void *target)
{
    struct reader r = {.at = bytes, .arena = arena, .pool = pool};

    get_own_object(&r, type, target);
    return r.failed ? -1 : 0;
}

void tg_json_pack_release(const struct tg_type *type, const void *bytes, struct tg_pool *pool)
{
    struct reader r = {.at = bytes, .pool = pool, .release = pool};

    get_own_object(&r, type, NULL);
}
