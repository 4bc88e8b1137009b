/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kubelet-plugin/node_watch.h"
#include "tests/unit/plugin/api_server.h"

#define LIST "nvidia.com/gpu,nvidia.com/mig-*"

static bool conflict(const char *resource, const char *value, const char *list, struct tg_buf *why)
{
    struct tg_string_pair pairs[] = {{"cpu", "64"}, {resource, value}};
    struct tg_node_status status = {.allocatable = {pairs, 2}};
    const struct tg_node node = {.status = &status};
    return tg_node_conflict(&node, list, why);
}

static void resources_of_the_same_cards_are_a_conflict(void **state)
{
    TG_AUTOBUF struct tg_buf why = TG_BUF_INIT(1000);
    (void)state;
    assert_true(conflict("nvidia.com/gpu", "8", LIST, &why));
    assert_non_null(strstr(tg_buf_str(&why), "8 nvidia.com/gpu"));
    assert_true(conflict("nvidia.com/mig-1g.10gb", "1", LIST, &why));
    assert_true(conflict("example.com/x", "1", "a,example.com/x", &why));
}

static void other_or_exhausted_resources_are_none(void **state)
{
    TG_AUTOBUF struct tg_buf why = TG_BUF_INIT(1000);
    const struct tg_node bare = {0};
    (void)state;
    assert_false(conflict("nvidia.com/gpu", "0", LIST, &why));
    assert_false(conflict("nvidia.com/gpu.shared", "8", LIST, &why));
    assert_false(conflict("amd.com/gpu", "8", LIST, &why));
    assert_false(conflict("nvidia.com/gpu", "8", "", &why));
    assert_false(conflict("nvidia.com/gpu", "8", ",,", &why));
    assert_false(tg_node_conflict(&bare, LIST, &why));
    assert_int_equal(why.len, 0);
}

struct bench {
    struct tg_loop *loop;
    struct api_server api;
    struct tg_node_watch *watch;
    char *node;
    int told;
    char uid[32];
    char blocked[200];
};

static void changed(void *data, const struct tg_object_meta *node, const char *blocked)
{
    struct bench *bench = data;
    bench->told++;
    snprintf(bench->uid, sizeof(bench->uid), "%s", node == NULL ? "" : node->uid);
    snprintf(bench->blocked, sizeof(bench->blocked), "%s", tg_or(blocked, ""));
}

static int setup(void **state)
{
    struct bench *bench = tg_xcalloc(1, sizeof(*bench));
    bench->loop = tg_loop_new(false);
    api_server_init(&bench->api, bench->loop);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    tg_node_watch_free(bench->watch);
    api_server_done(&bench->api);
    tg_loop_free(bench->loop);
    free(bench->node);
    free(bench);
    return 0;
}

/* Waits until the owner was told so often, and the watch is open. */
static void wait_told(struct bench *bench, int told)
{
    while (bench->told < told || bench->api.node_watch == NULL)
        tg_loop_run_once(bench->loop, true);
}

static void start(struct bench *bench)
{
    const struct tg_node_watch_config config = {
        .node_name = "node-a", .conflicting_resources = LIST, .changed = changed, .data = bench};
    bench->watch = tg_node_watch_new(bench->api.client, &config);
    wait_told(bench, 1);
}

static void push(struct bench *bench, const char *type, const char *uid, const char *version,
                 const char *gpus)
{
    TG_AUTOFREE char *node = api_node(uid, version, gpus);
    api_push(bench->api.node_watch, type, node);
}

static void uid_and_conflicts_are_told_when_they_change_and_only_then(void **state)
{
    struct bench *bench = *state;
    bench->api.nodes = bench->node = api_node("uid-1", "5", "");
    start(bench);
    assert_string_equal(bench->uid, "uid-1");
    assert_string_equal(bench->blocked, "");
    push(bench, "MODIFIED", "uid-1", "11", ""); /* a heartbeat */
    push(bench, "MODIFIED", "uid-1", "12", "8");
    wait_told(bench, 2);
    assert_int_equal(bench->told, 2);
    assert_non_null(strstr(bench->blocked, "8 nvidia.com/gpu"));
    push(bench, "MODIFIED", "uid-1", "13", "0");
    wait_told(bench, 3);
    assert_string_equal(bench->blocked, "");
    push(bench, "DELETED", "uid-1", "14", "0");
    wait_told(bench, 4);
    assert_string_equal(bench->uid, "");
    push(bench, "ADDED", "uid-2", "15", "");
    wait_told(bench, 5);
    assert_string_equal(bench->uid, "uid-2");
}

static void a_node_that_does_not_exist_yet_is_told_as_absent(void **state)
{
    struct bench *bench = *state;
    start(bench);
    assert_string_equal(bench->uid, "");
    push(bench, "ADDED", "uid-1", "11", "");
    wait_told(bench, 2);
    assert_string_equal(bench->uid, "uid-1");
}

static void a_node_that_cannot_be_read_is_told_as_absent_until_it_can(void **state)
{
    struct bench *bench = *state;
    start(bench);
    api_push(bench->api.node_watch, "ADDED",
             "{\"metadata\":{\"name\":\"node-a\",\"uid\":\"uid-1\",\"resourceVersion\":\"11\"},"
             "\"status\":\"odd\"}");
    push(bench, "MODIFIED", "uid-1", "12", "8");
    wait_told(bench, 2);
    assert_int_equal(bench->told, 2); /* not of what could not be read */
    assert_string_equal(bench->uid, "uid-1");
    assert_non_null(strstr(bench->blocked, "8 nvidia.com/gpu"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resources_of_the_same_cards_are_a_conflict),
        cmocka_unit_test(other_or_exhausted_resources_are_none),
        TEST(uid_and_conflicts_are_told_when_they_change_and_only_then),
        TEST(a_node_that_does_not_exist_yet_is_told_as_absent),
        TEST(a_node_that_cannot_be_read_is_told_as_absent_until_it_can),
    };
    return cmocka_run_group_tests_name("node_watch", tests, NULL, NULL);
}
