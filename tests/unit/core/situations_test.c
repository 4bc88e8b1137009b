/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a reader who has never seen the source is told in situations that occur: each text whole, in
 * situations.txt.
 */
#include <stdlib.h>

#include "tests/unit/core/world.h"

#include "api/runtime/base/cleanup.h"
#include "controller/core/explain/explain.h"
#include "controller/core/explain/words.h"

static const struct tg_level levels[] = {
    {.name = "zone", .node_label = "example.com/zone", .rank = 0},
    {.name = "rack", .node_label = "example.com/rack", .rank = 1},
};

struct scene {
    struct world w;
    struct tg_place_request request;
};

static void ask(struct scene *s, struct tg_piece *pieces, size_t n)
{
    s->request = (struct tg_place_request){.name = "gang ns/g", .pieces = pieces, .n_pieces = n};
}

static void ask_gang(struct scene *s, size_t members, size_t gpus)
{
    ask(s, new_gang(&s->w, members, gpus), members);
}

/* One pod with a claim of these devices. */
static void ask_claim(struct scene *s, const char *pod_more, const char *devices)
{
    struct tg_piece *piece = tg_arena_alloc(s->w.arena, sizeof(*piece));

    assert_non_null(piece);
    *piece =
        new_piece(&s->w, new_pod(&s->w, "train", "1", pod_more), new_claim(&s->w, "gpus", devices));
    ask(s, piece, 1);
}

static void ask_pod(struct scene *s, const char *pod_more)
{
    ask_claim(s, pod_more,
              "\"requests\":[{\"name\":\"gpus\",\"exactly\":{\"deviceClassName\":\"gpu\"}}]");
}

static void ask_selected(struct scene *s, const char *expression, size_t count)
{
    char devices[1024];

    snprintf(devices, sizeof(devices),
             "\"requests\":[{\"name\":\"gpus\",\"exactly\":{\"deviceClassName\":\"gpu\",\"count\":"
             "%zu,\"selectors\":[{\"cel\":{\"expression\":\"%s\"}}]}}]",
             count, expression);
    ask_claim(s, "", devices);
}

/* A node with so many GPUs of which the first ones are held, each by a claim with its pod. */
static void add_box(struct scene *s, const char *name, const char *labels, size_t gpus, size_t held)
{
    add_node(&s->w, name, labels, "");
    add_gpus(&s->w, name, gpus, "");
    for (size_t i = 0; i < held; i++) {
        char claim[64], more[256], gpu[32];

        snprintf(claim, sizeof(claim), "job-%s-%zu", name, i);
        snprintf(gpu, sizeof(gpu), "gpu-%zu", i);
        snprintf(more, sizeof(more),
                 "\"nodeName\":\"%s\",\"resourceClaims\":[{\"name\":\"c\",\"resourceClaimName\":"
                 "\"%s\"}],",
                 name, claim);
        s->w.pods[s->w.n_pods++] = new_pod(&s->w, claim, "100m", more);
        s->w.claims[s->w.n_claims++] = decodef(
            s->w.arena, &tg_resource_claim_type,
            "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\"},\"spec\":{\"devices\":{"
            "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\"}}]}},"
            "\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":"
            "\"" GPU_DRIVER "\",\"pool\":\"%s\",\"device\":\"%s\"}]}}}}",
            claim, name, gpu);
    }
}

static bool find(void *data, const char *holder, struct tg_resident *ret)
{
    struct world *w = data;

    if (strcmp(holder, "gang/ns/llama") == 0) {
        *ret = (struct tg_resident){.until = INT64_C(1796000000) * 1000000000};
        return true;
    }
    for (size_t i = 0; i < w->n_claims; i++) {
        char name[64];

        snprintf(name, sizeof(name), "claim ns/%s", w->claims[i]->metadata->name);
        if (strcmp(name, holder) != 0 || w->claims[i]->spec->devices->requests.n == 0)
            continue;
        *ret = (struct tg_resident){.claim = w->claims[i], .n_pods = 0};
        for (size_t p = 0; p < w->n_pods; p++) {
            if (strcmp(w->pods[p]->metadata->name, w->claims[i]->metadata->name) == 0)
                *ret =
                    (struct tg_resident){.claim = w->claims[i], .pods = &w->pods[p], .n_pods = 1};
        }
        return true;
    }
    return false;
}

