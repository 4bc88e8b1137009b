/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/http/http.h"

struct fixture {
    struct tg_loop *loop;
    struct tg_http *http;
    int health;
};

static int health(void *data, struct tg_buf *body, const char **content_type)
{
    const struct fixture *f = data;

    (void)content_type;
    tg_buf_append_str(body, f->health == 200 ? "ok\n" : "not ready\n");
    return f->health;
}

static int page(void *data, struct tg_buf *body, const char **content_type)
{
    (void)data;
    *content_type = "application/json";
    for (int i = 0; i < 100000; i++)
        tg_buf_append_str(body, "0123456789");
    return 200;
}

static int endless(void *data, struct tg_buf *body, const char **content_type)
{
    (void)data;
    (void)content_type;
    while (tg_buf_append_str(body, "more and more and more") == 0)
        ;
    return 200;
}

static int setup(void **state)
{
    struct fixture *f = tg_xcalloc(1, sizeof(*f));
    const struct tg_http_route routes[] = {{.path = "/healthz", .handle = health, .data = f},
                                           {.path = "/page", .handle = page, .data = f},
                                           {.path = "/endless", .handle = endless, .data = f},
                                           tg_http_verbosity_route()};

    f->loop = tg_loop_new(false);
    f->health = 200;
    assert_int_equal(tg_http_new(f->loop, "127.0.0.1:0", routes, 4, &f->http, NULL), 0);
    assert_true(tg_http_port(f->http) > 0);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    tg_http_free(f->http);
    tg_loop_free(f->loop);
    free(f);
    return 0;
}

struct client {
    struct tg_io io;
    struct tg_buf in;
    bool closed;
};

static void on_readable(struct tg_io *io, int events)
{
    struct client *client = io->data;
    char bytes[65536];
    ssize_t n = recv(io->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

    (void)events;
    if (n == 0 || (n < 0 && errno != EAGAIN)) {
        client->closed = true;
        tg_io_stop(io);
    } else if (n > 0) {
        tg_buf_append(&client->in, bytes, (size_t)n);
    }
}

/* A connection on which the text has been sent. */
static int connect_to(const struct fixture *f, const char *text)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons((uint16_t)tg_http_port(f->http))};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
    return fd;
}

static void open_client(struct fixture *f, struct client *client, const char *text)
{
    *client = (struct client){.io.callback = on_readable, .in = TG_BUF_INIT(64 << 20)};
    client->io.data = client;
    tg_io_start(f->loop, &client->io, connect_to(f, text), TG_LOOP_READ);
}

static void close_client(struct client *client)
{
    tg_io_stop(&client->io);
    close(client->io.fd);
    tg_buf_done(&client->in);
}

/* The whole answer to a request that ends the connection; to be freed. */
static char *ask(struct fixture *f, const char *text)
{
    struct client client;
    char *answer;

    open_client(f, &client, text);
    while (!client.closed)
        tg_loop_run_once(f->loop, true);
    answer = tg_buf_take(&client.in);
    close_client(&client);
    return answer;
}

#define CLOSE "Host: a\r\nConnection: close\r\n\r\n"

static void expect(struct fixture *f, const char *text, const char *status, const char *part)
{
    char *answer = ask(f, text);

    assert_memory_equal(answer, status, strlen(status));
    assert_non_null(strstr(answer, part));
    free(answer);
}

static void a_route_answers_with_its_status_and_body(void **state)
{
    struct fixture *f = *state;

    expect(f, "GET /healthz HTTP/1.1\r\n" CLOSE, "HTTP/1.1 200", "\r\n\r\nok\n");
    expect(f, "GET /healthz?verbose=1 HTTP/1.1\r\n" CLOSE, "HTTP/1.1 200", "\r\n\r\nok\n");
    expect(f, "GET /healthz HTTP/1.1\r\n" CLOSE, "HTTP/1.1 200",
           "Content-Type: text/plain; charset=utf-8\r\n");
    f->health = 503;
    expect(f, "GET /healthz HTTP/1.1\r\n" CLOSE, "HTTP/1.1 503", "\r\n\r\nnot ready\n");
}

