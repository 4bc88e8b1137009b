/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/features.h"
#include "tests/unit/core/world.h"

static void each_release_has_the_gates_that_it_turns_on(void **state)
{
    struct tg_rules oldest = tg_rules_of_release(34), newest = tg_rules_of_release(37);

    (void)state;
    assert_int_equal(oldest.features & ~(unsigned)TG_QUIRK_ALL_SKIPS_USED,
                     TG_FEATURE_ADMIN_ACCESS | TG_FEATURE_PRIORITIZED_LIST);
    assert_int_equal(tg_rules_of_release(35).features, oldest.features);
    assert_true(tg_rules_have(&newest, TG_FEATURE_PARTITIONABLE_DEVICES));
    assert_true(tg_rules_have(&newest, TG_FEATURE_CONSUMABLE_CAPACITY));
    assert_false(tg_rules_have(&newest, TG_FEATURE_LIST_TYPE_ATTRIBUTES));
    assert_int_equal(newest.features & ~tg_rules_of_release(36).features,
                     TG_FEATURE_FRACTIONAL_CAPACITY_RANGE);
}

static void only_the_newest_release_waits_for_a_used_up_device(void **state)
{
    (void)state;
    assert_int_equal(tg_rules_of_release(36).features & TG_QUIRK_ALL_SKIPS_USED,
                     TG_QUIRK_ALL_SKIPS_USED);
    assert_int_equal(tg_rules_of_release(37).features & TG_QUIRK_ALL_SKIPS_USED, 0);
}

static void releases_that_are_not_known_count_as_the_nearest(void **state)
{
    (void)state;
    assert_int_equal(tg_rules_of_release(12).release, 34);
    assert_int_equal(tg_rules_of_release(99).release, 37);
}

static void a_gate_is_known_by_both_of_its_names(void **state)
{
    (void)state;
    assert_int_equal(tg_feature_parse("PrioritizedList"), TG_FEATURE_PRIORITIZED_LIST);
    assert_int_equal(tg_feature_parse("DRAPrioritizedList"), TG_FEATURE_PRIORITIZED_LIST);
    assert_int_equal(tg_feature_parse("Prioritized"), 0);
    assert_string_equal(tg_feature_name(TG_FEATURE_DEVICE_TAINTS), "DeviceTaints");
    assert_null(tg_feature_name(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_release_has_the_gates_that_it_turns_on),
        cmocka_unit_test(only_the_newest_release_waits_for_a_used_up_device),
        cmocka_unit_test(releases_that_are_not_known_count_as_the_nearest),
        cmocka_unit_test(a_gate_is_known_by_both_of_its_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
