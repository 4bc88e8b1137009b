/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every fault of the driver's library at every call: what is asked for is done all the same, or the
 * error names card, call and cause; when the fault has passed, the claim can be given back and
 * prepared again, and nothing is left on the cards, in the folders, or open. Calls are those of a
 * clean run.
 *
 * Hangs are faults, too. An hour of the clock that deadlines go by is a call that hangs: no other
 * one is ever late, and this one at once.
 */
#include <ctype.h>
#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>

#include "api/runtime/base/clock.h"
#include "driver/inventory/inventory.h"
#include "driver/partition/foreign.h"
#include "driver/prepare/prepare.h"
#include "driver/provider/nvml/abi.h"
#include "tests/unit/driver/nvml_machine.h"

#define DRIVER "gpu.tangram.dev"
#define NODE "node-1"
#define UID "uid-a"
#define PART "gpu-aaaaaaaaaaaa-14-2"
#define WHOLE "gpu-111111111111"
#define WHOLE_UUID "GPU-11111111-1111-1111-1111-111111111111"
#define OTHER "gpu-222222222222" /* of which no claim is */
#define CARDS                                                                                      \
    "card a30-24gb mig=on uuid=GPU-aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa\n"                         \
    "card l4-24gb uuid=" WHOLE_UUID "\n"                                                           \
    "card l4-24gb uuid=GPU-22222222-2222-2222-2222-222222222222\n"
#define CALLS_MAX 4096

struct hang_clock {
    struct tg_clock clock;
    const char *hangs; /* FAKE_NVML_HANGS */
};

struct node {
    struct machine *m;
    struct hang_clock clock;
    char *state_folder, *cdi_folder, *boot_id_file;
    struct tg_prepare_options options;
    struct tg_prepare *prepare;
    struct tg_prepare_report report;
    struct tg_device_set clean; /* the devices, when nothing goes wrong */
    struct tg_buf told;         /* every error and problem of a course */
    bool served;                /* everything was done */
};

/* ---- a node ---- */

/* Of all who look at the clock, threads that nobody waits for among them. */
static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;

static int64_t now(const struct tg_clock *clock)
{
    struct stat status;
    pthread_mutex_lock(&looking);
    const char *hangs = TG_CONTAINER_OF(clock, const struct hang_clock, clock)->hangs;
    int64_t time = stat(hangs, &status) == 0 ? status.st_size * 3600 * TG_SECOND : 0;
    pthread_mutex_unlock(&looking);
    return time;
}

static int set_up(void **state)
{
    struct node *n = tg_xcalloc(1, sizeof(*n));
    n->m = machine_new(CARDS, "GPU-aaaaaaaa-*");
    n->state_folder = tg_xasprintf("%s/lib", n->m->sandbox->folder);
    n->cdi_folder = tg_xasprintf("%s/cdi", n->m->sandbox->folder);
    n->boot_id_file = tg_xasprintf("%s/boot_id", n->m->sandbox->folder);
    assert_int_equal(tg_file_write_atomic(n->boot_id_file, "boot-1\n", 7, 0644, NULL), 0);
    n->options = (struct tg_prepare_options){.state_folder = n->state_folder,
                                             .cdi_folder = n->cdi_folder,
                                             .boot_id_file = n->boot_id_file,
                                             .driver = DRIVER,
                                             .pool = NODE};
    n->told = TG_BUF_INIT((size_t)1 << 20);
    n->clock = (struct hang_clock){.clock = {.monotonic = now}, .hangs = n->m->fake.hangs};
    n->m->options.clock = &n->clock.clock;
    machine_must_list(n->m);
    n->clean = n->m->set;
    n->m->set = (struct tg_device_set){0};
    *state = n;
    return 0;
}

static int tear_down(void **state)
{
    struct node *n = *state;
    tg_prepare_close(n->prepare);
    tg_device_set_done(&n->clean);
    tg_buf_done(&n->told);
    machine_free(n->m);
    free(n->state_folder);
    free(n->cdi_folder);
    free(n->boot_id_file);
    free(n);
    return 0;
}

/* Cards and folders as new, and a driver that is loaded for the first time. */
static void begin(struct node *n, const char *fault)
{
    TG_AUTOFREE char *scenario = tg_xasprintf(CARDS "%s", fault);
    tg_prepare_close(TG_TAKE(n->prepare));
    tg_provider_free(TG_TAKE(n->m->provider));
    sandbox_remove(n->state_folder);
    sandbox_remove(n->cdi_folder);
    fake_nvml_reboot(&n->m->fake);
    fake_nvml_play(&n->m->fake, scenario);
    tg_buf_clear(&n->told);
}

