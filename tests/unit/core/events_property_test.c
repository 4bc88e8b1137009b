/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random histories of a small cluster: whatever happened in whatever order, a fleet that was told
 * it all event by event equals one that is told the outcome at once; what was assumed and taken
 * back leaves nothing behind. Seeds are fixed: a failure prints its own.
 */
#include "controller/core/model/node_view.h"
#include "tests/unit/core/world.h"

#define SEEDS 400
#define STEPS 120
#define VERSIONS 4 /* of each object; version 0: it is not there */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static size_t below(uint64_t *state, size_t n)
{
    return (size_t)(next_random(state) % n);
}

/* One object with its versions; %d in JSON is the version. */
static const struct subject {
    enum tg_fleet_kind kind;
    const struct tg_type *type;
    const char *namespace_, *name;
    const char *json[VERSIONS - 1];
} subjects[] = {
#define META(name) "\"metadata\":{\"name\":\"" name "\"}"
#define NS_META(name) "\"metadata\":{\"namespace\":\"ns\",\"name\":\"" name "\",\"uid\":\"u\"}"
#define NODE(name, labels, cpu, ready)                                                             \
    "{\"metadata\":{\"name\":\"" name "\",\"labels\":{" labels "}},\"status\":{\"conditions\":[{"  \
    "\"type\":\"Ready\",\"status\":\"" ready "\"}],\"allocatable\":{\"cpu\":\"" cpu                \
    "\",\"pods\":\"10\"}}}"
    {TG_FLEET_NODE,
     &tg_node_type,
     NULL,
     "a",
     {NODE("a", "\"rack\":\"1\"", "8", "True"), NODE("a", "\"rack\":\"2\"", "4", "False"),
      NODE("a", "", "many", "True")}},
    {TG_FLEET_NODE,
     &tg_node_type,
     NULL,
     "b",
     {NODE("b", "\"rack\":\"1\"", "8", "True"), NODE("b", "\"rack\":\"1\"", "8", "True"),
      NODE("b", "", "16", "True")}},
    {TG_FLEET_NODE,
     &tg_node_type,
     NULL,
     "c",
     {NODE("c", "\"rack\":\"2\"", "8", "True"), NODE("c", "", "8", "True"),
      NODE("c", "", "8", "Unknown")}},
#define SLICE(name, pool, generation, count, rest)                                                 \
    "{" META(name) ",\"spec\":{\"driver\":\"d\",\"pool\":{\"name\":\"" pool                        \
                   "\",\"generation\":" generation ",\"resourceSliceCount\":" count "}," rest "}}"
#define DEVICE(name, more) "{\"name\":\"" name "\"" more "}"
#define UUID(uuid) ",\"attributes\":{\"uuid\":{\"string\":\"" uuid "\"},\"index\":{\"int\":3}}"
#define EATS ",\"consumesCounters\":[{\"counterSet\":\"s\",\"counters\":{\"m\":{\"value\":\"2\"}}}]"
    {TG_FLEET_SLICE,
     &tg_resource_slice_type,
     NULL,
     "s1",
     {SLICE("s1", "a", "1", "1",
            "\"nodeName\":\"a\",\"devices\":[" DEVICE("x", UUID("1")) "," DEVICE("y", "") "]"),
      SLICE("s1", "a", "2", "2", "\"nodeName\":\"a\",\"devices\":[" DEVICE("x", UUID("2")) "]"),
      SLICE("s1", "b", "1", "1", "\"nodeName\":\"b\",\"devices\":[" DEVICE("x", UUID("1")) "]")}},
    {TG_FLEET_SLICE,
     &tg_resource_slice_type,
     NULL,
     "s2",
     {SLICE("s2", "a", "2", "2", "\"nodeName\":\"a\",\"devices\":[" DEVICE("z", "") "]"),
      SLICE("s2", "a", "2", "2",
            "\"nodeName\":\"a\",\"devices\":[" DEVICE(
                "x", ",\"taints\":[{\"key\":\"k\",\"effect\":\"NoExecute\"}]") "]"),
      SLICE("s2", "a", "1", "1", "\"nodeName\":\"c\",\"devices\":[" DEVICE("w", "") "]")}},
    {TG_FLEET_SLICE,
     &tg_resource_slice_type,
     NULL,
     "s3",
     {SLICE("s3", "wide", "1", "2",
            "\"allNodes\":true,\"devices\":[" DEVICE("n1", EATS) "," DEVICE("n2", EATS) "]"),
      SLICE("s3", "wide", "1", "2",
            "\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"rack\","
            "\"operator\":\"In\",\"values\":[\"1\"]}]}]},\"devices\":[" DEVICE("n1", EATS) "]"),
      SLICE("s3", "wide", "1", "2",
            "\"perDeviceNodeSelection\":true,\"devices\":[" DEVICE("n1",
                                                                   ",\"nodeName\":\"b\"") "]")}},
    {TG_FLEET_SLICE,
     &tg_resource_slice_type,
     NULL,
     "s4",
     {SLICE("s4", "wide", "1", "2",
            "\"allNodes\":true,\"sharedCounters\":[{\"name\":\"s\",\"counters\":{\"m\":{\"value\":"
            "\"4\"}}}]"),
      SLICE("s4", "wide", "1", "2",
            "\"nodeName\":\"c\",\"sharedCounters\":[{\"name\":\"s\",\"counters\":{\"m\":{\"value\":"
            "\"2\"}}}]"),
      "{" META("s4") "}"}},
#define RESULT(pool, device, more)                                                                 \
    "{\"request\":\"r\",\"driver\":\"d\",\"pool\":\"" pool "\",\"device\":\"" device "\"" more "}"
#define CLAIM(name, results)                                                                       \
    "{" NS_META(name) ",\"status\":{\"allocation\":{\"devices\":{\"results\":[" results "]}}}}"
    {TG_FLEET_CLAIM,
     &tg_resource_claim_type,
     "ns",
     "k1",
     {CLAIM("k1", RESULT("a", "x", "")),
      CLAIM("k1", RESULT("a", "x", "") "," RESULT("wide", "n1", "")),
      CLAIM("k1", RESULT("b", "x", ",\"adminAccess\":true"))}},
    {TG_FLEET_CLAIM,
     &tg_resource_claim_type,
     "ns",
     "k2",
     {CLAIM("k2", RESULT("a", "x", "")),
      CLAIM(
          "k2",
          RESULT("wide", "n1", ",\"shareID\":\"1\",\"consumedCapacity\":{\"m\":\"1\"}") "," RESULT(
              "wide", "n1", ",\"shareID\":\"2\"")),
      "{" NS_META("k2") "}"}},
    {TG_FLEET_CLAIM,
     &tg_resource_claim_type,
     "ns",
     "k3",
     {CLAIM("k3", RESULT("nowhere", "q", "")), CLAIM("k3", RESULT("a", "w", "")),
      CLAIM("k3", RESULT("a", "z", ""))}},
#define POD(name, node, cpu)                                                                       \
    "{" NS_META(name) ",\"spec\":{" node "\"containers\":[{\"name\":\"c\",\"resources\":{"         \
                      "\"requests\":{" cpu "}}}]}}"
    {TG_FLEET_POD,
     &tg_pod_type,
     "ns",
     "p1",
     {POD("p1", "\"nodeName\":\"a\",", "\"cpu\":\"1\""), POD("p1", "", "\"cpu\":\"1\""),
      POD("p1", "\"nodeName\":\"b\",", "\"cpu\":\"2\",\"memory\":\"1Gi\"")}},
    {TG_FLEET_POD,
     &tg_pod_type,
     "ns",
     "p2",
     {POD("p2", "\"nodeName\":\"a\",", "\"cpu\":\"9223372036854775807\""),
      POD("p2", "\"nodeName\":\"a\",", "\"cpu\":\"lots\""),
      "{" NS_META("p2") ",\"spec\":{\"nodeName\":\"a\"},\"status\":{\"phase\":\"Failed\"}}"}},
    {TG_FLEET_POD,
     &tg_pod_type,
     "ns",
     "p3",
     {POD("p3", "\"nodeName\":\"ghost\",", "\"cpu\":\"1\""),
      "{" NS_META("p3") ",\"spec\":{\"containers\":[]},\"status\":{\"nominatedNodeName\":\"b\"}}",
      POD("p3", "\"nodeName\":\"a\",", "\"cpu\":\"9223372036854775807\"")}},
    {TG_FLEET_CLASS,
     &tg_device_class_type,
     NULL,
     "gpu",
     {"{" META("gpu") "}",
      "{\"metadata\":{\"name\":\"gpu\",\"labels\":{\"tangram.dev/controller\":\"default\"}},"
      "\"spec\":{\"selectors\":[" GUARD_JSON "]}}",
      "{\"metadata\":{\"name\":\"gpu\",\"labels\":{\"tangram.dev/controller\":\"default\"}},"
      "\"spec\":{\"selectors\":[" GUARD_JSON ",{\"cel\":{\"expression\":\"1 +\"}}]}}"}},
#define RULE(selector)                                                                             \
    "{" META("r") ",\"spec\":{\"deviceSelector\":{" selector "},\"taint\":{\"key\":\"k\","         \
                  "\"effect\":\"NoSchedule\"}}}"
    {TG_FLEET_TAINT_RULE,
     &tg_device_taint_rule_type,
     NULL,
     "r",
     {RULE(""), RULE("\"pool\":\"a\""), RULE("\"device\":\"x\"")}},
    {TG_FLEET_VOLUME,
     &tg_persistent_volume_type,
     NULL,
     "v",
     {"{" META("v") "}", "{" META("v") ",\"spec\":{}}",
      "{" META("v") ",\"spec\":{\"nodeAffinity\":{\"required\":{}}}}"}},
    {TG_FLEET_VOLUME_CLAIM,
     &tg_persistent_volume_claim_type,
     "ns",
     "v",
     {"{" NS_META("v") "}", "{" NS_META("v") ",\"spec\":{\"volumeName\":\"v\"}}",
      "{" NS_META("v") ",\"status\":{\"phase\":\"Lost\"}}"}},
    {TG_FLEET_STORAGE_CLASS,
     &tg_storage_class_type,
     NULL,
     "v",
     {"{" META("v") "}", "{" META("v") ",\"provisioner\":\"p\"}",
      "{" META("v") ",\"volumeBindingMode\":\"Immediate\"}"}},
};
#define SUBJECTS (sizeof(subjects) / sizeof(subjects[0]))

