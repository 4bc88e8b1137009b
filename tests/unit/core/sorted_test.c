/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/sorted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define ITEMS 20000

struct item {
    uint32_t key;
    uint64_t number;
    bool in;
};

static int compare(const void *a, const void *b)
{
    uint32_t x = ((const struct item *)a)->key, y = ((const struct item *)b)->key;

    return x < y ? -1 : x > y;
}

static uint64_t numbered; /* how often an item was given a number, or asked for it */

static uint64_t *number(void *context, void *item)
{
    (void)context;
    numbered++;
    return &((struct item *)item)->number;
}

static uint32_t next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* All that are in, in order, with numbers that grow. */
static void check(const struct tg_sorted *sorted, const struct item *items, size_t n)
{
    struct tg_sorted_at at = {.run = 0};
    const struct item *before = NULL, *item;
    size_t in = 0, walked = 0;

    for (size_t i = 0; i < n; i++)
        in += items[i].in ? 1 : 0;
    while ((item = tg_sorted_next(sorted, &at)) != NULL) {
        assert_true(item->in);
        if (before != NULL) {
            assert_true(before->key < item->key);
            assert_true(before->number < item->number);
        }
        before = item;
        walked++;
    }
    assert_int_equal(walked, in);
    assert_int_equal(sorted->n, in);
}

static void what_comes_and_goes_stays_in_order(void **state)
{
    static struct item items[1000];
    struct tg_sorted sorted = {.compare = compare, .number = number};
    uint32_t random = 2463534242;

    (void)state;
    for (size_t i = 0; i < 1000; i++)
        items[i].key = (uint32_t)i;
    for (size_t k = 0; k < 50000; k++) {
        /* It grows at first and shrinks in the end. */
        struct item *item = &items[next(&random) % 1000];
        bool add = next(&random) % 50000 > k;

        if (add && !item->in)
            tg_sorted_add(&sorted, item);
        else if (!add && item->in)
            tg_sorted_remove(&sorted, item);
        item->in = add;
        if (k % 500 == 0)
            check(&sorted, items, 1000);
    }
    for (size_t i = 0; i < 1000; i++) {
        if (items[i].in)
            tg_sorted_remove(&sorted, &items[i]);
        items[i].in = false;
    }
    check(&sorted, items, 1000);
    assert_int_equal(sorted.n_runs, 0);
    tg_sorted_done(&sorted);
}

/* Whoever adds at one place all the time uses up the numbers there; new ones go to few others. */
static void numbers_last_wherever_items_are_added(void **state)
{
    enum { UP, DOWN, INWARDS, OUTWARDS, WAYS };
    static struct item items[ITEMS];

    (void)state;
    for (unsigned way = 0; way < WAYS; way++) {
        struct tg_sorted sorted = {.compare = compare, .number = number};

        numbered = 0;
        for (uint32_t i = 0; i < ITEMS; i++) {
            uint32_t side = i % 2 == 0 ? i / 2 : ITEMS - i / 2, middle = ITEMS;

            items[i] = (struct item){.in = true};
            items[i].key = way == UP        ? i
                           : way == DOWN    ? ITEMS - i
                           : way == INWARDS ? side
                           : i % 2 == 0     ? middle - i
                                            : middle + i;
            tg_sorted_add(&sorted, &items[i]);
        }
        check(&sorted, items, ITEMS);
        if (numbered > (uint64_t)ITEMS * 100)
            fail_msg("way %u: %llu numbers", way, (unsigned long long)numbered);
        tg_sorted_done(&sorted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_and_goes_stays_in_order),
        cmocka_unit_test(numbers_last_wherever_items_are_added),
    };

    return cmocka_run_group_tests_name("sorted", tests, NULL, NULL);
}
