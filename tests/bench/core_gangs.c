/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/core_gangs.h"

#include <stdio.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "tests/bench/core_scene.h"
#include "tests/bench/core_times.h"

enum { CARDS = 8, MEMBERS_MAX = 512 };
#define DECISIONS 300
#define NEW_KINDS 20
/* A line takes no longer. */
#define LINE_US 1.5e6

static const struct tg_level rack = {.name = "rack", .node_label = "example.com/rack"};
static const struct tg_level block = {.name = "block", .node_label = "example.com/block"};

static const struct kind {
    const char *name;
    size_t members;
    size_t domain; /* nodes in each; 0: all nodes are one */
    const struct tg_level *required, *preferred;
} kinds[] = {
    {"gang16", 16, SCENE_RACK, &rack, NULL},
    {"gang64", 64, SCENE_BLOCK, &block, NULL},
    {"gang512", 512, 0, NULL, &rack},
};

enum which { EASY, TIGHT, INFEASIBLE };
static const char *const case_names[] = {"easy", "tight", "infeasible"};

struct gang {
    struct scene_pod pods[MEMBERS_MAX];
    char names[MEMBERS_MAX][16];
    struct tg_piece pieces[MEMBERS_MAX];
    struct tg_place_request request;
};

/* number: 0, or of a kind of pod that is like no other. */
static void write_gang(struct gang *gang, const struct kind *kind, unsigned number)
{
    for (size_t i = 0; i < kind->members; i++) {
        struct scene_pod *pod = &gang->pods[i];

        if (number > 0)
            scene_pod_vary(pod, SCENE_SIZE, number);
        else
            scene_pod_write(pod);
        snprintf(gang->names[i], sizeof(gang->names[i]), "m-%03zu", i);
        pod->meta.name = pod->meta.uid = gang->names[i];
        pod->exactly.count.set = true;
        pod->exactly.count.value = CARDS;
        gang->pieces[i] = pod->piece;
    }
    gang->request = (struct tg_place_request){.name = "gang ns/g",
                                              .pieces = gang->pieces,
                                              .n_pieces = kind->members,
                                              .pack_required = kind->required,
                                              .pack_preferred = kind->preferred};
}

static size_t domain_of(const struct kind *kind, size_t nodes)
{
    return kind->domain > 0 ? kind->domain : nodes;
}

/* Whole nodes are left to one member less than there are, scattered over each domain; of the domain
 * in the middle, when the case is tight, to all of them. */
static bool is_taken(const struct kind *kind, enum which which, size_t node, size_t nodes)
{
    size_t domain = domain_of(kind, nodes), place = node % domain;
    size_t left = kind->members - 1;

    if (which == TIGHT && node / domain == nodes / domain / 2)
        left++;
    return (place + 1) * left / domain == place * left / domain;
}

static size_t set_taken(struct tg_fleet *fleet, const struct kind *kind, enum which which,
                        size_t nodes, bool taken)
{
    static struct scene s;
    size_t n = 0;

    for (size_t i = 0; which != EASY && i < nodes; i++) {
        if (!is_taken(kind, which, i, nodes))
            continue;
        n++;
        scene_claim(&s, i, 0);
        if (taken)
            tg_fleet_put(fleet, TG_FLEET_CLAIM, &s.claim);
        else
            tg_fleet_drop(fleet, TG_FLEET_CLAIM, "ns", s.claim_name);
    }
    tg_fleet_settle(fleet);
    return n;
}

/* Something happens between two decisions, where nothing comes of it: a second card is taken on a
 * node without room, or given back. */
static void disturb(struct tg_fleet *fleet, const struct kind *kind, size_t nodes, size_t turn)
{
    static struct scene s;
    size_t node = turn / 2 * 7919 % nodes;

    while (!is_taken(kind, TIGHT, node, nodes))
        node = (node + 1) % nodes;
    scene_claim(&s, node, 1);
    if (turn % 2 == 0)
        tg_fleet_put(fleet, TG_FLEET_CLAIM, &s.claim);
    else
        tg_fleet_drop(fleet, TG_FLEET_CLAIM, "ns", s.claim_name);
    tg_fleet_settle(fleet);
}