static void a_large_page_arrives_whole(void **state)
{
    char *answer = ask(*state, "GET /page HTTP/1.1\r\n" CLOSE);
    const char *body = strstr(answer, "\r\n\r\n");

    assert_non_null(strstr(answer, "Content-Type: application/json\r\n"));
    assert_non_null(body);
    assert_int_equal(strlen(body + 4), 1000000);
    free(answer);
}

static void a_page_over_the_cap_is_a_server_error_and_not_cut(void **state)
{
    expect(*state, "GET /endless HTTP/1.1\r\n" CLOSE, "HTTP/1.1 500", "grew too large");
}

static void paths_match_exactly(void **state)
{
    expect(*state, "GET / HTTP/1.1\r\n" CLOSE, "HTTP/1.1 404", "no such page");
    expect(*state, "GET /healthz/ HTTP/1.1\r\n" CLOSE, "HTTP/1.1 404", "no such page");
    expect(*state, "GET /health HTTP/1.1\r\n" CLOSE, "HTTP/1.1 404", "no such page");
}

static void other_methods_are_refused(void **state)
{
    expect(*state, "POST /healthz HTTP/1.1\r\nContent-Length: 3\r\n" CLOSE "abc", "HTTP/1.1 405",
           "Allow: GET, HEAD\r\n");
    expect(*state, "DELETE /healthz HTTP/1.1\r\n" CLOSE, "HTTP/1.1 405", "only GET and HEAD");
}

static void the_verbosity_of_the_log_is_read_and_set(void **state)
{
    struct fixture *f = *state;
    char flood[4096];

    expect(f, "GET /debug/flags/v HTTP/1.1\r\n" CLOSE, "HTTP/1.1 200", "\r\n\r\n0\n");
    expect(f, "PUT /debug/flags/v HTTP/1.1\r\nContent-Length: 2\r\n" CLOSE "4\n", "HTTP/1.1 200",
           "is 4 now");
    assert_true(tg_log_enabled(4));
    expect(f, "GET /debug/flags/v HTTP/1.1\r\n" CLOSE, "HTTP/1.1 200", "\r\n\r\n4\n");
    expect(f, "PUT /debug/flags/v HTTP/1.1\r\nContent-Length: 2\r\n" CLOSE "11", "HTTP/1.1 400",
           "from 0 to 10");
    expect(f, "PUT /debug/flags/v HTTP/1.1\r\nContent-Length: 0\r\n" CLOSE, "HTTP/1.1 400",
           "from 0 to 10");
    snprintf(flood, sizeof(flood),
             "PUT /debug/flags/v HTTP/1.1\r\nContent-Length: 2000\r\n" CLOSE "%02000d", 1);
    expect(f, flood, "HTTP/1.1 413", "more than 1 KiB");
    assert_int_equal(tg_log_verbosity(), 4);
    expect(f, "PUT /healthz HTTP/1.1\r\nContent-Length: 1\r\n" CLOSE "1", "HTTP/1.1 405",
           "Allow: GET, HEAD\r\n");
    expect(f, "DELETE /debug/flags/v HTTP/1.1\r\n" CLOSE, "HTTP/1.1 405",
           "Allow: GET, HEAD, PUT\r\n");
    tg_log_set_verbosity(0);
}

static bool is_local(int family, const char *peer, const char *own)
{
    struct sockaddr_storage addresses[2] = {{.ss_family = (sa_family_t)family},
                                            {.ss_family = (sa_family_t)family}};
    const char *texts[2] = {peer, own};

    for (int i = 0; i < 2; i++) {
        void *at = family == AF_INET6 ? (void *)&((struct sockaddr_in6 *)&addresses[i])->sin6_addr
                                      : (void *)&((struct sockaddr_in *)&addresses[i])->sin_addr;
        assert_int_equal(inet_pton(family, texts[i], at), 1);
    }
    return tg_http_is_local((struct sockaddr *)&addresses[0], (struct sockaddr *)&addresses[1]);
}

