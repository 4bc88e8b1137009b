/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From field tables to the YAML of a CustomResourceDefinition. The tables that decode and encode
 * are the only description of the API: each field's `schema` pointer adds what JSON alone does not
 * say.
 */
#ifndef TG_TANGRAM_SCHEMA_H
#define TG_TANGRAM_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/error.h"
#include "api/runtime/json/field.h"

/* One x-kubernetes-validations entry; message is what the user reads. */
struct tg_schema_rule {
    const char *rule;
    const char *message;
};

/* What a field's `schema` points to. Zeroed members are left out. Limits are those of OpenAPI v3 in
 * a structural schema (apiextensions.k8s.io/v1, JSONSchemaProps). */
struct tg_schema {
    const char *description;   /* required: every field says what it means */
    const char *const *values; /* enum, NULL-terminated; strings only */
    const char *pattern;       /* of a string, or of the items of a list of strings */
    const char *format;
    int64_t minimum, maximum;      /* of an integer; given when maximum > minimum */
    size_t min_length, max_length; /* of a string, or of the items of a list of strings */
    size_t min_items;              /* the maximum is the field table's max_items */
    const char *list_key; /* list of objects keyed by this field (x-kubernetes-list-type: map) */
    bool set;             /* list of strings without duplicates (x-kubernetes-list-type: set) */
    bool free_form;       /* RAW: x-kubernetes-preserve-unknown-fields */
    /* Each terminated by an entry without a rule. */
    const struct tg_schema_rule *rules;
    const struct tg_schema_rule *item_rules; /* of each item of a list of objects */
};

struct tg_schema_column {
    const char *name;
    const char *type;      /* string, integer, date */
    const char *json_path; /* ".status.phase" */
    const char *description;
    int priority; /* 1: only with -o wide */
};

struct tg_crd {
    const char *group, *version, *kind, *plural, *singular;
    const char *const *short_names; /* NULL-terminated */
    const char *const *categories;  /* NULL-terminated */
    const char *description;
    size_t max_name;            /* of metadata.name; 0: as long as the API allows */
    const struct tg_type *type; /* top-level fields apiVersion, kind and metadata are known to the
                                   server and get no schema of ours */
    const struct tg_schema_column *columns;
    size_t n_columns;
};

/* Appends the whole YAML document, the same bytes every time. The status subresource is on.
 * TG_INVALID_ARGUMENT names the field that has no description or cannot be expressed. */
int tg_schema_write_crd(const struct tg_crd *crd, struct tg_buf *out, struct tg_error *err);

#endif
