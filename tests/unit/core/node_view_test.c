/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/node_view.h"
#include "tests/unit/core/world.h"

#define ON(node) "\"nodeName\":\"" node "\","
#define COUNTERS(set, value) "{\"name\":\"" set "\",\"counters\":{\"m\":{\"value\":\"" value "\"}}}"
#define CONSUMES(set, value)                                                                       \
    "\"consumesCounters\":[{\"counterSet\":\"" set "\",\"counters\":{\"m\":{\"value\":\"" value    \
    "\"}}}]"

/* A slice of pool p; rest: more members of the spec, each before its comma. */
static void slice(struct world *w, const char *name, int generation, int count, const char *rest,
                  const char *devices)
{
    char json[8192];

    snprintf(json, sizeof(json),
             "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
             "\",%s\"pool\":{\"name\":\"p\",\"generation\":%d,\"resourceSliceCount\":%d},"
             "\"devices\":[%s]}}",
             name, rest, generation, count, devices);
    add_slice(w, json);
}

static void counter_slice(struct world *w, const char *name, int count, const char *node,
                          const char *sets)
{
    char rest[2048];

    snprintf(rest, sizeof(rest), "\"nodeName\":\"%s\",\"sharedCounters\":[%s],", node, sets);
    slice(w, name, 1, count, rest, "");
}

static struct tg_view view_by(struct world *w, const char *node, struct tg_rules rules)
{
    struct tg_error err = TG_ERROR_INIT;
    struct tg_view view;

    if (tg_fleet_view(world_fleet(w), node, &rules, w->arena, &view, &err) < 0)
        fail_msg("%s", err.message);
    return view;
}

static struct tg_view view_of(struct world *w, const char *node)
{
    return view_by(w, node, tg_rules_of_release(37));
}

static struct tg_view view_without(struct world *w, const char *node, unsigned features)
{
    struct tg_rules rules = tg_rules_of_release(37);

    rules.features &= ~features;
    return view_by(w, node, rules);
}

/* A claim that holds what results (JSON) say. */
static void holder(struct world *w, const char *name, const char *results)
{
    assert_true(w->n_claims < WORLD_MAX);
    w->claims[w->n_claims++] =
        decodef(w->arena, &tg_resource_claim_type,
                "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\",\"uid\":\"u-%s\"},\"status\":{"
                "\"allocation\":{\"devices\":{\"results\":[%s]}}}}",
                name, name, results);
}

#define RESULT(device, more)                                                                       \
    "{\"request\":\"r\",\"driver\":\"" GPU_DRIVER "\",\"pool\":\"p\",\"device\":\"" device         \
    "\"" more "}"

static const struct tg_view_device *device_of(const struct tg_view *view, const char *name)
{
    for (size_t i = 0; i < view->n_devices; i++) {
        if (strcmp(view->devices[i].name, name) == 0)
            return &view->devices[i];
    }
    fail_msg("no device %s", name);
    return NULL;
}

static int64_t left_of(const struct tg_view *view, const char *set, const char *name)
{
    for (size_t i = 0; i < view->n_counters; i++) {
        if (strcmp(view->counters[i].set, set) == 0 && strcmp(view->counters[i].name, name) == 0)
            return (int64_t)(view->counters[i].left / TG_NANOS_ONE);
    }
    fail_msg("no counter %s of %s", name, set);
    return 0;
}

