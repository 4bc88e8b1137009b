/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/value.h"

#include <math.h>
#include <string.h>

#include "controller/core/cel/map.h"
#include "controller/core/cel/named_format.h"
#include "controller/core/cel/net.h"
#include "controller/core/cel/url.h"

const struct tg_cel_type *tg_cel_type_of(const struct tg_cel_value *v)
{
    static const struct tg_cel_type *const types[] = {
        [TG_CEL_V_NULL] = &tg_cel_type_null,
        [TG_CEL_V_BOOL] = &tg_cel_type_bool,
        [TG_CEL_V_INT] = &tg_cel_type_int,
        [TG_CEL_V_UINT] = &tg_cel_type_uint,
        [TG_CEL_V_DOUBLE] = &tg_cel_type_double,
        [TG_CEL_V_STRING] = &tg_cel_type_string,
        [TG_CEL_V_BYTES] = &tg_cel_type_bytes,
        [TG_CEL_V_TIMESTAMP] = &tg_cel_type_timestamp,
        [TG_CEL_V_DURATION] = &tg_cel_type_duration,
        [TG_CEL_V_LIST] = &tg_cel_type_list,
        [TG_CEL_V_MAP] = &tg_cel_type_map,
        [TG_CEL_V_TYPE] = &tg_cel_type_type,
        [TG_CEL_V_OPTIONAL] = &tg_cel_type_optional,
        [TG_CEL_V_QUANTITY] = &tg_cel_type_quantity,
        [TG_CEL_V_SEMVER] = &tg_cel_type_semver,
        [TG_CEL_V_URL] = &tg_cel_type_url,
        [TG_CEL_V_IP] = &tg_cel_type_ip,
        [TG_CEL_V_CIDR] = &tg_cel_type_cidr,
        [TG_CEL_V_FORMAT] = &tg_cel_type_format,
    };

    return types[v->tag];
}

size_t tg_cel_characters(const char *text, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80 ? 1 : 0;
    return count;
}

uint64_t tg_cel_size(const struct tg_cel_value *v)
{
    switch (v->tag) {
    case TG_CEL_V_STRING:
        return tg_cel_characters(v->text, v->length);
    case TG_CEL_V_BYTES:
        return v->length;
    case TG_CEL_V_LIST:
        return v->list->n;
    case TG_CEL_V_MAP:
        return tg_cel_map_count(v->map);
    case TG_CEL_V_IP:
    case TG_CEL_V_CIDR:
        return tg_cel_net_size(v->net, v->tag == TG_CEL_V_CIDR);
    case TG_CEL_V_OPTIONAL:
        return v->inner == NULL ? 1 : tg_cel_size(v->inner);
    default:
        return 1;
    }
}

static int order(bool less, bool greater)
{
    return (greater ? 1 : 0) - (less ? 1 : 0);
}

/* As in the Go implementation, a number within the integer's range is compared as a double. */
static int compare_int_double(int64_t i, double d)
{
    if (d < -0x1p63)
        return 1;
    if (d > 0x1p63)
        return -1;
    return order((double)i<d, (double)i> d);
}

static int compare_uint_double(uint64_t u, double d)
{
    if (d < 0)
        return 1;
    if (d > 0x1p64)
        return -1;
    return order((double)u<d, (double)u> d);
}

/* a is an integer, b a double. */
static int compare_integer_double(const struct tg_cel_value *a, const struct tg_cel_value *b)
{
    return a->tag == TG_CEL_V_INT ? compare_int_double(a->integer, b->real)
                                  : compare_uint_double(a->uinteger, b->real);
}

