/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon as a whole, between an API server and a kubelet that the test plays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/kubelet/dra.h"
#include "api/kubelet/registration.h"
#include "api/runtime/rest/rest.h"
#include "kubelet-plugin/plugin.h"
#include "tests/support/promtool.h"
#include "tests/support/threads.h"
#include "tests/unit/plugin/api_server.h"
#include "tests/unit/plugin/folder.h"
#include "tests/unit/plugin/kubelet.h"

#define UID "00000000-0000-4000-8000-000000000001"
#define REQUEST "\x0a\x2f\x0a\x02ns\x12\x24" UID "\x1a\x03one"
#define SLICES "/apis/resource.k8s.io/v1/resourceslices"

struct bench {
    struct test_folder folder;
    char kubeconfig[96];
    char service[160];
    char registration[160];
    struct tg_plugin_options options;
    struct tg_loop *loop;
    struct api_server api;
    char *node;
    char *claim;
    struct tg_plugin *plugin;
    int stopped;
    struct tg_error error;
};

static void stopped(void *data, const struct tg_error *err)
{
    struct bench *bench = data;
    bench->stopped++;
    bench->error = err != NULL ? *err : TG_ERROR_INIT;
}

static int setup(void **state)
{
    struct bench *bench = tg_xcalloc(1, sizeof(*bench));
    test_folder_init(&bench->folder);
    bench->loop = tg_loop_new(false);
    api_server_init(&bench->api, bench->loop);
    bench->api.nodes = bench->node = api_node("node-uid", "5", "");
    snprintf(bench->kubeconfig, sizeof(bench->kubeconfig), "%s/kubeconfig", bench->folder.root);
    TG_AUTOFREE char *kubeconfig =
        tg_xasprintf("apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                     "clusters: [{name: c, cluster: {server: \"%s\"}}]\n"
                     "users: [{name: u, user: {}}]\n"
                     "contexts: [{name: c, context: {cluster: c, user: u}}]\n",
                     bench->api.http.url);
    test_folder_write(bench->kubeconfig, kubeconfig);
    snprintf(bench->service, sizeof(bench->service), "%s/dra.sock", bench->folder.plugin);
    snprintf(bench->registration, sizeof(bench->registration), "%s/" TEST_DRIVER "-reg.sock",
             bench->folder.registry);
    bench->options = (struct tg_plugin_options){
        .node_name = TEST_NODE,
        .kubeconfig = bench->kubeconfig,
        .provider = "sim",
        .inventory = bench->folder.inventory,
        .driver_name = TEST_DRIVER,
        .plugin_dir = bench->folder.plugin,
        .registry_dir = bench->folder.registry,
        .cdi_dir = bench->folder.cdi,
        .boot_id_file = bench->folder.boot_id,
        .health_addr = "",
        .conflicting_resources = "nvidia.com/gpu",
        .conflict_grace = TG_SECOND / 100,
        .logging_format = "text",
    };
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    tg_plugin_free(bench->plugin);
    api_server_done(&bench->api);
    tg_loop_free(bench->loop);
    free(bench->node);
    free(bench->claim);
    test_folder_done(&bench->folder);
    free(bench);
    return 0;
}

static void start(struct bench *bench)
{
    struct tg_error err = TG_ERROR_INIT;
    int rc = tg_plugin_new(bench->loop, &bench->options, stopped, bench, &bench->plugin, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(rc, 0);
}

static void wait_for(struct bench *bench, const char *method, const char *path, size_t count)
{
    while (api_count(&bench->api, method, path) < count)
        tg_loop_run_once(bench->loop, true);
}

static void wait_served(struct bench *bench)
{
    while (access(bench->registration, F_OK) != 0)
        tg_loop_run_once(bench->loop, true);
}

/* As the kubelet says that it has registered the driver. */
static void wait_registered(struct bench *bench)
{
    struct kubelet registrar;

    wait_served(bench);
    kubelet_init(&registrar, bench->loop, bench->registration);
    kubelet_call(&registrar, TG_KUBELET_GET_INFO, NULL, 0);
    kubelet_call(&registrar, TG_KUBELET_NOTIFY, "\x08\x01", 2);
    kubelet_done(&registrar);
}

static void wait_published(struct bench *bench)
{
    wait_registered(bench);
    wait_for(bench, "POST", SLICES, 1);
}

/* The claim of REQUEST, allocated the first device that was published. */
static void allocate(struct bench *bench)
{
    const char *slice = api_last(&bench->api, "POST", SLICES);
    const char *name = strstr(slice, "\"devices\":[{\"name\":\"");
    assert_non_null(name);
    name += 20;
    bench->api.claim = bench->claim = tg_xasprintf(
        "{\"metadata\":{\"name\":\"one\",\"namespace\":\"ns\",\"uid\":\"" UID
        "\"},\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":"
        "\"" TEST_DRIVER "\",\"pool\":\"" TEST_NODE "\",\"device\":\"%.*s\"}]}}}}",
        (int)strcspn(name, "\""), name);
}

static void a_claim_goes_from_slice_to_cdi_and_back(void **state)
{
    struct bench *bench = *state;
    struct kubelet registrar, kubelet;
    start(bench);
    wait_published(bench);
    allocate(bench);

    kubelet_init(&registrar, bench->loop, bench->registration);
    struct client_call *call = kubelet_call(&registrar, TG_KUBELET_GET_INFO, NULL, 0);
    assert_non_null(
        memmem(call->body.data, call->body.len, bench->service, strlen(bench->service)));
    kubelet_init(&kubelet, bench->loop, bench->service);
    call = kubelet_call(&kubelet, TG_KUBELET_DRA_V1_PREPARE, REQUEST, sizeof(REQUEST) - 1);
    assert_string_equal(call->grpc_status, "0");
    assert_non_null(memmem(call->body.data, call->body.len, "claim=" UID, 42));
    assert_int_equal(
        api_count(&bench->api, "GET", "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/one"),
        1);
    call = kubelet_call(&kubelet, TG_KUBELET_DRA_V1_UNPREPARE, REQUEST, sizeof(REQUEST) - 1);
    assert_string_equal(call->grpc_status, "0");
    kubelet_done(&kubelet);
    kubelet_done(&registrar);
}

static void no_device_can_be_allocated_that_the_kubelet_cannot_prepare(void **state)
{
    struct bench *bench = *state;
    start(bench);
    wait_served(bench);
    while (bench->api.slice_watch == NULL || bench->api.foreign_watch == NULL)
        tg_loop_run_once(bench->loop, true);
    for (int i = 0; i < 50; i++)
        tg_loop_run_once(bench->loop, false);
    assert_int_equal(api_count(&bench->api, "POST", SLICES), 0);
    wait_published(bench);
}

static void slices_that_the_kubelet_wipes_are_posted_again(void **state)
{
    struct bench *bench = *state;
    start(bench);
    wait_published(bench);
    while (bench->api.slice_watch == NULL)
        tg_loop_run_once(bench->loop, true);
    TG_AUTOFREE char *slice = api_stored(api_last(&bench->api, "POST", SLICES));
    api_push(bench->api.slice_watch, "DELETED", slice);
    wait_for(bench, "POST", SLICES, 2);
}

static void stopping_removes_the_sockets_and_leaves_the_slices(void **state)
{
    struct bench *bench = *state;
    start(bench);
    wait_published(bench);
    tg_plugin_stop(bench->plugin);
    assert_int_equal(access(bench->registration, F_OK), -1);
    assert_int_equal(access(bench->service, F_OK), 0);
    while (bench->stopped == 0)
        tg_loop_run_once(bench->loop, true);
    assert_int_equal(bench->error.code, TG_OK);
    tg_plugin_free(TG_TAKE(bench->plugin));
    assert_int_equal(access(bench->service, F_OK), -1);
    assert_int_equal(api_count(&bench->api, "DELETE", ""), 0);
}

static void stopping_waits_for_calls_and_the_second_time_it_does_not(void **state)
{
    struct bench *bench = *state;
    struct kubelet kubelet;
    start(bench);
    wait_served(bench);
    bench->api.hold = true;
    kubelet_init(&kubelet, bench->loop, bench->service);
    kubelet_start(&kubelet, TG_KUBELET_DRA_V1_PREPARE, REQUEST, sizeof(REQUEST) - 1);
    while (api_count(&bench->api, "GET", "/resourceclaims/one") == 0)
        kubelet_exchange(&kubelet);
    tg_plugin_stop(bench->plugin);
    kubelet_exchange(&kubelet);
    assert_int_equal(bench->stopped, 0);
    int64_t before = tg_now_monotonic(tg_clock_system());
    tg_plugin_stop(bench->plugin);
    while (bench->stopped == 0)
        tg_loop_run_once(bench->loop, true);
    assert_true(tg_now_monotonic(tg_clock_system()) - before < 5 * TG_SECOND);
    kubelet_done(&kubelet);
}

static void a_node_that_offers_the_cards_otherwise_gets_an_event_and_no_slices(void **state)
{
    struct bench *bench = *state;
    free(bench->node);
    bench->api.nodes = bench->node = api_node("node-uid", "5", "8");
    start(bench);
    wait_registered(bench);
    wait_for(bench, "POST", "/events", 1);
    assert_non_null(strstr(api_last(&bench->api, "POST", "/events"), "DevicesNotPublished"));
    assert_int_equal(api_count(&bench->api, "POST", SLICES), 0);
}

/* Waits until the slice was deleted so often. */
static void answer_deletions(struct bench *bench, size_t count)
{
    wait_for(bench, "DELETE", SLICES, count);
    TG_AUTOFREE char *slice = api_stored(api_last(&bench->api, "POST", SLICES));
    api_push(bench->api.slice_watch, "DELETED", slice);
}

static void a_card_that_another_driver_publishes_is_withdrawn_until_that_has_ended(void **state)
{
    struct bench *bench = *state;
    char uuid[64];
    start(bench);
    wait_published(bench);
    const char *at = strstr(api_last(&bench->api, "POST", SLICES), "GPU-");
    assert_non_null(at);
    snprintf(uuid, sizeof(uuid), "%.40s", at);
    while (bench->api.foreign_watch == NULL || bench->api.slice_watch == NULL)
        tg_loop_run_once(bench->loop, true);

    TG_AUTOFREE char *foreign = api_foreign_slice("30", "uuid", uuid);
    api_push(bench->api.foreign_watch, "ADDED", foreign);
    answer_deletions(bench, 1);
    wait_for(bench, "POST", "/events", 1);
    const char *event = api_last(&bench->api, "POST", "/events");
    assert_non_null(strstr(event, "DevicesNotPublished"));
    assert_non_null(strstr(event, "driver other.example.com publishes our card"));
    assert_non_null(strstr(event, "node-uid"));

    TG_AUTOFREE char *gone = api_foreign_slice("31", "uuid", uuid);
    api_push(bench->api.foreign_watch, "DELETED", gone);
    wait_for(bench, "POST", SLICES, 2);
}

static void a_card_of_another_driver_is_never_published(void **state)
{
    struct bench *bench = *state;
    TG_AUTOFREE char *foreign =
        api_foreign_slice("5", "resource.kubernetes.io/pciBusID", "0000:12:00.0");
    bench->api.foreign = foreign;
    start(bench);
    wait_registered(bench);
    wait_for(bench, "POST", "/events", 1);
    assert_non_null(strstr(api_last(&bench->api, "POST", "/events"), "0000:12:00.0"));
    assert_int_equal(api_count(&bench->api, "POST", SLICES), 0);
}

static void an_inventory_that_is_wrong_ends_the_program_with_the_reason(void **state)
{
    struct bench *bench = *state;
    test_folder_write(bench->folder.inventory, "kind: Nonsense\n");
    start(bench);
    while (bench->stopped == 0)
        tg_loop_run_once(bench->loop, true);
    assert_int_equal(bench->error.code, TG_INVALID_ARGUMENT);
    assert_non_null(strstr(bench->error.message, "inventory.yaml"));
    assert_int_equal(access(bench->registration, F_OK), -1);
}

static void a_kubeconfig_that_is_not_there_is_told_at_once(void **state)
{
    struct bench *bench = *state;
    struct tg_error err = TG_ERROR_INIT;
    bench->options.kubeconfig = "/no/such/kubeconfig";
    assert_int_equal(
        tg_plugin_new(bench->loop, &bench->options, stopped, bench, &bench->plugin, &err),
        -TG_NOT_FOUND);
    assert_non_null(strstr(err.message, "/no/such/kubeconfig"));
}

static void on_page(void *data, const struct tg_rest_response *response, const struct tg_error *err)
{
    char **page = data;

    assert_int_equal(err->code, TG_OK);
    assert_int_equal(response->status, 200);
    *page = tg_xstrdup(response->body);
}

static void what_it_does_can_be_read_from_its_health_server(void **state)
{
    struct bench *bench = *state;
    char url[64];
    const struct tg_rest_config config = {.base_url = url};
    TG_AUTOFREE char *page = NULL;
    const struct tg_rest_call call = {
        .path = "/metrics", .accept = "text/plain", .done = on_page, .data = &page};
    static const char *const lines[] = {
        "tangram_build_info{program=\"tangram-kubelet-plugin\",",
        "\nprocess_open_fds ",
        "\nrest_client_requests_total{code=\"201\",method=\"POST\"} 1\n",
        "\ntangram_client_requests_in_flight{client=\"main\"} ",
        "\ntangram_informer_synced{informer=\"resourceslices\"} 1\n",
        "\ntangram_informer_synced{informer=\"foreign-resourceslices\"} 1\n",
        "\ntangram_plugin_claims_in_flight{operation=\"prepare\"} 0\n",
        "\ntangram_plugin_claims_waiting 0\n",
        "\ntangram_plugin_device_jobs 0\n",
        "\ntangram_plugin_device_job_seconds 0\n",
        "\ntangram_plugin_slice_writes_waiting 0\n",
        "\ntangram_plugin_publish_failures_total 0\n",
        "dra.sock\"} 0\n", /* connections to it */
        "-reg.sock\"} 0\n",
        "\ntangram_plugin_devices ",
        "\ntangram_plugin_registered 1\n",
        "\ntangram_events_dropped_total 0\n",
    };
    struct tg_rest *rest;

    bench->options.health_addr = "127.0.0.1:0";
    start(bench);
    wait_published(bench);
    for (int i = 0; i < 50; i++)
        tg_loop_run_once(bench->loop, false);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", tg_plugin_health_port(bench->plugin));
    rest = tg_rest_new(bench->loop, &config, NULL);
    tg_rest_send(rest, &call);
    while (page == NULL)
        tg_loop_run_once(bench->loop, true);
    tg_rest_free(rest);
    for (size_t i = 0; i < TG_ARRAY_SIZE(lines); i++) {
        if (strstr(page, lines[i]) == NULL)
            fail_msg("not found: %s\n%s", lines[i], page);
    }
    assert_true(promtool_accepts(TEST_SOURCE_DIR, page));
    assert_true(metrics_are_documented(TEST_SOURCE_DIR, page));
}

static void beside_the_loop_there_is_one_thread_and_that_is_for_the_devices(void **state)
{
    struct bench *bench = *state;
    size_t before = threads_of_process();

    bench->options.health_addr = "127.0.0.1:0";
    start(bench);
    wait_published(bench);
    assert_int_equal(threads_of_process(), before + 1);
    tg_plugin_free(bench->plugin);
    bench->plugin = NULL;
    assert_int_equal(threads_of_process(), before);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_claim_goes_from_slice_to_cdi_and_back),
        TEST(no_device_can_be_allocated_that_the_kubelet_cannot_prepare),
        TEST(what_it_does_can_be_read_from_its_health_server),
        TEST(beside_the_loop_there_is_one_thread_and_that_is_for_the_devices),
        TEST(slices_that_the_kubelet_wipes_are_posted_again),
        TEST(stopping_removes_the_sockets_and_leaves_the_slices),
        TEST(stopping_waits_for_calls_and_the_second_time_it_does_not),
        TEST(a_node_that_offers_the_cards_otherwise_gets_an_event_and_no_slices),
        TEST(a_card_that_another_driver_publishes_is_withdrawn_until_that_has_ended),
        TEST(a_card_of_another_driver_is_never_published),
        TEST(an_inventory_that_is_wrong_ends_the_program_with_the_reason),
        TEST(a_kubeconfig_that_is_not_there_is_told_at_once),
    };
    return cmocka_run_group_tests_name("plugin", tests, NULL, NULL);
}