static int tell(struct node *n, int rc, const struct tg_error *err)
{
    if (rc != 0)
        (void)tg_buf_printf(&n->told, "%s\n", err->message);
    n->served = n->served && rc == 0;
    return rc;
}

static bool owns(void *data, const struct tg_partition *place)
{
    return tg_prepare_owns(data, place);
}

/* ---- what is done ---- */

static void start(struct node *n)
{
    struct tg_error err = TG_ERROR_INIT;
    tg_prepare_close(TG_TAKE(n->prepare));
    machine_open(n->m, "GPU-aaaaaaaa-*");
    (void)tell(n, machine_list(n->m), &n->m->err);
    for (size_t i = 0; i < n->m->set.problems.n; i++)
        (void)tg_buf_printf(&n->told, "%s\n", n->m->set.problems.items[i]);
    n->options.provider = n->m->provider;
    if (tg_prepare_open(&n->options, &n->m->set, &n->prepare, &n->report, &err) != 0)
        fail_msg("the plugin does not start: %s", err.message);
    if (n->m->set.arena != NULL)
        assert_int_equal(tg_foreign_instances(&n->m->set, owns, n->prepare, NULL), 0);
}

/* A claim of a part of one card, and of another card as a whole, which is to be set. */
static int prepare(struct node *n)
{
    const struct tg_allocation_device results[] = {
        {.request = "part", .driver = DRIVER, .pool = NODE, .device = PART},
        {.request = "whole", .driver = DRIVER, .pool = NODE, .device = WHOLE}};
    const char *const requests[] = {"whole"};
    const struct tg_opaque_config opaque = {
        .driver = DRIVER,
        .parameters = "{\"apiVersion\":\"tangram.dev/v1alpha1\",\"kind\":\"GpuConfig\","
                      "\"computeMode\":\"ExclusiveProcess\"}"};
    const struct tg_device_config config = {
        .source = "FromClaim",
        .requests = {.items = (const char **)(uintptr_t)requests, .n = 1},
        .opaque = (struct tg_opaque_config *)(uintptr_t)&opaque};
    const struct tg_allocation_devices allocation = {
        .results = {.items = (struct tg_allocation_device *)(uintptr_t)results, .n = 2},
        .config = {.items = (struct tg_device_config *)(uintptr_t)&config, .n = 1}};
    const struct tg_prepared_claim *claim = NULL;
    struct tg_error err = TG_ERROR_INIT;
    return tell(n, tg_prepare_allocation(n->prepare, UID, "ns", "claim", &allocation, &claim, &err),
                &err);
}

static int release(struct node *n)
{
    struct tg_error err = TG_ERROR_INIT;
    return tell(n, tg_prepare_release(n->prepare, UID, &err), &err);
}

static void course(struct node *n)
{
    n->served = true;
    start(n);
    (void)prepare(n);
    (void)release(n);
}

/* ---- what must hold ---- */

static size_t count_entries(const char *path)
{
    DIR *folder = opendir(path);
    size_t n = 0;
    assert_non_null(folder);
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        n += entry->d_name[0] != '.';
    closedir(folder);
    return n;
}

static size_t count_descriptors(void)
{
    return count_entries("/proc/self/fd");
}

static void expect_nothing_left(struct node *n, const char *fault)
{
    struct tg_gpu_settings settings = {0};
    struct tg_error err = TG_ERROR_INIT;
    if (machine_list(n->m) != 0)
        fail_msg("%s: and later: %s", fault, n->m->err.message);
    if (n->m->set.standing.n != 0)
        fail_msg("%s: %zu instances are left on the cards", fault, n->m->set.standing.n);
    if (count_entries(n->cdi_folder) != 0)
        fail_msg("%s: a document is left", fault);
    assert_int_equal(n->m->provider->ops->settings(n->m->provider, WHOLE_UUID, &settings, &err), 0);
    if (settings.compute_mode.value != 0)
        fail_msg("%s: a card stays set", fault);
}

/* The fault has passed. */
static void expect_recovery(struct node *n, const char *fault)
{
    fake_nvml_play(&n->m->fake, CARDS);
    tg_buf_clear(&n->told);
    if (tg_prepare_settle(n->prepare, &n->report, NULL) != 0 || release(n) != 0)
        fail_msg("%s: and later: %s", fault, tg_buf_str(&n->told));
    expect_nothing_left(n, fault);
    course(n);
    if (!n->served)
        fail_msg("%s: and after a restart: %s", fault, tg_buf_str(&n->told));
    expect_nothing_left(n, fault);
}

