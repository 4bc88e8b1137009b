/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource.k8s.io/v1: ResourceSlice, ResourceClaim, ResourceClaimTemplate, DeviceClass,
 * DeviceTaintRule. Field names and limits: Kubernetes API types, versions 1.34 to 1.37.
 */
#ifndef TG_KUBERNETES_OBJECTS_RESOURCE_H
#define TG_KUBERNETES_OBJECTS_RESOURCE_H

#include "api/kubernetes/objects/meta.h"
#include "api/kubernetes/objects/node_selector.h"

#define TG_RESULTS_MAX 32       /* AllocationResultsMaxSize */
#define TG_RESERVED_FOR_MAX 256 /* ResourceClaimReservedForMaxSize */
#define TG_SLICE_DEVICES_MAX 128
#define TG_SLICE_DEVICES_MAX_ADVANCED 64  /* with taints or counters (1.35+) */
#define TG_SLICE_COUNTER_SETS_MAX 8       /* ResourceSliceMaxCounterSets (1.35+) */
#define TG_SLICE_COUNTERS_MAX_TOGETHER 32 /* of all sets of a slice (1.34) */
#define TG_CLAIM_FINALIZER "resource.kubernetes.io/delete-protection"

struct tg_device_attribute { /* exactly one is set */
    struct tg_opt_int int_;
    struct tg_opt_bool bool_;
    const char *string, *version;
    /* Lists (DRAListTypeAttributes, 1.36). */
    const char *bools, *ints; /* raw JSON: [true,false], [1,2] */
    TG_LIST_OF(const char *) strings;
    TG_LIST_OF(const char *) versions;
};
struct tg_keyed_attribute {
    const char *key;
    struct tg_device_attribute value;
};

struct tg_device_capacity {
    const char *value;          /* quantity */
    const char *request_policy; /* raw JSON */
};
struct tg_keyed_capacity {
    const char *key;
    struct tg_device_capacity value;
};

struct tg_counter {
    const char *value; /* quantity */
};
struct tg_keyed_counter {
    const char *key;
    struct tg_counter value;
};

struct tg_counter_set { /* sharedCounters[] {name}, consumesCounters[] {counterSet} */
    const char *name;
    TG_LIST_OF(struct tg_keyed_counter) counters;
    TG_LIST_OF(const char *) compatibility_groups; /* consumesCounters[] only (1.37 alpha) */
};

struct tg_taint { /* node and device taints */
    const char *key, *value, *effect, *time_added;
};

struct tg_toleration { /* of pods and device requests */
    const char *key, *operator_, *value, *effect;
    struct tg_opt_int toleration_seconds;
};

struct tg_device {
    const char *name;
    TG_LIST_OF(struct tg_keyed_attribute) attributes;
    TG_LIST_OF(struct tg_keyed_capacity) capacity;
    TG_LIST_OF(struct tg_counter_set) consumes_counters;
    const char *node_name;
    struct tg_node_selector *node_selector;
    struct tg_opt_bool all_nodes;
    TG_LIST_OF(struct tg_taint) taints;
    struct tg_opt_bool binds_to_node;
    TG_LIST_OF(const char *) binding_conditions;
    TG_LIST_OF(const char *) binding_failure_conditions;
    struct tg_opt_bool allow_multiple_allocations;
};

struct tg_resource_pool {
    const char *name;
    struct tg_opt_int generation;
    struct tg_opt_int resource_slice_count;
};

struct tg_resource_slice_spec {
    const char *driver;
    struct tg_resource_pool *pool;
    const char *node_name;
    struct tg_node_selector *node_selector;
    struct tg_opt_bool all_nodes;
    TG_LIST_OF(struct tg_device) devices;
    struct tg_opt_bool per_device_node_selection;
    TG_LIST_OF(struct tg_counter_set) shared_counters;
};
struct tg_resource_slice {
    struct tg_object_meta *metadata;
    struct tg_resource_slice_spec *spec;
};

struct tg_cel_selector {
    const char *expression;
};
struct tg_device_selector {
    struct tg_cel_selector *cel;
};

struct tg_opaque_config {
    const char *driver;
    const char *parameters; /* raw JSON, byte-exact */
};

