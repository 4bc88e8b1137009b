/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/registration.h"

#include "api/kubelet/dra.h"
#include "api/kubelet/health.h"
#include "api/kubelet/registration.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/grpc/grpc.h"

#define MESSAGE_BUDGET ((size_t)64 << 10)

struct tg_registration {
    struct tg_arena *arena; /* of the strings */
    struct tg_grpc_server *server;
    struct tg_buf info; /* the answer to GetInfo, encoded once */
    bool registered;
    void (*changed)(void *data, bool registered, const char *why);
    void *data;
};

const char *tg_registration_service_path(const char *plugin_dir, struct tg_arena *arena)
{
    return tg_arena_printf(arena, "%s/dra.sock", plugin_dir);
}

const char *tg_registration_socket_path(const char *registry_dir, const char *driver,
                                        struct tg_arena *arena)
{
    return tg_arena_printf(arena, "%s/%s-reg.sock", registry_dir, driver);
}

static void handle_get_info(void *data, struct tg_grpc_call call, const uint8_t *message, size_t n,
                            int64_t deadline)
{
    const struct tg_registration *registration = data;

    (void)message; /* InfoRequest has no fields */
    (void)n;
    (void)deadline;
    tg_grpc_reply(call, (const uint8_t *)registration->info.data, registration->info.len);
}

static void handle_notify(void *data, struct tg_grpc_call call, const uint8_t *message, size_t n,
                          int64_t deadline)
{
    struct tg_registration *registration = data;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(MESSAGE_BUDGET);
    struct tg_kubelet_registration_status status;
    struct tg_error err;

    (void)deadline;
    if (tg_kubelet_registration_status_decode(message, n, arena, &status, &err) != 0) {
        tg_grpc_fail(call, &err);
        return;
    }
    registration->registered = status.registered;
    /* After a refusal the kubelet comes again for as long as the socket exists. */
    if (registration->changed != NULL)
        registration->changed(registration->data, status.registered, status.error);
    tg_grpc_reply(call, NULL, 0);
}

int tg_registration_new(struct tg_loop *loop, const struct tg_registration_config *config,
                        struct tg_registration **ret, struct tg_error *err)
{
    /* Best first: the kubelet takes the first DRA service that it knows. */
    static const char *const services[] = {
        TG_KUBELET_DRA_V1_SERVICE,
        TG_KUBELET_DRA_V1BETA1_SERVICE,
        TG_KUBELET_HEALTH_V1_SERVICE,
        TG_KUBELET_HEALTH_V1ALPHA1_SERVICE,
    };
    const struct tg_kubelet_plugin_info info = {
        .type = TG_KUBELET_DRA_PLUGIN,
        .name = config->driver,
        .endpoint = config->service_path,
        .services = services,
        .n = TG_ARRAY_SIZE(services),
    };
    struct tg_registration *registration = tg_xcalloc(1, sizeof(*registration));
    registration->arena = tg_arena_new(TG_ARENA_UNLIMITED);
    registration->info = TG_BUF_INIT(MESSAGE_BUDGET);
    registration->changed = config->changed;
    registration->data = config->data;
    const struct tg_grpc_method methods[] = {
        {.path = TG_KUBELET_GET_INFO, .handle = handle_get_info, .data = registration},
        {.path = TG_KUBELET_NOTIFY, .handle = handle_notify, .data = registration},
    };
    const char *path =
        tg_registration_socket_path(config->registry_dir, config->driver, registration->arena);

    int rc = tg_kubelet_plugin_info_encode(&info, &registration->info, err);
    if (rc == 0)
        rc = tg_grpc_server_new(loop, path, methods, TG_ARRAY_SIZE(methods), &registration->server,
                                err);
    if (rc != 0) {
        tg_registration_free(registration);
        return rc;
    }
    *ret = registration;
    return 0;
}

void tg_registration_measure(struct tg_registration *registration, struct tg_metrics *metrics)
{
    tg_grpc_server_measure(registration->server, metrics);
}

void tg_registration_free(struct tg_registration *registration)
{
    if (registration == NULL)
        return;
    tg_grpc_server_free(registration->server);
    tg_buf_done(&registration->info);
    tg_arena_free(registration->arena);
    free(registration);
}

bool tg_registration_registered(const struct tg_registration *registration)
{
    return registration->registered;
}
