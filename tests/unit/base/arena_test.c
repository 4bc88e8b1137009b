/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/base/cleanup.h"

static void nothing_is_taken_from_the_heap_before_the_first_allocation(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(4096);

    (void)state;
    assert_int_equal(tg_arena_used(arena), 0);
    assert_false(tg_arena_exhausted(arena));
}

static void memory_is_zeroed_and_aligned(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    static const unsigned char zeros[300];

    (void)state;
    for (size_t round = 0; round < 2; round++) {
        for (size_t size = 1; size < 300; size++) {
            unsigned char *p = tg_arena_alloc(arena, size);

            assert_non_null(p);
            assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
            assert_memory_equal(p, zeros, size);
            memset(p, 0xff, size); /* the second round must not see it */
        }
        tg_arena_reset(arena);
    }
}

static void allocations_do_not_overlap(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    enum { COUNT = 2000 };
    static unsigned char *p[COUNT];
    static size_t sizes[COUNT];
    unsigned int seed = 1;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        seed = seed * 1103515245u + 12345u;
        sizes[i] = (seed >> 16) % (i % 50 == 0 ? 100000 : 200) + 1;
        p[i] = tg_arena_alloc(arena, sizes[i]);
        assert_non_null(p[i]);
        memset(p[i], (int)(i % 251), sizes[i]);
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t j = 0; j < sizes[i]; j++)
            assert_int_equal(p[i][j], i % 251);
    }
}

static void size_zero_gives_pointers_of_their_own(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(4096);
    void *a = tg_arena_alloc(arena, 0);
    void *b = tg_arena_alloc(arena, 0);

    (void)state;
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
}

static void the_budget_is_never_passed_and_exhaustion_stays_visible(void **state)
{
    (void)state;
    for (size_t budget = 0; budget < 5000; budget += 7) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(budget);
        size_t given = 0;

        for (size_t i = 0; i < 400; i++) {
            size_t size = i % 90 + 1;

            if (tg_arena_alloc(arena, size) != NULL)
                given += size;
            assert_true(tg_arena_used(arena) <= budget);
        }
        assert_true(given <= budget);
        assert_true(tg_arena_exhausted(arena));
    }
}

static void most_of_a_budget_is_usable(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);
    size_t given = 0;

    (void)state;
    while (tg_arena_alloc(arena, 64) != NULL)
        given += 64;
    assert_in_range(given, (1 << 20) * 97 / 100, 1 << 20);
}

static void what_is_left_and_what_is_used_are_the_budget(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(100000);
    TG_AUTOARENA struct tg_arena *unlimited = tg_arena_new(TG_ARENA_UNLIMITED);

    (void)state;
    assert_int_equal(tg_arena_left(arena), 100000);
    while (tg_arena_alloc(arena, 1000) != NULL)
        assert_int_equal(tg_arena_left(arena) + tg_arena_used(arena), 100000);
    assert_true(tg_arena_left(arena) < 1100);
    tg_arena_reset(arena);
    assert_int_equal(tg_arena_left(arena) + tg_arena_used(arena), 100000);
    assert_non_null(tg_arena_alloc(unlimited, 1000));
    assert_true(tg_arena_left(unlimited) > SIZE_MAX / 2);
}

static void one_allocation_may_take_the_whole_budget_less_the_header(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(200000);

    (void)state;
    assert_non_null(tg_arena_alloc(arena, 199900));
    assert_null(tg_arena_alloc(arena, 1000));
}

static void sizes_that_overflow_are_exhaustion(void **state)
{
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 40, SIZE_MAX / 2 + 1};

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(sizes); i++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);

        assert_null(tg_arena_alloc(arena, sizes[i]));
        assert_true(tg_arena_exhausted(arena));
        assert_int_equal(tg_arena_used(arena), 0);
    }
}

static void arrays_check_their_product(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(1 << 20);

    (void)state;
    assert_non_null(tg_arena_alloc_array(arena, 10, 20));
    assert_false(tg_arena_exhausted(arena));
    assert_null(tg_arena_alloc_array(arena, SIZE_MAX / 8 + 2, 8));
    assert_true(tg_arena_exhausted(arena));
}

static void strings_are_copied_with_their_nul(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(4096);
    char source[] = "abcdef";
    char *part = tg_arena_strndup(arena, source, 3);
    char *whole = tg_arena_strdup(arena, source);
    char *binary = tg_arena_strndup(arena, "a\0b", 3);

    (void)state;
    source[0] = 'X';
    assert_string_equal(part, "abc");
    assert_string_equal(whole, "abcdef");
    assert_memory_equal(binary, "a\0b\0", 4);
    assert_string_equal(tg_arena_strndup(arena, NULL, 0), "");
    assert_string_equal(tg_arena_printf(arena, "%s-%d", "n", 7), "n-7");
    assert_null(tg_arena_strndup(arena, source, SIZE_MAX));
    assert_true(tg_arena_exhausted(arena));
}

