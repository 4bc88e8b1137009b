/* SPDX-License-Identifier: Apache-2.0 */
/* Cards that are set for a claim, and are as before when it has gone. */
#include "driver/prepare/settings.h"

#include <sys/stat.h>

#include "driver/prepare/prepare.h"
#include "tests/unit/driver/nvml_machine.h"

#define DRIVER "gpu.tangram.dev"
#define NODE "node-1"
#define CARD_A "gpu-111111111111"
#define CARD_B "gpu-222222222222"
#define PART "gpu-bbbbbbbbbbbb-19-0"
#define SCENARIO                                                                                   \
    "card l4-24gb uuid=GPU-11111111-1111-1111-1111-111111111111\n"                                 \
    "card l4-24gb uuid=GPU-22222222-2222-2222-2222-222222222222\n"                                 \
    "card h100-80gb mig=on uuid=GPU-bbbbbbbb-bbbb-bbbb-bbbb-bbbbbbbbbbbb\n"

#define VERSION "{\"apiVersion\":\"tangram.dev/v1alpha1\",\"kind\":"
#define EXCLUSIVE VERSION "\"GpuConfig\",\"computeMode\":\"ExclusiveProcess\"}"
#define PLAIN VERSION "\"GpuConfig\",\"computeMode\":\"Default\"}"
#define SHORT VERSION "\"GpuConfig\",\"timeSlicing\":{\"interval\":\"Short\"}}"
#define OF_PARTITIONS VERSION "\"MigConfig\",\"sharing\":\"TimeSlicing\"}"

struct node {
    struct machine *m;
    char *state_folder, *cdi_folder, *boot_id_file, *tool_log, *tool;
    struct tg_prepare_options options;
    struct tg_prepare *prepare;
    struct tg_prepare_report report;
    struct tg_error err;
    /* of the next claim */
    struct tg_allocation_device results[4];
    struct tg_device_config configs[4];
    struct tg_opaque_config opaque[4];
    struct tg_allocation_devices allocation;
};

static void start(struct node *n)
{
    struct tg_error err = TG_ERROR_INIT;
    tg_prepare_close(TG_TAKE(n->prepare));
    if (machine_list(n->m) != 0)
        assert_int_equal(n->m->err.code, TG_UNAVAILABLE);
    n->options.provider = n->m->provider;
    if (tg_prepare_open(&n->options, &n->m->set, &n->prepare, &n->report, &err) != 0 &&
        (n->options.crash == NULL || !n->options.crash->crashed))
        fail_msg("cannot open: %s", err.message);
}

/* The driver's tool, which writes down what it is asked. */
static void install_tool(const struct node *n, const char *rest)
{
    TG_AUTOFREE char *script = tg_xasprintf("#!/bin/sh\necho \"$@\" >>%s\n%s\n", n->tool_log, rest);
    TG_AUTOFREE char *folder = tg_xasprintf("%s/root/usr/bin", n->m->sandbox->folder);
    assert_int_equal(tg_file_make_folders(folder, 0755, NULL), 0);
    assert_int_equal(tg_file_write_atomic(n->tool, script, strlen(script), 0755, NULL), 0);
}

static int set_up(void **state)
{
    struct node *n = tg_xcalloc(1, sizeof(*n));
    n->m = machine_new(SCENARIO, "GPU-bbbbbbbb-*");
    n->state_folder = tg_xasprintf("%s/lib", n->m->sandbox->folder);
    n->cdi_folder = tg_xasprintf("%s/cdi", n->m->sandbox->folder);
    n->boot_id_file = tg_xasprintf("%s/boot_id", n->m->sandbox->folder);
    n->tool_log = tg_xasprintf("%s/tool.log", n->m->sandbox->folder);
    n->tool = tg_xasprintf("%s/root/usr/bin/nvidia-smi", n->m->sandbox->folder);
    assert_int_equal(tg_file_write_atomic(n->boot_id_file, "boot-1\n", 7, 0644, NULL), 0);
    n->options = (struct tg_prepare_options){.state_folder = n->state_folder,
                                             .cdi_folder = n->cdi_folder,
                                             .boot_id_file = n->boot_id_file,
                                             .driver = DRIVER,
                                             .pool = NODE};
    start(n);
    *state = n;
    return 0;
}

