/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decisions by offers, which are kept up to date by what changes, against a scan of the fleet as it
 * is and against a fleet that was told the outcome at once: the same plans, whatever happened in
 * whatever order, assumptions and what becomes of them included. Seeds are fixed: a failure prints
 * its own.
 */
#include "controller/core/fit/room.h"
#include "controller/core/fit/rule.h"
#include "controller/core/gang/offer.h"
#include "controller/core/model/taint.h"
#include "tests/unit/core/world.h"

#define SEEDS 150
#define STEPS 100
#define NODES 5
#define CARDS 3
#define VERSIONS 4 /* of each object; version 0: it is not there */
#define LOG 64

enum kind { NODE, SLICE, HOLDER, POD, CLASS, RULE, KINDS };
static const size_t counts[KINDS] = {NODES, NODES, 2 * NODES, NODES, 2, 1};
#define MOST (2 * NODES)

static const struct {
    enum tg_fleet_kind kind;
    const struct tg_type *type;
    const char *namespace_;
} kinds[KINDS] = {
    [NODE] = {TG_FLEET_NODE, &tg_node_type, NULL},
    [SLICE] = {TG_FLEET_SLICE, &tg_resource_slice_type, NULL},
    [HOLDER] = {TG_FLEET_CLAIM, &tg_resource_claim_type, "ns"},
    [POD] = {TG_FLEET_POD, &tg_pod_type, "ns"},
    [CLASS] = {TG_FLEET_CLASS, &tg_device_class_type, NULL},
    [RULE] = {TG_FLEET_TAINT_RULE, &tg_device_taint_rule_type, NULL},
};

static const void *objects[KINDS][MOST][VERSIONS];
static struct tg_piece pieces[64];
static size_t n_pieces;

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static size_t below(uint64_t *state, size_t n)
{
    return (size_t)(next_random(state) % n);
}

/* --- the objects ------------------------------------------------------------------------------ */

/* A node shares its zone with others, or not; its name and its serial number are its own. */
static void write_node(struct tg_arena *arena, size_t i, size_t v)
{
    static const char *const labels[] = {"", ",\"zone\":\"z\"", ",\"zone\":\"y\"", ""};
    static const char *const specs[] = {"", "", "\"unschedulable\":true",
                                        "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]"};
    size_t kind = (i + v) % 4;

    objects[NODE][i][v] = decodef(
        arena, &tg_node_type,
        "{\"metadata\":{\"name\":\"n%zu\",\"labels\":{\"host\":\"n%zu\",\"serial\":\"s%zu\"%s}},"
        "\"spec\":{%s},\"status\":{"
        "\"conditions\":"
        "[{\"type\":\"Ready\",\"status\":\"%s\"}],\"allocatable\":{\"cpu\":\"%zu\",\"pods\":\"9\"}"
        "}}",
        i, i, i * v, labels[kind], specs[kind], v == 3 && i == 0 ? "False" : "True",
        1 + (i + 3 * v) % 5);
}

/* Devices differ in memory; some are tainted, or nobody's business; some lack what a selector asks
 * for, so that it fails on them. */
static void write_slice(struct tg_arena *arena, size_t i, size_t v)
{
    char json[4096];
    size_t at = 0, cards = 1 + (i + v) % CARDS;

    at += (size_t)snprintf(json + at, sizeof(json) - at,
                           "{\"metadata\":{\"name\":\"s%zu\"},\"spec\":{\"driver\":\"d\","
                           "\"nodeName\":\"n%zu\",\"pool\":{\"name\":\"n%zu\",\"generation\":%zu,"
                           "\"resourceSliceCount\":%d},\"devices\":[",
                           i, i, i, v, v == 3 && i == 1 ? 2 : 1);
    for (size_t c = 0; c < cards; c++) {
        bool lacks = i == 4 && v == 3 && c == 0;

        at += (size_t)snprintf(
            json + at, sizeof(json) - at,
            "%s{\"name\":\"c%zu\",\"attributes\":{\"uuid\":{\"string\":\"%zu-%zu\"}%s%zu%s}%s%s}",
            c == 0 ? "" : ",", c, i, c,
            lacks ? ",\"none\":{\"int\":" : ",\"memory\":{\"int\":", 10 * (1 + (i + v + c) % 3),
            (i * v + c) % 11 == 5 ? "},\"tangram.dev/x\":{\"int\":1}" : "}",
            (i + v + c) % 7 == 0 ? ",\"taints\":[{\"key\":\"t\",\"effect\":\"NoExecute\"}]" : "",
            v == 2 && i == 3 && c == 0 ? ",\"allowMultipleAllocations\":true" : "");
    }
    snprintf(json + at, sizeof(json) - at, "]}}");
    objects[SLICE][i][v] = decode(arena, &tg_resource_slice_type, json);
}

