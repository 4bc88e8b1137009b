/* SPDX-License-Identifier: Apache-2.0 */
/* Seen inside this folder only: what rest.c (life of requests) and transfer.c (curl handles) share.
 */
#ifndef TG_RUNTIME_REST_INTERNAL_H
#define TG_RUNTIME_REST_INTERNAL_H

#include <sys/stat.h>

#include <curl/curl.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/rest/rest.h"

enum request_state {
    REQUEST_QUEUED,    /* not yet given to curl */
    REQUEST_ACTIVE,    /* curl works on it */
    REQUEST_FINISHED,  /* outcome known, done not yet called */
    REQUEST_CANCELLED, /* nobody wants to know; freed by the next pump */
};

/* What a connection proves and trusts, as it is now: PEM texts, NULL for none. */
struct rest_pem {
    char *text[3];
    unsigned references;
};

/* Which content of a file was read. */
struct rest_file_state {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

struct tg_rest_request {
    struct tg_rest *rest;
    struct tg_rest_request *next, *prev;
    enum request_state state;
    struct tg_rest_call call; /* path, content_type, accept and body are our copies */
    bool in_multi;
    CURL *easy;
    struct curl_slist *headers;
    struct rest_pem *pem; /* curl does not copy it */
    char curl_error[CURL_ERROR_SIZE];
    struct tg_buf body;
    bool headers_complete;
    /* Until the answer (a stream: until its headers), then for streams the longest silence. */
    struct tg_timer deadline;
    struct tg_timer overall;      /* total_timeout */
    int64_t sent_at, answered_at; /* monotonic; answered: the headers are there */
    uint64_t progress;            /* of the tg_rest when the deadline was armed */
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
    char *proxy_url;
    int64_t dead_after;
    struct rest_pem *pem; /* NULL: to be read */
    struct rest_file_state files[3];
    struct curl_slist
        *connect_to; /* the real address when tls.server_name replaces it in the URL */
    int (*token)(void *data, const char **ret, struct tg_error *err);
    void *token_data;
    void (*observe)(void *data, const struct tg_rest_call *call, int status, int64_t latency);
    void *observe_data;

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

/* Makes the curl handle of a request; 0 or a negative code with request->error set. token: NULL for
 * none. */
int tg_rest_prepare(struct tg_rest_request *request, const char *token);
/* Files that changed are read again; the caller gets a reference. A file that cannot be read any
 * more (it is being replaced) leaves what was read before. TG_FAILED_PRECONDITION if nothing was.
 */
int tg_rest_pem_get(struct tg_rest *rest, struct rest_pem **ret, struct tg_error *err);
void tg_rest_pem_unref(struct rest_pem *pem); /* NULL is allowed */
CURLcode tg_rest_pem_apply(const struct rest_pem *pem, CURL *easy);
/* What curl's result means; fills request->error unless a callback did it already. */
void tg_rest_set_result(struct tg_rest_request *request, CURLcode result);
const char *tg_rest_method_name(enum tg_rest_method method);

/* Called by the callbacks of transfer.c. */
void tg_rest_headers_complete(struct tg_rest_request *request, long status);
void tg_rest_touched(struct tg_rest_request *request);

#endif
