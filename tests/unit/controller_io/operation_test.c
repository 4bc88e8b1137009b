/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/controller_io/fixture.h"

#define ONE CLAIM_PATH "c"
/* As its bytes are read: not older than what was decided on. */
#define BYTES ONE "?resourceVersion=4711"

static void execute(struct fixture *f, const struct tg_write *write)
{
    tg_controller_execute(f->controller, f->state, write, 1);
    assert_int_equal(f->state->in_flight, 1);
}

static const struct tg_write allocate = {.kind = TG_WRITE_CLAIM_ALLOCATE,
                                         .namespace_ = "ns",
                                         .name = "c",
                                         .uid = "u",
                                         .resource_version = "4711",
                                         .body = "{\"allocation\":{\"devices\":{}}}",
                                         .epoch = "8"};

static uint64_t stored_version(const struct fixture *f, enum tg_view_kind kind, const char *name)
{
    const struct tg_stored *stored = tg_informer_get(f->controller->informers[kind], "ns", name);

    return stored == NULL ? 0 : stored->version;
}

/* A field of bytes with a tag of one byte. */
static void put_field(struct tg_buf *out, unsigned number, const void *p, size_t n)
{
    tg_buf_append_char(out, (char)(number << 3 | 2));
    tg_buf_append_char(out, (char)n);
    tg_buf_append(out, p, n);
}

/* Claim "c" as protobuf; its spec has a NUL in it. */
static void reply_protobuf(struct test_connection *connection, const char *version)
{
    struct tg_buf meta = TG_BUF_INIT(1000), raw = TG_BUF_INIT(1000), all = TG_BUF_INIT(1000);
    struct tg_buf head = TG_BUF_INIT(1000);

    put_field(&meta, 1, "c", 1);
    put_field(&meta, 3, "ns", 2);
    put_field(&meta, 6, version, strlen(version));
    put_field(&raw, 1, meta.data, meta.len);
    put_field(&raw, 2, "a\0b", 3);
    tg_buf_append(&all, "k8s\0", 4);
    put_field(&all, 2, raw.data, raw.len);
    tg_buf_printf(&head,
                  "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.kubernetes.protobuf\r\n"
                  "Content-Length: %zu\r\n\r\n",
                  all.len);
    tg_buf_append(&head, all.data, all.len);
    test_send(connection, head.data, head.len);
    tg_buf_done(&meta);
    tg_buf_done(&raw);
    tg_buf_done(&all);
    tg_buf_done(&head);
}

static bool sent(const struct fixture *f, const char *part)
{
    return memmem(f->last.body, f->last.body_len, part, strlen(part)) != NULL;
}

static void an_allocation_writes_metadata_then_status_each_on_the_version_before(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    execute(f, &allocate);
    reply_protobuf(fixture_expect(f, "GET", BYTES), "4711");
    assert_non_null(strstr(f->last.headers, "Accept: application/vnd.kubernetes.protobuf\r\n"));
    struct test_connection *put = fixture_expect(f, "PUT", ONE);
    assert_non_null(
        strstr(f->last.headers, "Content-Type: application/vnd.kubernetes.protobuf\r\n"));
    assert_non_null(strstr(f->last.headers, "Accept: application/json\r\n"));
    assert_true(sent(f, "4711"));
    assert_true(sent(f, "resource.kubernetes.io/delete-protection"));
    assert_true(sent(f, "tangram.dev/epoch"));
    assert_non_null(memmem(f->last.body, f->last.body_len, "a\0b", 3));
    fixture_settle(f);
    assert_int_equal(f->n, 0); /* the status waits for the version that the metadata get */
    test_reply(put, 200, "", OBJECT("c", "4800"));
    struct test_connection *patch = fixture_expect(f, "PATCH", ONE "/status");
    assert_non_null(strstr(f->last.headers, "Content-Type: application/merge-patch+json\r\n"));
    assert_string_equal(f->last.body, "{\"metadata\":{\"resourceVersion\":\"4800\",\"uid\":\"u\"},"
                                      "\"status\":{\"allocation\":{\"devices\":{}}}}");
    assert_int_equal(stored_version(f, TG_VIEW_CLAIM, "c"), 4800);
    test_reply(patch, 200, "", OBJECT("c", "4801"));
    fixture_returned(f);
    assert_false(f->state->failed);
    assert_int_equal(stored_version(f, TG_VIEW_CLAIM, "c"), 4801);
    assert_int_equal(f->controller->writes, 1);
    assert_int_equal(f->controller->write_failures, 0);
}

