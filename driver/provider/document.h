/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents of an operator (inventories, drop-ins), read strictly: YAML whose every field is known,
 * errors with file, line and field. Only for this folder.
 */
#ifndef TG_DRIVER_PROVIDER_DOCUMENT_H
#define TG_DRIVER_PROVIDER_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"
#include "api/runtime/json/value.h"

/* Where we are in the document. */
struct tg_document_place {
    const char *file;       /* for messages */
    struct tg_arena *arena; /* of what is decoded */
    char path[160];         /* "cards[1].attributes" */
};

/* A field of a mapping. */
struct tg_document_field {
    const char *name;
    bool required;
    int (*decode)(struct tg_document_place *at, const struct tg_json *value, void *target,
                  struct tg_error *err);
};

/* TG_INVALID_ARGUMENT: "FILE:LINE: PATH.KEY: WHAT". */
int tg_document_fail(const struct tg_document_place *at, const struct tg_json *value,
                     const char *key, const char *what, struct tg_error *err);
int tg_document_exhausted(const struct tg_document_place *at, struct tg_error *err);
/* Decodes the fields of a mapping; unknown ones and those that are missing are errors. */
int tg_document_object(struct tg_document_place *at, const struct tg_json *object,
                       const struct tg_document_field *fields, size_t n, void *target,
                       struct tg_error *err);
/* A text that is not empty. */
int tg_document_string(const struct tg_document_place *at, const struct tg_json *value,
                       const char *key, const char **ret, struct tg_error *err);
/* The fields apiVersion and kind. */
int tg_document_api_version(struct tg_document_place *at, const struct tg_json *value, void *target,
                            struct tg_error *err);
int tg_document_kind(const struct tg_document_place *at, const struct tg_json *value,
                     const char *wanted, struct tg_error *err);

struct tg_document_attributes {
    TG_LIST_OF(struct tg_keyed_attribute) list;
};
/* {KEY: {string: S} | {int: N} | {bool: B} | {version: V}}, each as the API server takes it. Keys
 * of `refused` (ended by NULL) are errors that say `why`. */
int tg_document_read_attributes(const struct tg_document_place *at, const struct tg_json *value,
                                const char *const *refused, const char *why,
                                struct tg_document_attributes *ret, struct tg_error *err);

#endif
