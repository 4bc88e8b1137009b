/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filling in a device, attribute by attribute. Once the arena is exhausted the rest is skipped:
 * check tg_arena_exhausted at the end.
 */
#ifndef TG_DRIVER_PROVIDER_MAKER_H
#define TG_DRIVER_PROVIDER_MAKER_H

#include <stdint.h>

#include "driver/provider/provider.h"

struct tg_device_maker {
    struct tg_arena *arena;
    struct tg_provider_device *to;
};

/* Makes room for that many attributes and capacities. `name` is copied. */
void tg_device_maker_init(struct tg_device_maker *maker, struct tg_arena *arena, const char *name,
                          size_t attributes, size_t capacities, struct tg_provider_device *to);
/* Keys are borrowed, values copied. A NULL or empty value is left out: nothing false is published.
 */
void tg_device_maker_string(struct tg_device_maker *maker, const char *key, const char *value);
void tg_device_maker_version(struct tg_device_maker *maker, const char *key, const char *value);
void tg_device_maker_int(struct tg_device_maker *maker, const char *key, int64_t value);
void tg_device_maker_quantity(struct tg_device_maker *maker, const char *key, const char *value);
void tg_device_maker_count(struct tg_device_maker *maker, const char *key, uint64_t value);
/* Puts `value`, whose strings and key are copied, in the place of the attribute of that key, or
 * adds it. */
void tg_device_maker_replace(struct tg_device_maker *maker, const struct tg_keyed_attribute *value);
/* Sorts the attributes by key. */
void tg_device_maker_finish(struct tg_device_maker *maker);

/* The variable by which a container knows the device, TANGRAM_DEVICE_<NAME>=<uuid>: the name in
 * upper case with _ for -. NULL when the arena is exhausted. */
const char *tg_device_variable(struct tg_arena *arena, const char *name, const char *uuid);

#endif
