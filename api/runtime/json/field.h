/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Field tables: how a struct looks as JSON. One table serves decoder, encoder and schema generator.
 *
 * Representation in C of an object of type T (all memory in one arena, zeroed = everything absent):
 *   TG_FIELD_STRING   const char *              NULL = absent; strings with NUL inside are refused
 *   TG_FIELD_BOOL     struct tg_opt_bool        .set tells absent from false
 *   TG_FIELD_INT      struct tg_opt_int         int64; 1.0 and 1e3 are refused
 *   TG_FIELD_OBJECT   struct X *                NULL = absent
 *   TG_FIELD_RAW      const char *              the JSON text of the value exactly as it stood in
 * the input TG_FIELD_SCALAR_TEXT const char *           string or number, as text (IntOrString,
 * Quantity) TG_FIELD_LIST     struct tg_list            items of `item` kind laid out one after the
 * other: const char * | struct tg_opt_int | struct X (by value, not pointers) TG_FIELD_MAP struct
 * tg_list of struct tg_map_item_<kind>: {const char *key; <item>} in the order of the input; items
 * as in lists; of OBJECT: struct keyed { const char *key; struct X value; } JSON null = absent, for
 * every kind. Unknown fields are skipped, or refused by name when the type is strict.
 */
#ifndef TG_RUNTIME_JSON_FIELD_H
#define TG_RUNTIME_JSON_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tg_opt_bool {
    bool set;
    bool value;
};
struct tg_opt_int {
    bool set;
    int64_t value;
};
/* Typed views: TG_LIST_OF(struct foo) has the layout of tg_list. */
struct tg_list {
    void *items;
    size_t n;
};
#define TG_LIST_OF(type)                                                                           \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t n;                                                                                  \
    }
struct tg_string_pair { /* item of a MAP of STRING (labels) or SCALAR_TEXT (quantities) or RAW */
    const char *key;
    const char *value;
};

enum tg_field_kind {
    TG_FIELD_STRING,
    TG_FIELD_BOOL,
    TG_FIELD_INT,
    TG_FIELD_OBJECT,
    TG_FIELD_RAW,
    TG_FIELD_SCALAR_TEXT,
    TG_FIELD_LIST,
    TG_FIELD_MAP,
};

enum tg_field_flags {
    TG_FIELD_REQUIRED = 1,   /* absent is an error in strict types */
    TG_FIELD_EMIT_EMPTY = 2, /* encoder: write [] or {} or "" instead of leaving it out */
    /* For packing (pack.h). Fields without either are the same in many objects and kept once for
     * all that have them equal. */
    TG_FIELD_OWN = 4,    /* differs from object to object, or contains what does */
    TG_FIELD_COMMON = 8, /* a string: differs, but is one of few */
};

struct tg_type;

struct tg_field {
    const char *name; /* JSON key */
    enum tg_field_kind kind;
    enum tg_field_kind item; /* LIST, MAP: kind of the items */
    unsigned flags;
    size_t offset;
    const struct tg_type *type; /* OBJECT, and LIST/MAP of OBJECT */
    size_t max_items;           /* LIST, MAP: more is refused; 0 = 100,000 */
    size_t keyed_offset;        /* MAP of OBJECT: offset of value in the keyed struct */
    size_t keyed_size;          /* MAP of OBJECT: size of the keyed struct */
    const void *schema;         /* for the schema generator (api/tangram), else NULL */
};

struct tg_type {
    const char *name; /* for messages */
    size_t size;
    const struct tg_field *fields;
    size_t n;
    bool strict; /* unknown fields and absent REQUIRED fields are errors */
};

/* How the items of a LIST or MAP lie in tg_list.items. */
struct tg_field_layout {
    size_t size;  /* of one item */
    size_t value; /* offset of the value in it; the key of a MAP is at 0 */
};
struct tg_field_layout tg_field_item_layout(const struct tg_field *field);

#define TG_FIELD_STR(T, member, json)                                                              \
    {                                                                                              \
        .name = (json), .kind = TG_FIELD_STRING, .offset = offsetof(T, member)                     \
    }
