/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/leeway.h"

#include "tests/unit/core/world.h"

#define CARD(name, slices)                                                                         \
    "{\"name\":\"" name "\",\"attributes\":{\"part\":{\"string\":\"" name                          \
    "\"}},\"consumesCounters\":[{\"counterSet\":\"card\",\"counters\":{\"memory\":{\"value\":"     \
    "\"" slices "\"}}}]}"

struct setting {
    struct world w;
    struct tg_fleet *fleet;
};

/* A card of two slices: wholly, in halves, and more than there is of it; of a pool of so many
 * ResourceSlices. */
static void add_card(struct world *w, const char *node, int count)
{
    char json[2048];

    add_node(w, node, "", "");
    snprintf(json, sizeof(json),
             "{\"metadata\":{\"name\":\"d-%s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
             "\",\"nodeName\":\"%s\",\"pool\":{\"name\":\"%s\",\"generation\":1,"
             "\"resourceSliceCount\":%d},\"devices\":[" CARD("whole", "2") "," CARD(
                 "left", "1") "," CARD("right", "1") "," CARD("huge", "3") "]}}",
             node, node, node, count);
    add_slice(w, json);
    snprintf(json, sizeof(json),
             "{\"metadata\":{\"name\":\"c-%s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
             "\",\"nodeName\":\"%s\",\"pool\":{\"name\":\"%s\",\"generation\":1,"
             "\"resourceSliceCount\":%d},\"sharedCounters\":[{\"name\":\"card\",\"counters\":{"
             "\"memory\":{\"value\":\"2\"}}}]}}",
             node, node, node, count);
    add_slice(w, json);
}

static void begin(struct setting *s)
{
    world_init(&s->w);
    add_class(&s->w, "gpu", "");
    add_card(&s->w, "m", 2);
    add_card(&s->w, "n", 2);
    s->fleet = world_fleet(&s->w);
}

static enum tg_leeway leeway(const struct setting *s, const char *node, const char *device)
{
    return tg_leeway_of(s->fleet, tg_fleet_find_device(s->fleet, GPU_DRIVER, node, device));
}

static void look(const struct setting *s, const char *node)
{
    assert_int_equal(tg_leeway_look(s->fleet, tg_fleet_find_node(s->fleet, node), NULL), 0);
}

static void take(struct setting *s, const char *node, const char *device)
{
    tg_fleet_assume(s->fleet,
                    &(struct tg_fleet_busy){
                        .driver = GPU_DRIVER, .pool = node, .device = device, .holder = "h"},
                    1, NULL, 0);
}

static void what_is_left_is_known_until_the_node_is_news(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    assert_int_equal(leeway(&s, "n", "left"), TG_LEEWAY_UNKNOWN);
    look(&s, "m");
    look(&s, "n");
    assert_int_equal(leeway(&s, "n", "whole"), TG_LEEWAY_ENOUGH);
    assert_int_equal(leeway(&s, "n", "huge"), TG_LEEWAY_SHORT);
    take(&s, "n", "left");
    assert_int_equal(leeway(&s, "n", "whole"), TG_LEEWAY_UNKNOWN);
    assert_int_equal(leeway(&s, "m", "whole"), TG_LEEWAY_ENOUGH);
    look(&s, "n");
    assert_int_equal(leeway(&s, "n", "whole"), TG_LEEWAY_SHORT);
    assert_int_equal(leeway(&s, "n", "right"), TG_LEEWAY_ENOUGH);
    tg_fleet_undo(s.fleet, 0);
    look(&s, "n");
    assert_int_equal(leeway(&s, "n", "whole"), TG_LEEWAY_ENOUGH);
    world_done(&s.w);
}

