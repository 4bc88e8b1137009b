/* SPDX-License-Identifier: Apache-2.0 */
/* Cards in the numbers of policies, by the partitions that are offered of them. */
#include "controller/core/gang/ledger.h"
#include "tests/unit/core/world.h"

struct part { /* memory slices of a card */
    unsigned start, size;
};

/* A node with one card of which these partitions are offered: p<start>-<size>. */
static void add_parts(struct world *w, const char *node, const struct part *parts, size_t n)
{
    char json[4096];
    size_t at = 0;

    at += (size_t)snprintf(json, sizeof(json),
                           "{\"metadata\":{\"name\":\"s-%s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                           "\",\"nodeName\":\"%s\",\"pool\":{\"name\":\"%s\",\"generation\":1,"
                           "\"resourceSliceCount\":1},\"devices\":[",
                           node, node, node);
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(
            json + at, sizeof(json) - at,
            "%s{\"name\":\"p%u-%u\",\"attributes\":{\"derived\":{\"bool\":true},\"productName\":{"
            "\"string\":\"X\"},\"parentUUID\":{\"string\":\"card\"},\"size\":{\"int\":%u},"
            "\"memorySliceStart\":{\"int\":%u},\"memorySliceSize\":{\"int\":%u}}}",
            i == 0 ? "" : ",", parts[i].start, parts[i].size, parts[i].size, parts[i].start,
            parts[i].size);
    assert_true(at + 8 < sizeof(json));
    memcpy(json + at, "]}}", 4);
    add_node(w, node, "", "");
    add_slice(w, json);
}

static struct tg_pack_node numbers_of(struct tg_fleet *fleet, size_t row)
{
    struct tg_pack_node node;
    uint64_t version;

    tg_kinds_node(tg_ledger_kinds(fleet, &version), row, &node, NULL);
    return node;
}

/* Six of eight slices are taken; the last two of the lower half are not. */
static void what_partitions_take_is_where_they_stand(void **state)
{
    static const struct part parts[] = {{0, 1}, {2, 1}, {0, 2}, {2, 2}, {4, 2}, {0, 4}, {4, 4}};
    struct world w;
    struct tg_pack_node node;

    (void)state;
    world_init(&w);
    add_parts(&w, "a", parts, 7);
    add_holder(&w, "h", "a", "p4-4");
    add_holder(&w, "i", "a", "p0-2");
    node = numbers_of(world_fleet(&w), 0);
    assert_int_equal(node.cards, 1);
    assert_int_equal(node.free[0], 250);
    assert_int_equal(node.open, 1 | 2); /* there is a place for 1 and for 2 slices */
    world_done(&w);
}

/* As many slices as a word has bits, and twice that. */
static void a_card_may_have_very_many_slices(void **state)
{
    static const struct part parts[] = {{0, 64}, {64, 64}};
    struct world w;

    (void)state;
    world_init(&w);
    add_parts(&w, "a", parts, 2);
    add_holder(&w, "h", "a", "p0-64");
    assert_int_equal(numbers_of(world_fleet(&w), 0).free[0], 500);
    world_done(&w);
}

static unsigned share_of_two_slices(struct world *w, struct tg_fleet *fleet)
{
    struct tg_piece piece = new_piece(
        w, new_pod(w, "x", "1", ""),
        new_claim(w, "x",
                  "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\","
                  "\"selectors\":[{\"cel\":{\"expression\":\"device.attributes[\\\"" GPU_DRIVER
                  "\\\"].size == 2\"}}]}}]"));
    struct tg_pack_request request;

    assert_int_equal(tg_ledger_request(fleet, &piece, w->arena, &request, NULL), 0);
    assert_int_equal(request.cards, 1);
    return request.share;
}

/* How large the cards of a kind are is told by how far their partitions reach, on any node. */
static void a_part_is_less_when_its_card_turns_out_larger(void **state)
{
    static const struct part low[] = {{0, 2}, {2, 2}}, high[] = {{4, 2}, {6, 2}};
    struct world w;
    struct tg_fleet *fleet;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_parts(&w, "a", low, 2);
    fleet = world_fleet(&w);
    assert_int_equal(share_of_two_slices(&w, fleet), 500);
    add_parts(&w, "b", high, 2);
    tg_fleet_put(fleet, TG_FLEET_NODE, w.nodes[1]);
    tg_fleet_put(fleet, TG_FLEET_SLICE, w.slices[1]);
    tg_fleet_settle(fleet);
    assert_int_equal(share_of_two_slices(&w, fleet), 250);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_partitions_take_is_where_they_stand),
        cmocka_unit_test(a_card_may_have_very_many_slices),
        cmocka_unit_test(a_part_is_less_when_its_card_turns_out_larger),
    };

    return cmocka_run_group_tests_name("kinds", tests, NULL, NULL);
}
