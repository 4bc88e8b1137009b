/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/kubernetes/values/labels.h"
#include "api/runtime/base/cleanup.h"

static const char *const labels[][2] = {{"zone", "a"},
                                        {"gpus", "8"},
                                        {"empty", ""},
                                        {"word", "8x"},
                                        {"low", "-9223372036854775808"},
                                        {"huge", "9223372036854775808"}};

static const char *get(void *data, const char *key)
{
    (void)data;
    for (size_t i = 0; i < TG_ARRAY_SIZE(labels); i++) {
        if (strcmp(labels[i][0], key) == 0)
            return labels[i][1];
    }
    return NULL;
}

static void test_requirements_match_as_node_selectors_do(void **state)
{
    static const struct {
        const char *key, *operator, * values[3];
        bool matches;
    } cases[] = {
        {"zone", "In", {"b", "a"}, true},
        {"zone", "In", {"b"}, false},
        {"none", "In", {""}, false},
        {"empty", "In", {""}, true},
        {"zone", "NotIn", {"b"}, true},
        {"zone", "NotIn", {"b", "a"}, false},
        {"none", "NotIn", {"a"}, true},
        {"none", "NotIn", {NULL}, false},
        {"zone", "Exists", {NULL}, true},
        {"empty", "Exists", {NULL}, true},
        {"none", "Exists", {NULL}, false},
        {"zone", "DoesNotExist", {NULL}, false},
        {"none", "DoesNotExist", {NULL}, true},
        {"gpus", "Gt", {"7"}, true},
        {"gpus", "Gt", {"8"}, false},
        {"gpus", "Lt", {"9"}, true},
        {"gpus", "Lt", {"8"}, false},
        {"gpus", "Gt", {"+7"}, true},
        {"low", "Lt", {"-9223372036854775807"}, true},
        {"word", "Gt", {"1"}, false},
        {"word", "Lt", {"1"}, false},
        {"huge", "Gt", {"1"}, false},
        {"none", "Gt", {"1"}, false},
        {"none", "Lt", {"1"}, false},
        {"empty", "Gt", {"-1"}, false},
        {"gpus", "Gt", {"x"}, false},
        {"gpus", "Gt", {"1", "2"}, false},
        {"zone", "in", {"a"}, false},
        {"zone", "Near", {"a"}, false},
        {"zone", NULL, {NULL}, false},
        {NULL, "DoesNotExist", {NULL}, false},
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct tg_requirement r = {
            .key = cases[i].key, .operator= cases[i].operator, .values = cases[i].values };

        while (r.n_values < 3 && cases[i].values[r.n_values] != NULL)
            r.n_values++;
        if (tg_requirement_matches(&r, get, NULL) != cases[i].matches)
            fail_msg("%zu: %s %s", i, cases[i].key, cases[i].operator);
    }
}

static void test_all_requirements_must_match(void **state)
{
    static const char *const a[] = {"a"};
    const struct tg_requirement requirements[] = {
        {.key = "zone", .operator= "In", .values = a, .n_values = 1},
        {.key = "none", .operator= "Exists" } };

    (void)state;
    assert_true(tg_requirements_match(NULL, 0, get, NULL));
    assert_true(tg_requirements_match(requirements, 1, get, NULL));
    assert_false(tg_requirements_match(requirements, 2, get, NULL));
}

static void test_bad_requirements_are_explained(void **state)
{
    static const char *const one[] = {"a"};
    static const char *const bad[] = {"a/b"};
    static const struct {
        struct tg_requirement r;
        const char *message;
    } cases[] = {
        {{.key = "a b", .operator= "Exists" }, "not a valid qualified name"},
         {{.key = NULL, .operator= "Exists" }, "not a valid qualified name"},
          {{.key = "a", .operator= "exists" }, "a: unknown operator \"exists\" (known: In, NotIn"},
           {{.key = "a", .operator= NULL }, "unknown operator"},
            {{.key = "a", .operator= "In" }, "at least one value"},
             {{.key = "a", .operator= "NotIn" }, "at least one value"},
              {{.key = "a", .operator= "Exists", .values = one, .n_values = 1}, "takes no values"},
              {{.key = "a", .operator= "Gt", .values = one, .n_values = 1}, "exactly one integer"},
              {
                  {.key = "a", .operator= "Lt" }, "exactly one integer"},
                  {{.key = "a", .operator= "In", .values = bad, .n_values = 1},
                   "not a valid label value"},
             };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct tg_error err = TG_ERROR_INIT;

        assert_int_equal(tg_requirement_check(&cases[i].r, &err), -TG_INVALID_ARGUMENT);
        assert_non_null(strstr(err.message, cases[i].message));
    }
}

