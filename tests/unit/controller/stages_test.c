/* SPDX-License-Identifier: Apache-2.0 */
/* How the end of a plan is told from what comes in between: once for each plan, by its outcome. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "tests/unit/controller/bench.h"

static const double bounds[] = {1};
static const struct tg_metric_definition table[] = {
    {.name = "search_seconds",
     .help = "Searches.",
     .kind = TG_METRIC_HISTOGRAM,
     .labels = {"outcome"},
     .bounds = bounds,
     .n_bounds = 1},
    {.name = "commit_seconds",
     .help = "Plans.",
     .kind = TG_METRIC_HISTOGRAM,
     .labels = {"outcome"},
     .bounds = bounds,
     .n_bounds = 1},
};

struct measured {
    struct bench *bench;
    struct tg_metrics *metrics;
};

static struct measured begin(size_t nodes)
{
    struct measured m = {.bench = bench_new(), .metrics = tg_metrics_new()};
    struct tg_metric *metric[2];

    tg_metrics_add(m.metrics, table, 2, metric);
    m.bench->controller.metric[TG_CONTROLLER_DECISION_DURATION] = metric[0];
    m.bench->controller.metric[TG_CONTROLLER_COMMIT_DURATION] = metric[1];
    m.bench->clock.monotonic_now += TG_SECOND; /* 0 means never */
    bench_fleet(m.bench, nodes);
    return m;
}

static void done(struct measured *m)
{
    tg_metrics_free(m->metrics);
    bench_free(m->bench);
}

/* -1: there is no such line. */
static int count(const struct measured *m, const char *name, const char *outcome)
{
    TG_AUTOBUF struct tg_buf page = TG_BUF_INIT(1 << 20);
    char line[128];
    const char *at;
    int n = -1;

    tg_metrics_write(m->metrics, &page);
    snprintf(line, sizeof(line), "\n%s_count{outcome=\"%s\"} ", name, outcome);
    at = strstr(tg_buf_str(&page), line);
    if (at != NULL)
        sscanf(at + strlen(line), "%d", &n);
    return n;
}

static void look(struct bench *bench)
{
    tg_cluster_deliver(bench->cluster);
    bench_pass(bench);
}

static void each_plan_that_comes_true_counts_once(void **state)
{
    struct measured m = begin(3);

    (void)state;
    bench_gang(m.bench, "g", 3, 3);         /* a gang */
    bench_pod(m.bench, "one", 1, 1, NULL);  /* a single claim */
    bench_pod(m.bench, "more", 2, 1, NULL); /* an implicit gang */
    bench_settle(m.bench, 60 * TG_SECOND);
    assert_int_equal(bench_gated(m.bench), 0);
    assert_int_equal(count(&m, "commit_seconds", "committed"), 3);
    assert_int_equal(count(&m, "commit_seconds", "rolled_back"), -1);
    assert_int_equal(count(&m, "commit_seconds", "abandoned"), -1);
    assert_true(count(&m, "search_seconds", "placed") >= 3);
    done(&m);
}

static void a_plan_that_is_taken_back_counts_as_that(void **state)
{
    struct measured m = begin(2);

    (void)state;
    bench_gang(m.bench, "g", 2, 2);
    while (bench_allocated(m.bench) == 0)
        assert_true(bench_run(m.bench, 1));
    bench_delete_pod(m.bench, "g-1");
    bench_settle(m.bench, 600 * TG_SECOND);
    assert_int_equal(count(&m, "commit_seconds", "rolled_back"), 1);
    assert_int_equal(count(&m, "commit_seconds", "committed"), -1);
    done(&m);
}

static void a_unit_that_goes_while_its_plan_is_written_is_abandoned(void **state)
{
    struct measured m = begin(1);

    (void)state;
    bench_pod(m.bench, "a", 1, 1, NULL);
    look(m.bench);
    assert_int_equal(m.bench->ops.n, 1);
    bench_delete_pod(m.bench, "a");
    bench_settle(m.bench, 60 * TG_SECOND);
    assert_int_equal(count(&m, "commit_seconds", "abandoned"), 1);
    done(&m);
}

static void what_finds_no_place_is_no_plan(void **state)
{
    struct measured m = begin(1);

    (void)state;
    bench_pod(m.bench, "a", 1, 5, NULL);
    bench_settle(m.bench, 60 * TG_SECOND);
    assert_true(count(&m, "search_seconds", "no_place") >= 1);
    assert_int_equal(count(&m, "search_seconds", "placed"), -1);
    bench_delete_pod(m.bench, "a");
    bench_settle(m.bench, 60 * TG_SECOND);
    assert_int_equal(count(&m, "commit_seconds", "abandoned"), -1);
    done(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_plan_that_comes_true_counts_once),
        cmocka_unit_test(a_plan_that_is_taken_back_counts_as_that),
        cmocka_unit_test(a_unit_that_goes_while_its_plan_is_written_is_abandoned),
        cmocka_unit_test(what_finds_no_place_is_no_plan),
    };

    return cmocka_run_group_tests_name("stages", tests, NULL, NULL);
}
