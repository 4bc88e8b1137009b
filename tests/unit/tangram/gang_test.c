/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/base/buf.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "api/runtime/json/encode.h"
#include "api/tangram/gang.h"

static struct tg_gang *decode(struct tg_arena *arena, const char *spec)
{
    char json[2048];
    snprintf(
        json, sizeof(json),
        "{\"apiVersion\":\"tangram.dev/v1alpha1\",\"kind\":\"Gang\",\"metadata\":{\"name\":\"g\"},"
        "\"spec\":%s}",
        spec);
    struct tg_error err = TG_ERROR_INIT;
    void *gang = NULL;
    if (tg_json_decode_new(&tg_gang_type, json, strlen(json), arena, &gang, &err) < 0)
        fail_msg("%s: %s", spec, err.message);
    return gang;
}

static void sizes_are_those_of_all_roles(void **state)
{
    (void)state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
    struct tg_gang *gang = decode(arena, "{\"size\":4}");
    assert_int_equal(tg_gang_total(gang), 4);
    assert_int_equal(tg_gang_role_size(gang, NULL), 4);
    assert_int_equal(tg_gang_role_size(gang, "leader"), 0);
    gang = decode(
        arena, "{\"roles\":[{\"name\":\"leader\",\"size\":1},{\"name\":\"worker\",\"size\":3}]}");
    assert_int_equal(tg_gang_total(gang), 4);
    assert_int_equal(tg_gang_role_size(gang, "worker"), 3);
    assert_int_equal(tg_gang_role_size(gang, NULL), 0);
    assert_int_equal(tg_gang_role_size(gang, "other"), 0);
}

static void pack_levels_and_the_bind_timeout_are_optional(void **state)
{
    (void)state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
    struct tg_gang *gang = decode(arena, "{\"size\":4}");
    assert_null(tg_gang_pack_required(gang));
    assert_null(tg_gang_pack_preferred(gang));
    assert_int_equal(tg_gang_bind_timeout(gang, 7), 7);
    gang = decode(
        arena, "{\"size\":4,\"bindTimeout\":\"90s\",\"topology\":{\"pack\":{\"required\":\"rack\","
               "\"preferred\":\"host\"}}}");
    assert_string_equal(tg_gang_pack_required(gang), "rack");
    assert_string_equal(tg_gang_pack_preferred(gang), "host");
    assert_int_equal(tg_gang_bind_timeout(gang, 7), 90 * TG_SECOND);
}

static void a_gang_without_a_spec_is_read_without_harm(void **state)
{
    (void)state;
    struct tg_gang gang = {0};
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(tg_gang_total(&gang), 0);
    assert_int_equal(tg_gang_role_size(&gang, NULL), 0);
    assert_int_equal(tg_gang_role_size(&gang, "a"), 0);
    assert_null(tg_gang_pack_required(&gang));
    assert_int_equal(tg_gang_bind_timeout(&gang, 7), 7);
    assert_int_equal(tg_gang_unsupported(&gang, &err), 0);
    assert_int_equal(tg_gang_validate(&gang, &err), -TG_INVALID_ARGUMENT);
}

static void what_happens_to_lost_members_has_defaults(void **state)
{
    (void)state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
    struct tg_gang *plain = decode(arena, "{\"size\":3}");
    struct tg_gang *full = decode(
        arena, "{\"roles\":[{\"name\":\"a\",\"size\":4,\"minSize\":1},{\"name\":\"b\",\"size\":2}],"
               "\"onMemberLoss\":\"Release\",\"holdFor\":\"90s\"}");
    struct tg_gang none = {0};
    assert_int_equal(tg_gang_on_loss(plain), TG_LOSS_HOLD);
    assert_int_equal(tg_gang_on_loss(&none), TG_LOSS_HOLD);
    assert_int_equal(tg_gang_on_loss(full), TG_LOSS_RELEASE);
    assert_int_equal(tg_gang_hold_for(plain, 7), 7);
    assert_int_equal(tg_gang_hold_for(full, 7), 90 * TG_SECOND);
    assert_int_equal(tg_gang_role_min(plain, NULL), 3);
    assert_int_equal(tg_gang_min_total(plain), 3);
    assert_int_equal(tg_gang_role_min(full, "a"), 1);
    assert_int_equal(tg_gang_role_min(full, "b"), 2);
    assert_int_equal(tg_gang_role_min(full, "c"), 0);
    assert_int_equal(tg_gang_min_total(full), 3);
    assert_int_equal(tg_gang_min_total(&none), 0);
}

static void fields_whose_machinery_is_missing_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *named;
    } cases[] = {
        {"{\"size\":1,\"queue\":\"q\"}", "spec.queue"},
        {"{\"roles\":[{\"name\":\"a\",\"size\":1},{\"name\":\"b\",\"size\":1,\"startAfter\":[\"a\"]"
         "}]}",
         "startAfter"},
        {"{\"size\":1,\"disruption\":{\"movable\":true}}", "movable"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
        struct tg_error err = TG_ERROR_INIT;
        if (tg_gang_unsupported(decode(arena, cases[i].spec), &err) != -TG_UNIMPLEMENTED)
            fail_msg("not refused: %s", cases[i].spec);
        if (strstr(err.message, cases[i].named) == NULL)
            fail_msg("\"%s\" does not name %s", err.message, cases[i].named);
    }
}

