/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/pack/packer.h"
#include "controller/core/pack/policy.h"
#include "tests/unit/core/packing.h"

static struct tg_packer *fleet_of(const char *policy, const struct tg_pack_node *nodes, size_t n)
{
    struct tg_packer *packer = tg_packer_new(tg_pack_policy(policy));

    for (size_t i = 0; i < n; i++)
        (void)tg_packer_add_node(packer, &nodes[i]);
    return packer;
}

/* The node that the policy takes, or -1. */
static int choose(struct tg_packer *packer, struct tg_pack_request request)
{
    struct tg_pack_choice choice;
    unsigned type = tg_packer_type(packer, &request);

    tg_packer_arrive(packer, type);
    if (!tg_packer_choose(packer, type, &choice))
        return -1;
    tg_packer_put(packer, type, &choice);
    return (int)choice.node;
}

static void every_policy_has_a_name_and_default_is_fill(void **state)
{
    (void)state;
    for (const char *const *name = tg_pack_policy_names; *name != NULL; name++)
        assert_non_null(tg_pack_policy(*name));
    assert_ptr_equal(tg_pack_policy("default"), &tg_pack_fill);
    assert_null(tg_pack_policy("Fill"));
}

static void binpack_takes_the_fullest_node_and_spread_the_emptiest(void **state)
{
    const struct tg_pack_node nodes[] = {NODE(1000, 1000, 1000), NODE(1000, 0, 1000),
                                         NODE(1000, 0, 300)};
    struct tg_packer *packed = fleet_of("binpack", nodes, 3),
                     *spread = fleet_of("spread", nodes, 3);

    (void)state;
    assert_int_equal(choose(packed, whole(1)), 1);
    assert_int_equal(choose(packed, share(300)), 2);
    assert_int_equal(choose(spread, whole(1)), 0);
    tg_packer_free(packed);
    tg_packer_free(spread);
}

/* Of the node with parts of cards left more is free in all, but fewer cards are whole. */
static void mig_takes_whole_cards_where_fewest_are(void **state)
{
    const struct tg_pack_node nodes[] = {NODE(1000, 1000, 1000), NODE(1000, 1000, 900, 900)};
    struct tg_packer *packer = fleet_of("mig", nodes, 2);

    (void)state;
    assert_int_equal(choose(packer, whole(1)), 1);
    tg_packer_free(packer);
}

static void of_equally_full_cards_mig_takes_that_of_the_tighter_node(void **state)
{
    const struct tg_pack_node nodes[] = {NODE(1000, 500, 1000), NODE(1000, 500)};
    struct tg_packer *packer = fleet_of("mig", nodes, 2);

    (void)state;
    assert_int_equal(choose(packer, share(400)), 1);
    tg_packer_free(packer);
}

/* On the first card a part would leave what nobody asks for. */
static void fgd_takes_the_card_that_is_left_least_in_fragments(void **state)
{
    const struct tg_pack_node node = NODE(9000, 400, 1000);
    struct tg_packer *packer = fleet_of("fgd", &node, 1);
    const struct tg_pack_request usual = share(400), part = share(100);
    struct tg_pack_choice choice;

    (void)state;
    tg_packer_expect(packer, tg_packer_type(packer, &usual), 1000);
    assert_true(tg_packer_choose(packer, tg_packer_type(packer, &part), &choice));
    assert_int_equal(choice.cards, 2);
    tg_packer_free(packer);
}

/* Of what is usual half a card is left that nobody can use: 100 / (1 + e^0.5) is 37.75, and a raise
 * of fragmentation is rounded down like everything else. */
static void fgd_rounds_a_raise_of_fragmentation_down(void **state)
{
    const struct tg_pack_node node = NODE(9000, 1000);
    struct tg_packer *packer = tg_packer_new(tg_pack_policy("fgd"));
    const struct tg_pack_request usual = whole(1), half = share(500);
    struct tg_pack_rating rating;
    unsigned type = tg_packer_type(packer, &half);

    (void)state;
    (void)tg_packer_add_node(packer, &node);
    tg_packer_expect(packer, tg_packer_type(packer, &usual), 1000);
    tg_packer_begin(packer);
    assert_true(tg_packer_rate(packer, type, tg_packer_class(packer, 0), &rating));
    assert_int_equal(rating.value, 37);
    tg_packer_free(packer);
}

