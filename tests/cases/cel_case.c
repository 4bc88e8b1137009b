/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/cases/cel_case.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/core/cel/number.h"
#include "controller/core/cel/quantity.h"

void case_hide_nul(char *json, size_t n)
{
    for (size_t i = 0; i + 5 < n; i++) {
        if (json[i] != '\\')
            continue;
        if (memcmp(json + i, "\\u0000", 6) == 0)
            json[i + 2] = 'e';
        i++;
    }
}

const char *case_show_nul(const char *text, struct tg_arena *arena, size_t *ret_n)
{
    char *copy = tg_arena_alloc(arena, strlen(text) + 1);
    size_t n = 0;

    for (; copy != NULL && *text != '\0'; text++) {
        if (strncmp(text, "\xee\x80\x80", 3) == 0) {
            copy[n++] = '\0';
            text += 2;
        } else {
            copy[n++] = *text;
        }
    }
    *ret_n = n;
    return copy;
}

static int hex_value(const char *hex, struct tg_arena *arena, struct tg_cel_value *ret)
{
    size_t n = strlen(hex) / 2;
    char *bytes = tg_arena_alloc(arena, n + 1);

    if (bytes == NULL)
        return -1;
    for (size_t i = 0; i < n; i++) {
        char pair[3] = {hex[2 * i], hex[2 * i + 1], '\0'};

        bytes[i] = (char)strtoul(pair, NULL, 16);
    }
    *ret = tg_cel_text(bytes, n);
    ret->tag = TG_CEL_V_BYTES;
    return 0;
}

static int list_value(const struct tg_json *v, struct tg_arena *arena, struct tg_cel_value *ret)
{
    struct tg_cel_scratch scratch;
    struct tg_cel_value *items;
    int rc = 0;

    tg_cel_scratch_on(&scratch, arena);
    items = tg_cel_list_reserve(&scratch, v->n, ret);
    for (size_t i = 0; rc == 0 && i < v->n; i++)
        rc = case_value(v->items[i], arena, &items[i]);
    return rc;
}

static int map_value(const struct tg_json *v, struct tg_arena *arena, struct tg_cel_value *ret)
{
    struct tg_cel_scratch scratch;
    struct tg_cel_value key, value;
    int rc = 0;

    tg_cel_scratch_on(&scratch, arena);
    if (!tg_cel_map_make(&scratch, TG_CEL_MAP_ENTRIES, NULL, ret))
        return -1;
    for (size_t i = 0; rc == 0 && i < v->n; i++) {
        rc = case_value(v->items[i]->items[0], arena, &key);
        if (rc == 0)
            rc = case_value(v->items[i]->items[1], arena, &value);
        if (rc == 0 && tg_cel_map_put(&scratch, ret->map, &key, &value, false, ret) != TG_CEL_PUT)
            rc = -1;
    }
    return rc;
}

static int scalar_value(const char *type, const char *text, struct tg_arena *arena,
                        struct tg_cel_value *ret)
{
    size_t n = strlen(text);

    if (strcmp(type, "int") == 0) {
        ret->tag = TG_CEL_V_INT;
        return tg_cel_parse_int(text, n, &ret->integer) ? 0 : -1;
    }
    if (strcmp(type, "uint") == 0) {
        ret->tag = TG_CEL_V_UINT;
        return tg_cel_parse_uint(text, n, &ret->uinteger) ? 0 : -1;
    }
    if (strcmp(type, "double") == 0) {
        ret->tag = TG_CEL_V_DOUBLE;
        ret->real = strtod(text, NULL);
        return 0;
    }
    if (strcmp(type, "string") == 0) {
        text = case_show_nul(text, arena, &n);
        *ret = tg_cel_text(text, n);
        return 0;
    }
    if (strcmp(type, "type") == 0) {
        ret->tag = TG_CEL_V_TYPE;
        ret->type = tg_cel_type_named(text);
        return ret->type == NULL ? -1 : 0;
    }
    return -1;
}

