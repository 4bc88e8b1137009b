/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/offer.h"
#include "tests/unit/core/world.h"

static const struct tg_level rack = {.name = "rack", .node_label = "example.com/rack", .rank = 0};
static const struct tg_level host = {.name = "host", .rank = 1};
static const struct tg_level clique = {
    .name = "clique", .device_attribute = "example.com/clique", .rank = 1};

static int place(struct world *w, const struct tg_place_request *request, struct tg_placement *ret,
                 struct tg_no_place *why, struct tg_error *err)
{
    return tg_place(world_fleet(w), request, w->arena, ret, why, err);
}

static struct tg_placement must_place(struct world *w, const struct tg_place_request *request)
{
    struct tg_placement placement;
    struct tg_no_place why = {.text = ""};
    struct tg_error err = TG_ERROR_INIT;

    if (place(w, request, &placement, &why, &err) < 0)
        fail_msg("not placed: %s", err.message);
    return placement;
}

static struct tg_no_place must_not_place(struct world *w, const struct tg_place_request *request)
{
    struct tg_placement placement;
    struct tg_no_place why = {.text = NULL};
    struct tg_error err = TG_ERROR_INIT;

    assert_int_equal(place(w, request, &placement, &why, &err), -TG_UNAVAILABLE);
    assert_non_null(why.text);
    assert_true(strlen(why.text) <= 800);
    return why;
}

/* n nodes n-0.. with `gpus` each, `per_rack` to a rack. */
static void add_racks(struct world *w, size_t n, size_t gpus, size_t per_rack)
{
    add_class(w, "gpu", "");
    for (size_t i = 0; i < n; i++) {
        char name[32], labels[64];

        snprintf(name, sizeof(name), "n-%zu", i);
        snprintf(labels, sizeof(labels), "\"example.com/rack\":\"r%zu\"", i / per_rack);
        add_node(w, name, labels, "");
        add_gpus(w, name, gpus, "");
    }
}

static void a_pod_gets_the_lowest_names_on_the_tightest_node(void **state)
{
    struct world w;
    struct tg_placement p;

    (void)state;
    world_init(&w);
    add_racks(&w, 3, 4, 4);
    add_holder(&w, "h", "n-1", "gpu-0");
    p = must_place(&w, &(struct tg_place_request){
                           .name = "pod ns/m", .pieces = new_gang(&w, 1, 2), .n_pieces = 1});
    assert_int_equal(p.n_pieces, 1);
    assert_string_equal(p.pieces[0].node, "n-1");
    assert_int_equal(p.pieces[0].n_devices, 2);
    assert_string_equal(p.pieces[0].devices[0].device, "gpu-1");
    assert_string_equal(p.pieces[0].devices[1].device, "gpu-2");
    assert_string_equal(p.pieces[0].devices[0].request, "r");
    assert_string_equal(p.pieces[0].devices[0].driver, GPU_DRIVER);
    assert_string_equal(p.pieces[0].devices[0].pool, "n-1");
    world_done(&w);
}

static void a_gang_is_placed_as_a_whole_or_not_at_all(void **state)
{
    struct world w;
    struct tg_no_place why;

    (void)state;
    world_init(&w);
    add_racks(&w, 2, 2, 4);
    must_place(&w, &(struct tg_place_request){
                       .name = "gang ns/g", .pieces = new_gang(&w, 2, 2), .n_pieces = 2});
    why = must_not_place(&w, &(struct tg_place_request){
                                 .name = "gang ns/g", .pieces = new_gang(&w, 3, 2), .n_pieces = 3});
    assert_string_equal(why.reason, "NeverFits");
    assert_int_equal(why.members_short, 1);
    assert_int_equal(why.devices_per_member, 2);
    world_done(&w);
}

static void seven_nodes_with_one_free_device_are_called_fragmented(void **state)
{
    struct world w;
    struct tg_no_place why;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    for (size_t i = 0; i < 7; i++) {
        char name[32];

        snprintf(name, sizeof(name), "a%zu", i + 1);
        add_node(&w, name, "", "");
        add_gpus(&w, name, 2, "");
        add_holder(&w, i == 0 ? "x" : name, name, "gpu-0");
    }
    why = must_not_place(&w, &(struct tg_place_request){
                                 .name = "pod ns/m", .pieces = new_gang(&w, 1, 2), .n_pieces = 1});
    assert_string_equal(why.reason, "FragmentedDevices");
    assert_string_equal(
        why.text,
        "2 devices on one node are needed; 7 are free in all, but spread over 7 nodes with "
        "at most 1 each (best: node a1 with 1 of 2; the others there are held by claim ns/x)");
    world_done(&w);
}

