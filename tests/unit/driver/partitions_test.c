/* SPDX-License-Identifier: Apache-2.0 */
/* Claims on parts of cards, on simulated hardware that outlives the process that uses it. */
#include "driver/prepare/partitions.h"

#include "driver/partition/foreign.h"
#include "driver/prepare/prepare.h"
#include "tests/unit/driver/nvml_machine.h"

#define DRIVER "gpu.tangram.dev"
#define NODE "node-1"
#define H100 "card h100-80gb mig=on uuid=GPU-aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa\n"
#define DYNAMIC "GPU-aaaaaaaa-*"

struct node {
    struct machine *m;
    char *state_folder, *cdi_folder, *boot_id_file;
    struct tg_prepare_options options;
    struct tg_prepare *prepare;
    struct tg_prepare_report report;
    struct tg_error err;
};

static bool ours(void *data, const struct tg_partition *place)
{
    return tg_prepare_owns(data, place);
}

static void boot(struct node *n, const char *id)
{
    assert_int_equal(tg_file_write_atomic(n->boot_id_file, id, strlen(id), 0644, NULL), 0);
}

/* As a start of the plugin does it. */
static void start(struct node *n)
{
    struct tg_error err = TG_ERROR_INIT;
    tg_prepare_close(TG_TAKE(n->prepare));
    if (machine_list(n->m) != 0)
        assert_int_equal(n->m->err.code, TG_UNAVAILABLE);
    n->options.provider = n->m->provider;
    if (tg_prepare_open(&n->options, &n->m->set, &n->prepare, &n->report, &err) != 0)
        fail_msg("cannot open: %s", err.message);
    if (n->m->set.arena != NULL)
        assert_int_equal(tg_foreign_instances(&n->m->set, ours, n->prepare, NULL), 0);
}

static struct node *node_new(const char *scenario)
{
    struct node *n = tg_xcalloc(1, sizeof(*n));
    n->m = machine_new(scenario, DYNAMIC);
    n->state_folder = tg_xasprintf("%s/lib", n->m->sandbox->folder);
    n->cdi_folder = tg_xasprintf("%s/cdi", n->m->sandbox->folder);
    n->boot_id_file = tg_xasprintf("%s/boot_id", n->m->sandbox->folder);
    boot(n, "boot-1\n");
    n->options = (struct tg_prepare_options){.state_folder = n->state_folder,
                                             .cdi_folder = n->cdi_folder,
                                             .boot_id_file = n->boot_id_file,
                                             .driver = DRIVER,
                                             .pool = NODE};
    start(n);
    return n;
}

static int set_up(void **state)
{
    *state = node_new(H100);
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
    free(n);
    return 0;
}

static const struct tg_provider_device *place(const struct node *n, const char *profile,
                                              unsigned at)
{
    for (size_t i = 0;; i++) {
        const struct tg_provider_device *one = partition_of(n->m, profile, i);
        if (one == NULL || one->partition->start == at)
            return one;
    }
}

static int prepare(struct node *n, const char *uid, const char *device)
{
    const struct tg_allocation_device one = {
        .request = "gpus", .driver = DRIVER, .pool = NODE, .device = device};
    const struct tg_prepared_claim *claim = NULL;
    n->err = TG_ERROR_INIT;
    return tg_prepare_claim(n->prepare, uid, "ns", uid, &one, 1, &claim, &n->err);
}

static int release(struct node *n, const char *uid)
{
    n->err = TG_ERROR_INIT;
    return tg_prepare_release(n->prepare, uid, &n->err);
}

/* What a driver of its own, which knows nothing of claims, finds on the cards. */
static size_t standing(const struct node *n)
{
    struct tg_device_set set = {0};
    struct tg_provider *other = NULL;
    assert_int_equal(tg_provider_new("nvml", &n->m->options, &other, NULL), 0);
    assert_int_equal(tg_provider_list(other, &set, NULL), 0);
    size_t found = set.standing.n;
    tg_device_set_done(&set);
    tg_provider_free(other);
    return found;
}

