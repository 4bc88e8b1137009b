/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kube_objects/tables.h"

#include "api/kubernetes/objects/kinds.h"

static const struct {
    const struct tg_kind *kind;
    const char *document, *api_version, *resource;
    bool namespaced;
} kinds[] = {
    {&tg_kind_pod, "Pod", "v1", "pods", true},
    {&tg_kind_node, "Node", "v1", "nodes", false},
    {&tg_kind_namespace, "Namespace", "v1", "namespaces", false},
    {&tg_kind_event, "Event", "v1", "events", true},
    {&tg_kind_lease, "Lease", "coordination.k8s.io/v1", "leases", true},
    {&tg_kind_resource_slice, "ResourceSlice", "resource.k8s.io/v1", "resourceslices", false},
    {&tg_kind_resource_claim, "ResourceClaim", "resource.k8s.io/v1", "resourceclaims", true},
    {&tg_kind_resource_claim_template, "ResourceClaimTemplate", "resource.k8s.io/v1",
     "resourceclaimtemplates", true},
    {&tg_kind_device_class, "DeviceClass", "resource.k8s.io/v1", "deviceclasses", false},
    {&tg_kind_device_taint_rule, "DeviceTaintRule", "resource.k8s.io/v1", "devicetaintrules",
     false},
    {&tg_kind_persistent_volume, "PersistentVolume", "v1", "persistentvolumes", false},
    {&tg_kind_persistent_volume_claim, "PersistentVolumeClaim", "v1", "persistentvolumeclaims",
     true},
    {&tg_kind_storage_class, "StorageClass", "storage.k8s.io/v1", "storageclasses", false},
};

static void kinds_are_where_the_api_server_serves_them(void **state)
{
    char version[128];

    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        assert_string_equal(kinds[i].kind->kind, kinds[i].document);
        assert_string_equal(kinds[i].kind->resource, kinds[i].resource);
        assert_int_equal(kinds[i].kind->namespaced, kinds[i].namespaced);
        assert_ptr_equal(tg_kind_api_version(kinds[i].kind, version), version);
        assert_string_equal(version, kinds[i].api_version);
    }
}

static void every_object_begins_with_its_metadata_and_says_of_what_kind_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct document d;
        const struct tg_object *object;

        document_read(&d, kinds[i].document, kinds[i].kind->type);
        object = d.object;
        assert_string_equal(object->metadata->resource_version, "184467");
        assert_int_equal(object->metadata->namespace_ != NULL, kinds[i].namespaced);
        assert_string_equal(tg_json_string(tg_json_get(d.tree, "kind")), kinds[i].kind->kind);
        assert_string_equal(tg_json_string(tg_json_get(d.tree, "apiVersion")),
                            kinds[i].api_version);
        document_done(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_where_the_api_server_serves_them),
        cmocka_unit_test(every_object_begins_with_its_metadata_and_says_of_what_kind_it_is),
    };
    return cmocka_run_group_tests_name("kinds", tests, NULL, NULL);
}
