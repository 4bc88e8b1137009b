/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/map.h"
#include "api/runtime/base/mem.h"

static int frees;

static void count_free(void *value)
{
    frees++;
    free(value);
}

static int start_counting(void **state)
{
    (void)state;
    frees = 0;
    return 0;
}

static void keys_are_copied_and_missing_ones_are_null(void **state)
{
    TG_AUTOMAP struct tg_map *map = tg_map_new(NULL);
    char key[] = "key";
    int value = 1;

    (void)state;
    assert_null(tg_map_get(map, "key"));
    tg_map_set(map, key, &value);
    key[0] = 'X';
    assert_ptr_equal(tg_map_get(map, "key"), &value);
    assert_null(tg_map_get(map, "Xey"));
    assert_false(tg_map_has(map, "ke"));
    assert_false(tg_map_has(map, "key2"));
    assert_true(tg_map_has(map, "key"));
}

static void a_null_value_is_there_all_the_same(void **state)
{
    TG_AUTOMAP struct tg_map *map = tg_map_new(count_free);

    (void)state;
    tg_map_set(map, "", NULL);
    assert_true(tg_map_has(map, ""));
    assert_null(tg_map_get(map, ""));
    assert_true(tg_map_remove(map, ""));
    assert_int_equal(frees, 0);
}

static void iteration_is_in_the_order_of_insertion(void **state)
{
    TG_AUTOMAP struct tg_map *map = tg_map_new(NULL);
    char key[32];
    int value = 0;
    int i = 0;

    (void)state;
    for (int k = 0; k < 5000; k++) {
        snprintf(key, sizeof(key), "key-%d", (k * 7919) % 5000);
        tg_map_set(map, key, &value);
    }
    tg_map_remove(map, "key-0");       /* the first */
    tg_map_set(map, "key-2838", NULL); /* replaced: keeps its place */
    tg_map_set(map, "key-0", &value);
    assert_int_equal(tg_map_count(map), 5000);
    for (struct tg_map_entry *e = tg_map_first(map); e != NULL; e = tg_map_next(e)) {
        i++;
        snprintf(key, sizeof(key), "key-%d", i == 5000 ? 0 : (i * 7919) % 5000);
        assert_string_equal(tg_map_key(e), key);
        assert_ptr_equal(tg_map_value(e), strcmp(key, "key-2838") == 0 ? NULL : (void *)&value);
    }
    assert_int_equal(i, 5000);
}

static void the_current_entry_may_be_removed_while_iterating(void **state)
{
    TG_AUTOMAP struct tg_map *map = tg_map_new(NULL);
    char key[32];
    int kept = 0;

    (void)state;
    for (int k = 0; k < 100; k++) {
        snprintf(key, sizeof(key), "%d", k);
        tg_map_set(map, key, map);
    }
    for (struct tg_map_entry *e = tg_map_first(map), *next; e != NULL; e = next) {
        next = tg_map_next(e);
        if (kept++ % 2 == 0)
            assert_true(tg_map_remove(map, tg_map_key(e)));
    }
    assert_int_equal(tg_map_count(map), 50);
    assert_string_equal(tg_map_key(tg_map_first(map)), "1");
}

static void values_are_freed_once_when_replaced_removed_or_dropped(void **state)
{
    struct tg_map *map = tg_map_new(count_free);
    char *same = tg_xstrdup("same");
    char *taken;

    (void)state;
    tg_map_set(map, "a", tg_xstrdup("1"));
    tg_map_set(map, "a", tg_xstrdup("2"));
    assert_int_equal(frees, 1);
    tg_map_set(map, "a", same);
    assert_int_equal(frees, 2);
    tg_map_set(map, "a", same); /* set to what it is: nothing to free */
    assert_int_equal(frees, 2);
    tg_map_set(map, "b", tg_xstrdup("3"));
    assert_true(tg_map_remove(map, "b"));
    assert_false(tg_map_remove(map, "b"));
    assert_int_equal(frees, 3);
    taken = tg_map_take(map, "a");
    assert_string_equal(taken, "same");
    assert_null(tg_map_take(map, "a"));
    assert_int_equal(frees, 3);
    free(taken);
    tg_map_set(map, "c", tg_xstrdup("4"));
    tg_map_clear(map);
    assert_int_equal(frees, 4);
    assert_null(tg_map_first(map));
    tg_map_set(map, "d", tg_xstrdup("5"));
    tg_map_free(map);
    assert_int_equal(frees, 5);
    tg_map_free(NULL);
}

static void a_key_may_be_removed_by_its_own_copy(void **state)
{
    TG_AUTOMAP struct tg_map *map = tg_map_new(count_free);

    (void)state;
    tg_map_set(map, "k", tg_xstrdup("v"));
    assert_true(tg_map_remove(map, tg_map_key(tg_map_first(map))));
    assert_int_equal(tg_map_count(map), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(keys_are_copied_and_missing_ones_are_null, start_counting),
        cmocka_unit_test_setup(a_null_value_is_there_all_the_same, start_counting),
        cmocka_unit_test_setup(iteration_is_in_the_order_of_insertion, start_counting),
        cmocka_unit_test_setup(the_current_entry_may_be_removed_while_iterating, start_counting),
        cmocka_unit_test_setup(values_are_freed_once_when_replaced_removed_or_dropped,
                               start_counting),
        cmocka_unit_test_setup(a_key_may_be_removed_by_its_own_copy, start_counting),
    };

    return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
