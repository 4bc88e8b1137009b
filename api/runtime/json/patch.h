/* SPDX-License-Identifier: Apache-2.0 */
/* JSON patches (RFC 6902) with the tests that make them safe. Merge patches are written with
 * encode.h. */
#ifndef TG_RUNTIME_JSON_PATCH_H
#define TG_RUNTIME_JSON_PATCH_H

#include "api/runtime/json/encode.h"

struct tg_json_patch {
    struct tg_json_writer w;
};
/* Begins "[". Paths are given unescaped as NULL-terminated segments; ~ and / in them are escaped.
 */
void tg_json_patch_init(struct tg_json_patch *p, struct tg_buf *out);
/* Each writes one operation; value is complete JSON text. */
void tg_json_patch_test(struct tg_json_patch *p, const char *value, const char *segment, ...)
    __attribute__((sentinel));
void tg_json_patch_add(struct tg_json_patch *p, const char *value, const char *segment, ...)
    __attribute__((sentinel));
void tg_json_patch_replace(struct tg_json_patch *p, const char *value, const char *segment, ...)
    __attribute__((sentinel));
void tg_json_patch_remove(struct tg_json_patch *p, const char *segment, ...)
    __attribute__((sentinel));
/* Ends "]". */
int tg_json_patch_finish(struct tg_json_patch *p, struct tg_error *err);

/* Appends s as a JSON string with quotes. */
void tg_json_quote(struct tg_buf *out, const char *s);

#endif
