/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/objects/pack.h"

#include <string.h>

/* An object is its present fields, each the number of the field from 1 on and its value, and a 0.
 * Numbers are in groups of 7 bits, the lowest first. */

struct writer {
    const struct tg_pack_strings *strings;
    unsigned char *out;
    size_t n, used;
};

static void put_byte(struct writer *w, unsigned char byte)
{
    if (w->used < w->n)
        w->out[w->used] = byte;
    w->used++;
}

static void put_number(struct writer *w, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        put_byte(w, (unsigned char)(number | 0x80));
    put_byte(w, (unsigned char)number);
}

static const char *text_at(const char *slot)
{
    const char *text;

    memcpy(&text, slot, sizeof(text));
    return text;
}

static void put_string(struct writer *w, const char *s)
{
    size_t n = 0;

    if (s != NULL && w->strings != NULL) {
        put_number(w, w->strings->put(w->strings->data, s));
        return;
    }
    n = s == NULL ? 0 : strlen(s) + 1;
    put_number(w, n);
    for (size_t i = 0; i + 1 < n; i++)
        put_byte(w, (unsigned char)s[i]);
}

static struct tg_list list_at(const char *slot)
{
    struct tg_list list;

    memcpy(&list, slot, sizeof(list));
    return list;
}

static bool is_present(const struct tg_field *field, const char *slot)
{
    switch (field->kind) {
    case TG_FIELD_BOOL:
        return ((const struct tg_opt_bool *)(const void *)slot)->set;
    case TG_FIELD_INT:
        return ((const struct tg_opt_int *)(const void *)slot)->set;
    case TG_FIELD_LIST:
    case TG_FIELD_MAP:
        return list_at(slot).n > 0;
    case TG_FIELD_STRING:
    case TG_FIELD_OBJECT:
    case TG_FIELD_RAW:
    case TG_FIELD_SCALAR_TEXT:
        break;
    }
    return text_at(slot) != NULL;
}

static void put_object(struct writer *w, const struct tg_type *type, const char *object);

/* A value that is no list or map. Objects are given by address of the struct. */
static void put_single(struct writer *w, enum tg_field_kind kind, const struct tg_type *type,
                       const char *slot)
{
    const struct tg_opt_bool *flag = (const void *)slot;
    const struct tg_opt_int *number = (const void *)slot;

    if (kind == TG_FIELD_OBJECT) {
        put_object(w, type, slot);
    } else if (kind == TG_FIELD_BOOL) {
        put_byte(w, (unsigned char)(flag->set ? 1 + flag->value : 0));
    } else if (kind == TG_FIELD_INT) {
        put_byte(w, number->set ? 1 : 0);
        put_number(w, number->set ? (uint64_t)number->value : 0);
    } else {
        put_string(w, text_at(slot));
    }
}

static void put_items(struct writer *w, const struct tg_field *field, const char *slot)
{
    struct tg_field_layout layout = tg_field_item_layout(field);
    struct tg_list list = list_at(slot);

    put_number(w, list.n);
    for (size_t i = 0; i < list.n; i++) {
        const char *item = (const char *)list.items + i * layout.size;

        if (field->kind == TG_FIELD_MAP)
            put_string(w, text_at(item));
        put_single(w, field->item, field->type, item + layout.value);
    }
}

static void put_object(struct writer *w, const struct tg_type *type, const char *object)
{
    for (size_t i = 0; i < type->n; i++) {
        const struct tg_field *field = &type->fields[i];
        const char *slot = object + field->offset;

        if (!is_present(field, slot))
            continue;
        put_number(w, i + 1);
        if (field->kind == TG_FIELD_LIST || field->kind == TG_FIELD_MAP)
            put_items(w, field, slot);
        else
            put_single(w, field->kind, field->type,
                       field->kind == TG_FIELD_OBJECT ? text_at(slot) : slot);
    }
    put_byte(w, 0);
}

size_t tg_pack(const struct tg_type *type, const void *object,
               const struct tg_pack_strings *strings, unsigned char *out, size_t n)
{
    struct writer w = {.strings = strings, .out = out, .n = n};

    put_object(&w, type, object);
    return w.used;
}

/* arena NULL: only visits the strings. */
struct reader {
    const struct tg_pack_strings *strings;
    const unsigned char *at;
    struct tg_arena *arena;
    void (*visit)(void *data, uint32_t number);
    void *data;
    bool failed;
};

