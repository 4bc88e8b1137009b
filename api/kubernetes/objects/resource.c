/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/objects/resource.h"

#include <string.h>

#include "api/runtime/base/str.h"

static const struct tg_field attribute_fields[] = {
    TG_FIELD_INTEGER(struct tg_device_attribute, int_, "int"),
    TG_FIELD_BOOLEAN(struct tg_device_attribute, bool_, "bool"),
    TG_FIELD_STR(struct tg_device_attribute, string, "string"),
    TG_FIELD_STR(struct tg_device_attribute, version, "version"),
    TG_FIELD_RAWJSON(struct tg_device_attribute, bools, "bools"),
    TG_FIELD_RAWJSON(struct tg_device_attribute, ints, "ints"),
    TG_FIELD_STR_LIST(struct tg_device_attribute, strings, "strings"),
    TG_FIELD_STR_LIST(struct tg_device_attribute, versions, "versions"),
};
static const struct tg_type attribute_type = TG_TYPE(struct tg_device_attribute, attribute_fields);

static const struct tg_field capacity_fields[] = {
    TG_FIELD_TEXT(struct tg_device_capacity, value, "value"),
    TG_FIELD_RAWJSON(struct tg_device_capacity, request_policy, "requestPolicy"),
};
static const struct tg_type capacity_type = TG_TYPE(struct tg_device_capacity, capacity_fields);

static const struct tg_field counter_fields[] = {
    TG_FIELD_TEXT(struct tg_counter, value, "value"),
};
static const struct tg_type counter_type = TG_TYPE(struct tg_counter, counter_fields);

static const struct tg_field counter_set_fields[] = {
    TG_FIELD_STR(struct tg_counter_set, name, "name"),
    TG_FIELD_OBJ_MAP(struct tg_counter_set, counters, "counters", struct tg_keyed_counter,
                     &counter_type),
};
static const struct tg_type counter_set_type = TG_TYPE(struct tg_counter_set, counter_set_fields);

static const struct tg_field counter_consumption_fields[] = {
    TG_FIELD_STR(struct tg_counter_set, name, "counterSet"),
    TG_FIELD_OBJ_MAP(struct tg_counter_set, counters, "counters", struct tg_keyed_counter,
                     &counter_type),
    TG_FIELD_STR_LIST(struct tg_counter_set, compatibility_groups, "compatibilityGroups"),
};
static const struct tg_type counter_consumption_type =
    TG_TYPE(struct tg_counter_set, counter_consumption_fields);

static const struct tg_field taint_fields[] = {
    TG_FIELD_STR(struct tg_taint, key, "key"),
    TG_FIELD_STR(struct tg_taint, value, "value"),
    TG_FIELD_STR(struct tg_taint, effect, "effect"),
    TG_FIELD_STR(struct tg_taint, time_added, "timeAdded"),
};
const struct tg_type tg_taint_type = TG_TYPE(struct tg_taint, taint_fields);

static const struct tg_field toleration_fields[] = {
    TG_FIELD_STR(struct tg_toleration, key, "key"),
    TG_FIELD_STR(struct tg_toleration, operator_, "operator"),
    TG_FIELD_STR(struct tg_toleration, value, "value"),
    TG_FIELD_STR(struct tg_toleration, effect, "effect"),
    TG_FIELD_INTEGER(struct tg_toleration, toleration_seconds, "tolerationSeconds"),
};
const struct tg_type tg_toleration_type = TG_TYPE(struct tg_toleration, toleration_fields);

