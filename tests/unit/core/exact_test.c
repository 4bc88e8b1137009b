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
    assert_string_equal(s.why.reason, "InsufficientDevices");
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

static void what_this_version_never_allocates_stays_out(void **state)
{
    struct setting s;

    (void)state;
    begin(&s);
    add_node(&s.w, "n", "", "");
    add_slice(&s.w, "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                    "\",\"nodeName\":\"n\",\"pool\":{\"name\":\"n\",\"generation\":1,"
                    "\"resourceSliceCount\":1},\"devices\":[{\"name\":\"a\","
                    "\"allowMultipleAllocations\":true},{\"name\":\"b\"}]}}");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constraints_are_kept_by_all_members_on_a_node),
        cmocka_unit_test(a_node_where_no_two_belong_together_is_left),
        cmocka_unit_test(what_does_not_belong_together_is_said),
        cmocka_unit_test(the_first_alternative_that_fits_is_taken),
        cmocka_unit_test(all_of_a_node_is_all_or_another_node),
        cmocka_unit_test(plain_members_make_room_for_exact_ones),
        cmocka_unit_test(what_this_version_never_allocates_stays_out),
        cmocka_unit_test(plain_claims_do_without),
    };

    return cmocka_run_group_tests_name("exact", tests, NULL, NULL);
}