static void a_pool_is_the_newest_generation_among_what_the_node_can_see(void **state)
{
    static const struct {
        /* Of slices "here" and "there": generation and count; there: which node. */
        int here, here_count, there, there_count;
        size_t pools, devices;
        enum tg_view_pool_state state;
    } cases[] = {
        {1, 1, 2, 1, 1, 1, TG_POOL_USABLE},     /* complete here: what is elsewhere plays no part */
        {1, 2, 2, 2, 0, 0, TG_POOL_USABLE},     /* short here, newer elsewhere: obsolete */
        {2, 2, 1, 2, 1, 0, TG_POOL_INCOMPLETE}, /* the newer one is short */
        {1, 2, 1, 2, 1, 1, TG_POOL_USABLE},     /* the rest is on another node */
        {1, 3, 1, 3, 1, 0, TG_POOL_INCOMPLETE},
        /* What is said elsewhere about the number of slices is not asked, nor whether there are
         * too many of them. */
        {1, 2, 1, 3, 1, 1, TG_POOL_USABLE},
        {1, 2, 1, 1, 1, 1, TG_POOL_USABLE},
        {1, 1, 1, 1, 1, 1, TG_POOL_USABLE},
        {1, 3, 1, 2, 1, 0, TG_POOL_INCOMPLETE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world w;
        struct tg_view view;

        world_init(&w);
        add_node(&w, "n", "", "");
        slice(&w, "here", cases[i].here, cases[i].here_count, ON("n"), "{\"name\":\"a\"}");
        slice(&w, "there", cases[i].there, cases[i].there_count, ON("m"), "{\"name\":\"b\"}");
        view = view_of(&w, "n");
        assert_int_equal(view.n_pools, cases[i].pools);
        assert_int_equal(view.n_devices, cases[i].devices);
        if (view.n_pools > 0)
            assert_int_equal(view.pools[0].state, cases[i].state);
        world_done(&w);
    }
}

/* The built-in allocator believes the first of a list without order. */
static void slices_for_a_node_that_disagree_about_their_number_give_nothing(void **state)
{
    static const int counts[][2] = {{2, 3}, {3, 2}, {2, 1}, {1, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        struct world w;

        world_init(&w);
        add_node(&w, "n", "", "");
        slice(&w, "a", 1, counts[i][0], ON("n"), "{\"name\":\"a\"}");
        slice(&w, "b", 1, counts[i][1], ON("n"), "{\"name\":\"b\"}");
        assert_int_equal(view_of(&w, "n").pools[0].state, TG_POOL_INCOMPLETE);
        assert_int_equal(view_of(&w, "n").n_devices, 0);
        world_done(&w);
    }
}

static void counters_for_another_node_do_not_keep_an_old_generation_alive(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "here", 1, 2, ON("n"), "{\"name\":\"a\"}");
    counter_slice(&w, "counters", 2, "m", COUNTERS("c", "1"));
    assert_int_equal(view_of(&w, "n").n_devices, 1);
    slice(&w, "there", 2, 1, ON("m"), "{\"name\":\"b\"}");
    assert_int_equal(view_of(&w, "n").n_pools, 0);
    world_done(&w);
}

static void release_34_gives_out_what_is_there_of_an_incomplete_pool(void **state)
{
    struct world w;
    struct tg_view view;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "a", 1, 2, ON("n"), "{\"name\":\"a\"}");
    view = view_by(&w, "n", tg_rules_of_release(34));
    assert_int_equal(view.pools[0].state, TG_POOL_INCOMPLETE);
    assert_int_equal(view.n_devices, 1);
    world_done(&w);
}

static void what_spoils_a_pool_is_said(void **state)
{
    static const struct {
        const char *devices, *sets, *elsewhere, *why; /* why NULL: nothing */
    } cases[] = {
        {"{\"name\":\"a\"},{\"name\":\"a\"}", COUNTERS("c", "1"), "", "two devices named a"},
        {"{\"name\":\"a\"}", COUNTERS("c", "1"), "{\"name\":\"a\"}", NULL},
        {"{\"name\":\"a\"}", COUNTERS("c", "1") "," COUNTERS("c", "1"), "",
         "two counter sets named c"},
        {"{\"name\":\"a\"," CONSUMES("d", "1") "}", COUNTERS("c", "1"), "", "set d"},
        {"{\"name\":\"a\"}", COUNTERS("c", "1"), "{\"name\":\"b\"," CONSUMES("d", "1") "}",
         "device b"},
        {"{\"name\":\"a\"}", COUNTERS("c", "much"), "", "counter m of set c is no quantity"},
        {"{\"name\":\"a\"," CONSUMES("c", "1") "}", COUNTERS("c", "1"), "", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world w;
        struct tg_view view;

        world_init(&w);
        add_node(&w, "n", "", "");
        slice(&w, "a", 1, 3, ON("n"), cases[i].devices);
        slice(&w, "b", 1, 3, ON("m"), cases[i].elsewhere);
        counter_slice(&w, "c", 3, "n", cases[i].sets);
        view = view_of(&w, "n");
        assert_int_equal(view.n_pools, 1);
        if (cases[i].why == NULL) {
            assert_int_equal(view.pools[0].state, TG_POOL_USABLE);
            assert_int_equal(view.n_devices, 1);
        } else {
            assert_int_equal(view.pools[0].state, TG_POOL_INVALID);
            assert_non_null(strstr(view.pools[0].why, cases[i].why));
            assert_int_equal(view.n_devices, 0);
            assert_int_equal(view.n_counters, 0);
        }
        world_done(&w);
    }
}

static void everything_allocated_of_the_pool_is_taken_off_its_counters_wherever_it_is(void **state)
{
    struct world w;
    struct tg_view view;
    const struct tg_view_device *d;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "a", 1, 3, ON("n"),
          "{\"name\":\"a\"," CONSUMES("c", "2") "},{\"name\":\"plain\"},{\"name\":\"shared\","
                                                "\"allowMultipleAllocations\":true," CONSUMES(
                                                    "d", "1500m") "}");
    slice(&w, "b", 1, 3, ON("m"), "{\"name\":\"b\"," CONSUMES("c", "3") "}");
    counter_slice(&w, "c", 3, "m", COUNTERS("c", "8") "," COUNTERS("d", "2"));
    view = view_of(&w, "n");
    assert_int_equal(left_of(&view, "c", "m"), 8);
    holder(&w, "b", RESULT("b", ""));
    holder(&w, "admin", RESULT("a", ",\"adminAccess\":true"));
    holder(&w, "s1", RESULT("shared", ",\"shareID\":\"1\""));
    holder(&w, "s2", RESULT("shared", ",\"shareID\":\"2\""));
    view = view_of(&w, "n");
    assert_int_equal(left_of(&view, "c", "m"), 5);
    assert_true(view.counters[1].left == TG_NANOS_ONE / 2);
    d = device_of(&view, "a");
    assert_false(d->taken);
    assert_int_equal(d->n_consumes, 1);
    assert_string_equal(view.counters[d->consumes[0].counter].set, "c");
    assert_true(d->consumes[0].amount == 2 * TG_NANOS_ONE);
    assert_int_equal(d->n_counters, 2);
    d = device_of(&view, "shared");
    assert_int_equal(d->shares, 2);
    assert_false(d->taken);
    assert_null(d->holder);
    assert_int_equal(device_of(&view, "plain")->n_consumes, 0);
    world_done(&w);
}

