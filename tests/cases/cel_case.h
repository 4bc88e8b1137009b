/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON of a case: typed values, types, devices. All in the arena; -1: not understood. */
#ifndef TG_TESTS_CASES_CEL_CASE_H
#define TG_TESTS_CASES_CEL_CASE_H

#include "api/runtime/json/value.h"
#include "controller/core/cel/map.h"

int case_value(const struct tg_json *json, struct tg_arena *arena, struct tg_cel_value *ret);
int case_type(const struct tg_json *json, struct tg_arena *arena, const struct tg_cel_type **ret);
/* lists: attributes that are lists are read; otherwise they are -2, "unsupported attribute value".
 */
int case_device(const struct tg_json *json, bool lists, struct tg_arena *arena,
                struct tg_cel_device *ret);
/* Our JSON has no NUL in strings, the cases do: in the text of a file \u0000 becomes \ue000, a
 * character that no case uses, and in a string of it NUL again. */
void case_hide_nul(char *json, size_t n);
const char *case_show_nul(const char *text, struct tg_arena *arena, size_t *ret_n);
/* Equal as a case means it: NaN is like NaN, int and uint are not alike. */
bool case_same(const struct tg_cel_value *a, const struct tg_cel_value *b);
/* For people, cut to fit; returns out. */
const char *case_show(const struct tg_cel_value *v, char *out, size_t n);

#endif
