/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "kubelet-plugin/claims.h"
#include "tests/support/metric_page.h"
#include "tests/support/promtool.h"
#include "tests/unit/plugin/fake_provider.h"
#include "tests/unit/plugin/folder.h"

#define READS 32

/* A read that waits until the test answers it. */
struct read {
    void (*done)(void *done_data, const char *json, size_t n, const struct tg_error *err);
    void *done_data;
    char name[32];
    bool open;
    bool cancelled;
};

struct bench {
    struct test_folder folder;
    struct tg_loop *loop;
    struct tg_device_worker *devices;
    bool started;
    struct tg_claim_source source;
    struct tg_claims *claims;
    struct read reads[READS];
    size_t n_reads;
    /* Of the last answered batch. */
    int answered;
    size_t n;
    char uid[8][40];
    char error[8][300];
    char device[8][40];
    char cdi_id[8][128];
    size_t n_devices[8];
    bool idle;
};

static void *get(void *data, const char *namespace_, const char *name,
                 void (*done)(void *done_data, const char *json, size_t n,
                              const struct tg_error *err),
                 void *done_data)
{
    struct bench *bench = data;
    struct read *read = &bench->reads[bench->n_reads++];
    (void)namespace_;
    *read = (struct read){.done = done, .done_data = done_data, .open = true};
    snprintf(read->name, sizeof(read->name), "%s", name);
    return read;
}

static void cancel(void *data, void *handle)
{
    struct read *read = handle;
    (void)data;
    assert_true(read->open);
    read->open = false;
    read->cancelled = true;
}

static void started(void *data, const struct tg_prepare_report *report, const struct tg_error *err)
{
    struct bench *bench = data;
    (void)report;
    assert_null(err);
    bench->started = true;
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
    while (!bench->started)
        tg_loop_run_once(bench->loop, true);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    tg_device_worker_free(bench->devices);
    tg_claims_free(bench->claims);
    tg_loop_free(bench->loop);
    test_folder_done(&bench->folder);
    free(bench);
    return 0;
}

static void on_done(void *data, const struct tg_kubelet_answer *answers, size_t n)
{
    struct bench *bench = data;
    bench->answered++;
    bench->n = n;
    for (size_t i = 0; i < n; i++) {
        snprintf(bench->uid[i], sizeof(bench->uid[i]), "%s", answers[i].uid);
        snprintf(bench->error[i], sizeof(bench->error[i]), "%s", tg_or(answers[i].error, ""));
        bench->n_devices[i] = answers[i].n;
        bench->device[i][0] = bench->cdi_id[i][0] = '\0';
        if (answers[i].n > 0) {
            snprintf(bench->device[i], sizeof(bench->device[i]), "%s",
                     answers[i].devices[0].device);
            snprintf(bench->cdi_id[i], sizeof(bench->cdi_id[i]), "%s",
                     answers[i].devices[0].cdi_id);
        }
    }
}

static const char *device_name(struct bench *bench, size_t i)
{
    return tg_device_worker_devices(bench->devices)->devices.items[i].device.name;
}

#define UID(n) "00000000-0000-4000-8000-00000000000" n

static struct tg_claim_batch *start(struct bench *bench, bool prepare, size_t n,
                                    struct tg_kubelet_claim *items)
{
    const struct tg_kubelet_claims request = {.items = items, .n = n};
    return prepare ? tg_claims_prepare(bench->claims, &request, on_done, bench)
                   : tg_claims_unprepare(bench->claims, &request, on_done, bench);
}

static void wait_answer(struct bench *bench)
{
    int before = bench->answered;
    while (bench->answered == before)
        tg_loop_run_once(bench->loop, true);
}

/* A claim that takes so many bytes more than its allocation. */
static void answer_read_large(struct bench *bench, size_t i, const char *uid, const char *device,
                              int bytes)
{
    TG_AUTOFREE char *json = tg_xasprintf(
        "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"ns\",\"uid\":\"%s\"},"
        "\"status\":{\"allocation\":"
        "{\"devices\":{\"results\":[{\"request\":\"r/sub\",\"driver\":\"" TEST_DRIVER
        "\",\"pool\":\"" TEST_NODE "\",\"device\":\"%s\"}]}},\"devices\":[{\"data\":\"%*s\"}]}}",
        bench->reads[i].name, uid, device, bytes, "");
    assert_true(bench->reads[i].open);
    bench->reads[i].open = false;
    bench->reads[i].done(bench->reads[i].done_data, json, strlen(json), NULL);
}