static void counters_of_pools_with_one_name_and_two_drivers_are_apart(void **state)
{
    struct world w;
    struct tg_view view;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "a", 1, 2, ON("n"), "{\"name\":\"a\"," CONSUMES("c", "2") "}");
    counter_slice(&w, "b", 2, "n", COUNTERS("c", "8"));
    add_slice(&w,
              "{\"metadata\":{\"name\":\"z\"},\"spec\":{\"driver\":\"z.example.com\","
              "\"nodeName\":\"n\",\"pool\":{\"name\":\"p\",\"generation\":1,"
              "\"resourceSliceCount\":2},\"devices\":[{\"name\":\"a\"," CONSUMES("c", "2") "}]}}");
    add_slice(&w, "{\"metadata\":{\"name\":\"y\"},\"spec\":{\"driver\":\"z.example.com\","
                  "\"nodeName\":\"n\",\"pool\":{\"name\":\"p\",\"generation\":1,"
                  "\"resourceSliceCount\":2},\"sharedCounters\":[" COUNTERS("c", "8") "]}}");
    holder(&w, "h", RESULT("a", ""));
    view = view_of(&w, "n");
    assert_int_equal(view.n_counters, 2);
    assert_true(view.counters[0].left == 6 * TG_NANOS_ONE);
    assert_true(view.counters[1].left == 8 * TG_NANOS_ONE);
    assert_true(view.devices[0].taken);
    assert_false(view.devices[1].taken);
    assert_int_not_equal(view.devices[0].shape, view.devices[1].shape);
    world_done(&w);
}

static void in_release_34_counters_are_those_of_the_slice(void **state)
{
    struct world w;
    struct tg_rules rules = tg_rules_of_release(34);
    struct tg_view view;

    (void)state;
    rules.features |= TG_FEATURE_PARTITIONABLE_DEVICES;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "a", 1, 2, ON("n") "\"sharedCounters\":[" COUNTERS("c", "4") "],",
          "{\"name\":\"a\"," CONSUMES("c", "1") "}");
    slice(&w, "b", 1, 2, ON("n") "\"sharedCounters\":[" COUNTERS("c", "8") "],",
          "{\"name\":\"b\"," CONSUMES("c", "1") "}");
    holder(&w, "h", RESULT("b", ""));
    view = view_by(&w, "n", rules);
    assert_int_equal(view.pools[0].state, TG_POOL_USABLE);
    assert_int_equal(view.n_counters, 2);
    assert_int_equal(device_of(&view, "b")->first_counter, 1);
    assert_int_equal(device_of(&view, "b")->n_counters, 1);
    assert_true(view.counters[0].left == 4 * TG_NANOS_ONE);
    assert_true(view.counters[1].left == 7 * TG_NANOS_ONE);
    /* One set name twice in a pool spoils it from 35 on. */
    assert_int_equal(view_of(&w, "n").pools[0].state, TG_POOL_INVALID);
    world_done(&w);
}