static const void *objects[SUBJECTS][VERSIONS];
static const struct tg_pod *assumable[3];

static void read_subjects(struct tg_arena *arena)
{
    for (size_t i = 0; i < SUBJECTS; i++) {
        for (size_t v = 1; v < VERSIONS; v++)
            objects[i][v] = decode(arena, subjects[i].type, subjects[i].json[v - 1]);
    }
    assumable[0] = decode(arena, &tg_pod_type, POD("p1", "", "\"cpu\":\"1\""));
    assumable[1] = decode(arena, &tg_pod_type, POD("new", "", "\"cpu\":\"3\",\"x.com/y\":\"1\""));
    assumable[2] = decode(arena, &tg_pod_type, POD("p3", "", "\"cpu\":\"2\""));
}

static void tell(struct tg_fleet *fleet, size_t subject, size_t version)
{
    const struct subject *s = &subjects[subject];

    if (version == 0)
        tg_fleet_drop(fleet, s->kind, s->namespace_, s->name);
    else
        tg_fleet_put(fleet, s->kind, objects[subject][version]);
}

static void assume(struct tg_fleet *fleet, uint64_t *random)
{
    static const struct tg_string_pair takes[] = {{"m", "1"}};
    static const char *const nodes[] = {"a", "b", "ghost"};
    static const struct tg_fleet_busy busy[] = {
        {.driver = "d", .pool = "a", .device = "x", .holder = "gang ns/g"},
        {.driver = "d",
         .pool = "wide",
         .device = "n1",
         .share = "1",
         .consumed = takes,
         .n_consumed = 1},
        {.driver = "d", .pool = "new", .device = "u", .holder = "pod ns/p"},
        {.pool = "new", .device = "u"},
    };
    const struct tg_fleet_assumed assumed = {.pod = assumable[below(random, 3)],
                                             .node = nodes[below(random, 3)]};

    tg_fleet_assume(fleet, &busy[below(random, 4)], 1, &assumed, below(random, 2));
}