int tg_cel_compare_numbers(const struct tg_cel_value *a, const struct tg_cel_value *b,
                           bool *ret_unordered)
{
    *ret_unordered = (a->tag == TG_CEL_V_DOUBLE && isnan(a->real)) ||
                     (b->tag == TG_CEL_V_DOUBLE && isnan(b->real));
    if (*ret_unordered)
        return 0;
    if (a->tag == TG_CEL_V_DOUBLE && b->tag == TG_CEL_V_DOUBLE)
        return order(a->real<b->real, a->real> b->real);
    if (b->tag == TG_CEL_V_DOUBLE)
        return compare_integer_double(a, b);
    if (a->tag == TG_CEL_V_DOUBLE)
        return -compare_integer_double(b, a);
    if (a->tag == b->tag && a->tag == TG_CEL_V_INT)
        return order(a->integer<b->integer, a->integer> b->integer);
    if (a->tag == TG_CEL_V_INT && a->integer < 0)
        return -1;
    if (b->tag == TG_CEL_V_INT && b->integer < 0)
        return 1;
    return order(a->uinteger<b->uinteger, a->uinteger> b->uinteger);
}

static int compare_text(const struct tg_cel_value *a, const struct tg_cel_value *b)
{
    size_t n = a->length < b->length ? a->length : b->length;
    int rc = n == 0 ? 0 : memcmp(a->text, b->text, n);

    return rc != 0 ? order(rc<0, rc> 0) : order(a->length<b->length, a->length> b->length);
}

bool tg_cel_compare(const struct tg_cel_value *a, const struct tg_cel_value *b, int *ret,
                    bool *ret_unordered)
{
    *ret_unordered = false;
    if (tg_cel_is_number(a) && tg_cel_is_number(b)) {
        *ret = tg_cel_compare_numbers(a, b, ret_unordered);
        return true;
    }
    if (a->tag != b->tag)
        return false;
    switch (a->tag) {
    case TG_CEL_V_BOOL:
        *ret = (int)a->boolean - (int)b->boolean;
        return true;
    case TG_CEL_V_STRING:
    case TG_CEL_V_BYTES:
        *ret = compare_text(a, b);
        return true;
    case TG_CEL_V_DURATION:
        *ret = order(a->integer<b->integer, a->integer> b->integer);
        return true;
    case TG_CEL_V_TIMESTAMP:
        *ret = a->integer != b->integer ? order(a->integer<b->integer, a->integer> b->integer)
                                        : order(a->nanos<b->nanos, a->nanos> b->nanos);
        return true;
    default:
        return false;
    }
}

static enum tg_cel_equality list_equal(const struct tg_cel_list *a, const struct tg_cel_list *b)
{
    if (a->n != b->n)
        return TG_CEL_UNEQUAL;
    for (size_t i = 0; i < a->n; i++) {
        if (tg_cel_equal(&a->items[i], &b->items[i]) != TG_CEL_EQUAL)
            return TG_CEL_UNEQUAL;
    }
    return TG_CEL_EQUAL;
}

static enum tg_cel_equality optional_equal(const struct tg_cel_value *a,
                                           const struct tg_cel_value *b)
{
    if (a->inner == NULL || b->inner == NULL)
        return a->inner == b->inner ? TG_CEL_EQUAL : TG_CEL_UNEQUAL;
    return tg_cel_equal(a->inner, b->inner);
}

/* Of the Kubernetes types, both of the same kind. */
static bool kube_equal(const struct tg_cel_value *a, const struct tg_cel_value *b)
{
    switch (a->tag) {
    case TG_CEL_V_QUANTITY:
        return tg_cel_quantity_cmp(a->quantity, b->quantity) == 0;
    case TG_CEL_V_SEMVER:
        return tg_semver_compare(a->semver, b->semver) == 0;
    case TG_CEL_V_URL:
        return tg_cel_url_equal(a->url, b->url);
    case TG_CEL_V_FORMAT:
        return a->format == b->format;
    default:
        return tg_cel_net_equal(a->net, b->net);
    }
}

static enum tg_cel_equality equality(bool equal)
{
    return equal ? TG_CEL_EQUAL : TG_CEL_UNEQUAL;
}

enum tg_cel_equality tg_cel_equal(const struct tg_cel_value *a, const struct tg_cel_value *b)
{
    bool unordered = false;
    int compared = 0;

