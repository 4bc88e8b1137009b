/* SPDX-License-Identifier: Apache-2.0 */
/* The life of requests: sent, given to curl, finished or cancelled, told. */
#include "api/runtime/rest/rest.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/rest/internal.h"

static const int64_t default_timeout = 30 * TG_SECOND;
static const int64_t default_dead_after = 30 * TG_SECOND;
static const size_t default_max_body = (size_t)64 << 20;
enum { CONNECTIONS_MAX = 16 }; /* more than the watches of a program */
/* What a server may make us wait by Retry-After. */
static const int64_t longest_retry_after = 600 * TG_SECOND;

static void finish(struct tg_rest_request *request)
{
    request->state = REQUEST_FINISHED;
    tg_timer_stop(&request->deadline);
    tg_timer_stop(&request->overall);
    tg_defer(request->rest->loop, &request->rest->pump);
}

static void collect_results(struct tg_rest *rest)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(rest->multi, &left)) != NULL) {
        struct tg_rest_request *request = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &request);
        if (request == NULL || request->state != REQUEST_ACTIVE)
            continue;
        tg_rest_set_result(request, message->data.result);
        finish(request);
    }
}

static void on_socket_ready(struct tg_io *io, int events)
{
    struct rest_socket *socket = io->data;
    struct tg_rest *rest = socket->rest;
    int running = 0;
    int mask = ((events & TG_LOOP_READ) != 0 ? CURL_CSELECT_IN : 0) |
               ((events & TG_LOOP_WRITE) != 0 ? CURL_CSELECT_OUT : 0);

    (void)curl_multi_socket_action(rest->multi, io->fd, mask, &running); /* may free socket */
    collect_results(rest);
}

static void on_curl_timer(struct tg_timer *timer)
{
    struct tg_rest *rest = timer->data;
    int running = 0;

    (void)curl_multi_socket_action(rest->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    collect_results(rest);
}

static int on_timer_wanted(CURLM *multi, long timeout_ms, void *data)
{
    struct tg_rest *rest = data;

    (void)multi;
    if (timeout_ms < 0)
        tg_timer_stop(&rest->timer);
    else
        tg_timer_start(rest->loop, &rest->timer, timeout_ms * TG_MILLISECOND);
    return 0;
}

static void free_socket(struct rest_socket *socket)
{
    tg_io_stop(&socket->io);
    if (socket->prev != NULL)
        socket->prev->next = socket->next;
    else
        socket->rest->sockets = socket->next;
    if (socket->next != NULL)
        socket->next->prev = socket->prev;
    free(socket);
}

static int on_socket_wanted(CURL *easy, curl_socket_t fd, int what, void *data, void *assigned)
{
    struct tg_rest *rest = data;
    struct rest_socket *socket = assigned;
    int events = ((what & CURL_POLL_IN) != 0 ? TG_LOOP_READ : 0) |
                 ((what & CURL_POLL_OUT) != 0 ? TG_LOOP_WRITE : 0);

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (socket != NULL)
            free_socket(socket);
        (void)curl_multi_assign(rest->multi, fd, NULL);
        return 0;
    }
    if (socket != NULL) {
        tg_io_modify(&socket->io, events);
        return 0;
    }
    socket = tg_xcalloc(1, sizeof(*socket));
    socket->rest = rest;
    socket->io.callback = on_socket_ready;
    socket->io.data = socket;
    socket->next = rest->sockets;
    if (socket->next != NULL)
        socket->next->prev = socket;
    rest->sockets = socket;
    (void)curl_multi_assign(rest->multi, fd, socket);
    tg_io_start(rest->loop, &socket->io, fd, events);
    return 0;
}

