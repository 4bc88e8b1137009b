/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/http/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"

/* Limits of one server: what strangers can make it hold. */
enum {
    MAX_BODY = 16 << 20,
    MAX_CONNECTIONS = 64,
    MAX_CONNECTION_MEMORY = 32 << 10, /* request line and headers live in it */
    CONNECTION_TIMEOUT_S = 30,
    BACKLOG = 64,
    MAX_UPLOAD = 1 << 10,
};

struct tg_http {
    struct tg_loop *loop;
    struct tg_http_route *routes;
    size_t n;
    struct MHD_Daemon *daemon;
    struct tg_io io;
    struct tg_timer timer; /* connection timeouts, and work that the daemon put off */
    int port;
    bool full; /* as many connections as allowed: the daemon has stopped accepting */
};

/* A request between the calls for it. */
struct request {
    struct tg_buf upload;
};

static enum MHD_Result queue(struct MHD_Connection *connection, int status, struct tg_buf *body,
                             const char *content_type, const char *allow)
{
    size_t n = body->len;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(n, tg_buf_take(body), MHD_RESPMEM_MUST_FREE);
    enum MHD_Result result = MHD_NO;

    if (response == NULL)
        return MHD_NO;
    /* An answer without its headers would still be right: failures (memory) are not worth refusing
     * it. */
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    (void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, allow);
    result = MHD_queue_response(connection, (unsigned)status, response);
    MHD_destroy_response(response);
    return result;
}

static const struct tg_http_route *find_route(const struct tg_http *http, const char *path)
{
    for (size_t i = 0; i < http->n; i++) {
        if (tg_streq(http->routes[i].path, path))
            return &http->routes[i];
    }
    return NULL;
}