static char *document(const struct node *n, const char *uid)
{
    TG_AUTOFREE char *path = tg_xasprintf("%s/k8s." DRIVER "-claim_%s.json", n->cdi_folder, uid);
    TG_AUTOBUF struct tg_buf content = TG_BUF_INIT((size_t)1 << 20);
    return tg_file_read(path, &content, NULL) == 0 ? tg_buf_take(&content) : NULL;
}

/* ---- places ---- */

static void every_legal_place_of_a_plain_profile_is_a_device(void **state)
{
    static const struct {
        const char *profile;
        size_t places;
    } wanted[] = {{"1g.10gb", 7}, {"1g.20gb", 4}, {"2g.20gb", 3},   {"3g.40gb", 2},
                  {"4g.40gb", 1}, {"7g.80gb", 1}, {"1g.10gb+me", 0}};
    struct node *n = *state;
    assert_int_equal(n->m->set.devices.n, 18);
    assert_int_equal(n->m->set.counter_sets.n, 1);
    assert_int_equal(n->m->set.counter_sets.items[0].counters.n, 8);
    for (size_t i = 0; i < TG_ARRAY_SIZE(wanted); i++) {
        size_t found = 0;
        while (partition_of(n->m, wanted[i].profile, found) != NULL)
            found++;
        assert_int_equal(found, wanted[i].places);
    }
    const struct tg_provider_device *half = place(n, "3g.40gb", 4);
    assert_string_equal(half->device.name, "gpu-aaaaaaaaaaaa-9-4");
    assert_int_equal(half->device.consumes_counters.items[0].counters.n, 4);
    assert_string_equal(half->device.consumes_counters.items[0].counters.items[0].key,
                        "memory-slice-4");
    assert_string_equal(text_of(half, "parentUUID"), "GPU-aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa");
    assert_string_equal(capacity_of(half, "memory"), "40448Mi");
}

/* NV 932, 361: taken in the order of the list, small ones leave the large places open. */
static void first_fit_in_the_order_of_the_list_keeps_large_places_open(void **state)
{
    struct node *n = *state;
    assert_int_equal(partition_of(n->m, "1g.10gb", 0)->partition->start, 6);
    unsigned second = partition_of(n->m, "1g.10gb", 1)->partition->start;
    unsigned third = partition_of(n->m, "1g.10gb", 2)->partition->start;
    assert_true(second >= 4 && third >= 4); /* 4g.40gb can only be at 0 */
}

/* ---- claims ---- */

static void a_partition_is_made_for_its_claim_and_removed_after_it(void **state)
{
    struct node *n = *state;
    TG_AUTOFREE char *name = tg_xstrdup(place(n, "3g.40gb", 4)->device.name);
    assert_int_equal(prepare(n, "uid-a", name), 0);
    assert_int_equal(standing(n), 1);
    TG_AUTOFREE char *text = document(n, "uid-a");
    assert_non_null(text);
    assert_non_null(strstr(text, "TANGRAM_DEVICE_GPU_AAAAAAAAAAAA_9_4=MIG-"));
    assert_non_null(strstr(text, "\"/dev/nvidia0\""));
    assert_non_null(strstr(text, "/dev/nvidia-caps/nvidia-cap"));
    assert_non_null(strstr(text, "NVIDIA_VISIBLE_DEVICES=void"));
    assert_non_null(strstr(text, "\"/dev/nvidia-uvm\""));
    assert_int_equal(release(n, "uid-a"), 0);
    assert_int_equal(standing(n), 0);
}

static void several_partitions_of_one_card_are_had_at_once_and_overlaps_are_refused(void **state)
{
    struct node *n = *state;
    assert_int_equal(prepare(n, "uid-a", "gpu-aaaaaaaaaaaa-9-4"), 0);
    assert_int_equal(prepare(n, "uid-b", "gpu-aaaaaaaaaaaa-5-0"), 0);
    assert_int_equal(standing(n), 2);
    assert_int_equal(prepare(n, "uid-c", "gpu-aaaaaaaaaaaa-19-6"), -TG_FAILED_PRECONDITION);
    assert_true(n->err.retry);
    assert_non_null(strstr(n->err.message, "ns/uid-a"));
    assert_int_equal(release(n, "uid-a"), 0);
    assert_int_equal(prepare(n, "uid-c", "gpu-aaaaaaaaaaaa-19-6"), 0);
}

