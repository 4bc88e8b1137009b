/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values at run time: 24 bytes, by value; what does not fit lies in the scratch memory of one
 * evaluation or in the arena of the program. Text is UTF-8 with a length and may hold NUL.
 */
#ifndef TG_CORE_CEL_VALUE_H
#define TG_CORE_CEL_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/kubernetes/values/semver.h"
#include "controller/core/cel/quantity.h"
#include "controller/core/cel/scratch.h"
#include "controller/core/cel/type.h"

enum tg_cel_tag {
    TG_CEL_V_NULL,
    TG_CEL_V_BOOL,
    TG_CEL_V_INT,
    TG_CEL_V_UINT,
    TG_CEL_V_DOUBLE,
    TG_CEL_V_STRING,
    TG_CEL_V_BYTES,
    TG_CEL_V_TIMESTAMP, /* integer: seconds since 1970; nanos */
    TG_CEL_V_DURATION,  /* integer: nanoseconds */
    TG_CEL_V_LIST,
    TG_CEL_V_MAP,
    TG_CEL_V_TYPE,
    TG_CEL_V_OPTIONAL, /* inner: NULL = none */
    TG_CEL_V_QUANTITY,
    TG_CEL_V_SEMVER,
    TG_CEL_V_URL,
    TG_CEL_V_IP,
    TG_CEL_V_CIDR,
    TG_CEL_V_FORMAT,
};

struct tg_cel_url;
struct tg_cel_net;
struct tg_cel_format;
struct tg_cel_list;
struct tg_cel_map;

struct tg_cel_value {
    uint8_t tag;
    /* QUANTITY: the result of add() or sub(). The Go library holds those by pointer, and equality
     * with a pointer on the right is "no such overload" there. OPTIONAL: made by a step of a path,
     * which the next one looks into. */
    bool computed;
    int16_t zone; /* TIMESTAMP: minutes east of UTC as it was written; for string() only */
    uint32_t nanos;
    union {
        bool boolean;
        int64_t integer;
        uint64_t uinteger;
        double real;
        struct {
            const char *text;
            size_t length;
        };
        const struct tg_cel_list *list;
        const struct tg_cel_map *map;
        const struct tg_cel_type *type;
        const struct tg_cel_value *inner;
        struct tg_cel_quantity *quantity; /* comparing and adding can change it, as in Go */
        const struct tg_semver *semver;
        const struct tg_cel_url *url;
        const struct tg_cel_net *net;
        const struct tg_cel_format *format;
    };
};

/* Lists and maps that are built step by step share one growing buffer: appending to the newest of
 * them takes constant time, and the older ones do not see it. */
struct tg_cel_buffer {
    struct tg_cel_value *items; /* maps: key, value, key, value */
    size_t used, capacity;      /* items */
    uint32_t *index;            /* maps: hash table of entry numbers + 1; NULL while small */
    size_t index_size;          /* a power of 2 */
};

struct tg_cel_list {
    const struct tg_cel_value *items;
    size_t n;
    struct tg_cel_buffer *buffer; /* NULL: nothing can be appended in place */
};

struct tg_cel_device;

enum tg_cel_map_kind {
    TG_CEL_MAP_ENTRIES,
    TG_CEL_MAP_DEVICE,            /* driver, attributes, capacity, allowMultipleAllocations */
    TG_CEL_MAP_ATTRIBUTE_DOMAINS, /* device.attributes */
    TG_CEL_MAP_ATTRIBUTES,        /* of one domain */
    TG_CEL_MAP_CAPACITY_DOMAINS,
    TG_CEL_MAP_CAPACITIES,
};

struct tg_cel_map {
    enum tg_cel_map_kind kind;
    size_t n;                     /* entries; of the device's maps: filled in when counted */
    struct tg_cel_buffer *buffer; /* ENTRIES */
    const struct tg_cel_device *device;
    const char *domain; /* ATTRIBUTES, CAPACITIES */
    size_t domain_n;
};

