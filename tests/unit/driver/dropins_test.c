/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/dropins.h"

#include "tests/unit/driver/nvml_machine.h"

#define DRIVER "gpu.tangram.dev"
#define HEAD "apiVersion: tangram.dev/v1alpha1\nkind: DeviceAttributes\nrules:\n"
#define SCENARIO                                                                                   \
    "card l4-24gb uuid=GPU-11111111-1111-1111-1111-111111111111 pci=0000:41:00.0\n"                \
    "card h100-80gb mig=on uuid=GPU-bbbbbbbb-bbbb-bbbb-bbbb-bbbbbbbbbbbb\n"
#define CARD "gpu-111111111111"
#define PART "gpu-bbbbbbbbbbbb-9-4"

struct node {
    struct machine *m;
    char *folder;
    struct tg_dropins *dropins;
};

static int set_up(void **state)
{
    struct node *n = tg_xcalloc(1, sizeof(*n));
    n->m = machine_new(SCENARIO, "GPU-bbbbbbbb-*");
    n->folder = tg_xasprintf("%s/attributes.d", n->m->sandbox->folder);
    n->dropins = tg_dropins_new(n->folder, "node-1", DRIVER);
    *state = n;
    return 0;
}

static int tear_down(void **state)
{
    struct node *n = *state;
    tg_dropins_free(n->dropins);
    machine_free(n->m);
    free(n->folder);
    free(n);
    return 0;
}

static void write_file(const struct node *n, const char *name, const char *text)
{
    TG_AUTOFREE char *path = tg_xasprintf("%s/%s", n->folder, name);
    assert_int_equal(tg_file_make_folders(n->folder, 0755, NULL), 0);
    assert_int_equal(tg_file_write_atomic(path, text, strlen(text), 0644, NULL), 0);
}

/* As the plugin lists: the set must be one that can be published, whatever the files say. */
static void list(struct node *n)
{
    struct tg_error err = TG_ERROR_INIT;
    machine_must_list(n->m);
    if (tg_dropins_apply(n->dropins, &n->m->set, &err) != 0)
        fail_msg("cannot apply: %s", err.message);
    if (tg_device_set_validate(&n->m->set, &err) != 0)
        fail_msg("cannot be published: %s", err.message);
}

static const struct tg_provider_device *device(const struct node *n, const char *name)
{
    const struct tg_provider_device *one = tg_device_set_find(&n->m->set, name);
    assert_non_null(one);
    return one;
}

/* ---- what they add ---- */

static void a_node_without_files_is_as_it_was(void **state)
{
    struct node *n = *state;
    list(n);
    assert_int_equal(n->m->set.problems.n, 0);
    assert_null(attribute(device(n, CARD), "rack"));
}

static void every_type_of_value_is_added_in_the_order_of_keys(void **state)
{
    struct node *n = *state;
    write_file(n, "10-rack.yaml",
               HEAD "- match: {}\n"
                    "  attributes:\n"
                    "    rack: {string: r7}\n"
                    "    example.com/rail: {int: 3}\n"
                    "    gpu.tangram.dev/burnIn: {bool: true}\n"
                    "    firmware: {version: 1.2.3}\n");
    list(n);
    assert_int_equal(n->m->set.problems.n, 0);
    const struct tg_provider_device *card = device(n, CARD);
    assert_string_equal(text_of(card, "rack"), "r7");
    assert_int_equal(int_of(card, "example.com/rail"), 3);
    assert_string_equal(text_of(card, "firmware"), "1.2.3");
    assert_true(attribute(card, "burnIn")->bool_.value); /* the driver's own domain is none */
    assert_string_equal(text_of(device(n, PART), "rack"), "r7");
    for (size_t i = 1; i < card->device.attributes.n; i++)
        assert_true(strcmp(card->device.attributes.items[i - 1].key,
                           card->device.attributes.items[i].key) < 0);
}