/* Its claim has no opaque parameters: nothing has to be read before. */
static void metadata_that_can_be_patched_are_and_the_status_follows_on_their_version(void **state)
{
    struct fixture *f = *state;
    struct tg_write write = allocate;

    fixture_start(f, "");
    write.metadata = "{\"metadata\":{\"resourceVersion\":\"4711\"}}";
    execute(f, &write);
    struct test_connection *patch = fixture_expect(f, "PATCH", ONE);
    assert_non_null(strstr(f->last.headers, "Content-Type: application/merge-patch+json\r\n"));
    assert_string_equal(f->last.body, write.metadata);
    test_reply(patch, 200, "", OBJECT("c", "4800"));
    patch = fixture_expect(f, "PATCH", ONE "/status");
    assert_true(sent(f, "\"resourceVersion\":\"4800\""));
    test_reply(patch, 200, "", OBJECT("c", "4801"));
    fixture_returned(f);
    assert_false(f->state->failed);
    assert_int_equal(stored_version(f, TG_VIEW_CLAIM, "c"), 4801);
}

static void a_patch_of_metadata_that_finds_another_version_is_given_up(void **state)
{
    struct fixture *f = *state;
    struct tg_write write = {.kind = TG_WRITE_CLAIM_EPOCH,
                             .namespace_ = "ns",
                             .name = "c",
                             .uid = "u",
                             .resource_version = "4711",
                             .body = "",
                             .epoch = "8",
                             .metadata = "{\"metadata\":{\"resourceVersion\":\"4711\"}}"};

    fixture_start(f, "");
    execute(f, &write);
    test_reply(fixture_expect(f, "PATCH", ONE), 409, "", STATUS(409, "Conflict"));
    test_reply(fixture_expect(f, "GET", ONE), 200, "", OBJECT("c", "4712"));
    fixture_returned(f);
    assert_true(f->state->failed);
    assert_int_equal(stored_version(f, TG_VIEW_CLAIM, "c"), 4712);
}

static void an_allocation_whose_metadata_stand_writes_the_status_alone(void **state)
{
    struct fixture *f = *state;
    struct tg_write write = allocate;

    fixture_start(f, "");
    write.metadata_done = true;
    execute(f, &write);
    struct test_connection *patch = fixture_expect(f, "PATCH", ONE "/status");
    assert_true(sent(f, "\"resourceVersion\":\"4711\""));
    test_reply(patch, 200, "", OBJECT("c", "4801"));
    fixture_returned(f);
    assert_false(f->state->failed);
}

static void a_claim_that_changed_since_the_decision_is_read_and_not_written(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    execute(f, &allocate);
    reply_protobuf(fixture_expect(f, "GET", BYTES), "4712");
    test_reply(fixture_expect(f, "GET", ONE), 200, "", OBJECT("c", "4712"));
    assert_null(strstr(f->last.headers, "protobuf"));
    fixture_returned(f);
    assert_true(f->state->failed);
    assert_int_equal(stored_version(f, TG_VIEW_CLAIM, "c"), 4712);
}

static void bytes_that_are_no_claim_end_the_write(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    execute(f, &allocate);
    test_reply(fixture_expect(f, "GET", BYTES), 200, "", OBJECT("c", "4711"));
    fixture_returned(f);
    assert_true(f->state->failed);
    assert_int_equal(f->n, 0);
}

