/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/objects/core.h"

#include <string.h>

#include "api/runtime/base/str.h"

static const struct tg_field named_fields[] = {
    TG_FIELD_STR(struct tg_named, name, "name"),
};
static const struct tg_type named_type = TG_TYPE(struct tg_named, named_fields);

static const struct tg_field pod_claim_fields[] = {
    TG_FIELD_STR(struct tg_pod_claim, name, "name"),
    TG_FIELD_STR(struct tg_pod_claim, resource_claim_name, "resourceClaimName"),
    TG_FIELD_STR(struct tg_pod_claim, resource_claim_template_name, "resourceClaimTemplateName"),
};
static const struct tg_type pod_claim_type = TG_TYPE(struct tg_pod_claim, pod_claim_fields);

static const struct tg_field pod_claim_status_fields[] = {
    TG_FIELD_STR(struct tg_pod_claim_status, name, "name"),
    TG_FIELD_OWN_STR(struct tg_pod_claim_status, resource_claim_name, "resourceClaimName"),
};
static const struct tg_type pod_claim_status_type =
    TG_TYPE(struct tg_pod_claim_status, pod_claim_status_fields);

static const struct tg_field resources_fields[] = {
    TG_FIELD_TEXT_MAP(struct tg_resources, requests, "requests"),
    TG_FIELD_TEXT_MAP(struct tg_resources, limits, "limits"),
};
static const struct tg_type resources_type = TG_TYPE(struct tg_resources, resources_fields);

static const struct tg_field port_fields[] = {
    TG_FIELD_INTEGER(struct tg_container_port, host_port, "hostPort"),
    TG_FIELD_STR(struct tg_container_port, host_ip, "hostIP"),
    TG_FIELD_STR(struct tg_container_port, protocol, "protocol"),
};
static const struct tg_type port_type = TG_TYPE(struct tg_container_port, port_fields);

static const struct tg_field container_fields[] = {
    TG_FIELD_STR(struct tg_container, name, "name"),
    TG_FIELD_OBJ(struct tg_container, resources, "resources", &resources_type),
    TG_FIELD_OBJ_LIST(struct tg_container, ports, "ports", &port_type),
    TG_FIELD_STR(struct tg_container, restart_policy, "restartPolicy"),
};
static const struct tg_type container_type = TG_TYPE(struct tg_container, container_fields);

static const struct tg_field node_affinity_fields[] = {
    TG_FIELD_OBJ(struct tg_node_affinity, required,
                 "requiredDuringSchedulingIgnoredDuringExecution", &tg_node_selector_type),
};
static const struct tg_type node_affinity_type =
    TG_TYPE(struct tg_node_affinity, node_affinity_fields);

static const struct tg_field pod_affinity_fields[] = {
    TG_FIELD_RAWJSON(struct tg_pod_affinity, required,
                     "requiredDuringSchedulingIgnoredDuringExecution"),
};
static const struct tg_type pod_affinity_type =
    TG_TYPE(struct tg_pod_affinity, pod_affinity_fields);

static const struct tg_field affinity_fields[] = {
    TG_FIELD_OBJ(struct tg_affinity, node_affinity, "nodeAffinity", &node_affinity_type),
    TG_FIELD_OBJ(struct tg_affinity, pod_affinity, "podAffinity", &pod_affinity_type),
    TG_FIELD_OBJ(struct tg_affinity, pod_anti_affinity, "podAntiAffinity", &pod_affinity_type),
};
static const struct tg_type affinity_type = TG_TYPE(struct tg_affinity, affinity_fields);

static const struct tg_field spread_fields[] = {
    TG_FIELD_STR(struct tg_pod_spread, when_unsatisfiable, "whenUnsatisfiable"),
    TG_FIELD_STR(struct tg_pod_spread, topology_key, "topologyKey"),
};
static const struct tg_type spread_type = TG_TYPE(struct tg_pod_spread, spread_fields);

static const struct tg_field volume_claim_fields[] = {
    TG_FIELD_STR(struct tg_pod_volume_claim, claim_name, "claimName"),
};
static const struct tg_type volume_claim_type =
    TG_TYPE(struct tg_pod_volume_claim, volume_claim_fields);

