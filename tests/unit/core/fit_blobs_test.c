/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/blobs.h"
#include "tests/unit/core/world.h"

static void equal_strings_have_one_number(void **state)
{
    struct tg_arena *arena = tg_arena_new((size_t)1 << 20);
    struct tg_fit_blobs blobs;
    char text[16];
    size_t number = 0;

    (void)state;
    assert_int_equal(tg_fit_blobs_init(&blobs, 500, arena, NULL), 0);
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < 500; i++) {
            size_t n = (size_t)snprintf(text, sizeof(text), "%zu", i);

            assert_int_equal(tg_fit_blobs_has(&blobs, text, n), round > 0);
            assert_int_equal(tg_fit_blobs_add(&blobs, text, n, &number, NULL), 0);
            assert_int_equal(number, i);
        }
    }
    assert_int_equal(blobs.n, 500);
    assert_false(tg_fit_blobs_has(&blobs, "1", 0));
    tg_fit_blobs_clear(&blobs);
    assert_false(tg_fit_blobs_has(&blobs, "1", 1));
    tg_arena_free(arena);
}

static void strings_grow_and_keep_what_they_had(void **state)
{
    struct tg_arena *arena = tg_arena_new((size_t)1 << 20);
    struct tg_fit_bytes bytes = {.arena = arena};

    (void)state;
    for (size_t i = 0; i < 1000; i++)
        tg_fit_bytes_number(&bytes, i);
    assert_int_equal(bytes.rc, 0);
    assert_int_equal(bytes.n, 1000 * sizeof(size_t));
    for (size_t i = 0; i < 1000; i++)
        assert_memory_equal(bytes.data + i * sizeof(i), &i, sizeof(i));
    tg_arena_free(arena);
}

static void memory_that_ends_is_an_error_that_stays(void **state)
{
    struct tg_arena *arena = tg_arena_new((size_t)1 << 20);
    struct tg_fit_bytes bytes = {.arena = arena};

    (void)state;
    tg_arena_fail_after(arena, 1);
    tg_fit_bytes_amount(&bytes, 1);
    tg_fit_bytes_amount(&bytes, 1);
    assert_int_equal(bytes.rc, -TG_RESOURCE_EXHAUSTED);
    assert_int_equal(bytes.n, 0);
    tg_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_strings_have_one_number),
        cmocka_unit_test(strings_grow_and_keep_what_they_had),
        cmocka_unit_test(memory_that_ends_is_an_error_that_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
