/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/overloads.h"

PARAMETER(a, "A");
PARAMETER(b, "B");
LIST_OF(list_a, &a);
MAP_OF(map_ab, &a, &b);
OPTIONAL_OF(optional_a, &a);
OPTIONAL_OF(optional_b, &b);
OPTIONAL_OF(optional_list_a, &list_a);
OPTIONAL_OF(optional_map_ab, &map_ab);

static const struct tg_cel_overload logical_not[] = {
    GLOBAL("logical_not", STANDARD, ONE, tg_cel_call_not, BOOL, BOOL),
};
static const struct tg_cel_overload not_equals[] = {
    GLOBAL("not_equals", STANDARD, EQUALITY, NULL, BOOL, &a, &a),
};
static const struct tg_cel_overload modulo[] = {
    GLOBAL("modulo_int64", STANDARD, ONE, tg_cel_call_modulo, INT, INT, INT),
    GLOBAL("modulo_uint64", STANDARD, ONE, tg_cel_call_modulo, UINT, UINT, UINT),
};
static const struct tg_cel_overload logical_and[] = {
    GLOBAL("logical_and", STANDARD, LOGIC, NULL, BOOL, BOOL, BOOL),
};
static const struct tg_cel_overload multiply[] = {
    GLOBAL("multiply_double", STANDARD, ONE, tg_cel_call_multiply, DOUBLE, DOUBLE, DOUBLE),
    GLOBAL("multiply_int64", STANDARD, ONE, tg_cel_call_multiply, INT, INT, INT),
    GLOBAL("multiply_uint64", STANDARD, ONE, tg_cel_call_multiply, UINT, UINT, UINT),
};
static const struct tg_cel_overload add[] = {
    GLOBAL("add_bytes", STANDARD, JOIN_TEXT, tg_cel_call_add, BYTES, BYTES, BYTES),
    GLOBAL("add_double", STANDARD, ONE, tg_cel_call_add, DOUBLE, DOUBLE, DOUBLE),
    GLOBAL("add_duration_duration", STANDARD, ONE, tg_cel_call_add, DURATION, DURATION, DURATION),
    GLOBAL("add_duration_timestamp", STANDARD, ONE, tg_cel_call_add, TIME, DURATION, TIME),
    GLOBAL("add_timestamp_duration", STANDARD, ONE, tg_cel_call_add, TIME, TIME, DURATION),
    GLOBAL("add_int64", STANDARD, ONE, tg_cel_call_add, INT, INT, INT),
    GLOBAL("add_list", STANDARD, JOIN_LISTS, tg_cel_call_add, &list_a, &list_a, &list_a),
    GLOBAL("add_string", STANDARD, JOIN_TEXT, tg_cel_call_add, STRING, STRING, STRING),
    GLOBAL("add_uint64", STANDARD, ONE, tg_cel_call_add, UINT, UINT, UINT),
};
static const struct tg_cel_overload subtract[] = {
    GLOBAL("subtract_double", STANDARD, ONE, tg_cel_call_subtract, DOUBLE, DOUBLE, DOUBLE),
    GLOBAL("subtract_duration_duration", STANDARD, ONE, tg_cel_call_subtract, DURATION, DURATION,
           DURATION),
    GLOBAL("subtract_int64", STANDARD, ONE, tg_cel_call_subtract, INT, INT, INT),
    GLOBAL("subtract_timestamp_duration", STANDARD, ONE, tg_cel_call_subtract, TIME, TIME,
           DURATION),
    GLOBAL("subtract_timestamp_timestamp", STANDARD, ONE, tg_cel_call_subtract, DURATION, TIME,
           TIME),
    GLOBAL("subtract_uint64", STANDARD, ONE, tg_cel_call_subtract, UINT, UINT, UINT),
};
static const struct tg_cel_overload divide[] = {
    GLOBAL("divide_double", STANDARD, ONE, tg_cel_call_divide, DOUBLE, DOUBLE, DOUBLE),
    GLOBAL("divide_int64", STANDARD, ONE, tg_cel_call_divide, INT, INT, INT),
    GLOBAL("divide_uint64", STANDARD, ONE, tg_cel_call_divide, UINT, UINT, UINT),
};

/* The comparisons of one relation. */
#define ORDER(relation, call)                                                                      \
    GLOBAL(relation "_bool", STANDARD, ONE, call, BOOL, BOOL, BOOL),                               \
        GLOBAL(relation "_int64", STANDARD, ONE, call, BOOL, INT, INT),                            \
        GLOBAL(relation "_int64_double", CROSS_TYPE, ONE, call, BOOL, INT, DOUBLE),                \
        GLOBAL(relation "_int64_uint64", CROSS_TYPE, ONE, call, BOOL, INT, UINT),                  \
        GLOBAL(relation "_uint64", STANDARD, ONE, call, BOOL, UINT, UINT),                         \
        GLOBAL(relation "_uint64_double", CROSS_TYPE, ONE, call, BOOL, UINT, DOUBLE),              \
        GLOBAL(relation "_uint64_int64", CROSS_TYPE, ONE, call, BOOL, UINT, INT),                  \
        GLOBAL(relation "_double", STANDARD, ONE, call, BOOL, DOUBLE, DOUBLE),                     \
        GLOBAL(relation "_double_int64", CROSS_TYPE, ONE, call, BOOL, DOUBLE, INT),                \
        GLOBAL(relation "_double_uint64", CROSS_TYPE, ONE, call, BOOL, DOUBLE, UINT),              \
        GLOBAL(relation "_string", STANDARD, ORDER, call, BOOL, STRING, STRING),                   \
        GLOBAL(relation "_bytes", STANDARD, ORDER, call, BOOL, BYTES, BYTES),                      \
        GLOBAL(relation "_timestamp", STANDARD, ONE, call, BOOL, TIME, TIME),                      \
        GLOBAL(relation "_duration", STANDARD, ONE, call, BOOL, DURATION, DURATION)

