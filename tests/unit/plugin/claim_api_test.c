/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kubelet-plugin/claim_api.h"
#include "tests/unit/plugin/api_server.h"

struct bench {
    struct tg_loop *loop;
    struct api_server api;
    struct tg_claim_source source;
    int done;
    char json[64];
    enum tg_code code;
};

static void done(void *data, const char *json, size_t n, const struct tg_error *err)
{
    struct bench *bench = data;
    bench->done++;
    bench->code = err != NULL ? err->code : TG_OK;
    snprintf(bench->json, sizeof(bench->json), "%.*s", (int)n, json);
}

static int setup(void **state)
{
    struct bench *bench = tg_xcalloc(1, sizeof(*bench));
    bench->loop = tg_loop_new(false);
    api_server_init(&bench->api, bench->loop);
    bench->source = tg_claim_api_source(bench->api.client);
    *state = bench;
    return 0;
}

static int teardown(void **state)
{
    struct bench *bench = *state;
    api_server_done(&bench->api);
    tg_loop_free(bench->loop);
    free(bench);
    return 0;
}

static void read_claim(struct bench *bench)
{
    bench->source.get(bench->source.data, "ns", "one", done, bench);
    assert_int_equal(bench->done, 0);
    while (bench->done == 0)
        tg_loop_run_once(bench->loop, true);
}

static void a_claim_is_read_by_namespace_and_name(void **state)
{
    struct bench *bench = *state;
    bench->api.claim = "{\"metadata\":{}}";
    read_claim(bench);
    assert_int_equal(bench->code, TG_OK);
    assert_string_equal(bench->json, "{\"metadata\":{}}");
    assert_int_equal(
        api_count(&bench->api, "GET", "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/one"),
        1);
}

static void a_claim_that_is_gone_is_not_found(void **state)
{
    struct bench *bench = *state;
    read_claim(bench);
    assert_int_equal(bench->code, TG_NOT_FOUND);
}

static void a_cancelled_read_is_never_answered(void **state)
{
    struct bench *bench = *state;
    bench->api.claim = "{}";
    void *handle = bench->source.get(bench->source.data, "ns", "one", done, bench);
    bench->source.cancel(bench->source.data, handle);
    bench->source.get(bench->source.data, "ns", "two", done, bench);
    while (bench->done == 0)
        tg_loop_run_once(bench->loop, true);
    assert_int_equal(bench->done, 1);
    assert_int_equal(api_count(&bench->api, "GET", "/resourceclaims/two"), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_claim_is_read_by_namespace_and_name),
        TEST(a_claim_that_is_gone_is_not_found),
        TEST(a_cancelled_read_is_never_answered),
    };
    return cmocka_run_group_tests_name("claim_api", tests, NULL, NULL);
}
