/* SPDX-License-Identifier: Apache-2.0 */
/* What a plain scalar means: the core schema of YAML 1.2 (chapter 10.3). Private to this folder. */
#ifndef TG_RUNTIME_YAML_SCALAR_H
#define TG_RUNTIME_YAML_SCALAR_H

#include "api/runtime/base/buf.h"
#include "api/runtime/json/value.h"

struct tg_yaml_scalar {
    enum tg_json_kind kind; /* NULL, BOOL, NUMBER or STRING */
    bool boolean;
};

/* Numbers are appended to `number` as JSON writes them. Returns NULL, or what is wrong: readers of
 * YAML 1.1 and 1.2 disagree about the value (leading zeros), or JSON cannot express it (infinities,
 * integers in hexadecimal beyond 64 bits). */
const char *tg_yaml_scalar_resolve(const char *text, size_t n, struct tg_yaml_scalar *ret,
                                   struct tg_buf *number);

#endif