/* Whatever the server is now: it has kept them, and a slice of counters only counts for the rest.
 */
static void counters_beside_devices_are_for_those_devices(void **state)
{
    struct world w;
    struct tg_view view;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "a", 1, 3, ON("n") "\"sharedCounters\":[" COUNTERS("c", "4") "],",
          "{\"name\":\"a\"," CONSUMES("c", "1") "}");
    slice(&w, "b", 1, 3, ON("n"), "{\"name\":\"b\"," CONSUMES("c", "2") "}");
    counter_slice(&w, "c", 3, "n", COUNTERS("c", "8"));
    holder(&w, "h", RESULT("a", "") "," RESULT("b", ""));
    view = view_by(&w, "n", tg_rules_of_objects());
    assert_int_equal(view.pools[0].state, TG_POOL_USABLE);
    assert_int_equal(view.n_devices, 2);
    assert_int_equal(view.n_counters, 2);
    assert_true(view.counters[device_of(&view, "a")->first_counter].left == 3 * TG_NANOS_ONE);
    assert_true(view.counters[device_of(&view, "b")->first_counter].left == 6 * TG_NANOS_ONE);
    assert_int_equal(device_of(&view, "a")->n_counters, 1);
    assert_int_equal(device_of(&view, "b")->n_counters, 1);
    world_done(&w);
}

static void with_partitions_off_their_slices_do_not_count_and_their_devices_say_so(void **state)
{
    struct world w;
    struct tg_view view;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "a", 1, 1, ON("n"), "{\"name\":\"a\"," CONSUMES("c", "1") "},{\"name\":\"b\"}");
    add_slice(&w, "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"other\",\"pool\":{"
                  "\"name\":\"q\",\"generation\":1,\"resourceSliceCount\":1},"
                  "\"perDeviceNodeSelection\":true,\"devices\":[{\"name\":\"x\",\"allNodes\":true}"
                  "]}}");
    view = view_without(&w, "n", TG_FEATURE_PARTITIONABLE_DEVICES);
    assert_int_equal(view.n_pools, 1);
    assert_true(device_of(&view, "a")->wants_counters);
    assert_int_equal(device_of(&view, "a")->n_consumes, 0);
    assert_false(device_of(&view, "b")->wants_counters);
    assert_int_equal(view.n_counters, 0);
    view = view_of(&w, "n");
    assert_int_equal(view.n_pools, 2);
    world_done(&w);
}

static void each_device_says_how_it_reaches_the_node(void **state)
{
    static const char rack[] = "\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{"
                               "\"key\":\"rack\",\"operator\":\"In\",\"values\":[\"r1\"]}]}]}";
    struct world w;
    struct tg_view view;
    char devices[2048], rest[1024];

    (void)state;
    world_init(&w);
    add_node(&w, "n", "\"rack\":\"r1\"", "");
    add_node(&w, "m", "\"rack\":\"r2\"", "");
    snprintf(devices, sizeof(devices),
             "{\"name\":\"named\",\"nodeName\":\"n\"},{\"name\":\"other\",\"nodeName\":\"m\"},{"
             "\"name\":\"selected\",%s},{\"name\":\"all\",\"allNodes\":true},{\"name\":\"none\"}",
             rack);
    slice(&w, "a", 1, 2, "\"perDeviceNodeSelection\":true,", devices);
    snprintf(rest, sizeof(rest), "%s,", rack);
    slice(&w, "b", 1, 2, rest, "{\"name\":\"of-slice\"}");
    view = view_of(&w, "n");
    assert_int_equal(view.n_devices, 6);
    assert_int_equal(device_of(&view, "named")->reach, TG_REACH_NODE);
    assert_int_equal(device_of(&view, "other")->reach, TG_REACH_NONE);
    assert_int_equal(device_of(&view, "selected")->reach, TG_REACH_SELECTOR);
    assert_int_equal(device_of(&view, "selected")->selector->terms.n, 1);
    assert_int_equal(device_of(&view, "all")->reach, TG_REACH_ALL);
    assert_int_equal(device_of(&view, "none")->reach, TG_REACH_NONE);
    assert_int_equal(device_of(&view, "of-slice")->reach, TG_REACH_SELECTOR);
    /* The other node does not see the slice of the rack, but needs it for the pool to be whole. */
    view = view_of(&w, "m");
    assert_int_equal(view.n_devices, 5);
    assert_int_equal(view.pools[0].state, TG_POOL_USABLE);
    assert_int_equal(device_of(&view, "named")->reach, TG_REACH_NONE);
    world_done(&w);
}