/* What the driver only adds to: without an answer a device has an attribute less. */
static bool is_extra(const char *function)
{
    static const char *const extras[] = {
        "nvmlDeviceGetArchitecture",          "nvmlDeviceGetBrand",
        "nvmlDeviceGetCudaComputeCapability", "nvmlDeviceGetNumaNodeId",
        "nvmlDeviceGetGpuFabricInfoV",        "nvmlSystemGetCudaDriverVersion_v2",
        "nvmlSystemGetDriverVersion"};
    for (size_t i = 0; i < TG_ARRAY_SIZE(extras); i++) {
        if (tg_streq(extras[i], function))
            return true;
    }
    return false;
}

static bool is_of_a_card(const char *function)
{
    static const char *const others[] = {"",
                                         "dlopen",
                                         "nvmlInit_v2",
                                         "nvmlShutdown",
                                         "nvmlDeviceGetCount_v2",
                                         "nvmlSystemGetDriverVersion",
                                         "nvmlSystemGetCudaDriverVersion_v2"};
    for (size_t i = 0; i < TG_ARRAY_SIZE(others); i++) {
        if (tg_streq(others[i], function))
            return false;
    }
    return true;
}

static bool done_all_the_same(const struct node *n, const char *function)
{
    return n->served && (is_extra(function) || tg_inventory_set_equal(&n->m->set, &n->clean));
}

/* "card 0", "card 0000:41:00.0" */
static bool names_a_card(const char *line)
{
    const char *at = strstr(line, "card ");
    while (at != NULL && !isdigit((unsigned char)at[5]))
        at = strstr(at + 5, "card ");
    return at != NULL;
}

