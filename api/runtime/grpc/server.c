/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/grpc/grpc.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/grpc/session.h"

/* The kubelet has one, a person with a tool another: an idle connection takes about 15 KiB. */
#define MAX_CONNECTIONS 256
#define MAX_HELD ((size_t)8 << 20)  /* bytes of messages, all connections together */
#define OWN_HELD ((size_t)64 << 10) /* not counted, of each connection */
#define ACCEPTS 32                  /* then other connections have their turn */
#define READ_CHUNK ((size_t)16 << 10)
#define READ_CHUNKS 16 /* then other connections have their turn */
#define ACCEPT_RETRY (1 * TG_SECOND)

enum { CONNECTIONS, HELD, DISPLACED, REFUSED, N_METRICS };

static const struct tg_metric_definition metric_table[N_METRICS] = {
    [CONNECTIONS] = {.name = "tangram_grpc_connections",
                     .help = "Open connections to a socket.",
                     .kind = TG_METRIC_GAUGE,
                     .labels = {"socket"}},
    [HELD] = {.name = "tangram_grpc_held_bytes",
              .help =
                  "Messages of a socket's connections that are not complete or not read, beyond "
                  "64 KiB a connection.",
              .kind = TG_METRIC_GAUGE,
              .labels = {"socket"}},
    [DISPLACED] = {.name = "tangram_grpc_connections_displaced_total",
                   .help = "Connections that were ended in favour of a new one, since there were "
                           "too many.",
                   .kind = TG_METRIC_COUNTER,
                   .labels = {"socket"}},
    [REFUSED] = {.name = "tangram_grpc_connections_refused_total",
                 .help = "Connections that were closed at once: of another user, or too many.",
                 .kind = TG_METRIC_COUNTER,
                 .labels = {"socket"}},
};

/* A process with connections to this server. Processes of other PID namespaces, if this one cannot
 * see them, are one process here. */
struct peer {
    struct peer *next;
    pid_t pid;
    size_t connections;
};

struct connection {
    struct tg_grpc_server *server;
    struct connection *next;
    struct peer *peer;
    uint64_t id;
    int fd;
    bool broken;
    int64_t heard; /* when it came, or its last bytes did */
    struct tg_grpc_session *session;
    struct tg_io io;
    struct tg_timer deadline;
    struct tg_deferred pump;
};

struct tg_grpc_server {
    struct tg_loop *loop;
    struct tg_grpc_method *methods;
    size_t n;
    char *path;
    int fd;
    struct stat bound; /* the socket file that is ours */
    struct tg_io io;
    struct tg_timer accept_retry;
    struct connection *connections;
    size_t n_connections;
    struct peer *peers;
    struct tg_grpc_budget budget;
    uint64_t last_id;
    uint64_t displaced, refused;
    struct tg_metrics *metrics; /* NULL: nothing is measured */
    struct tg_metric *metric[N_METRICS];
};

/* --- calls --- */

static struct connection *find_connection(struct tg_grpc_call call)
{
    for (struct connection *c = call.server->connections; c != NULL; c = c->next)
        if (c->id == call.connection)
            return c;
    return NULL;
}

void tg_grpc_reply(struct tg_grpc_call call, const uint8_t *message, size_t n)
{
    struct connection *connection = find_connection(call);
    if (connection == NULL)
        return;
    tg_grpc_session_reply(connection->session, call.stream, message, n);
    tg_defer(call.server->loop, &connection->pump);
}

void tg_grpc_fail(struct tg_grpc_call call, const struct tg_error *err)
{
    struct connection *connection = find_connection(call);
    if (connection == NULL)
        return;
    tg_grpc_session_fail(connection->session, call.stream, err);
    tg_defer(call.server->loop, &connection->pump);
}

void tg_grpc_stream_send(struct tg_grpc_call call, const uint8_t *message, size_t n)
{
    struct connection *connection = find_connection(call);
    if (connection == NULL)
        return;
    tg_grpc_session_send(connection->session, call.stream, message, n);
    tg_defer(call.server->loop, &connection->pump);
}

static const void *on_find(void *data, const char *path)
{
    const struct connection *connection = data;
    for (size_t i = 0; i < connection->server->n; i++)
        if (tg_streq(connection->server->methods[i].path, path))
            return &connection->server->methods[i];
    return NULL;
}

static struct tg_grpc_call call_of(const struct connection *connection, int32_t stream)
{
    return (struct tg_grpc_call){connection->server, connection->id, stream};
}

