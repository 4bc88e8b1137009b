/* SPDX-License-Identifier: Apache-2.0 */
/* What a client may send on the kubelet's sockets. Byte 0: the length of the pieces in which the
 * rest arrives. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/grpc/session.h"

struct state {
    struct tg_grpc_session *session;
    int open; /* requests that were delivered and not ended */
};

/* The method is in the last letter of the path. */
static const void *find(void *data, const char *path)
{
    static const char methods[] = "efls";
    const char *at = path[0] == '\0' ? NULL : strchr(methods, path[strlen(path) - 1]);

    (void)data;
    return at;
}

static void request(void *data, int32_t stream, const void *method, const uint8_t *message,
                    size_t n, int64_t deadline)
{
    struct state *state = data;
    struct tg_error err;

    (void)deadline;
    state->open++;
    switch (*(const char *)method) {
    case 'e':
        tg_grpc_session_reply(state->session, stream, message, n);
        state->open--;
        break;
    case 'f':
        tg_error_set(&err, TG_INTERNAL, "%.*s", (int)(n < 100 ? n : 100), (const char *)message);
        tg_grpc_session_fail(state->session, stream, &err);
        state->open--;
        break;
    case 's':
        tg_grpc_session_send(state->session, stream, message, n);
        tg_grpc_session_send(state->session, stream, message, n / 2);
        break;
    default:
        break;
    }
}

static void cancelled(void *data, int32_t stream, const void *method)
{
    struct state *state = data;
    (void)stream;
    (void)method;
    state->open--;
}

static void drain(struct state *state, size_t piece)
{
    const uint8_t *bytes;
    size_t n;

    while (tg_grpc_session_output(state->session, &bytes, &n, NULL) == 0 && n > 0)
        tg_grpc_session_sent(state->session, n < piece ? n : piece);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct tg_grpc_session_handlers handlers = {find, request, cancelled};
    struct tg_grpc_budget budget = {.max = 1024, .own = 64};
    struct state state = {.session = tg_grpc_session_new(&handlers, &state, &budget)};
    size_t piece = n > 0 && data[0] > 0 ? data[0] : 65536;

    for (size_t i = 1; i < n; i += piece) {
        size_t part = n - i < piece ? n - i : piece;
        if (tg_grpc_session_receive(state.session, data + i, part, (int64_t)i, NULL) != 0)
            break;
        drain(&state, piece);
        tg_grpc_session_expire(state.session, (int64_t)i / 2);
    }
    tg_grpc_session_shutdown(state.session);
    drain(&state, 65536);
    tg_grpc_session_free(state.session);
    /* Every request that a handler saw was ended, by it or by its cancellation, and nothing is held
     * any more. */
    if (state.open != 0 || budget.used != 0)
        abort();
    return 0;
}
