/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/runtime/base/vec.h"

static void pushed_elements_are_zeroed_and_keep_their_order(void **state)
{
    TG_VEC(struct {
        int a;
        int b;
    })
    list = {0};

    (void)state;
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(TG_VEC_PUSH(&list)->b, 0);
        list.items[list.n - 1].a = i;
        list.items[list.n - 1].b = -1; /* must not shine through after a clear */
    }
    assert_int_equal(list.n, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(list.items[i].a, i);
    TG_VEC_CLEAR(&list);
    assert_int_equal(list.n, 0);
    assert_int_equal(TG_VEC_PUSH(&list)->b, 0);
    TG_VEC_DONE(&list);
    assert_null(list.items);
    assert_int_equal(list.capacity, 0);
}

static void reserved_room_is_not_moved(void **state)
{
    TG_VEC(int) list = {0};
    const int *items;

    (void)state;
    TG_VEC_RESERVE(&list, 100);
    items = list.items;
    for (int i = 0; i < 100; i++)
        *TG_VEC_PUSH(&list) = i;
    assert_ptr_equal(list.items, items);
    TG_VEC_DONE(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushed_elements_are_zeroed_and_keep_their_order),
        cmocka_unit_test(reserved_room_is_not_moved),
    };

    return cmocka_run_group_tests_name("vec", tests, NULL, NULL);
}
