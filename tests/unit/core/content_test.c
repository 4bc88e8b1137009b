/* SPDX-License-Identifier: Apache-2.0 */
/* Devices in two parts, their shape and what tells them apart (controller/core/model/content.c). */
#include "controller/core/model/attribute.h"
#include "controller/core/model/selection.h"
#include "tests/unit/core/world.h"

#include "api/runtime/base/cleanup.h"

#define UUID(n) "\"uuid\":{\"string\":\"GPU-0000000" n "-0000-4000-8000-000000000001\"}"
#define BUS(n) "\"resource.kubernetes.io/pciBusID\":{\"string\":\"0000:0" n ":00.0\"}"
#define H100 "\"productName\":{\"string\":\"H100\"}"
#define OWN "device.attributes[\"" GPU_DRIVER "\"]"

static const struct {
    const char *name, *attributes, *more;
} devices[] = {
    {"a", H100 "," UUID("1") "," BUS("1"), ""},
    {"b", H100 "," UUID("2") "," BUS("2"), ""},
    {"c", UUID("3") "," H100 "," BUS("3"), ""},
    {"d", H100 "," UUID("1") "," BUS("1"), ",\"allowMultipleAllocations\":true"},
    {"e", "\"productName\":{\"string\":\"A100\"}," UUID("4") "," BUS("1"), ""},
    {"f", H100, ""},
    {"g", H100 "," UUID("5"), ""},
    {"h", H100 "," UUID("6") ",\"x\":{\"version\":\"nonsense\"}", ""},
    {"i", H100 "," UUID("6") ",\"x\":{}", ""},
    {"j", "\"m\":{\"string\":\"00:1b:44:11:3a:b7\"},\"s\":{\"string\":\"1654422006434\"}", ""},
    {"k", "\"m\":{\"string\":\"00:1b:44:11:3a:b8\"},\"s\":{\"string\":\"1654422006435\"}", ""},
    {"l", "\"n\":{\"string\":\"NVIDIA RTX PRO 6000\"},\"t\":{\"string\":\"a:b\"}", ""},
    {"m", "\"n\":{\"string\":\"NVIDIA RTX PRO 6001\"},\"t\":{\"string\":\"a:b\"}", ""},
    {"n", "", ""},
};

static struct tg_fleet *open_fleet(struct world *w)
{
    static char list[65536], json[65536 + 512];

    world_init(w);
    list[0] = '\0';
    for (size_t i = 0; i < TG_ARRAY_SIZE(devices); i++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list),
                 "%s{\"name\":\"%s\",\"attributes\":{%s}%s}", i == 0 ? "" : ",", devices[i].name,
                 devices[i].attributes, devices[i].more);
    snprintf(json, sizeof(json),
             "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
             "\",\"nodeName\":\"n\",\"pool\":{\"name\":\"p\",\"generation\":1,"
             "\"resourceSliceCount\":1},\"devices\":[%s]}}",
             list);
    add_node(w, "n", "", "");
    add_slice(w, json);
    return world_fleet(w);
}

static size_t row_of(const struct tg_fleet *fleet, const char *name)
{
    size_t row = tg_fleet_find_device(fleet, GPU_DRIVER, "p", name);

    assert_true(row != TG_NO_INDEX);
    return row;
}

static void devices_that_only_their_numbers_tell_apart_are_of_one_shape(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"a", "b", true},  {"a", "d", false}, {"a", "e", false}, {"a", "f", false},
        {"a", "g", false}, {"g", "h", false}, {"h", "i", false}, {"j", "k", true},
        {"l", "m", false}, {"f", "n", false}, {"h", "a", false},
    };
    struct world w;
    struct tg_fleet *fleet = open_fleet(&w);

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        bool same = tg_fleet_shape(fleet, row_of(fleet, cases[i].a)) ==
                    tg_fleet_shape(fleet, row_of(fleet, cases[i].b));

        if (same != cases[i].same)
            fail_msg("%s and %s", cases[i].a, cases[i].b);
    }
    world_done(&w);
}

static void a_device_is_the_same_when_it_is_put_together_again(void **state)
{
    struct world w;
    struct tg_fleet *fleet = open_fleet(&w);
    const struct tg_resource_slice *slice = w.slices[0];

    (void)state;
    for (size_t i = 0; i < slice->spec->devices.n; i++) {
        const struct tg_device *told = &slice->spec->devices.items[i];
        const struct tg_device *kept = tg_fleet_device(fleet, GPU_DRIVER, "p", told->name, w.arena);

        assert_string_equal(kept->name, told->name);
        assert_int_equal(kept->attributes.n, told->attributes.n);
        assert_int_equal(kept->allow_multiple_allocations.set,
                         told->allow_multiple_allocations.set);
        for (size_t k = 0; k < told->attributes.n; k++) {
            const struct tg_keyed_attribute *a = &told->attributes.items[k];
            const struct tg_device_attribute *b = NULL;

            for (size_t m = 0; m < kept->attributes.n; m++) {
                if (strcmp(kept->attributes.items[m].key, a->key) == 0)
                    b = &kept->attributes.items[m].value;
            }
            assert_non_null(b);
            assert_int_equal(b->string == NULL, a->value.string == NULL);
            if (b->string != NULL)
                assert_string_equal(b->string, a->value.string);
        }
    }
    world_done(&w);
}

