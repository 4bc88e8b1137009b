/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP(S) client on the loop: one libcurl multi handle, HTTP/2 multiplexed over one connection.
 * Knows nothing of Kubernetes. A client that must not wait behind others (lease) is a second
 * tg_rest.
 */
#ifndef TG_RUNTIME_REST_REST_H
#define TG_RUNTIME_REST_REST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/error.h"
#include "api/runtime/loop/loop.h"

struct tg_rest;
struct tg_rest_call;
struct tg_rest_request; /* owned by the tg_rest; gone after `done` was called */

/* PEM or base64-decoded PEM data; strings are copied. Either file or data, or neither. Files are
 * looked at before each request: with a new content new connections are made, those of before serve
 * what already runs on them. */
struct tg_rest_tls {
    const char *ca_file, *ca_data;
    const char *cert_file, *cert_data;
    const char *key_file, *key_data;
    const char *server_name; /* NULL: the host of the URL */
    bool insecure;           /* tests and explicit kubeconfig only */
};

struct tg_rest_config {
    /* "https://10.96.0.1:443", a path may follow. http is accepted for loopback addresses only. */
    const char *base_url;
    const char *user_agent;
    struct tg_rest_tls tls;
    /* "http://proxy:3128", https or socks5; NULL: none. Nothing is taken from the environment. */
    const char *proxy_url;
    /* A peer that acknowledges nothing for so long (ns; 0: 30 s, which also is the least that is
     * useful outside tests) is gone, and with it what runs on the connection (TG_UNAVAILABLE). An
     * idle connection is tried after as long, and then is gone a third later. */
    int64_t dead_after;
    /* Asked for the bearer token before a request is started; NULL: none. 0: *ret is copied, NULL
     * or "" sends none. TG_REST_WAIT: not known yet; asked again after tg_rest_resume, while the
     * deadline of the request runs. A negative code: the request fails with err. */
    int (*token)(void *data, const char **ret, struct tg_error *err);
    void *token_data;
    /* Told of each request that ended, before its done; not of cancelled ones. status 0: no answer.
     * latency: nanoseconds from sending to the end, of streams to the headers. NULL: nobody. */
    void (*observe)(void *data, const struct tg_rest_call *call, int status, int64_t latency);
    void *observe_data;
};

enum { TG_REST_WAIT = 1 };

enum tg_rest_method { TG_REST_GET, TG_REST_POST, TG_REST_PUT, TG_REST_PATCH, TG_REST_DELETE };

struct tg_rest_response {
    int status;       /* HTTP status; 0 if none arrived */
    const char *body; /* NUL-terminated; "" for streamed ones */
    size_t len;
    const char *content_type;
    int64_t retry_after; /* nanoseconds, 0 if absent */
};

struct tg_rest_call {
    enum tg_rest_method method;
    const char *verb;         /* for observe; NULL: the method's name; static */
    const char *path;         /* with query, escaped; copied */
    const char *content_type; /* NULL: application/json; copied */
    const char *accept;       /* NULL: application/json; copied */
    const void *body;         /* copied */
    size_t body_len;
    /* Nanoseconds for the whole request, waiting for a connection included; 0: 30 s. Streams: until
     * the headers. Passing it is TG_DEADLINE_EXCEEDED; when nothing else arrived meanwhile, the
     * connection is given up and the other requests on it fail with TG_UNAVAILABLE. */
    int64_t timeout;
    int64_t idle_timeout;  /* streams: longest silence; 0: none */
    int64_t total_timeout; /* streams: until the end of the body, from sending on; 0: none */
    size_t max_body;       /* not for streams; 0: 64 MiB; more is TG_RESOURCE_EXHAUSTED */
    /* Streams: called for each piece of the body of a 2xx answer; returns 0, or -1 to stop the
     * request (done tells TG_CANCELLED). Bodies of other answers go to done, up to 1 MiB. */
    int (*on_data)(void *data, const char *bytes, size_t n);
    /* Asked when the connection stands, before the first byte of the request goes out (again, if
     * curl sends it again on another connection): false, and it is not sent (done tells
     * TG_FAILED_PRECONDITION with status 0). Much time may have passed since tg_rest_send: the
     * program may have been stopped. Must not call into this tg_rest. NULL: always. */
    bool (*may_send)(void *data);
    /* Always called exactly once, from the loop, never from inside tg_rest_send. err->code is TG_OK
     * when an HTTP answer arrived completely (whatever its status); TG_CANCELLED after
     * tg_rest_cancel is NOT delivered (no call). */
    void (*done)(void *data, const struct tg_rest_response *response, const struct tg_error *err);
    void *data;
};

struct tg_rest *tg_rest_new(struct tg_loop *loop, const struct tg_rest_config *config,
                            struct tg_error *err);
/* Cancels everything (no done is called). May be called from done, not from on_data. NULL is
 * allowed. */
void tg_rest_free(struct tg_rest *rest);
/* Queues the request; never fails synchronously. The handle is valid until done or cancel. */
struct tg_rest_request *tg_rest_send(struct tg_rest *rest, const struct tg_rest_call *call);
/* Neither on_data nor done is called after this. May be called from on_data and done of any
 * request. */
void tg_rest_cancel(struct tg_rest_request *request);
size_t tg_rest_in_flight(const struct tg_rest *rest);
/* The token is known now (or it is known that there is none): what waited for it is started. */
void tg_rest_resume(struct tg_rest *rest);
/* The client certificate and key (PEM, copied) of connections made from now on; NULL: none. */
void tg_rest_set_certificate(struct tg_rest *rest, const char *certificate, const char *key);

/* Appends s with everything but unreserved characters percent-encoded. */
struct tg_buf;
void tg_url_escape(struct tg_buf *out, const char *s);

#endif
