/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kube_objects/tables.h"

#include "api/kubernetes/objects/resource.h"

/* The bytes as they stand in the document: what is immutable is compared byte by byte. */
static void assert_raw(const struct document *d, const char *raw, const char *begin)
{
    assert_non_null(raw);
    assert_non_null(strstr(d->text.data, raw));
    assert_int_equal(strncmp(raw, begin, strlen(begin)), 0);
}

static void check_attributes(const struct tg_device *device)
{
    assert_int_equal(device->attributes.n, 8);
    assert_string_equal(device->attributes.items[0].key, "gpu.tangram.dev/index");
    assert_opt_int(device->attributes.items[0].value.int_, 3);
    assert_opt_bool(device->attributes.items[1].value.bool_, true);
    assert_string_equal(device->attributes.items[2].key, "productName");
    assert_string_equal(device->attributes.items[2].value.string, "NVIDIA H100 80GB HBM3");
    assert_string_equal(device->attributes.items[3].value.version, "570.86.15");
    assert_string_equal(device->attributes.items[4].key, "models");
    assert_null(device->attributes.items[4].value.string);
    assert_string_equal(device->attributes.items[4].value.strings.items[1], "b");
    assert_non_null(device->attributes.items[5].value.ints);
    assert_non_null(device->attributes.items[6].value.bools);
    assert_string_equal(device->attributes.items[7].value.versions.items[0], "1.2.3");
}

static void check_device(const struct document *d, const struct tg_device *device)
{
    assert_string_equal(device->name, "gpu-00a1b2c3d4e5");
    check_attributes(device);
    assert_string_equal(device->capacity.items[0].key, "memory");
    assert_string_equal(device->capacity.items[0].value.value, "81559Mi");
    assert_raw(d, device->capacity.items[0].value.request_policy, "{");
    assert_string_equal(device->consumes_counters.items[0].name, "gpu-00a1b2c3d4e5");
    assert_string_equal(device->consumes_counters.items[0].counters.items[1].key, "copyEngines");
    assert_string_equal(device->consumes_counters.items[0].counters.items[1].value.value, "2");
    assert_string_equal(device->node_name, "node-1");
    assert_int_equal(device->node_selector->terms.n, 1);
    assert_opt_bool(device->all_nodes, false);
    assert_string_equal(device->taints.items[0].key, "gpu.tangram.dev/unhealthy");
    assert_string_equal(device->taints.items[0].value, "xid-79");
    assert_string_equal(device->taints.items[0].effect, "NoExecute");
    assert_string_equal(device->taints.items[0].time_added, "2026-11-02T08:15:31Z");
    assert_opt_bool(device->binds_to_node, true);
    assert_string_equal(device->binding_conditions.items[0], "example.com/attached");
    assert_string_equal(device->binding_failure_conditions.items[0], "example.com/failed");
    assert_opt_bool(device->allow_multiple_allocations, true);
}

static void a_slice_is_read_as_the_api_server_writes_it(void **state)
{
    const struct tg_resource_slice_spec *spec;
    struct document d;

    (void)state;
    document_read(&d, "ResourceSlice", &tg_resource_slice_type);
    document_check(&d, &tg_resource_slice_type, " namespace ");
    spec = ((const struct tg_resource_slice *)d.object)->spec;
    assert_string_equal(spec->driver, "gpu.tangram.dev");
    assert_string_equal(spec->pool->name, "node-1");
    assert_opt_int(spec->pool->generation, 4);
    assert_opt_int(spec->pool->resource_slice_count, 2);
    assert_string_equal(spec->node_name, "node-1");
    assert_int_equal(spec->node_selector->terms.n, 1);
    assert_opt_bool(spec->all_nodes, true);
    assert_opt_bool(spec->per_device_node_selection, true);
    assert_int_equal(spec->devices.n, 1);
    check_device(&d, &spec->devices.items[0]);
    assert_string_equal(spec->shared_counters.items[0].name, "gpu-00a1b2c3d4e5");
    assert_string_equal(spec->shared_counters.items[0].counters.items[0].key, "memory");
    assert_string_equal(spec->shared_counters.items[0].counters.items[0].value.value, "8");
    document_done(&d);
}

static void a_class_is_read_as_the_api_server_writes_it(void **state)
{
    const struct tg_device_class_spec *spec;
    struct document d;

    (void)state;
    document_read(&d, "DeviceClass", &tg_device_class_type);
    document_check(&d, &tg_device_class_type, " namespace source requests ");
    spec = ((const struct tg_device_class *)d.object)->spec;
    assert_string_equal(spec->selectors.items[0].cel->expression,
                        "device.attributes[\"gpu.tangram.dev\"].index == 3 && \"x\" < \"y\"");
    assert_string_equal(spec->config.items[0].opaque->driver, "gpu.tangram.dev");
    assert_raw(&d, spec->config.items[0].opaque->parameters, "{");
    assert_non_null(strstr(spec->config.items[0].opaque->parameters, "\"\\u003c\\u0026\\u003e\""));
    assert_string_equal(spec->extended_resource_name, "example.com/gpu");
    document_done(&d);
}