static void write_rest(struct tg_arena *arena, size_t i, size_t v)
{
    objects[HOLDER][i][v] = decodef(
        arena, &tg_resource_claim_type,
        "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"h%zu\",\"uid\":\"u\"},\"status\":{"
        "\"allocation\":{\"devices\":{\"results\":[{\"request\":\"r\",\"driver\":\"d\",\"pool\":"
        "\"n%zu\",\"device\":\"c%zu\"%s}]}}}}",
        i, (i + v) % NODES, i % CARDS, v == 2 && i == 3 ? ",\"shareID\":\"s\"" : "");
    if (i < NODES)
        objects[POD][i][v] = decodef(
            arena, &tg_pod_type,
            "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"b%zu\",\"uid\":\"u\"},\"spec\":{"
            "\"nodeName\":\"n%zu\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{"
            "\"cpu\":\"%zu\"}}}]}}",
            i, (i * v) % NODES, 1 + v % 2);
}

#define MANAGED "\"labels\":{\"tangram.dev/controller\":\"default\"}"
#define MEMORY "device.attributes[\\\"d\\\"].memory"
#define CEL(expression) "{\"cel\":{\"expression\":\"" expression "\"}}"

static void write_classes(struct tg_arena *arena)
{
    static const char *const gpu[] = {GUARD_JSON, GUARD_JSON "," CEL(MEMORY " >= 20"),
                                      GUARD_JSON "," CEL("device.driver == \\\"d\\\"")};
    static const char *const other[] = {
        "", "\"spec\":{\"selectors\":[" CEL(MEMORY " == 30") "]}",
        "\"spec\":{\"selectors\":[" CEL("device.driver == \\\"e\\\"") "]}"};
    static const char *const rules[] = {"", "\"pool\":\"n1\"", "\"device\":\"c0\""};

    for (size_t v = 1; v < VERSIONS; v++) {
        objects[CLASS][0][v] =
            decodef(arena, &tg_device_class_type,
                    "{\"metadata\":{\"name\":\"gpu\"," MANAGED "},\"spec\":{\"selectors\":[%s]}}",
                    gpu[v - 1]);
        objects[CLASS][1][v] = v == 1 ? decode(arena, &tg_device_class_type,
                                               "{\"metadata\":{\"name\":\"x\"," MANAGED "}}")
                                      : decodef(arena, &tg_device_class_type,
                                                "{\"metadata\":{\"name\":\"x\"},%s}", other[v - 1]);
        objects[RULE][0][v] =
            decodef(arena, &tg_device_taint_rule_type,
                    "{\"metadata\":{\"name\":\"r\"},\"spec\":{\"deviceSelector\":{%s},\"taint\":{"
                    "\"key\":\"k\",\"effect\":\"NoSchedule\"}}}",
                    rules[v - 1]);
    }
}

static void add_piece(struct tg_arena *arena, const char *spec, const char *cpu,
                      const char *requests)
{
    const struct tg_pod **pods = tg_arena_alloc_array(arena, 1, sizeof(*pods));
    const struct tg_resource_claim **claims = tg_arena_alloc_array(arena, 1, sizeof(*claims));

    assert_non_null(pods);
    assert_non_null(claims);
    pods[0] = decodef(arena, &tg_pod_type,
                      "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p%zu\",\"uid\":\"u\"},"
                      "\"spec\":{%s\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{"
                      "\"cpu\":\"%s\"}}}]}}",
                      n_pieces, spec, cpu);
    claims[0] = decodef(arena, &tg_resource_claim_type,
                        "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p%zu\",\"uid\":\"u\"},"
                        "\"spec\":{\"devices\":{%s}}}",
                        n_pieces, requests);
    pieces[n_pieces++] = (struct tg_piece){
        .pods = pods, .n_pods = 1, .claims = claims, .n_claims = requests[0] == '\0' ? 0 : 1};
}

