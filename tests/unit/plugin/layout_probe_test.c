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
    bool counters;
};

static void told(void *data, bool counters)
{
    struct bench *bench = data;
    bench->told++;
    bench->counters = counters;
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

static bool ask(struct bench *bench)
{
    bool counters = false;
    tg_layout_probe_ask(bench->probe);
    while (bench->told == 0)
        tg_loop_run_once(bench->loop, true);
    assert_true(tg_layout_probe_known(bench->probe, &counters));
    assert_true(counters == bench->counters);
    return counters;
}

static void the_question_is_a_dry_run_of_our_node(void **state)
{
    struct bench *bench = *state;
    bool counters;
    assert_false(tg_layout_probe_known(bench->probe, &counters));
    assert_true(ask(bench));
    assert_int_equal(api_count(&bench->api, "POST", "dryRun=All"), 1);
    assert_non_null(
        strstr(api_last(&bench->api, "POST", "resourceslices"), "\"nodeName\":\"node-a\""));
}

static void a_server_that_drops_counters_keeps_none(void **state)
{
    struct bench *bench = *state;
    bench->api.no_counters = true;
    assert_false(ask(bench));
}

static void a_server_that_refuses_them_keeps_none(void **state)
{
    struct bench *bench = *state;
    bench->api.fail = 422;
    assert_false(ask(bench));
}

static void a_failure_is_no_answer(void **state)
{
    struct bench *bench = *state;
    bool counters;
    bench->api.fail = 403;
    tg_layout_probe_ask(bench->probe);
    while (bench->api.n == 0)
        tg_loop_run_once(bench->loop, true);
    for (int i = 0; i < 20; i++)
        tg_loop_run_once(bench->loop, false);
    assert_int_equal(bench->told, 0);
    assert_false(tg_layout_probe_known(bench->probe, &counters));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_question_is_a_dry_run_of_our_node, setup, teardown),
        cmocka_unit_test_setup_teardown(a_server_that_drops_counters_keeps_none, setup, teardown),
        cmocka_unit_test_setup_teardown(a_server_that_refuses_them_keeps_none, setup, teardown),
        cmocka_unit_test_setup_teardown(a_failure_is_no_answer, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
