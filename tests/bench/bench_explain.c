/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an explanation costs: requests that have no place on a fleet of H100 nodes, by fleet size
 * and by how full it is, with everything that is tried to find help, moves included. Each question
 * is asked by kinds of pods that nobody has asked for before (`place`: the search that comes first,
 * `first`: the explanation) and then again (`again`). What the first decision of a process costs is
 * bench_core's to tell. One JSON object a line; time of the processor is measured here, never
 * tested.
 *
 *   bench_explain [NODES [QUESTION]]    up to that many nodes (10,000; of partitioned cards
 *                                       1,000); only that question
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "controller/core/explain/explain.h"
#include "tests/bench/core_mig.h"
#include "tests/bench/core_scene.h"

#define CARDS 8
#define MEMBERS 64
#define ROUNDS 10
#define BUDGET_US 5000.0
#define MIG_NODES 1000

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* --- residents: a claim with one card, and its pod ----------------------------------------------
 */

struct resident {
    struct scene scene;
    struct scene_pod pod;
    char node[32], pod_name[32];
    const struct tg_pod *pods[1];
};

static void write_resident(struct resident *r, size_t node, size_t card)
{
    scene_pod_write(&r->pod);
    scene_claim(&r->scene, node, card);
    r->scene.claim.spec = &r->pod.spec;
    snprintf(r->node, sizeof(r->node), "%s", r->scene.name);
    snprintf(r->pod_name, sizeof(r->pod_name), "pod-%06zu-%zu", node, card);
    r->pod.meta = (struct tg_object_meta){.name = r->pod_name, .namespace_ = "ns", .uid = "u"};
    r->pod.pod_spec.node_name = r->node;
    r->pods[0] = &r->pod.pod;
}

static bool find_resident(void *data, const char *holder, struct tg_resident *ret)
{
    struct resident *r = tg_arena_alloc(data, sizeof(*r));
    size_t node, card;

    if (r == NULL || sscanf(holder, "claim ns/claim-%zu-%zu", &node, &card) != 2)
        return false;
    write_resident(r, node, card);
    *ret = (struct tg_resident){.claim = &r->scene.claim, .pods = r->pods, .n_pods = 1};
    return true;
}

static struct tg_fleet *build(size_t nodes, double full)
{
    static struct scene s;
    static struct resident r;
    struct tg_fleet *fleet = tg_fleet_open("default");

    s.cards = CARDS;
    for (size_t i = 0; i < nodes; i++) {
        scene_node(&s, i);
        tg_fleet_put(fleet, TG_FLEET_NODE, &s.node);
        tg_fleet_put(fleet, TG_FLEET_SLICE, &s.slice);
    }
    for (size_t i = 0; i < nodes * CARDS; i++) {
        if ((double)(tg_hash64(&i, sizeof(i)) % 1000000) / 1e6 >= full)
            continue;
        write_resident(&r, i / CARDS, i % CARDS);
        tg_fleet_put(fleet, TG_FLEET_CLAIM, &r.scene.claim);
        tg_fleet_put(fleet, TG_FLEET_POD, &r.pod.pod);
    }
    tg_fleet_put(fleet, TG_FLEET_CLASS, scene_class());
    tg_fleet_settle(fleet);
    return fleet;
}

/* Whole cards are had by nobody, yet each is cut: a partition of one slice is on it. */
static struct tg_fleet *build_mig(size_t nodes, struct tg_error *err)
{
    static struct scene s;
    struct tg_fleet *fleet = tg_fleet_open("default");
    char name[64];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < nodes; i++) {
        scene_node(&s, i);
        tg_fleet_put(fleet, TG_FLEET_NODE, &s.node);
        rc = mig_tell_node(fleet, i, err);
        for (size_t c = 0; rc == 0 && c < MIG_CARDS; c++) {
            scene_claim(&s, i, c);
            mig_name_device(i, c, name, sizeof(name));
            s.result.device = name;
            tg_fleet_put(fleet, TG_FLEET_CLAIM, &s.claim);
        }
    }
    tg_fleet_put(fleet, TG_FLEET_CLASS, scene_class());
    tg_fleet_settle(fleet);
    if (rc == 0)
        return fleet;
    tg_fleet_close(fleet);
    return NULL;
}

