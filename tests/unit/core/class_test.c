/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/world.h"

#define LABELLED(value)                                                                            \
    "\"metadata\":{\"name\":\"c\",\"labels\":{\"tangram.dev/controller\":\"" value "\"}}"

static void label_and_guard_decide_whose_a_class_is(void **state)
{
    static const struct {
        const char *json;
        enum tg_class_kind kind;
    } cases[] = {
        {"{\"metadata\":{\"name\":\"c\"},\"spec\":{\"selectors\":[" GUARD_JSON "]}}",
         TG_CLASS_UNMANAGED},
        {"{" LABELLED("default") ",\"spec\":{\"selectors\":[" GUARD_JSON "]}}", TG_CLASS_MANAGED},
        {"{" LABELLED(
             "default") ",\"spec\":{\"selectors\":[{\"cel\":{\"expression\":\"true\"}}," GUARD_JSON
                        "]}}",
         TG_CLASS_MANAGED},
        {"{" LABELLED("other") ",\"spec\":{\"selectors\":[" GUARD_JSON "]}}",
         TG_CLASS_OTHER_INSTANCE},
        {"{" LABELLED("default") ",\"spec\":{\"selectors\":[]}}", TG_CLASS_UNGUARDED},
        {"{" LABELLED("default") "}", TG_CLASS_UNGUARDED},
        /* Not exactly the guard: something beside it could undo it. */
        {"{" LABELLED("default") ",\"spec\":{\"selectors\":[{\"cel\":{\"expression\":\"true || "
                                 "\\\"granted\\\" in "
                                 "device.attributes[\\\"tangram.dev\\\"]\"}}]}}",
         TG_CLASS_UNGUARDED},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
        const struct tg_device_class *klass = decode(arena, &tg_device_class_type, cases[i].json);

        assert_int_equal(tg_class_kind(klass, "default"), cases[i].kind);
    }
}

static void a_selector_that_does_not_compile_spoils_its_class_only(void **state)
{
    struct world w;
    struct tg_fleet *fleet;

    (void)state;
    world_init(&w);
    add_class(&w, "bad", ",{\"cel\":{\"expression\":\"device.driver > 1\"}}");
    add_class(&w, "good", "");
    add_class(&w, "odd", ",{}");
    fleet = world_fleet(&w);
    assert_int_equal(tg_fleet_find_class(fleet, "bad")->compile_code, -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(tg_fleet_find_class(fleet, "bad")->compile_error, "'_>_'"));
    assert_int_equal(tg_fleet_find_class(fleet, "odd")->compile_code, -TG_UNIMPLEMENTED);
    assert_int_equal(tg_fleet_find_class(fleet, "good")->compile_code, 0);
    assert_int_equal(tg_fleet_find_class(fleet, "good")->n_selectors, 1);
    assert_null(tg_fleet_find_class(fleet, "none"));
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(label_and_guard_decide_whose_a_class_is),
        cmocka_unit_test(a_selector_that_does_not_compile_spoils_its_class_only),
    };

    return cmocka_run_group_tests_name("class", tests, NULL, NULL);
}
