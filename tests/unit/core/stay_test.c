/* SPDX-License-Identifier: Apache-2.0 */
/* controller/core/model/stay.c, place.c and controller/core/fit/room.c */
#include "controller/core/fit/room.h"
#include "tests/unit/core/world.h"

static int64_t left(struct world *w, const char *resource)
{
    struct tg_fleet *fleet = world_fleet(w);

    return tg_fleet_room_left(&fleet->nodes[tg_fleet_find_node(fleet, "n")], resource);
}

static void bound_assumed_and_nominated_pods_take_room_once(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    add_node(&w, "m", "", "");
    assert_int_equal(left(&w, "cpu"), 8000);
    w.pods[w.n_pods++] = new_pod(&w, "bound", "1", "\"nodeName\":\"n\",");
    w.pods[w.n_pods++] = new_pod(&w, "waiting", "1", "");
    assert_int_equal(left(&w, "cpu"), 7000);
    assert_int_equal(left(&w, "pods"), 109);
    /* Assumed where it is bound already, and elsewhere: the binding is what counts. */
    w.assumed[w.n_assumed++] = (struct tg_fleet_assumed){.pod = w.pods[0], .node = "n"};
    w.assumed[w.n_assumed++] = (struct tg_fleet_assumed){.pod = w.pods[0], .node = "m"};
    assert_int_equal(left(&w, "cpu"), 7000);
    w.assumed[w.n_assumed++] = (struct tg_fleet_assumed){.pod = w.pods[1], .node = "n"};
    assert_int_equal(left(&w, "cpu"), 6000);
    w.pods[w.n_pods++] = decode(w.arena, &tg_pod_type,
                                "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"nominated\"},"
                                "\"spec\":{\"containers\":[{\"resources\":{\"requests\":"
                                "{\"cpu\":\"2\"}}}]},\"status\":{\"nominatedNodeName\":\"n\"}}");
    assert_int_equal(left(&w, "cpu"), 4000);
    w.pods[w.n_pods++] =
        decode(w.arena, &tg_pod_type,
               "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"done\"},\"spec\":{\"nodeName\":"
               "\"n\",\"containers\":[{\"resources\":{"
               "\"requests\":{\"cpu\":\"2\"}}}]},\"status\":{\"phase\":\"Succeeded\"}}");
    assert_int_equal(left(&w, "cpu"), 4000);
    world_done(&w);
}

static void a_port_of_the_node_is_one_pods_until_it_goes(void **state)
{
    static const char pod[] =
        "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"web\"},\"spec\":{\"nodeName\":\"n\","
        "\"containers\":[{\"ports\":[{\"containerPort\":1},{\"hostPort\":80},{\"hostPort\":53,"
        "\"protocol\":\"UDP\",\"hostIP\":\"10.0.0.1\"}]}],\"initContainers\":[{\"ports\":[{"
        "\"hostPort\":81}]},{\"restartPolicy\":\"Always\",\"ports\":[{\"hostPort\":82}]}]}}";
    struct world w;
    struct tg_fleet *fleet;
    uint64_t before;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    assert_int_equal(left(&w, "host port TCP/80"), 1);
    fleet = world_fleet(&w);
    before = tg_fleet_hash(fleet);
    w.pods[w.n_pods++] = decode(w.arena, &tg_pod_type, pod);
    assert_int_equal(left(&w, "host port TCP/80"), 0);
    assert_int_equal(left(&w, "host port UDP/80"), 1);
    assert_int_equal(left(&w, "host port UDP/53"), 0);
    assert_int_equal(left(&w, "host port TCP/81"), 1);
    assert_int_equal(left(&w, "host port TCP/82"), 0);
    assert_int_equal(left(&w, "cpu"), 8000);
    /* The same on the fleet that lives on. */
    tg_fleet_put(fleet, TG_FLEET_POD, w.pods[0]);
    assert_int_equal(tg_fleet_room_left(&fleet->nodes[0], "host port TCP/80"), 0);
    assert_int_equal(tg_fleet_node_slack(fleet, "n"), TG_SLACK_WHOLE * 109 / 110);
    tg_fleet_put(fleet, TG_FLEET_NODE, w.nodes[0]);
    assert_int_equal(tg_fleet_room_left(&fleet->nodes[0], "host port TCP/80"), 0);
    tg_fleet_drop(fleet, TG_FLEET_POD, "ns", "web");
    assert_int_equal(tg_fleet_room_left(&fleet->nodes[0], "host port TCP/80"), 1);
    assert_int_equal(tg_fleet_hash(fleet), before);
    world_done(&w);
}