static const struct tg_cel_overload less[] = {ORDER("less", tg_cel_call_less)};
static const struct tg_cel_overload less_equal[] = {ORDER("less_equals", tg_cel_call_less_equal)};
static const struct tg_cel_overload greater[] = {ORDER("greater", tg_cel_call_greater)};
static const struct tg_cel_overload greater_equal[] = {
    ORDER("greater_equals", tg_cel_call_greater_equal)};

static const struct tg_cel_overload equals[] = {
    GLOBAL("equals", STANDARD, EQUALITY, NULL, BOOL, &a, &a),
};
static const struct tg_cel_overload conditional[] = {
    GLOBAL("conditional", STANDARD, CONDITIONAL, NULL, &a, BOOL, &a, &a),
};
static const struct tg_cel_overload optional_select[] = {
    GLOBAL("select_optional_field", OPTIONAL, ONE, NULL, &optional_a, DYN, STRING),
};
static const struct tg_cel_overload optional_index[] = {
    GLOBAL("list_optindex_optional_int", OPTIONAL, ONE, NULL, &optional_a, &list_a, INT),
    GLOBAL("optional_list_optindex_optional_int", OPTIONAL, ONE, NULL, &optional_a,
           &optional_list_a, INT),
    GLOBAL("map_optindex_optional_value", OPTIONAL, ONE, NULL, &optional_b, &map_ab, &a),
    GLOBAL("optional_map_optindex_optional_value", OPTIONAL, ONE, NULL, &optional_b,
           &optional_map_ab, &a),
};
static const struct tg_cel_overload index_[] = {
    GLOBAL("index_list", STANDARD, ONE, NULL, &a, &list_a, INT),
    GLOBAL("index_map", STANDARD, ONE, NULL, &b, &map_ab, &a),
    GLOBAL("optional_list_index_int", OPTIONAL, ONE, NULL, &optional_a, &optional_list_a, INT),
    GLOBAL("optional_map_index_value", OPTIONAL, ONE, NULL, &optional_b, &optional_map_ab, &a),
};
static const struct tg_cel_overload logical_or[] = {
    GLOBAL("logical_or", STANDARD, LOGIC, NULL, BOOL, BOOL, BOOL),
};
static const struct tg_cel_overload negate[] = {
    GLOBAL("negate_double", STANDARD, ONE, tg_cel_call_negate, DOUBLE, DOUBLE),
    GLOBAL("negate_int64", STANDARD, ONE, tg_cel_call_negate, INT, INT),
};
static const struct tg_cel_overload in[] = {
    GLOBAL("in_list", STANDARD, IN_LIST, tg_cel_call_in, BOOL, &a, &list_a),
    GLOBAL("in_map", STANDARD, ONE, tg_cel_call_in, BOOL, &a, &map_ab),
};
static const struct tg_cel_overload not_strictly_false[] = {
    GLOBAL("not_strictly_false", STANDARD, ONE, NULL, BOOL, BOOL),
};

/* By name, as strcmp has it. */
static const struct tg_cel_function operators[] = {
    FUNCTION("!_", logical_not),
    FUNCTION("-_", negate),
    FUNCTION("@in", in),
    OPERATOR("@not_strictly_false", NOT_STRICTLY_FALSE, not_strictly_false),
    OPERATOR("_!=_", NOT_EQUAL, not_equals),
    FUNCTION("_%_", modulo),
    OPERATOR("_&&_", AND, logical_and),
    FUNCTION("_*_", multiply),
    FUNCTION("_+_", add),
    FUNCTION("_-_", subtract),
    FUNCTION("_/_", divide),
    FUNCTION("_<=_", less_equal),
    FUNCTION("_<_", less),
    OPERATOR("_==_", EQUAL, equals),
    FUNCTION("_>=_", greater_equal),
    FUNCTION("_>_", greater),
    OPERATOR("_?._", OPTIONAL_SELECT, optional_select),
    OPERATOR("_?_:_", CONDITIONAL, conditional),
    OPERATOR("_[?_]", OPTIONAL_INDEX, optional_index),
    OPERATOR("_[_]", INDEX, index_),
    OPERATOR("_||_", OR, logical_or),
};

const struct tg_cel_functions tg_cel_operators = {operators, TG_ARRAY_SIZE(operators)};