static void answer_read(struct bench *bench, size_t i, const char *uid, const char *device)
{
    answer_read_large(bench, i, uid, device, 0);
}

static struct tg_kubelet_claim one = {"ns", UID("1"), "one"};
static struct tg_kubelet_claim two = {"ns", UID("2"), "two"};
static struct tg_kubelet_claim three = {"ns", UID("3"), "three"}; /* never prepared */

static void prepare_one(struct bench *bench, struct tg_kubelet_claim *claim, const char *device)
{
    start(bench, true, 1, claim);
    answer_read(bench, bench->n_reads - 1, claim->uid, device);
    wait_answer(bench);
}

static void a_prepared_claim_has_its_device_and_cdi_id(void **state)
{
    struct bench *bench = *state;
    prepare_one(bench, &one, device_name(bench, 0));
    assert_int_equal(bench->n, 1);
    assert_string_equal(bench->error[0], "");
    assert_string_equal(bench->uid[0], UID("1"));
    assert_string_equal(bench->device[0], device_name(bench, 0));
    TG_AUTOFREE char *id =
        tg_xasprintf("k8s.gpu.tangram.dev/claim=" UID("1") "_r_%s", device_name(bench, 0));
    assert_string_equal(bench->cdi_id[0], id);
}

static void preparing_again_gives_the_same_answer(void **state)
{
    struct bench *bench = *state;
    prepare_one(bench, &one, device_name(bench, 1));
    prepare_one(bench, &one, device_name(bench, 1));
    assert_string_equal(bench->error[0], "");
    assert_string_equal(bench->device[0], device_name(bench, 1));
}

static void a_device_of_another_claim_is_refused_and_the_rest_of_the_batch_is_not(void **state)
{
    struct bench *bench = *state;
    static struct tg_kubelet_claim both[] = {{"ns", UID("2"), "two"}, {"ns", UID("3"), "three"}};
    prepare_one(bench, &one, device_name(bench, 0));
    start(bench, true, 2, both);
    answer_read(bench, 1, UID("2"), device_name(bench, 0));
    answer_read(bench, 2, UID("3"), device_name(bench, 1));
    wait_answer(bench);
    assert_int_equal(bench->n, 2);
    assert_non_null(strstr(bench->error[0], "claim ns/two"));
    assert_int_equal(bench->n_devices[0], 0);
    assert_string_equal(bench->error[1], "");
    assert_string_equal(bench->device[1], device_name(bench, 1));
}

static void check_done(struct tg_device_job *job)
{
    *(bool *)job->data = true;
}

/* The kubelet gives a call 45 s. A library that hangs must not take that away from it, nor may
 * calls pile up behind it. */
static void devices_that_hang_are_told_of_before_the_kubelet_gives_up(void **state)
{
    struct bench *bench = *state;
    bool checked = false;
    struct tg_device_job check = {
        .done = check_done, .data = &checked, .arena = tg_arena_new(TG_ARENA_UNLIMITED)};
    const struct tg_device_worker_config config = {
        .provider = "fake",
        .new_provider = fake_provider_new,
        .provider_options = test_provider_options(&bench->folder),
        .prepare_options = test_prepare_options(&bench->folder),
        .started = started,
        .data = bench,
    };
    tg_device_worker_free(bench->devices);
    tg_claims_free(bench->claims);
    fake_set(1, false, false);
    bench->started = false;
    bench->devices = tg_device_worker_new(bench->loop, &config);
    bench->claims = tg_claims_new(bench->loop, bench->devices, &bench->source);
    while (!bench->started)
        tg_loop_run_once(bench->loop, true);
    fake_set(1, false, true);
    tg_device_worker_check(bench->devices, &check);
    tg_claims_limit(bench->claims, 50 * TG_MILLISECOND);
    prepare_one(bench, &one, "d-0");
    assert_non_null(strstr(bench->error[0], "no answer after"));
    /* Now that it is known to hang. */
    start(bench, false, 1, &two);
    wait_answer(bench);
    assert_non_null(strstr(bench->error[0], "library has not answered"));
    fake_set(1, false, false);
    while (!checked)
        tg_loop_run_once(bench->loop, true);
    tg_claims_limit(bench->claims, 3600 * TG_SECOND);
    prepare_one(bench, &one, "d-0");
    assert_string_equal(bench->error[0], "");
    assert_string_equal(bench->device[0], "d-0");
    tg_arena_free(check.arena);
}

