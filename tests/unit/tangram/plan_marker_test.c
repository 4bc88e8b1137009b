/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/str.h"
#include "api/runtime/json/value.h"
#include "api/tangram/plan_marker.h"

static void a_marker_survives_the_round_trip(void **state)
{
    (void)state;
    static const struct tg_plan_marker markers[] = {
        {.gang_uid = "0b9b8c2e-8f5c-4a35-9d8e-2f1c1f6f3a10", .epoch = 7},
        {.gang_uid = "", .epoch = 0},
        {.gang_uid = "u", .epoch = INT64_MAX},
        {.gang_uid = "", .epoch = 1, .instance = "other"},
    };
    for (size_t i = 0; i < sizeof(markers) / sizeof(markers[0]); i++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 16);
        TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(4096);
        struct tg_error err = TG_ERROR_INIT;
        struct tg_plan_marker back = {0};
        assert_int_equal(tg_plan_marker_encode(&markers[i], &buf, &err), 0);
        assert_int_equal(tg_plan_marker_decode(tg_buf_str(&buf), buf.len, arena, &back, &err), 0);
        assert_string_equal(back.gang_uid, markers[i].gang_uid);
        assert_int_equal(back.epoch, markers[i].epoch);
        assert_string_equal(tg_or(back.instance, ""), tg_or(markers[i].instance, ""));
    }
}

static void the_bytes_are_compact_with_sorted_keys(void **state)
{
    (void)state;
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(4096);
    struct tg_error err = TG_ERROR_INIT;
    struct tg_plan_marker marker = {.gang_uid = NULL, .epoch = 3, .instance = "default"};
    assert_int_equal(tg_plan_marker_encode_config(&marker, &buf, &err), 0);
    assert_string_equal(tg_buf_str(&buf),
                        "{\"opaque\":{\"driver\":\"tangram.dev\",\"parameters\":{\"apiVersion\":"
                        "\"tangram.dev/v1alpha1\",\"epoch\":3,\"gangUID\":\"\",\"kind\":\"Plan\"}},"
                        "\"source\":\"FromClass\"}");
}

static void other_kinds_are_not_found_and_broken_ones_are_errors(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        enum tg_code code;
    } cases[] = {
        {"{\"apiVersion\":\"tangram.dev/v1alpha1\",\"kind\":\"GangMember\",\"gang\":\"a\"}",
         TG_NOT_FOUND},
        {"{}", TG_NOT_FOUND},
        {"{\"kind\":\"Plan\",\"gangUID\":\"\",\"epoch\":1}", TG_INVALID_ARGUMENT},
        {"{\"apiVersion\":\"example.com/v1\",\"kind\":\"Plan\",\"gangUID\":\"\",\"epoch\":1}",
         TG_INVALID_ARGUMENT},
        {"{\"apiVersion\":\"tangram.dev/v1alpha1\",\"kind\":\"Plan\",\"epoch\":1}",
         TG_INVALID_ARGUMENT},
        {"{\"apiVersion\":\"tangram.dev/v1alpha1\",\"kind\":\"Plan\",\"gangUID\":\"\"}",
         TG_INVALID_ARGUMENT},
        {"{\"apiVersion\":\"tangram.dev/"
         "v1alpha1\",\"kind\":\"Plan\",\"gangUID\":\"\",\"epoch\":-1}",
         TG_INVALID_ARGUMENT},
        {"{\"apiVersion\":\"tangram.dev/"
         "v1alpha1\",\"kind\":\"Plan\",\"gangUID\":\"\",\"epoch\":\"1\"}",
         TG_INVALID_ARGUMENT},
        {"nonsense", TG_INVALID_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 16);
        struct tg_error err = TG_ERROR_INIT;
        struct tg_plan_marker back = {.gang_uid = "untouched"};
        assert_int_equal(
            tg_plan_marker_decode(cases[i].json, strlen(cases[i].json), arena, &back, &err),
            -(int)cases[i].code);
        assert_string_equal(back.gang_uid, "untouched");
    }
}

static void a_later_version_with_more_fields_is_still_ours(void **state)
{
    (void)state;
    const char *json =
        "{\"apiVersion\":\"tangram.dev/v1\",\"kind\":\"Plan\",\"gangUID\":\"u\",\"epoch\":4,"
        "\"later\":{}}";
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 16);
    struct tg_error err = TG_ERROR_INIT;
    struct tg_plan_marker back;
    assert_int_equal(tg_plan_marker_decode(json, strlen(json), arena, &back, &err), 0);
    assert_int_equal(back.epoch, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_marker_survives_the_round_trip),
        cmocka_unit_test(the_bytes_are_compact_with_sorted_keys),
        cmocka_unit_test(other_kinds_are_not_found_and_broken_ones_are_errors),
        cmocka_unit_test(a_later_version_with_more_fields_is_still_ours),
    };
    return cmocka_run_group_tests_name("plan_marker", tests, NULL, NULL);
}
