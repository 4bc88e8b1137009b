/* SPDX-License-Identifier: Apache-2.0 */
/* Where a kind lives in the API and how it looks: the one table behind client and informers. */
#ifndef TG_KUBERNETES_OBJECTS_KINDS_H
#define TG_KUBERNETES_OBJECTS_KINDS_H

#include "api/kubernetes/objects/meta.h"

struct tg_kind {
    const char *kind;     /* "ResourceClaim" */
    const char *group;    /* "resource.k8s.io"; "" = core */
    const char *version;  /* "v1" */
    const char *resource; /* "resourceclaims" */
    bool namespaced;
    const struct tg_type *type; /* of a struct that begins with struct tg_object */
    /* Drops what nobody reads of an object of which there may be very many; NULL: nothing. */
    void (*trim)(struct tg_object *object);
};

/* Kinds of other groups (Gang) are declared where their types are (api/tangram). */
extern const struct tg_kind tg_kind_pod, tg_kind_node, tg_kind_namespace, tg_kind_event,
    tg_kind_lease, tg_kind_resource_slice, tg_kind_resource_claim, tg_kind_resource_claim_template,
    tg_kind_device_class, tg_kind_device_taint_rule, /* resource.k8s.io/v1: 1.37+ */
    tg_kind_persistent_volume, tg_kind_persistent_volume_claim, tg_kind_storage_class;

/* "v1" or "resource.k8s.io/v1", into out; returns out. */
const char *tg_kind_api_version(const struct tg_kind *kind, char out[128]);

#endif
