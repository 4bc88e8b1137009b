/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/attribute.h"
#include "tests/unit/core/world.h"

static void the_drivers_own_attribute_is_found_bare_or_qualified(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    const struct tg_device *d = decode(arena, &tg_device_type,
                                       "{\"name\":\"d\",\"attributes\":{\"a\":{\"int\":1},\"b\":{"
                                       "\"int\":2},\"x.com/b\":{\"int\":3},\"y.com/c\":{"
                                       "\"int\":4}}}");

    (void)state;
    assert_int_equal(tg_attribute_own(d, "x.com", "a")->int_.value, 1);
    assert_int_equal(tg_attribute_own(d, "x.com", "b")->int_.value, 3);
    assert_int_equal(tg_attribute_own(d, "z.com", "b")->int_.value, 2);
    assert_null(tg_attribute_own(d, "x.com", "c"));
}

static void a_domain_is_published_bare_or_qualified_and_whole(void **state)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    const struct tg_device *d = decode(
        arena, &tg_device_type,
        "{\"name\":\"d\",\"attributes\":{\"a\":{\"int\":1},\"tangram.device/b\":{\"int\":2}}}");

    (void)state;
    assert_true(tg_attribute_has_domain(d, "x.com", "x.com"));
    assert_true(tg_attribute_has_domain(d, "x.com", "tangram.device"));
    assert_false(tg_attribute_has_domain(d, "x.com", "tangram.dev"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_drivers_own_attribute_is_found_bare_or_qualified),
        cmocka_unit_test(a_domain_is_published_bare_or_qualified_and_whole),
    };

    return cmocka_run_group_tests_name("attribute", tests, NULL, NULL);
}