static int tear_down(void **state)
{
    struct node *n = *state;
    tg_prepare_close(n->prepare);
    machine_free(n->m);
    free(n->state_folder);
    free(n->cdi_folder);
    free(n->boot_id_file);
    free(n->tool_log);
    free(n->tool);
    free(n);
    return 0;
}

/* ---- a claim, piece by piece ---- */

static struct tg_allocation_device *with_device(struct node *n, const char *request,
                                                const char *device)
{
    struct tg_allocation_device *one = &n->results[n->allocation.results.n++];
    *one = (struct tg_allocation_device){
        .request = request, .driver = DRIVER, .pool = NODE, .device = device};
    n->allocation.results.items = n->results;
    return one;
}

/* `request`: NULL for all. */
static void with_config(struct node *n, const char *source, const char *const *request,
                        const char *parameters)
{
    size_t i = n->allocation.config.n++;
    n->opaque[i] = (struct tg_opaque_config){.driver = DRIVER, .parameters = parameters};
    n->configs[i] = (struct tg_device_config){.source = source, .opaque = &n->opaque[i]};
    if (request != NULL) {
        n->configs[i].requests.items = (const char **)(uintptr_t)request;
        n->configs[i].requests.n = 1;
    }
    n->allocation.config.items = n->configs;
}

static int prepare(struct node *n, const char *uid)
{
    const struct tg_prepared_claim *claim = NULL;
    n->err = TG_ERROR_INIT;
    int rc = tg_prepare_allocation(n->prepare, uid, "ns", uid, &n->allocation, &claim, &n->err);
    n->allocation = (struct tg_allocation_devices){0};
    return rc;
}

static int prepare_one(struct node *n, const char *uid, const char *device, const char *parameters)
{
    with_device(n, "gpus", device);
    with_config(n, "FromClaim", NULL, parameters);
    return prepare(n, uid);
}

/* As somebody else finds the card. */
static int64_t mode_of(const struct node *n, const char *uuid)
{
    struct tg_gpu_settings settings = {0};
    assert_int_equal(n->m->provider->ops->settings(n->m->provider, uuid, &settings, NULL), 0);
    return settings.compute_mode.value;
}
#define MODE_A(n) mode_of(n, "GPU-11111111-1111-1111-1111-111111111111")
#define MODE_B(n) mode_of(n, "GPU-22222222-2222-2222-2222-222222222222")

static void set_mode_a(const struct node *n, int64_t mode)
{
    const struct tg_gpu_settings wanted = {.compute_mode = {.set = true, .value = mode}};
    assert_int_equal(n->m->provider->ops->set(
                         n->m->provider, "GPU-11111111-1111-1111-1111-111111111111", &wanted, NULL),
                     0);
}

static void tool_was_asked(const struct node *n, const char *const *lines, size_t count)
{
    TG_AUTOBUF struct tg_buf found = TG_BUF_INIT((size_t)1 << 16);
    TG_AUTOBUF struct tg_buf wanted = TG_BUF_INIT((size_t)1 << 16);
    (void)tg_file_read(n->tool_log, &found, NULL);
    for (size_t i = 0; i < count; i++)
        (void)tg_buf_printf(&wanted,
                            "compute-policy -i GPU-11111111-1111-1111-1111-111111111111 "
                            "--set-timeslice=%s\n",
                            lines[i]);
    assert_string_equal(tg_buf_str(&found), tg_buf_str(&wanted));
}

/* ---- compute mode ---- */