static void on_request(void *data, int32_t stream, const void *method, const uint8_t *message,
                       size_t n, int64_t deadline)
{
    const struct tg_grpc_method *m = method;
    m->handle(m->data, call_of(data, stream), message, n, deadline);
}

static void on_cancelled(void *data, int32_t stream, const void *method)
{
    const struct tg_grpc_method *m = method;
    if (m->cancelled != NULL)
        m->cancelled(m->data, call_of(data, stream));
}

static const struct tg_grpc_session_handlers handlers = {
    .find = on_find,
    .request = on_request,
    .cancelled = on_cancelled,
};

/* --- connections --- */

static int64_t now(void)
{
    return tg_now_monotonic(tg_clock_system());
}

static struct peer *find_peer(const struct tg_grpc_server *server, pid_t pid)
{
    struct peer *peer = server->peers;

    while (peer != NULL && peer->pid != pid)
        peer = peer->next;
    return peer;
}

static struct peer *join_peer(struct tg_grpc_server *server, pid_t pid)
{
    struct peer *peer = find_peer(server, pid);

    if (peer == NULL) {
        peer = tg_xcalloc(1, sizeof(*peer));
        peer->pid = pid;
        peer->next = server->peers;
        server->peers = peer;
    }
    peer->connections++;
    return peer;
}

static void leave_peer(struct tg_grpc_server *server, struct peer *peer)
{
    if (--peer->connections > 0)
        return;
    for (struct peer **p = &server->peers; *p != NULL; p = &(*p)->next) {
        if (*p == peer) {
            *p = peer->next;
            free(peer);
            return;
        }
    }
}

static void close_connection(struct connection *connection)
{
    struct tg_grpc_server *server = connection->server;

    /* Out of the list first: answers given by the handlers of what is cancelled go nowhere. */
    for (struct connection **p = &server->connections; *p != NULL; p = &(*p)->next) {
        if (*p == connection) {
            *p = connection->next;
            server->n_connections--;
            break;
        }
    }
    tg_grpc_session_free(connection->session);
    tg_io_stop(&connection->io);
    tg_timer_stop(&connection->deadline);
    tg_defer_cancel(server->loop, &connection->pump);
    close(connection->fd);
    leave_peer(server, connection->peer);
    free(connection);
}

/* Sends what there is until the socket is full. Returns true if output is left. */
static bool flush(struct connection *connection)
{
    struct tg_error err;

    while (!connection->broken) {
        const uint8_t *bytes;
        size_t n;
        if (tg_grpc_session_output(connection->session, &bytes, &n, &err) != 0) {
            TG_V(4, "Connection ended", TG_S("problem", err.message));
            connection->broken = true;
            break;
        }
        if (n == 0)
            return false;
        ssize_t sent = send(connection->fd, bytes, n, MSG_NOSIGNAL);
        if (sent >= 0)
            tg_grpc_session_sent(connection->session, (size_t)sent);
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            return true;
        else if (errno != EINTR)
            connection->broken = true;
    }
    return false;
}

/* After anything that may have changed the session: writes, re-arms, or closes. */
static void pump(struct tg_deferred *deferred)
{
    struct connection *connection = deferred->data;
    bool left = flush(connection);

    if (connection->broken || tg_grpc_session_finished(connection->session)) {
        close_connection(connection);
        return;
    }
    int events = left ? TG_LOOP_READ | TG_LOOP_WRITE : TG_LOOP_READ;
    if (events != connection->io.events)
        tg_io_modify(&connection->io, events);
    int64_t next = tg_grpc_session_next_deadline(connection->session);
    if (next == 0) {
        tg_timer_stop(&connection->deadline);
    } else {
        int64_t after = next - now();
        tg_timer_start(connection->server->loop, &connection->deadline, after > 0 ? after : 0);
    }
}

static void on_deadline(struct tg_timer *timer)
{
    struct connection *connection = timer->data;
    tg_grpc_session_expire(connection->session, now());
    tg_defer(connection->server->loop, &connection->pump);
}

static void on_connection_io(struct tg_io *io, int events)
{
    struct connection *connection = io->data;
    uint8_t bytes[READ_CHUNK];

    tg_defer(connection->server->loop, &connection->pump);
    if (!(events & TG_LOOP_READ))
        return;
    for (int i = 0; i < READ_CHUNKS && !connection->broken; i++) {
        struct tg_error err;
        ssize_t n = recv(connection->fd, bytes, sizeof(bytes), 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n <= 0) {
            connection->broken = true;
            return;
        }
        connection->heard = now();
        if (tg_grpc_session_receive(connection->session, bytes, (size_t)n, connection->heard,
                                    &err) != 0) {
            TG_V(4, "Connection ended", TG_S("problem", err.message));
            flush(connection); /* the GOAWAY that says why */
            connection->broken = true;
        } else if ((size_t)n < sizeof(bytes)) {
            return;
        }
    }
}

