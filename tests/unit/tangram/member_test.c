/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/str.h"
#include "api/tangram/member.h"
#include "api/tangram/plan.h"
#include "api/tangram/syntax.h"

#define HEAD "{\"apiVersion\":\"tangram.dev/v1alpha1\",\"kind\":\"GangMember\""

static int decode(const char *json, struct tg_arena *arena, struct tg_member **ret,
                  struct tg_error *err)
{
    return tg_member_decode(json, strlen(json), arena, ret, err);
}

static void every_field_of_the_size_form_is_read(void **state)
{
    (void)state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 16);
    struct tg_error err = TG_ERROR_INIT;
    struct tg_member *m = NULL;
    assert_int_equal(
        decode(HEAD ",\"gang\":\"llama-70b\",\"size\":4,\"topology\":{\"pack\":{\"required\":"
                    "\"rack\",\"preferred\":\"example.com/clique\"}}}",
               arena, &m, &err),
        0);
    assert_string_equal(m->gang, "llama-70b");
    assert_null(m->pod_label);
    assert_int_equal(m->size, 4);
    assert_null(m->role);
    assert_string_equal(m->pack_required, "rack");
    assert_string_equal(m->pack_preferred, "example.com/clique");
}

static void the_text_may_be_stored_with_spaces_and_escapes(void **state)
{
    (void)state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 16);
    struct tg_error err = TG_ERROR_INIT;
    struct tg_member *m = NULL;
    assert_int_equal(decode("{ \"size\" : 2 ,\n\"kind\":\"\\u0047angMember\", \"apiVersion\" : "
                            "\"tangram.dev/v1alpha1\", \"gang\": \"a\" }\n",
                            arena, &m, &err),
                     0);
    assert_int_equal(m->size, 2);
}

static void a_gang_can_come_from_a_pod_label(void **state)
{
    (void)state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 16);
    struct tg_error err = TG_ERROR_INIT;
    struct tg_member *m = NULL;
    assert_int_equal(
        decode(HEAD
               ",\"gangFrom\":{\"podLabel\":\"batch.kubernetes.io/controller-uid\"},\"size\":2}",
               arena, &m, &err),
        0);
    assert_null(m->gang);
    assert_string_equal(m->pod_label, "batch.kubernetes.io/controller-uid");
}

static void a_role_belongs_to_a_gang_that_a_user_writes(void **state)
{
    (void)state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 16);
    struct tg_error err = TG_ERROR_INIT;
    struct tg_member *m = NULL;
    assert_int_equal(decode(HEAD ",\"gang\":\"a\",\"role\":\"leader\"}", arena, &m, &err), 0);
    assert_int_equal(m->size, 0);
    assert_string_equal(m->role, "leader");
    assert_int_equal(decode(HEAD ",\"gang\":\"a\"}", arena, &m, &err), 0);
    assert_null(m->role);
}

static const struct {
    const char *json;
    const char *named; /* what the message must name */
} refused[] = {
    {"", ""},
    {"[]", ""},
    {"{}", "apiVersion"},
    {"{\"apiVersion\":\"tangram.dev/v1\",\"kind\":\"GangMember\",\"gang\":\"a\",\"size\":1}",
     "apiVersion"},
    {"{\"apiVersion\":\"tangram.dev/v1alpha1\",\"gang\":\"a\",\"size\":1}", "kind"},
    {"{\"apiVersion\":\"tangram.dev/v1alpha1\",\"kind\":\"Plan\",\"gang\":\"a\",\"size\":1}",
     "kind"},
    {HEAD "}", "gangFrom"},
    {HEAD ",\"size\":1}", "gangFrom"},
    {HEAD ",\"gang\":\"a\",\"gangFrom\":{\"podLabel\":\"x\"},\"size\":1}", "both"},
    {HEAD ",\"gang\":\"\",\"size\":1}", "gang"},
    {HEAD ",\"gang\":\"Upper\",\"size\":1}", "gang"},
    {HEAD ",\"gang\":\"a_b\",\"size\":1}", "gang"},
    {HEAD ",\"gang\":7,\"size\":1}", "gang"},
    {HEAD ",\"gangFrom\":{},\"size\":1}", "podLabel"},
    {HEAD ",\"gangFrom\":{\"podLabel\":\"-x\"},\"size\":1}", "podLabel"},
    {HEAD ",\"gangFrom\":{\"podLabel\":\"x\",\"jobLabel\":\"y\"},\"size\":1}", "jobLabel"},
    {HEAD ",\"gangFrom\":{\"podLabel\":\"x\"}}", "size"},
    {HEAD ",\"gangFrom\":{\"podLabel\":\"x\"},\"role\":\"r\"}", "size"},
    {HEAD ",\"gang\":\"a\",\"size\":0}", "size"},
    {HEAD ",\"gang\":\"a\",\"size\":-1}", "size"},
    {HEAD ",\"gang\":\"a\",\"size\":2049}", "size"},
    {HEAD ",\"gang\":\"a\",\"size\":\"4\"}", "size"},
    {HEAD ",\"gang\":\"a\",\"size\":4.0}", "size"},
    {HEAD ",\"gang\":\"a\",\"size\":4,\"size\":5}", "size"},
    {HEAD ",\"gang\":\"a\",\"size\":4,\"role\":\"r\"}", "role"},
    {HEAD ",\"gang\":\"a\",\"role\":\"\"}", "role"},
    {HEAD ",\"gang\":\"a\",\"role\":\"a.b\"}", "role"},
    {HEAD ",\"gang\":\"a\",\"topology\":{\"pack\":{\"required\":\"rack\"}}}", "topology"},
    {HEAD ",\"gang\":\"a\",\"size\":1,\"topology\":{}}", "topology"},
    {HEAD ",\"gang\":\"a\",\"size\":1,\"topology\":{\"pack\":{}}}", "topology.pack"},
    {HEAD ",\"gang\":\"a\",\"size\":1,\"topology\":{\"pack\":{\"required\":\"\"}}}", "required"},
    {HEAD ",\"gang\":\"a\",\"size\":1,\"topology\":{\"pack\":{\"preferred\":\"a b\"}}}",
     "preferred"},
    {HEAD ",\"gang\":\"a\",\"size\":1,\"topology\":{\"spread\":[]}}", "spread"},
    {HEAD ",\"gang\":\"a\",\"size\":1,\"queue\":\"q\"}", "queue"},
    {HEAD ",\"gang\":\"a\",\"size\":1} {}", ""},
};

