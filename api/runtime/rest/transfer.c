/* SPDX-License-Identifier: Apache-2.0 */
/* One request as a curl handle: options, callbacks, and the meaning of curl's results. */
#include <assert.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/rest/internal.h"

enum { CONNECT_TIMEOUT_MS = 10000, LIFETIME_S = 3600 };
/* Bodies of error answers to streams. */
enum { MAX_ERROR_BODY = 1 << 20 };

const char *tg_rest_method_name(enum tg_rest_method method)
{
    static const char *const names[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

    return names[method];
}

static int on_socket_made(void *data, curl_socket_t fd, curlsocktype purpose)
{
    const struct tg_rest *rest = data;
    const unsigned user_timeout = (unsigned)(rest->dead_after / TG_MILLISECOND);

    (void)purpose;
    /* Keepalive alone does not see a connection that still has unsent data. Both are best effort:
     * without them a dead peer is found by the deadlines only. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout, sizeof(user_timeout));
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    return CURL_SOCKOPT_OK;
}

static long status_of(CURL *easy)
{
    long status = 0;

    (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

static size_t on_header(char *line, size_t size, size_t n, void *data)
{
    struct tg_rest_request *request = data;
    size_t bytes = size * n;

    if (request->state != REQUEST_ACTIVE)
        return 0;
    tg_rest_touched(request);
    if (bytes <= 2 && (bytes == 0 || line[0] == '\r' || line[0] == '\n')) {
        long status = status_of(request->easy);
        if (status >= 200) {
            request->rest->in_curl = true;
            tg_rest_headers_complete(request, status);
            request->rest->in_curl = false;
        }
    }
    return bytes;
}

static int on_connected(void *data, char *to, char *from, int to_port, int from_port)
{
    struct tg_rest_request *request = data;

    (void)to;
    (void)from;
    (void)to_port;
    (void)from_port;
    if (request->state == REQUEST_ACTIVE && request->call.may_send(request->call.data))
        return CURL_PREREQFUNC_OK;
    if (request->state == REQUEST_ACTIVE)
        tg_error_set(&request->error, TG_FAILED_PRECONDITION,
                     "%s %s: not sent, since its time was over before it could be",
                     tg_rest_method_name(request->call.method), request->call.path);
    return CURL_PREREQFUNC_ABORT;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *data)
{
    struct tg_rest_request *request = data;
    size_t len = size * n;
    long status;

    if (request->state != REQUEST_ACTIVE)
        return 0;
    tg_rest_touched(request);
    status = status_of(request->easy);
    if (request->call.on_data == NULL || status < 200 || status >= 300) {
        if (tg_buf_append(&request->body, bytes, len) == 0)
            return len;
        tg_error_set(
            &request->error, TG_RESOURCE_EXHAUSTED, "%s %s: the answer is larger than %zu bytes",
            tg_rest_method_name(request->call.method), request->call.path, request->body.max);
        request->error.retry = false; /* it will not be smaller next time */
        return 0;
    }
    request->rest->in_curl = true;
    int rc = request->call.on_data(request->call.data, bytes, len);
    request->rest->in_curl = false;
    if (request->state != REQUEST_ACTIVE)
        return 0; /* cancelled by its receiver */
    if (rc != 0) {
        tg_error_set(&request->error, TG_CANCELLED, "%s %s: stopped by its receiver",
                     tg_rest_method_name(request->call.method), request->call.path);
        return 0;
    }
    return len;
}

static bool add_header(struct tg_rest_request *request, const char *name, const char *value)
{
    TG_AUTOBUF struct tg_buf line = TG_BUF_INIT(64 << 10);
    struct curl_slist *list;

    if (tg_buf_printf(&line, "%s: %s", name, value) != 0)
        return false;
    list = curl_slist_append(request->headers, tg_buf_str(&line));
    if (list == NULL)
        return false;
    request->headers = list;
    return true;
}

