/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the kubelet's device health stream as plain structs, the same for v1 and v1alpha1.
 * The wire format is in proto/health.proto. */
#ifndef TG_KUBELET_HEALTH_H
#define TG_KUBELET_HEALTH_H

#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/error.h"

/* Names of the services as GetInfo lists them (not as paths). */
#define TG_KUBELET_HEALTH_V1_SERVICE "v1.DRAResourceHealth" /* Kubernetes 1.37 and later */
#define TG_KUBELET_HEALTH_V1ALPHA1_SERVICE "v1alpha1.DRAResourceHealth" /* 1.34 and later */

#define TG_KUBELET_HEALTH_V1_WATCH "/v1.DRAResourceHealth/NodeWatchResources"
#define TG_KUBELET_HEALTH_V1ALPHA1_WATCH "/v1alpha1.DRAResourceHealth/NodeWatchResources"

/* A device that was not reported for so long is unknown to a kubelet that was not told another time
 * (seconds). */
#define TG_KUBELET_HEALTH_TIMEOUT 30

/* Numbers as on the wire. */
enum tg_kubelet_health {
    TG_KUBELET_HEALTH_UNKNOWN = 0,
    TG_KUBELET_HEALTHY = 1,
    TG_KUBELET_UNHEALTHY = 2,
};

struct tg_kubelet_device_health {
    const char *pool, *device;
    enum tg_kubelet_health health;
    int64_t updated;     /* when that was found, seconds since the epoch */
    int64_t timeout;     /* seconds; 0: the kubelet's default */
    const char *message; /* for people; NULL: none. Kubelets cut it at 1,024 bytes */
};

/* Appends one message of the stream: all devices, every time. TG_RESOURCE_EXHAUSTED: the buffer's
 * cap. */
int tg_kubelet_health_encode(const struct tg_kubelet_device_health *devices, size_t n,
                             struct tg_buf *out, struct tg_error *err);

#endif
