/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/pack/future.h"
#include "tests/unit/core/packing.h"

/* V of the node, in milli-cards, when only such requests arrive. */
static int64_t value(const struct tg_pack_request *request, struct tg_pack_node node)
{
    static struct tg_mix mix;
    struct tg_future *future = tg_future_new();
    int64_t sum;

    memset(&mix, 0, sizeof(mix));
    tg_mix_arrive(&mix, tg_mix_type(&mix, request), 1);
    tg_future_draw(future, &mix);
    node = tg_pack_node_sorted(&node);
    sum = tg_future_value(future, &node);
    assert_int_equal(tg_future_value(future, &node), sum); /* remembered */
    tg_future_free(future);
    assert_int_equal(sum % TG_FUTURE_SEQUENCES, 0); /* all sequences are the same */
    return sum / TG_FUTURE_SEQUENCES;
}

static void what_the_next_requests_cannot_use_has_no_value(void **state)
{
    const struct tg_pack_request half = share(500), pair = whole(2);

    (void)state;
    assert_int_equal(value(&half, NODE(10000, 400, 500, 999, 1000)), 2000);
    assert_int_equal(value(&pair, NODE(10000, 1000, 1000, 1000, 999)), 2000);
    assert_int_equal(value(&half, NODE(10000, 0, 0)), 0);
}

static void cards_without_cpu_have_no_value(void **state)
{
    const struct tg_pack_request half = share(500);

    (void)state;
    assert_int_equal(value(&half, NODE(300, 1000, 1000)), 1500); /* 100 milli of cpu each */
    assert_int_equal(value(&half, NODE(99, 1000, 1000)), 0);
}

static void looks_no_farther_than_a_sequence(void **state)
{
    const struct tg_pack_request sliver = share(10);

    (void)state;
    assert_int_equal(value(&sliver, NODE(100000, 1000)), 10 * TG_FUTURE_LENGTH);
}

static void pods_without_cards_are_not_played(void **state)
{
    const struct tg_pack_request cpu_only = {.cpu = 100, .kinds = TG_PACK_ANY_KIND};

    (void)state;
    assert_int_equal(value(&cpu_only, NODE(1000, 1000)), 0);
}

static void a_new_draw_forgets_old_values(void **state)
{
    static struct tg_mix mix;
    struct tg_future *future = tg_future_new();
    const struct tg_pack_request half = share(500), most = share(900);
    struct tg_pack_node node = NODE(1000, 800);

    (void)state;
    memset(&mix, 0, sizeof(mix));
    tg_mix_arrive(&mix, tg_mix_type(&mix, &most), 1);
    tg_future_draw(future, &mix);
    assert_int_equal(tg_future_value(future, &node), 0);
    tg_mix_arrive(&mix, tg_mix_type(&mix, &half), 1000000);
    tg_future_draw(future, &mix);
    assert_int_equal(tg_future_value(future, &node), 500 * TG_FUTURE_SEQUENCES);
    tg_future_free(future);
}

static void with_turnover_only_what_comes_soon_counts(void **state)
{
    static struct tg_mix mix;
    const struct tg_pack_request sliver = share(10), large = share(900);
    struct tg_pack_node node = NODE(100000, 100);
    struct tg_future *future = tg_future_new();
    int64_t filled, soon;

    (void)state;
    tg_mix_arrive(&mix, tg_mix_type(&mix, &sliver), 1);
    tg_mix_arrive(&mix, tg_mix_type(&mix, &large), 1);
    tg_future_draw(future, &mix);
    filled = tg_future_value(future, &node);
    tg_future_set_turnover(future, true);
    tg_future_draw(future, &mix);
    soon = tg_future_value(future, &node);
    assert_true(soon > 0 && soon < filled / 2);
    tg_future_free(future);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_next_requests_cannot_use_has_no_value),
        cmocka_unit_test(cards_without_cpu_have_no_value),
        cmocka_unit_test(looks_no_farther_than_a_sequence),
        cmocka_unit_test(pods_without_cards_are_not_played),
        cmocka_unit_test(a_new_draw_forgets_old_values),
        cmocka_unit_test(with_turnover_only_what_comes_soon_counts),
    };

    return cmocka_run_group_tests_name("future", tests, NULL, NULL);
}