static const struct tg_field device_fields[] = {
    TG_FIELD_STR(struct tg_device, name, "name"),
    TG_FIELD_OBJ_MAP(struct tg_device, attributes, "attributes", struct tg_keyed_attribute,
                     &attribute_type),
    TG_FIELD_OBJ_MAP(struct tg_device, capacity, "capacity", struct tg_keyed_capacity,
                     &capacity_type),
    TG_FIELD_OBJ_LIST(struct tg_device, consumes_counters, "consumesCounters",
                      &counter_consumption_type),
    TG_FIELD_STR(struct tg_device, node_name, "nodeName"),
    TG_FIELD_OBJ(struct tg_device, node_selector, "nodeSelector", &tg_node_selector_type),
    TG_FIELD_BOOLEAN(struct tg_device, all_nodes, "allNodes"),
    TG_FIELD_OBJ_LIST(struct tg_device, taints, "taints", &tg_taint_type),
    TG_FIELD_BOOLEAN(struct tg_device, binds_to_node, "bindsToNode"),
    TG_FIELD_STR_LIST(struct tg_device, binding_conditions, "bindingConditions"),
    TG_FIELD_STR_LIST(struct tg_device, binding_failure_conditions, "bindingFailureConditions"),
    TG_FIELD_BOOLEAN(struct tg_device, allow_multiple_allocations, "allowMultipleAllocations"),
};
const struct tg_type tg_device_type = TG_TYPE(struct tg_device, device_fields);

static const struct tg_field pool_fields[] = {
    TG_FIELD_STR(struct tg_resource_pool, name, "name"),
    TG_FIELD_INTEGER(struct tg_resource_pool, generation, "generation"),
    TG_FIELD_INTEGER(struct tg_resource_pool, resource_slice_count, "resourceSliceCount"),
};
static const struct tg_type pool_type = TG_TYPE(struct tg_resource_pool, pool_fields);

static const struct tg_field slice_spec_fields[] = {
    TG_FIELD_STR(struct tg_resource_slice_spec, driver, "driver"),
    TG_FIELD_OBJ(struct tg_resource_slice_spec, pool, "pool", &pool_type),
    TG_FIELD_STR(struct tg_resource_slice_spec, node_name, "nodeName"),
    TG_FIELD_OBJ(struct tg_resource_slice_spec, node_selector, "nodeSelector",
                 &tg_node_selector_type),
    TG_FIELD_BOOLEAN(struct tg_resource_slice_spec, all_nodes, "allNodes"),
    TG_FIELD_OBJ_LIST(struct tg_resource_slice_spec, devices, "devices", &tg_device_type),
    TG_FIELD_BOOLEAN(struct tg_resource_slice_spec, per_device_node_selection,
                     "perDeviceNodeSelection"),
    TG_FIELD_OBJ_LIST(struct tg_resource_slice_spec, shared_counters, "sharedCounters",
                      &counter_set_type),
};
const struct tg_type tg_resource_slice_spec_type =
    TG_TYPE(struct tg_resource_slice_spec, slice_spec_fields);

static const struct tg_field slice_fields[] = {
    TG_FIELD_OBJ(struct tg_resource_slice, metadata, "metadata", &tg_object_meta_type),
    TG_FIELD_OBJ(struct tg_resource_slice, spec, "spec", &tg_resource_slice_spec_type),
};
const struct tg_type tg_resource_slice_type = TG_TYPE(struct tg_resource_slice, slice_fields);

static const struct tg_field cel_fields[] = {
    TG_FIELD_STR(struct tg_cel_selector, expression, "expression"),
};
static const struct tg_type cel_type = TG_TYPE(struct tg_cel_selector, cel_fields);

static const struct tg_field selector_fields[] = {
    TG_FIELD_OBJ(struct tg_device_selector, cel, "cel", &cel_type),
};
static const struct tg_type selector_type = TG_TYPE(struct tg_device_selector, selector_fields);

static const struct tg_field opaque_fields[] = {
    TG_FIELD_STR(struct tg_opaque_config, driver, "driver"),
    TG_FIELD_RAWJSON(struct tg_opaque_config, parameters, "parameters"),
};
static const struct tg_type opaque_type = TG_TYPE(struct tg_opaque_config, opaque_fields);

static const struct tg_field config_fields[] = {
    TG_FIELD_STR(struct tg_device_config, source, "source"),
    TG_FIELD_STR_LIST(struct tg_device_config, requests, "requests"),
    TG_FIELD_OBJ(struct tg_device_config, opaque, "opaque", &opaque_type),
};
const struct tg_type tg_device_config_type = TG_TYPE(struct tg_device_config, config_fields);

