/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/base/buf.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "api/runtime/json/encode.h"
#include "api/tangram/plan.h"

#define CLAIM                                                                                      \
    "{\"name\":\"c\",\"uid\":\"u1\",\"results\":[{\"request\":\"gpus\",\"devices\":[\"gpu-0\"]}]}"

static struct tg_plan *decode(struct tg_arena *arena, const char *json)
{
    struct tg_error err = TG_ERROR_INIT;
    void *plan = NULL;
    if (tg_json_decode_new(&tg_plan_type, json, strlen(json), arena, &plan, &err) < 0)
        fail_msg("%s: %s", json, err.message);
    return plan;
}

static void driver_and_pool_stand_only_where_they_differ(void **state)
{
    (void)state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
    struct tg_plan *plan = decode(
        arena,
        "{\"epoch\":1,\"allocationTimestamp\":\"2026-01-01T00:00:00Z\",\"driver\":\"d\","
        "\"members\":["
        "{\"pod\":\"p\",\"uid\":\"u\",\"node\":\"n\",\"claims\":[{\"name\":\"c\",\"uid\":\"u1\","
        "\"results\":[{\"request\":\"a\",\"devices\":[\"x\"]},{\"request\":\"b\",\"devices\":["
        "\"y\"],"
        "\"driver\":\"e\",\"pool\":\"q\"}]}]}]}");
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(tg_plan_validate(plan, &err), 0);
    const struct tg_plan_member *member = &plan->members.items[0];
    const struct tg_plan_result *results = member->claims.items[0].results.items;
    assert_string_equal(tg_plan_result_driver(plan, &results[0]), "d");
    assert_string_equal(tg_plan_result_pool(member, &results[0]), "n");
    assert_string_equal(tg_plan_result_driver(plan, &results[1]), "e");
    assert_string_equal(tg_plan_result_pool(member, &results[1]), "q");
    const struct tg_plan_result pool_only = {.pool = "q"};
    assert_string_equal(tg_plan_result_driver(plan, &pool_only), "d");
    assert_string_equal(tg_plan_result_pool(member, &pool_only), "q");
}

static void a_shrunken_plan_is_valid(void **state)
{
    (void)state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(
        tg_plan_validate(
            decode(arena,
                   "{\"epoch\":1,\"members\":[{\"pod\":\"p\",\"uid\":\"u\",\"node\":\"n\"}]}"),
            &err),
        0);
}

