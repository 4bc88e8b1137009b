/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are asked for credentials, through the client that uses them. Files and fixed
 * tokens are in client_test.c. */
#include "tests/unit/kube_client/fixture.h"

#include <sys/stat.h>

#include "tests/support/tls_server.h"

#include "api/runtime/base/cleanup.h"

#define V1 "client.authentication.k8s.io/v1"
#define CREDENTIAL(status)                                                                         \
    "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":" status "}"

struct answer {
    int calls;
    struct tg_error error;
    char body[256];
};

static void on_done(void *data, const struct tg_kube_result *result)
{
    struct answer *answer = data;

    answer->calls++;
    answer->error = result->error;
    snprintf(answer->body, sizeof(answer->body), "%s", result->body);
}

/* The program prints the file `out` of the folder and adds a line to `runs`. */
struct program {
    char folder[64], script[128], out[128], runs[128];
    const char *argv[2], *env[1];
    struct tg_kube_exec exec;
};

static void write_file(const char *path, const char *text)
{
    assert_int_equal(tg_file_write_atomic(path, text, strlen(text), 0755, NULL), 0);
}

static void program_init(struct program *p, const char *output)
{
    char script[512];

    *p = (struct program){.exec = {.api_version = V1, .install_hint = "see example.com"}};
    snprintf(p->folder, sizeof(p->folder), "/tmp/tangram-exec-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->script, sizeof(p->script), "%s/program", p->folder);
    snprintf(p->out, sizeof(p->out), "%s/out", p->folder);
    snprintf(p->runs, sizeof(p->runs), "%s/runs", p->folder);
    snprintf(script, sizeof(script), "#!/bin/sh\necho run >>%s\ncat %s\n", p->runs, p->out);
    write_file(p->script, script);
    write_file(p->out, output);
    p->argv[0] = p->script;
    p->exec.argv = p->argv;
    p->exec.env = p->env;
}

static size_t program_runs(const struct program *p)
{
    struct stat st;

    return stat(p->runs, &st) == 0 ? (size_t)st.st_size / 4 : 0;
}

static void program_done(struct program *p)
{
    (void)remove(p->script);
    (void)remove(p->out);
    (void)remove(p->runs);
    assert_int_equal(remove(p->folder), 0);
}

/* The client of the fixture gets its credentials from the program. */
static void init(struct fixture *f, struct program *p, const char *output)
{
    struct tg_kube_config config = {.exec = &p->exec};

    program_init(p, output);
    memset(f, 0, sizeof(*f));
    f->loop = tg_loop_new(true);
    tg_fake_clock_init(&f->clock, INT64_C(1764488100) * TG_SECOND); /* 2025-11-30T07:35:00Z */
    f->clock.monotonic_now = 1000 * TG_SECOND;
    test_server_start(&f->server, f->loop, fixture_handle, f);
    config.server = f->server.url;
    assert_int_equal(
        tg_kube_client_new(f->loop, &f->clock.clock, &config, "tester", &f->client, NULL), 0);
}

static void done(struct fixture *f, struct program *p)
{
    fixture_done(f);
    program_done(p);
}

static void get(struct fixture *f, struct answer *answer)
{
    const struct tg_kube_call call = {
        .target = {.kind = &tg_kind_node, .name = "n1"}, .done = on_done, .data = answer};

    *answer = (struct answer){0};
    tg_kube_send(f->client, &call);
}

static void wait_for(struct fixture *f, const struct answer *answer)
{
    while (answer->calls == 0)
        tg_loop_run_once(f->loop, true);
}

static void get_ok(struct fixture *f, const char *token)
{
    struct answer answer;
    char header[128];

    snprintf(header, sizeof(header), "Authorization: Bearer %s\r\n", token);
    get(f, &answer);
    test_reply(fixture_next(f), 200, "", "{}");
    assert_non_null(strstr(f->last.headers, header));
    wait_for(f, &answer);
    assert_int_equal(answer.error.code, TG_OK);
}

static void many_requests_wait_for_one_run(void **state)
{
    struct fixture f;
    struct program p;
    struct answer answers[3];

    (void)state;
    init(&f, &p, CREDENTIAL("{\"token\":\"t1\"}"));
    for (size_t i = 0; i < 3; i++)
        get(&f, &answers[i]);
    for (size_t i = 0; i < 3; i++) {
        test_reply(fixture_next(&f), 200, "", "{}");
        assert_non_null(strstr(f.last.headers, "Authorization: Bearer t1\r\n"));
    }
    for (size_t i = 0; i < 3; i++)
        wait_for(&f, &answers[i]);
    get_ok(&f, "t1"); /* without an expiry it is good until it is refused */
    assert_int_equal(program_runs(&p), 1);
    done(&f, &p);
}

static void the_program_is_asked_again_before_its_credential_expires(void **state)
{
    struct fixture f;
    struct program p;

    (void)state;
    init(&f, &p, CREDENTIAL("{\"token\":\"t1\",\"expirationTimestamp\":\"2025-11-30T07:40:00Z\"}"));
    get_ok(&f, "t1");
    write_file(p.out, CREDENTIAL("{\"token\":\"t2\"}"));
    tg_fake_clock_advance(&f.clock, 289 * TG_SECOND);
    get_ok(&f, "t1");
    tg_fake_clock_advance(&f.clock, TG_SECOND); /* ten seconds before the end */
    get_ok(&f, "t2");
    assert_int_equal(program_runs(&p), 2);
    done(&f, &p);
}

static void a_refused_credential_is_fetched_anew_once(void **state)
{
    struct fixture f;
    struct program p;
    struct answer first, second;

    (void)state;
    init(&f, &p, CREDENTIAL("{\"token\":\"t1\"}"));
    get_ok(&f, "t1");
    write_file(p.out, CREDENTIAL("{\"token\":\"t2\"}"));
    get(&f, &first);
    get(&f, &second);
    test_reply(fixture_next(&f), 401, "", "{}");
    test_reply(fixture_next(&f), 401, "", "{}");
    test_reply(fixture_next(&f), 200, "", "{}");
    assert_non_null(strstr(f.last.headers, "Bearer t2\r\n"));
    test_reply(fixture_next(&f), 200, "", "{}");
    wait_for(&f, &first);
    wait_for(&f, &second);
    assert_int_equal(first.error.code, TG_OK);
    assert_int_equal(second.error.code, TG_OK);
    assert_int_equal(program_runs(&p), 2); /* both were refused, it was asked once */

    get(&f, &first);
    test_reply(fixture_next(&f), 401, "", "{}");
    test_reply(fixture_next(&f), 401, "", "{}");
    wait_for(&f, &first);
    assert_int_equal(first.error.code, TG_UNAUTHENTICATED); /* not for ever */
    done(&f, &p);
}

static void a_failure_stands_for_a_while_and_is_no_answer_of_the_server(void **state)
{
    struct fixture f;
    struct program p;
    struct answer answer;

    (void)state;
    init(&f, &p, "");
    write_file(p.script, "#!/bin/sh\necho 'log in first' >&2\nexit 1\n");
    get(&f, &answer);
    wait_for(&f, &answer);
    assert_int_equal(answer.error.code, TG_UNAUTHENTICATED);
    assert_int_equal(answer.error.http_status, 0);
    assert_non_null(strstr(answer.error.message, "exit status 1: log in first"));
    assert_int_equal(f.server.accepted, 0);

    write_file(p.script, "#!/bin/sh\necho '" CREDENTIAL("{\"token\":\"t3\"}") "'\n");
    get(&f, &answer);
    wait_for(&f, &answer);
    assert_int_equal(answer.error.code, TG_UNAUTHENTICATED); /* not asked again at once */
    tg_fake_clock_advance(&f.clock, 2 * TG_SECOND);
    get_ok(&f, "t3");
    done(&f, &p);
}

static void a_missing_program_is_told_with_how_to_get_it(void **state)
{
    struct fixture f;
    struct program p;
    struct answer answer;

    (void)state;
    init(&f, &p, "");
    assert_int_equal(remove(p.script), 0);
    get(&f, &answer);
    wait_for(&f, &answer);
    assert_int_equal(answer.error.code, TG_UNAUTHENTICATED);
    assert_non_null(strstr(answer.error.message, p.script));
    assert_non_null(strstr(answer.error.message, "(see example.com)"));
    done(&f, &p);
}

static void what_is_no_credential_is_refused_by_name(void **state)
{
    static const struct {
        const char *output, *part;
    } cases[] = {
        {"", "credentials"},
        {"hello", "credentials"},
        {"{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1beta1\","
         "\"status\":{\"token\":\"t\"}}",
         "v1beta1"},
        {"{\"kind\":\"Token\",\"apiVersion\":\"" V1 "\"}", "Token"},
        {"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\"}", "no status"},
        {CREDENTIAL("{}"), "neither a token nor a client certificate"},
        {CREDENTIAL("{\"token\":\"\"}"), "neither a token nor a client certificate"},
        {CREDENTIAL("{\"clientKeyData\":\"k\"}"), "one of clientCertificateData"},
        {CREDENTIAL("{\"token\":\"t\",\"expirationTimestamp\":\"soon\"}"), "soon"},
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct fixture f;
        struct program p;
        struct answer answer;

        init(&f, &p, cases[i].output);
        get(&f, &answer);
        wait_for(&f, &answer);
        assert_int_equal(answer.error.code, TG_UNAUTHENTICATED);
        assert_non_null(strstr(answer.error.message, p.script));
        assert_non_null(strstr(answer.error.message, cases[i].part));
        assert_int_equal(f.server.accepted, 0);
        done(&f, &p);
    }
}

static void a_client_may_go_while_its_program_runs(void **state)
{
    struct fixture f;
    struct program p;
    struct answer answer;

    (void)state;
    init(&f, &p, "");
    write_file(p.script, "#!/bin/sh\nexec tail -f /dev/null\n");
    get(&f, &answer);
    fixture_settle(&f);
    tg_kube_client_free(f.client);
    f.client = NULL;
    fixture_settle(&f);
    assert_int_equal(answer.calls, 0);
    done(&f, &p);
}

/* JSON of a PEM text: its line breaks as \n. */
static void append_pem(struct tg_buf *out, const struct tls_server *server, const char *name)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(64 << 10);
    char path[128];

    tls_server_path(server, name, path);
    assert_int_equal(tg_file_read(path, &text, NULL), 0);
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] == '\n')
            tg_buf_append_str(out, "\\n");
        else
            tg_buf_append_char(out, text.data[i]);
    }
}

