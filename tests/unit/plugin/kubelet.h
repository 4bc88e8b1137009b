/* SPDX-License-Identifier: Apache-2.0 */
/* The kubelet's side of a socket, as far as these tests need it: dials, calls, reads what comes
 * back. */
#ifndef TG_TEST_PLUGIN_KUBELET_H
#define TG_TEST_PLUGIN_KUBELET_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/runtime/loop/loop.h"
#include "tests/unit/grpc/client.h"

struct kubelet {
    struct tg_loop *loop;
    struct client client;
    int fd;
};

static inline void kubelet_init(struct kubelet *kubelet, struct tg_loop *loop, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    kubelet->loop = loop;
    client_init(&kubelet->client);
    kubelet->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(connect(kubelet->fd, (const struct sockaddr *)&address, sizeof(address)), 0);
}

static inline void kubelet_done(struct kubelet *kubelet)
{
    close(kubelet->fd);
    client_done(&kubelet->client);
}

/* Lets both sides talk until they are quiet. */
static inline void kubelet_exchange(struct kubelet *kubelet)
{
    for (int quiet = 0; quiet < 3; quiet++) {
        const uint8_t *frame;
        uint8_t bytes[16384];
        ssize_t n;
        while ((n = nghttp2_session_mem_send(kubelet->client.session, &frame)) > 0) {
            assert_int_equal(send(kubelet->fd, frame, (size_t)n, MSG_NOSIGNAL), n);
            quiet = 0;
        }
        tg_loop_run_once(kubelet->loop, false);
        while ((n = recv(kubelet->fd, bytes, sizeof(bytes), 0)) > 0) {
            assert_int_equal(nghttp2_session_mem_recv(kubelet->client.session, bytes, (size_t)n),
                             n);
            quiet = 0;
        }
    }
}

/* Sends one message of n bytes; the answer is in the call once it is closed. */
static inline struct client_call *kubelet_start(struct kubelet *kubelet, const char *path,
                                                const void *message, size_t n)
{
    TG_AUTOBUF struct tg_buf frame = TG_BUF_INIT((size_t)1 << 20);
    const unsigned char prefix[5] = {0, 0, 0, (unsigned char)(n >> 8), (unsigned char)n};
    tg_buf_append(&frame, prefix, sizeof(prefix));
    if (n > 0)
        tg_buf_append(&frame, message, n);
    const struct client_request request = {.path = path, .body = frame.data, .n = frame.len};
    return client_start(&kubelet->client, &request);
}

static inline struct client_call *kubelet_call(struct kubelet *kubelet, const char *path,
                                               const void *message, size_t n)
{
    struct client_call *call = kubelet_start(kubelet, path, message, n);
    kubelet_exchange(kubelet);
    while (!call->closed) {
        tg_loop_run_once(kubelet->loop, true);
        kubelet_exchange(kubelet);
    }
    return call;
}

#endif
