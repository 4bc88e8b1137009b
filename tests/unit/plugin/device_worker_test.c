/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/mem.h"
#include "kubelet-plugin/device_worker.h"
#include "tests/support/fake_nvml.h"
#include "tests/support/metric_page.h"
#include "tests/unit/plugin/fake_provider.h"
#include "tests/unit/plugin/folder.h"

struct bench {
    struct test_folder folder;
    struct tg_loop *loop;
    struct tg_device_worker *worker;
    struct tg_device_job job;
    int started, changed;
    int done;
    struct tg_error error;
};

static void started(void *data, const struct tg_prepare_report *report, const struct tg_error *err)
{
    struct bench *bench = data;
    (void)report;
    bench->started++;
    bench->error = err != NULL ? *err : TG_ERROR_INIT;
}

static void done(struct tg_device_job *job)
{
    struct bench *bench = job->data;
    bench->done++;
}

static struct tg_device_worker *start(struct bench *bench)
{
    const struct tg_device_worker_config config = {
        .provider = "sim",
        .provider_options = test_provider_options(&bench->folder),
        .prepare_options = test_prepare_options(&bench->folder),
        .started = started,
        .data = bench,
    };
    return tg_device_worker_new(bench->loop, &config);
}

static int setup(void **state)
{
    struct bench *bench = tg_xcalloc(1, sizeof(*bench));
    test_folder_init(&bench->folder);
    bench->loop = tg_loop_new(false);
    bench->job = (struct tg_device_job){
        .done = done, .data = bench, .arena = tg_arena_new(TG_ARENA_UNLIMITED)};
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    tg_device_worker_free(bench->worker);
    tg_arena_free(bench->job.arena);
    tg_loop_free(bench->loop);
    test_folder_done(&bench->folder);
    free(bench);
    return 0;
}

static void wait_for(struct bench *bench, const int *counter)
{
    while (*counter == 0)
        tg_loop_run_once(bench->loop, true);
}

static void a_wrong_inventory_is_told_with_file_and_line(void **state)
{
    struct bench *bench = *state;
    test_folder_write(bench->folder.inventory, "apiVersion: tangram.dev/v1alpha1\n"
                                               "kind: SimInventory\n"
                                               "cards:\n"
                                               "- {product: No Such Card}\n");
    bench->worker = start(bench);
    wait_for(bench, &bench->started);
    assert_int_equal(bench->error.code, TG_INVALID_ARGUMENT);
    assert_non_null(strstr(bench->error.message, "inventory.yaml:4"));
}

static void a_second_instance_waits_until_the_first_is_gone(void **state)
{
    struct bench *bench = *state;
    struct tg_device_worker *first = start(bench);
    wait_for(bench, &bench->started);
    bench->started = 0;
    bench->worker = start(bench);
    /* Its first attempt fails, then it looks every second. */
    tg_loop_run_once(bench->loop, true);
    tg_loop_run_once(bench->loop, false);
    assert_int_equal(bench->started, 0);
    tg_device_worker_free(first);
    wait_for(bench, &bench->started);
    assert_int_equal(bench->error.code, TG_OK);
}

static void devices_that_are_found_are_healthy(void **state)
{
    struct bench *bench = *state;
    bench->worker = start(bench);
    wait_for(bench, &bench->started);
    tg_device_worker_check(bench->worker, &bench->job);
    wait_for(bench, &bench->done);
    assert_int_equal(bench->job.err.code, TG_OK);
    assert_int_equal(bench->job.n_health, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(bench->job.health[i].health, TG_KUBELET_HEALTHY);
        assert_string_equal(bench->job.health[i].pool, TEST_NODE);
        assert_null(bench->job.health[i].message);
    }
}

static void changed(void *data)
{
    struct bench *bench = data;
    bench->changed++;
}

/* k8s-driver-manager 217: pods must be able to end while the driver is away; NV 1008: it is no
 * empty node. */