static void open_multi(struct tg_rest *rest)
{
    rest->multi = curl_multi_init();
    if (rest->multi == NULL)
        abort(); /* as tg_xmalloc */
    /* One connection for everything, which needs HTTP/2; HTTP/1 gets one for each request. A
     * connection on which the server said GOAWAY lives as long as the watches on it, and nothing
     * new may begin there: the limit leaves room for its successors. */
    rest->one_connection = !rest->plain;
    rest->want_connections = false;
    curl_multi_setopt(rest->multi, CURLMOPT_MAX_HOST_CONNECTIONS,
                      rest->plain ? 0L : (long)CONNECTIONS_MAX);
    curl_multi_setopt(rest->multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(rest->multi, CURLMOPT_SOCKETFUNCTION, on_socket_wanted);
    curl_multi_setopt(rest->multi, CURLMOPT_SOCKETDATA, rest);
    curl_multi_setopt(rest->multi, CURLMOPT_TIMERFUNCTION, on_timer_wanted);
    curl_multi_setopt(rest->multi, CURLMOPT_TIMERDATA, rest);
}

static void detach(struct tg_rest_request *request)
{
    if (request->in_multi)
        (void)curl_multi_remove_handle(request->rest->multi, request->easy);
    request->in_multi = false;
}

static void close_multi(struct tg_rest *rest)
{
    for (struct tg_rest_request *r = rest->first; r != NULL; r = r->next)
        detach(r);
    (void)curl_multi_cleanup(rest->multi);
    rest->multi = NULL;
    tg_timer_stop(&rest->timer);
    while (rest->sockets != NULL)
        free_socket(rest->sockets);
}

static void free_request(struct tg_rest_request *request)
{
    struct tg_rest *rest = request->rest;

    tg_timer_stop(&request->deadline);
    tg_timer_stop(&request->overall);
    detach(request);
    if (request->prev != NULL)
        request->prev->next = request->next;
    else
        rest->first = request->next;
    if (request->next != NULL)
        request->next->prev = request->prev;
    else
        rest->last = request->prev;
    curl_easy_cleanup(request->easy);
    curl_slist_free_all(request->headers);
    tg_buf_done(&request->body);
    tg_rest_pem_unref(request->pem);
    free((void *)(uintptr_t)request->call.path);
    free((void *)(uintptr_t)request->call.content_type);
    free((void *)(uintptr_t)request->call.accept);
    free((void *)(uintptr_t)request->call.body);
    free(request);
}

/* Not a byte came on any connection during a whole deadline: the server or the path to it hangs,
 * and new requests would join the dead connection. All go; their owners retry on a new one. */
static void drop_connections(struct tg_rest *rest)
{
    rest->stalled = false;
    close_multi(rest);
    for (struct tg_rest_request *r = rest->first; r != NULL; r = r->next) {
        if (r->state != REQUEST_ACTIVE)
            continue;
        tg_error_set(&r->error, TG_UNAVAILABLE,
                     "%s %s: the connection to %s was given up because nothing arrived on it",
                     tg_rest_method_name(r->call.method), r->call.path, rest->base_url);
        finish(r);
    }
    open_multi(rest);
}

static void start(struct tg_rest_request *request)
{
    struct tg_rest *rest = request->rest;
    const char *token = NULL;
    CURLMcode rc;
    int known = rest->token == NULL ? 0 : rest->token(rest->token_data, &token, &request->error);

    if (known == TG_REST_WAIT)
        return;
    request->state = REQUEST_ACTIVE;
    if (known < 0 || tg_rest_prepare(request, token) != 0) {
        finish(request);
        return;
    }
    rc = curl_multi_add_handle(rest->multi, request->easy);
    if (rc != CURLM_OK) {
        tg_error_set(&request->error, TG_INTERNAL, "%s %s: %s",
                     tg_rest_method_name(request->call.method), request->call.path,
                     curl_multi_strerror(rc));
        finish(request);
        return;
    }
    request->in_multi = true;
}

static void observe(const struct tg_rest_request *request, int status)
{
    const struct tg_rest *rest = request->rest;
    bool stream = request->call.on_data != NULL && request->headers_complete;

    if (rest->observe != NULL)
        rest->observe(rest->observe_data, &request->call, status,
                      (stream ? request->answered_at : tg_now_monotonic(tg_clock_system())) -
                          request->sent_at);
}

static void tell(struct tg_rest_request *request)
{
    struct tg_rest_response response = {.body = "", .content_type = ""};
    long status = 0;
    curl_off_t after = 0;
    const char *type = NULL;

    detach(request);
    if (request->easy != NULL) {
        (void)curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &status);
        (void)curl_easy_getinfo(request->easy, CURLINFO_RETRY_AFTER, &after);
        (void)curl_easy_getinfo(request->easy, CURLINFO_CONTENT_TYPE, &type);
    }
    response.status = request->headers_complete ? (int)status : 0;
    response.body = tg_buf_str(&request->body);
    response.len = request->body.len;
    response.content_type = tg_or(type, "");
    if (after > 0)
        response.retry_after =
            after < longest_retry_after / TG_SECOND ? after * TG_SECOND : longest_retry_after;
    request->error.http_status = response.status;
    observe(request, response.status);
    request->call.done(request->call.data, &response, &request->error);
}

