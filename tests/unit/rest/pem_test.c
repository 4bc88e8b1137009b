/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates against a real TLS server: who is trusted, who we are, and what a rotation does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/tls_server.h"

#include "api/runtime/base/cleanup.h"
#include "api/runtime/rest/internal.h"

struct fixture {
    struct tls_server server;
    struct tg_loop *loop;
    struct tg_rest *rest;
    int calls;
    struct tg_error err;
    int connection;
    char client[64];
    bool held;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    tls_server_start(&f->server, TEST_SOURCE_DIR);
    f->loop = tg_loop_new(true);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    tg_rest_free(f->rest);
    tg_loop_free(f->loop);
    tls_server_stop(&f->server);
    free(f);
    return 0;
}

static void on_done(void *data, const struct tg_rest_response *response, const struct tg_error *err)
{
    struct fixture *f = data;

    f->calls++;
    f->err = *err;
    f->connection = 0;
    f->client[0] = '\0';
    (void)sscanf(response->body, "%d %63s", &f->connection, f->client);
}

static void ask(struct fixture *f)
{
    const struct tg_rest_call call = {
        .path = "/", .timeout = 10 * TG_SECOND, .done = on_done, .data = f};

    f->calls = 0;
    tg_rest_send(f->rest, &call);
    while (f->calls == 0)
        tg_loop_run_once(f->loop, true);
}

static void connect_with(struct fixture *f, const struct tg_rest_tls *tls)
{
    const struct tg_rest_config config = {.base_url = f->server.url, .tls = *tls};

    tg_rest_free(f->rest);
    f->rest = tg_rest_new(f->loop, &config, NULL);
    assert_non_null(f->rest);
}

static void a_server_is_trusted_by_its_authority_and_name_only(void **state)
{
    struct fixture *f = *state;
    char one[128];
    char two[128];

    tls_server_path(&f->server, "one.crt", one);
    tls_server_path(&f->server, "two.crt", two);
    const struct {
        struct tg_rest_tls tls;
        enum tg_code code;
    } cases[] = {
        {{.ca_file = one}, TG_OK},
        {{.ca_file = one, .server_name = "api.test"}, TG_OK},
        {{.ca_file = one, .server_name = "other.test"}, TG_UNAUTHENTICATED},
        {{.ca_file = two}, TG_UNAUTHENTICATED},
        {{.ca_file = NULL}, TG_UNAUTHENTICATED}, /* the system does not know it */
        {{.ca_file = two, .insecure = true}, TG_OK},
    };
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        connect_with(f, &cases[i].tls);
        ask(f);
        if (f->err.code != cases[i].code)
            fail_msg("case %zu: %s: %s", i, tg_code_name(f->err.code), f->err.message);
    }
}

static void a_rotated_authority_is_trusted_without_restart(void **state)
{
    struct fixture *f = *state;
    char ca[128];

    tls_server_path(&f->server, "ca.crt", ca);
    tls_server_copy(&f->server, "one.crt", "ca.crt");
    connect_with(f, &(struct tg_rest_tls){.ca_file = ca});
    ask(f);
    assert_int_equal(f->err.code, TG_OK);

    tls_server_serve(&f->server, "two");
    connect_with(f, &(struct tg_rest_tls){.ca_file = ca});
    ask(f); /* the server is ahead of our file */
    assert_int_equal(f->err.code, TG_UNAUTHENTICATED);
    tls_server_copy(&f->server, "two.crt", "ca.crt");
    ask(f);
    assert_int_equal(f->err.code, TG_OK);
}

static void a_rotated_client_certificate_is_shown_on_a_new_connection_at_once(void **state)
{
    struct fixture *f = *state;
    char ca[128];
    char certificate[128];
    char key[128];
    int first;

    tls_server_path(&f->server, "one.crt", ca);
    tls_server_path(&f->server, "me.crt", certificate);
    tls_server_path(&f->server, "me.key", key);
    tls_server_copy(&f->server, "alice.crt", "me.crt");
    tls_server_copy(&f->server, "alice.key", "me.key");
    connect_with(f,
                 &(struct tg_rest_tls){.ca_file = ca, .cert_file = certificate, .key_file = key});
    ask(f);
    assert_string_equal(f->client, "alice");
    first = f->connection;
    ask(f);
    assert_int_equal(f->connection, first); /* nothing changed: one connection */

    tls_server_copy(&f->server, "bob.crt", "me.crt");
    ask(f); /* half rotated: certificate and key do not fit */
    assert_int_equal(f->err.code, TG_FAILED_PRECONDITION);
    tls_server_copy(&f->server, "bob.key", "me.key");
    ask(f);
    assert_string_equal(f->client, "bob");
    assert_int_not_equal(f->connection, first);

    /* Gone for a moment: what was read still stands. */
    assert_int_equal(remove(certificate), 0);
    ask(f);
    assert_string_equal(f->client, "bob");
}

static void a_certificate_that_is_set_is_used_by_the_next_request(void **state)
{
    struct fixture *f = *state;
    char ca[128];
    char path[128];
    struct tg_buf certificate = TG_BUF_INIT(64 << 10);
    struct tg_buf key = TG_BUF_INIT(64 << 10);

    tls_server_path(&f->server, "one.crt", ca);
    connect_with(f, &(struct tg_rest_tls){.ca_file = ca});
    ask(f);
    assert_string_equal(f->client, "-");
    tls_server_path(&f->server, "alice.crt", path);
    assert_int_equal(tg_file_read(path, &certificate, NULL), 0);
    tls_server_path(&f->server, "alice.key", path);
    assert_int_equal(tg_file_read(path, &key, NULL), 0);
    tg_rest_set_certificate(f->rest, tg_buf_str(&certificate), tg_buf_str(&key));
    ask(f);
    assert_string_equal(f->client, "alice");
    tg_rest_set_certificate(f->rest, NULL, NULL);
    ask(f);
    assert_string_equal(f->client, "-");
    tg_buf_done(&certificate);
    tg_buf_done(&key);
}

static void the_environment_names_no_proxy_for_us(void **state)
{
    struct fixture *f = *state;
    char ca[128];

    tls_server_path(&f->server, "one.crt", ca);
    setenv("https_proxy", "http://127.0.0.1:1", 1);
    setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
    connect_with(f, &(struct tg_rest_tls){.ca_file = ca});
    ask(f);
    unsetenv("https_proxy");
    unsetenv("ALL_PROXY");
    assert_int_equal(f->err.code, TG_OK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_server_is_trusted_by_its_authority_and_name_only),
        TEST(a_rotated_authority_is_trusted_without_restart),
        TEST(a_rotated_client_certificate_is_shown_on_a_new_connection_at_once),
        TEST(a_certificate_that_is_set_is_used_by_the_next_request),
        TEST(the_environment_names_no_proxy_for_us),
    };
    return cmocka_run_group_tests_name("pem", tests, NULL, NULL);
}
