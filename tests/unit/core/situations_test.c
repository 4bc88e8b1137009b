/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a reader who has never seen the source is told in situations that occur: each text whole, in
 * situations.txt.
 */
#include <stdlib.h>

#include "tests/unit/core/situations.h"

#include "api/runtime/base/cleanup.h"
#include "controller/core/explain/words.h"

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

static void a_volume_that_another_node_has(struct scene *s)
{
    add_box(s, "a", "\"host\":\"a\"", 2, 0);
    add_node(&s->w, "b", "\"host\":\"b\"", "");
    add_volume(
        &s->w, "disk", "",
        "{\"matchExpressions\":[{\"key\":\"host\",\"operator\":\"In\",\"values\":[\"b\"]}]}");
    add_volume_claim(&s->w, "data", VOLUME_BOUND, "\"volumeName\":\"disk\"");
    ask_pod(s, USES_VOLUME("data"));
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

/* Its claims go together, which is more than is tried: nothing is said of moving one of them. */
static void a_pod_with_two_claims_is_not_moved_in_halves(struct scene *s)
{
    add_box(s, "a", "", 3, 2);
    add_box(s, "b", "", 1, 0);
    s->w.pods[0] = new_pod(&s->w, "job-a-0", "100m",
                           "\"nodeName\":\"a\",\"resourceClaims\":[{\"name\":\"c\","
                           "\"resourceClaimName\":\"job-a-0\"},{\"name\":\"d\","
                           "\"resourceClaimName\":\"job-a-1\"}],");
    s->w.n_pods = 1;
    ask_gang(s, 1, 2);
}

/* Which of the alternatives is to be smaller is not for us to say. */
static void alternatives_of_which_none_has_enough(struct scene *s)
{
    add_box(s, "a", "", 2, 1);
    ask_claim(s, "",
              "\"requests\":[{\"name\":\"gpus\",\"firstAvailable\":[{\"name\":\"large\","
              "\"deviceClassName\":\"gpu\",\"count\":2},{\"name\":\"small\","
              "\"deviceClassName\":\"gpu\",\"count\":2}]}]");
}

/* --- what a gang wants of its topology beside pack of the whole ---------------------------------
 */

static void ask_ruled(struct scene *s, struct tg_piece *pieces, size_t n,
                      const struct tg_place_rule *rules, size_t n_rules)
{
    ask(s, pieces, n);
    s->request.rules = rules;
    s->request.n_rules = n_rules;
}

static const struct tg_level clique = {.name = GPU_DRIVER "/clique",
                                       .device_attribute = GPU_DRIVER "/clique"};

static void add_clique(struct scene *s, const char *node, size_t gpus, const char *name)
{
    char attribute[64];

    snprintf(attribute, sizeof(attribute), "\"clique\":{\"string\":\"%s\"}", name);
    add_node(&s->w, node, "", "");
    add_gpus(&s->w, node, gpus, attribute);
}

static void add_two_racks(struct scene *s)
{
    add_box(s, "a", "\"example.com/rack\":\"r1\"", 4, 0);
    add_box(s, "b", "\"example.com/rack\":\"r1\"", 4, 0);
    add_box(s, "c", "\"example.com/rack\":\"r2\"", 4, 0);
}

static void more_members_than_racks_may_take(struct scene *s)
{
    static const struct tg_place_rule rules[] = {
        {.level = &levels[1], .most = 1, .required = true, .field = "topology.spread[0]"}};

    add_two_racks(s);
    ask_ruled(s, new_gang(&s->w, 4, 1), 4, rules, 1);
}

static void a_spread_over_racks_of_which_one_is_full(struct scene *s)
{
    static const struct tg_place_rule rules[] = {
        {.level = &levels[1], .most = 2, .required = true, .field = "topology.spread[0]"}};

    add_two_racks(s);
    for (size_t i = 0; i < 3; i++) {
        char name[16];

        snprintf(name, sizeof(name), "gpu-%zu", i);
        add_holder(&s->w, name, "c", name);
    }
    ask_ruled(s, new_gang(&s->w, 4, 1), 4, rules, 1);
}

static void a_spread_over_a_label_that_no_node_has(struct scene *s)
{
    static const struct tg_place_rule rules[] = {
        {.level = &levels[0], .most = 1, .required = true, .field = "topology.spread[0]"}};

    add_two_racks(s);
    ask_ruled(s, new_gang(&s->w, 2, 1), 2, rules, 1);
}

static void a_role_that_no_rack_holds_together(struct scene *s)
{
    static const bool workers[] = {false, false, true};
    static const struct tg_place_rule rules[] = {{.level = &levels[1],
                                                  .roles = workers,
                                                  .required = true,
                                                  .field = "topology.pack.required of role w"}};
    struct tg_piece *pieces = new_gang(&s->w, 4, 4);

    add_two_racks(s);
    add_box(s, "d", "\"example.com/rack\":\"r2\"", 4, 1);
    add_box(s, "e", "", 4, 0);
    for (size_t i = 0; i < 4; i++)
        pieces[i].role = i == 0 ? 1 : 2;
    ask_ruled(s, pieces, 4, rules, 1);
}

static void a_role_that_is_spread_wider_than_there_are_racks(struct scene *s)
{
    static const bool workers[] = {false, false, true};
    static const struct tg_place_rule rules[] = {{.level = &levels[1],
                                                  .roles = workers,
                                                  .most = 1,
                                                  .required = true,
                                                  .field = "topology.spread[0] of role w"}};
    struct tg_piece *pieces = new_gang(&s->w, 4, 1);

    add_two_racks(s);
    for (size_t i = 0; i < 4; i++)
        pieces[i].role = i == 0 ? 1 : 2;
    ask_ruled(s, pieces, 4, rules, 1);
}

static void devices_that_are_not_all_of_one_clique(struct scene *s)
{
    static const struct tg_place_rule rules[] = {
        {.level = &clique, .required = true, .field = "deviceConstraints[0]"}};

    add_clique(s, "a", 2, "x");
    add_clique(s, "b", 1, "y");
    add_clique(s, "c", 1, "y");
    add_holder(&s->w, "old", "c", "gpu-0");
    ask_ruled(s, new_gang(&s->w, 3, 1), 3, rules, 1);
}

static void devices_that_say_nothing_of_a_clique(struct scene *s)
{
    static const struct tg_place_rule rules[] = {
        {.level = &clique, .required = true, .field = "deviceConstraints[0]"}};

    add_box(s, "a", "", 4, 0);
    ask_ruled(s, new_gang(&s->w, 2, 1), 2, rules, 1);
}

static void a_spread_and_a_clique_that_do_not_go_together(struct scene *s)
{
    static const struct tg_place_rule rules[] = {
        {.level = &levels[1], .most = 1, .required = true, .field = "topology.spread[0]"},
        {.level = &clique, .required = true, .field = "deviceConstraints[0]"}};

    add_node(&s->w, "a", "\"example.com/rack\":\"r1\"", "");
    add_gpus(&s->w, "a", 4, "\"clique\":{\"string\":\"x\"}");
    add_node(&s->w, "b", "\"example.com/rack\":\"r2\"", "");
    add_gpus(&s->w, "b", 4, "\"clique\":{\"string\":\"y\"}");
    ask_ruled(s, new_gang(&s->w, 2, 1), 2, rules, 2);
}

static void a_spread_inside_a_rack(struct scene *s)
{
    static const struct tg_level host = {.name = "host", .rank = 2};
    static const struct tg_place_rule rules[] = {
        {.level = &host, .most = 1, .required = true, .field = "topology.spread[0]"}};

    add_two_racks(s);
    ask_ruled(s, new_gang(&s->w, 3, 1), 3, rules, 1);
    s->request.pack_required = &levels[1];
}

static void a_spread_of_a_gang_for_which_there_are_too_few_devices(struct scene *s)
{
    static const struct tg_place_rule rules[] = {
        {.level = &levels[1], .most = 2, .required = true, .field = "topology.spread[0]"}};

    add_box(s, "a", "\"example.com/rack\":\"r1\"", 2, 1);
    add_box(s, "b", "\"example.com/rack\":\"r2\"", 2, 1);
    ask_ruled(s, new_gang(&s->w, 3, 1), 3, rules, 1);
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
    SITUATION(a_volume_that_another_node_has),
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
    SITUATION(more_members_than_racks_may_take),
    SITUATION(a_spread_over_racks_of_which_one_is_full),
    SITUATION(a_spread_over_a_label_that_no_node_has),
    SITUATION(a_role_that_no_rack_holds_together),
    SITUATION(a_role_that_is_spread_wider_than_there_are_racks),
    SITUATION(devices_that_are_not_all_of_one_clique),
    SITUATION(devices_that_say_nothing_of_a_clique),
    SITUATION(a_spread_and_a_clique_that_do_not_go_together),
    SITUATION(a_spread_inside_a_rack),
    SITUATION(a_spread_of_a_gang_for_which_there_are_too_few_devices),
    SITUATION(a_pod_with_two_claims_is_not_moved_in_halves),
    SITUATION(alternatives_of_which_none_has_enough),
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

/* A placement that fails says why by itself: the same code, and the same sentence but for what
 * would help, and for how long a place is held, which the fleet does not know. */
static void placement_says_the_same(struct scene *s, const struct tg_explanation *e,
                                    const char *text)
{
    struct tg_placement placement;
    struct tg_no_place why = {.text = NULL};
    int rc = tg_place(world_fleet(&s->w), &s->request, s->w.arena, &placement, &why, NULL);
    const char *helps = strstr(text, ". It would fit now"), *until = strstr(text, " until 20");
    size_t n = until != NULL   ? (size_t)(until - text)
               : helps != NULL ? (size_t)(helps - text)
                               : strlen(text);

    assert_int_equal(rc, -TG_UNAVAILABLE);
    assert_string_equal(why.reason, e->reason);
    assert_int_equal(why.members_short, e->members - e->placed);
    assert_int_equal(why.devices_per_member, e->devices);
    if (strncmp(why.text, text, n) != 0)
        fail_msg("placement: %s\nexplanation: %s", why.text, text);
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
        placement_says_the_same(&s, &e, text.data);
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
