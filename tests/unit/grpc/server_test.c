/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/str.h"
#include "api/runtime/grpc/grpc.h"
#include "tests/unit/grpc/client.h"

struct bench {
    char folder[64];
    char path[100];
    struct tg_loop *loop;
    struct tg_grpc_server *server;
    struct client client;
    int fd;
    bool lost; /* the server closed the connection */
    struct tg_grpc_call call;
    int requests;
    int cancelled;
};

static void handle_echo(void *data, struct tg_grpc_call call, const uint8_t *message, size_t n,
                        int64_t deadline)
{
    struct bench *bench = data;
    (void)deadline;
    bench->requests++;
    tg_grpc_reply(call, message, n);
}

static void handle_later(void *data, struct tg_grpc_call call, const uint8_t *message, size_t n,
                         int64_t deadline)
{
    struct bench *bench = data;
    (void)message;
    (void)n;
    (void)deadline;
    bench->requests++;
    bench->call = call;
}

static void on_cancelled(void *data, struct tg_grpc_call call)
{
    struct bench *bench = data;
    bench->cancelled++;
    /* Answering what is gone is allowed and does nothing. */
    tg_grpc_reply(call, (const uint8_t *)"x", 1);
}

static int open_server(struct bench *bench, struct tg_error *err)
{
    const struct tg_grpc_method methods[] = {
        {"/t.T/Echo", handle_echo, NULL, bench},
        {"/t.T/Later", handle_later, on_cancelled, bench},
    };
    return tg_grpc_server_new(bench->loop, bench->path, methods, TG_ARRAY_SIZE(methods),
                              &bench->server, err);
}

static int dial(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static int setup(void **state)
{
    struct bench *bench = tg_xcalloc(1, sizeof(*bench));
    snprintf(bench->folder, sizeof(bench->folder), "/tmp/tangram-grpc-XXXXXX");
    assert_non_null(mkdtemp(bench->folder));
    snprintf(bench->path, sizeof(bench->path), "%s/s.sock", bench->folder);
    bench->loop = tg_loop_new(false);
    assert_int_equal(open_server(bench, NULL), 0);
    client_init(&bench->client);
    bench->client.piece = 16384;
    bench->fd = dial(bench->path);
    assert_true(bench->fd >= 0);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    client_done(&bench->client);
    if (bench->fd >= 0)
        close(bench->fd);
    tg_grpc_server_free(bench->server);
    tg_loop_free(bench->loop);
    unlink(bench->path);
    assert_int_equal(rmdir(bench->folder), 0);
    free(bench);
    return 0;
}

/* Lets client and server talk until both are quiet. */
static void exchange(struct bench *bench)
{
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT((size_t)64 << 20);
    int quiet = 0;
    while (quiet < 3) {
        uint8_t bytes[65536];
        const uint8_t *frame;
        ssize_t n;
        bool moved = false;
        while ((n = nghttp2_session_mem_send(bench->client.session, &frame)) > 0)
            tg_buf_append(&out, frame, (size_t)n);
        if (out.len > 0 && (n = send(bench->fd, out.data, out.len, MSG_NOSIGNAL)) > 0) {
            tg_buf_consume(&out, (size_t)n);
            moved = true;
        }
        tg_loop_run_once(bench->loop, false);
        while ((n = recv(bench->fd, bytes, sizeof(bytes), 0)) > 0) {
            moved = true;
            assert_int_equal(nghttp2_session_mem_recv(bench->client.session, bytes, (size_t)n), n);
        }
        bench->lost = n == 0 || (n < 0 && errno != EAGAIN);
        quiet = moved ? 0 : quiet + 1;
    }
}

static struct client_call *start_text(struct bench *bench, const char *path, const char *text,
                                      const char *timeout)
{
    TG_AUTOBUF struct tg_buf frame = client_frame(text);
    const struct client_request r = {
        .path = path, .timeout = timeout, .body = frame.data, .n = frame.len};
    return client_start(&bench->client, &r);
}

static void a_call_over_the_socket_is_answered(void **state)
{
    struct bench *bench = *state;
    struct client_call *call = start_text(bench, "/t.T/Echo", "hello", NULL);
    exchange(bench);
    assert_string_equal(call->grpc_status, "0");
    assert_memory_equal(call->body.data + 5, "hello", 5);
}

static void an_error_over_the_socket_has_code_and_text(void **state)
{
    struct bench *bench = *state;
    struct client_call *call = start_text(bench, "/t.T/Later", "x", NULL);
    struct tg_error err = TG_ERROR_INIT;

    exchange(bench);
    tg_error_set(&err, TG_NOT_FOUND, "no such claim");
    tg_grpc_fail(bench->call, &err);
    exchange(bench);
    assert_string_equal(call->grpc_status, "5");
    assert_string_equal(call->grpc_message, "no%20such%20claim");
    tg_grpc_fail(bench->call, &err); /* a second end is none */
    exchange(bench);
    assert_true(call->closed);
}

static void an_unknown_method_is_unimplemented(void **state)
{
    struct bench *bench = *state;
    struct client_call *call = start_text(bench, "/t.T/Nothing", "x", NULL);

    exchange(bench);
    assert_string_equal(call->grpc_status, "12");
}

static void states_of_a_stream_arrive_until_its_end(void **state)
{
    struct bench *bench = *state;
    struct client_call *call = start_text(bench, "/t.T/Later", "x", NULL);

    exchange(bench);
    tg_grpc_stream_send(bench->call, (const uint8_t *)"one", 3);
    exchange(bench);
    assert_int_equal(call->body.len, 8);
    assert_memory_equal(call->body.data + 5, "one", 3);
    assert_false(call->closed);
    tg_grpc_reply(bench->call, (const uint8_t *)"two", 3);
    exchange(bench);
    assert_int_equal(call->body.len, 16);
    assert_memory_equal(call->body.data + 13, "two", 3);
    assert_string_equal(call->grpc_status, "0");
    assert_int_equal(bench->cancelled, 0);
}

static void calls_of_a_lost_connection_are_answered_into_the_void(void **state)
{
    struct bench *bench = *state;
    struct tg_error err = TG_ERROR_INIT;

    start_text(bench, "/t.T/Later", "x", NULL);
    exchange(bench);
    close(bench->fd);
    bench->fd = -1;
    while (bench->cancelled == 0)
        tg_loop_run_once(bench->loop, true);
    tg_error_set(&err, TG_INTERNAL, "nobody reads this");
    tg_grpc_stream_send(bench->call, (const uint8_t *)"x", 1);
    tg_grpc_fail(bench->call, &err);
    tg_grpc_reply(bench->call, (const uint8_t *)"x", 1);
    assert_int_equal(bench->cancelled, 1);
}

static void answers_larger_than_the_socket_buffer_arrive_whole(void **state)
{
    struct bench *bench = *state;
    size_t n = (size_t)3 << 20;
    TG_AUTOFREE uint8_t *big = tg_xmalloc(n);
    memset(big, 'q', n);
    /* Windows as large as the message, so that only the socket holds it back. */
    nghttp2_session_set_local_window_size(bench->client.session, 0, 0, 8 << 20);
    const nghttp2_settings_entry window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 8 << 20};
    nghttp2_submit_settings(bench->client.session, 0, &window, 1);
    struct client_call *call = start_text(bench, "/t.T/Later", "x", NULL);
    exchange(bench);
    tg_grpc_reply(bench->call, big, n);
    /* Nobody reads at first. */
    for (int i = 0; i < 5; i++)
        tg_loop_run_once(bench->loop, false);
    exchange(bench);
    assert_string_equal(call->grpc_status, "0");
    assert_int_equal(call->body.len, n + 5);
}