/* A kubelet may ask for ever; claims come and go for ever. */
static void asking_a_thousand_times_costs_no_more_than_once(void **state)
{
    struct node *n = *state;
    assert_int_equal(prepare(n, "uid-a", "gpu-aaaaaaaaaaaa-9-4"), 0);
    for (int i = 0; i < 2000; i++) {
        if (prepare(n, "uid-a", "gpu-aaaaaaaaaaaa-9-4") != 0)
            fail_msg("repetition %d: %s", i, n->err.message);
    }
    for (int i = 0; i < 50; i++) {
        assert_int_equal(prepare(n, "uid-b", "gpu-aaaaaaaaaaaa-19-0"), 0);
        assert_int_equal(release(n, "uid-b"), 0);
    }
    assert_int_equal(standing(n), 1);
    assert_int_equal(tg_prepare_count(n->prepare), 1);
}

/* IS 285, 478: each profile at each of its places, by its id. */
static void each_place_of_each_profile_can_be_made(void **state)
{
    struct node *n = *state;
    for (size_t i = 0; i < n->m->set.devices.n; i++) {
        if (prepare(n, "uid-a", n->m->set.devices.items[i].device.name) != 0)
            fail_msg("%s", n->err.message);
        assert_int_equal(standing(n), 1);
        assert_int_equal(release(n, "uid-a"), 0);
        assert_int_equal(standing(n), 0);
    }
}

static void two_results_that_overlap_are_refused_in_one_claim_too(void **state)
{
    struct node *n = *state;
    const struct tg_allocation_device both[] = {
        {.request = "a", .driver = DRIVER, .pool = NODE, .device = "gpu-aaaaaaaaaaaa-9-4"},
        {.request = "b", .driver = DRIVER, .pool = NODE, .device = "gpu-aaaaaaaaaaaa-19-5"}};
    const struct tg_prepared_claim *claim = NULL;
    assert_int_equal(tg_prepare_claim(n->prepare, "uid-a", "ns", "a", both, 2, &claim, &n->err),
                     -TG_INVALID_ARGUMENT);
    assert_int_equal(standing(n), 0);
}

/* ---- what others made ---- */

static void an_instance_of_unknown_origin_is_used_and_left_alone(void **state)
{
    struct node *n = *state;
    const struct tg_partition there = *place(n, "3g.40gb", 4)->partition;
    struct tg_instance made;
    assert_int_equal(n->m->provider->ops->create(n->m->provider, &there, n->m->arena, &made, NULL),
                     0);
    start(n);
    assert_true(has_problem(n->m, "an instance 3g.40gb at memory slice 4 was not made by this"));
    assert_non_null(place(n, "3g.40gb", 4));
    assert_null(place(n, "1g.10gb", 5));
    assert_null(place(n, "7g.80gb", 0));
    assert_non_null(place(n, "4g.40gb", 0));
    assert_int_equal(prepare(n, "uid-a", "gpu-aaaaaaaaaaaa-9-4"), 0);
    assert_int_equal(release(n, "uid-a"), 0);
    assert_int_equal(standing(n), 1);
}

/* IS 141 */
static void an_instance_that_came_since_the_listing_is_named_and_not_touched(void **state)
{
    struct node *n = *state;
    const struct tg_partition there = *place(n, "3g.40gb", 4)->partition;
    struct tg_instance made;
    assert_int_equal(n->m->provider->ops->create(n->m->provider, &there, n->m->arena, &made, NULL),
                     0);
    assert_int_equal(prepare(n, "uid-a", "gpu-aaaaaaaaaaaa-19-5"), -TG_FAILED_PRECONDITION);
    assert_non_null(strstr(n->err.message, "is in the way"));
    assert_int_equal(tg_prepare_count(n->prepare), 0);
    assert_int_equal(standing(n), 1);
}

#define H100_WHOLE "card h100-80gb uuid=GPU-aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa\n"

/* An administrator switches MIG mode, between two listings: what is known of a card is not believed
 * before it is asked. */
