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
/* Gathers the blocking taints of a device: its own, those of rules, and bad health. */
int tg_taint_collect(struct tg_fleet_device *device,
                     const struct tg_device_taint_rule *const *rules, size_t n_rules,
                     struct tg_arena *arena, struct tg_error *err);

#endif