static bool is_loopback(const struct sockaddr *address)
{
    const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;

    if (address->sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(six) || (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127);
    return address->sa_family == AF_INET &&
           ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
}

static bool is_same_host(const struct sockaddr *a, const struct sockaddr *b)
{
    const struct sockaddr_in *four[2] = {(const void *)a, (const void *)b};
    const struct sockaddr_in6 *six[2] = {(const void *)a, (const void *)b};

    if (a->sa_family != b->sa_family)
        return false;
    return a->sa_family == AF_INET6 ? IN6_ARE_ADDR_EQUAL(&six[0]->sin6_addr, &six[1]->sin6_addr)
                                    : four[0]->sin_addr.s_addr == four[1]->sin_addr.s_addr;
}

bool tg_http_is_local(const struct sockaddr *peer, const struct sockaddr *own)
{
    return is_loopback(peer) || is_same_host(peer, own);
}

static bool comes_from_here(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *peer =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const union MHD_ConnectionInfo *fd =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct sockaddr_storage own = {0};
    socklen_t n = sizeof(own);

    return peer != NULL && fd != NULL &&
           getsockname(fd->connect_fd, (struct sockaddr *)&own, &n) == 0 &&
           tg_http_is_local(peer->client_addr, (struct sockaddr *)&own);
}

/* NULL: the route takes the request; else why not. */
static const char *refuse(struct MHD_Connection *connection, const struct tg_http_route *route,
                          const char *method, int *ret_status)
{
    bool reads = tg_streq(method, MHD_HTTP_METHOD_GET) || tg_streq(method, MHD_HTTP_METHOD_HEAD);
    bool puts = tg_streq(method, MHD_HTTP_METHOD_PUT) && route != NULL && route->put != NULL;

    *ret_status = MHD_HTTP_METHOD_NOT_ALLOWED;
    if (!reads && !puts)
        return "only GET and HEAD are served\n";
    *ret_status = MHD_HTTP_NOT_FOUND;
    if (route == NULL)
        return "no such page\n";
    *ret_status = MHD_HTTP_FORBIDDEN;
    if (route->local && !comes_from_here(connection))
        return "this page is for requests from the pod itself: use kubectl port-forward\n";
    return NULL;
}

static int answer(struct MHD_Connection *connection, const struct tg_http_route *route,
                  const char *method, const struct request *request, struct tg_buf *body,
                  const char **content_type)
{
    int status;
    const char *why = refuse(connection, route, method, &status);

    if (why != NULL) {
        tg_buf_append_str(body, why);
        return status;
    }
    if (!tg_streq(method, MHD_HTTP_METHOD_PUT))
        return route->handle(route->data, body, content_type);
    if (request->upload.failed) {
        tg_buf_append_str(body, "more than 1 KiB\n");
        return MHD_HTTP_CONTENT_TOO_LARGE;
    }
    return route->put(route->data, tg_buf_str(&request->upload), body);
}

static enum MHD_Result on_request(void *data, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **state)
{
    static const char text[] = "text/plain; charset=utf-8";
    TG_AUTOBUF struct tg_buf body = TG_BUF_INIT(MAX_BODY);
    struct request *request = *state;
    const struct tg_http_route *route;
    const char *content_type = text, *allow;
    int status;

    (void)version;
    if (request == NULL) { /* an answer in the first call would end the connection */
        request = tg_xcalloc(1, sizeof(*request));
        request->upload = TG_BUF_INIT(MAX_UPLOAD);
        *state = request;
        return MHD_YES;
    }
    if (*upload_size > 0) { /* elsewhere a body is allowed by the protocol and means nothing */
        if (tg_streq(method, MHD_HTTP_METHOD_PUT))
            (void)tg_buf_append(&request->upload, upload, *upload_size);
        *upload_size = 0;
        return MHD_YES;
    }
    route = find_route(data, path);
    allow = route != NULL && route->put != NULL ? "GET, HEAD, PUT" : "GET, HEAD";
    status = answer(connection, route, method, request, &body, &content_type);
    if (body.failed) {
        tg_buf_clear(&body);
        tg_buf_append_str(&body, "the page grew too large\n");
        return queue(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, &body, text, allow);
    }
    return queue(connection, status, &body, content_type, allow);
}

static void on_completed(void *data, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code)
{
    struct request *request = *state;

    (void)data;
    (void)connection;
    (void)code;
    if (request == NULL)
        return;
    tg_buf_done(&request->upload);
    free(request);
}

static bool is_full(const struct tg_http *http)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

    return info != NULL && info->num_connections >= MAX_CONNECTIONS;
}

static void run(struct tg_http *http)
{
    MHD_UNSIGNED_LONG_LONG timeout_ms = 0;
    bool was_full = http->full;

    (void)MHD_run(http->daemon);
    /* The daemon takes its socket up again at the beginning of a run; no event would cause one. */
    if (was_full && !is_full(http))
        (void)MHD_run(http->daemon);
    http->full = is_full(http);
    /* No connection, no timeout, no wake-up. */
    if (MHD_get_timeout(http->daemon, &timeout_ms) == MHD_YES)
        tg_timer_start(http->loop, &http->timer, (int64_t)timeout_ms * TG_MILLISECOND);
    else
        tg_timer_stop(&http->timer);
}

static void on_ready(struct tg_io *io, int events)
{
    (void)events;
    run(io->data);
}

static void on_timer(struct tg_timer *timer)
{
    run(timer->data);
}

/* "host:port", "[v6]:port", ":port" into host ("" = all addresses) and port. */
static int split_address(const char *address, char host[256], char port[8], struct tg_error *err)
{
    const char *colon = strrchr(address, ':');
    const char *begin = address;
    const char *end = colon;
    uint64_t number;

    if (colon == NULL || strlen(colon + 1) > 5 ||
        tg_parse_u64(colon + 1, strlen(colon + 1), &number) != 0 || number > 65535)
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "listen address \"%s\": expected HOST:PORT with a port of 0 to 65535",
                            address);
    if (begin[0] == '[' && end > begin && end[-1] == ']') {
        begin++;
        end--;
    } else if (memchr(begin, ':', (size_t)(end - begin)) != NULL) {
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "listen address \"%s\": an IPv6 address is written in brackets, as in "
                            "[::1]:8080",
                            address);
    }
    if (end - begin >= 256)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "listen address: the host is too long");
    memcpy(host, begin, (size_t)(end - begin));
    host[end - begin] = '\0';
    memcpy(port, colon + 1, strlen(colon + 1) + 1);
    return 0;
}

