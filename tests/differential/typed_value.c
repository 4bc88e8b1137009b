/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/differential/typed_value.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "controller/core/cel/net.h"
#include "controller/core/cel/time.h"

void typed_value_quote(const char *text, size_t n, struct tg_buf *out)
{
    tg_buf_append_char(out, '"');
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c == '"' || c == '\\')
            tg_buf_printf(out, "\\%c", c);
        else if (c < 0x20)
            tg_buf_printf(out, "\\u%04x", c);
        else
            tg_buf_append_char(out, (char)c);
    }
    tg_buf_append_char(out, '"');
}

static void write_double(double v, struct tg_buf *out)
{
    if (isnan(v))
        tg_buf_append_str(out, "\"NaN\"");
    else
        tg_buf_printf(out, "\"%.17g\"", v);
}

static void write_hex(const struct tg_cel_value *value, struct tg_buf *out)
{
    tg_buf_append_char(out, '"');
    for (size_t i = 0; i < value->length; i++)
        tg_buf_printf(out, "%02x", (unsigned char)value->text[i]);
    tg_buf_append_char(out, '"');
}

static void write_list(const struct tg_cel_list *list, struct tg_cel_scratch *scratch,
                       struct tg_buf *out)
{
    tg_buf_append_char(out, '[');
    for (size_t i = 0; i < list->n; i++) {
        if (i > 0)
            tg_buf_append_char(out, ',');
        typed_value_write(&list->items[i], scratch, out);
    }
    tg_buf_append_char(out, ']');
}

static void write_map(const struct tg_cel_map *map, struct tg_cel_scratch *scratch,
                      struct tg_buf *out)
{
    struct tg_cel_value *keys, *values;
    size_t n;

    if (!tg_cel_map_entries(scratch, map, &keys, &values, &n)) {
        out->failed = true;
        return;
    }
    tg_buf_append_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        tg_buf_append_str(out, i > 0 ? ",[" : "[");
        typed_value_write(&keys[i], scratch, out);
        tg_buf_append_char(out, ',');
        typed_value_write(&values[i], scratch, out);
        tg_buf_append_char(out, ']');
    }
    tg_buf_append_char(out, ']');
}

/* 123e-9: not as Go writes it, but the same number. */
static void write_quantity(const struct tg_cel_value *value, struct tg_buf *out)
{
    const struct tg_cel_quantity *q = value->quantity;
    const struct tg_cel_decimal *big = q->big;

    tg_buf_append_str(out, "\"");
    if (big == NULL) {
        tg_buf_printf(out, "%" PRId64 "e%d\"", q->value, (int)q->scale);
        return;
    }
    tg_buf_append_str(out, big->negative ? "-0" : "0");
    for (uint32_t i = big->n; i > 0; i--)
        tg_buf_printf(out, "%09u", big->limbs[i - 1]);
    tg_buf_printf(out, "e%d\"", (int)big->scale);
}

static void write_semver(const struct tg_semver *v, struct tg_buf *out)
{
    tg_buf_printf(out, "\"%" PRIu64 ".%" PRIu64 ".%" PRIu64, v->major, v->minor, v->patch);
    if (v->pre != NULL)
        tg_buf_printf(out, "-%.*s", (int)v->pre_n, v->pre);
    if (v->build != NULL)
        tg_buf_printf(out, "+%s", v->build);
    tg_buf_append_char(out, '"');
}

static void write_time(const struct tg_cel_value *value, struct tg_buf *out)
{
    struct tg_cel_value utc = *value;
    char text[TG_CEL_TIME_TEXT];
    size_t n;

    utc.zone = 0;
    n = tg_cel_time_text(&utc, text);
    typed_value_quote(text, n, out);
}

static void write_net(const struct tg_cel_value *value, struct tg_buf *out)
{
    char text[TG_CEL_NET_TEXT];
    size_t n = tg_cel_net_text(value->net, value->tag == TG_CEL_V_CIDR, text);

    typed_value_quote(text, n, out);
}

static const char *name_of(const struct tg_cel_value *value)
{
    switch ((int)value->tag) {
    case TG_CEL_V_NULL:
        return "null";
    case TG_CEL_V_TIMESTAMP:
        return "timestamp";
    case TG_CEL_V_DURATION:
        return "duration";
    case TG_CEL_V_OPTIONAL:
        return "optional";
    default:
        return tg_cel_type_of(value)->name;
    }
}

/* What follows "v":. */
static void write_content(const struct tg_cel_value *value, struct tg_cel_scratch *scratch,
                          struct tg_buf *out)
{
    switch ((int)value->tag) {
    case TG_CEL_V_BOOL:
        tg_buf_append_str(out, value->boolean ? "true" : "false");
        return;
    case TG_CEL_V_INT:
    case TG_CEL_V_DURATION:
        tg_buf_printf(out, "\"%" PRId64 "\"", value->integer);
        return;
    case TG_CEL_V_UINT:
        tg_buf_printf(out, "\"%" PRIu64 "\"", value->uinteger);
        return;
    case TG_CEL_V_DOUBLE:
        write_double(value->real, out);
        return;
    case TG_CEL_V_STRING:
        typed_value_quote(value->text, value->length, out);
        return;
    case TG_CEL_V_TIMESTAMP:
        write_time(value, out);
        return;
    case TG_CEL_V_LIST:
        write_list(value->list, scratch, out);
        return;
    case TG_CEL_V_MAP:
        write_map(value->map, scratch, out);
        return;
    case TG_CEL_V_TYPE:
        typed_value_quote(value->type->name, strlen(value->type->name), out);
        return;
    case TG_CEL_V_OPTIONAL:
        typed_value_write(value->inner, scratch, out);
        return;
    case TG_CEL_V_QUANTITY:
        write_quantity(value, out);
        return;
    case TG_CEL_V_SEMVER:
        write_semver(value->semver, out);
        return;
    case TG_CEL_V_IP:
    case TG_CEL_V_CIDR:
        write_net(value, out);
        return;
    default:
        tg_buf_append_str(out, "null");
    }
}