static void an_unprepared_device_is_free_again(void **state)
{
    struct bench *bench = *state;
    prepare_one(bench, &one, device_name(bench, 0));
    start(bench, false, 1, &one);
    wait_answer(bench);
    assert_string_equal(bench->error[0], "");
    prepare_one(bench, &two, device_name(bench, 0));
    assert_string_equal(bench->error[0], "");
}

/* The order of things: two is refused inside, one is unprepared, two is read and prepared again. */
static void a_prepare_waits_for_the_claim_that_holds_its_device(void **state)
{
    static const char waiting[] = "tangram_plugin_claims_waiting";
    struct bench *bench = *state;
    struct tg_metrics *metrics = tg_metrics_new();

    tg_claims_measure(bench->claims, metrics);
    tg_claims_wait_for_devices(bench->claims, 3600 * TG_SECOND);
    prepare_one(bench, &one, device_name(bench, 0));
    start(bench, true, 1, &two);
    assert_int_equal((int)metric_on_page(metrics, waiting), 0);
    answer_read(bench, 1, UID("2"), device_name(bench, 0));
    while (metric_on_page(metrics, waiting) != 1)
        tg_loop_run_once(bench->loop, true);
    start(bench, false, 1, &one);
    while (bench->n_reads < 3)
        tg_loop_run_once(bench->loop, true);
    answer_read(bench, 2, UID("2"), device_name(bench, 0));
    while (bench->answered < 3)
        tg_loop_run_once(bench->loop, true);
    assert_string_equal(bench->uid[0], UID("2"));
    assert_string_equal(bench->error[0], "");
    assert_string_equal(bench->device[0], device_name(bench, 0));
    assert_int_equal((int)metric_on_page(metrics, waiting), 0);
    tg_device_worker_free(bench->devices);
    tg_claims_free(bench->claims);
    bench->devices = NULL;
    bench->claims = NULL;
    tg_metrics_free(metrics);
}

/* Its memory is that of one reading, however many claims of the node end meanwhile. */
static void a_prepare_that_waits_is_tried_again_any_number_of_times(void **state)
{
    struct bench *bench = *state;

    tg_claims_wait_for_devices(bench->claims, 3600 * TG_SECOND);
    prepare_one(bench, &one, device_name(bench, 0));
    start(bench, true, 1, &two);
    for (size_t i = 1; i < READS - 1; i++) {
        answer_read_large(bench, i, UID("2"), device_name(bench, 0), 300 << 10);
        start(bench, false, 1, i + 2 < READS ? &three : &one);
        while (bench->n_reads < i + 2) {
            assert_true(bench->answered <= (int)i + 1); /* nobody but those that ended */
            tg_loop_run_once(bench->loop, true);
        }
    }
    answer_read_large(bench, READS - 1, UID("2"), device_name(bench, 0), 300 << 10);
    while (bench->answered < READS)
        tg_loop_run_once(bench->loop, true);
    assert_string_equal(bench->uid[0], UID("2"));
    assert_string_equal(bench->error[0], "");
    assert_string_equal(bench->device[0], device_name(bench, 0));
}

static void a_prepare_that_waited_in_vain_is_refused(void **state)
{
    struct bench *bench = *state;

    tg_claims_wait_for_devices(bench->claims, TG_MILLISECOND);
    prepare_one(bench, &one, device_name(bench, 0));
    prepare_one(bench, &two, device_name(bench, 0));
    assert_non_null(strstr(bench->error[0], "claim ns/two"));
    /* Releasing the other one later finds nobody who waits. */
    start(bench, false, 1, &one);
    wait_answer(bench);
    assert_int_equal(bench->n_reads, 2);
}

