/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kubelet-plugin/layout_probe.h"
#include "tests/unit/plugin/api_server.h"

struct bench {
    struct tg_loop *loop;
    struct api_server api;
    struct tg_layout_probe *probe;
    int told;
    enum tg_slice_layout layout;
};

static void told(void *data, enum tg_slice_layout layout)
{
    struct bench *bench = data;
    bench->told++;
    bench->layout = layout;
}

static int setup(void **state)
{
    struct bench *bench = tg_xcalloc(1, sizeof(*bench));
    bench->loop = tg_loop_new(false);
    api_server_init(&bench->api, bench->loop);
    bench->probe = tg_layout_probe_new(bench->api.client, "d", "node-a", told, bench);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    tg_layout_probe_free(bench->probe);
    api_server_done(&bench->api);
    tg_loop_free(bench->loop);
    free(bench);
    return 0;
}

static enum tg_slice_layout ask(struct bench *bench)
{
    enum tg_slice_layout layout = TG_SLICES_DERIVED;
    tg_layout_probe_ask(bench->probe);
    while (bench->told == 0)
        tg_loop_run_once(bench->loop, true);
    assert_true(tg_layout_probe_known(bench->probe, &layout));
    assert_int_equal(layout, bench->layout);
    return layout;
}

static void the_question_is_a_dry_run_of_our_node(void **state)
{
    struct bench *bench = *state;
    enum tg_slice_layout layout;
    assert_false(tg_layout_probe_known(bench->probe, &layout));
    assert_int_equal(ask(bench), TG_SLICES_COUNTERS);
    assert_int_equal(api_count(&bench->api, "POST", "dryRun=All"), 1);
    assert_non_null(
        strstr(api_last(&bench->api, "POST", "resourceslices"), "\"nodeName\":\"node-a\""));
}

static void a_server_that_drops_counters_keeps_none(void **state)
{
    struct bench *bench = *state;
    bench->api.no_counters = true;
    assert_int_equal(ask(bench), TG_SLICES_PLAIN);
}

/* 1.34 with its alpha feature: what a device consumes must be in its own slice. */
static void a_server_that_wants_them_in_the_slice_of_the_device_is_understood(void **state)
{
    struct bench *bench = *state;
    bench->api.fail = 422; /* the next write only */
    assert_int_equal(ask(bench), TG_SLICES_TOGETHER);
    assert_int_equal(api_count(&bench->api, "POST", "dryRun=All"), 2);
    assert_non_null(strstr(api_last(&bench->api, "POST", "resourceslices"), "\"sharedCounters\""));
}

static void a_server_that_refuses_one_and_drops_the_other_keeps_none(void **state)
{
    struct bench *bench = *state;
    bench->api.fail = 422;
    bench->api.no_counters = true;
    assert_int_equal(ask(bench), TG_SLICES_PLAIN);
}

static void a_failure_is_no_answer(void **state)
{
    struct bench *bench = *state;
    enum tg_slice_layout layout;
    bench->api.fail = 403;
    tg_layout_probe_ask(bench->probe);
    while (bench->api.n == 0)
        tg_loop_run_once(bench->loop, true);
    for (int i = 0; i < 20; i++)
        tg_loop_run_once(bench->loop, false);
    assert_int_equal(bench->told, 0);
    assert_false(tg_layout_probe_known(bench->probe, &layout));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_question_is_a_dry_run_of_our_node, setup, teardown),
        cmocka_unit_test_setup_teardown(a_server_that_drops_counters_keeps_none, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_server_that_wants_them_in_the_slice_of_the_device_is_understood, setup, teardown),
        cmocka_unit_test_setup_teardown(a_server_that_refuses_one_and_drops_the_other_keeps_none,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_failure_is_no_answer, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
