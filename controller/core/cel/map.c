/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/map.h"

#include <string.h>

#include "controller/core/cel/quantity.h"

/* Maps of up to so many entries are searched one by one. */
#define SMALL 8U

static bool text_is(const struct tg_cel_value *key, const char *text, size_t n)
{
    return key->length == n && memcmp(key->text, text, n) == 0;
}

/* As a Go map tells keys apart: by type and value. */
static bool same_key(const struct tg_cel_value *a, const struct tg_cel_value *b)
{
    if (a->tag != b->tag)
        return false;
    switch (a->tag) {
    case TG_CEL_V_STRING:
    case TG_CEL_V_BYTES:
        return text_is(a, b->text, b->length);
    case TG_CEL_V_LIST:
    case TG_CEL_V_MAP:
        return false;
    default:
        return tg_cel_equal(a, b) == TG_CEL_EQUAL;
    }
}

static uint64_t hash_key(const struct tg_cel_value *key)
{
    uint64_t h = UINT64_C(14695981039346656037) ^ key->tag;

    if (key->tag == TG_CEL_V_STRING || key->tag == TG_CEL_V_BYTES) {
        for (size_t i = 0; i < key->length; i++)
            h = (h ^ (unsigned char)key->text[i]) * UINT64_C(1099511628211);
        return h;
    }
    if (key->tag == TG_CEL_V_BOOL)
        return h + (key->boolean ? 1 : 0);
    if (key->tag == TG_CEL_V_INT || key->tag == TG_CEL_V_UINT)
        return (h ^ key->uinteger) * UINT64_C(0x9e3779b97f4a7c15);
    return h; /* rare kinds share one chain */
}

static void index_add(struct tg_cel_buffer *b, size_t entry)
{
    size_t mask = b->index_size - 1, at = (hash_key(&b->items[2 * entry]) >> 20) & mask;

    while (b->index[at] != 0)
        at = (at + 1) & mask;
    b->index[at] = (uint32_t)entry + 1;
}

/* The entry of a key among the first n, or n. */
static size_t find_exact(const struct tg_cel_map *map, const struct tg_cel_value *key)
{
    const struct tg_cel_buffer *b = map->buffer;
    size_t mask, at;

    if (map->n <= SMALL || b->index == NULL) {
        for (size_t i = 0; i < map->n; i++) {
            if (same_key(&b->items[2 * i], key))
                return i;
        }
        return map->n;
    }
    mask = b->index_size - 1;
    for (at = (hash_key(key) >> 20) & mask; b->index[at] != 0; at = (at + 1) & mask) {
        size_t entry = b->index[at] - 1;

        if (entry < map->n && same_key(&b->items[2 * entry], key))
            return entry;
    }
    return map->n;
}

/* The same number as another type, if it is one: 0 int, 1 uint. */
static bool as_type(const struct tg_cel_value *key, unsigned type, struct tg_cel_value *ret)
{
    if (key->tag == TG_CEL_V_DOUBLE) {
        if (type == 0) {
            if (!(key->real > -0x1p63 && key->real < 0x1p63) ||
                (double)(int64_t)key->real != key->real)
                return false;
            *ret = tg_cel_int((int64_t)key->real);
        } else {
            if (!(key->real >= 0 && key->real < 0x1p64) || (double)(uint64_t)key->real != key->real)
                return false;
            *ret = tg_cel_uint((uint64_t)key->real);
        }
        return true;
    }
    if (key->tag == TG_CEL_V_INT && type == 1 && key->integer >= 0)
        *ret = tg_cel_uint(key->uinteger);
    else if (key->tag == TG_CEL_V_UINT && type == 0 && key->integer >= 0)
        *ret = tg_cel_int(key->integer);
    else
        return false;
    return true;
}

static const struct tg_cel_value *find_entry(const struct tg_cel_map *map,
                                             const struct tg_cel_value *key)
{
    size_t at = map->n == 0 ? 0 : find_exact(map, key);

    for (unsigned type = 0; at == map->n && map->n > 0 && type < 2 && tg_cel_is_number(key);
         type++) {
        struct tg_cel_value other;

        if (as_type(key, type, &other))
            at = find_exact(map, &other);
    }
    return at == map->n ? NULL : &map->buffer->items[2 * at + 1];
}

static bool is_capacity(const struct tg_cel_map *map)
{
    return map->kind == TG_CEL_MAP_CAPACITY_DOMAINS || map->kind == TG_CEL_MAP_CAPACITIES;
}