static void a_card_is_set_for_its_claim_and_is_as_before_after_it(void **state)
{
    struct node *n = *state;
    set_mode_a(n, 2);
    assert_int_equal(prepare_one(n, "uid-a", CARD_A, EXCLUSIVE), 0);
    assert_int_equal(MODE_A(n), 3);
    assert_int_equal(MODE_B(n), 0);
    assert_int_equal(tg_prepare_release(n->prepare, "uid-a", NULL), 0);
    assert_int_equal(MODE_A(n), 2);
}

static void a_claim_of_the_class_says_less_than_the_claim_itself(void **state)
{
    static const char *const second[] = {"second"};
    struct node *n = *state;
    with_device(n, "first", CARD_A);
    with_device(n, "second", CARD_B);
    with_config(n, "FromClaim", second, PLAIN);
    with_config(n, "FromClass", NULL, EXCLUSIVE); /* first in rank, wherever it stands */
    assert_int_equal(prepare(n, "uid-a"), 0);
    assert_int_equal(MODE_A(n), 3);
    assert_int_equal(MODE_B(n), 0);
}

static void an_entry_for_an_alternative_is_for_that_one_only(void **state)
{
    static const char *const large[] = {"gpus/large"}, *const both[] = {"gpus"};
    struct node *n = *state;
    with_device(n, "gpus/small", CARD_A);
    with_config(n, "FromClaim", large, EXCLUSIVE);
    assert_int_equal(prepare(n, "uid-a"), 0);
    assert_int_equal(MODE_A(n), 0);
    with_device(n, "gpus/large", CARD_B);
    with_config(n, "FromClaim", large, EXCLUSIVE);
    assert_int_equal(prepare(n, "uid-b"), 0);
    assert_int_equal(MODE_B(n), 3);
    assert_int_equal(tg_prepare_release(n->prepare, "uid-a", NULL), 0);
    with_device(n, "gpus/small", CARD_A);
    with_config(n, "FromClaim", both, EXCLUSIVE);
    assert_int_equal(prepare(n, "uid-a"), 0);
    assert_int_equal(MODE_A(n), 3);
}

static void what_is_not_understood_is_refused_and_named(void **state)
{
    static const char *const gpus[] = {"gpus"};
    static const struct {
        const char *device, *parameters, *word;
        int code;
        bool named;
    } cases[] = {
        {CARD_A, VERSION "\"TimeSlicing\"}", "TimeSlicing", TG_INVALID_ARGUMENT, false},
        {CARD_A, VERSION "\"GpuConfig\",\"sharing\":\"MPS\"}", "MPS", TG_UNIMPLEMENTED, false},
        {CARD_A, "{", "config[0]", TG_INVALID_ARGUMENT, false},
        {PART, EXCLUSIVE, "takes a MigConfig", TG_INVALID_ARGUMENT, true},
        {CARD_A, OF_PARTITIONS, "takes a GpuConfig", TG_INVALID_ARGUMENT, true},
    };
    struct node *n = *state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        with_device(n, "gpus", cases[i].device);
        with_config(n, "FromClass", cases[i].named ? gpus : NULL, cases[i].parameters);
        assert_int_equal(prepare(n, "uid-a"), -cases[i].code);
        assert_non_null(strstr(n->err.message, "config[0] (of the class)"));
        assert_non_null(strstr(n->err.message, cases[i].word));
        assert_int_equal(tg_prepare_count(n->prepare), 0);
    }
}

/* Of a class for cards and partitions alike. */
static void an_entry_for_all_is_for_those_of_its_kind(void **state)
{
    struct node *n = *state;
    with_device(n, "a", CARD_A);
    with_device(n, "b", PART);
    with_config(n, "FromClass", NULL, EXCLUSIVE);
    with_config(n, "FromClass", NULL, OF_PARTITIONS);
    assert_int_equal(prepare(n, "uid-a"), 0);
    assert_int_equal(MODE_A(n), 3);
}

