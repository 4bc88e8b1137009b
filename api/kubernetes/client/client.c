/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/client/client.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/client/credentials.h"
#include "api/kubernetes/client/internal.h"
#include "api/kubernetes/client/measures.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"

enum { MAX_PATH = 16 << 10, MAX_STATUS = 256 << 10 };

struct tg_kube_client {
    struct tg_loop *loop;
    const struct tg_clock *clock;
    struct tg_rest *rest;
    struct tg_metrics *metrics;
    const char *name; /* for the metrics */
    struct tg_metric *metric[TG_KUBE_CLIENT_METRICS];
    struct tg_kube_credentials *credentials;
    bool certificate_given; /* by the program that is asked for credentials */
    struct tg_kube_request *requests;
};

struct tg_kube_request {
    struct tg_kube_client *client;
    struct tg_kube_request *next, *prev;
    struct tg_rest_request *rest;
    enum tg_rest_method method;
    char *path, *content_type, *accept;
    void *body;
    size_t body_len;
    int64_t timeout;
    unsigned credentials; /* their generation when it was sent */
    bool repeated;
    bool (*may_send)(void *data);
    tg_kube_done *done;
    void *data;
};

static void on_credentials(void *data, const char *certificate, const char *key)
{
    struct tg_kube_client *client = data;

    if (certificate != NULL || client->certificate_given)
        tg_rest_set_certificate(client->rest, certificate, key);
    client->certificate_given = certificate != NULL;
    tg_rest_resume(client->rest);
}

unsigned tg_kube_client_credentials(const struct tg_kube_client *client)
{
    return tg_kube_credentials_generation(client->credentials);
}

bool tg_kube_client_refused(struct tg_kube_client *client, unsigned credentials)
{
    return tg_kube_credentials_refused(client->credentials, credentials);
}

static void observe(void *data, const struct tg_rest_call *call, int status, int64_t latency)
{
    struct tg_kube_client *client = data;

    tg_kube_client_count(client->metric, call, status, latency);
}

static void collect(void *data)
{
    const struct tg_kube_client *client = data;

    tg_metric_set(client->metric[TG_KUBE_CLIENT_IN_FLIGHT], TG_LABELS(client->name),
                  (double)tg_rest_in_flight(client->rest));
}

void tg_kube_client_measure(struct tg_kube_client *client, struct tg_metrics *metrics,
                            const char *name)
{
    client->metrics = metrics;
    client->name = name;
    tg_metrics_add(metrics, tg_kube_client_metric_table, TG_KUBE_CLIENT_METRICS, client->metric);
    tg_metrics_on_collect(metrics, collect, client);
}

struct tg_metrics *tg_kube_client_metrics(const struct tg_kube_client *client)
{
    return client->metrics;
}

int tg_kube_client_new(struct tg_loop *loop, const struct tg_clock *clock,
                       const struct tg_kube_config *config, const char *user_agent,
                       struct tg_kube_client **ret, struct tg_error *err)
{
    struct tg_kube_client *client = tg_xcalloc(1, sizeof(*client));
    struct tg_rest_config rest = {.base_url = config->server,
                                  .user_agent = user_agent,
                                  .tls = config->tls,
                                  .proxy_url = config->proxy_url,
                                  .dead_after = config->dead_after,
                                  .token = tg_kube_credentials_token,
                                  .observe = observe,
                                  .observe_data = client};

    client->loop = loop;
    client->clock = clock;
    client->credentials = tg_kube_credentials_new(loop, clock, config, on_credentials, client);
    rest.token_data = client->credentials;
    client->rest = tg_rest_new(loop, &rest, err);
    if (client->rest == NULL) {
        tg_kube_client_free(client);
        return err == NULL ? -TG_INVALID_ARGUMENT : -(int)err->code;
    }
    *ret = client;
    return 0;
}

static void free_request(struct tg_kube_request *request)
{
    if (request->prev != NULL)
        request->prev->next = request->next;
    else
        request->client->requests = request->next;
    if (request->next != NULL)
        request->next->prev = request->prev;
    free(request->path);
    free(request->content_type);
    free(request->accept);
    free(request->body);
    free(request);
}

void tg_kube_client_free(struct tg_kube_client *client)
{
    if (client == NULL)
        return;
    tg_metrics_forget(client->metrics, client);
    tg_rest_free(client->rest);
    while (client->requests != NULL)
        free_request(client->requests);
    tg_kube_credentials_free(client->credentials);
    free(client);
}

struct tg_loop *tg_kube_client_loop(const struct tg_kube_client *client)
{
    return client->loop;
}

const struct tg_clock *tg_kube_client_clock(const struct tg_kube_client *client)
{
    return client->clock;
}

struct tg_rest *tg_kube_client_rest(struct tg_kube_client *client)
{
    return client->rest;
}

void tg_kube_path(const struct tg_kube_target *target, struct tg_buf *out)
{
    const struct tg_kind *kind = target->kind;

    if (target->path != NULL) {
        tg_buf_append_str(out, target->path);
        return;
    }
    if (kind->group[0] == '\0')
        tg_buf_printf(out, "/api/%s", kind->version);
    else
        tg_buf_printf(out, "/apis/%s/%s", kind->group, kind->version);
    if (target->namespace_ != NULL && kind->namespaced) {
        tg_buf_append_str(out, "/namespaces/");
        tg_url_escape(out, target->namespace_);
    }
    tg_buf_printf(out, "/%s", kind->resource);
    if (target->name != NULL) {
        tg_buf_append_char(out, '/');
        tg_url_escape(out, target->name);
    }
    if (target->subresource != NULL)
        tg_buf_printf(out, "/%s", target->subresource);
    if (target->query != NULL)
        tg_buf_printf(out, "?%s", target->query);
}

