/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/tangram/syntax.h"

static void dns_labels(void **state)
{
    (void)state;
    assert_true(tg_syntax_is_dns_label("a"));
    assert_true(tg_syntax_is_dns_label("a-0"));
    assert_true(
        tg_syntax_is_dns_label("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
    assert_false(
        tg_syntax_is_dns_label("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
    static const char *const bad[] = {"", "-a", "a-", "A", "a.b", "a_b", "\xc3\xa4", "a b"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(tg_syntax_is_dns_label(bad[i]));
    assert_false(tg_syntax_is_dns_label(NULL));
}

static void dns_subdomains(void **state)
{
    (void)state;
    assert_true(tg_syntax_is_dns_subdomain("a.b-c.d", 63));
    assert_true(tg_syntax_is_dns_subdomain("abc", 3));
    assert_false(tg_syntax_is_dns_subdomain("abcd", 3));
    static const char *const bad[] = {"", ".", "a.", ".a", "a..b", "a.-b", "a-.b", "A", "-", "a/b"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(tg_syntax_is_dns_subdomain(bad[i], 63));
    assert_false(tg_syntax_is_dns_subdomain(NULL, 63));
}

static void label_keys_and_values(void **state)
{
    (void)state;
    static const char *const good[] = {"rack", "A_b.c-1", "kubernetes.io/hostname", "a/B"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_true(tg_syntax_is_label_key(good[i]));
    static const char *const bad[] = {"", "/", "/a", "a/", "a/b/c", "A.b/c", "-a", "a_", "a b"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(tg_syntax_is_label_key(bad[i]));
    assert_false(tg_syntax_is_label_key(NULL));
}

static void attributes_are_fully_qualified(void **state)
{
    (void)state;
    assert_true(tg_syntax_is_attribute("gpu.example.com/clique_1"));
    assert_true(tg_syntax_is_attribute("a/_b"));
    static const char *const bad[] = {"",    "clique", "/clique",
                                      "a/",  "a/1b",   "a/b-c",
                                      "A/b", "a/b/c",  "a/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(tg_syntax_is_attribute(bad[i]));
    assert_false(tg_syntax_is_attribute(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dns_labels),
        cmocka_unit_test(dns_subdomains),
        cmocka_unit_test(label_keys_and_values),
        cmocka_unit_test(attributes_are_fully_qualified),
    };
    return cmocka_run_group_tests_name("syntax", tests, NULL, NULL);
}
