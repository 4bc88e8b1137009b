/* SPDX-License-Identifier: Apache-2.0 */
/* Placement by a packing policy, and by what is known of the requests that come. */
#include "controller/core/gang/learn.h"
#include "controller/core/gang/ledger.h"
#include "controller/core/gang/rank.h"
#include "controller/core/pack/packer.h"
#include "tests/unit/core/world.h"

static const struct tg_level zone = {.name = "zone", .node_label = "zone", .rank = 0};

static struct tg_placement place(struct world *w, struct tg_fleet *fleet,
                                 const struct tg_policies *policies, const struct tg_piece *pieces,
                                 size_t n, const struct tg_level *required)
{
    struct tg_placement ret;
    struct tg_no_place why = {.text = ""};
    struct tg_error err = TG_ERROR_INIT;

    if (tg_place(fleet,
                 &(struct tg_place_request){.name = "gang ns/g",
                                            .pieces = pieces,
                                            .n_pieces = n,
                                            .pack_required = required,
                                            .policies = policies},
                 w->arena, &ret, &why, &err) < 0)
        fail_msg("not placed: %s", err.message);
    return ret;
}

static void assert_goes_to(struct world *w, struct tg_fleet *fleet, const char *policy,
                           const struct tg_piece *piece, const char *node)
{
    const struct tg_policies policies = {.fleet = policy};
    struct tg_placement p = place(w, fleet, &policies, piece, 1, NULL);

    assert_string_equal(p.pieces[0].node, node);
}

static void hold(struct world *w, const char *node, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char name[48], device[32];

        snprintf(name, sizeof(name), "h-%s-%zu", node, i);
        snprintf(device, sizeof(device), "gpu-%zu", i);
        add_holder(w, name, node, device);
    }
}

/* a: 1 of 4 free, b: 2 of 4, c: 4 of 4 */
static void begin(struct world *w)
{
    world_init(w);
    add_class(w, "gpu", "");
    for (const char *name = "abc"; *name != '\0'; name++) {
        char node[2] = {*name, '\0'};

        add_node(w, node, name[0] == 'c' ? "\"zone\":\"z2\"" : "\"zone\":\"z1\"", "");
        add_gpus(w, node, 4, "\"productName\":{\"string\":\"X\"}");
    }
    hold(w, "a", 3);
    hold(w, "b", 2);
}

static void the_policy_says_which_node(void **state)
{
    struct world w;
    struct tg_piece one;
    struct tg_fleet *fleet;

    (void)state;
    begin(&w);
    one = new_gang(&w, 1, 1)[0];
    fleet = world_fleet(&w);
    assert_goes_to(&w, fleet, "binpack", &one, "a");
    assert_goes_to(&w, fleet, "spread", &one, "c");
    assert_goes_to(&w, fleet, "fill", &one, "a");
    assert_goes_to(&w, fleet, NULL, &one, "a");
    /* One that nobody knows is refused by the configuration; here it is the default. */
    assert_goes_to(&w, fleet, "nonsense", &one, "a");
    world_done(&w);
}

static void a_class_may_have_a_policy_of_its_own(void **state)
{
    static const struct tg_class_policy classes[] = {{"other", "fgd"}, {"gpu", "spread"}};
    const struct tg_policies policies = {.fleet = "binpack", .classes = classes, .n_classes = 2};
    struct world w;
    struct tg_piece *pieces;
    struct tg_fleet *fleet;

    (void)state;
    begin(&w);
    add_class(&w, "loose", "");
    pieces = new_gang(&w, 1, 1);
    fleet = world_fleet(&w);
    assert_string_equal(place(&w, fleet, &policies, pieces, 1, NULL).pieces[0].node, "c");
    pieces[0] = new_piece(&w, new_pod(&w, "m", "1", ""),
                          new_claim(&w, "m",
                                    "\"requests\":[{\"name\":\"r\",\"firstAvailable\":[{\"name\":"
                                    "\"x\",\"deviceClassName\":\"loose\"}]}]"));
    assert_string_equal(place(&w, fleet, &policies, pieces, 1, NULL).pieces[0].node, "a");
    world_done(&w);
}

