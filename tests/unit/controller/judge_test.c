/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/json/decode.h"

struct world {
    struct tg_arena *arena;
    struct tg_view view;
};

static const void *add(struct world *w, enum tg_view_kind kind, const struct tg_type *type,
                       const char *json)
{
    struct tg_error err = TG_ERROR_INIT;
    void *object = NULL;

    if (tg_json_decode_new(type, json, strlen(json), w->arena, &object, &err) < 0)
        fail_msg("%s: %s", json, err.message);
    tg_view_add(&w->view, kind, object);
    return object;
}

static int set_up(void **state)
{
    static struct world w;

    w.arena = tg_arena_new((size_t)4 << 20);
    tg_view_init(&w.view);
    add(&w, TG_VIEW_NODE, &tg_node_type, "{\"metadata\":{\"name\":\"n\"}}");
    add(&w, TG_VIEW_CLASS, &tg_device_class_type, "{\"metadata\":{\"name\":\"c\"},\"spec\":{}}");
    add(&w, TG_VIEW_SLICE, &tg_resource_slice_type,
        "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"d\",\"pool\":{\"name\":\"n\","
        "\"generation\":1,\"resourceSliceCount\":1},\"nodeName\":\"n\",\"devices\":[{\"name\":"
        "\"a\"},{\"name\":\"b\",\"allowMultipleAllocations\":true,\"capacity\":{\"m\":{\"value\":"
        "\"4\"}}}]}}");
    *state = &w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    tg_view_done(&w->view);
    tg_arena_free(w->arena);
    return 0;
}

static const struct tg_resource_claim *claim(struct world *w, const char *json)
{
    return add(w, TG_VIEW_CLAIM, &tg_resource_claim_type, json);
}
#define CLAIM(name)                                                                                \
    "{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"ns\"},\"spec\":{\"devices\":{"           \
    "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"c\"}}]}}}"
#define HOLDER(more)                                                                               \
    "{\"metadata\":{\"name\":\"holder\",\"namespace\":\"ns\"},\"spec\":{},\"status\":{"            \
    "\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"d\",\"pool\":"      \
    "\"n\"," more "}]}}}}"

/* Two pods with a claim each, on n: device a to the first, and `second` to the second. */
static int judge(struct world *w, const char *second, const struct tg_fleet_busy *busy,
                 size_t n_busy, struct tg_error *err)
{
    const struct tg_resource_claim *x = claim(w, CLAIM("x")), *y = claim(w, CLAIM("y"));
    const struct tg_placed_device devices[] = {
        {.claim = x, .request = "r", .driver = "d", .pool = "n", .device = "a"},
        {.claim = y,
         .request = "r",
         .driver = "d",
         .pool = "n",
         .device = second,
         .consumed = second[0] == 'b' ? "{\"m\":\"4\"}" : NULL},
    };
    const struct tg_piece pieces[] = {{.claims = &x, .n_claims = 1}, {.claims = &y, .n_claims = 1}};
    const struct tg_placed_piece placed[] = {{.node = "n", .devices = &devices[0], .n_devices = 1},
                                             {.node = "n", .devices = &devices[1], .n_devices = 1}};
    const struct tg_place_request request = {.name = "gang", .pieces = pieces, .n_pieces = 2};
    const struct tg_placement placement = {.pieces = placed, .n_pieces = 2};

    return tg_judge_placement(&w->view, busy, n_busy, &request, &placement, w->arena, err);
}

static void what_is_free_may_be_given(void **state)
{
    struct tg_error err = TG_ERROR_INIT;
    int rc = judge(*state, "b", NULL, 0, &err);

    if (rc < 0)
        fail_msg("%s", err.message);
}

static void members_of_one_placement_do_not_share_a_device(void **state)
{
    struct tg_error err = TG_ERROR_INIT;

    assert_int_equal(judge(*state, "a", NULL, 0, &err), -TG_FAILED_PRECONDITION);
    assert_string_equal(err.reason, "InUse");
}

static void a_device_of_another_plan_is_not_free(void **state)
{
    const struct tg_fleet_busy busy = {.driver = "d", .pool = "n", .device = "a"};
    struct tg_error err = TG_ERROR_INIT;

    assert_int_equal(judge(*state, "b", &busy, 1, &err), -TG_FAILED_PRECONDITION);
    assert_string_equal(err.reason, "InUse");
}

static void an_allocated_device_is_not_free_but_for_admin_access(void **state)
{
    struct tg_error err = TG_ERROR_INIT;

    claim(*state, HOLDER("\"device\":\"a\",\"adminAccess\":true"));
    assert_int_equal(judge(*state, "b", NULL, 0, &err), 0);
    claim(*state, HOLDER("\"device\":\"a\""));
    assert_int_equal(judge(*state, "b", NULL, 0, &err), -TG_FAILED_PRECONDITION);
    assert_string_equal(err.reason, "InUse");
}