static void check_exactly(const struct document *d, const struct tg_exact_request *exactly)
{
    assert_string_equal(exactly->device_class_name, "gpu.tangram.dev");
    assert_int_equal(exactly->selectors.n, 1);
    assert_string_equal(exactly->allocation_mode, "ExactCount");
    assert_opt_int(exactly->count, 8);
    assert_opt_bool(exactly->admin_access, true);
    assert_int_equal(exactly->tolerations.n, 2);
    assert_string_equal(exactly->tolerations.items[0].key, "gpu.tangram.dev/unhealthy");
    assert_string_equal(exactly->tolerations.items[0].operator_, "Equal");
    assert_string_equal(exactly->tolerations.items[0].value, "yes");
    assert_string_equal(exactly->tolerations.items[0].effect, "NoExecute");
    assert_opt_int(exactly->tolerations.items[0].toleration_seconds, 60);
    assert_raw(d, exactly->capacity, "{");
}

static void check_claim_spec(const struct document *d, const struct tg_resource_claim_spec *spec)
{
    const struct tg_device_claim *devices = spec->devices;
    const struct tg_device_request *any = &devices->requests.items[1];

    assert_int_equal(devices->requests.n, 2);
    assert_string_equal(devices->requests.items[0].name, "gpus");
    assert_int_equal(devices->requests.items[0].first_available.n, 0);
    check_exactly(d, devices->requests.items[0].exactly);
    assert_null(any->exactly);
    assert_string_equal(any->first_available.items[0].name, "big");
    assert_string_equal(any->first_available.items[0].allocation_mode, "All");
    assert_false(any->first_available.items[0].count.set);
    assert_string_equal(any->first_available.items[1].device_class_name, "a100");
    assert_opt_int(any->first_available.items[1].count, 2);
    assert_string_equal(devices->constraints.items[0].requests.items[1], "any/big");
    assert_string_equal(devices->constraints.items[0].match_attribute,
                        "resource.kubernetes.io/pcieRoot");
    assert_string_equal(devices->constraints.items[1].distinct_attribute,
                        "gpu.tangram.dev/parentUUID");
    assert_string_equal(devices->config.items[0].requests.items[0], "gpus");
    assert_null(devices->config.items[0].source);
    assert_raw(d, devices->config.items[0].opaque->parameters, "{");
}

static void check_allocation(const struct document *d, const struct tg_allocation *allocation)
{
    const struct tg_allocation_device *result = &allocation->devices->results.items[0];

    assert_string_equal(result->request, "gpus");
    assert_string_equal(result->driver, "gpu.tangram.dev");
    assert_string_equal(result->pool, "node-1");
    assert_string_equal(result->device, "gpu-00a1b2c3d4e5");
    assert_opt_bool(result->admin_access, false);
    assert_int_equal(result->tolerations.n, 2);
    assert_string_equal(result->binding_conditions.items[0], "example.com/attached");
    assert_string_equal(result->binding_failure_conditions.items[0], "example.com/failed");
    assert_string_equal(result->share_id, "a671734a-e8e5-11e4-8fde-42010af09327");
    assert_raw(d, result->consumed_capacity, "{");
    assert_string_equal(allocation->devices->config.items[0].source, "FromClass");
    assert_string_equal(allocation->devices->config.items[0].requests.items[0], "gpus");
    assert_string_equal(allocation->allocation_timestamp, "2026-11-02T08:15:31Z");
    assert_int_equal(allocation->node_selector->terms.n, 1);
}

static void a_claim_is_read_as_the_api_server_writes_it(void **state)
{
    const struct tg_resource_claim *claim;
    struct document d;

    (void)state;
    document_read(&d, "ResourceClaim", &tg_resource_claim_type);
    document_check(&d, &tg_resource_claim_type, "");
    claim = d.object;
    check_claim_spec(&d, claim->spec);
    check_allocation(&d, claim->status->allocation);
    assert_string_equal(claim->status->reserved_for.items[0].api_group, "example.com");
    assert_string_equal(claim->status->reserved_for.items[0].resource, "pods");
    assert_string_equal(claim->status->reserved_for.items[0].name, "llama-0");
    assert_string_equal(claim->status->reserved_for.items[0].uid,
                        "5f0c2a4e-8d0b-4a55-9a54-0f6e0f3c1a01");
    assert_raw(&d, claim->status->devices, "[");
    document_done(&d);
}

