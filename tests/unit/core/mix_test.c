/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/pack/mix.h"
#include "tests/unit/core/packing.h"

static void equal_requests_are_one_type(void **state)
{
    static struct tg_mix mix;
    const struct tg_pack_request a = share(300), b = share(301), c = whole(1);

    (void)state;
    memset(&mix, 0, sizeof(mix));
    assert_int_equal(tg_mix_type(&mix, &a), 0);
    assert_int_equal(tg_mix_type(&mix, &b), 1);
    assert_int_equal(tg_mix_type(&mix, &c), 2);
    assert_int_equal(tg_mix_type(&mix, &a), 0);
    tg_mix_arrive(&mix, 0, 2);
    tg_mix_arrive(&mix, 2, 3);
    assert_int_equal(mix.arrivals, 5);
    assert_int_equal(tg_mix_demand(&mix), 3600);
}

static void a_full_table_says_so_and_still_knows_the_old_ones(void **state)
{
    static struct tg_mix mix;
    struct tg_pack_request request = share(1);

    (void)state;
    memset(&mix, 0, sizeof(mix));
    for (unsigned i = 0; i < TG_MIX_TYPES_MAX; i++) {
        request.cpu = i;
        assert_int_equal(tg_mix_type(&mix, &request), i);
    }
    request.cpu = TG_MIX_TYPES_MAX;
    assert_int_equal(tg_mix_type(&mix, &request), TG_MIX_NO_TYPE);
    request.cpu = 7;
    assert_int_equal(tg_mix_type(&mix, &request), 7);
}

static void sorting_puts_the_heaviest_first(void **state)
{
    unsigned types[] = {0, 1, 2, 3};
    const int64_t weight[] = {5, 9, 1, 7};

    (void)state;
    tg_mix_sort(types, 4, weight);
    assert_int_equal(types[0], 1);
    assert_int_equal(types[1], 3);
    assert_int_equal(types[2], 0);
    assert_int_equal(types[3], 2);
}

static void equal_ones_are_not_exchanged(void **state)
{
    unsigned types[] = {2, 0, 3, 1};
    const int64_t weight[] = {4, 4, 4, 4};

    (void)state;
    tg_mix_sort(types, 4, weight);
    assert_int_equal(types[0], 2);
    assert_int_equal(types[1], 0);
    assert_int_equal(types[2], 3);
    assert_int_equal(types[3], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_requests_are_one_type),
        cmocka_unit_test(a_full_table_says_so_and_still_knows_the_old_ones),
        cmocka_unit_test(sorting_puts_the_heaviest_first),
        cmocka_unit_test(equal_ones_are_not_exchanged),
    };

    return cmocka_run_group_tests_name("mix", tests, NULL, NULL);
}