static void defaults_written_out_are_not_refused(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "{\"size\":1}",
        "{\"size\":1,\"onMemberLoss\":\"Hold\",\"holdFor\":\"300s\",\"disruption\":{\"movable\":"
        "false}}",
        "{\"size\":1,\"disruption\":{},\"deviceConstraints\":[],\"topology\":{\"spread\":[]}}",
        "{\"roles\":[{\"name\":\"a\",\"size\":2,\"minSize\":2,\"startAfter\":[]}],\"bindTimeout\":"
        "\"1m\"}",
        "{\"size\":1,\"topology\":{\"pack\":{\"preferred\":\"rack\"}}}",
        "{\"size\":1,\"topology\":{\"spread\":[{\"level\":\"rack\",\"maxPerDomain\":1}]},"
        "\"deviceConstraints\":[{\"matchAttribute\":\"a/b\"}]}",
        "{\"roles\":[{\"name\":\"a\",\"size\":1,\"topology\":{\"pack\":{\"required\":"
        "\"rack\"}}}]}",
    };
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
        struct tg_error err = TG_ERROR_INIT;
        struct tg_gang *gang = decode(arena, specs[i]);
        if (tg_gang_unsupported(gang, &err) < 0 || tg_gang_validate(gang, &err) < 0)
            fail_msg("%s: %s", specs[i], err.message);
    }
}

static void what_the_schema_refuses_is_refused_again(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *named;
    } cases[] = {
        {"{}", "size and roles"},
        {"{\"size\":1,\"roles\":[{\"name\":\"a\",\"size\":1}]}", "size and roles"},
        {"{\"size\":0}", "spec.size"},
        {"{\"size\":2049}", "spec.size"},
        {"{\"roles\":[{\"size\":1}]}", "roles[0].name"},
        {"{\"roles\":[{\"name\":\"a\"}]}", "roles[0].size"},
        {"{\"roles\":[{\"name\":\"a\",\"size\":1},{\"name\":\"a\",\"size\":1}]}", "\"a\""},
        {"{\"roles\":[{\"name\":\"a\",\"size\":1,\"minSize\":2}]}", "minSize"},
        {"{\"roles\":[{\"name\":\"a\",\"size\":2048},{\"name\":\"b\",\"size\":1}]}", "2049"},
        {"{\"size\":1,\"topology\":{\"pack\":{}}}", "pack"},
        {"{\"size\":1,\"bindTimeout\":\"soon\"}", "bindTimeout"},
        {"{\"size\":1,\"scheduleTimeout\":\"-1s\"}", "scheduleTimeout"},
        {"{\"size\":1,\"holdFor\":\"5\"}", "holdFor"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
        struct tg_error err = TG_ERROR_INIT;
        if (tg_gang_validate(decode(arena, cases[i].spec), &err) != -TG_INVALID_ARGUMENT)
            fail_msg("accepted: %s", cases[i].spec);
        if (strstr(err.message, cases[i].named) == NULL)
            fail_msg("%s: \"%s\" does not name %s", cases[i].spec, err.message, cases[i].named);
    }
}

static void a_status_survives_the_round_trip(void **state)
{
    (void)state;
    const char *json =
        "{\"observedGeneration\":1,\"phase\":\"Committing\",\"plan\":{\"epoch\":3,"
        "\"allocationTimestamp\":"
        "\"2026-01-01T00:00:00Z\",\"driver\":\"gpu.tangram.dev\",\"members\":[{\"pod\":\"p-0\","
        "\"uid\":\"u0\","
        "\"node\":\"n-1\",\"claims\":[{\"name\":\"c\",\"uid\":\"u1\",\"results\":[{\"request\":"
        "\"gpus\","
        "\"devices\":[\"gpu-0\",\"gpu-1\"]}]}]}]},\"holds\":[{\"device\":\"d/p/x\",\"until\":"
        "\"2026-01-01T00:00:00Z\",\"why\":\"member "
        "loss\"}],\"shortage\":[{\"members\":1,\"perMember\":2,"
        "\"classes\":[\"gpu.tangram.dev\"]}],\"explanation\":\"no room\",\"conditions\":[{\"type\":"
        "\"Allocated\",\"status\":\"False\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\","
        "\"reason\":"
        "\"NoRoom\",\"message\":\"m\"}]}";
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(1 << 16);
    struct tg_error err = TG_ERROR_INIT;
    void *status = NULL;
    assert_int_equal(
        tg_json_decode_new(&tg_gang_status_type, json, strlen(json), arena, &status, &err), 0);
    assert_int_equal(tg_json_encode(&tg_gang_status_type, status, &buf, &err), 0);
    assert_string_equal(tg_buf_str(&buf), json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_all_roles),
        cmocka_unit_test(pack_levels_and_the_bind_timeout_are_optional),
        cmocka_unit_test(a_gang_without_a_spec_is_read_without_harm),
        cmocka_unit_test(what_happens_to_lost_members_has_defaults),
        cmocka_unit_test(fields_whose_machinery_is_missing_are_refused_by_name),
        cmocka_unit_test(defaults_written_out_are_not_refused),
        cmocka_unit_test(what_the_schema_refuses_is_refused_again),
        cmocka_unit_test(a_status_survives_the_round_trip),
    };
    return cmocka_run_group_tests_name("gang", tests, NULL, NULL);
}
