/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/log.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "kubelet-plugin/publisher.h"
#include "kubelet-plugin/slice_body.h"
#include "tests/support/failing_arena.h"
#include "tests/support/metric_page.h"
#include "tests/unit/plugin/folder.h"

#define SLICES 8

/* What an API server does with slices, in a table. */
struct stored {
    struct tg_arena *arena;
    struct tg_resource_slice *slice; /* NULL: free */
};

struct bench {
    struct test_folder folder;
    struct tg_provider *provider;
    struct tg_device_set devices;
    struct tg_loop *loop;
    struct tg_publisher *publisher;
    struct tg_publisher_api api;
    bool known;
    struct stored stored[SLICES];
    unsigned version;
    int writes;
    struct tg_metrics *metrics; /* NULL: nobody looks */
    int waiting;                /* as they say while a write is under way */
    enum tg_code fail;          /* the next write */
    bool forgetful;             /* the server drops what it is given and says yes */
    struct tg_deferred answer;
    struct tg_error error;
    void (*done)(void *done_data, const struct tg_error *err);
    void *done_data;
};

static void store(struct bench *bench, struct stored *to, const struct tg_resource_slice *slice)
{
    TG_AUTOBUF struct tg_buf json = TG_BUF_INIT(1 << 20);
    void *copy;
    tg_arena_free(to->arena);
    to->arena = tg_arena_new(TG_ARENA_UNLIMITED);
    assert_int_equal(tg_slice_body_write(slice, &json, NULL), 0);
    assert_int_equal(
        tg_json_decode_new(&tg_resource_slice_type, json.data, json.len, to->arena, &copy, NULL),
        0);
    to->slice = copy;
    to->slice->metadata->resource_version = tg_arena_printf(to->arena, "%u", ++bench->version);
    if (to->slice->metadata->uid == NULL)
        to->slice->metadata->uid = tg_arena_printf(to->arena, "uid-%u", bench->version);
    if (bench->forgetful)
        to->slice->spec->devices.n = 0;
}

static struct stored *find(struct bench *bench, const char *name)
{
    for (size_t i = 0; i < SLICES; i++)
        if (bench->stored[i].slice != NULL &&
            (name == NULL || tg_streq(bench->stored[i].slice->metadata->name, name)))
            return &bench->stored[i];
    return NULL;
}

static enum tg_code write_one(struct bench *bench, const struct tg_inventory_operation *operation)
{
    const struct tg_object_meta *meta = operation->slice->metadata;
    struct stored *at = find(bench, meta->name);

    if (operation->action == TG_INVENTORY_CREATE) {
        if (at != NULL)
            return TG_ALREADY_EXISTS;
        for (at = bench->stored; at->slice != NULL; at++)
            continue;
        store(bench, at, operation->slice);
        return TG_OK;
    }
    if (at == NULL)
        return TG_NOT_FOUND;
    if (!tg_streq(at->slice->metadata->resource_version, meta->resource_version) ||
        !tg_streq(at->slice->metadata->uid, meta->uid))
        return TG_ABORTED;
    if (operation->action == TG_INVENTORY_DELETE)
        at->slice = NULL;
    else
        store(bench, at, operation->slice);
    return TG_OK;
}

static void on_answer(struct tg_deferred *deferred)
{
    struct bench *bench = deferred->data;
    bench->done(bench->done_data, bench->error.code == TG_OK ? NULL : &bench->error);
}

static void execute(void *data, const struct tg_inventory_operation *operation,
                    void (*done)(void *done_data, const struct tg_error *err), void *done_data)
{
    struct bench *bench = data;
    enum tg_code code = bench->fail != TG_OK ? bench->fail : write_one(bench, operation);

    bench->writes++;
    if (bench->metrics != NULL)
        bench->waiting = (int)metric_on_page(bench->metrics, "tangram_plugin_slice_writes_waiting");
    bench->fail = TG_OK;
    bench->error = TG_ERROR_INIT;
    if (code != TG_OK)
        tg_error_set(&bench->error, code, "the table said so");
    bench->done = done;
    bench->done_data = done_data;
    tg_defer(bench->loop, &bench->answer);
}

