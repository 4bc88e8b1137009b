/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/pack/fragment.h"
#include "tests/unit/core/packing.h"

static struct tg_mix mix;
static struct tg_fragment fragment;

static void arrive(struct tg_pack_request request, int64_t times)
{
    tg_mix_arrive(&mix, tg_mix_type(&mix, &request), times);
}

static int setup(void **state)
{
    (void)state;
    memset(&mix, 0, sizeof(mix));
    return 0;
}

static void what_a_typical_request_cannot_use_is_a_fragment(void **state)
{
    const struct tg_pack_node node = NODE(1000, 300, 500, 1000), tight = NODE(99, 300, 500, 1000);

    (void)state;
    arrive(share(500), 3);
    arrive(whole(2), 1);
    tg_fragment_set(&fragment, &mix);
    assert_int_equal(fragment.total, 4);
    assert_int_equal(tg_fragment_of(&fragment, &node), 3 * 300 + 1800);
    assert_int_equal(tg_fragment_of(&fragment, &tight), 4 * 1800);
}

static void rare_requests_are_not_typical(void **state)
{
    (void)state;
    arrive(share(500), 96);
    arrive(whole(1), 4);
    tg_fragment_set(&fragment, &mix);
    assert_int_equal(fragment.n, 1);
    assert_int_equal(fragment.total, 96);
}

static void memory_makes_no_type(void **state)
{
    struct tg_pack_request large = share(500);

    (void)state;
    large.memory = 7;
    arrive(share(500), 1);
    arrive(large, 1);
    tg_fragment_set(&fragment, &mix);
    assert_int_equal(fragment.n, 1);
    assert_int_equal(fragment.total, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_a_typical_request_cannot_use_is_a_fragment, setup),
        cmocka_unit_test_setup(rare_requests_are_not_typical, setup),
        cmocka_unit_test_setup(memory_makes_no_type, setup),
    };

    return cmocka_run_group_tests_name("fragment", tests, NULL, NULL);
}
