/* SPDX-License-Identifier: Apache-2.0 */
/* What validate looks at: one document at a time, by the decoders and compilers that the controller
 * uses itself. */
#ifndef TG_CONTROLLER_CLI_CHECK_H
#define TG_CONTROLLER_CLI_CHECK_H

#include "controller/cli/documents.h"
#include "controller/core/cel/selector.h"

struct tg_check_run {
    struct tg_problems *problems;
    struct tg_arena *arena;
    const struct tg_documents *documents; /* all of them: what refers to what */
    struct tg_selector_options selectors; /* the Kubernetes release that is checked for */
    unsigned minor;
};

/* false: the kind is not looked at. */
bool tg_check_document(struct tg_check_run *run, const struct tg_document *document);

/* --- for the parts of the check --- */

/* A place in a document. */
struct tg_check_at {
    struct tg_check_run *run;
    const struct tg_document *document;
    const struct tg_json *value;
    const char *path;
};

void tg_check_problem(const struct tg_check_at *at, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The member (or item) of the value; value NULL if it is not there. */
struct tg_check_at tg_check_member(const struct tg_check_at *at, const char *key);
struct tg_check_at tg_check_item(const struct tg_check_at *at, size_t index);
/* Items of a list; 0 if it is none, which is a problem unless it is absent. */
size_t tg_check_items(const struct tg_check_at *at);
/* The same; more than `most` of them are a problem, and what is beyond is not looked at: names are
 * compared with all before them. */
size_t tg_check_most(const struct tg_check_at *at, size_t most);
/* Has an item before the one at index the same text at the key? */
bool tg_check_is_twice(const struct tg_check_at *list, size_t index, const char *key);
/* Members that the table does not have, in all depths; metadata and status are not looked at. */
void tg_check_fields(const struct tg_check_at *at, const struct tg_type *type);

/* check_claim.c: spec of a claim, a class, a pod. */
void tg_check_claim_spec(const struct tg_check_at *spec);
void tg_check_class(const struct tg_check_at *root);
/* check_slice.c */
void tg_check_slice(const struct tg_check_at *root);
/* check_pod.c */
void tg_check_pod(const struct tg_check_at *pod);

#endif