/* Runs when no callback of curl is on the stack: only here handles are added, removed and freed. */
static void on_pump(struct tg_deferred *deferred)
{
    struct tg_rest *rest = deferred->data;
    struct tg_rest_request *next;
    bool freed = false;

    if (rest->stalled)
        drop_connections(rest);
    if (rest->want_connections && rest->one_connection) {
        rest->one_connection = false;
        curl_multi_setopt(rest->multi, CURLMOPT_MAX_HOST_CONNECTIONS, 0L);
    }
    for (struct tg_rest_request *r = rest->first; r != NULL; r = next) {
        /* done can send (appended), cancel (marked) and free the whole, but free no other request.
         */
        next = r->next;
        if (r->state == REQUEST_QUEUED)
            start(r);
        if (r->state == REQUEST_FINISHED) {
            r->state = REQUEST_CANCELLED; /* told once; cancelling it from done changes nothing */
            rest->freed = &freed;
            tell(r);
            if (freed)
                return;
            rest->freed = NULL;
            next = r->next;
        }
        if (r->state == REQUEST_CANCELLED)
            free_request(r);
    }
}

void tg_rest_touched(struct tg_rest_request *request)
{
    request->rest->progress++;
    if (request->headers_complete && request->call.on_data != NULL &&
        request->call.idle_timeout > 0) {
        request->progress = request->rest->progress;
        tg_timer_start(request->rest->loop, &request->deadline, request->call.idle_timeout);
    }
}

void tg_rest_headers_complete(struct tg_rest_request *request, long status)
{
    struct tg_rest *rest = request->rest;
    long version = 0;

    request->headers_complete = true;
    request->answered_at = tg_now_monotonic(tg_clock_system());
    (void)curl_easy_getinfo(request->easy, CURLINFO_HTTP_VERSION, &version);
    if (!rest->plain && rest->one_connection && version < CURL_HTTP_VERSION_2_0) {
        /* One request at a time on this connection: a watch would block everybody for ever. */
        rest->want_connections = true;
        tg_defer(rest->loop, &rest->pump);
    }
    if (request->call.on_data == NULL || status >= 300)
        return; /* the deadline of the whole request stands */
    tg_timer_stop(&request->deadline);
    tg_rest_touched(request);
}

static void on_deadline(struct tg_timer *timer)
{
    struct tg_rest_request *request = timer->data;
    struct tg_rest *rest = request->rest;
    bool silence = request->headers_complete && request->call.on_data != NULL;
    int64_t limit = silence ? request->call.idle_timeout : request->call.timeout;

    tg_error_set(&request->error, TG_DEADLINE_EXCEEDED, "%s %s: no %s %s within %lld ms",
                 tg_rest_method_name(request->call.method), request->call.path,
                 request->state == REQUEST_QUEUED ? "credentials for"
                 : silence                        ? "data from"
                                                  : "complete answer from",
                 rest->base_url, (long long)(limit / TG_MILLISECOND));
    /* One that never began says nothing about the connections. */
    if (rest->progress == request->progress && request->state == REQUEST_ACTIVE)
        rest->stalled = true;
    finish(request);
}

static void on_overall(struct tg_timer *timer)
{
    struct tg_rest_request *request = timer->data;

    tg_error_set(&request->error, TG_DEADLINE_EXCEEDED,
                 "%s %s: the answer from %s was not complete within %lld ms",
                 tg_rest_method_name(request->call.method), request->call.path,
                 request->rest->base_url,
                 (long long)(request->call.total_timeout / TG_MILLISECOND));
    finish(request);
}

