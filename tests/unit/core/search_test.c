/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/assign.h"
#include "controller/core/gang/search.h"
#include "tests/unit/core/world.h"

static const size_t nodes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

static void set_up(struct world *w, struct tg_board *board, struct tg_place_request *request,
                   const size_t *gpus, size_t n)
{
    add_class(w, "gpu", "");
    for (size_t i = 0; i < n; i++) {
        char name[32];

        snprintf(name, sizeof(name), "n%zu", i);
        add_node(w, name, i == 0 ? "\"zone\":\"x\"" : "", "");
        add_gpus(w, name, gpus[i], "");
    }
    assert_int_equal(tg_board_init(board, world_fleet(w), request, w->arena, NULL), 0);
}

static void best_fit_fills_the_fullest_node_first_and_keeps_large_gaps(void **state)
{
    struct world w;
    struct tg_board board;
    struct tg_place_request request = {.name = "g", .n_pieces = 3};
    const struct tg_scope scope = {.nodes = nodes, .n = 4};
    size_t placed = 0;

    (void)state;
    world_init(&w);
    request.pieces = new_gang(&w, 3, 2);
    set_up(&w, &board, &request, (const size_t[]){8, 5, 3, 4}, 4);
    assert_int_equal(tg_search_best_fit(&board, &scope, &placed, NULL), 0);
    assert_int_equal(placed, 3);
    assert_int_equal(board.members[0].node, 2);
    assert_int_equal(board.members[1].node, 3);
    assert_int_equal(board.members[2].node, 3);
    world_done(&w);
}

/* The big member fits on n0 as tightly as on any, but the small ones have to go there. */
static void the_exhaustive_search_finds_what_best_fit_misses(void **state)
{
    struct world w;
    struct tg_board board;
    struct tg_piece pieces[3];
    struct tg_place_request request = {.name = "g", .pieces = pieces, .n_pieces = 3};
    const struct tg_scope scope = {.nodes = nodes, .n = 2};
    struct tg_assignment assigned[3] = {{.n = 0}};
    size_t placed = 0;
    bool found = false;

    (void)state;
    world_init(&w);
    pieces[0] = new_piece(&w, new_pod(&w, "big", "1", ""), new_gpu_claim(&w, "big", 2));
    pieces[1] = new_piece(&w, new_pod(&w, "s1", "1", "\"nodeSelector\":{\"zone\":\"x\"},"),
                          new_gpu_claim(&w, "s1", 1));
    pieces[2] = new_piece(&w, new_pod(&w, "s2", "1", "\"nodeSelector\":{\"zone\":\"x\"},"),
                          new_gpu_claim(&w, "s2", 1));
    set_up(&w, &board, &request, (const size_t[]){2, 2}, 2);
    assert_int_equal(tg_search_best_fit(&board, &scope, &placed, NULL), 0);
    assert_int_equal(placed, 1);
    assert_int_equal(tg_search_all(&board, &scope, &found, NULL), 0);
    assert_true(found);
    assert_int_equal(board.members[0].node, 1);
    assert_int_equal(board.members[1].node, 0);
    assert_int_equal(board.members[2].node, 0);
    assert_int_equal(tg_assign_devices(&board, assigned, NULL), 0);
    assert_string_equal(board.fleet->devices[assigned[1].items[0].device].name, "gpu-0");
    assert_string_equal(board.fleet->devices[assigned[2].items[0].device].name, "gpu-1");
    world_done(&w);
}

static void a_scope_without_the_capacity_is_refused_without_a_search(void **state)
{
    struct world w;
    struct tg_board board;
    struct tg_place_request request = {.name = "g", .n_pieces = 3};
    const struct tg_scope scope = {.nodes = nodes, .n = 2};
    bool found = true;

    (void)state;
    world_init(&w);
    request.pieces = new_gang(&w, 3, 2);
    set_up(&w, &board, &request, (const size_t[]){2, 3, 8}, 3);
    assert_int_equal(tg_board_read(&board, &scope, NULL), 0);
    assert_false(tg_search_may_fit(&board, &scope));
    assert_int_equal(tg_search_all(&board, &scope, &found, NULL), 0);
    assert_false(found);
    assert_int_equal(board.steps, 0);
    world_done(&w);
}

/* Ten unlike members on ten nodes that cannot hold the last: a proof would take long, the bound
 * ends it. */
static void the_search_ends_with_its_steps_and_says_so(void **state)
{
    struct world w;
    struct tg_board board;
    struct tg_piece pieces[12];
    struct tg_place_request request = {
        .name = "g", .pieces = pieces, .n_pieces = 12, .max_steps = 5000};
    const struct tg_scope scope = {.nodes = nodes, .n = 10};
    size_t gpus[10];
    bool found = true;

    (void)state;
    world_init(&w);
    for (size_t i = 0; i < 12; i++) {
        char name[32], cpu[16];

        snprintf(name, sizeof(name), "m%02zu", i);
        snprintf(cpu, sizeof(cpu), "%zum", 100 + i);
        pieces[i] = new_piece(&w, new_pod(&w, name, cpu, ""), new_gpu_claim(&w, name, 2));
    }
    for (size_t i = 0; i < 10; i++)
        gpus[i] = i == 0 ? 4 : 3;
    set_up(&w, &board, &request, gpus, 10);
    assert_int_equal(tg_search_all(&board, &scope, &found, NULL), 0);
    assert_false(found);
    assert_true(board.gave_up);
    assert_in_range(board.steps, 5000, 5020);
    world_done(&w);
}