static void members_are_spread_where_the_policy_spreads(void **state)
{
    const struct tg_policies spread = {.fleet = "spread"}, pack = {.fleet = "binpack"};
    struct world w;
    struct tg_piece *pieces;
    struct tg_fleet *fleet;
    struct tg_placement p;

    (void)state;
    begin(&w);
    pieces = new_gang(&w, 3, 1);
    fleet = world_fleet(&w);
    p = place(&w, fleet, &spread, pieces, 3, NULL);
    /* 4 free on c, then 3, then 2 on both. */
    assert_string_equal(p.pieces[0].node, "c");
    assert_string_equal(p.pieces[1].node, "c");
    assert_string_equal(p.pieces[2].node, "b");
    p = place(&w, fleet, &pack, pieces, 3, NULL);
    assert_string_equal(p.pieces[0].node, "a");
    assert_string_equal(p.pieces[1].node, "b");
    assert_string_equal(p.pieces[2].node, "b");
    /* As are their domains: 4 are free in one and 3 in the other. */
    assert_string_equal(place(&w, fleet, &spread, pieces, 3, &zone).pieces[0].node, "c");
    world_done(&w);
}

static void learn(struct world *w, struct tg_fleet *fleet, const struct tg_piece *piece,
                  size_t times)
{
    struct tg_error err = TG_ERROR_INIT;

    if (tg_learn_arrived(fleet, piece, times, w->arena, &err) < 0)
        fail_msg("%s", err.message);
}

static struct tg_piece half_of(struct world *w, const char *name, const char *product, size_t count)
{
    char devices[512];

    snprintf(devices, sizeof(devices),
             "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\",\"count\":%zu,"
             "\"selectors\":[{\"cel\":{\"expression\":\"device.attributes[\\\"" GPU_DRIVER
             "\\\"].productName == \\\"%s\\\"\"}}]}}]",
             count, product);
    return new_piece(w, new_pod(w, name, "1", ""), new_claim(w, name, devices));
}

/* Two kinds of card with room for an untyped pod: it leaves those alone that others ask for. */
static void scarce_cards_are_left_to_those_who_ask_for_them(void **state)
{
    struct world w;
    struct tg_piece any, typed;
    struct tg_fleet *fleet;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "a", "", "");
    add_gpus(&w, "a", 2, "\"productName\":{\"string\":\"Rare\"}");
    add_node(&w, "b", "", "");
    add_gpus(&w, "b", 2, "\"productName\":{\"string\":\"Common\"}");
    any = new_gang(&w, 1, 1)[0];
    typed = half_of(&w, "t", "Rare", 1);
    fleet = world_fleet(&w);
    assert_goes_to(&w, fleet, NULL, &any, "a");
    learn(&w, fleet, &any, 10);
    learn(&w, fleet, &typed, 30);
    tg_learn_settle(fleet);
    assert_goes_to(&w, fleet, NULL, &any, "b");
    assert_goes_to(&w, fleet, NULL, &typed, "a");
    world_done(&w);
}

