/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/regions.h"
#include "tests/unit/core/world.h"

static void tell(struct tg_fleet *fleet, struct tg_arena *arena, size_t node, const char *rack)
{
    tg_fleet_put(fleet, TG_FLEET_NODE,
                 decodef(arena, &tg_node_type,
                         "{\"metadata\":{\"name\":\"n%02zu\",\"labels\":{\"rack\":\"%s\"}},"
                         "\"spec\":{},\"status\":{}}",
                         node, rack));
    tg_fleet_settle(fleet);
}

/* "name: node node ..." of a region, by the name of one. */
static const char *nodes_of(const struct tg_fleet *fleet, const char *name, struct tg_arena *arena)
{
    static char text[256];
    const struct tg_regions *regions = tg_regions_get(fleet, "rack");
    uint32_t region = 0;
    size_t rows[64], at;

    while (region < tg_regions_count(regions) &&
           (tg_regions_name(regions, region) == NULL ||
            strcmp(tg_regions_name(regions, region), name) != 0))
        region++;
    if (region == tg_regions_count(regions))
        return "";
    assert_int_equal(tg_regions_nodes(regions, region, arena, rows, NULL), 0);
    at = (size_t)snprintf(text, sizeof(text), "%s:", name);
    for (size_t i = 0; i < tg_regions_size(regions, region); i++) {
        assert_int_equal(tg_regions_of(regions, rows[i]), region);
        at += (size_t)snprintf(text + at, sizeof(text) - at, " %s", fleet->nodes[rows[i]].name);
    }
    return text;
}

static void nodes_are_where_their_label_says_now(void **state)
{
    struct tg_arena *arena = tg_arena_new((size_t)1 << 20);
    struct tg_fleet *fleet = tg_fleet_open("default");

    (void)state;
    tell(fleet, arena, 3, "a");
    tell(fleet, arena, 1, "a");
    tell(fleet, arena, 2, "b");
    assert_string_equal(nodes_of(fleet, "a", arena), "a: n01 n03");
    assert_string_equal(nodes_of(fleet, "b", arena), "b: n02");
    tell(fleet, arena, 3, "b");
    assert_string_equal(nodes_of(fleet, "a", arena), "a: n01");
    assert_string_equal(nodes_of(fleet, "b", arena), "b: n02 n03");
    /* The last one leaves, and its number is another's. */
    tell(fleet, arena, 1, "c");
    assert_string_equal(nodes_of(fleet, "a", arena), "");
    assert_string_equal(nodes_of(fleet, "c", arena), "c: n01");
    assert_int_equal(tg_regions_count(tg_regions_get(fleet, "rack")), 2);
    tell(fleet, arena, 2, "d");
    assert_int_equal(tg_regions_count(tg_regions_get(fleet, "rack")), 3);
    tg_fleet_drop(fleet, TG_FLEET_NODE, NULL, "n01");
    tg_fleet_settle(fleet);
    assert_string_equal(nodes_of(fleet, "c", arena), "");
    assert_string_equal(nodes_of(fleet, "d", arena), "d: n02");
    /* A name that comes back is not the number that it had. */
    tell(fleet, arena, 4, "a");
    tell(fleet, arena, 5, "c");
    assert_string_equal(nodes_of(fleet, "a", arena), "a: n04");
    assert_string_equal(nodes_of(fleet, "b", arena), "b: n03");
    assert_string_equal(nodes_of(fleet, "c", arena), "c: n05");
    assert_string_equal(nodes_of(fleet, "d", arena), "d: n02");
    tg_fleet_close(fleet);
    tg_arena_free(arena);
}

/* When most nodes are gone rows close up, and those that remain have other ones. */
static void rows_that_close_up_take_their_nodes_along(void **state)
{
    struct tg_arena *arena = tg_arena_new((size_t)64 << 20);
    struct tg_fleet *fleet = tg_fleet_open("default");
    char name[16];

    (void)state;
    for (size_t i = 0; i < 1200; i++)
        tell(fleet, arena, i, i % 2 == 0 ? "a" : "b");
    assert_int_equal(tg_regions_count(tg_regions_get(fleet, "rack")), 2);
    for (size_t i = 0; i < 1197; i++) {
        snprintf(name, sizeof(name), "n%02zu", i);
        tg_fleet_drop(fleet, TG_FLEET_NODE, NULL, name);
    }
    tg_fleet_settle(fleet);
    assert_int_equal(fleet->n_nodes, 3);
    assert_string_equal(nodes_of(fleet, "a", arena), "a: n1198");
    assert_string_equal(nodes_of(fleet, "b", arena), "b: n1197 n1199");
    tg_fleet_close(fleet);
    tg_arena_free(arena);
}

/* More labels than are kept, one after the other: those forgotten are found anew. */
static void labels_that_nobody_asked_for_of_late_are_forgotten(void **state)
{
    struct tg_arena *arena = tg_arena_new((size_t)1 << 20);
    struct tg_fleet *fleet = tg_fleet_open("default");
    char label[16];
    uint64_t serial;

    (void)state;
    tell(fleet, arena, 1, "a");
    serial = tg_regions_serial(tg_regions_get(fleet, "rack"));
    assert_int_equal(tg_regions_serial(tg_regions_get(fleet, "rack")), serial);
    for (size_t i = 0; i < 100; i++) {
        snprintf(label, sizeof(label), "l%zu", i);
        assert_int_equal(tg_regions_count(tg_regions_get(fleet, label)), 0);
    }
    assert_int_not_equal(tg_regions_serial(tg_regions_get(fleet, "rack")), serial);
    assert_string_equal(nodes_of(fleet, "a", arena), "a: n01");
    tg_fleet_close(fleet);
    tg_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_where_their_label_says_now),
        cmocka_unit_test(rows_that_close_up_take_their_nodes_along),
        cmocka_unit_test(labels_that_nobody_asked_for_of_late_are_forgotten),
    };

    return cmocka_run_group_tests_name("regions", tests, NULL, NULL);
}
