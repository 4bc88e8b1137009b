/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes are kept for what waits: random fleets. */
#include "controller/core/gang/drain.h"
#include "tests/unit/core/world.h"

enum { NODES = 12, CARDS = 4, FLEETS = 400 };

static const struct tg_level rack = {.name = "rack", .node_label = "rack", .rank = 0};

static uint64_t random_state;

static unsigned below(unsigned n)
{
    random_state = random_state * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(random_state >> 33) % n;
}

/* Racks of four; what is held is so by claims named after the device. */
static void begin(struct world *w)
{
    world_init(w);
    add_class(w, "gpu", "");
    for (unsigned i = 0; i < NODES; i++) {
        char node[8], labels[32], name[16], device[16];

        snprintf(node, sizeof(node), "n%02u", i);
        snprintf(labels, sizeof(labels), "\"rack\":\"r%u\"", i / 4);
        add_node(w, node, labels, i % 5 == 4 ? "\"unschedulable\":true" : "");
        add_gpus(w, node, CARDS, "");
        for (unsigned k = 0; k < CARDS; k++) {
            snprintf(name, sizeof(name), "%s-%u", node, k);
            snprintf(device, sizeof(device), "gpu-%u", k);
            if (below(3) > 0)
                add_holder(w, name, node, device);
        }
    }
}

static bool fits(struct world *w, struct tg_fleet *fleet, const struct tg_place_request *request,
                 struct tg_placement *ret)
{
    struct tg_no_place why = {.text = ""};
    struct tg_error err = TG_ERROR_INIT;

    return tg_place(fleet, request, w->arena, ret, &why, &err) == 0;
}

static struct tg_drain choose(struct world *w, struct tg_fleet *fleet,
                              const struct tg_place_request *request, const struct tg_drain *before)
{
    struct tg_drain ret;
    struct tg_error err = TG_ERROR_INIT;

    if (tg_drain_choose(fleet, request, before == NULL ? NULL : before->nodes,
                        before == NULL ? 0 : before->n, w->arena, &ret, &err) < 0)
        fail_msg("%s", err.message);
    return ret;
}

static bool is_kept(const struct tg_drain *drain, const char *node)
{
    for (size_t i = 0; i < drain->n; i++) {
        if (strcmp(drain->nodes[i], node) == 0)
            return true;
    }
    return false;
}

/* Whoever is on these nodes goes. */
static void empty(struct tg_fleet *fleet, const char *node)
{
    for (unsigned k = 0; k < CARDS; k++) {
        char name[16];

        snprintf(name, sizeof(name), "%s-%u", node, k);
        tg_fleet_drop(fleet, TG_FLEET_CLAIM, "ns", name);
    }
}

/* What is free on the other nodes is somebody else's. */
static void take_the_rest(struct world *w, struct tg_fleet *fleet, const struct tg_drain *drain)
{
    for (size_t i = 0; i < NODES; i++) {
        struct tg_fleet_busy *busy;
        size_t n = 0;

        if (is_kept(drain, fleet->nodes[i].name))
            continue;
        assert_int_equal(
            tg_drain_hold(fleet, fleet->nodes[i].name, "others", w->arena, &busy, &n, NULL), 0);
        tg_fleet_assume(fleet, busy, n, NULL, 0);
    }
}

static void assert_kept_nodes_do(struct world *w, struct tg_fleet *fleet,
                                 const struct tg_place_request *request,
                                 const struct tg_drain *drain)
{
    struct tg_placement placement;
    struct tg_drain again = choose(w, fleet, request, drain);

    assert_true(drain->missing > 0);
    assert_int_equal(again.n, drain->n);
    for (size_t i = 0; i < again.n; i++)
        assert_true(is_kept(drain, again.nodes[i]));
    for (size_t i = 0; i < drain->n; i++)
        empty(fleet, drain->nodes[i]);
    take_the_rest(w, fleet, drain);
    tg_fleet_settle(fleet);
    assert_true(fits(w, fleet, request, &placement));
    for (size_t i = 0; i < placement.n_pieces; i++)
        assert_true(is_kept(drain, placement.pieces[i].node));
}

static void play(unsigned seed, size_t *ret_kept, size_t *ret_hopeless)
{
    struct world w;
    struct tg_fleet *fleet;
    struct tg_place_request request = {.name = "gang ns/g"};
    struct tg_placement placement;
    struct tg_drain drain;

    random_state = seed;
    begin(&w);
    fleet = world_fleet(&w);
    request.n_pieces = 1 + below(5);
    request.pieces = new_gang(&w, request.n_pieces, 1 + below(4));
    request.pack_required = below(2) == 0 ? &rack : NULL;
    if (fits(&w, fleet, &request, &placement)) {
        world_done(&w);
        return;
    }
    drain = choose(&w, fleet, &request, NULL);
    if (drain.n > 0) {
        assert_kept_nodes_do(&w, fleet, &request, &drain);
        ++*ret_kept;
    } else {
        for (size_t i = 0; i < NODES; i++)
            empty(fleet, fleet->nodes[i].name);
        tg_fleet_settle(fleet);
        assert_false(fits(&w, fleet, &request, &placement));
        ++*ret_hopeless;
    }
    world_done(&w);
}

