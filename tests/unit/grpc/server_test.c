/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/grpc/grpc.h"
#include "tests/support/metric_page.h"
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

#define MOST 256 /* connections that a server holds */

/* Another process that opens so many connections and keeps them. */
struct crowd {
    pid_t pid;
    int stop; /* closing it ends the process */
};

static struct crowd crowd_start(struct bench *bench, int n)
{
    int ready[2], stop[2];
    struct crowd crowd;
    char byte = 0;

    assert_int_equal(pipe2(ready, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(pipe2(stop, O_CLOEXEC), 0);
    crowd.pid = fork();
    assert_true(crowd.pid >= 0);
    if (crowd.pid == 0) {
        close(stop[1]);
        for (int i = 0; i < n; i++)
            while (dial(bench->path) < 0)
                sched_yield(); /* the backlog is full */
        (void)!write(ready[1], &byte, 1);
        _exit((int)read(stop[0], &byte, 1));
    }
    close(stop[0]);
    crowd.stop = stop[1];
    while (read(ready[0], &byte, 1) != 1)
        tg_loop_run_once(bench->loop, false);
    for (int i = 0; i < 50; i++)
        tg_loop_run_once(bench->loop, false);
    close(ready[0]);
    close(ready[1]);
    return crowd;
}

static void crowd_end(struct crowd *crowd)
{
    int status;

    close(crowd->stop);
    assert_int_equal(waitpid(crowd->pid, &status, 0), crowd->pid);
    assert_int_equal(status, 0);
}

static int measured(const struct bench *bench, struct tg_metrics *metrics, const char *name)
{
    TG_AUTOFREE char *series = tg_xasprintf("%s{socket=\"%s\"}", name, bench->path);

    return (int)metric_on_page(metrics, series);
}

static void expect_answer(struct bench *bench)
{
    struct client_call *call = start_text(bench, "/t.T/Echo", "hello", NULL);

    exchange(bench);
    assert_string_equal(call->grpc_status, "0");
    assert_false(bench->lost);
}

static void the_only_connection_of_a_process_outlives_a_thousand_of_another(void **state)
{
    struct bench *bench = *state;
    struct tg_metrics *metrics = tg_metrics_new();
    struct crowd crowd;

    tg_grpc_server_measure(bench->server, metrics);
    exchange(bench);
    crowd = crowd_start(bench, 1000);
    expect_answer(bench);
    assert_int_equal(measured(bench, metrics, "tangram_grpc_connections"), MOST);
    assert_int_equal(measured(bench, metrics, "tangram_grpc_connections_displaced_total"),
                     1 + 1000 - MOST);
    assert_int_equal(measured(bench, metrics, "tangram_grpc_connections_refused_total"), 0);
    crowd_end(&crowd);
    expect_answer(bench);
    assert_int_equal(measured(bench, metrics, "tangram_grpc_connections"), 1);
    tg_grpc_server_free(bench->server);
    bench->server = NULL;
    tg_metrics_free(metrics);
}

static void a_new_process_gets_the_place_of_one_of_the_many(void **state)
{
    struct bench *bench = *state;
    struct crowd crowd;

    close(bench->fd);
    crowd = crowd_start(bench, MOST);
    bench->fd = dial(bench->path);
    assert_true(bench->fd >= 0);
    expect_answer(bench);
    crowd_end(&crowd);
}

/* Of one process: who says nothing goes before who speaks, and who waits for an answer stays. */
static void of_a_process_the_connection_that_says_least_goes_first(void **state)
{
    struct bench *bench = *state;
    uint8_t bytes[256];
    int fds[MOST];

    start_text(bench, "/t.T/Later", "x", NULL);
    exchange(bench);
    for (size_t i = 0; i < MOST; i++) {
        assert_true((fds[i] = dial(bench->path)) >= 0);
        tg_loop_run_once(bench->loop, false);
    }
    exchange(bench);
    assert_false(bench->lost);
    assert_int_equal(bench->cancelled, 0);
    for (size_t i = 0; i < MOST; i++) { /* SETTINGS, and of the first also GOAWAY and the end */
        while (recv(fds[i], bytes, sizeof(bytes), 0) > 0)
            ;
        assert_int_equal(recv(fds[i], bytes, sizeof(bytes), 0), i == 0 ? 0 : -1);
        close(fds[i]);
    }
}

/* All wait for answers, and all are of one process: nobody is ended for another one of it. */
static void without_a_place_the_new_connection_is_closed(void **state)
{
    struct bench *bench = *state;
    struct client first = bench->client;
    int first_fd = bench->fd, fds[MOST];
    uint8_t byte;

    for (size_t i = 1; i < MOST; i++) {
        assert_true((bench->fd = fds[i] = dial(bench->path)) >= 0);
        client_init(&bench->client);
        start_text(bench, "/t.T/Later", "x", NULL);
        exchange(bench);
        client_done(&bench->client);
    }
    bench->client = first;
    bench->fd = first_fd;
    start_text(bench, "/t.T/Later", "x", NULL);
    exchange(bench);
    fds[0] = dial(bench->path);
    for (int i = 0; i < 3; i++)
        tg_loop_run_once(bench->loop, false);
    assert_int_equal(recv(fds[0], &byte, 1, 0), 0);
    assert_int_equal(bench->cancelled, 0);
    for (size_t i = 0; i < MOST; i++)
        close(fds[i]);
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
        TEST(the_only_connection_of_a_process_outlives_a_thousand_of_another),
        TEST(a_new_process_gets_the_place_of_one_of_the_many),
        TEST(of_a_process_the_connection_that_says_least_goes_first),
        TEST(without_a_place_the_new_connection_is_closed),
        TEST(a_peer_with_a_foreign_uid_is_dropped),
    };
    return cmocka_run_group_tests_name("server", tests, NULL, NULL);
}
