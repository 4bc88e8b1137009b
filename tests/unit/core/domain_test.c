/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/domain.h"
#include "tests/unit/core/world.h"

static void domains_come_tightest_first_and_unlabelled_nodes_are_in_none(void **state)
{
    static const struct {
        const char *name, *labels;
        size_t gpus;
    } nodes[] = {
        {"a", "\"rack\":\"big\"", 4},
        {"b", "\"rack\":\"small\"", 2},
        {"c", "\"rack\":\"big\"", 1},
        {"d", "\"rack\":\"also\"", 2},
        {"e", "", 8},
    };
    const struct tg_level rack = {.name = "rack", .node_label = "rack"}, host = {.name = "host"};
    struct world w;
    struct tg_board board;
    struct tg_domains domains;
    size_t all[] = {0, 1, 2, 3, 4};
    const struct tg_scope scope = {.nodes = all, .n = 5};
    struct tg_place_request request = {.name = "g", .n_pieces = 3};

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    for (size_t i = 0; i < 5; i++) {
        add_node(&w, nodes[i].name, nodes[i].labels, "");
        add_gpus(&w, nodes[i].name, nodes[i].gpus, "");
    }
    request.pieces = new_gang(&w, 3, 2);
    assert_int_equal(tg_board_init(&board, world_fleet(&w), &request, w.arena, NULL), 0);
    assert_int_equal(tg_domains_find(&board, &rack, &scope, &domains, NULL), 0);
    assert_int_equal(domains.n, 3);
    assert_string_equal(domains.items[0].name, "also");
    assert_string_equal(domains.items[1].name, "small");
    assert_string_equal(domains.items[2].name, "big");
    assert_int_equal(domains.items[2].free, 5);
    assert_int_equal(domains.items[2].places, 2);
    assert_int_equal(domains.items[2].scope.n, 2);
    assert_int_equal(domains.items[2].scope.nodes[1], 2);
    /* The same of the whole fleet, by sums. */
    assert_int_equal(tg_domains_find(&board, &rack, NULL, &domains, NULL), 0);
    assert_int_equal(domains.n, 3);
    assert_string_equal(domains.items[0].name, "also");
    assert_string_equal(domains.items[2].name, "big");
    assert_int_equal(domains.items[2].free, 5);
    assert_int_equal(domains.items[2].places, 2);
    assert_int_equal(domains.items[2].scope.n, 2);
    assert_null(domains.items[2].scope.nodes);
    assert_int_equal(tg_domain_open(&board, &domains.items[2], NULL), 0);
    assert_int_equal(domains.items[2].scope.nodes[1], 2);
    assert_int_equal(tg_domains_find(&board, &host, &scope, &domains, NULL), 0);
    assert_int_equal(domains.n, 5);
    assert_string_equal(domains.items[4].name, "e");
    assert_int_equal(domains.items[4].places, 3);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(domains_come_tightest_first_and_unlabelled_nodes_are_in_none),
    };

    return cmocka_run_group_tests_name("domain", tests, NULL, NULL);
}
