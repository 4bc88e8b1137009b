/* SPDX-License-Identifier: Apache-2.0 */
/* What the controller places by and what the benchmarks measure is the same. */
#include "controller/core/gang/learn.h"
#include "controller/core/gang/ledger.h"
#include "controller/core/gang/rank.h"
#include "controller/core/pack/packer.h"
#include "tests/unit/core/world.h"

enum { NODES = 20, CARDS = 4, PLACED = 40, SEEDS = 12 };

static const struct tg_level levels[] = {{.name = "zone", .node_label = "zone", .rank = 0},
                                         {.name = "rack", .node_label = "rack", .rank = 1},
                                         {.name = "host", .rank = 2}};

static uint64_t random_state;

static unsigned below(unsigned n)
{
    random_state = random_state * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(random_state >> 33) % n;
}

static void begin(struct world *w, bool typed)
{
    world_init(w);
    add_class(w, "gpu", "");
    for (unsigned i = 0; i < NODES; i++) {
        char name[8], labels[64];

        snprintf(name, sizeof(name), "n%02u", i);
        snprintf(labels, sizeof(labels), "\"zone\":\"z%u\",\"rack\":\"r%u\"", i % 2, below(5));
        add_node(w, name, labels, "");
        add_gpus(w, name, CARDS,
                 typed && i % 3 == 0 ? "\"productName\":{\"string\":\"Rare\"}"
                                     : "\"productName\":{\"string\":\"Common\"}");
    }
}

static struct tg_piece some_piece(struct world *w, unsigned number, bool typed)
{
    static const char *const selectors[] = {
        "", ",\"selectors\":[{\"cel\":{\"expression\":\"device.attributes[\\\"" GPU_DRIVER
            "\\\"].productName == \\\"Rare\\\"\"}}]"};
    char name[16], devices[512], cpu[8];
    bool rare = typed && below(4) == 0;

    snprintf(name, sizeof(name), "p%02u", number);
    snprintf(cpu, sizeof(cpu), "%um", 100 * (1 + below(8)));
    snprintf(devices, sizeof(devices),
             "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\",\"count\":%u%s"
             "}}]",
             1U << below(3), selectors[rare]);
    return new_piece(w, new_pod(w, name, cpu, ""), new_claim(w, name, devices));
}

/* The claim as it is once the placement is written. */
static void hold(struct world *w, struct tg_fleet *fleet, const struct tg_placement *placement)
{
    const struct tg_placed_piece *piece = &placement->pieces[0];
    char results[1024] = "";
    size_t at = 0;

    for (size_t i = 0; i < piece->n_devices; i++)
        at += (size_t)snprintf(results + at, sizeof(results) - at,
                               "%s{\"request\":\"r\",\"driver\":\"" GPU_DRIVER
                               "\",\"pool\":\"%s\",\"device\":\"%s\"}",
                               i == 0 ? "" : ",", piece->devices[i].pool, piece->devices[i].device);
    tg_fleet_put(
        fleet, TG_FLEET_CLAIM,
        decodef(w->arena, &tg_resource_claim_type,
                "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\",\"uid\":\"u\"},\"spec\":{"
                "\"devices\":{}},\"status\":{\"allocation\":{\"devices\":{\"results\":[%s]}}}}",
                piece->devices[0].claim->metadata->name, results));
    tg_fleet_settle(fleet);
}

/* A packer as the benchmarks have it, told the same nodes and the same mix. */
static struct tg_packer *packer_of(const struct tg_fleet *fleet, const char *policy)
{
    struct tg_packer *packer = tg_packer_new(tg_pack_policy(policy));
    const struct tg_mix *mix = tg_rank_mix(tg_rank_get(fleet, policy));
    uint64_t version;
    const struct tg_kinds *kinds = tg_ledger_kinds(fleet, &version);

    tg_packer_be_patient(packer);
    for (size_t i = 0; i < NODES; i++) {
        struct tg_pack_node node;
        uint64_t residents;

        tg_kinds_empty(kinds, i, &node);
        tg_packer_add_node(packer, &node);
        tg_kinds_node(kinds, i, &node, &residents);
        tg_packer_set_node(packer, (uint32_t)i, &node, residents);
    }
    tg_packer_set_mix(packer, mix, false);
    return packer;
}