static void a_template_is_read_as_the_api_server_writes_it(void **state)
{
    const struct tg_resource_claim_template *template;
    struct document d;

    (void)state;
    document_read(&d, "ResourceClaimTemplate", &tg_resource_claim_template_type);
    document_check(&d, &tg_resource_claim_template_type, " source ");
    template = d.object;
    assert_string_equal(template->metadata->name, "llama-gpus");
    assert_string_equal(tg_meta_label(template->spec->metadata, "a"), "b");
    assert_string_equal(tg_meta_annotation(template->spec->metadata, "c"), "d");
    assert_null(template->spec->metadata->creation_timestamp);
    check_claim_spec(&d, template->spec->spec);
    document_done(&d);
}

static void a_taint_rule_is_read_as_the_api_server_writes_it(void **state)
{
    const struct tg_device_taint_rule_spec *spec;
    struct document d;

    (void)state;
    document_read(&d, "DeviceTaintRule", &tg_device_taint_rule_type);
    document_check(&d, &tg_device_taint_rule_type, " namespace ");
    spec = ((const struct tg_device_taint_rule *)d.object)->spec;
    assert_string_equal(spec->device_selector->driver, "gpu.tangram.dev");
    assert_string_equal(spec->device_selector->pool, "node-1");
    assert_string_equal(spec->device_selector->device, "gpu-00a1b2c3d4e5");
    assert_string_equal(spec->taint->key, "example.com/drain");
    assert_string_equal(spec->taint->value, "now");
    assert_string_equal(spec->taint->effect, "NoExecute");
    assert_string_equal(spec->taint->time_added, "2026-11-02T08:15:31Z");
    document_done(&d);
}

/* A selector that is absent selects nothing, an empty one everything. */
static void an_empty_device_selector_is_told_from_none(void **state)
{
    static const char text[] = "{\"spec\":{\"deviceSelector\":{},\"taint\":null}}";
    struct tg_arena *arena = tg_arena_new(1 << 16);
    void *object = NULL;

    (void)state;
    assert_int_equal(
        tg_json_decode_new(&tg_device_taint_rule_type, text, strlen(text), arena, &object, NULL),
        0);
    assert_non_null(((const struct tg_device_taint_rule *)object)->spec->device_selector);
    assert_null(((const struct tg_device_taint_rule *)object)->spec->taint);
    tg_arena_free(arena);
}

static void what_is_salvaged_of_a_claim_names_its_devices(void **state)
{
    (void)state;
    for (size_t i = 0; tg_resource_claim_salvage[i] != NULL; i++) {
        const struct tg_type *type = tg_resource_claim_salvage[i];
        const struct tg_resource_claim *claim;
        const struct tg_allocation_device *result;
        struct document d;

        assert_int_equal(type->size, tg_resource_claim_type.size);
        document_read(&d, "ResourceClaim", type);
        document_check(&d, type, "");
        claim = d.object;
        assert_null(claim->metadata);
        assert_null(claim->spec);
        result = &claim->status->allocation->devices->results.items[0];
        assert_string_equal(result->driver, "gpu.tangram.dev");
        assert_string_equal(result->pool, "node-1");
        assert_string_equal(result->device, "gpu-00a1b2c3d4e5");
        assert_opt_bool(result->admin_access, false);
        document_done(&d);
    }
}

static void a_request_is_found_by_the_name_that_results_have(void **state)
{
    static struct tg_exact_request exact, subs[2] = {{.name = "s"}, {.name = "t"}};
    static struct tg_device_request requests[3] = {
        {.name = "a", .exactly = &exact}, {.name = "ab"}, {.name = "b"}};
    struct tg_device_claim claim = {.requests = {.items = requests, .n = 3}};

    (void)state;
    requests[2].first_available.items = subs;
    requests[2].first_available.n = 2;
    assert_ptr_equal(tg_device_claim_request(&claim, "a"), &exact);
    assert_ptr_equal(tg_device_claim_request(&claim, "b/t"), &subs[1]);
    assert_null(tg_device_claim_request(&claim, "b"));
    assert_null(tg_device_claim_request(&claim, "b/u"));
    assert_null(tg_device_claim_request(&claim, "a/s"));
    assert_null(tg_device_claim_request(&claim, NULL));
    assert_null(tg_device_claim_request(NULL, "a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slice_is_read_as_the_api_server_writes_it),
        cmocka_unit_test(a_class_is_read_as_the_api_server_writes_it),
        cmocka_unit_test(a_claim_is_read_as_the_api_server_writes_it),
        cmocka_unit_test(a_template_is_read_as_the_api_server_writes_it),
        cmocka_unit_test(a_taint_rule_is_read_as_the_api_server_writes_it),
        cmocka_unit_test(an_empty_device_selector_is_told_from_none),
        cmocka_unit_test(what_is_salvaged_of_a_claim_names_its_devices),
        cmocka_unit_test(a_request_is_found_by_the_name_that_results_have),
    };
    return cmocka_run_group_tests_name("resource", tests, NULL, NULL);
}