static void what_came_first_makes_no_difference(void **state)
{
    struct tg_mix mixes[2];

    (void)state;
    for (size_t order = 0; order < 2; order++) {
        struct world w;
        struct tg_piece pieces[4];
        struct tg_fleet *fleet;

        begin(&w);
        add_node(&w, "d", "", "");
        add_gpus(&w, "d", 2, "\"productName\":{\"string\":\"A\"}");
        pieces[0] = new_gang(&w, 1, 1)[0];
        pieces[1] = new_gang(&w, 1, 2)[0];
        pieces[2] = half_of(&w, "x", "X", 1);
        pieces[3] = half_of(&w, "y", "A", 2);
        fleet = world_fleet(&w);
        for (size_t i = 0; i < 4; i++) {
            size_t k = order == 0 ? i : 3 - i;

            learn(&w, fleet, &pieces[k], 5000 * (k + 1));
        }
        tg_learn_settle(fleet);
        memset(&mixes[order], 0, sizeof(mixes[order]));
        assert_false(tg_ledger_mix(fleet, &mixes[order]));
        world_done(&w);
    }
    assert_int_equal(mixes[0].n, 4);
    assert_int_equal(mixes[0].arrivals, mixes[1].arrivals);
    /* They have faded to what is remembered. */
    assert_true(mixes[0].arrivals <= 8192 * 64);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(mixes[0].types[i].request.kinds, mixes[1].types[i].request.kinds);
        assert_int_equal(mixes[0].types[i].request.cards, mixes[1].types[i].request.cards);
        assert_int_equal(mixes[0].types[i].arrived, mixes[1].types[i].arrived);
    }
}

static void add_pair(struct world *w, const char *name, const char *node)
{
    w->claims[w->n_claims++] = decodef(
        w->arena, &tg_resource_claim_type,
        "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\"},\"spec\":{\"devices\":{}},\"status\":"
        "{"
        "\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"" GPU_DRIVER
        "\",\"pool\":\"%s\",\"device\":\"gpu-0\"},{\"request\":\"r\",\"driver\":\"" GPU_DRIVER
        "\",\"pool\":\"%s\",\"device\":\"gpu-1\"}]}}}}",
        name, node, node);
}

/* Who runs is told by the nodes: by numbers of cards, among those that ask for so many as they
 * come. */
static void what_runs_is_seen_on_the_nodes(void **state)
{
    struct world w;
    struct tg_piece pieces[3];
    struct tg_fleet *fleet;
    const struct tg_mix *mix;
    int64_t singles = 0;

    (void)state;
    begin(&w); /* a: 3 single cards taken, b: 2 */
    add_node(&w, "d", "", "");
    add_gpus(&w, "d", 4, "\"productName\":{\"string\":\"X\"}");
    add_pair(&w, "pair", "d");
    pieces[0] = new_gang(&w, 1, 1)[0];
    pieces[1] = new_piece(&w, new_pod(&w, "m", "3", ""), new_gpu_claim(&w, "m", 1));
    pieces[2] = new_gang(&w, 1, 2)[0];
    fleet = world_fleet(&w);
    learn(&w, fleet, &pieces[0], 40);
    learn(&w, fleet, &pieces[1], 10);
    learn(&w, fleet, &pieces[2], 10);
    tg_learn_settle(fleet);
    place(&w, fleet, NULL, pieces, 1, NULL);
    for (size_t round = 0; round < 2; round++) {
        mix = tg_rank_mix(tg_rank_get(fleet, NULL));
        assert_int_equal(mix->n, 3);
        singles = 0;
        for (size_t i = 0; i < mix->n; i++) {
            const struct tg_mix_type *type = &mix->types[i];

            if (type->request.cards == 2)
                assert_int_equal(type->running, round == 0 ? 1 : 0);
            else if (type->request.cpu == 1000)
                assert_int_equal(type->running, 4);
            else
                assert_int_equal(type->running, 1);
            singles += type->request.cards == 1 ? type->running : 0;
        }
        assert_int_equal(singles, 5);
        tg_fleet_drop(fleet, TG_FLEET_CLAIM, "ns", "pair");
        tg_fleet_settle(fleet);
    }
    world_done(&w);
}

