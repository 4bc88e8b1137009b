/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/json/decode.h"
#include "kubelet-plugin/claim_check.h"

#define UID "11111111-2222-3333-4444-555555555555"
#define META "\"metadata\":{\"name\":\"c\",\"namespace\":\"ns\",\"uid\":\"" UID "\"}"
#define ALLOCATED(config)                                                                          \
    "{" META ",\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\","          \
    "\"driver\":\"gpu.tangram.dev\",\"pool\":\"p\",\"device\":\"d\"}],\"config\":[" config "]}}}}"

static int check(const char *json, const char *uid, struct tg_arena *arena,
                 const struct tg_allocation_devices **ret, struct tg_error *err)
{
    void *claim;
    assert_int_equal(
        tg_json_decode_new(&tg_resource_claim_type, json, strlen(json), arena, &claim, NULL), 0);
    return tg_claim_check(claim, uid, ret, err);
}

static void an_allocated_claim_gives_its_results(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    const struct tg_allocation_devices *devices;
    (void)state;
    assert_int_equal(check(ALLOCATED(""), UID, arena, &devices, NULL), 0);
    assert_int_equal(devices->results.n, 1);
    assert_string_equal(devices->results.items[0].device, "d");
}

static void a_claim_of_the_same_name_with_another_uid_is_not_the_one(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    const struct tg_allocation_devices *devices;
    struct tg_error err = TG_ERROR_INIT;
    (void)state;
    assert_int_equal(check(ALLOCATED(""), "another", arena, &devices, &err), -TG_NOT_FOUND);
    assert_non_null(strstr(err.message, UID));
    assert_non_null(strstr(err.message, "another"));
    assert_int_equal(check("{}", UID, arena, &devices, &err), -TG_NOT_FOUND);
}

static void an_unallocated_claim_is_refused_for_now(void **state)
{
    static const char *const cases[] = {
        "{" META "}",
        "{" META ",\"status\":{}}",
        "{" META ",\"status\":{\"allocation\":{}}}",
    };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
        const struct tg_allocation_devices *devices;
        struct tg_error err = TG_ERROR_INIT;
        assert_int_equal(check(cases[i], UID, arena, &devices, &err), -TG_FAILED_PRECONDITION);
        assert_true(err.retry);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_allocated_claim_gives_its_results),
        cmocka_unit_test(a_claim_of_the_same_name_with_another_uid_is_not_the_one),
        cmocka_unit_test(an_unallocated_claim_is_refused_for_now),
    };
    return cmocka_run_group_tests_name("claim_check", tests, NULL, NULL);
}