static void without_a_driver_it_starts_and_finds_the_cards_when_it_comes(void **state)
{
    struct bench *bench = *state;
    struct fake_nvml cards;
    struct tg_error err = TG_ERROR_INIT;
    fake_nvml_init(&cards, TEST_BIN_DIR, bench->folder.root, "card h100-80gb mig=on\n");
    const struct tg_device_worker_config config = {
        .provider = "nvml",
        .provider_options = {.node_name = TEST_NODE,
                             .library = cards.library,
                             .system_root = cards.root,
                             .dynamic_mig = "*"},
        .prepare_options = test_prepare_options(&bench->folder),
        .started = started,
        .changed = changed,
        .data = bench,
        .anxious = TG_MILLISECOND,
    };
    struct tg_provider *first = NULL;
    struct tg_device_set set = {0};
    assert_int_equal(tg_provider_new("nvml", &config.provider_options, &first, NULL), 0);
    assert_int_equal(tg_provider_list(first, &set, NULL), 0); /* the bus is there from now on */
    tg_device_set_done(&set);
    tg_provider_free(first);
    fake_nvml_play(&cards, "driver none\ncard h100-80gb mig=on\n");
    bench->worker = tg_device_worker_new(bench->loop, &config);
    wait_for(bench, &bench->started);
    assert_int_equal(bench->error.code, TG_OK);
    assert_int_equal(tg_device_worker_status(bench->worker, &err), -TG_UNAVAILABLE);
    assert_non_null(strstr(err.message, "kernel driver is not loaded"));
    bench->job.uid = "uid-a";
    tg_device_worker_release(bench->worker, &bench->job);
    wait_for(bench, &bench->done);
    assert_int_equal(bench->job.err.code, TG_OK);
    assert_int_equal(bench->changed, 0);
    fake_nvml_play(&cards, "card h100-80gb mig=on\n");
    wait_for(bench, &bench->changed);
    assert_int_equal(tg_device_worker_status(bench->worker, NULL), 0);
    assert_int_equal(tg_device_worker_devices(bench->worker)->devices.n, 18);
    tg_device_worker_free(TG_TAKE(bench->worker));
    fake_nvml_done(&cards);
}

static void start_fake(struct bench *bench, size_t devices)
{
    const struct tg_device_worker_config config = {
        .provider = "fake",
        .new_provider = fake_provider_new,
        .provider_options = test_provider_options(&bench->folder),
        .prepare_options = test_prepare_options(&bench->folder),
        .started = started,
        .data = bench,
    };
    fake_set(devices, false, false);
    bench->worker = tg_device_worker_new(bench->loop, &config);
    wait_for(bench, &bench->started);
    assert_int_equal(bench->error.code, TG_OK);
}

static void a_device_that_is_not_found_any_more_is_unhealthy(void **state)
{
    struct bench *bench = *state;
    start_fake(bench, 2);
    fake_set(1, false, false);
    tg_device_worker_check(bench->worker, &bench->job);
    wait_for(bench, &bench->done);
    assert_int_equal(bench->job.n_health, 2);
    assert_int_equal(bench->job.health[0].health, TG_KUBELET_HEALTHY);
    assert_int_equal(bench->job.health[1].health, TG_KUBELET_UNHEALTHY);
    assert_string_equal(bench->job.health[1].message, "not found any more");
}

static void when_listing_fails_the_health_of_all_is_unknown(void **state)
{
    struct bench *bench = *state;
    start_fake(bench, 2);
    fake_set(2, true, false);
    tg_device_worker_check(bench->worker, &bench->job);
    wait_for(bench, &bench->done);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(bench->job.health[i].health, TG_KUBELET_HEALTH_UNKNOWN);
        assert_string_equal(bench->job.health[i].message, "the library is lost");
    }
}

static void a_device_library_that_hangs_does_not_hold_up_the_loop(void **state)
{
    struct bench *bench = *state;
    start_fake(bench, 2);
    int listed = fake_listed();
    fake_set(2, false, true);
    tg_device_worker_check(bench->worker, &bench->job);
    while (fake_listed() == listed)
        tg_loop_run_once(bench->loop, false);
    tg_loop_run_once(bench->loop, false);
    assert_int_equal(bench->done, 0);
    fake_set(2, false, false);
    wait_for(bench, &bench->done);
}

static void a_job_that_hangs_and_those_behind_it_can_be_seen_in_the_metrics(void **state)
{
    static const char jobs[] = "tangram_plugin_device_jobs";
    static const char seconds[] = "tangram_plugin_device_job_seconds";
    struct bench *bench = *state;
    struct tg_metrics *metrics = tg_metrics_new();
    struct tg_device_job second = bench->job;
    double before;

    start_fake(bench, 2);
    tg_device_worker_measure(bench->worker, metrics);
    assert_int_equal((int)metric_on_page(metrics, jobs), 0);
    assert_true(metric_on_page(metrics, seconds) == 0);
    fake_set(2, false, true);
    second.arena = tg_arena_new(TG_ARENA_UNLIMITED);
    tg_device_worker_check(bench->worker, &bench->job);
    tg_device_worker_check(bench->worker, &second);
    assert_int_equal((int)metric_on_page(metrics, jobs), 2);
    before = metric_on_page(metrics, seconds);
    assert_true(before > 0);
    assert_true(metric_on_page(metrics, seconds) > before);
    fake_set(2, false, false);
    while (bench->done < 2)
        tg_loop_run_once(bench->loop, true);
    assert_int_equal((int)metric_on_page(metrics, jobs), 0);
    assert_true(metric_on_page(metrics, seconds) == 0);
    tg_arena_free(second.arena);
    tg_device_worker_free(bench->worker);
    bench->worker = NULL;
    assert_int_equal((int)metric_on_page(metrics, jobs), 0); /* nobody is asked who is gone */
    tg_metrics_free(metrics);
}

