/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/check_scene.h"

static void features_have_the_names_of_the_allocator(void **state)
{
    (void)state;
    assert_int_equal(tg_check_feature_named("AdminAccess"), TG_CHECK_ADMIN_ACCESS);
    assert_int_equal(tg_check_feature_named("DeviceBindingAndStatus"), TG_CHECK_BINDING_CONDITIONS);
    assert_int_equal(tg_check_feature_named("FractionalCapacityRange"),
                     TG_CHECK_FRACTIONAL_CAPACITY);
    assert_int_equal(tg_check_feature_named("DRAAdminAccess"), 0);
}

static void an_input_without_node_or_spec_is_no_verdict(void **state)
{
    struct tg_object_meta meta = {.name = "n"};
    struct tg_node node = {.metadata = &meta};
    struct tg_resource_claim claim = {0};
    struct tg_check_claim judged = {.claim = &claim};
    struct tg_check_input in = {.minor = 37, .claims = &judged, .n_claims = 1};
    struct tg_arena *arena = tg_arena_new((size_t)1 << 20);

    (void)state;
    assert_int_equal(tg_check_allocation(&in, arena, NULL), -TG_INVALID_ARGUMENT);
    in.node = &node;
    assert_int_equal(tg_check_allocation(&in, arena, NULL), -TG_INVALID_ARGUMENT);
    in.n_claims = 0;
    assert_int_equal(tg_check_allocation(&in, arena, NULL), 0);
    tg_arena_free(arena);
}

static void an_allocation_beside_the_claim_is_judged_in_its_place(void **state)
{
    static const struct scene scene = {.what = "one"};
    struct tg_arena *arena = tg_arena_new((size_t)4 << 20);
    struct tg_allocation_devices none = {0};
    struct tg_allocation other = {.devices = &none};
    const struct tg_device_class *classes[1];
    const struct tg_resource_slice *slices[1];
    struct scene_objects o;
    struct tg_check_claim claim;
    struct tg_check_input in = {.features = ~0U, .minor = 37};

    (void)state;
    scene_read(&scene, arena, &o);
    classes[0] = o.classes.items;
    slices[0] = o.slices.items;
    claim = (struct tg_check_claim){.claim = o.claims.items};
    in.node = o.node;
    in.classes = classes;
    in.slices = slices;
    in.claims = &claim;
    in.n_classes = in.n_slices = in.n_claims = 1;
    assert_int_equal(tg_check_allocation(&in, arena, NULL), 0);
    claim.allocation = &other;
    assert_int_equal(tg_check_allocation(&in, arena, NULL), -TG_FAILED_PRECONDITION);
    tg_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_have_the_names_of_the_allocator),
        cmocka_unit_test(an_input_without_node_or_spec_is_no_verdict),
        cmocka_unit_test(an_allocation_beside_the_claim_is_judged_in_its_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
