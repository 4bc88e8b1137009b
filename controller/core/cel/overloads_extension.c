/* SPDX-License-Identifier: Apache-2.0 */
/* The language's extension libraries: optionals, strings, lists, sets, two-variable folds. */
#include "controller/core/cel/overloads.h"

PARAMETER(a, "A");
PARAMETER(b, "B");
LIST_OF(list_a, &a);
LIST_OF(list_list_a, &list_a);
LIST_OF(list_dyn, DYN);
LIST_OF(list_int, INT);
LIST_OF(list_uint, UINT);
LIST_OF(list_double, DOUBLE);
LIST_OF(list_bool, BOOL);
LIST_OF(list_duration, DURATION);
LIST_OF(list_time, TIME);
LIST_OF(list_string, STRING);
LIST_OF(list_bytes, BYTES);
MAP_OF(map_ab, &a, &b);
OPTIONAL_OF(optional_a, &a);
LIST_OF(list_optional_a, &optional_a);

static const struct tg_cel_overload sort[] = {
    MEMBER("list_int_sort", LISTS, SORT, tg_cel_call_sort, &list_int, &list_int),
    MEMBER("list_uint_sort", LISTS, SORT, tg_cel_call_sort, &list_uint, &list_uint),
    MEMBER("list_double_sort", LISTS, SORT, tg_cel_call_sort, &list_double, &list_double),
    MEMBER("list_bool_sort", LISTS, SORT, tg_cel_call_sort, &list_bool, &list_bool),
    MEMBER("list_duration_sort", LISTS, SORT, tg_cel_call_sort, &list_duration, &list_duration),
    MEMBER("list_timestamp_sort", LISTS, SORT, tg_cel_call_sort, &list_time, &list_time),
    MEMBER("list_string_sort", LISTS, SORT, tg_cel_call_sort, &list_string, &list_string),
    MEMBER("list_bytes_sort", LISTS, SORT, tg_cel_call_sort, &list_bytes, &list_bytes),
};
#define SORT_BY(id, keys)                                                                          \
    MEMBER("list_" id "_sortByAssociatedKeys", LISTS, SORT_BY, tg_cel_call_sort, &list_a, &list_a, \
           keys)