static const struct tg_field class_spec_fields[] = {
    TG_FIELD_OBJ_LIST(struct tg_device_class_spec, selectors, "selectors", &selector_type),
    TG_FIELD_OBJ_LIST(struct tg_device_class_spec, config, "config", &tg_device_config_type),
    TG_FIELD_STR(struct tg_device_class_spec, extended_resource_name, "extendedResourceName"),
};
static const struct tg_type class_spec_type =
    TG_TYPE(struct tg_device_class_spec, class_spec_fields);

static const struct tg_field class_fields[] = {
    TG_FIELD_OBJ(struct tg_device_class, metadata, "metadata", &tg_object_meta_type),
    TG_FIELD_OBJ(struct tg_device_class, spec, "spec", &class_spec_type),
};
const struct tg_type tg_device_class_type = TG_TYPE(struct tg_device_class, class_fields);

static const struct tg_field exact_fields[] = {
    TG_FIELD_STR(struct tg_exact_request, name, "name"),
    TG_FIELD_STR(struct tg_exact_request, device_class_name, "deviceClassName"),
    TG_FIELD_OBJ_LIST(struct tg_exact_request, selectors, "selectors", &selector_type),
    TG_FIELD_STR(struct tg_exact_request, allocation_mode, "allocationMode"),
    TG_FIELD_INTEGER(struct tg_exact_request, count, "count"),
    TG_FIELD_BOOLEAN(struct tg_exact_request, admin_access, "adminAccess"),
    TG_FIELD_OBJ_LIST(struct tg_exact_request, tolerations, "tolerations", &tg_toleration_type),
    TG_FIELD_RAWJSON(struct tg_exact_request, capacity, "capacity"),
};
static const struct tg_type exact_type = TG_TYPE(struct tg_exact_request, exact_fields);

static const struct tg_field request_fields[] = {
    TG_FIELD_STR(struct tg_device_request, name, "name"),
    TG_FIELD_OBJ(struct tg_device_request, exactly, "exactly", &exact_type),
    TG_FIELD_OBJ_LIST(struct tg_device_request, first_available, "firstAvailable", &exact_type),
};
static const struct tg_type request_type = TG_TYPE(struct tg_device_request, request_fields);

static const struct tg_field constraint_fields[] = {
    TG_FIELD_STR_LIST(struct tg_device_constraint, requests, "requests"),
    TG_FIELD_STR(struct tg_device_constraint, match_attribute, "matchAttribute"),
    TG_FIELD_STR(struct tg_device_constraint, distinct_attribute, "distinctAttribute"),
};
static const struct tg_type constraint_type =
    TG_TYPE(struct tg_device_constraint, constraint_fields);

static const struct tg_field device_claim_fields[] = {
    TG_FIELD_OBJ_LIST(struct tg_device_claim, requests, "requests", &request_type),
    TG_FIELD_OBJ_LIST(struct tg_device_claim, constraints, "constraints", &constraint_type),
    TG_FIELD_OBJ_LIST(struct tg_device_claim, config, "config", &tg_device_config_type),
};
static const struct tg_type device_claim_type =
    TG_TYPE(struct tg_device_claim, device_claim_fields);

static const struct tg_field claim_spec_fields[] = {
    TG_FIELD_OBJ(struct tg_resource_claim_spec, devices, "devices", &device_claim_type),
};
static const struct tg_type claim_spec_type =
    TG_TYPE(struct tg_resource_claim_spec, claim_spec_fields);

static const struct tg_field allocation_device_fields[] = {
    TG_FIELD_STR(struct tg_allocation_device, request, "request"),
    TG_FIELD_STR(struct tg_allocation_device, driver, "driver"),
    TG_FIELD_STR(struct tg_allocation_device, pool, "pool"),
    TG_FIELD_OWN_STR(struct tg_allocation_device, device, "device"),
    TG_FIELD_BOOLEAN(struct tg_allocation_device, admin_access, "adminAccess"),
    TG_FIELD_OBJ_LIST(struct tg_allocation_device, tolerations, "tolerations", &tg_toleration_type),
    TG_FIELD_STR_LIST(struct tg_allocation_device, binding_conditions, "bindingConditions"),
    TG_FIELD_STR_LIST(struct tg_allocation_device, binding_failure_conditions,
                      "bindingFailureConditions"),
    TG_FIELD_OWN_STR(struct tg_allocation_device, share_id, "shareID"),
    TG_FIELD_RAWJSON(struct tg_allocation_device, consumed_capacity, "consumedCapacity"),
};
const struct tg_type tg_allocation_device_type =
    TG_TYPE(struct tg_allocation_device, allocation_device_fields);

