/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of an expression, with their place: "LINE:COLUMN: what\n | the line\n | ....^". */
#ifndef TG_CORE_CEL_REPORT_H
#define TG_CORE_CEL_REPORT_H

#include <stddef.h>

#include "api/runtime/base/error.h"

struct tg_cel_source {
    const char *text; /* valid UTF-8 */
    size_t n;
};

/* offset: in bytes, up to source->n. Columns count characters from 1. A long line is shown in part.
 * Returns -code. */
int tg_cel_report(struct tg_error *err, enum tg_code code, const struct tg_cel_source *source,
                  size_t offset, const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
