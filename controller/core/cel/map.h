/* SPDX-License-Identifier: Apache-2.0 */
/* Maps: those that an expression builds, and the views of a device. */
#ifndef TG_CORE_CEL_MAP_H
#define TG_CORE_CEL_MAP_H

#include "controller/core/cel/value.h"

/* A key and its value, put apart by the first '/' of its name. */
struct tg_cel_entry {
    const char *domain, *name;
    size_t domain_n, name_n;
    struct tg_cel_value value;
    const char *quantity; /* not NULL: the value is this text and has not been wanted yet */
};

struct tg_cel_device {
    const char *driver;
    size_t driver_n;
    bool allow_multiple_allocations;
    struct tg_cel_entry *attributes, *capacity;
    size_t n_attributes, n_capacity;
};

/* The value of a key; numbers are found whatever their type. Of device.attributes and
 * device.capacity an unknown domain is an empty map (`present` tells); NULL: no such key. The
 * result lives in the map or in *storage. */
const struct tg_cel_value *tg_cel_map_find(struct tg_cel_scratch *scratch,
                                           const struct tg_cel_map *map,
                                           const struct tg_cel_value *key,
                                           struct tg_cel_value *storage, bool *present,
                                           bool *no_memory);
/* An attribute or capacity of a device, or NULL. */
const struct tg_cel_value *tg_cel_device_find(struct tg_cel_scratch *scratch,
                                              const struct tg_cel_device *device, bool capacity,
                                              const struct tg_cel_value *domain, const char *name,
                                              size_t name_n, bool *no_memory);
size_t tg_cel_map_count(const struct tg_cel_map *map);
/* All keys and values, in turn; false: out of memory. values may be NULL. */
bool tg_cel_map_entries(struct tg_cel_scratch *scratch, const struct tg_cel_map *map,
                        struct tg_cel_value **ret_keys, struct tg_cel_value **ret_values,
                        size_t *ret_n);

enum tg_cel_put { TG_CEL_PUT, TG_CEL_PUT_REPEATED, TG_CEL_PUT_NO_MEMORY };
/* map with one entry more; ret and map may be the same. A key that is there already: replaced when
 * `replace` is set, REPEATED otherwise. */
enum tg_cel_put tg_cel_map_put(struct tg_cel_scratch *scratch, const struct tg_cel_map *map,
                               const struct tg_cel_value *key, const struct tg_cel_value *value,
                               bool replace, struct tg_cel_value *ret);
bool tg_cel_map_make(struct tg_cel_scratch *scratch, enum tg_cel_map_kind kind,
                     const struct tg_cel_device *device, struct tg_cel_value *ret);
enum tg_cel_equality tg_cel_map_equal(const struct tg_cel_map *a, const struct tg_cel_map *b);

#endif