static void write_certificate(const struct program *p, const struct tls_server *server,
                              const char *who, const char *expires)
{
    TG_AUTOBUF struct tg_buf out = TG_BUF_INIT(64 << 10);
    char name[32];

    tg_buf_append_str(&out, "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
                            "\",\"status\":{\"clientCertificateData\":\"");
    snprintf(name, sizeof(name), "%s.crt", who);
    append_pem(&out, server, name);
    tg_buf_append_str(&out, "\",\"clientKeyData\":\"");
    snprintf(name, sizeof(name), "%s.key", who);
    append_pem(&out, server, name);
    tg_buf_printf(&out, "\",\"expirationTimestamp\":\"%s\"}}", expires);
    write_file(p->out, tg_buf_str(&out));
}

static void a_certificate_of_the_program_is_shown_and_replaced_when_it_expires(void **state)
{
    struct tls_server server;
    struct program p;
    struct tg_fake_clock clock;
    struct tg_kube_client *client = NULL;
    struct fixture f = {0};
    struct answer answer;
    char ca[128];
    struct tg_kube_config config = {.exec = &p.exec, .tls = {.ca_file = ca}};

    (void)state;
    tls_server_start(&server, TEST_SOURCE_DIR);
    program_init(&p, "");
    write_certificate(&p, &server, "alice", "2025-11-30T07:40:00Z");
    tls_server_path(&server, "one.crt", ca);
    config.server = server.url;
    f.loop = tg_loop_new(true);
    tg_fake_clock_init(&clock, INT64_C(1764488100) * TG_SECOND);
    assert_int_equal(tg_kube_client_new(f.loop, &clock.clock, &config, "tester", &client, NULL), 0);
    f.client = client;
    get(&f, &answer);
    wait_for(&f, &answer);
    assert_string_equal(answer.body, "1 alice -");
    write_certificate(&p, &server, "bob", "2025-11-30T08:40:00Z");
    tg_fake_clock_advance(&clock, 300 * TG_SECOND);
    get(&f, &answer);
    wait_for(&f, &answer);
    assert_string_equal(answer.body, "2 bob -");
    tg_kube_client_free(client);
    tg_loop_free(f.loop);
    program_done(&p);
    tls_server_stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_requests_wait_for_one_run),
        cmocka_unit_test(the_program_is_asked_again_before_its_credential_expires),
        cmocka_unit_test(a_refused_credential_is_fetched_anew_once),
        cmocka_unit_test(a_failure_stands_for_a_while_and_is_no_answer_of_the_server),
        cmocka_unit_test(a_missing_program_is_told_with_how_to_get_it),
        cmocka_unit_test(what_is_no_credential_is_refused_by_name),
        cmocka_unit_test(a_client_may_go_while_its_program_runs),
        cmocka_unit_test(a_certificate_of_the_program_is_shown_and_replaced_when_it_expires),
    };
    return cmocka_run_group_tests_name("credentials", tests, NULL, NULL);
}
