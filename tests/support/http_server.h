/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scripted HTTP/1.1 server on the loop of the test that uses it. The test's handler sees each
 * request when it is complete and answers at once or later, whole or in pieces, or not at all.
 */
#ifndef TG_TESTS_SUPPORT_HTTP_SERVER_H
#define TG_TESTS_SUPPORT_HTTP_SERVER_H

#include <arpa/inet.h>
#include <assert.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/loop/loop.h"

struct test_connection;

struct test_request {
    char method[16];
    char path[4096];     /* with query */
    const char *headers; /* the whole head, lines ended by \r\n */
    const char *body;
    size_t body_len;
};

struct test_server {
    struct tg_loop *loop;
    struct tg_io io;
    int fd;
    int port;
    char url[64];
    struct test_connection *connections;
    size_t accepted;
    void (*handle)(void *data, struct test_connection *connection,
                   const struct test_request *request);
    void *data;
};

struct test_connection {
    struct test_server *server;
    struct tg_io io;
    struct tg_buf in, out;
    bool close_after; /* once everything is written */
    struct test_connection *next, *prev;
};

static inline void test_connection_close(struct test_connection *connection)
{
    tg_io_stop(&connection->io);
    close(connection->io.fd);
    if (connection->prev != NULL)
        connection->prev->next = connection->next;
    else
        connection->server->connections = connection->next;
    if (connection->next != NULL)
        connection->next->prev = connection->prev;
    tg_buf_done(&connection->in);
    tg_buf_done(&connection->out);
    free(connection);
}

/* False if the connection is gone afterwards. */
static inline bool test_connection_flush(struct test_connection *connection)
{
    while (connection->out.len > 0) {
        ssize_t n =
            send(connection->io.fd, connection->out.data, connection->out.len, MSG_NOSIGNAL);
        if (n < 0)
            break; /* full, or closed by the peer: reading will tell */
        tg_buf_consume(&connection->out, (size_t)n);
    }
    if (connection->out.len == 0 && connection->close_after) {
        test_connection_close(connection);
        return false;
    }
    tg_io_modify(&connection->io, TG_LOOP_READ | (connection->out.len > 0 ? TG_LOOP_WRITE : 0));
    return true;
}

/* From now on nothing that the peer sends gets to that socket, not even an acknowledgement: to the
 * peer it is as if this machine had lost its power or its network. Works for any user. */
static inline void test_vanish(int fd)
{
    struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
    const struct sock_fprog program = {.len = 1, .filter = &drop};

    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) != 0)
        abort();
}

/* Raw bytes, for answers that no honest server gives. */
static inline void test_send(struct test_connection *connection, const char *bytes, size_t n)
{
    tg_buf_append(&connection->out, bytes, n);
    test_connection_flush(connection);
}

/* A whole answer. headers: "" or lines ended by \r\n. */
static inline void test_reply(struct test_connection *connection, int status, const char *headers,
                              const char *body)
{
    tg_buf_printf(&connection->out, "HTTP/1.1 %d X\r\n%sContent-Length: %zu\r\n\r\n%s", status,
                  headers, strlen(body), body);
    test_connection_flush(connection);
}

/* The head of an answer in pieces; then test_chunk, and test_end or test_connection_close. */
static inline void test_begin(struct test_connection *connection, int status)
{
    tg_buf_printf(
        &connection->out,
        "HTTP/1.1 %d X\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        status);
    test_connection_flush(connection);
}

static inline void test_chunk(struct test_connection *connection, const char *text)
{
    tg_buf_printf(&connection->out, "%zx\r\n%s\r\n", strlen(text), text);
    test_connection_flush(connection);
}

static inline void test_end(struct test_connection *connection)
{
    tg_buf_append_str(&connection->out, "0\r\n\r\n");
    test_connection_flush(connection);
}

/* True if a whole request was there and was handled. */
static inline bool test_connection_parse(struct test_connection *connection)
{
    static const char length_name[] = "Content-Length: ";
    struct test_request request = {0};
    const char *data = tg_buf_str(&connection->in);
    const char *end = strstr(data, "\r\n\r\n");
    const char *length;
    size_t head;
    char *copy;

    if (end == NULL)
        return false;
    head = (size_t)(end - data) + 4;
    length = strcasestr(data, length_name);
    if (length != NULL && length < end)
        request.body_len = strtoul(length + sizeof(length_name) - 1, NULL, 10);
    if (connection->in.len < head + request.body_len)
        return false;
    copy = tg_xmalloc(head + request.body_len + 1);
    memcpy(copy, data, head + request.body_len); /* a body may be binary */
    copy[head + request.body_len] = '\0';
    tg_buf_consume(&connection->in, head + request.body_len);
    copy[head - 1] = '\0';
    request.headers = copy;
    request.body = copy + head;
    assert(sscanf(copy, "%15s %4095s", request.method, request.path) == 2);
    connection->server->handle(connection->server->data, connection, &request);
    free(copy);
    return true;
}

static inline void test_connection_ready(struct tg_io *io, int events)
{
    struct test_connection *connection = io->data;
    struct test_server *server = connection->server;
    char bytes[65536];
    ssize_t n;

    if ((events & TG_LOOP_WRITE) != 0 && !test_connection_flush(connection))
        return;
    n = recv(io->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (n == 0) {
        test_connection_close(connection);
        return;
    }
    if (n < 0)
        return;
    tg_buf_append(&connection->in, bytes, (size_t)n);
    for (;;) {
        const struct test_connection *c = server->connections;
        while (c != NULL && c != connection)
            c = c->next;
        /* A handler may close the connection. */
        if (c == NULL || !test_connection_parse(connection))
            return;
    }
}

static inline void test_server_accept(struct tg_io *io, int events)
{
    struct test_server *server = io->data;
    int fd = accept4(server->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct test_connection *connection;

    (void)events;
    if (fd < 0)
        return;
    connection = tg_xcalloc(1, sizeof(*connection));
    connection->server = server;
    tg_buf_init(&connection->in, 64 << 20);
    tg_buf_init(&connection->out, 256 << 20);
    connection->next = server->connections;
    if (connection->next != NULL)
        connection->next->prev = connection;
    server->connections = connection;
    server->accepted++;
    connection->io.callback = test_connection_ready;
    connection->io.data = connection;
    tg_io_start(server->loop, &connection->io, fd, TG_LOOP_READ);
}

static inline void test_server_start(struct test_server *server, struct tg_loop *loop,
                                     void (*handle)(void *data, struct test_connection *connection,
                                                    const struct test_request *request),
                                     void *data)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(address);

    memset(server, 0, sizeof(*server));
    server->loop = loop;
    server->handle = handle;
    server->data = data;
    server->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert(server->fd >= 0);
    if (bind(server->fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(server->fd, 64) != 0 ||
        getsockname(server->fd, (struct sockaddr *)&address, &n) != 0)
        abort();
    server->port = ntohs(address.sin_port);
    snprintf(server->url, sizeof(server->url), "http://127.0.0.1:%d", server->port);
    server->io.callback = test_server_accept;
    server->io.data = server;
    tg_io_start(loop, &server->io, server->fd, TG_LOOP_READ);
}

static inline void test_server_stop(struct test_server *server)
{
    while (server->connections != NULL)
        test_connection_close(server->connections);
    tg_io_stop(&server->io);
    close(server->fd);
}

#endif
