/* SPDX-License-Identifier: Apache-2.0 */
/* The whole texts, as a user sees them: each names what is short, where it comes closest and who
 * holds it. */
#include "tests/unit/core/world.h"

static struct tg_no_place why(struct world *w, const struct tg_place_request *request)
{
    struct tg_placement placement;
    struct tg_no_place ret = {.text = NULL};
    struct tg_error err = TG_ERROR_INIT;
    int rc = tg_place(world_fleet(w), request, w->arena, &placement, &ret, &err);

    if (rc != -TG_UNAVAILABLE)
        fail_msg("%d: %s", rc, err.message);
    return ret;
}

static struct tg_no_place why_one(struct world *w, size_t gpus)
{
    return why(w, &(struct tg_place_request){
                      .name = "pod ns/m", .pieces = new_gang(w, 1, gpus), .n_pieces = 1});
}

static void a_fleet_whose_nodes_are_all_out_says_by_which_rule(void **state)
{
    struct world w;
    struct tg_no_place no;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    assert_string_equal(why_one(&w, 1).text, "there are no nodes");
    add_node(&w, "a", "", "\"unschedulable\":true");
    add_node(&w, "b", "", "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]");
    add_node(&w, "c", "", "\"unschedulable\":true");
    no = why_one(&w, 1);
    assert_string_equal(no.reason, "NodesUnavailable");
    assert_string_equal(
        no.text,
        "no node can take the pod (3 nodes: 2 cordoned, 1 with taints that the pod does not "
        "tolerate)");
    world_done(&w);
}

static void devices_that_others_can_have_are_told_with_the_class(void **state)
{
    struct world w;
    struct tg_no_place no;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_raw_class(&w, "{\"metadata\":{\"name\":\"theirs\"},\"spec\":{\"selectors\":[]}}");
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 2, "");
    no = why_one(&w, 1);
    assert_string_equal(no.reason, "DevicesContested");
    if (strstr(no.text, "2 devices that match and are free are given to nobody, since DeviceClass "
                        "theirs, which is "
                        "not managed, matches too") == NULL)
        fail_msg("%s", no.text);
    world_done(&w);
}

static void a_selector_that_nothing_matches_is_quoted(void **state)
{
    struct world w;
    struct tg_no_place no;
    struct tg_piece piece;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 2, "");
    piece = new_piece(&w, new_pod(&w, "m", "1", ""),
                      new_claim(&w, "c",
                                "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":"
                                "\"gpu\",\"selectors\":[{"
                                "\"cel\":{\"expression\":\"device.driver == 'x'\"}}]}}]"));
    no = why(&w, &(struct tg_place_request){.name = "pod", .pieces = &piece, .n_pieces = 1});
    assert_string_equal(no.reason, "NoMatchingDevice");
    assert_string_equal(no.text,
                        "none of the 2 devices of DeviceClass gpu matches the selectors of request "
                        "r of claim ns/c. Nearly: 2 more devices without the selector "
                        "`device.driver == 'x'`");
    world_done(&w);
}

static void held_tainted_and_reserved_devices_are_counted_with_the_holders(void **state)
{
    struct world w;
    struct tg_no_place no;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 5, "");
    add_node(&w, "b", "", "");
    add_gpus(&w, "b", 1, "\"healthy\":{\"bool\":false}");
    add_node(&w, "c", "", "");
    add_slice(&w, "{\"metadata\":{\"name\":\"sc\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                  "\",\"nodeName\":\"c\",\"pool\":{\"name\":\"c\",\"generation\":1,"
                  "\"resourceSliceCount\":1},\"devices\":[{"
                  "\"name\":\"x\",\"attributes\":{\"tangram.dev/x\":{\"bool\":true}}}]}}");
    add_slice(&w, "{\"metadata\":{\"name\":\"sd\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                  "\",\"nodeName\":\"c\",\"pool\":{\"name\":\"d\",\"generation\":1,"
                  "\"resourceSliceCount\":2},\"devices\":["
                  "]}}");
    add_node(&w, "d", "", "\"unschedulable\":true");
    for (size_t i = 0; i < 4; i++) {
        char claim[32], gpu[16];

        snprintf(claim, sizeof(claim), "c%zu", i);
        snprintf(gpu, sizeof(gpu), "gpu-%zu", i);
        add_holder(&w, claim, "a", gpu);
    }
    no = why_one(&w, 2);
    assert_string_equal(no.reason, "InsufficientDevices");
    assert_string_equal(
        no.text, "2 devices on one node are needed; 1 is free of the 6 that match, "
                 "4 are held by claim ns/c0, claim "
                 "ns/c1, claim ns/c2 and others; left out: nodes 1 cordoned; 1 "
                 "matching device is tainted or "
                 "unhealthy; 1 matching device is never allocated (publishes an "
                 "attribute of the reserved domain tangram.dev); 1 pool "
                 "is unusable (gpu.example.com/d: incomplete). Nearly: 1 more device once healthy");
    world_done(&w);
}

