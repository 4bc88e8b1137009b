/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kube_client/fixture.h"

static void paths_follow_group_scope_and_subresource(void **state)
{
    static const struct {
        struct tg_kube_target target;
        const char *path;
    } cases[] = {
        {{.kind = &tg_kind_pod}, "/api/v1/pods"},
        {{.kind = &tg_kind_pod, .namespace_ = "a b"}, "/api/v1/namespaces/a%20b/pods"},
        {{.kind = &tg_kind_node, .namespace_ = "ignored", .name = "n1"}, "/api/v1/nodes/n1"},
        {{.kind = &tg_kind_resource_claim,
          .namespace_ = "a",
          .name = "b/c",
          .subresource = "status"},
         "/apis/resource.k8s.io/v1/namespaces/a/resourceclaims/b%2Fc/status"},
        {{.kind = &tg_kind_lease, .namespace_ = "a", .query = "dryRun=All"},
         "/apis/coordination.k8s.io/v1/namespaces/a/leases?dryRun=All"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tg_buf out = TG_BUF_INIT(1024);
        tg_kube_path(&cases[i].target, &out);
        assert_string_equal(tg_buf_str(&out), cases[i].path);
        tg_buf_done(&out);
    }
}

struct answer {
    int calls;
    struct tg_error error;
    char body[256];
    int64_t retry_after;
    struct tg_kube_client *free_in_done;
};

static void on_done(void *data, const struct tg_kube_result *result)
{
    struct answer *answer = data;

    answer->calls++;
    answer->error = result->error;
    answer->retry_after = result->retry_after;
    snprintf(answer->body, sizeof(answer->body), "%s", result->body);
    tg_kube_client_free(answer->free_in_done);
}

static struct tg_kube_request *get(struct fixture *f, struct answer *answer)
{
    const struct tg_kube_call call = {.method = TG_REST_GET,
                                      .target = {.kind = &tg_kind_node, .name = "n1"},
                                      .done = on_done,
                                      .data = answer};

    *answer = (struct answer){0};
    return tg_kube_send(f->client, &call);
}

static void wait_for(struct fixture *f, const struct answer *answer)
{
    while (answer->calls == 0)
        tg_loop_run_once(f->loop, true);
}

static void a_success_carries_the_body(void **state)
{
    struct fixture f;
    struct answer answer;

    (void)state;
    fixture_init(&f, NULL);
    get(&f, &answer);
    test_reply(fixture_expect(&f, "GET", "/api/v1/nodes/n1"), 201, "", "{\"a\":1}");
    wait_for(&f, &answer);
    assert_int_equal(answer.error.code, TG_OK);
    assert_string_equal(answer.body, "{\"a\":1}");
    assert_null(strstr(f.last.headers, "Authorization"));
    fixture_done(&f);
}

static void a_refusal_becomes_a_code_with_reason_and_message(void **state)
{
    static const struct {
        int status;
        const char *body;
        enum tg_code code;
        bool retry;
        const char *reason, *message;
    } cases[] = {
        {404, "{\"reason\":\"NotFound\",\"message\":\"nodes n1 not found\"}", TG_NOT_FOUND, false,
         "NotFound", "nodes n1 not found"},
        {409, "{\"reason\":\"Conflict\",\"message\":\"modified\"}", TG_ABORTED, true, "Conflict",
         "modified"},
        {409, "{\"reason\":\"AlreadyExists\"}", TG_ALREADY_EXISTS, false, "AlreadyExists",
         "AlreadyExists"},
        {410, "{\"reason\":\"Expired\"}", TG_OUT_OF_RANGE, false, "Expired", "Expired"},
        {422, "{\"reason\":\"Invalid\",\"message\":\"spec: immutable\"}", TG_INVALID_ARGUMENT,
         false, "Invalid", "spec: immutable"},
        {429, "{}", TG_RESOURCE_EXHAUSTED, true, "", "429"},
        {403, "{\"reason\":\"Forbidden\"}", TG_PERMISSION_DENIED, false, "Forbidden", "Forbidden"},
        {401, "{}", TG_UNAUTHENTICATED, false, "", "401"},
        {400, "", TG_INVALID_ARGUMENT, false, "", "400"},
        {500, "<html>", TG_UNAVAILABLE, true, "", "500"},
        {503, "{\"message\":7}", TG_UNAVAILABLE, true, "", "503"},
        {302, "", TG_UNKNOWN, false, "", "302"},
    };
    struct fixture f;
    struct answer answer;

    (void)state;
    fixture_init(&f, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        get(&f, &answer);
        test_reply(fixture_next(&f), cases[i].status, "", cases[i].body);
        wait_for(&f, &answer);
        assert_int_equal(answer.error.code, cases[i].code);
        assert_int_equal(answer.error.retry, cases[i].retry);
        assert_int_equal(answer.error.http_status, cases[i].status);
        assert_string_equal(answer.error.reason, cases[i].reason);
        assert_non_null(strstr(answer.error.message, cases[i].message));
        assert_non_null(strstr(answer.error.message, "GET /api/v1/nodes/n1"));
    }
    fixture_done(&f);
}

static void a_lost_answer_of_a_write_is_unavailable(void **state)
{
    struct fixture f;
    struct answer answer = {0};
    struct tg_kube_call call = {.method = TG_REST_PATCH,
                                .target = {.kind = &tg_kind_node, .name = "n1"},
                                .content_type = TG_KUBE_MERGE_PATCH,
                                .body = "{}",
                                .body_len = 2,
                                .timeout = 500 * TG_MILLISECOND,
                                .done = on_done,
                                .data = &answer};

    (void)state;
    fixture_init(&f, NULL);
    tg_kube_send(f.client, &call);
    fixture_expect(&f, "PATCH", "/api/v1/nodes/n1");
    assert_string_equal(f.last.body, "{}");
    assert_non_null(strstr(f.last.headers, TG_KUBE_MERGE_PATCH));
    wait_for(&f, &answer); /* never answered */
    assert_int_equal(answer.error.code, TG_UNAVAILABLE);
    assert_true(answer.error.retry);
    fixture_done(&f);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void the_token_file_is_read_again_after_a_minute_and_at_once_after_401(void **state)
{
    char path[] = "/tmp/tangram-token-XXXXXX";
    struct fixture f;
    struct answer answer;

    (void)state;
    close(mkstemp(path));
    write_file(path, "one\n");
    fixture_init(&f, path);
    get(&f, &answer);
    test_reply(fixture_next(&f), 200, "", "{}");
    assert_non_null(strstr(f.last.headers, "Authorization: Bearer one\r\n"));
    wait_for(&f, &answer);

    write_file(path, "two\n");
    tg_fake_clock_advance(&f.clock, 59 * TG_SECOND);
    get(&f, &answer);
    test_reply(fixture_next(&f), 200, "", "{}");
    assert_non_null(strstr(f.last.headers, "Bearer one\r\n"));
    wait_for(&f, &answer);
    tg_fake_clock_advance(&f.clock, TG_SECOND);
    get(&f, &answer);
    test_reply(fixture_next(&f), 200, "", "{}");
    assert_non_null(strstr(f.last.headers, "Bearer two\r\n"));
    wait_for(&f, &answer);

    write_file(path, "three\n");
    get(&f, &answer);
    test_reply(fixture_next(&f), 401, "", "{}");
    test_reply(fixture_next(&f), 200, "", "{\"again\":true}");
    assert_non_null(strstr(f.last.headers, "Bearer three\r\n"));
    wait_for(&f, &answer);
    assert_int_equal(answer.calls, 1);
    assert_int_equal(answer.error.code, TG_OK);
    assert_string_equal(answer.body, "{\"again\":true}");

    get(&f, &answer);
    test_reply(fixture_next(&f), 401, "", "{}");
    test_reply(fixture_next(&f), 401, "", "{}"); /* repeated once, not for ever */
    wait_for(&f, &answer);
    assert_int_equal(answer.error.code, TG_UNAUTHENTICATED);
    fixture_done(&f);
    unlink(path);
}

static void an_unreadable_token_file_is_named_when_the_server_refuses_us(void **state)
{
    struct fixture f;
    struct answer answer;

    (void)state;
    fixture_init(&f, "/nonexistent/token");
    get(&f, &answer);
    test_reply(fixture_next(&f), 401, "", "{}");
    assert_null(strstr(f.last.headers, "Authorization"));
    test_reply(fixture_next(&f), 401, "", "{}");
    wait_for(&f, &answer);
    assert_int_equal(answer.error.code, TG_UNAUTHENTICATED);
    assert_non_null(strstr(answer.error.message, "/nonexistent/token"));
    fixture_done(&f);
}

static void a_cancelled_request_is_never_told(void **state)
{
    struct fixture f;
    struct answer cancelled, other;

    (void)state;
    fixture_init(&f, NULL);
    struct tg_kube_request *request = get(&f, &cancelled);
    fixture_next(&f);
    tg_kube_cancel(request);
    tg_kube_cancel(NULL);
    get(&f, &other);
    test_reply(fixture_next(&f), 200, "", "{}");
    wait_for(&f, &other);
    assert_int_equal(cancelled.calls, 0);
    fixture_done(&f);
}

static void the_client_may_be_freed_from_done(void **state)
{
    struct fixture f;
    struct answer answer, other;

    (void)state;
    fixture_init(&f, NULL);
    get(&f, &answer);
    get(&f, &other);
    answer.free_in_done = f.client;
    test_reply(fixture_next(&f), 200, "", "{}");
    wait_for(&f, &answer);
    f.client = NULL;
    fixture_settle(&f);
    assert_int_equal(other.calls, 0);
    fixture_done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_follow_group_scope_and_subresource),
        cmocka_unit_test(a_success_carries_the_body),
        cmocka_unit_test(a_refusal_becomes_a_code_with_reason_and_message),
        cmocka_unit_test(a_lost_answer_of_a_write_is_unavailable),
        cmocka_unit_test(the_token_file_is_read_again_after_a_minute_and_at_once_after_401),
        cmocka_unit_test(an_unreadable_token_file_is_named_when_the_server_refuses_us),
        cmocka_unit_test(a_cancelled_request_is_never_told),
        cmocka_unit_test(the_client_may_be_freed_from_done),
    };
    return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