/* --- too many connections --- */

/* Which of two connections is the one to end: that of the process with the most, then one that no
 * call waits on, then the one that has been silent for longer. */
static bool rather(const struct connection *a, const struct connection *b)
{
    bool a_busy = tg_grpc_session_busy(a->session), b_busy = tg_grpc_session_busy(b->session);

    if (a->peer->connections != b->peer->connections)
        return a->peer->connections > b->peer->connections;
    if (a_busy != b_busy)
        return b_busy;
    return a->heard != b->heard ? a->heard < b->heard : a->id < b->id;
}

/* Whether a connection may be ended for one of a process that has so many: the only one of a
 * process never, one with a call under way only if that evens things out. */
static bool may_end(const struct connection *connection, size_t newcomers)
{
    if (connection->peer->connections < 2)
        return false;
    return !tg_grpc_session_busy(connection->session) ||
           connection->peer->connections > newcomers + 1;
}

/* Makes room for a connection of a process that has so many; false: there is none to be had. The
 * client of what is ended is told by GOAWAY: calls that it was about to make it makes on a new
 * connection. */
static bool make_room(struct tg_grpc_server *server, size_t newcomers)
{
    struct connection *end = NULL;

    if (server->n_connections < MAX_CONNECTIONS)
        return true;
    for (struct connection *c = server->connections; c != NULL; c = c->next)
        if (may_end(c, newcomers) && (end == NULL || rather(c, end)))
            end = c;
    if (end == NULL)
        return false;
    TG_V(4, "Connection displaced", TG_S("socket", server->path), TG_I("pid", end->peer->pid),
         TG_I("connections", end->peer->connections));
    server->displaced++;
    tg_grpc_session_shutdown(end->session);
    flush(end);
    close_connection(end);
    return true;
}

/* --- new connections --- */

static bool peer_allowed(int fd, pid_t *pid)
{
    struct ucred peer;
    socklen_t length = sizeof(peer);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        return false;
    TG_V(4, "Connection from", TG_I("pid", peer.pid), TG_I("uid", peer.uid));
    *pid = peer.pid;
    return peer.uid == 0 || peer.uid == geteuid();
}

static void add_connection(struct tg_grpc_server *server, int fd, pid_t pid)
{
    struct connection *connection = tg_xcalloc(1, sizeof(*connection));
    connection->server = server;
    connection->peer = join_peer(server, pid);
    connection->id = ++server->last_id;
    connection->fd = fd;
    connection->heard = now();
    connection->session = tg_grpc_session_new(&handlers, connection, &server->budget);
    connection->io = (struct tg_io){.callback = on_connection_io, .data = connection};
    connection->deadline = (struct tg_timer){.callback = on_deadline, .data = connection};
    connection->pump = (struct tg_deferred){.callback = pump, .data = connection};
    connection->next = server->connections;
    server->connections = connection;
    server->n_connections++;
    tg_io_start(server->loop, &connection->io, fd, TG_LOOP_READ);
    /* SETTINGS at once: the client's dial waits for them. */
    tg_defer(server->loop, &connection->pump);
}

static void take_in(struct tg_grpc_server *server, int fd)
{
    pid_t pid;

    if (peer_allowed(fd, &pid)) {
        const struct peer *peer = find_peer(server, pid);
        if (make_room(server, peer == NULL ? 0 : peer->connections)) {
            add_connection(server, fd, pid);
            return;
        }
    }
    TG_V(4, "Connection refused", TG_S("socket", server->path));
    server->refused++;
    close(fd);
}

static void on_accept(struct tg_io *io, int events)
{
    struct tg_grpc_server *server = io->data;

    (void)events;
    for (int i = 0; i < ACCEPTS; i++) {
        int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && errno == EINTR)
            continue;
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)) {
            /* The connection stays readable: without a pause this would spin. */
            tg_io_stop(&server->io);
            tg_timer_start(server->loop, &server->accept_retry, ACCEPT_RETRY);
            return;
        }
        if (fd < 0)
            return;
        take_in(server, fd);
    }
}

static void on_accept_retry(struct tg_timer *timer)
{
    struct tg_grpc_server *server = timer->data;
    if (server->fd >= 0)
        tg_io_start(server->loop, &server->io, server->fd, TG_LOOP_READ);
}

/* --- the socket --- */

/* A socket file that its maker left behind goes; anything else of that name is not ours to remove.
 */