static void a_slice_that_selects_in_no_way_that_we_know_is_passed_over(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "a", 1, 1, "", "{\"name\":\"a\"}");
    assert_int_equal(view_of(&w, "n").n_pools, 0);
    world_done(&w);
}

static void capacity_has_its_policy_and_what_shares_take(void **state)
{
    struct world w;
    struct tg_view view;
    const struct tg_view_device *d;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "a", 1, 1, ON("n"),
          "{\"name\":\"a\",\"allowMultipleAllocations\":true,\"capacity\":{"
          "\"bare\":{\"value\":\"4\"},"
          "\"range\":{\"value\":\"10Gi\",\"requestPolicy\":{\"default\":\"1Gi\",\"validRange\":{"
          "\"min\":\"1Gi\",\"max\":\"8Gi\",\"step\":\"512Mi\"}}},"
          "\"values\":{\"value\":\"9\",\"requestPolicy\":{\"validValues\":[\"1\",\"3\"]}},"
          "\"default\":{\"value\":\"9\",\"requestPolicy\":{\"default\":\"0\"}}}},"
          "{\"name\":\"b\",\"capacity\":{\"c\":{\"value\":\"a lot\"}}}");
    holder(&w, "s1",
           RESULT("a", ",\"shareID\":\"1\",\"consumedCapacity\":{\"bare\":\"1500m\",\"range\":"
                       "\"1Gi\"}"));
    holder(&w, "s2", RESULT("a", ",\"shareID\":\"2\",\"consumedCapacity\":{\"bare\":1}"));
    holder(&w, "admin",
           RESULT("a", ",\"adminAccess\":true,\"shareID\":\"3\",\"consumedCapacity\":{\"bare\":"
                       "\"1\"}"));
    view = view_of(&w, "n");
    d = device_of(&view, "a");
    assert_int_equal(d->n_capacity, 4);
    assert_string_equal(d->capacity[0].name, "bare");
    assert_false(d->capacity[0].has_policy);
    assert_true(d->capacity[0].used == 5 * TG_NANOS_ONE / 2);
    assert_int_equal(d->capacity[1].policy, TG_POLICY_RANGE);
    assert_true(d->capacity[1].has_default && d->capacity[1].has_max && d->capacity[1].has_step);
    assert_true(d->capacity[1].step == TG_NANOS_ONE * (512 << 20));
    assert_true(d->capacity[1].used == TG_NANOS_ONE * (1 << 30));
    assert_int_equal(d->capacity[2].policy, TG_POLICY_VALUES);
    assert_int_equal(d->capacity[2].n_values, 2);
    assert_true(d->capacity[2].values[1] == 3 * TG_NANOS_ONE);
    assert_int_equal(d->capacity[3].policy, TG_POLICY_NONE);
    assert_true(d->capacity[3].has_policy && d->capacity[3].has_default);
    assert_int_equal(d->shares, 2);
    assert_null(d->barred);
    assert_non_null(device_of(&view, "b")->barred);
    /* What takes nobody knows how much takes all. */
    holder(&w, "odd", RESULT("a", ",\"shareID\":\"4\",\"consumedCapacity\":[1]"));
    view = view_of(&w, "n");
    assert_true(device_of(&view, "a")->taken);
    world_done(&w);
}