static void test_selectors_are_read_and_written(void **state)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"  ", ""},
        {"a", "a"},
        {" !a ", "!a"},
        {"a=b", "a=b"},
        {"a == b", "a=b"},
        {"a!=b", "a!=b"},
        {"a=", "a="},
        {"a==", "a="},
        {"a=,b", "a=,b"},
        {"a in (b, c),d notin(e)", "a in (b,c),d!=e"},
        {"a in ()", "a="},
        {"a in (,b)", "a in (,b)"},
        {"a>1,b<2", "a>1,b<2"},
        {"in in (in,notin)", "in in (in,notin)"},
        {"a=in", "a=in"},
        {"x.y/z,!w", "x.y/z,!w"},
    };
    struct tg_arena *arena TG_AUTOARENA = tg_arena_new(1 << 20);

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct tg_buf out TG_AUTOBUF = TG_BUF_INIT(1000);
        struct tg_requirement *requirements = NULL;
        struct tg_error err = TG_ERROR_INIT;
        size_t n = 0;
        int rc = tg_label_selector_parse(cases[i][0], arena, &requirements, &n, &err);

        if (rc != 0)
            fail_msg("%s: %s", cases[i][0], err.message);
        assert_int_equal(tg_label_selector_format(requirements, n, &out), 0);
        assert_string_equal(tg_buf_str(&out), cases[i][1]);
    }
}

static void test_bad_selectors_are_refused(void **state)
{
    static const char *const cases[] = {
        ",",          "a,",        ",a",    "a,,b",       "a b",  "a in", "a in b",    "a in (b",
        "a in (b c)", "a in (b))", "a=b=c", "a<-2",       "!a=b", "!!a",  "!",         "=",
        "()",         "a>x",       "a>",    "a in (b/c)", "-a",   "a=-b", "a\xc3\xa9",
    };
    struct tg_arena *arena TG_AUTOARENA = tg_arena_new(1 << 20);

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        struct tg_requirement *requirements = NULL;
        struct tg_error err = TG_ERROR_INIT;
        size_t n = 0;
        int rc = tg_label_selector_parse(cases[i], arena, &requirements, &n, &err);

        if (rc != -TG_INVALID_ARGUMENT)
            fail_msg("%s", cases[i]);
        assert_true(err.message[0] != '\0');
    }
}

static void test_every_failed_allocation_is_an_error(void **state)
{
    size_t nth = 1;

    (void)state;
    for (;; nth++) {
        struct tg_arena *failing TG_AUTOARENA = tg_arena_new(1 << 20);
        struct tg_requirement *requirements = NULL;
        size_t n = 0;
        int rc;

        tg_arena_fail_after(failing, nth);
        rc = tg_label_selector_parse("a in (b,c),d", failing, &requirements, &n, NULL);
        if (rc == 0)
            break;
        assert_int_equal(rc, -TG_RESOURCE_EXHAUSTED);
    }
    assert_int_equal(nth, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requirements_match_as_node_selectors_do),
        cmocka_unit_test(test_all_requirements_must_match),
        cmocka_unit_test(test_bad_requirements_are_explained),
        cmocka_unit_test(test_selectors_are_read_and_written),
        cmocka_unit_test(test_bad_selectors_are_refused),
        cmocka_unit_test(test_every_failed_allocation_is_an_error),
    };

    return cmocka_run_group_tests_name("labels", tests, NULL, NULL);
}