static const struct tg_field allocation_devices_fields[] = {
    TG_FIELD_OWN_OBJ_LIST(struct tg_allocation_devices, results, "results",
                          &tg_allocation_device_type),
    TG_FIELD_OBJ_LIST(struct tg_allocation_devices, config, "config", &tg_device_config_type),
};
static const struct tg_type allocation_devices_type =
    TG_TYPE(struct tg_allocation_devices, allocation_devices_fields);

static const struct tg_field allocation_fields[] = {
    TG_FIELD_OWN_STR(struct tg_allocation, allocation_timestamp, "allocationTimestamp"),
    TG_FIELD_OWN_OBJ(struct tg_allocation, devices, "devices", &allocation_devices_type),
    TG_FIELD_OBJ(struct tg_allocation, node_selector, "nodeSelector", &tg_node_selector_type),
};
const struct tg_type tg_allocation_type = TG_TYPE(struct tg_allocation, allocation_fields);

static const struct tg_field consumer_fields[] = {
    TG_FIELD_STR(struct tg_consumer_reference, api_group, "apiGroup"),
    TG_FIELD_STR(struct tg_consumer_reference, resource, "resource"),
    TG_FIELD_OWN_STR(struct tg_consumer_reference, name, "name"),
    TG_FIELD_OWN_STR(struct tg_consumer_reference, uid, "uid"),
};
const struct tg_type tg_consumer_reference_type =
    TG_TYPE(struct tg_consumer_reference, consumer_fields);

static const struct tg_field claim_status_fields[] = {
    TG_FIELD_OWN_OBJ(struct tg_resource_claim_status, allocation, "allocation",
                     &tg_allocation_type),
    TG_FIELD_OWN_OBJ_LIST(struct tg_resource_claim_status, reserved_for, "reservedFor",
                          &tg_consumer_reference_type),
    TG_FIELD_RAWJSON(struct tg_resource_claim_status, devices, "devices"),
};
static const struct tg_type claim_status_type =
    TG_TYPE(struct tg_resource_claim_status, claim_status_fields);

static const struct tg_field claim_fields[] = {
    TG_FIELD_OWN_OBJ(struct tg_resource_claim, metadata, "metadata", &tg_object_meta_type),
    TG_FIELD_OBJ(struct tg_resource_claim, spec, "spec", &claim_spec_type),
    TG_FIELD_OWN_OBJ(struct tg_resource_claim, status, "status", &claim_status_type),
};
const struct tg_type tg_resource_claim_type = TG_TYPE(struct tg_resource_claim, claim_fields);

static const struct tg_field claim_status_only_fields[] = {
    TG_FIELD_OWN_OBJ(struct tg_resource_claim, status, "status", &claim_status_type),
};
static const struct tg_type claim_status_only_type =
    TG_TYPE(struct tg_resource_claim, claim_status_only_fields);

static const struct tg_field held_device_fields[] = {
    TG_FIELD_STR(struct tg_allocation_device, driver, "driver"),
    TG_FIELD_STR(struct tg_allocation_device, pool, "pool"),
    TG_FIELD_OWN_STR(struct tg_allocation_device, device, "device"),
    TG_FIELD_BOOLEAN(struct tg_allocation_device, admin_access, "adminAccess"),
    TG_FIELD_OWN_STR(struct tg_allocation_device, share_id, "shareID"),
};
static const struct tg_type held_device_type =
    TG_TYPE(struct tg_allocation_device, held_device_fields);

static const struct tg_field held_devices_fields[] = {
    TG_FIELD_OWN_OBJ_LIST(struct tg_allocation_devices, results, "results", &held_device_type),
};
static const struct tg_type held_devices_type =
    TG_TYPE(struct tg_allocation_devices, held_devices_fields);

