/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of this folder, as tables. Seen by this folder and its tests only. Names that every
 * Kubernetes component has are spelled as in client-go, so that existing dashboards show them. */
#ifndef TG_KUBERNETES_CLIENT_MEASURES_H
#define TG_KUBERNETES_CLIENT_MEASURES_H

#include "api/runtime/base/metrics.h"
#include "api/runtime/rest/rest.h"

enum tg_kube_client_metric {
    TG_KUBE_CLIENT_REQUESTS,
    TG_KUBE_CLIENT_LATENCY,
    TG_KUBE_CLIENT_IN_FLIGHT,
    TG_KUBE_CLIENT_METRICS,
};
extern const struct tg_metric_definition tg_kube_client_metric_table[TG_KUBE_CLIENT_METRICS];
void tg_kube_client_count(struct tg_metric *const *metric, const struct tg_rest_call *call,
                          int status, int64_t latency);

enum tg_informer_metric {
    TG_INFORMER_EVENTS,
    TG_INFORMER_RELISTS,
    TG_INFORMER_RECONNECTS,
    TG_INFORMER_FAILURES,
    TG_INFORMER_UNREADABLE,
    TG_INFORMER_OBJECTS,
    TG_INFORMER_SYNCED,
    TG_INFORMER_SILENCE,
    TG_INFORMER_LAG,
    TG_INFORMER_LIST_DURATION,
    TG_INFORMER_METRICS,
};
extern const struct tg_metric_definition tg_informer_metric_table[TG_INFORMER_METRICS];

enum tg_events_metric {
    TG_EVENTS_RECORDED,
    TG_EVENTS_WRITTEN,
    TG_EVENTS_FAILED,
    TG_EVENTS_DROPPED,
    TG_EVENTS_WAITING,
    TG_EVENTS_METRICS,
};
extern const struct tg_metric_definition tg_events_metric_table[TG_EVENTS_METRICS];

#endif
