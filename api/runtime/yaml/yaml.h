/* SPDX-License-Identifier: Apache-2.0 */
/* YAML in, the JSON tree out (YAML 1.2 core scalars as Kubernetes reads them: true/false, null/~,
 * numbers, else string). */
#ifndef TG_RUNTIME_YAML_YAML_H
#define TG_RUNTIME_YAML_YAML_H

#include "api/runtime/json/value.h"

/* Exactly one document. Refused with line and column: anchors, aliases, tags other than the core
 * ones, duplicate keys, non-string keys, depth > 64, more than one document, arena budget
 * exhausted. */
int tg_yaml_parse(const char *data, size_t n, struct tg_arena *arena, struct tg_json **ret,
                  struct tg_error *err);
/* A stream of 1..max documents; empty documents are skipped. */
int tg_yaml_parse_all(const char *data, size_t n, size_t max, struct tg_arena *arena,
                      struct tg_json ***ret, size_t *ret_n, struct tg_error *err);

#endif