static const struct tg_field held_allocation_fields[] = {
    TG_FIELD_OWN_OBJ(struct tg_allocation, devices, "devices", &held_devices_type),
};
static const struct tg_type held_allocation_type =
    TG_TYPE(struct tg_allocation, held_allocation_fields);

static const struct tg_field held_status_fields[] = {
    TG_FIELD_OWN_OBJ(struct tg_resource_claim_status, allocation, "allocation",
                     &held_allocation_type),
};
static const struct tg_type held_status_type =
    TG_TYPE(struct tg_resource_claim_status, held_status_fields);

static const struct tg_field claim_devices_only_fields[] = {
    TG_FIELD_OWN_OBJ(struct tg_resource_claim, status, "status", &held_status_type),
};
static const struct tg_type claim_devices_only_type =
    TG_TYPE(struct tg_resource_claim, claim_devices_only_fields);

const struct tg_type *const tg_resource_claim_salvage[] = {&claim_status_only_type,
                                                           &claim_devices_only_type, NULL};

static const struct tg_field template_spec_fields[] = {
    TG_FIELD_OBJ(struct tg_resource_claim_template_spec, metadata, "metadata",
                 &tg_object_meta_type),
    TG_FIELD_OBJ(struct tg_resource_claim_template_spec, spec, "spec", &claim_spec_type),
};
static const struct tg_type template_spec_type =
    TG_TYPE(struct tg_resource_claim_template_spec, template_spec_fields);

static const struct tg_field template_fields[] = {
    TG_FIELD_OBJ(struct tg_resource_claim_template, metadata, "metadata", &tg_object_meta_type),
    TG_FIELD_OBJ(struct tg_resource_claim_template, spec, "spec", &template_spec_type),
};
const struct tg_type tg_resource_claim_template_type =
    TG_TYPE(struct tg_resource_claim_template, template_fields);

static const struct tg_field taint_selector_fields[] = {
    TG_FIELD_STR(struct tg_device_taint_selector, driver, "driver"),
    TG_FIELD_STR(struct tg_device_taint_selector, pool, "pool"),
    TG_FIELD_STR(struct tg_device_taint_selector, device, "device"),
};
static const struct tg_type taint_selector_type =
    TG_TYPE(struct tg_device_taint_selector, taint_selector_fields);

static const struct tg_field taint_rule_spec_fields[] = {
    TG_FIELD_OBJ(struct tg_device_taint_rule_spec, device_selector, "deviceSelector",
                 &taint_selector_type),
    TG_FIELD_OBJ(struct tg_device_taint_rule_spec, taint, "taint", &tg_taint_type),
};
static const struct tg_type taint_rule_spec_type =
    TG_TYPE(struct tg_device_taint_rule_spec, taint_rule_spec_fields);

static const struct tg_field taint_rule_fields[] = {
    TG_FIELD_OBJ(struct tg_device_taint_rule, metadata, "metadata", &tg_object_meta_type),
    TG_FIELD_OBJ(struct tg_device_taint_rule, spec, "spec", &taint_rule_spec_type),
};
const struct tg_type tg_device_taint_rule_type =
    TG_TYPE(struct tg_device_taint_rule, taint_rule_fields);

const struct tg_exact_request *tg_device_claim_request(const struct tg_device_claim *devices,
                                                       const char *name)
{
    const char *slash = name == NULL ? NULL : strchr(name, '/');
    size_t n = slash == NULL ? 0 : (size_t)(slash - name);

    for (size_t i = 0; devices != NULL && name != NULL && i < devices->requests.n; i++) {
        const struct tg_device_request *request = &devices->requests.items[i];

        if (slash == NULL && tg_streq(request->name, name))
            return request->exactly;
        if (slash == NULL || request->name == NULL || strlen(request->name) != n ||
            strncmp(request->name, name, n) != 0)
            continue;
        for (size_t k = 0; k < request->first_available.n; k++) {
            if (tg_streq(request->first_available.items[k].name, slash + 1))
                return &request->first_available.items[k];
        }
    }
    return NULL;
}