/* One line says what could not be done. `function`: "" for whichever. */
static void expect_line(const struct node *n, const char *function, const char *cause,
                        const char *fault)
{
    TG_AUTOFREE char *told = tg_xstrdup(tg_buf_str(&n->told));
    char *rest = NULL;
    for (char *line = strtok_r(told, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        if (strstr(line, function) != NULL && strstr(line, cause) != NULL &&
            (!is_of_a_card(function) || names_a_card(line)))
            return;
    }
    fail_msg("%s (%s): not told, of %zu devices there are %zu: %s", fault, function,
             n->clean.devices.n, n->m->set.devices.n, tg_buf_str(&n->told));
}

static void expect_told(const struct node *n, const char *function, const char *cause,
                        const char *fault)
{
    if (!done_all_the_same(n, function))
        expect_line(n, function, cause, fault);
}

/* ---- the calls of a clean run ---- */

/* Their functions, and the cards they are about (0 for those that are about none). */
static size_t clean_calls(struct node *n, char (*names)[64], unsigned *cards)
{
    TG_AUTOBUF struct tg_buf log = TG_BUF_INIT((size_t)1 << 20);
    size_t count = 0;
    char *rest = NULL;
    begin(n, "");
    (void)setenv("FAKE_NVML_LOG", n->m->fake.log, 1);
    course(n);
    (void)unsetenv("FAKE_NVML_LOG");
    if (!n->served)
        fail_msg("the clean run: %s", tg_buf_str(&n->told));
    assert_int_equal(tg_file_read(n->m->fake.log, &log, NULL), 0);
    for (char *line = strtok_r(log.data, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        assert_true(count < CALLS_MAX);
        assert_int_equal(sscanf(line, "%63s card=%u", names[count], &cards[count]), 2);
        count++;
    }
    return count;
}

/* With its cause. Errors that may be answers ("this card has none") have none that must be told. */
struct kind {
    const char *fault, *cause;
};
static const struct kind failures[] = {
    {"error=UNKNOWN", "unknown error (NVML 999)"},
    {"error=GPU_IS_LOST", "the card has fallen off the bus (NVML 15)"},
    {"error=IN_USE", "in use by a process (NVML 19)"},
    {"error=INSUFFICIENT_RESOURCES", "(NVML 23)"},
    {"error=NO_PERMISSION", "no permission"},
    {"error=UNINITIALIZED", "the session has ended"},
    {"error=LIB_RM_VERSION_MISMATCH", "different versions"},
};
static const struct kind answers[] = {{"error=NOT_SUPPORTED", NULL}, {"error=NOT_FOUND", NULL}};
static const struct kind nonsense = {"garbage", "makes no sense"};

static void play(struct node *n, const char *when, size_t call, const char *function,
                 const struct kind *kind)
{
    static size_t open;
    TG_AUTOFREE char *fault = tg_xasprintf("fault * %s=%zu %s\n", when, call, kind->fault);
    begin(n, fault);
    course(n);
    if (kind->cause != NULL)
        expect_told(n, function, kind->cause, fault);
    expect_recovery(n, fault);
    open = open == 0 ? count_descriptors() : open;
    if (count_descriptors() != open)
        fail_msg("%s: descriptors are left open", fault);
}

/* All failures are told in the same way: each call has the next of them. */
static void a_fault_at_any_call_is_told_and_leaves_nothing(void **state)
{
    static char names[CALLS_MAX][64];
    static unsigned cards[CALLS_MAX];
    struct node *n = *state;
    size_t calls = clean_calls(n, names, cards);
    assert_true(calls > 100);
    for (size_t i = 0; i < calls; i++) {
        play(n, "call", i + 1, names[i], &failures[i % TG_ARRAY_SIZE(failures)]);
        play(n, "call", i + 1, names[i], &answers[i % TG_ARRAY_SIZE(answers)]);
        play(n, "call", i + 1, names[i], &nonsense);
    }
}

/* Any call may be the last that is answered, or that is answered with sense. */
static void a_driver_that_fails_for_good_at_any_call_leaves_nothing(void **state)
{
    static char names[CALLS_MAX][64];
    static unsigned cards[CALLS_MAX];
    struct node *n = *state;
    size_t calls = clean_calls(n, names, cards);
    for (size_t i = 0; i < calls; i++) {
        /* The first call that matters may be a later one. */
        play(n, "from", i + 1, "", &failures[i % TG_ARRAY_SIZE(failures)]);
        play(n, "from", i + 1, "", &nonsense);
    }
}

/* ---- hangs ---- */

/* A claim of a card that is not concerned. */
static void expect_others_served(struct node *n, const char *fault)
{
    const struct tg_allocation_device result = {
        .request = "other", .driver = DRIVER, .pool = NODE, .device = OTHER};
    const struct tg_allocation_devices allocation = {
        .results = {.items = (struct tg_allocation_device *)(uintptr_t)&result, .n = 1}};
    const struct tg_prepared_claim *claim = NULL;
    struct tg_error err = TG_ERROR_INIT;
    if (machine_list(n->m) != 0)
        fail_msg("%s: the other cards are not listed: %s", fault, n->m->err.message);
    if (tg_device_set_find(&n->m->set, OTHER) == NULL)
        fail_msg("%s: another card is not listed", fault);
    tg_prepare_set_devices(n->prepare, &n->m->set);
    if (tg_prepare_allocation(n->prepare, "uid-b", "ns", "b", &allocation, &claim, &err) != 0 ||
        tg_prepare_release(n->prepare, "uid-b", &err) != 0)
        fail_msg("%s: and another card: %s", fault, err.message);
}

/* The calls that hung have returned, and nothing is left out any more. */
static void expect_return(struct node *n, const char *fault)
{
    fake_nvml_play(&n->m->fake, CARDS);
    for (int i = 0; machine_list(n->m) != 0 || n->m->set.problems.n > 0; i++) {
        if (i == 10000)
            fail_msg("%s: never recovers: %s", fault,
                     n->m->set.problems.n > 0 ? n->m->set.problems.items[0] : n->m->err.message);
        (void)poll(NULL, 0, 1);
    }
}

/* `function`: "" for whichever. Waking all cards may take longer. */
static const char *deadline_of(const char *function)
{
    bool loading = tg_streq(function, "nvmlInit_v2") || tg_streq(function, "dlopen");
    return function[0] == '\0' ? "has not answered within"
           : loading           ? "has not answered within 60 s"
                               : "has not answered within 15 s";
}

static void play_hang(struct node *n, const char *fault, const char *function, unsigned card)
{
    begin(n, fault);
    int64_t before = now(&n->clock.clock);
    course(n);
    if (now(&n->clock.clock) == before)
        fail_msg("%s (%s): nothing hung", fault, function);
    /* What hangs is not asked again; where all calls do, loading the driver is tried once. */
    (void)prepare(n);
    (void)release(n);
    if (now(&n->clock.clock) > before + 2 * 3600 * TG_SECOND)
        fail_msg("%s (%s): what hangs is asked again and again", fault, function);
    expect_line(n, function, deadline_of(function), fault);
    if (is_of_a_card(function) && card != 2)
        expect_others_served(n, fault);
    expect_return(n, fault);
    tg_prepare_set_devices(n->prepare, &n->m->set);
    expect_recovery(n, fault);
}

static void a_hang_at_any_call_costs_its_card_only(void **state)
{
    static char names[CALLS_MAX][64];
    static unsigned cards[CALLS_MAX];
    struct node *n = *state;
    size_t calls = clean_calls(n, names, cards);
    for (size_t i = 0; i < calls; i++) {
        TG_AUTOFREE char *fault = tg_xasprintf("fault * call=%zu hang\n", i + 1);
        play_hang(n, fault, names[i], cards[i]);
    }
}

/* Its code runs before any of its functions is called. */
static void a_library_that_hangs_while_it_is_loaded_is_told_and_left_alone(void **state)
{
    play_hang(*state, "fault dlopen hang\n", "dlopen", 0);
}

/* All that follow hang as well. */
static void a_driver_that_hangs_for_good_at_any_call_leaves_nothing(void **state)
{
    static char names[CALLS_MAX][64];
    static unsigned cards[CALLS_MAX];
    struct node *n = *state;
    size_t calls = clean_calls(n, names, cards);
    for (size_t i = 0; i < calls; i += 7) {
        TG_AUTOFREE char *fault = tg_xasprintf("fault * from=%zu hang\n", i + 1);
        play_hang(n, fault, "", 0);
    }
}

static size_t count_threads(void)
{
    return count_entries("/proc/self/task");
}

static size_t threads_at_first;

static void wait_for_threads(const char *fault)
{
    for (int i = 0; count_threads() > threads_at_first; i++) {
        if (i == 10000)
            fail_msg("%s: threads are left", fault);
        (void)poll(NULL, 0, 1);
    }
    /* What they looked at last may be freed: the thread sanitizer knows of locks only. */
    pthread_mutex_lock(&looking);
    pthread_mutex_unlock(&looking);
}

/* The plugin ends in time, and leaves nothing in a process that goes on. */
static void it_can_be_freed_while_a_call_hangs(void **state)
{
    static const char *const faults[] = {
        "fault nvmlDeviceGetName on=1 hang\n", "fault nvmlShutdown hang\n", "fault dlopen hang\n",
        "fault dlclose hang\n", "fault nvmlDeviceGetCount_v2 hang\n"};
    struct node *n = *state;
    tg_provider_free(TG_TAKE(n->m->provider));
    for (size_t i = 0; i < TG_ARRAY_SIZE(faults); i++) {
        begin(n, faults[i]);
        int64_t before = now(&n->clock.clock);
        machine_open(n->m, "");
        (void)machine_list(n->m);
        tg_provider_free(TG_TAKE(n->m->provider));
        assert_true(tg_provider_left_behind());
        if (now(&n->clock.clock) == before)
            fail_msg("%s: nothing hangs", faults[i]);
        fake_nvml_play(&n->m->fake, CARDS);
        wait_for_threads(faults[i]);
    }
}

/* Functions that older drivers lack. */
static void a_missing_function_is_named_where_it_is_wanted(void **state)
{
    static const char *const functions[] = {
#define NAME(required, name, arguments) #name,
        NVML_FUNCTIONS(NAME)
#undef NAME
    };
    struct node *n = *state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(functions); i++) {
        TG_AUTOFREE char *fault = tg_xasprintf("missing %s\n", functions[i]);
        begin(n, fault);
        course(n);
        /* Without it the driver is older than MIG, and the card is offered as a whole. */
        bool before_mig = tg_streq(functions[i], "nvmlDeviceGetMigMode");
        if (!before_mig && !done_all_the_same(n, functions[i]) &&
            strstr(tg_buf_str(&n->told), functions[i]) == NULL)
            fail_msg("%s: not told: %s", fault, tg_buf_str(&n->told));
        expect_recovery(n, fault);
    }
}

static void *nothing(void *data)
{
    return data;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_fault_at_any_call_is_told_and_leaves_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_driver_that_fails_for_good_at_any_call_leaves_nothing,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hang_at_any_call_costs_its_card_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_library_that_hangs_while_it_is_loaded_is_told_and_left_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_driver_that_hangs_for_good_at_any_call_leaves_nothing,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_can_be_freed_while_a_call_hangs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_missing_function_is_named_where_it_is_wanted, set_up,
                                        tear_down),
    };
    /* The thread sanitizer has one of its own from the first one on. */
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, nothing, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    threads_at_first = count_threads();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
