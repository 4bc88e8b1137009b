/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/pack/classes.h"
#include "tests/unit/core/packing.h"

static void alike_nodes_are_one_class_with_its_lowest_number(void **state)
{
    struct tg_pack_classes classes;
    struct tg_pack_node a = NODE(1, 1000, 5), b = NODE(1, 5, 1000), c = NODE(2, 5, 1000);
    uint32_t of_a, of_c;

    (void)state;
    tg_pack_classes_init(&classes);
    of_c = tg_pack_classes_add(&classes, &c);
    of_a = tg_pack_classes_add(&classes, &a);
    assert_int_equal(tg_pack_classes_add(&classes, &b), of_a);
    assert_int_not_equal(of_c, of_a);
    assert_int_equal(classes.n_live, 2);
    assert_int_equal(tg_pack_classes_first(&classes, of_a), 1);
    tg_pack_classes_move(&classes, 1, &c);
    assert_int_equal(tg_pack_classes_first(&classes, of_a), 2);
    assert_int_equal(tg_pack_classes_first(&classes, of_c), 0);
    tg_pack_classes_done(&classes);
}

/* It is entered anew each time; the list of those who were there must not grow with that. */
static void a_node_that_comes_and_goes_takes_no_more_room(void **state)
{
    struct tg_pack_classes classes;
    struct tg_pack_node a = NODE(1, 1000), b = NODE(2, 1000);
    uint32_t klass;

    (void)state;
    tg_pack_classes_init(&classes);
    klass = tg_pack_classes_add(&classes, &a);
    (void)tg_pack_classes_add(&classes, &a);
    for (unsigned i = 0; i < 5000; i++) {
        tg_pack_classes_move(&classes, 1, &b);
        assert_int_equal(tg_pack_classes_first(&classes, klass), 0);
        tg_pack_classes_move(&classes, 1, &a);
    }
    assert_true(classes.items[klass].n_heap < 100);
    assert_int_equal(tg_pack_classes_first(&classes, klass), 0);
    tg_pack_classes_done(&classes);
}

static void a_class_without_nodes_is_gone_and_its_place_is_used_again(void **state)
{
    struct tg_pack_classes classes;
    struct tg_pack_node a = NODE(1, 1000), b = NODE(2, 1000);
    uint32_t old, stamp;

    (void)state;
    tg_pack_classes_init(&classes);
    old = tg_pack_classes_add(&classes, &a);
    stamp = classes.items[old].stamp;
    assert_int_equal(tg_pack_classes_move(&classes, 0, &b), old);
    assert_int_equal(classes.n_live, 1);
    assert_int_not_equal(classes.items[old].stamp, stamp);
    tg_pack_classes_done(&classes);
}

/* Many nodes move between few and many states: what the classes say is what a plain look says. */
static void agrees_with_a_plain_look_at_all_nodes(void **state)
{
    enum { NODES = 3000, MOVES = 20000 };
    struct tg_pack_classes classes;
    static struct tg_pack_node nodes[NODES];
    uint64_t random = 88172645463325252U;

    (void)state;
    tg_pack_classes_init(&classes);
    for (uint32_t i = 0; i < NODES; i++) {
        nodes[i] = NODE(1, 1000, 1000);
        tg_pack_classes_add(&classes, &nodes[i]);
    }
    for (uint32_t i = 0; i < MOVES; i++) {
        uint32_t number;

        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        number = (uint32_t)(random >> 40) % NODES;
        nodes[number].free[random >> 20 & 1] = (uint16_t)((random >> 22) % (i < 10000 ? 3 : 999));
        tg_pack_classes_move(&classes, number, &nodes[number]);
    }
    for (uint32_t i = 0, seen = 0; i < classes.n_live; i++) {
        uint32_t klass = classes.live[i], members = 0, lowest = NODES;

        for (uint32_t j = 0; j < NODES; j++) {
            struct tg_pack_node sorted = tg_pack_node_sorted(&nodes[j]);

            if (!tg_pack_node_equal(&sorted, &classes.items[klass].node))
                continue;
            lowest = lowest == NODES ? j : lowest;
            members++;
        }
        assert_int_equal(classes.items[klass].nodes, members);
        assert_int_equal(tg_pack_classes_first(&classes, klass), lowest);
        seen += members;
        if (i + 1 == classes.n_live)
            assert_int_equal(seen, NODES);
    }
    tg_pack_classes_done(&classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alike_nodes_are_one_class_with_its_lowest_number),
        cmocka_unit_test(a_node_that_comes_and_goes_takes_no_more_room),
        cmocka_unit_test(a_class_without_nodes_is_gone_and_its_place_is_used_again),
        cmocka_unit_test(agrees_with_a_plain_look_at_all_nodes),
    };

    return cmocka_run_group_tests_name("classes", tests, NULL, NULL);
}