static const struct tg_field volume_fields[] = {
    TG_FIELD_STR(struct tg_pod_volume, name, "name"),
    TG_FIELD_OBJ(struct tg_pod_volume, persistent_volume_claim, "persistentVolumeClaim",
                 &volume_claim_type),
    TG_FIELD_RAWJSON(struct tg_pod_volume, ephemeral, "ephemeral"),
};
static const struct tg_type volume_type = TG_TYPE(struct tg_pod_volume, volume_fields);

static const struct tg_field pod_spec_fields[] = {
    TG_FIELD_COMMON_STR(struct tg_pod_spec, node_name, "nodeName"),
    TG_FIELD_STR(struct tg_pod_spec, scheduler_name, "schedulerName"),
    TG_FIELD_STR(struct tg_pod_spec, priority_class_name, "priorityClassName"),
    TG_FIELD_INTEGER(struct tg_pod_spec, priority, "priority"),
    TG_FIELD_OBJ_LIST(struct tg_pod_spec, scheduling_gates, "schedulingGates", &named_type),
    TG_FIELD_OBJ_LIST(struct tg_pod_spec, resource_claims, "resourceClaims", &pod_claim_type),
    TG_FIELD_STR_MAP(struct tg_pod_spec, node_selector, "nodeSelector"),
    TG_FIELD_OBJ(struct tg_pod_spec, affinity, "affinity", &affinity_type),
    TG_FIELD_OBJ_LIST(struct tg_pod_spec, tolerations, "tolerations", &tg_toleration_type),
    TG_FIELD_OBJ_LIST(struct tg_pod_spec, containers, "containers", &container_type),
    TG_FIELD_OBJ_LIST(struct tg_pod_spec, init_containers, "initContainers", &container_type),
    TG_FIELD_TEXT_MAP(struct tg_pod_spec, overhead, "overhead"),
    TG_FIELD_OBJ(struct tg_pod_spec, resources, "resources", &resources_type),
    TG_FIELD_OBJ_LIST(struct tg_pod_spec, topology_spread, "topologySpreadConstraints",
                      &spread_type),
    TG_FIELD_OBJ_LIST(struct tg_pod_spec, volumes, "volumes", &volume_type),
    TG_FIELD_BOOLEAN(struct tg_pod_spec, host_network, "hostNetwork"),
};
static const struct tg_type pod_spec_type = TG_TYPE(struct tg_pod_spec, pod_spec_fields);

static const struct tg_field pod_status_fields[] = {
    TG_FIELD_STR(struct tg_pod_status, phase, "phase"),
    TG_FIELD_STR(struct tg_pod_status, nominated_node_name, "nominatedNodeName"),
    TG_FIELD_OWN_OBJ_LIST(struct tg_pod_status, conditions, "conditions", &tg_condition_type),
    TG_FIELD_OWN_OBJ_LIST(struct tg_pod_status, resource_claim_statuses, "resourceClaimStatuses",
                          &pod_claim_status_type),
};
static const struct tg_type pod_status_type = TG_TYPE(struct tg_pod_status, pod_status_fields);

static const struct tg_field pod_fields[] = {
    TG_FIELD_OWN_OBJ(struct tg_pod, metadata, "metadata", &tg_object_meta_type),
    TG_FIELD_OWN_OBJ(struct tg_pod, spec, "spec", &pod_spec_type),
    TG_FIELD_OWN_OBJ(struct tg_pod, status, "status", &pod_status_type),
};
const struct tg_type tg_pod_type = TG_TYPE(struct tg_pod, pod_fields);

static const struct tg_field pod_content_fields[] = {
    TG_FIELD_OWN_OBJ(struct tg_pod, spec, "spec", &pod_spec_type),
    TG_FIELD_OWN_OBJ(struct tg_pod, status, "status", &pod_status_type),
};
static const struct tg_type pod_content_type = TG_TYPE(struct tg_pod, pod_content_fields);

const struct tg_type *const tg_pod_salvage[] = {&pod_content_type, NULL};

static const struct tg_field node_spec_fields[] = {
    TG_FIELD_BOOLEAN(struct tg_node_spec, unschedulable, "unschedulable"),
    TG_FIELD_OBJ_LIST(struct tg_node_spec, taints, "taints", &tg_taint_type),
};
static const struct tg_type node_spec_type = TG_TYPE(struct tg_node_spec, node_spec_fields);

