/* SPDX-License-Identifier: Apache-2.0 */
/* Times as the Kubernetes API writes them: metav1.Time (whole seconds) and metav1.MicroTime (six
 * digits), always in UTC; read as Go's time.Parse(time.RFC3339) reads them, which is more than the
 * RFC allows: any offset (24 hours and 60 minutes included), any number of digits of a second
 * behind a point or a comma, an hour of one digit. */
#ifndef TG_KUBERNETES_VALUES_RFC3339_H
#define TG_KUBERNETES_VALUES_RFC3339_H

#include <stdint.h>

#include "api/runtime/base/error.h"

/* Nanoseconds since 1970; digits beyond nanoseconds are dropped. TG_INVALID_ARGUMENT;
 * TG_OUT_OF_RANGE outside 1677..2262. */
int tg_time_parse(const char *s, int64_t *ret_unix_ns, struct tg_error *err);
/* "2026-11-30T07:37:10Z" of seconds since 1970. */
void tg_time_format_seconds(int64_t unix_s, char out[32]);
/* "2026-11-30T07:37:10.123456Z" of nanoseconds since 1970, rounded down (Lease times). */
void tg_time_format_micro(int64_t unix_ns, char out[32]);

#endif
