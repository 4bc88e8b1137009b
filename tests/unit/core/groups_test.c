/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of nodes that come to groups and leave them, against a look at all rows. */
#include "controller/core/gang/groups.h"
#include "tests/unit/core/world.h"

enum { ROWS = 12, GROUPS = 3, STEPS = 20000 };

static uint64_t random_state = 1;

static unsigned below(unsigned n)
{
    random_state = random_state * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(random_state >> 33) % n;
}

/* Names are in another order than rows. */
static struct tg_fleet *begin(struct world *w)
{
    struct tg_fleet *fleet = tg_fleet_open("default");

    world_init(w);
    for (unsigned i = 0; i < ROWS; i++) {
        char name[8];

        snprintf(name, sizeof(name), "n%02u", i * 5 % ROWS);
        add_node(w, name, "", "");
        tg_fleet_put(fleet, TG_FLEET_NODE, w->nodes[i]);
    }
    tg_fleet_settle(fleet);
    return fleet;
}

static size_t first_of(const struct tg_groups *groups, uint32_t group)
{
    size_t first = TG_NO_INDEX;

    for (size_t i = 0; i < ROWS; i++) {
        if (groups->of_row[i] == group &&
            (first == TG_NO_INDEX ||
             groups->fleet->nodes[i].order < groups->fleet->nodes[first].order))
            first = i;
    }
    return first;
}

/* Whatever came and went, and whether somebody asked in between or not; what has left is kept for
 * a while only. */
static void the_first_by_name_comes_first(void **state)
{
    struct world w;
    struct tg_fleet *fleet = begin(&w);
    struct tg_groups groups;
    size_t cleaned = 0;

    (void)state;
    tg_groups_init(&groups, fleet);
    /* In each of them one stays: a group that is empty begins anew. */
    for (uint32_t i = 0; i < GROUPS; i++)
        tg_groups_move(&groups, ROWS - 1 - i, i);
    for (unsigned step = 0; step < STEPS; step++) {
        size_t row = below(ROWS - GROUPS);
        uint32_t group = below(GROUPS + 1), asked = below(GROUPS);
        uint32_t heap = group < GROUPS && group < groups.n ? groups.items[group].n_heap : 0;

        bool comes = group < GROUPS && groups.of_row[row] != group;

        tg_groups_move(&groups, row, group < GROUPS ? group : TG_NO_GROUP);
        if (comes) {
            assert_true(groups.items[group].n_heap <= 4 * groups.items[group].members + 64);
            cleaned += groups.items[group].n_heap + 8 < heap ? 1 : 0;
        }
        if (asked < GROUPS - 1 || below(50) == 0) /* the last one seldom */
            assert_int_equal(tg_groups_first(&groups, asked), first_of(&groups, asked));
    }
    assert_true(cleaned > 20);
    tg_groups_done(&groups);
    tg_fleet_close(fleet);
    world_done(&w);
}

/* One that comes and goes is there once for each time it came, until that is too much. */
static void who_comes_back_is_not_kept_for_each_time(void **state)
{
    struct world w;
    struct tg_fleet *fleet = begin(&w);
    struct tg_groups groups;

    (void)state;
    tg_groups_init(&groups, fleet);
    tg_groups_move(&groups, 3, 0);
    for (unsigned i = 0; i < 1000; i++) {
        tg_groups_move(&groups, 7, 0);
        assert_true(groups.items[0].n_heap <= 4 * 2 + 64);
        tg_groups_move(&groups, 7, TG_NO_GROUP);
    }
    tg_groups_done(&groups);
    tg_fleet_close(fleet);
    world_done(&w);
}

/* Groups with members are listed, each once, when one that came before has none any more. */
static void groups_with_members_are_known(void **state)
{
    struct world w;
    struct tg_fleet *fleet = begin(&w);
    struct tg_groups groups;

    (void)state;
    tg_groups_init(&groups, fleet);
    for (uint32_t i = 0; i < 4; i++)
        tg_groups_move(&groups, i, i);
    tg_groups_move(&groups, 0, TG_NO_GROUP);
    tg_groups_move(&groups, 3, TG_NO_GROUP);
    assert_int_equal(groups.n_live, 2);
    assert_int_equal(groups.live[0] + groups.live[1], 1 + 2);
    assert_int_equal(groups.live[groups.items[1].live], 1);
    assert_int_equal(groups.live[groups.items[2].live], 2);
    tg_groups_done(&groups);
    tg_fleet_close(fleet);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_by_name_comes_first),
        cmocka_unit_test(who_comes_back_is_not_kept_for_each_time),
        cmocka_unit_test(groups_with_members_are_known),
    };

    return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