/* A gain of so many milli-cards, as `fill` compares it. */
static int64_t step_of(struct tg_packer *packer, int64_t gain)
{
    const struct tg_pack_request one = whole(1);
    const struct tg_pack_score score = {.last = gain * TG_FUTURE_SEQUENCES};

    return tg_pack_fill.value(packer, &one, &score);
}

/* The least loss is a step worse than no gain. */
static void fill_compares_in_steps_of_fifty_that_are_rounded_down(void **state)
{
    struct tg_packer *packer = tg_packer_new(tg_pack_policy("fill"));

    (void)state;
    assert_int_equal(step_of(packer, 100), 2);
    assert_int_equal(step_of(packer, 99), 1);
    assert_int_equal(step_of(packer, 50), 1);
    assert_int_equal(step_of(packer, 49), 0);
    assert_int_equal(step_of(packer, 0), 0);
    assert_int_equal(step_of(packer, -1), -1);
    assert_int_equal(step_of(packer, -50), -1);
    assert_int_equal(step_of(packer, -51), -2);
    tg_packer_free(packer);
}

static void ties_go_to_the_lowest_number(void **state)
{
    const struct tg_pack_node nodes[] = {NODE(1000, 0), NODE(1000, 1000), NODE(1000, 1000)};

    (void)state;
    for (const char *const *name = tg_pack_policy_names; *name != NULL; name++) {
        struct tg_packer *packer = fleet_of(*name, nodes, 3);

        assert_int_equal(choose(packer, whole(1)), 1);
        assert_int_equal(choose(packer, whole(1)), 2);
        assert_int_equal(choose(packer, whole(1)), -1);
        tg_packer_free(packer);
    }
}

static void what_fits_somewhere_is_never_refused(void **state)
{
    const struct tg_pack_node nodes[] = {NODE(400, 1000, 700), NODE(300, 1000, 200)};

    (void)state;
    for (const char *const *name = tg_pack_policy_names; *name != NULL; name++) {
        struct tg_packer *packer = fleet_of(*name, nodes, 2);

        for (unsigned i = 0; i < 7; i++) {
            struct tg_pack_node a = *tg_packer_node(packer, 0), b = *tg_packer_node(packer, 1);
            struct tg_pack_request request = i % 3 == 0 ? whole(1) : share(200);
            bool fits = tg_pack_node_fits(&a, &request) || tg_pack_node_fits(&b, &request);

            assert_int_equal(choose(packer, request) >= 0, fits);
        }
        tg_packer_free(packer);
    }
}

static void fill_keeps_whole_cards_for_those_who_need_them(void **state)
{
    const struct tg_pack_node nodes[] = {NODE(9000, 1000), NODE(9000, 600)};
    struct tg_packer *packer = fleet_of("fill", nodes, 2);
    const struct tg_pack_request small = share(500), large = whole(1);

    (void)state;
    tg_packer_expect(packer, tg_packer_type(packer, &large), 1);
    tg_packer_expect(packer, tg_packer_type(packer, &small), 1);
    assert_int_equal(choose(packer, small), 1);
    assert_int_equal(choose(packer, large), 0);
    tg_packer_free(packer);
}

static void fill_keeps_the_last_whole_node_for_a_pod_that_needs_it(void **state)
{
    /* The tightest place for a single card would be node 0, the only one that fits four. */
    const struct tg_pack_node nodes[] = {NODE(9000, 1000, 1000, 1000, 1000),
                                         NODE(500, 1000, 1000, 1000, 1000, 1000, 1000)};
    struct tg_packer *packer = fleet_of("fill", nodes, 2);
    struct tg_pack_request four = whole(4);

    (void)state;
    four.cpu = 5000;
    tg_packer_expect(packer, tg_packer_type(packer, &four), 1);
    assert_int_equal(choose(packer, whole(1)), 1);
    assert_int_equal(choose(packer, four), 0);
    tg_packer_free(packer);
}

/* put and take leave nothing behind: the same questions get the same answers. */
static void take_undoes_put_in_every_policy(void **state)
{
    const struct tg_pack_node nodes[] = {NODE(9000, 1000, 1000), NODE(9000, 700, 1000),
                                         NODE(9000, 1000, 300)};
    const struct tg_pack_request requests[] = {share(300), whole(1), share(700), whole(2)};

    (void)state;
    for (const char *const *name = tg_pack_policy_names; *name != NULL; name++) {
        struct tg_packer *packer = fleet_of(*name, nodes, 3);
        struct tg_pack_choice first[4], again;

        for (unsigned i = 0; i < 4; i++)
            tg_packer_expect(packer, tg_packer_type(packer, &requests[i]), 1);
        for (unsigned i = 0; i < 4; i++)
            assert_true(tg_packer_choose(packer, i, &first[i]));
        for (unsigned i = 0; i < 4; i++) {
            assert_true(tg_packer_choose(packer, i, &again));
            tg_packer_put(packer, i, &again);
            tg_packer_take(packer, i, &again);
        }
        for (unsigned i = 0; i < 4; i++) {
            assert_true(tg_packer_choose(packer, i, &again));
            assert_int_equal(again.node, first[i].node);
            assert_int_equal(again.cards, first[i].cards);
        }
        tg_packer_free(packer);
    }
}

