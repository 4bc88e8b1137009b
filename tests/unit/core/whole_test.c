/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/pack/packer.h"
#include "controller/core/pack/policy.h"
#include "tests/unit/core/packing.h"

/* Nodes of four cards with plenty of cpu. */
static struct tg_packer *fleet_of(const char *policy, unsigned n)
{
    struct tg_packer *packer = tg_packer_new(tg_pack_policy(policy));

    for (unsigned i = 0; i < n; i++) {
        struct tg_pack_node node = NODE(100000, 1000, 1000, 1000, 1000);

        node.memory = 100000;
        (void)tg_packer_add_node(packer, &node);
    }
    return packer;
}

static unsigned type_of(struct tg_packer *packer, struct tg_pack_request request)
{
    return tg_packer_type(packer, &request);
}

static void put(struct tg_packer *packer, struct tg_pack_request request, uint32_t node)
{
    struct tg_pack_choice choice = {
        .node = node, .cards = tg_pack_node_cards(tg_packer_node(packer, node), &request)};

    tg_packer_put(packer, type_of(packer, request), &choice);
}

static int choose(struct tg_packer *packer, struct tg_pack_request request)
{
    struct tg_pack_choice choice;

    return tg_packer_choose(packer, type_of(packer, request), &choice) ? (int)choice.node : -1;
}

static void a_request_goes_where_many_are_and_not_where_one_will_leave_much(void **state)
{
    struct tg_packer *packer = fleet_of("whole", 3);

    (void)state;
    tg_packer_expect(packer, type_of(packer, whole(1)), 10);
    tg_packer_expect(packer, type_of(packer, whole(4)), 10);
    put(packer, whole(2), 0); /* two cards left on both, one resident and two */
    put(packer, whole(1), 1);
    put(packer, whole(1), 1);
    assert_int_equal(choose(packer, whole(1)), 1);
    tg_packer_free(packer);
}

static void a_request_goes_first_where_it_uses_up_what_is_left(void **state)
{
    struct tg_packer *packer = fleet_of("whole", 3);

    (void)state;
    tg_packer_expect(packer, type_of(packer, whole(1)), 10);
    tg_packer_expect(packer, type_of(packer, whole(4)), 10);
    put(packer, whole(2), 0);
    put(packer, whole(1), 1);
    assert_int_equal(choose(packer, whole(2)), 0);
    tg_packer_free(packer);
    /* Even where one large resident may soon leave a whole node. */
    packer = fleet_of("whole", 3);
    tg_packer_expect(packer, type_of(packer, whole(1)), 10);
    tg_packer_expect(packer, type_of(packer, whole(4)), 10);
    put(packer, whole(3), 0);
    put(packer, whole(1), 1);
    put(packer, whole(1), 1);
    assert_int_equal(choose(packer, whole(1)), 0);
    tg_packer_free(packer);
}

static void fill_leaves_a_mix_of_whole_cards_to_it_and_takes_back_one_of_parts(void **state)
{
    struct tg_packer *packer = fleet_of("fill", 2);

    (void)state;
    tg_packer_arrive(packer, type_of(packer, whole(2)));
    assert_int_equal(choose(packer, whole(2)), 0);
    assert_ptr_equal(packer->acting, &tg_pack_whole);
    put(packer, whole(2), 0);
    assert_true(packer->nodes[0].mark != 0);
    tg_packer_arrive(packer, type_of(packer, share(500)));
    assert_true(choose(packer, share(500)) >= 0);
    assert_ptr_equal(packer->acting, &tg_pack_fill);
    assert_int_equal(packer->nodes[0].mark, 0); /* who is there tells nodes apart no longer */
    tg_packer_free(packer);
}

static void departures_are_noticed(void **state)
{
    struct tg_packer *packer = fleet_of("whole", 2);
    struct tg_pack_choice choice = {.node = 1, .cards = 1};

    (void)state;
    tg_packer_expect(packer, type_of(packer, whole(4)), 1);
    put(packer, whole(1), 1);
    assert_int_equal(choose(packer, whole(4)), 0);
    tg_packer_take(packer, type_of(packer, whole(1)), &choice);
    assert_int_equal(packer->nodes[1].mark, 0);
    put(packer, whole(4), 0);
    assert_int_equal(choose(packer, whole(4)), 1);
    tg_packer_free(packer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_goes_where_many_are_and_not_where_one_will_leave_much),
        cmocka_unit_test(a_request_goes_first_where_it_uses_up_what_is_left),
        cmocka_unit_test(fill_leaves_a_mix_of_whole_cards_to_it_and_takes_back_one_of_parts),
        cmocka_unit_test(departures_are_noticed),
    };

    return cmocka_run_group_tests_name("whole", tests, NULL, NULL);
}