static uint64_t get_number(struct reader *r)
{
    uint64_t number = 0;
    unsigned shift = 0;

    for (; (*r->at & 0x80) != 0; r->at++, shift += 7)
        number |= (uint64_t)(*r->at & 0x7f) << shift;
    return number | (uint64_t)*r->at++ << shift;
}

static void set_pointer(char *slot, const void *pointer)
{
    if (slot != NULL)
        memcpy(slot, &pointer, sizeof(pointer));
}

static void get_string(struct reader *r, char *slot)
{
    uint64_t number = get_number(r);

    if (number == 0)
        return;
    if (r->visit != NULL) {
        r->visit(r->data, (uint32_t)number);
    } else if (r->strings != NULL) {
        set_pointer(slot, r->strings->get(r->strings->data, (uint32_t)number));
    } else {
        char *copy = tg_arena_strndup(r->arena, (const char *)r->at, (size_t)number - 1);

        r->failed = r->failed || copy == NULL;
        set_pointer(slot, copy);
        r->at += number - 1;
    }
}

/* Zeroed room for n; NULL when there is none or when none is wanted. */
static char *room(struct reader *r, size_t n, size_t size)
{
    char *p = r->arena == NULL ? NULL : tg_arena_alloc_array(r->arena, n, size);

    r->failed = r->failed || (p == NULL && r->arena != NULL);
    return p;
}

static void get_object(struct reader *r, const struct tg_type *type, char *object);

static void get_single(struct reader *r, enum tg_field_kind kind, const struct tg_type *type,
                       char *slot)
{
    if (kind == TG_FIELD_OBJECT) {
        get_object(r, type, slot);
    } else if (kind == TG_FIELD_BOOL) {
        unsigned char byte = *r->at++;

        if (slot != NULL)
            *(struct tg_opt_bool *)(void *)slot =
                (struct tg_opt_bool){.set = byte != 0, .value = byte == 2};
    } else if (kind == TG_FIELD_INT) {
        bool set = *r->at++ != 0;
        int64_t value = (int64_t)get_number(r);

        if (slot != NULL)
            *(struct tg_opt_int *)(void *)slot = (struct tg_opt_int){.set = set, .value = value};
    } else {
        get_string(r, slot);
    }
}

static void get_items(struct reader *r, const struct tg_field *field, char *slot)
{
    struct tg_field_layout layout = tg_field_item_layout(field);
    struct tg_list list = {.n = (size_t)get_number(r)};

    list.items = room(r, list.n, layout.size);
    for (size_t i = 0; i < list.n && !r->failed; i++) {
        char *item = list.items == NULL ? NULL : (char *)list.items + i * layout.size;

        if (field->kind == TG_FIELD_MAP)
            get_string(r, item);
        get_single(r, field->item, field->type, item == NULL ? NULL : item + layout.value);
    }
    if (slot != NULL)
        memcpy(slot, &list, sizeof(list));
}

static void get_object(struct reader *r, const struct tg_type *type, char *object)
{
    for (uint64_t i = get_number(r); i != 0 && !r->failed; i = get_number(r)) {
        const struct tg_field *field = &type->fields[i - 1];
        char *slot = object == NULL ? NULL : object + field->offset;

        if (field->kind == TG_FIELD_LIST || field->kind == TG_FIELD_MAP) {
            get_items(r, field, slot);
        } else if (field->kind == TG_FIELD_OBJECT) {
            char *inner = room(r, 1, field->type->size);

            set_pointer(slot, inner);
            get_object(r, field->type, inner);
        } else {
            get_single(r, field->kind, field->type, slot);
        }
    }
}

int tg_unpack_into(const struct tg_type *type, const unsigned char *bytes,
                   const struct tg_pack_strings *strings, struct tg_arena *arena, void *ret)
{
    struct reader r = {.strings = strings, .at = bytes, .arena = arena};

    memset(ret, 0, type->size);
    get_object(&r, type, ret);
    return r.failed ? -1 : 0;
}

void *tg_unpack(const struct tg_type *type, const unsigned char *bytes,
                const struct tg_pack_strings *strings, struct tg_arena *arena)
{
    void *object = tg_arena_alloc(arena, type->size);

    if (object == NULL || tg_unpack_into(type, bytes, strings, arena, object) < 0)
        return NULL;
    return object;
}

void tg_pack_each_string(const struct tg_type *type, const unsigned char *bytes,
                         void (*visit)(void *data, uint32_t number), void *data)
{
    struct reader r = {.at = bytes, .visit = visit, .data = data};

    get_object(&r, type, NULL);
}