static struct tg_cel_entry *entries_of(const struct tg_cel_map *map, size_t *n)
{
    *n = is_capacity(map) ? map->device->n_capacity : map->device->n_attributes;
    return is_capacity(map) ? map->device->capacity : map->device->attributes;
}

static bool in_domain(const struct tg_cel_entry *e, const char *domain, size_t n)
{
    return e->domain_n == n && memcmp(e->domain, domain, n) == 0;
}

/* The entry with its value: quantities are parsed when they are first wanted. */
static bool parse_value(struct tg_cel_scratch *scratch, struct tg_cel_entry *e, bool *no_memory)
{
    struct tg_cel_quantity *q;

    if (e->quantity == NULL)
        return true;
    q = tg_cel_alloc(scratch, sizeof(*q));
    *no_memory = q == NULL;
    if (q == NULL ||
        tg_cel_quantity_parse(scratch, e->quantity, strlen(e->quantity), q) != TG_CEL_QUANTITY_OK)
        return false; /* the API server stores none that is malformed */
    e->value = (struct tg_cel_value){.tag = TG_CEL_V_QUANTITY, .quantity = q};
    e->quantity = NULL;
    return true;
}

const struct tg_cel_value *tg_cel_device_find(struct tg_cel_scratch *scratch,
                                              const struct tg_cel_device *device, bool capacity,
                                              const struct tg_cel_value *domain, const char *name,
                                              size_t name_n, bool *no_memory)
{
    struct tg_cel_entry *entries = capacity ? device->capacity : device->attributes;
    size_t n = capacity ? device->n_capacity : device->n_attributes;

    for (size_t i = 0; i < n; i++) {
        struct tg_cel_entry *e = &entries[i];

        if (e->name_n == name_n && memcmp(e->name, name, name_n) == 0 &&
            text_is(domain, e->domain, e->domain_n))
            return parse_value(scratch, e, no_memory) ? &e->value : NULL;
    }
    return NULL;
}

static const struct tg_cel_value *find_attribute(struct tg_cel_scratch *scratch,
                                                 const struct tg_cel_map *map,
                                                 const struct tg_cel_value *key, bool *no_memory)
{
    struct tg_cel_value domain = tg_cel_text(map->domain, map->domain_n);

    return tg_cel_device_find(scratch, map->device, is_capacity(map), &domain, key->text,
                              key->length, no_memory);
}

static const struct tg_cel_value *find_domain(struct tg_cel_scratch *scratch,
                                              const struct tg_cel_map *map,
                                              const struct tg_cel_value *key,
                                              struct tg_cel_value *storage, bool *present,
                                              bool *no_memory)
{
    size_t n = 0;
    const struct tg_cel_entry *entries = entries_of(map, &n);
    struct tg_cel_map *view = tg_cel_alloc(scratch, sizeof(*view));
    bool text = key->tag == TG_CEL_V_STRING;

    if (view == NULL) {
        *no_memory = true;
        return NULL;
    }
    *present = false;
    for (size_t i = 0; text && i < n && !*present; i++)
        *present = in_domain(&entries[i], key->text, key->length);
    *view = (struct tg_cel_map){
        .kind = is_capacity(map) ? TG_CEL_MAP_CAPACITIES : TG_CEL_MAP_ATTRIBUTES,
        .device = map->device,
        .domain = text ? key->text : "",
        .domain_n = text ? key->length : 0,
    };
    if (!*present)
        *view = (struct tg_cel_map){.kind = TG_CEL_MAP_ENTRIES};
    *storage = (struct tg_cel_value){.tag = TG_CEL_V_MAP, .map = view};
    return storage;
}

static const struct tg_cel_value *find_field(struct tg_cel_scratch *scratch,
                                             const struct tg_cel_device *device,
                                             const struct tg_cel_value *key,
                                             struct tg_cel_value *storage, bool *no_memory)
{
    bool capacity = text_is(key, "capacity", 8);

    if (text_is(key, "driver", 6)) {
        *storage = tg_cel_text(device->driver, device->driver_n);
    } else if (text_is(key, "allowMultipleAllocations", 24)) {
        *storage = tg_cel_bool(device->allow_multiple_allocations);
    } else if (capacity || text_is(key, "attributes", 10)) {
        if (!tg_cel_map_make(scratch,
                             capacity ? TG_CEL_MAP_CAPACITY_DOMAINS : TG_CEL_MAP_ATTRIBUTE_DOMAINS,
                             device, storage)) {
            *no_memory = true;
            return NULL;
        }
    } else {
        return NULL;
    }
    return storage;
}

