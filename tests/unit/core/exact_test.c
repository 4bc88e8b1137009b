/* SPDX-License-Identifier: Apache-2.0 */
/* Placement of claims that only the exact search can serve, through tg_place. */
#include "api/runtime/base/str.h"
#include "controller/core/gang/exact.h"
#include "tests/unit/core/world.h"

#define NUMA(value) "\"numa\":{\"int\":" value "}"
#define TWO_OF_ONE_NUMA                                                                            \
    "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\",\"count\":2}}],"       \
    "\"constraints\":[{\"matchAttribute\":\"" GPU_DRIVER "/numa\"}]"
#define FOUR_OR_TWO                                                                                \
    "\"requests\":[{\"name\":\"r\",\"firstAvailable\":[{\"name\":\"four\",\"deviceClassName\":"    \
    "\"gpu\",\"count\":4},{\"name\":\"two\",\"deviceClassName\":\"gpu\",\"count\":2}]}]"
#define EVERYTHING                                                                                 \
    "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\",\"allocationMode\":"   \
    "\"All\"}}]"

struct setting {
    struct world w;
    struct tg_piece pieces[4];
    struct tg_place_request request;
    struct tg_placement placement;
    struct tg_no_place why;
    struct tg_error err;
};

static void begin(struct setting *s)
{
    memset(s, 0, sizeof(*s));
    world_init(&s->w);
    add_class(&s->w, "gpu", "");
    s->request = (struct tg_place_request){.name = "g", .pieces = s->pieces};
}

/* A node of four devices, two of each numa node. */
static void add_numa_node(struct setting *s, const char *name)
{
    char json[2048];
    size_t at = 0;

    add_node(&s->w, name, "", "");
    at += (size_t)snprintf(json, sizeof(json),
                           "{\"metadata\":{\"name\":\"s-%s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                           "\",\"nodeName\":\"%s\",\"pool\":{\"name\":\"%s\",\"generation\":1,"
                           "\"resourceSliceCount\":1},\"devices\":[",
                           name, name, name);
    for (int i = 0; i < 4; i++)
        at += (size_t)snprintf(json + at, sizeof(json) - at,
                               "%s{\"name\":\"gpu-%d\",\"attributes\":{" NUMA("%d") "}}",
                               i == 0 ? "" : ",", i, i % 2);
    snprintf(json + at, sizeof(json) - at, "]}}");
    add_slice(&s->w, json);
}

static void add_member(struct setting *s, const char *name, const char *devices)
{
    s->pieces[s->request.n_pieces++] =
        new_piece(&s->w, new_pod(&s->w, name, "1", ""), new_claim(&s->w, name, devices));
}

static int place(struct setting *s)
{
    return tg_place(world_fleet(&s->w), &s->request, s->w.arena, &s->placement, &s->why, &s->err);
}

static void must_place(struct setting *s)
{
    if (place(s) < 0)
        fail_msg("not placed: %s", s->err.message);
}

static void expect(const struct setting *s, size_t piece, const char *node, const char *request,
                   const char *devices)
{
    const struct tg_placed_piece *p = &s->placement.pieces[piece];
    char got[128] = "";

    assert_string_equal(p->node, node);
    for (size_t i = 0; i < p->n_devices; i++) {
        assert_string_equal(p->devices[i].request, request);
        snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s", i == 0 ? "" : " ",
                 p->devices[i].device);
    }
    assert_string_equal(got, devices);
}

static void constraints_are_kept_by_all_members_on_a_node(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    add_numa_node(&s, "n");
    add_member(&s, "a", TWO_OF_ONE_NUMA);
    add_member(&s, "b", TWO_OF_ONE_NUMA);
    must_place(&s);
    expect(&s, 0, "n", "r", "gpu-0 gpu-2");
    expect(&s, 1, "n", "r", "gpu-1 gpu-3");
    world_done(&s.w);
}

