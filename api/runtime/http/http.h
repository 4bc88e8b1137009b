/* SPDX-License-Identifier: Apache-2.0 */
/* A small HTTP/1.1 server for health, metrics and debug pages, on our loop (libmicrohttpd by its
 * epoll descriptor). GET and HEAD; PUT where a route takes it. */
#ifndef TG_RUNTIME_HTTP_HTTP_H
#define TG_RUNTIME_HTTP_HTTP_H

#include <stdbool.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/error.h"
#include "api/runtime/loop/loop.h"

struct tg_http;
struct sockaddr;

struct tg_http_route {
    const char *path; /* exact; a query is ignored */
    /* Fills body (capped by the server at 16 MiB) and *content_type (preset "text/plain;
     * charset=utf-8"); returns the status. */
    int (*handle)(void *data, struct tg_buf *body, const char **content_type);
    void *data;
    /* For requests from the same network namespace only, 403 for others: who may forward a port of
     * the pod may ask. */
    bool local;
    /* Takes a PUT of up to 1 KiB of text, fills body, returns the status; NULL: 405. */
    int (*put)(void *data, const char *text, struct tg_buf *body);
};

/* Listens on "host:port" ("127.0.0.1:8080", ":8080", "[::1]:0"; port 0: any). Routes are copied,
 * their strings not. */
int tg_http_new(struct tg_loop *loop, const char *address, const struct tg_http_route *routes,
                size_t n, struct tg_http **ret, struct tg_error *err);
/* Closes all connections. NULL is allowed. Not from a handler. */
void tg_http_free(struct tg_http *http);
/* The port that is listened on. */
int tg_http_port(const struct tg_http *http);
/* Does a connection between these addresses stay in one network namespace: from a loopback address,
 * or from the very address that was asked? */
bool tg_http_is_local(const struct sockaddr *peer, const struct sockaddr *own);
/* GET and PUT of the log's verbosity at /debug/flags/v, as the components of Kubernetes have it;
 * local. */
struct tg_http_route tg_http_verbosity_route(void);

#endif