static void a_lost_client_cancels_its_calls(void **state)
{
    struct bench *bench = *state;
    start_text(bench, "/t.T/Later", "x", NULL);
    exchange(bench);
    assert_int_equal(bench->requests, 1);
    close(bench->fd);
    bench->fd = -1;
    tg_loop_run_once(bench->loop, true);
    tg_loop_run_once(bench->loop, false);
    assert_int_equal(bench->cancelled, 1);
    tg_grpc_reply(bench->call, (const uint8_t *)"x", 1); /* dropped */
}

static void a_deadline_ends_a_call_on_its_own(void **state)
{
    struct bench *bench = *state;
    struct client_call *call = start_text(bench, "/t.T/Later", "x", "20m");
    exchange(bench);
    while (bench->cancelled == 0)
        tg_loop_run_once(bench->loop, true);
    exchange(bench);
    assert_string_equal(call->grpc_status, "4");
}

static void an_idle_connection_stays_open(void **state)
{
    struct bench *bench = *state;
    exchange(bench);
    assert_false(bench->lost);
}

static void a_client_that_is_no_http2_is_dropped(void **state)
{
    struct bench *bench = *state;
    assert_int_equal(send(bench->fd, "nonsense nonsense nonsense nonsense", 35, MSG_NOSIGNAL), 35);
    for (int i = 0; i < 5 && !bench->lost; i++) {
        uint8_t bytes[4096];
        tg_loop_run_once(bench->loop, false);
        bench->lost = recv(bench->fd, bytes, sizeof(bytes), 0) == 0;
    }
    assert_true(bench->lost);
}