/* Something is taken on a node, or everything is given back. */
static void happen(struct tg_fleet *fleet, uint64_t random)
{
    char node[8], card[8];
    const struct tg_fleet_busy busy = {
        .driver = GPU_DRIVER, .pool = node, .device = card, .holder = "gang ns/other"};

    snprintf(node, sizeof(node), "n%u", (unsigned)(random % 10));
    snprintf(card, sizeof(card), "gpu-%u", (unsigned)(random / 10 % 3));
    if (random / 30 % 8 == 0)
        tg_fleet_undo(fleet, 0);
    else
        tg_fleet_assume(fleet, &busy, 1, NULL, 0);
    tg_fleet_settle(fleet);
}

static void place_everywhere(struct world *w, struct tg_fleet *fleet,
                             const struct tg_place_request *request, bool anywhere,
                             struct tg_board *ret)
{
    struct tg_scope everything;
    size_t placed = 0;

    assert_int_equal(tg_board_init(ret, fleet, request, w->arena, NULL), 0);
    assert_int_equal(tg_board_everything(ret, &everything, NULL), 0);
    assert_int_equal(anywhere ? tg_search_anywhere(ret, &placed, NULL)
                              : tg_search_best_fit(ret, &everything, &placed, NULL),
                     0);
}

/* By classes of alike nodes the same nodes are chosen as by a look at all of them, whatever has
 * come and gone. */
static void anywhere_is_where_best_fit_over_all_nodes_would_go(void **state)
{
    static const char *const policies[] = {"default", "binpack", "spread", "fgd"};
    struct world w;
    struct tg_board all, few;
    struct tg_piece pieces[6];
    struct tg_policies by = {.fleet = "default"};
    struct tg_place_request request = {.name = "g", .pieces = pieces, .policies = &by};
    struct tg_fleet *fleet;
    size_t members = 0;
    uint64_t random = 12345;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    for (size_t i = 0; i < 10; i++) {
        char name[8];

        snprintf(name, sizeof(name), "n%zu", i * 7 % 10);
        add_node(&w, name, "", "");
        add_gpus(&w, name, 1 + i % 4, "");
    }
    for (size_t i = 0; i < 6; i++) {
        char name[8];

        snprintf(name, sizeof(name), "m%zu", i);
        pieces[i] =
            new_piece(&w, new_pod(&w, name, "1", ""), new_gpu_claim(&w, name, i < 2 ? 2 : 1));
    }
    fleet = world_fleet(&w);
    for (size_t step = 0; step < 2000; step++) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        happen(fleet, random >> 33);
        by.fleet = policies[step % 4];
        request.n_pieces = 1 + step % 6;
        place_everywhere(&w, fleet, &request, false, &all);
        place_everywhere(&w, fleet, &request, true, &few);
        for (size_t m = 0; m < request.n_pieces; m++) {
            assert_int_equal(few.members[m].node, all.members[m].node);
            members += all.members[m].node != TG_NO_INDEX ? 1 : 0;
        }
    }
    assert_true(members > 3000);
    world_done(&w);
}

/* Of domains that take few members only the best nodes are kept; the same nodes are chosen when all
 * are, which a second limit, here one that never binds, makes the search do. */
static void small_limits_choose_what_a_look_at_every_node_would(void **state)
{
    static const char *const policies[] = {"default", "binpack", "spread", "fgd"};
    static const struct tg_level rack = {.name = "rack", .node_label = "rack"},
                                 row = {.name = "row", .node_label = "row", .rank = 1};
    struct tg_place_rule rules[] = {{.level = &rack, .most = 64, .required = true},
                                    {.level = &rack, .required = true},
                                    {.level = &row, .required = true}};
    struct world w;
    struct tg_board all, few;
    struct tg_policies by = {.fleet = "default"};
    struct tg_place_request request = {.name = "g", .n_pieces = 6, .policies = &by};
    struct tg_fleet *fleet;
    size_t members = 0;
    uint64_t random = 12345;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    for (size_t i = 0; i < 10; i++) {
        char name[8], labels[48];

        snprintf(name, sizeof(name), "n%zu", i * 7 % 10);
        snprintf(labels, sizeof(labels), "\"rack\":\"%zu\",\"row\":\"%zu\"", i % 3, i * 3 % 4);
        add_node(&w, name, labels, "");
        add_gpus(&w, name, 1 + i % 4, "");
    }
    request.pieces = new_gang(&w, 6, 1);
    fleet = world_fleet(&w);
    for (size_t step = 0; step < 2000; step++) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        happen(fleet, random >> 33);
        by.fleet = policies[step % 4];
        rules[1].most = 1 + step / 4 % 4;
        rules[2].most = 1 + step / 16 % 3;
        request.rules = rules + 1;
        request.n_rules = 1 + step / 48 % 2;
        place_everywhere(&w, fleet, &request, false, &few);
        request.rules = rules;
        request.n_rules++;
        place_everywhere(&w, fleet, &request, false, &all);
        for (size_t m = 0; m < request.n_pieces; m++) {
            assert_int_equal(few.members[m].node, all.members[m].node);
            members += all.members[m].node != TG_NO_INDEX ? 1 : 0;
        }
    }
    assert_true(members > 3000);
    world_done(&w);
}