/* One event, settling and assuming in between. */
static void disturb(struct tg_fleet *fleet, uint64_t *random)
{
    size_t what = below(random, 8);

    if (what == 0)
        tg_fleet_settle(fleet);
    else if (what == 1)
        assume(fleet, random);
    else if (what == 2)
        tg_fleet_undo(fleet, below(random, tg_fleet_mark(fleet) + 1));
}

static void any_order_of_events_makes_the_same_fleet(void **state)
{
    struct tg_arena *arena = tg_arena_new((size_t)16 << 20);

    (void)state;
    read_subjects(arena);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct tg_fleet *once = tg_fleet_open("default"), *slowly = tg_fleet_open("default");
        size_t now[SUBJECTS] = {0}, start = 0;
        uint64_t random = seed * 7919, expected;

        for (size_t step = 0; step < STEPS; step++) {
            size_t i = below(&random, SUBJECTS);

            now[i] = below(&random, VERSIONS);
            tell(slowly, i, now[i]);
            disturb(slowly, &random);
        }
        start = below(&random, SUBJECTS);
        for (size_t i = 0; i < SUBJECTS; i++)
            tell(once, (start + i) % SUBJECTS, now[(start + i) % SUBJECTS]);
        expected = tg_fleet_hash(once);
        tg_fleet_undo(slowly, 0);
        if (tg_fleet_hash(slowly) != expected)
            fail_msg("seed %lu", (unsigned long)seed);
        for (size_t k = 0; k < 8; k++)
            assume(slowly, &random);
        tg_fleet_undo(slowly, 0);
        assert_true(tg_fleet_hash(slowly) == expected);
        /* What is told again changes nothing. */
        for (size_t i = 0; i < SUBJECTS; i++)
            tell(slowly, i, now[i]);
        assert_true(tg_fleet_hash(slowly) == expected);
        /* And when everything is gone nothing is left. */
        for (size_t i = 0; i < SUBJECTS; i++)
            tell(slowly, i, 0);
        tg_fleet_close(once);
        once = tg_fleet_open("default");
        assert_true(tg_fleet_hash(slowly) == tg_fleet_hash(once));
        tg_fleet_close(once);
        tg_fleet_close(slowly);
    }
    tg_arena_free(arena);
}