static void a_node_where_no_two_belong_together_is_left(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    add_numa_node(&s, "m");
    add_numa_node(&s, "n");
    add_holder(&s.w, "h", "m", "gpu-0");
    add_holder(&s.w, "i", "m", "gpu-1");
    add_member(&s, "a", TWO_OF_ONE_NUMA);
    must_place(&s);
    expect(&s, 0, "n", "r", "gpu-0 gpu-2");
    world_done(&s.w);
}

static void what_does_not_belong_together_is_said(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    add_numa_node(&s, "m");
    add_holder(&s.w, "h", "m", "gpu-0");
    add_holder(&s.w, "i", "m", "gpu-1");
    add_member(&s, "a", TWO_OF_ONE_NUMA);
    assert_int_equal(place(&s), -TG_UNAVAILABLE);
    assert_string_equal(s.why.reason, "ConstraintsUnmet");
    assert_non_null(strstr(s.why.text, "node m has 2 free, but"));
    world_done(&s.w);
}

static void the_first_alternative_that_fits_is_taken(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    add_numa_node(&s, "m");
    add_member(&s, "a", FOUR_OR_TWO);
    must_place(&s);
    expect(&s, 0, "m", "r/four", "gpu-0 gpu-1 gpu-2 gpu-3");
    add_member(&s, "b", FOUR_OR_TWO);
    must_place(&s);
    expect(&s, 0, "m", "r/two", "gpu-0 gpu-1");
    expect(&s, 1, "m", "r/two", "gpu-2 gpu-3");
    world_done(&s.w);
}

static void all_of_a_node_is_all_or_another_node(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    add_numa_node(&s, "m");
    add_numa_node(&s, "n");
    add_holder(&s.w, "h", "m", "gpu-3");
    add_member(&s, "a", EVERYTHING);
    must_place(&s);
    expect(&s, 0, "n", "r", "gpu-0 gpu-1 gpu-2 gpu-3");
    add_member(&s, "b", EVERYTHING);
    assert_int_equal(place(&s), -TG_UNAVAILABLE);
    world_done(&s.w);
}

/* As the node alone sees it, the pool is whole. */
static void all_of_a_pool_that_is_broken_elsewhere_is_not_there(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    add_numa_node(&s, "n");
    add_node(&s.w, "m", "", "");
    add_slice(&s.w, "{\"metadata\":{\"name\":\"own\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                    "\",\"nodeName\":\"n\",\"pool\":{\"name\":\"p\",\"generation\":1,"
                    "\"resourceSliceCount\":1},\"devices\":[{\"name\":\"d\"}]}}");
    add_member(&s, "a", EVERYTHING);
    must_place(&s);
    assert_int_equal(s.placement.pieces[0].n_devices, 5);
    add_slice(&s.w, "{\"metadata\":{\"name\":\"more\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                    "\",\"nodeName\":\"m\",\"pool\":{\"name\":\"p\",\"generation\":1,"
                    "\"resourceSliceCount\":1},\"devices\":[{\"name\":\"e\"}]}}");
    assert_int_equal(place(&s), -TG_UNAVAILABLE);
    world_done(&s.w);
}

static void plain_members_make_room_for_exact_ones(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    add_numa_node(&s, "n");
    add_member(&s, "a", TWO_OF_ONE_NUMA);
    s.pieces[s.request.n_pieces++] =
        new_piece(&s.w, new_pod(&s.w, "p", "1", ""), new_gpu_claim(&s.w, "p", 2));
    must_place(&s);
    expect(&s, 0, "n", "r", "gpu-0 gpu-2");
    expect(&s, 1, "n", "r", "gpu-1 gpu-3");
    world_done(&s.w);
}

