/* SPDX-License-Identifier: Apache-2.0 */
/* Writing JSON: from field tables, and by hand. Output is compact, as Go's encoding/json writes it
 * for equal keys. */
#ifndef TG_RUNTIME_JSON_ENCODE_H
#define TG_RUNTIME_JSON_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/error.h"
#include "api/runtime/json/field.h"
#include "api/runtime/json/value.h"

/* Fields in table order; absent ones left out; RAW pasted as it is (checked to be one valid JSON
 * value). */
int tg_json_encode(const struct tg_type *type, const void *object, struct tg_buf *out,
                   struct tg_error *err);

/* By hand. Errors are sticky in the buffer (buf.h), so only the end is checked. Commas are placed
 * by the writer. */
struct tg_json_writer {
    struct tg_buf *out;
    unsigned depth;
    bool need_comma[65];
    bool invalid; /* a raw value inside tg_jw_kv_object was no JSON */
};
void tg_json_writer_init(struct tg_json_writer *w, struct tg_buf *out);
void tg_jw_begin_object(struct tg_json_writer *w);
void tg_jw_end_object(struct tg_json_writer *w);
void tg_jw_begin_array(struct tg_json_writer *w);
void tg_jw_end_array(struct tg_json_writer *w);
void tg_jw_key(struct tg_json_writer *w, const char *key);
void tg_jw_string(struct tg_json_writer *w,
                  const char *s); /* NULL writes null; invalid UTF-8 becomes ? */
void tg_jw_int(struct tg_json_writer *w, int64_t v);
void tg_jw_bool(struct tg_json_writer *w, bool v);
void tg_jw_null(struct tg_json_writer *w);
void tg_jw_raw(struct tg_json_writer *w, const char *json); /* one complete value */
/* key + value; strings that are NULL are left out with their key */
void tg_jw_kv_string(struct tg_json_writer *w, const char *key, const char *s);
void tg_jw_kv_int(struct tg_json_writer *w, const char *key, int64_t v);
void tg_jw_kv_bool(struct tg_json_writer *w, const char *key, bool v);
void tg_jw_kv_raw(struct tg_json_writer *w, const char *key, const char *json);
void tg_jw_kv_object(struct tg_json_writer *w, const char *key, const struct tg_type *type,
                     const void *object);
/* 0, TG_RESOURCE_EXHAUSTED if the buffer's cap was reached, TG_INVALID_ARGUMENT if an object held a
 * raw value that is no JSON; asserts that everything was closed. */
int tg_jw_finish(struct tg_json_writer *w, struct tg_error *err);

#endif