int case_value(const struct tg_json *json, struct tg_arena *arena, struct tg_cel_value *ret)
{
    const char *type = tg_json_string(tg_json_get(json, "t"));
    const struct tg_json *v = tg_json_get(json, "v");

    *ret = TG_CEL_NULL_VALUE;
    if (type == NULL)
        return -1;
    if (strcmp(type, "null") == 0)
        return 0;
    if (strcmp(type, "bytes") == 0)
        return hex_value(tg_json_string(tg_json_get(json, "hex")), arena, ret);
    if (v == NULL)
        return -1;
    if (strcmp(type, "bool") == 0) {
        *ret = tg_cel_bool(v->boolean);
        return 0;
    }
    if (strcmp(type, "list") == 0)
        return list_value(v, arena, ret);
    if (strcmp(type, "map") == 0)
        return map_value(v, arena, ret);
    return v->text == NULL ? -1 : scalar_value(type, v->text, arena, ret);
}

int case_type(const struct tg_json *json, struct tg_arena *arena, const struct tg_cel_type **ret)
{
    const char *name = tg_json_string(json);
    const struct tg_json *list = tg_json_get(json, "list"), *map = tg_json_get(json, "map");
    const struct tg_cel_type *a = NULL, *b = NULL;

    if (name != NULL) {
        *ret = strcmp(name, "int64") == 0    ? &tg_cel_type_int
               : strcmp(name, "uint64") == 0 ? &tg_cel_type_uint
               : strcmp(name, "dyn") == 0    ? &tg_cel_type_dyn
                                             : tg_cel_type_named(name);
        return *ret == NULL ? -1 : 0;
    }
    if (list != NULL) {
        if (case_type(list, arena, &a) < 0)
            return -1;
        *ret = tg_cel_type_new(arena, TG_CEL_LIST, a, NULL);
        return 0;
    }
    if (map == NULL || map->n != 2 || case_type(map->items[0], arena, &a) < 0 ||
        case_type(map->items[1], arena, &b) < 0)
        return -1;
    *ret = tg_cel_type_new(arena, TG_CEL_MAP, a, b);
    return 0;
}

static int version_value(const char *text, struct tg_arena *arena, struct tg_cel_value *ret)
{
    struct tg_semver *version = tg_arena_alloc(arena, sizeof(*version));

    *ret = (struct tg_cel_value){.tag = TG_CEL_V_SEMVER, .semver = version};
    return text == NULL || tg_semver_parse(text, version, NULL) < 0 ? -1 : 0;
}

/* One scalar of an attribute, by the name of its kind: bool, int, string, version. */
static int attribute_scalar(const char *kind, const struct tg_json *v, struct tg_arena *arena,
                            struct tg_cel_value *ret)
{
    *ret = TG_CEL_NULL_VALUE;
    if (strncmp(kind, "bool", 4) == 0) {
        *ret = tg_cel_bool(v->boolean);
        return 0;
    }
    if (strncmp(kind, "int", 3) == 0) {
        ret->tag = TG_CEL_V_INT;
        return tg_json_i64(v, &ret->integer);
    }
    if (strncmp(kind, "string", 6) == 0) {
        *ret = tg_cel_text(v->text, strlen(v->text));
        return 0;
    }
    return strncmp(kind, "version", 7) == 0 ? version_value(v->text, arena, ret) : -1;
}

static int attribute_value(const struct tg_json *json, bool lists, struct tg_arena *arena,
                           struct tg_cel_value *ret)
{
    struct tg_cel_scratch scratch;
    struct tg_cel_value *items;
    int rc = 0;

    if (json->n != 1)
        return -1;
    if (json->items[0]->kind != TG_JSON_ARRAY)
        return attribute_scalar(json->keys[0], json->items[0], arena, ret);
    if (!lists)
        return -2;
    tg_cel_scratch_on(&scratch, arena);
    items = tg_cel_list_reserve(&scratch, json->items[0]->n, ret);
    for (size_t i = 0; rc == 0 && i < json->items[0]->n; i++)
        rc = attribute_scalar(json->keys[0], json->items[0]->items[i], arena, &items[i]);
    return rc;
}

static int capacity_value(const struct tg_json *json, struct tg_arena *arena,
                          struct tg_cel_value *ret)
{
    const char *text = tg_json_string(tg_json_get(json, "value"));
    struct tg_cel_quantity *q = tg_arena_alloc(arena, sizeof(*q));
    struct tg_cel_scratch scratch;