/* --- the promise of the first chapter ----------------------------------------------------------
 */

static void another_model(struct scene *s)
{
    add_node(&s->w, "a", "", "");
    add_gpus(&s->w, "a", 4, "\"productName\":{\"string\":\"A100\"}");
    ask_selected(s, "device.attributes['" GPU_DRIVER "'].productName == 'H100'", 1);
}

static void seven_nodes_at_seven_of_eight(struct scene *s)
{
    for (char name[] = "a"; name[0] < 'h'; name[0]++)
        add_box(s, name, "", 8, 7);
    ask_gang(s, 1, 2);
}

static void the_second_gang_on_six_nodes(struct scene *s)
{
    for (char name[] = "a"; name[0] < 'g'; name[0]++)
        add_box(s, name, "", 1, name[0] < 'e' ? 1 : 0);
    ask_gang(s, 4, 1);
}

/* One card in four quarters; halves are made of two of them. */
static void add_card(struct scene *s, const char *held)
{
    add_node(&s->w, "a", "", "");
    add_slice(&s->w,
              "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"driver\":\"" GPU_DRIVER
              "\",\"nodeName\":\"a\",\"pool\":{\"name\":\"a\",\"generation\":1,"
              "\"resourceSliceCount\":2},\"sharedCounters\":[{\"name\":\"card\",\"counters\":{"
              "\"s0\":{\"value\":\"1\"},\"s1\":{\"value\":\"1\"},\"s2\":{\"value\":\"1\"},\"s3\":{"
              "\"value\":\"1\"}}}]}}");
    add_slice(
        &s->w,
        "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"driver\":\"" GPU_DRIVER
        "\",\"nodeName\":\"a\",\"pool\":{\"name\":\"a\",\"generation\":1,\"resourceSliceCount\":2},"
        "\"devices\":["
        "{\"name\":\"quarter-1\",\"attributes\":{\"profile\":{\"string\":\"quarter\"}},"
        "\"consumesCounters\":[{\"counterSet\":\"card\",\"counters\":{\"s1\":{\"value\":\"1\"}}}]},"
        "{\"name\":\"quarter-2\",\"attributes\":{\"profile\":{\"string\":\"quarter\"}},"
        "\"consumesCounters\":[{\"counterSet\":\"card\",\"counters\":{\"s2\":{\"value\":\"1\"}}}]},"
        "{\"name\":\"half-0\",\"attributes\":{\"profile\":{\"string\":\"half\"}},"
        "\"consumesCounters\":[{\"counterSet\":\"card\",\"counters\":{\"s0\":{\"value\":\"1\"},"
        "\"s1\":{\"value\":\"1\"}}}]},"
        "{\"name\":\"half-2\",\"attributes\":{\"profile\":{\"string\":\"half\"}},"
        "\"consumesCounters\":[{\"counterSet\":\"card\",\"counters\":{\"s2\":{\"value\":\"1\"},"
        "\"s3\":{\"value\":\"1\"}}}]}]}}");
    add_holder(&s->w, "old", "a", held);
}

static void a_card_whose_middle_is_taken(struct scene *s)
{
    add_card(s, "quarter-1");
    add_holder(&s->w, "older", "a", "quarter-2");
    ask_selected(s, "device.attributes['" GPU_DRIVER "'].profile == 'half'", 1);
}

static void two_halves_of_which_one_is_taken(struct scene *s)
{
    add_card(s, "half-0");
    ask_selected(s, "device.attributes['" GPU_DRIVER "'].profile == 'half'", 2);
}