/* A product whose name comes first gets the first number; what was learned keeps its meaning. */
static void kinds_of_card_may_come_later(void **state)
{
    struct world w;
    struct tg_piece typed;
    struct tg_fleet *fleet;
    struct tg_mix *mix;
    uint64_t version;

    (void)state;
    begin(&w);
    add_node(&w, "d", "", "");
    add_gpus(&w, "d", 2, "\"productName\":{\"string\":\"M\"}");
    typed = half_of(&w, "x", "X", 1);
    fleet = world_fleet(&w);
    learn(&w, fleet, &typed, 1);
    add_node(&w, "e", "", "");
    add_gpus(&w, "e", 2, "\"productName\":{\"string\":\"A\"}");
    tg_fleet_put(fleet, TG_FLEET_NODE, w.nodes[w.n_nodes - 1]);
    tg_fleet_put(fleet, TG_FLEET_SLICE, w.slices[w.n_slices - 1]);
    tg_fleet_settle(fleet);
    (void)tg_ledger_kinds(fleet, &version);
    mix = tg_arena_alloc(w.arena, sizeof(*mix));
    assert_non_null(mix);
    tg_ledger_mix(fleet, mix);
    assert_int_equal(mix->n, 1);
    /* A, M, X */
    assert_int_equal(mix->types[0].request.kinds, 4);
    world_done(&w);
}

/* The nodes that were there before are seen with the new numbers, too. */
static void nodes_have_the_numbers_that_requests_have(void **state)
{
    struct world w;
    struct tg_piece typed;
    struct tg_fleet *fleet;

    (void)state;
    begin(&w);
    typed = half_of(&w, "x", "X", 1);
    fleet = world_fleet(&w);
    assert_goes_to(&w, fleet, "spread", &typed, "c");
    add_node(&w, "d", "", "");
    add_gpus(&w, "d", 2, "\"productName\":{\"string\":\"A\"}");
    tg_fleet_put(fleet, TG_FLEET_NODE, w.nodes[w.n_nodes - 1]);
    tg_fleet_put(fleet, TG_FLEET_SLICE, w.slices[w.n_slices - 1]);
    tg_fleet_settle(fleet);
    assert_goes_to(&w, fleet, "spread", &typed, "c");
    world_done(&w);
}

static void run_on(struct world *w, struct tg_fleet *fleet, const char *node, const char *memory)
{
    char more[128];

    snprintf(more, sizeof(more), "\"nodeName\":\"%s\",\"overhead\":{\"memory\":\"%s\"},", node,
             memory);
    tg_fleet_put(fleet, TG_FLEET_POD, new_pod(w, node, "1", more));
}

/* So that a fleet has few classes of nodes: what is used is counted in steps. What a node is like
 * when nobody is on it is told by what it has. */
static void nodes_that_differ_by_a_trifle_are_alike(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    struct tg_rank *rank;
    struct tg_pack_node now, empty;
    struct tg_kinds *kinds;
    uint64_t version;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    for (const char *name = "abc"; *name != '\0'; name++) {
        char node[2] = {*name, '\0'};

        add_node(&w, node, "", "");
        add_gpus(&w, node, 2, "");
    }
    fleet = world_fleet(&w);
    run_on(&w, fleet, "a", "100Mi");
    run_on(&w, fleet, "b", "200Mi");
    run_on(&w, fleet, "c", "20Gi");
    tg_fleet_settle(fleet);
    rank = tg_rank_get(fleet, NULL);
    assert_int_equal(tg_rank_class(rank, 0), tg_rank_class(rank, 1));
    assert_int_not_equal(tg_rank_class(rank, 0), tg_rank_class(rank, 2));
    kinds = tg_ledger_kinds(fleet, &version);
    tg_kinds_node(kinds, 2, &now, NULL);
    tg_kinds_empty(kinds, 2, &empty);
    assert_int_equal(now.cpu, 7000);
    assert_int_equal(empty.cpu, 8000);
    assert_true(empty.memory > now.memory);
    world_done(&w);
}