static void a_required_level_keeps_the_gang_in_its_tightest_domain(void **state)
{
    struct world w;
    struct tg_placement p;

    (void)state;
    world_init(&w);
    add_racks(&w, 6, 4, 2);
    add_holder(&w, "h", "n-2", "gpu-0");
    add_holder(&w, "i", "n-4", "gpu-0");
    add_holder(&w, "j", "n-4", "gpu-1");
    add_holder(&w, "k", "n-4", "gpu-2");
    /* r2 has 5 free, r1 7, r0 8; three members of two: only r1 and r0 hold them, r1 with three
     * left-over places less. */
    p = must_place(&w, &(struct tg_place_request){.name = "gang ns/g",
                                                  .pieces = new_gang(&w, 3, 2),
                                                  .n_pieces = 3,
                                                  .pack_required = &rack});
    for (size_t i = 0; i < 3; i++)
        assert_true(strcmp(p.pieces[i].node, "n-2") == 0 || strcmp(p.pieces[i].node, "n-3") == 0);
    world_done(&w);
}

static void a_level_that_no_domain_fills_is_called_so(void **state)
{
    struct world w;
    struct tg_no_place why;
    struct tg_place_request request = {.name = "gang ns/g", .n_pieces = 3, .pack_required = &rack};

    (void)state;
    world_init(&w);
    add_racks(&w, 4, 4, 2);
    add_holder(&w, "h0", "n-0", "gpu-0");
    add_holder(&w, "h1", "n-1", "gpu-0");
    add_holder(&w, "h2", "n-2", "gpu-0");
    add_holder(&w, "h3", "n-3", "gpu-0");
    request.pieces = new_gang(&w, 3, 2);
    why = must_not_place(&w, &request);
    assert_string_equal(why.reason, "NoDomain");
    assert_non_null(strstr(why.text, "2 of 3 members have a place in rack r0, the best of 2"));
    request.pack_required = &(struct tg_level){.name = "block", .node_label = "example.com/block"};
    why = must_not_place(&w, &request);
    assert_string_equal(why.reason, "NoDomain");
    assert_non_null(strstr(why.text, "no node has the label example.com/block"));
    world_done(&w);
}

static void nodes_without_the_label_are_never_used_for_a_required_level(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    add_racks(&w, 1, 1, 1);
    add_node(&w, "zz", "", "");
    add_gpus(&w, "zz", 8, "");
    must_not_place(&w, &(struct tg_place_request){.name = "gang",
                                                  .pieces = new_gang(&w, 1, 2),
                                                  .n_pieces = 1,
                                                  .pack_required = &rack});
    world_done(&w);
}

static void a_preferred_level_takes_one_domain_or_as_few_as_possible(void **state)
{
    struct world w;
    struct tg_placement p;
    struct tg_place_request request = {.name = "gang", .pack_preferred = &rack};

    (void)state;
    world_init(&w);
    add_racks(&w, 6, 2, 2);
    add_holder(&w, "h", "n-0", "gpu-0");
    add_holder(&w, "i", "n-4", "gpu-0");
    request.pieces = new_gang(&w, 2, 2);
    request.n_pieces = 2;
    p = must_place(&w, &request);
    assert_string_equal(p.pieces[0].node, "n-2");
    assert_string_equal(p.pieces[1].node, "n-3");
    /* Three do not fit into one rack: r1 whole, and one place of r0. */
    request.pieces = new_gang(&w, 3, 2);
    request.n_pieces = 3;
    p = must_place(&w, &request);
    for (size_t i = 0; i < 3; i++)
        assert_true(strcmp(p.pieces[i].node, "n-1") == 0 || strcmp(p.pieces[i].node, "n-2") == 0 ||
                    strcmp(p.pieces[i].node, "n-3") == 0);
    world_done(&w);
}