/* --- nodes -------------------------------------------------------------------------------------
 */

static void add_raw_node(struct scene *s, const char *name, const char *ready, const char *cpu)
{
    s->w.nodes[s->w.n_nodes++] = decodef(
        s->w.arena, &tg_node_type,
        "{\"metadata\":{\"name\":\"%s\"},\"spec\":{},\"status\":{\"conditions\":[{\"type\":"
        "\"Ready\",\"status\":\"%s\"}],\"allocatable\":{\"cpu\":\"%s\",\"memory\":\"1Gi\",\"pods\":"
        "\"1\",\"example.com/nic\":\"0\"}}}",
        name, ready, cpu);
    add_gpus(&s->w, name, 2, "");
}

static void no_nodes(struct scene *s)
{
    ask_gang(s, 1, 1);
}

static void a_node_that_is_not_ready(struct scene *s)
{
    add_raw_node(s, "a", "False", "8");
    ask_gang(s, 1, 1);
}

static void a_node_that_cannot_be_read(struct scene *s)
{
    add_raw_node(s, "a", "True", "many");
    ask_gang(s, 1, 1);
}

static void a_cordoned_node(struct scene *s)
{
    add_node(&s->w, "a", "", "\"unschedulable\":true");
    add_gpus(&s->w, "a", 2, "");
    ask_gang(s, 1, 1);
}

static void a_tainted_node(struct scene *s)
{
    add_node(&s->w, "a", "",
             "\"taints\":[{\"key\":\"team\",\"value\":\"ml\",\"effect\":\"NoSchedule\"}]");
    add_gpus(&s->w, "a", 2, "");
    ask_gang(s, 1, 1);
}

static void a_node_selector_that_no_node_has(struct scene *s)
{
    add_box(s, "a", "", 2, 0);
    ask_pod(s, "\"nodeSelector\":{\"pool\":\"big\"},");
}

static void a_node_affinity_that_no_node_has(struct scene *s)
{
    add_box(s, "a", "", 2, 0);
    ask_pod(s, "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
               "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"pool\",\"operator\":"
               "\"Exists\"}]}]}}},");
}

static void nodes_out_for_different_reasons(struct scene *s)
{
    a_cordoned_node(s);
    add_node(&s->w, "b", "", "\"taints\":[{\"key\":\"team\",\"effect\":\"NoExecute\"}]");
    add_gpus(&s->w, "b", 2, "");
    add_raw_node(s, "c", "False", "8");
}

static void devices_on_the_cordoned_node_only(struct scene *s)
{
    a_cordoned_node(s);
    add_node(&s->w, "b", "", "");
}

static void a_taint_keeps_the_second_node_away(struct scene *s)
{
    a_tainted_node(s);
    add_box(s, "b", "", 2, 2);
}

static void another_claim_ties_the_pod_to_a_node_that_is_gone(struct scene *s)
{
    add_box(s, "a", "", 2, 0);
    ask_gang(s, 1, 1);
    ((struct tg_piece *)s->request.pieces)->fixed_node = "z";
}

static void another_claim_ties_the_pod_to_a_cordoned_node(struct scene *s)
{
    a_cordoned_node(s);
    add_box(s, "b", "", 2, 0);
    ((struct tg_piece *)s->request.pieces)->fixed_node = "a";
}

/* --- room --------------------------------------------------------------------------------------
 */

static void ask_room(struct scene *s, const char *requests, const char *ports)
{
    struct tg_piece *piece = tg_arena_alloc(s->w.arena, sizeof(*piece));

    assert_non_null(piece);
    *piece = new_piece(
        &s->w,
        decodef(
            s->w.arena, &tg_pod_type,
            "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"train\"},\"spec\":{\"containers\":[{"
            "\"name\":\"c\",\"resources\":{\"requests\":{%s}},\"ports\":[%s]}]}}",
            requests, ports),
        new_gpu_claim(&s->w, "gpus", 1));
    ask(s, piece, 1);
}

