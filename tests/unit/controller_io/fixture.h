/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real controller that leads, against a server whose answers the test writes. Lists are answered
 * with what `claims` holds or empty, watches are held open, the lease is granted; events are kept;
 * every other request waits for the test. The pass is left out: what it would be asked is counted.
 */
#ifndef TG_TESTS_UNIT_CONTROLLER_IO_FIXTURE_H
#define TG_TESTS_UNIT_CONTROLLER_IO_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/http_server.h"

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "controller/controller.h"

#define CLAIM_PATH "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/"
#define POD_PATH "/api/v1/namespaces/ns/pods/"
#define GANG_PATH "/apis/tangram.dev/v1alpha1/namespaces/ns/gangs"
#define STATUS(code, reason)                                                                       \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"because\",\"reason\":\"" reason     \
    "\",\"code\":" #code "}"
#define OBJECT(name, version)                                                                      \
    "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"" name                                         \
    "\",\"uid\":\"u\",\"resourceVersion\":\"" version "\"},\"spec\":{}}"

struct call {
    struct test_connection *connection;
    char method[16], path[4096];
    char *headers, *body;
    size_t body_len;
};

struct fixture {
    struct tg_loop *loop;
    struct test_server server;
    struct tg_configuration *configuration;
    struct tg_controller *controller;
    struct tg_unit_state *state; /* of the unit "u" */
    const char *claims;          /* items of the list of claims */
    const char *nodes;           /* items of the list of nodes, or NULL */
    const char *second_page;     /* items of its second page, or NULL */
    unsigned refuse_lists;       /* so many lists are refused */
    char lists[2048];            /* what was listed, one a line */
    bool no_taint_rules;         /* the server does not know the kind */
    const char *version;         /* minor of the server: "37" if NULL; "" = refused */
    unsigned versions;           /* how often it was asked */
    bool hold_leases;            /* renewals wait for the test as well */
    struct test_connection *claim_watch;
    struct tg_fake_clock clock; /* of the controller, after fixture_freeze */
    struct call calls[96];      /* that were not expected yet, oldest first */
    size_t n;
    struct call last; /* the one that was expected last */
    char *event;      /* body of the last Event */
    unsigned events, passes;
};

static inline void fixture_free_call(struct call *call)
{
    free(call->headers);
    free(call->body);
    *call = (struct call){0};
}

static inline void fixture_keep(struct fixture *f, struct test_connection *connection,
                                const struct test_request *request)
{
    struct call *call = &f->calls[f->n++];

    assert_true(f->n < TG_ARRAY_SIZE(f->calls));
    *call = (struct call){.connection = connection, .body_len = request->body_len};
    snprintf(call->method, sizeof(call->method), "%s", request->method);
    snprintf(call->path, sizeof(call->path), "%s", request->path);
    call->headers = tg_xstrdup(request->headers);
    call->body = tg_xmalloc(request->body_len + 1);
    memcpy(call->body, request->body, request->body_len + 1);
}

static inline void fixture_lease(struct test_connection *connection, bool held)
{
    test_reply(connection, 200, "",
               held ? "{\"metadata\":{\"name\":\"l\",\"resourceVersion\":\"3\",\"annotations\":{"
                      "\"tangram.dev/epoch\":\"8\"}},\"spec\":{\"holderIdentity\":\"me\","
                      "\"renewTime\":\"t1\",\"leaseDurationSeconds\":15}}"
                    : "{\"metadata\":{\"name\":\"l\",\"resourceVersion\":\"2\",\"annotations\":{"
                      "\"tangram.dev/epoch\":\"7\"}},\"spec\":{\"holderIdentity\":\"\","
                      "\"renewTime\":\"t0\",\"leaseDurationSeconds\":15}}");
}