#define REQUEST(name, more)                                                                        \
    "{\"name\":\"" name "\",\"exactly\":{\"deviceClassName\":\"gpu\"" more "}}"
#define SELECT(expression) ",\"selectors\":[" CEL(expression) "]"
#define TOLERATE ",\"tolerations\":[{\"operator\":\"Exists\"}]"
/* Pieces from here on have more than one request, or need the exact search. */
#define SINGLE 14

#define AFFINE(kind, term)                                                                         \
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"         \
    "\"nodeSelectorTerms\":[{\"" kind "\":[{" term "}]}]}}},"

static void write_pieces(struct tg_arena *arena)
{
    static const char *const where[SINGLE / 2] = {
        "\"nodeSelector\":{\"zone\":\"z\"},",
        "\"nodeSelector\":{\"host\":\"n2\"},",
        AFFINE("matchFields", "\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n3\"]"),
        AFFINE("matchExpressions", "\"key\":\"zone\",\"operator\":\"NotIn\",\"values\":[\"z\"]"),
        AFFINE("matchExpressions",
               "\"key\":\"host\",\"operator\":\"In\",\"values\":[\"n1\",\"n3\"]"),
        "\"nodeSelector\":{\"serial\":\"s2\"},",
        "\"nodeSelector\":{\"zone\":\"z\"},",
    };
    static const char *const single[] = {
        REQUEST("r", ""),
        REQUEST("r", ",\"count\":2"),
        REQUEST("r", SELECT(MEMORY " >= 20")),
        REQUEST("r", TOLERATE),
        REQUEST("r", SELECT(MEMORY " == 30") TOLERATE),
        REQUEST("r", SELECT("device.attributes[\\\"d\\\"].uuid == \\\"2-0\\\"")),
        REQUEST("r", SELECT("has(" MEMORY ") && " MEMORY " < 30") ",\"count\":2")};
    static const char *const several[] = {
        REQUEST("a", "") "," REQUEST("b", SELECT(MEMORY " == 20")),
        REQUEST("a", SELECT(MEMORY " <= 20")) "," REQUEST("b", SELECT(MEMORY " >= 20")),
        REQUEST("a", ",\"allocationMode\":\"All\""),
        REQUEST("a", "") "," REQUEST("b",
                                     "") "],\"constraints\":[{\"matchAttribute\":\"d/memory\"}",
    };
    char requests[1024];

    n_pieces = 0;
    for (size_t i = 0; i < SINGLE / 2; i++) {
        snprintf(requests, sizeof(requests), "\"requests\":[%s]", single[i]);
        add_piece(arena, "", "1", requests);
        add_piece(arena, where[i], i % 2 == 0 ? "2" : "1", requests);
    }
    for (size_t i = 0; i < sizeof(several) / sizeof(several[0]); i++) {
        snprintf(requests, sizeof(requests), "\"requests\":[%s]", several[i]);
        add_piece(arena, "\"tolerations\":[{\"operator\":\"Exists\"}],", "1", requests);
    }
    add_piece(arena, "", "1", "");
}

static void write_objects(struct tg_arena *arena)
{
    for (size_t v = 1; v < VERSIONS; v++) {
        for (size_t i = 0; i < NODES; i++) {
            write_node(arena, i, v);
            write_slice(arena, i, v);
        }
        for (size_t i = 0; i < MOST; i++)
            write_rest(arena, i, v);
    }
    write_classes(arena);
    write_pieces(arena);
}

/* --- what happens ----------------------------------------------------------------------------- */

struct assumed { /* one entry of the log: a device or a pod */
    bool pod;
    size_t what, node;
};

struct history {
    uint64_t random;
    size_t now[KINDS][MOST];
    struct assumed log[LOG];
    size_t n_log;
};

static void tell(struct tg_fleet *fleet, enum kind kind, size_t i, size_t version)
{
    static const char *const names[KINDS] = {"n%zu", "s%zu", "h%zu", "b%zu", NULL, "r"};
    char name[16];

    if (version != 0) {
        tg_fleet_put(fleet, kinds[kind].kind, objects[kind][i][version]);
        return;
    }
    if (kind == CLASS)
        snprintf(name, sizeof(name), "%s", i == 0 ? "gpu" : "x");
    else if (kind == RULE)
        snprintf(name, sizeof(name), "r");
    else
        snprintf(name, sizeof(name), "%c%zu", names[kind][0], i);
    tg_fleet_drop(fleet, kinds[kind].kind, kinds[kind].namespace_, name);
}

