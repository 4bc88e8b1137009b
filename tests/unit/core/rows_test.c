/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/news.h"
#include "controller/core/model/node_view.h"
#include "tests/unit/core/world.h"

/* A slice of pool p on node n; rest: more members of the spec, each before its comma. */
static void slice(struct world *w, const char *name, int generation, int count, const char *rest,
                  const char *devices)
{
    char json[4096];

    snprintf(json, sizeof(json),
             "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
             "\",%s\"pool\":{\"name\":\"p\",\"generation\":%d,\"resourceSliceCount\":%d},"
             "\"devices\":[%s]}}",
             name, rest, generation, count, devices);
    add_slice(w, json);
}

#define ON_N "\"nodeName\":\"n\","

static void only_the_newest_generation_counts(void **state)
{
    struct world w;
    struct tg_fleet *fleet;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "old", 1, 1, ON_N, "{\"name\":\"old\"}");
    slice(&w, "new", 2, 1, ON_N, "{\"name\":\"new\"}");
    fleet = world_fleet(&w);
    assert_null(tg_fleet_device(fleet, GPU_DRIVER, "p", "old", w.arena));
    assert_non_null(tg_fleet_device(fleet, GPU_DRIVER, "p", "new", w.arena));
    assert_int_equal(fleet->nodes[0].n_devices, 1);
    world_done(&w);
}

static void an_incomplete_pool_is_not_used_nor_is_its_older_generation(void **state)
{
    struct world w;
    struct tg_fleet *fleet;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "old", 1, 1, ON_N, "{\"name\":\"old\"}");
    slice(&w, "new", 2, 2, ON_N, "{\"name\":\"new\"}");
    fleet = world_fleet(&w);
    assert_int_equal(fleet->n_devices, 0);
    assert_int_equal(fleet->n_bad_pools, 1);
    assert_string_equal(tg_fleet_pool_fault(fleet, GPU_DRIVER, "p"), "incomplete");
    assert_int_equal(tg_fleet_device_state(fleet, GPU_DRIVER, "p", "new", NULL, 0),
                     TG_DEVICE_ABSENT);
    /* The second slice arrives. */
    slice(&w, "rest", 2, 2, ON_N, "");
    fleet = world_fleet(&w);
    assert_int_equal(fleet->n_devices, 1);
    assert_int_equal(fleet->n_bad_pools, 0);
    world_done(&w);
}

static void slices_that_disagree_about_their_number_are_incomplete(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    slice(&w, "a", 1, 2, ON_N, "{\"name\":\"a\"}");
    slice(&w, "b", 1, 3, ON_N, "{\"name\":\"b\"}");
    assert_int_equal(world_fleet(&w)->n_devices, 0);
    world_done(&w);
}

static void write_name(void *data, const char *slice)
{
    char *text = data;

    snprintf(text + strlen(text), 64 - strlen(text), "%s ", slice);
}

/* An old generation counts, too: who judges what a node sees wants all of it. */
static void the_slices_of_a_node_are_those_that_name_it(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    char here[64] = "", there[64] = "", wide[64] = "";

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "a", 2, 1, ON_N, "{\"name\":\"x\"}");
    slice(&w, "b", 1, 1, ON_N, "{\"name\":\"x\"}");
    slice(&w, "c", 2, 1, "\"nodeName\":\"m\",", "{\"name\":\"y\"}");
    slice(&w, "d", 2, 1, "\"allNodes\":true,", "{\"name\":\"z\"}");
    fleet = world_fleet(&w);
    tg_fleet_slices_of(fleet, "n", write_name, here);
    tg_fleet_slices_of(fleet, "m", write_name, there);
    tg_fleet_slices_of(fleet, NULL, write_name, wide);
    assert_string_equal(here, "a b ");
    assert_string_equal(there, "c ");
    assert_string_equal(wide, "d ");
    tg_fleet_slices_of(fleet, "nobody", write_name, here);
    assert_string_equal(here, "a b ");
    world_done(&w);
}