static void a_mode_that_was_switched_since_the_listing_is_seen(void **state)
{
    struct node *n = *state;
    struct tg_partition there = *place(n, "3g.40gb", 4)->partition;
    const struct tg_provider_ops *ops = n->m->provider->ops;
    struct tg_instance made;
    there.card = tg_arena_strdup(n->m->arena, there.card); /* for longer than the listing */
    there.card_uuid = tg_arena_strdup(n->m->arena, there.card_uuid);
    fake_nvml_play(&n->m->fake, H100_WHOLE);
    assert_int_equal(ops->create(n->m->provider, &there, n->m->arena, &made, &n->err),
                     -TG_FAILED_PRECONDITION);
    assert_non_null(strstr(n->err.message, "MIG mode of card "));
    assert_true(n->err.retry);
    assert_int_equal(ops->destroy(n->m->provider, &there, &n->err), 0); /* nothing can be there */
    start(n);
    assert_int_equal(n->m->set.devices.n, 1);
    fake_nvml_play(&n->m->fake, H100);
    assert_int_equal(ops->create(n->m->provider, &there, n->m->arena, &made, &n->err), 0);
    assert_int_equal(standing(n), 1);
}

/* ---- what goes wrong ---- */

/* NV 1452. Each call of a prepare fails, once each: nothing stays on the card, and the next try
 * works. */
static void a_prepare_that_fails_halfway_leaves_nothing_on_the_card(void **state)
{
    static const char *const calls[] = {"nvmlDeviceCreateGpuInstanceWithPlacement",
                                        "nvmlGpuInstanceGetComputeInstanceProfileInfo",
                                        "nvmlGpuInstanceCreateComputeInstance",
                                        "nvmlDeviceGetMigDeviceHandleByIndex",
                                        "nvmlDeviceGetGpuInstances",
                                        "nvmlGpuInstanceGetInfo"};
    struct node *n = *state;
    unsigned failures = 0;
    for (size_t i = 0; i < TG_ARRAY_SIZE(calls); i++) {
        for (unsigned nth = 1; nth < 40; nth += 3) {
            TG_AUTOFREE char *scenario =
                tg_xasprintf(H100 "fault %s call=%u error=UNKNOWN\n", calls[i], nth);
            fake_nvml_reboot(&n->m->fake);
            fake_nvml_play(&n->m->fake, scenario);
            start(n);
            if (n->m->set.devices.n == 0)
                continue; /* it was a call of the listing, which hid the card */
            if (prepare(n, "uid-a", "gpu-aaaaaaaaaaaa-9-4") != 0) {
                failures++;
                assert_string_not_equal(n->err.message, "");
                /* The call that takes back is the one that failed: the next try does it. */
                if (standing(n) != 0)
                    assert_int_equal(prepare(n, "uid-a", "gpu-aaaaaaaaaaaa-9-4"), 0);
            }
            fake_nvml_play(&n->m->fake, H100);
            assert_int_equal(prepare(n, "uid-a", "gpu-aaaaaaaaaaaa-9-4"), 0);
            assert_int_equal(standing(n), 1);
            assert_int_equal(release(n, "uid-a"), 0);
            assert_int_equal(standing(n), 0);
        }
    }
    assert_true(failures > 8);
}

static void a_partition_that_is_in_use_stays_with_its_claim(void **state)
{
    struct node *n = *state;
    assert_int_equal(prepare(n, "uid-a", "gpu-aaaaaaaaaaaa-9-4"), 0);
    fake_nvml_play(&n->m->fake, H100 "fault nvmlComputeInstanceDestroy error=IN_USE\n");
    assert_int_equal(release(n, "uid-a"), -TG_FAILED_PRECONDITION);
    assert_true(n->err.retry);
    assert_non_null(strstr(n->err.message, "in use by a process"));
    assert_int_equal(prepare(n, "uid-b", "gpu-aaaaaaaaaaaa-9-4"), -TG_FAILED_PRECONDITION);
    fake_nvml_play(&n->m->fake, H100);
    assert_int_equal(release(n, "uid-a"), 0);
    assert_int_equal(prepare(n, "uid-b", "gpu-aaaaaaaaaaaa-9-4"), 0);
}

