/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of an explanation, one by one, in fleets small enough to count by hand. */
#include "tests/unit/core/world.h"

#include "controller/core/explain/explain.h"

static struct tg_explanation explain(struct world *w, const struct tg_place_request *request)
{
    const struct tg_explain_input input = {.request = request};
    struct tg_explanation ret;
    struct tg_error err = TG_ERROR_INIT;
    struct tg_fleet *fleet = world_fleet(w);
    uint64_t before = tg_fleet_hash(fleet);

    if (tg_explain_request(fleet, &input, w->arena, &ret, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(before == tg_fleet_hash(fleet));
    return ret;
}

static struct tg_explanation explain_gang(struct world *w, size_t n, size_t gpus)
{
    return explain(w, &(struct tg_place_request){
                          .name = "gang ns/g", .pieces = new_gang(w, n, gpus), .n_pieces = n});
}

static void assert_funnel(const struct tg_explanation *e, const size_t *numbers)
{
    assert_int_equal(e->n_requests, 1);
    for (size_t s = 0; s < TG_FUNNEL_STAGES; s++) {
        if (e->requests[0].devices[s] != numbers[s])
            fail_msg("%s: %zu, not %zu", tg_funnel_stage_name((enum tg_funnel_stage)s),
                     e->requests[0].devices[s], numbers[s]);
    }
}

static void what_fits_has_no_reason(void **state)
{
    struct world w;
    struct tg_explanation e;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 2, "");
    e = explain_gang(&w, 2, 1);
    assert_null(e.reason);
    assert_int_equal(e.placed, 2);
    world_done(&w);
}

/* Ten devices, and one or two are lost at each stage. */
static void each_stage_of_the_funnel_counts_what_is_left(void **state)
{
    struct world w;
    struct tg_explanation e;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu",
              ",{\"cel\":{\"expression\":\"device.attributes[\\\"" GPU_DRIVER
              "\\\"].index < 4\"}}");
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 5, "");
    add_node(&w, "b", "", "\"unschedulable\":true");
    add_gpus(&w, "b", 2, "");
    add_node(&w, "c", "", "");
    add_gpus(&w, "c", 1, "\"healthy\":{\"bool\":false}");
    add_node(&w, "d", "", "");
    add_gpus(&w, "d", 1, "");
    add_holder(&w, "h0", "a", "gpu-0");
    add_holder(&w, "h1", "a", "gpu-1");
    e = explain_gang(&w, 2, 2);
    assert_string_equal(e.reason, "InsufficientDevices");
    /* class: without a's gpu-4; tolerated: without c; free: without the two held; together: those
     * of a and b, d has one only; node fit: without b; left: a's two are the first member's */
    assert_funnel(&e, (const size_t[]){9, 8, 8, 7, 5, 5, 5, 4, 2, 2, 0});
    world_done(&w);
}

static void who_holds_devices_is_told_those_of_the_best_node_first(void **state)
{
    struct world w;
    struct tg_explanation e;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 2, "");
    add_node(&w, "b", "", "");
    add_gpus(&w, "b", 3, "");
    add_holder(&w, "h0", "a", "gpu-0");
    add_holder(&w, "h1", "a", "gpu-1");
    add_holder(&w, "h2", "b", "gpu-0");
    add_holder(&w, "h3", "b", "gpu-1");
    e = explain_gang(&w, 1, 2);
    assert_string_equal(e.reason, "InsufficientDevices");
    assert_string_equal(e.best_node.name, "b");
    assert_int_equal(e.best_node.free, 1);
    assert_int_equal(e.best_node.needed, 2);
    assert_int_equal(e.n_holders, 4);
    assert_string_equal(e.holders[0].name, "claim ns/h2");
    assert_true(e.holders[0].on_best_node && e.holders[1].on_best_node);
    assert_string_equal(e.holders[2].name, "claim ns/h0");
    assert_false(e.holders[2].on_best_node);
    assert_int_equal(e.supply.held, 4);
    assert_int_equal(e.supply.free, 1);
    world_done(&w);
}

static void a_rule_that_alone_is_in_the_way_is_a_near_miss(void **state)
{
    struct world w;
    struct tg_explanation e;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "a", "", "\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}]");
    add_gpus(&w, "a", 2, "");
    /* Two reasons: no near miss. */
    add_node(&w, "b", "",
             "\"unschedulable\":true,\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]");
    add_gpus(&w, "b", 2, "");
    /* The taint that goes with a cordon is no reason of its own. */
    add_node(&w, "c", "",
             "\"unschedulable\":true,\"taints\":[{\"key\":\"node.kubernetes.io/unschedulable\","
             "\"effect\":\"NoSchedule\"}]");
    add_gpus(&w, "c", 1, "");
    e = explain_gang(&w, 1, 1);
    assert_string_equal(e.reason, "NodesUnavailable");
    assert_int_equal(e.n_misses, 2);
    assert_string_equal(e.misses[0].rule, "NodeTainted");
    assert_string_equal(e.misses[0].what, "k=v:NoSchedule");
    assert_int_equal(e.misses[0].nodes, 1);
    assert_int_equal(e.misses[0].devices, 2);
    assert_string_equal(e.misses[1].rule, "NodeUnschedulable");
    assert_int_equal(e.misses[1].nodes, 1);
    world_done(&w);
}