static int add_token(struct tg_rest_request *request, const char *token)
{
    TG_AUTOBUF struct tg_buf value = TG_BUF_INIT(32 << 10);

    if (token == NULL || token[0] == '\0')
        return 0;
    for (const char *p = token; *p != '\0'; p++) {
        /* Never put into a message: it is a secret. */
        if (*p <= ' ' || *p >= 0x7f)
            return tg_error_set(&request->error, TG_INVALID_ARGUMENT,
                                "%s %s: the bearer token has a character that no token has at byte "
                                "%zu (a file with a line break inside?)",
                                tg_rest_method_name(request->call.method), request->call.path,
                                (size_t)(p - token));
    }
    tg_buf_printf(&value, "Bearer %s", token);
    if (value.failed || !add_header(request, "Authorization", tg_buf_str(&value)))
        return tg_error_set(&request->error, TG_INVALID_ARGUMENT,
                            "%s %s: the bearer token is too long",
                            tg_rest_method_name(request->call.method), request->call.path);
    return 0;
}

static int set_headers(struct tg_rest_request *request, const char *token)
{
    const struct tg_rest_call *call = &request->call;
    bool ok = add_header(request, "Accept", tg_or(call->accept, "application/json"));

    if (ok && call->body != NULL)
        ok = add_header(request, "Content-Type", tg_or(call->content_type, "application/json"));
    /* No waiting for "100 Continue" before a body. */
    ok = ok && add_header(request, "Expect", "");
    if (!ok)
        return tg_error_set(&request->error, TG_INVALID_ARGUMENT, "%s %s: a header is too long",
                            tg_rest_method_name(call->method), call->path);
    return add_token(request, token);
}

/* curl_easy_setopt is a macro that checks types: no table possible. The first failure is kept. */
#define SET(option, value)                                                                         \
    do {                                                                                           \
        if (rc == CURLE_OK)                                                                        \
            rc = curl_easy_setopt(easy, option, value);                                            \
    } while (0)

static CURLcode set_tls(CURL *easy, const struct tg_rest_request *request)
{
    const struct tg_rest_tls *tls = &request->rest->tls;
    CURLcode rc = CURLE_OK;

    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    SET(CURLOPT_SSL_VERIFYPEER, tls->insecure ? 0L : 1L);
    SET(CURLOPT_SSL_VERIFYHOST, tls->insecure ? 0L : 2L);
    return rc == CURLE_OK ? tg_rest_pem_apply(request->pem, easy) : rc;
}

static CURLcode set_method(CURL *easy, const struct tg_rest_call *call)
{
    CURLcode rc = CURLE_OK;

    if (call->body != NULL) {
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body_len);
        SET(CURLOPT_POSTFIELDS, call->body);
    } else if (call->method == TG_REST_GET || call->method == TG_REST_DELETE) {
        SET(CURLOPT_HTTPGET, 1L);
    } else {
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)0);
        SET(CURLOPT_POSTFIELDS, "");
    }
    if (call->method != TG_REST_GET)
        SET(CURLOPT_CUSTOMREQUEST, tg_rest_method_name(call->method));
    return rc;
}

static CURLcode set_connection(CURL *easy, const struct tg_rest *rest)
{
    CURLcode rc = CURLE_OK;
    long idle_s = (long)(rest->dead_after / TG_SECOND);

    SET(CURLOPT_PROTOCOLS_STR, rest->plain ? "http" : "https");
    SET(CURLOPT_HTTP_VERSION,
        rest->plain ? (long)CURL_HTTP_VERSION_1_1 : (long)CURL_HTTP_VERSION_2TLS);
    SET(CURLOPT_PIPEWAIT, rest->plain ? 0L : 1L);
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    /* An empty string, unlike NULL, keeps curl from asking the environment. */
    SET(CURLOPT_PROXY, tg_or(rest->proxy_url, ""));
    SET(CURLOPT_NOPROXY, rest->proxy_url == NULL ? "*" : "");
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    SET(CURLOPT_MAXLIFETIME_CONN, (long)LIFETIME_S);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_TCP_KEEPIDLE, idle_s > 0 ? idle_s : 1);
    SET(CURLOPT_TCP_KEEPINTVL, idle_s > 3 ? idle_s / 3 : 1);
    SET(CURLOPT_SOCKOPTFUNCTION, on_socket_made);
    SET(CURLOPT_SOCKOPTDATA, (void *)(uintptr_t)rest);
    if (rest->connect_to != NULL)
        SET(CURLOPT_CONNECT_TO, rest->connect_to);
    return rc;
}