static void what_differs_is_told_apart(void **state)
{
    struct tg_arena *arena = tg_arena_new((size_t)16 << 20);

    (void)state;
    read_subjects(arena);
    for (size_t i = 0; i < SUBJECTS; i++) {
        struct tg_fleet *fleet = tg_fleet_open("default");
        uint64_t seen[VERSIONS];

        for (size_t k = 0; k < SUBJECTS; k++)
            tell(fleet, k, 1);
        for (size_t v = 0; v < VERSIONS; v++) {
            tell(fleet, i, v);
            seen[v] = tg_fleet_hash(fleet);
        }
        assert_true(seen[0] != seen[1]);
        assert_true(seen[1] != seen[3]);
        tg_fleet_close(fleet);
    }
    tg_arena_free(arena);
}

static void a_hold_lasts_until_its_owner_says_otherwise(void **state)
{
    static const struct tg_fleet_busy busy[] = {
        {.driver = "d", .pool = "a", .device = "x", .holder = "gang ns/g (member lost)"},
        {.driver = "d", .pool = "a", .device = "y", .holder = "gang ns/g (member lost)"},
    };
    struct tg_arena *arena = tg_arena_new((size_t)16 << 20);
    struct tg_fleet *fleet = tg_fleet_open("default");
    uint64_t before;

    (void)state;
    read_subjects(arena);
    for (size_t i = 0; i < SUBJECTS; i++)
        tell(fleet, i, 1);
    tg_fleet_drop(fleet, TG_FLEET_CLAIM, "ns", "k1");
    tg_fleet_drop(fleet, TG_FLEET_CLAIM, "ns", "k2");
    before = tg_fleet_hash(fleet);
    tg_fleet_hold(fleet, "ns/g", busy, 2);
    assert_string_equal(tg_fleet_device_holder(fleet, "d", "a", "x"), "gang ns/g (member lost)");
    assert_int_equal(tg_fleet_mark(fleet), 0);
    tg_fleet_undo(fleet, 0);
    assert_non_null(tg_fleet_device_holder(fleet, "d", "a", "y"));
    tg_fleet_hold(fleet, "ns/g", busy, 1);
    assert_null(tg_fleet_device_holder(fleet, "d", "a", "y"));
    /* An allocation is named before it. */
    tell(fleet, 7, 1);
    assert_string_equal(tg_fleet_device_holder(fleet, "d", "a", "x"), "claim ns/k1");
    tell(fleet, 7, 0);
    tg_fleet_hold(fleet, "ns/g", NULL, 0);
    assert_true(tg_fleet_hash(fleet) == before);
    tg_fleet_close(fleet);
    tg_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order_of_events_makes_the_same_fleet),
        cmocka_unit_test(what_differs_is_told_apart),
        cmocka_unit_test(a_hold_lasts_until_its_owner_says_otherwise),
    };

    return cmocka_run_group_tests_name("events_property", tests, NULL, NULL);
}