    tg_cel_scratch_on(&scratch, arena);
    if (text == NULL)
        text = tg_json_string(json);
    if (text == NULL || q == NULL ||
        tg_cel_quantity_parse(&scratch, text, strlen(text), q) != TG_CEL_QUANTITY_OK)
        return -1;
    *ret = (struct tg_cel_value){.tag = TG_CEL_V_QUANTITY, .quantity = q};
    return 0;
}

static int entries(const struct tg_json *json, bool capacity, bool lists, struct tg_arena *arena,
                   const struct tg_cel_device *device, struct tg_cel_entry **ret, size_t *ret_n)
{
    size_t n = json == NULL ? 0 : json->n;
    int rc = 0;

    *ret = tg_arena_alloc_array(arena, n + 1, sizeof(**ret));
    *ret_n = n;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const char *slash = strchr(json->keys[i], '/');
        struct tg_cel_entry *e = &(*ret)[i];

        e->domain = slash == NULL ? device->driver : json->keys[i];
        e->domain_n = slash == NULL ? device->driver_n : (size_t)(slash - json->keys[i]);
        e->name = slash == NULL ? json->keys[i] : slash + 1;
        e->name_n = strlen(e->name);
        rc = capacity ? capacity_value(json->items[i], arena, &e->value)
                      : attribute_value(json->items[i], lists, arena, &e->value);
    }
    return rc;
}

int case_device(const struct tg_json *json, bool lists, struct tg_arena *arena,
                struct tg_cel_device *ret)
{
    const struct tg_json *multiple = tg_json_get(json, "allowMultipleAllocations");
    int rc;

    *ret = (struct tg_cel_device){.driver = tg_json_string(tg_json_get(json, "driver"))};
    if (ret->driver == NULL)
        return -1;
    ret->driver_n = strlen(ret->driver);
    ret->allow_multiple_allocations = multiple != NULL && multiple->boolean;
    rc = entries(tg_json_get(json, "attributes"), false, lists, arena, ret, &ret->attributes,
                 &ret->n_attributes);
    if (rc == 0)
        rc = entries(tg_json_get(json, "capacity"), true, lists, arena, ret, &ret->capacity,
                     &ret->n_capacity);
    return rc;
}

static bool same_maps(const struct tg_cel_map *a, const struct tg_cel_map *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        bool found = false;

        for (size_t j = 0; j < b->n && !found; j++)
            found = case_same(&a->buffer->items[2 * i], &b->buffer->items[2 * j]) &&
                    case_same(&a->buffer->items[2 * i + 1], &b->buffer->items[2 * j + 1]);
        if (!found)
            return false;
    }
    return true;
}

bool case_same(const struct tg_cel_value *a, const struct tg_cel_value *b)
{
    if (a->tag != b->tag)
        return false;
    if (a->tag == TG_CEL_V_DOUBLE && isnan(a->real))
        return isnan(b->real);
    if (a->tag == TG_CEL_V_LIST) {
        if (a->list->n != b->list->n)
            return false;
        for (size_t i = 0; i < a->list->n; i++) {
            if (!case_same(&a->list->items[i], &b->list->items[i]))
                return false;
        }
        return true;
    }
    if (a->tag == TG_CEL_V_MAP)
        return same_maps(a->map, b->map);
    return tg_cel_equal(a, b) == TG_CEL_EQUAL;
}

const char *case_show(const struct tg_cel_value *v, char *out, size_t n)
{
    char number[TG_CEL_NUMBER_TEXT + 1];

    if (v->tag == TG_CEL_V_STRING || v->tag == TG_CEL_V_BYTES) {
        snprintf(out, n, "%s '%.*s'", tg_cel_type_of(v)->name, (int)v->length, v->text);
    } else if (tg_cel_is_number(v)) {
        number[tg_cel_number_text(v, number)] = '\0';
        snprintf(out, n, "%s %s", tg_cel_type_of(v)->name, number);
    } else if (v->tag == TG_CEL_V_BOOL) {
        snprintf(out, n, "%s", v->boolean ? "true" : "false");
    } else if (v->tag == TG_CEL_V_TYPE) {
        snprintf(out, n, "type %s", v->type->name);
    } else {
        snprintf(out, n, "a %s of size %" PRIu64, tg_cel_type_of(v)->name, tg_cel_size(v));
    }
    return out;
}
