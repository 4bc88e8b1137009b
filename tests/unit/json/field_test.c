/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/json/field.h"

struct small {
    char c[3];
};
struct keyed_small {
    const char *key;
    struct small value;
};
struct keyed_int {
    const char *key;
    struct tg_opt_int value;
};
struct keyed_bool {
    const char *key;
    struct tg_opt_bool value;
};
static const struct tg_type small_type = {.name = "small", .size = sizeof(struct small)};

static void test_layouts_are_those_of_the_structs_in_c(void **state)
{
    static const struct {
        enum tg_field_kind kind, item;
        size_t size, value;
    } cases[] = {
        {TG_FIELD_LIST, TG_FIELD_STRING, sizeof(const char *), 0},
        {TG_FIELD_LIST, TG_FIELD_RAW, sizeof(const char *), 0},
        {TG_FIELD_LIST, TG_FIELD_SCALAR_TEXT, sizeof(const char *), 0},
        {TG_FIELD_LIST, TG_FIELD_INT, sizeof(struct tg_opt_int), 0},
        {TG_FIELD_LIST, TG_FIELD_BOOL, sizeof(struct tg_opt_bool), 0},
        {TG_FIELD_LIST, TG_FIELD_OBJECT, sizeof(struct small), 0},
        {TG_FIELD_MAP, TG_FIELD_STRING, sizeof(struct tg_string_pair),
         offsetof(struct tg_string_pair, value)},
        {TG_FIELD_MAP, TG_FIELD_RAW, sizeof(struct tg_string_pair),
         offsetof(struct tg_string_pair, value)},
        {TG_FIELD_MAP, TG_FIELD_INT, sizeof(struct keyed_int), offsetof(struct keyed_int, value)},
        {TG_FIELD_MAP, TG_FIELD_BOOL, sizeof(struct keyed_bool),
         offsetof(struct keyed_bool, value)},
        {TG_FIELD_MAP, TG_FIELD_OBJECT, sizeof(struct keyed_small),
         offsetof(struct keyed_small, value)},
    };

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        const struct tg_field field = {.kind = cases[i].kind,
                                       .item = cases[i].item,
                                       .type = &small_type,
                                       .keyed_offset = offsetof(struct keyed_small, value),
                                       .keyed_size = sizeof(struct keyed_small)};
        struct tg_field_layout layout = tg_field_item_layout(&field);

        assert_int_equal(layout.size, cases[i].size);
        assert_int_equal(layout.value, cases[i].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts_are_those_of_the_structs_in_c),
    };

    return cmocka_run_group_tests_name("field", tests, NULL, NULL);
}
