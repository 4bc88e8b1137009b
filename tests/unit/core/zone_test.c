/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/zone.h"

#include "controller/core/cel/selector.h"
#include "tests/unit/core/world.h"

/* A zone with summer time from 1000 to 2000 and a rule behind it. */
static const unsigned char file[] =
    /* The block of 32 bits, which nobody reads. */
    "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\1"
    "\0\0\0\0\0\0\0"
    /* isut, isstd, leap, times, types, characters */
    "TZif2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\3\0\0\0\4"
    "\0\0\0\0\0\0\3\xe8\0\0\0\0\0\0\7\xd0"
    "\1\2"
    "\0\0\0\x64\0\0" /* at first: 100 s, and no transition leads there */
    "\0\0\x1c\x20\1\0"
    "\0\0\x0e\x10\0\0"
    "X\0Y\0"
    "\nCET-1CEST,M3.5.0,M10.5.0/3\n";

static size_t served;

static const void *find(void *context, const char *name, size_t *ret_n)
{
    if (strcmp(name, "Test/Zone") != 0)
        return NULL;
    *ret_n = *(const size_t *)context;
    return file;
}

static bool offset_of(const char *name, size_t n, int64_t at, int64_t *ret)
{
    const struct tg_cel_zones zones = {.find = find, .context = &served};

    return tg_cel_zone_offset(&zones, name, n, at, ret);
}

static void the_last_transition_counts_and_behind_it_the_rule(void **state)
{
    static const struct {
        int64_t at, offset;
    } cases[] = {
        {-5000, 100},       {999, 100},         {1000, 7200},
        {1999, 7200},       {2000, 3600},       {2530224000, 3600}, /* 2050-03-07 */
        {2542320000, 7200},                                         /* 2050-07-25 */
        {2531955599, 3600},                                         /* 2050-03-27T00:59:59Z */
        {2531955600, 7200}, {2550704399, 7200},                     /* until 2050-10-30T01:00:00Z */
        {2550704400, 3600},
    };
    int64_t offset = 0;

    (void)state;
    served = sizeof(file) - 1;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(offset_of("Test/Zone", 9, cases[i].at, &offset));
        assert_int_equal(offset, cases[i].offset);
    }
}

static void a_file_that_ends_too_early_is_no_zone_or_one_without_a_rule(void **state)
{
    int64_t offset;

    (void)state;
    for (served = 0; served < sizeof(file) - 1; served++) {
        bool there = offset_of("Test/Zone", 9, 2542320000, &offset);

        if (served < sizeof(file) - 1 - sizeof("\nCET-1CEST,M3.5.0,M10.5.0/3\n") + 1)
            assert_false(there);
        else if (there)
            assert_true(offset == 3600 || offset == 7200);
    }
}

static void names_of_no_zone_are_refused_and_never_asked_for(void **state)
{
    static const char *const names[] = {"Test/Zones", "/Test/Zone", "Test/../Test/Zone", "a:b",
                                        "\\Test"};
    int64_t offset;

    (void)state;
    served = sizeof(file) - 1;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_false(offset_of(names[i], strlen(names[i]), 0, &offset));
    assert_false(offset_of("Test/Zone\0", 10, 0, &offset));
    assert_true(offset_of("-01:30", 6, 0, &offset));
    assert_int_equal(offset, -5400);
}

static void without_a_source_there_are_utc_and_offsets(void **state)
{
    int64_t offset = 1;

    (void)state;
    assert_true(tg_cel_zone_offset(NULL, "UTC", 3, 0, &offset));
    assert_int_equal(offset, 0);
    assert_true(tg_cel_zone_offset(NULL, "Local", 5, 0, &offset));
    assert_true(tg_cel_zone_offset(NULL, "+05:30", 6, 0, &offset));
    assert_int_equal(offset, 19800);
    assert_false(tg_cel_zone_offset(NULL, "Test/Zone", 9, 0, &offset));
}

static void a_selector_reads_zones_from_its_options(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    const struct tg_cel_zones zones = {.find = find, .context = &served};
    const struct tg_selector_options options = {.zones = &zones};
    struct tg_device device = {.name = "d"};
    struct tg_selector *selector = NULL;
    struct tg_error err = TG_ERROR_INIT;
    bool match = false;

    (void)state;
    served = sizeof(file) - 1;
    assert_int_equal(
        tg_selector_compile_with("timestamp('2050-07-25T10:00:00Z').getHours('Test/Zone') == 12",
                                 &options, arena, &selector, &err),
        0);
    assert_int_equal(tg_selector_matches(selector, "d", &device, &match, &err), 0);
    assert_true(match);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_transition_counts_and_behind_it_the_rule),
        cmocka_unit_test(a_file_that_ends_too_early_is_no_zone_or_one_without_a_rule),
        cmocka_unit_test(names_of_no_zone_are_refused_and_never_asked_for),
        cmocka_unit_test(without_a_source_there_are_utc_and_offsets),
        cmocka_unit_test(a_selector_reads_zones_from_its_options),
    };

    return cmocka_run_group_tests_name("zone", tests, NULL, NULL);
}
