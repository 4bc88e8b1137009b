/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an explanation costs: requests that have no place on a fleet of H100 nodes, by fleet size
 * and by how full it is, with everything that is tried to find help. One JSON object a line; time
 * of the processor is measured here, never tested.
 *
 *   bench_explain [NODES]       up to that many nodes (10,000)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "controller/core/explain/explain.h"
#include "tests/bench/core_scene.h"

#define CARDS 8
#define MEMBERS 64
#define ROUNDS 100
#define SECONDS 5.0

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static struct tg_fleet *build(size_t nodes, double full, struct scene *s)
{
    struct tg_fleet *fleet = tg_fleet_open("default");

    s->cards = CARDS;
    for (size_t i = 0; i < nodes; i++) {
        scene_node(s, i);
        tg_fleet_put(fleet, TG_FLEET_NODE, &s->node);
        tg_fleet_put(fleet, TG_FLEET_SLICE, &s->slice);
    }
    for (size_t i = 0; i < nodes * CARDS; i++) {
        if ((double)(tg_hash64(&i, sizeof(i)) % 1000000) / 1e6 >= full)
            continue;
        scene_claim(s, i / CARDS, i % CARDS);
        tg_fleet_put(fleet, TG_FLEET_CLAIM, &s->claim);
    }
    tg_fleet_put(fleet, TG_FLEET_CLASS, scene_class());
    tg_fleet_settle(fleet);
    return fleet;
}

struct question {
    const char *name;
    size_t members;
    int64_t cards;
    const char *selector;
    bool in_a_rack;
    double full;
};

static const struct question questions[] = {
    {"scattered", 1, 8, NULL, false, 0.9},
    {"too_large", 1, 9, NULL, false, 0.9},
    {"no_match", 1, 1, "device.attributes[\"" SCENE_DRIVER "\"].productName == \"X\"", false, 0.9},
    {"none_free", 1, 1, NULL, false, 1},
    {"gang_scattered", 16, 8, NULL, false, 0.9},
    {"gang_in_a_rack", 64, 4, NULL, true, 0.5},
};

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static int measure(struct tg_fleet *fleet, size_t nodes, const struct question *q,
                   struct tg_error *err)
{
    static struct scene_pod pods[MEMBERS];
    static double times[ROUNDS];
    static struct tg_explanation explanation;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)1 << 30);
    static struct tg_piece pieces[MEMBERS];
    static struct tg_cel_selector cel;
    static struct tg_device_selector selector = {&cel};
    const struct tg_level rack = {.name = "rack", .node_label = "example.com/rack", .rank = 1};
    const struct tg_level zone = {.name = "zone", .node_label = "example.com/zone", .rank = 0};
    struct tg_place_request request = {.name = "gang ns/g",
                                       .pieces = pieces,
                                       .n_pieces = q->members,
                                       .pack_required = q->in_a_rack ? &rack : NULL};
    const struct tg_explain_input input = {.request = &request, .levels = &zone, .n_levels = 1};
    double begin = now_us();
    size_t n = 0;

    cel.expression = q->selector;
    for (size_t i = 0; i < q->members; i++) {
        scene_pod_write(&pods[i]);
        pods[i].exactly.count = (struct tg_opt_int){true, q->cards};
        pods[i].exactly.selectors.items = &selector;
        pods[i].exactly.selectors.n = q->selector == NULL ? 0 : 1;
        pieces[i] = pods[i].piece;
    }
    for (n = 0; n < ROUNDS && now_us() - begin < SECONDS * 1e6; n++) {
        double start = now_us();
        int rc;

        tg_arena_reset(arena);
        rc = tg_explain_request(fleet, &input, arena, &explanation, err);
        if (rc < 0)
            return rc;
        times[n] = now_us() - start;
    }
    qsort(times, n, sizeof(*times), compare_doubles);
    printf("{\"bench\":\"explain\",\"nodes\":%zu,\"full\":%g,\"question\":\"%s\",\"reason\":\"%s\","
           "\"helps\":%zu,\"complete\":%s,\"p50_us\":%.0f,\"max_us\":%.0f}\n",
           nodes, q->full, q->name, tg_or(explanation.reason, ""), explanation.n_helps,
           explanation.helps_complete ? "true" : "false", times[n / 2], times[n - 1]);
    fflush(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    size_t most = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000;
    struct tg_error err = TG_ERROR_INIT;
    static struct scene scene;
    int rc = 0;

    for (size_t nodes = 100; rc == 0 && nodes <= most; nodes *= 10) {
        for (size_t i = 0; rc == 0 && i < TG_ARRAY_SIZE(questions); i++) {
            struct tg_fleet *fleet = build(nodes, questions[i].full, &scene);

            rc = measure(fleet, nodes, &questions[i], &err);
            tg_fleet_close(fleet);
        }
    }
    if (rc < 0)
        fprintf(stderr, "bench_explain: %s\n", err.message);
    return rc < 0 ? 1 : 0;
}