static const struct tg_cel_overload sort_by[] = {
    SORT_BY("int", &list_int),           SORT_BY("uint", &list_uint),
    SORT_BY("double", &list_double),     SORT_BY("bool", &list_bool),
    SORT_BY("duration", &list_duration), SORT_BY("timestamp", &list_time),
    SORT_BY("string", &list_string),     SORT_BY("bytes", &list_bytes),
};
static const struct tg_cel_overload map_insert[] = {
    GLOBAL("@mapInsert_map_key_value", TWO_VARIABLES, ONE, tg_cel_call_map_insert, &map_ab, &map_ab,
           &a, &b),
    GLOBAL("@mapInsert_map_map", TWO_VARIABLES, ONE, tg_cel_call_map_insert, &map_ab, &map_ab,
           &map_ab),
};
static const struct tg_cel_overload char_at[] = {
    MEMBER("string_char_at_int", STRINGS, ONE, tg_cel_call_char_at, STRING, STRING, INT),
};
static const struct tg_cel_overload distinct[] = {
    MEMBER("list_distinct", LISTS, DISTINCT, tg_cel_call_distinct, &list_a, &list_a),
};
static const struct tg_cel_overload first[] = {
    MEMBER("list_first", OPTIONAL, ONE, tg_cel_call_first, &optional_a, &list_a),
};
static const struct tg_cel_overload flatten[] = {
    MEMBER("list_flatten", LISTS, FLATTEN, tg_cel_call_flatten, &list_a, &list_list_a),
    MEMBER("list_flatten_int", LISTS, FLATTEN, tg_cel_call_flatten, &list_dyn, &list_dyn, INT),
};
static const struct tg_cel_overload format[] = {
    MEMBER("string_format", STRINGS, FORMAT, tg_cel_call_format, STRING, STRING, &list_dyn),
};
static const struct tg_cel_overload has_value[] = {
    MEMBER("optional_hasValue", OPTIONAL, ONE, tg_cel_call_has_value, BOOL, &optional_a),
};
static const struct tg_cel_overload index_of[] = {
    MEMBER("list_a_index_of_int", KUBE_LISTS, SCAN, tg_cel_call_list_index_of, INT, &list_a, &a),
    MEMBER("string_index_of_string", STRINGS, SCAN, tg_cel_call_index_of, INT, STRING, STRING),
    MEMBER("string_index_of_string_int", STRINGS, SCAN, tg_cel_call_index_of, INT, STRING, STRING,
           INT),
};
static const struct tg_cel_overload join[] = {
    MEMBER("list_join", STRINGS, JOIN, tg_cel_call_join, STRING, &list_string),
    MEMBER("list_join_string", STRINGS, JOIN, tg_cel_call_join, STRING, &list_string, STRING),
};
static const struct tg_cel_overload last[] = {
    MEMBER("list_last", OPTIONAL, ONE, tg_cel_call_last, &optional_a, &list_a),
};
static const struct tg_cel_overload last_index_of[] = {
    MEMBER("list_a_last_index_of_int", KUBE_LISTS, SCAN, tg_cel_call_list_last_index_of, INT,
           &list_a, &a),
    MEMBER("string_last_index_of_string", STRINGS, SCAN, tg_cel_call_last_index_of, INT, STRING,
           STRING),
    MEMBER("string_last_index_of_string_int", STRINGS, SCAN, tg_cel_call_last_index_of, INT, STRING,
           STRING, INT),
};
static const struct tg_cel_overload range[] = {
    GLOBAL("lists_range", LISTS, RANGE, tg_cel_call_range, &list_int, INT),
};
static const struct tg_cel_overload lower_ascii[] = {
    MEMBER("string_lower_ascii", STRINGS, TRAVERSE, tg_cel_call_lower_ascii, STRING, STRING),
};
static const struct tg_cel_overload optional_none[] = {
    NO_ARGS("optional_none", OPTIONAL, ONE, tg_cel_call_optional_none, &optional_a),
};
static const struct tg_cel_overload optional_of[] = {
    GLOBAL("optional_of", OPTIONAL, ONE, tg_cel_call_optional_of, &optional_a, &a),
};
static const struct tg_cel_overload optional_of_non_zero[] = {
    GLOBAL("optional_ofNonZeroValue", OPTIONAL, ONE, tg_cel_call_optional_of_non_zero, &optional_a,
           &a),
};
static const struct tg_cel_overload optional_unwrap[] = {
    GLOBAL("optional_unwrap", OPTIONAL, ONE, tg_cel_call_unwrap, &list_a, &list_optional_a),
};
static const struct tg_cel_overload or_[] = {
    MEMBER("optional_or_optional", OPTIONAL, ONE, NULL, &optional_a, &optional_a, &optional_a),
};
static const struct tg_cel_overload or_value[] = {
    MEMBER("optional_orValue_value", OPTIONAL, ONE, NULL, &a, &optional_a, &a),
};
static const struct tg_cel_overload replace[] = {
    MEMBER("string_replace_string_string", STRINGS, REPLACE, tg_cel_call_replace, STRING, STRING,
           STRING, STRING),
    MEMBER("string_replace_string_string_int", STRINGS, REPLACE, tg_cel_call_replace, STRING,
           STRING, STRING, STRING, INT),
};
static const struct tg_cel_overload reverse[] = {
    MEMBER("list_reverse", LISTS, REVERSE, tg_cel_call_list_reverse, &list_a, &list_a),
    MEMBER("string_reverse", STRINGS_3, ONE, tg_cel_call_string_reverse, STRING, STRING),
};
static const struct tg_cel_overload sets_contains[] = {
    GLOBAL("list_sets_contains_list", SETS, SETS, tg_cel_call_sets_contains, BOOL, &list_a,
           &list_a),
};
static const struct tg_cel_overload sets_equivalent[] = {
    GLOBAL("list_sets_equivalent_list", SETS, SETS_TWICE, tg_cel_call_sets_equivalent, BOOL,
           &list_a, &list_a),
};
static const struct tg_cel_overload sets_intersects[] = {
    GLOBAL("list_sets_intersects_list", SETS, SETS, tg_cel_call_sets_intersects, BOOL, &list_a,
           &list_a),
};
static const struct tg_cel_overload slice[] = {
    MEMBER("list_slice", LISTS, SLICE, tg_cel_call_slice, &list_a, &list_a, INT, INT),
};
static const struct tg_cel_overload split[] = {
    MEMBER("string_split_string", STRINGS, SPLIT, tg_cel_call_split, &list_string, STRING, STRING),
    MEMBER("string_split_string_int", STRINGS, SPLIT, tg_cel_call_split, &list_string, STRING,
           STRING, INT),
};
static const struct tg_cel_overload quote[] = {
    GLOBAL("strings_quote", STRINGS, QUOTE, tg_cel_call_quote, STRING, STRING),
};
static const struct tg_cel_overload substring[] = {
    MEMBER("string_substring_int", STRINGS, TRAVERSE, tg_cel_call_substring, STRING, STRING, INT),
    MEMBER("string_substring_int_int", STRINGS, TRAVERSE, tg_cel_call_substring, STRING, STRING,
           INT, INT),
};
static const struct tg_cel_overload trim[] = {
    MEMBER("string_trim", STRINGS, TRAVERSE, tg_cel_call_trim, STRING, STRING),
};
static const struct tg_cel_overload unwrap_opt[] = {
    MEMBER("optional_unwrapOpt", OPTIONAL, ONE, tg_cel_call_unwrap, &list_a, &list_optional_a),
};
static const struct tg_cel_overload upper_ascii[] = {
    MEMBER("string_upper_ascii", STRINGS, TRAVERSE, tg_cel_call_upper_ascii, STRING, STRING),
};
static const struct tg_cel_overload value[] = {
    MEMBER("optional_value", OPTIONAL, ONE, tg_cel_call_value, &a, &optional_a),
};

