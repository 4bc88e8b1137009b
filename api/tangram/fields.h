/* SPDX-License-Identifier: Apache-2.0 */
/* Field tables with schema, shorter to write. Only for the tables of this folder. */
#ifndef TG_TANGRAM_FIELDS_H
#define TG_TANGRAM_FIELDS_H

#include "api/runtime/json/field.h"
#include "api/tangram/schema.h"

/* The rest of each row is DOC(...), and REQUIRED where it applies. */
#define DOC(...)                                                                                   \
    .schema = &(const struct tg_schema)                                                            \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define REQUIRED .flags = TG_FIELD_REQUIRED

#define SCALAR(T, member, json, kind_, ...)                                                        \
    {                                                                                              \
        .name = (json), .kind = (kind_), .offset = offsetof(T, member), __VA_ARGS__                \
    }
#define STRING(T, member, json, ...) SCALAR(T, member, json, TG_FIELD_STRING, __VA_ARGS__)
#define INTEGER(T, member, json, ...) SCALAR(T, member, json, TG_FIELD_INT, __VA_ARGS__)
#define BOOLEAN(T, member, json, ...) SCALAR(T, member, json, TG_FIELD_BOOL, __VA_ARGS__)
#define FREE_FORM(T, member, json, ...) SCALAR(T, member, json, TG_FIELD_RAW, __VA_ARGS__)
#define OBJECT(T, member, json, object_type, ...)                                                  \
    {                                                                                              \
        .name = (json), .kind = TG_FIELD_OBJECT, .offset = offsetof(T, member),                    \
        .type = (object_type), __VA_ARGS__                                                         \
    }
#define OBJECTS(T, member, json, object_type, max, ...)                                            \
    {                                                                                              \
        .name = (json), .kind = TG_FIELD_LIST, .item = TG_FIELD_OBJECT,                            \
        .offset = offsetof(T, member), .type = (object_type), .max_items = (max), __VA_ARGS__      \
    }
#define STRINGS(T, member, json, max, ...)                                                         \
    {                                                                                              \
        .name = (json), .kind = TG_FIELD_LIST, .item = TG_FIELD_STRING,                            \
        .offset = offsetof(T, member), .max_items = (max), __VA_ARGS__                             \
    }

#endif
