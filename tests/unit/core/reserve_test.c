/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/pack/reserve.h"
#include "tests/unit/core/packing.h"

#define ONE ((int64_t)1 << TG_RESERVE_FRACTION)

static struct tg_mix mix;
static struct tg_reserve reserve;

static int setup(void **state)
{
    (void)state;
    memset(&mix, 0, sizeof(mix));
    memset(&reserve, 0, sizeof(reserve));
    return 0;
}

/* Ten nodes of two whole cards of kind 0. */
static const struct tg_reserve_fleet fleet = {.capacity = {20000}, .total = 20000};

static void arrive(struct tg_pack_request request, int64_t times)
{
    tg_mix_arrive(&mix, tg_mix_type(&mix, &request), times);
}

static void price_with(int64_t places)
{
    tg_reserve_choose(&reserve, &mix, &fleet, 0);
    for (unsigned i = 0; i < reserve.n; i++)
        reserve.special[i].places = places;
    tg_reserve_price(&reserve, &mix, &fleet);
}

static void several_cards_and_named_kinds_are_special(void **state)
{
    struct tg_pack_request named = share(200);

    (void)state;
    named.kinds = 1;
    arrive(share(500), 10);
    arrive(whole(1), 10);
    arrive(named, 1);
    arrive(whole(2), 1);
    tg_reserve_choose(&reserve, &mix, &fleet, 0);
    assert_int_equal(reserve.n, 2);
    assert_int_equal(reserve.special[0].request.cards, 2); /* the larger demand first */
    assert_int_equal(reserve.special[1].request.share, 200);
}

static void the_price_is_the_need_over_the_places(void **state)
{
    (void)state;
    /* Half of the demand is pairs: in a full fleet 20000 / 2 / 2000 = 5, and sqrt(5) for safety. */
    arrive(whole(1), 2);
    arrive(whole(2), 1);
    price_with(4);
    assert_in_range(reserve.special[0].price, (int64_t)(7.2360 * (double)ONE / 4),
                    (int64_t)(7.2361 * (double)ONE / 4));
    mix.types[1].running = 8; /* more than expected: nothing is kept */
    price_with(4);
    assert_int_equal(reserve.special[0].price, 0);
}

static void scarce_kinds_are_reserved_earlier(void **state)
{
    struct tg_pack_request named = whole(1);

    (void)state;
    named.kinds = 1;
    arrive(named, 9); /* 90 % of the demand names the only kind: beyond full pressure */
    arrive(share(1000), 1);
    price_with(18);
    assert_int_equal(reserve.special[0].price, 4 * ONE); /* need 18, f = 4 */
}

/* Requests for several cards of a kind have a price of their own for what they need: they do not
 * make single cards of it scarce. */
static void several_cards_make_no_kind_scarce(void **state)
{
    struct tg_pack_request single = whole(1), pair = whole(2);

    (void)state;
    single.kinds = pair.kinds = 1;
    arrive(pair, 9);
    arrive(single, 1);
    price_with(18);
    for (unsigned i = 0; i < reserve.n; i++)
        assert_int_equal(reserve.special[i].scarcity, ONE);
}

static void a_placement_pays_only_for_places_that_are_waited_for(void **state)
{
    const struct tg_reserve_loss loss = {.special = 0, .places = 1};

    (void)state;
    reserve.n = 1;
    reserve.special[0].request = whole(2);
    reserve.special[0].price = ONE / 4; /* A/B = 0.25, below w0 */
    assert_int_equal(tg_reserve_cost(&reserve, 1000, &loss, 1), 0);
    reserve.special[0].price = 2 * ONE; /* beyond w1: beta B = half of 2000 */
    assert_int_equal(tg_reserve_cost(&reserve, 1000, &loss, 1), 1000 * ONE);
    reserve.special[0].price = ONE * 85 / 100; /* half way: a quarter of 2000 */
    assert_in_range(tg_reserve_cost(&reserve, 1000, &loss, 1), 500 * ONE - ONE / 1000,
                    500 * ONE + ONE / 1000);
    assert_int_equal(tg_reserve_cost(&reserve, 1000, NULL, 0), 0);
}

static void whole_nodes_are_kept_while_nothing_is_known(void **state)
{
    struct tg_reserve_fleet shaped = fleet;

    (void)state;
    shaped.shapes[0] = (struct tg_reserve_shape){.node = NODE(1000, 1000, 1000), .nodes = 10};
    shaped.shapes[1] = (struct tg_reserve_shape){.node = NODE(1000, 1000), .nodes = 99};
    shaped.n_shapes = 2;
    tg_reserve_choose(&reserve, &mix, &shaped, 100);
    assert_int_equal(reserve.n, 1);
    assert_int_equal(reserve.special[0].request.cards, 2);
    assert_int_equal(reserve.special[0].request.cpu, 900);
    reserve.special[0].places = 10;
    tg_reserve_price(&reserve, &mix, &shaped);
    assert_int_equal(reserve.special[0].price, ONE / 10); /* one of ten */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(several_cards_and_named_kinds_are_special, setup),
        cmocka_unit_test_setup(the_price_is_the_need_over_the_places, setup),
        cmocka_unit_test_setup(scarce_kinds_are_reserved_earlier, setup),
        cmocka_unit_test_setup(several_cards_make_no_kind_scarce, setup),
        cmocka_unit_test_setup(a_placement_pays_only_for_places_that_are_waited_for, setup),
        cmocka_unit_test_setup(whole_nodes_are_kept_while_nothing_is_known, setup),
    };

    return cmocka_run_group_tests_name("reserve", tests, NULL, NULL);
}
