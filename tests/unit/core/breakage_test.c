/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/pack/breakage.h"
#include "tests/unit/core/packing.h"

static const struct tg_pack_request quarter = {
    .cpu = 100, .memory = 1, .kinds = TG_PACK_ANY_KIND, .cards = 1, .share = 250, .place = 2};

/* Everything is open on cards of which nothing is taken; of others what is said. */
static struct tg_pack_node with_places(struct tg_pack_node node, uint64_t open)
{
    node.open = open;
    return node;
}

static void a_partitioned_card_with_a_place_breaks_nothing(void **state)
{
    static struct tg_mix mix;
    struct tg_pack_node node = with_places(NODE(1000, 1000, 250), 0xf | 0x2 << 4);

    (void)state;
    assert_int_equal(tg_breakage_of(&mix, &node, &quarter), 0);
    /* Enough of it is left, but in no place for a quarter. */
    node.open = 0xf | 0x1 << 4;
    assert_int_equal(tg_breakage_of(&mix, &node, &quarter), 1);
}

static void what_several_cards_are_wanted_for_is_worse(void **state)
{
    static struct tg_mix mix;
    struct tg_pack_node empty = with_places(NODE(1000, 1000, 1000, 1000, 1000), 0xffff);
    struct tg_pack_node three = with_places(NODE(1000, 1000, 1000, 1000, 500), 0xfff);
    struct tg_pack_node two = with_places(NODE(1000, 1000, 1000, 500, 500), 0xff);
    struct tg_pack_request pair = whole(2), half = share(250);

    (void)state;
    assert_int_equal(tg_breakage_of(&mix, &empty, &quarter),
                     4); /* somebody may want a whole node */
    assert_int_equal(tg_breakage_of(&mix, &two, &quarter), 1);
    tg_mix_arrive(&mix, tg_mix_type(&mix, &pair), 1);
    assert_int_equal(tg_breakage_of(&mix, &two, &quarter), 2);
    assert_int_equal(tg_breakage_of(&mix, &three, &quarter), 1); /* a pair still fits there */
    /* Shares of cards that are given to many go by the policy alone. */
    assert_int_equal(tg_breakage_of(&mix, &empty, &half), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_partitioned_card_with_a_place_breaks_nothing),
        cmocka_unit_test(what_several_cards_are_wanted_for_is_worse),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