static void a_node_with_devices_and_no_room_is_named_with_what_it_lacks(void **state)
{
    struct world w;
    struct tg_no_place no;
    struct tg_piece piece;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 2, "");
    add_node(&w, "b", "", "");
    w.pods[w.n_pods++] = new_pod(&w, "hog", "7500m", "\"nodeName\":\"a\",");
    no = why_one(&w, 2);
    assert_string_equal(no.reason, "InsufficientNodeResources");
    assert_string_equal(
        no.text,
        "the devices are there, the room for the pod is not: node a has 500m cpu left of the 1 "
        "needed (InsufficientCPU)");
    piece = new_piece(&w,
                      decode(w.arena, &tg_pod_type,
                             "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"m\"},\"spec\":{"
                             "\"containers\":[{\"resources\":{"
                             "\"requests\":{\"memory\":\"1Ti\"}}}]}}"),
                      NULL);
    no = why(&w, &(struct tg_place_request){.name = "pod", .pieces = &piece, .n_pieces = 1});
    assert_string_equal(
        no.text, "no node has room for the pod: node a has 64Gi memory left of the 1Ti needed "
                 "(InsufficientMemory)");
    world_done(&w);
}

static void a_gang_says_how_far_it_got(void **state)
{
    struct world w;
    struct tg_no_place no;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 3, "");
    add_node(&w, "b", "", "");
    add_gpus(&w, "b", 3, "");
    add_node(&w, "c", "", "");
    add_gpus(&w, "c", 4, "");
    add_holder(&w, "old", "c", "gpu-0");
    add_holder(&w, "older", "c", "gpu-1");
    add_holder(&w, "oldest", "c", "gpu-2");
    no = why(&w, &(struct tg_place_request){
                     .name = "gang ns/g", .pieces = new_gang(&w, 4, 2), .n_pieces = 4});
    assert_string_equal(no.reason, "FragmentedDevices");
    assert_string_equal(
        no.text,
        "2 of 4 members have a place; for the next one, 2 devices on one node are needed; 3 are "
        "free in all, but spread over 3 nodes with at most 1 each (best: node a with 1 of 2)");
    assert_int_equal(no.members_short, 2);
    world_done(&w);
}

static void requests_that_want_the_same_device_are_called_so(void **state)
{
    struct world w;
    struct tg_no_place no;
    struct tg_piece piece;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_class(&w, "zero",
              ",{\"cel\":{\"expression\":\"device.attributes[\\\"" GPU_DRIVER
              "\\\"].index == 0\"}}");
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 3, "");
    piece = new_piece(&w, new_pod(&w, "m", "1", ""),
                      new_claim(&w, "c",
                                "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":"
                                "\"gpu\"}},{\"name\":\"s\","
                                "\"exactly\":{\"deviceClassName\":\"zero\",\"count\":2}}]"));
    no = why(&w, &(struct tg_place_request){.name = "pod", .pieces = &piece, .n_pieces = 1});
    assert_string_equal(no.reason, "InsufficientDevices");
    assert_string_equal(
        no.text,
        "3 devices on one node are needed; node a has 3 that are free, but they cannot meet "
        "the 2 requests together. Nearly: 2 more devices without the selector "
        "`device.attributes[\"" GPU_DRIVER "\"].index == 0` of the DeviceClass");
    world_done(&w);
}

/* Names as long as the API allows, everywhere. */
static void the_longest_names_still_make_a_bounded_text(void **state)
{
    char node[254], holder[254];
    struct world w;
    struct tg_no_place no;

    (void)state;
    memset(node, 'n', sizeof(node) - 1);
    memset(holder, 'h', sizeof(holder) - 1);
    node[sizeof(node) - 1] = holder[sizeof(holder) - 1] = '\0';
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, node, "", "");
    add_gpus(&w, node, 5, "");
    for (size_t i = 0; i < 4; i++) {
        char gpu[16];

        snprintf(gpu, sizeof(gpu), "gpu-%zu", i);
        holder[0] = (char)('a' + i);
        add_holder(&w, holder, node, gpu);
    }
    no = why_one(&w, 2);
    assert_true(strlen(no.text) <= 800);
    assert_string_equal(no.text + strlen(no.text) - 3, "...");
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fleet_whose_nodes_are_all_out_says_by_which_rule),
        cmocka_unit_test(devices_that_others_can_have_are_told_with_the_class),
        cmocka_unit_test(a_selector_that_nothing_matches_is_quoted),
        cmocka_unit_test(held_tainted_and_reserved_devices_are_counted_with_the_holders),
        cmocka_unit_test(a_node_with_devices_and_no_room_is_named_with_what_it_lacks),
        cmocka_unit_test(a_gang_says_how_far_it_got),
        cmocka_unit_test(requests_that_want_the_same_device_are_called_so),
        cmocka_unit_test(the_longest_names_still_make_a_bounded_text),
    };

    return cmocka_run_group_tests_name("why", tests, NULL, NULL);
}
