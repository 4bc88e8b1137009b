/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/file.h"
#include "tests/unit/driver/sandbox.h"

#define HEAD "apiVersion: tangram.dev/v1alpha1\nkind: SimInventory\n"

static struct sandbox *sandbox;
static char *file;

static int set_up(void **state)
{
    (void)state;
    sandbox = sandbox_new();
    file = tg_xasprintf("%s/inventory.yaml", sandbox->folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(file);
    sandbox_free(sandbox);
    return 0;
}

static void put(const char *content)
{
    assert_int_equal(tg_file_write_atomic(file, content, strlen(content), 0644, NULL), 0);
}

/* The devices of a node with this inventory. The provider is gone before they are looked at. */
static struct tg_device_set list(const char *node_name, const char *content)
{
    struct tg_provider_options options = {.node_name = node_name, .inventory = file};
    struct tg_provider *provider = NULL;
    struct tg_device_set set = {0};
    struct tg_error err = TG_ERROR_INIT;
    put(content);
    if (tg_provider_new("sim", &options, &provider, &err) != 0 ||
        tg_provider_list(provider, &set, &err) != 0)
        fail_msg("%s", err.message);
    tg_provider_free(provider);
    return set;
}

static const struct tg_device_attribute *attribute(const struct tg_provider_device *device,
                                                   const char *key)
{
    for (size_t i = 0; i < device->device.attributes.n; i++) {
        if (strcmp(device->device.attributes.items[i].key, key) == 0)
            return &device->device.attributes.items[i].value;
    }
    return NULL;
}

static const char *string_of(const struct tg_provider_device *device, const char *key)
{
    const struct tg_device_attribute *found = attribute(device, key);
    assert_non_null(found);
    assert_non_null(found->string);
    return found->string;
}

static const char *version_of(const struct tg_provider_device *device, const char *key)
{
    const struct tg_device_attribute *found = attribute(device, key);
    assert_non_null(found);
    assert_non_null(found->version);
    return found->version;
}

static const char *capacity(const struct tg_provider_device *device, const char *key)
{
    for (size_t i = 0; i < device->device.capacity.n; i++) {
        if (strcmp(device->device.capacity.items[i].key, key) == 0)
            return device->device.capacity.items[i].value.value;
    }
    return NULL;
}

static void a_card_is_published_as_users_of_gpu_drivers_select_it(void **state)
{
    (void)state;
    struct tg_device_set set =
        list("node-1", HEAD "cards:\n- {count: 2, product: NVIDIA RTX 4000 SFF Ada Generation}\n");
    const struct tg_provider_device *second = &set.devices.items[1];
    assert_int_equal(set.devices.n, 2);
    assert_string_equal(string_of(second, "type"), "gpu");
    assert_string_equal(string_of(second, "productName"), "NVIDIA RTX 4000 SFF Ada Generation");
    assert_string_equal(string_of(second, "brand"), "NvidiaRTX");
    assert_string_equal(string_of(second, "architecture"), "Ada Lovelace");
    assert_string_equal(version_of(second, "cudaComputeCapability"), "8.9.0");
    assert_string_equal(version_of(second, "driverVersion"), "580.105.8");
    assert_string_equal(version_of(second, "cudaDriverVersion"), "13.0.0");
    assert_int_equal(attribute(second, "index")->int_.value, 1);
    assert_int_equal(attribute(second, "minor")->int_.value, 1);
    assert_string_equal(string_of(second, "uuid"), second->uuid);
    assert_string_equal(string_of(second, "resource.kubernetes.io/pciBusID"), "0000:12:00.0");
    assert_string_equal(string_of(second, "resource.kubernetes.io/pcieRoot"), "pci0000:10");
    assert_string_equal(capacity(second, "memory"), "20Gi");
    assert_string_equal(capacity(second, "multiprocessors"), "48");
    tg_device_set_done(&set);
}

/* They are in objects of the API and in journals: a change would orphan them. */
static void names_and_uuids_are_the_same_for_ever(void **state)
{
    (void)state;
    struct tg_device_set set = list("node-1", HEAD "cards:\n- {count: 2, product: NVIDIA L4}\n");
    assert_string_equal(set.devices.items[0].uuid, "GPU-b19f755e-d50d-8f0c-ab08-982761269770");
    assert_string_equal(set.devices.items[1].uuid, "GPU-85840a6e-a7d2-884c-8631-4868a946330c");
    assert_string_equal(set.devices.items[0].device.name, "gpu-b19f755ed50d");
    tg_device_set_done(&set);
}

static void a_name_is_the_beginning_of_the_uuid(void **state)
{
    (void)state;
    struct tg_device_set set = list("node-1", HEAD "cards:\n- {count: 8, product: NVIDIA L4}\n");
    for (size_t i = 0; i < set.devices.n; i++) {
        const char *uuid = set.devices.items[i].uuid, *name = set.devices.items[i].device.name;
        assert_int_equal(strlen(uuid), 40);
        assert_int_equal(strlen(name), 16);
        assert_memory_equal(name + 4, uuid + 4, 8);
        assert_memory_equal(name + 12, uuid + 13, 4);
    }
    tg_device_set_done(&set);
}

static void the_position_and_the_node_decide_and_the_product_does_not(void **state)
{
    (void)state;
    struct tg_device_set one = list("node-1", HEAD "cards:\n- product: NVIDIA L4\n");
    struct tg_device_set other_card = list("node-1", HEAD "cards:\n- product: NVIDIA L40S\n");
    struct tg_device_set other_node = list("node-2", HEAD "cards:\n- product: NVIDIA L4\n");
    assert_string_equal(one.devices.items[0].uuid, other_card.devices.items[0].uuid);
    assert_string_not_equal(one.devices.items[0].uuid, other_node.devices.items[0].uuid);
    tg_device_set_done(&one);
    tg_device_set_done(&other_card);
    tg_device_set_done(&other_node);
}

static void the_first_index_moves_the_cards_and_nothing_else(void **state)
{
    (void)state;
    struct tg_device_set all = list("node-1", HEAD "cards:\n- {product: NVIDIA L4, count: 10}\n");
    struct tg_device_set rest =
        list("node-1", HEAD "firstIndex: 8\ncards:\n- {product: NVIDIA L4, count: 2}\n");
    assert_int_equal(rest.devices.n, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct tg_provider_device *a = &all.devices.items[8 + i], *b = &rest.devices.items[i];
        assert_string_equal(a->uuid, b->uuid);
        assert_string_equal(a->device.name, b->device.name);
        assert_string_equal(string_of(a, "resource.kubernetes.io/pciBusID"),
                            string_of(b, "resource.kubernetes.io/pciBusID"));
    }
    tg_device_set_done(&all);
    tg_device_set_done(&rest);
}

static void the_largest_node_is_valid_and_every_device_its_own(void **state)
{
    (void)state;
    struct tg_device_set set =
        list("node-1", HEAD "cards:\n- {count: 1024, product: NVIDIA B200}\n");
    assert_int_equal(set.devices.n, 1024);
    assert_int_equal(tg_device_set_validate(&set, NULL), 0);
    for (size_t i = 0; i < set.devices.n; i++) {
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(
                string_of(&set.devices.items[i], "resource.kubernetes.io/pciBusID"),
                string_of(&set.devices.items[j], "resource.kubernetes.io/pciBusID"));
    }
    tg_device_set_done(&set);
}

static void four_cards_share_a_root_port(void **state)
{
    (void)state;
    struct tg_device_set set = list("node-1", HEAD "cards:\n- {count: 5, product: NVIDIA L4}\n");
    assert_string_equal(string_of(&set.devices.items[3], "resource.kubernetes.io/pcieRoot"),
                        "pci0000:10");
    assert_string_equal(string_of(&set.devices.items[4], "resource.kubernetes.io/pcieRoot"),
                        "pci0000:18");
    assert_string_equal(string_of(&set.devices.items[4], "resource.kubernetes.io/pciBusID"),
                        "0000:19:00.0");
    tg_device_set_done(&set);
}

static void a_custom_card_has_what_the_inventory_says(void **state)
{
    (void)state;
    struct tg_device_set set =
        list("node-1",
             HEAD "cards:\n- {name: custom, memory: 48Gi, attributes: {productName: {string: X9}, "
                  "example.com/rail: {int: 3}, driverVersion: {version: 1.2.3}}}\n");
    const struct tg_provider_device *device = &set.devices.items[0];
    assert_string_equal(string_of(device, "productName"), "X9");
    assert_int_equal(attribute(device, "example.com/rail")->int_.value, 3);
    assert_string_equal(version_of(device, "driverVersion"), "1.2.3");
    assert_string_equal(string_of(device, "type"), "gpu");
    assert_null(attribute(device, "architecture"));
    assert_string_equal(capacity(device, "memory"), "48Gi");
    assert_null(capacity(device, "multiprocessors"));
    tg_device_set_done(&set);
}

static void a_number_that_nobody_knows_is_not_published(void **state)
{
    (void)state;
    struct tg_device_set set = list("node-1", HEAD "cards:\n- product: NVIDIA A10G\n");
    assert_string_equal(capacity(&set.devices.items[0], "memory"), "24Gi");
    assert_null(capacity(&set.devices.items[0], "multiprocessors"));
    tg_device_set_done(&set);
}

static void attributes_are_sorted(void **state)
{
    (void)state;
    struct tg_device_set set =
        list("node-1", HEAD "cards:\n- {product: NVIDIA L4, attributes: {aaa: {int: 1}}}\n");
    const struct tg_device *device = &set.devices.items[0].device;
    assert_string_equal(device->attributes.items[0].key, "aaa");
    for (size_t i = 1; i < device->attributes.n; i++)
        assert_true(strcmp(device->attributes.items[i - 1].key, device->attributes.items[i].key) <
                    0);
    tg_device_set_done(&set);
}

static void a_container_learns_of_each_device_under_a_name_of_its_own(void **state)
{
    (void)state;
    struct tg_device_set set = list("node-1", HEAD "cards:\n- product: NVIDIA L4\n");
    const struct tg_provider_device *device = &set.devices.items[0];
    TG_AUTOFREE char *wanted = tg_xasprintf("=%s", device->uuid);
    assert_int_equal(device->env.n, 1);
    assert_true(tg_has_prefix(device->env.items[0], "TANGRAM_DEVICE_GPU_"));
    assert_true(tg_has_suffix(device->env.items[0], wanted));
    for (const char *p = device->env.items[0]; *p != '='; p++)
        assert_true((*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || *p == '_');
    tg_device_set_done(&set);
}

static void more_attributes_than_a_device_may_have_are_told_with_the_line(void **state)
{
    (void)state;
    TG_AUTOBUF struct tg_buf document = TG_BUF_INIT(1 << 16);
    struct tg_provider_options options = {.node_name = "node-1", .inventory = file};
    struct tg_provider *provider = NULL;
    struct tg_error err = TG_ERROR_INIT;
    (void)tg_buf_append_str(&document, HEAD "cards:\n- product: NVIDIA L4\n  attributes:\n");
    for (int i = 0; i < 19; i++)
        (void)tg_buf_printf(&document, "    extra%d: {int: %d}\n", i, i);
    put(tg_buf_str(&document));
    assert_int_equal(tg_provider_new("sim", &options, &provider, &err), -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "inventory.yaml:4: cards[0]"));
    assert_non_null(strstr(err.message, "33 attributes and capacities"));
}

static void node_name_and_inventory_are_needed(void **state)
{
    (void)state;
    struct tg_provider_options no_node = {.inventory = file},
                               no_file = {.node_name = "node-1", .inventory = ""};
    struct tg_provider *provider = NULL;
    struct tg_error err = TG_ERROR_INIT;
    put(HEAD "cards: []\n");
    assert_int_equal(tg_provider_new("sim", &no_node, &provider, &err), -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "node"));
    assert_int_equal(tg_provider_new("sim", &no_file, &provider, &err), -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "inventory"));
}

