/* SPDX-License-Identifier: Apache-2.0 */
/* What holds after the last transition of a zone: "CET-1CEST,M3.5.0,M10.5.0/3" (TZ of POSIX, with
 * the extensions of RFC 8536). */
#ifndef TG_CORE_CEL_ZONE_RULE_H
#define TG_CORE_CEL_ZONE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seconds east of UTC at that time; false: no such rule. */
bool tg_cel_zone_rule_offset(const char *rule, size_t n, int64_t at, int64_t *ret);

#endif
