/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubelet/health.h"

#include "api/kubelet/generated/health.pb-c.h"
#include "api/kubelet/protobuf.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"

_Static_assert((int)TG_KUBELET_HEALTHY == PB_HEALTH__HEALTH_STATUS__HEALTHY &&
                   (int)TG_KUBELET_UNHEALTHY == PB_HEALTH__HEALTH_STATUS__UNHEALTHY,
               "numbers as on the wire");

int tg_kubelet_health_encode(const struct tg_kubelet_device_health *devices, size_t n,
                             struct tg_buf *out, struct tg_error *err)
{
    struct item {
        PbHealth__DeviceHealth health;
        PbHealth__DeviceIdentifier device;
    };
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    PbHealth__NodeWatchResourcesResponse response = PB_HEALTH__NODE_WATCH_RESOURCES_RESPONSE__INIT;
    TG_AUTOFREE struct item *items = tg_xcalloc(n, sizeof(*items));
    TG_AUTOFREE PbHealth__DeviceHealth **list = tg_xcalloc(n, sizeof(PbHealth__DeviceHealth *));

    for (size_t i = 0; i < n; i++) {
        PbHealth__DeviceHealth *health = &items[i].health;
        pb_health__device_health__init(health);
        pb_health__device_identifier__init(&items[i].device);
        items[i].device.pool_name = devices[i].pool;
        items[i].device.device_name = devices[i].device;
        health->device = &items[i].device;
        health->health = (PbHealth__HealthStatus)devices[i].health;
        health->last_updated_time = devices[i].updated;
        health->health_check_timeout_seconds = devices[i].timeout;
        health->message = tg_protobuf_text(arena, devices[i].message);
        list[i] = health;
    }
    response.n_devices = n;
    response.devices = list;
    return tg_protobuf_pack(&response.base, out, err);
}