static void a_mix_that_is_given_is_not_learned(void **state)
{
    struct world w;
    struct tg_piece *pieces;
    struct tg_fleet *fleet;
    struct tg_mix *mix;
    uint64_t version;

    (void)state;
    begin(&w);
    mix = tg_arena_alloc(w.arena, sizeof(*mix));
    assert_non_null(mix);
    pieces = new_gang(&w, 1, 4);
    fleet = world_fleet(&w);
    learn(&w, fleet, &pieces[0], 7);
    tg_learn_settle(fleet);
    version = tg_ledger_version(fleet);
    assert_int_equal(tg_learn_given(fleet, &pieces[0], 3, w.arena, NULL), 0);
    tg_learn_settle(fleet);
    assert_true(tg_ledger_version(fleet) > version);
    version = tg_ledger_version(fleet);
    learn(&w, fleet, &new_gang(&w, 1, 1)[0], 1000);
    tg_learn_settle(fleet);
    assert_int_equal(tg_ledger_version(fleet), version);
    assert_true(tg_ledger_mix(fleet, mix));
    assert_int_equal(mix->n, 1);
    assert_int_equal(mix->types[0].arrived, 3);
    assert_int_equal(mix->types[0].request.cards, 4);
    world_done(&w);
}

/* Of more requests than there is room for those are forgotten that came least. */
static void what_is_rare_makes_room_for_what_is_new(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    struct tg_mix *mix;

    (void)state;
    begin(&w);
    mix = tg_arena_alloc(w.arena, sizeof(*mix));
    assert_non_null(mix);
    fleet = world_fleet(&w);
    for (size_t i = 0; i < TG_MIX_TYPES_MAX / 2 + 10; i++) {
        char cpu[32];
        struct tg_piece piece;

        snprintf(cpu, sizeof(cpu), "%zum", i + 1);
        piece = new_piece(&w, new_pod(&w, "m", cpu, ""), new_gpu_claim(&w, "m", 1));
        learn(&w, fleet, &piece, i == 17 ? 1 : 5);
    }
    tg_ledger_mix(fleet, mix);
    assert_int_equal(mix->n, TG_MIX_TYPES_MAX / 2);
    assert_int_equal(mix->arrivals, TG_MIX_TYPES_MAX / 2 * 5 * 64);
    for (size_t i = 0; i < mix->n; i++)
        assert_int_not_equal(mix->types[i].request.cpu, 18);
    world_done(&w);
}

/* What was given never came, and is not forgotten for what comes. */
static void what_is_given_makes_room_for_nothing(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    struct tg_mix *mix;
    struct tg_piece *given;

    (void)state;
    begin(&w);
    mix = tg_arena_alloc(w.arena, sizeof(*mix));
    assert_non_null(mix);
    given = new_gang(&w, 1, 4);
    fleet = world_fleet(&w);
    assert_int_equal(tg_learn_given(fleet, &given[0], 3, w.arena, NULL), 0);
    for (size_t i = 0; i < TG_MIX_TYPES_MAX / 2 + 10; i++) {
        char cpu[32];
        struct tg_piece piece;

        snprintf(cpu, sizeof(cpu), "%zum", i + 1);
        piece = new_piece(&w, new_pod(&w, "m", cpu, ""), new_gpu_claim(&w, "m", 1));
        learn(&w, fleet, &piece, 5);
    }
    assert_true(tg_ledger_mix(fleet, mix));
    assert_int_equal(mix->n, 1);
    assert_int_equal(mix->types[0].request.cards, 4);
    assert_int_equal(mix->types[0].arrived, 3);
    world_done(&w);
}

/* What is forgotten for it does not count as remembered any more: nothing fades before its time. */
static void what_was_forgotten_is_not_remembered(void **state)
{
    enum { KEPT = TG_MIX_TYPES_MAX / 2, MORE = 100 };
    struct world w;
    struct tg_fleet *fleet;
    struct tg_mix *mix;

    (void)state;
    begin(&w);
    mix = tg_arena_alloc(w.arena, sizeof(*mix));
    assert_non_null(mix);
    fleet = world_fleet(&w);
    for (size_t i = 0; i < KEPT + MORE; i++) {
        char cpu[32];
        struct tg_piece piece;

        snprintf(cpu, sizeof(cpu), "%zum", i + 1);
        piece = new_piece(&w, new_pod(&w, "m", cpu, ""), new_gpu_claim(&w, "m", 1));
        learn(&w, fleet, &piece, i < KEPT ? 25 : 40);
    }
    tg_learn_settle(fleet);
    tg_ledger_mix(fleet, mix);
    /* 8192 arrivals are remembered. */
    assert_int_equal(mix->arrivals, ((KEPT - MORE) * 25 + MORE * 40) * 64);
    world_done(&w);
}

