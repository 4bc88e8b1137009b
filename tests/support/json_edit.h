/* SPDX-License-Identifier: Apache-2.0 */
/* Editing of JSON trees in an arena: what an API server does with the patches that it is sent. */
#ifndef TG_TESTS_SUPPORT_JSON_EDIT_H
#define TG_TESTS_SUPPORT_JSON_EDIT_H

#include "api/runtime/json/value.h"

/* Parses; ' stands for " outside of nothing at all, so that tests stay readable: every ' is
 * replaced. Fails the test on bad JSON. */
struct tg_json *tg_edit_parse_quoted(const char *text, struct tg_arena *arena);
/* Parses as it is; fails the test on bad JSON. */
struct tg_json *tg_edit_parse(const char *text, struct tg_arena *arena);
/* Compact text in the arena. */
const char *tg_edit_text(const struct tg_json *value, struct tg_arena *arena);

/* Member or item by a path of keys and indexes, NULL-terminated; NULL if there is none. */
struct tg_json *tg_edit_at(struct tg_json *root, ...) __attribute__((sentinel));
const char *tg_edit_string_at(struct tg_json *root, const char *key, const char *second);

/* Sets a member of an object (replacing it in place), or with value NULL removes it. */
void tg_edit_set(struct tg_json *object, const char *key, struct tg_json *value,
                 struct tg_arena *arena);
/* The member, made an empty object if it is absent. */
struct tg_json *tg_edit_object(struct tg_json *object, const char *key, struct tg_arena *arena);
struct tg_json *tg_edit_new_string(const char *text, struct tg_arena *arena);

/* RFC 7386. */
struct tg_json *tg_edit_merge(struct tg_json *target, struct tg_json *patch,
                              struct tg_arena *arena);
/* RFC 6902: test, add, replace, remove. -1 if an operation fails; *ret_why says which. */
int tg_edit_patch(struct tg_json *root, const struct tg_json *patch, struct tg_arena *arena,
                  const char **ret_why);

#endif
