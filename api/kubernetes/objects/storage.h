/* SPDX-License-Identifier: Apache-2.0 */
/* PersistentVolume, PersistentVolumeClaim (core/v1) and StorageClass (storage.k8s.io/v1), projected
 * to what says where a pod with volumes can run. */
#ifndef TG_KUBERNETES_OBJECTS_STORAGE_H
#define TG_KUBERNETES_OBJECTS_STORAGE_H

#include "api/kubernetes/objects/meta.h"
#include "api/kubernetes/objects/node_selector.h"

struct tg_volume_node_affinity {
    struct tg_node_selector *required;
};
struct tg_persistent_volume_spec {
    struct tg_volume_node_affinity *node_affinity;
};
struct tg_persistent_volume {
    struct tg_object_meta *metadata;
    struct tg_persistent_volume_spec *spec;
};

struct tg_persistent_volume_claim_spec {
    const char *storage_class_name, *volume_name; /* "" names no class */
    TG_LIST_OF(const char *) access_modes;
};
struct tg_persistent_volume_claim_status {
    const char *phase; /* Pending | Bound | Lost */
};
struct tg_persistent_volume_claim {
    struct tg_object_meta *metadata;
    struct tg_persistent_volume_claim_spec *spec;
    struct tg_persistent_volume_claim_status *status;
};

struct tg_storage_class {
    struct tg_object_meta *metadata;
    const char *provisioner, *volume_binding_mode;
    TG_LIST_OF(struct tg_selector_term) allowed_topologies; /* requirements without operator: In */
};

extern const struct tg_type tg_persistent_volume_type, tg_persistent_volume_claim_type,
    tg_storage_class_type;

/* Annotations of claims: the binding is complete; the scheduler has chosen a node; the class, as it
 * was told before spec.storageClassName. */
#define TG_VOLUME_BOUND "pv.kubernetes.io/bind-completed"
#define TG_VOLUME_NODE "volume.kubernetes.io/selected-node"
#define TG_VOLUME_CLASS "volume.beta.kubernetes.io/storage-class"
/* Labels of volumes and nodes that say where they are, the old name of each beside the new one. */
#define TG_VOLUME_LABELS 4
extern const struct tg_volume_label {
    const char *key, *newer; /* newer: the same as key if there is none */
} tg_volume_labels[TG_VOLUME_LABELS];

/* For tg_kind.trim. */
void tg_persistent_volume_trim(struct tg_object *object);
void tg_persistent_volume_claim_trim(struct tg_object *object);
void tg_storage_class_trim(struct tg_object *object);

/* Of the annotation, else of the spec; NULL: none, or the empty one. */
const char *tg_persistent_volume_claim_class(const struct tg_persistent_volume_claim *claim);

#endif