static void assume(struct tg_fleet *fleet, const struct assumed *a)
{
    char node[8], card[8];
    const struct tg_fleet_busy busy = {
        .driver = "d", .pool = node, .device = card, .holder = "gang ns/g"};
    const struct tg_fleet_assumed pod = {.pod = pieces[a->what].pods[0], .node = node};

    snprintf(node, sizeof(node), "n%zu", a->node);
    snprintf(card, sizeof(card), "c%zu", a->what % CARDS);
    tg_fleet_assume(fleet, &busy, a->pod ? 0 : 1, &pod, a->pod ? 1 : 0);
}

/* Nodes with devices and a class, so that there is something to decide about. */
static void begin(struct history *h, struct tg_fleet *fleet)
{
    static const enum kind kept[] = {NODE, SLICE, CLASS};

    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < (kept[k] == CLASS ? 1 : counts[kept[k]]); i++) {
            h->now[kept[k]][i] = 1;
            tell(fleet, kept[k], i, 1);
        }
    }
}

static void happen(struct history *h, struct tg_fleet *fleet)
{
    size_t what = below(&h->random, 10);

    if (what < 3 && h->n_log < LOG) {
        h->log[h->n_log] = (struct assumed){.pod = below(&h->random, 3) == 0,
                                            .what = below(&h->random, n_pieces),
                                            .node = below(&h->random, NODES)};
        assume(fleet, &h->log[h->n_log++]);
    } else if (what == 3) {
        h->n_log = below(&h->random, h->n_log + 1);
        tg_fleet_undo(fleet, h->n_log);
    } else {
        /* Classes and rules change seldom: they make everything be counted anew. */
        enum kind kind = (enum kind)below(&h->random, below(&h->random, 4) == 0 ? KINDS : CLASS);
        size_t i = below(&h->random, counts[kind]);

        h->now[kind][i] = below(&h->random, 5) == 0 ? 0 : 1 + below(&h->random, VERSIONS - 1);
        tell(fleet, kind, i, h->now[kind][i]);
    }
}

/* Told everything at once. */
static struct tg_fleet *outcome(const struct history *h)
{
    struct tg_fleet *fleet = tg_fleet_open("default");

    for (enum kind kind = KINDS; kind-- > 0;) {
        for (size_t i = counts[kind]; i-- > 0;)
            tell(fleet, kind, i, h->now[kind][i]);
    }
    for (size_t i = 0; i < h->n_log; i++)
        assume(fleet, &h->log[i]);
    tg_fleet_settle(fleet);
    return fleet;
}

/* --- the scan --------------------------------------------------------------------------------- */

static bool usable(const struct tg_fleet_device *d)
{
    return d->unsupported == NULL && d->contested == NULL && d->holder == NULL;
}

static bool passes(const struct tg_fleet *fleet, const char *expression, size_t device,
                   struct tg_arena *arena, bool *failed)
{
    struct tg_selector *selector = NULL;
    bool match = false;

    assert_int_equal(tg_selector_compile(expression, arena, &selector, NULL), 0);
    *failed = *failed || tg_fleet_selects(fleet, selector, device, &match, NULL) < 0;
    return match;
}

static bool accepts(const struct tg_fleet *fleet, const struct tg_exact_request *r, size_t device,
                    struct tg_arena *arena, bool *failed)
{
    const struct tg_fleet_class *klass = tg_fleet_find_class(fleet, r->device_class_name);
    const struct tg_device_class_spec *spec = klass->object->spec;
    const struct tg_fleet_device *row = &fleet->devices[device];

    for (size_t i = 0; spec != NULL && i < spec->selectors.n; i++) {
        if (!passes(fleet, spec->selectors.items[i].cel->expression, device, arena, failed))
            return false;
    }
    for (size_t i = 0; i < r->selectors.n; i++) {
        if (!passes(fleet, r->selectors.items[i].cel->expression, device, arena, failed))
            return false;
    }
    for (size_t i = 0; i < row->n_taints; i++) {
        if (!tg_taint_tolerated(row->taints[i], r->tolerations.items, r->tolerations.n))
            return false;
    }
    return true;
}

