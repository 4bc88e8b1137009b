/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "controller/gather/names.h"

enum { MANY = 1000 };

static const char *name_of(size_t i, char out[16])
{
    snprintf(out, 16, "ns/p-%zu", i);
    return out;
}

static void add_many(struct tg_names *names)
{
    char name[16];

    for (size_t i = 0; i < MANY; i++)
        tg_names_add(names, name_of(i, name));
}

static void names_come_in_the_order_in_which_they_were_added_each_once(void **state)
{
    struct tg_names names = {.n = 0};
    size_t at = 0;
    char name[16];

    (void)state;
    add_many(&names);
    add_many(&names);
    assert_int_equal(names.n, MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_string_equal(tg_names_next(&names, &at), name_of(i, name));
    assert_null(tg_names_next(&names, &at));
    tg_names_done(&names);
}

static void names_may_be_removed_while_they_are_walked_over(void **state)
{
    struct tg_names names = {.n = 0};
    const char *found;
    char name[16];
    size_t at = 0;

    (void)state;
    add_many(&names);
    for (size_t i = 0; (found = tg_names_next(&names, &at)) != NULL; i++)
        if (i % 3 != 0)
            tg_names_remove(&names, found);
    tg_names_remove(&names, "ns/nobody");
    tg_names_tidy(&names);
    assert_int_equal(names.n, (MANY + 2) / 3);
    at = 0;
    for (size_t i = 0; i < MANY; i += 3)
        assert_string_equal(tg_names_next(&names, &at), name_of(i, name));
    tg_names_add(&names, "ns/p-1"); /* it comes again, as the last */
    at = 0;
    for (size_t i = 0; i < MANY; i += 3)
        (void)tg_names_next(&names, &at);
    assert_string_equal(tg_names_next(&names, &at), "ns/p-1");
    tg_names_done(&names);
}

static void what_is_empty_takes_no_memory(void **state)
{
    struct tg_names names = {.n = 0};
    char name[16];

    (void)state;
    add_many(&names);
    assert_true(names.texts.capacity < (size_t)MANY * 16);
    for (size_t i = 0; i < MANY; i++)
        tg_names_remove(&names, name_of(i, name));
    tg_names_tidy(&names);
    assert_null(names.slots);
    assert_int_equal(names.texts.capacity, 0);
    tg_names_remove(&names, "ns/p-1");
    tg_names_done(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_come_in_the_order_in_which_they_were_added_each_once),
        cmocka_unit_test(names_may_be_removed_while_they_are_walked_over),
        cmocka_unit_test(what_is_empty_takes_no_memory),
    };
    return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
