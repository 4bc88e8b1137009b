/* SPDX-License-Identifier: Apache-2.0 */
/* coordination.k8s.io/v1 Lease. */
#ifndef TG_KUBERNETES_OBJECTS_COORDINATION_H
#define TG_KUBERNETES_OBJECTS_COORDINATION_H

#include "api/kubernetes/objects/meta.h"

struct tg_lease_spec {
    const char *holder_identity, *acquire_time, *renew_time; /* MicroTime */
    struct tg_opt_int lease_duration_seconds, lease_transitions;
};
struct tg_lease {
    struct tg_object_meta *metadata;
    struct tg_lease_spec *spec;
};
extern const struct tg_type tg_lease_type;

#endif