static void two_devices_of_one_name_spoil_their_pool_only(void **state)
{
    struct world w;
    struct tg_fleet *fleet;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "a", 1, 2, ON_N, "{\"name\":\"x\"},{\"name\":\"y\"}");
    slice(&w, "b", 1, 2, ON_N, "{\"name\":\"x\"}");
    add_gpus(&w, "n", 2, "");
    fleet = world_fleet(&w);
    assert_int_equal(fleet->n_devices, 2);
    assert_non_null(strstr(tg_fleet_pool_fault(fleet, GPU_DRIVER, "p"), "two devices"));
    world_done(&w);
}

static void what_counts_cannot_describe_is_marked(void **state)
{
    enum { EXACT = 1, WIDE = 2, SHARED = 4, BINDING = 8, NEVER = 16 };
    static const struct {
        const char *spec, *device;
        int marks;
    } cases[] = {
        {ON_N, "{\"name\":\"d\"}", 0},
        {ON_N, "{\"name\":\"d\",\"attributes\":{\"tangram.dev/granted\":{\"bool\":true}}}", NEVER},
        {ON_N, "{\"name\":\"d\",\"attributes\":{\"derived\":{\"bool\":true}}}", EXACT},
        {ON_N, "{\"name\":\"d\"},{\"name\":\"p\",\"attributes\":{\"derived\":{\"bool\":true}}}",
         EXACT},
        {ON_N "\"sharedCounters\":[{\"name\":\"c\",\"counters\":{\"m\":{\"value\":\"1\"}}}],",
         "{\"name\":\"d\",\"consumesCounters\":[{\"counterSet\":\"c\",\"counters\":{\"m\":{"
         "\"value\":\"1\"}}}]}",
         EXACT},
        {ON_N, "{\"name\":\"d\",\"allowMultipleAllocations\":true}", EXACT | SHARED},
        {ON_N,
         "{\"name\":\"d\",\"capacity\":{\"m\":{\"value\":\"1\",\"requestPolicy\":{\"default\":"
         "\"2\"}}}}",
         EXACT},
        {ON_N, "{\"name\":\"d\",\"capacity\":{\"m\":{\"value\":\"1\"}}}", 0},
        {ON_N, "{\"name\":\"d\",\"bindingConditions\":[\"c\"]}", BINDING},
        {"\"perDeviceNodeSelection\":true,", "{\"name\":\"d\",\"nodeName\":\"n\"}", EXACT | WIDE},
        {"\"allNodes\":true,", "{\"name\":\"d\"}", EXACT | WIDE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world w;
        const struct tg_fleet_device *row;
        int marks = 0;

        world_init(&w);
        add_node(&w, "n", "", "");
        slice(&w, "s", 1, 1, cases[i].spec, cases[i].device);
        row = &world_fleet(&w)->devices[0];
        marks |= row->exact ? EXACT : 0;
        marks |= row->wide ? WIDE : 0;
        marks |= row->shared ? SHARED : 0;
        marks |= row->binding ? BINDING : 0;
        marks |= row->unsupported != NULL ? NEVER : 0;
        if (marks != cases[i].marks)
            fail_msg("%s %s: %d", cases[i].spec, cases[i].device, marks);
        assert_int_equal(row->node, row->wide ? TG_NO_INDEX : 0);
        assert_int_equal(world_fleet(&w)->n_exact > 0, row->exact);
        world_done(&w);
    }
}

static void a_pool_is_local_if_all_its_slices_name_one_node(void **state)
{
    struct world w;
    const struct tg_fleet *fleet;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "a", 2, 2, ON_N, "{\"name\":\"d\"}");
    slice(&w, "b", 2, 2, ON_N, "");
    slice(&w, "old", 1, 1, "\"nodeName\":\"m\",", "");
    fleet = world_fleet(&w);
    assert_true(tg_fleet_pool_is_local(fleet, GPU_DRIVER, "p"));
    assert_false(tg_fleet_pool_is_local(fleet, GPU_DRIVER, "q"));
    w.n_slices--;
    slice(&w, "c", 2, 3, "\"nodeName\":\"m\",", "");
    assert_false(tg_fleet_pool_is_local(world_fleet(&w), GPU_DRIVER, "p"));
    w.n_slices--;
    slice(&w, "c", 2, 3, "\"allNodes\":true,", "");
    assert_false(tg_fleet_pool_is_local(world_fleet(&w), GPU_DRIVER, "p"));
    world_done(&w);
}

