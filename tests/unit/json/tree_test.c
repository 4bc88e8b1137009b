/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/json/tree.h"

static void test_children_stay_with_their_parents_in_order(void **state)
{
    struct tg_arena *arena TG_AUTOARENA = tg_arena_new(1 << 20);
    struct tg_json_tree tree;

    (void)state;
    tg_json_tree_init(&tree, arena);
    tg_json_tree_add(&tree, TG_JSON_OBJECT);
    assert_int_equal(tg_json_tree_key(&tree, "abc", 1), 0);
    tg_json_tree_add(&tree, TG_JSON_ARRAY);
    for (int i = 0; i < 100; i++) {
        tg_json_tree_add(&tree, TG_JSON_ARRAY);
        if (i == 50)
            tg_json_tree_add(&tree, TG_JSON_NULL);
        assert_int_equal(tg_json_tree_end(&tree), 0);
    }
    assert_int_equal(tg_json_tree_end(&tree), 0);
    assert_int_equal(tg_json_tree_key(&tree, "b", 1), 0);
    tg_json_tree_add(&tree, TG_JSON_BOOL)->boolean = true;
    assert_int_equal(tg_json_tree_end(&tree), 0);
    assert_int_equal(tree.depth, 0);
    assert_int_equal(tree.root->n, 2);
    assert_string_equal(tree.root->keys[0], "a");
    assert_int_equal(tree.root->items[0]->n, 100);
    assert_null(tree.root->items[0]->keys);
    assert_int_equal(tree.root->items[0]->items[49]->n, 0);
    assert_int_equal(tree.root->items[0]->items[50]->n, 1);
    assert_true(tree.root->items[1]->boolean);
    tg_json_tree_done(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_children_stay_with_their_parents_in_order),
    };

    return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
