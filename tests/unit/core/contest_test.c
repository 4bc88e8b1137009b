/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/world.h"

#include "controller/core/model/node_view.h"

/* A class without our label and with these selectors. */
#define OTHERS(name, selectors)                                                                    \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"selectors\":[" selectors "]}}"
#define LABELLED(name, instance, selectors)                                                        \
    "{\"metadata\":{\"name\":\"" name "\",\"labels\":{\"tangram.dev/controller\":\"" instance      \
    "\"}},\"spec\":{\"selectors\":[" selectors "]}}"
#define CEL(expression) "{\"cel\":{\"expression\":\"" expression "\"}}"

/* Two nodes of two devices: those of n1 are of model a, those of n2 of model b; a managed class for
 * all of them. */
static void two_models(struct world *w)
{
    world_init(w);
    add_node(w, "n1", "", "");
    add_node(w, "n2", "", "");
    add_gpus(w, "n1", 2, "\"model\":{\"string\":\"a\"}");
    add_gpus(w, "n2", 2, "\"model\":{\"string\":\"b\"}");
    add_class(w, "gpu", "");
}

/* How many devices are contested, and by whom; "" for nobody. */
static void expect(struct world *w, const char *by, size_t devices)
{
    const struct tg_fleet *fleet = world_fleet(w);
    struct tg_fleet_contest contest;
    size_t n = 0;

    for (size_t i = 0; i < fleet->n_devices; i++) {
        n += fleet->devices[i].contested != NULL;
        if (fleet->devices[i].contested != NULL)
            assert_string_equal(fleet->devices[i].contested, by);
    }
    assert_int_equal(n, devices);
    assert_int_equal(tg_fleet_contest(fleet, 0, &contest), devices > 0);
    if (devices > 0) {
        assert_int_equal(contest.devices, devices);
        assert_string_equal(contest.klass->metadata->name, by);
        assert_false(tg_fleet_contest(fleet, 1, &contest));
    }
    world_done(w);
}

static void an_unmanaged_class_contests_the_devices_that_it_matches_and_no_others(void **state)
{
    struct world w;

    (void)state;
    two_models(&w);
    add_raw_class(
        &w, OTHERS("theirs", CEL("device.attributes[\\\"" GPU_DRIVER "\\\"].model == \\\"b\\\"")));
    expect(&w, "theirs", 2);
}

static void a_class_without_selectors_contests_everything(void **state)
{
    struct world w;

    (void)state;
    two_models(&w);
    add_raw_class(&w, OTHERS("any", ""));
    expect(&w, "any", 4);
}

static void a_class_that_keeps_the_guard_contests_nothing(void **state)
{
    struct world w;

    (void)state;
    two_models(&w);
    /* The scheduler never sees the attribute; who took the label away has not given the devices. */
    add_raw_class(&w, OTHERS("former", GUARD_JSON));
    expect(&w, "", 0);
}

static void devices_that_no_managed_class_reaches_are_not_ours_to_contest(void **state)
{
    struct world w;

    (void)state;
    two_models(&w);
    w.n_classes = 0;
    add_class(&w, "a", "," CEL("device.attributes[\\\"" GPU_DRIVER "\\\"].model == \\\"a\\\""));
    add_raw_class(
        &w, OTHERS("theirs", CEL("device.attributes[\\\"" GPU_DRIVER "\\\"].model == \\\"b\\\"")));
    expect(&w, "", 0);
}

static void a_class_of_another_instance_and_one_that_lacks_the_guard_contest_too(void **state)
{
    struct world w;

    (void)state;
    two_models(&w);
    add_raw_class(&w, LABELLED("second", "other", GUARD_JSON));
    expect(&w, "second", 4);
    two_models(&w);
    add_raw_class(&w, LABELLED("open", "default", CEL("true")));
    expect(&w, "open", 4);
}

static void what_we_do_not_understand_counts_as_a_match_what_fails_does_not(void **state)
{
    struct world w;

    (void)state;
    two_models(&w);
    add_raw_class(&w, OTHERS("newer", "{\"jsonPath\":\"$.x\"}"));
    expect(&w, "newer", 4);
    two_models(&w);
    add_raw_class(
        &w, OTHERS("fails", CEL("device.attributes[\\\"" GPU_DRIVER "\\\"].absent == \\\"x\\\"")));
    expect(&w, "", 0);
}

