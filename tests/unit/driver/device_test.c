/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "driver/provider/provider.h"

#define BYTES_32 "abcdefghijklmnopqrstuvwxyzABCDEF"
#define BYTES_64 BYTES_32 BYTES_32

static int check_attribute(const char *key, struct tg_device_attribute value, struct tg_error *err)
{
    struct tg_keyed_attribute one = {.key = key, .value = value};
    struct tg_device device = {.name = "gpu-1", .attributes = {&one, 1}};
    return tg_device_validate(&device, err);
}

static struct tg_device_attribute text(const char *value)
{
    return (struct tg_device_attribute){.string = value};
}

static void keys_that_the_api_takes_are_taken(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "type", "cudaComputeCapability",           BYTES_32,
        "_a1",  "resource.kubernetes.io/pcieRoot", "example.com/rail"};
    for (size_t i = 0; i < TG_ARRAY_SIZE(keys); i++)
        assert_int_equal(check_attribute(keys[i], text("x"), NULL), 0);
}

static void keys_that_the_api_refuses_are_refused(void **state)
{
    (void)state;
    static const char *const keys[] = {"",
                                       "a-b",
                                       "1a",
                                       "a b",
                                       BYTES_32 "x",
                                       "/x",
                                       "example.com/",
                                       "example.com/a/b",
                                       "-example.com/x",
                                       "a.b",
                                       "exa_mple.com/x"};
    for (size_t i = 0; i < TG_ARRAY_SIZE(keys); i++)
        assert_int_equal(check_attribute(keys[i], text("x"), NULL), -TG_INVALID_ARGUMENT);
}

static void the_guards_domain_is_never_published(void **state)
{
    (void)state;
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(check_attribute("tangram.dev/granted", text("x"), &err), -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "gpu-1"));
    assert_non_null(strstr(err.message, "guard"));
    assert_int_equal(check_attribute("Tangram.DEV/other", text("x"), NULL), -TG_INVALID_ARGUMENT);
    assert_int_equal(check_attribute("gpu.tangram.dev/other", text("x"), NULL),
                     0); /* the driver's own */
    struct tg_keyed_capacity capacity = {.key = "tangram.dev/x", .value = {.value = "1"}};
    struct tg_device device = {.name = "gpu-1", .capacity = {&capacity, 1}};
    assert_int_equal(tg_device_validate(&device, NULL), -TG_INVALID_ARGUMENT);
}

static void texts_of_64_bytes_are_the_longest(void **state)
{
    (void)state;
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(check_attribute("a", text(BYTES_64), NULL), 0);
    assert_int_equal(check_attribute("a", text(BYTES_64 "x"), &err), -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "65 bytes"));
    assert_int_equal(check_attribute("a", text("\xff"), NULL), -TG_INVALID_ARGUMENT);
}

static void exactly_one_value_is_set(void **state)
{
    (void)state;
    struct tg_device_attribute none = {0}, both = {.string = "x", .version = "1.0.0"};
    struct tg_device_attribute off = {.bool_ = {.set = true}}, zero = {.int_ = {.set = true}};
    assert_int_equal(check_attribute("a", none, NULL), -TG_INVALID_ARGUMENT);
    assert_int_equal(check_attribute("a", both, NULL), -TG_INVALID_ARGUMENT);
    assert_int_equal(check_attribute("a", off, NULL), 0);
    assert_int_equal(check_attribute("a", zero, NULL), 0);
}

static void versions_are_semantic(void **state)
{
    (void)state;
    struct tg_device_attribute good = {.version = "580.105.8"}, zeros = {.version = "580.105.08"},
                               two = {.version = "8.9"};
    assert_int_equal(check_attribute("a", good, NULL), 0);
    assert_int_equal(check_attribute("a", zeros, NULL), -TG_INVALID_ARGUMENT);
    assert_int_equal(check_attribute("a", two, NULL), -TG_INVALID_ARGUMENT);
}

