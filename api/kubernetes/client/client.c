/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/client/client.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/client/internal.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"

/* Bound tokens of a pod are rotated by the kubelet long before they expire; a minute is what
 * client-go waits too. */
static const int64_t token_age = 60 * TG_SECOND;
enum { MAX_TOKEN = 16 << 10, MAX_PATH = 16 << 10, MAX_STATUS = 256 << 10 };

struct tg_kube_client {
    struct tg_loop *loop;
    const struct tg_clock *clock;
    struct tg_rest *rest;
    char *token_file;
    char *token;
    bool token_read;
    int64_t token_read_at;
    struct tg_error token_error; /* of the last reading */
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
    bool repeated;
    bool (*may_send)(void *data);
    tg_kube_done *done;
    void *data;
};

static void read_token(struct tg_kube_client *client)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(MAX_TOKEN);
    int64_t now = tg_now_monotonic(client->clock);

    if (client->token_read && now - client->token_read_at < token_age)
        return;
    client->token_read = true;
    client->token_read_at = now;
    client->token_error = TG_ERROR_INIT;
    if (tg_file_read(client->token_file, &text, &client->token_error) != 0)
        return; /* the one we have may still be good; a 401 will tell why it is not */
    while (text.len > 0 && strchr(" \t\r\n", text.data[text.len - 1]) != NULL)
        text.data[--text.len] = '\0';
    free(client->token);
    client->token = tg_buf_take(&text);
}

static int give_token(void *data, const char **ret, struct tg_error *err)
{
    struct tg_kube_client *client = data;

    (void)err;
    if (client->token_file != NULL)
        read_token(client);
    *ret = client->token;
    return 0;
}

bool tg_kube_client_renew_token(struct tg_kube_client *client)
{
    if (client->token_file == NULL)
        return false;
    client->token_read = false;
    return true;
}

const char *tg_kube_client_token_problem(const struct tg_kube_client *client)
{
    return client->token_error.code == TG_OK ? NULL : client->token_error.message;
}

int tg_kube_client_new(struct tg_loop *loop, const struct tg_clock *clock,
                       const struct tg_kube_config *config, const char *user_agent,
                       struct tg_kube_client **ret, struct tg_error *err)
{
    struct tg_kube_client *client = tg_xcalloc(1, sizeof(*client));
    struct tg_rest_config rest = {.base_url = config->server,
                                  .user_agent = user_agent,
                                  .tls = config->tls,
                                  .token = give_token,
                                  .token_data = client};

    client->loop = loop;
    client->clock = clock;
    client->token_error = TG_ERROR_INIT;
    if (config->token_file != NULL)
        client->token_file = tg_xstrdup(config->token_file);
    else if (config->token != NULL)
        client->token = tg_xstrdup(config->token);
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
    tg_rest_free(client->rest);
    while (client->requests != NULL)
        free_request(client->requests);
    free(client->token_file);
    free(client->token);
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
        tg_kube_client_renew_token(client)) {
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
        if (response->status == 401 && tg_kube_client_token_problem(client) != NULL)
            tg_error_wrap(&result.error, "the token could not be read (%s)",
                          tg_kube_client_token_problem(client));
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

    assert(call->done != NULL && call->target.kind != NULL);
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
