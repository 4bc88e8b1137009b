/* SPDX-License-Identifier: Apache-2.0 */
/* Seen inside this folder only: what rest.c (life of requests) and transfer.c (curl handles) share.
 */
#ifndef TG_RUNTIME_REST_INTERNAL_H
#define TG_RUNTIME_REST_INTERNAL_H

#include <curl/curl.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/rest/rest.h"

enum request_state {
    REQUEST_QUEUED,    /* not yet given to curl */
    REQUEST_ACTIVE,    /* curl works on it */
    REQUEST_FINISHED,  /* outcome known, done not yet called */
    REQUEST_CANCELLED, /* nobody wants to know; freed by the next pump */
};

struct tg_rest_request {
    struct tg_rest *rest;
    struct tg_rest_request *next, *prev;
    enum request_state state;
    struct tg_rest_call call; /* path, content_type, accept and body are our copies */
    bool in_multi;
    CURL *easy;
    struct curl_slist *headers;
    char curl_error[CURL_ERROR_SIZE];
    struct tg_buf body;
    bool headers_complete;
    /* Until the answer (a stream: until its headers), then for streams the longest silence. */
    struct tg_timer deadline;
    uint64_t progress; /* of the tg_rest when the deadline was armed */
    struct tg_error error;
};

/* A descriptor that curl wants watched. */
struct rest_socket {
    struct tg_io io;
    struct tg_rest *rest;
    struct rest_socket *next, *prev;
};

struct tg_rest {
    struct tg_loop *loop;
    char *base_url;
    char *user_agent;
    bool plain; /* http, loopback only */
    struct tg_rest_tls tls;
    struct curl_slist
        *connect_to; /* the real address when tls.server_name replaces it in the URL */
    const char *(*token)(void *data);
    void *token_data;

    CURLM *multi;
    struct tg_timer timer; /* curl's */
    struct rest_socket *sockets;
    struct tg_rest_request *first, *last; /* in order of sending */
    struct tg_deferred pump;
    uint64_t progress;     /* counts pieces that arrived, on any connection */
    bool stalled;          /* a whole deadline passed without any: the pump drops the connections */
    bool one_connection;   /* HTTP/2 so far */
    bool want_connections; /* an HTTP/1 server: the pump lifts the limit */
    bool in_curl;          /* a callback of curl is on the stack */
    bool *freed;           /* set while done runs, so that it may free the tg_rest */
};

/* Makes the curl handle of a request; 0 or a negative code with request->error set. */
int tg_rest_prepare(struct tg_rest_request *request);
/* What curl's result means; fills request->error unless a callback did it already. */
void tg_rest_set_result(struct tg_rest_request *request, CURLcode result);
const char *tg_rest_method_name(enum tg_rest_method method);

/* Called by the callbacks of transfer.c. */
void tg_rest_headers_complete(struct tg_rest_request *request, long status);
void tg_rest_touched(struct tg_rest_request *request);

#endif
