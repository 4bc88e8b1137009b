/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/explain/survey.h"
#include "controller/core/fit/rule.h"
#include "tests/unit/core/world.h"

static void everything_is_counted_once(void **state)
{
    static const size_t nodes[] = {0, 1, 2};
    const struct tg_scope scope = {.nodes = nodes, .n = 3};
    struct tg_place_request request = {.name = "g", .n_pieces = 1};
    struct world w;
    struct tg_board board;
    struct tg_survey s;
    bool taken[16] = {false};
    size_t sum = 0;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 4, "");
    add_holder(&w, "x", "a", "gpu-0");
    add_holder(&w, "y", "a", "gpu-1");
    add_node(&w, "b", "", "");
    add_gpus(&w, "b", 2, "\"healthy\":{\"bool\":false}");
    add_node(&w, "c", "", "\"unschedulable\":true");
    add_gpus(&w, "c", 8, "");
    w.pods[w.n_pods++] = new_pod(&w, "hog", "8", "\"nodeName\":\"a\",");
    request.pieces = new_gang(&w, 1, 1);
    assert_int_equal(tg_board_init(&board, world_fleet(&w), &request, w.arena, NULL), 0);
    taken[tg_fleet_find_device(board.fleet, GPU_DRIVER, "a", "gpu-2")] = true;
    assert_int_equal(tg_board_read(&board, &scope, NULL), 0);
    assert_int_equal(tg_survey_take(&board, 0, &scope, taken, &s, NULL), 0);
    assert_int_equal(s.nodes, 3);
    assert_int_equal(s.nodes_fit, 2);
    for (size_t i = 0; i <= tg_fit_rules_count; i++)
        sum += s.failed[i];
    assert_int_equal(sum, 1);
    assert_int_equal(s.matching, 6);
    assert_int_equal(s.held, 2);
    assert_int_equal(s.tainted, 2);
    assert_int_equal(s.taken, 1);
    assert_int_equal(s.free, 1);
    assert_int_equal(s.nodes_free, 1);
    assert_int_equal(s.best_node, 0);
    assert_int_equal(s.best_free, 1);
    assert_int_equal(s.best_holders.n, 2);
    assert_string_equal(s.best_holders.names[1], "claim ns/y");
    assert_int_equal(s.nodes_short, 1);
    assert_string_equal(s.short_resource, "cpu");
    assert_int_equal(s.short_left, 0);
    assert_int_equal(s.short_need, 1000);
    assert_int_equal(s.need_without, TG_NO_INDEX);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_counted_once),
    };

    return cmocka_run_group_tests_name("survey", tests, NULL, NULL);
}