static void capacities_are_quantities(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        int rc;
    } rows[] = {{"48Gi", 0},
                {"132", 0},
                {"", -TG_INVALID_ARGUMENT},
                {"48GB", -TG_INVALID_ARGUMENT},
                {NULL, -TG_INVALID_ARGUMENT}};
    for (size_t i = 0; i < TG_ARRAY_SIZE(rows); i++) {
        struct tg_keyed_capacity one = {.key = "memory", .value = {.value = rows[i].value}};
        struct tg_device device = {.name = "gpu-1", .capacity = {&one, 1}};
        assert_int_equal(tg_device_validate(&device, NULL), rows[i].rc);
    }
}

static void attributes_and_capacities_are_32_together(void **state)
{
    (void)state;
    static const char *const keys[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k",
                                       "l", "m", "n", "o", "p", "q", "r", "s", "t", "u", "v",
                                       "w", "x", "y", "z", "A", "B", "C", "D", "E", "F"};
    struct tg_keyed_attribute attributes[31];
    struct tg_keyed_capacity capacities[2] = {{"memory", {.value = "1"}},
                                              {"cores", {.value = "1"}}};
    struct tg_device device = {
        .name = "gpu-1", .attributes = {attributes, 31}, .capacity = {capacities, 1}};
    for (size_t i = 0; i < 31; i++)
        attributes[i] = (struct tg_keyed_attribute){keys[i], text("x")};
    assert_int_equal(tg_device_validate(&device, NULL), 0);
    device.capacity.n = 2;
    assert_int_equal(tg_device_validate(&device, NULL), -TG_INVALID_ARGUMENT);
}

static void a_key_is_there_once(void **state)
{
    (void)state;
    struct tg_keyed_attribute twice[] = {{"a", text("x")}, {"b", text("x")}, {"a", text("y")}};
    struct tg_device device = {.name = "gpu-1", .attributes = {twice, 3}};
    assert_int_equal(tg_device_validate(&device, NULL), -TG_INVALID_ARGUMENT);
}

static void names_of_devices_are_labels_and_unique(void **state)
{
    (void)state;
    struct tg_provider_device items[] = {{.device = {.name = "gpu-1"}},
                                         {.device = {.name = "gpu-2"}}};
    struct tg_device_set set = {.devices = {items, 2}};
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(tg_device_set_validate(&set, NULL), 0);
    items[1].device.name = "gpu-1";
    assert_int_equal(tg_device_set_validate(&set, &err), -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "gpu-1"));
    items[1].device.name = "GPU_1";
    assert_int_equal(tg_device_set_validate(&set, NULL), -TG_INVALID_ARGUMENT);
    items[1].device.name = NULL;
    assert_int_equal(tg_device_set_validate(&set, NULL), -TG_INVALID_ARGUMENT);
}

static void devices_are_found_by_name(void **state)
{
    (void)state;
    struct tg_provider_device items[] = {{.device = {.name = "gpu-1"}},
                                         {.device = {.name = "gpu-2"}}};
    struct tg_device_set set = {.devices = {items, 2}};
    assert_ptr_equal(tg_device_set_find(&set, "gpu-2"), &items[1]);
    assert_null(tg_device_set_find(&set, "gpu-3"));
}

int main(void)
{
    const struct CMUnitTest device[] = {
        cmocka_unit_test(keys_that_the_api_takes_are_taken),
        cmocka_unit_test(keys_that_the_api_refuses_are_refused),
        cmocka_unit_test(the_guards_domain_is_never_published),
        cmocka_unit_test(texts_of_64_bytes_are_the_longest),
        cmocka_unit_test(exactly_one_value_is_set),
        cmocka_unit_test(versions_are_semantic),
        cmocka_unit_test(capacities_are_quantities),
        cmocka_unit_test(attributes_and_capacities_are_32_together),
        cmocka_unit_test(a_key_is_there_once),
        cmocka_unit_test(names_of_devices_are_labels_and_unique),
        cmocka_unit_test(devices_are_found_by_name),
    };
    return cmocka_run_group_tests(device, NULL, NULL);
}
