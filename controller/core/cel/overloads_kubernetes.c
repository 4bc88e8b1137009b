/* SPDX-License-Identifier: Apache-2.0 */
/* The libraries of k8s.io/apiserver pkg/cel/library. */
#include "controller/core/cel/overloads.h"

LIST_OF(list_int, INT);
LIST_OF(list_uint, UINT);
LIST_OF(list_double, DOUBLE);
LIST_OF(list_bool, BOOL);
LIST_OF(list_duration, DURATION);
LIST_OF(list_time, TIME);
LIST_OF(list_string, STRING);
LIST_OF(list_bytes, BYTES);
MAP_OF(query, STRING, &list_string);
OPTIONAL_OF(optional_list_string, &list_string);
OPTIONAL_OF(optional_format, FORMAT);

static const struct tg_cel_overload add[] = {
    MEMBER("quantity_add", QUANTITY, UNIT, tg_cel_call_quantity_add, QUANTITY, QUANTITY, QUANTITY),
    MEMBER("quantity_add_int", QUANTITY, UNIT, tg_cel_call_quantity_add, QUANTITY, QUANTITY, INT),
};
static const struct tg_cel_overload as_approximate_float[] = {
    MEMBER("quantity_get_float", QUANTITY, UNIT, tg_cel_call_quantity_float, DOUBLE, QUANTITY),
};
static const struct tg_cel_overload as_integer[] = {
    MEMBER("quantity_get_int", QUANTITY, UNIT, tg_cel_call_quantity_integer, INT, QUANTITY),
};
static const struct tg_cel_overload cidr[] = {
    GLOBAL("string_to_cidr", CIDR, PARSE, tg_cel_call_cidr, CIDR, STRING),
};
static const struct tg_cel_overload compare_to[] = {
    MEMBER("quantity_compare_to", QUANTITY, UNIT, tg_cel_call_compare_to, INT, QUANTITY, QUANTITY),
    MEMBER("semver_compare_to", SEMVER, UNIT, tg_cel_call_compare_to, INT, SEMVER, SEMVER),
};
static const struct tg_cel_overload contains_cidr[] = {
    MEMBER("cidr_contains_cidr_string", CIDR, CONTAINS_CIDR_TEXT, tg_cel_call_contains_cidr, BOOL,
           CIDR, STRING),
    MEMBER("cidr_contains_cidr", CIDR, CONTAINS_CIDR, tg_cel_call_contains_cidr, BOOL, CIDR, CIDR),
};
static const struct tg_cel_overload contains_ip[] = {
    MEMBER("cidr_contains_ip_string", CIDR, CONTAINS_IP_TEXT, tg_cel_call_contains_ip, BOOL, CIDR,
           STRING),
    MEMBER("cidr_contains_ip_ip", CIDR, CONTAINS_IP, tg_cel_call_contains_ip, BOOL, CIDR, IP),
};
static const struct tg_cel_overload family[] = {
    MEMBER("ip_family", IP, UNIT, tg_cel_call_ip_family, INT, IP),
};
static const struct tg_cel_overload find[] = {
    MEMBER("string_find_string", REGEX, FIND, tg_cel_call_find, STRING, STRING, STRING),
};
static const struct tg_cel_overload find_all[] = {
    MEMBER("string_find_all_string", REGEX, FIND, tg_cel_call_find_all, &list_string, STRING,
           STRING),
    MEMBER("string_find_all_string_int", REGEX, FIND, tg_cel_call_find_all, &list_string, STRING,
           STRING, INT),
};
static const struct tg_cel_overload format_byte[] = {
    NO_ARGS("format.byte", FORMAT, ONE, tg_cel_call_named_format, FORMAT),
};
static const struct tg_cel_overload format_date[] = {
    NO_ARGS("format.date", FORMAT, ONE, tg_cel_call_named_format, FORMAT),
};
static const struct tg_cel_overload format_datetime[] = {
    NO_ARGS("format.datetime", FORMAT, ONE, tg_cel_call_named_format, FORMAT),
};
static const struct tg_cel_overload format_dns1035_label[] = {
    NO_ARGS("format.dns1035Label", FORMAT, ONE, tg_cel_call_named_format, FORMAT),
};
static const struct tg_cel_overload format_dns1035_label_prefix[] = {
    NO_ARGS("format.dns1035LabelPrefix", FORMAT, ONE, tg_cel_call_named_format, FORMAT),
};
static const struct tg_cel_overload format_dns1123_label[] = {
    NO_ARGS("format.dns1123Label", FORMAT, ONE, tg_cel_call_named_format, FORMAT),
};
static const struct tg_cel_overload format_dns1123_label_prefix[] = {
    NO_ARGS("format.dns1123LabelPrefix", FORMAT, ONE, tg_cel_call_named_format, FORMAT),
};
static const struct tg_cel_overload format_dns1123_subdomain[] = {
    NO_ARGS("format.dns1123Subdomain", FORMAT, ONE, tg_cel_call_named_format, FORMAT),
};
static const struct tg_cel_overload format_dns1123_subdomain_prefix[] = {
    NO_ARGS("format.dns1123SubdomainPrefix", FORMAT, ONE, tg_cel_call_named_format, FORMAT),
};
static const struct tg_cel_overload format_label_value[] = {
    NO_ARGS("format.labelValue", FORMAT, ONE, tg_cel_call_named_format, FORMAT),
};
static const struct tg_cel_overload format_named[] = {
    GLOBAL("format-named", FORMAT, UNIT, tg_cel_call_format_named, &optional_format, STRING),
};
static const struct tg_cel_overload format_qualified_name[] = {
    NO_ARGS("format.qualifiedName", FORMAT, ONE, tg_cel_call_named_format, FORMAT),
};
static const struct tg_cel_overload format_uri[] = {
    NO_ARGS("format.uri", FORMAT, ONE, tg_cel_call_named_format, FORMAT),
};
static const struct tg_cel_overload format_uuid[] = {
    NO_ARGS("format.uuid", FORMAT, ONE, tg_cel_call_named_format, FORMAT),
};
static const struct tg_cel_overload get_escaped_path[] = {
    MEMBER("url_get_escaped_path", URL, UNIT, tg_cel_call_url_escaped_path, STRING, URL),
};
static const struct tg_cel_overload get_host[] = {
    MEMBER("url_get_host", URL, UNIT, tg_cel_call_url_host, STRING, URL),
};
static const struct tg_cel_overload get_hostname[] = {
    MEMBER("url_get_hostname", URL, UNIT, tg_cel_call_url_hostname, STRING, URL),
};
static const struct tg_cel_overload get_port[] = {
    MEMBER("url_get_port", URL, UNIT, tg_cel_call_url_port, STRING, URL),
};
static const struct tg_cel_overload get_query[] = {
    MEMBER("url_get_query", URL, UNIT, tg_cel_call_url_query, &query, URL),
};
static const struct tg_cel_overload get_scheme[] = {
    MEMBER("url_get_scheme", URL, UNIT, tg_cel_call_url_scheme, STRING, URL),
};
static const struct tg_cel_overload includes[] = {
    MEMBER("list_includes_dyn_dyn", INCLUDES, SCAN, tg_cel_call_includes, BOOL, DYN, DYN),
};
static const struct tg_cel_overload ip[] = {
    GLOBAL("string_to_ip", IP, PARSE, tg_cel_call_ip, IP, STRING),
    MEMBER("cidr_ip", CIDR, UNIT, tg_cel_call_cidr_ip, IP, CIDR),
};
static const struct tg_cel_overload ip_is_canonical[] = {
    GLOBAL("ip_is_canonical", IP, PARSE_TWICE, tg_cel_call_ip_is_canonical, BOOL, STRING),
};
static const struct tg_cel_overload is_cidr[] = {
    GLOBAL("is_cidr", CIDR, PARSE, tg_cel_call_is_cidr, BOOL, STRING),
};
static const struct tg_cel_overload is_global_unicast[] = {
    MEMBER("ip_is_global_unicast", IP, UNIT, tg_cel_call_ip_is_global_unicast, BOOL, IP),
};
static const struct tg_cel_overload is_greater_than[] = {
    MEMBER("quantity_is_greater_than", QUANTITY, UNIT, tg_cel_call_is_greater_than, BOOL, QUANTITY,
           QUANTITY),
    MEMBER("semver_is_greater_than", SEMVER, UNIT, tg_cel_call_is_greater_than, BOOL, SEMVER,
           SEMVER),
};
static const struct tg_cel_overload is_ip[] = {
    GLOBAL("is_ip", IP, PARSE, tg_cel_call_is_ip, BOOL, STRING),
};
static const struct tg_cel_overload is_integer[] = {
    MEMBER("quantity_is_integer", QUANTITY, UNIT, tg_cel_call_quantity_is_integer, BOOL, QUANTITY),
};
static const struct tg_cel_overload is_less_than[] = {
    MEMBER("quantity_is_less_than", QUANTITY, UNIT, tg_cel_call_is_less_than, BOOL, QUANTITY,
           QUANTITY),
    MEMBER("semver_is_less_than", SEMVER, UNIT, tg_cel_call_is_less_than, BOOL, SEMVER, SEMVER),
};
static const struct tg_cel_overload is_link_local_multicast[] = {
    MEMBER("ip_is_link_local_multicast", IP, UNIT, tg_cel_call_ip_is_link_local_multicast, BOOL,
           IP),
};
static const struct tg_cel_overload is_link_local_unicast[] = {
    MEMBER("ip_is_link_local_unicast", IP, UNIT, tg_cel_call_ip_is_link_local_unicast, BOOL, IP),
};
static const struct tg_cel_overload is_loopback[] = {
    MEMBER("ip_is_loopback", IP, UNIT, tg_cel_call_ip_is_loopback, BOOL, IP),
};
static const struct tg_cel_overload is_quantity[] = {
    GLOBAL("is_quantity_string", QUANTITY, PARSE, tg_cel_call_is_quantity, BOOL, STRING),
};
static const struct tg_cel_overload is_semver[] = {
    GLOBAL("is_semver_string", SEMVER, PARSE, tg_cel_call_is_semver, BOOL, STRING),
    GLOBAL("is_semver_string_bool", SEMVER, PARSE, tg_cel_call_is_semver, BOOL, STRING, BOOL),
};
static const struct tg_cel_overload is_sorted[] = {
    MEMBER("list_int_is_sorted_bool", KUBE_LISTS, SCAN, tg_cel_call_is_sorted, BOOL, &list_int),
    MEMBER("list_uint_is_sorted_bool", KUBE_LISTS, SCAN, tg_cel_call_is_sorted, BOOL, &list_uint),
    MEMBER("list_double_is_sorted_bool", KUBE_LISTS, SCAN, tg_cel_call_is_sorted, BOOL,
           &list_double),
    MEMBER("list_bool_is_sorted_bool", KUBE_LISTS, SCAN, tg_cel_call_is_sorted, BOOL, &list_bool),
    MEMBER("list_duration_is_sorted_bool", KUBE_LISTS, SCAN, tg_cel_call_is_sorted, BOOL,
           &list_duration),
    MEMBER("list_timestamp_is_sorted_bool", KUBE_LISTS, SCAN, tg_cel_call_is_sorted, BOOL,
           &list_time),
    MEMBER("list_string_is_sorted_bool", KUBE_LISTS, SCAN, tg_cel_call_is_sorted, BOOL,
           &list_string),
    MEMBER("list_bytes_is_sorted_bool", KUBE_LISTS, SCAN, tg_cel_call_is_sorted, BOOL, &list_bytes),
};
static const struct tg_cel_overload is_url[] = {
    GLOBAL("is_url_string", URL, ONE, tg_cel_call_is_url, BOOL, STRING),
};
static const struct tg_cel_overload is_unspecified[] = {
    MEMBER("ip_is_unspecified", IP, UNIT, tg_cel_call_ip_is_unspecified, BOOL, IP),
};
static const struct tg_cel_overload major[] = {
    MEMBER("semver_major", SEMVER, UNIT, tg_cel_call_semver_major, INT, SEMVER),
};
static const struct tg_cel_overload masked[] = {
    MEMBER("cidr_masked", CIDR, UNIT, tg_cel_call_cidr_masked, CIDR, CIDR),
};
static const struct tg_cel_overload max[] = {
    MEMBER("list_int_max_int", KUBE_LISTS, SCAN, tg_cel_call_max, INT, &list_int),
    MEMBER("list_uint_max_uint", KUBE_LISTS, SCAN, tg_cel_call_max, UINT, &list_uint),
    MEMBER("list_double_max_double", KUBE_LISTS, SCAN, tg_cel_call_max, DOUBLE, &list_double),
    MEMBER("list_bool_max_bool", KUBE_LISTS, SCAN, tg_cel_call_max, BOOL, &list_bool),
    MEMBER("list_duration_max_duration", KUBE_LISTS, SCAN, tg_cel_call_max, DURATION,
           &list_duration),
    MEMBER("list_timestamp_max_timestamp", KUBE_LISTS, SCAN, tg_cel_call_max, TIME, &list_time),
    MEMBER("list_string_max_string", KUBE_LISTS, SCAN, tg_cel_call_max, STRING, &list_string),
    MEMBER("list_bytes_max_bytes", KUBE_LISTS, SCAN, tg_cel_call_max, BYTES, &list_bytes),
};
static const struct tg_cel_overload min[] = {
    MEMBER("list_int_min_int", KUBE_LISTS, SCAN, tg_cel_call_min, INT, &list_int),
    MEMBER("list_uint_min_uint", KUBE_LISTS, SCAN, tg_cel_call_min, UINT, &list_uint),
    MEMBER("list_double_min_double", KUBE_LISTS, SCAN, tg_cel_call_min, DOUBLE, &list_double),
    MEMBER("list_bool_min_bool", KUBE_LISTS, SCAN, tg_cel_call_min, BOOL, &list_bool),
    MEMBER("list_duration_min_duration", KUBE_LISTS, SCAN, tg_cel_call_min, DURATION,
           &list_duration),
    MEMBER("list_timestamp_min_timestamp", KUBE_LISTS, SCAN, tg_cel_call_min, TIME, &list_time),
    MEMBER("list_string_min_string", KUBE_LISTS, SCAN, tg_cel_call_min, STRING, &list_string),
    MEMBER("list_bytes_min_bytes", KUBE_LISTS, SCAN, tg_cel_call_min, BYTES, &list_bytes),
};
static const struct tg_cel_overload minor[] = {
    MEMBER("semver_minor", SEMVER, UNIT, tg_cel_call_semver_minor, INT, SEMVER),
};
static const struct tg_cel_overload patch[] = {
    MEMBER("semver_patch", SEMVER, UNIT, tg_cel_call_semver_patch, INT, SEMVER),
};
static const struct tg_cel_overload prefix_length[] = {
    MEMBER("cidr_prefix_length", CIDR, UNIT, tg_cel_call_cidr_prefix_length, INT, CIDR),
};
static const struct tg_cel_overload quantity[] = {
    GLOBAL("string_to_quantity", QUANTITY, PARSE, tg_cel_call_quantity, QUANTITY, STRING),
};
static const struct tg_cel_overload semver[] = {
    GLOBAL("string_to_semver", SEMVER, PARSE, tg_cel_call_semver, SEMVER, STRING),
    GLOBAL("string_bool_to_semver", SEMVER, PARSE, tg_cel_call_semver, SEMVER, STRING, BOOL),
};
static const struct tg_cel_overload sign[] = {
    GLOBAL("quantity_sign", QUANTITY, UNIT, tg_cel_call_quantity_sign, INT, QUANTITY),
};
static const struct tg_cel_overload sub[] = {
    MEMBER("quantity_sub", QUANTITY, UNIT, tg_cel_call_quantity_sub, QUANTITY, QUANTITY, QUANTITY),
    MEMBER("quantity_sub_int", QUANTITY, UNIT, tg_cel_call_quantity_sub, QUANTITY, QUANTITY, INT),
};
static const struct tg_cel_overload sum[] = {
    MEMBER("list_int_sum_int", KUBE_LISTS, SCAN, tg_cel_call_sum, INT, &list_int),
    MEMBER("list_uint_sum_uint", KUBE_LISTS, SCAN, tg_cel_call_sum, UINT, &list_uint),
    MEMBER("list_double_sum_double", KUBE_LISTS, SCAN, tg_cel_call_sum, DOUBLE, &list_double),
    MEMBER("list_duration_sum_duration", KUBE_LISTS, SCAN, tg_cel_call_sum, DURATION,
           &list_duration),
};
static const struct tg_cel_overload url[] = {
    GLOBAL("string_to_url", URL, TRAVERSE, tg_cel_call_url, URL, STRING),
};
static const struct tg_cel_overload validate[] = {
    MEMBER("format-validate", FORMAT, VALIDATE, tg_cel_call_validate, &optional_list_string, FORMAT,
           STRING),
};