const struct tg_cel_value *tg_cel_map_find(struct tg_cel_scratch *scratch,
                                           const struct tg_cel_map *map,
                                           const struct tg_cel_value *key,
                                           struct tg_cel_value *storage, bool *present,
                                           bool *no_memory)
{
    const struct tg_cel_value *found = NULL;

    *no_memory = false;
    if (map->kind == TG_CEL_MAP_ENTRIES) {
        found = find_entry(map, key);
    } else if (map->kind == TG_CEL_MAP_ATTRIBUTE_DOMAINS ||
               map->kind == TG_CEL_MAP_CAPACITY_DOMAINS) {
        return find_domain(scratch, map, key, storage, present, no_memory);
    } else if (key->tag == TG_CEL_V_STRING) {
        found = map->kind == TG_CEL_MAP_DEVICE
                    ? find_field(scratch, map->device, key, storage, no_memory)
                    : find_attribute(scratch, map, key, no_memory);
    }
    *present = found != NULL;
    return found;
}

bool tg_cel_map_make(struct tg_cel_scratch *scratch, enum tg_cel_map_kind kind,
                     const struct tg_cel_device *device, struct tg_cel_value *ret)
{
    struct tg_cel_map *map = tg_cel_alloc(scratch, sizeof(*map));

    if (map == NULL)
        return false;
    *map = (struct tg_cel_map){.kind = kind, .device = device};
    *ret = (struct tg_cel_value){.tag = TG_CEL_V_MAP, .map = map};
    return true;
}

/* Is entry i the first of its domain? */
static bool first_of_domain(const struct tg_cel_entry *entries, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (in_domain(&entries[j], entries[i].domain, entries[i].domain_n))
            return false;
    }
    return true;
}

static bool counts(const struct tg_cel_map *map, const struct tg_cel_entry *entries, size_t i)
{
    if (map->kind == TG_CEL_MAP_ATTRIBUTE_DOMAINS || map->kind == TG_CEL_MAP_CAPACITY_DOMAINS)
        return first_of_domain(entries, i);
    return in_domain(&entries[i], map->domain, map->domain_n);
}

size_t tg_cel_map_count(const struct tg_cel_map *map)
{
    size_t n = 0, count = 0;
    const struct tg_cel_entry *entries;

    if (map->kind == TG_CEL_MAP_ENTRIES)
        return map->n;
    if (map->kind == TG_CEL_MAP_DEVICE)
        return 4;
    entries = entries_of(map, &n);
    for (size_t i = 0; i < n; i++)
        count += counts(map, entries, i) ? 1 : 0;
    return count;
}

static bool device_entries(struct tg_cel_scratch *scratch, const struct tg_cel_map *map,
                           struct tg_cel_value *keys, struct tg_cel_value *values)
{
    static const char *const names[] = {"driver", "attributes", "capacity",
                                        "allowMultipleAllocations"};

    for (size_t i = 0; i < 4; i++) {
        bool no_memory = false;

        keys[i] = tg_cel_text(names[i], strlen(names[i]));
        if (find_field(scratch, map->device, &keys[i], &values[i], &no_memory) == NULL)
            return false;
    }
    return true;
}

static bool view_entries(struct tg_cel_scratch *scratch, const struct tg_cel_map *map,
                         struct tg_cel_value *keys, struct tg_cel_value *values)
{
    bool domains =
        map->kind == TG_CEL_MAP_ATTRIBUTE_DOMAINS || map->kind == TG_CEL_MAP_CAPACITY_DOMAINS;
    size_t n = 0, at = 0;
    struct tg_cel_entry *entries = entries_of(map, &n);

    for (size_t i = 0; i < n; i++) {
        bool present = false, no_memory = false;

        if (!counts(map, entries, i))
            continue;
        keys[at] = domains ? tg_cel_text(entries[i].domain, entries[i].domain_n)
                           : tg_cel_text(entries[i].name, entries[i].name_n);
        if (!parse_value(scratch, &entries[i], &no_memory) && no_memory)
            return false;
        values[at] = entries[i].value;
        if (domains &&
            find_domain(scratch, map, &keys[at], &values[at], &present, &no_memory) == NULL)
            return false;
        at++;
    }
    return true;
}

