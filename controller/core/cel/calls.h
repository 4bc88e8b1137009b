/* SPDX-License-Identifier: Apache-2.0 */
/* The C functions behind the tables, by the file they are in. What each means: the CEL language
 * definition, and the libraries named in overloads_*.c. */
#ifndef TG_CORE_CEL_CALLS_H
#define TG_CORE_CEL_CALLS_H

#include "controller/core/cel/function.h"
#include "controller/core/cel/run.h"

extern tg_cel_call tg_cel_call_add, tg_cel_call_bool, tg_cel_call_bytes, tg_cel_call_char_at,
    tg_cel_call_cidr, tg_cel_call_cidr_ip, tg_cel_call_cidr_masked, tg_cel_call_cidr_prefix_length,
    tg_cel_call_compare_to, tg_cel_call_contains, tg_cel_call_contains_cidr,
    tg_cel_call_contains_ip, tg_cel_call_date, tg_cel_call_day_of_month, tg_cel_call_day_of_week,
    tg_cel_call_day_of_year, tg_cel_call_distinct, tg_cel_call_divide, tg_cel_call_double,
    tg_cel_call_duration, tg_cel_call_dyn, tg_cel_call_ends_with, tg_cel_call_find,
    tg_cel_call_find_all, tg_cel_call_first, tg_cel_call_flatten, tg_cel_call_format,
    tg_cel_call_format_named, tg_cel_call_full_year, tg_cel_call_greater, tg_cel_call_greater_equal,
    tg_cel_call_has_value, tg_cel_call_hours, tg_cel_call_in, tg_cel_call_includes,
    tg_cel_call_index_of, tg_cel_call_int, tg_cel_call_ip, tg_cel_call_ip_family,
    tg_cel_call_ip_is_canonical, tg_cel_call_ip_is_global_unicast,
    tg_cel_call_ip_is_link_local_multicast, tg_cel_call_ip_is_link_local_unicast,
    tg_cel_call_ip_is_loopback, tg_cel_call_ip_is_unspecified, tg_cel_call_is_cidr,
    tg_cel_call_is_greater_than, tg_cel_call_is_ip, tg_cel_call_is_less_than,
    tg_cel_call_is_quantity, tg_cel_call_is_semver, tg_cel_call_is_sorted, tg_cel_call_is_url,
    tg_cel_call_join, tg_cel_call_last, tg_cel_call_last_index_of, tg_cel_call_less,
    tg_cel_call_less_equal, tg_cel_call_list_index_of, tg_cel_call_list_last_index_of,
    tg_cel_call_list_reverse, tg_cel_call_lower_ascii, tg_cel_call_map_insert, tg_cel_call_matches,
    tg_cel_call_max, tg_cel_call_milliseconds, tg_cel_call_min, tg_cel_call_minutes,
    tg_cel_call_modulo, tg_cel_call_month, tg_cel_call_multiply, tg_cel_call_named_format,
    tg_cel_call_negate, tg_cel_call_not, tg_cel_call_optional_none, tg_cel_call_optional_of,
    tg_cel_call_optional_of_non_zero, tg_cel_call_quantity, tg_cel_call_quantity_add,
    tg_cel_call_quantity_float, tg_cel_call_quantity_integer, tg_cel_call_quantity_is_integer,
    tg_cel_call_quantity_sign, tg_cel_call_quantity_sub, tg_cel_call_quote, tg_cel_call_range,
    tg_cel_call_replace, tg_cel_call_seconds, tg_cel_call_semver, tg_cel_call_semver_major,
    tg_cel_call_semver_minor, tg_cel_call_semver_patch, tg_cel_call_sets_contains,
    tg_cel_call_sets_equivalent, tg_cel_call_sets_intersects, tg_cel_call_size, tg_cel_call_slice,
    tg_cel_call_sort, tg_cel_call_split, tg_cel_call_starts_with, tg_cel_call_string,
    tg_cel_call_string_reverse, tg_cel_call_substring, tg_cel_call_subtract, tg_cel_call_sum,
    tg_cel_call_timestamp, tg_cel_call_trim, tg_cel_call_type, tg_cel_call_uint, tg_cel_call_unwrap,
    tg_cel_call_upper_ascii, tg_cel_call_url, tg_cel_call_url_escaped_path, tg_cel_call_url_host,
    tg_cel_call_url_hostname, tg_cel_call_url_port, tg_cel_call_url_query, tg_cel_call_url_scheme,
    tg_cel_call_validate, tg_cel_call_value;

#endif
