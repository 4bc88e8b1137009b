/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/match.h"
#include "tests/unit/core/world.h"

struct setting {
    struct world w;
    struct tg_fleet *fleet;
    struct tg_ask_book book;
    struct tg_match match;
};

/* Four devices; asks 0..2: any, index below 2, index 0. */
static void set_up(struct setting *s)
{
    static const char *const selectors[] = {"true",
                                            "device.attributes[\\\"" GPU_DRIVER "\\\"].index < 2",
                                            "device.attributes[\\\"" GPU_DRIVER "\\\"].index == 0"};

    world_init(&s->w);
    add_class(&s->w, "gpu", "");
    add_node(&s->w, "n", "", "");
    add_gpus(&s->w, "n", 4, "");
    s->fleet = world_fleet(&s->w);
    tg_ask_book_init(&s->book, s->fleet, s->w.arena);
    for (size_t i = 0; i < 3; i++) {
        char devices[512];
        size_t ask = 9;

        snprintf(devices, sizeof(devices),
                 "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\","
                 "\"selectors\":[{\"cel\":{"
                 "\"expression\":\"%s\"}}]}}]",
                 selectors[i]);
        assert_int_equal(
            tg_ask_book_add(
                &s->book, new_claim(&s->w, "c", devices)->spec->devices->requests.items[0].exactly,
                &ask, NULL),
            0);
        assert_int_equal(ask, i);
    }
    assert_int_equal(tg_match_init(&s->match, &s->book, 4, 8, s->w.arena, NULL), 0);
}

static bool feasible(struct setting *s, const struct tg_need *needs, size_t n)
{
    bool ok = false;

    assert_int_equal(tg_match_feasible(&s->match, &s->fleet->nodes[0], needs, n, &ok, NULL), 0);
    return ok;
}

static void needs_are_met_together_or_not_at_all(void **state)
{
    struct setting s;

    (void)state;
    set_up(&s);
    assert_true(feasible(&s, NULL, 0));
    assert_true(feasible(&s, (const struct tg_need[]){{0, 4}}, 1));
    assert_false(feasible(&s, (const struct tg_need[]){{0, 5}}, 1));
    assert_false(feasible(&s, (const struct tg_need[]){{0, SIZE_MAX}, {0, 2}}, 2));
    assert_true(feasible(&s, (const struct tg_need[]){{0, 2}, {1, 1}, {2, 1}}, 3));
    assert_true(feasible(&s, (const struct tg_need[]){{0, 2}, {1, 2}}, 2));
    assert_false(feasible(&s, (const struct tg_need[]){{1, 2}, {2, 1}}, 2));
    assert_false(feasible(&s, (const struct tg_need[]){{2, 2}}, 1));
    world_done(&s.w);
}

static void the_first_need_gets_the_lowest_name_that_leaves_the_rest_possible(void **state)
{
    const struct tg_need needs[] = {{0, 1}, {0, 1}, {1, 1}, {2, 1}};
    struct setting s;
    size_t devices[4];

    (void)state;
    set_up(&s);
    assert_int_equal(tg_match_lowest(&s.match, &s.fleet->nodes[0], needs, 4, devices, NULL), 0);
    assert_string_equal(s.fleet->devices[devices[0]].name, "gpu-2");
    assert_string_equal(s.fleet->devices[devices[1]].name, "gpu-3");
    assert_string_equal(s.fleet->devices[devices[2]].name, "gpu-1");
    assert_string_equal(s.fleet->devices[devices[3]].name, "gpu-0");
    /* Without the last one, what it needed is free for the first. */
    assert_int_equal(tg_match_lowest(&s.match, &s.fleet->nodes[0], needs, 3, devices, NULL), 0);
    assert_string_equal(s.fleet->devices[devices[0]].name, "gpu-0");
    assert_string_equal(s.fleet->devices[devices[1]].name, "gpu-2");
    assert_string_equal(s.fleet->devices[devices[2]].name, "gpu-1");
    world_done(&s.w);
}

static void what_cannot_be_met_is_an_internal_error_for_the_assignment(void **state)
{
    const struct tg_need needs[] = {{2, 1}, {2, 1}};
    struct setting s;
    size_t devices[2];

    (void)state;
    set_up(&s);
    assert_int_equal(tg_match_lowest(&s.match, &s.fleet->nodes[0], needs, 2, devices, NULL),
                     -TG_INTERNAL);
    world_done(&s.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needs_are_met_together_or_not_at_all),
        cmocka_unit_test(the_first_need_gets_the_lowest_name_that_leaves_the_rest_possible),
        cmocka_unit_test(what_cannot_be_met_is_an_internal_error_for_the_assignment),
    };

    return cmocka_run_group_tests_name("match", tests, NULL, NULL);
}