static void the_host_level_is_the_node_itself(void **state)
{
    struct world w;
    struct tg_placement p;

    (void)state;
    world_init(&w);
    add_racks(&w, 2, 4, 2);
    add_holder(&w, "h", "n-0", "gpu-3");
    p = must_place(&w, &(struct tg_place_request){.name = "gang",
                                                  .pieces = new_gang(&w, 2, 2),
                                                  .n_pieces = 2,
                                                  .pack_required = &host});
    assert_string_equal(p.pieces[0].node, "n-1");
    assert_string_equal(p.pieces[1].node, "n-1");
    world_done(&w);
}

static void a_device_attribute_that_nobody_publishes_has_no_domains(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    add_racks(&w, 2, 4, 2);
    assert_string_equal(must_not_place(&w, &(struct tg_place_request){.name = "gang",
                                                                      .pieces = new_gang(&w, 2, 2),
                                                                      .n_pieces = 2,
                                                                      .pack_required = &clique})
                            .reason,
                        "NoDomain");
    world_done(&w);
}

static void a_fixed_node_is_kept(void **state)
{
    struct world w;
    struct tg_placement p;
    struct tg_no_place why;
    struct tg_piece *pieces;
    struct tg_place_request request = {.name = "gang", .n_pieces = 2};

    (void)state;
    world_init(&w);
    add_racks(&w, 3, 4, 3);
    request.pieces = pieces = new_gang(&w, 2, 2);
    pieces[1].fixed_node = "n-2";
    p = must_place(&w, &request);
    assert_string_equal(p.pieces[1].node, "n-2");
    pieces[1].fixed_node = "gone";
    why = must_not_place(&w, &request);
    assert_string_equal(why.reason, "NodesUnavailable");
    assert_non_null(strstr(why.text, "node gone, to which its other claims tie it, is gone"));
    world_done(&w);
}

static void what_only_one_request_can_use_is_left_to_it(void **state)
{
    struct world w;
    struct tg_placement p;
    struct tg_piece piece;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "n", "", "");
    add_gpus(&w, "n", 2, "");
    /* The first request would take gpu-0 by its name, but the second accepts nothing else. */
    piece = new_piece(
        &w, new_pod(&w, "m", "1", ""),
        new_claim(
            &w, "c",
            "\"requests\":[{\"name\":\"any\",\"exactly\":{\"deviceClassName\":\"gpu\"}},{\"name\":"
            "\"zero\",\"exactly\":{\"deviceClassName\":\"gpu\",\"selectors\":[{\"cel\":{"
            "\"expression\":\"device.attributes[\\\"" GPU_DRIVER "\\\"].index == 0\"}}]}}]"));
    p = must_place(&w, &(struct tg_place_request){.name = "pod", .pieces = &piece, .n_pieces = 1});
    assert_string_equal(p.pieces[0].devices[0].request, "any");
    assert_string_equal(p.pieces[0].devices[0].device, "gpu-1");
    assert_string_equal(p.pieces[0].devices[1].device, "gpu-0");
    world_done(&w);
}

/* Two kinds of members that best fit alone cannot bring together: the big one needs the node that
 * the picky small ones leave. */
static void unlike_members_are_found_by_the_search(void **state)
{
    struct world w;
    struct tg_placement p;
    struct tg_piece pieces[2];

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "a", "\"zone\":\"x\"", "");
    add_gpus(&w, "a", 2, "");
    add_node(&w, "b", "", "");
    add_gpus(&w, "b", 3, "");
    pieces[0] = new_piece(&w, new_pod(&w, "big", "1", ""), new_gpu_claim(&w, "big", 2));
    pieces[1] = new_piece(&w, new_pod(&w, "picky", "1", "\"nodeSelector\":{\"zone\":\"x\"},"),
                          new_gpu_claim(&w, "picky", 1));
    p = must_place(&w, &(struct tg_place_request){.name = "gang", .pieces = pieces, .n_pieces = 2});
    assert_string_equal(p.pieces[0].node, "b");
    assert_string_equal(p.pieces[1].node, "a");
    world_done(&w);
}

