/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/type.h"

#include <stdio.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"

#define SIMPLE(id, k, text)                                                                        \
    const struct tg_cel_type tg_cel_type_##id = {.kind = (k), .name = (text)}

SIMPLE(dyn, TG_CEL_DYN, "dyn");
SIMPLE(any, TG_CEL_ANY, "any");
SIMPLE(error, TG_CEL_ERROR, "!error!");
SIMPLE(null, TG_CEL_NULL, "null_type");
SIMPLE(bool, TG_CEL_BOOL, "bool");
SIMPLE(int, TG_CEL_INT, "int");
SIMPLE(uint, TG_CEL_UINT, "uint");
SIMPLE(double, TG_CEL_DOUBLE, "double");
SIMPLE(string, TG_CEL_STRING, "string");
SIMPLE(bytes, TG_CEL_BYTES, "bytes");
SIMPLE(timestamp, TG_CEL_TIMESTAMP, "google.protobuf.Timestamp");
SIMPLE(duration, TG_CEL_DURATION, "google.protobuf.Duration");
SIMPLE(type, TG_CEL_TYPE, "type");
SIMPLE(quantity, TG_CEL_OBJECT, "kubernetes.Quantity");
SIMPLE(semver, TG_CEL_OBJECT, "kubernetes.Semver");
SIMPLE(url, TG_CEL_OBJECT, "kubernetes.URL");
SIMPLE(format, TG_CEL_OBJECT, "kubernetes.NamedFormat");
SIMPLE(ip, TG_CEL_OPAQUE, "net.IP");
SIMPLE(cidr, TG_CEL_OPAQUE, "net.CIDR");
SIMPLE(device, TG_CEL_OBJECT, "kubernetes.DRADevice");
const struct tg_cel_type tg_cel_type_list = {
    .kind = TG_CEL_LIST, .n_params = 1, .name = "list", .params = {&tg_cel_type_dyn}};
const struct tg_cel_type tg_cel_type_map = {.kind = TG_CEL_MAP,
                                            .n_params = 2,
                                            .name = "map",
                                            .params = {&tg_cel_type_dyn, &tg_cel_type_dyn}};
const struct tg_cel_type tg_cel_type_optional = {
    .kind = TG_CEL_OPTIONAL, .n_params = 1, .name = "optional_type", .params = {&tg_cel_type_dyn}};

static const struct tg_cel_type *const named[] = {
    &tg_cel_type_bool,     &tg_cel_type_int,   &tg_cel_type_uint,      &tg_cel_type_double,
    &tg_cel_type_string,   &tg_cel_type_bytes, &tg_cel_type_null,      &tg_cel_type_list,
    &tg_cel_type_map,      &tg_cel_type_type,  &tg_cel_type_timestamp, &tg_cel_type_duration,
    &tg_cel_type_optional, &tg_cel_type_ip,    &tg_cel_type_cidr,
};

const struct tg_cel_type *tg_cel_type_named(const char *name)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(named); i++) {
        if (strcmp(named[i]->name, name) == 0)
            return named[i];
    }
    return NULL;
}

const struct tg_cel_type *tg_cel_type_new(struct tg_arena *arena, enum tg_cel_kind kind,
                                          const struct tg_cel_type *a, const struct tg_cel_type *b)
{
    const struct tg_cel_type *base = kind == TG_CEL_LIST   ? &tg_cel_type_list
                                     : kind == TG_CEL_MAP  ? &tg_cel_type_map
                                     : kind == TG_CEL_TYPE ? &tg_cel_type_type
                                                           : &tg_cel_type_optional;
    struct tg_cel_type *type = tg_arena_alloc(arena, sizeof(*type));

    if (type == NULL)
        return NULL;
    *type = *base;
    type->n_params = b == NULL ? 1 : 2;
    type->params[0] = a;
    type->params[1] = b;
    return type;
}

/* Recursion is bounded by the depth of the text's literals, hence by the parser. */
bool tg_cel_type_same(const struct tg_cel_type *a, const struct tg_cel_type *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->n_params != b->n_params || a->variable != b->variable ||
        strcmp(a->name, b->name) != 0)
        return false;
    for (unsigned i = 0; i < a->n_params; i++) {
        if (!tg_cel_type_same(a->params[i], b->params[i]))
            return false;
    }
    return true;
}

static size_t put(char *out, size_t n, size_t used, const char *text)
{
    size_t length = strlen(text);

    if (used >= n)
        return used;
    if (length >= n - used)
        length = n - used - 1;
    memcpy(out + used, text, length);
    out[used + length] = '\0';
    return used + length;
}

static size_t put_type(char *out, size_t n, size_t used, const struct tg_cel_type *type)
{
    bool bare = type->kind == TG_CEL_PARAM || type->kind == TG_CEL_TYPE || type->n_params == 0;

    used = put(out, n, used, type->kind == TG_CEL_PARAM ? "dyn" : type->name);
    for (unsigned i = 0; !bare && i < type->n_params; i++) {
        used = put(out, n, used, i == 0 ? "(" : ", ");
        used = put_type(out, n, used, type->params[i]);
    }
    return bare ? used : put(out, n, used, ")");
}

const char *tg_cel_type_text(const struct tg_cel_type *type, char *out, size_t n)
{
    put_type(out, n, 0, type);
    return out;
}