/* By name, as strcmp has it. */
static const struct tg_cel_function functions[] = {
    FUNCTION("add", add),
    FUNCTION("asApproximateFloat", as_approximate_float),
    FUNCTION("asInteger", as_integer),
    FUNCTION("cidr", cidr),
    FUNCTION("compareTo", compare_to),
    FUNCTION("containsCIDR", contains_cidr),
    FUNCTION("containsIP", contains_ip),
    FUNCTION("family", family),
    FUNCTION("find", find),
    FUNCTION("findAll", find_all),
    FUNCTION("format.byte", format_byte),
    FUNCTION("format.date", format_date),
    FUNCTION("format.datetime", format_datetime),
    FUNCTION("format.dns1035Label", format_dns1035_label),
    FUNCTION("format.dns1035LabelPrefix", format_dns1035_label_prefix),
    FUNCTION("format.dns1123Label", format_dns1123_label),
    FUNCTION("format.dns1123LabelPrefix", format_dns1123_label_prefix),
    FUNCTION("format.dns1123Subdomain", format_dns1123_subdomain),
    FUNCTION("format.dns1123SubdomainPrefix", format_dns1123_subdomain_prefix),
    FUNCTION("format.labelValue", format_label_value),
    FUNCTION("format.named", format_named),
    FUNCTION("format.qualifiedName", format_qualified_name),
    FUNCTION("format.uri", format_uri),
    FUNCTION("format.uuid", format_uuid),
    FUNCTION("getEscapedPath", get_escaped_path),
    FUNCTION("getHost", get_host),
    FUNCTION("getHostname", get_hostname),
    FUNCTION("getPort", get_port),
    FUNCTION("getQuery", get_query),
    FUNCTION("getScheme", get_scheme),
    FUNCTION("includes", includes),
    FUNCTION("ip", ip),
    FUNCTION("ip.isCanonical", ip_is_canonical),
    FUNCTION("isCIDR", is_cidr),
    FUNCTION("isGlobalUnicast", is_global_unicast),
    FUNCTION("isGreaterThan", is_greater_than),
    FUNCTION("isIP", is_ip),
    FUNCTION("isInteger", is_integer),
    FUNCTION("isLessThan", is_less_than),
    FUNCTION("isLinkLocalMulticast", is_link_local_multicast),
    FUNCTION("isLinkLocalUnicast", is_link_local_unicast),
    FUNCTION("isLoopback", is_loopback),
    FUNCTION("isQuantity", is_quantity),
    FUNCTION("isSemver", is_semver),
    FUNCTION("isSorted", is_sorted),
    FUNCTION("isURL", is_url),
    FUNCTION("isUnspecified", is_unspecified),
    FUNCTION("major", major),
    FUNCTION("masked", masked),
    FUNCTION("max", max),
    FUNCTION("min", min),
    FUNCTION("minor", minor),
    FUNCTION("patch", patch),
    FUNCTION("prefixLength", prefix_length),
    FUNCTION("quantity", quantity),
    FUNCTION("semver", semver),
    FUNCTION("sign", sign),
    FUNCTION("sub", sub),
    FUNCTION("sum", sum),
    FUNCTION("url", url),
    FUNCTION("validate", validate),
};

const struct tg_cel_functions tg_cel_kubernetes_functions = {functions, TG_ARRAY_SIZE(functions)};