static void running_out_of_steps_is_not_called_infeasible(void **state)
{
    struct world w;
    struct tg_no_place why;
    struct tg_piece pieces[2];

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "a", "\"zone\":\"x\"", "");
    add_gpus(&w, "a", 2, "");
    add_node(&w, "b", "", "");
    add_gpus(&w, "b", 3, "");
    pieces[0] = new_piece(&w, new_pod(&w, "big", "1", ""), new_gpu_claim(&w, "big", 2));
    pieces[1] = new_piece(&w, new_pod(&w, "picky", "1", "\"nodeSelector\":{\"zone\":\"x\"},"),
                          new_gpu_claim(&w, "picky", 1));
    why = must_not_place(&w, &(struct tg_place_request){
                                 .name = "gang", .pieces = pieces, .n_pieces = 2, .max_steps = 1});
    assert_string_equal(why.reason, "GaveUp");
    world_done(&w);
}

static void a_class_that_is_not_ours_is_never_served(void **state)
{
    struct world w;
    struct tg_placement p;
    struct tg_no_place why;
    struct tg_error err = TG_ERROR_INIT;
    struct tg_place_request request = {.name = "pod", .n_pieces = 1};

    (void)state;
    world_init(&w);
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 2, "");
    request.pieces = new_gang(&w, 1, 1);
    assert_int_equal(place(&w, &request, &p, &why, &err), -TG_NOT_FOUND);
    add_raw_class(&w,
                  "{\"metadata\":{\"name\":\"gpu\"},\"spec\":{\"selectors\":[" GUARD_JSON "]}}");
    assert_int_equal(place(&w, &request, &p, &why, &err), -TG_FAILED_PRECONDITION);
    world_done(&w);
}

static void a_selector_that_fails_on_a_device_ends_the_placement(void **state)
{
    struct world w;
    struct tg_placement p;
    struct tg_no_place why;
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu",
              ",{\"cel\":{\"expression\":\"device.attributes[\\\"" GPU_DRIVER
              "\\\"].speed > 3\"}}");
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 2, "");
    assert_int_equal(place(&w,
                           &(struct tg_place_request){
                               .name = "pod", .pieces = new_gang(&w, 1, 1), .n_pieces = 1},
                           &p, &why, &err),
                     -TG_FAILED_PRECONDITION);
    assert_non_null(strstr(err.message, "no such key: speed"));
    assert_non_null(strstr(err.message, "gpu-0"));
    world_done(&w);
}

static void no_members_is_an_empty_placement(void **state)
{
    struct world w;
    struct tg_placement p;

    (void)state;
    world_init(&w);
    p = must_place(&w, &(struct tg_place_request){.name = "gang", .pack_required = &rack});
    assert_int_equal(p.n_pieces, 0);
    world_done(&w);
}

/* Every allocation in turn is made to fail: an error, never a crash. */
static void an_exhausted_budget_is_an_ordinary_error(void **state)
{
    struct world w;
    struct tg_placement p;
    struct tg_no_place why;
    struct tg_piece *pieces;
    const struct tg_fleet *fleet;
    bool done = false;

    (void)state;
    world_init(&w);
    add_racks(&w, 4, 4, 2);
    pieces = new_gang(&w, 20, 2);
    fleet = world_fleet(&w);
    for (size_t nth = 1; !done; nth++) {
        struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
        struct tg_error err = TG_ERROR_INIT;
        int rc = 0;

        tg_arena_fail_after(arena, nth);
        rc = tg_place(fleet,
                      &(struct tg_place_request){
                          .name = "gang", .pieces = pieces, .n_pieces = 20, .pack_required = &rack},
                      arena, &p, &why, &err);
        done = rc == -TG_UNAVAILABLE;
        assert_true(done || rc == -TG_RESOURCE_EXHAUSTED);
        tg_arena_free(arena);
    }
    world_done(&w);
}