static void a_planned_share_counts_once_even_when_it_is_allocated_as_well(void **state)
{
    static const struct tg_string_pair takes[] = {{"c", "2"}};
    struct world w;
    struct tg_view view;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "a", 1, 1, ON("n"),
          "{\"name\":\"a\",\"allowMultipleAllocations\":true,\"capacity\":{\"c\":{\"value\":\"9\"}"
          "}}");
    w.busy[w.n_busy++] = (struct tg_fleet_busy){.driver = GPU_DRIVER,
                                                .pool = "p",
                                                .device = "a",
                                                .holder = "gang ns/g",
                                                .share = "1",
                                                .consumed = takes,
                                                .n_consumed = 1};
    view = view_of(&w, "n");
    assert_int_equal(view.devices[0].shares, 1);
    assert_true(view.devices[0].capacity[0].used == 2 * TG_NANOS_ONE);
    holder(&w, "s1", RESULT("a", ",\"shareID\":\"1\",\"consumedCapacity\":{\"c\":\"2\"}"));
    view = view_of(&w, "n");
    assert_int_equal(view.devices[0].shares, 1);
    assert_true(view.devices[0].capacity[0].used == 2 * TG_NANOS_ONE);
    /* One that became exclusive while it had shares, or was given away before, is taken. */
    holder(&w, "whole", RESULT("a", ""));
    view = view_of(&w, "n");
    assert_true(view.devices[0].taken);
    assert_string_equal(view.devices[0].holder, "claim ns/whole");
    world_done(&w);
}

static void taints_come_from_device_rules_and_health_by_gate_and_release(void **state)
{
    struct world w;
    struct tg_view view;
    struct tg_rules rules = tg_rules_of_release(34);

    (void)state;
    rules.features |= TG_FEATURE_DEVICE_TAINTS;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "a", 1, 1, ON("n"),
          "{\"name\":\"a\",\"attributes\":{\"healthy\":{\"bool\":false}},\"taints\":[{\"key\":"
          "\"k\",\"effect\":\"NoSchedule\"},{\"key\":\"l\",\"effect\":\"None\"}]}");
    w.rules[w.n_rules++] =
        decode(w.arena, &tg_device_taint_rule_type,
               "{\"metadata\":{\"name\":\"r\"},\"spec\":{\"deviceSelector\":{\"pool\":\"p\"},"
               "\"taint\":{\"key\":\"rule\",\"effect\":\"NoExecute\"}}}");
    view = view_of(&w, "n");
    assert_int_equal(view.devices[0].n_taints, 3);
    assert_string_equal(view.devices[0].taints[1]->key, "rule");
    assert_int_equal(view_by(&w, "n", rules).devices[0].n_taints, 4);
    assert_int_equal(view_without(&w, "n", TG_FEATURE_DEVICE_TAINTS).devices[0].n_taints, 1);
    world_done(&w);
}

static void pools_with_binding_conditions_come_last(void **state)
{
    struct world w;
    struct tg_view view;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    add_gpus(&w, "n", 1, "");
    add_slice(&w, "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"a.example.com\","
                  "\"nodeName\":\"n\",\"pool\":{\"name\":\"p\",\"generation\":1,"
                  "\"resourceSliceCount\":1},\"devices\":[{\"name\":\"b\",\"bindingConditions\":["
                  "\"ready\"]}]}}");
    view = view_of(&w, "n");
    assert_string_equal(view.pools[0].driver, GPU_DRIVER);
    assert_true(view.pools[1].has_binding);
    assert_int_equal(view.pools[1].first, 1);
    assert_true(view.devices[1].bindings);
    assert_int_equal(view.devices[1].pool, 1);
    view = view_by(&w, "n", tg_rules_of_release(35));
    assert_string_equal(view.pools[0].driver, "a.example.com");
    world_done(&w);
}

#define WINDOW(name, card, start, size)                                                            \
    "{\"name\":\"" name "\",\"attributes\":{\"derived\":{\"bool\":true},\"parentUUID\":{"          \
    "\"string\":\"" card "\"},\"memorySliceStart\":{\"int\":" start                                \
    "},\"memorySliceSize\":{\"int\":" size "}}}"

static void
windows_of_one_card_that_overlap_exclude_each_other_without_counters_of_the_api(void **state)
{
    struct world w;
    struct tg_view view;
    const struct tg_view_device *d;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "a", 1, 2, ON("n"),
          WINDOW("a-0", "A", "0", "4") "," WINDOW("a-4", "A", "4", "4") "," WINDOW(
              "b-0", "B", "0", "2") ",{\"name\":\"card\",\"attributes\":{\"uuid\":{\"string\":"
                                    "\"A\"}}},{\"name\":\"vague\",\"attributes\":{\"derived\":{"
                                    "\"bool\":true}}}");
    slice(&w, "b", 1, 2, ON("n"), WINDOW("a-2", "A", "2", "2"));
    holder(&w, "h", RESULT("a-0", ""));
    view = view_without(&w, "n", TG_FEATURE_PARTITIONABLE_DEVICES);
    assert_int_equal(view.n_counters, 8 + 2);
    assert_int_equal(left_of(&view, "A", "memory-slice-0"), 0);
    assert_int_equal(left_of(&view, "A", "memory-slice-4"), 1);
    assert_int_equal(left_of(&view, "B", "memory-slice-1"), 1);
    d = device_of(&view, "a-2");
    assert_int_equal(d->n_consumes, 2);
    assert_string_equal(view.counters[d->consumes[0].counter].name, "memory-slice-2");
    assert_false(d->wants_counters);
    d = device_of(&view, "a-4");
    assert_int_equal(d->n_counters, 4);
    assert_true(view.counters[d->first_counter].left == TG_NANOS_ONE);
    assert_int_equal(device_of(&view, "card")->n_consumes, 8);
    assert_non_null(device_of(&view, "vague")->barred);
    assert_null(device_of(&view, "a-4")->barred);
    world_done(&w);
}