static void what_is_kept_is_enough_and_nothing_is_kept_in_vain(void **state)
{
    size_t kept = 0, hopeless = 0;

    (void)state;
    for (unsigned seed = 1; seed <= FLEETS; seed++)
        play(seed, &kept, &hopeless);
    assert_true(kept > FLEETS / 3);
    assert_true(hopeless > FLEETS / 50);
}

/* Of two racks the one that has to be waited for least; it stays that one even when another gets
 * ahead. */
static void a_rack_that_is_kept_stays_so(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    struct tg_place_request request = {.name = "gang ns/g", .pack_required = &rack};
    struct tg_drain first, second;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    for (unsigned i = 0; i < 2; i++) {
        char node[8], labels[32];

        snprintf(node, sizeof(node), "n%02u", i);
        snprintf(labels, sizeof(labels), "\"rack\":\"r%u\"", i);
        add_node(&w, node, labels, "");
        add_gpus(&w, node, CARDS, "");
    }
    add_holder(&w, "n00-0", "n00", "gpu-0");
    add_holder(&w, "n00-1", "n00", "gpu-1");
    add_holder(&w, "n01-0", "n01", "gpu-0");
    request.n_pieces = 1;
    request.pieces = new_gang(&w, 1, CARDS);
    fleet = world_fleet(&w);
    first = choose(&w, fleet, &request, NULL);
    assert_int_equal(first.n, 1);
    assert_string_equal(first.nodes[0], "n01");
    assert_int_equal(first.missing, 1);
    empty(fleet, "n00");
    tg_fleet_put(fleet, TG_FLEET_CLAIM, w.claims[0]);
    add_holder(&w, "n01-1", "n01", "gpu-1");
    tg_fleet_put(fleet, TG_FLEET_CLAIM, w.claims[3]);
    tg_fleet_settle(fleet);
    second = choose(&w, fleet, &request, &first);
    assert_string_equal(second.nodes[0], "n01");
    assert_int_equal(second.missing, 2);
    world_done(&w);
}

/* Nodes outside of any rack: what is kept stays so, even when more is free elsewhere now. */
static void a_node_that_is_kept_stays_so(void **state)
{
    static const char *names[] = {"n01"};
    const struct tg_drain before = {.nodes = names, .n = 1};
    struct world w;
    struct tg_fleet *fleet;
    struct tg_place_request request = {.name = "gang ns/g", .n_pieces = 1};
    struct tg_drain now;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    for (unsigned i = 0; i < 2; i++) {
        char node[8], name[16];

        snprintf(node, sizeof(node), "n%02u", i);
        snprintf(name, sizeof(name), "%s-0", node);
        add_node(&w, node, "\"a\":\"b\"", "");
        add_gpus(&w, node, CARDS, "");
        add_holder(&w, name, node, "gpu-0");
    }
    add_holder(&w, "n01-1", "n01", "gpu-1");
    request.pieces = new_gang(&w, 1, CARDS);
    fleet = world_fleet(&w);
    now = choose(&w, fleet, &request, NULL);
    assert_string_equal(now.nodes[0], "n00");
    now = choose(&w, fleet, &request, &before);
    assert_int_equal(now.n, 1);
    assert_string_equal(now.nodes[0], "n01");
    world_done(&w);
}

/* Members that need more of a node than its devices: as many nodes as they really take. */
static void nodes_are_kept_for_cpu_as_well(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    struct tg_place_request request = {.name = "gang ns/g", .n_pieces = 2};
    struct tg_piece pieces[2];
    struct tg_drain now;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    for (unsigned i = 0; i < 2; i++) {
        char node[8], name[16], device[8];

        snprintf(node, sizeof(node), "n%02u", i);
        add_node(&w, node, "\"a\":\"b\"", "");
        add_gpus(&w, node, CARDS, "");
        for (unsigned k = 0; k < CARDS; k++) {
            snprintf(name, sizeof(name), "%s-%u", node, k);
            snprintf(device, sizeof(device), "gpu-%u", k);
            add_holder(&w, name, node, device);
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        char name[8];

        snprintf(name, sizeof(name), "m-%u", i);
        pieces[i] = new_piece(&w, new_pod(&w, name, "5", ""), new_gpu_claim(&w, name, 1));
    }
    request.pieces = pieces;
    fleet = world_fleet(&w);
    now = choose(&w, fleet, &request, NULL);
    assert_int_equal(now.n, 2); /* a node has 8 cpu */
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_is_enough_and_nothing_is_kept_in_vain),
        cmocka_unit_test(a_rack_that_is_kept_stays_so),
        cmocka_unit_test(a_node_that_is_kept_stays_so),
        cmocka_unit_test(nodes_are_kept_for_cpu_as_well),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
