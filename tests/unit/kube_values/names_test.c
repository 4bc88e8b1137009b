/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/kubernetes/values/names.h"
#include "api/runtime/base/cleanup.h"

#define A10 "aaaaaaaaaa"
#define A32 A10 A10 A10 "aa"
#define A63 A32 A10 A10 A10 "a"
#define A253 A63 "." A63 "." A63 "." A10 A10 A10 A10 A10 A10 "a"

static const struct {
    enum tg_name_kind kind;
    const char *name;
    bool valid;
} cases[] = {
    {TG_NAME_LABEL, "gpu-0", true},
    {TG_NAME_LABEL, A63, true},
    {TG_NAME_LABEL, A63 "a", false},
    {TG_NAME_LABEL, "", false},
    {TG_NAME_LABEL, "-a", false},
    {TG_NAME_LABEL, "a-", false},
    {TG_NAME_LABEL, "A", false},
    {TG_NAME_LABEL, "a.b", false},
    {TG_NAME_LABEL, "a_b", false},
    {TG_NAME_LABEL, "a\xc3\xa9", false},
    {TG_NAME_SUBDOMAIN, "gpu.tangram.dev", true},
    {TG_NAME_SUBDOMAIN, A253, true},
    {TG_NAME_SUBDOMAIN, A253 "a", false},
    {TG_NAME_SUBDOMAIN, A63 "aaaa.b", true},
    {TG_NAME_SUBDOMAIN, "a..b", false},
    {TG_NAME_SUBDOMAIN, ".a", false},
    {TG_NAME_SUBDOMAIN, "a.", false},
    {TG_NAME_SUBDOMAIN, "a.-b", false},
    {TG_NAME_SUBDOMAIN, "", false},
    {TG_NAME_QUALIFIED, "tangram.dev/Gang_1.x", true},
    {TG_NAME_QUALIFIED, "App", true},
    {TG_NAME_QUALIFIED, A253 "/" A63, true},
    {TG_NAME_QUALIFIED, "/a", false},
    {TG_NAME_QUALIFIED, "a/", false},
    {TG_NAME_QUALIFIED, "a/b/c", false},
    {TG_NAME_QUALIFIED, "A/b", false},
    {TG_NAME_QUALIFIED, "-a", false},
    {TG_NAME_QUALIFIED, "a.", false},
    {TG_NAME_LABEL_VALUE, "", true},
    {TG_NAME_LABEL_VALUE, "A.b_c-1", true},
    {TG_NAME_LABEL_VALUE, A63 "a", false},
    {TG_NAME_LABEL_VALUE, "a/b", false},
    {TG_NAME_LABEL_VALUE, "_a", false},
    {TG_NAME_C_IDENTIFIER, "_pciBusID2", true},
    {TG_NAME_C_IDENTIFIER, A32, true},
    {TG_NAME_C_IDENTIFIER, A32 "a", false},
    {TG_NAME_C_IDENTIFIER, "2a", false},
    {TG_NAME_C_IDENTIFIER, "a-b", false},
    {TG_NAME_C_IDENTIFIER, "", false},
    {TG_NAME_ATTRIBUTE, "uuid", true},
    {TG_NAME_ATTRIBUTE, "resource.kubernetes.io/pciBusID", true},
    {TG_NAME_ATTRIBUTE, "a/b/c", false},
    {TG_NAME_ATTRIBUTE, "/b", false},
    {TG_NAME_ATTRIBUTE, A63 "a/b", false},
    {TG_NAME_FULL_ATTRIBUTE, "uuid", false},
    {TG_NAME_FULL_ATTRIBUTE, "gpu.tangram.dev/uuid", true},
    {TG_NAME_FULL_ATTRIBUTE, "gpu.tangram.dev/", false},
    {TG_NAME_DRIVER, "GPU.example.com", true},
    {TG_NAME_DRIVER, A63 "a", false},
    {TG_NAME_DRIVER, "a/b", false},
    {TG_NAME_POOL, "node-1", true},
    {TG_NAME_POOL, "a.b/c/d", true},
    {TG_NAME_POOL, "a//b", false},
    {TG_NAME_POOL, "a/", false},
    {TG_NAME_POOL, A253 "/a", false},
    {TG_NAME_POOL, "", false},
};

static void test_names_are_judged_as_the_api_server_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        if (tg_name_is(cases[i].kind, cases[i].name) != cases[i].valid)
            fail_msg("%d \"%s\"", (int)cases[i].kind, cases[i].name);
        assert_int_equal(tg_name_check(cases[i].kind, cases[i].name, NULL),
                         cases[i].valid ? 0 : -TG_INVALID_ARGUMENT);
    }
}

static void test_errors_tell_the_rule(void **state)
{
    struct tg_error err;

    (void)state;
    tg_name_check(TG_NAME_LABEL, "Gpu_0", &err);
    assert_string_equal(err.message, "\"Gpu_0\" is not a valid DNS label: at most 63 of a-z, 0-9 "
                                     "and -, beginning and ending with a letter or digit");
    assert_int_equal(tg_name_check(TG_NAME_POOL, NULL, &err), -TG_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_judged_as_the_api_server_does),
        cmocka_unit_test(test_errors_tell_the_rule),
    };

    return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
