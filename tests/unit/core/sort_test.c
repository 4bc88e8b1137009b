/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/sort.h"
#include "tests/unit/core/world.h"

struct item {
    int key;
    size_t place;
};

static int compare(const void *pa, const void *pb, const void *context)
{
    const struct item *a = pa, *b = pb;

    assert_string_equal(context, "context");
    return a->key < b->key ? -1 : a->key > b->key;
}

static void items_are_in_order_and_equal_ones_keep_theirs(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);

    (void)state;
    for (size_t n = 0; n < 200; n++) {
        struct item items[200];
        const void *order[200];
        uint32_t random = (uint32_t)n + 1;

        for (size_t i = 0; i < n; i++) {
            random = random * 1664525U + 1013904223U;
            items[i] = (struct item){.key = (int)(random >> 24) % 20, .place = i};
            order[i] = &items[i];
        }
        assert_int_equal(tg_core_sort(order, n, compare, "context", arena, NULL), 0);
        for (size_t i = 1; i < n; i++) {
            const struct item *a = order[i - 1], *b = order[i];

            assert_true(a->key < b->key || (a->key == b->key && a->place < b->place));
        }
    }
}

static void without_memory_nothing_is_sorted(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct item items[2] = {{.key = 2}, {.key = 1}};
    const void *order[2] = {&items[0], &items[1]};
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    tg_arena_fail_after(arena, 1);
    assert_int_equal(tg_core_sort(order, 2, compare, "context", arena, &err),
                     -TG_RESOURCE_EXHAUSTED);
    assert_ptr_equal(order[0], &items[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_in_order_and_equal_ones_keep_theirs),
        cmocka_unit_test(without_memory_nothing_is_sorted),
    };

    return cmocka_run_group_tests_name("sort", tests, NULL, NULL);
}
