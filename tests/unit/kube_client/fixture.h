/* SPDX-License-Identifier: Apache-2.0 */
/* An API server whose every answer the test writes, and a client of it. */
#ifndef TG_TESTS_UNIT_KUBE_CLIENT_FIXTURE_H
#define TG_TESTS_UNIT_KUBE_CLIENT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/http_server.h"

#include "api/kubernetes/client/internal.h"
#include "api/runtime/base/str.h"

struct pending {
    struct test_connection *connection;
    char method[16];
    char path[4096];
    char *headers, *body;
};

struct fixture {
    struct tg_loop *loop;
    struct tg_fake_clock clock;
    struct test_server server;
    struct tg_kube_client *client;
    struct pending pending[64]; /* requests that were not expected yet, oldest first */
    size_t n;
    struct pending last; /* the one that was expected last */
};

static inline void fixture_free_request(struct pending *request)
{
    free(request->headers);
    free(request->body);
    *request = (struct pending){0};
}

static inline void fixture_handle(void *data, struct test_connection *connection,
                                  const struct test_request *request)
{
    struct fixture *f = data;
    struct pending *pending = &f->pending[f->n++];

    assert_true(f->n <= 64);
    *pending = (struct pending){.connection = connection};
    snprintf(pending->method, sizeof(pending->method), "%s", request->method);
    snprintf(pending->path, sizeof(pending->path), "%s", request->path);
    pending->headers = tg_xstrdup(request->headers);
    pending->body = tg_xstrdup(request->body);
}

static inline void fixture_init_with(struct fixture *f, struct tg_kube_config config)
{
    struct tg_error err = TG_ERROR_INIT;

    memset(f, 0, sizeof(*f));
    f->loop = tg_loop_new(false);
    tg_fake_clock_init(&f->clock, INT64_C(1764488100) * TG_SECOND);
    f->clock.monotonic_now = 1000 * TG_SECOND;
    test_server_start(&f->server, f->loop, fixture_handle, f);
    config.server = f->server.url;
    assert_int_equal(
        tg_kube_client_new(f->loop, &f->clock.clock, &config, "tester", &f->client, &err), 0);
}

static inline void fixture_init(struct fixture *f, const char *token_file)
{
    fixture_init_with(f, (struct tg_kube_config){.token_file = token_file});
}

static inline void fixture_done(struct fixture *f)
{
    tg_kube_client_free(f->client);
    test_server_stop(&f->server);
    tg_loop_free(f->loop);
    fixture_free_request(&f->last);
    for (size_t i = 0; i < f->n; i++)
        fixture_free_request(&f->pending[i]);
}

static inline void fixture_wait(struct fixture *f)
{
    while (f->n == 0)
        tg_loop_run_once(f->loop, true);
}

/* Waits for a request and takes it; what it was is in f->last. */
static inline struct test_connection *fixture_next(struct fixture *f)
{
    fixture_wait(f);
    fixture_free_request(&f->last);
    f->last = f->pending[0];
    f->n--;
    memmove(&f->pending[0], &f->pending[1], f->n * sizeof(f->pending[0]));
    return f->last.connection;
}

static inline struct test_connection *fixture_expect(struct fixture *f, const char *method,
                                                     const char *path)
{
    struct test_connection *connection = fixture_next(f);

    assert_string_equal(f->last.method, method);
    assert_string_equal(f->last.path, path);
    return connection;
}

/* Runs whatever can run without waiting. */
static inline void fixture_settle(struct fixture *f)
{
    for (int i = 0; i < 50; i++)
        tg_loop_run_once(f->loop, false);
}

#endif