static int remove_stale(const char *path, struct tg_error *err)
{
    struct stat st;

    if (lstat(path, &st) != 0)
        return errno == ENOENT ? 0 : tg_error_errno(err, errno, "%s", path);
    if (!S_ISSOCK(st.st_mode))
        return tg_error_set(err, TG_ALREADY_EXISTS,
                            "%s exists and is not a socket; remove it or choose another path",
                            path);
    if (unlink(path) != 0 && errno != ENOENT)
        return tg_error_errno(err, errno, "cannot remove the stale socket %s", path);
    return 0;
}

static int listen_at(const char *path, struct stat *bound, int *ret, struct tg_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t n = strlen(path);
    TG_AUTOCLOSE int fd = -1;

    if (n == 0 || n >= sizeof(address.sun_path))
        return tg_error_set(err, TG_INVALID_ARGUMENT,
                            "the socket path %s has %zu bytes; the system takes 1 to %zu", path, n,
                            sizeof(address.sun_path) - 1);
    memcpy(address.sun_path, path, n + 1);
    int rc = remove_stale(path, err);
    if (rc != 0)
        return rc;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return tg_error_errno(err, errno, "cannot make a socket");
    mode_t before = umask(0077);
    rc = bind(fd, (const struct sockaddr *)&address, sizeof(address));
    int problem = errno;
    umask(before);
    if (rc != 0)
        return tg_error_errno(err, problem, "cannot bind %s", path);
    if (lstat(path, bound) != 0 || listen(fd, SOMAXCONN) != 0) {
        problem = errno;
        unlink(path);
        return tg_error_errno(err, problem, "cannot listen at %s", path);
    }
    *ret = tg_take_fd(&fd);
    return 0;
}

int tg_grpc_server_new(struct tg_loop *loop, const char *socket_path,
                       const struct tg_grpc_method *methods, size_t n, struct tg_grpc_server **ret,
                       struct tg_error *err)
{
    struct stat bound;
    int fd;
    int rc = listen_at(socket_path, &bound, &fd, err);
    if (rc != 0)
        return rc;

    struct tg_grpc_server *server = tg_xcalloc(1, sizeof(*server));
    server->loop = loop;
    server->methods = tg_xcalloc(n, sizeof(*methods));
    memcpy(server->methods, methods, n * sizeof(*methods));
    server->n = n;
    server->path = tg_xstrdup(socket_path);
    server->fd = fd;
    server->bound = bound;
    server->budget = (struct tg_grpc_budget){.max = MAX_HELD, .own = OWN_HELD};
    server->io = (struct tg_io){.callback = on_accept, .data = server};
    server->accept_retry = (struct tg_timer){.callback = on_accept_retry, .data = server};
    tg_io_start(loop, &server->io, fd, TG_LOOP_READ);
    *ret = server;
    return 0;
}

static void collect(void *data)
{
    const struct tg_grpc_server *server = data;
    const char *const *labels = TG_LABELS(server->path);

    tg_metric_set(server->metric[CONNECTIONS], labels, (double)server->n_connections);
    tg_metric_set(server->metric[HELD], labels, (double)server->budget.used);
    tg_metric_set(server->metric[DISPLACED], labels, (double)server->displaced);
    tg_metric_set(server->metric[REFUSED], labels, (double)server->refused);
}

void tg_grpc_server_measure(struct tg_grpc_server *server, struct tg_metrics *metrics)
{
    server->metrics = metrics;
    tg_metrics_add(metrics, metric_table, N_METRICS, server->metric);
    tg_metrics_on_collect(metrics, collect, server);
}

void tg_grpc_server_stop_listening(struct tg_grpc_server *server)
{
    struct stat st;

    if (server->fd < 0)
        return;
    /* A successor may have bound the same name meanwhile: that socket is not ours. */
    if (lstat(server->path, &st) == 0 && st.st_dev == server->bound.st_dev &&
        st.st_ino == server->bound.st_ino)
        unlink(server->path);
    tg_io_stop(&server->io);
    tg_timer_stop(&server->accept_retry);
    close(server->fd);
    server->fd = -1;
}

void tg_grpc_server_free(struct tg_grpc_server *server)
{
    if (server == NULL)
        return;
    tg_metrics_forget(server->metrics, server);
    tg_grpc_server_stop_listening(server);
    while (server->connections != NULL) {
        struct connection *connection = server->connections;
        tg_grpc_session_shutdown(connection->session);
        flush(connection);
        close_connection(connection);
    }
    free(server->methods);
    free(server->path);
    free(server);
}
