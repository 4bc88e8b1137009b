/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/objects/meta.h"

#include "api/runtime/base/str.h"

static const struct tg_field owner_reference_fields[] = {
    TG_FIELD_STR(struct tg_owner_reference, api_version, "apiVersion"),
    TG_FIELD_STR(struct tg_owner_reference, kind, "kind"),
    TG_FIELD_OWN_STR(struct tg_owner_reference, name, "name"),
    TG_FIELD_OWN_STR(struct tg_owner_reference, uid, "uid"),
    TG_FIELD_BOOLEAN(struct tg_owner_reference, controller, "controller"),
    TG_FIELD_BOOLEAN(struct tg_owner_reference, block_owner_deletion, "blockOwnerDeletion"),
};
const struct tg_type tg_owner_reference_type =
    TG_TYPE(struct tg_owner_reference, owner_reference_fields);

static const struct tg_field object_meta_fields[] = {
    TG_FIELD_OWN_STR(struct tg_object_meta, name, "name"),
    TG_FIELD_OWN_STR(struct tg_object_meta, generate_name, "generateName"),
    TG_FIELD_STR(struct tg_object_meta, namespace_, "namespace"),
    TG_FIELD_OWN_STR(struct tg_object_meta, uid, "uid"),
    TG_FIELD_OWN_STR(struct tg_object_meta, resource_version, "resourceVersion"),
    TG_FIELD_INTEGER(struct tg_object_meta, generation, "generation"),
    TG_FIELD_OWN_STR(struct tg_object_meta, creation_timestamp, "creationTimestamp"),
    TG_FIELD_OWN_STR(struct tg_object_meta, deletion_timestamp, "deletionTimestamp"),
    TG_FIELD_STR_MAP(struct tg_object_meta, labels, "labels"),
    TG_FIELD_STR_MAP(struct tg_object_meta, annotations, "annotations"),
    TG_FIELD_STR_LIST(struct tg_object_meta, finalizers, "finalizers"),
    TG_FIELD_OWN_OBJ_LIST(struct tg_object_meta, owner_references, "ownerReferences",
                          &tg_owner_reference_type),
};
const struct tg_type tg_object_meta_type = TG_TYPE(struct tg_object_meta, object_meta_fields);

static const struct tg_field condition_fields[] = {
    TG_FIELD_STR(struct tg_condition, type, "type"),
    TG_FIELD_STR(struct tg_condition, status, "status"),
    TG_FIELD_STR(struct tg_condition, reason, "reason"),
    TG_FIELD_STR(struct tg_condition, message, "message"),
    TG_FIELD_OWN_STR(struct tg_condition, last_transition_time, "lastTransitionTime"),
    TG_FIELD_INTEGER(struct tg_condition, observed_generation, "observedGeneration"),
};
const struct tg_type tg_condition_type = TG_TYPE(struct tg_condition, condition_fields);

static const struct tg_field status_fields[] = {
    TG_FIELD_STR(struct tg_status, status, "status"),
    TG_FIELD_STR(struct tg_status, message, "message"),
    TG_FIELD_STR(struct tg_status, reason, "reason"),
    TG_FIELD_INTEGER(struct tg_status, code, "code"),
};
const struct tg_type tg_status_type = TG_TYPE(struct tg_status, status_fields);

static const char *pair_value(const struct tg_string_pair *items, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (tg_streq(items[i].key, key))
            return items[i].value;
    return NULL;
}

const char *tg_meta_label(const struct tg_object_meta *meta, const char *key)
{
    return pair_value(meta->labels.items, meta->labels.n, key);
}

const char *tg_meta_annotation(const struct tg_object_meta *meta, const char *key)
{
    return pair_value(meta->annotations.items, meta->annotations.n, key);
}

bool tg_meta_has_finalizer(const struct tg_object_meta *meta, const char *finalizer)
{
    for (size_t i = 0; i < meta->finalizers.n; i++)
        if (tg_streq(meta->finalizers.items[i], finalizer))
            return true;
    return false;
}

const struct tg_owner_reference *tg_meta_controller(const struct tg_object_meta *meta)
{
    for (size_t i = 0; i < meta->owner_references.n; i++)
        if (meta->owner_references.items[i].controller.value)
            return &meta->owner_references.items[i];
    return NULL;
}

const struct tg_condition *tg_condition_find(const struct tg_condition *items, size_t n,
                                             const char *type)
{
    for (size_t i = 0; i < n; i++)
        if (tg_streq(items[i].type, type))
            return &items[i];
    return NULL;
}