#define TG_CEL_NULL_VALUE ((struct tg_cel_value){.tag = TG_CEL_V_NULL})

static inline struct tg_cel_value tg_cel_bool(bool value)
{
    return (struct tg_cel_value){.tag = TG_CEL_V_BOOL, .boolean = value};
}

static inline struct tg_cel_value tg_cel_int(int64_t value)
{
    return (struct tg_cel_value){.tag = TG_CEL_V_INT, .integer = value};
}

static inline struct tg_cel_value tg_cel_uint(uint64_t value)
{
    return (struct tg_cel_value){.tag = TG_CEL_V_UINT, .uinteger = value};
}

static inline struct tg_cel_value tg_cel_double(double value)
{
    return (struct tg_cel_value){.tag = TG_CEL_V_DOUBLE, .real = value};
}

static inline struct tg_cel_value tg_cel_text(const char *text, size_t n)
{
    return (struct tg_cel_value){.tag = TG_CEL_V_STRING, .text = text, .length = n};
}

static inline struct tg_cel_value tg_cel_duration(int64_t nanoseconds)
{
    return (struct tg_cel_value){.tag = TG_CEL_V_DURATION, .integer = nanoseconds};
}

static inline struct tg_cel_value tg_cel_timestamp(int64_t seconds, uint32_t nanos)
{
    return (struct tg_cel_value){.tag = TG_CEL_V_TIMESTAMP, .integer = seconds, .nanos = nanos};
}

static inline bool tg_cel_is_number(const struct tg_cel_value *v)
{
    return v->tag >= TG_CEL_V_INT && v->tag <= TG_CEL_V_DOUBLE;
}

/* The runtime type; of lists and maps without parameters. */
const struct tg_cel_type *tg_cel_type_of(const struct tg_cel_value *v);

enum tg_cel_equality { TG_CEL_UNEQUAL, TG_CEL_EQUAL, TG_CEL_EQUAL_NO_OVERLOAD };

/* Equality over all types: numbers by value, NaN unlike itself, other kinds unequal, but for the
 * Kubernetes types, which know only their own kind. Recursion is bounded by the depth of the
 * values, hence of the expression. */
enum tg_cel_equality tg_cel_equal(const struct tg_cel_value *a, const struct tg_cel_value *b);

/* -1, 0, 1; 0 as well when a NaN is among them (*ret_unordered tells). False: they have no order.
 */
bool tg_cel_compare(const struct tg_cel_value *a, const struct tg_cel_value *b, int *ret,
                    bool *ret_unordered);
/* Two numbers of any of the three kinds. */
int tg_cel_compare_numbers(const struct tg_cel_value *a, const struct tg_cel_value *b,
                           bool *ret_unordered);

/* What size() and the cost rules call the size: characters, bytes, elements, entries; 1 otherwise.
 */
uint64_t tg_cel_size(const struct tg_cel_value *v);
/* Characters of UTF-8. */
size_t tg_cel_characters(const char *text, size_t n);

/* Builds: false = out of memory. items are copied. */
bool tg_cel_list_make(struct tg_cel_scratch *scratch, const struct tg_cel_value *items, size_t n,
                      struct tg_cel_value *ret);
/* a + b, where both are lists. */
bool tg_cel_list_concat(struct tg_cel_scratch *scratch, const struct tg_cel_value *a,
                        const struct tg_cel_value *b, struct tg_cel_value *ret);
/* An array of n values to fill, and the list of it. */
struct tg_cel_value *tg_cel_list_reserve(struct tg_cel_scratch *scratch, size_t n,
                                         struct tg_cel_value *ret);
bool tg_cel_optional(struct tg_cel_scratch *scratch, const struct tg_cel_value *inner,
                     struct tg_cel_value *ret);
static inline struct tg_cel_value tg_cel_none(void)
{
    return (struct tg_cel_value){.tag = TG_CEL_V_OPTIONAL, .inner = NULL};
}

#endif