#define CLAIMS 40

struct course {
    struct bench *bench;
    struct tg_device_job job;
    char uid[16];
    int step; /* prepare, check, release */
    size_t *left;
};

static void next_step(struct tg_device_job *job)
{
    struct course *course = job->data;

    assert_int_equal(job->err.code, TG_OK);
    if (course->step == 1)
        assert_int_equal(job->n_devices, 1);
    if (course->step == 2)
        assert_int_equal(job->n_health, 2);
    switch (course->step++) {
    case 0:
        tg_device_worker_prepare(course->bench->worker, job);
        break;
    case 1:
        tg_device_worker_check(course->bench->worker, job);
        break;
    case 2:
        tg_device_worker_release(course->bench->worker, job);
        break;
    default:
        --*course->left;
    }
}

/* What the loop does meanwhile is what the plugin does: it looks at devices, metrics and answers.
 * For the thread sanitizer above all. */
static void claims_come_and_go_while_the_loop_works(void **state)
{
    struct bench *bench = *state;
    struct course courses[CLAIMS] = {0};
    struct tg_metrics *metrics = tg_metrics_new();
    size_t left = CLAIMS;

    bench->worker = start(bench);
    wait_for(bench, &bench->started);
    tg_device_worker_measure(bench->worker, metrics);
    struct tg_allocation_device result = {
        .request = "r",
        .driver = TEST_DRIVER,
        .pool = TEST_NODE,
        .device = tg_device_worker_devices(bench->worker)->devices.items[0].device.name,
        .share_id = NULL};
    const struct tg_allocation_devices allocation = {.results = {.items = &result, .n = 1}};
    for (size_t i = 0; i < CLAIMS; i++) {
        struct course *course = &courses[i];
        snprintf(course->uid, sizeof(course->uid), "uid-%zu", i);
        course->bench = bench;
        course->left = &left;
        course->job = (struct tg_device_job){.done = next_step,
                                             .data = course,
                                             .arena = tg_arena_new(TG_ARENA_UNLIMITED),
                                             .uid = course->uid,
                                             .namespace_ = "ns",
                                             .name = course->uid,
                                             .allocation = &allocation};
    }
    for (size_t i = 0; i < CLAIMS; i++) {
        size_t before = left;
        next_step(&courses[i].job);
        /* One device: the next claim can have it when this one is released. */
        while (left == before) {
            tg_loop_run_once(bench->loop, false);
            assert_true(metric_on_page(metrics, "tangram_plugin_device_jobs") <= 1);
            assert_int_equal(tg_device_worker_devices(bench->worker)->devices.n, 2);
        }
    }
    for (size_t i = 0; i < CLAIMS; i++)
        tg_arena_free(courses[i].job.arena);
    tg_device_worker_free(bench->worker);
    bench->worker = NULL;
    tg_metrics_free(metrics);
}

static void a_job_without_memory_for_its_answer_is_an_error(void **state)
{
    struct bench *bench = *state;
    bench->worker = start(bench);
    wait_for(bench, &bench->started);
    tg_arena_fail_after(bench->job.arena, 1);
    tg_device_worker_check(bench->worker, &bench->job);
    wait_for(bench, &bench->done);
    assert_int_equal(bench->job.err.code, TG_RESOURCE_EXHAUSTED);
}

static void freeing_while_it_starts_is_allowed(void **state)
{
    struct bench *bench = *state;
    bench->worker = start(bench);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_wrong_inventory_is_told_with_file_and_line),
        TEST(a_second_instance_waits_until_the_first_is_gone),
        TEST(without_a_driver_it_starts_and_finds_the_cards_when_it_comes),
        TEST(devices_that_are_found_are_healthy),
        TEST(a_device_that_is_not_found_any_more_is_unhealthy),
        TEST(when_listing_fails_the_health_of_all_is_unknown),
        TEST(a_device_library_that_hangs_does_not_hold_up_the_loop),
        TEST(a_job_that_hangs_and_those_behind_it_can_be_seen_in_the_metrics),
        TEST(claims_come_and_go_while_the_loop_works),
        TEST(a_job_without_memory_for_its_answer_is_an_error),
        TEST(freeing_while_it_starts_is_allowed),
    };
    return cmocka_run_group_tests_name("device_worker", tests, NULL, NULL);
}