static void who_is_in_the_same_network_namespace_is_told_by_addresses(void **state)
{
    (void)state;
    assert_true(is_local(AF_INET, "127.0.0.1", "127.0.0.1"));
    assert_true(is_local(AF_INET, "10.1.2.3", "10.1.2.3"));
    assert_false(is_local(AF_INET, "10.1.2.4", "10.1.2.3"));
    assert_false(is_local(AF_INET, "128.0.0.1", "127.0.0.1"));
    assert_true(is_local(AF_INET6, "::1", "::1"));
    assert_true(is_local(AF_INET6, "::ffff:127.0.0.1", "::ffff:127.0.0.1"));
    assert_true(is_local(AF_INET6, "fd00::1", "fd00::1"));
    assert_false(is_local(AF_INET6, "fd00::2", "fd00::1"));
    assert_false(is_local(AF_INET6, "::ffff:10.1.2.4", "::ffff:10.1.2.3"));
}

static void head_gives_the_headers_alone(void **state)
{
    char *answer = ask(*state, "HEAD /healthz HTTP/1.1\r\n" CLOSE);

    assert_non_null(strstr(answer, "Content-Length: 3\r\n"));
    assert_string_equal(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
    free(answer);
}

static void a_connection_is_kept_for_the_next_request(void **state)
{
    struct fixture *f = *state;
    struct client client;

    open_client(f, &client, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    while (strstr(tg_buf_str(&client.in), "ok\n") == NULL)
        tg_loop_run_once(f->loop, true);
    tg_buf_clear(&client.in);
    assert_true(send(client.io.fd, "GET /healthz HTTP/1.1\r\n" CLOSE,
                     strlen("GET /healthz HTTP/1.1\r\n" CLOSE), MSG_NOSIGNAL) > 0);
    while (!client.closed)
        tg_loop_run_once(f->loop, true);
    assert_non_null(strstr(tg_buf_str(&client.in), "ok\n"));
    close_client(&client);
}

static void garbage_and_endless_headers_end_the_connection_only(void **state)
{
    struct tg_buf flood = TG_BUF_INIT(1 << 20);
    char *answer = ask(*state, "\x16\x03\x01 nonsense\r\n\r\n");

    free(answer);
    tg_buf_append_str(&flood, "GET /healthz HTTP/1.1\r\nX-Flood: ");
    for (int i = 0; i < 6000; i++)
        tg_buf_append_str(&flood, "0123456789");
    answer = ask(*state, tg_buf_str(&flood));
    assert_null(strstr(answer, " 200 "));
    free(answer);
    tg_buf_done(&flood);
    expect(*state, "GET /healthz HTTP/1.1\r\n" CLOSE, "HTTP/1.1 200", "ok");
}

static void strangers_who_hold_connections_are_bounded(void **state)
{
    struct fixture *f = *state;
    struct client clients[80];
    size_t refused = 0;

    for (size_t i = 0; i < 80; i++) {
        open_client(f, &clients[i], "GET /hea");
        tg_loop_run_once(f->loop, false);
    }
    for (int i = 0; i < 200; i++)
        tg_loop_run_once(f->loop, false);
    /* Those over the limit wait in the backlog or are closed; when others leave, requests are
     * served. */
    for (size_t i = 0; i < 80; i++) {
        refused += clients[i].closed;
        close_client(&clients[i]);
    }
    assert_in_range(refused, 0, 16);
    expect(f, "GET /healthz HTTP/1.1\r\n" CLOSE, "HTTP/1.1 200", "ok");
}

static void stop(struct tg_timer *timer)
{
    tg_loop_stop(timer->data);
}

static void an_idle_server_does_not_wake_up(void **state)
{
    struct fixture *f = *state;
    struct tg_timer timer = {.callback = stop, .data = f->loop};
    struct rusage before, after;

    free(ask(f, "GET /healthz HTTP/1.1\r\n" CLOSE));
    getrusage(RUSAGE_SELF, &before);
    tg_timer_start(f->loop, &timer, 100 * TG_MILLISECOND);
    tg_loop_run(f->loop);
    getrusage(RUSAGE_SELF, &after);
    assert_in_range(after.ru_nvcsw - before.ru_nvcsw, 0, 5);
}

static void addresses_are_read_strictly(void **state)
{
    static const struct {
        const char *address;
        bool ok;
    } cases[] = {
        {":0", true},
        {"localhost:0", true},
        {"127.0.0.1:0", true},
        {"127.0.0.1", false},
        {"127.0.0.1:", false},
        {"127.0.0.1:65536", false},
        {"127.0.0.1:-1", false},
        {"::1:8080", false},
        {"127.0.0.1:80x", false},
        {"", false},
        {"[::1", false},
        {"no such host:1", false},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tg_error err = TG_ERROR_INIT;
        struct tg_http *http = NULL;
        int rc = tg_http_new(f->loop, cases[i].address, NULL, 0, &http, &err);
        assert_int_equal(rc == 0, cases[i].ok);
        if (!cases[i].ok) {
            assert_int_equal(err.code, TG_INVALID_ARGUMENT);
            assert_non_null(strstr(err.message, "listen address"));
        }
        tg_http_free(http);
    }
}

static void a_taken_port_is_told(void **state)
{
    struct fixture *f = *state;
    struct tg_error err = TG_ERROR_INIT;
    struct tg_http *http = NULL;
    char address[64];

    snprintf(address, sizeof(address), "127.0.0.1:%d", tg_http_port(f->http));
    assert_true(tg_http_new(f->loop, address, NULL, 0, &http, &err) < 0);
    assert_non_null(strstr(err.message, address));
    assert_non_null(strstr(err.message, "in use"));
}

/* A callback that does not return until it may. */
struct stuck {
    struct tg_loop *loop;
    struct tg_deferred deferred;
    sem_t entered, may_go;
    atomic_bool done;
};

static void hang(struct tg_deferred *deferred)
{
    struct stuck *stuck = deferred->data;

    sem_post(&stuck->entered);
    sem_wait(&stuck->may_go);
}

static void *run_loop(void *data)
{
    struct stuck *stuck = data;

    tg_defer(stuck->loop, &stuck->deferred);
    while (!atomic_load(&stuck->done))
        tg_loop_run_once(stuck->loop, true);
    return NULL;
}

/* That is what the probes of liveness live on: who hangs does not answer, and is started anew; who
 * goes on answers. */
static void a_loop_that_hangs_does_not_answer(void **state)
{
    const struct fixture *f = *state;
    struct stuck stuck = {.loop = f->loop};
    struct pollfd prober = {.events = POLLIN};
    pthread_t thread;
    char bytes[64];

    stuck.deferred = (struct tg_deferred){.callback = hang, .data = &stuck};
    assert_int_equal(sem_init(&stuck.entered, 0, 0), 0);
    assert_int_equal(sem_init(&stuck.may_go, 0, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, run_loop, &stuck), 0);
    sem_wait(&stuck.entered);
    prober.fd = connect_to(f, "GET /healthz HTTP/1.1\r\n" CLOSE);
    /* However long: it only makes sure that a wrong answer has had its time. */
    assert_int_equal(poll(&prober, 1, 100), 0);
    sem_post(&stuck.may_go);
    assert_int_equal(poll(&prober, 1, -1), 1);
    assert_true(recv(prober.fd, bytes, sizeof(bytes), 0) > 12);
    assert_memory_equal(bytes, "HTTP/1.1 200", 12);
    close(prober.fd);
    /* One more connection, so that the loop wakes up and sees it. */
    atomic_store(&stuck.done, true);
    prober.fd = connect_to(f, "GET");
    assert_int_equal(pthread_join(thread, NULL), 0);
    close(prober.fd);
    sem_destroy(&stuck.entered);
    sem_destroy(&stuck.may_go);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_route_answers_with_its_status_and_body),
        TEST(a_large_page_arrives_whole),
        TEST(a_page_over_the_cap_is_a_server_error_and_not_cut),
        TEST(paths_match_exactly),
        TEST(other_methods_are_refused),
        TEST(the_verbosity_of_the_log_is_read_and_set),
        TEST(who_is_in_the_same_network_namespace_is_told_by_addresses),
        TEST(head_gives_the_headers_alone),
        TEST(a_connection_is_kept_for_the_next_request),
        TEST(garbage_and_endless_headers_end_the_connection_only),
        TEST(strangers_who_hold_connections_are_bounded),
        TEST(an_idle_server_does_not_wake_up),
        TEST(a_loop_that_hangs_does_not_answer),
        TEST(addresses_are_read_strictly),
        TEST(a_taken_port_is_told),
    };
    return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
