/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/v1 Events about objects, aggregated: the same (object, reason, message) within 10 minutes
 * raises count by a patch at most once a minute; at most one new event a 5 seconds for an (object,
 * reason), the newest message wins. Bounded queue: when it is full the oldest waiting event is
 * dropped and counted. Failures are counted and logged at V(4), never retried for ever.
 */
#ifndef TG_KUBERNETES_CLIENT_EVENTS_H
#define TG_KUBERNETES_CLIENT_EVENTS_H

#include "api/kubernetes/client/client.h"

struct tg_events;

/* component: "tangram-controller"; instance: the process. Must be freed before its client. */
struct tg_events *tg_events_new(struct tg_kube_client *client, const char *component,
                                const char *instance);
/* What waits is not written any more. NULL is allowed. */
void tg_events_free(struct tg_events *events);
/* type: "Normal" or "Warning"; reason: CamelCase; message cut at 1,024 bytes. Cluster-scoped
 * objects: event in "default". */
void tg_events_record(struct tg_events *events, const struct tg_kind *kind,
                      const struct tg_object_meta *about, const char *type, const char *reason,
                      const char *message);

/* recorded: calls; written: requests that succeeded; dropped: events given up (full queue, refused,
 * tried too often); failed: requests that did not succeed. */
struct tg_events_counters {
    uint64_t recorded, written, dropped, failed;
};
struct tg_events_counters tg_events_counters(const struct tg_events *events);

#endif