static void the_socket_is_private(void **state)
{
    struct bench *bench = *state;
    struct stat st;
    assert_int_equal(stat(bench->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}

static void a_stale_socket_is_replaced_and_the_new_one_survives_its_predecessor(void **state)
{
    struct bench *bench = *state;
    struct tg_grpc_server *old = bench->server;
    assert_int_equal(open_server(bench, NULL), 0);
    tg_grpc_server_free(old); /* must not remove what is not its own */
    int fd = dial(bench->path);
    assert_true(fd >= 0);
    close(fd);
}

static void a_file_that_is_no_socket_is_not_removed(void **state)
{
    struct bench *bench = *state;
    struct tg_grpc_server *first = bench->server;
    struct tg_error err = TG_ERROR_INIT;
    snprintf(bench->path, sizeof(bench->path), "%s/file", bench->folder);
    close(open(bench->path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_int_equal(open_server(bench, &err), -TG_ALREADY_EXISTS);
    assert_non_null(strstr(err.message, "not a socket"));
    assert_int_equal(access(bench->path, F_OK), 0);
    assert_ptr_equal(bench->server, first);
}

static void a_path_that_does_not_fit_is_refused_not_cut(void **state)
{
    struct bench *bench = *state;
    struct tg_error err = TG_ERROR_INIT;
    struct tg_grpc_server *server;
    char path[200];
    memset(path, 'x', sizeof(path) - 1);
    path[0] = '/';
    path[108] = '\0';
    assert_int_equal(tg_grpc_server_new(bench->loop, path, NULL, 0, &server, &err),
                     -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "108 bytes"));
}

static void after_stop_listening_live_connections_go_on(void **state)
{
    struct bench *bench = *state;
    exchange(bench);
    tg_grpc_server_stop_listening(bench->server);
    assert_int_equal(access(bench->path, F_OK), -1);
    struct client_call *call = start_text(bench, "/t.T/Echo", "hello", NULL);
    exchange(bench);
    assert_string_equal(call->grpc_status, "0");
}

static void freeing_the_server_says_unavailable_and_goaway(void **state)
{
    struct bench *bench = *state;
    struct client_call *call = start_text(bench, "/t.T/Later", "x", NULL);
    exchange(bench);
    tg_grpc_server_free(bench->server);
    bench->server = NULL;
    exchange(bench);
    assert_string_equal(call->grpc_status, "14");
    assert_int_equal(bench->client.goaways, 1);
    assert_int_equal(bench->cancelled, 1);
    assert_true(bench->lost);
    assert_int_equal(access(bench->path, F_OK), -1);
}

static void connections_over_the_limit_are_closed_and_the_first_is_served(void **state)
{
    struct bench *bench = *state;
    int fds[40];
    int closed = 0;
    exchange(bench);
    for (size_t i = 0; i < TG_ARRAY_SIZE(fds); i++)
        assert_true((fds[i] = dial(bench->path)) >= 0);
    for (int i = 0; i < 5; i++)
        tg_loop_run_once(bench->loop, false);
    for (size_t i = 0; i < TG_ARRAY_SIZE(fds); i++) {
        uint8_t bytes[256];
        closed += recv(fds[i], bytes, sizeof(bytes), 0) == 0;
        close(fds[i]);
    }
    assert_int_equal(closed, 40 - 31);
    struct client_call *call = start_text(bench, "/t.T/Echo", "hello", NULL);
    exchange(bench);
    assert_string_equal(call->grpc_status, "0");
}

static void a_peer_with_a_foreign_uid_is_dropped(void **state)
{
    struct bench *bench = *state;
    uint8_t bytes[256];
    if (geteuid() != 0) {
        print_message("not run: changing the uid of a peer needs root\n");
        skip();
    }
    /* The credentials of a UNIX socket are those at the time of connect. */
    assert_int_equal(chmod(bench->folder, 0755), 0);
    assert_int_equal(chmod(bench->path, 0777), 0);
    assert_int_equal(seteuid(65534), 0);
    int fd = dial(bench->path);
    assert_int_equal(seteuid(0), 0);
    assert_true(fd >= 0);
    for (int i = 0; i < 5; i++)
        tg_loop_run_once(bench->loop, false);
    assert_int_equal(recv(fd, bytes, sizeof(bytes), 0), 0);
    close(fd);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_call_over_the_socket_is_answered),
        TEST(an_error_over_the_socket_has_code_and_text),
        TEST(an_unknown_method_is_unimplemented),
        TEST(states_of_a_stream_arrive_until_its_end),
        TEST(calls_of_a_lost_connection_are_answered_into_the_void),
        TEST(answers_larger_than_the_socket_buffer_arrive_whole),
        TEST(a_lost_client_cancels_its_calls),
        TEST(a_deadline_ends_a_call_on_its_own),
        TEST(an_idle_connection_stays_open),
        TEST(a_client_that_is_no_http2_is_dropped),
        TEST(the_socket_is_private),
        TEST(a_stale_socket_is_replaced_and_the_new_one_survives_its_predecessor),
        TEST(a_file_that_is_no_socket_is_not_removed),
        TEST(a_path_that_does_not_fit_is_refused_not_cut),
        TEST(after_stop_listening_live_connections_go_on),
        TEST(freeing_the_server_says_unavailable_and_goaway),
        TEST(connections_over_the_limit_are_closed_and_the_first_is_served),
        TEST(a_peer_with_a_foreign_uid_is_dropped),
    };
    return cmocka_run_group_tests_name("server", tests, NULL, NULL);
}