static void an_abandoned_or_unprepared_claim_waits_no_more(void **state)
{
    struct bench *bench = *state;
    struct tg_claim_batch *batch;

    tg_claims_wait_for_devices(bench->claims, 3600 * TG_SECOND);
    prepare_one(bench, &one, device_name(bench, 0));
    batch = start(bench, true, 1, &two);
    answer_read(bench, 1, UID("2"), device_name(bench, 0));
    start(bench, false, 1, &two);
    while (bench->answered < 3)
        tg_loop_run_once(bench->loop, true);
    batch = start(bench, true, 1, &two);
    answer_read(bench, 2, UID("2"), device_name(bench, 0));
    start(bench, false, 0, NULL);
    wait_answer(bench);
    tg_claims_abandon(batch);
    start(bench, false, 1, &one);
    wait_answer(bench);
    assert_int_equal(bench->n_reads, 3);
}

static void unpreparing_what_was_never_prepared_succeeds_without_the_api_server(void **state)
{
    struct bench *bench = *state;
    start(bench, false, 1, &one);
    wait_answer(bench);
    assert_string_equal(bench->error[0], "");
    assert_int_equal(bench->n_reads, 0);
}

static void an_empty_batch_is_answered(void **state)
{
    struct bench *bench = *state;
    start(bench, true, 0, NULL);
    assert_int_equal(bench->answered, 0);
    wait_answer(bench);
    assert_int_equal(bench->n, 0);
}

static void what_the_api_server_refuses_is_told_with_the_claims_name(void **state)
{
    struct bench *bench = *state;
    struct tg_error err;
    tg_error_set(&err, TG_UNAVAILABLE, "connection refused");
    start(bench, true, 1, &one);
    bench->reads[0].open = false;
    bench->reads[0].done(bench->reads[0].done_data, NULL, 0, &err);
    wait_answer(bench);
    assert_string_equal(bench->error[0], "claim ns/one: connection refused");
}

static void an_answer_that_is_no_claim_is_an_error(void **state)
{
    struct bench *bench = *state;
    start(bench, true, 1, &one);
    bench->reads[0].open = false;
    bench->reads[0].done(bench->reads[0].done_data, "{\"metadata\":[", 13, NULL);
    wait_answer(bench);
    assert_non_null(strstr(bench->error[0], "claim ns/one: "));
}

static void on_idle(void *data)
{
    struct bench *bench = data;
    bench->idle = true;
}

static void an_abandoned_prepare_does_not_hold_its_device_later(void **state)
{
    struct bench *bench = *state;
    struct tg_claim_batch *batch = start(bench, true, 1, &one);
    tg_claims_abandon(batch);
    assert_true(bench->reads[0].cancelled);
    tg_claims_when_idle(bench->claims, on_idle, bench);
    assert_true(bench->idle);
    prepare_one(bench, &two, device_name(bench, 0));
    assert_string_equal(bench->error[0], "");
    assert_int_equal(bench->answered, 1);
}

static void a_prepare_that_the_devices_began_is_finished_although_abandoned(void **state)
{
    struct bench *bench = *state;
    struct tg_claim_batch *batch = start(bench, true, 1, &one);
    answer_read(bench, 0, UID("1"), device_name(bench, 0));
    tg_claims_abandon(batch);
    /* The same worker, so after it. */
    prepare_one(bench, &two, device_name(bench, 0));
    assert_non_null(strstr(bench->error[0], "claim ns/two"));
    prepare_one(bench, &one, device_name(bench, 0));
    assert_string_equal(bench->error[0], "");
}

static void unprepare_overtakes_a_prepare_that_still_reads_its_claim(void **state)
{
    struct bench *bench = *state;
    start(bench, true, 1, &one);
    start(bench, false, 1, &one);
    wait_answer(bench);
    assert_true(bench->reads[0].cancelled);
    assert_non_null(strstr(bench->error[0], "unprepared while"));
    wait_answer(bench);
    assert_string_equal(bench->error[0], "");
    prepare_one(bench, &two, device_name(bench, 0));
    assert_string_equal(bench->error[0], "");
}

