/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/packing.h"

static void a_share_needs_one_card_with_room_and_the_node_the_rest(void **state)
{
    const struct tg_pack_node node = NODE(100, 0, 300, 500);
    const struct tg_pack_request half = share(500), more = share(501);
    struct tg_pack_request greedy = share(100);

    (void)state;
    assert_true(tg_pack_node_fits(&node, &half));
    assert_false(tg_pack_node_fits(&node, &more));
    greedy.cpu = 101;
    assert_false(tg_pack_node_fits(&node, &greedy));
    greedy.cpu = 100;
    greedy.memory = 1001;
    assert_false(tg_pack_node_fits(&node, &greedy));
}

static void whole_cards_are_untouched_ones(void **state)
{
    const struct tg_pack_node node = NODE(1000, 1000, 999, 1000);
    const struct tg_pack_request two = whole(2), three = whole(3), none = {.cpu = 1};

    (void)state;
    assert_true(tg_pack_node_fits(&node, &two));
    assert_false(tg_pack_node_fits(&node, &three));
    assert_true(tg_pack_node_fits(&node, &none));
    assert_int_equal(tg_pack_node_cards(&node, &two), 5);
    assert_int_equal(tg_pack_node_cards(&node, &none), 0);
}

static void cards_of_other_kinds_do_not_count(void **state)
{
    struct tg_pack_node node = NODE(1000, 1000, 1000);
    struct tg_pack_request request = whole(1);

    (void)state;
    node.kind[0] = 3;
    request.kinds = UINT64_C(1) << 3;
    assert_int_equal(tg_pack_node_cards(&node, &request), 1);
    assert_int_equal(tg_pack_node_count(&node, &request), 1);
    request.kinds = 2;
    assert_false(tg_pack_node_fits(&node, &request));
    request.share = 10;
    assert_false(tg_pack_node_fits(&node, &request));
    assert_int_equal(tg_pack_node_count(&node, &request), 0);
}

static void a_share_goes_to_the_least_sufficient_card(void **state)
{
    const struct tg_pack_node node = NODE(1000, 1000, 400, 300, 400);
    const struct tg_pack_request request = share(350);

    (void)state;
    assert_int_equal(tg_pack_node_cards(&node, &request), 2);
}

static void count_is_how_often_put_succeeds(void **state)
{
    static const struct {
        uint16_t cards, milli;
    } requests[] = {{1, 300}, {1, 1000}, {2, 1000}, {3, 1000}, {1, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        struct tg_pack_node node = NODE(1250, 1000, 700, 1000, 1000, 299);
        struct tg_pack_request request =
            requests[i].cards > 1 ? whole(requests[i].cards) : share(requests[i].milli);
        int64_t count = tg_pack_node_count(&node, &request), put = 0;

        while (tg_pack_node_fits(&node, &request)) {
            tg_pack_node_put(&node, &request, tg_pack_node_cards(&node, &request));
            put++;
        }
        assert_int_equal(count, put);
    }
}

static void take_undoes_put(void **state)
{
    struct tg_pack_node node = NODE(1000, 1000, 700, 1000);
    const struct tg_pack_node before = node;
    const struct tg_pack_request request = whole(2);

    (void)state;
    tg_pack_node_put(&node, &request, 5);
    assert_false(tg_pack_node_equal(&node, &before));
    assert_int_equal(tg_pack_node_free(&node), 700);
    tg_pack_node_take(&node, &request, 5);
    assert_true(tg_pack_node_equal(&node, &before));
}

static void nodes_that_differ_in_the_order_of_their_cards_are_alike(void **state)
{
    struct tg_pack_node a = NODE(1000, 300, 1000, 0), b = NODE(1000, 0, 300, 1000);
    struct tg_pack_node other = NODE(1000, 0, 301, 999);

    (void)state;
    a = tg_pack_node_sorted(&a);
    b = tg_pack_node_sorted(&b);
    other = tg_pack_node_sorted(&other);
    assert_true(tg_pack_node_equal(&a, &b));
    assert_true(tg_pack_node_hash(&a) == tg_pack_node_hash(&b));
    assert_false(tg_pack_node_equal(&a, &other));
    b.mark = 1;
    assert_false(tg_pack_node_equal(&a, &b));
}

/* Beside what is left of the cards: which partitions have a place there. */
static void nodes_with_other_places_for_partitions_are_not_alike(void **state)
{
    struct tg_pack_node a = NODE(1000, 500, 500), b = a;

    (void)state;
    b.open = 1;
    assert_true(tg_pack_node_equal(&a, &a));
    assert_false(tg_pack_node_equal(&a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_needs_one_card_with_room_and_the_node_the_rest),
        cmocka_unit_test(whole_cards_are_untouched_ones),
        cmocka_unit_test(cards_of_other_kinds_do_not_count),
        cmocka_unit_test(a_share_goes_to_the_least_sufficient_card),
        cmocka_unit_test(count_is_how_often_put_succeeds),
        cmocka_unit_test(take_undoes_put),
        cmocka_unit_test(nodes_that_differ_in_the_order_of_their_cards_are_alike),
        cmocka_unit_test(nodes_with_other_places_for_partitions_are_not_alike),
    };

    return cmocka_run_group_tests_name("node", tests, NULL, NULL);
}