    if (a->tag == TG_CEL_V_NULL || b->tag == TG_CEL_V_NULL)
        return equality(a->tag == b->tag);
    if (a->tag >= TG_CEL_V_QUANTITY && (a->tag != b->tag || b->computed))
        return TG_CEL_EQUAL_NO_OVERLOAD;
    if (tg_cel_compare(a, b, &compared, &unordered))
        return equality(compared == 0 && !unordered);
    if (a->tag != b->tag)
        return TG_CEL_UNEQUAL;
    switch (a->tag) {
    case TG_CEL_V_LIST:
        return list_equal(a->list, b->list);
    case TG_CEL_V_MAP:
        return tg_cel_map_equal(a->map, b->map);
    case TG_CEL_V_TYPE:
        return equality(strcmp(a->type->name, b->type->name) == 0);
    case TG_CEL_V_OPTIONAL:
        return optional_equal(a, b);
    default:
        return equality(kube_equal(a, b));
    }
}

struct tg_cel_value *tg_cel_list_reserve(struct tg_cel_scratch *scratch, size_t n,
                                         struct tg_cel_value *ret)
{
    struct tg_cel_list *list;
    struct tg_cel_value *items;

    if (n > SIZE_MAX / sizeof(*items) / 2)
        return NULL;
    list = tg_cel_alloc(scratch, sizeof(*list));
    items = tg_cel_alloc(scratch, n * sizeof(*items));
    if (list == NULL || items == NULL)
        return NULL;
    *list = (struct tg_cel_list){.items = items, .n = n};
    *ret = (struct tg_cel_value){.tag = TG_CEL_V_LIST, .list = list};
    return items;
}

bool tg_cel_list_make(struct tg_cel_scratch *scratch, const struct tg_cel_value *items, size_t n,
                      struct tg_cel_value *ret)
{
    struct tg_cel_value *copy = tg_cel_list_reserve(scratch, n, ret);

    if (copy == NULL)
        return false;
    if (n > 0)
        memcpy(copy, items, n * sizeof(*items));
    return true;
}

bool tg_cel_list_concat(struct tg_cel_scratch *scratch, const struct tg_cel_value *a,
                        const struct tg_cel_value *b, struct tg_cel_value *ret)
{
    const struct tg_cel_list *left = a->list, *right = b->list;
    struct tg_cel_buffer *buffer = left->buffer;
    struct tg_cel_list *list = tg_cel_alloc(scratch, sizeof(*list));
    size_t n = left->n + right->n;

    if (list == NULL)
        return false;
    if (buffer == NULL || buffer->used != left->n || n > buffer->capacity) {
        buffer = tg_cel_alloc(scratch, sizeof(*buffer));
        if (buffer == NULL)
            return false;
        *buffer = (struct tg_cel_buffer){.used = left->n, .capacity = n < 4 ? 4 : n + n / 2};
        buffer->items = tg_cel_alloc(scratch, buffer->capacity * sizeof(struct tg_cel_value));
        if (buffer->items == NULL)
            return false;
        if (left->n > 0)
            memcpy(buffer->items, left->items, left->n * sizeof(struct tg_cel_value));
    }
    if (right->n > 0)
        memcpy(buffer->items + left->n, right->items, right->n * sizeof(struct tg_cel_value));
    buffer->used = n;
    *list = (struct tg_cel_list){.items = buffer->items, .n = n, .buffer = buffer};
    *ret = (struct tg_cel_value){.tag = TG_CEL_V_LIST, .list = list};
    return true;
}

bool tg_cel_optional(struct tg_cel_scratch *scratch, const struct tg_cel_value *inner,
                     struct tg_cel_value *ret)
{
    struct tg_cel_value *copy = tg_cel_alloc(scratch, sizeof(*copy));

    if (copy == NULL)
        return false;
    *copy = *inner;
    *ret = (struct tg_cel_value){.tag = TG_CEL_V_OPTIONAL, .inner = copy};
    return true;
}
