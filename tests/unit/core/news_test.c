/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/news.h"

#include "tests/unit/core/world.h"

static struct tg_fleet *fleet_of(struct world *w, size_t n)
{
    world_init(w);
    for (size_t i = 0; i < n; i++) {
        char name[32];

        snprintf(name, sizeof(name), "n-%zu", i);
        add_node(w, name, "", "");
        add_gpus(w, name, 1, "");
    }
    return world_fleet(w);
}

static void take(struct tg_fleet *fleet, const char *node)
{
    tg_fleet_assume(
        fleet,
        &(struct tg_fleet_busy){
            .driver = GPU_DRIVER, .pool = node, .device = "gpu-0", .holder = "gang ns/g"},
        1, NULL, 0);
}

static size_t read_all(const struct tg_fleet *fleet, struct tg_news_reader *reader)
{
    size_t n = 0;

    while (tg_news_next(fleet, reader) != TG_NO_INDEX)
        n++;
    return n;
}

static void each_reader_is_told_what_changed_since_he_read_last(void **state)
{
    struct world w;
    struct tg_fleet *fleet = fleet_of(&w, 3);
    struct tg_news_reader a = {.at = 0}, b = {.at = 0};

    (void)state;
    assert_false(tg_news_open(fleet, &a));
    assert_false(tg_news_open(fleet, &b));
    take(fleet, "n-1");
    take(fleet, "n-1");
    assert_true(tg_news_open(fleet, &a));
    assert_int_equal(tg_news_next(fleet, &a), tg_fleet_find_node(fleet, "n-1"));
    assert_int_equal(tg_news_next(fleet, &a), TG_NO_INDEX);
    /* The same node again is news to who has read. */
    take(fleet, "n-1");
    take(fleet, "n-2");
    assert_true(tg_news_open(fleet, &a));
    assert_int_equal(tg_news_next(fleet, &a), tg_fleet_find_node(fleet, "n-1"));
    assert_int_equal(tg_news_next(fleet, &a), tg_fleet_find_node(fleet, "n-2"));
    assert_int_equal(tg_news_next(fleet, &a), TG_NO_INDEX);
    assert_true(tg_news_open(fleet, &b));
    assert_int_equal(read_all(fleet, &b), 3);
    /* What is taken back is news, too. */
    tg_fleet_undo(fleet, 0);
    assert_true(tg_news_open(fleet, &a));
    assert_true(read_all(fleet, &a) >= 2);
    tg_fleet_put(fleet, TG_FLEET_NODE, w.nodes[0]);
    assert_true(tg_news_open(fleet, &a));
    assert_int_equal(tg_news_next(fleet, &a), tg_fleet_find_node(fleet, "n-0"));
    world_done(&w);
}

static void who_lags_behind_too_far_looks_at_everything(void **state)
{
    struct world w;
    struct tg_fleet *fleet = fleet_of(&w, 2);
    struct tg_news_reader slow = {.at = 0}, quick = {.at = 0};

    (void)state;
    assert_false(tg_news_open(fleet, &slow));
    assert_false(tg_news_open(fleet, &quick));
    for (size_t i = 0; i < 70000; i++) {
        take(fleet, i % 2 == 0 ? "n-0" : "n-1");
        tg_fleet_undo(fleet, 0);
        if (i % 1000 == 0) {
            /* Right at the limit it may have to look at everything as well. */
            (void)tg_news_open(fleet, &quick);
            (void)read_all(fleet, &quick);
        }
    }
    assert_true(tg_news_open(fleet, &quick));
    assert_false(tg_news_open(fleet, &slow));
    assert_true(tg_news_open(fleet, &slow));
    assert_int_equal(tg_news_next(fleet, &slow), TG_NO_INDEX);
    world_done(&w);
}

static void a_device_of_no_single_node_concerns_all_of_them(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    uint64_t before;

    (void)state;
    world_init(&w);
    add_node(&w, "n-0", "", "");
    add_slice(&w, "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                  "\",\"allNodes\":true,\"pool\":{\"name\":\"wide\",\"generation\":1,"
                  "\"resourceSliceCount\":1},\"devices\":[{\"name\":\"gpu-0\"}]}}");
    fleet = world_fleet(&w);
    before = tg_news_wide(fleet);
    take(fleet, "wide");
    assert_true(tg_news_wide(fleet) > before);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reader_is_told_what_changed_since_he_read_last),
        cmocka_unit_test(who_lags_behind_too_far_looks_at_everything),
        cmocka_unit_test(a_device_of_no_single_node_concerns_all_of_them),
    };

    return cmocka_run_group_tests_name("news", tests, NULL, NULL);
}