static const struct tg_field node_status_fields[] = {
    TG_FIELD_OBJ_LIST(struct tg_node_status, conditions, "conditions", &tg_condition_type),
    TG_FIELD_TEXT_MAP(struct tg_node_status, allocatable, "allocatable"),
};
static const struct tg_type node_status_type = TG_TYPE(struct tg_node_status, node_status_fields);

static const struct tg_field node_fields[] = {
    TG_FIELD_OBJ(struct tg_node, metadata, "metadata", &tg_object_meta_type),
    TG_FIELD_OBJ(struct tg_node, spec, "spec", &node_spec_type),
    TG_FIELD_OBJ(struct tg_node, status, "status", &node_status_type),
};
const struct tg_type tg_node_type = TG_TYPE(struct tg_node, node_fields);

static const struct tg_field namespace_status_fields[] = {
    TG_FIELD_STR(struct tg_namespace_status, phase, "phase"),
};
static const struct tg_type namespace_status_type =
    TG_TYPE(struct tg_namespace_status, namespace_status_fields);

static const struct tg_field namespace_fields[] = {
    TG_FIELD_OBJ(struct tg_namespace, metadata, "metadata", &tg_object_meta_type),
    TG_FIELD_OBJ(struct tg_namespace, status, "status", &namespace_status_type),
};
const struct tg_type tg_namespace_type = TG_TYPE(struct tg_namespace, namespace_fields);

static const struct tg_field reference_fields[] = {
    TG_FIELD_STR(struct tg_object_reference, api_version, "apiVersion"),
    TG_FIELD_STR(struct tg_object_reference, kind, "kind"),
    TG_FIELD_STR(struct tg_object_reference, namespace_, "namespace"),
    TG_FIELD_STR(struct tg_object_reference, name, "name"),
    TG_FIELD_STR(struct tg_object_reference, uid, "uid"),
};
static const struct tg_type reference_type = TG_TYPE(struct tg_object_reference, reference_fields);

static const struct tg_field event_fields[] = {
    TG_FIELD_OBJ(struct tg_event, metadata, "metadata", &tg_object_meta_type),
    TG_FIELD_OBJ(struct tg_event, involved_object, "involvedObject", &reference_type),
    TG_FIELD_STR(struct tg_event, reason, "reason"),
    TG_FIELD_STR(struct tg_event, message, "message"),
    TG_FIELD_STR(struct tg_event, type, "type"),
    TG_FIELD_STR(struct tg_event, reporting_component, "reportingComponent"),
    TG_FIELD_STR(struct tg_event, first_timestamp, "firstTimestamp"),
    TG_FIELD_STR(struct tg_event, last_timestamp, "lastTimestamp"),
    TG_FIELD_INTEGER(struct tg_event, count, "count"),
};
const struct tg_type tg_event_type = TG_TYPE(struct tg_event, event_fields);

void tg_pod_trim(struct tg_object *object)
{
    struct tg_pod *pod = (struct tg_pod *)object;

    if (pod->spec == NULL || pod->spec->resource_claims.n > 0)
        return;
    pod->metadata->creation_timestamp = NULL;
    memset(&pod->metadata->owner_references, 0, sizeof(pod->metadata->owner_references));
    if (pod->status != NULL)
        memset(&pod->status->conditions, 0, sizeof(pod->status->conditions));
}

bool tg_pod_finished(const struct tg_pod *pod)
{
    const char *phase = pod->status == NULL ? NULL : pod->status->phase;

    return tg_streq(phase, "Succeeded") || tg_streq(phase, "Failed");
}

bool tg_pod_has_gate(const struct tg_pod *pod, const char *gate)
{
    if (pod->spec == NULL)
        return false;
    for (size_t i = 0; i < pod->spec->scheduling_gates.n; i++)
        if (tg_streq(pod->spec->scheduling_gates.items[i].name, gate))
            return true;
    return false;
}

const char *tg_pod_claim_object(const struct tg_pod *pod, const struct tg_pod_claim *entry)
{
    if (entry->resource_claim_name != NULL)
        return entry->resource_claim_name;
    if (pod->status == NULL)
        return NULL;
    for (size_t i = 0; i < pod->status->resource_claim_statuses.n; i++) {
        const struct tg_pod_claim_status *status = &pod->status->resource_claim_statuses.items[i];

        if (tg_streq(status->name, entry->name))
            return status->resource_claim_name;
    }
    return NULL;
}