/* That of the first class that is asked for, be it in the second claim or an alternative. */
static void the_first_class_says_which_policy(void **state)
{
    static const struct tg_class_policy classes[] = {{"gpu", "spread"}, {"nic", "mig"}};
    const struct tg_policies policies = {.fleet = "binpack", .classes = classes, .n_classes = 2};
    struct world w;
    struct tg_piece piece;
    const struct tg_resource_claim *claims[2];

    (void)state;
    world_init(&w);
    piece = new_piece(&w, new_pod(&w, "p", "1", ""), NULL);
    assert_string_equal(tg_place_policy(&policies, &piece), "binpack");
    piece.claims = claims;
    piece.n_claims = 2;
    claims[0] = new_claim(&w, "none", "\"requests\":[]");
    claims[1] = new_gpu_claim(&w, "one", 1);
    assert_string_equal(tg_place_policy(&policies, &piece), "spread");
    claims[0] = new_claim(&w, "either",
                          "\"requests\":[{\"name\":\"r\",\"firstAvailable\":[{\"name\":\"x\","
                          "\"deviceClassName\":\"nic\"},{\"name\":\"y\","
                          "\"deviceClassName\":\"gpu\"}]}]");
    assert_string_equal(tg_place_policy(&policies, &piece), "mig");
    assert_null(tg_place_policy(NULL, &piece));
    world_done(&w);
}

/* A single pod, too: the rack comes before the node. */
static void one_pod_that_prefers_a_level_goes_to_its_tightest_domain(void **state)
{
    struct world w;
    struct tg_placement p;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "a", "\"example.com/rack\":\"r1\"", "");
    add_gpus(&w, "a", 2, "");
    add_node(&w, "b", "\"example.com/rack\":\"r1\"", "");
    add_gpus(&w, "b", 3, "");
    add_node(&w, "c", "\"example.com/rack\":\"r2\"", "");
    add_gpus(&w, "c", 3, "");
    p = must_place(&w, &(struct tg_place_request){.name = "pod",
                                                  .pieces = new_gang(&w, 1, 1),
                                                  .n_pieces = 1,
                                                  .pack_preferred = &rack});
    assert_string_equal(p.pieces[0].node, "c");
    world_done(&w);
}

/* Each decision lets go what was not asked for of late. */
static void decisions_forget_kinds_that_nobody_asks_for(void **state)
{
    struct world w;
    struct tg_fleet *fleet;

    (void)state;
    world_init(&w);
    add_racks(&w, 1, 1, 1);
    fleet = world_fleet(&w);
    for (size_t i = 0; i < 80; i++) {
        char cpu[16];
        struct tg_piece piece;
        struct tg_placement p;
        struct tg_no_place why = {.text = ""};

        snprintf(cpu, sizeof(cpu), "%zum", i + 1);
        piece = new_piece(&w, new_pod(&w, "p", cpu, ""), new_gpu_claim(&w, "p", 1));
        assert_int_equal(
            tg_place(fleet,
                     &(struct tg_place_request){.name = "pod", .pieces = &piece, .n_pieces = 1},
                     w.arena, &p, &why, NULL),
            0);
    }
    assert_true(tg_offers_kept(fleet) <= 65);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_gets_the_lowest_names_on_the_tightest_node),
        cmocka_unit_test(a_gang_is_placed_as_a_whole_or_not_at_all),
        cmocka_unit_test(seven_nodes_with_one_free_device_are_called_fragmented),
        cmocka_unit_test(a_required_level_keeps_the_gang_in_its_tightest_domain),
        cmocka_unit_test(a_level_that_no_domain_fills_is_called_so),
        cmocka_unit_test(nodes_without_the_label_are_never_used_for_a_required_level),
        cmocka_unit_test(a_preferred_level_takes_one_domain_or_as_few_as_possible),
        cmocka_unit_test(the_host_level_is_the_node_itself),
        cmocka_unit_test(a_device_attribute_that_nobody_publishes_has_no_domains),
        cmocka_unit_test(a_fixed_node_is_kept),
        cmocka_unit_test(what_only_one_request_can_use_is_left_to_it),
        cmocka_unit_test(unlike_members_are_found_by_the_search),
        cmocka_unit_test(running_out_of_steps_is_not_called_infeasible),
        cmocka_unit_test(a_class_that_is_not_ours_is_never_served),
        cmocka_unit_test(a_selector_that_fails_on_a_device_ends_the_placement),
        cmocka_unit_test(no_members_is_an_empty_placement),
        cmocka_unit_test(the_first_class_says_which_policy),
        cmocka_unit_test(decisions_forget_kinds_that_nobody_asks_for),
        cmocka_unit_test(one_pod_that_prefers_a_level_goes_to_its_tightest_domain),
        cmocka_unit_test(an_exhausted_budget_is_an_ordinary_error),
    };

    return cmocka_run_group_tests_name("place", tests, NULL, NULL);
}