static char *copy(const char *s)
{
    return s == NULL ? NULL : tg_xstrdup(s);
}

struct tg_rest_request *tg_rest_send(struct tg_rest *rest, const struct tg_rest_call *call)
{
    struct tg_rest_request *request = tg_xcalloc(1, sizeof(*request));

    assert(call->path != NULL && call->path[0] == '/' && call->done != NULL);
    request->rest = rest;
    request->sent_at = tg_now_monotonic(tg_clock_system());
    request->call = *call;
    request->call.path = tg_xstrdup(call->path);
    request->call.content_type = copy(call->content_type);
    request->call.accept = copy(call->accept);
    if (call->body != NULL)
        request->call.body = memcpy(tg_xmalloc(call->body_len + 1), call->body, call->body_len);
    if (call->timeout <= 0)
        request->call.timeout = default_timeout;
    if (call->max_body == 0)
        request->call.max_body = default_max_body;

    request->prev = rest->last;
    if (rest->last != NULL)
        rest->last->next = request;
    else
        rest->first = request;
    rest->last = request;

    request->deadline.callback = on_deadline;
    request->deadline.data = request;
    request->progress = rest->progress;
    tg_timer_start(rest->loop, &request->deadline, request->call.timeout);
    request->overall.callback = on_overall;
    request->overall.data = request;
    if (call->total_timeout > 0)
        tg_timer_start(rest->loop, &request->overall, call->total_timeout);
    tg_defer(rest->loop, &rest->pump);
    return request;
}

void tg_rest_cancel(struct tg_rest_request *request)
{
    if (request == NULL)
        return;
    request->state = REQUEST_CANCELLED;
    tg_timer_stop(&request->deadline);
    tg_timer_stop(&request->overall);
    tg_defer(request->rest->loop, &request->rest->pump);
}

void tg_rest_resume(struct tg_rest *rest)
{
    tg_defer(rest->loop, &rest->pump);
}

size_t tg_rest_in_flight(const struct tg_rest *rest)
{
    size_t n = 0;

    for (const struct tg_rest_request *r = rest->first; r != NULL; r = r->next)
        n += r->state != REQUEST_CANCELLED;
    return n;
}

static bool is_loopback(const char *host)
{
    struct in_addr address;

    return tg_streq(host, "localhost") || tg_streq(host, "[::1]") ||
           (inet_pton(AF_INET, host, &address) == 1 && (ntohl(address.s_addr) >> 24) == 127);
}

/* Paths begin with a slash, so the URL must not end with one. */
static char *copy_url(const char *url)
{
    size_t n = strlen(url);

    while (n > 0 && url[n - 1] == '/')
        n--;
    return tg_xstrndup(url, n);
}

/* With server_name, the URL names it and CONNECT_TO leads to the real host: that is how curl is
 * told to ask for, and verify, another name than the address. */
static int apply_server_name(struct tg_rest *rest, CURLU *url, const char *host, const char *port,
                             struct tg_error *err)
{
    TG_AUTOFREE char *entry = NULL;
    char *text = NULL;

    entry = tg_xasprintf("%s:%s:%s:%s", rest->tls.server_name, port, host, port);
    rest->connect_to = curl_slist_append(NULL, entry);
    if (rest->connect_to == NULL ||
        curl_url_set(url, CURLUPART_HOST, rest->tls.server_name, 0) != CURLUE_OK ||
        curl_url_get(url, CURLUPART_URL, &text, 0) != CURLUE_OK)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "TLS server name \"%s\": not a host name",
                            rest->tls.server_name);
    free(rest->base_url);
    rest->base_url = copy_url(text);
    curl_free(text);
    return 0;
}