/* ---- faults ---- */

static const struct tg_gpu_settings exclusive = {.compute_mode = {.set = true, .value = 3}};

static void what_the_inventory_says_goes_wrong_at_the_calls_it_names(void **state)
{
    (void)state;
    static const char content[] = HEAD "cards: [{product: NVIDIA L4, count: 2}]\n"
                                       "faults:\n"
                                       "- {call: list, from: 2, to: 3, error: the bus is away}\n"
                                       "- {call: set, from: 2, error: the card is lost}\n"
                                       "- {call: edit, device: %s, error: no such node}\n"
                                       "- {call: edit, device: none, hang: true}\n"
                                       "- {call: edit, to: 1, delay: 1ms}\n";
    struct tg_provider_options options = {.node_name = "node-a", .inventory = file};
    struct tg_device_set first = list("node-a", HEAD "cards: [{product: NVIDIA L4, count: 2}]\n");
    TG_AUTOFREE char *text = tg_xasprintf(content, first.devices.items[1].device.name);
    struct tg_provider *provider = NULL;
    put(text);
    assert_int_equal(tg_provider_new("sim", &options, &provider, NULL), 0);
    for (int i = 1; i <= 4; i++) {
        struct tg_device_set set = {0};
        struct tg_error err = TG_ERROR_INIT;
        int rc = tg_provider_list(provider, &set, &err);
        assert_int_equal(rc, i == 2 || i == 3 ? -TG_UNAVAILABLE : 0);
        assert_true(rc == 0 || strstr(err.message, "the bus is away") != NULL);
        tg_device_set_done(&set);
    }
    for (int i = 1; i <= 2; i++)
        assert_int_equal(
            provider->ops->set(provider, first.devices.items[0].uuid, &exclusive, NULL),
            i == 1 ? 0 : -TG_UNAVAILABLE);
    for (size_t i = 0; i < 2; i++) {
        struct tg_edits edits = {0};
        struct tg_error err = TG_ERROR_INIT;
        int rc =
            provider->ops->edit(provider, &first.devices.items[i], NULL, first.arena, &edits, &err);
        assert_int_equal(rc, i == 1 ? -TG_UNAVAILABLE : 0);
    }
    tg_provider_free(provider);
    tg_device_set_done(&first);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest sim[] = {
        WITH(a_card_is_published_as_users_of_gpu_drivers_select_it),
        WITH(names_and_uuids_are_the_same_for_ever),
        WITH(a_name_is_the_beginning_of_the_uuid),
        WITH(the_position_and_the_node_decide_and_the_product_does_not),
        WITH(the_first_index_moves_the_cards_and_nothing_else),
        WITH(the_largest_node_is_valid_and_every_device_its_own),
        WITH(four_cards_share_a_root_port),
        WITH(a_custom_card_has_what_the_inventory_says),
        WITH(a_number_that_nobody_knows_is_not_published),
        WITH(attributes_are_sorted),
        WITH(a_container_learns_of_each_device_under_a_name_of_its_own),
        WITH(more_attributes_than_a_device_may_have_are_told_with_the_line),
        WITH(node_name_and_inventory_are_needed),
        WITH(what_the_inventory_says_goes_wrong_at_the_calls_it_names),
    };
    return cmocka_run_group_tests(sim, NULL, NULL);
}