void typed_value_write(const struct tg_cel_value *value, struct tg_cel_scratch *scratch,
                       struct tg_buf *out)
{
    tg_buf_printf(out, "{\"t\":\"%s\"", name_of(value));
    if (value->tag == TG_CEL_V_BYTES) {
        tg_buf_append_str(out, ",\"hex\":");
        write_hex(value, out);
    } else if (value->tag != TG_CEL_V_NULL &&
               !(value->tag == TG_CEL_V_OPTIONAL && value->inner == NULL)) {
        tg_buf_append_str(out, ",\"v\":");
        write_content(value, scratch, out);
    }
    tg_buf_append_char(out, '}');
}

static int unknown(struct tg_error *err, const char *what, const char *name)
{
    return tg_error_set(err, TG_INVALID_ARGUMENT, "%s %s is not known here", what,
                        name == NULL ? "without a name" : name);
}

static int read_list(const struct tg_json *json, struct tg_cel_scratch *scratch,
                     struct tg_cel_value *ret, struct tg_error *err)
{
    struct tg_cel_value *items = tg_cel_list_reserve(scratch, json == NULL ? 0 : json->n, ret);

    if (json == NULL || items == NULL)
        return unknown(err, "a list", NULL);
    for (size_t i = 0; i < json->n; i++) {
        int rc = typed_value_read(json->items[i], scratch, &items[i], err);

        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_map(const struct tg_json *json, struct tg_cel_scratch *scratch,
                    struct tg_cel_value *ret, struct tg_error *err)
{
    if (json == NULL || !tg_cel_map_make(scratch, TG_CEL_MAP_ENTRIES, NULL, ret))
        return unknown(err, "a map", NULL);
    for (size_t i = 0; i < json->n; i++) {
        const struct tg_json *pair = json->items[i];
        struct tg_cel_value key, value;
        int rc = pair->n == 2 ? 0 : unknown(err, "a pair", NULL);

        if (rc == 0)
            rc = typed_value_read(pair->items[0], scratch, &key, err);
        if (rc == 0)
            rc = typed_value_read(pair->items[1], scratch, &value, err);
        if (rc == 0 && tg_cel_map_put(scratch, ret->map, &key, &value, false, ret) != TG_CEL_PUT)
            rc = unknown(err, "a repeated key", NULL);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int typed_value_read(const struct tg_json *json, struct tg_cel_scratch *scratch,
                     struct tg_cel_value *ret, struct tg_error *err)
{
    const char *kind = tg_json_string(tg_json_get(json, "t"));
    const struct tg_json *v = tg_json_get(json, "v");
    const char *text = tg_json_string(v);

    if (kind == NULL)
        return unknown(err, "a value", NULL);
    if (strcmp(kind, "list") == 0)
        return read_list(v, scratch, ret, err);
    if (strcmp(kind, "map") == 0)
        return read_map(v, scratch, ret, err);
    if (strcmp(kind, "null") == 0)
        *ret = TG_CEL_NULL_VALUE;
    else if (strcmp(kind, "bool") == 0 && v != NULL)
        *ret = tg_cel_bool(v->boolean);
    else if (text == NULL)
        return unknown(err, "a value of type", kind);
    else if (strcmp(kind, "int") == 0)
        *ret = tg_cel_int(strtoll(text, NULL, 10));
    else if (strcmp(kind, "uint") == 0)
        *ret = tg_cel_uint(strtoull(text, NULL, 10));
    else if (strcmp(kind, "double") == 0)
        *ret = tg_cel_double(strtod(text, NULL));
    else if (strcmp(kind, "string") == 0)
        *ret = tg_cel_text(text, strlen(text));
    else
        return unknown(err, "a value of type", kind);
    return 0;
}

static const struct {
    const char *name;
    const struct tg_cel_type *type;
} scalar_types[] = {
    {"bool", &tg_cel_type_bool},     {"bytes", &tg_cel_type_bytes}, {"double", &tg_cel_type_double},
    {"dyn", &tg_cel_type_dyn},       {"int64", &tg_cel_type_int},   {"null", &tg_cel_type_null},
    {"string", &tg_cel_type_string}, {"uint64", &tg_cel_type_uint},
};

int typed_value_read_type(const struct tg_json *json, struct tg_arena *arena,
                          const struct tg_cel_type **ret, struct tg_error *err)
{
    const char *name = tg_json_string(json);
    const struct tg_json *list = tg_json_get(json, "list"), *map = tg_json_get(json, "map");
    const struct tg_cel_type *a, *b = NULL;
    int rc;

    for (size_t i = 0; name != NULL && i < sizeof(scalar_types) / sizeof(scalar_types[0]); i++) {
        if (strcmp(scalar_types[i].name, name) == 0) {
            *ret = scalar_types[i].type;
            return 0;
        }
    }
    if (list == NULL && (map == NULL || map->n != 2))
        return unknown(err, "a type", name);
    rc = typed_value_read_type(list != NULL ? list : map->items[0], arena, &a, err);
    if (rc == 0 && list == NULL)
        rc = typed_value_read_type(map->items[1], arena, &b, err);
    if (rc < 0)
        return rc;
    *ret = tg_cel_type_new(arena, list != NULL ? TG_CEL_LIST : TG_CEL_MAP, a, b);
    return *ret == NULL ? unknown(err, "a type", "(no memory)") : 0;
}