static void too_little_cpu(struct scene *s)
{
    add_box(s, "a", "", 2, 0);
    s->w.pods[s->w.n_pods++] = new_pod(&s->w, "hog", "7500m", "\"nodeName\":\"a\",");
    ask_gang(s, 1, 1);
}

static void too_little_memory(struct scene *s)
{
    add_box(s, "a", "", 2, 0);
    ask_room(s, "\"memory\":\"1Ti\"", "");
}

static void too_many_pods(struct scene *s)
{
    add_raw_node(s, "a", "True", "8");
    s->w.pods[s->w.n_pods++] = new_pod(&s->w, "other", "1", "\"nodeName\":\"a\",");
    ask_gang(s, 1, 1);
}

static void a_host_port_that_is_taken(struct scene *s)
{
    add_box(s, "a", "", 2, 0);
    s->w.pods[s->w.n_pods++] = decodef(
        s->w.arena, &tg_pod_type,
        "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"web\"},\"spec\":{\"nodeName\":\"a\","
        "\"containers\":[{\"name\":\"c\",\"ports\":[{\"hostPort\":80}]}]}}");
    ask_room(s, "\"cpu\":\"1\"", "{\"hostPort\":80}");
}

static void an_extended_resource_that_the_node_has_none_of(struct scene *s)
{
    add_raw_node(s, "a", "True", "8");
    ask_room(s, "\"example.com/nic\":\"1\"", "");
}

static void a_pod_without_devices(struct scene *s)
{
    struct tg_piece *piece = tg_arena_alloc(s->w.arena, sizeof(*piece));

    assert_non_null(piece);
    add_box(s, "a", "", 1, 0);
    *piece = new_piece(&s->w, new_pod(&s->w, "leader", "100", ""), NULL);
    ask(s, piece, 1);
}

/* --- devices -----------------------------------------------------------------------------------
 */

static void nothing_is_published(struct scene *s)
{
    add_node(&s->w, "a", "", "");
    ask_gang(s, 1, 1);
}

static void nothing_of_the_class(struct scene *s)
{
    add_class(&s->w, "amd", ",{\"cel\":{\"expression\":\"device.driver == 'amd.example.com'\"}}");
    add_box(s, "a", "", 2, 0);
    ask_claim(s, "",
              "\"requests\":[{\"name\":\"gpus\",\"exactly\":{\"deviceClassName\":\"amd\"}}]");
}

static void everything_is_held(struct scene *s)
{
    add_box(s, "a", "", 2, 2);
    add_box(s, "b", "", 2, 2);
    ask_gang(s, 1, 1);
}

static void a_gang_holds_the_place_of_a_lost_member(struct scene *s)
{
    add_box(s, "a", "", 1, 0);
    s->w.busy[s->w.n_busy++] = (struct tg_fleet_busy){
        .driver = GPU_DRIVER, .pool = "a", .device = "gpu-0", .holder = "gang/ns/llama"};
    ask_gang(s, 1, 1);
}

static void devices_with_a_taint(struct scene *s)
{
    add_node(&s->w, "a", "", "");
    add_slice(&s->w, "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                     "\",\"nodeName\":\"a\",\"pool\":{\"name\":\"a\",\"generation\":1,"
                     "\"resourceSliceCount\":1},\"devices\":[{\"name\":\"x\",\"taints\":[{\"key\":"
                     "\"maintenance\",\"effect\":\"NoSchedule\"}]}]}}");
    ask_gang(s, 1, 1);
}

static void devices_that_are_not_healthy(struct scene *s)
{
    add_node(&s->w, "a", "", "");
    add_gpus(&s->w, "a", 2, "\"healthy\":{\"bool\":false}");
    ask_gang(s, 1, 1);
}

