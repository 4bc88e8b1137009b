/* SPDX-License-Identifier: Apache-2.0 */
/* What a client may send to the server of health and metrics. It answers in HTTP or not at all, and
 * serves the next client. */
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/http/http.h"

static int page(void *data, struct tg_buf *body, const char **content_type)
{
    (void)data;
    (void)content_type;
    tg_buf_append_str(body, "ok\n");
    return 200;
}

static struct tg_loop *loop;
static struct tg_http *server;

static void start_once(void)
{
    const struct tg_http_route routes[] = {{.path = "/healthz", .handle = page},
                                           tg_http_verbosity_route()};

    if (loop != NULL)
        return;
    loop = tg_loop_new(true);
    if (tg_http_new(loop, "127.0.0.1:0", routes, TG_ARRAY_SIZE(routes), &server, NULL) < 0)
        abort();
}

static int dial(void)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                        .sin_port = htons((uint16_t)tg_http_port(server))};
    /* Closed without a farewell: a port of this machine is free again at once. */
    const struct linger linger = {.l_onoff = 1};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) != 0)
        abort();
    return fd;
}

/* Sends the bytes and gathers what comes back, until the server has nothing more to do or closes.
 */
static void talk(const void *data, size_t n, struct tg_buf *answer)
{
    int fd = dial();
    int quiet = 0;

    (void)send(fd, data, n, MSG_NOSIGNAL);
    while (quiet < 4) {
        char bytes[4096];
        ssize_t got;

        tg_loop_run_once(loop, false);
        got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        quiet = got > 0 ? 0 : quiet + 1;
        if (got > 0)
            tg_buf_append(answer, bytes, (size_t)got);
    }
    close(fd);
    tg_loop_run_once(loop, false);
    tg_loop_run_once(loop, false);
}

/* An honest request is answered, and the connection closed, however long the machine takes. */
static void check_service(void)
{
    static const char request[] = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    static const char served[] = "HTTP/1.1 200 OK";
    TG_AUTOBUF struct tg_buf answer = TG_BUF_INIT((size_t)1 << 20);
    int fd = dial();
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    ssize_t got = -1;

    if (send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) != sizeof(request) - 1)
        abort();
    for (int tries = 0; got != 0 && tries < 20000; tries++) {
        char bytes[4096];

        tg_loop_run_once(loop, false);
        if (poll(&ready, 1, 1) > 0 && (got = recv(fd, bytes, sizeof(bytes), 0)) > 0)
            tg_buf_append(&answer, bytes, (size_t)got);
    }
    close(fd);
    if (got != 0 || strncmp(tg_buf_str(&answer), served, sizeof(served) - 1) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    TG_AUTOBUF struct tg_buf answer = TG_BUF_INIT((size_t)1 << 20);

    start_once();
    talk(data, n, &answer);
    if (memcmp(tg_buf_str(&answer), "HTTP/1.", answer.len < 7 ? answer.len : 7) != 0)
        abort();
    check_service();
    return 0;
}