static void counters_that_contradict_themselves_spoil_the_pool(void **state)
{
    static const struct {
        const char *counters, *consumes, *why;
    } cases[] = {
        {"{\"name\":\"c\",\"counters\":{\"m\":{\"value\":\"1\"}}}", "c", NULL},
        {"{\"name\":\"c\",\"counters\":{\"m\":{\"value\":\"1\"}}},{\"name\":\"c\",\"counters\":{"
         "\"m\":{\"value\":"
         "\"1\"}}}",
         "c", "contradict"},
        {"{\"name\":\"c\",\"counters\":{\"m\":{\"value\":\"1\"}}}", "d", "contradict"},
        {"{\"name\":\"c\",\"counters\":{\"n\":{\"value\":\"1\"}}}", "c", "contradict"},
        {"", "c", "contradict"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world w;
        struct tg_fleet *fleet;
        char rest[512], device[256];

        world_init(&w);
        snprintf(rest, sizeof(rest), ON_N "\"sharedCounters\":[%s],", cases[i].counters);
        snprintf(device, sizeof(device),
                 "{\"name\":\"d\",\"consumesCounters\":[{\"counterSet\":\"%s\",\"counters\":{\"m\":"
                 "{\"value\":"
                 "\"1\"}}}]}",
                 cases[i].consumes);
        slice(&w, "a", 1, 2, rest, "");
        slice(&w, "b", 1, 2, ON_N, device);
        fleet = world_fleet(&w);
        assert_int_equal(fleet->n_devices, cases[i].why == NULL ? 1 : 0);
        if (cases[i].why != NULL)
            assert_non_null(strstr(tg_fleet_pool_fault(fleet, GPU_DRIVER, "p"), cases[i].why));
        world_done(&w);
    }
}

/* Rules of which we know nothing: refused by name where the release knows them. */
static void a_pool_with_compatibility_groups_is_not_used(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    struct tg_view view;
    struct tg_rules rules = tg_rules_of_release(36);

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "a", 1, 2,
          ON_N "\"sharedCounters\":[{\"name\":\"c\",\"counters\":{\"m\":{\"value\":\"1\"}}}],", "");
    slice(&w, "b", 1, 2, ON_N,
          "{\"name\":\"d\",\"consumesCounters\":[{\"counterSet\":\"c\",\"counters\":{\"m\":{"
          "\"value\":\"1\"}},\"compatibilityGroups\":[\"g\"]}]}");
    fleet = world_fleet(&w);
    assert_int_equal(fleet->n_devices, 0);
    assert_non_null(
        strstr(tg_fleet_pool_fault(fleet, GPU_DRIVER, "p"), "uses compatibilityGroups"));
    assert_int_equal(tg_fleet_view(fleet, "n", &rules, w.arena, &view, NULL), 0);
    assert_int_equal(view.pools[0].state, TG_POOL_USABLE);
    rules = tg_rules_of_release(37);
    assert_int_equal(tg_fleet_view(fleet, "n", &rules, w.arena, &view, NULL), 0);
    assert_int_equal(view.pools[0].state, TG_POOL_INCOMPLETE);
    assert_int_equal(view.n_devices, 0);
    world_done(&w);
}