static void entries_of_other_drivers_and_who_looks_on_set_nothing(void **state)
{
    struct node *n = *state;
    with_device(n, "gpus", CARD_A);
    with_config(n, "FromClaim", NULL, "{}");
    n->opaque[0].driver = "nic.example.com";
    assert_int_equal(prepare(n, "uid-a"), 0);
    with_device(n, "gpus", CARD_A)->admin_access = (struct tg_opt_bool){true, true};
    with_config(n, "FromClaim", NULL, EXCLUSIVE);
    assert_int_equal(prepare(n, "uid-b"), 0);
    assert_int_equal(MODE_A(n), 0);
}

static void shares_of_one_card_need_the_same_and_the_last_takes_it_back(void **state)
{
    struct node *n = *state;
    set_mode_a(n, 2);
    with_device(n, "gpus", CARD_A)->share_id = "11111111-1111-1111-1111-111111111111";
    with_config(n, "FromClaim", NULL, EXCLUSIVE);
    assert_int_equal(prepare(n, "uid-a"), 0);
    with_device(n, "gpus", CARD_A)->share_id = "22222222-2222-2222-2222-222222222222";
    with_config(n, "FromClaim", NULL, PLAIN);
    assert_int_equal(prepare(n, "uid-b"), -TG_FAILED_PRECONDITION);
    assert_true(n->err.retry);
    with_device(n, "gpus", CARD_A)->share_id = "22222222-2222-2222-2222-222222222222";
    with_config(n, "FromClaim", NULL, EXCLUSIVE);
    assert_int_equal(prepare(n, "uid-b"), 0);
    assert_int_equal(tg_prepare_release(n->prepare, "uid-a", NULL), 0);
    assert_int_equal(MODE_A(n), 3);
    assert_int_equal(tg_prepare_release(n->prepare, "uid-b", NULL), 0);
    assert_int_equal(MODE_A(n), 2);
}

static void a_card_that_cannot_be_set_fails_the_prepare_and_is_left_alone(void **state)
{
    static const char *const faults[] = {
        "fault nvmlDeviceGetComputeMode from=1 error=GPU_IS_LOST\n",
        "fault nvmlDeviceSetComputeMode from=1 error=NO_PERMISSION\n",
        "fault nvmlDeviceGetComputeMode from=1 garbage\n",
    };
    struct node *n = *state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(faults); i++) {
        TG_AUTOFREE char *scenario = tg_xasprintf(SCENARIO "%s", faults[i]);
        fake_nvml_play(&n->m->fake, scenario);
        assert_true(prepare_one(n, "uid-a", CARD_A, EXCLUSIVE) < 0);
        assert_non_null(strstr(n->err.message, CARD_A));
        assert_non_null(strstr(n->err.message, "ComputeMode"));
        fake_nvml_play(&n->m->fake, SCENARIO);
        assert_int_equal(MODE_A(n), 0);
        assert_int_equal(prepare_one(n, "uid-a", CARD_A, PLAIN), 0);
        assert_int_equal(tg_prepare_release(n->prepare, "uid-a", NULL), 0);
    }
}

/* ---- restarts ---- */

static void settings_survive_a_restart_and_are_made_again_after_a_reboot(void **state)
{
    struct node *n = *state;
    assert_int_equal(prepare_one(n, "uid-a", CARD_A, EXCLUSIVE), 0);
    start(n);
    assert_int_equal(MODE_A(n), 3);
    fake_nvml_reboot(&n->m->fake);
    assert_int_equal(tg_file_write_atomic(n->boot_id_file, "boot-2\n", 7, 0644, NULL), 0);
    assert_int_equal(MODE_A(n), 0);
    start(n);
    assert_int_equal(MODE_A(n), 3);
    assert_int_equal(tg_prepare_release(n->prepare, "uid-a", NULL), 0);
    assert_int_equal(MODE_A(n), 0);
}