/* Whether a selector is asked about a shape, a content or a tuple of them makes no difference. */
static void selectors_say_of_a_device_what_they_say_of_it_as_a_whole(void **state)
{
    static const char *const expressions[] = {
        OWN ".productName == \"H100\"",
        OWN ".uuid == \"GPU-00000002-0000-4000-8000-000000000001\"",
        OWN ".uuid.startsWith(\"GPU\") && " OWN ".productName == \"H100\"",
        OWN ".productName == \"A100\" || " OWN ".uuid.endsWith(\"1\")",
        "has(" OWN ".uuid)",
        "!has(" OWN ".uuid)",
        "\"uuid\" in " OWN,
        OWN ".size() == 3",
        OWN ".all(k, k != \"uuid\")",
        "device.attributes[\"resource.kubernetes.io\"].pciBusID == \"0000:01:00.0\"",
        "\"pciBusID\" in device.attributes[\"resource.kubernetes.io\"]",
        "\"resource.kubernetes.io\" in device.attributes",
        "device.attributes.all(d, d != \"resource.kubernetes.io\")",
        "device.attributes[device.driver].uuid.contains(\"1\")",
        OWN "[\"u\" + \"uid\"].contains(\"1\")",
        "device.allowMultipleAllocations",
        "\"granted\" in device.attributes[\"tangram.dev\"]",
        OWN ".m == \"00:1b:44:11:3a:b7\"",
        "true",
    };
    struct world w;
    struct tg_fleet *fleet = open_fleet(&w);

    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(expressions); i++) {
        struct tg_selection *selection = NULL;
        struct tg_selector *selector = NULL;

        assert_int_equal(tg_selection_get(fleet, expressions[i], &selection, NULL), 0);
        assert_int_equal(tg_selector_compile(expressions[i], w.arena, &selector, NULL), 0);
        /* The second time it is known. */
        for (size_t d = 0; d < 2 * TG_ARRAY_SIZE(devices); d++) {
            const char *name = devices[d % TG_ARRAY_SIZE(devices)].name;
            struct tg_error a = TG_ERROR_INIT, b = TG_ERROR_INIT;
            bool kept = false, whole = false;
            int rc = tg_selection_matches(selection, fleet, row_of(fleet, name), &kept, &a);

            if (rc != tg_fleet_selects(fleet, selector, row_of(fleet, name), &whole, &b) ||
                (rc == 0 && kept != whole) || strcmp(a.message, b.message) != 0)
                fail_msg("%s of %s: %d %d '%s', as a whole %d '%s'", expressions[i], name, rc, kept,
                         a.message, whole, b.message);
        }
    }
    world_done(&w);
}

/* A number of a shape that is no more is used again: what was found out went with it. */
static void nothing_is_remembered_of_a_shape_that_is_gone(void **state)
{
    static const char *const products[] = {"H100", "A100"};
    struct tg_fleet *fleet = tg_fleet_open("default");
    struct tg_selection *selection = NULL;
    struct world w;

    (void)state;
    world_init(&w);
    assert_int_equal(tg_selection_get(fleet, OWN ".productName == \"H100\"", &selection, NULL), 0);
    for (size_t i = 0; i < 6; i++) {
        char attributes[64];
        bool match = false;

        snprintf(attributes, sizeof(attributes), "\"productName\":{\"string\":\"%s\"}",
                 products[i % 2]);
        w.n_slices = 0;
        add_gpus(&w, "n", 1, attributes);
        tg_fleet_put(fleet, TG_FLEET_SLICE, w.slices[0]);
        tg_fleet_settle(fleet);
        assert_int_equal(tg_selection_matches(selection, fleet,
                                              tg_fleet_find_device(fleet, GPU_DRIVER, "n", "gpu-0"),
                                              &match, NULL),
                         0);
        assert_int_equal(match, i % 2 == 0);
        tg_fleet_drop(fleet, TG_FLEET_SLICE, NULL, w.slices[0]->metadata->name);
        tg_fleet_settle(fleet);
        assert_true(tg_fleet_shapes(fleet) <= 2);
    }
    tg_fleet_close(fleet);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_that_only_their_numbers_tell_apart_are_of_one_shape),
        cmocka_unit_test(a_device_is_the_same_when_it_is_put_together_again),
        cmocka_unit_test(selectors_say_of_a_device_what_they_say_of_it_as_a_whole),
        cmocka_unit_test(nothing_is_remembered_of_a_shape_that_is_gone),
    };

    return cmocka_run_group_tests_name("content", tests, NULL, NULL);
}