static int check_url(struct tg_rest *rest, CURLU *url, struct tg_error *err)
{
    char *scheme = NULL;
    char *host = NULL;
    char *port = NULL;
    int rc = 0;

    if (curl_url_set(url, CURLUPART_URL, rest->base_url, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK ||
        curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
        curl_url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
        (curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) != CURLUE_OK &&
         (tg_streq(scheme, "https") || tg_streq(scheme, "http"))))
        rc = tg_error_set(err, TG_INVALID_ARGUMENT,
                          "server \"%s\": not a URL (expected https://HOST:PORT)", rest->base_url);
    else if (tg_streq(scheme, "http") && is_loopback(host))
        rest->plain = true;
    else if (!tg_streq(scheme, "https"))
        rc = tg_error_set(err, TG_INVALID_ARGUMENT,
                          "server \"%s\": only https is spoken (http to this machine's own "
                          "loopback addresses only)",
                          rest->base_url);
    if (rc == 0 && !rest->plain && rest->tls.server_name != NULL)
        rc = apply_server_name(rest, url, host, port, err);
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    return rc;
}

static int check_proxy(const char *proxy_url, struct tg_error *err)
{
    static const char *const schemes[] = {"http://", "https://", "socks5://"};

    if (proxy_url == NULL)
        return 0;
    for (size_t i = 0; i < TG_ARRAY_SIZE(schemes); i++) {
        if (strncmp(proxy_url, schemes[i], strlen(schemes[i])) == 0)
            return 0;
    }
    /* Not shown: it may hold a password. */
    return tg_error_set(err, TG_INVALID_ARGUMENT,
                        "the URL of the proxy: expected http://, https:// or socks5://");
}

static void copy_tls(struct tg_rest_tls *to, const struct tg_rest_tls *from)
{
    *to = (struct tg_rest_tls){
        .ca_file = copy(from->ca_file),
        .ca_data = copy(from->ca_data),
        .cert_file = copy(from->cert_file),
        .cert_data = copy(from->cert_data),
        .key_file = copy(from->key_file),
        .key_data = copy(from->key_data),
        .server_name = copy(from->server_name),
        .insecure = from->insecure,
    };
}

static void free_tls(struct tg_rest_tls *tls)
{
    const char *const strings[] = {tls->ca_file,  tls->ca_data,  tls->cert_file,  tls->cert_data,
                                   tls->key_file, tls->key_data, tls->server_name};

    for (size_t i = 0; i < TG_ARRAY_SIZE(strings); i++)
        free((void *)(uintptr_t)strings[i]);
}

struct tg_rest *tg_rest_new(struct tg_loop *loop, const struct tg_rest_config *config,
                            struct tg_error *err)
{
    struct tg_rest *rest = tg_xcalloc(1, sizeof(*rest));
    CURLU *url;
    int rc;

    curl_global_init(CURL_GLOBAL_DEFAULT); /* counted by curl */
    rest->loop = loop;
    rest->base_url = copy_url(config->base_url);
    rest->user_agent = tg_xstrdup(tg_or(config->user_agent, "tangram"));
    copy_tls(&rest->tls, &config->tls);
    rest->proxy_url = copy(config->proxy_url);
    rest->dead_after = config->dead_after > 0 ? config->dead_after : default_dead_after;
    rest->token = config->token;
    rest->token_data = config->token_data;
    rest->observe = config->observe;
    rest->observe_data = config->observe_data;
    rest->timer.callback = on_curl_timer;
    rest->timer.data = rest;
    rest->pump.callback = on_pump;
    rest->pump.data = rest;

    url = curl_url();
    rc = url == NULL ? tg_error_set(err, TG_RESOURCE_EXHAUSTED, "out of memory")
                     : check_url(rest, url, err);
    curl_url_cleanup(url);
    if (rc == 0)
        rc = check_proxy(rest->proxy_url, err);
    if (rc == 0)
        open_multi(rest);
    if (rc != 0) {
        tg_rest_free(rest);
        return NULL;
    }
    return rest;
}

void tg_rest_free(struct tg_rest *rest)
{
    if (rest == NULL)
        return;
    assert(!rest->in_curl); /* not from on_data */
    if (rest->freed != NULL)
        *rest->freed = true;
    if (rest->multi != NULL)
        close_multi(rest);
    while (rest->first != NULL)
        free_request(rest->first);
    tg_defer_cancel(rest->loop, &rest->pump);
    curl_slist_free_all(rest->connect_to);
    free_tls(&rest->tls);
    tg_rest_pem_unref(rest->pem);
    free(rest->proxy_url);
    free(rest->base_url);
    free(rest->user_agent);
    free(rest);
    curl_global_cleanup();
}