static void two_members_with_one_port_go_to_two_nodes(void **state)
{
    static const char spec[] = "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\"},\"spec\":{"
                               "\"containers\":[{\"ports\":[{\"hostPort\":80}]}]}}";
    struct world w;
    struct tg_piece pieces[3];
    struct tg_place_request request = {.name = "g", .pieces = pieces, .n_pieces = 2};
    struct tg_placement placement;
    struct tg_no_place why;
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    world_init(&w);
    add_node(&w, "m", "", "");
    add_node(&w, "n", "", "");
    for (size_t i = 0; i < 3; i++)
        pieces[i] = new_piece(&w,
                              decodef(w.arena, &tg_pod_type, spec,
                                      i == 0   ? "a"
                                      : i == 1 ? "b"
                                               : "c"),
                              NULL);
    assert_int_equal(tg_place(world_fleet(&w), &request, w.arena, &placement, &why, &err), 0);
    assert_string_not_equal(placement.pieces[0].node, placement.pieces[1].node);
    request.n_pieces = 3;
    assert_int_equal(tg_place(world_fleet(&w), &request, w.arena, &placement, &why, &err),
                     -TG_UNAVAILABLE);
    assert_string_equal(why.reason, "InsufficientNodeResources");
    assert_non_null(strstr(why.text, "on node m host port TCP/80 is taken "
                                     "(HostPortTaken)"));
    world_done(&w);
}

static void a_resource_that_the_node_does_not_offer_is_not_there(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    assert_int_equal(left(&w, "x.com/y"), 0);
    assert_int_equal(left(&w, "memory"), INT64_C(64) * 1024 * 1024 * 1024);
    world_done(&w);
}

static void what_cannot_be_read_makes_its_node_unusable_not_the_fleet(void **state)
{
    struct world w;
    struct tg_fleet *fleet;

    (void)state;
    world_init(&w);
    w.nodes[w.n_nodes++] =
        decode(w.arena, &tg_node_type,
               "{\"metadata\":{\"name\":\"bad\"},\"status\":{\"allocatable\":{\"cpu\":\"many\"}}}");
    add_node(&w, "n", "", "");
    add_node(&w, "ok", "", "");
    w.pods[w.n_pods++] = new_pod(&w, "odd", "some", "\"nodeName\":\"n\",");
    fleet = world_fleet(&w);
    assert_non_null(fleet->nodes[tg_fleet_find_node(fleet, "bad")].broken);
    assert_non_null(strstr(fleet->nodes[tg_fleet_find_node(fleet, "n")].broken, "pod ns/odd"));
    assert_null(fleet->nodes[tg_fleet_find_node(fleet, "ok")].broken);
    world_done(&w);
}

static void copies_fit_until_the_scarcest_resource_ends(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    struct tg_demand small = {0}, big = {0};
    const struct tg_demand *taken[1];
    const struct tg_pod *pods[2];
    const char *scarce = NULL;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    fleet = world_fleet(&w);
    pods[0] = new_pod(&w, "small", "3", "");
    pods[1] = new_pod(&w, "big", "9", "");
    assert_int_equal(tg_demand_sum(&pods[0], 1, w.arena, &small, NULL), 0);
    assert_int_equal(tg_demand_sum(&pods[1], 1, w.arena, &big, NULL), 0);
    assert_int_equal(tg_room_copies(&fleet->nodes[0], NULL, 0, &small, 10, &scarce), 2);
    assert_string_equal(scarce, "cpu");
    assert_string_equal(tg_room_rule_of(scarce)->reason, "InsufficientCPU");
    assert_string_equal(tg_room_rule_of("x.com/y")->reason, "InsufficientResource");
    assert_int_equal(tg_room_copies(&fleet->nodes[0], NULL, 0, &small, 1, NULL), 1);
    taken[0] = &small;
    assert_int_equal(tg_room_copies(&fleet->nodes[0], taken, 1, &small, 10, NULL), 1);
    assert_int_equal(tg_room_copies(&fleet->nodes[0], NULL, 0, &big, 10, NULL), 0);
    taken[0] = &big;
    assert_int_equal(tg_room_copies(&fleet->nodes[0], taken, 1, &small, 10, NULL), 0);
    world_done(&w);
}

static void what_is_not_asked_for_may_be_overcommitted(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    struct tg_demand none = {0};
    const struct tg_pod *pod;

    (void)state;
    world_init(&w);
    add_node(&w, "n", "", "");
    w.pods[w.n_pods++] = new_pod(&w, "hog", "20", "\"nodeName\":\"n\",");
    fleet = world_fleet(&w);
    assert_int_equal(tg_fleet_room_left(&fleet->nodes[0], "cpu"), -12000);
    pod = new_pod(&w, "free", "0", "");
    assert_int_equal(tg_demand_sum(&pod, 1, w.arena, &none, NULL), 0);
    assert_int_equal(tg_room_copies(&fleet->nodes[0], NULL, 0, &none, 5, NULL), 5);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bound_assumed_and_nominated_pods_take_room_once),
        cmocka_unit_test(a_port_of_the_node_is_one_pods_until_it_goes),
        cmocka_unit_test(two_members_with_one_port_go_to_two_nodes),
        cmocka_unit_test(a_resource_that_the_node_does_not_offer_is_not_there),
        cmocka_unit_test(what_cannot_be_read_makes_its_node_unusable_not_the_fleet),
        cmocka_unit_test(copies_fit_until_the_scarcest_resource_ends),
        cmocka_unit_test(what_is_not_asked_for_may_be_overcommitted),
    };

    return cmocka_run_group_tests_name("stay", tests, NULL, NULL);
}