/* As binpack chooses: the fewest devices that are free, whatever their kind, then by name. */
struct best {
    const char *node, *device; /* the first device */
    size_t free, any;
};

static size_t count_of(const struct tg_exact_request *r)
{
    return r->count.set ? (size_t)r->count.value : 1;
}

static void look(const struct tg_fleet *fleet, size_t node, const struct tg_piece *piece,
                 struct tg_arena *arena, struct best *best, bool *failed)
{
    const struct tg_fleet_node *row = &fleet->nodes[node];
    const struct tg_exact_request *r = piece->claims[0]->spec->devices->requests.items[0].exactly;
    struct best here = {.node = row->name};
    struct tg_demand demand = {.n = 0};

    if (tg_fit_first_failed(row, &(struct tg_fit_guest){.pod = piece->pods[0]}) <
        tg_fit_rules_count)
        return;
    for (size_t d = 0; d < row->n_devices; d++) {
        if (!usable(&fleet->devices[row->devices[d]]))
            continue;
        here.any++;
        if (!accepts(fleet, r, row->devices[d], arena, failed))
            continue;
        if (here.free++ == 0)
            here.device = fleet->devices[row->devices[d]].name;
    }
    assert_int_equal(tg_demand_sum(piece->pods, 1, arena, &demand, NULL), 0);
    if (here.free < count_of(r) || tg_room_copies(row, NULL, 0, &demand, 1, NULL) == 0)
        return;
    if (best->node == NULL || here.any < best->any ||
        (here.any == best->any && strcmp(here.node, best->node) < 0))
        *best = here;
}

static void compare_with_scan(const struct tg_fleet *fleet, const struct tg_piece *piece, int rc,
                              const struct tg_placement *p, struct tg_arena *arena, uint64_t seed)
{
    struct best best = {.node = NULL};
    bool failed = false;
    const struct tg_fleet_class *klass = tg_fleet_find_class(fleet, "gpu");

    if (klass == NULL || klass->kind != TG_CLASS_MANAGED) {
        assert_true(rc < 0 && rc != -TG_UNAVAILABLE);
        return;
    }
    for (size_t i = 0; i < fleet->n_nodes; i++) {
        if (fleet->nodes[i].object != NULL)
            look(fleet, i, piece, arena, &best, &failed);
    }
    if (rc != (failed ? -TG_FAILED_PRECONDITION : best.node == NULL ? -TG_UNAVAILABLE : 0))
        fail_msg("seed %lu: %d", (unsigned long)seed, rc);
    if (rc == 0 && (strcmp(p->pieces[0].node, best.node) != 0 ||
                    strcmp(p->pieces[0].devices[0].device, best.device) != 0))
        fail_msg("seed %lu: %s instead of %s", (unsigned long)seed, p->pieces[0].node, best.node);
}

/* --- the same plans --------------------------------------------------------------------------- */

static void compare(int rc, const struct tg_placement *a, int other, const struct tg_placement *b,
                    uint64_t seed)
{
    if (rc != other)
        fail_msg("seed %lu: %d and %d", (unsigned long)seed, rc, other);
    for (size_t i = 0; rc == 0 && i < a->n_pieces; i++) {
        if (strcmp(a->pieces[i].node, b->pieces[i].node) != 0)
            fail_msg("seed %lu: %s and %s", (unsigned long)seed, a->pieces[i].node,
                     b->pieces[i].node);
        assert_int_equal(a->pieces[i].n_devices, b->pieces[i].n_devices);
        for (size_t d = 0; d < a->pieces[i].n_devices; d++)
            assert_string_equal(a->pieces[i].devices[d].device, b->pieces[i].devices[d].device);
    }
}

static const char *const policies[] = {"binpack", "default", "fill",  "whole",
                                       "mig",     "fgd",     "spread"};
#define N_POLICIES (sizeof(policies) / sizeof(policies[0]))

static int place(struct tg_fleet *fleet, const char *policy, const struct tg_piece *items, size_t n,
                 bool required, struct tg_arena *arena, struct tg_placement *ret)
{
    static const struct tg_level zone = {.name = "zone", .node_label = "zone"};
    const struct tg_policies by = {.fleet = policy};
    struct tg_no_place why = {.text = NULL};

    tg_fleet_settle(fleet);
    return tg_place(fleet,
                    &(struct tg_place_request){.name = "gang ns/g",
                                               .policies = &by,
                                               .pieces = items,
                                               .n_pieces = n,
                                               .pack_required = required ? &zone : NULL},
                    arena, ret, &why, NULL);
}