static int observe(void *data, struct tg_arena *arena, const struct tg_resource_slice ***ret,
                   size_t *n, struct tg_error *err)
{
    struct bench *bench = data;
    if (!bench->known)
        return TG_PUBLISHER_WAIT;
    *ret = tg_arena_alloc_array(arena, SLICES, sizeof(**ret));
    if (*ret == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED, "no memory for the table");
    *n = 0;
    for (size_t i = 0; i < SLICES; i++)
        if (bench->stored[i].slice != NULL)
            (*ret)[(*n)++] = bench->stored[i].slice;
    return 0;
}

static void begin(struct bench *bench)
{
    bench->answer = (struct tg_deferred){.callback = on_answer, .data = bench};
    bench->api = (struct tg_publisher_api){.observe = observe, .execute = execute, .data = bench};
    bench->publisher = tg_publisher_new(bench->loop, TEST_DRIVER, TEST_NODE, &bench->api);
}

static int setup(void **state)
{
    struct bench *bench = tg_xcalloc(1, sizeof(*bench));
    test_folder_init(&bench->folder);
    const struct tg_provider_options options = test_provider_options(&bench->folder);
    assert_int_equal(tg_provider_new("sim", &options, &bench->provider, NULL), 0);
    assert_int_equal(tg_provider_list(bench->provider, &bench->devices, NULL), 0);
    bench->loop = tg_loop_new(false);
    begin(bench);
    *state = bench;
    return 0;
}

/* Another node with the same devices on the same loop, since what waits may wait together. */
static struct bench *add(struct bench *first)
{
    struct bench *bench = tg_xcalloc(1, sizeof(*bench));

    bench->devices = first->devices;
    bench->loop = first->loop;
    begin(bench);
    return bench;
}

static void drop(struct bench *bench)
{
    tg_publisher_free(bench->publisher);
    tg_defer_cancel(bench->loop, &bench->answer);
    for (size_t i = 0; i < SLICES; i++)
        tg_arena_free(bench->stored[i].arena);
    free(bench);
}
static int teardown(void **state)
{
    struct bench *bench = *state;
    struct tg_loop *loop = bench->loop;
    struct tg_provider *provider = bench->provider;
    struct tg_device_set devices = bench->devices;
    struct test_folder folder = bench->folder;

    drop(bench);
    tg_loop_free(loop);
    tg_device_set_done(&devices);
    tg_provider_free(provider);
    test_folder_done(&folder);
    return 0;
}

static void settle(struct bench *bench)
{
    for (int i = 0; i < 20; i++)
        tg_loop_run_once(bench->loop, false);
}

static void start(struct bench *bench)
{
    bench->known = true;
    tg_publisher_set_served(bench->publisher);
    tg_publisher_set_node(bench->publisher, "node-uid", NULL);
    tg_publisher_set_devices(bench->publisher, &bench->devices, TG_SLICES_PLAIN);
    settle(bench);
}

static void nothing_is_written_before_devices_node_and_slices_are_known(void **state)
{
    struct bench *bench = *state;
    struct tg_error err = TG_ERROR_INIT;
    tg_publisher_set_served(bench->publisher);
    tg_publisher_set_devices(bench->publisher, &bench->devices, TG_SLICES_PLAIN);
    settle(bench);
    assert_int_equal(tg_publisher_status(bench->publisher, &err), -TG_UNAVAILABLE);
    tg_publisher_set_node(bench->publisher, "node-uid", NULL);
    settle(bench);
    assert_int_equal(bench->writes, 0);
    bench->known = true;
    tg_publisher_changed(bench->publisher);
    settle(bench);
    assert_int_equal(bench->writes, 1);
    assert_int_equal(tg_publisher_status(bench->publisher, NULL), 0);
}

/* A card came or went while its slices are being written: what is left of the plan points into
 * memory that is gone. */