static void only_devices_that_fit_in_everything_get_it(void **state)
{
    static const struct {
        const char *match;
        bool card, part;
    } cases[] = {
        {"{node: node-1}", true, true},
        {"{node: \"node-*\"}", true, true},
        {"{node: node-2}", false, false},
        {"{device: " CARD "}", true, false},
        {"{device: \"gpu-bbb*\"}", false, true},
        {"{uuid: GPU-11111111-1111-1111-1111-111111111111}", true, false},
        {"{uuid: \"GPU-bbbbbbbb-*\"}", false, true}, /* that of its card */
        {"{pciBusID: \"0000:41:00.0\"}", true, false},
        {"{productName: \"NVIDIA L4\"}", true, false},
        {"{productName: \"NVIDIA H100*\"}", false, true},
        {"{productName: \"NVIDIA*\", node: node-2}", false, false},
        {"{productName: \"NVIDIA*\", device: \"gpu-1*\"}", true, false},
    };
    struct node *n = *state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        TG_AUTOFREE char *text =
            tg_xasprintf(HEAD "- match: %s\n  attributes: {rack: {string: r7}}\n", cases[i].match);
        write_file(n, "rack.yaml", text);
        list(n);
        if (n->m->set.problems.n != 0)
            fail_msg("%s", n->m->set.problems.items[0]);
        if ((attribute(device(n, CARD), "rack") != NULL) != cases[i].card ||
            (attribute(device(n, PART), "rack") != NULL) != cases[i].part)
            fail_msg("%s", cases[i].match);
    }
}

static void what_comes_later_replaces_what_came_before_but_never_what_the_driver_tells(void **state)
{
    struct node *n = *state;
    write_file(n, "20.yaml", HEAD "- {match: {}, attributes: {rack: {string: later}}}\n");
    write_file(n, "10.yaml",
               HEAD "- {match: {}, attributes: {rack: {string: first}, rail: {int: 1}}}\n"
                    "- {match: {}, attributes: {rail: {int: 2}, productName: {string: X9}}}\n");
    list(n);
    assert_string_equal(text_of(device(n, CARD), "rack"), "later");
    assert_int_equal(int_of(device(n, CARD), "rail"), 2);
    assert_string_equal(text_of(device(n, CARD), "productName"), "NVIDIA L4");
    assert_int_equal(n->m->set.problems.n, 1); /* for all devices together */
    assert_true(has_problem(n->m, "10.yaml:5: attribute \"productName\" is told by the driver"));
}

static void one_attribute_too_many_is_left_out_and_told(void **state)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT((size_t)1 << 16);
    struct node *n = *state;
    (void)tg_buf_append_str(&text, HEAD "- match: {}\n  attributes:\n");
    for (int i = 0; i < 32; i++)
        (void)tg_buf_printf(&text, "    extra%d: {int: %d}\n", i, i);
    write_file(n, "many.yaml", tg_buf_str(&text));
    list(n);
    const struct tg_device *card = &device(n, CARD)->device;
    assert_int_equal(card->attributes.n + card->capacity.n, 32);
    assert_true(has_problem(n->m, "is one too many"));
    assert_non_null(attribute(device(n, CARD), "extra0"));
}

/* ---- files that are wrong ---- */