static void nothing_is_known_when_everything_is_news(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    look(&s, "m");
    assert_int_equal(leeway(&s, "m", "left"), TG_LEEWAY_ENOUGH);
    tg_fleet_put(s.fleet, TG_FLEET_CLASS, add_class(&s.w, "late", ""));
    tg_fleet_settle(s.fleet);
    assert_int_equal(leeway(&s, "m", "left"), TG_LEEWAY_UNKNOWN);
    world_done(&s.w);
}

static void nodes_that_come_later_are_not_known(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    look(&s, "m");
    add_card(&s.w, "o", 2);
    tg_fleet_put(s.fleet, TG_FLEET_NODE, s.w.nodes[2]);
    tg_fleet_put(s.fleet, TG_FLEET_SLICE, s.w.slices[4]);
    tg_fleet_put(s.fleet, TG_FLEET_SLICE, s.w.slices[5]);
    tg_fleet_settle(s.fleet);
    assert_int_equal(leeway(&s, "o", "left"), TG_LEEWAY_UNKNOWN);
    look(&s, "o");
    assert_int_equal(leeway(&s, "o", "left"), TG_LEEWAY_ENOUGH);
    world_done(&s.w);
}

/* The counters are of both nodes, so that what one takes would be no news of the other. */
static void a_pool_of_several_nodes_stays_unknown(void **state)
{
    struct setting s;

    (void)state;
    world_init(&s.w);
    add_card(&s.w, "m", 3);
    add_node(&s.w, "n", "", "");
    add_slice(&s.w, "{\"metadata\":{\"name\":\"d-n\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                    "\",\"nodeName\":\"n\",\"pool\":{\"name\":\"m\",\"generation\":1,"
                    "\"resourceSliceCount\":3},\"devices\":[" CARD("other", "2") "]}}");
    s.fleet = world_fleet(&s.w);
    look(&s, "m");
    assert_int_equal(leeway(&s, "m", "left"), TG_LEEWAY_UNKNOWN);
    world_done(&s.w);
}

#define PARTS                                                                                      \
    "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\",\"selectors\":[{"      \
    "\"cel\":{\"expression\":\"device.attributes[\\\"" GPU_DRIVER "\\\"].part in [\\\"whole\\\", " \
    "\\\"left\\\"]\"}}]}}]"

static void those_that_are_short_are_counted_if_they_were_wanted(void **state)
{
    struct tg_ask_book book;
    struct setting s;
    size_t ask, m;

    (void)state;
    begin(&s);
    tg_ask_book_init(&book, s.fleet, s.w.arena);
    assert_int_equal(
        tg_ask_book_add(&book,
                        new_claim(&s.w, "c", PARTS)->spec->devices->requests.items[0].exactly, &ask,
                        NULL),
        0);
    m = tg_fleet_find_node(s.fleet, "m");
    take(&s, "m", "right");
    assert_int_equal(tg_leeway_count_short(s.fleet, &book, &(struct tg_need){ask, 1}, 1, m), 0);
    look(&s, "m");
    assert_int_equal(tg_leeway_count_short(s.fleet, &book, &(struct tg_need){ask, 1}, 1, m), 1);
    assert_int_equal(tg_leeway_count_short(s.fleet, &book, NULL, 0, m), 0);
    /* Who holds it has had it: that is told by the row. */
    take(&s, "m", "whole");
    look(&s, "m");
    assert_int_equal(tg_leeway_count_short(s.fleet, &book, &(struct tg_need){ask, 1}, 1, m), 1);
    assert_int_equal(leeway(&s, "m", "left"), TG_LEEWAY_SHORT);
    world_done(&s.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_is_known_until_the_node_is_news),
        cmocka_unit_test(nothing_is_known_when_everything_is_news),
        cmocka_unit_test(nodes_that_come_later_are_not_known),
        cmocka_unit_test(a_pool_of_several_nodes_stays_unknown),
        cmocka_unit_test(those_that_are_short_are_counted_if_they_were_wanted),
    };

    return cmocka_run_group_tests_name("leeway", tests, NULL, NULL);
}