/* A bare attribute belongs to the driver's domain: a driver of that name publishes the reserved
 * one. */
static void a_driver_named_like_the_reserved_domain_is_not_used(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    add_slice(&w, "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"tangram.dev\","
                  "\"nodeName\":\"n\",\"pool\":{"
                  "\"name\":\"p\",\"generation\":1,\"resourceSliceCount\":1},\"devices\":[{"
                  "\"name\":\"d\",\"attributes\":{"
                  "\"granted\":{\"bool\":true}}}]}}");
    assert_non_null(world_fleet(&w)->devices[0].unsupported);
    world_done(&w);
}

static void malformed_slices_are_passed_over(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    add_slice(&w, "{\"metadata\":{\"name\":\"a\"}}");
    add_slice(&w, "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"driver\":\"x\"}}");
    add_slice(&w, "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"pool\":{\"name\":\"p\"}}}");
    slice(&w, "s", 1, 1, ON_N, "{\"attributes\":{}},{\"name\":\"d\"}");
    assert_int_equal(world_fleet(&w)->n_devices, 1);
    world_done(&w);
}

/* A reader of rows sees the same places with other contents; nothing was written anew. */
static void what_a_slice_says_of_the_same_devices_is_written_where_they_are(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    const struct tg_fleet_device *rows;
    const struct tg_resource_slice *later[3];

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "a", "", "");
    add_node(&w, "b", "", "");
    add_gpus(&w, "a", 2, "");
    add_gpus(&w, "b", 2, "");
    add_holder(&w, "h", "b", "gpu-1");
    fleet = world_fleet(&w);
    rows = fleet->devices;
    add_gpus(&w, "b", 2, "\"healthy\":{\"bool\":false},\"tangram.dev/x\":{\"int\":1}");
    add_gpus(&w, "b", 2, "\"m\":{\"int\":1}");
    add_gpus(&w, "b", 3, "");
    for (size_t i = 0; i < 3; i++)
        later[i] = w.slices[2 + i];
    tg_fleet_put(fleet, TG_FLEET_SLICE, later[0]);
    tg_fleet_settle(fleet);
    assert_ptr_equal(fleet->devices, rows);
    assert_int_equal(rows[2].n_taints, 1);
    assert_non_null(rows[2].unsupported);
    assert_int_equal(rows[1].n_taints, 0);
    assert_string_equal(rows[3].holder, "claim ns/h");
    tg_fleet_put(fleet, TG_FLEET_SLICE, later[1]);
    tg_fleet_settle(fleet);
    assert_int_equal(rows[2].n_taints, 0);
    assert_null(rows[2].unsupported);
    /* The holder finds the device by its new slice. */
    tg_fleet_drop(fleet, TG_FLEET_CLAIM, "ns", "h");
    assert_null(rows[3].holder);
    tg_fleet_put(fleet, TG_FLEET_SLICE, later[2]);
    tg_fleet_settle(fleet);
    assert_int_equal(fleet->n_devices, 5);
    world_done(&w);
}

static void taints_are_those_of_now_however_often_they_are_told(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    uint64_t before;

    (void)state;
    world_init(&w);
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 8, "\"healthy\":{\"bool\":false}");
    add_gpus(&w, "a", 8, "");
    w.n_slices = 1;
    fleet = world_fleet(&w);
    before = tg_fleet_hash(fleet);
    for (size_t i = 0; i < 2000; i++) {
        tg_fleet_put(fleet, TG_FLEET_SLICE, w.slices[(i + 1) % 2]);
        tg_fleet_settle(fleet);
        assert_int_equal(fleet->devices[i % 8].n_taints, i % 2);
        if (i % 2 == 1)
            assert_string_equal(fleet->devices[i % 8].taints[0]->effect, "NoSchedule");
    }
    assert_true(tg_fleet_hash(fleet) == before);
    world_done(&w);
}

/* --- rows that come and go --- */