/* Configuration entries of class (no requests), claim, and allocation (with source). */
struct tg_device_config {
    const char *source; /* allocation only: FromClass | FromClaim */
    TG_LIST_OF(const char *) requests;
    struct tg_opaque_config *opaque;
};

struct tg_device_class_spec {
    TG_LIST_OF(struct tg_device_selector) selectors;
    TG_LIST_OF(struct tg_device_config) config;
    const char *extended_resource_name;
};
struct tg_device_class {
    struct tg_object_meta *metadata;
    struct tg_device_class_spec *spec;
};

/* ExactDeviceRequest, and DeviceSubRequest (which adds name and lacks adminAccess). */
struct tg_exact_request {
    const char *name; /* sub-requests only */
    const char *device_class_name;
    TG_LIST_OF(struct tg_device_selector) selectors;
    const char *allocation_mode; /* NULL = ExactCount */
    struct tg_opt_int count;     /* unset = 1 */
    struct tg_opt_bool admin_access;
    TG_LIST_OF(struct tg_toleration) tolerations;
    const char *capacity; /* raw JSON of CapacityRequirements */
};
struct tg_device_request {
    const char *name;
    struct tg_exact_request *exactly;
    TG_LIST_OF(struct tg_exact_request) first_available;
};
struct tg_device_constraint {
    TG_LIST_OF(const char *) requests;
    const char *match_attribute, *distinct_attribute;
};
struct tg_device_claim {
    TG_LIST_OF(struct tg_device_request) requests;
    TG_LIST_OF(struct tg_device_constraint) constraints;
    TG_LIST_OF(struct tg_device_config) config;
};
struct tg_resource_claim_spec {
    struct tg_device_claim *devices;
};

struct tg_allocation_device {
    const char *request, *driver, *pool, *device;
    struct tg_opt_bool admin_access;
    TG_LIST_OF(struct tg_toleration) tolerations;
    TG_LIST_OF(const char *) binding_conditions;
    TG_LIST_OF(const char *) binding_failure_conditions;
    const char *share_id;
    const char *consumed_capacity; /* raw JSON */
};
struct tg_allocation_devices {
    TG_LIST_OF(struct tg_allocation_device) results;
    TG_LIST_OF(struct tg_device_config) config;
};
struct tg_allocation {
    struct tg_allocation_devices *devices;
    struct tg_node_selector *node_selector;
    const char *allocation_timestamp;
};
struct tg_consumer_reference {
    const char *api_group, *resource, *name, *uid;
};
struct tg_resource_claim_status {
    struct tg_allocation *allocation;
    TG_LIST_OF(struct tg_consumer_reference) reserved_for;
    const char *devices; /* raw JSON */
};
struct tg_resource_claim {
    struct tg_object_meta *metadata;
    struct tg_resource_claim_spec *spec;
    struct tg_resource_claim_status *status;
};

struct tg_resource_claim_template_spec {
    struct tg_object_meta *metadata;
    struct tg_resource_claim_spec *spec;
};
struct tg_resource_claim_template {
    struct tg_object_meta *metadata;
    struct tg_resource_claim_template_spec *spec;
};

struct tg_device_taint_selector {
    const char *driver, *pool, *device;
};
struct tg_device_taint_rule_spec {
    struct tg_device_taint_selector *device_selector; /* NULL selects nothing, {} everything */
    struct tg_taint *taint;
};
struct tg_device_taint_rule {
    struct tg_object_meta *metadata;
    struct tg_device_taint_rule_spec *spec;
};

/* What a result's request ("req", or "req/sub" of firstAvailable) asks for; NULL if the claim has
 * no such request. */
const struct tg_exact_request *tg_device_claim_request(const struct tg_device_claim *devices,
                                                       const char *name);

/* What must be known of a claim even if it does not decode as a whole, ended by NULL: its status;
 * or, if that does not decode either, the identity of its devices and nothing else. Tables of
 * struct tg_resource_claim. */
extern const struct tg_type *const tg_resource_claim_salvage[];

extern const struct tg_type tg_resource_slice_type, tg_device_type, tg_device_class_type,
    tg_resource_claim_type, tg_resource_claim_template_type, tg_device_taint_rule_type,
    tg_allocation_type, tg_taint_type, tg_toleration_type, tg_device_config_type,
    tg_allocation_device_type, tg_resource_slice_spec_type, tg_consumer_reference_type;

#endif
