/* SPDX-License-Identifier: Apache-2.0 */
/* Durations as text, in the form that Go and so all of Kubernetes reads and prints. */
#ifndef TG_RUNTIME_BASE_DURATION_H
#define TG_RUNTIME_BASE_DURATION_H

#include <stdint.h>

/* "1h2m3s", "1.5s", "-100ms", "0" to nanoseconds, exactly as Go's time.ParseDuration does; what
 * does not fit into int64_t nanoseconds is refused. 0 or -1. */
int tg_parse_duration(const char *s, int64_t *ret);

#define TG_DURATION_TEXT 32 /* bytes that every duration fits into */
/* Writes it as Go's Duration.String does ("1h2m3.5s", "1.5ms", "0s"); returns out. */
const char *tg_format_duration(int64_t duration, char out[static TG_DURATION_TEXT]);

#endif