bool tg_cel_map_entries(struct tg_cel_scratch *scratch, const struct tg_cel_map *map,
                        struct tg_cel_value **ret_keys, struct tg_cel_value **ret_values,
                        size_t *ret_n)
{
    size_t n = tg_cel_map_count(map);
    struct tg_cel_value *keys = tg_cel_alloc(scratch, (n + 1) * sizeof(*keys));
    struct tg_cel_value *values = tg_cel_alloc(scratch, (n + 1) * sizeof(*values));

    if (keys == NULL || values == NULL)
        return false;
    *ret_keys = keys;
    *ret_n = n;
    if (ret_values != NULL)
        *ret_values = values;
    if (map->kind == TG_CEL_MAP_DEVICE)
        return device_entries(scratch, map, keys, values);
    if (map->kind != TG_CEL_MAP_ENTRIES)
        return view_entries(scratch, map, keys, values);
    for (size_t i = 0; i < n; i++) {
        keys[i] = map->buffer->items[2 * i];
        values[i] = map->buffer->items[2 * i + 1];
    }
    return true;
}

/* A buffer of its own with room for `capacity` entries. */
static struct tg_cel_buffer *copy_buffer(struct tg_cel_scratch *scratch,
                                         const struct tg_cel_map *map, size_t capacity)
{
    struct tg_cel_buffer *b = tg_cel_alloc(scratch, sizeof(*b));

    if (b == NULL)
        return NULL;
    *b = (struct tg_cel_buffer){.used = 2 * map->n, .capacity = 2 * capacity};
    b->items = tg_cel_alloc(scratch, b->capacity * sizeof(struct tg_cel_value));
    if (b->items == NULL)
        return NULL;
    if (map->n > 0)
        memcpy(b->items, map->buffer->items, b->used * sizeof(struct tg_cel_value));
    if (capacity > SMALL) {
        b->index_size = 16;
        while (b->index_size < 2 * capacity)
            b->index_size *= 2;
        b->index = tg_cel_alloc(scratch, b->index_size * sizeof(*b->index));
        if (b->index == NULL)
            return NULL;
        memset(b->index, 0, b->index_size * sizeof(*b->index));
        for (size_t i = 0; i < map->n; i++)
            index_add(b, i);
    }
    return b;
}

enum tg_cel_put tg_cel_map_put(struct tg_cel_scratch *scratch, const struct tg_cel_map *map,
                               const struct tg_cel_value *key, const struct tg_cel_value *value,
                               bool replace, struct tg_cel_value *ret)
{
    size_t at = map->n == 0 ? 0 : find_exact(map, key);
    struct tg_cel_buffer *b = map->buffer;
    bool there = map->n > 0 && at < map->n;
    struct tg_cel_map *grown;

    if (there && !replace)
        return TG_CEL_PUT_REPEATED;
    if (b == NULL || there || b->used != 2 * map->n || b->used == b->capacity)
        b = copy_buffer(scratch, map, map->n < 4 ? 8 : map->n * 2);
    grown = tg_cel_alloc(scratch, sizeof(*grown));
    if (b == NULL || grown == NULL)
        return TG_CEL_PUT_NO_MEMORY;
    if (!there) {
        b->items[b->used] = *key;
        b->used += 2;
        if (b->index != NULL)
            index_add(b, map->n);
    }
    b->items[2 * at + 1] = *value;
    *grown =
        (struct tg_cel_map){.kind = TG_CEL_MAP_ENTRIES, .n = map->n + (there ? 0 : 1), .buffer = b};
    *ret = (struct tg_cel_value){.tag = TG_CEL_V_MAP, .map = grown};
    return TG_CEL_PUT;
}

/* Equality needs no memory of the evaluation: the views that it makes are two small structs. */
enum tg_cel_equality tg_cel_map_equal(const struct tg_cel_map *a, const struct tg_cel_map *b)
{
    char memory[4096] __attribute__((aligned(16)));
    struct tg_cel_scratch scratch;
    struct tg_cel_value *keys = NULL, *values = NULL;
    enum tg_cel_equality result = TG_CEL_EQUAL;
    size_t n = 0;

    if (tg_cel_map_count(a) != tg_cel_map_count(b))
        return TG_CEL_UNEQUAL;
    tg_cel_scratch_init(&scratch, memory, sizeof(memory), TG_ARENA_UNLIMITED);
    if (!tg_cel_map_entries(&scratch, a, &keys, &values, &n))
        result = TG_CEL_UNEQUAL;
    for (size_t i = 0; i < n && result == TG_CEL_EQUAL; i++) {
        struct tg_cel_value storage;
        bool present = false, no_memory = false;
        const struct tg_cel_value *other =
            tg_cel_map_find(&scratch, b, &keys[i], &storage, &present, &no_memory);

        if (other == NULL || !present || tg_cel_equal(&values[i], other) != TG_CEL_EQUAL)
            result = TG_CEL_UNEQUAL;
    }
    tg_cel_scratch_done(&scratch);
    return result;
}
