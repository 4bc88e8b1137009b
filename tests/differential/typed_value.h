/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values and types as the shared cases write them: {"t": "int", "v": "1"}; numbers are strings,
 * bytes are {"t": "bytes", "hex": "00ff"}, a map is a list of pairs, an absent optional has no v.
 * Types are "int64", {"list": T} or {"map": [K, V]}.
 */
#ifndef TG_TESTS_DIFFERENTIAL_TYPED_VALUE_H
#define TG_TESTS_DIFFERENTIAL_TYPED_VALUE_H

#include "api/runtime/base/buf.h"
#include "api/runtime/json/value.h"
#include "controller/core/cel/map.h"

/* Appends the typed form; a failure stays visible in out. scratch: for the entries of maps. */
void typed_value_write(const struct tg_cel_value *value, struct tg_cel_scratch *scratch,
                       struct tg_buf *out);
/* The value lives in scratch and in the arena of json. */
int typed_value_read(const struct tg_json *json, struct tg_cel_scratch *scratch,
                     struct tg_cel_value *ret, struct tg_error *err);
int typed_value_read_type(const struct tg_json *json, struct tg_arena *arena,
                          const struct tg_cel_type **ret, struct tg_error *err);
/* A JSON string of n bytes of UTF-8, quotes included. */
void typed_value_quote(const char *text, size_t n, struct tg_buf *out);

#endif