/* Whatever step it was: taken back, or held by a claim that will take it back. */
static void a_crash_at_any_step_loses_no_setting(void **state)
{
    struct node *n = *state;
    for (unsigned step = 1;; step++) {
        struct tg_prepare_crash crash = {.after = step};
        n->options.crash = &crash;
        start(n);
        bool done = n->prepare != NULL && prepare_one(n, "uid-a", CARD_A, EXCLUSIVE) == 0 &&
                    tg_prepare_release(n->prepare, "uid-a", NULL) == 0;
        n->options.crash = NULL;
        start(n);
        assert_int_equal(MODE_A(n), tg_prepare_find(n->prepare, "uid-a") == NULL ? 0 : 3);
        assert_int_equal(tg_prepare_release(n->prepare, "uid-a", NULL), 0);
        assert_int_equal(MODE_A(n), 0);
        if (done && !crash.crashed)
            break;
        assert_true(step < 20);
    }
}

/* ---- time slices ---- */

static void a_time_slice_is_set_by_the_drivers_tool(void **state)
{
    struct node *n = *state;
    TG_AUTOFREE char *root = tg_xasprintf("%s/root", n->m->sandbox->folder);
    struct tg_edits edits = {0};
    install_tool(n, "");
    n->m->options.driver_root = root;
    machine_open(n->m, "");
    start(n);
    /* No library of the driver is in that root, which fails the document after the card was set. */
    assert_int_equal(n->m->provider->ops->edit_common(n->m->provider, n->m->arena, &edits, NULL),
                     -TG_FAILED_PRECONDITION);
    assert_int_equal(prepare_one(n, "uid-a", CARD_A, SHORT), -TG_FAILED_PRECONDITION);
    tool_was_asked(n, (const char *const[]){"1", "0"}, 2);
}

static void a_tool_that_fails_or_is_not_there_is_told(void **state)
{
    struct node *n = *state;
    TG_AUTOFREE char *root = tg_xasprintf("%s/root", n->m->sandbox->folder);
    n->m->options.driver_root = root;
    machine_open(n->m, "");
    start(n);
    assert_int_equal(prepare_one(n, "uid-a", CARD_A, SHORT), -TG_FAILED_PRECONDITION);
    assert_non_null(strstr(n->err.message, "usr/bin/nvidia-smi"));
    /* Nothing is held for what could not be done. */
    assert_int_equal(tg_prepare_release(n->prepare, "uid-a", NULL), 0);
    assert_int_equal(prepare_one(n, "uid-b", CARD_A, PLAIN), -TG_FAILED_PRECONDITION);
    assert_null(strstr(n->err.message, "is held by"));
    assert_int_equal(tg_prepare_release(n->prepare, "uid-b", NULL), 0);
    install_tool(n, "echo one; echo two words >&2; exit 3");
    assert_int_equal(prepare_one(n, "uid-a", CARD_A, SHORT), -TG_UNAVAILABLE);
    assert_non_null(strstr(n->err.message, "status 3: two words"));
    install_tool(n, "kill -9 $$");
    assert_int_equal(prepare_one(n, "uid-a", CARD_A, SHORT), -TG_UNAVAILABLE);
    assert_non_null(strstr(n->err.message, "signal 9"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_card_is_set_for_its_claim_and_is_as_before_after_it),
        TEST(a_claim_of_the_class_says_less_than_the_claim_itself),
        TEST(an_entry_for_an_alternative_is_for_that_one_only),
        TEST(what_is_not_understood_is_refused_and_named),
        TEST(an_entry_for_all_is_for_those_of_its_kind),
        TEST(entries_of_other_drivers_and_who_looks_on_set_nothing),
        TEST(shares_of_one_card_need_the_same_and_the_last_takes_it_back),
        TEST(a_card_that_cannot_be_set_fails_the_prepare_and_is_left_alone),
        TEST(settings_survive_a_restart_and_are_made_again_after_a_reboot),
        TEST(a_crash_at_any_step_loses_no_setting),
        TEST(a_time_slice_is_set_by_the_drivers_tool),
        TEST(a_tool_that_fails_or_is_not_there_is_told),
    };
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