static void capacity_that_others_consume_is_not_free(void **state)
{
    struct tg_error err = TG_ERROR_INIT;

    claim(*state, HOLDER("\"device\":\"b\",\"shareID\":\"1\",\"consumedCapacity\":{\"m\":\"1\"}"));
    assert_int_equal(judge(*state, "b", NULL, 0, &err), -TG_FAILED_PRECONDITION);
    assert_string_equal(err.reason, "Capacity");
}

static void a_share_of_another_plan_takes_what_it_says(void **state)
{
    const struct tg_string_pair amount = {"m", "1"};
    const struct tg_fleet_busy busy = {.driver = "d",
                                       .pool = "n",
                                       .device = "b",
                                       .share = "s",
                                       .consumed = &amount,
                                       .n_consumed = 1};
    struct tg_error err = TG_ERROR_INIT;

    assert_int_equal(judge(*state, "b", &busy, 1, &err), -TG_FAILED_PRECONDITION);
    assert_string_equal(err.reason, "Capacity");
}

static int judge_pair(struct world *w, const char *device, const char *consumed, bool admin,
                      struct tg_error *err)
{
    const struct tg_resource_claim *claims[2];
    struct tg_placed_device devices[2];
    struct tg_piece pieces[2];
    struct tg_placed_piece placed[2];
    const struct tg_place_request request = {.name = "gang", .pieces = pieces, .n_pieces = 2};
    const struct tg_placement placement = {.pieces = placed, .n_pieces = 2};

    for (size_t i = 0; i < 2; i++) {
        claims[i] = add(w, TG_VIEW_CLAIM, &tg_resource_claim_type,
                        admin ? "{\"metadata\":{\"name\":\"x\",\"namespace\":\"ns\"},\"spec\":{"
                                "\"devices\":{\"requests\":[{\"name\":\"r\",\"exactly\":{"
                                "\"deviceClassName\":\"c\",\"adminAccess\":true}}]}}}"
                              : "{\"metadata\":{\"name\":\"x\",\"namespace\":\"ns\"},\"spec\":{"
                                "\"devices\":{\"requests\":[{\"name\":\"r\",\"exactly\":{"
                                "\"deviceClassName\":\"c\",\"capacity\":{\"requests\":{\"m\":"
                                "\"2\"}}}}]}}}");
        devices[i] = (struct tg_placed_device){.claim = claims[i],
                                               .request = "r",
                                               .driver = "d",
                                               .pool = "n",
                                               .device = device,
                                               .consumed = consumed,
                                               .admin = admin};
        pieces[i] = (struct tg_piece){.claims = &claims[i], .n_claims = 1};
        placed[i] = (struct tg_placed_piece){.node = "n", .devices = &devices[i], .n_devices = 1};
    }
    return tg_judge_placement(&w->view, NULL, 0, &request, &placement, w->arena, err);
}

static void members_may_share_what_is_enough_for_both(void **state)
{
    struct tg_error err = TG_ERROR_INIT;

    if (judge_pair(*state, "b", "{\"m\":\"2\"}", false, &err) < 0)
        fail_msg("%s", err.message);
    if (judge_pair(*state, "a", NULL, true, &err) < 0)
        fail_msg("%s", err.message);
}

static void memory_that_runs_out_is_no_verdict(void **state)
{
    struct world *w = *state;

    for (size_t nth = 1; nth < 10; nth++) {
        struct tg_arena *small = tg_arena_new((size_t)4 << 20);
        const struct tg_placed_piece placed[] = {{.node = "n"}};
        const struct tg_piece pieces[] = {{.n_claims = 0}};
        const struct tg_place_request request = {.pieces = pieces, .n_pieces = 1};
        const struct tg_placement placement = {.pieces = placed, .n_pieces = 1};
        int rc;

        tg_arena_fail_after(small, nth);
        rc = tg_judge_placement(&w->view, NULL, 0, &request, &placement, small, NULL);
        assert_true(rc == 0 || rc == -TG_RESOURCE_EXHAUSTED);
        assert_true(nth > 1 || rc == -TG_RESOURCE_EXHAUSTED);
        tg_arena_free(small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_free_may_be_given, set_up, tear_down),
        cmocka_unit_test_setup_teardown(members_of_one_placement_do_not_share_a_device, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_device_of_another_plan_is_not_free, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_allocated_device_is_not_free_but_for_admin_access,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(capacity_that_others_consume_is_not_free, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_share_of_another_plan_takes_what_it_says, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(members_may_share_what_is_enough_for_both, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(memory_that_runs_out_is_no_verdict, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