static void devices_that_change_while_they_are_written_are_let_go_of(void **state)
{
    struct bench *bench = *state;
    struct tg_device_set other = {0};
    bench->known = true;
    tg_publisher_set_served(bench->publisher);
    tg_publisher_set_node(bench->publisher, "node-uid", NULL);
    tg_publisher_set_devices(bench->publisher, &bench->devices, TG_SLICES_PLAIN);
    while (bench->writes == 0)
        tg_loop_run_once(bench->loop, false);
    assert_int_equal(tg_provider_list(bench->provider, &other, NULL), 0);
    other.devices.n = 1;
    tg_publisher_set_devices(bench->publisher, &other, TG_SLICES_PLAIN);
    tg_device_set_done(&bench->devices);
    settle(bench);
    assert_int_equal(tg_publisher_status(bench->publisher, NULL), 0);
    assert_int_equal(bench->writes, 2);
    tg_publisher_free(TG_TAKE(bench->publisher));
    tg_device_set_done(&other);
}

static void nothing_is_published_before_the_kubelet_can_prepare_it(void **state)
{
    struct bench *bench = *state;
    struct tg_error err = TG_ERROR_INIT;
    bench->known = true;
    tg_publisher_set_node(bench->publisher, "node-uid", NULL);
    tg_publisher_set_devices(bench->publisher, &bench->devices, TG_SLICES_PLAIN);
    settle(bench);
    assert_int_equal(bench->writes, 0);
    assert_int_equal(tg_publisher_status(bench->publisher, &err), -TG_UNAVAILABLE);
    assert_non_null(strstr(err.message, "kubelet"));
    tg_publisher_set_served(bench->publisher);
    settle(bench);
    assert_int_equal(bench->writes, 1);
    assert_int_equal(tg_publisher_status(bench->publisher, NULL), 0);
}

static void what_an_earlier_process_published_is_withdrawn_without_the_kubelet(void **state)
{
    struct bench *bench = *state;
    start(bench);
    assert_non_null(find(bench, NULL));
    tg_publisher_free(bench->publisher);
    bench->publisher = tg_publisher_new(bench->loop, TEST_DRIVER, TEST_NODE, &bench->api);
    tg_publisher_set_node(bench->publisher, "node-uid", "the node offers 8 nvidia.com/gpu");
    tg_publisher_set_devices(bench->publisher, &bench->devices, TG_SLICES_PLAIN);
    settle(bench);
    assert_null(find(bench, NULL));
    tg_publisher_set_node(bench->publisher, "node-uid", NULL);
    settle(bench);
    assert_null(find(bench, NULL));
}

static void a_slice_belongs_to_the_node_and_holds_its_devices(void **state)
{
    struct bench *bench = *state;
    start(bench);
    const struct tg_resource_slice *slice = find(bench, NULL)->slice;
    assert_int_equal(slice->spec->devices.n, 2);
    assert_string_equal(slice->spec->driver, TEST_DRIVER);
    assert_string_equal(slice->spec->node_name, TEST_NODE);
    assert_string_equal(slice->spec->pool->name, TEST_NODE);
    assert_int_equal(slice->metadata->owner_references.n, 1);
    assert_string_equal(slice->metadata->owner_references.items[0].uid, "node-uid");
}

static void nothing_is_written_again_while_nothing_changes(void **state)
{
    struct bench *bench = *state;
    start(bench);
    int writes = bench->writes;
    tg_publisher_changed(bench->publisher);
    tg_publisher_set_node(bench->publisher, "node-uid", NULL);
    tg_publisher_set_devices(bench->publisher, &bench->devices, TG_SLICES_PLAIN);
    settle(bench);
    assert_int_equal(bench->writes, writes);
    assert_int_equal(tg_publisher_status(bench->publisher, NULL), 0);
}

static void slices_that_the_kubelet_wiped_come_back(void **state)
{
    struct bench *bench = *state;
    start(bench);
    find(bench, NULL)->slice = NULL;
    tg_publisher_changed(bench->publisher);
    settle(bench);
    assert_non_null(find(bench, NULL));
    assert_int_equal(find(bench, NULL)->slice->spec->devices.n, 2);
}

