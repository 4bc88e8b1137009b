/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/board.h"
#include "tests/unit/core/world.h"

static size_t copies(struct tg_board *board, size_t node, size_t group, size_t max)
{
    size_t n = 99;

    assert_int_equal(tg_board_copies(board, node, group, max, &n, NULL), 0);
    return n;
}

static void alike_pieces_are_one_group_and_the_largest_come_first(void **state)
{
    struct world w;
    struct tg_board board;
    struct tg_piece pieces[4];
    struct tg_place_request request = {.name = "g", .pieces = pieces, .n_pieces = 4};

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    pieces[0] = new_piece(&w, new_pod(&w, "z", "1", ""), new_gpu_claim(&w, "z", 1));
    pieces[1] = new_piece(&w, new_pod(&w, "leader", "1", ""), NULL);
    pieces[2] = new_piece(&w, new_pod(&w, "big", "1", ""), new_gpu_claim(&w, "big", 8));
    pieces[3] = new_piece(&w, new_pod(&w, "a", "1", ""), new_gpu_claim(&w, "a", 1));
    assert_int_equal(tg_board_init(&board, world_fleet(&w), &request, w.arena, NULL), 0);
    assert_int_equal(board.n_groups, 3);
    assert_string_equal(board.members[0].name, "big");
    assert_string_equal(board.members[1].name, "a");
    assert_string_equal(board.members[2].name, "z");
    assert_string_equal(board.members[3].name, "leader");
    assert_int_equal(board.members[1].index, 3);
    assert_int_equal(board.groups[1].n, 2);
    world_done(&w);
}

/* Roles apart, whatever their names: members of one role stand beside each other. */
static void alike_pieces_of_two_roles_are_two_groups(void **state)
{
    struct world w;
    struct tg_board board;
    struct tg_piece *pieces;
    struct tg_place_request request = {.name = "g", .n_pieces = 4};

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    request.pieces = pieces = new_gang(&w, 4, 1);
    for (size_t i = 0; i < 4; i++)
        pieces[i].role = i % 2;
    assert_int_equal(tg_board_init(&board, world_fleet(&w), &request, w.arena, NULL), 0);
    assert_int_equal(board.n_groups, 2);
    assert_int_equal(board.groups[0].n, 2);
    assert_string_equal(board.members[1].name, "m-02");
    world_done(&w);
}

/* 8 cpu and 5 devices: devices end it for two each, cpu for members of 3 cpu and one device. */
static void copies_are_bounded_by_room_and_devices_beside_what_is_there(void **state)
{
    struct world w;
    struct tg_board board;
    struct tg_piece pieces[4];
    struct tg_place_request request = {.name = "g", .pieces = pieces, .n_pieces = 4};
    const struct tg_scope scope = {.nodes = (const size_t[]){0}, .n = 1};

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "n", "", "");
    add_gpus(&w, "n", 5, "");
    pieces[0] = new_piece(&w, new_pod(&w, "a", "1", ""), new_gpu_claim(&w, "a", 2));
    pieces[1] = new_piece(&w, new_pod(&w, "b", "1", ""), new_gpu_claim(&w, "b", 2));
    pieces[2] = new_piece(&w, new_pod(&w, "c", "3", ""), new_gpu_claim(&w, "c", 1));
    pieces[3] = new_piece(&w, new_pod(&w, "d", "3", ""), new_gpu_claim(&w, "d", 1));
    assert_int_equal(tg_board_init(&board, world_fleet(&w), &request, w.arena, NULL), 0);
    assert_int_equal(tg_board_read(&board, &scope, NULL), 0);
    assert_int_equal(board.groups[0].capacity[0], 2);
    assert_int_equal(board.groups[0].free[0], 5);
    assert_int_equal(copies(&board, 0, 0, 9), 2);
    assert_int_equal(copies(&board, 0, 1, 9), 2);
    tg_board_put(&board, 0, 0);
    /* Who is there stays there. */
    assert_int_equal(tg_board_read(&board, &scope, NULL), 0);
    assert_int_equal(copies(&board, 0, 0, 9), 1);
    assert_int_equal(copies(&board, 0, 1, 9), 2);
    tg_board_put(&board, 1, 0);
    assert_int_equal(copies(&board, 0, 1, 9), 1);
    tg_board_put(&board, 2, 0);
    assert_int_equal(copies(&board, 0, 1, 9), 0);
    assert_int_equal(board.used[0], 5);
    tg_board_take(&board, 2);
    tg_board_take(&board, 1);
    assert_int_equal(copies(&board, 0, 0, 9), 1);
    assert_int_equal(board.head[0], 0);
    tg_board_clear(&board);
    assert_int_equal(copies(&board, 0, 0, 1), 1);
    assert_int_equal(board.members[0].node, TG_NO_INDEX);
    world_done(&w);
}