/* Values are computed anew when the mix is: not for every pod. */
static void a_mix_is_renewed_when_a_quarter_more_has_come(void **state)
{
    struct world w;
    struct tg_piece one;
    struct tg_fleet *fleet;
    uint64_t version;

    (void)state;
    begin(&w);
    one = new_gang(&w, 1, 1)[0];
    fleet = world_fleet(&w);
    learn(&w, fleet, &one, 100);
    tg_learn_settle(fleet);
    version = tg_ledger_version(fleet);
    learn(&w, fleet, &one, 24);
    tg_learn_settle(fleet);
    assert_int_equal(tg_ledger_version(fleet), version);
    learn(&w, fleet, &one, 1);
    tg_learn_settle(fleet);
    assert_int_not_equal(tg_ledger_version(fleet), version);
    world_done(&w);
}

/* Who looks at a device of somebody else takes none. */
static void admin_access_asks_for_no_card(void **state)
{
    struct world w;
    struct tg_piece piece;
    struct tg_fleet *fleet;
    struct tg_pack_request request;
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    begin(&w);
    piece = new_piece(&w, new_pod(&w, "m", "1", ""),
                      new_claim(&w, "m",
                                "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":"
                                "\"gpu\",\"count\":2,\"adminAccess\":true}},{\"name\":\"s\","
                                "\"exactly\":{\"deviceClassName\":\"gpu\",\"count\":1}}]"));
    fleet = world_fleet(&w);
    if (tg_ledger_request(fleet, &piece, w.arena, &request, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(request.cards, 1);
    world_done(&w);
}

/* --- partitions and shares -------------------------------------------------------------------- */

static void add_partitions(struct world *w, const char *node, size_t cards)
{
    char json[32768];
    size_t at = 0, k = 0;

    at += (size_t)snprintf(json, sizeof(json),
                           "{\"metadata\":{\"name\":\"s-%s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                           "\",\"nodeName\":\"%s\",\"pool\":{\"name\":\"%s\",\"generation\":1,"
                           "\"resourceSliceCount\":1},\"devices\":[",
                           node, node, node);
    for (size_t card = 0; card < cards; card++) {
        for (size_t size = 1; size <= 8; size *= 2) {
            for (size_t start = 0; start < 8; start += size)
                at += (size_t)snprintf(
                    json + at, sizeof(json) - at,
                    "%s{\"name\":\"p-%zu-%zu-%zu\",\"attributes\":{\"derived\":{\"bool\":true},"
                    "\"productName\":{\"string\":\"X\"},\"size\":{\"int\":%zu},"
                    "\"parentUUID\":{\"string\":\"%s-%zu\"},\"memorySliceStart\":{\"int\":%zu},"
                    "\"memorySliceSize\":{\"int\":%zu}}}",
                    k++ == 0 ? "" : ",", card, size, start, size, node, card, start, size);
        }
    }
    assert_true(at + 8 < sizeof(json));
    memcpy(json + at, "]}}", 4);
    add_slice(w, json);
}

static struct tg_piece partition(struct world *w, const char *name, size_t size, size_t count)
{
    char devices[512];

    snprintf(devices, sizeof(devices),
             "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\",\"count\":%zu,"
             "\"selectors\":[{\"cel\":{\"expression\":\"device.attributes[\\\"" GPU_DRIVER
             "\\\"].size == %zu\"}}]}}]",
             count, size);
    return new_piece(w, new_pod(w, name, "1", ""), new_claim(w, name, devices));
}

static void assert_request(struct world *w, struct tg_fleet *fleet, const struct tg_piece *piece,
                           unsigned cards, unsigned share)
{
    struct tg_pack_request request;
    struct tg_error err = TG_ERROR_INIT;

    if (tg_ledger_request(fleet, piece, w->arena, &request, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(request.cards, cards);
    assert_int_equal(request.share, share);
    assert_int_equal(request.cpu, 1000);
    assert_true(request.kinds == TG_PACK_ANY_KIND);
}

/* In steps of sizes; 0: none that is counted, or several partitions, which have no place together.
 */
static void assert_place(struct world *w, struct tg_fleet *fleet, size_t size, size_t count,
                         unsigned place)
{
    struct tg_piece piece = partition(w, "x", size, count);
    struct tg_pack_request request;
    struct tg_error err = TG_ERROR_INIT;

    if (tg_ledger_request(fleet, &piece, w->arena, &request, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(request.place, place);
}

/* Nodes say how much of their cards is given away in parts, and requests share that as they come.
 */
static void assert_one_part_runs(struct world *w, struct tg_fleet *fleet)
{
    struct tg_piece piece = partition(w, "x", 2, 1);
    const struct tg_mix *mix;

    learn(w, fleet, &piece, 10);
    tg_learn_settle(fleet);
    mix = tg_rank_mix(tg_rank_get(fleet, NULL));
    assert_int_equal(mix->n, 1);
    assert_int_equal(mix->types[0].running, 1);
}

static void partitions_are_shares_of_their_card(void **state)
{
    struct world w;
    struct tg_piece piece;
    struct tg_fleet *fleet;
    struct tg_pack_node node;
    uint64_t version, residents;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "a", "", "");
    add_partitions(&w, "a", 2);
    add_holder(&w, "h", "a", "p-1-2-2");
    fleet = world_fleet(&w);
    piece = partition(&w, "x", 1, 1);
    assert_request(&w, fleet, &piece, 1, 125);
    piece = partition(&w, "x", 4, 1);
    assert_request(&w, fleet, &piece, 1, 500);
    piece = partition(&w, "x", 8, 1);
    assert_request(&w, fleet, &piece, 1, 1000);
    piece = partition(&w, "x", 2, 3);
    assert_request(&w, fleet, &piece, 1, 750);
    piece = partition(&w, "x", 4, 3);
    assert_request(&w, fleet, &piece, 2, 1000);
    tg_kinds_node(tg_ledger_kinds(fleet, &version), 0, &node, &residents);
    assert_int_equal(node.cards, 2);
    assert_int_equal(node.free[0], 1000);
    assert_int_equal(node.free[1], 750);
    assert_place(&w, fleet, 1, 1, 1);
    assert_place(&w, fleet, 2, 1, 2);
    assert_place(&w, fleet, 2, 3, 0);
    assert_one_part_runs(&w, fleet);
    world_done(&w);
}

/* Nothing is broken that could stay whole for those who want whole cards. */
static void a_part_goes_to_the_card_that_is_broken_already(void **state)
{
    static const char *const names[] = {NULL, "binpack", "fill", "whole", "mig", "fgd"};
    struct world w;
    struct tg_piece small, large;
    struct tg_fleet *fleet;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    for (const char *name = "abc"; *name != '\0'; name++) {
        char node[2] = {*name, '\0'};

        add_node(&w, node, "", "");
        add_partitions(&w, node, 1);
    }
    add_holder(&w, "h", "b", "p-0-1-0");
    fleet = world_fleet(&w);
    small = partition(&w, "s", 1, 1);
    large = partition(&w, "l", 8, 1);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_goes_to(&w, fleet, names[i], &small, "b");
    learn(&w, fleet, &small, 30);
    learn(&w, fleet, &large, 10);
    tg_learn_settle(fleet);
    assert_goes_to(&w, fleet, NULL, &small, "b");
    assert_goes_to(&w, fleet, NULL, &large, "a");
    world_done(&w);
}

/* Two nodes: `a` could take a gang's member with two cards; on `b` one card is whole, and three
 * have more left together than all of `a`, but no place for a half. */
static void a_gang_s_node_is_not_broken_while_another_has_room(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    struct tg_piece half, pair;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "a", "", "");
    add_partitions(&w, "a", 2);
    add_node(&w, "b", "", "");
    add_partitions(&w, "b", 4);
    for (unsigned i = 0; i < 3; i++) {
        char name[16], device[16];

        for (unsigned k = 1; k < 8; k += 4) {
            snprintf(name, sizeof(name), "h-%u-%u", i, k);
            snprintf(device, sizeof(device), "p-%u-1-%u", i, k);
            add_holder(&w, name, "b", device);
        }
    }
    half = partition(&w, "half", 4, 1);
    pair = partition(&w, "pair", 8, 2);
    fleet = world_fleet(&w);
    learn(&w, fleet, &pair, 1);
    learn(&w, fleet, &half, 1);
    tg_learn_settle(fleet);
    for (size_t i = 0; tg_pack_policy_names[i] != NULL; i++)
        assert_goes_to(&w, fleet, tg_pack_policy_names[i], &half, "b");
    /* Members of a gang as well, as long as there is another card; then it must be. */
    {
        const struct tg_piece halves[] = {half, partition(&w, "half2", 4, 1),
                                          partition(&w, "half3", 4, 1)};
        const struct tg_policies mig = {.fleet = "mig"};
        struct tg_placement p = place(&w, fleet, &mig, halves, 3, NULL);

        assert_string_equal(p.pieces[0].node, "b");
        assert_string_equal(p.pieces[1].node, "b");
        assert_string_equal(p.pieces[2].node, "a");
    }
    world_done(&w);
}

/* The document of the controller names what there is. */
static void the_configuration_knows_every_policy(void **state)
{
    (void)state;
    for (size_t i = 0; tg_pack_policy_names[i] != NULL; i++) {
        char text[256];
        struct tg_configuration *c;
        struct tg_error err = TG_ERROR_INIT;

        snprintf(text, sizeof(text),
                 "apiVersion: tangram.dev/v1alpha1\nkind: TangramConfiguration\n"
                 "placement: {policy: %s}\n",
                 tg_pack_policy_names[i]);
        if (tg_configuration_parse("c", text, strlen(text), &c, &err) < 0)
            fail_msg("%s", err.message);
        assert_string_equal(tg_configuration_policies(c)->fleet, tg_pack_policy_names[i]);
        tg_configuration_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_policy_says_which_node),
        cmocka_unit_test(a_class_may_have_a_policy_of_its_own),
        cmocka_unit_test(members_are_spread_where_the_policy_spreads),
        cmocka_unit_test(scarce_cards_are_left_to_those_who_ask_for_them),
        cmocka_unit_test(what_came_first_makes_no_difference),
        cmocka_unit_test(what_runs_is_seen_on_the_nodes),
        cmocka_unit_test(kinds_of_card_may_come_later),
        cmocka_unit_test(nodes_have_the_numbers_that_requests_have),
        cmocka_unit_test(nodes_that_differ_by_a_trifle_are_alike),
        cmocka_unit_test(a_mix_that_is_given_is_not_learned),
        cmocka_unit_test(what_is_given_makes_room_for_nothing),
        cmocka_unit_test(what_is_rare_makes_room_for_what_is_new),
        cmocka_unit_test(what_was_forgotten_is_not_remembered),
        cmocka_unit_test(a_mix_is_renewed_when_a_quarter_more_has_come),
        cmocka_unit_test(admin_access_asks_for_no_card),
        cmocka_unit_test(partitions_are_shares_of_their_card),
        cmocka_unit_test(a_part_goes_to_the_card_that_is_broken_already),
        cmocka_unit_test(a_gang_s_node_is_not_broken_while_another_has_room),
        cmocka_unit_test(the_configuration_knows_every_policy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