static void a_slice_that_somebody_edited_is_put_right(void **state)
{
    struct bench *bench = *state;
    start(bench);
    struct tg_resource_slice *slice = find(bench, NULL)->slice;
    slice->spec->devices.n = 1;
    slice->metadata->resource_version = "edited";
    tg_publisher_changed(bench->publisher);
    settle(bench);
    assert_int_equal(find(bench, NULL)->slice->spec->devices.n, 2);
}

static void a_conflict_is_tried_again_on_its_own(void **state)
{
    struct bench *bench = *state;
    struct tg_error err = TG_ERROR_INIT;
    bench->fail = TG_ABORTED;
    start(bench);
    assert_null(find(bench, NULL));
    assert_int_equal(tg_publisher_status(bench->publisher, &err), -TG_ABORTED);
    assert_non_null(strstr(err.message, "the table said so"));
    while (find(bench, NULL) == NULL)
        tg_loop_run_once(bench->loop, true);
    settle(bench);
    assert_int_equal(tg_publisher_status(bench->publisher, NULL), 0);
}

static void while_the_node_is_blocked_own_slices_are_removed_and_come_back_after(void **state)
{
    struct bench *bench = *state;
    struct tg_error err = TG_ERROR_INIT;
    start(bench);
    tg_publisher_set_node(bench->publisher, "node-uid", "the node offers 8 nvidia.com/gpu");
    settle(bench);
    assert_null(find(bench, NULL));
    assert_int_equal(tg_publisher_status(bench->publisher, &err), -TG_FAILED_PRECONDITION);
    assert_non_null(strstr(err.message, "nvidia.com/gpu"));
    tg_publisher_set_node(bench->publisher, "node-uid", NULL);
    while (find(bench, NULL) == NULL)
        tg_loop_run_once(bench->loop, true);
}

static void stale_slices_of_our_own_are_removed(void **state)
{
    struct bench *bench = *state;
    start(bench);
    struct tg_resource_slice old = *find(bench, NULL)->slice;
    struct tg_object_meta meta = *old.metadata;
    old.metadata = &meta;
    meta.name = "left-by-an-older-release";
    meta.uid = NULL;
    store(bench, &bench->stored[SLICES - 1], &old);
    tg_publisher_changed(bench->publisher);
    settle(bench);
    assert_null(find(bench, "left-by-an-older-release"));
    assert_non_null(find(bench, NULL));
}

static void a_new_node_object_of_the_same_name_becomes_the_owner(void **state)
{
    struct bench *bench = *state;
    start(bench);
    tg_publisher_set_node(bench->publisher, "another-uid", NULL);
    settle(bench);
    assert_string_equal(find(bench, NULL)->slice->metadata->owner_references.items[0].uid,
                        "another-uid");
}

static void a_server_that_does_not_keep_what_it_is_given_is_not_hammered(void **state)
{
    struct bench *bench = *state;
    bench->forgetful = true;
    start(bench);
    int64_t end = tg_now_monotonic(tg_clock_system()) + 500 * TG_MILLISECOND;
    while (tg_now_monotonic(tg_clock_system()) < end) {
        tg_publisher_changed(bench->publisher);
        tg_loop_run_once(bench->loop, true);
    }
    assert_in_range(bench->writes, 2, 4);
}

static void writes_that_wait_and_failures_are_measured(void **state)
{
    struct bench *bench = *state;
    struct tg_metrics *metrics = tg_metrics_new();

    tg_publisher_measure(bench->publisher, metrics);
    bench->metrics = metrics;
    bench->fail = TG_UNAVAILABLE;
    start(bench);
    assert_int_equal(bench->waiting, 1);
    assert_int_equal((int)metric_on_page(metrics, "tangram_plugin_slice_writes_waiting"), 0);
    assert_int_equal((int)metric_on_page(metrics, "tangram_plugin_publish_failures_total"), 1);
    tg_publisher_free(bench->publisher);
    bench->publisher = NULL;
    tg_metrics_free(metrics);
}