static void tell(struct world *w, struct tg_fleet *fleet, size_t i, bool there)
{
    char name[32];

    snprintf(name, sizeof(name), "n-%zu", i);
    w->n_nodes = w->n_slices = 0;
    add_node(w, name, "", "");
    add_gpus(w, name, 1 + i % 3, "");
    if (there) {
        tg_fleet_put(fleet, TG_FLEET_NODE, w->nodes[0]);
        tg_fleet_put(fleet, TG_FLEET_SLICE, w->slices[0]);
    } else {
        tg_fleet_drop(fleet, TG_FLEET_NODE, NULL, name);
        tg_fleet_drop(fleet, TG_FLEET_SLICE, NULL, w->slices[0]->metadata->name);
    }
    tg_fleet_settle(fleet);
}

/* Every node lists its own devices, by name, and every device is in the list of its node. */
static void check_lists(const struct tg_fleet *fleet)
{
    struct tg_fleet_walk walk = {.next = 0};
    const char *before = NULL;
    size_t node, listed = 0;
    uint64_t order = 0;

    while ((node = tg_fleet_next_node(fleet, &walk)) != TG_NO_INDEX) {
        const struct tg_fleet_node *row = &fleet->nodes[node];

        assert_int_equal(tg_fleet_find_node(fleet, row->name), node);
        assert_true(before == NULL || (strcmp(before, row->name) < 0 && order < row->order));
        before = row->name;
        order = row->order;
        listed += row->n_devices;
        for (size_t i = 0; i < row->n_devices; i++) {
            const struct tg_fleet_device *device = &fleet->devices[row->devices[i]];

            assert_int_equal(device->node, node);
            assert_string_equal(device->pool, row->name);
            assert_int_equal(tg_fleet_find_device(fleet, GPU_DRIVER, device->pool, device->name),
                             row->devices[i]);
            if (i > 0)
                assert_true(strcmp(fleet->devices[row->devices[i - 1]].name, device->name) < 0);
        }
    }
    assert_int_equal(listed, fleet->n_devices);
}

/* Nodes come and go in another order than that of their names: few rows serve all of them, and the
 * fleet is the one that was told of those that stay. */
static void rows_of_who_has_left_are_used_again(void **state)
{
    enum { AT_ONCE = 40, IN_ALL = 8000 };
    struct tg_fleet *fleet = tg_fleet_open("default"), *fresh = tg_fleet_open("default");
    struct world w;

    (void)state;
    for (size_t i = 0; i < IN_ALL; i++) {
        world_init(&w);
        tell(&w, fleet, i * 7919 % IN_ALL, true);
        if (i >= AT_ONCE)
            tell(&w, fleet, (i - AT_ONCE) * 7919 % IN_ALL, false);
        if (i >= IN_ALL - AT_ONCE)
            tell(&w, fresh, i * 7919 % IN_ALL, true);
        if (i % 1000 == 0)
            check_lists(fleet);
        world_done(&w);
    }
    check_lists(fleet);
    assert_true(fleet->n_nodes <= AT_ONCE + 1);
    assert_true(fleet->device_rows <= 6 * (AT_ONCE + 1));
    assert_true(tg_fleet_hash(fleet) == tg_fleet_hash(fresh));
    tg_fleet_close(fleet);
    tg_fleet_close(fresh);
}

static void a_fleet_that_has_shrunk_has_few_rows(void **state)
{
    enum { MANY = 2600, FEW = 3 };
    struct tg_fleet *fleet = tg_fleet_open("default"), *fresh = tg_fleet_open("default");
    struct tg_news_reader reader = {.at = 0};
    struct world w;

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        world_init(&w);
        tell(&w, fleet, i, true);
        if (i < FEW)
            tell(&w, fresh, i, true);
        world_done(&w);
    }
    (void)tg_news_open(fleet, &reader);
    for (size_t i = FEW; i < MANY; i++) {
        world_init(&w);
        tell(&w, fleet, i, false);
        world_done(&w);
    }
    check_lists(fleet);
    assert_true(fleet->n_nodes <= 1100);
    assert_true(fleet->device_rows <= 1100);
    assert_false(tg_news_open(fleet, &reader)); /* rows are others than before */
    assert_true(tg_fleet_hash(fleet) == tg_fleet_hash(fresh));
    tg_fleet_close(fleet);
    tg_fleet_close(fresh);
}