static void what_publishes_the_guard_stays_out(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    add_node(&s.w, "n", "", "");
    add_slice(&s.w, "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                    "\",\"nodeName\":\"n\",\"pool\":{\"name\":\"n\",\"generation\":1,"
                    "\"resourceSliceCount\":1},\"devices\":[{\"name\":\"a\",\"attributes\":{"
                    "\"tangram.dev/granted\":{\"bool\":true}}},{\"name\":\"b\"}]}}");
    add_member(&s, "a",
               "\"requests\":[{\"name\":\"r\",\"firstAvailable\":[{\"name\":\"one\","
               "\"deviceClassName\":\"gpu\"}]}]");
    must_place(&s);
    expect(&s, 0, "n", "r/one", "b");
    add_member(&s, "b",
               "\"requests\":[{\"name\":\"r\",\"firstAvailable\":[{\"name\":\"one\","
               "\"deviceClassName\":\"gpu\"}]}]");
    assert_int_equal(place(&s), -TG_UNAVAILABLE);
    world_done(&s.w);
}

/* --- partitions: a card of four memory slices, as itself, as two halves, as four quarters --- */

#define PROFILE(name)                                                                              \
    "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\",\"selectors\":[{"      \
    "\"cel\":{\"expression\":\"device.attributes[\\\"" GPU_DRIVER "\\\"].profile == \\\"" name     \
    "\\\"\"}}]}}]"

/* What the memory slices from `from` to before `to` are as counters, or as a derived window. */
static size_t add_partition(char *json, size_t size, const char *name, const char *profile,
                            int card, int from, int to, bool derived)
{
    size_t at = (size_t)snprintf(json, size,
                                 ",{\"name\":\"%s\",\"attributes\":{\"profile\":{\"string\":"
                                 "\"%s\"}",
                                 name, profile);

    if (derived && strcmp(profile, "card") == 0)
        at += (size_t)snprintf(json + at, size - at, ",\"uuid\":{\"string\":\"card-%d\"}}}", card);
    else if (derived)
        at += (size_t)snprintf(json + at, size - at,
                               ",\"derived\":{\"bool\":true},\"parentUUID\":{\"string\":"
                               "\"card-%d\"},\"memorySliceStart\":{\"int\":%d},"
                               "\"memorySliceSize\":{\"int\":%d}}}",
                               card, from, to - from);
    else
        at += (size_t)snprintf(json + at, size - at,
                               "},\"consumesCounters\":[{\"counterSet\":\"card-%d\","
                               "\"counters\":{",
                               card);
    for (int i = from; !derived && i < to; i++)
        at += (size_t)snprintf(json + at, size - at, "%s\"m%d\":{\"value\":\"1\"}%s",
                               i == from ? "" : ",", i, i + 1 == to ? "}}]}" : "");
    return at;
}

/* The node with that many cards, with counters of the server or with such as we make up. */
static void add_mig_node(struct setting *s, const char *node, int cards, bool derived)
{
    char json[16384], name[48];
    size_t at = 0;

    add_node(&s->w, node, "", "");
    at += (size_t)snprintf(json, sizeof(json),
                           "{\"metadata\":{\"name\":\"d-%s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                           "\",\"nodeName\":\"%s\",\"pool\":{\"name\":\"%s\",\"generation\":1,"
                           "\"resourceSliceCount\":%d},\"devices\":[{\"name\":\"a-nic\","
                           "\"attributes\":{\"profile\":{\"string\":\"nic\"}}}",
                           node, node, node, derived ? 1 : 2);
    for (int card = 0; card < cards; card++) {
        for (int n = 4; n >= 1; n /= 2) {
            for (int from = 0; from < 4; from += n) {
                snprintf(name, sizeof(name), "g%d-%d-%d", card, n, from);
                at += add_partition(json + at, sizeof(json) - at, name,
                                    n == 4   ? "card"
                                    : n == 2 ? "half"
                                             : "quarter",
                                    card, from, from + n, derived);
            }
        }
    }
    snprintf(json + at, sizeof(json) - at, "]}}");
    add_slice(&s->w, json);
    if (derived)
        return;
    at = (size_t)snprintf(json, sizeof(json),
                          "{\"metadata\":{\"name\":\"c-%s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                          "\",\"nodeName\":\"%s\",\"pool\":{\"name\":\"%s\",\"generation\":1,"
                          "\"resourceSliceCount\":2},\"sharedCounters\":[",
                          node, node, node);
    for (int card = 0; card < cards; card++)
        at += (size_t)snprintf(json + at, sizeof(json) - at,
                               "%s{\"name\":\"card-%d\",\"counters\":{\"m0\":{\"value\":\"1\"},"
                               "\"m1\":{\"value\":\"1\"},\"m2\":{\"value\":\"1\"},\"m3\":{"
                               "\"value\":\"1\"}}}",
                               card == 0 ? "" : ",", card);
    snprintf(json + at, sizeof(json) - at, "]}}");
    add_slice(&s->w, json);
}

