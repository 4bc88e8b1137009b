/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/rule.h"
#include "controller/core/gang/pack.h"
#include "tests/unit/core/world.h"

static const struct tg_level zone = {.name = "zone", .node_label = "zone"};
static const struct tg_level rack = {.name = "rack", .node_label = "rack"};

/* Nodes n0.. of one free device each for every letter: rack of that letter, zone by case. */
static void add_letters(struct world *w, const char *letters)
{
    add_class(w, "gpu", "");
    for (size_t i = 0; letters[i] != '\0'; i++) {
        char name[32], labels[64];

        snprintf(name, sizeof(name), "n%02zu", i);
        snprintf(labels, sizeof(labels), "\"zone\":\"%s\",\"rack\":\"%c\"",
                 letters[i] >= 'a' ? "small" : "large", letters[i]);
        add_node(w, name, letters[i] == '-' ? "" : labels, "");
        add_gpus(w, name, 1, "");
    }
}

/* The letters of the nodes that n members of one device take, in order of nodes; "" if there is no
 * place. */
static const char *pack(const char *letters, size_t n, const struct tg_level *required,
                        const struct tg_level *preferred)
{
    static char out[64];
    struct world w;
    struct tg_board board;
    struct tg_pack packing;
    struct tg_place_request request = {
        .name = "g", .n_pieces = n, .pack_required = required, .pack_preferred = preferred};
    size_t at = 0;
    bool found = false;

    world_init(&w);
    add_letters(&w, letters);
    request.pieces = new_gang(&w, n, 1);
    assert_int_equal(tg_board_init(&board, world_fleet(&w), &request, w.arena, NULL), 0);
    assert_int_equal(tg_pack_init(&packing, &board, NULL), 0);
    assert_int_equal(tg_pack_search(&packing, &board, &found, NULL), 0);
    assert_int_equal(tg_pack_open(&packing, &board, NULL), 0);
    for (size_t i = 0; found && i < strlen(letters); i++) {
        if (board.head[i] != TG_NO_INDEX)
            out[at++] = letters[i];
    }
    out[at] = '\0';
    world_done(&w);
    return out;
}

static void without_levels_the_whole_fleet_is_one_scope(void **state)
{
    (void)state;
    assert_string_equal(pack("aB-", 3, NULL, NULL), "aB-");
    assert_string_equal(pack("aB-", 4, NULL, NULL), "");
}

static void a_required_domain_is_the_tightest_that_suffices(void **state)
{
    (void)state;
    assert_string_equal(pack("aaabbcc", 2, &rack, NULL), "bb");
    assert_string_equal(pack("aaabbcc", 3, &rack, NULL), "aaa");
    assert_string_equal(pack("aaabbcc----", 4, &rack, NULL), "");
}

static void preferred_domains_are_as_few_as_possible_and_the_last_is_the_tightest(void **state)
{
    (void)state;
    assert_string_equal(pack("aaabbc", 2, NULL, &rack), "bb");
    assert_string_equal(pack("aaabbc", 4, NULL, &rack), "aaac");
    assert_string_equal(pack("aaabbc", 5, NULL, &rack), "aaabb");
    assert_string_equal(pack("aaabbc", 6, NULL, &rack), "aaabbc");
    assert_string_equal(pack("aaabbc-", 7, NULL, &rack), "aaabbc-");
}

/* Sums tell that only one rack, or none, has room: nodes of others are not looked at. */
static void only_nodes_of_domains_with_room_are_read(void **state)
{
    struct world w;
    struct tg_board board;
    struct tg_pack packing;
    struct tg_place_request request = {.name = "g", .pack_required = &rack};

    (void)state;
    world_init(&w);
    add_letters(&w, "aabbbcc-");
    for (request.n_pieces = 3; request.n_pieces <= 4; request.n_pieces++) {
        bool found = false;
        size_t read = 0;

        request.pieces = new_gang(&w, request.n_pieces, 1);
        assert_int_equal(tg_board_init(&board, world_fleet(&w), &request, w.arena, NULL), 0);
        assert_int_equal(tg_pack_init(&packing, &board, NULL), 0);
        assert_int_equal(packing.required.n, 3);
        assert_int_equal(tg_pack_search(&packing, &board, &found, NULL), 0);
        assert_int_equal(found, request.n_pieces == 3);
        for (size_t i = 0; i < board.fleet->n_nodes; i++)
            read += board.read[i] ? 1 : 0;
        assert_int_equal(read, found ? 3 : 0);
    }
    world_done(&w);
}