/* By name, as strcmp has it. */
static const struct tg_cel_function functions[] = {
    FUNCTION("@sortByAssociatedKeys", sort_by),
    FUNCTION("cel.@mapInsert", map_insert),
    FUNCTION("charAt", char_at),
    FUNCTION("distinct", distinct),
    FUNCTION("first", first),
    FUNCTION("flatten", flatten),
    FUNCTION("format", format),
    FUNCTION("hasValue", has_value),
    FUNCTION("indexOf", index_of),
    FUNCTION("join", join),
    FUNCTION("last", last),
    FUNCTION("lastIndexOf", last_index_of),
    FUNCTION("lists.range", range),
    FUNCTION("lowerAscii", lower_ascii),
    FUNCTION("optional.none", optional_none),
    FUNCTION("optional.of", optional_of),
    FUNCTION("optional.ofNonZeroValue", optional_of_non_zero),
    FUNCTION("optional.unwrap", optional_unwrap),
    OPERATOR("or", OR_OPTIONAL, or_),
    OPERATOR("orValue", OR_VALUE, or_value),
    FUNCTION("replace", replace),
    FUNCTION("reverse", reverse),
    FUNCTION("sets.contains", sets_contains),
    FUNCTION("sets.equivalent", sets_equivalent),
    FUNCTION("sets.intersects", sets_intersects),
    FUNCTION("slice", slice),
    FUNCTION("sort", sort),
    FUNCTION("split", split),
    FUNCTION("strings.quote", quote),
    FUNCTION("substring", substring),
    FUNCTION("trim", trim),
    FUNCTION("unwrapOpt", unwrap_opt),
    FUNCTION("upperAscii", upper_ascii),
    FUNCTION("value", value),
};

const struct tg_cel_functions tg_cel_extension_functions = {functions, TG_ARRAY_SIZE(functions)};
