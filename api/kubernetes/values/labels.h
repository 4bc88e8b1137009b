/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Label requirements as LabelSelector.matchExpressions and NodeSelectorTerm.matchExpressions have
 * them, and label selectors as text ("a=b,c in (d,e),!f"). Rules: apimachinery
 * pkg/labels/selector.go.
 *
 * A label that is absent matches NotIn and DoesNotExist, nothing else. Gt and Lt compare integers
 * of 64 bits; a label that is none does not match. That a NodeSelector ORs its terms, and that an
 * empty term matches no node, is the caller's part.
 */
#ifndef TG_KUBERNETES_VALUES_LABELS_H
#define TG_KUBERNETES_VALUES_LABELS_H

#include <stdbool.h>
#include <stddef.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/base/buf.h"
#include "api/runtime/base/error.h"

struct tg_requirement {
    const char *key;
    const char *operator; /* In NotIn Exists DoesNotExist Gt Lt */
    const char *const *values;
    size_t n_values;
};

/* The value of a label, NULL if it is absent. */
typedef const char *(*tg_label_get)(void *data, const char *key);

/* TG_INVALID_ARGUMENT: a bad key, an unknown operator, the wrong number or form of values. */
int tg_requirement_check(const struct tg_requirement *requirement, struct tg_error *err);
/* An unknown operator or a wrong number of values matches nothing. That keys and values have the
 * right form is not looked at: the API server does that. */
bool tg_requirement_matches(const struct tg_requirement *requirement, tg_label_get get, void *data);
/* All of them (none: true). */
bool tg_requirements_match(const struct tg_requirement *requirements, size_t n, tg_label_get get,
                           void *data);

/* Requirements and strings are the arena's. "" gives none, which match everything.
 * TG_INVALID_ARGUMENT, TG_RESOURCE_EXHAUSTED. */
int tg_label_selector_parse(const char *s, struct tg_arena *arena, struct tg_requirement **ret,
                            size_t *ret_n, struct tg_error *err);
/* Appends the text that the API server takes as labelSelector; requirements must be valid. 0 or -1
 * (buffer full). */
int tg_label_selector_format(const struct tg_requirement *requirements, size_t n,
                             struct tg_buf *out);

#endif