static inline void fixture_list(struct fixture *f, struct test_connection *connection,
                                const char *path)
{
    struct tg_buf list = TG_BUF_INIT(1 << 20);
    bool claims = strstr(path, "/resourceclaims?") != NULL;
    bool second = strstr(path, "continue=") != NULL;
    const char *others = strstr(path, "/nodes?") != NULL ? f->nodes : NULL;
    const char *items = !claims ? others : second ? f->second_page : f->claims;
    size_t n = strlen(f->lists);

    snprintf(f->lists + n, sizeof(f->lists) - n, "%s\n", path);
    if (f->refuse_lists > 0) {
        f->refuse_lists--;
        test_reply(connection, 500, "", STATUS(500, "InternalError"));
        return;
    }
    if (f->no_taint_rules && strstr(path, "/devicetaintrules?") != NULL) {
        test_reply(connection, 404, "", "404 page not found\n");
        return;
    }
    tg_buf_printf(&list, "{\"metadata\":{\"resourceVersion\":\"1000\"%s},\"items\":[%s]}",
                  claims && !second && f->second_page != NULL ? ",\"continue\":\"a b\"" : "",
                  tg_or(items, ""));
    test_reply(connection, 200, "", tg_buf_str(&list));
    tg_buf_done(&list);
}

static inline void fixture_version(struct fixture *f, struct test_connection *connection)
{
    char text[64];

    f->versions++;
    snprintf(text, sizeof(text), "{\"major\":\"1\",\"minor\":\"%s\",\"gitVersion\":\"v\"}",
             tg_or(f->version, "37"));
    test_reply(connection, tg_streq(f->version, "") ? 403 : 200, "",
               tg_streq(f->version, "") ? STATUS(403, "Forbidden") : text);
}

static inline void fixture_handle(void *data, struct test_connection *connection,
                                  const struct test_request *request)
{
    struct fixture *f = data;
    bool lease = strstr(request->path, "/leases/") != NULL;

    if (strstr(request->path, "watch=1") != NULL) {
        test_begin(connection, 200);
        if (strstr(request->path, "/resourceclaims?") != NULL)
            f->claim_watch = connection;
    } else if (strstr(request->path, "limit=") != NULL) {
        fixture_list(f, connection, request->path);
    } else if (tg_streq(request->path, "/version")) {
        fixture_version(f, connection);
    } else if (lease && !f->hold_leases) {
        fixture_lease(connection, !tg_streq(request->method, "GET"));
    } else if (strstr(request->path, "/events") != NULL) {
        free(f->event);
        f->event = tg_xstrdup(request->body);
        f->events++;
        test_reply(connection, 201, "", OBJECT("e", "1"));
    } else {
        fixture_keep(f, connection, request);
    }
}

static inline void fixture_pass(struct tg_deferred *deferred)
{
    struct fixture *f = deferred->data;

    f->passes++;
    /* What every pass does first. */
    tg_controller_start_waiting(f->controller);
}

/* A controller that has not read anything. yaml: of the configuration, after its kind. */
static inline void fixture_begin(struct fixture *f, const char *yaml)
{
    const struct tg_controller_options options = {.namespace_ = "tangram-system", .identity = "me"};
    struct tg_kube_config kube = {0};
    struct tg_error err = TG_ERROR_INIT;
    char *text =
        tg_xasprintf("apiVersion: tangram.dev/v1alpha1\nkind: TangramConfiguration\n%s", yaml);

    f->loop = tg_loop_new(false);
    test_server_start(&f->server, f->loop, fixture_handle, f);
    kube.server = f->server.url;
    if (tg_configuration_parse("test", text, strlen(text), &f->configuration, &err) < 0 ||
        tg_controller_new(f->loop, &options, f->configuration, &kube, &f->controller, &err) < 0)
        fail_msg("%s", err.message);
    free(text);
    f->controller->pass = (struct tg_deferred){.callback = fixture_pass, .data = f};
    f->state = tg_controller_state(f->controller, "u");
}

