/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kubelet-plugin/slice_api.h"
#include "tests/unit/plugin/api_server.h"

#define OLD                                                                                        \
    "{\"metadata\":{\"name\":\"old\",\"uid\":\"slice-old\",\"resourceVersion\":\"7\"},"            \
    "\"spec\":{\"driver\":\"d\",\"nodeName\":\"node-a\",\"pool\":{\"name\":\"node-a\","            \
    "\"generation\":1,\"resourceSliceCount\":1}}}"

struct bench {
    struct tg_loop *loop;
    struct api_server api;
    struct tg_slice_api *slices;
    int changed, lost;
    int done;
    struct tg_error error;
};

static void lost(void *data)
{
    struct bench *bench = data;
    bench->lost++;
}

static void changed(void *data)
{
    struct bench *bench = data;
    bench->changed++;
}

static void done(void *data, const struct tg_error *err)
{
    struct bench *bench = data;
    bench->done++;
    bench->error = err != NULL ? *err : TG_ERROR_INIT;
}

static size_t observed(struct bench *bench, const struct tg_resource_slice **first)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    const struct tg_publisher_api *api = tg_slice_api_publisher(bench->slices);
    const struct tg_resource_slice **items;
    size_t n;
    assert_int_equal(api->observe(api->data, arena, &items, &n, NULL), 0);
    *first = n > 0 ? items[0] : NULL;
    return n;
}

static int setup(void **state)
{
    struct bench *bench = tg_xcalloc(1, sizeof(*bench));
    bench->loop = tg_loop_new(false);
    api_server_init(&bench->api, bench->loop);
    bench->api.slices = OLD;
    bench->slices = tg_slice_api_new(bench->api.client, "d", "node-a", changed, lost, bench);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    tg_slice_api_free(bench->slices);
    api_server_done(&bench->api);
    tg_loop_free(bench->loop);
    free(bench);
    return 0;
}

static void wait_synced(struct bench *bench)
{
    while (bench->api.slice_watch == NULL)
        tg_loop_run_once(bench->loop, true);
}

static void execute(struct bench *bench, enum tg_inventory_action action, const char *name)
{
    struct tg_object_meta meta = {.name = name};
    struct tg_resource_pool pool = {
        .name = "node-a", .generation = {true, 2}, .resource_slice_count = {true, 1}};
    struct tg_resource_slice_spec spec = {.driver = "d", .pool = &pool, .node_name = "node-a"};
    const struct tg_resource_slice slice = {&meta, &spec};
    const struct tg_inventory_operation operation = {action, &slice, "test"};
    const struct tg_publisher_api *api = tg_slice_api_publisher(bench->slices);

    if (action != TG_INVENTORY_CREATE) {
        meta.uid = "slice-old";
        meta.resource_version = "7";
    }
    bench->done = 0;
    api->execute(api->data, &operation, done, bench);
    assert_int_equal(bench->done, 0);
    while (bench->done == 0)
        tg_loop_run_once(bench->loop, true);
}

static void slices_are_unknown_until_the_list_is_complete(void **state)
{
    struct bench *bench = *state;
    const struct tg_publisher_api *api = tg_slice_api_publisher(bench->slices);
    const struct tg_resource_slice **items;
    const struct tg_resource_slice *first;
    size_t n;
    assert_int_equal(api->observe(api->data, NULL, &items, &n, NULL), TG_PUBLISHER_WAIT);
    wait_synced(bench);
    assert_true(bench->changed > 0);
    assert_int_equal(observed(bench, &first), 1);
    assert_string_equal(first->metadata->name, "old");
}

static void slices_that_find_no_memory_are_not_taken_for_slices_that_are_not_known(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct bench *bench = *state;
    const struct tg_publisher_api *api = tg_slice_api_publisher(bench->slices);
    const struct tg_resource_slice **items;
    struct tg_error err = TG_ERROR_INIT;
    size_t n;

    wait_synced(bench);
    tg_arena_fail_after(arena, 1);
    assert_int_equal(api->observe(api->data, arena, &items, &n, &err), -TG_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(err.message, "memory"));
}

static void what_is_created_is_observed_without_waiting_for_the_watch(void **state)
{
    struct bench *bench = *state;
    const struct tg_resource_slice *first;
    wait_synced(bench);
    execute(bench, TG_INVENTORY_CREATE, "new");
    assert_int_equal(bench->error.code, TG_OK);
    assert_int_equal(api_count(&bench->api, "POST", "/apis/resource.k8s.io/v1/resourceslices"), 1);
    assert_int_equal(observed(bench, &first), 2);
}

static void an_update_replaces_the_slice_that_was_seen(void **state)
{
    struct bench *bench = *state;
    const struct tg_resource_slice *first;
    wait_synced(bench);
    execute(bench, TG_INVENTORY_UPDATE, "old");
    assert_int_equal(bench->error.code, TG_OK);
    const char *body = api_last(&bench->api, "PUT", "/resourceslices/old");
    assert_non_null(strstr(body, "\"resourceVersion\":\"7\""));
    assert_int_equal(observed(bench, &first), 1);
    assert_int_equal(first->spec->pool->generation.value, 2);
}

static void a_deletion_carries_its_preconditions(void **state)
{
    struct bench *bench = *state;
    wait_synced(bench);
    execute(bench, TG_INVENTORY_DELETE, "old");
    assert_int_equal(bench->error.code, TG_OK);
    const char *body = api_last(&bench->api, "DELETE", "/resourceslices/old");
    assert_non_null(
        strstr(body, "\"preconditions\":{\"uid\":\"slice-old\",\"resourceVersion\":\"7\"}"));
}

static void a_refusal_is_told(void **state)
{
    struct bench *bench = *state;
    wait_synced(bench);
    bench->api.fail = 409;
    execute(bench, TG_INVENTORY_UPDATE, "old");
    assert_int_equal(bench->error.code, TG_ABORTED);
}

static void deletions_by_others_are_told(void **state)
{
    struct bench *bench = *state;
    const struct tg_resource_slice *first;
    wait_synced(bench);
    int before = bench->changed;
    api_push(bench->api.slice_watch, "DELETED", OLD);
    while (bench->changed == before)
        tg_loop_run_once(bench->loop, true);
    assert_int_equal(observed(bench, &first), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(slices_are_unknown_until_the_list_is_complete),
        TEST(slices_that_find_no_memory_are_not_taken_for_slices_that_are_not_known),
        TEST(what_is_created_is_observed_without_waiting_for_the_watch),
        TEST(an_update_replaces_the_slice_that_was_seen),
        TEST(a_deletion_carries_its_preconditions),
        TEST(a_refusal_is_told),
        TEST(deletions_by_others_are_told),
    };
    return cmocka_run_group_tests_name("slice_api", tests, NULL, NULL);
}
