/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/claim_api.h"

#include <stdlib.h>

#include "api/runtime/base/clock.h"
#include "api/runtime/base/mem.h"

/* The kubelet waits 45 s for the whole call. */
#define READ_TIMEOUT (20 * TG_SECOND)

struct reading {
    struct tg_kube_request *request;
    void (*done)(void *done_data, const char *json, size_t n, const struct tg_error *err);
    void *done_data;
};

static void on_response(void *data, const struct tg_kube_result *result)
{
    struct reading reading = *(struct reading *)data;

    free(data);
    reading.done(reading.done_data, result->body, result->len,
                 result->error.code == TG_OK ? NULL : &result->error);
}

static void *get(void *data, const char *namespace_, const char *name,
                 void (*done)(void *done_data, const char *json, size_t n,
                              const struct tg_error *err),
                 void *done_data)
{
    struct reading *reading = tg_xcalloc(1, sizeof(*reading));
    const struct tg_kube_call call = {
        .method = TG_REST_GET,
        .target = {.kind = &tg_kind_resource_claim, .namespace_ = namespace_, .name = name},
        .timeout = READ_TIMEOUT,
        .done = on_response,
        .data = reading,
    };

    reading->done = done;
    reading->done_data = done_data;
    reading->request = tg_kube_send(data, &call);
    return reading;
}

static void cancel(void *data, void *handle)
{
    struct reading *reading = handle;

    (void)data;
    tg_kube_cancel(reading->request);
    free(reading);
}

struct tg_claim_source tg_claim_api_source(struct tg_kube_client *client)
{
    return (struct tg_claim_source){.get = get, .cancel = cancel, .data = client};
}
