/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static types of CEL. Simple types are constants below; lists, maps and optionals are made in an
 * arena. A PARAM is a type variable of an overload ("A", "B") or one that the checker has to find.
 */
#ifndef TG_CORE_CEL_TYPE_H
#define TG_CORE_CEL_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/arena.h"

enum tg_cel_kind {
    TG_CEL_DYN,
    TG_CEL_ANY, /* as DYN, but no range of a comprehension */
    TG_CEL_ERROR,
    TG_CEL_NULL,
    TG_CEL_BOOL,
    TG_CEL_INT,
    TG_CEL_UINT,
    TG_CEL_DOUBLE,
    TG_CEL_STRING,
    TG_CEL_BYTES,
    TG_CEL_TIMESTAMP,
    TG_CEL_DURATION,
    TG_CEL_LIST,
    TG_CEL_MAP,
    TG_CEL_TYPE,
    TG_CEL_OPTIONAL,
    TG_CEL_OBJECT, /* with fields or none: kubernetes.Quantity, kubernetes.DRADevice */
    TG_CEL_OPAQUE, /* net.IP, net.CIDR */
    TG_CEL_PARAM,
};

struct tg_cel_type {
    enum tg_cel_kind kind;
    unsigned n_params;
    const char *name; /* as type() prints it; PARAM: of the variable */
    const struct tg_cel_type *params[2];
    unsigned variable; /* PARAM made by the checker: its number; 0 = of an overload */
};

extern const struct tg_cel_type tg_cel_type_dyn, tg_cel_type_any, tg_cel_type_error,
    tg_cel_type_null, tg_cel_type_bool, tg_cel_type_int, tg_cel_type_uint, tg_cel_type_double,
    tg_cel_type_string, tg_cel_type_bytes, tg_cel_type_timestamp, tg_cel_type_duration,
    tg_cel_type_list, tg_cel_type_map, tg_cel_type_type, tg_cel_type_optional, tg_cel_type_quantity,
    tg_cel_type_semver, tg_cel_type_url, tg_cel_type_format, tg_cel_type_ip, tg_cel_type_cidr,
    tg_cel_type_device;

/* NULL: the arena is exhausted. b is NULL but for maps. */
const struct tg_cel_type *tg_cel_type_new(struct tg_arena *arena, enum tg_cel_kind kind,
                                          const struct tg_cel_type *a, const struct tg_cel_type *b);
/* The same type, parameters and variables included. */
bool tg_cel_type_same(const struct tg_cel_type *a, const struct tg_cel_type *b);
/* "map(string, list(int))", cut to fit n bytes; returns out. */
const char *tg_cel_type_text(const struct tg_cel_type *type, char *out, size_t n);
/* The type that an identifier names ("int", "google.protobuf.Timestamp", "net.IP"), or NULL. */
const struct tg_cel_type *tg_cel_type_named(const char *name);

static inline bool tg_cel_type_is_dyn(const struct tg_cel_type *t)
{
    return t->kind == TG_CEL_DYN || t->kind == TG_CEL_ANY;
}

#endif
