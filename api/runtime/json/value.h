/* SPDX-License-Identifier: Apache-2.0 */
/* Free-form JSON as a tree in an arena. Objects keep the order of their keys. Numbers keep their
 * text. */
#ifndef TG_RUNTIME_JSON_VALUE_H
#define TG_RUNTIME_JSON_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/base/buf.h"
#include "api/runtime/base/error.h"

enum tg_json_kind {
    TG_JSON_NULL,
    TG_JSON_BOOL,
    TG_JSON_NUMBER,
    TG_JSON_STRING,
    TG_JSON_ARRAY,
    TG_JSON_OBJECT
};

struct tg_json {
    enum tg_json_kind kind;
    bool boolean;
    const char *text; /* string (NUL-terminated, no NUL inside) or number as written */
    size_t n;         /* children of an array or object */
    struct tg_json **items;
    const char **keys; /* of an object */
    int line, column;  /* where it stood (YAML input), 0 if unknown */
};

/* Parses exactly one value. Refused, with the JSON path in err: depth > 64, duplicate keys, bad
 * UTF-8, comments, NUL in strings, trailing bytes, budget of the arena exhausted
 * (TG_RESOURCE_EXHAUSTED). */
int tg_json_parse(const char *data, size_t n, struct tg_arena *arena, struct tg_json **ret,
                  struct tg_error *err);

/* Member of an object; NULL if v is NULL, no object, or has no such key. */
const struct tg_json *tg_json_get(const struct tg_json *v, const char *key);
/* Text of a string value; NULL for anything else. */
const char *tg_json_string(const struct tg_json *v);
/* 0 if v is an integer that fits (1e3 and 1.0 are refused), else -1. */
int tg_json_i64(const struct tg_json *v, int64_t *ret);
/* Compact JSON, keys in their order. Returns 0 or -1 (buffer full). */
int tg_json_write(const struct tg_json *v, struct tg_buf *out);
/* The same value, keys in any order, numbers compared as text. */
bool tg_json_equal(const struct tg_json *a, const struct tg_json *b);

#endif