static void partitions_of_a_card_never_overlap(void **state)
{
    (void)state;
    for (int derived = 0; derived < 2; derived++) {
        struct setting s;

        begin(&s);
        add_mig_node(&s, "n", 1, derived == 1);
        add_member(&s, "a", PROFILE("half"));
        add_member(&s, "b", PROFILE("quarter"));
        add_member(&s, "c", PROFILE("quarter"));
        must_place(&s);
        expect(&s, 0, "n", "r", "g0-2-0");
        expect(&s, 1, "n", "r", "g0-1-2");
        expect(&s, 2, "n", "r", "g0-1-3");
        add_member(&s, "d", PROFILE("quarter"));
        assert_int_equal(place(&s), -TG_UNAVAILABLE);
        world_done(&s.w);
    }
}

static void what_is_held_of_a_card_leaves_the_rest(void **state)
{
    (void)state;
    for (int derived = 0; derived < 2; derived++) {
        struct setting s;

        begin(&s);
        add_mig_node(&s, "n", 1, derived == 1);
        add_holder(&s.w, "h", "n", "g0-1-1");
        add_member(&s, "a", PROFILE("half"));
        must_place(&s);
        expect(&s, 0, "n", "r", "g0-2-2");
        s.request.n_pieces = 0;
        add_member(&s, "b", PROFILE("card"));
        assert_int_equal(place(&s), -TG_UNAVAILABLE);
        assert_string_equal(s.why.reason, "InsufficientDevices");
        assert_non_null(strstr(s.why.text, "1 overlaps what others have of the same card"));
        assert_non_null(strstr(s.why.text, "held by claim ns/h"));
        world_done(&s.w);
    }
}

static void a_plain_member_on_a_partitioned_node_keeps_what_the_others_need(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    add_mig_node(&s, "n", 1, false);
    add_member(&s, "a", PROFILE("nic"));
    add_member(&s, "b", PROFILE("card"));
    must_place(&s);
    expect(&s, 0, "n", "r", "a-nic");
    expect(&s, 1, "n", "r", "g0-4-0");
    world_done(&s.w);
}

static void a_gang_of_partitions_fills_nodes_as_far_as_counters_go(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    add_mig_node(&s, "m", 1, false);
    add_mig_node(&s, "n", 1, false);
    add_holder(&s.w, "h", "m", "g0-4-0");
    add_member(&s, "a", PROFILE("half"));
    add_member(&s, "b", PROFILE("half"));
    must_place(&s);
    expect(&s, 0, "n", "r", "g0-2-0");
    expect(&s, 1, "n", "r", "g0-2-2");
    add_member(&s, "c", PROFILE("half"));
    assert_int_equal(place(&s), -TG_UNAVAILABLE);
    assert_int_equal(s.why.members_short, 1);
    world_done(&s.w);
}

/* --- shares --- */

#define SHARE(amount)                                                                              \
    "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\",\"capacity\":{"        \
    "\"requests\":{\"memory\":\"" amount "\"}}}}]"

