/* SPDX-License-Identifier: Apache-2.0 */
#include "kubelet-plugin/sweep.h"

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "tests/unit/plugin/folder.h"

#define CLAIMS 2
static const char *const uids[CLAIMS] = {"uid-0", "uid-1"};

/* A read that waits until the test answers it. */
struct read {
    void (*done)(void *done_data, const char *json, size_t n, const struct tg_error *err);
    void *done_data;
    char name[32];
    bool open;
};

struct bench {
    struct test_folder folder;
    struct tg_loop *loop;
    struct tg_device_worker *devices;
    bool started;
    struct tg_claim_source source;
    struct tg_claims *claims;
    struct tg_sweep *sweep;
    struct read read;
    int answered;
    struct tg_device_job job;
    bool job_done;
};

static void *get(void *data, const char *namespace_, const char *name,
                 void (*done)(void *done_data, const char *json, size_t n,
                              const struct tg_error *err),
                 void *done_data)
{
    struct bench *bench = data;
    (void)namespace_;
    assert_false(bench->read.open);
    bench->read = (struct read){.done = done, .done_data = done_data, .open = true};
    snprintf(bench->read.name, sizeof(bench->read.name), "%s", name);
    return &bench->read;
}

static void cancel(void *data, void *handle)
{
    struct read *read = handle;
    (void)data;
    assert_true(read->open);
    read->open = false;
}

static void started(void *data, const struct tg_prepare_report *report, const struct tg_error *err)
{
    struct bench *bench = data;
    (void)report;
    assert_null(err);
    bench->started = true;
}

static void on_done(void *data, const struct tg_kubelet_answer *answers, size_t n)
{
    struct bench *bench = data;
    assert_int_equal(n, 1);
    assert_null(answers[0].error);
    bench->answered++;
}

static void wait_for_read(struct bench *bench, const char *name)
{
    while (!bench->read.open)
        tg_loop_run_once(bench->loop, true);
    assert_string_equal(bench->read.name, name);
}

static void reply(struct bench *bench, const char *json, const struct tg_error *err)
{
    bench->read.open = false;
    bench->read.done(bench->read.done_data, json, json == NULL ? 0 : strlen(json), err);
}

static char *claim_json(const struct bench *bench, size_t i, const char *uid, const char *rest)
{
    return tg_xasprintf(
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":\"%s\"},\"status\":{"
        "\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"" TEST_DRIVER
        "\",\"pool\":\"" TEST_NODE "\",\"device\":\"%s\"}]}}%s}}",
        uids[i], uid, tg_device_worker_devices(bench->devices)->devices.items[i].device.name, rest);
}
#define RESERVED ",\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"p\",\"uid\":\"pod\"}]"

static void prepare(struct bench *bench, size_t i)
{
    struct tg_kubelet_claim one = {.namespace_ = "ns", .uid = uids[i], .name = uids[i]};
    const struct tg_kubelet_claims request = {.items = &one, .n = 1};
    TG_AUTOFREE char *json = claim_json(bench, i, uids[i], RESERVED);
    int before = bench->answered;
    tg_claims_prepare(bench->claims, &request, on_done, bench);
    reply(bench, json, NULL);
    while (bench->answered == before)
        tg_loop_run_once(bench->loop, true);
}

static int setup(void **state)
{
    struct bench *bench = tg_xcalloc(1, sizeof(*bench));
    test_folder_init(&bench->folder);
    const struct tg_device_worker_config config = {
        .provider = "sim",
        .provider_options = test_provider_options(&bench->folder),
        .prepare_options = test_prepare_options(&bench->folder),
        .started = started,
        .data = bench,
    };
    bench->loop = tg_loop_new(false);
    bench->devices = tg_device_worker_new(bench->loop, &config);
    bench->source = (struct tg_claim_source){.get = get, .cancel = cancel, .data = bench};
    bench->claims = tg_claims_new(bench->loop, bench->devices, &bench->source);
    bench->sweep = tg_sweep_new(bench->loop, bench->devices, bench->claims, &bench->source);
    while (!bench->started)
        tg_loop_run_once(bench->loop, true);
    for (size_t i = 0; i < CLAIMS; i++)
        prepare(bench, i);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    tg_device_worker_free(bench->devices);
    tg_sweep_free(bench->sweep);
    tg_claims_free(bench->claims);
    tg_loop_free(bench->loop);
    test_folder_done(&bench->folder);
    free(bench);
    return 0;
}

static void job_done(struct tg_device_job *job)
{
    struct bench *bench = job->data;
    bench->job_done = true;
}

