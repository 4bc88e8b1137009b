/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/objects/capacity.h"
#include "tests/unit/kube_objects/tables.h"

static void a_policy_is_read(void **state)
{
    static const char text[] = "{\"default\":\"1\",\"validRange\":{\"min\":\"1\",\"max\":8,"
                               "\"step\":\"2\"},\"validValues\":[\"1\",3],\"later\":{}}";
    struct tg_arena *arena = tg_arena_new(1 << 16);
    struct tg_capacity_policy *policy = NULL;

    (void)state;
    assert_int_equal(tg_capacity_policy_read(text, arena, &policy, NULL), 0);
    assert_string_equal(policy->default_, "1");
    assert_string_equal(policy->valid_range->max, "8");
    assert_int_equal(policy->valid_values.n, 2);
    assert_string_equal(policy->valid_values.items[1], "3");
    assert_int_equal(tg_capacity_policy_read("[]", arena, &policy, NULL), -TG_INVALID_ARGUMENT);
    tg_arena_free(arena);
}

static void amounts_are_read(void **state)
{
    struct tg_arena *arena = tg_arena_new(1 << 16);
    const struct tg_string_pair *amounts = NULL;
    size_t n = 7;

    (void)state;
    assert_int_equal(tg_capacity_amounts_read(NULL, arena, &amounts, &n, NULL), 0);
    assert_int_equal(n, 0);
    assert_int_equal(tg_capacity_amounts_read("{\"a\":\"1Gi\",\"b\":2}", arena, &amounts, &n, NULL),
                     0);
    assert_int_equal(n, 2);
    assert_string_equal(amounts[0].value, "1Gi");
    assert_string_equal(amounts[1].key, "b");
    assert_int_equal(tg_capacity_amounts_read("[1]", arena, &amounts, &n, NULL),
                     -TG_INVALID_ARGUMENT);
    assert_int_equal(tg_capacity_amounts_read("{\"a\":{}}", arena, &amounts, &n, NULL),
                     -TG_INVALID_ARGUMENT);
    tg_arena_free(arena);
}

static void what_a_request_asks_for_is_read(void **state)
{
    struct tg_arena *arena = tg_arena_new(1 << 16);
    const struct tg_string_pair *requests = NULL;
    size_t n = 7;

    (void)state;
    assert_int_equal(tg_capacity_requests_read("{}", arena, &requests, &n, NULL), 0);
    assert_int_equal(n, 0);
    assert_int_equal(tg_capacity_requests_read("{\"requests\":{\"memory\":\"2Gi\"},\"later\":1}",
                                               arena, &requests, &n, NULL),
                     0);
    assert_int_equal(n, 1);
    assert_string_equal(requests[0].value, "2Gi");
    assert_int_equal(tg_capacity_requests_read("{\"requests\":[]}", arena, &requests, &n, NULL),
                     -TG_INVALID_ARGUMENT);
    tg_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_is_read),
        cmocka_unit_test(amounts_are_read),
        cmocka_unit_test(what_a_request_asks_for_is_read),
    };

    return cmocka_run_group_tests_name("capacity", tests, NULL, NULL);
}
