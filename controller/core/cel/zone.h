/* SPDX-License-Identifier: Apache-2.0 */
/* Time zones by name. Where their data comes from the caller says: the core reads no files. */
#ifndef TG_CORE_CEL_ZONE_H
#define TG_CORE_CEL_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tg_cel_zones {
    /* The data of a zone (TZif, RFC 8536), valid as long as an evaluation takes at least; NULL:
     * there is no such zone. The same for the same name each time. */
    const void *(*find)(void *context, const char *name, size_t *ret_n);
    void *context;
};

/* Seconds east of UTC at that time: "Australia/Sydney", "UTC", "Local" (which is UTC), "",
 * "+05:30",
 * "-01:00". zones: NULL for none beyond those. false: there is no such zone. */
bool tg_cel_zone_offset(const struct tg_cel_zones *zones, const char *name, size_t n, int64_t at,
                        int64_t *ret);

#endif
