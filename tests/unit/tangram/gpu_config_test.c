/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/tangram/gpu_config.h"

#define VERSION "\"apiVersion\":\"tangram.dev/v1alpha1\""
#define GPU(rest) "{" VERSION ",\"kind\":\"GpuConfig\"" rest "}"
#define MIG(rest) "{" VERSION ",\"kind\":\"MigConfig\"" rest "}"

static int decode(const char *json, struct tg_gpu_config *ret, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 16);
    return tg_gpu_config_decode(json, strlen(json), arena, ret, err);
}

static void every_setting_is_read_and_what_is_left_out_is_not_set(void **state)
{
    static const struct {
        const char *json;
        bool mig;
        int time_slice, compute_mode; /* -1: not set */
    } cases[] = {
        {GPU(""), false, -1, -1},
        {GPU(",\"sharing\":\"TimeSlicing\""), false, -1, -1},
        {GPU(",\"timeSlicing\":{\"interval\":\"Default\"}"), false, 0, -1},
        {GPU(",\"timeSlicing\":{\"interval\":\"Short\"}"), false, 1, -1},
        {GPU(",\"timeSlicing\":{\"interval\":\"Medium\"}"), false, 2, -1},
        {GPU(",\"sharing\":\"TimeSlicing\",\"timeSlicing\":{\"interval\":\"Long\"}"), false, 3, -1},
        {GPU(",\"computeMode\":\"Default\""), false, -1, 0},
        {GPU(",\"computeMode\":\"ExclusiveProcess\""), false, -1, 3},
        {GPU(",\"computeMode\":\"Default\",\"timeSlicing\":{\"interval\":\"Long\"}"), false, 3, 0},
        {MIG(""), true, -1, -1},
        {MIG(",\"sharing\":\"TimeSlicing\""), true, -1, -1},
        {" { \"kind\" : \"\\u0047puConfig\", " VERSION " }\n", false, -1, -1},
    };
    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct tg_gpu_config config;
        struct tg_error err = TG_ERROR_INIT;
        if (decode(cases[i].json, &config, &err) != 0)
            fail_msg("%s: %s", cases[i].json, err.message);
        assert_int_equal(config.mig, cases[i].mig);
        assert_int_equal(config.settings.time_slice.set, cases[i].time_slice >= 0);
        assert_int_equal(config.settings.compute_mode.set, cases[i].compute_mode >= 0);
        if (cases[i].time_slice >= 0)
            assert_int_equal(config.settings.time_slice.value, cases[i].time_slice);
        if (cases[i].compute_mode >= 0)
            assert_int_equal(config.settings.compute_mode.value, cases[i].compute_mode);
    }
}

static void what_is_not_understood_is_refused_by_name(void **state)
{
    static const struct {
        const char *json;
        int code;
        const char *words[2];
    } cases[] = {
        {GPU(",\"sharing\":\"MPS\""), TG_UNIMPLEMENTED, {"MPS", "GpuConfig"}},
        {MIG(",\"sharing\":\"MPS\""), TG_UNIMPLEMENTED, {"MPS", "MigConfig"}},
        {GPU(",\"sharing\":\"mps\""), TG_INVALID_ARGUMENT, {"sharing", "TimeSlicing"}},
        {GPU(",\"sharing\":{\"strategy\":\"MPS\"}"), TG_INVALID_ARGUMENT, {"sharing", "string"}},
        {GPU(",\"timeSlicing\":{}"), TG_INVALID_ARGUMENT, {"timeSlicing", "interval"}},
        {GPU(",\"timeSlicing\":{\"interval\":\"short\"}"),
         TG_INVALID_ARGUMENT,
         {"timeSlicing.interval", "Short"}},
        {GPU(",\"timeSlicing\":{\"interval\":1}"), TG_INVALID_ARGUMENT, {"interval", "string"}},
        {GPU(",\"timeSlicing\":{\"slice\":1}"), TG_INVALID_ARGUMENT, {"slice", ""}},
        {GPU(",\"computeMode\":\"Prohibited\""),
         TG_INVALID_ARGUMENT,
         {"computeMode", "ExclusiveProcess"}},
        {GPU(",\"computeMode\":\"ExclusiveProcess\",\"timeSlicing\":{\"interval\":\"Short\"}"),
         TG_INVALID_ARGUMENT,
         {"timeSlicing", "computeMode"}},
        {GPU(",\"computMode\":\"Default\""), TG_INVALID_ARGUMENT, {"computMode", ""}},
        {MIG(",\"computeMode\":\"Default\""), TG_INVALID_ARGUMENT, {"computeMode", "partition"}},
        {MIG(",\"timeSlicing\":{\"interval\":\"Short\"}"),
         TG_INVALID_ARGUMENT,
         {"timeSlicing", "partition"}},
        {"{" VERSION ",\"kind\":\"GangMember\"}", TG_INVALID_ARGUMENT, {"GangMember", "MigConfig"}},
        {"{\"kind\":\"GpuConfig\"}", TG_INVALID_ARGUMENT, {"apiVersion", "v1alpha1"}},
        {"{}", TG_INVALID_ARGUMENT, {"apiVersion", ""}},
        {"[]", TG_INVALID_ARGUMENT, {"", ""}},
    };
    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct tg_gpu_config config;
        struct tg_error err = TG_ERROR_INIT;
        if (decode(cases[i].json, &config, &err) != -cases[i].code)
            fail_msg("%s: %s", cases[i].json, err.message);
        for (size_t k = 0; k < 2; k++) {
            if (strstr(err.message, cases[i].words[k]) == NULL)
                fail_msg("%s: \"%s\" lacks %s", cases[i].json, err.message, cases[i].words[k]);
        }
    }
}

static void a_text_longer_than_the_api_stores_is_refused(void **state)
{
    static char big[10 * 1024 + 1];
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 16);
    struct tg_gpu_config config;
    struct tg_error err = TG_ERROR_INIT;
    (void)state;
    memset(big, ' ', sizeof(big));
    memcpy(big, GPU(""), strlen(GPU("")));
    assert_int_equal(tg_gpu_config_decode(big, sizeof(big), arena, &config, &err),
                     -TG_INVALID_ARGUMENT);
    assert_int_equal(tg_gpu_config_decode(big, sizeof(big) - 1, arena, &config, &err), 0);
}

static void settings_have_names_for_people(void **state)
{
    (void)state;
    assert_string_equal(tg_time_slice_name(1), "Short");
    assert_string_equal(tg_compute_mode_name(3), "ExclusiveProcess");
    assert_string_equal(tg_compute_mode_name(2), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_setting_is_read_and_what_is_left_out_is_not_set),
        cmocka_unit_test(what_is_not_understood_is_refused_by_name),
        cmocka_unit_test(a_text_longer_than_the_api_stores_is_refused),
        cmocka_unit_test(settings_have_names_for_people),
    };
    return cmocka_run_group_tests_name("gpu_config", tests, NULL, NULL);
}
