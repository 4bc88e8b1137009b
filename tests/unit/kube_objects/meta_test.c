/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kube_objects/tables.h"

#include "api/kubernetes/objects/core.h"

static void metadata_is_read_as_it_is_written(void **state)
{
    const struct tg_object_meta *meta;
    const struct tg_owner_reference *owner;
    struct document d;

    (void)state;
    document_read(&d, "Namespace", &tg_namespace_type);
    meta = ((const struct tg_object *)d.object)->metadata;
    assert_string_equal(meta->name, "ml");
    assert_string_equal(meta->generate_name, "ml-");
    assert_null(meta->namespace_);
    assert_string_equal(meta->uid, "5f0c2a4e-8d0b-4a55-9a54-0f6e0f3c1a01");
    assert_string_equal(meta->resource_version, "184467");
    assert_opt_int(meta->generation, 3);
    assert_string_equal(meta->creation_timestamp, "2026-11-02T08:15:30Z");
    assert_string_equal(meta->deletion_timestamp, "2026-11-02T09:15:30Z");
    assert_int_equal(meta->labels.n, 2);
    assert_string_equal(tg_meta_label(meta, "tangram.dev/gang"), "llama-70b");
    assert_null(tg_meta_label(meta, "tangram.dev"));
    assert_string_equal(
        tg_meta_annotation(meta, "kubectl.kubernetes.io/last-applied-configuration"),
        "{\"a\":\"<&>\"}\n");
    assert_null(tg_meta_annotation(meta, "app.kubernetes.io/name"));
    assert_true(tg_meta_has_finalizer(meta, "resource.kubernetes.io/delete-protection"));
    assert_false(tg_meta_has_finalizer(meta, "resource.kubernetes.io"));
    owner = tg_meta_controller(meta);
    assert_string_equal(owner->api_version, "apps/v1");
    assert_string_equal(owner->kind, "ReplicaSet");
    assert_string_equal(owner->name, "llama");
    assert_string_equal(owner->uid, "0d7f7a55-0000-4a55-9a54-0f6e0f3c1a02");
    assert_opt_bool(owner->block_owner_deletion, true);
    document_done(&d);
}

static void an_owner_that_is_no_controller_is_not_the_controller(void **state)
{
    struct tg_owner_reference owners[] = {{.name = "a"}, {.name = "b", .controller = {true, true}}};
    struct tg_object_meta meta = {.owner_references = {owners, 1}};

    (void)state;
    assert_null(tg_meta_controller(&meta));
    meta.owner_references.n = 2;
    assert_ptr_equal(tg_meta_controller(&meta), &owners[1]);
}

static void conditions_are_found_by_their_type(void **state)
{
    const struct tg_condition conditions[] = {
        {.type = "Ready", .status = "True"},
        {.type = "PodScheduled", .status = "False"},
    };

    (void)state;
    assert_ptr_equal(tg_condition_find(conditions, 2, "PodScheduled"), &conditions[1]);
    assert_null(tg_condition_find(conditions, 1, "PodScheduled"));
    assert_null(tg_condition_find(NULL, 0, "Ready"));
}

static void a_refusal_tells_code_reason_and_message(void **state)
{
    const struct tg_status *status;
    struct document d;

    (void)state;
    document_read(&d, "Status", &tg_status_type);
    document_check(&d, &tg_status_type, "");
    status = d.object;
    assert_string_equal(status->status, "Failure");
    assert_string_equal(status->reason, "Conflict");
    assert_non_null(strstr(status->message, "\"c\": the object has been modified"));
    assert_opt_int(status->code, 409);
    document_done(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_is_read_as_it_is_written),
        cmocka_unit_test(an_owner_that_is_no_controller_is_not_the_controller),
        cmocka_unit_test(conditions_are_found_by_their_type),
        cmocka_unit_test(a_refusal_tells_code_reason_and_message),
    };
    return cmocka_run_group_tests_name("meta", tests, NULL, NULL);
}