#define TG_FIELD_BOOLEAN(T, member, json)                                                          \
    {                                                                                              \
        .name = (json), .kind = TG_FIELD_BOOL, .offset = offsetof(T, member)                       \
    }
#define TG_FIELD_INTEGER(T, member, json)                                                          \
    {                                                                                              \
        .name = (json), .kind = TG_FIELD_INT, .offset = offsetof(T, member)                        \
    }
#define TG_FIELD_RAWJSON(T, member, json)                                                          \
    {                                                                                              \
        .name = (json), .kind = TG_FIELD_RAW, .offset = offsetof(T, member)                        \
    }
#define TG_FIELD_TEXT(T, member, json)                                                             \
    {                                                                                              \
        .name = (json), .kind = TG_FIELD_SCALAR_TEXT, .offset = offsetof(T, member)                \
    }
#define TG_FIELD_OBJ(T, member, json, object_type)                                                 \
    {                                                                                              \
        .name = (json), .kind = TG_FIELD_OBJECT, .offset = offsetof(T, member),                    \
        .type = (object_type)                                                                      \
    }
#define TG_FIELD_STR_LIST(T, member, json)                                                         \
    {                                                                                              \
        .name = (json), .kind = TG_FIELD_LIST, .item = TG_FIELD_STRING,                            \
        .offset = offsetof(T, member)                                                              \
    }
#define TG_FIELD_OBJ_LIST(T, member, json, object_type)                                            \
    {                                                                                              \
        .name = (json), .kind = TG_FIELD_LIST, .item = TG_FIELD_OBJECT,                            \
        .offset = offsetof(T, member), .type = (object_type)                                       \
    }
#define TG_FIELD_STR_MAP(T, member, json)                                                          \
    {                                                                                              \
        .name = (json), .kind = TG_FIELD_MAP, .item = TG_FIELD_STRING,                             \
        .offset = offsetof(T, member)                                                              \
    }
#define TG_FIELD_TEXT_MAP(T, member, json)                                                         \
    {                                                                                              \
        .name = (json), .kind = TG_FIELD_MAP, .item = TG_FIELD_SCALAR_TEXT,                        \
        .offset = offsetof(T, member)                                                              \
    }
/* The same with TG_FIELD_OWN or TG_FIELD_COMMON. */
#define TG_FIELD_OWN_STR(T, member, json)                                                          \
    {                                                                                              \
        .name = (json), .kind = TG_FIELD_STRING, .offset = offsetof(T, member),                    \
        .flags = TG_FIELD_OWN                                                                      \
    }
#define TG_FIELD_COMMON_STR(T, member, json)                                                       \
    {                                                                                              \
        .name = (json), .kind = TG_FIELD_STRING, .offset = offsetof(T, member),                    \
        .flags = TG_FIELD_COMMON                                                                   \
    }
#define TG_FIELD_OWN_OBJ(T, member, json, object_type)                                             \
    {                                                                                              \
        .name = (json), .kind = TG_FIELD_OBJECT, .offset = offsetof(T, member),                    \
        .type = (object_type), .flags = TG_FIELD_OWN                                               \
    }
#define TG_FIELD_OWN_OBJ_LIST(T, member, json, object_type)                                        \
    {                                                                                              \
        .name = (json), .kind = TG_FIELD_LIST, .item = TG_FIELD_OBJECT,                            \
        .offset = offsetof(T, member), .type = (object_type), .flags = TG_FIELD_OWN                \
    }
/* Keyed: the struct declared as struct { const char *key; struct X value; } */
#define TG_FIELD_OBJ_MAP(T, member, json, Keyed, object_type)                                      \
    {                                                                                              \
        .name = (json), .kind = TG_FIELD_MAP, .item = TG_FIELD_OBJECT,                             \
        .offset = offsetof(T, member), .type = (object_type),                                      \
        .keyed_offset = offsetof(Keyed, value), .keyed_size = sizeof(Keyed)                        \
    }

#define TG_TYPE(T, fields_)                                                                        \
    {                                                                                              \
        .name = #T, .size = sizeof(T), .fields = (fields_),                                        \
        .n = sizeof(fields_) / sizeof((fields_)[0])                                                \
    }

#endif
