/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the node's ResourceSlices as they should be: compares what should be with what is, writes
 * the difference one operation after the other, and looks again whenever something changed: slices
 * that the kubelet wiped (it does so at each of its starts) or anybody else deleted or edited come
 * back. Failures and fights are retried with growing pauses.
 */
#ifndef TG_PLUGIN_PUBLISHER_H
#define TG_PLUGIN_PUBLISHER_H

#include <stdbool.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"
#include "api/runtime/base/metrics.h"
#include "api/runtime/loop/loop.h"
#include "driver/inventory/inventory.h"

enum { TG_PUBLISHER_WAIT = 1 };

/* The API server as far as slices go. A seam: programs use slice_api.h, tests a table. */
struct tg_publisher_api {
    /* All slices of our driver and node that are known now; the list is in the arena, the slices
     * are valid until the loop goes on. Returns 0, TG_PUBLISHER_WAIT if nothing is known yet
     * (tg_publisher_changed will tell), or RESOURCE_EXHAUSTED. */
    int (*observe)(void *data, struct tg_arena *arena, const struct tg_resource_slice ***ret,
                   size_t *n, struct tg_error *err);
    /* `done` is called exactly once from the loop, never from inside; err NULL: success. The answer
     * of the server is known to `observe` by then, except for deletions. */
    void (*execute)(void *data, const struct tg_inventory_operation *operation,
                    void (*done)(void *done_data, const struct tg_error *err), void *done_data);
    void *data;
};

struct tg_publisher;

/* Strings of the owner are copied (node_uid is set by _set_node). */
struct tg_publisher *tg_publisher_new(struct tg_loop *loop, const char *driver,
                                      const char *node_name, const struct tg_publisher_api *api);
/* Tells the registry, which outlives the publisher, of writes that wait and that failed. */
void tg_publisher_measure(struct tg_publisher *publisher, struct tg_metrics *metrics);
/* A running operation must not call back any more: free what executes it before. NULL is allowed.
 */
void tg_publisher_free(struct tg_publisher *publisher);

/* The devices to publish, and how; borrowed until the next call. Before it returns, what was
 * borrowed before is let go of. */
void tg_publisher_set_devices(struct tg_publisher *publisher, const struct tg_device_set *devices,
                              enum tg_slice_layout layout);
/* The Node object: its uid (NULL: there is none; nothing is written), and why nothing may be
 * published at all (NULL: nothing speaks against it). Then own slices are removed. */
void tg_publisher_set_node(struct tg_publisher *publisher, const char *uid, const char *blocked);
/* The kubelet has registered the driver: from now on devices may be published. A pod that is bound
 * to the node before has its claims refused ("driver is not registered"), and the kubelet looks at
 * such a pod again only after more than a minute. Own slices are removed at any time. */
void tg_publisher_set_served(struct tg_publisher *publisher);
/* What `observe` tells has changed. */
void tg_publisher_changed(struct tg_publisher *publisher);
/* 0: what should be published is. Otherwise UNAVAILABLE or the error of the last attempt, with the
 * reason. */
int tg_publisher_status(const struct tg_publisher *publisher, struct tg_error *err);

#endif