static void every_contradiction_is_an_error_that_names_the_field(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 16);
        struct tg_error err = TG_ERROR_INIT;
        struct tg_member *m = NULL;
        if (decode(refused[i].json, arena, &m, &err) == 0)
            fail_msg("accepted: %s", refused[i].json);
        assert_null(m);
        assert_int_equal(err.code, TG_INVALID_ARGUMENT);
        if (strstr(err.message, refused[i].named) == NULL)
            fail_msg("%s: \"%s\" does not name \"%s\"", refused[i].json, err.message,
                     refused[i].named);
        if (strstr(err.message, "GangMember") == NULL)
            fail_msg("%s: \"%s\" does not say what it is about", refused[i].json, err.message);
    }
}

static void more_text_than_the_api_stores_is_refused(void **state)
{
    (void)state;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
    struct tg_error err = TG_ERROR_INIT;
    struct tg_member *m = NULL;
    char big[11000];
    memset(big, ' ', sizeof(big));
    memcpy(big, HEAD ",\"gang\":\"a\"}", strlen(HEAD ",\"gang\":\"a\"}"));
    assert_int_equal(tg_member_decode(big, sizeof(big), arena, &m, &err), -TG_INVALID_ARGUMENT);
}

static void an_exhausted_budget_is_an_ordinary_error(void **state)
{
    (void)state;
    const char *json =
        HEAD ",\"gang\":\"a\",\"size\":1,\"topology\":{\"pack\":{\"required\":\"rack\"}}}";
    bool decoded = false;
    for (size_t nth = 1; !decoded && nth < 100; nth++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 16);
        tg_arena_fail_after(arena, nth);
        struct tg_error err = TG_ERROR_INIT;
        struct tg_member *m = NULL;
        int rc = decode(json, arena, &m, &err);
        decoded = rc == 0;
        if (!decoded)
            assert_int_equal(rc, -TG_RESOURCE_EXHAUSTED);
    }
    assert_true(decoded);
}

static void object_names_are_valid_stable_and_distinct(void **state)
{
    (void)state;
    static const char *const values[] = {
        "a",
        "A",
        "a.b",
        "a_b",
        "-",
        "",
        "...",
        "0b9b8c2e-8f5c-4a35-9d8e-2f1c1f6f3a10",
        "Xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx1",
        "Xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx2"};
    enum { N = sizeof(values) / sizeof(values[0]) };
    char names[N][TG_GANG_OBJECT_NAME_SIZE];
    for (size_t i = 0; i < N; i++) {
        tg_gang_object_name(values[i], names[i]);
        assert_true(tg_syntax_is_dns_label(names[i]));
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(names[i], names[j]);
    }
    /* Objects outlive releases: the name of a value never changes. */
    assert_string_equal(names[0], "a-8601ec8c");
    assert_true(tg_has_prefix(names[4], "gang-"));
    assert_int_equal(strlen(names[8]), 63);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_of_the_size_form_is_read),
        cmocka_unit_test(the_text_may_be_stored_with_spaces_and_escapes),
        cmocka_unit_test(a_gang_can_come_from_a_pod_label),
        cmocka_unit_test(a_role_belongs_to_a_gang_that_a_user_writes),
        cmocka_unit_test(every_contradiction_is_an_error_that_names_the_field),
        cmocka_unit_test(more_text_than_the_api_stores_is_refused),
        cmocka_unit_test(an_exhausted_budget_is_an_ordinary_error),
        cmocka_unit_test(object_names_are_valid_stable_and_distinct),
    };
    return cmocka_run_group_tests_name("member", tests, NULL, NULL);
}