/* Who walks over rows finds those of nodes that have gone: nobody may go there. */
static void a_row_that_is_no_node_takes_nobody(void **state)
{
    struct world w;
    struct tg_board board;
    struct tg_pack packing;
    struct tg_fleet *fleet;
    struct tg_place_request request = {.name = "g", .n_pieces = 1};
    size_t row;

    (void)state;
    world_init(&w);
    add_letters(&w, "aab");
    fleet = world_fleet(&w);
    row = tg_fleet_find_node(fleet, "n01");
    tg_fleet_drop(fleet, TG_FLEET_NODE, NULL, "n01");
    tg_fleet_settle(fleet);
    request.pieces = new_gang(&w, 1, 1);
    assert_int_equal(tg_board_init(&board, fleet, &request, w.arena, NULL), 0);
    assert_int_equal(tg_pack_init(&packing, &board, NULL), 0);
    assert_int_equal(tg_pack_open(&packing, &board, NULL), 0);
    assert_int_equal(packing.everything.n, 2);
    assert_int_equal(board.head[row], TG_NO_INDEX);
    assert_int_equal(board.groups[0].failed[row], tg_fit_rules_count + 1);
    assert_int_equal(board.groups[0].capacity[row], 0);
    assert_false(board.shared[row]);
    world_done(&w);
}

/* Zone large would be tighter, but only zone small has a rack for both. */
static void a_preferred_domain_decides_between_required_ones(void **state)
{
    (void)state;
    assert_string_equal(pack("ABaab", 2, &zone, &rack), "aa");
    assert_string_equal(pack("ABabc", 2, &zone, &rack), "AB");
    assert_string_equal(pack("ABabc", 3, &zone, &rack), "abc");
}

/* Zone small is tighter, but the members would be in four of its racks. */
static void few_preferred_domains_come_before_a_tight_required_one(void **state)
{
    (void)state;
    assert_string_equal(pack("abcdAABBC", 4, &zone, &rack), "AABB");
    assert_string_equal(pack("abcdeAABBCC", 5, &zone, &rack), "AABBC");
    assert_string_equal(pack("abccAABBC", 4, &zone, &rack), "AABB");
    assert_string_equal(pack("aabbAABBC", 4, &zone, &rack), "aabb");
}

/* Racks of 4, 6 and 6: the first has as many places as each other one, but two members of 4 and two
 * of 2 need the other two. */
static void members_of_two_kinds_find_the_two_domains_that_hold_them(void **state)
{
    static const struct {
        const char *name;
        size_t cards;
    } nodes[] = {{"a", 4}, {"b", 6}, {"c", 6}};
    struct world w;
    struct tg_board board;
    struct tg_pack packing;
    struct tg_piece pieces[4];
    struct tg_place_request request = {
        .name = "g", .pieces = pieces, .n_pieces = 4, .pack_preferred = &rack};
    bool found = false;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    for (size_t i = 0; i < 3; i++) {
        char label[32];

        snprintf(label, sizeof(label), "\"rack\":\"%s\"", nodes[i].name);
        add_node(&w, nodes[i].name, label, "");
        add_gpus(&w, nodes[i].name, nodes[i].cards, "");
    }
    for (size_t i = 0; i < 4; i++) {
        char name[8];

        snprintf(name, sizeof(name), "m-%zu", i);
        pieces[i] =
            new_piece(&w, new_pod(&w, name, "1", ""), new_gpu_claim(&w, name, i < 2 ? 4 : 2));
    }
    assert_int_equal(tg_board_init(&board, world_fleet(&w), &request, w.arena, NULL), 0);
    assert_int_equal(tg_pack_init(&packing, &board, NULL), 0);
    assert_int_equal(tg_pack_search(&packing, &board, &found, NULL), 0);
    assert_true(found);
    assert_int_equal(tg_pack_open(&packing, &board, NULL), 0);
    assert_int_equal(board.head[0], TG_NO_INDEX);
    assert_int_not_equal(board.head[1], TG_NO_INDEX);
    assert_int_not_equal(board.head[2], TG_NO_INDEX);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_levels_the_whole_fleet_is_one_scope),
        cmocka_unit_test(a_required_domain_is_the_tightest_that_suffices),
        cmocka_unit_test(preferred_domains_are_as_few_as_possible_and_the_last_is_the_tightest),
        cmocka_unit_test(only_nodes_of_domains_with_room_are_read),
        cmocka_unit_test(a_row_that_is_no_node_takes_nobody),
        cmocka_unit_test(a_preferred_domain_decides_between_required_ones),
        cmocka_unit_test(few_preferred_domains_come_before_a_tight_required_one),
        cmocka_unit_test(members_of_two_kinds_find_the_two_domains_that_hold_them),
    };

    return cmocka_run_group_tests_name("pack", tests, NULL, NULL);
}
