/* SPDX-License-Identifier: Apache-2.0 */
/* Time zones by name, from the system's database. */
#ifndef TG_CORE_CEL_ZONE_H
#define TG_CORE_CEL_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seconds east of UTC at that time: "Australia/Sydney", "UTC", "", "+05:30", "-01:00". false: there
 * is no such zone. */
bool tg_cel_zone_offset(const char *name, size_t n, int64_t at, int64_t *ret);

#endif