static void devices_that_others_can_have(struct scene *s)
{
    add_raw_class(&s->w, "{\"metadata\":{\"name\":\"theirs\"},\"spec\":{\"selectors\":[]}}");
    add_box(s, "a", "", 2, 0);
    ask_gang(s, 1, 1);
}

static void devices_with_a_reserved_attribute(struct scene *s)
{
    add_node(&s->w, "a", "", "");
    add_slice(&s->w, "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                     "\",\"nodeName\":\"a\",\"pool\":{\"name\":\"a\",\"generation\":1,"
                     "\"resourceSliceCount\":1},\"devices\":[{\"name\":\"x\",\"attributes\":{"
                     "\"tangram.dev/x\":{\"bool\":true}}}]}}");
    ask_gang(s, 1, 1);
}

static void a_pool_that_is_not_complete(struct scene *s)
{
    add_box(s, "a", "", 1, 1);
    add_slice(&s->w, "{\"metadata\":{\"name\":\"t\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                     "\",\"nodeName\":\"a\",\"pool\":{\"name\":\"second\",\"generation\":1,"
                     "\"resourceSliceCount\":2},\"devices\":[]}}");
    ask_gang(s, 1, 1);
}

static void two_requests_for_one_device(struct scene *s)
{
    add_class(&s->w, "first",
              ",{\"cel\":{\"expression\":\"device.attributes['" GPU_DRIVER "'].index == 0\"}}");
    add_box(s, "a", "", 3, 0);
    ask_claim(s, "",
              "\"requests\":[{\"name\":\"one\",\"exactly\":{\"deviceClassName\":\"first\"}},{"
              "\"name\":\"other\",\"exactly\":{\"deviceClassName\":\"first\"}}]");
}

static void a_constraint_that_no_node_can_meet(struct scene *s)
{
    add_box(s, "a", "", 2, 0);
    ask_claim(s, "",
              "\"requests\":[{\"name\":\"gpus\",\"exactly\":{\"deviceClassName\":\"gpu\",\"count\":"
              "2}}],\"constraints\":[{\"matchAttribute\":\"" GPU_DRIVER "/index\"}]");
}

static void no_alternative_is_there(struct scene *s)
{
    add_node(&s->w, "a", "", "");
    add_gpus(&s->w, "a", 2, "\"productName\":{\"string\":\"T4\"}");
    ask_claim(s, "",
              "\"requests\":[{\"name\":\"gpus\",\"firstAvailable\":[{\"name\":\"large\","
              "\"deviceClassName\":\"gpu\",\"selectors\":[{\"cel\":{\"expression\":"
              "\"device.attributes['" GPU_DRIVER "'].productName == 'H100'\"}}]},{\"name\":"
              "\"small\",\"deviceClassName\":\"gpu\",\"selectors\":[{\"cel\":{\"expression\":"
              "\"device.attributes['" GPU_DRIVER "'].productName == 'A100'\"}}]}]}]");
}

static void all_devices_of_a_node_and_one_is_held(struct scene *s)
{
    add_box(s, "a", "", 3, 1);
    ask_claim(s, "",
              "\"requests\":[{\"name\":\"gpus\",\"exactly\":{\"deviceClassName\":\"gpu\","
              "\"allocationMode\":\"All\"}}]");
}

static void shares_that_are_used_up(struct scene *s)
{
    add_node(&s->w, "a", "", "");
    add_slice(&s->w, "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                     "\",\"nodeName\":\"a\",\"pool\":{\"name\":\"a\",\"generation\":1,"
                     "\"resourceSliceCount\":1},\"devices\":[{\"name\":\"x\","
                     "\"allowMultipleAllocations\":true,\"capacity\":{\"memory\":{\"value\":"
                     "\"40Gi\"}}}]}}");
    ask_claim(s, "",
              "\"requests\":[{\"name\":\"gpus\",\"exactly\":{\"deviceClassName\":\"gpu\","
              "\"capacity\":{\"requests\":{\"memory\":\"50Gi\"}}}}]");
}

