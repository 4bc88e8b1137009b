/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/pack/packer.h"
#include "controller/core/pack/policy.h"
#include "tests/unit/core/packing.h"

/* Racks of two nodes; left[i]: whole cards of node i. */
static struct tg_packer *fleet_of(const char *policy, const unsigned *left, unsigned n)
{
    struct tg_packer *packer = tg_packer_new(tg_pack_policy(policy));

    for (unsigned i = 0; i < n; i++) {
        struct tg_pack_node node = {.cpu = 10000, .memory = 1000, .domain = i / 2, .cards = 4};

        for (unsigned k = 0; k < left[i]; k++)
            node.free[k] = TG_PACK_CARD;
        (void)tg_packer_add_node(packer, &node);
    }
    return packer;
}

static bool put(struct tg_packer *packer, uint32_t members, uint16_t cards, bool together,
                struct tg_pack_choice *choices)
{
    struct tg_pack_request request = whole(cards);
    struct tg_pack_gang gang = {
        .type = tg_packer_type(packer, &request), .members = members, .together = together};

    tg_packer_arrive(packer, gang.type);
    return tg_packer_put_gang(packer, &gang, choices);
}

static void a_gang_goes_to_the_tightest_rack_that_holds_it(void **state)
{
    static const unsigned left[] = {4, 4, 3, 4, 4, 1};
    struct tg_packer *packer = fleet_of("default", left, 6);
    struct tg_pack_choice choices[4];

    (void)state;
    assert_true(put(packer, 3, 2, true, choices));
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(choices[i].node / 2, 1);
    tg_packer_free(packer);
}

static void without_racks_the_members_go_anywhere(void **state)
{
    static const unsigned left[] = {2, 0, 2, 0};
    struct tg_packer *packer = fleet_of("default", left, 4);
    struct tg_pack_choice choices[2];

    (void)state;
    assert_false(put(packer, 2, 2, true, choices));
    assert_true(put(packer, 2, 2, false, choices));
    assert_int_not_equal(choices[0].node, choices[1].node);
    tg_packer_free(packer);
}

static void a_gang_that_does_not_fit_leaves_everything_as_it_was(void **state)
{
    static const unsigned left[] = {4, 2, 2, 2};

    (void)state;
    for (const char *const *name = tg_pack_policy_names; *name != NULL; name++) {
        struct tg_packer *packer = fleet_of(*name, left, 4);
        struct tg_pack_choice choices[6];

        assert_false(put(packer, 6, 2, false, choices));
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(tg_pack_node_free(tg_packer_node(packer, i)), left[i] * TG_PACK_CARD);
        assert_int_equal(packer->mix.types[0].running, 0);
        tg_packer_free(packer);
    }
}

static void spread_takes_the_emptiest_rack(void **state)
{
    static const unsigned left[] = {2, 2, 4, 4, 3, 3};
    struct tg_packer *packer = fleet_of("spread", left, 6);
    struct tg_pack_choice choices[2];

    (void)state;
    assert_true(put(packer, 2, 2, true, choices));
    assert_int_equal(choices[0].node, 2);
    assert_int_equal(choices[1].node, 3);
    tg_packer_free(packer);
}

/* Nodes 0, 2 and 4 are alike; what else there is in their racks decides. */
static void single_members_leave_racks_with_much_room_to_gangs(void **state)
{
    static const unsigned left[] = {3, 3, 3, 1, 3, 2};
    struct tg_packer *packer = fleet_of("default", left, 6);
    struct tg_pack_choice choices[3];

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        assert_true(put(packer, 1, 3, false, &choices[i]));
    assert_int_equal(choices[0].node, 2);
    assert_int_equal(choices[1].node, 4);
    assert_int_equal(choices[2].node, 0);
    tg_packer_free(packer);
}

/* Racks that were alike until somebody came and went. */
static void room_of_racks_is_counted_as_it_is(void **state)
{
    static const unsigned left[] = {4, 4, 4, 4};
    static const struct tg_pack_choice last = {.node = 3, .cards = 0xf};
    struct tg_packer *packer = fleet_of("default", left, 4);
    struct tg_pack_choice choice;

    (void)state;
    assert_true(put(packer, 1, 4, false, &choice));
    assert_int_equal(choice.node, 0);
    tg_packer_take(packer, 0, &choice);
    tg_packer_put(packer, 0, &last);
    assert_true(put(packer, 1, 4, false, &choice));
    assert_int_equal(choice.node, 2);
    tg_packer_take(packer, 0, &choice);
    tg_packer_take(packer, 0, &last);
    assert_true(put(packer, 1, 4, false, &choice));
    assert_int_equal(choice.node, 0);
    tg_packer_free(packer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gang_goes_to_the_tightest_rack_that_holds_it),
        cmocka_unit_test(without_racks_the_members_go_anywhere),
        cmocka_unit_test(a_gang_that_does_not_fit_leaves_everything_as_it_was),
        cmocka_unit_test(spread_takes_the_emptiest_rack),
        cmocka_unit_test(single_members_leave_racks_with_much_room_to_gangs),
        cmocka_unit_test(room_of_racks_is_counted_as_it_is),
    };

    return cmocka_run_group_tests_name("gang", tests, NULL, NULL);
}