static void an_incomplete_plan_is_data_loss_that_names_the_field(void **state)
{
    (void)state;
    static const struct {
        const char *json, *named;
    } cases[] = {
        {"{}", "epoch"},
        {"{\"epoch\":-1,\"members\":[]}", "epoch"},
        {"{\"epoch\":1}", "members"},
        {"{\"epoch\":1,\"members\":[{\"uid\":\"u\",\"node\":\"n\"}]}", "members[0].pod"},
        {"{\"epoch\":1,\"members\":[{\"pod\":\"p\",\"node\":\"n\"}]}", "members[0].uid"},
        {"{\"epoch\":1,\"members\":[{\"pod\":\"p\",\"uid\":\"u\"}]}", "members[0].node"},
        {"{\"epoch\":1,\"members\":[{\"pod\":\"p\",\"uid\":\"u\",\"node\":\"\"}]}",
         "members[0].node"},
        {"{\"epoch\":1,\"driver\":\"d\",\"members\":[{\"pod\":\"p\",\"uid\":\"u\",\"node\":\"n\","
         "\"claims\":[" CLAIM "]}]}",
         "allocationTimestamp"},
        {"{\"epoch\":1,\"allocationTimestamp\":\"t\",\"members\":[{\"pod\":\"p\",\"uid\":\"u\","
         "\"node\":\"n\","
         "\"claims\":[" CLAIM "]}]}",
         "driver"},
        {"{\"epoch\":1,\"driver\":\"d\",\"allocationTimestamp\":\"t\",\"members\":[{\"pod\":\"p\","
         "\"uid\":\"u\","
         "\"node\":\"n\",\"claims\":[{\"uid\":\"u\"}]}]}",
         "claims[0].name"},
        {"{\"epoch\":1,\"driver\":\"d\",\"allocationTimestamp\":\"t\",\"members\":[{\"pod\":\"p\","
         "\"uid\":\"u\","
         "\"node\":\"n\",\"claims\":[{\"name\":\"c\"}]}]}",
         "claims[0].uid"},
        {"{\"epoch\":1,\"driver\":\"d\",\"allocationTimestamp\":\"t\",\"members\":[{\"pod\":\"p\","
         "\"uid\":\"u\","
         "\"node\":\"n\",\"claims\":[{\"name\":\"c\",\"uid\":\"u\"}]}]}",
         "results"},
        {"{\"epoch\":1,\"driver\":\"d\",\"allocationTimestamp\":\"t\",\"members\":[{\"pod\":\"p\","
         "\"uid\":\"u\","
         "\"node\":\"n\",\"claims\":[{\"name\":\"c\",\"uid\":\"u\",\"results\":[{\"devices\":["
         "\"x\"]}]}]}]}",
         "request"},
        {"{\"epoch\":1,\"driver\":\"d\",\"allocationTimestamp\":\"t\",\"members\":[{\"pod\":\"p\","
         "\"uid\":\"u\","
         "\"node\":\"n\",\"claims\":[{\"name\":\"c\",\"uid\":\"u\",\"results\":[{\"request\":\"r\"}"
         "]}]}]}",
         "devices"},
        {"{\"epoch\":1,\"classes\":[{\"name\":\"c\"}],\"members\":[{\"pod\":\"p\",\"uid\":\"u\","
         "\"node\":\"n\"}]}",
         "classes[0]"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
        struct tg_error err = TG_ERROR_INIT;
        if (tg_plan_validate(decode(arena, cases[i].json), &err) != -TG_DATA_LOSS)
            fail_msg("accepted: %s", cases[i].json);
        if (strstr(err.message, cases[i].named) == NULL)
            fail_msg("\"%s\" does not name %s", err.message, cases[i].named);
    }
}

static void class_configuration_is_kept_byte_for_byte(void **state)
{
    (void)state;
    const char *json =
        "{\"epoch\":1,\"classes\":[{\"name\":\"c\",\"config\":[{\"opaque\":{\"driver\":\"d\","
        "\"parameters\":{ \"a\" : 1 }}}]}],\"members\":[{\"pod\":\"p\",\"uid\":\"u\",\"node\":"
        "\"n\"}]}";
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(1 << 16);
    struct tg_error err = TG_ERROR_INIT;
    struct tg_plan *plan = decode(arena, json);
    assert_int_equal(tg_plan_validate(plan, &err), 0);
    assert_int_equal(tg_json_encode(&tg_plan_type, plan, &buf, &err), 0);
    assert_string_equal(tg_buf_str(&buf), json);
}

/* 2048 members with 8 devices each, names as long as in real clusters. */
static void the_largest_plan_fits_into_one_object(void **state)
{
    (void)state;
    enum { ETCD_LIMIT = 1536 * 1024 };
    static struct tg_plan_member members[TG_GANG_MAX_MEMBERS];
    const char *devices[8];
    for (size_t i = 0; i < 8; i++)
        devices[i] = "gpu-0123456789ab";
    struct tg_plan_result result = {.request = "gpus"};
    result.devices.items = devices;
    result.devices.n = 8;
    struct tg_plan_claim claim = {.name = "llama-70b-training-run-worker-1234-gpus-x7k2p",
                                  .uid = "0b9b8c2e-8f5c-4a35-9d8e-2f1c1f6f3a10"};
    claim.results.items = &result;
    claim.results.n = 1;
    for (size_t i = 0; i < TG_GANG_MAX_MEMBERS; i++) {
        members[i] = (struct tg_plan_member){.pod = "llama-70b-training-run-worker-1234",
                                             .uid = "0b9b8c2e-8f5c-4a35-9d8e-2f1c1f6f3a10",
                                             .node = "gpu-node-eu-west-1a-1234.example.com"};
        members[i].claims.items = &claim;
        members[i].claims.n = 1;
    }
    struct tg_plan plan = {.epoch = {.set = true, .value = 1},
                           .allocation_timestamp = "2026-01-01T00:00:00Z",
                           .driver = "gpu.tangram.dev"};
    plan.members.items = members;
    plan.members.n = TG_GANG_MAX_MEMBERS;
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(ETCD_LIMIT);
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(tg_plan_validate(&plan, &err), 0);
    assert_int_equal(tg_json_encode(&tg_plan_type, &plan, &buf, &err), 0);
}

static void share_ids_are_uuids_that_differ_by_claim_index_and_plan(void **state)
{
    (void)state;
    struct tg_plan plan = {.epoch = {.set = true, .value = 7},
                           .allocation_timestamp = "2026-01-01T00:00:00Z"};
    struct tg_plan_claim claim = {.uid = "a"};
    char first[TG_PLAN_SHARE_ID], other[TG_PLAN_SHARE_ID];
    tg_plan_share_id(&plan, &claim, 0, first);
    tg_plan_share_id(&plan, &claim, 0, other);
    assert_string_equal(first, other);
    assert_int_equal(strlen(first), 36);
    for (size_t i = 0; i < 36; i++)
        assert_non_null(
            strchr(i == 8 || i == 13 || i == 18 || i == 23 ? "-" : "0123456789abcdef", first[i]));
    assert_int_equal(first[14], '8');
    assert_non_null(strchr("89ab", first[19]));
    tg_plan_share_id(&plan, &claim, 1, other);
    assert_string_not_equal(first, other);
    claim.uid = "b";
    tg_plan_share_id(&plan, &claim, 0, other);
    assert_string_not_equal(first, other);
    claim.uid = "a";
    plan.epoch.value = 8;
    tg_plan_share_id(&plan, &claim, 0, other);
    assert_string_not_equal(first, other);
    plan.epoch.value = 7;
    plan.allocation_timestamp = "2026-01-01T00:00:01Z";
    tg_plan_share_id(&plan, &claim, 0, other);
    assert_string_not_equal(first, other);
}

static void what_results_copy_comes_back_as_it_was(void **state)
{
    (void)state;
    static const char json[] =
        "{\"epoch\":1,\"allocationTimestamp\":\"2026-01-01T00:00:00Z\",\"driver\":\"d\","
        "\"members\":[{"
        "\"pod\":\"p\",\"uid\":\"u\",\"node\":\"n\",\"claims\":[{\"name\":\"c\",\"uid\":\"v\","
        "\"results\":[{"
        "\"request\":\"r\",\"devices\":[\"x\",\"y\"],\"adminAccess\":true,\"consumedCapacity\":{"
        "\"m\":\"1Gi\"},"
        "\"bindingConditions\":[\"a/b\"],\"bindingFailureConditions\":[\"a/c\"]}]}]}]}";
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(1 << 16);
    struct tg_error err = TG_ERROR_INIT;
    struct tg_plan *plan = decode(arena, json);
    assert_int_equal(tg_plan_validate(plan, &err), 0);
    assert_int_equal(tg_json_encode(&tg_plan_type, plan, &buf, &err), 0);
    assert_string_equal(tg_buf_str(&buf), json);
    assert_int_equal(tg_plan_claim_results(&plan->members.items[0].claims.items[0]), 2);
    plan->members.items[0].claims.items[0].results.items[0].consumed = "3";
    assert_int_equal(tg_plan_validate(plan, &err), -TG_DATA_LOSS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(driver_and_pool_stand_only_where_they_differ),
        cmocka_unit_test(a_shrunken_plan_is_valid),
        cmocka_unit_test(an_incomplete_plan_is_data_loss_that_names_the_field),
        cmocka_unit_test(class_configuration_is_kept_byte_for_byte),
        cmocka_unit_test(share_ids_are_uuids_that_differ_by_claim_index_and_plan),
        cmocka_unit_test(what_results_copy_comes_back_as_it_was),
        cmocka_unit_test(the_largest_plan_fits_into_one_object),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