static int listen_on(const struct addrinfo *info)
{
    TG_AUTOCLOSE int fd = -1;
    const int on = 1;
    const int off = 0;

    fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (info->ai_family == AF_INET6) /* "all addresses" means IPv4 too */
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(fd, info->ai_addr, info->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0)
        return -1;
    return tg_take_fd(&fd);
}

/* The descriptor or a negative code. */
static int open_socket(const char *address, struct tg_error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *list = NULL;
    char host[256];
    char port[8];
    int fd = -1;
    int saved;
    int rc;

    if (split_address(address, host, port, err) != 0)
        return -TG_INVALID_ARGUMENT;
    rc = getaddrinfo(host[0] == '\0' ? NULL : host, port, &hints, &list);
    if (rc != 0)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "listen address \"%s\": %s", address,
                            gai_strerror(rc));
    saved = EADDRNOTAVAIL;
    for (int family = 0; family < 2 && fd < 0; family++) {
        /* IPv6 first: one socket then serves both. A machine without IPv6 fails it and gets IPv4.
         */
        for (const struct addrinfo *i = list; i != NULL && fd < 0; i = i->ai_next) {
            if ((i->ai_family == AF_INET6) != (family == 0))
                continue;
            fd = listen_on(i);
            if (fd < 0)
                saved = errno;
        }
    }
    freeaddrinfo(list);
    if (fd < 0)
        return tg_error_errno(err, saved, "cannot listen on \"%s\"", address);
    return fd;
}

static int port_of(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t n = sizeof(address);

    if (getsockname(fd, (struct sockaddr *)&address, &n) != 0)
        return 0;
    if (address.ss_family == AF_INET6)
        return ntohs(((struct sockaddr_in6 *)(void *)&address)->sin6_port);
    return ntohs(((struct sockaddr_in *)(void *)&address)->sin_port);
}

int tg_http_new(struct tg_loop *loop, const char *address, const struct tg_http_route *routes,
                size_t n, struct tg_http **ret, struct tg_error *err)
{
    const union MHD_DaemonInfo *info;
    struct tg_http *http;
    int fd = open_socket(address, err);

    if (fd < 0)
        return fd;
    http = tg_xcalloc(1, sizeof(*http));
    http->loop = loop;
    http->port = port_of(fd);
    http->n = n;
    http->routes = tg_xcalloc(n + 1, sizeof(*routes));
    if (n > 0)
        memcpy(http->routes, routes, n * sizeof(*routes));
    http->io.callback = on_ready;
    http->timer.callback = on_timer;
    http->io.data = http->timer.data = http;
    /* The daemon owns the socket from here on. */
    http->daemon =
        MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, http, MHD_OPTION_LISTEN_SOCKET,
                         (MHD_socket)fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)MAX_CONNECTIONS,
                         MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)CONNECTION_TIMEOUT_S,
                         MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MAX_CONNECTION_MEMORY,
                         MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
    info =
        http->daemon == NULL ? NULL : MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (info == NULL) {
        if (http->daemon == NULL)
            close(fd);
        tg_http_free(http);
        return tg_error_set(err, TG_INTERNAL, "cannot start the HTTP server on \"%s\"", address);
    }
    tg_io_start(loop, &http->io, info->epoll_fd, TG_LOOP_READ);
    *ret = http;
    return 0;
}

void tg_http_free(struct tg_http *http)
{
    if (http == NULL)
        return;
    tg_io_stop(&http->io);
    tg_timer_stop(&http->timer);
    if (http->daemon != NULL)
        MHD_stop_daemon(http->daemon);
    free(http->routes);
    free(http);
}

int tg_http_port(const struct tg_http *http)
{
    return http->port;
}
