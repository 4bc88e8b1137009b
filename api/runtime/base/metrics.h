/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of a process in the text format of Prometheus (0.0.4). A registry belongs to a program;
 * whoever measures adds a table of definitions and keeps the handles. Functions take NULL for a
 * metric and do nothing then, so that parts can be used without a registry. Names and units follow
 * prometheus.io/docs/practices/naming: base units, counters end in _total.
 */
#ifndef TG_RUNTIME_BASE_METRICS_H
#define TG_RUNTIME_BASE_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/buf.h"

struct tg_metrics;
struct tg_metric; /* owned by its registry */

enum tg_metric_kind { TG_METRIC_COUNTER, TG_METRIC_GAUGE, TG_METRIC_HISTOGRAM };

enum { TG_METRIC_LABELS = 3 };

struct tg_metric_definition {
    const char *name, *help;
    enum tg_metric_kind kind;
    const char *labels[TG_METRIC_LABELS]; /* names, NULL after the last */
    const double *bounds;                 /* histograms: upper bounds of the buckets, rising */
    size_t n_bounds;
    /* Combinations of label values that are kept apart, 0: 100. Later ones are counted together as
     * "other": what an outsider chooses must not make the process grow. */
    size_t max_series;
};

/* Seconds, for what should take milliseconds and may take a minute. */
extern const double tg_metric_latencies[];
enum { TG_METRIC_LATENCIES = 12 };

struct tg_metrics *tg_metrics_new(void);
/* NULL is allowed. */
void tg_metrics_free(struct tg_metrics *metrics);
/* Adds the definitions and fills ret with their handles; a table that is there already gives the
 * same handles again. The table must outlive the registry. metrics NULL: the handles are NULL. */
void tg_metrics_add(struct tg_metrics *metrics, const struct tg_metric_definition *table, size_t n,
                    struct tg_metric **ret);
/* collect(data) is called before the metrics are written, to set what is only looked up then. */
void tg_metrics_on_collect(struct tg_metrics *metrics, void (*collect)(void *data), void *data);
/* Everything that was registered with that data is not called any more. NULL is allowed. */
void tg_metrics_forget(struct tg_metrics *metrics, const void *data);

/* Label values in the order of the definition; NULL for a metric without labels. */
#define TG_LABELS(...) ((const char *const[]){__VA_ARGS__})
void tg_metric_add(struct tg_metric *metric, const char *const *labels, double by);
/* Also for counters whose value is kept elsewhere. */
void tg_metric_set(struct tg_metric *metric, const char *const *labels, double value);
/* Every series of a gauge is 0: for what is counted anew each time it is collected. */
void tg_metric_reset(struct tg_metric *metric);
void tg_metric_observe(struct tg_metric *metric, const char *const *labels, double value);

/* Appends all metrics. Metrics without labels are written even before they were touched. Failure
 * stays in the buffer. */
void tg_metrics_write(struct tg_metrics *metrics, struct tg_buf *out);
/* For a route of the HTTP server (api/runtime/http); data is the registry. */
int tg_metrics_handle(void *data, struct tg_buf *body, const char **content_type);

#endif