static void what_is_wrong_is_told_with_file_line_and_field(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"[", "x.yaml"},
        {"kind: DeviceAttributes\nrules: []\n", "x.yaml:1: apiVersion: is missing"},
        {"apiVersion: tangram.dev/v1\nkind: DeviceAttributes\nrules: []\n", "x.yaml:1: apiVersion"},
        {"apiVersion: tangram.dev/v1alpha1\nkind: SimInventory\nrules: []\n",
         "x.yaml:2: kind: expected DeviceAttributes"},
        {"apiVersion: tangram.dev/v1alpha1\nkind: DeviceAttributes\n", "rules: is missing"},
        {HEAD "- {attributes: {a: {int: 1}}}\n", "x.yaml:4: rules[0].match: is missing"},
        {HEAD "- {match: {}}\n", "rules[0].attributes: is missing"},
        {HEAD "- {match: all, attributes: {}}\n", "rules[0].match: expected"},
        {HEAD "- {match: {rack: r7}, attributes: {}}\n", "rules[0].match.rack: unknown field"},
        {HEAD "- {match: {node: 7}, attributes: {}}\n", "rules[0].match.node: expected a text"},
        {HEAD "- {match: {}, attributes: {a: 1}}\n", "rules[0].attributes.a: expected one of"},
        {HEAD "- {match: {}, attributes: {a: {int: x}}}\n", "rules[0].attributes.a"},
        {HEAD "- {match: {}, attributes: {a b: {int: 1}}}\n", "rules[0].attributes.a b"},
        {HEAD "- {match: {}, attributes: {v: {version: one}}}\n", "rules[0].attributes.v"},
        {HEAD "- {match: {}, attributes: {tangram.dev/granted: {bool: true}}}\n",
         "attributes of domain tangram.dev are never published"},
        {HEAD "- {match: {}, attributes: {Tangram.Dev/granted: {bool: true}}}\n",
         "attributes of domain tangram.dev are never published"},
        {HEAD "- {match: {}, attributes: {uuid: {string: mine}}}\n", "is known by"},
    };
    struct node *n = *state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(cases); i++) {
        write_file(n, "x.yaml", cases[i].text);
        list(n);
        if (!has_problem(n->m, cases[i].words))
            fail_msg("%s: %s", cases[i].text,
                     n->m->set.problems.n == 0 ? "no problem" : n->m->set.problems.items[0]);
        assert_true(has_problem(n->m, "the file is left out"));
        assert_int_equal(n->m->set.problems.n, 1);
    }
}

static void a_file_that_breaks_stays_as_it_was_and_others_are_read(void **state)
{
    struct node *n = *state;
    write_file(n, "10.yaml", HEAD "- {match: {}, attributes: {rack: {string: r7}}}\n");
    list(n);
    write_file(n, "10.yaml", HEAD "- {match: {}, attributes: {rack: r8}}\n");
    write_file(n, "20.yaml", HEAD "- {match: {}, attributes: {rail: {int: 1}}}\n");
    write_file(n, ".hidden.yaml", "[");
    write_file(n, "notes.txt", "[");
    list(n);
    assert_string_equal(text_of(device(n, CARD), "rack"), "r7");
    assert_int_equal(int_of(device(n, CARD), "rail"), 1);
    assert_true(has_problem(n->m, "what the file said before is used"));
    assert_int_equal(n->m->set.problems.n, 1);
    write_file(n, "10.yaml", HEAD "- {match: {}, attributes: {rack: {string: r8}}}\n");
    list(n);
    assert_string_equal(text_of(device(n, CARD), "rack"), "r8");
    assert_int_equal(n->m->set.problems.n, 0);
    TG_AUTOFREE char *path = tg_xasprintf("%s/10.yaml", n->folder);
    assert_int_equal(unlink(path), 0);
    list(n);
    assert_null(attribute(device(n, CARD), "rack"));
    sandbox_remove(n->folder);
    list(n);
    assert_null(attribute(device(n, CARD), "rail"));
}

static void a_file_or_folder_without_bounds_is_cut(void **state)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(2 * TG_DROPINS_BYTES_MAX);
    struct node *n = *state;
    while (text.len <= TG_DROPINS_BYTES_MAX)
        (void)tg_buf_append_str(&text, "# more\n");
    write_file(n, "long.yaml", tg_buf_str(&text));
    list(n);
    assert_true(has_problem(n->m, "long.yaml"));
    for (int i = 0; i <= TG_DROPINS_FILES_MAX; i++) {
        TG_AUTOFREE char *name = tg_xasprintf("%03d.yaml", i);
        write_file(n, name, HEAD "[]\n");
    }
    list(n);
    assert_true(has_problem(n->m, "more than 64 files"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_node_without_files_is_as_it_was),
        TEST(every_type_of_value_is_added_in_the_order_of_keys),
        TEST(only_devices_that_fit_in_everything_get_it),
        TEST(what_comes_later_replaces_what_came_before_but_never_what_the_driver_tells),
        TEST(one_attribute_too_many_is_left_out_and_told),
        TEST(what_is_wrong_is_told_with_file_line_and_field),
        TEST(a_file_that_breaks_stays_as_it_was_and_others_are_read),
        TEST(a_file_or_folder_without_bounds_is_cut),
    };
    return cmocka_run_group_tests_name("dropins", tests, NULL, NULL);
}
