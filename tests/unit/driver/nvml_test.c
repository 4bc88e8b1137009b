/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/nvml/nvml.h"

#include "driver/provider/nvml/abi.h"

#include "tests/unit/driver/nvml_machine.h"

#define CLIQUE "11223344556677889900aabbccddeeff.7"

static struct machine *m;

static int tear_down(void **state)
{
    (void)state;
    machine_free(m);
    return 0;
}

static void a_card_says_what_the_driver_knows_of_it(void **state)
{
    (void)state;
    m = machine_new("driver 580.105.08\ncuda 13010\n"
                    "card h100-80gb clique=" CLIQUE "\ncard l4-24gb numa=-1\n",
                    "");
    machine_must_list(m);
    assert_int_equal(m->set.devices.n, 2);
    assert_int_equal(m->set.problems.n, 0);
    const struct tg_provider_device *card = &m->set.devices.items[0];
    assert_string_equal(text_of(card, "type"), "gpu");
    assert_string_equal(text_of(card, "productName"), "NVIDIA H100 80GB HBM3");
    assert_string_equal(text_of(card, "architecture"), "Hopper");
    assert_string_equal(text_of(card, "brand"), "Nvidia");
    assert_string_equal(text_of(card, "cudaComputeCapability"), "9.0.0");
    assert_string_equal(text_of(card, "driverVersion"), "580.105.8");
    assert_string_equal(text_of(card, "cudaDriverVersion"), "13.1.0");
    assert_string_equal(text_of(card, "uuid"), card->uuid);
    assert_string_equal(text_of(card, "resource.kubernetes.io/pciBusID"), "0000:11:00.0");
    assert_string_equal(text_of(card, "resource.kubernetes.io/pcieRoot"), "pci0000:10");
    assert_string_equal(text_of(card, "fabricClique"), "11223344-5566-7788-9900-aabbccddeeff.7");
    assert_int_equal(int_of(card, "numaNode"), 0);
    assert_int_equal(int_of(card, "index"), 0);
    assert_string_equal(capacity_of(card, "memory"), "81920Mi");
    assert_null(attribute(&m->set.devices.items[1], "numaNode"));
    assert_null(attribute(&m->set.devices.items[1], "fabricClique"));
    /* gpu-<first 12 hex digits of the UUID> */
    assert_int_equal(strlen(card->device.name), 16);
    assert_memory_equal(card->device.name + 4, card->uuid + 4, 8);
    assert_memory_equal(card->device.name + 12, card->uuid + 13, 4);
}

/* NV 427 */
static void a_name_stays_when_a_lower_card_goes(void **state)
{
    (void)state;
    m = machine_new("card l4-24gb uuid=GPU-11111111-1111-1111-1111-111111111111\n"
                    "card l4-24gb uuid=GPU-22222222-2222-2222-2222-222222222222\n",
                    "");
    machine_must_list(m);
    assert_string_equal(m->set.devices.items[1].device.name, "gpu-222222222222");
    fake_nvml_play(&m->fake, "card l4-24gb uuid=GPU-22222222-2222-2222-2222-222222222222\n");
    machine_must_list(m);
    assert_int_equal(m->set.devices.n, 1);
    assert_string_equal(m->set.devices.items[0].device.name, "gpu-222222222222");
}

static void an_older_driver_lacks_functions_and_its_cards_are_listed_all_the_same(void **state)
{
    (void)state;
    m = machine_new("driver 470.82\ncard t4-16gb\nmissing nvmlDeviceGetArchitecture\n"
                    "missing nvmlDeviceGetNumaNodeId\nmissing nvmlDeviceGetGpuFabricInfoV\n"
                    "missing nvmlDeviceGetMigMode\nmissing nvmlDeviceGetBrand\n",
                    "");
    machine_must_list(m);
    assert_int_equal(m->set.devices.n, 1);
    assert_null(attribute(&m->set.devices.items[0], "architecture"));
    assert_string_equal(text_of(&m->set.devices.items[0], "driverVersion"), "470.82.0");
    assert_int_equal(int_of(&m->set.devices.items[0], "numaNode"), 0); /* of the kernel */
}

static void a_library_without_what_is_needed_is_no_driver(void **state)
{
    (void)state;
    m = machine_new("card t4-16gb\n", "");
    machine_must_list(m); /* makes the files of the bus */
    fake_nvml_play(&m->fake, "card t4-16gb\nmissing nvmlDeviceGetUUID\n");
    machine_open(m, "");
    assert_int_equal(machine_list(m), -TG_UNAVAILABLE);
    assert_non_null(strstr(m->err.message, "nvmlDeviceGetUUID"));
}

/* NV 1008 */
static void cards_on_the_bus_without_a_driver_are_no_empty_node(void **state)
{
    (void)state;
    m = machine_new("card h100-80gb count=2\n", "");
    machine_must_list(m);
    fake_nvml_play(&m->fake, "driver none\ncard h100-80gb count=2\n");
    assert_int_equal(machine_list(m), -TG_UNAVAILABLE);
    assert_true(m->err.retry);
    fake_nvml_play(&m->fake, "");
    assert_int_equal(machine_list(m), -TG_UNAVAILABLE);
    assert_non_null(strstr(m->err.message, "2 NVIDIA cards are on the PCI bus"));
    /* ... and the driver is picked up when it comes. */
    fake_nvml_play(&m->fake, "card h100-80gb count=2\n");
    machine_must_list(m);
    assert_int_equal(m->set.devices.n, 2);
}

