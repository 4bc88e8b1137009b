/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/client/measures.h"

#include <stdio.h>

#include "api/runtime/base/clock.h"

#define LATENCY .bounds = tg_metric_latencies, .n_bounds = TG_METRIC_LATENCIES
#define INFORMER .labels = {"informer"}

const struct tg_metric_definition tg_kube_client_metric_table[TG_KUBE_CLIENT_METRICS] = {
    [TG_KUBE_CLIENT_REQUESTS] = {.name = "rest_client_requests_total",
                                 .help = "Requests to the API server by status code (<error>: no "
                                         "answer) and method.",
                                 .kind = TG_METRIC_COUNTER,
                                 .labels = {"code", "method"}},
    [TG_KUBE_CLIENT_LATENCY] = {.name = "rest_client_request_duration_seconds",
                                .help = "Time from sending a request to the end of its answer, of "
                                        "lists and watches to its beginning, by verb.",
                                .kind = TG_METRIC_HISTOGRAM,
                                .labels = {"verb"},
                                LATENCY},
    [TG_KUBE_CLIENT_IN_FLIGHT] = {.name = "tangram_client_requests_in_flight",
                                  .help = "Requests to the API server that are under way, watches "
                                          "included.",
                                  .kind = TG_METRIC_GAUGE,
                                  .labels = {"client"}},
};

const struct tg_metric_definition tg_informer_metric_table[TG_INFORMER_METRICS] = {
    [TG_INFORMER_EVENTS] = {.name = "tangram_informer_events_total",
                            .help = "Changes that watches brought.",
                            .kind = TG_METRIC_COUNTER,
                            INFORMER},
    [TG_INFORMER_RELISTS] = {.name = "tangram_informer_relists_total",
                             .help =
                                 "Lists after the first one, because the place of the watch was "
                                 "lost.",
                             .kind = TG_METRIC_COUNTER,
                             INFORMER},
    [TG_INFORMER_RECONNECTS] = {.name = "tangram_informer_reconnects_total",
                                .help = "Watches after the first one; the server ends each after "
                                        "some minutes.",
                                .kind = TG_METRIC_COUNTER,
                                INFORMER},
    [TG_INFORMER_FAILURES] = {.name = "tangram_informer_failures_total",
                              .help = "Lists and watches that failed.",
                              .kind = TG_METRIC_COUNTER,
                              INFORMER},
    [TG_INFORMER_UNREADABLE] = {.name = "tangram_informer_unreadable_total",
                                .help = "Versions of objects that could not be decoded.",
                                .kind = TG_METRIC_COUNTER,
                                INFORMER},
    [TG_INFORMER_OBJECTS] = {.name = "tangram_informer_objects",
                             .help = "Objects in the store.",
                             .kind = TG_METRIC_GAUGE,
                             INFORMER},
    [TG_INFORMER_SYNCED] = {.name = "tangram_informer_synced",
                            .help = "1 once the first list is complete.",
                            .kind = TG_METRIC_GAUGE,
                            INFORMER},
    [TG_INFORMER_SILENCE] = {.name = "tangram_informer_silence_seconds",
                             .help =
                                 "Time since the server last sent anything, bookmarks included; "
                                 "they come about once a minute.",
                             .kind = TG_METRIC_GAUGE,
                             INFORMER},
    [TG_INFORMER_LAG] = {.name = "tangram_informer_lag_seconds",
                         .help = "Time from the answer to a write of this process until its watch "
                                 "showed the write.",
                         .kind = TG_METRIC_HISTOGRAM,
                         INFORMER,
                         LATENCY},
    [TG_INFORMER_LIST_DURATION] = {.name = "tangram_informer_list_duration_seconds",
                                   .help = "Time that whole lists took, all pages.",
                                   .kind = TG_METRIC_HISTOGRAM,
                                   INFORMER,
                                   LATENCY},
};

const struct tg_metric_definition tg_events_metric_table[TG_EVENTS_METRICS] = {
    [TG_EVENTS_RECORDED] = {.name = "tangram_events_recorded_total",
                            .help = "Events about objects that were to be told.",
                            .kind = TG_METRIC_COUNTER},
    [TG_EVENTS_WRITTEN] = {.name = "tangram_events_written_total",
                           .help = "Writes of events that succeeded; several of a kind are one.",
                           .kind = TG_METRIC_COUNTER},
    [TG_EVENTS_FAILED] = {.name = "tangram_events_failed_total",
                          .help = "Writes of events that did not succeed.",
                          .kind = TG_METRIC_COUNTER},
    [TG_EVENTS_DROPPED] = {.name = "tangram_events_dropped_total",
                           .help =
                               "Events that were given up: full queue, refused, tried too often.",
                           .kind = TG_METRIC_COUNTER},
    [TG_EVENTS_WAITING] = {.name = "tangram_events_waiting",
                           .help = "Events that wait to be written.",
                           .kind = TG_METRIC_GAUGE},
};

void tg_kube_client_count(struct tg_metric *const *metric, const struct tg_rest_call *call,
                          int status, int64_t latency)
{
    static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
    const char *method = methods[call->method];
    char code[16] = "<error>";

    if (status > 0)
        snprintf(code, sizeof(code), "%d", status);
    tg_metric_add(metric[TG_KUBE_CLIENT_REQUESTS], TG_LABELS(code, method), 1);
    tg_metric_observe(metric[TG_KUBE_CLIENT_LATENCY],
                      TG_LABELS(call->verb != NULL ? call->verb : method),
                      (double)latency / (double)TG_SECOND);
}