static void add_shared_node(struct setting *s, const char *node)
{
    char json[1024];

    add_node(&s->w, node, "", "");
    snprintf(json, sizeof(json),
             "{\"metadata\":{\"name\":\"s-%s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
             "\",\"nodeName\":\"%s\",\"pool\":{\"name\":\"%s\",\"generation\":1,"
             "\"resourceSliceCount\":1},\"devices\":[{\"name\":\"d\",\"allowMultipleAllocations\":"
             "true,\"capacity\":{\"memory\":{\"value\":\"10Gi\",\"requestPolicy\":{\"default\":"
             "\"1Gi\",\"validRange\":{\"min\":\"1Gi\",\"step\":\"1Gi\"}}}}}]}}",
             node, node, node);
    add_slice(&s->w, json);
}

static void shares_of_a_device_take_no_more_than_there_is(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    add_shared_node(&s, "n");
    s.w.busy[s.w.n_busy++] =
        (struct tg_fleet_busy){.driver = GPU_DRIVER,
                               .pool = "n",
                               .device = "d",
                               .holder = "claim ns/other",
                               .share = "one",
                               .consumed = &(struct tg_string_pair){"memory", "2Gi"},
                               .n_consumed = 1};
    add_member(&s, "a", SHARE("3Gi"));
    add_member(&s, "b", SHARE("4200Mi"));
    must_place(&s);
    expect(&s, 0, "n", "r", "d");
    expect(&s, 1, "n", "r", "d");
    assert_string_equal(s.placement.pieces[0].devices[0].consumed, "{\"memory\":\"3Gi\"}");
    assert_string_equal(s.placement.pieces[1].devices[0].consumed, "{\"memory\":\"5Gi\"}");
    add_member(&s, "c", SHARE("1Gi"));
    assert_int_equal(place(&s), -TG_UNAVAILABLE);
    assert_string_equal(s.why.reason, "InsufficientDevices");
    world_done(&s.w);
}

static void more_members_than_devices_share_them(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    add_shared_node(&s, "m");
    add_shared_node(&s, "n");
    for (int i = 0; i < 4; i++)
        add_member(&s, tg_arena_printf(s.w.arena, "p%d", i), SHARE("5Gi"));
    must_place(&s);
    for (size_t i = 0; i < 4; i++)
        expect(&s, i, i < 2 ? "m" : "n", "r", "d");
    world_done(&s.w);
}

/* --- admin access, binding conditions, several nodes --- */

#define WATCH                                                                                      \
    "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\",\"adminAccess\":"      \
    "true,\"count\":2}}]"

static void admin_access_is_to_devices_whoever_has_them(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    add_node(&s.w, "n", "", "");
    add_gpus(&s.w, "n", 2, "");
    add_holder(&s.w, "h", "n", "gpu-0");
    add_member(&s, "a", WATCH);
    must_place(&s);
    assert_true(s.placement.pieces[0].devices[0].admin);
    s.pieces[s.request.n_pieces++] =
        new_piece(&s.w, new_pod(&s.w, "p", "1", ""), new_gpu_claim(&s.w, "p", 1));
    must_place(&s);
    expect(&s, 0, "n", "r", "gpu-0 gpu-1");
    assert_true(s.placement.pieces[0].devices[0].admin);
    assert_string_equal(s.placement.pieces[1].devices[0].device, "gpu-1");
    assert_false(s.placement.pieces[1].devices[0].admin);
    world_done(&s.w);
}