/* k8s-driver-manager 217, 204: a driver is replaced when the pods have gone, and the pods go when
 * they are unprepared. */
static void pods_can_end_while_the_driver_is_away(void **state)
{
    struct node *n = *state;
    struct tg_prepare_report report;
    assert_int_equal(prepare(n, "uid-a", "gpu-aaaaaaaaaaaa-9-4"), 0);
    fake_nvml_play(&n->m->fake, "driver none\n" H100);
    assert_int_equal(release(n, "uid-a"), 0);
    assert_null(tg_prepare_find(n->prepare, "uid-a"));
    assert_null(document(n, "uid-a"));
    /* Held until it is seen to be gone, over a start without a driver, too. */
    start(n);
    assert_int_equal(n->report.unfinished, 1);
    fake_nvml_play(&n->m->fake, H100);
    assert_int_equal(standing(n), 1);
    machine_must_list(n->m);
    tg_prepare_set_devices(n->prepare, &n->m->set);
    assert_int_equal(tg_prepare_settle(n->prepare, &report, NULL), 0);
    assert_int_equal(report.finished, 1);
    assert_int_equal(standing(n), 0);
}

/* NV 951 */
static void after_a_reboot_partitions_and_documents_are_made_again(void **state)
{
    struct node *n = *state;
    assert_int_equal(prepare(n, "uid-a", "gpu-aaaaaaaaaaaa-9-4"), 0);
    TG_AUTOFREE char *before = document(n, "uid-a");
    fake_nvml_reboot(&n->m->fake);
    boot(n, "boot-2\n");
    sandbox_remove(n->cdi_folder);
    start(n);
    assert_true(n->report.rebooted);
    assert_int_equal(n->report.regenerated, 1);
    assert_int_equal(standing(n), 1);
    TG_AUTOFREE char *after = document(n, "uid-a");
    assert_non_null(after);
    assert_string_not_equal(before, after); /* another instance, another UUID */
    assert_int_equal(release(n, "uid-a"), 0);
    assert_int_equal(standing(n), 0);
}

static void a_start_without_a_driver_keeps_what_is_prepared(void **state)
{
    struct node *n = *state;
    struct tg_prepare_report report;
    assert_int_equal(prepare(n, "uid-a", "gpu-aaaaaaaaaaaa-9-4"), 0);
    TG_AUTOFREE char *before = document(n, "uid-a");
    fake_nvml_play(&n->m->fake, "driver none\n" H100);
    start(n);
    assert_int_equal(n->report.missing, 1);
    TG_AUTOFREE char *after = document(n, "uid-a");
    assert_string_equal(before, after);
    fake_nvml_play(&n->m->fake, H100);
    machine_must_list(n->m);
    tg_prepare_set_devices(n->prepare, &n->m->set);
    assert_int_equal(tg_prepare_settle(n->prepare, &report, NULL), 0);
    assert_int_equal(report.missing, 0);
    assert_int_equal(release(n, "uid-a"), 0);
    assert_int_equal(standing(n), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(every_legal_place_of_a_plain_profile_is_a_device),
        TEST(first_fit_in_the_order_of_the_list_keeps_large_places_open),
        TEST(a_partition_is_made_for_its_claim_and_removed_after_it),
        TEST(several_partitions_of_one_card_are_had_at_once_and_overlaps_are_refused),
        TEST(asking_a_thousand_times_costs_no_more_than_once),
        TEST(each_place_of_each_profile_can_be_made),
        TEST(two_results_that_overlap_are_refused_in_one_claim_too),
        TEST(an_instance_of_unknown_origin_is_used_and_left_alone),
        TEST(a_mode_that_was_switched_since_the_listing_is_seen),
        TEST(an_instance_that_came_since_the_listing_is_named_and_not_touched),
        TEST(a_prepare_that_fails_halfway_leaves_nothing_on_the_card),
        TEST(a_partition_that_is_in_use_stays_with_its_claim),
        TEST(pods_can_end_while_the_driver_is_away),
        TEST(after_a_reboot_partitions_and_documents_are_made_again),
        TEST(a_start_without_a_driver_keeps_what_is_prepared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