static void add_sum(struct tg_tally_sum *sum, const struct tg_tally_sum *more)
{
    sum->places += more->places;
    sum->free += more->free;
    sum->unknown += more->unknown;
}

/* Node by node: zone y, zone z, all nodes. */
static void scan_zones(const struct tg_fleet *fleet, const struct tg_offer *offer, size_t cap,
                       struct tg_tally_sum sums[3])
{
    for (size_t i = 0; i < fleet->n_nodes; i++) {
        const struct tg_offer_node *node = &tg_offer_nodes(offer)[i];
        const struct tg_node *object = fleet->nodes[i].object;
        const char *zone = object == NULL ? NULL : tg_meta_label(object->metadata, "zone");
        const struct tg_tally_sum one = {.places = node->copies < cap ? node->copies : cap,
                                         .free = node->free,
                                         .unknown =
                                             node->copies > 0 && tg_offer_needs_search(offer, i)};

        add_sum(&sums[2], &one);
        if (zone != NULL)
            add_sum(&sums[zone[0] == 'z'], &one);
    }
}

/* Sums by zone are those of the nodes, one by one. */
static void compare_tallies(const struct tg_fleet *fleet, const struct tg_piece *piece, size_t cap,
                            struct tg_arena *arena, uint64_t seed)
{
    struct tg_tally_sum sums[3] = {{.places = 0}}, told[3] = {{.places = 0}};
    const struct tg_tally *tally;
    const struct tg_regions *regions;
    struct tg_offer *offer = NULL;

    /* What is wrong with the classes is an error. */
    if (tg_offer_get(fleet, piece, "binpack", arena, &offer, NULL) < 0)
        return;
    tally = tg_offer_tally(offer, "zone", cap);
    regions = tg_tally_regions(tally);
    scan_zones(fleet, offer, cap, sums);
    told[2] = *tg_tally_all(tally);
    for (uint32_t r = 0; r < tg_regions_count(regions); r++) {
        if (tg_regions_name(regions, r) != NULL)
            told[tg_regions_name(regions, r)[0] == 'z'] = *tg_tally_region(tally, r);
    }
    for (size_t i = 0; i < 3; i++) {
        if (sums[i].places != told[i].places || sums[i].free != told[i].free ||
            sums[i].unknown != told[i].unknown)
            fail_msg("seed %lu: sum %zu is %lu %lu %u, told %lu %lu %u", (unsigned long)seed, i,
                     (unsigned long)sums[i].places, (unsigned long)sums[i].free, sums[i].unknown,
                     (unsigned long)told[i].places, (unsigned long)told[i].free, told[i].unknown);
    }
}

static void what_was_kept_up_to_date_decides_like_a_scan(void **state)
{
    struct tg_arena *objects_arena = tg_arena_new((size_t)16 << 20);
    struct tg_arena *arena = tg_arena_new((size_t)64 << 20);
    size_t placed = 0, gangs = 0;

    (void)state;
    write_objects(objects_arena);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct history h = {.random = seed * 7919};
        struct tg_fleet *fleet = tg_fleet_open("default");

        begin(&h, fleet);
        for (size_t step = 0; step < STEPS; step++) {
            struct tg_placement p, q;
            struct tg_fleet *once;
            struct tg_piece gang[3];
            size_t i = below(&h.random, n_pieces), n = 1 + below(&h.random, 3);
            bool required = below(&h.random, 3) == 0;
            const char *policy = policies[step % N_POLICIES];
            int rc;

            happen(&h, fleet);
            if (below(&h.random, 3) != 0)
                continue;
            tg_arena_reset(arena);
            rc = place(fleet, policy, &pieces[i], 1, false, arena, &p);
            if (i < SINGLE && fleet->n_exact == 0 && strcmp(policy, policies[0]) == 0)
                compare_with_scan(fleet, &pieces[i], rc, &p, arena, seed);
            once = outcome(&h);
            compare(rc, &p, place(once, policy, &pieces[i], 1, false, arena, &q), &q, seed);
            placed += rc == 0 ? 1 : 0;
            compare_tallies(fleet, &pieces[i], n, arena, seed);
            for (size_t k = 0; k < n; k++)
                gang[k] = pieces[below(&h.random, n_pieces)];
            rc = place(fleet, policy, gang, n, required, arena, &p);
            compare(rc, &p, place(once, policy, gang, n, required, arena, &q), &q, seed);
            gangs += rc == 0 ? 1 : 0;
            tg_fleet_close(once);
        }
        tg_fleet_close(fleet);
    }
    /* There is something to compare. */
    assert_true(placed > SEEDS * STEPS / 15);
    assert_true(gangs > SEEDS * STEPS / 30);
    tg_arena_free(arena);
    tg_arena_free(objects_arena);
}

