/* SPDX-License-Identifier: Apache-2.0 */
/* Taints and tolerations, of nodes and of devices: both match by the same rule. */
#ifndef TG_CORE_MODEL_TAINT_H
#define TG_CORE_MODEL_TAINT_H

#include <stdbool.h>

#include "api/kubernetes/objects/resource.h"
#include "controller/core/model/view.h"

/* Of a device that says healthy: false, on servers that keep no device taints. */
#define TG_TAINT_UNHEALTHY_KEY "tangram.dev/unhealthy"

#define TG_EFFECT_NO_SCHEDULE "NoSchedule"
#define TG_EFFECT_NO_EXECUTE "NoExecute"

/* Does the effect keep new work away? Other effects are advice. */
bool tg_taint_blocks(const struct tg_taint *taint);
/* Effect and key: empty in the toleration or equal; then Exists, or equal values (v1.Toleration,
 * resource.k8s.io DeviceToleration). */
bool tg_taint_tolerated(const struct tg_taint *taint, const struct tg_toleration *tolerations,
                        size_t n);
/* Whose taints, and which of them. */
struct tg_taint_query {
    const char *driver, *pool;
    const struct tg_device *device;
    bool published;  /* those of the device and of rules; else only bad health */
    bool any_effect; /* those that only advise too */
};
/* The blocking taints of a device: its own, those of rules in order of their names, and bad health.
 */
int tg_taint_collect(const struct tg_fleet *fleet, const struct tg_taint_query *query,
                     struct tg_arena *arena, const struct tg_taint *const **ret, size_t *ret_n,
                     struct tg_error *err);

#endif
