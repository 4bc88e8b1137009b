/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device as selectors see it: what they read of it, as bytes. Devices with the same bytes are the
 * same to them, so that what one of them gave need not be found out again (design 5.1, shapes).
 * Private to the model.
 */
#ifndef TG_CORE_MODEL_PROJECTION_H
#define TG_CORE_MODEL_PROJECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "controller/core/cel/selector.h"

#define TG_PROJECTION_MAX 512

struct tg_projection {
    const char *driver;
    unsigned char bytes[TG_PROJECTION_MAX];
    size_t n;
    bool fits; /* false: the bytes do not tell enough, and the device is looked at by itself */
};

/* Of a device with an attribute that fails every selector (no known kind, no version, a list, which
 * only some releases know) there is no projection. */
void tg_projection_init(struct tg_projection *p, const char *driver,
                        const struct tg_device *device);
/* Is the attribute of a known kind, and a version if it says so? */
bool tg_projection_is_sound(const struct tg_device_attribute *attribute);
/* Does the selector read the attribute of that key, or may it? */
bool tg_projection_reads(const struct tg_selector *selector, const char *driver, const char *key);
/* What the selector reads. One that reads more than can be listed has no projection. */
void tg_projection_add(struct tg_projection *p, const struct tg_selector *selector,
                       const struct tg_device *device);

#endif
