/* SPDX-License-Identifier: Apache-2.0 */
/* In which domain a node is, for policies that look at them. */
#include "controller/core/gang/racks.h"
#include "tests/unit/core/world.h"

static const struct tg_level levels[] = {
    {.name = "zone", .node_label = "zone", .rank = 0},
    {.name = "rack", .node_label = "rack", .rank = 1},
    {.name = "host", .node_label = "host", .rank = 2},
};

static void add(struct world *w, unsigned node, unsigned zone, unsigned rack)
{
    char name[8], labels[96];

    snprintf(name, sizeof(name), "n%03u", node);
    snprintf(labels, sizeof(labels), "\"zone\":\"z%u\",\"rack\":\"r%u\",\"host\":\"%s\"", zone,
             rack, name);
    add_node(w, name, labels, "");
}

static struct tg_racks *racks_of(const struct tg_fleet *fleet)
{
    struct tg_racks *racks = tg_racks_new(fleet);

    tg_racks_set_levels(racks, levels, 3);
    for (size_t i = 0; i < fleet->n_nodes; i++)
        tg_racks_look(racks, i);
    (void)tg_racks_settle(racks);
    return racks;
}

/* A node is no domain that one could leave room in. */
static void racks_are_the_narrowest_level_but_hosts(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    struct tg_racks *racks;

    (void)state;
    world_init(&w);
    for (unsigned i = 0; i < 6; i++)
        add(&w, i, i / 4, i / 2);
    fleet = world_fleet(&w);
    racks = racks_of(fleet);
    for (unsigned i = 0; i < 6; i++)
        for (unsigned k = 0; k < 6; k++)
            assert_int_equal(tg_racks_of(racks, i) == tg_racks_of(racks, k), i / 2 == k / 2);
    tg_racks_free(racks);
    world_done(&w);
}

/* Nor are domains too many to tell nodes apart by, nor a single one. */
static void racks_that_are_too_many_are_left_for_wider_ones(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    struct tg_racks *racks;

    (void)state;
    world_init(&w);
    add(&w, 0, 0, 0);
    fleet = world_fleet(&w);
    for (unsigned i = 1; i <= TG_RACKS_MAX; i++) {
        w.n_nodes = 1; /* a world has fewer */
        add(&w, i, i % 2, i);
        tg_fleet_put(fleet, TG_FLEET_NODE, w.nodes[1]);
    }
    tg_fleet_settle(fleet);
    assert_int_equal(fleet->n_nodes, TG_RACKS_MAX + 1);
    racks = racks_of(fleet);
    assert_int_equal(tg_racks_of(racks, 0), tg_racks_of(racks, 2));
    assert_int_not_equal(tg_racks_of(racks, 0), tg_racks_of(racks, 1));
    tg_racks_free(racks);
    world_done(&w);
}

/* A node goes from rack to rack: there are never more numbers than there were racks at once. */
static void numbers_of_racks_that_went_are_given_again(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    struct tg_racks *racks;

    (void)state;
    world_init(&w);
    add(&w, 0, 0, 0);
    add(&w, 1, 0, 1);
    fleet = world_fleet(&w);
    racks = racks_of(fleet);
    for (unsigned i = 2; i < 40; i++) {
        w.n_nodes = 1;
        add(&w, 1, 0, i);
        tg_fleet_put(fleet, TG_FLEET_NODE, w.nodes[1]);
        tg_fleet_settle(fleet);
        tg_racks_look(racks, 0);
        tg_racks_look(racks, 1);
        (void)tg_racks_settle(racks);
        assert_in_range(tg_racks_of(racks, 0), 1, 3);
        assert_in_range(tg_racks_of(racks, 1), 1, 3);
        assert_int_not_equal(tg_racks_of(racks, 0), tg_racks_of(racks, 1));
    }
    tg_racks_free(racks);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(racks_are_the_narrowest_level_but_hosts),
        cmocka_unit_test(racks_that_are_too_many_are_left_for_wider_ones),
        cmocka_unit_test(numbers_of_racks_that_went_are_given_again),
    };

    return cmocka_run_group_tests_name("racks", tests, NULL, NULL);
}
