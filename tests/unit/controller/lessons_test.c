/* SPDX-License-Identifier: Apache-2.0 */
/* What policies learn of what comes, and what the configuration tells them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/mem.h"
#include "controller/core/gang/ledger.h"
#include "tests/unit/controller/bench.h"

static void configure(struct bench *bench, const char *placement)
{
    char text[512];
    struct tg_error err = TG_ERROR_INIT;

    snprintf(text, sizeof(text),
             "apiVersion: tangram.dev/v1alpha1\nkind: TangramConfiguration\nplacement: %s\n",
             placement);
    tg_configuration_free(bench->configuration);
    if (tg_configuration_parse("c", text, strlen(text), &bench->configuration, &err) < 0)
        fail_msg("%s", err.message);
    bench->controller.configuration = bench->configuration;
}

/* Of requests for so many whole cards: how many came. */
static void assert_known(const struct bench *bench, unsigned cards, int64_t arrived)
{
    struct tg_mix *mix = tg_xcalloc(1, sizeof(*mix));
    int64_t known = 0;

    tg_ledger_mix(bench->controller.fleet, mix);
    for (size_t i = 0; i < mix->n; i++)
        known += mix->types[i].request.cards == cards ? mix->types[i].arrived / 64 : 0;
    free(mix);
    assert_int_equal(known, arrived);
}

static void what_comes_is_counted_once(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 3);
    bench_pod(bench, "p", 1, 1, NULL);
    bench_pod(bench, "q", 1, 2, NULL);
    bench_gang(bench, "g", 2, 2);
    bench_pod(bench, "too-large", 1, 8, NULL);
    bench_settle(bench, 10 * TG_SECOND);
    bench_pass(bench);
    assert_int_equal(bench_bound(bench), 4);
    assert_known(bench, 1, 3);
    assert_known(bench, 2, 1);
    assert_known(bench, 8, 1);
    bench_free(bench);
}

static void tell_everything(struct bench *bench)
{
    struct tg_view view;

    tg_view_init(&view);
    tg_cluster_fill_view(bench->cluster, 0, &view);
    for (enum tg_view_kind kind = 0; kind < TG_VIEW_KINDS; kind++) {
        for (size_t i = 0; i < view.lists[kind].n; i++)
            tg_controller_feed(&bench->controller, kind, NULL, view.lists[kind].items[i]);
    }
    tg_view_done(&view);
}

static void after_a_restart_what_is_there_counts_as_having_come(void **state)
{
    struct bench *bench = bench_new();

    (void)state;
    bench_fleet(bench, 3);
    bench_pod(bench, "p", 1, 2, NULL);
    bench_gang(bench, "g", 2, 2);
    bench_settle(bench, 10 * TG_SECOND);
    bench_pod(bench, "waits", 1, 8, NULL);
    bench_settle(bench, 10 * TG_SECOND);
    /* A fleet that was told the same, and a process that remembers nothing. */
    tg_fleet_close(bench->controller.fleet);
    bench->controller.fleet = tg_fleet_open("default");
    bench->controller.lessons = (struct tg_lessons){.expected = 0};
    tell_everything(bench);
    bench_crash(bench);
    bench_settle(bench, 10 * TG_SECOND);
    bench_pass(bench);
    assert_known(bench, 1, 2);
    assert_known(bench, 2, 1);
    assert_known(bench, 8, 1);
    bench_free(bench);
}

static const char *node_of(struct bench *bench, const char *pod)
{
    struct tg_view view;
    const struct tg_pod *object;
    const char *node;

    tg_view_init(&view);
    tg_cluster_fill_view(bench->cluster, 0, &view);
    object = tg_view_pod(&view, NS, pod);
    node = object == NULL || object->spec == NULL ? NULL : object->spec->node_name;
    tg_view_done(&view);
    return node;
}

static void the_policy_of_the_configuration_places(void **state)
{
    static const char *const policies[] = {
        "{policy: binpack}",
        "{policy: spread}",
        "{classes: [{class: gpu, policy: spread}]}",
    };
    static const char *const nodes[] = {"n1", "n2", "n2"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct bench *bench = bench_new();

        configure(bench, policies[i]);
        bench_fleet(bench, 2);
        bench_pod(bench, "p", 1, 1, NULL);
        bench_settle(bench, 10 * TG_SECOND);
        bench_pod(bench, "q", 1, 1, NULL);
        bench_settle(bench, 10 * TG_SECOND);
        assert_string_equal(node_of(bench, "p"), "n1");
        assert_string_equal(node_of(bench, "q"), nodes[i]);
        bench_free(bench);
    }
}

static void what_is_expected_may_be_told(void **state)
{
    struct bench *bench = bench_new();
    struct tg_mix *mix = tg_xcalloc(1, sizeof(*mix));

    (void)state;
    /* The first class is not there yet: nothing after it is told before it is. */
    configure(bench, "{expect: [{class: gpu, devices: 2, cpu: 4, memory: 8Gi, count: 5}, "
                     "{class: gpu, count: 7, selector: \"device.driver == 'x'\"}]}");
    bench_pod(bench, "p", 1, 1, NULL);
    bench_pass(bench);
    assert_int_equal(bench->controller.lessons.expected, 0);
    bench_fleet(bench, 1);
    bench_settle(bench, 10 * TG_SECOND);
    assert_int_equal(bench->controller.lessons.expected, 2);
    assert_true(tg_ledger_mix(bench->controller.fleet, mix));
    assert_int_equal(mix->arrivals, 12);
    for (size_t i = 0; i < mix->n; i++) {
        if (mix->types[i].request.cards != 2)
            continue;
        assert_int_equal(mix->types[i].arrived, 5);
        assert_int_equal(mix->types[i].request.cpu, 4000);
        assert_int_equal(mix->types[i].request.memory, 8192);
    }
    free(mix);
    bench_free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_is_counted_once),
        cmocka_unit_test(after_a_restart_what_is_there_counts_as_having_come),
        cmocka_unit_test(the_policy_of_the_configuration_places),
        cmocka_unit_test(what_is_expected_may_be_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
