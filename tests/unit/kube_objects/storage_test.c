/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kube_objects/tables.h"

#include "api/kubernetes/objects/storage.h"

static void a_volume_says_which_nodes_reach_it(void **state)
{
    const struct tg_persistent_volume *volume;
    const struct tg_selector_term *term;
    struct document d;

    (void)state;
    document_read(&d, "PersistentVolume", &tg_persistent_volume_type);
    document_check(&d, &tg_persistent_volume_type, " namespace ");
    volume = d.object;
    assert_int_equal(volume->spec->node_affinity->required->terms.n, 1);
    term = &volume->spec->node_affinity->required->terms.items[0];
    assert_string_equal(term->match_expressions.items[0].key, "kubernetes.io/hostname");
    assert_string_equal(term->match_expressions.items[0].values.items[0], "node-1");
    document_done(&d);
}

static void a_claim_says_what_it_is_bound_to(void **state)
{
    const struct tg_persistent_volume_claim *claim;
    struct document d;

    (void)state;
    document_read(&d, "PersistentVolumeClaim", &tg_persistent_volume_claim_type);
    document_check(&d, &tg_persistent_volume_claim_type, "");
    claim = d.object;
    assert_string_equal(claim->spec->storage_class_name, "local");
    assert_string_equal(claim->spec->volume_name, "local-pv-1");
    assert_string_equal(claim->spec->access_modes.items[0], "ReadWriteOncePod");
    assert_string_equal(claim->status->phase, "Bound");
    document_done(&d);
}

static void a_class_says_how_and_where_volumes_are_made(void **state)
{
    const struct tg_storage_class *klass;
    const struct tg_selector_requirement *r;
    struct document d;

    (void)state;
    document_read(&d, "StorageClass", &tg_storage_class_type);
    document_check(&d, &tg_storage_class_type, " namespace operator ");
    klass = d.object;
    assert_string_equal(klass->provisioner, "disk.csi.example.com");
    assert_string_equal(klass->volume_binding_mode, "WaitForFirstConsumer");
    r = &klass->allowed_topologies.items[0].match_expressions.items[0];
    assert_string_equal(r->key, "topology.kubernetes.io/zone");
    assert_null(r->operator_);
    assert_int_equal(r->values.n, 2);
    document_done(&d);
}

#define META(labels, annotations)                                                                  \
    "{\"metadata\":{\"name\":\"x\",\"creationTimestamp\":\"2026-11-02T08:15:30Z\",\"labels\":{"    \
    "\"app\":\"y\"" labels "},\"annotations\":{\"note\":\"z\"" annotations                         \
    "},\"finalizers\":[\"f\"]}"

static void only_what_is_read_of_them_is_kept(void **state)
{
    static const char volume[] = META(",\"topology.kubernetes.io/zone\":\"a\"", "") "}";
    static const char claim[] =
        META("", ",\"pv.kubernetes.io/bind-completed\":\"yes\"") ",\"spec\":{}}";
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
    void *object = NULL;
    const struct tg_object_meta *meta;

    (void)state;
    assert_int_equal(tg_json_decode_new(&tg_persistent_volume_type, volume, strlen(volume), arena,
                                        &object, NULL),
                     0);
    tg_persistent_volume_trim(object);
    meta = ((const struct tg_object *)object)->metadata;
    assert_int_equal(meta->labels.n, 1);
    assert_string_equal(tg_meta_label(meta, "topology.kubernetes.io/zone"), "a");
    assert_int_equal(meta->annotations.n + meta->finalizers.n, 0);
    assert_null(meta->creation_timestamp);
    assert_int_equal(tg_json_decode_new(&tg_persistent_volume_claim_type, claim, strlen(claim),
                                        arena, &object, NULL),
                     0);
    tg_persistent_volume_claim_trim(object);
    meta = ((const struct tg_object *)object)->metadata;
    assert_int_equal(meta->labels.n, 0);
    assert_int_equal(meta->annotations.n, 1);
    assert_string_equal(tg_meta_annotation(meta, TG_VOLUME_BOUND), "yes");
}

static void the_class_of_a_claim_is_that_of_its_annotation_first(void **state)
{
    static const struct {
        const char *annotations, *spec, *name;
    } cases[] = {
        {"", "", NULL},
        {"", "\"storageClassName\":\"\"", NULL},
        {"", "\"storageClassName\":\"b\"", "b"},
        {",\"volume.beta.kubernetes.io/storage-class\":\"a\"", "\"storageClassName\":\"b\"", "a"},
        {",\"volume.beta.kubernetes.io/storage-class\":\"\"", "\"storageClassName\":\"b\"", NULL},
    };
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *text = tg_arena_printf(arena, META("", "%s") ",\"spec\":{%s}}",
                                           cases[i].annotations, cases[i].spec);
        void *object = NULL;
        const char *name;

        assert_int_equal(tg_json_decode_new(&tg_persistent_volume_claim_type, text, strlen(text),
                                            arena, &object, NULL),
                         0);
        name = tg_persistent_volume_claim_class(object);
        if (!tg_streq(name, cases[i].name))
            fail_msg("%s: %s", text, tg_or(name, "none"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_volume_says_which_nodes_reach_it),
        cmocka_unit_test(a_claim_says_what_it_is_bound_to),
        cmocka_unit_test(a_class_says_how_and_where_volumes_are_made),
        cmocka_unit_test(only_what_is_read_of_them_is_kept),
        cmocka_unit_test(the_class_of_a_claim_is_that_of_its_annotation_first),
    };
    return cmocka_run_group_tests_name("storage", tests, NULL, NULL);
}