static void binding_conditions_come_with_the_device(void **state)
{
    struct setting s;
    const struct tg_device *d;

    (void)state;
    begin(&s);
    add_node(&s.w, "n", "", "");
    add_slice(&s.w, "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                    "\",\"nodeName\":\"n\",\"pool\":{\"name\":\"n\",\"generation\":1,"
                    "\"resourceSliceCount\":1},\"devices\":[{\"name\":\"a\","
                    "\"bindingConditions\":[\"x/up\"],\"bindingFailureConditions\":[\"x/no\"]},{"
                    "\"name\":\"b\"}]}}");
    s.pieces[s.request.n_pieces++] =
        new_piece(&s.w, new_pod(&s.w, "p", "1", ""), new_gpu_claim(&s.w, "p", 2));
    must_place(&s);
    d = s.placement.pieces[0].devices[0].bindings;
    assert_non_null(d);
    assert_string_equal(d->binding_conditions.items[0], "x/up");
    assert_string_equal(d->binding_failure_conditions.items[0], "x/no");
    assert_null(s.placement.pieces[0].devices[1].bindings);
    world_done(&s.w);
}

#define ONE_GPU "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\"}}]"

static void a_device_that_several_nodes_reach_is_for_one_pod_alone(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    add_node(&s.w, "m", "", "");
    add_node(&s.w, "n", "\"rack\":\"r\"", "");
    add_slice(&s.w, "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                    "\",\"perDeviceNodeSelection\":true,\"pool\":{\"name\":\"net\",\"generation\":"
                    "1,\"resourceSliceCount\":1},\"devices\":[{\"name\":\"d\",\"nodeSelector\":{"
                    "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"rack\","
                    "\"operator\":\"Exists\"}]}]}},{\"name\":\"e\",\"nodeName\":\"gone\"}]}}");
    add_member(&s, "a", ONE_GPU);
    must_place(&s);
    expect(&s, 0, "n", "r", "d");
    assert_string_equal(s.placement.pieces[0].devices[0].pool, "net");
    /* What one member takes another node's search would not see. */
    add_member(&s, "b", ONE_GPU);
    assert_int_equal(place(&s), -TG_UNAVAILABLE);
    world_done(&s.w);
}

static void plain_claims_do_without(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    assert_false(tg_exact_needed(new_gpu_claim(&w, "c", 2)));
    assert_false(tg_exact_needed(new_claim(&w, "c", "")));
    assert_true(tg_exact_needed(new_claim(&w, "c", TWO_OF_ONE_NUMA)));
    assert_true(tg_exact_needed(new_claim(&w, "c", FOUR_OR_TWO)));
    assert_true(tg_exact_needed(new_claim(&w, "c", EVERYTHING)));
    assert_true(tg_exact_needed(
        new_claim(&w, "c", "\"requests\":[{\"name\":\"r\",\"exactly\":{\"capacity\":{}}}]")));
    world_done(&w);
}

/* A pool of its own on the node, of that many slices, of which this is one. */
static void add_pool(struct setting *s, const char *node, const char *slice, int slices)
{
    char json[512];

    snprintf(json, sizeof(json),
             "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
             "\",\"nodeName\":\"%s\",\"pool\":{\"name\":\"other\",\"generation\":1,"
             "\"resourceSliceCount\":%d},\"devices\":[{\"name\":\"d\"}]}}",
             slice, node, slices);
    add_slice(&s->w, json);
}

/* On node m, which is tried first, the claim cannot be served for a reason that the node may get
 * rid of, or another node does not have: n is taken. */
static void what_is_wrong_with_one_node_leaves_the_others(void **state)
{
    static const char *const numa[] = {NUMA("0"), "", "", ""};

    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        const struct tg_policies spread = {.fleet = "spread"};
        struct setting s;

        begin(&s);
        add_node(&s.w, "m", "", "");
        add_gpus(&s.w, "m", kind == 3 ? 33 : 1, numa[kind]);
        add_node(&s.w, "n", "", "");
        add_gpus(&s.w, "n", 3, NUMA("0"));
        if (kind == 1)
            add_pool(&s, "m", "incomplete", 2);
        if (kind == 2) {
            add_pool(&s, "m", "one", 2);
            add_pool(&s, "m", "same", 2);
        }
        if (kind == 0)
            add_pool(&s, "m", "without", 1);
        s.request.policies = kind == 3 ? &spread : NULL;
        add_member(&s, "a",
                   kind == 0 ? EVERYTHING ",\"constraints\":[{\"matchAttribute\":\"" GPU_DRIVER
                                          "/numa\"}]"
                             : EVERYTHING);
        must_place(&s);
        expect(&s, 0, "n", "r", "gpu-0 gpu-1 gpu-2");
        world_done(&s.w);
    }
}