/* --- questions ----------------------------------------------------------------------------------
 */

enum topology { ANYWHERE, IN_A_RACK, APART, ROLES_IN_A_RACK };

static const struct question {
    const char *name;
    size_t members;
    int64_t cards;
    const char *selector, *same; /* same: an attribute of all cards of a claim */
    enum topology topology;
    double full; /* of partitioned cards: 0 */
    size_t roles;
} questions[] = {
    {"scattered", 1, 8, NULL, NULL, ANYWHERE, 0.9, 1},
    {"too_large", 1, 9, NULL, NULL, ANYWHERE, 0.9, 1},
    {"no_match", 1, 1, "device.attributes[\"" SCENE_DRIVER "\"].productName == \"X\"", NULL,
     ANYWHERE, 0.9, 1},
    {"constraint", 1, 5, NULL, "resource.kubernetes.io/pcieRoot", ANYWHERE, 0.9, 1},
    {"gang_scattered", 16, 8, NULL, NULL, ANYWHERE, 0.9, 1},
    {"gang_of_roles", 16, 8, NULL, NULL, ANYWHERE, 0.9, 2},
    {"none_free", 1, 1, NULL, NULL, ANYWHERE, 1, 1},
    {"gang_in_a_rack", 64, 4, NULL, NULL, IN_A_RACK, 0.5, 1},
    {"gang_apart", 64, 4, NULL, NULL, APART, 0.5, 1},
    {"roles_in_a_rack", 64, 4, NULL, NULL, ROLES_IN_A_RACK, 0.5, 2},
    {"partitions", 1, 1,
     "device.attributes[\"" SCENE_DRIVER "\"].?profile.orValue(\"\") == \"7g.80gb\"", NULL,
     ANYWHERE, 0, 1},
};

static const struct tg_level rack = {.name = "rack", .node_label = "example.com/rack", .rank = 1};
static const struct tg_level block = {.name = "block", .node_label = "example.com/block"};
static const struct tg_level zone = {.name = "zone", .node_label = "example.com/zone", .rank = 0};
static const bool first_role[] = {true, false};

/* What one kind of pod asks for: kinds differ in how much they ask of a node. */
struct request {
    struct scene_pod pods[MEMBERS];
    char names[MEMBERS][16];
    struct tg_piece pieces[MEMBERS];
    struct tg_cel_selector cel;
    struct tg_device_selector selector;
    struct tg_device_constraint constraint;
    struct tg_place_rule rule;
    struct tg_place_request place;
};

static void write_member(struct request *r, const struct question *q, size_t i, unsigned kind)
{
    struct scene_pod *pod = &r->pods[i];
    size_t role = i * q->roles / q->members;

    scene_pod_vary(pod, SCENE_SIZE, kind + 1000 * (unsigned)role);
    snprintf(r->names[i], sizeof(r->names[i]), "m-%03zu", i);
    pod->meta.name = r->names[i];
    pod->exactly.count = (struct tg_opt_int){true, q->cards};
    pod->exactly.selectors.items = &r->selector;
    pod->exactly.selectors.n = q->selector == NULL ? 0 : 1;
    pod->devices.constraints.items = &r->constraint;
    pod->devices.constraints.n = q->same == NULL ? 0 : 1;
    r->pieces[i] = pod->piece;
    r->pieces[i].role = role;
}

static void write_request(struct request *r, const struct question *q, unsigned kind)
{
    r->cel.expression = q->selector;
    r->selector.cel = &r->cel;
    r->constraint = (struct tg_device_constraint){.match_attribute = q->same};
    r->rule = (struct tg_place_rule){.level = q->topology == APART ? &block : &rack,
                                     .roles = q->topology == ROLES_IN_A_RACK ? first_role : NULL,
                                     .most = q->topology == APART ? 1 : 0,
                                     .required = true,
                                     .field = "topology"};
    for (size_t i = 0; i < q->members; i++)
        write_member(r, q, i, kind);
    r->place = (struct tg_place_request){
        .name = "gang ns/g",
        .pieces = r->pieces,
        .n_pieces = q->members,
        .pack_required = q->topology == IN_A_RACK ? &rack : NULL,
        .rules = &r->rule,
        .n_rules = q->topology == APART || q->topology == ROLES_IN_A_RACK ? 1 : 0};
}

