/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/projection.h"

#include "tests/unit/core/world.h"

static struct tg_projection project(struct tg_arena *arena, const char *expression,
                                    const char *device)
{
    const struct tg_device *object = decode(arena, &tg_device_type, device);
    struct tg_selector *selector = NULL;
    struct tg_projection p;

    assert_int_equal(tg_selector_compile(expression, arena, &selector, NULL), 0);
    tg_projection_init(&p, "d", object);
    tg_projection_add(&p, selector, object);
    return p;
}

static bool same(const struct tg_projection *a, const struct tg_projection *b)
{
    return a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

#define M "device.attributes[\"d\"].m"
#define DEVICE(attributes) "{\"name\":\"x\",\"attributes\":{" attributes "}}"

static void devices_are_the_same_to_who_reads_the_same_of_them(void **state)
{
    static const struct {
        const char *expression, *a, *b;
        bool same;
    } cases[] = {
        {M " == 1", DEVICE("\"m\":{\"int\":1}"),
         DEVICE("\"m\":{\"int\":1},\"u\":{\"string\":\"2\"}"), true},
        {M " == 1", DEVICE("\"m\":{\"int\":1}"), DEVICE("\"m\":{\"int\":2}"), false},
        {M " == 1", DEVICE("\"m\":{\"int\":1}"), DEVICE("\"m\":{\"bool\":true}"), false},
        {M " == 1", DEVICE("\"m\":{\"int\":1}"), DEVICE("\"e/m\":{\"int\":1}"), false},
        {M " == 1", DEVICE("\"m\":{\"string\":\"a\"}"), DEVICE("\"m\":{\"version\":\"1.0.0\"}"),
         false},
        {M " == 1", DEVICE("\"m\":{\"int\":1}"),
         "{\"name\":\"x\",\"allowMultipleAllocations\":true,"
         "\"attributes\":{\"m\":{\"int\":1}}}",
         false},
        {"\"m\" in device.attributes[\"e\"]", DEVICE("\"m\":{\"int\":1}"),
         DEVICE("\"m\":{\"int\":2}"), true},
        {"\"m\" in device.attributes[\"e\"]", DEVICE("\"e/m\":{\"int\":1}"), DEVICE(""), false},
        {"device.capacity[\"d\"].m.isInteger()", "{\"capacity\":{\"m\":{\"value\":\"1\"}}}",
         "{\"capacity\":{\"m\":{\"value\":\"2\"}}}", false},
    };
    struct tg_arena *arena = tg_arena_new((size_t)4 << 20);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tg_projection a = project(arena, cases[i].expression, cases[i].a);
        struct tg_projection b = project(arena, cases[i].expression, cases[i].b);

        assert_true(a.fits && b.fits);
        if (same(&a, &b) != cases[i].same)
            fail_msg("%s: %s and %s", cases[i].expression, cases[i].a, cases[i].b);
    }
    tg_arena_free(arena);
}

/* Such a device fails every selector, also one that does not read what is wrong with it. */
static void what_cannot_be_told_by_what_is_read_has_no_projection(void **state)
{
    static const struct {
        const char *expression, *device;
    } cases[] = {
        {M " == 1", DEVICE("\"m\":{\"int\":1},\"v\":{\"version\":\"one\"}")},
        {M " == 1", DEVICE("\"m\":{\"int\":1},\"v\":{\"later\":1}")},
        {M " == 1", DEVICE("\"m\":{\"int\":1},\"v\":{\"ints\":[1]}")},
        {"device.attributes[device.driver].m == 1", DEVICE("\"m\":{\"int\":1}")},
    };
    struct tg_arena *arena = tg_arena_new((size_t)4 << 20);
    char *device = tg_arena_alloc(arena, 2048);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_false(project(arena, cases[i].expression, cases[i].device).fits);
    snprintf(device, 2048, DEVICE("\"m\":{\"string\":\"%0600d\"}"), 0);
    assert_false(project(arena, M " == \"0\"", device).fits);
    tg_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_the_same_to_who_reads_the_same_of_them),
        cmocka_unit_test(what_cannot_be_told_by_what_is_read_has_no_projection),
    };

    return cmocka_run_group_tests_name("projection", tests, NULL, NULL);
}