/* Whoever gets a share of a device is told so, even if it has no capacity that could be counted. */
static void a_share_of_nothing_is_a_share(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    add_node(&s.w, "n", "", "");
    add_slice(&s.w, "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                    "\",\"nodeName\":\"n\",\"pool\":{\"name\":\"n\",\"generation\":1,"
                    "\"resourceSliceCount\":1},\"devices\":[{\"name\":\"d\","
                    "\"allowMultipleAllocations\":true}]}}");
    for (int i = 0; i < 2; i++) {
        add_member(&s, i == 0 ? "a" : "b",
                   "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\"}}]");
        must_place(&s);
        expect(&s, 0, "n", "r", "d");
        assert_string_equal(s.placement.pieces[0].devices[0].consumed, "{}");
    }
    world_done(&s.w);
}

/* A device of node m and one of node n, of one pool, take the same counter, of which there is one:
 * no gang gets both, since each node is searched for itself. */
static void devices_that_share_a_counter_across_nodes_are_for_one_pod_alone(void **state)
{
    static const char one[] =
        "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\"}}]";
    struct setting s;
    char json[1024];

    (void)state;
    begin(&s);
    for (const char *name = "mn"; *name != '\0'; name++) {
        char node[2] = {*name, '\0'};

        add_node(&s.w, node, "", "");
        snprintf(json, sizeof(json),
                 "{\"metadata\":{\"name\":\"s-%s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                 "\",\"nodeName\":\"%s\",\"pool\":{\"name\":\"p\",\"generation\":1,"
                 "\"resourceSliceCount\":3},\"devices\":[{\"name\":\"d-%s\","
                 "\"consumesCounters\":[{\"counterSet\":\"c\",\"counters\":{\"x\":{\"value\":"
                 "\"1\"}}}]}]}}",
                 node, node, node);
        add_slice(&s.w, json);
    }
    add_slice(&s.w, "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                    "\",\"allNodes\":true,\"pool\":{\"name\":\"p\",\"generation\":1,"
                    "\"resourceSliceCount\":3},\"sharedCounters\":[{\"name\":\"c\",\"counters\":{"
                    "\"x\":{\"value\":\"1\"}}}]}}");
    add_member(&s, "a", one);
    must_place(&s);
    expect(&s, 0, "m", "r", "d-m");
    add_member(&s, "b", one);
    assert_int_equal(place(&s), -TG_UNAVAILABLE);
    world_done(&s.w);
}

/* Nine parts of a bit more than four on four devices of ten: the sum would fit, but no two devices
 * hold five. A proof takes long; the second decision does not take the first one's word for it. */
static void a_search_that_gave_up_is_no_answer(void **state)
{
    struct setting s;
    struct tg_fleet *fleet;
    char json[2048], claim[2048] = "\"requests\":[";
    size_t at = 0;

    (void)state;
    begin(&s);
    add_node(&s.w, "n", "", "");
    at += (size_t)snprintf(json, sizeof(json),
                           "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                           "\",\"nodeName\":\"n\",\"pool\":{\"name\":\"n\",\"generation\":1,"
                           "\"resourceSliceCount\":1},\"devices\":[");
    for (int i = 0; i < 4; i++)
        at += (size_t)snprintf(json + at, sizeof(json) - at,
                               "%s{\"name\":\"d%d\",\"allowMultipleAllocations\":true,"
                               "\"capacity\":{\"m\":{\"value\":\"%d\"}}}",
                               i == 0 ? "" : ",", i, 10000 + i);
    snprintf(json + at, sizeof(json) - at, "]}}");
    add_slice(&s.w, json);
    for (int i = 0; i < 9; i++)
        snprintf(claim + strlen(claim), sizeof(claim) - strlen(claim),
                 "%s{\"name\":\"r%d\",\"exactly\":{\"deviceClassName\":\"gpu\",\"capacity\":{"
                 "\"requests\":{\"m\":\"%d\"}}}}",
                 i == 0 ? "" : ",", i, 4000 + i);
    snprintf(claim + strlen(claim), sizeof(claim) - strlen(claim), "]");
    add_member(&s, "a", claim);
    fleet = world_fleet(&s.w);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tg_place(fleet, &s.request, s.w.arena, &s.placement, &s.why, &s.err),
                         -TG_UNAVAILABLE);
        assert_string_equal(s.why.reason, "GaveUp");
    }
    world_done(&s.w);
}