/* An older slice is there and has to be updated, another one is of no use any more: every kind of
 * write is in the plan but one, which the first publishing had. */
static void spoil(struct bench *bench)
{
    struct tg_object_meta meta = {.name = "left-by-an-older-release"};
    struct tg_resource_slice copy = *find(bench, NULL)->slice;

    find(bench, NULL)->slice->spec->devices.n = 1;
    copy.metadata = &meta;
    store(bench, &bench->stored[SLICES - 1], &copy);
}

/* Its nth allocation fails; true if it came. */
static bool publish_without_memory(struct bench *bench, size_t nth, bool again)
{
    struct tg_error err = TG_ERROR_INIT;
    bool came;

    if (again) {
        start(bench);
        spoil(bench);
    }
    failing_arena_start(nth);
    if (again)
        tg_publisher_changed(bench->publisher);
    else
        start(bench);
    settle(bench);
    came = failing_arena_stop();
    if (tg_publisher_status(bench->publisher, &err) != 0) {
        assert_true(came || again); /* after a deletion it waits a little and looks again */
        assert_true(err.code == TG_RESOURCE_EXHAUSTED || err.code == TG_UNAVAILABLE);
        assert_true(err.message[0] != '\0');
    }
    return came;
}

static void expect_published(struct bench *bench)
{
    const struct tg_resource_slice *slice;
    size_t n = 0;

    while (tg_publisher_status(bench->publisher, NULL) != 0)
        tg_loop_run_once(bench->loop, true);
    for (size_t i = 0; i < SLICES; i++)
        n += bench->stored[i].slice != NULL;
    assert_int_equal(n, 1);
    slice = find(bench, NULL)->slice;
    assert_int_equal(slice->spec->devices.n, bench->devices.devices.n);
}

static void publish_at_every_allocation(struct bench *first, bool again)
{
    TG_VEC(struct bench *) benches = {0};
    size_t failures = 0;
    bool came = true;

    for (size_t nth = 1; came; nth++) {
        struct bench *bench = add(first);

        *TG_VEC_PUSH(&benches) = bench;
        came = publish_without_memory(bench, nth, again);
        failures += tg_publisher_status(bench->publisher, NULL) == -TG_RESOURCE_EXHAUSTED;
    }
    assert_true(failures > 10);
    for (size_t i = 0; i < benches.n; i++) {
        expect_published(benches.items[i]);
        drop(benches.items[i]);
    }
    TG_VEC_DONE(&benches);
}

static void any_allocation_of_publishing_may_fail(void **state)
{
    publish_at_every_allocation(*state, false);
}

static void any_allocation_of_putting_slices_right_may_fail(void **state)
{
    publish_at_every_allocation(*state, true);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_written_before_devices_node_and_slices_are_known),
        TEST(devices_that_change_while_they_are_written_are_let_go_of),
        TEST(devices_that_change_while_they_are_written_are_let_go_of),
        TEST(nothing_is_published_before_the_kubelet_can_prepare_it),
        TEST(what_an_earlier_process_published_is_withdrawn_without_the_kubelet),
        TEST(a_slice_belongs_to_the_node_and_holds_its_devices),
        TEST(nothing_is_written_again_while_nothing_changes),
        TEST(slices_that_the_kubelet_wiped_come_back),
        TEST(a_slice_that_somebody_edited_is_put_right),
        TEST(a_conflict_is_tried_again_on_its_own),
        TEST(while_the_node_is_blocked_own_slices_are_removed_and_come_back_after),
        TEST(stale_slices_of_our_own_are_removed),
        TEST(a_new_node_object_of_the_same_name_becomes_the_owner),
        TEST(any_allocation_of_publishing_may_fail),
        TEST(any_allocation_of_putting_slices_right_may_fail),
        TEST(writes_that_wait_and_failures_are_measured),
        TEST(a_server_that_does_not_keep_what_it_is_given_is_not_hammered),
    };
    return cmocka_run_group_tests_name("publisher", tests, NULL, NULL);
}