static void devices_have_one_shape_if_all_that_matters_is_equal(void **state)
{
    static const char base[] = "\"attributes\":{\"m\":{\"string\":\"x\"}}";
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {base, base, true},
        {base, "\"attributes\":{\"m\":{\"version\":\"x\"}}", false},
        {base, "\"attributes\":{\"m\":{\"string\":\"x\"},\"u\":{\"int\":0}}", false},
        {"\"capacity\":{\"c\":{\"value\":\"1\"}}", "\"capacity\":{\"c\":{\"value\":\"2\"}}", false},
        {"\"capacity\":{\"c\":{\"value\":\"1\",\"requestPolicy\":{\"default\":\"1\"}}}",
         "\"capacity\":{\"c\":{\"value\":\"1\"}}", false},
        {"\"taints\":[{\"key\":\"k\",\"effect\":\"NoExecute\"}]", "\"bindsToNode\":false", false},
        {"\"taints\":[{\"key\":\"k\",\"effect\":\"NoExecute\",\"timeAdded\":\"1\"}]",
         "\"taints\":[{\"key\":\"k\",\"effect\":\"NoExecute\",\"timeAdded\":\"2\"}]", true},
        {"\"taints\":[{\"key\":\"k\",\"effect\":\"None\"}]", "\"taints\":[]", true},
        {CONSUMES("c", "1"), CONSUMES("c", "1"), true},
        {CONSUMES("c", "1"), CONSUMES("c", "2"), false},
        {CONSUMES("c", "1"), CONSUMES("d", "1"), false},
        {"\"allowMultipleAllocations\":true", "\"allowMultipleAllocations\":false", false},
        {"\"bindingConditions\":[\"a\"]", "\"bindingConditions\":[\"b\"]", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world w;
        struct tg_view view;
        char devices[2048];

        world_init(&w);
        add_node(&w, "n", "", "");
        snprintf(devices, sizeof(devices), "{\"name\":\"a\",%s},{\"name\":\"b\",%s}", cases[i].a,
                 cases[i].b);
        slice(&w, "a", 1, 2, ON("n"), devices);
        counter_slice(&w, "c", 2, "n", COUNTERS("c", "8") "," COUNTERS("d", "8"));
        view = view_of(&w, "n");
        assert_int_equal(view.n_shapes, cases[i].same ? 1 : 2);
        assert_int_equal(view.devices[0].shape == view.devices[1].shape, cases[i].same);
        world_done(&w);
    }
}

static void a_rule_for_one_device_makes_its_shape_another(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "a", 1, 1, ON("n"), "{\"name\":\"a\"},{\"name\":\"b\"}");
    assert_int_equal(view_of(&w, "n").n_shapes, 1);
    w.rules[w.n_rules++] =
        decode(w.arena, &tg_device_taint_rule_type,
               "{\"metadata\":{\"name\":\"r\"},\"spec\":{\"deviceSelector\":{\"device\":\"b\"},"
               "\"taint\":{\"key\":\"rule\",\"effect\":\"NoExecute\"}}}");
    assert_int_equal(view_of(&w, "n").n_shapes, 2);
    world_done(&w);
}

static void reserved_attributes_bar_a_device(void **state)
{
    struct world w;
    struct tg_view view;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "a", 1, 1, ON("n"),
          "{\"name\":\"a\",\"attributes\":{\"tangram.dev/granted\":{\"bool\":true}}},{\"name\":"
          "\"b\"}");
    view = view_of(&w, "n");
    assert_non_null(strstr(view.devices[0].barred, "reserved domain"));
    assert_null(view.devices[1].barred);
    world_done(&w);
}