static int decide(struct tg_fleet *fleet, const struct gang *gang, bool fits, double *ret_us,
                  struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)1 << 30);
    struct tg_placement placement;
    struct tg_no_place why = {0};
    double start = now_us();
    int rc = tg_place(fleet, &gang->request, arena, &placement, &why, err);

    *ret_us = now_us() - start;
    if (rc == 0 && !fits)
        return tg_error_set(err, TG_UNKNOWN, "a gang was placed that cannot fit");
    if (rc == -TG_UNAVAILABLE && !fits && !tg_streq(why.reason, "GaveUp")) {
        *err = (struct tg_error)TG_ERROR_INIT;
        return 0;
    }
    return rc;
}

static void print_case(const struct kind *kind, size_t nodes, size_t taken, const char *name,
                       double first, struct times *times)
{
    sort_times(times);
    printf("{\"bench\":\"%s\",\"nodes\":%zu,\"full\":%.2f,\"case\":\"%s\",\"first_us\":%.1f,"
           "\"p50_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f}\n",
           kind->name, nodes, (double)taken / (double)nodes / CARDS, name, first,
           percentile(times, 0.5), percentile(times, 0.99), percentile(times, 1));
    fflush(stdout);
}

/* Every gang is of a kind that has not been seen before, on an empty fleet. */
static int bench_new(struct tg_fleet *fleet, const struct kind *kind, size_t nodes,
                     struct tg_error *err)
{
    static struct gang gang;
    static struct times times;
    static unsigned number;
    double first = 0;
    int rc = 0;

    for (times.n = 0; rc == 0 && times.n < NEW_KINDS; times.n++) {
        write_gang(&gang, kind, ++number);
        rc = decide(fleet, &gang, true, &times.items[times.n], err);
        first = times.n == 0 ? times.items[0] : first;
    }
    if (rc < 0)
        return tg_error_wrap(err, "%s on %zu nodes, of a new kind", kind->name, nodes);
    print_case(kind, nodes, 0, "new", first, &times);
    return 0;
}

static int bench_case(struct tg_fleet *fleet, const struct kind *kind, enum which which,
                      size_t nodes, struct tg_error *err)
{
    static struct gang gang;
    static struct times times;
    size_t taken = set_taken(fleet, kind, which, nodes, true), turns = 0;
    double begin, first = 0;
    int rc;

    write_gang(&gang, kind, 0);
    rc = decide(fleet, &gang, which != INFEASIBLE, &first, err);
    begin = now_us();
    for (times.n = 0; rc == 0 && times.n < DECISIONS && now_us() - begin < LINE_US; times.n++) {
        disturb(fleet, kind, nodes, turns++);
        rc = decide(fleet, &gang, which != INFEASIBLE, &times.items[times.n], err);
    }
    if (turns % 2 == 1)
        disturb(fleet, kind, nodes, turns);
    (void)set_taken(fleet, kind, which, nodes, false);
    if (rc < 0)
        return tg_error_wrap(err, "%s on %zu nodes, %s", kind->name, nodes, case_names[which]);
    print_case(kind, nodes, taken, case_names[which], first, &times);
    return 0;
}

int bench_gangs(size_t nodes, struct tg_error *err)
{
    static struct scene scene = {.cards = CARDS};
    struct tg_fleet *fleet = tg_fleet_open("default");
    int rc = 0;

    for (size_t i = 0; i < nodes; i++) {
        scene_node(&scene, i);
        tg_fleet_put(fleet, TG_FLEET_NODE, &scene.node);
        tg_fleet_put(fleet, TG_FLEET_SLICE, &scene.slice);
    }
    tg_fleet_put(fleet, TG_FLEET_CLASS, scene_class());
    tg_fleet_settle(fleet);
    for (size_t k = 0; k < TG_ARRAY_SIZE(kinds); k++) {
        bool room = nodes >= 2 * kinds[k].domain && nodes > kinds[k].members;

        for (enum which which = EASY; rc == 0 && room && which <= INFEASIBLE; which++)
            rc = bench_case(fleet, &kinds[k], which, nodes, err);
        if (rc == 0 && room)
            rc = bench_new(fleet, &kinds[k], nodes, err);
    }
    tg_fleet_close(fleet);
    return rc;
}
