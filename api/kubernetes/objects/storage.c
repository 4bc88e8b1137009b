/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/objects/storage.h"

#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"

static const struct tg_field affinity_fields[] = {
    TG_FIELD_OBJ(struct tg_volume_node_affinity, required, "required", &tg_node_selector_type),
};
static const struct tg_type affinity_type =
    TG_TYPE(struct tg_volume_node_affinity, affinity_fields);

static const struct tg_field volume_spec_fields[] = {
    TG_FIELD_OBJ(struct tg_persistent_volume_spec, node_affinity, "nodeAffinity", &affinity_type),
};
static const struct tg_type volume_spec_type =
    TG_TYPE(struct tg_persistent_volume_spec, volume_spec_fields);

static const struct tg_field volume_fields[] = {
    TG_FIELD_OWN_OBJ(struct tg_persistent_volume, metadata, "metadata", &tg_object_meta_type),
    TG_FIELD_OBJ(struct tg_persistent_volume, spec, "spec", &volume_spec_type),
};
const struct tg_type tg_persistent_volume_type =
    TG_TYPE(struct tg_persistent_volume, volume_fields);

static const struct tg_field claim_spec_fields[] = {
    TG_FIELD_STR(struct tg_persistent_volume_claim_spec, storage_class_name, "storageClassName"),
    TG_FIELD_STR(struct tg_persistent_volume_claim_spec, volume_name, "volumeName"),
    TG_FIELD_STR_LIST(struct tg_persistent_volume_claim_spec, access_modes, "accessModes"),
};
static const struct tg_type claim_spec_type =
    TG_TYPE(struct tg_persistent_volume_claim_spec, claim_spec_fields);

static const struct tg_field claim_status_fields[] = {
    TG_FIELD_STR(struct tg_persistent_volume_claim_status, phase, "phase"),
};
static const struct tg_type claim_status_type =
    TG_TYPE(struct tg_persistent_volume_claim_status, claim_status_fields);

static const struct tg_field claim_fields[] = {
    TG_FIELD_OWN_OBJ(struct tg_persistent_volume_claim, metadata, "metadata", &tg_object_meta_type),
    TG_FIELD_OBJ(struct tg_persistent_volume_claim, spec, "spec", &claim_spec_type),
    TG_FIELD_OBJ(struct tg_persistent_volume_claim, status, "status", &claim_status_type),
};
const struct tg_type tg_persistent_volume_claim_type =
    TG_TYPE(struct tg_persistent_volume_claim, claim_fields);

static const struct tg_field class_fields[] = {
    TG_FIELD_OWN_OBJ(struct tg_storage_class, metadata, "metadata", &tg_object_meta_type),
    TG_FIELD_STR(struct tg_storage_class, provisioner, "provisioner"),
    TG_FIELD_STR(struct tg_storage_class, volume_binding_mode, "volumeBindingMode"),
    TG_FIELD_OBJ_LIST(struct tg_storage_class, allowed_topologies, "allowedTopologies",
                      &tg_topology_term_type),
};
const struct tg_type tg_storage_class_type = TG_TYPE(struct tg_storage_class, class_fields);

const struct tg_volume_label tg_volume_labels[TG_VOLUME_LABELS] = {
    {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
    {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
    {"topology.kubernetes.io/zone", "topology.kubernetes.io/zone"},
    {"topology.kubernetes.io/region", "topology.kubernetes.io/region"},
};

static bool is_label(const char *key)
{
    for (size_t i = 0; i < TG_VOLUME_LABELS; i++) {
        if (strcmp(tg_volume_labels[i].key, key) == 0)
            return true;
    }
    return false;
}

static bool is_annotation(const char *key)
{
    static const char *const read[] = {TG_VOLUME_BOUND, TG_VOLUME_NODE, TG_VOLUME_CLASS};

    for (size_t i = 0; i < TG_ARRAY_SIZE(read); i++) {
        if (strcmp(read[i], key) == 0)
            return true;
    }
    return false;
}

static bool is_nothing(const char *key)
{
    (void)key;
    return false;
}

static size_t keep(struct tg_string_pair *items, size_t n, bool (*is_read)(const char *key))
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (is_read(items[i].key))
            items[kept++] = items[i];
    }
    return kept;
}

/* Who owns a claim is read: the volumes of a pod that are made for it are its own. */
static void trim(struct tg_object *object, bool (*labels)(const char *key),
                 bool (*annotations)(const char *key))
{
    struct tg_object_meta *meta = object->metadata;

    meta->labels.n = keep(meta->labels.items, meta->labels.n, labels);
    meta->annotations.n = keep(meta->annotations.items, meta->annotations.n, annotations);
    meta->finalizers.n = 0;
    meta->creation_timestamp = NULL;
}

void tg_persistent_volume_trim(struct tg_object *object)
{
    trim(object, is_label, is_nothing);
}

void tg_persistent_volume_claim_trim(struct tg_object *object)
{
    trim(object, is_nothing, is_annotation);
}

void tg_storage_class_trim(struct tg_object *object)
{
    trim(object, is_nothing, is_nothing);
}

const char *tg_persistent_volume_claim_class(const struct tg_persistent_volume_claim *claim)
{
    const char *name = tg_meta_annotation(claim->metadata, TG_VOLUME_CLASS);

    if (name == NULL && claim->spec != NULL)
        name = claim->spec->storage_class_name;
    return name == NULL || name[0] == '\0' ? NULL : name;
}