/* What is kept for requests that nobody has made yet, in thousandths of a place. */
static int64_t kept_for_the_unseen(const struct tg_packer *packer)
{
    int64_t sum = 0;

    for (unsigned i = 0; i < packer->reserve.n; i++) {
        const struct tg_reserve_special *special = &packer->reserve.special[i];

        sum += special->type == TG_MIX_NO_TYPE ? special->expected : 0;
    }
    return sum * 1000 >> TG_RESERVE_FRACTION;
}

static void the_more_has_been_seen_the_less_is_kept_for_the_unseen(void **state)
{
    const struct tg_pack_node nodes[] = {NODE(100000, 1000, 1000, 1000, 1000)};
    struct tg_packer *packer = fleet_of("fill", nodes, 1);
    int64_t before;

    (void)state;
    assert_int_equal(choose(packer, share(500)), 0);
    before = kept_for_the_unseen(packer);
    assert_true(before > 0 && before <= 80);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(choose(packer, share(500)), 0);
    assert_true(kept_for_the_unseen(packer) < before);
    for (unsigned i = 0; i < 12; i++)
        (void)choose(packer, share(500));
    assert_int_equal(kept_for_the_unseen(packer), 0);
    tg_packer_free(packer);
}

/* Special types that the policy knows when one of three requests has left again. */
static unsigned special_after_one_left(uint16_t cards_of_the_last)
{
    const struct tg_pack_node nodes[] = {NODE(9000, 1000, 1000, 1000), NODE(9000, 1000, 1000)};
    const struct tg_pack_request requests[] = {share(300), share(600), whole(cards_of_the_last)};
    struct tg_packer *packer = fleet_of("fill", nodes, 2);
    struct tg_pack_choice choice;
    unsigned n;

    for (unsigned i = 0; i < 3; i++)
        tg_packer_expect(packer, tg_packer_type(packer, &requests[i]), 1);
    assert_true(tg_packer_choose(packer, 0, &choice));
    assert_int_equal(packer->reserve.n, cards_of_the_last > 1);
    tg_packer_put(packer, 0, &choice);
    tg_packer_take(packer, 0, &choice);
    assert_true(tg_packer_choose(packer, 0, &choice));
    n = packer->reserve.n;
    tg_packer_free(packer);
    return n;
}

static void once_requests_leave_shares_fight_for_room(void **state)
{
    (void)state;
    assert_int_equal(special_after_one_left(1), 3);
    assert_int_equal(special_after_one_left(2),
                     1); /* half of what is asked for is special itself */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_has_a_name_and_default_is_fill),
        cmocka_unit_test(binpack_takes_the_fullest_node_and_spread_the_emptiest),
        cmocka_unit_test(mig_takes_whole_cards_where_fewest_are),
        cmocka_unit_test(of_equally_full_cards_mig_takes_that_of_the_tighter_node),
        cmocka_unit_test(fgd_takes_the_card_that_is_left_least_in_fragments),
        cmocka_unit_test(fgd_rounds_a_raise_of_fragmentation_down),
        cmocka_unit_test(fill_compares_in_steps_of_fifty_that_are_rounded_down),
        cmocka_unit_test(ties_go_to_the_lowest_number),
        cmocka_unit_test(what_fits_somewhere_is_never_refused),
        cmocka_unit_test(fill_keeps_whole_cards_for_those_who_need_them),
        cmocka_unit_test(fill_keeps_the_last_whole_node_for_a_pod_that_needs_it),
        cmocka_unit_test(take_undoes_put_in_every_policy),
        cmocka_unit_test(the_more_has_been_seen_the_less_is_kept_for_the_unseen),
        cmocka_unit_test(once_requests_leave_shares_fight_for_room),
    };

    return cmocka_run_group_tests_name("packer", tests, NULL, NULL);
}
