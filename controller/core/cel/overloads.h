/* SPDX-License-Identifier: Apache-2.0 */
/* Short forms in which overloads_*.c write their tables. Included nowhere else. */
#ifndef TG_CORE_CEL_OVERLOADS_H
#define TG_CORE_CEL_OVERLOADS_H

#include "api/runtime/base/cleanup.h"
#include "controller/core/cel/calls.h"
#include "controller/core/cel/function.h"

#define DYN &tg_cel_type_dyn
#define NUL &tg_cel_type_null
#define BOOL &tg_cel_type_bool
#define INT &tg_cel_type_int
#define UINT &tg_cel_type_uint
#define DOUBLE &tg_cel_type_double
#define STRING &tg_cel_type_string
#define BYTES &tg_cel_type_bytes
#define TIME &tg_cel_type_timestamp
#define DURATION &tg_cel_type_duration
#define QUANTITY &tg_cel_type_quantity
#define SEMVER &tg_cel_type_semver
#define URL &tg_cel_type_url
#define IP &tg_cel_type_ip
#define CIDR &tg_cel_type_cidr
#define FORMAT &tg_cel_type_format

#define COUNT(...) (sizeof((const struct tg_cel_type *const[]){__VA_ARGS__}) / sizeof(void *))
/* id, library, cost, C function, result, arguments. Not one macro for both: a name that is pasted
 * must not be expanded before. */
#define GLOBAL(id_, library_, cost_, call_, result_, ...)                                          \
    {                                                                                              \
        .id = (id_), .member = false, .n_args = COUNT(__VA_ARGS__),                                \
        .library = TG_CEL_LIB_##library_, .cost = TG_CEL_COST_##cost_, .result = (result_),        \
        .args = {__VA_ARGS__}, .call = (call_)                                                     \
    }
#define MEMBER(id_, library_, cost_, call_, result_, ...)                                          \
    {                                                                                              \
        .id = (id_), .member = true, .n_args = COUNT(__VA_ARGS__),                                 \
        .library = TG_CEL_LIB_##library_, .cost = TG_CEL_COST_##cost_, .result = (result_),        \
        .args = {__VA_ARGS__}, .call = (call_)                                                     \
    }
#define NO_ARGS(id_, library_, cost_, call_, result_)                                              \
    {                                                                                              \
        .id = (id_), .library = TG_CEL_LIB_##library_, .cost = TG_CEL_COST_##cost_,                \
        .result = (result_), .call = (call_)                                                       \
    }

#define PARAMETER(id, text)                                                                        \
    static const struct tg_cel_type id = {.kind = TG_CEL_PARAM, .name = (text)}
#define LIST_OF(id, of)                                                                            \
    static const struct tg_cel_type id = {                                                         \
        .kind = TG_CEL_LIST, .n_params = 1, .name = "list", .params = {of}}
#define MAP_OF(id, key, value)                                                                     \
    static const struct tg_cel_type id = {                                                         \
        .kind = TG_CEL_MAP, .n_params = 2, .name = "map", .params = {key, value}}
#define OPTIONAL_OF(id, of)                                                                        \
    static const struct tg_cel_type id = {                                                         \
        .kind = TG_CEL_OPTIONAL, .n_params = 1, .name = "optional_type", .params = {of}}

#define FUNCTION(name_, table)                                                                     \
    {                                                                                              \
        .name = (name_), .overloads = (table), .n = TG_ARRAY_SIZE(table)                           \
    }
#define OPERATOR(name_, op_, table)                                                                \
    {                                                                                              \
        .name = (name_), .op = TG_CEL_OP_##op_, .overloads = (table), .n = TG_ARRAY_SIZE(table)    \
    }

#endif