/* A server whose memory lags behind its store leaves it without an answer. */
static void bytes_that_did_not_come_are_read_from_the_store(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    execute(f, &allocate);
    fixture_lose_answer(fixture_expect(f, "GET", BYTES));
    reply_protobuf(fixture_expect(f, "GET", ONE), "4711");
    assert_non_null(strstr(f->last.headers, "Accept: application/vnd.kubernetes.protobuf\r\n"));
    fixture_expect(f, "PUT", ONE);
}

/* One of each kind, and how it looks on the wire. */
static const struct {
    struct tg_write write;
    const char *method, *path, *content_type;
    enum tg_view_kind view;
} kinds[] = {
    {{.kind = TG_WRITE_GANG_CREATE, .namespace_ = "ns", .name = "c", .body = "{\"b\":1}"},
     "POST",
     GANG_PATH,
     "application/json",
     TG_VIEW_GANG},
    {{.kind = TG_WRITE_GANG_METADATA, .namespace_ = "ns", .name = "c", .body = "{\"b\":2}"},
     "PATCH",
     GANG_PATH "/c",
     "application/merge-patch+json",
     TG_VIEW_GANG},
    {{.kind = TG_WRITE_GANG_STATUS, .namespace_ = "ns", .name = "c", .body = "{\"b\":3}"},
     "PATCH",
     GANG_PATH "/c/status",
     "application/merge-patch+json",
     TG_VIEW_GANG},
    {{.kind = TG_WRITE_GANG_DELETE, .namespace_ = "ns", .name = "c", .body = "{\"b\":4}"},
     "DELETE",
     GANG_PATH "/c",
     "application/json",
     TG_VIEW_KINDS},
    {{.kind = TG_WRITE_CLAIM_CLEAR, .namespace_ = "ns", .name = "c", .body = "{\"b\":5}"},
     "PATCH",
     CLAIM_PATH "c/status",
     "application/merge-patch+json",
     TG_VIEW_CLAIM},
    {{.kind = TG_WRITE_POD, .namespace_ = "ns", .name = "c", .body = "[{\"b\":6}]"},
     "PATCH",
     POD_PATH "c",
     "application/json-patch+json",
     TG_VIEW_POD},
    {{.kind = TG_WRITE_POD_EVICT, .namespace_ = "ns", .name = "c", .body = "{\"b\":7}"},
     "POST",
     POD_PATH "c/eviction",
     "application/json",
     TG_VIEW_KINDS},
};

static void check_sent(const struct fixture *f, size_t i)
{
    struct tg_buf type = TG_BUF_INIT(256);

    tg_buf_printf(&type, "Content-Type: %s\r\n", kinds[i].content_type);
    assert_non_null(strstr(f->last.headers, tg_buf_str(&type)));
    assert_string_equal(f->last.body, kinds[i].write.body);
    tg_buf_done(&type);
}

static void every_kind_of_write_is_one_request_whose_answer_enters_the_store(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    for (size_t i = 0; i < TG_ARRAY_SIZE(kinds); i++) {
        f->state->returned = false;
        f->state->not_before = 0;
        execute(f, &kinds[i].write);
        struct test_connection *connection = fixture_expect(f, kinds[i].method, kinds[i].path);
        check_sent(f, i);
        char *body =
            tg_xasprintf("{\"metadata\":{\"namespace\":\"ns\",\"name\":\"c\",\"uid\":\"u\","
                         "\"resourceVersion\":\"%zu\"}}",
                         2000 + i);
        test_reply(connection, 200, "", kinds[i].view == TG_VIEW_KINDS ? STATUS(200, "") : body);
        free(body);
        fixture_returned(f);
        assert_false(f->state->failed);
        /* What deletes is told by a watch: until then it is not decided again. */
        assert_int_equal(f->state->not_before > 0, kinds[i].view == TG_VIEW_KINDS);
        if (kinds[i].view != TG_VIEW_KINDS)
            assert_int_equal(stored_version(f, kinds[i].view, "c"), 2000 + i);
    }
}