/* Of four cards two would do: told the same however often it is asked. */
static void devices_are_counted_anew_each_time(void **state)
{
    struct world w;
    struct tg_board board;
    struct tg_piece pieces[2];
    struct tg_place_request request = {.name = "g", .pieces = pieces, .n_pieces = 2};
    static const size_t node = 0;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "n", "", "");
    add_gpus(&w, "n", 4, "");
    for (size_t i = 0; i < 2; i++) {
        char name[8];

        snprintf(name, sizeof(name), "m%zu", i);
        pieces[i] = new_piece(
            &w, new_pod(&w, name, "1", ""),
            new_claim(&w, name,
                      "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\","
                      "\"selectors\":[{\"cel\":{\"expression\":\"device.attributes[\\\"" GPU_DRIVER
                      "\\\"].index < 2\"}}]}}]"));
    }
    assert_int_equal(tg_board_init(&board, world_fleet(&w), &request, w.arena, NULL), 0);
    assert_int_equal(tg_board_read(&board, &(struct tg_scope){.nodes = &node, .n = 1}, NULL), 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(copies(&board, 0, 0, 4), 2);
    tg_board_put(&board, 0, 0);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(copies(&board, 0, 0, 4), 1);
    world_done(&w);
}

/* A selector fails on a card: that is no matter of a piece that may only go to a node that is no
 * more. */
static void faults_count_where_a_piece_may_go(void **state)
{
    struct world w;
    struct tg_board board;
    struct tg_piece piece;
    struct tg_place_request request = {.name = "g", .pieces = &piece, .n_pieces = 1};
    struct tg_fleet *fleet;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "n", "", "");
    add_gpus(&w, "n", 1, "");
    piece = new_piece(
        &w, new_pod(&w, "m", "1", ""),
        new_claim(&w, "m",
                  "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\","
                  "\"selectors\":[{\"cel\":{\"expression\":\"device.attributes[\\\"" GPU_DRIVER
                  "\\\"].none == 2\"}}]}}]"));
    fleet = world_fleet(&w);
    assert_int_equal(tg_board_init(&board, fleet, &request, w.arena, NULL),
                     -TG_FAILED_PRECONDITION);
    piece.fixed_node = "n";
    assert_int_equal(tg_board_init(&board, fleet, &request, w.arena, NULL),
                     -TG_FAILED_PRECONDITION);
    piece.fixed_node = "gone";
    assert_int_equal(tg_board_init(&board, fleet, &request, w.arena, NULL), 0);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alike_pieces_are_one_group_and_the_largest_come_first),
        cmocka_unit_test(alike_pieces_of_two_roles_are_two_groups),
        cmocka_unit_test(devices_are_counted_anew_each_time),
        cmocka_unit_test(faults_count_where_a_piece_may_go),
        cmocka_unit_test(copies_are_bounded_by_room_and_devices_beside_what_is_there),
    };

    return cmocka_run_group_tests_name("board", tests, NULL, NULL);
}