static void what_was_assumed_since_is_taken(void **state)
{
    static const struct tg_fleet_busy busy = {
        .driver = GPU_DRIVER, .pool = "p", .device = "b", .holder = "gang ns/g"};
    const struct tg_rules rules = tg_rules_of_release(37);
    struct world w;
    struct tg_view view;
    struct tg_fleet *fleet;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "a", 1, 2, ON("n"), "{\"name\":\"a\"},{\"name\":\"b\"," CONSUMES("c", "2") "}");
    counter_slice(&w, "c", 2, "n", COUNTERS("c", "8"));
    fleet = world_fleet(&w);
    tg_fleet_assume(fleet, &busy, 1, NULL, 0);
    assert_int_equal(tg_fleet_view(fleet, "n", &rules, w.arena, &view, NULL), 0);
    assert_true(device_of(&view, "b")->taken);
    assert_string_equal(device_of(&view, "b")->holder, "gang ns/g");
    assert_int_equal(left_of(&view, "c", "m"), 6);
    world_done(&w);
}

static void an_exhausted_budget_is_an_ordinary_error(void **state)
{
    const struct tg_rules rules = tg_rules_of_release(37);
    struct world w;
    struct tg_fleet *fleet;
    struct tg_view view;
    int rc = -1;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    slice(&w, "a", 1, 2, ON("n"),
          WINDOW("w", "A", "0", "1") ",{\"name\":\"b\"," CONSUMES(
              "c", "2") ",\"capacity\":{\"c\":"
                        "{\"value\":\"1\",\"requestPolicy\":{\"validValues\":[\"1\"]}}},\"taints\":"
                        "[{\"key\":"
                        "\"k\",\"effect\":\"NoExecute\"}]}");
    counter_slice(&w, "c", 2, "n", COUNTERS("c", "8"));
    fleet = world_fleet(&w);
    for (size_t nth = 1; rc != 0; nth++) {
        struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
        struct tg_error err = TG_ERROR_INIT;

        tg_arena_fail_after(arena, nth);
        rc = tg_fleet_view(fleet, "n", &rules, arena, &view, &err);
        assert_true(rc == 0 || rc == -TG_RESOURCE_EXHAUSTED);
        tg_arena_free(arena);
    }
    assert_int_equal(tg_fleet_view(fleet, "gone", &rules, w.arena, &view, NULL), -TG_NOT_FOUND);
    assert_int_equal(tg_fleet_view(fleet, NULL, &rules, w.arena, &view, NULL), -TG_NOT_FOUND);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_is_the_newest_generation_among_what_the_node_can_see),
        cmocka_unit_test(slices_for_a_node_that_disagree_about_their_number_give_nothing),
        cmocka_unit_test(counters_for_another_node_do_not_keep_an_old_generation_alive),
        cmocka_unit_test(release_34_gives_out_what_is_there_of_an_incomplete_pool),
        cmocka_unit_test(what_spoils_a_pool_is_said),
        cmocka_unit_test(everything_allocated_of_the_pool_is_taken_off_its_counters_wherever_it_is),
        cmocka_unit_test(counters_of_pools_with_one_name_and_two_drivers_are_apart),
        cmocka_unit_test(in_release_34_counters_are_those_of_the_slice),
        cmocka_unit_test(counters_beside_devices_are_for_those_devices),
        cmocka_unit_test(with_partitions_off_their_slices_do_not_count_and_their_devices_say_so),
        cmocka_unit_test(each_device_says_how_it_reaches_the_node),
        cmocka_unit_test(a_slice_that_selects_in_no_way_that_we_know_is_passed_over),
        cmocka_unit_test(capacity_has_its_policy_and_what_shares_take),
        cmocka_unit_test(a_planned_share_counts_once_even_when_it_is_allocated_as_well),
        cmocka_unit_test(taints_come_from_device_rules_and_health_by_gate_and_release),
        cmocka_unit_test(pools_with_binding_conditions_come_last),
        cmocka_unit_test(
            windows_of_one_card_that_overlap_exclude_each_other_without_counters_of_the_api),
        cmocka_unit_test(devices_have_one_shape_if_all_that_matters_is_equal),
        cmocka_unit_test(a_rule_for_one_device_makes_its_shape_another),
        cmocka_unit_test(reserved_attributes_bar_a_device),
        cmocka_unit_test(what_was_assumed_since_is_taken),
        cmocka_unit_test(an_exhausted_budget_is_an_ordinary_error),
    };

    return cmocka_run_group_tests_name("node_view", tests, NULL, NULL);
}
