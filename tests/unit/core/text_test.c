/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/explain/text.h"
#include "tests/unit/core/world.h"

static void parts_are_joined_and_counted(void **state)
{
    struct tg_text text;

    (void)state;
    tg_text_init(&text);
    tg_text_count(&text, 1, "node", "nodes");
    tg_text_add(&text, ", %s", "then ");
    tg_text_count(&text, 0, "node", "nodes");
    assert_string_equal(text.data, "1 node, then 0 nodes");
}

static void what_does_not_fit_is_cut_with_an_ellipsis_between_characters(void **state)
{
    (void)state;
    for (size_t shift = 0; shift < 4; shift++) {
        struct tg_text text;

        tg_text_init(&text);
        for (size_t i = 0; i < shift; i++)
            tg_text_add(&text, "x");
        for (size_t i = 0; i < 500; i++)
            tg_text_add(&text, "\xc3\xa9");
        assert_true(strlen(text.data) <= TG_TEXT_MAX);
        assert_true(strlen(text.data) >= TG_TEXT_MAX - 1);
        assert_string_equal(text.data + strlen(text.data) - 3, "...");
        assert_int_equal((unsigned char)text.data[strlen(text.data) - 4], 0xA9);
        tg_text_add(&text, "more");
        assert_string_equal(text.data + strlen(text.data) - 3, "...");
    }
}

static void what_fits_exactly_is_not_cut(void **state)
{
    struct tg_text text;

    (void)state;
    tg_text_init(&text);
    for (size_t i = 0; i < TG_TEXT_MAX; i++)
        tg_text_add(&text, "x");
    assert_int_equal(strlen(text.data), TG_TEXT_MAX);
    assert_false(text.cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_joined_and_counted),
        cmocka_unit_test(what_does_not_fit_is_cut_with_an_ellipsis_between_characters),
        cmocka_unit_test(what_fits_exactly_is_not_cut),
    };

    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