/* Slices before their node, a node that goes and comes back while they stay. */
static void devices_find_their_node_whenever_it_comes(void **state)
{
    struct tg_fleet *fleet = tg_fleet_open("default");
    struct world w;

    (void)state;
    world_init(&w);
    add_node(&w, "a", "", "");
    add_node(&w, "b", "", "");
    add_gpus(&w, "a", 2, "");
    slice(&w, "s1", 1, 2, "\"nodeName\":\"a\",", "{\"name\":\"x\"}");
    slice(&w, "s2", 1, 2, "\"nodeName\":\"b\",", "{\"name\":\"w\"},{\"name\":\"y\"}");
    for (size_t i = 0; i < w.n_slices; i++)
        tg_fleet_put(fleet, TG_FLEET_SLICE, w.slices[i]);
    tg_fleet_settle(fleet);
    for (size_t round = 0; round < 3; round++) {
        /* In turns, so that each gets the row that the other one had. */
        for (size_t i = 0; i < 2; i++)
            tg_fleet_put(fleet, TG_FLEET_NODE, w.nodes[(i + round) % 2]);
        tg_fleet_settle(fleet);
        assert_int_equal(fleet->nodes[tg_fleet_find_node(fleet, "a")].n_devices, 3);
        assert_int_equal(fleet->nodes[tg_fleet_find_node(fleet, "b")].n_devices, 2);
        tg_fleet_drop(fleet, TG_FLEET_NODE, NULL, "a");
        tg_fleet_put(fleet, TG_FLEET_NODE, w.nodes[0]);
        tg_fleet_settle(fleet);
        assert_int_equal(fleet->nodes[tg_fleet_find_node(fleet, "a")].n_devices, 3);
        tg_fleet_drop(fleet, TG_FLEET_NODE, NULL, "a");
        tg_fleet_drop(fleet, TG_FLEET_NODE, NULL, "b");
        tg_fleet_settle(fleet);
        for (size_t d = 0; d < 5; d++)
            assert_int_equal(fleet->devices[d].node, TG_NO_INDEX);
    }
    tg_fleet_close(fleet);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_slice_says_of_the_same_devices_is_written_where_they_are),
        cmocka_unit_test(taints_are_those_of_now_however_often_they_are_told),
        cmocka_unit_test(rows_of_who_has_left_are_used_again),
        cmocka_unit_test(a_fleet_that_has_shrunk_has_few_rows),
        cmocka_unit_test(devices_find_their_node_whenever_it_comes),
        cmocka_unit_test(only_the_newest_generation_counts),
        cmocka_unit_test(an_incomplete_pool_is_not_used_nor_is_its_older_generation),
        cmocka_unit_test(slices_that_disagree_about_their_number_are_incomplete),
        cmocka_unit_test(the_slices_of_a_node_are_those_that_name_it),
        cmocka_unit_test(two_devices_of_one_name_spoil_their_pool_only),
        cmocka_unit_test(what_counts_cannot_describe_is_marked),
        cmocka_unit_test(a_pool_is_local_if_all_its_slices_name_one_node),
        cmocka_unit_test(counters_that_contradict_themselves_spoil_the_pool),
        cmocka_unit_test(a_driver_named_like_the_reserved_domain_is_not_used),
        cmocka_unit_test(malformed_slices_are_passed_over),
        cmocka_unit_test(a_pool_with_compatibility_groups_is_not_used),
    };

    return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