/* The same, until it leads and has read everything. */
static inline void fixture_start(struct fixture *f, const char *yaml)
{
    fixture_begin(f, yaml);
    while (!tg_elector_leading(f->controller->elector) || !tg_controller_synced(f->controller) ||
           f->claim_watch == NULL || f->versions == 0 ||
           (!tg_streq(f->version, "") && f->controller->selectors.minor == 0))
        tg_loop_run_once(f->loop, true);
}

static inline int fixture_setup(void **state)
{
    *state = tg_xcalloc(1, sizeof(struct fixture));
    return 0;
}

static inline int fixture_teardown(void **state)
{
    struct fixture *f = *state;

    tg_controller_free(f->controller);
    tg_configuration_free(f->configuration);
    test_server_stop(&f->server);
    tg_loop_free(f->loop);
    fixture_free_call(&f->last);
    for (size_t i = 0; i < f->n; i++)
        fixture_free_call(&f->calls[i]);
    free(f->event);
    free(f);
    return 0;
}

/* From now on the controller's clock, not that of its elector, stands still, so long before its
 * lease ends. */
static inline void fixture_freeze(struct fixture *f, int64_t before_end)
{
    tg_fake_clock_init(&f->clock, INT64_C(1764488100) * TG_SECOND);
    f->clock.monotonic_now = tg_elector_valid_until(f->controller->elector) - before_end;
    f->controller->clock = &f->clock.clock;
}

static inline void fixture_wait_calls(struct fixture *f, size_t n)
{
    while (f->n < n)
        tg_loop_run_once(f->loop, true);
}

static inline struct test_connection *fixture_take(struct fixture *f, size_t i)
{
    fixture_free_call(&f->last);
    f->last = f->calls[i];
    f->n--;
    memmove(&f->calls[i], &f->calls[i + 1], (f->n - i) * sizeof(f->calls[0]));
    return f->last.connection;
}

/* Waits for a request and takes it; what it was is in f->last. */
static inline struct test_connection *fixture_expect(struct fixture *f, const char *method,
                                                     const char *path)
{
    fixture_wait_calls(f, 1);
    fixture_take(f, 0);
    assert_string_equal(f->last.method, method);
    assert_string_equal(f->last.path, path);
    return f->last.connection;
}

/* The same where several may come in any order. */
static inline struct test_connection *fixture_find(struct fixture *f, const char *method,
                                                   const char *path)
{
    for (;;) {
        for (size_t i = 0; i < f->n; i++)
            if (tg_streq(f->calls[i].method, method) && tg_streq(f->calls[i].path, path))
                return fixture_take(f, i);
        tg_loop_run_once(f->loop, true);
    }
}

/* Until the writes of the unit have returned. */
static inline void fixture_returned(struct fixture *f)
{
    while (f->state->in_flight > 0)
        tg_loop_run_once(f->loop, true);
    assert_true(f->state->returned);
}

/* Runs whatever can run without waiting. */
static inline void fixture_settle(struct fixture *f)
{
    for (int i = 0; i < 50; i++)
        tg_loop_run_once(f->loop, false);
}

static inline void fixture_on_timer(struct tg_timer *timer)
{
    *(bool *)timer->data = true;
}

/* Lets the loop run until a timer of its own has run out: later than any that was set before and is
 * shorter. */
static inline void fixture_run_for(struct fixture *f, int64_t ns)
{
    bool over = false;
    struct tg_timer timer = {.callback = fixture_on_timer, .data = &over};

    tg_timer_start(f->loop, &timer, ns);
    while (!over)
        tg_loop_run_once(f->loop, true);
}

/* Half of an answer: without a byte of it, curl would send the request again by itself. */
static inline void fixture_lose_answer(struct test_connection *connection)
{
    static const char half[] = "HTTP/1.1 200 X\r\nContent-Le";

    test_send(connection, half, sizeof(half) - 1);
    test_connection_close(connection);
}

#endif