/* Selectors mean what they mean in the release of the cluster: since 1.37 no list has less than
 * nothing. */
static void selectors_are_those_of_the_release(void **state)
{
    static const struct tg_selector_options old = {.minor = 36};
    struct setting s;
    struct tg_fleet *fleet;

    (void)state;
    begin(&s);
    add_numa_node(&s, "n");
    add_member(&s, "a",
               "\"requests\":[{\"name\":\"r\",\"firstAvailable\":[{\"name\":\"x\","
               "\"deviceClassName\":\"gpu\",\"selectors\":[{\"cel\":{\"expression\":"
               "\"lists.range(-1).size() == 0\"}}]}]}]");
    fleet = world_fleet(&s.w);
    assert_int_not_equal(tg_place(fleet, &s.request, s.w.arena, &s.placement, &s.why, &s.err), 0);
    tg_fleet_select_for(fleet, &old);
    tg_fleet_settle(fleet);
    assert_int_equal(tg_place(fleet, &s.request, s.w.arena, &s.placement, &s.why, &s.err), 0);
    expect(&s, 0, "n", "r/x", "gpu-0");
    world_done(&s.w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constraints_are_kept_by_all_members_on_a_node),
        cmocka_unit_test(a_node_where_no_two_belong_together_is_left),
        cmocka_unit_test(what_does_not_belong_together_is_said),
        cmocka_unit_test(the_first_alternative_that_fits_is_taken),
        cmocka_unit_test(all_of_a_node_is_all_or_another_node),
        cmocka_unit_test(all_of_a_pool_that_is_broken_elsewhere_is_not_there),
        cmocka_unit_test(plain_members_make_room_for_exact_ones),
        cmocka_unit_test(what_publishes_the_guard_stays_out),
        cmocka_unit_test(partitions_of_a_card_never_overlap),
        cmocka_unit_test(what_is_held_of_a_card_leaves_the_rest),
        cmocka_unit_test(a_plain_member_on_a_partitioned_node_keeps_what_the_others_need),
        cmocka_unit_test(a_gang_of_partitions_fills_nodes_as_far_as_counters_go),
        cmocka_unit_test(shares_of_a_device_take_no_more_than_there_is),
        cmocka_unit_test(more_members_than_devices_share_them),
        cmocka_unit_test(admin_access_is_to_devices_whoever_has_them),
        cmocka_unit_test(binding_conditions_come_with_the_device),
        cmocka_unit_test(what_is_wrong_with_one_node_leaves_the_others),
        cmocka_unit_test(a_share_of_nothing_is_a_share),
        cmocka_unit_test(selectors_are_those_of_the_release),
        cmocka_unit_test(a_search_that_gave_up_is_no_answer),
        cmocka_unit_test(devices_that_share_a_counter_across_nodes_are_for_one_pod_alone),
        cmocka_unit_test(a_device_that_several_nodes_reach_is_for_one_pod_alone),
        cmocka_unit_test(plain_claims_do_without),
    };

    return cmocka_run_group_tests_name("exact", tests, NULL, NULL);
}