static void the_first_class_by_name_is_named_whatever_the_order(void **state)
{
    struct world w;

    (void)state;
    for (int reverse = 0; reverse < 2; reverse++) {
        const struct tg_device_class *swap;

        two_models(&w);
        add_raw_class(&w, OTHERS("x", CEL("true")));
        add_raw_class(&w, OTHERS("y", CEL("true")));
        if (reverse) {
            swap = w.classes[1];
            w.classes[1] = w.classes[2];
            w.classes[2] = swap;
        }
        expect(&w, "x", 4);
    }
}

/* Devices are told apart by what selectors read: each kind of value, capacity, and what has no
 * key. */
static void devices_that_differ_in_what_is_read_are_judged_one_by_one(void **state)
{
    static const char *const expressions[] = {
        "device.attributes[\\\"" GPU_DRIVER "\\\"].number == 2",
        "device.attributes[\\\"" GPU_DRIVER "\\\"].flag",
        "device.attributes[\\\"" GPU_DRIVER "\\\"].version.isGreaterThan(semver(\\\"1.5.0\\\"))",
        "device.attributes[\\\"" GPU_DRIVER "\\\"].exists(k, k == \\\"only\\\")",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(expressions) / sizeof(expressions[0]); i++) {
        struct world w;
        char json[512];

        world_init(&w);
        add_node(&w, "n1", "", "");
        add_node(&w, "n2", "", "");
        add_gpus(&w, "n1", 2,
                 "\"number\":{\"int\":1},\"flag\":{\"bool\":false},\"version\":{\"version\":"
                 "\"1.0.0\"}");
        add_gpus(&w, "n2", 2,
                 "\"number\":{\"int\":2},\"flag\":{\"bool\":true},\"version\":{\"version\":"
                 "\"2.0.0\"},\"only\":{\"bool\":true}");
        add_class(&w, "gpu", "");
        snprintf(json, sizeof(json), OTHERS("theirs", CEL("%s")), expressions[i]);
        add_raw_class(&w, json);
        expect(&w, "theirs", 2);
    }
}

static void a_contested_device_is_barred_in_the_view_of_its_node(void **state)
{
    const struct tg_rules rules = {.release = 37};
    struct tg_error err = TG_ERROR_INIT;
    struct tg_view view;
    struct world w;

    (void)state;
    two_models(&w);
    add_raw_class(
        &w, OTHERS("theirs", CEL("device.attributes[\\\"" GPU_DRIVER "\\\"].model == \\\"b\\\"")));
    assert_int_equal(tg_fleet_view(world_fleet(&w), "n2", &rules, w.arena, &view, &err), 0);
    assert_int_equal(view.n_devices, 2);
    assert_string_equal(view.devices[0].barred,
                        "DeviceClass theirs, which is not managed, matches too");
    assert_int_equal(tg_fleet_view(world_fleet(&w), "n1", &rules, w.arena, &view, &err), 0);
    assert_null(view.devices[0].barred);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unmanaged_class_contests_the_devices_that_it_matches_and_no_others),
        cmocka_unit_test(a_class_without_selectors_contests_everything),
        cmocka_unit_test(a_class_that_keeps_the_guard_contests_nothing),
        cmocka_unit_test(devices_that_no_managed_class_reaches_are_not_ours_to_contest),
        cmocka_unit_test(a_class_of_another_instance_and_one_that_lacks_the_guard_contest_too),
        cmocka_unit_test(what_we_do_not_understand_counts_as_a_match_what_fails_does_not),
        cmocka_unit_test(the_first_class_by_name_is_named_whatever_the_order),
        cmocka_unit_test(devices_that_differ_in_what_is_read_are_judged_one_by_one),
        cmocka_unit_test(a_contested_device_is_barred_in_the_view_of_its_node),
    };

    return cmocka_run_group_tests_name("contest", tests, NULL, NULL);
}
