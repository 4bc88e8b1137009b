/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/sim_inventory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "tests/support/test_arena.h"

#define HEAD "apiVersion: tangram.dev/v1alpha1\nkind: SimInventory\n"

static int decode(const char *text, struct tg_sim_inventory *ret, struct tg_error *err)
{
    return tg_sim_inventory_decode("inv.yaml", text, strlen(text), arena, ret, err);
}

static void the_documents_of_the_design_are_read(void **state)
{
    (void)state;
    struct tg_sim_inventory inventory;
    struct tg_error err = TG_ERROR_INIT;
    if (decode(
            HEAD
            "cards:\n"
            "- {count: 2, product: \"NVIDIA RTX 4000 SFF Ada Generation\"}\n"
            "- {count: 1, product: NVIDIA L4, mig: off}\n"
            "- {count: 1, name: custom, memory: 48Gi, attributes: {productName: {string: X9}}}\n",
            &inventory, &err) != 0)
        fail_msg("%s", err.message);
    assert_int_equal(inventory.cards.n, 3);
    assert_int_equal(inventory.cards.items[0].count, 2);
    assert_string_equal(inventory.cards.items[0].card->id, "rtx-4000-sff-ada-20gb");
    assert_string_equal(inventory.cards.items[0].memory, "20Gi");
    assert_int_equal(inventory.cards.items[1].count, 1);
    assert_null(inventory.cards.items[2].card);
    assert_string_equal(inventory.cards.items[2].product_name, "custom");
    assert_string_equal(inventory.cards.items[2].memory, "48Gi");
    assert_string_equal(inventory.cards.items[2].attributes.items[0].key, "productName");
    assert_string_equal(inventory.cards.items[2].attributes.items[0].value.string, "X9");
}

static void cards_may_begin_behind_those_of_another_driver(void **state)
{
    (void)state;
    struct tg_sim_inventory inventory;
    assert_int_equal(decode(HEAD "cards: []\n", &inventory, NULL), 0);
    assert_int_equal(inventory.first_index, 0);
    assert_int_equal(decode(HEAD "cards:\n- {product: NVIDIA L4, count: 24}\nfirstIndex: 1000\n",
                            &inventory, NULL),
                     0);
    assert_int_equal(inventory.first_index, 1000);
}

static void a_node_may_have_no_cards(void **state)
{
    (void)state;
    struct tg_sim_inventory inventory;
    assert_int_equal(decode(HEAD "cards: []\n", &inventory, NULL), 0);
    assert_int_equal(inventory.cards.n, 0);
}

static void attributes_have_the_types_of_the_api(void **state)
{
    (void)state;
    struct tg_sim_inventory inventory;
    assert_int_equal(decode(HEAD "cards:\n- product: NVIDIA L4\n  attributes:\n    a: {string: "
                                 "\"1\"}\n    b: {int: -7}\n"
                                 "    example.com/c: {bool: false}\n    d: {version: 1.2.3}\n",
                            &inventory, NULL),
                     0);
    const struct tg_sim_card *card = &inventory.cards.items[0];
    assert_int_equal(card->attributes.n, 4);
    assert_string_equal(card->attributes.items[0].value.string, "1");
    assert_int_equal(card->attributes.items[1].value.int_.value, -7);
    assert_true(card->attributes.items[2].value.bool_.set);
    assert_false(card->attributes.items[2].value.bool_.value);
    assert_string_equal(card->attributes.items[3].value.version, "1.2.3");
}