/* What the node holds, after all that was begun. */
static bool is_prepared(struct bench *bench, size_t i)
{
    bool found = false;
    bench->job_done = false;
    bench->job = (struct tg_device_job){
        .done = job_done, .data = bench, .arena = tg_arena_new(TG_ARENA_UNLIMITED)};
    tg_device_worker_claims(bench->devices, &bench->job);
    while (!bench->job_done)
        tg_loop_run_once(bench->loop, true);
    for (size_t k = 0; k < bench->job.n_claims; k++)
        found = found || tg_streq(bench->job.claims[k].uid, uids[i]);
    tg_arena_free(bench->job.arena);
    return found;
}

static void a_claim_that_nobody_has_is_unprepared(void **state)
{
    static const struct {
        const char *uid, *rest; /* NULL: there is no such claim */
        bool stays;
    } cases[] = {
        {NULL, NULL, false},       {"another", RESERVED, false},
        {"uid-0", "", false},      {"uid-0", ",\"reservedFor\":[]", false},
        {"uid-0", RESERVED, true},
    };
    const struct tg_error gone = {.code = TG_NOT_FOUND, .message = "gone"};
    struct bench *bench = *state;
    TG_AUTOFREE char *other = claim_json(bench, 1, uids[1], RESERVED);
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        TG_AUTOFREE char *json =
            claim_json(bench, 0, tg_or(cases[i].uid, ""), tg_or(cases[i].rest, ""));
        tg_sweep_start(bench->sweep, 0);
        for (size_t k = 0; k < CLAIMS; k++) {
            while (!bench->read.open)
                tg_loop_run_once(bench->loop, true);
            bool first = tg_streq(bench->read.name, uids[0]);
            if (first && cases[i].uid == NULL)
                reply(bench, NULL, &gone);
            else
                reply(bench, first ? json : other, NULL);
        }
        assert_int_equal(is_prepared(bench, 0), cases[i].stays);
        assert_true(is_prepared(bench, 1));
        if (!cases[i].stays)
            prepare(bench, 0);
    }
}

static void an_api_server_that_cannot_say_is_asked_again(void **state)
{
    const struct tg_error away = {.code = TG_UNAVAILABLE, .message = "away"};
    const struct tg_error gone = {.code = TG_NOT_FOUND, .message = "gone"};
    struct bench *bench = *state;
    tg_sweep_start(bench->sweep, 0);
    wait_for_read(bench, "uid-0");
    reply(bench, NULL, &away);
    wait_for_read(bench, "uid-1");
    reply(bench, "{", NULL);
    assert_true(is_prepared(bench, 0));
    assert_true(is_prepared(bench, 1));
    wait_for_read(bench, "uid-0");
    reply(bench, NULL, &gone);
    wait_for_read(bench, "uid-1");
    reply(bench, NULL, &gone);
    assert_false(is_prepared(bench, 0));
    assert_false(is_prepared(bench, 1));
}

/* The claim was made anew, or reserved, after it was read: the kubelet's word counts. */
static void what_the_kubelet_asks_for_meanwhile_stays(void **state)
{
    const struct tg_error gone = {.code = TG_NOT_FOUND, .message = "gone"};
    struct bench *bench = *state;
    struct tg_kubelet_claim one = {.namespace_ = "ns", .uid = uids[0], .name = uids[0]};
    const struct tg_kubelet_claims request = {.items = &one, .n = 1};
    TG_AUTOFREE char *json = claim_json(bench, 0, uids[0], RESERVED);
    tg_sweep_start(bench->sweep, 0);
    wait_for_read(bench, "uid-0");
    struct read of_sweep = bench->read;
    bench->read.open = false;
    int before = bench->answered;
    tg_claims_prepare(bench->claims, &request, on_done, bench);
    reply(bench, json, NULL);
    of_sweep.done(of_sweep.done_data, NULL, 0, &gone);
    while (bench->answered == before)
        tg_loop_run_once(bench->loop, true);
    wait_for_read(bench, "uid-1");
    reply(bench, NULL, &gone);
    assert_true(is_prepared(bench, 0));
    assert_false(is_prepared(bench, 1));
}

static void nothing_is_left_when_it_ends_halfway(void **state)
{
    struct bench *bench = *state;
    tg_sweep_start(bench->sweep, 0);
    wait_for_read(bench, "uid-0");
    tg_sweep_start(bench->sweep, 0); /* the kubelet has registered once more */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_claim_that_nobody_has_is_unprepared),
        TEST(an_api_server_that_cannot_say_is_asked_again),
        TEST(what_the_kubelet_asks_for_meanwhile_stays),
        TEST(nothing_is_left_when_it_ends_halfway),
    };
    return cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
}