/* --- one offer -------------------------------------------------------------------------------- */

static void an_offer_tells_of_each_node_what_it_takes(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    struct tg_offer *offer = NULL;
    const struct tg_offer_node *nodes;
    struct tg_piece piece;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "n-0", "", "");
    add_node(&w, "n-1", "", "\"unschedulable\":true");
    add_node(&w, "n-2", "", "");
    for (size_t i = 0; i < 3; i++) {
        char name[8];

        snprintf(name, sizeof(name), "n-%zu", i);
        add_gpus(&w, name, 5, "");
    }
    add_holder(&w, "h", "n-2", "gpu-3");
    fleet = world_fleet(&w);
    piece = new_piece(&w, new_pod(&w, "p", "3", ""), new_gpu_claim(&w, "p", 2));
    assert_int_equal(tg_offer_get(fleet, &piece, NULL, w.arena, &offer, NULL), 0);
    nodes = tg_offer_nodes(offer);
    /* Five devices are two times two, and 8 cpus two times 3. */
    assert_int_equal(nodes[0].copies, 2);
    assert_int_equal(nodes[0].free, 5);
    assert_int_equal(nodes[1].copies, 0);
    assert_int_equal(nodes[1].any, 5);
    assert_string_equal(tg_fit_rules[nodes[1].failed].reason, "NodeUnschedulable");
    assert_int_equal(nodes[2].free, 4);
    assert_int_equal(tg_offer_best(offer), 2);
    tg_offer_rule_out(offer, 2);
    assert_int_equal(tg_offer_best(offer), 0);
    world_done(&w);
}

static void what_was_ruled_out_counts_again_when_its_node_changes(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    struct tg_offer *offer = NULL;
    struct tg_piece piece;
    struct tg_resource_claim *holder;
    size_t mark;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "n-0", "", "");
    add_gpus(&w, "n-0", 2, "");
    fleet = world_fleet(&w);
    holder = new_gpu_claim(&w, "p", 1);
    piece = new_piece(&w, new_pod(&w, "p", "1", ""), holder);
    assert_int_equal(tg_offer_get(fleet, &piece, NULL, w.arena, &offer, NULL), 0);
    tg_offer_rule_out(offer, 0);
    assert_int_equal(tg_offer_get(fleet, &piece, NULL, w.arena, &offer, NULL), 0);
    assert_int_equal(tg_offer_best(offer), TG_NO_INDEX);
    mark = tg_fleet_mark(fleet);
    tg_fleet_assume(
        fleet,
        &(struct tg_fleet_busy){
            .driver = GPU_DRIVER, .pool = "n-0", .device = "gpu-0", .holder = "gang ns/g"},
        1, NULL, 0);
    assert_int_equal(tg_offer_get(fleet, &piece, NULL, w.arena, &offer, NULL), 0);
    assert_int_equal(tg_offer_best(offer), 0);
    assert_int_equal(tg_offer_nodes(offer)[0].free, 1);
    tg_fleet_undo(fleet, mark);
    assert_int_equal(tg_offer_get(fleet, &piece, NULL, w.arena, &offer, NULL), 0);
    assert_int_equal(tg_offer_nodes(offer)[0].free, 2);
    world_done(&w);
}