/* One member a rack and one a row: the best node of each row is in one rack, so that the second
 * best of the second row is wanted. Few are kept for one limit only. */
static void two_limits_need_more_than_the_best_of_each_domain(void **state)
{
    static const struct tg_level rack = {.name = "rack", .node_label = "rack"},
                                 row = {.name = "row", .node_label = "row", .rank = 1};
    static const struct tg_place_rule rules[] = {{.level = &rack, .most = 1, .required = true},
                                                 {.level = &row, .most = 1, .required = true}};
    static const char *const labels[] = {
        "\"rack\":\"a\",\"row\":\"1\"", "\"rack\":\"b\",\"row\":\"1\"",
        "\"rack\":\"a\",\"row\":\"2\"", "\"rack\":\"b\",\"row\":\"2\""};
    const struct tg_policies by = {.fleet = "binpack"};
    struct tg_place_request request = {
        .name = "g", .n_pieces = 2, .policies = &by, .rules = rules, .n_rules = 2};
    const struct tg_scope scope = {.nodes = nodes, .n = 4};
    struct world w;
    struct tg_board board;
    size_t placed = 0;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    for (size_t i = 0; i < 4; i++) {
        char name[8];

        snprintf(name, sizeof(name), "n%zu", i);
        add_node(&w, name, labels[i], "");
        add_gpus(&w, name, 1 + i % 2, "");
    }
    request.pieces = new_gang(&w, 2, 1);
    assert_int_equal(tg_board_init(&board, world_fleet(&w), &request, w.arena, NULL), 0);
    assert_int_equal(tg_search_best_fit(&board, &scope, &placed, NULL), 0);
    assert_int_equal(placed, 2);
    assert_int_equal(board.members[0].node, 0);
    assert_int_equal(board.members[1].node, 3);
    world_done(&w);
}

/* The tightest node is in the way of both others: members that are alike need the exhaustive search
 * as soon as there are two limits. */
static void two_limits_need_the_exhaustive_search(void **state)
{
    static const struct tg_level rack = {.name = "rack", .node_label = "rack"},
                                 row = {.name = "row", .node_label = "row", .rank = 1};
    static const struct tg_place_rule rules[] = {{.level = &rack, .most = 1, .required = true},
                                                 {.level = &row, .most = 1, .required = true}};
    static const char *const labels[] = {"\"rack\":\"a\",\"row\":\"1\"",
                                         "\"rack\":\"b\",\"row\":\"1\"",
                                         "\"rack\":\"a\",\"row\":\"2\""};
    const struct tg_policies by = {.fleet = "binpack"};
    struct tg_place_request request = {
        .name = "g", .n_pieces = 2, .policies = &by, .rules = rules, .n_rules = 2};
    const struct tg_scope scope = {.nodes = nodes, .n = 3};
    struct world w;
    struct tg_board board;
    size_t placed = 0;
    bool found = false;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    for (size_t i = 0; i < 3; i++) {
        char name[8];

        snprintf(name, sizeof(name), "n%zu", i);
        add_node(&w, name, labels[i], "");
        add_gpus(&w, name, i == 0 ? 1 : 2, "");
    }
    request.pieces = new_gang(&w, 2, 1);
    assert_int_equal(tg_board_init(&board, world_fleet(&w), &request, w.arena, NULL), 0);
    assert_int_equal(tg_search_best_fit(&board, &scope, &placed, NULL), 0);
    assert_int_equal(placed, 1);
    assert_int_equal(tg_search_all(&board, &scope, &found, NULL), 0);
    assert_true(found);
    assert_int_equal(board.members[0].node, 1);
    assert_int_equal(board.members[1].node, 2);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(anywhere_is_where_best_fit_over_all_nodes_would_go),
        cmocka_unit_test(small_limits_choose_what_a_look_at_every_node_would),
        cmocka_unit_test(two_limits_need_more_than_the_best_of_each_domain),
        cmocka_unit_test(two_limits_need_the_exhaustive_search),
        cmocka_unit_test(best_fit_fills_the_fullest_node_first_and_keeps_large_gaps),
        cmocka_unit_test(the_exhaustive_search_finds_what_best_fit_misses),
        cmocka_unit_test(a_scope_without_the_capacity_is_refused_without_a_search),
        cmocka_unit_test(the_search_ends_with_its_steps_and_says_so),
    };

    return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