/* --- measuring ----------------------------------------------------------------------------------
 */

struct times {
    double us[ROUNDS];
};

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void print_times(const char *name, struct times *times)
{
    qsort(times->us, ROUNDS, sizeof(*times->us), compare_doubles);
    printf(",\"%s_p50_us\":%.0f,\"%s_max_us\":%.0f", name, times->us[ROUNDS / 2], name,
           times->us[ROUNDS - 1]);
}

/* One after the other: the search, as it was made before anything is explained; the explanation;
 * and once more, when nothing about the question is new. */
static int ask(struct tg_fleet *fleet, const struct request *r, struct tg_arena *arena,
               struct tg_explanation *ret, double times[3], struct tg_error *err)
{
    const struct tg_explain_input input = {
        .request = &r->place, .levels = &zone, .n_levels = 1, .find = find_resident, .data = arena};
    struct tg_placement placement;
    struct tg_no_place why;
    double start = now_us();
    int rc;

    tg_arena_reset(arena);
    rc = tg_place(fleet, &r->place, arena, &placement, &why, err);
    times[0] = now_us() - start;
    if (rc != -TG_UNAVAILABLE)
        return rc < 0 ? rc : tg_error_set(err, TG_INTERNAL, "%s has a place", r->place.name);
    for (size_t i = 1; i < 3; i++) {
        start = now_us();
        rc = tg_explain_request(fleet, &input, arena, ret, err);
        if (rc < 0)
            return rc;
        times[i] = now_us() - start;
    }
    return 0;
}

static int measure(struct tg_fleet *fleet, size_t nodes, const struct question *q,
                   struct tg_error *err)
{
    static struct tg_explanation explanation;
    static struct request request;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)1 << 30);
    struct times place, first, again;
    double times[3];

    /* The fleet's own first time is over when something has been asked of it. */
    write_request(&request, q, 1);
    for (unsigned n = 0; n < ROUNDS; n++) {
        int rc = n == 0 ? ask(fleet, &request, arena, &explanation, times, err) : 0;

        if (rc < 0)
            return rc;
        write_request(&request, q, 2 + n);
        rc = ask(fleet, &request, arena, &explanation, times, err);
        if (rc < 0)
            return rc;
        place.us[n] = times[0];
        first.us[n] = times[1];
        again.us[n] = times[2];
    }
    printf("{\"bench\":\"explain\",\"nodes\":%zu,\"full\":%g,\"question\":\"%s\",\"reason\":\"%s\","
           "\"helps\":%zu,\"complete\":%s",
           nodes, q->full, q->name, tg_or(explanation.reason, ""), explanation.n_helps,
           explanation.helps_complete ? "true" : "false");
    print_times("place", &place);
    print_times("first", &first);
    print_times("again", &again);
    printf(",\"budget_us\":%.0f}\n", BUDGET_US);
    fflush(stdout);
    return 0;
}

/* All questions, or the only one. */
static int measure_all(size_t nodes, const char *only, struct tg_error *err)
{
    struct tg_fleet *fleet = NULL;
    double full = 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < TG_ARRAY_SIZE(questions); i++) {
        const struct question *q = &questions[i];

        if ((q->full == 0 && nodes > MIG_NODES) || (only != NULL && strcmp(only, q->name) != 0))
            continue;
        if (fleet == NULL || q->full != full) {
            tg_fleet_close(fleet);
            full = q->full;
            fleet = q->full == 0 ? build_mig(nodes, err) : build(nodes, q->full);
        }
        rc = fleet == NULL ? -TG_INTERNAL : measure(fleet, nodes, q, err);
    }
    tg_fleet_close(fleet);
    return rc;
}

int main(int argc, char **argv)
{
    size_t most = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
    struct tg_error err = TG_ERROR_INIT;
    int rc = 0;

    for (size_t nodes = 100; rc == 0 && nodes <= most; nodes *= 10)
        rc = measure_all(nodes, argc > 2 ? argv[2] : NULL, &err);
    if (rc < 0)
        fprintf(stderr, "bench_explain: %s\n", err.message);
    return rc < 0 ? 1 : 0;
}
