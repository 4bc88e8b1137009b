/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/dra_service.h"

#include "api/kubelet/health.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/grpc/grpc.h"

#define REQUEST_BUDGET ((size_t)1 << 20) /* some thousand claims; a pod has a handful */
#define CLAIMS_MAX 1024                  /* each is read by a request of its own */
#define ANSWER_MAX ((size_t)4 << 20)     /* what the kubelet takes */

/* One of the four methods on claims. */
struct method {
    const char *path;
    const char *name; /* for the log */
    bool prepare;
    enum tg_kubelet_dra_version version;
    struct tg_dra_service *service;
};

/* A call that waits for its batch. */
struct call {
    struct call *prev, *next;
    struct tg_grpc_call call;
    const struct method *method;
    struct tg_claim_batch *batch;
};

static const struct method claim_methods[] = {
    {TG_KUBELET_DRA_V1_PREPARE, "prepare", true, TG_KUBELET_DRA_V1, NULL},
    {TG_KUBELET_DRA_V1_UNPREPARE, "unprepare", false, TG_KUBELET_DRA_V1, NULL},
    {TG_KUBELET_DRA_V1BETA1_PREPARE, "prepare", true, TG_KUBELET_DRA_V1BETA1, NULL},
    {TG_KUBELET_DRA_V1BETA1_UNPREPARE, "unprepare", false, TG_KUBELET_DRA_V1BETA1, NULL},
};
#define CLAIM_METHODS TG_ARRAY_SIZE(claim_methods)

struct tg_dra_service {
    struct tg_claims *claims;
    struct tg_health_stream *health;
    struct method methods[CLAIM_METHODS];
    struct tg_grpc_server *server;
    struct call *calls;
};

static void call_free(struct call *call)
{
    if (call->prev != NULL)
        call->prev->next = call->next;
    else
        call->method->service->calls = call->next;
    if (call->next != NULL)
        call->next->prev = call->prev;
    free(call);
}

static void log_answers(const struct method *method, const struct tg_kubelet_answer *answers,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (answers[i].error != NULL)
            TG_WARN("Claim failed", TG_S("step", method->name), TG_S("uid", answers[i].uid),
                    TG_S("problem", answers[i].error));
        else
            TG_INFO("Claim done", TG_S("step", method->name), TG_S("uid", answers[i].uid),
                    TG_I("devices", answers[i].n));
    }
}

static void on_batch_done(void *data, const struct tg_kubelet_answer *answers, size_t n)
{
    struct call *call = data;
    const struct method *method = call->method;
    TG_AUTOBUF struct tg_buf message = TG_BUF_INIT(ANSWER_MAX);
    struct tg_error err;

    log_answers(method, answers, n);
    int rc = method->prepare
                 ? tg_kubelet_prepared_encode(method->version, answers, n, &message, &err)
                 : tg_kubelet_unprepared_encode(answers, n, &message, &err);
    if (rc != 0)
        tg_grpc_fail(call->call, &err);
    else
        tg_grpc_reply(call->call, (const uint8_t *)message.data, message.len);
    call_free(call);
}

static void handle_claims(void *data, struct tg_grpc_call grpc, const uint8_t *message, size_t n,
                          int64_t deadline)
{
    const struct method *method = data;
    struct tg_dra_service *service = method->service;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(REQUEST_BUDGET);
    struct tg_kubelet_claims claims;
    struct tg_error err;

    (void)deadline; /* when it passes, the call is cancelled */
    if (tg_kubelet_claims_decode(message, n, arena, &claims, &err) != 0) {
        tg_grpc_fail(grpc, &err);
        return;
    }
    if (claims.n > CLAIMS_MAX) {
        tg_error_set(&err, TG_RESOURCE_EXHAUSTED,
                     "%zu claims in one call; at most %d are taken, a pod has a handful", claims.n,
                     CLAIMS_MAX);
        tg_grpc_fail(grpc, &err);
        return;
    }
    struct call *call = tg_xcalloc(1, sizeof(*call));
    call->call = grpc;
    call->method = method;
    call->next = service->calls;
    if (call->next != NULL)
        call->next->prev = call;
    service->calls = call;
    call->batch = method->prepare
                      ? tg_claims_prepare(service->claims, &claims, on_batch_done, call)
                      : tg_claims_unprepare(service->claims, &claims, on_batch_done, call);
}

static void claims_cancelled(void *data, struct tg_grpc_call grpc)
{
    const struct method *method = data;

    for (struct call *call = method->service->calls; call != NULL; call = call->next) {
        if (call->call.connection == grpc.connection && call->call.stream == grpc.stream) {
            tg_claims_abandon(call->batch);
            call_free(call);
            return;
        }
    }
}

static void handle_health(void *data, struct tg_grpc_call grpc, const uint8_t *message, size_t n,
                          int64_t deadline)
{
    struct tg_dra_service *service = data;

    (void)message; /* NodeWatchResourcesRequest has no fields */
    (void)n;
    (void)deadline;
    tg_health_stream_add(service->health, grpc);
}

static void health_cancelled(void *data, struct tg_grpc_call grpc)
{
    struct tg_dra_service *service = data;
    tg_health_stream_remove(service->health, grpc);
}

int tg_dra_service_new(struct tg_loop *loop, const char *path, struct tg_claims *claims,
                       struct tg_health_stream *health, struct tg_dra_service **ret,
                       struct tg_error *err)
{
    static const char *const health_paths[] = {TG_KUBELET_HEALTH_V1_WATCH,
                                               TG_KUBELET_HEALTH_V1ALPHA1_WATCH};
    struct tg_grpc_method methods[CLAIM_METHODS + TG_ARRAY_SIZE(health_paths)];
    struct tg_dra_service *service = tg_xcalloc(1, sizeof(*service));
    size_t n = 0;

    service->claims = claims;
    service->health = health;
    for (size_t i = 0; i < CLAIM_METHODS; i++) {
        service->methods[i] = claim_methods[i];
        service->methods[i].service = service;
        methods[n++] = (struct tg_grpc_method){.path = claim_methods[i].path,
                                               .handle = handle_claims,
                                               .cancelled = claims_cancelled,
                                               .data = &service->methods[i]};
    }
    for (size_t i = 0; i < TG_ARRAY_SIZE(health_paths); i++)
        methods[n++] = (struct tg_grpc_method){.path = health_paths[i],
                                               .handle = handle_health,
                                               .cancelled = health_cancelled,
                                               .data = service};
    int rc = tg_grpc_server_new(loop, path, methods, n, &service->server, err);
    if (rc != 0) {
        free(service);
        return rc;
    }
    *ret = service;
    return 0;
}

void tg_dra_service_measure(struct tg_dra_service *service, struct tg_metrics *metrics)
{
    tg_grpc_server_measure(service->server, metrics);
}

void tg_dra_service_free(struct tg_dra_service *service)
{
    if (service == NULL)
        return;
    tg_grpc_server_free(service->server); /* cancels all calls */
    free(service);
}