static void more_than_any_node_has_never_fits(void **state)
{
    struct world w;
    struct tg_explanation e;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 2, "");
    add_holder(&w, "h0", "a", "gpu-0");
    e = explain_gang(&w, 1, 3);
    assert_string_equal(e.reason, "NeverFits");
    assert_int_equal(e.most, 2);
    e = explain_gang(&w, 3, 1);
    assert_string_equal(e.reason, "NeverFits");
    assert_int_equal(e.most, 2);
    e = explain_gang(&w, 2, 1);
    assert_string_equal(e.reason, "InsufficientDevices");
    world_done(&w);
}

static void what_helps_was_tried(void **state)
{
    struct world w;
    struct tg_explanation e;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 2, "");
    add_node(&w, "b", "", "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]");
    add_gpus(&w, "b", 2, "");
    add_holder(&w, "h0", "a", "gpu-0");
    e = explain_gang(&w, 1, 2);
    assert_string_equal(e.reason, "InsufficientDevices");
    /* Nobody knows who could be moved. */
    assert_false(e.helps_complete);
    assert_int_equal(e.n_helps, 2);
    assert_string_equal(e.helps[0].code, "TolerateNodeTaint");
    assert_string_equal(e.helps[0].what, "k:NoSchedule");
    assert_string_equal(e.helps[1].code, "FewerDevices");
    assert_int_equal(e.helps[1].n, 1);
    e = explain_gang(&w, 2, 1);
    assert_string_equal(e.helps[0].code, "TolerateNodeTaint");
    assert_string_equal(e.helps[1].code, "FewerMembers");
    assert_int_equal(e.helps[1].n, 1);
    world_done(&w);
}

/* --- moves ----------------------------------------------------------------------------------- */

/* A claim of one GPU with its pod, bound to the node. */
static void add_resident(struct world *w, const char *name, const char *node, const char *device,
                         const char *cpu)
{
    char more[256];

    snprintf(more, sizeof(more),
             "\"nodeName\":\"%s\",\"resourceClaims\":[{\"name\":\"c\","
             "\"resourceClaimName\":\"%s\"}],",
             node, name);
    w->pods[w->n_pods++] = new_pod(w, name, cpu, more);
    w->claims[w->n_claims++] = decodef(
        w->arena, &tg_resource_claim_type,
        "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\",\"uid\":\"u-%s\"},\"spec\":{"
        "\"devices\":{\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":"
        "\"gpu\"}}]}},\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\","
        "\"driver\":\"" GPU_DRIVER "\",\"pool\":\"%s\",\"device\":\"%s\"}]}}}}",
        name, name, node, device);
}

static bool find_resident(void *data, const char *holder, struct tg_resident *ret)
{
    struct world *w = data;

    for (size_t i = 0; i < w->n_claims; i++) {
        char name[64];

        snprintf(name, sizeof(name), "claim ns/%s", w->claims[i]->metadata->name);
        if (strcmp(name, holder) != 0)
            continue;
        *ret = (struct tg_resident){.claim = w->claims[i], .pods = &w->pods[i], .n_pods = 1};
        return true;
    }
    return false;
}