static void nearly_the_right_selector(struct scene *s)
{
    add_node(&s->w, "a", "", "");
    add_gpus(&s->w, "a", 4, "\"memory\":{\"int\":40}");
    add_node(&s->w, "b", "", "");
    add_gpus(&s->w, "b", 1, "\"memory\":{\"int\":80}");
    ask_selected(s, "device.attributes['" GPU_DRIVER "'].memory >= 80", 2);
}

/* --- topology ----------------------------------------------------------------------------------
 */

static void no_node_has_the_label(struct scene *s)
{
    add_box(s, "a", "", 2, 0);
    ask_gang(s, 2, 1);
    s->request.pack_required = &levels[1];
}

static void add_racks(struct scene *s)
{
    add_box(s, "a", "\"example.com/rack\":\"r1\",\"example.com/zone\":\"z1\"", 2, 0);
    add_box(s, "b", "\"example.com/rack\":\"r1\",\"example.com/zone\":\"z1\"", 2, 1);
    add_box(s, "c", "\"example.com/rack\":\"r2\",\"example.com/zone\":\"z1\"", 2, 0);
    add_box(s, "d", "\"example.com/rack\":\"r3\",\"example.com/zone\":\"z2\"", 2, 1);
}

static void a_rack_has_too_little_and_the_zone_enough(struct scene *s)
{
    add_racks(s);
    ask_gang(s, 4, 1);
    s->request.pack_required = &levels[1];
}

static void no_zone_has_enough_and_the_fleet_does(struct scene *s)
{
    add_racks(s);
    ask_gang(s, 6, 1);
    s->request.pack_required = &levels[0];
}

static void more_than_any_rack_holds(struct scene *s)
{
    add_racks(s);
    ask_gang(s, 5, 1);
    s->request.pack_required = &levels[1];
}

/* --- gangs -------------------------------------------------------------------------------------
 */

static void two_of_four_members(struct scene *s)
{
    add_box(s, "a", "", 4, 0);
    add_box(s, "b", "", 4, 4);
    ask_gang(s, 4, 2);
}

static void more_devices_than_any_node_has(struct scene *s)
{
    add_box(s, "a", "", 8, 3);
    ask_gang(s, 1, 9);
}

static void more_members_than_the_fleet_holds(struct scene *s)
{
    add_box(s, "a", "", 8, 0);
    add_box(s, "b", "", 8, 8);
    ask_gang(s, 3, 8);
}

static void two_moves_make_room(struct scene *s)
{
    add_box(s, "a", "", 4, 2);
    add_box(s, "b", "", 4, 3);
    add_box(s, "c", "", 4, 3);
    ask_gang(s, 1, 4);
}

static void a_pod_that_asks_for_too_much_cpu_on_the_only_free_node(struct scene *s)
{
    too_little_cpu(s);
    add_box(s, "b", "", 2, 2);
}

/* --- the texts ---------------------------------------------------------------------------------
 */

#define SITUATION(build)                                                                           \
    {                                                                                              \
#build, build                                                                              \
    }

