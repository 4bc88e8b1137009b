/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/table.h"
#include "tests/unit/core/world.h"

struct item {
    struct tg_record record;
    int value;
};

static bool is_item(const struct tg_record *record, const void *key)
{
    return ((const struct item *)record)->value == *(const int *)key;
}

/* Few different hashes: chains are long, and what is removed leaves holes in them. */
static uint64_t poor_hash(int value)
{
    return (uint64_t)value % 7;
}

static void a_table_finds_what_was_added_and_not_removed(void **state)
{
    enum { N = 300 };
    static struct item items[N];
    bool there[N] = {false};
    struct tg_table table = {.n = 0};
    uint64_t random = 42;

    (void)state;
    for (int i = 0; i < N; i++)
        items[i] = (struct item){.record = {.hash = (uint32_t)poor_hash(i)}, .value = i};
    for (int step = 0; step < 20000; step++) {
        int i, seen = 0;
        size_t n = 0, at = 0;

        random = tg_hash_mix(random, (uint64_t)step);
        i = (int)(random % N);
        assert_ptr_equal(tg_table_find(&table, poor_hash(i), is_item, &i),
                         there[i] ? &items[i].record : NULL);
        if (there[i])
            tg_table_remove(&table, &items[i].record);
        else
            tg_table_add(&table, &items[i].record);
        there[i] = !there[i];
        for (int k = 0; k < N; k++)
            n += there[k] ? 1 : 0;
        assert_int_equal(table.n, n);
        if (step % 500 != 0)
            continue;
        while (tg_table_next(&table, &at) != NULL)
            seen++;
        assert_int_equal(seen, n);
        for (int k = 0; k < N; k++)
            assert_true((tg_table_find(&table, poor_hash(k), is_item, &k) != NULL) == there[k]);
    }
    tg_table_done(&table);
}

static void note(void *data, const unsigned char *bytes)
{
    (void)bytes;
    (*(int *)data)++;
}

static void bytes_are_kept_once_until_the_last_use_ends(void **state)
{
    struct tg_blobs blobs = {.n_items = 0};
    uint32_t a = tg_blobs_use(&blobs, "abc", 4), b = tg_blobs_use(&blobs, "abd", 4);
    int died = 0;

    (void)state;
    assert_int_not_equal(a, b);
    assert_int_equal(tg_blobs_use(&blobs, "abc", 4), a);
    assert_int_equal(tg_blobs_find(&blobs, "abc", 4), a);
    assert_int_equal(tg_blobs_find(&blobs, "abc", 3), 0);
    assert_string_equal((const char *)tg_blobs_get(&blobs, b), "abd");
    tg_blobs_drop(&blobs, a, note, &died);
    assert_int_equal(died, 0);
    tg_blobs_drop(&blobs, a, note, &died);
    assert_int_equal(died, 1);
    assert_int_equal(tg_blobs_find(&blobs, "abc", 4), 0);
    /* The number is free for others. */
    assert_int_equal(tg_blobs_use(&blobs, "x", 2), a);
    tg_blobs_done(&blobs);
}

static void hashes_tell_order_and_ends_of_texts_apart(void **state)
{
    (void)state;
    assert_true(tg_hash_text(tg_hash_text(1, "ab"), "c") !=
                tg_hash_text(tg_hash_text(1, "a"), "bc"));
    assert_true(tg_hash_text(1, "a") != tg_hash_text(2, "a"));
    assert_true(tg_hash_text(1, NULL) != tg_hash_text(1, ""));
    assert_true(tg_hash_mix(tg_hash_mix(0, 1), 2) != tg_hash_mix(tg_hash_mix(0, 2), 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_finds_what_was_added_and_not_removed),
        cmocka_unit_test(bytes_are_kept_once_until_the_last_use_ends),
        cmocka_unit_test(hashes_tell_order_and_ends_of_texts_apart),
    };

    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
