/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/json/keys.h"

static void push(struct tg_json_keys *keys, const char *key)
{
    tg_json_keys_push(keys, key, strlen(key), 1);
}

static void test_objects_inside_objects_do_not_mix(void **state)
{
    struct tg_json_keys keys = {0};

    (void)state;
    push(&keys, "a");
    push(&keys, "b");
    push(&keys, "a"); /* of an inner object */
    assert_null(tg_json_keys_pop(&keys, 2));
    push(&keys, "ab");
    assert_null(tg_json_keys_pop(&keys, 0));
    assert_null(tg_json_keys_pop(&keys, 0));
    push(&keys, "a");
    push(&keys, "b");
    push(&keys, "a");
    assert_string_equal(tg_json_keys_pop(&keys, 0)->text, "a");
    tg_json_keys_done(&keys);
}

static void test_a_duplicate_is_found_at_every_size(void **state)
{
    static char names[200][8];
    struct tg_json_keys keys = {0};

    (void)state;
    for (int i = 0; i < 200; i++)
        snprintf(names[i], sizeof(names[i]), "k%d", i);
    for (size_t n = 1; n < 200; n++) {
        for (size_t i = 0; i < n; i++)
            push(&keys, names[i]);
        assert_null(tg_json_keys_pop(&keys, 0));
        for (size_t i = 0; i < n; i++)
            push(&keys, names[i]);
        push(&keys, names[n / 2]);
        assert_string_equal(tg_json_keys_pop(&keys, 0)->text, names[n / 2]);
    }
    tg_json_keys_done(&keys);
}

static void test_keys_without_text_are_the_same_by_hash_and_length(void **state)
{
    struct tg_json_keys keys = {0};
    char passing[] = "a";

    (void)state;
    tg_json_keys_push(&keys, passing, 1, 0);
    passing[0] = 'x';
    push(&keys, "a");
    assert_non_null(tg_json_keys_pop(&keys, 0));
    tg_json_keys_push(&keys, passing, 1, 0);
    push(&keys, "a");
    assert_null(tg_json_keys_pop(&keys, 0));
    tg_json_keys_done(&keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects_inside_objects_do_not_mix),
        cmocka_unit_test(test_a_duplicate_is_found_at_every_size),
        cmocka_unit_test(test_keys_without_text_are_the_same_by_hash_and_length),
    };

    return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