static void a_lost_answer_has_the_same_bytes_sent_again_until_there_is_one(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    for (size_t i = 0; i < TG_ARRAY_SIZE(kinds); i++)
        tg_controller_execute(f->controller, f->state, &kinds[i].write, 1);
    fixture_wait_calls(f, TG_ARRAY_SIZE(kinds));
    for (size_t i = 0; i < TG_ARRAY_SIZE(kinds); i++) {
        struct test_connection *connection = fixture_find(f, kinds[i].method, kinds[i].path);

        if (i % 2 == 0)
            fixture_lose_answer(connection);
        else
            test_reply(connection, 503, "", STATUS(503, "ServiceUnavailable"));
        fixture_settle(f);
    }
    assert_int_equal(f->state->in_flight, TG_ARRAY_SIZE(kinds)); /* none is given up */
    fixture_wait_calls(f, TG_ARRAY_SIZE(kinds));
    for (size_t i = 0; i < TG_ARRAY_SIZE(kinds); i++) {
        struct test_connection *connection = fixture_find(f, kinds[i].method, kinds[i].path);

        check_sent(f, i);
        test_reply(connection, 200, "", OBJECT("c", "2000"));
    }
    fixture_returned(f);
    assert_false(f->state->failed);
}

/* The first one arrived after all: its allocation stands, and is read. */
static void a_conflict_after_a_lost_answer_is_read_and_does_not_count_as_done(void **state)
{
    struct fixture *f = *state;
    struct tg_write write = allocate;

    fixture_start(f, "");
    write.metadata_done = true;
    execute(f, &write);
    fixture_lose_answer(fixture_expect(f, "PATCH", ONE "/status"));
    char *first = tg_xstrdup(f->last.body);
    struct test_connection *patch = fixture_expect(f, "PATCH", ONE "/status");
    assert_string_equal(f->last.body, first);
    free(first);
    test_reply(patch, 409, "", STATUS(409, "Conflict"));
    struct test_connection *read = fixture_expect(f, "GET", ONE);
    assert_int_equal(f->state->in_flight, 1);
    test_reply(read, 200, "", OBJECT("c", "4801"));
    fixture_returned(f);
    assert_true(f->state->failed);
    assert_int_equal(stored_version(f, TG_VIEW_CLAIM, "c"), 4801);
}

static void lost_metadata_are_sent_again_with_the_same_version(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    execute(f, &allocate);
    reply_protobuf(fixture_expect(f, "GET", BYTES), "4711");
    fixture_lose_answer(fixture_expect(f, "PUT", ONE));
    struct test_connection *put = fixture_expect(f, "PUT", ONE);
    assert_true(sent(f, "4711"));
    assert_true(sent(f, "tangram.dev/epoch"));
    test_reply(put, 200, "", OBJECT("c", "4800"));
    test_reply(fixture_expect(f, "PATCH", ONE "/status"), 200, "", OBJECT("c", "4801"));
    fixture_returned(f);
    assert_false(f->state->failed);
}

static void a_read_that_is_lost_is_repeated(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    execute(f, &kinds[5].write);
    test_reply(fixture_expect(f, "PATCH", POD_PATH "c"), 409, "", STATUS(409, "Conflict"));
    fixture_lose_answer(fixture_expect(f, "GET", POD_PATH "c"));
    test_reply(fixture_expect(f, "GET", POD_PATH "c"), 404, "", STATUS(404, "NotFound"));
    fixture_returned(f);
    assert_true(f->state->failed);
}

static void what_is_there_already_is_read(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    execute(f, &kinds[0].write);
    test_reply(fixture_expect(f, "POST", GANG_PATH), 409, "", STATUS(409, "AlreadyExists"));
    test_reply(fixture_expect(f, "GET", GANG_PATH "/c"), 200, "", OBJECT("c", "50"));
    fixture_returned(f);
    assert_true(f->state->failed);
}

