/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/metrics.h"
#include "tests/support/metric_page.h"

static const double bounds[] = {0.1, 1};
static const struct tg_metric_definition table[] = {
    {.name = "tests_total",
     .help = "Requests\nby \\ code.",
     .kind = TG_METRIC_COUNTER,
     .labels = {"code", "verb"},
     .max_series = 3},
    {.name = "depth", .help = "Depth.", .kind = TG_METRIC_GAUGE},
    {.name = "latency_seconds",
     .help = "Latency.",
     .kind = TG_METRIC_HISTOGRAM,
     .labels = {"verb"},
     .bounds = bounds,
     .n_bounds = 2},
};
enum { REQUESTS, DEPTH, LATENCY, N };

struct fixture {
    struct tg_metrics *metrics;
    struct tg_metric *metric[N];
    struct tg_buf out;
};

static void init(struct fixture *f)
{
    f->metrics = tg_metrics_new();
    tg_metrics_add(f->metrics, table, N, f->metric);
    tg_buf_init(&f->out, 1 << 20);
}

static const char *text(struct fixture *f)
{
    tg_buf_clear(&f->out);
    tg_metrics_write(f->metrics, &f->out);
    return tg_buf_str(&f->out);
}

static void done(struct fixture *f)
{
    tg_metrics_free(f->metrics);
    tg_buf_done(&f->out);
}

static void every_kind_is_written_as_prometheus_reads_it(void **state)
{
    struct fixture f;

    (void)state;
    init(&f);
    assert_string_equal(text(&f), "# HELP depth Depth.\n# TYPE depth gauge\ndepth 0\n");
    tg_metric_add(f.metric[REQUESTS], TG_LABELS("200", "GET"), 1);
    tg_metric_add(f.metric[REQUESTS], TG_LABELS("200", "GET"), 2);
    tg_metric_add(f.metric[REQUESTS], TG_LABELS("\"\\\n", "PUT"), 1);
    tg_metric_set(f.metric[DEPTH], NULL, 2.5);
    tg_metric_observe(f.metric[LATENCY], TG_LABELS("GET"), 0.1);
    tg_metric_observe(f.metric[LATENCY], TG_LABELS("GET"), 0.5);
    tg_metric_observe(f.metric[LATENCY], TG_LABELS("GET"), 7);
    assert_string_equal(text(&f), "# HELP tests_total Requests\\nby \\\\ code.\n"
                                  "# TYPE tests_total counter\n"
                                  "tests_total{code=\"200\",verb=\"GET\"} 3\n"
                                  "tests_total{code=\"\\\"\\\\\\n\",verb=\"PUT\"} 1\n"
                                  "# HELP depth Depth.\n"
                                  "# TYPE depth gauge\n"
                                  "depth 2.5\n"
                                  "# HELP latency_seconds Latency.\n"
                                  "# TYPE latency_seconds histogram\n"
                                  "latency_seconds_bucket{verb=\"GET\",le=\"0.1\"} 1\n"
                                  "latency_seconds_bucket{verb=\"GET\",le=\"1\"} 2\n"
                                  "latency_seconds_bucket{verb=\"GET\",le=\"+Inf\"} 3\n"
                                  "latency_seconds_sum{verb=\"GET\"} 7.6\n"
                                  "latency_seconds_count{verb=\"GET\"} 3\n");
    done(&f);
}

static void label_values_are_bounded_and_the_rest_is_counted_together(void **state)
{
    struct fixture f;

    (void)state;
    init(&f);
    for (int i = 0; i < 1000; i++) {
        char code[16];

        snprintf(code, sizeof(code), "%d", i);
        tg_metric_add(f.metric[REQUESTS], TG_LABELS(code, "GET"), 1);
    }
    assert_true(metric_on_page(f.metrics, "tests_total{code=\"2\",verb=\"GET\"}") == 1);
    assert_true(metric_on_page(f.metrics, "tests_total{code=\"3\",verb=\"GET\"}") == -1);
    assert_true(metric_on_page(f.metrics, "tests_total{code=\"other\",verb=\"other\"}") == 997);
    done(&f);
}

static void a_table_added_twice_is_one(void **state)
{
    struct fixture f;
    struct tg_metric *again[N];

    (void)state;
    init(&f);
    tg_metrics_add(f.metrics, table, N, again);
    assert_memory_equal(again, f.metric, sizeof(again));
    done(&f);
}

static void collect(void *data)
{
    const struct fixture *f = data;

    tg_metric_add(f->metric[DEPTH], NULL, 1);
}

static void collectors_run_before_writing_until_they_are_forgotten(void **state)
{
    struct fixture f;

    (void)state;
    init(&f);
    tg_metrics_on_collect(f.metrics, collect, &f);
    assert_non_null(strstr(text(&f), "depth 1\n"));
    assert_non_null(strstr(text(&f), "depth 2\n"));
    tg_metrics_forget(f.metrics, &f);
    assert_non_null(strstr(text(&f), "depth 2\n"));
    done(&f);
}

static void without_a_registry_nothing_happens(void **state)
{
    struct tg_metric *metric[N];

    (void)state;
    tg_metrics_add(NULL, table, N, metric);
    tg_metric_add(metric[REQUESTS], TG_LABELS("200", "GET"), 1);
    tg_metric_set(metric[DEPTH], NULL, 1);
    tg_metric_observe(metric[LATENCY], TG_LABELS("GET"), 1);
    tg_metrics_on_collect(NULL, collect, NULL);
    tg_metrics_forget(NULL, NULL);
    tg_metrics_free(NULL);
}

static void a_route_serves_them_with_their_type(void **state)
{
    struct fixture f;
    const char *type = "text/plain";

    (void)state;
    init(&f);
    assert_int_equal(tg_metrics_handle(f.metrics, &f.out, &type), 200);
    assert_string_equal(type, "text/plain; version=0.0.4; charset=utf-8");
    assert_non_null(strstr(tg_buf_str(&f.out), "depth 0\n"));
    done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_written_as_prometheus_reads_it),
        cmocka_unit_test(label_values_are_bounded_and_the_rest_is_counted_together),
        cmocka_unit_test(a_table_added_twice_is_one),
        cmocka_unit_test(collectors_run_before_writing_until_they_are_forgotten),
        cmocka_unit_test(without_a_registry_nothing_happens),
        cmocka_unit_test(a_route_serves_them_with_their_type),
    };
    return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