/* Each wrong document, and what a person is told. */
static const struct {
    const char *document, *message;
} wrong[] = {
    {HEAD "cards: []\nfaults: {}\n", "inv.yaml:4: faults: expected a list"},
    {HEAD "cards: []\nfaults: [{call: list}]\n",
     "faults[0]: error, delay, hang or kill is missing"},
    {HEAD "cards: []\nfaults: [{call: fly, hang: true}]\n", "faults[0].call: expected list"},
    {HEAD "cards: []\nfaults: [{hang: true}]\n", "faults[0].call: is missing"},
    {HEAD "cards: []\nfaults: [{call: set, hang: 1}]\n", "faults[0].hang: expected true"},
    {HEAD "cards: []\nfaults: [{call: set, delay: 3}]\n", "faults[0].delay: expected a duration"},
    {HEAD "cards: []\nfaults: [{call: set, from: 0, kill: true}]\n", "faults[0].from: expected"},
    {HEAD "cards: []\nfaults: [{call: set, from: 3, to: 2, kill: true}]\n",
     "faults[0].to: is before"},
    {HEAD "cards: []\nfaults: [{call: list, device: a, kill: true}]\n",
     "faults[0].device: a listing"},
    {"cards: []\n", "inv.yaml:1: apiVersion: is missing"},
    {HEAD, "inv.yaml:1: cards: is missing"},
    {"apiVersion: tangram.dev/v2\nkind: SimInventory\ncards: []\n",
     "inv.yaml:1: apiVersion: this version reads tangram.dev/v1alpha1"},
    {"apiVersion: tangram.dev/v1alpha1\nkind: Fleet\ncards: []\n",
     "inv.yaml:2: kind: expected SimInventory"},
    {HEAD "cards: []\ncrads: []\n",
     "inv.yaml:4: crads: unknown field; known here: apiVersion, kind, firstIndex, cards"},
    {HEAD "firstIndex: -1\ncards: []\n",
     "inv.yaml:3: firstIndex: expected a whole number from 0 to 1023"},
    {HEAD "firstIndex: 1024\ncards: []\n", "firstIndex: expected a whole number from 0 to 1023"},
    {HEAD "firstIndex: \"8\"\ncards: []\n", "firstIndex: expected a whole number"},
    {HEAD "firstIndex: 1000\ncards:\n- {product: NVIDIA L4, count: 25}\n",
     "inv.yaml:3: firstIndex: with the cards that follow it passes 1024"},
    {HEAD "cards: {}\n", "inv.yaml:3: cards: expected a list of cards"},
    {HEAD "cards:\n- 5\n", "inv.yaml:4: cards[0]: expected fields (a mapping)"},
    {HEAD "cards:\n- {product: NVIDIA L4}\n- product: NVIDIA L4\n  cuont: 2\n",
     "inv.yaml:6: cards[1].cuont: unknown field"},
    {HEAD "cards:\n- {product: NVIDIA L4, count: 0}\n",
     "inv.yaml:4: cards[0].count: expected a whole number from 1 to 1024"},
    {HEAD "cards:\n- {product: NVIDIA L4, count: 1.5}\n",
     "cards[0].count: expected a whole number"},
    {HEAD "cards:\n- {product: NVIDIA L4, count: \"2\"}\n",
     "cards[0].count: expected a whole number"},
    {HEAD "cards:\n- {product: NVIDIA L4, count: 1000}\n- {product: NVIDIA L4, count: 25}\n",
     "inv.yaml:5: cards[1].count: a node has at most 1024 cards"},
    {HEAD "cards:\n- product: NVIDIA RTX 4000 SFF Ada\n",
     "inv.yaml:4: cards[0].product: no card is known as \"NVIDIA RTX 4000 SFF Ada\"; the nearest: "
     "\"NVIDIA RTX 4000 SFF Ada Generation\""},
    {HEAD "cards:\n- product: zzzzzzzzzz\n", "for any other card give name and memory instead"},
    {HEAD "cards:\n- product: [a]\n", "cards[0].product: expected a text"},
    {HEAD "cards:\n- {}\n", "inv.yaml:4: cards[0]: product is missing (or name and memory"},
    {HEAD "cards:\n- name: x\n", "cards[0].memory: is missing"},
    {HEAD "cards:\n- {name: x, memory: 48GB}\n", "inv.yaml:4: cards[0].memory: "},
    {HEAD "cards:\n- {name: x, memory: [1]}\n",
     "cards[0].memory: expected a quantity such as 48Gi"},
    {HEAD "cards:\n- {product: NVIDIA L4, name: x}\n",
     "cards[0].name: product and name exclude each other"},
    {HEAD "cards:\n- {product: NVIDIA L4, memory: 1Gi}\n",
     "cards[0].memory: the memory of a known product cannot be given"},
    {HEAD "cards:\n- {name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, "
          "memory: 1Gi}\n",
     "cards[0].name: at most 64 bytes"},
    {HEAD "cards:\n- {product: NVIDIA A30, mig: dynamic}\n",
     "inv.yaml:4: cards[0].mig: \"dynamic\" is not implemented in this version; only \"off\" is"},
    {HEAD "cards:\n- product: NVIDIA A30\n  mig:\n  - 1g.6gb\n",
     "cards[0].mig: static layouts are not implemented in this version; only \"off\" is"},
    {HEAD "cards:\n- product: NVIDIA A30\n  mig: {layout: [1g.6gb]}\n",
     "cards[0].mig: static layouts are not implemented"},
    {HEAD "cards:\n- {product: NVIDIA A30, mig: on}\n",
     "cards[0].mig: unknown value; this version knows \"off\""},
    {HEAD "cards:\n- {product: NVIDIA A30, mig: false}\n", "cards[0].mig: unknown value"},
    {HEAD "cards:\n- {product: NVIDIA L4, attributes: []}\n",
     "cards[0].attributes: expected attributes by name"},
    {HEAD "cards:\n- product: NVIDIA L4\n  attributes:\n    rail: 3\n",
     "inv.yaml:6: cards[0].attributes.rail: expected one of {string: S}, {int: N}, {bool: B}, "
     "{version: V}"},
    {HEAD "cards:\n- {product: NVIDIA L4, attributes: {a: {int: 1, bool: true}}}\n",
     "cards[0].attributes.a: expected one of"},
    {HEAD "cards:\n- {product: NVIDIA L4, attributes: {a: {ints: [1]}}}\n",
     "cards[0].attributes.a: unknown type; known: string, int, bool, version"},
    {HEAD "cards:\n- {product: NVIDIA L4, attributes: {a: {string: 5}}}\n",
     "cards[0].attributes.a: the value is not of the type before it"},
    {HEAD "cards:\n- {product: NVIDIA L4, attributes: {a: {int: \"5\"}}}\n",
     "cards[0].attributes.a: the value is not of the type"},
    {HEAD "cards:\n- {product: NVIDIA L4, attributes: {a: {bool: 1}}}\n",
     "cards[0].attributes.a: the value is not of the type"},
    {HEAD "cards:\n- {product: NVIDIA L4, attributes: {a: {version: \"1.2\"}}}\n",
     "inv.yaml:4: cards[0].attributes.a: "},
    {HEAD "cards:\n- {product: NVIDIA L4, attributes: {tangram.dev/granted: {bool: true}}}\n",
     "cards[0].attributes.tangram.dev/granted: attributes of domain tangram.dev are never "
     "published"},
    {HEAD "cards:\n- {product: NVIDIA L4, attributes: {a-b: {int: 1}}}\n",
     "cards[0].attributes.a-b: "},
    {HEAD "cards:\n- {product: NVIDIA L4, attributes: {uuid: {string: x}}}\n",
     "cards[0].attributes.uuid: follows from the card's position and cannot be given"},
    {HEAD "cards:\n- {product: NVIDIA L4, product: NVIDIA L4}\n", "inv.yaml: line 4"},
    {HEAD "cards: [\n", "inv.yaml: line"},
    {"", "inv.yaml"},
    {"- 1\n", "inv.yaml:1: : expected fields (a mapping)"},
};