static void a_refusal_ends_the_write_and_the_unit_is_told(void **state)
{
    static const struct {
        int status;
        const char *body;
    } refusals[] = {
        {403, STATUS(403, "Forbidden")},
        {404, STATUS(404, "NotFound")},
        {422, STATUS(422, "Invalid")},
        {429, STATUS(429, "TooManyRequests")},
    };
    struct fixture *f = *state;

    fixture_start(f, "");
    for (size_t i = 0; i < TG_ARRAY_SIZE(refusals); i++) {
        unsigned passes = f->passes;

        f->state->failed = f->state->returned = false;
        execute(f, &kinds[4].write);
        test_reply(fixture_expect(f, "PATCH", ONE "/status"), refusals[i].status, "",
                   refusals[i].body);
        /* What the object has become may be the reason. */
        if (refusals[i].status == 422)
            test_reply(fixture_expect(f, "GET", ONE), 200, "", OBJECT("c", "4801"));
        fixture_returned(f);
        assert_true(f->state->failed);
        assert_int_equal(f->controller->write_failures, i + 1);
        fixture_settle(f);
        assert_int_equal(f->n, 0);
        assert_true(f->passes > passes);
    }
}

static void an_answer_that_cannot_be_read_ends_an_allocation_before_its_status(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    execute(f, &allocate);
    reply_protobuf(fixture_expect(f, "GET", BYTES), "4711");
    test_reply(fixture_expect(f, "PUT", ONE), 200, "", "{\"metadata\":7}");
    fixture_returned(f);
    assert_true(f->state->failed);
    fixture_settle(f);
    assert_int_equal(f->n, 0);
}

static void the_second_step_waits_when_the_lease_has_become_short(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    execute(f, &allocate);
    reply_protobuf(fixture_expect(f, "GET", BYTES), "4711");
    struct test_connection *put = fixture_expect(f, "PUT", ONE);
    fixture_freeze(f, tg_controller_write_timeout(f->controller));
    test_reply(put, 200, "", OBJECT("c", "4800"));
    while (stored_version(f, TG_VIEW_CLAIM, "c") != 4800)
        tg_loop_run_once(f->loop, true);
    fixture_settle(f);
    assert_int_equal(f->n, 0);
    fixture_freeze(f, tg_controller_write_timeout(f->controller) + TG_SECOND);
    test_reply(fixture_expect(f, "PATCH", ONE "/status"), 200, "", OBJECT("c", "4801"));
    fixture_returned(f);
    assert_false(f->state->failed);
}

static void a_lost_write_is_not_sent_again_while_the_lease_is_short(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    execute(f, &kinds[5].write);
    struct test_connection *patch = fixture_expect(f, "PATCH", POD_PATH "c");
    fixture_freeze(f, tg_controller_write_timeout(f->controller));
    fixture_lose_answer(patch);
    /* Its timer runs out, sees the lease, and is set again. */
    fixture_run_for(f, TG_SECOND);
    assert_int_equal(f->n, 0);
    fixture_freeze(f, tg_controller_write_timeout(f->controller) + TG_SECOND);
    test_reply(fixture_expect(f, "PATCH", POD_PATH "c"), 200, "", OBJECT("c", "2000"));
    fixture_returned(f);
    assert_false(f->state->failed);
}

static void an_epoch_is_spliced_into_the_metadata_and_nothing_follows(void **state)
{
    struct fixture *f = *state;
    struct tg_write write = allocate;

    fixture_start(f, "");
    write.kind = TG_WRITE_CLAIM_EPOCH;
    write.body = "";
    execute(f, &write);
    reply_protobuf(fixture_expect(f, "GET", BYTES), "4711");
    struct test_connection *put = fixture_expect(f, "PUT", ONE);
    assert_true(sent(f, "tangram.dev/epoch"));
    assert_false(sent(f, "delete-protection"));
    test_reply(put, 200, "", OBJECT("c", "4800"));
    fixture_returned(f);
    assert_false(f->state->failed);
    assert_int_equal(stored_version(f, TG_VIEW_CLAIM, "c"), 4800);
    fixture_settle(f);
    assert_int_equal(f->n, 0);
}