static const struct {
    int status;
    enum tg_code code;
} codes[] = {
    {400, TG_INVALID_ARGUMENT}, {401, TG_UNAUTHENTICATED},  {403, TG_PERMISSION_DENIED},
    {404, TG_NOT_FOUND},        {405, TG_UNIMPLEMENTED},    {406, TG_UNIMPLEMENTED},
    {409, TG_ABORTED},          {410, TG_OUT_OF_RANGE},     {413, TG_INVALID_ARGUMENT},
    {415, TG_UNIMPLEMENTED},    {422, TG_INVALID_ARGUMENT}, {429, TG_RESOURCE_EXHAUSTED},
};

static enum tg_code code_of(int status, const char *reason)
{
    if (tg_streq(reason, "AlreadyExists"))
        return TG_ALREADY_EXISTS;
    for (size_t i = 0; i < TG_ARRAY_SIZE(codes); i++) {
        if (codes[i].status == status)
            return codes[i].code;
    }
    return status >= 500 ? TG_UNAVAILABLE : TG_UNKNOWN;
}

void tg_kube_error_from_answer(const struct tg_rest_response *response, const char *what,
                               struct tg_error *ret)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(MAX_STATUS);
    struct tg_status status = {0};
    const char *message;

    /* A proxy's page instead of a Status: the number alone then counts. */
    if (response->len > MAX_STATUS ||
        tg_json_decode(&tg_status_type, response->body, response->len, &status, arena, NULL) != 0)
        status = (struct tg_status){0};
    message = tg_or(status.message, tg_or(status.reason, "no reason given"));
    tg_error_set(ret, code_of(response->status, status.reason), "%s: %d: %s", what,
                 response->status, message);
    ret->http_status = response->status;
    if (status.reason != NULL)
        snprintf(ret->reason, sizeof(ret->reason), "%s", status.reason);
}

void tg_kube_error_from_transport(const struct tg_error *cause, struct tg_error *ret)
{
    *ret = *cause;
    if (cause->code == TG_DEADLINE_EXCEEDED || cause->code == TG_DATA_LOSS) {
        ret->code = TG_UNAVAILABLE;
        ret->retry = true;
    }
}

static void send(struct tg_kube_request *request);

static void on_answer(void *data, const struct tg_rest_response *response,
                      const struct tg_error *err)
{
    struct tg_kube_request *request = data;
    struct tg_kube_client *client = request->client;
    struct tg_kube_result result = {.error = TG_ERROR_INIT,
                                    .body = response->body,
                                    .len = response->len,
                                    .retry_after = response->retry_after};
    TG_AUTOFREE char *what = NULL;
    tg_kube_done *done = request->done;
    void *done_data = request->data;

    request->rest = NULL;
    if (err->code == TG_OK && response->status == 401 && !request->repeated &&
        tg_kube_client_refused(client, request->credentials)) {
        request->repeated = true;
        send(request);
        return;
    }
    if (err->code != TG_OK) {
        tg_kube_error_from_transport(err, &result.error);
    } else if (response->status < 200 || response->status >= 300) {
        static const char *const names[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
        what = tg_xasprintf("%s %s", names[request->method], request->path);
        tg_kube_error_from_answer(response, what, &result.error);
        if (response->status == 401 && tg_kube_credentials_problem(client->credentials) != NULL)
            tg_error_wrap(&result.error, "the token could not be read (%s)",
                          tg_kube_credentials_problem(client->credentials));
    }
    free_request(request); /* the callback may free the client */
    done(done_data, &result);
}

static bool may_send(void *data)
{
    const struct tg_kube_request *request = data;

    return request->may_send(request->data);
}

static void send(struct tg_kube_request *request)
{
    const struct tg_rest_call call = {.method = request->method,
                                      .path = request->path,
                                      .content_type = request->content_type,
                                      .accept = request->accept,
                                      .body = request->body,
                                      .body_len = request->body_len,
                                      .timeout = request->timeout,
                                      .may_send = request->may_send == NULL ? NULL : may_send,
                                      .done = on_answer,
                                      .data = request};

    request->credentials = tg_kube_client_credentials(request->client);
    request->rest = tg_rest_send(request->client->rest, &call);
}

static char *copy(const char *s)
{
    return s == NULL ? NULL : tg_xstrdup(s);
}

struct tg_kube_request *tg_kube_send(struct tg_kube_client *client, const struct tg_kube_call *call)
{
    TG_AUTOBUF struct tg_buf path = TG_BUF_INIT(MAX_PATH);
    struct tg_kube_request *request = tg_xcalloc(1, sizeof(*request));

    assert(call->done != NULL && (call->target.kind != NULL || call->target.path != NULL));
    tg_kube_path(&call->target, &path);
    request->client = client;
    request->method = call->method;
    /* Too long only if a name is: no object has such a name, and the server says so. */
    request->path = path.failed ? tg_xstrdup("/the-path-is-too-long") : tg_buf_take(&path);
    request->content_type = copy(call->content_type);
    request->accept = copy(call->accept);
    if (call->body != NULL)
        request->body = memcpy(tg_xmalloc(call->body_len + 1), call->body, call->body_len);
    request->body_len = call->body_len;
    request->timeout = call->timeout;
    request->may_send = call->may_send;
    request->done = call->done;
    request->data = call->data;
    request->next = client->requests;
    if (request->next != NULL)
        request->next->prev = request;
    client->requests = request;
    send(request);
    return request;
}

void tg_kube_cancel(struct tg_kube_request *request)
{
    if (request == NULL)
        return;
    tg_rest_cancel(request->rest);
    free_request(request);
}