static void kinds_that_nobody_asks_for_any_more_are_forgotten(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    struct tg_offer *offer = NULL;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "n-0", "", "");
    add_gpus(&w, "n-0", 2, "");
    fleet = world_fleet(&w);
    for (size_t i = 0; i < 300; i++) {
        char cpu[16];
        struct tg_piece piece;

        snprintf(cpu, sizeof(cpu), "%zum", i + 1);
        piece = new_piece(&w, new_pod(&w, "p", cpu, ""), new_gpu_claim(&w, "p", 1));
        tg_offers_tick(fleet);
        assert_int_equal(tg_offer_get(fleet, &piece, NULL, w.arena, &offer, NULL), 0);
        assert_int_equal(tg_offer_best(offer), 0);
        assert_true(tg_offers_kept(fleet) <= 65);
    }
    world_done(&w);
}

/* A device that no node owns is news of none of them. */
static void a_device_of_all_nodes_counts_again_when_it_is_free(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    struct tg_offer *offer = NULL;
    struct tg_piece piece;
    size_t mark;

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add_node(&w, "n-0", "", "");
    add_slice(&w, "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                  "\",\"allNodes\":true,\"pool\":{\"name\":\"wide\",\"generation\":1,"
                  "\"resourceSliceCount\":1},\"devices\":[{\"name\":\"gpu-0\"}]}}");
    fleet = world_fleet(&w);
    piece = new_piece(&w, new_pod(&w, "p", "1", ""), new_gpu_claim(&w, "p", 1));
    assert_int_equal(tg_offer_get(fleet, &piece, NULL, w.arena, &offer, NULL), 0);
    assert_int_equal(tg_offer_nodes(offer)[0].copies, 1);
    mark = tg_fleet_mark(fleet);
    tg_fleet_assume(
        fleet,
        &(struct tg_fleet_busy){
            .driver = GPU_DRIVER, .pool = "wide", .device = "gpu-0", .holder = "gang ns/g"},
        1, NULL, 0);
    assert_int_equal(tg_offer_get(fleet, &piece, NULL, w.arena, &offer, NULL), 0);
    assert_int_equal(tg_offer_nodes(offer)[0].copies, 0);
    tg_fleet_undo(fleet, mark);
    assert_int_equal(tg_offer_get(fleet, &piece, NULL, w.arena, &offer, NULL), 0);
    assert_int_equal(tg_offer_nodes(offer)[0].copies, 1);
    world_done(&w);
}

/* Sums by a label that tells every node apart are what takes most. */
static void kinds_are_forgotten_sooner_where_they_are_large(void **state)
{
    enum { HOSTS = 3000, KINDS_ASKED = 60, CAPS = 6 };
    struct world w;
    struct tg_fleet *fleet = tg_fleet_open("default");

    (void)state;
    world_init(&w);
    for (size_t i = 0; i < HOSTS; i++)
        tg_fleet_put(fleet, TG_FLEET_NODE,
                     decodef(w.arena, &tg_node_type,
                             "{\"metadata\":{\"name\":\"n%zu\",\"labels\":{\"host\":\"n%zu\"}},"
                             "\"spec\":{},\"status\":{\"allocatable\":{\"cpu\":\"8\"}}}",
                             i, i));
    tg_fleet_settle(fleet);
    for (size_t i = 0; i < KINDS_ASKED; i++) {
        char cpu[16];
        struct tg_piece piece;
        struct tg_offer *offer = NULL;

        snprintf(cpu, sizeof(cpu), "%zum", i + 1);
        piece = new_piece(&w, new_pod(&w, "p", cpu, ""), NULL);
        tg_offers_tick(fleet);
        assert_int_equal(tg_offer_get(fleet, &piece, NULL, w.arena, &offer, NULL), 0);
        for (size_t cap = 1; cap <= CAPS; cap++)
            (void)tg_offer_tally(offer, "host", cap);
    }
    tg_offers_tick(fleet);
    assert_in_range(tg_offers_kept(fleet), KINDS_ASKED / 2, KINDS_ASKED - 1);
    tg_fleet_close(fleet);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_kept_up_to_date_decides_like_a_scan),
        cmocka_unit_test(an_offer_tells_of_each_node_what_it_takes),
        cmocka_unit_test(what_was_ruled_out_counts_again_when_its_node_changes),
        cmocka_unit_test(kinds_that_nobody_asks_for_any_more_are_forgotten),
        cmocka_unit_test(kinds_are_forgotten_sooner_where_they_are_large),
        cmocka_unit_test(a_device_of_all_nodes_counts_again_when_it_is_free),
    };

    return cmocka_run_group_tests_name("offer", tests, NULL, NULL);
}
