/* SPDX-License-Identifier: Apache-2.0 */
/* What a Gang wants of its topology, as placement takes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/json/decode.h"
#include "controller/commit/rules.h"

static const char document[] =
    "apiVersion: tangram.dev/v1alpha1\nkind: TangramConfiguration\n"
    "topology: [{name: zone, nodeLabel: example.com/zone}, {name: rack, nodeLabel: "
    "example.com/rack}]\n";

struct scene {
    struct tg_configuration *configuration;
    struct tg_arena *arena;
    struct tg_gang *gang;
    const struct tg_place_rule *rules;
    size_t n;
    struct tg_error err;
};

static int read(struct scene *s, const char *spec)
{
    char json[2048];
    void *object = NULL;

    *s = (struct scene){.arena = tg_arena_new((size_t)1 << 20)};
    assert_int_equal(
        tg_configuration_parse("c", document, strlen(document), &s->configuration, &s->err), 0);
    snprintf(json, sizeof(json), "{\"metadata\":{\"name\":\"g\"},\"spec\":{%s}}", spec);
    assert_int_equal(
        tg_json_decode_new(&tg_gang_type, json, strlen(json), s->arena, &object, &s->err), 0);
    s->gang = object;
    return tg_commit_rules(s->configuration, s->gang, s->arena, &s->rules, &s->n, &s->err);
}

static void done(struct scene *s)
{
    tg_configuration_free(s->configuration);
    tg_arena_free(s->arena);
}

static void assert_rule(const struct scene *s, size_t i, const char *level, size_t most,
                        bool required)
{
    assert_string_equal(s->rules[i].level->name, level);
    assert_int_equal(s->rules[i].most, most);
    assert_int_equal(s->rules[i].required, required);
}

static void a_gang_without_wishes_has_no_rules(void **state)
{
    struct scene s;

    (void)state;
    /* pack of the whole is not a rule. */
    assert_int_equal(read(&s, "\"size\":2,\"topology\":{\"pack\":{\"required\":\"rack\"}}"), 0);
    assert_int_equal(s.n, 0);
    assert_int_equal(tg_commit_rules(s.configuration, NULL, s.arena, &s.rules, &s.n, &s.err), 0);
    assert_int_equal(s.n, 0);
    assert_int_equal(tg_commit_role(NULL, "a"), 0);
    done(&s);
}

static void spread_binds_everybody_or_one_role(void **state)
{
    struct scene s;

    (void)state;
    assert_int_equal(
        read(&s,
             "\"roles\":[{\"name\":\"a\",\"size\":1},{\"name\":\"b\",\"size\":2,\"topology\":{"
             "\"spread\":[{\"level\":\"rack\",\"maxPerDomain\":3}]}}],\"topology\":{\"spread\":[{"
             "\"level\":\"zone\",\"maxPerDomain\":2,\"mode\":\"Preferred\"}]}"),
        0);
    assert_int_equal(s.n, 2);
    assert_rule(&s, 0, "zone", 2, false);
    assert_null(s.rules[0].roles);
    assert_rule(&s, 1, "rack", 3, true);
    assert_false(s.rules[1].roles[0]); /* members without a role */
    assert_false(s.rules[1].roles[1]);
    assert_true(s.rules[1].roles[2]);
    assert_int_equal(tg_commit_role(s.gang, "a"), 1);
    assert_int_equal(tg_commit_role(s.gang, "b"), 2);
    assert_int_equal(tg_commit_role(s.gang, "c"), 0);
    done(&s);
}

static void a_role_may_have_to_stay_together(void **state)
{
    struct scene s;

    (void)state;
    assert_int_equal(read(&s, "\"roles\":[{\"name\":\"a\",\"size\":2,\"topology\":{\"pack\":{"
                              "\"required\":\"zone\",\"preferred\":\"rack\"}}}]"),
                     0);
    assert_int_equal(s.n, 2);
    assert_rule(&s, 0, "zone", 0, true);
    assert_rule(&s, 1, "rack", 0, false);
    assert_true(s.rules[0].roles[1] && s.rules[1].roles[1]);
    done(&s);
}

static void devices_agree_over_all_members_or_over_roles(void **state)
{
    struct scene s;

    (void)state;
    assert_int_equal(
        read(&s, "\"roles\":[{\"name\":\"a\",\"size\":1},{\"name\":\"b\",\"size\":2}],"
                 "\"deviceConstraints\":[{\"matchAttribute\":\"d/clique\"},{\"matchAttribute\":"
                 "\"d/box\",\"roles\":[\"b\"]}]"),
        0);
    assert_int_equal(s.n, 2);
    assert_string_equal(s.rules[0].level->device_attribute, "d/clique");
    assert_null(s.rules[0].roles);
    assert_string_equal(s.rules[1].level->device_attribute, "d/box");
    assert_false(s.rules[1].roles[1]);
    assert_true(s.rules[1].roles[2]);
    assert_true(s.rules[1].required && s.rules[1].most == 0);
    done(&s);
}

static void assert_refused(const char *spec, int code, const char *text)
{
    struct scene s;

    assert_int_equal(read(&s, spec), -code);
    assert_int_equal(s.n, 0);
    if (strstr(s.err.message, text) == NULL)
        fail_msg("%s", s.err.message);
    done(&s);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    assert_refused("\"size\":2,\"topology\":{\"spread\":[{\"level\":\"row\",\"maxPerDomain\":1}]}",
                   TG_NOT_FOUND, "zone, rack");
    assert_refused("\"size\":2,\"topology\":{\"spread\":[{\"level\":\"rack\"}]}",
                   TG_INVALID_ARGUMENT, "maxPerDomain");
    assert_refused("\"roles\":[{\"name\":\"a\",\"size\":1}],\"deviceConstraints\":[{"
                   "\"matchAttribute\":\"d/x\",\"roles\":[\"z\"]}]",
                   TG_INVALID_ARGUMENT, "the role z");
    assert_refused("\"size\":2,\"deviceConstraints\":[{}]", TG_INVALID_ARGUMENT, "matchAttribute");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gang_without_wishes_has_no_rules),
        cmocka_unit_test(spread_binds_everybody_or_one_role),
        cmocka_unit_test(a_role_may_have_to_stay_together),
        cmocka_unit_test(devices_agree_over_all_members_or_over_roles),
        cmocka_unit_test(what_is_wrong_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
