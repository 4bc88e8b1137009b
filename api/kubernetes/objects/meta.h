/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ObjectMeta and what every object shares. All strings live in the arena the object was decoded
 * into; NULL = absent. Only the fields that Tangram reads are decoded: objects are never written
 * back whole.
 */
#ifndef TG_KUBERNETES_OBJECTS_META_H
#define TG_KUBERNETES_OBJECTS_META_H

#include <stdbool.h>

#include "api/runtime/json/field.h"

struct tg_owner_reference {
    const char *api_version, *kind, *name, *uid;
    struct tg_opt_bool controller;
    struct tg_opt_bool block_owner_deletion;
};

struct tg_object_meta {
    const char *name, *generate_name, *namespace_, *uid, *resource_version;
    struct tg_opt_int generation;
    const char *creation_timestamp, *deletion_timestamp; /* RFC 3339 */
    TG_LIST_OF(struct tg_string_pair) labels;
    TG_LIST_OF(struct tg_string_pair) annotations;
    TG_LIST_OF(const char *) finalizers;
    TG_LIST_OF(struct tg_owner_reference) owner_references;
};

/* First member of every top-level object. metadata is never NULL in objects that an informer hands
 * out. */
struct tg_object {
    struct tg_object_meta *metadata;
};

/* metav1.Condition, and the conditions of pods and nodes (which lack observedGeneration). */
struct tg_condition {
    const char *type, *status, *reason, *message;
    const char *last_transition_time;
    struct tg_opt_int observed_generation;
};

/* metav1.Status, the body of a refusal. */
struct tg_status {
    const char *status, *message, *reason;
    struct tg_opt_int code;
};

extern const struct tg_type tg_object_meta_type, tg_owner_reference_type, tg_condition_type,
    tg_status_type;

/* Value of a label (annotation), NULL if absent. */
const char *tg_meta_label(const struct tg_object_meta *meta, const char *key);
const char *tg_meta_annotation(const struct tg_object_meta *meta, const char *key);
bool tg_meta_has_finalizer(const struct tg_object_meta *meta, const char *finalizer);
/* The owner with controller=true, or NULL. */
const struct tg_owner_reference *tg_meta_controller(const struct tg_object_meta *meta);
/* The condition of that type, or NULL. */
const struct tg_condition *tg_condition_find(const struct tg_condition *items, size_t n,
                                             const char *type);

#endif