static void assert_same_choice(struct world *w, struct tg_fleet *fleet, const char *policy,
                               const struct tg_piece *piece, struct tg_placement *ret, bool *placed)
{
    const struct tg_policies policies = {.fleet = policy};
    const struct tg_place_request request = {
        .name = "pod ns/p", .pieces = piece, .n_pieces = 1, .policies = &policies};
    struct tg_no_place why = {.text = ""};
    struct tg_error err = TG_ERROR_INIT;
    struct tg_pack_request asked;
    struct tg_pack_choice choice = {.node = 0};
    struct tg_packer *packer;
    bool fits;

    *placed = tg_place(fleet, &request, w->arena, ret, &why, &err) == 0;
    packer = packer_of(fleet, policy);
    assert_int_equal(tg_ledger_request(fleet, piece, w->arena, &asked, &err), 0);
    tg_packer_begin(packer);
    fits = tg_packer_choose(packer, tg_packer_type(packer, &asked), &choice);
    assert_int_equal(*placed, fits);
    if (fits)
        assert_string_equal(ret->pieces[0].node, fleet->nodes[choice.node].name);
    tg_packer_free(packer);
}

static void play(const char *policy, unsigned seed, size_t *ret_placed)
{
    struct world w;
    struct tg_fleet *fleet;
    bool typed = seed % 2 == 1;

    random_state = seed;
    begin(&w, typed);
    fleet = world_fleet(&w);
    tg_learn_levels(fleet, levels, sizeof(levels) / sizeof(levels[0]));
    for (unsigned i = 0; i < PLACED; i++) {
        struct tg_piece piece = some_piece(&w, i, typed);
        struct tg_placement placement;
        struct tg_error err = TG_ERROR_INIT;
        bool placed;

        assert_int_equal(tg_learn_arrived(fleet, &piece, 1, w.arena, &err), 0);
        tg_learn_settle(fleet);
        assert_same_choice(&w, fleet, policy, &piece, &placement, &placed);
        if (placed)
            hold(&w, fleet, &placement);
        *ret_placed += placed;
    }
    world_done(&w);
}

static void controller_and_benchmark_choose_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; tg_pack_policy_names[i] != NULL; i++) {
        size_t placed = 0;

        for (unsigned seed = 1; seed <= SEEDS; seed++)
            play(tg_pack_policy_names[i], seed, &placed);
        assert_true(placed > (size_t)SEEDS * PLACED / 2);
    }
}

/* --- which level's domains count -------------------------------------------------------------- */

static uint32_t domain_of(struct tg_fleet *fleet, size_t row)
{
    struct tg_pack_node node;
    uint64_t version;

    tg_kinds_node(tg_ledger_kinds(fleet, &version), row, &node, NULL);
    return node.domain;
}

static void relabel(struct world *w, struct tg_fleet *fleet, size_t row, const char *labels)
{
    w->n_nodes = row;
    add_node(w, fleet->nodes[row].name, labels, "");
    tg_fleet_put(fleet, TG_FLEET_NODE, w->nodes[row]);
    tg_fleet_settle(fleet);
}

static void the_narrowest_level_with_few_domains_counts(void **state)
{
    struct world w;
    struct tg_fleet *fleet;

    (void)state;
    random_state = 7;
    begin(&w, false);
    fleet = world_fleet(&w);
    assert_int_equal(domain_of(fleet, 0), 0);
    tg_learn_levels(fleet, levels, sizeof(levels) / sizeof(levels[0]));
    relabel(&w, fleet, 0, "\"zone\":\"z0\",\"rack\":\"r9\"");
    relabel(&w, fleet, 2, "\"zone\":\"z0\",\"rack\":\"r8\"");
    assert_int_not_equal(domain_of(fleet, 0), domain_of(fleet, 2));
    /* In one rack all of them: their zones tell them apart. */
    for (size_t i = 0; i < NODES; i++)
        relabel(&w, fleet, i,
                i % 2 == 0 ? "\"zone\":\"z0\",\"rack\":\"r\"" : "\"zone\":\"z1\",\"rack\":\"r\"");
    assert_int_equal(domain_of(fleet, 0), domain_of(fleet, 2));
    assert_int_not_equal(domain_of(fleet, 0), domain_of(fleet, 1));
    /* One that leaves again makes it as it was before. */
    relabel(&w, fleet, 0, "\"zone\":\"z0\",\"rack\":\"other\"");
    assert_int_equal(domain_of(fleet, 2), domain_of(fleet, 1));
    relabel(&w, fleet, 0, "\"zone\":\"z0\",\"rack\":\"r\"");
    assert_int_not_equal(domain_of(fleet, 2), domain_of(fleet, 1));
    relabel(&w, fleet, 1, "");
    assert_int_equal(domain_of(fleet, 1), 0);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(controller_and_benchmark_choose_the_same),
        cmocka_unit_test(the_narrowest_level_with_few_domains_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