static void what_is_wrong_is_told_with_file_and_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < TG_ARRAY_SIZE(wrong); i++) {
        struct tg_sim_inventory inventory;
        struct tg_error err = TG_ERROR_INIT;
        int rc = decode(wrong[i].document, &inventory, &err);
        if (rc != -TG_INVALID_ARGUMENT || strstr(err.message, wrong[i].message) == NULL)
            fail_msg("document %zu: rc %d, \"%s\" instead of \"%s\"", i, rc, err.message,
                     wrong[i].message);
    }
}

static void memory_is_bounded(void **state)
{
    (void)state;
    static const char document[] =
        HEAD "cards:\n- {product: NVIDIA L4, attributes: {a: {int: 1}}}\n";
    struct tg_sim_inventory inventory;
    int rc = -1;
    for (size_t nth = 1; rc != 0; nth++) {
        TG_AUTOARENA struct tg_arena *tight = tg_arena_new(1 << 20);
        tg_arena_fail_after(tight, nth);
        rc = tg_sim_inventory_decode("inv.yaml", document, sizeof(document) - 1, tight, &inventory,
                                     NULL);
        assert_true(rc == 0 || rc == -TG_RESOURCE_EXHAUSTED);
    }
}

static void a_file_that_is_not_there_is_named(void **state)
{
    (void)state;
    struct tg_sim_inventory inventory;
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(tg_sim_inventory_load("/nonexistent/inv.yaml", arena, &inventory, &err),
                     -TG_NOT_FOUND);
    assert_non_null(strstr(err.message, "/nonexistent/inv.yaml"));
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest sim_inventory[] = {
        WITH(the_documents_of_the_design_are_read),
        WITH(cards_may_begin_behind_those_of_another_driver),
        WITH(a_node_may_have_no_cards),
        WITH(attributes_have_the_types_of_the_api),
        WITH(what_is_wrong_is_told_with_file_and_line),
        WITH(memory_is_bounded),
        WITH(a_file_that_is_not_there_is_named),
    };
    return cmocka_run_group_tests(sim_inventory, NULL, NULL);
}