static void idle_is_told_at_once_or_when_the_last_batch_ends(void **state)
{
    struct bench *bench = *state;
    tg_claims_when_idle(bench->claims, on_idle, bench);
    assert_true(bench->idle);
    bench->idle = false;
    start(bench, true, 1, &one);
    tg_claims_when_idle(bench->claims, on_idle, bench);
    assert_false(bench->idle);
    answer_read(bench, 0, UID("1"), device_name(bench, 0));
    wait_answer(bench);
    assert_true(bench->idle);
}

static void freeing_drops_everything_that_is_open(void **state)
{
    struct bench *bench = *state;
    start(bench, true, 1, &one);
    start(bench, true, 1, &two);
    answer_read(bench, 1, UID("2"), device_name(bench, 0));
    /* The teardown frees, in the order of the program. */
}

static void every_claim_is_measured_by_operation_and_outcome(void **state)
{
    struct bench *bench = *state;
    struct tg_metrics *metrics = tg_metrics_new();
    struct tg_buf out = TG_BUF_INIT(1 << 20);

    tg_claims_measure(bench->claims, metrics);
    prepare_one(bench, &one, device_name(bench, 0));
    prepare_one(bench, &two, device_name(bench, 0)); /* refused */
    start(bench, false, 1, &one);
    wait_answer(bench);
    start(bench, true, 1, &two); /* waits for the API server */
    tg_metrics_write(metrics, &out);
    assert_non_null(strstr(out.data, "tangram_plugin_claim_duration_seconds_count{operation="
                                     "\"prepare\",outcome=\"ok\"} 1\n"));
    assert_non_null(strstr(out.data, "tangram_plugin_claim_duration_seconds_count{operation="
                                     "\"prepare\",outcome=\"FAILED_PRECONDITION\"} 1\n"));
    assert_non_null(strstr(out.data, "tangram_plugin_claim_duration_seconds_count{operation="
                                     "\"unprepare\",outcome=\"ok\"} 1\n"));
    assert_non_null(strstr(out.data, "tangram_plugin_claims_in_flight{operation=\"prepare\"} 1\n"));
    assert_non_null(
        strstr(out.data, "tangram_plugin_claims_in_flight{operation=\"unprepare\"} 0\n"));
    assert_true(metrics_are_documented(TEST_SOURCE_DIR, out.data));
    answer_read(bench, bench->n_reads - 1, UID("2"), device_name(bench, 0));
    wait_answer(bench);
    tg_device_worker_free(bench->devices);
    tg_claims_free(bench->claims);
    bench->devices = NULL;
    bench->claims = NULL;
    tg_buf_clear(&out);
    tg_metrics_write(metrics, &out); /* nobody is asked who is gone */
    tg_buf_done(&out);
    tg_metrics_free(metrics);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_prepared_claim_has_its_device_and_cdi_id),
        TEST(preparing_again_gives_the_same_answer),
        TEST(a_device_of_another_claim_is_refused_and_the_rest_of_the_batch_is_not),
        TEST(devices_that_hang_are_told_of_before_the_kubelet_gives_up),
        TEST(an_unprepared_device_is_free_again),
        TEST(a_prepare_waits_for_the_claim_that_holds_its_device),
        TEST(a_prepare_that_waits_is_tried_again_any_number_of_times),
        TEST(a_prepare_that_waited_in_vain_is_refused),
        TEST(an_abandoned_or_unprepared_claim_waits_no_more),
        TEST(unpreparing_what_was_never_prepared_succeeds_without_the_api_server),
        TEST(an_empty_batch_is_answered),
        TEST(every_claim_is_measured_by_operation_and_outcome),
        TEST(what_the_api_server_refuses_is_told_with_the_claims_name),
        TEST(an_answer_that_is_no_claim_is_an_error),
        TEST(an_abandoned_prepare_does_not_hold_its_device_later),
        TEST(a_prepare_that_the_devices_began_is_finished_although_abandoned),
        TEST(unprepare_overtakes_a_prepare_that_still_reads_its_claim),
        TEST(idle_is_told_at_once_or_when_the_last_batch_ends),
        TEST(freeing_drops_everything_that_is_open),
    };
    return cmocka_run_group_tests_name("claims", tests, NULL, NULL);
}