/* As if SIGSTOP had come between queueing the write and sending it, and SIGCONT after its
 * deadline. */
static void
a_write_that_was_queued_before_the_program_was_stopped_does_not_leave_after_its_deadline(
    void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    execute(f, &kinds[5].write);
    assert_int_equal(f->controller->operations, 1);
    fixture_freeze(f, 0);
    fixture_run_for(f, TG_SECOND);
    assert_int_equal(f->n, 0);
    assert_int_equal(f->state->in_flight, 1);
    /* Still leading after all: it goes then. */
    fixture_freeze(f, tg_controller_write_timeout(f->controller) + TG_SECOND);
    test_reply(fixture_expect(f, "PATCH", POD_PATH "c"), 200, "", OBJECT("c", "2000"));
    fixture_returned(f);
    assert_false(f->state->failed);
}

/* A disruption budget says no, for now. */
static void an_eviction_that_is_refused_ends_the_write_and_the_unit_tries_again(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    execute(f, &kinds[6].write);
    test_reply(fixture_expect(f, "POST", POD_PATH "c/eviction"), 429, "",
               STATUS(429, "TooManyRequests"));
    fixture_returned(f);
    assert_true(f->state->failed);
}

static void a_unit_may_be_gone_when_the_answer_comes(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    execute(f, &kinds[5].write);
    struct test_connection *patch = fixture_expect(f, "PATCH", POD_PATH "c");
    tg_map_remove(f->controller->units, "u");
    test_reply(patch, 200, "", OBJECT("c", "2000"));
    while (f->controller->operations > 0)
        tg_loop_run_once(f->loop, true);
    assert_int_equal(stored_version(f, TG_VIEW_POD, "c"), 2000);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_allocation_writes_metadata_then_status_each_on_the_version_before),
        TEST(metadata_that_can_be_patched_are_and_the_status_follows_on_their_version),
        TEST(a_patch_of_metadata_that_finds_another_version_is_given_up),
        TEST(an_allocation_whose_metadata_stand_writes_the_status_alone),
        TEST(a_claim_that_changed_since_the_decision_is_read_and_not_written),
        TEST(bytes_that_are_no_claim_end_the_write),
        TEST(bytes_that_did_not_come_are_read_from_the_store),
        TEST(every_kind_of_write_is_one_request_whose_answer_enters_the_store),
        TEST(a_lost_answer_has_the_same_bytes_sent_again_until_there_is_one),
        TEST(a_conflict_after_a_lost_answer_is_read_and_does_not_count_as_done),
        TEST(lost_metadata_are_sent_again_with_the_same_version),
        TEST(a_read_that_is_lost_is_repeated),
        TEST(what_is_there_already_is_read),
        TEST(a_refusal_ends_the_write_and_the_unit_is_told),
        TEST(an_answer_that_cannot_be_read_ends_an_allocation_before_its_status),
        TEST(the_second_step_waits_when_the_lease_has_become_short),
        TEST(a_lost_write_is_not_sent_again_while_the_lease_is_short),
        TEST(an_epoch_is_spliced_into_the_metadata_and_nothing_follows),
        TEST(
            a_write_that_was_queued_before_the_program_was_stopped_does_not_leave_after_its_deadline),
        TEST(an_eviction_that_is_refused_ends_the_write_and_the_unit_tries_again),
        TEST(a_unit_may_be_gone_when_the_answer_comes),
    };
    return cmocka_run_group_tests_name("operation", tests, NULL, NULL);
}