static void a_node_without_cards_needs_no_driver(void **state)
{
    (void)state;
    m = machine_new("", "");
    m->options.library = "libnvidia-ml-that-is-not-there.so.1";
    machine_open(m, "");
    machine_must_list(m);
    assert_int_equal(m->set.devices.n, 0);
    assert_true(has_problem(m, "there is no NVIDIA driver"));
}

static void a_driver_that_is_replaced_is_loaded_again(void **state)
{
    (void)state;
    m = machine_new("driver 550.1\ncard l4-24gb\n", "");
    machine_must_list(m);
    fake_nvml_play(&m->fake, "driver 550.1\ncard l4-24gb\nfault * error=LIB_RM_VERSION_MISMATCH\n");
    assert_int_equal(machine_list(m), -TG_UNAVAILABLE);
    assert_non_null(strstr(m->err.message, "different versions"));
    fake_nvml_play(&m->fake, "driver 580.2\ncard l4-24gb\n");
    machine_must_list(m);
    assert_string_equal(text_of(&m->set.devices.items[0], "driverVersion"), "580.2.0");
}

/* NV 1092 */
static void one_bad_card_does_not_hide_the_others(void **state)
{
    (void)state;
    m = machine_new("card l4-24gb count=3\nfault nvmlDeviceGetName on=1 error=GPU_IS_LOST\n", "");
    machine_must_list(m);
    assert_int_equal(m->set.devices.n, 2);
    assert_true(has_problem(m, "card 1: nvmlDeviceGetName: the card has fallen off the bus"));
}

/* Two devices of one name would make the whole node impossible to publish. */
static void of_two_cards_of_one_name_the_second_is_told_and_left_out(void **state)
{
    (void)state;
    m = machine_new("card l4-24gb uuid=GPU-11111111-1111-1111-1111-111111111111\n"
                    "card l4-24gb uuid=GPU-11111111-1111-2222-2222-222222222222\n"
                    "card l4-24gb uuid=GPU-33333333-3333-3333-3333-333333333333\n",
                    "");
    machine_must_list(m);
    assert_int_equal(m->set.devices.n, 2);
    assert_true(has_problem(m, "card 1: nvmlDeviceGetUUID: the answer makes no sense: another card "
                               "begins with GPU-11111111-1111"));
}

/* For each function: an error, and nonsense, at each of its calls. Devices that are listed are
 * valid, and the cause is told. */
static void no_fault_of_the_driver_is_passed_on_or_kept_quiet(void **state)
{
    static const char *const functions[] = {
#define NAME(required, name, arguments) #name,
        NVML_FUNCTIONS(NAME)
#undef NAME
    };
    static const char cards[] = "card h100-80gb mig=on\ncard a30-24gb mig=on\ncard l4-24gb\n";
    static const char *const faults[] = {"error=UNKNOWN", "error=TIMEOUT", "garbage"};
    (void)state;
    m = machine_new(cards, "NVIDIA H100*");
    machine_must_list(m);
    size_t all = m->set.devices.n;
    for (size_t i = 0; i < TG_ARRAY_SIZE(functions) * TG_ARRAY_SIZE(faults); i++) {
        const char *function = functions[i / TG_ARRAY_SIZE(faults)];
        TG_AUTOFREE char *scenario =
            tg_xasprintf("%sfault %s %s\n", cards, function, faults[i % TG_ARRAY_SIZE(faults)]);
        struct tg_error err = TG_ERROR_INIT;
        fake_nvml_play(&m->fake, scenario);
        if (machine_list(m) != 0) {
            assert_string_not_equal(m->err.message, "");
            continue;
        }
        if (tg_device_set_validate(&m->set, &err) != 0)
            fail_msg("%s: %s", scenario, err.message);
        if (m->set.devices.n < all && m->set.problems.n == 0)
            fail_msg("%s: %zu devices of %zu, and no word of it", scenario, m->set.devices.n, all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_card_says_what_the_driver_knows_of_it, tear_down),
        cmocka_unit_test_teardown(a_name_stays_when_a_lower_card_goes, tear_down),
        cmocka_unit_test_teardown(
            an_older_driver_lacks_functions_and_its_cards_are_listed_all_the_same, tear_down),
        cmocka_unit_test_teardown(a_library_without_what_is_needed_is_no_driver, tear_down),
        cmocka_unit_test_teardown(cards_on_the_bus_without_a_driver_are_no_empty_node, tear_down),
        cmocka_unit_test_teardown(a_node_without_cards_needs_no_driver, tear_down),
        cmocka_unit_test_teardown(a_driver_that_is_replaced_is_loaded_again, tear_down),
        cmocka_unit_test_teardown(one_bad_card_does_not_hide_the_others, tear_down),
        cmocka_unit_test_teardown(of_two_cards_of_one_name_the_second_is_told_and_left_out,
                                  tear_down),
        cmocka_unit_test_teardown(no_fault_of_the_driver_is_passed_on_or_kept_quiet, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
