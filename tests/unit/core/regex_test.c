/* SPDX-License-Identifier: Apache-2.0 */
/* Where libre2 and Go's regexp differ: found by tests/differential/cel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "controller/core/cel/regex.h"

/* Finds the pattern in text; -1: it does not; -2: it is refused. */
static int found_at(const char *pattern, const char *text, size_t from)
{
    char why[128];
    struct tg_cel_regex *regex = tg_cel_regex_new(pattern, strlen(pattern), why, sizeof(why));
    size_t start, end;
    int at = -1;

    if (regex == NULL) {
        assert_int_not_equal(why[0], '\0');
        return -2;
    }
    if (tg_cel_regex_find(regex, text, strlen(text), from, &start, &end))
        at = (int)start;
    assert_int_equal(tg_cel_regex_find(regex, text, strlen(text), from, NULL, NULL), at >= 0);
    tg_cel_regex_free(regex);
    return at;
}

static void no_match_begins_between_the_bytes_of_a_character(void **state)
{
    (void)state;
    assert_int_equal(found_at("\\B", "a\u00e9b", 0), -1);
    assert_int_equal(found_at("\\B\u65e5*?", "a\u017fb", 0), -1);
    assert_int_equal(found_at("\\B", "\u00e9", 0), 0);
    assert_int_equal(found_at("\\B", "\u00e9", 1), 2);
    assert_int_equal(found_at("x|\\B", "a\u65e5\u65e5", 0), 4);
    assert_int_equal(found_at("\\B", "", 0), 0);
}

static void a_group_may_be_named_in_either_spelling(void **state)
{
    (void)state;
    assert_int_equal(found_at("(?<name>b)", "ab", 0), 1);
    assert_int_equal(found_at("(?P<name>b)", "ab", 0), 1);
    assert_int_equal(found_at("a(?:(?<x>b)|(?<y>c))", "zac", 0), 1);
    assert_int_equal(found_at("(?<x>a)(?P<x>b)", "ab", 0), 0);
    assert_int_equal(found_at("(?<=a)b", "ab", 0), -2);
    assert_int_equal(found_at("(?<!a)b", "ab", 0), -2);
}

static void what_is_quoted_escaped_or_in_a_class_is_no_group(void **state)
{
    (void)state;
    assert_int_equal(found_at("\\Q(?<a>\\E", "x(?<a>", 0), 1);
    assert_int_equal(found_at("\\Q(?<a>", "x(?<a>", 0), 1);
    assert_int_equal(found_at("[(?<a>]", "xa", 0), 1);
    assert_int_equal(found_at("[[:alpha:](?<a>]+$", "1(?<a>", 0), 1);
    assert_int_equal(found_at("[]](?<n>a)", "x]a", 0), 1);
    assert_int_equal(found_at("\\((?<n>a)", "x(a", 0), 1);
}

static void a_single_byte_is_no_pattern_but_may_be_quoted(void **state)
{
    (void)state;
    assert_int_equal(found_at("\\C", "a", 0), -2);
    assert_int_equal(found_at("a\\\\C", "a\\C", 0), 0);
    assert_int_equal(found_at("\\Q\\C\\E", "a\\C", 0), 1);
    assert_int_equal(found_at("\\Qa\\E\\C", "ab", 0), -2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_match_begins_between_the_bytes_of_a_character),
        cmocka_unit_test(a_group_may_be_named_in_either_spelling),
        cmocka_unit_test(what_is_quoted_escaped_or_in_a_class_is_no_group),
        cmocka_unit_test(a_single_byte_is_no_pattern_but_may_be_quoted),
    };

    return cmocka_run_group_tests_name("regex", tests, NULL, NULL);
}