/* Something that allocates in every way there is; returns how many allocations succeeded. */
static size_t allocate_everything(struct tg_arena *arena)
{
    size_t n = 0;

    n += tg_arena_alloc(arena, 10) != NULL;
    n += tg_arena_alloc_array(arena, 3, 5) != NULL;
    n += tg_arena_strdup(arena, "text") != NULL;
    n += tg_arena_strndup(arena, "text", 2) != NULL;
    n += tg_arena_printf(arena, "%d", 1) != NULL;
    n += tg_arena_alloc(arena, 100000) != NULL;
    return n;
}

static void every_allocation_can_be_made_to_fail_from_the_nth_on(void **state)
{
    (void)state;
    for (size_t nth = 1; nth <= 6; nth++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);

        tg_arena_fail_after(arena, nth);
        assert_int_equal(allocate_everything(arena), nth - 1);
        assert_true(tg_arena_exhausted(arena));
        tg_arena_fail_after(arena, 0);
        assert_int_equal(allocate_everything(arena), 6);
    }
}

static void reset_gives_the_budget_back_and_keeps_the_first_block(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(100000);
    void *first = tg_arena_alloc(arena, 16);
    size_t one_block = tg_arena_used(arena);

    (void)state;
    while (tg_arena_alloc(arena, 1000) != NULL)
        ;
    assert_true(tg_arena_exhausted(arena));
    tg_arena_reset(arena);
    assert_false(tg_arena_exhausted(arena));
    assert_int_equal(tg_arena_used(arena), one_block);
    assert_ptr_equal(tg_arena_alloc(arena, 16), first);
    assert_non_null(tg_arena_alloc(arena, 90000));
}

struct trace {
    char order[8];
    size_t n;
};

struct mark {
    struct trace *trace;
    char letter;
};

static void leave_mark(void *data)
{
    struct mark *mark = data;

    mark->trace->order[mark->trace->n++] = mark->letter;
}

static void callbacks_run_once_newest_first_on_reset_and_free(void **state)
{
    struct tg_arena *arena = tg_arena_new(4096);
    struct trace trace = {0};
    struct mark a = {&trace, 'a'};
    struct mark b = {&trace, 'b'};
    struct mark c = {&trace, 'c'};

    (void)state;
    assert_int_equal(tg_arena_on_reset(arena, leave_mark, &a), 0);
    assert_int_equal(tg_arena_on_reset(arena, leave_mark, &b), 0);
    tg_arena_reset(arena);
    assert_string_equal(trace.order, "ba");
    assert_int_equal(tg_arena_on_reset(arena, leave_mark, &c), 0);
    tg_arena_free(arena);
    assert_string_equal(trace.order, "bac");
}

static void a_callback_that_did_not_fit_is_not_run(void **state)
{
    struct tg_arena *arena = tg_arena_new(4096);
    struct trace trace = {0};
    struct mark a = {&trace, 'a'};

    (void)state;
    tg_arena_fail_after(arena, 1);
    assert_int_equal(tg_arena_on_reset(arena, leave_mark, &a), -1);
    tg_arena_free(arena);
    assert_string_equal(trace.order, "");
}

static void free_takes_null(void **state)
{
    (void)state;
    tg_arena_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_taken_from_the_heap_before_the_first_allocation),
        cmocka_unit_test(memory_is_zeroed_and_aligned),
        cmocka_unit_test(allocations_do_not_overlap),
        cmocka_unit_test(size_zero_gives_pointers_of_their_own),
        cmocka_unit_test(the_budget_is_never_passed_and_exhaustion_stays_visible),
        cmocka_unit_test(most_of_a_budget_is_usable),
        cmocka_unit_test(what_is_left_and_what_is_used_are_the_budget),
        cmocka_unit_test(one_allocation_may_take_the_whole_budget_less_the_header),
        cmocka_unit_test(sizes_that_overflow_are_exhaustion),
        cmocka_unit_test(arrays_check_their_product),
        cmocka_unit_test(strings_are_copied_with_their_nul),
        cmocka_unit_test(every_allocation_can_be_made_to_fail_from_the_nth_on),
        cmocka_unit_test(reset_gives_the_budget_back_and_keeps_the_first_block),
        cmocka_unit_test(callbacks_run_once_newest_first_on_reset_and_free),
        cmocka_unit_test(a_callback_that_did_not_fit_is_not_run),
        cmocka_unit_test(free_takes_null),
    };

    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
