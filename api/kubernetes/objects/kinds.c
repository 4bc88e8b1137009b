/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/objects/kinds.h"

#include <stdio.h>

#include "api/kubernetes/objects/coordination.h"
#include "api/kubernetes/objects/core.h"
#include "api/kubernetes/objects/resource.h"
#include "api/kubernetes/objects/storage.h"

#define RESOURCE_GROUP "resource.k8s.io"

const struct tg_kind tg_kind_pod = {"Pod", "", "v1", "pods", true, &tg_pod_type, tg_pod_trim};
const struct tg_kind tg_kind_node = {"Node", "", "v1", "nodes", false, &tg_node_type, NULL};
const struct tg_kind tg_kind_namespace = {"Namespace",        "",  "v1", "namespaces", false,
                                          &tg_namespace_type, NULL};
const struct tg_kind tg_kind_event = {"Event", "", "v1", "events", true, &tg_event_type, NULL};
const struct tg_kind tg_kind_lease = {"Lease", "coordination.k8s.io", "v1", "leases",
                                      true,    &tg_lease_type,        NULL};
const struct tg_kind tg_kind_resource_slice = {
    "ResourceSlice", RESOURCE_GROUP, "v1", "resourceslices", false, &tg_resource_slice_type, NULL};
const struct tg_kind tg_kind_resource_claim = {
    "ResourceClaim", RESOURCE_GROUP, "v1", "resourceclaims", true, &tg_resource_claim_type, NULL};
const struct tg_kind tg_kind_resource_claim_template = {"ResourceClaimTemplate",
                                                        RESOURCE_GROUP,
                                                        "v1",
                                                        "resourceclaimtemplates",
                                                        true,
                                                        &tg_resource_claim_template_type,
                                                        NULL};
const struct tg_kind tg_kind_device_class = {
    "DeviceClass", RESOURCE_GROUP, "v1", "deviceclasses", false, &tg_device_class_type, NULL};
const struct tg_kind tg_kind_device_taint_rule = {"DeviceTaintRule",
                                                  RESOURCE_GROUP,
                                                  "v1",
                                                  "devicetaintrules",
                                                  false,
                                                  &tg_device_taint_rule_type,
                                                  NULL};

const struct tg_kind tg_kind_persistent_volume = {
    "PersistentVolume",       "", "v1", "persistentvolumes", false, &tg_persistent_volume_type,
    tg_persistent_volume_trim};
const struct tg_kind tg_kind_persistent_volume_claim = {
    "PersistentVolumeClaim",        "",   "v1",
    "persistentvolumeclaims",       true, &tg_persistent_volume_claim_type,
    tg_persistent_volume_claim_trim};
const struct tg_kind tg_kind_storage_class = {
    "StorageClass",         "storage.k8s.io",     "v1", "storageclasses", false,
    &tg_storage_class_type, tg_storage_class_trim};

const char *tg_kind_api_version(const struct tg_kind *kind, char out[128])
{
    if (kind->group[0] == '\0')
        snprintf(out, 128, "%s", kind->version);
    else
        snprintf(out, 128, "%s/%s", kind->group, kind->version);
    return out;
}
