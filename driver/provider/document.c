/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/document.h"

#include <stdio.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "driver/provider/provider.h"

int tg_document_fail(const struct tg_document_place *at, const struct tg_json *value,
                     const char *key, const char *what, struct tg_error *err)
{
    return tg_error_set(err, TG_INVALID_ARGUMENT, "%s:%d: %s%s%.80s: %s", at->file, value->line,
                        at->path, at->path[0] != '\0' && key[0] != '\0' ? "." : "", key, what);
}

int tg_document_exhausted(const struct tg_document_place *at, struct tg_error *err)
{
    return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "%s: the document needs too much memory",
                        at->file);
}

/* ---- fields of a mapping ---- */

static int unknown_field(const struct tg_document_place *at, const struct tg_json *value,
                         const char *key, const struct tg_document_field *fields, size_t n,
                         struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf what = TG_BUF_INIT(400);
    (void)tg_buf_append_str(&what, "unknown field; known here:");
    for (size_t i = 0; i < n; i++)
        (void)tg_buf_printf(&what, "%s %s", i == 0 ? "" : ",", fields[i].name);
    return tg_document_fail(at, value, key, tg_buf_str(&what), err);
}

int tg_document_object(struct tg_document_place *at, const struct tg_json *object,
                       const struct tg_document_field *fields, size_t n, void *target,
                       struct tg_error *err)
{
    if (object->kind != TG_JSON_OBJECT)
        return tg_document_fail(at, object, "", "expected fields (a mapping)", err);
    for (size_t i = 0; i < object->n; i++) {
        size_t f = 0;
        while (f < n && !tg_streq(fields[f].name, object->keys[i]))
            f++;
        if (f == n)
            return unknown_field(at, object->items[i], object->keys[i], fields, n, err);
        int rc = fields[f].decode(at, object->items[i], target, err);
        if (rc < 0)
            return rc;
    }
    for (size_t f = 0; f < n; f++) {
        if (fields[f].required && tg_json_get(object, fields[f].name) == NULL)
            return tg_document_fail(at, object, fields[f].name, "is missing", err);
    }
    return 0;
}

int tg_document_string(const struct tg_document_place *at, const struct tg_json *value,
                       const char *key, const char **ret, struct tg_error *err)
{
    *ret = tg_json_string(value);
    if (*ret == NULL || (*ret)[0] == '\0')
        return tg_document_fail(at, value, key, "expected a text", err);
    return 0;
}

int tg_document_api_version(struct tg_document_place *at, const struct tg_json *value, void *target,
                            struct tg_error *err)
{
    (void)target;
    if (tg_streq(tg_json_string(value), TG_API_VERSION))
        return 0;
    return tg_document_fail(at, value, "apiVersion", "this version reads " TG_API_VERSION, err);
}

int tg_document_kind(const struct tg_document_place *at, const struct tg_json *value,
                     const char *wanted, struct tg_error *err)
{
    char what[80];
    if (tg_streq(tg_json_string(value), wanted))
        return 0;
    snprintf(what, sizeof(what), "expected %s", wanted);
    return tg_document_fail(at, value, "kind", what, err);
}

/* ---- attributes ---- */

static int read_value(const struct tg_document_place *at, const struct tg_json *value,
                      const char *key, struct tg_keyed_attribute *ret, struct tg_error *err)
{
    if (value->kind != TG_JSON_OBJECT || value->n != 1)
        return tg_document_fail(
            at, value, key, "expected one of {string: S}, {int: N}, {bool: B}, {version: V}", err);
    const struct tg_json *inner = value->items[0];
    const char *kind = value->keys[0];
    bool fits = false;
    if (tg_streq(kind, "string")) {
        ret->value.string = tg_json_string(inner);
        fits = ret->value.string != NULL;
    } else if (tg_streq(kind, "version")) {
        ret->value.version = tg_json_string(inner);
        fits = ret->value.version != NULL;
    } else if (tg_streq(kind, "int")) {
        ret->value.int_.set = fits = tg_json_i64(inner, &ret->value.int_.value) == 0;
    } else if (tg_streq(kind, "bool")) {
        ret->value.bool_ = (struct tg_opt_bool){.set = true, .value = inner->boolean};
        fits = inner->kind == TG_JSON_BOOL;
    } else {
        return tg_document_fail(at, inner, key, "unknown type; known: string, int, bool, version",
                                err);
    }
    return fits ? 0
                : tg_document_fail(at, inner, key,
                                   "the value is not of the type before it (texts may need quotes)",
                                   err);
}

/* What the API server would refuse is refused here, where the line is known. */
static int check_attribute(const struct tg_document_place *at, const struct tg_json *value,
                           const struct tg_keyed_attribute *attribute, struct tg_error *err)
{
    struct tg_keyed_attribute copy = *attribute;
    struct tg_device alone = {.name = "x", .attributes = {.items = &copy, .n = 1}};
    struct tg_error why = TG_ERROR_INIT;
    if (tg_device_validate(&alone, &why) == 0)
        return 0;
    /* "device x: attribute "KEY": what is wrong" */
    const char *what = strstr(why.message, "\": ");
    return tg_document_fail(at, value, attribute->key, what == NULL ? why.message : what + 3, err);
}

int tg_document_read_attributes(const struct tg_document_place *at, const struct tg_json *value,
                                const char *const *refused, const char *why,
                                struct tg_document_attributes *ret, struct tg_error *err)
{
    struct tg_document_place inside = *at;
    if (value->kind != TG_JSON_OBJECT)
        return tg_document_fail(at, value, "attributes", "expected attributes by name", err);
    snprintf(inside.path, sizeof(inside.path), "%.100s.attributes", at->path);
    ret->list.items = tg_arena_alloc_array(at->arena, value->n, sizeof(*ret->list.items));
    if (ret->list.items == NULL)
        return tg_document_exhausted(at, err);
    for (size_t i = 0; i < value->n; i++) {
        struct tg_keyed_attribute *one = &ret->list.items[ret->list.n++];
        one->key = value->keys[i];
        for (size_t k = 0; refused[k] != NULL; k++) {
            if (tg_streq(one->key, refused[k]))
                return tg_document_fail(&inside, value->items[i], one->key, why, err);
        }
        int rc = read_value(&inside, value->items[i], one->key, one, err);
        if (rc == 0)
            rc = check_attribute(&inside, value->items[i], one, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}