static const struct {
    const char *name;
    void (*build)(struct scene *s);
} situations[] = {
    SITUATION(another_model),
    SITUATION(seven_nodes_at_seven_of_eight),
    SITUATION(the_second_gang_on_six_nodes),
    SITUATION(a_card_whose_middle_is_taken),
    SITUATION(two_halves_of_which_one_is_taken),
    SITUATION(no_nodes),
    SITUATION(a_node_that_is_not_ready),
    SITUATION(a_node_that_cannot_be_read),
    SITUATION(a_cordoned_node),
    SITUATION(a_tainted_node),
    SITUATION(a_node_selector_that_no_node_has),
    SITUATION(a_node_affinity_that_no_node_has),
    SITUATION(nodes_out_for_different_reasons),
    SITUATION(devices_on_the_cordoned_node_only),
    SITUATION(a_taint_keeps_the_second_node_away),
    SITUATION(another_claim_ties_the_pod_to_a_node_that_is_gone),
    SITUATION(another_claim_ties_the_pod_to_a_cordoned_node),
    SITUATION(too_little_cpu),
    SITUATION(too_little_memory),
    SITUATION(too_many_pods),
    SITUATION(a_host_port_that_is_taken),
    SITUATION(an_extended_resource_that_the_node_has_none_of),
    SITUATION(a_pod_without_devices),
    SITUATION(nothing_is_published),
    SITUATION(nothing_of_the_class),
    SITUATION(everything_is_held),
    SITUATION(a_gang_holds_the_place_of_a_lost_member),
    SITUATION(devices_with_a_taint),
    SITUATION(devices_that_are_not_healthy),
    SITUATION(devices_that_others_can_have),
    SITUATION(devices_with_a_reserved_attribute),
    SITUATION(a_pool_that_is_not_complete),
    SITUATION(two_requests_for_one_device),
    SITUATION(a_constraint_that_no_node_can_meet),
    SITUATION(no_alternative_is_there),
    SITUATION(all_devices_of_a_node_and_one_is_held),
    SITUATION(shares_that_are_used_up),
    SITUATION(nearly_the_right_selector),
    SITUATION(no_node_has_the_label),
    SITUATION(a_rack_has_too_little_and_the_zone_enough),
    SITUATION(no_zone_has_enough_and_the_fleet_does),
    SITUATION(more_than_any_rack_holds),
    SITUATION(two_of_four_members),
    SITUATION(more_devices_than_any_node_has),
    SITUATION(more_members_than_the_fleet_holds),
    SITUATION(two_moves_make_room),
    SITUATION(a_pod_that_asks_for_too_much_cpu_on_the_only_free_node),
};

static void explain(struct scene *s, struct tg_explanation *ret)
{
    const struct tg_explain_input input = {.request = &s->request,
                                           .levels = levels,
                                           .n_levels = 2,
                                           .find = find,
                                           .data = &s->w,
                                           .max_steps = SIZE_MAX};
    struct tg_error err = TG_ERROR_INIT;

    if (tg_explain_request(world_fleet(&s->w), &input, s->w.arena, ret, &err) < 0)
        fail_msg("%s", err.message);
}

/* The line of the file, without its end; "" at the end of the file. */
static void read_line(FILE *file, char *ret, size_t size)
{
    ret[0] = '\0';
    if (fgets(ret, (int)size, file) != NULL)
        ret[strcspn(ret, "\n")] = '\0';
}

/* situations.txt has one line a situation, in this order. With SITUATIONS=1 they are printed as
 * they are now. */
static void each_situation_is_told_like_this(void **state)
{
    TG_AUTOFCLOSE FILE *file = fopen(TEST_SOURCE_DIR "/tests/unit/core/situations.txt", "re");
    bool print = getenv("SITUATIONS") != NULL;
    size_t wrong = 0;

    (void)state;
    assert_non_null(file);
    for (size_t i = 0; i < TG_ARRAY_SIZE(situations); i++) {
        static struct scene s;
        struct tg_explanation e;
        struct tg_text text;
        char is[1280], expected[1280];

        memset(&s, 0, sizeof(s));
        world_init(&s.w);
        add_class(&s.w, "gpu", "");
        situations[i].build(&s);
        explain(&s, &e);
        tg_explanation_sentence(&e, &text);
        snprintf(is, sizeof(is), "%s | %s: %s", situations[i].name,
                 e.reason == NULL ? "-" : e.reason, text.data);
        read_line(file, expected, sizeof(expected));
        if (print)
            printf("@%s\n", is);
        if (strcmp(is, expected) != 0 && ++wrong > 0)
            print_error("is  %s\nnot %s\n", is, expected);
        world_done(&s.w);
    }
    assert_true(TG_ARRAY_SIZE(situations) >= 40);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_situation_is_told_like_this),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
