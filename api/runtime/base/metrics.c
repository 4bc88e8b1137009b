/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/metrics.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/base/vec.h"

enum { MAX_SERIES = 100 };

const double tg_metric_latencies[TG_METRIC_LATENCIES] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.1,
                                                         0.25,  0.5,    1,     2.5,  10,    60};

struct series {
    char *labels[TG_METRIC_LABELS];
    double value;      /* histograms: the sum */
    uint64_t count;    /* histograms */
    uint64_t *buckets; /* histograms, n_bounds; not cumulative */
};

struct tg_metric {
    const struct tg_metric_definition *definition;
    TG_VEC(struct series) series;
};

struct collector {
    void (*collect)(void *data);
    void *data;
};

struct tg_metrics {
    TG_VEC(struct tg_metric *) metrics; /* in the order they came */
    TG_VEC(struct collector) collectors;
};

static size_t count_labels(const struct tg_metric_definition *definition)
{
    size_t n = 0;

    while (n < TG_METRIC_LABELS && definition->labels[n] != NULL)
        n++;
    return n;
}

static struct series *push_series(struct tg_metric *metric, const char *const *labels)
{
    const struct tg_metric_definition *definition = metric->definition;
    struct series *series = TG_VEC_PUSH(&metric->series);

    *series = (struct series){0};
    for (size_t i = 0; i < count_labels(definition); i++)
        series->labels[i] = tg_xstrdup(labels == NULL ? "other" : labels[i]);
    if (definition->kind == TG_METRIC_HISTOGRAM)
        series->buckets = tg_xcalloc(definition->n_bounds, sizeof(*series->buckets));
    return series;
}

static struct series *find_series(const struct tg_metric *metric, const char *const *labels)
{
    size_t n = count_labels(metric->definition);

    for (size_t i = 0; i < metric->series.n; i++) {
        struct series *series = &metric->series.items[i];
        size_t equal = 0;

        while (equal < n &&
               tg_streq(series->labels[equal], labels == NULL ? "other" : labels[equal]))
            equal++;
        if (equal == n)
            return series;
    }
    return NULL;
}

/* The series of those labels, made if there is room for one more, else the common one. */
static struct series *series_of(struct tg_metric *metric, const char *const *labels)
{
    size_t most = metric->definition->max_series > 0 ? metric->definition->max_series : MAX_SERIES;
    struct series *series = find_series(metric, labels);

    if (series == NULL && metric->series.n >= most) {
        labels = NULL;
        series = find_series(metric, NULL);
    }
    return series != NULL ? series : push_series(metric, labels);
}

static void free_series(struct series *series)
{
    for (size_t i = 0; i < TG_METRIC_LABELS; i++)
        free(series->labels[i]);
    free(series->buckets);
}

struct tg_metrics *tg_metrics_new(void)
{
    return tg_xcalloc(1, sizeof(struct tg_metrics));
}

void tg_metrics_free(struct tg_metrics *metrics)
{
    if (metrics == NULL)
        return;
    for (size_t i = 0; i < metrics->metrics.n; i++) {
        struct tg_metric *metric = metrics->metrics.items[i];

        for (size_t s = 0; s < metric->series.n; s++)
            free_series(&metric->series.items[s]);
        TG_VEC_DONE(&metric->series);
        free(metric);
    }
    TG_VEC_DONE(&metrics->metrics);
    TG_VEC_DONE(&metrics->collectors);
    free(metrics);
}

static struct tg_metric *find_metric(const struct tg_metrics *metrics,
                                     const struct tg_metric_definition *definition)
{
    for (size_t i = 0; i < metrics->metrics.n; i++) {
        struct tg_metric *metric = metrics->metrics.items[i];

        if (metric->definition == definition)
            return metric;
        assert(!tg_streq(metric->definition->name, definition->name)); /* one meaning a name */
    }
    return NULL;
}

static struct tg_metric *add_one(struct tg_metrics *metrics,
                                 const struct tg_metric_definition *definition)
{
    struct tg_metric *metric = find_metric(metrics, definition);

    if (metric != NULL)
        return metric;
    metric = tg_xcalloc(1, sizeof(*metric));
    metric->definition = definition;
    if (count_labels(definition) == 0)
        push_series(metric, NULL);
    *TG_VEC_PUSH(&metrics->metrics) = metric;
    return metric;
}

void tg_metrics_add(struct tg_metrics *metrics, const struct tg_metric_definition *table, size_t n,
                    struct tg_metric **ret)
{
    for (size_t i = 0; i < n; i++)
        ret[i] = metrics == NULL ? NULL : add_one(metrics, &table[i]);
}

void tg_metrics_on_collect(struct tg_metrics *metrics, void (*collect)(void *data), void *data)
{
    if (metrics != NULL)
        *TG_VEC_PUSH(&metrics->collectors) = (struct collector){collect, data};
}