/* rule: of the gang, NULL: none. */
static struct tg_explanation explain_moving_apart(struct world *w, size_t n, size_t gpus,
                                                  const struct tg_place_rule *rule)
{
    const struct tg_place_request request = {.name = "gang ns/g",
                                             .pieces = new_gang(w, n, gpus),
                                             .n_pieces = n,
                                             .rules = rule,
                                             .n_rules = rule == NULL ? 0 : 1};
    const struct tg_explain_input input = {
        .request = &request, .find = find_resident, .data = w, .max_steps = SIZE_MAX};
    struct tg_explanation ret;
    struct tg_error err = TG_ERROR_INIT;
    struct tg_fleet *fleet = world_fleet(w);
    uint64_t before = tg_fleet_hash(fleet);

    if (tg_explain_request(fleet, &input, w->arena, &ret, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(before == tg_fleet_hash(fleet));
    return ret;
}

static struct tg_explanation explain_moving(struct world *w, size_t n, size_t gpus)
{
    return explain_moving_apart(w, n, gpus, NULL);
}

static const struct tg_explained_help *find_help(const struct tg_explanation *e, const char *code)
{
    for (size_t i = 0; i < e->n_helps; i++) {
        if (strcmp(e->helps[i].code, code) == 0)
            return &e->helps[i];
    }
    return NULL;
}

static void a_claim_that_could_live_elsewhere_is_named_with_its_new_node(void **state)
{
    struct world w;
    struct tg_explanation e;
    const struct tg_explained_help *help;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 2, "");
    add_node(&w, "b", "", "");
    add_gpus(&w, "b", 2, "");
    add_resident(&w, "ra", "a", "gpu-1", "1");
    add_resident(&w, "rb", "b", "gpu-0", "1");
    e = explain_moving(&w, 1, 2);
    assert_string_equal(e.reason, "FragmentedDevices");
    help = find_help(&e, "MoveClaims");
    assert_non_null(help);
    assert_int_equal(help->n_moves, 1);
    assert_string_equal(help->moves[0].holder, "claim ns/ra");
    assert_string_equal(help->moves[0].pod, "ns/ra");
    assert_string_equal(help->moves[0].from, "a");
    assert_string_equal(help->moves[0].to, "b");
    assert_string_equal(e.holders[0].pod, "ns/ra");
    world_done(&w);
}

/* Where there is room for two members in each rack, a move helps four of them, and none
 * helps five. */
static void moves_are_tried_where_there_are_domains_enough(void **state)
{
    static const struct tg_level rack = {.name = "rack", .node_label = "rack"};
    static const struct tg_place_rule apart = {
        .level = &rack, .most = 2, .required = true, .field = "topology.spread[0]"};
    static const char *const nodes[] = {"a", "b", "c", "d", "e"};
    struct world w;
    struct tg_explanation e;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    for (size_t i = 0; i < 5; i++) {
        add_node(&w, nodes[i], i < 3 ? "\"rack\":\"r1\"" : "\"rack\":\"r2\"", "");
        add_gpus(&w, nodes[i], 2, "");
    }
    add_resident(&w, "rd", "d", "gpu-0", "1");
    e = explain_moving_apart(&w, 4, 2, &apart);
    assert_string_equal(e.reason, "TopologyUnsatisfied");
    assert_non_null(find_help(&e, "MoveClaims"));
    e = explain_moving_apart(&w, 5, 1, &apart);
    assert_string_equal(e.reason, "TopologyUnsatisfied");
    assert_null(find_help(&e, "MoveClaims"));
    world_done(&w);
}

/* The other node has the device, not the room for the pod. */
static void a_move_that_the_pod_has_no_room_for_is_none(void **state)
{
    struct world w;
    struct tg_explanation e;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 2, "");
    add_node(&w, "b", "", "");
    add_gpus(&w, "b", 2, "");
    add_resident(&w, "ra", "a", "gpu-1", "6");
    add_resident(&w, "rb", "b", "gpu-0", "6");
    e = explain_moving(&w, 1, 2);
    assert_string_equal(e.reason, "FragmentedDevices");
    assert_null(find_help(&e, "MoveClaims"));
    assert_true(e.helps_complete);
    world_done(&w);
}

/* Residents of two nodes that no pair of them frees, asked for one by one. */
struct counted {
    struct world *w;
    size_t asked;
};

static bool count_resident(void *data, const char *holder, struct tg_resident *ret)
{
    struct counted *c = data;

    c->asked++;
    return find_resident(c->w, holder, ret);
}

static size_t residents_asked_for(struct world *w, size_t max_steps, bool *ret_complete)
{
    const struct tg_place_request request = {
        .name = "gang ns/g", .pieces = new_gang(w, 2, 4), .n_pieces = 2};
    struct counted counted = {.w = w, .asked = 0};
    const struct tg_explain_input input = {
        .request = &request, .find = count_resident, .data = &counted, .max_steps = max_steps};
    struct tg_explanation ret;
    struct tg_error err = TG_ERROR_INIT;

    if (tg_explain_request(world_fleet(w), &input, w->arena, &ret, &err) < 0)
        fail_msg("%s", err.message);
    assert_null(find_help(&ret, "MoveClaims"));
    *ret_complete = ret.helps_complete;
    return counted.asked;
}

/* The controller decides nothing while it explains: every pair of eight claims is not tried then.
 */
static void how_many_moves_are_tried_is_bounded(void **state)
{
    static const char *const nodes[] = {"a", "b"};
    struct world w;
    bool complete = true;
    size_t few;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    for (size_t i = 0; i < 8; i++) {
        char name[8], device[8];

        if (i < 2) {
            add_node(&w, nodes[i], "", "");
            add_gpus(&w, nodes[i], 8, "");
        }
        snprintf(name, sizeof(name), "r%zu", i);
        snprintf(device, sizeof(device), "gpu-%zu", i / 2);
        add_resident(&w, name, nodes[i % 2], device, "6");
    }
    add_resident(&w, "s0", "a", "gpu-5", "6");
    add_resident(&w, "s1", "b", "gpu-5", "6");
    few = residents_asked_for(&w, 0, &complete);
    assert_false(complete);
    assert_true(few < 50);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_has_no_reason),
        cmocka_unit_test(each_stage_of_the_funnel_counts_what_is_left),
        cmocka_unit_test(who_holds_devices_is_told_those_of_the_best_node_first),
        cmocka_unit_test(a_rule_that_alone_is_in_the_way_is_a_near_miss),
        cmocka_unit_test(more_than_any_node_has_never_fits),
        cmocka_unit_test(what_helps_was_tried),
        cmocka_unit_test(a_claim_that_could_live_elsewhere_is_named_with_its_new_node),
        cmocka_unit_test(moves_are_tried_where_there_are_domains_enough),
        cmocka_unit_test(a_move_that_the_pod_has_no_room_for_is_none),
        cmocka_unit_test(how_many_moves_are_tried_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
