/* SPDX-License-Identifier: Apache-2.0 */
/* core/v1, projected to what placement and commit read: Pod, Node, Namespace, Event. */
#ifndef TG_KUBERNETES_OBJECTS_CORE_H
#define TG_KUBERNETES_OBJECTS_CORE_H

#include "api/kubernetes/objects/meta.h"
#include "api/kubernetes/objects/node_selector.h"
#include "api/kubernetes/objects/resource.h"

struct tg_named { /* an object of which only the name counts: schedulingGates[] */
    const char *name;
};

struct tg_pod_claim { /* spec.resourceClaims[] */
    const char *name, *resource_claim_name, *resource_claim_template_name;
};
struct tg_pod_claim_status { /* status.resourceClaimStatuses[] */
    const char *name, *resource_claim_name;
};

struct tg_resources {
    TG_LIST_OF(struct tg_string_pair) requests; /* quantities */
    TG_LIST_OF(struct tg_string_pair) limits;
};
struct tg_container_port {
    struct tg_opt_int host_port;
    const char *host_ip, *protocol;
};
struct tg_container {
    const char *name;
    struct tg_resources *resources;
    TG_LIST_OF(struct tg_container_port) ports;
    const char *restart_policy; /* init containers: Always = sidecar */
};

struct tg_node_affinity {
    struct tg_node_selector *required; /* requiredDuringSchedulingIgnoredDuringExecution */
};
struct tg_pod_affinity {
    const char *required; /* raw JSON list, NULL if absent */
};
struct tg_affinity {
    struct tg_node_affinity *node_affinity;
    struct tg_pod_affinity *pod_affinity, *pod_anti_affinity;
};
struct tg_pod_spread {
    const char *when_unsatisfiable, *topology_key;
};

struct tg_pod_volume_claim {
    const char *claim_name;
};
struct tg_pod_volume { /* spec.volumes[]: only claims matter */
    const char *name;
    struct tg_pod_volume_claim *persistent_volume_claim;
    const char *ephemeral; /* raw JSON, or NULL: not a claim that is made for the pod */
};

struct tg_pod_spec {
    const char *node_name, *scheduler_name, *priority_class_name;
    struct tg_opt_int priority;
    TG_LIST_OF(struct tg_named) scheduling_gates;
    TG_LIST_OF(struct tg_pod_claim) resource_claims;
    TG_LIST_OF(struct tg_string_pair) node_selector;
    struct tg_affinity *affinity;
    TG_LIST_OF(struct tg_toleration) tolerations;
    TG_LIST_OF(struct tg_container) containers;
    TG_LIST_OF(struct tg_container) init_containers;
    TG_LIST_OF(struct tg_string_pair) overhead;
    struct tg_resources *resources; /* pod-level resources (1.34+ beta) */
    TG_LIST_OF(struct tg_pod_spread) topology_spread;
    TG_LIST_OF(struct tg_pod_volume) volumes;
    struct tg_opt_bool host_network;
};
struct tg_pod_status {
    const char *phase, *nominated_node_name;
    TG_LIST_OF(struct tg_condition) conditions;
    TG_LIST_OF(struct tg_pod_claim_status) resource_claim_statuses;
};
struct tg_pod {
    struct tg_object_meta *metadata;
    struct tg_pod_spec *spec;
    struct tg_pod_status *status;
};

struct tg_node_spec {
    struct tg_opt_bool unschedulable;
    TG_LIST_OF(struct tg_taint) taints;
};
struct tg_node_status {
    TG_LIST_OF(struct tg_condition) conditions;
    TG_LIST_OF(struct tg_string_pair) allocatable;
};
struct tg_node {
    struct tg_object_meta *metadata;
    struct tg_node_spec *spec;
    struct tg_node_status *status;
};

struct tg_namespace_status {
    const char *phase; /* Active | Terminating */
};
struct tg_namespace {
    struct tg_object_meta *metadata;
    struct tg_namespace_status *status;
};

struct tg_object_reference {
    const char *api_version, *kind, *namespace_, *name, *uid;
};
struct tg_event {
    struct tg_object_meta *metadata;
    struct tg_object_reference *involved_object;
    const char *reason, *message, *type, *reporting_component, *first_timestamp, *last_timestamp;
    struct tg_opt_int count;
};

/* What must be known of a pod even if it does not decode as a whole, ended by NULL: everything but
 * its metadata (annotations may hold anything). Tables of struct tg_pod. */
extern const struct tg_type *const tg_pod_salvage[];

extern const struct tg_type tg_pod_type, tg_node_type, tg_namespace_type, tg_event_type;

/* For tg_kind.trim: a pod without claims only takes room on its node, so its conditions, its age
 * and its owners are dropped. */
void tg_pod_trim(struct tg_object *object);
/* phase Succeeded or Failed. */
bool tg_pod_finished(const struct tg_pod *pod);
bool tg_pod_has_gate(const struct tg_pod *pod, const char *gate);
/* Name of the claim object behind an entry of spec.resourceClaims: the named one, or what the claim
 * controller recorded in status.resourceClaimStatuses for a template; NULL while it did not. */
const char *tg_pod_claim_object(const struct tg_pod *pod, const struct tg_pod_claim *entry);

#endif