void tg_metrics_forget(struct tg_metrics *metrics, const void *data)
{
    size_t kept = 0;

    if (metrics == NULL)
        return;
    for (size_t i = 0; i < metrics->collectors.n; i++) {
        if (metrics->collectors.items[i].data != data)
            metrics->collectors.items[kept++] = metrics->collectors.items[i];
    }
    metrics->collectors.n = kept;
}

void tg_metric_add(struct tg_metric *metric, const char *const *labels, double by)
{
    if (metric != NULL)
        series_of(metric, labels)->value += by;
}

void tg_metric_set(struct tg_metric *metric, const char *const *labels, double value)
{
    if (metric != NULL)
        series_of(metric, labels)->value = value;
}

void tg_metric_reset(struct tg_metric *metric)
{
    for (size_t i = 0; metric != NULL && i < metric->series.n; i++)
        metric->series.items[i].value = 0;
}

void tg_metric_observe(struct tg_metric *metric, const char *const *labels, double value)
{
    struct series *series;
    size_t bucket = 0;

    if (metric == NULL)
        return;
    assert(metric->definition->kind == TG_METRIC_HISTOGRAM);
    series = series_of(metric, labels);
    while (bucket < metric->definition->n_bounds && value > metric->definition->bounds[bucket])
        bucket++;
    if (bucket < metric->definition->n_bounds)
        series->buckets[bucket]++;
    series->value += value;
    series->count++;
}

static void write_escaped(struct tg_buf *out, const char *s, bool quotes)
{
    for (; *s != '\0'; s++) {
        if (*s == '\\')
            tg_buf_append_str(out, "\\\\");
        else if (*s == '\n')
            tg_buf_append_str(out, "\\n");
        else if (*s == '"' && quotes)
            tg_buf_append_str(out, "\\\"");
        else
            tg_buf_append_char(out, *s);
    }
}

/* {a="b",le="0.1"}; le NULL: none. */
static void write_labels(struct tg_buf *out, const struct tg_metric_definition *definition,
                         const struct series *series, const char *le)
{
    const char *separator = "{";

    for (size_t i = 0; i < count_labels(definition); i++) {
        tg_buf_printf(out, "%s%s=\"", separator, definition->labels[i]);
        write_escaped(out, series->labels[i], true);
        tg_buf_append_char(out, '"');
        separator = ",";
    }
    if (le != NULL) {
        tg_buf_printf(out, "%sle=\"%s\"", separator, le);
        separator = ",";
    }
    if (separator[0] == ',')
        tg_buf_append_char(out, '}');
}

static void write_sample(struct tg_buf *out, const struct tg_metric_definition *definition,
                         const struct series *series, const char *suffix, const char *le,
                         double value)
{
    tg_buf_printf(out, "%s%s", definition->name, suffix);
    write_labels(out, definition, series, le);
    tg_buf_printf(out, " %.16g\n", value);
}

static void write_series(struct tg_buf *out, const struct tg_metric_definition *definition,
                         const struct series *series)
{
    uint64_t below = 0;

    if (definition->kind != TG_METRIC_HISTOGRAM) {
        write_sample(out, definition, series, "", NULL, series->value);
        return;
    }
    for (size_t i = 0; i < definition->n_bounds; i++) {
        char le[32];

        below += series->buckets[i];
        snprintf(le, sizeof(le), "%g", definition->bounds[i]);
        write_sample(out, definition, series, "_bucket", le, (double)below);
    }
    write_sample(out, definition, series, "_bucket", "+Inf", (double)series->count);
    write_sample(out, definition, series, "_sum", NULL, series->value);
    write_sample(out, definition, series, "_count", NULL, (double)series->count);
}

void tg_metrics_write(struct tg_metrics *metrics, struct tg_buf *out)
{
    static const char *const kinds[] = {"counter", "gauge", "histogram"};

    for (size_t i = 0; i < metrics->collectors.n; i++)
        metrics->collectors.items[i].collect(metrics->collectors.items[i].data);
    for (size_t i = 0; i < metrics->metrics.n; i++) {
        const struct tg_metric *metric = metrics->metrics.items[i];
        const struct tg_metric_definition *definition = metric->definition;

        if (metric->series.n == 0)
            continue;
        tg_buf_printf(out, "# HELP %s ", definition->name);
        write_escaped(out, definition->help, false);
        tg_buf_printf(out, "\n# TYPE %s %s\n", definition->name, kinds[definition->kind]);
        for (size_t s = 0; s < metric->series.n; s++)
            write_series(out, definition, &metric->series.items[s]);
    }
}

int tg_metrics_handle(void *data, struct tg_buf *body, const char **content_type)
{
    tg_metrics_write(data, body);
    *content_type = "text/plain; version=0.0.4; charset=utf-8";
    return 200;
}