static CURLcode set_options(struct tg_rest_request *request, const char *url)
{
    CURL *easy = request->easy;
    CURLcode rc = CURLE_OK;

    SET(CURLOPT_PRIVATE, request);
    SET(CURLOPT_ERRORBUFFER, request->curl_error);
    SET(CURLOPT_URL, url);
    SET(CURLOPT_PATH_AS_IS, 1L);
    SET(CURLOPT_USERAGENT, request->rest->user_agent);
    SET(CURLOPT_ACCEPT_ENCODING, "gzip");
    SET(CURLOPT_HTTPHEADER, request->headers);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, request);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, request);
    if (request->call.may_send != NULL) {
        SET(CURLOPT_PREREQFUNCTION, on_connected);
        SET(CURLOPT_PREREQDATA, request);
    }
    if (rc == CURLE_OK)
        rc = set_method(easy, &request->call);
    if (rc == CURLE_OK)
        rc = set_connection(easy, request->rest);
    if (rc == CURLE_OK && !request->rest->plain)
        rc = set_tls(easy, request);
    return rc;
}

int tg_rest_prepare(struct tg_rest_request *request, const char *token)
{
    TG_AUTOBUF struct tg_buf url = TG_BUF_INIT(64 << 10);
    CURLcode rc;

    tg_buf_init(&request->body,
                request->call.on_data != NULL ? MAX_ERROR_BODY : request->call.max_body);
    request->easy = curl_easy_init();
    if (request->easy == NULL)
        return tg_error_set(&request->error, TG_RESOURCE_EXHAUSTED, "%s %s: out of memory",
                            tg_rest_method_name(request->call.method), request->call.path);
    if (tg_buf_printf(&url, "%s%s", request->rest->base_url, request->call.path) != 0)
        return tg_error_set(&request->error, TG_INVALID_ARGUMENT, "%s: the URL is too long",
                            tg_rest_method_name(request->call.method));
    if (set_headers(request, token) != 0)
        return -(int)request->error.code;
    if (!request->rest->plain &&
        tg_rest_pem_get(request->rest, &request->pem, &request->error) != 0)
        return tg_error_wrap(&request->error, "%s %s", tg_rest_method_name(request->call.method),
                             request->call.path);
    rc = set_options(request, tg_buf_str(&url));
    if (rc != CURLE_OK) {
        tg_rest_set_result(request, rc);
        return -(int)request->error.code;
    }
    return 0;
}

/* What is not in the table is the network's fault: TG_UNAVAILABLE. */
static const struct {
    CURLcode curl;
    enum tg_code code;
} results[] = {
    {CURLE_UNSUPPORTED_PROTOCOL, TG_INVALID_ARGUMENT},
    {CURLE_URL_MALFORMAT, TG_INVALID_ARGUMENT},
    {CURLE_NOT_BUILT_IN, TG_UNIMPLEMENTED},
    {CURLE_UNKNOWN_OPTION, TG_UNIMPLEMENTED},
    {CURLE_OUT_OF_MEMORY, TG_RESOURCE_EXHAUSTED},
    {CURLE_BAD_FUNCTION_ARGUMENT, TG_INVALID_ARGUMENT},
    {CURLE_BAD_CONTENT_ENCODING, TG_DATA_LOSS},
    {CURLE_PEER_FAILED_VERIFICATION, TG_UNAUTHENTICATED},
    {CURLE_SSL_CERTPROBLEM, TG_FAILED_PRECONDITION},
    {CURLE_SSL_CACERT_BADFILE, TG_FAILED_PRECONDITION},
    {CURLE_SSL_CIPHER, TG_FAILED_PRECONDITION},
};

void tg_rest_set_result(struct tg_rest_request *request, CURLcode result)
{
    enum tg_code code = TG_UNAVAILABLE;

    if (request->error.code != TG_OK || (result == CURLE_OK && request->headers_complete))
        return;
    if (result == CURLE_OK) {
        /* curl takes a connection that ends inside the headers for the end of an answer. */
        tg_error_set(&request->error, TG_UNAVAILABLE,
                     "%s %s%s: the connection ended before the answer was complete",
                     tg_rest_method_name(request->call.method), request->rest->base_url,
                     request->call.path);
        return;
    }
    for (size_t i = 0; i < TG_ARRAY_SIZE(results); i++) {
        if (results[i].curl == result)
            code = results[i].code;
    }
    tg_error_set(&request->error, code, "%s %s%s: %s", tg_rest_method_name(request->call.method),
                 request->rest->base_url, request->call.path,
                 tg_or(request->curl_error, curl_easy_strerror(result)));
}
