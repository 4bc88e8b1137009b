/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocation core alone: how long a fleet takes to be told, what it weighs, what an event costs
 * and how long a one-device claim takes to be decided, by fleet size and by how full it is; and the
 * same claim beside the built-in allocator of Kubernetes; gangs (core_gangs.h). One JSON object a
 * line. Time is measured here (of the processor, for the machine is shared), never tested.
 *
 *   bench_core [NODES [PEER]]       up to that many nodes (100,000); tests/peers/allocator
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/encode.h"
#include "tests/bench/core_gangs.h"
#include "tests/bench/core_mig.h"
#include "tests/bench/core_scene.h"
#include "tests/bench/core_times.h"
#include "tests/bench/peer.h"

#define CARDS 8
#define EVENTS TIMES_MAX
#define DECISIONS TIMES_MAX
#define NEW_KINDS 20
/* A line takes no longer, if the machine is slow. */
#define SECONDS 5.0
#define PEER_NODES 100
#define MIG_NODES 1000

static const size_t sizes[] = {100, 1000, 10000, 100000};
static const double fullness[] = {0, 0.5, 0.9, 0.99};
static const size_t peer_devices[] = {10, 100, 1000};

static double rss_mb(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    long pages = 0, resident = 0;

    if (f == NULL)
        return 0;
    if (fscanf(f, "%ld %ld", &pages, &resident) != 2)
        resident = 0;
    fclose(f);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* --- the fleet -------------------------------------------------------------------------------- */

static struct tg_fleet *build(size_t nodes, size_t cards_in_all, struct scene *s, double *ret_ms)
{
    struct tg_fleet *fleet = tg_fleet_open("default");
    double start = now_us(), writing = 0;

    for (size_t i = 0; i < nodes; i++) {
        double before = now_us();

        s->cards = (i + 1) * cards_in_all / nodes - i * cards_in_all / nodes;
        scene_node(s, i);
        writing += now_us() - before;
        tg_fleet_put(fleet, TG_FLEET_NODE, &s->node);
        if (s->cards > 0)
            tg_fleet_put(fleet, TG_FLEET_SLICE, &s->slice);
    }
    tg_fleet_put(fleet, TG_FLEET_CLASS, scene_class());
    tg_fleet_settle(fleet);
    *ret_ms = (now_us() - start - writing) / 1e3;
    return fleet;
}

/* Partitioned cards: what such a fleet weighs, and what its events and pods cost. */
static int bench_mig(struct tg_error *err)
{
    static struct scene scene;
    double memory = rss_mb(), start = now_us();
    struct tg_fleet *fleet = tg_fleet_open("default");
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < MIG_NODES; i++) {
        scene.cards = 0;
        scene_node(&scene, i);
        tg_fleet_put(fleet, TG_FLEET_NODE, &scene.node);
        rc = mig_tell_node(fleet, i, err);
    }
    tg_fleet_put(fleet, TG_FLEET_CLASS, scene_class());
    tg_fleet_settle(fleet);
    printf("{\"bench\":\"model\",\"nodes\":%d,\"build_ms\":%.1f,\"rss_mb\":%.1f,\"devices\":%d,"
           "\"kind\":\"H100 in dynamic MIG, texts decoded\"}\n",
           MIG_NODES, (now_us() - start) / 1e3, rss_mb() - memory, MIG_DEVICES);
    tg_fleet_close(fleet);
    return rc;
}

static struct tg_fleet *bench_model(size_t nodes, struct scene *s)
{
    double memory = rss_mb(), ms = 0;
    struct tg_fleet *fleet = build(nodes, nodes * CARDS, s, &ms);

    printf("{\"bench\":\"model\",\"nodes\":%zu,\"build_ms\":%.1f,\"rss_mb\":%.1f}\n", nodes, ms,
           rss_mb() - memory);
    return fleet;
}

/* --- events ----------------------------------------------------------------------------------- */

enum event { EVENT_CLAIM, EVENT_NODE, EVENT_SLICE, EVENT_WIPE, EVENT_JOIN, EVENT_KINDS };

/* What is told first, and what puts it right. */
static const char *const event_names[EVENT_KINDS][2] = {
    [EVENT_CLAIM] = {"claim allocated", "claim gone"},
    [EVENT_NODE] = {"node told again", "node told again"}, /* as heartbeats do */
    [EVENT_SLICE] = {"slice of a device gone bad", "slice of the same devices"},
    [EVENT_WIPE] = {"slice gone", "slice published"}, /* what a kubelet does at its start */
    [EVENT_JOIN] = {"node gone", "node joined"},      /* with its slice */
};

static void tell(struct tg_fleet *fleet, struct scene *s, enum event kind, bool there)
{
    if (kind == EVENT_CLAIM && there)
        tg_fleet_put(fleet, TG_FLEET_CLAIM, &s->claim);
    else if (kind == EVENT_CLAIM)
        tg_fleet_drop(fleet, TG_FLEET_CLAIM, "ns", s->claim_name);
    if (kind == EVENT_NODE || (kind == EVENT_JOIN && there))
        tg_fleet_put(fleet, TG_FLEET_NODE, &s->node);
    else if (kind == EVENT_JOIN)
        tg_fleet_drop(fleet, TG_FLEET_NODE, NULL, s->name);
    if (kind == EVENT_SLICE || ((kind == EVENT_WIPE || kind == EVENT_JOIN) && there))
        tg_fleet_put(fleet, TG_FLEET_SLICE, &s->slice);
    else if (kind == EVENT_WIPE || kind == EVENT_JOIN)
        tg_fleet_drop(fleet, TG_FLEET_SLICE, NULL, s->name);
    tg_fleet_settle(fleet);
}

static void print_event(size_t nodes, const char *name, struct times *times)
{
    sort_times(times);
    printf("{\"bench\":\"event\",\"nodes\":%zu,\"p50_us\":%.2f,\"p99_us\":%.2f,\"max_us\":%.2f,"
           "\"kind\":\"%s\"}\n",
           nodes, percentile(times, 0.5), percentile(times, 0.99), percentile(times, 1), name);
}

/* Each until the fleet can be decided about again. */
static void bench_event(struct tg_fleet *fleet, size_t nodes, enum event kind, struct scene *s)
{
    static struct times both[2];
    uint64_t random = 88172645463325252;
    double begin = now_us();
    bool back = kind == EVENT_CLAIM;
    size_t node = 0;

    s->cards = CARDS;
    both[0].n = both[1].n = 0;
    for (size_t i = 0; i < EVENTS && now_us() - begin < SECONDS * 1e6; i++) {
        bool first = i % 2 == 0;
        struct times *times = &both[first ? 0 : 1];
        double start;

        if (first)
            node = next_random(&random) % nodes;
        if (kind == EVENT_CLAIM)
            scene_claim(s, node, node % CARDS);
        else
            scene_node(s, node);
        if (kind == EVENT_SLICE && first)
            scene_spoil(s);
        start = now_us();
        tell(fleet, s, kind, first == back);
        times->items[times->n++] = now_us() - start;
    }
    for (size_t i = 0; i < 2; i++)
        print_event(nodes, event_names[kind][i], &both[i]);
    /* An odd number of them leaves something undone. */
    tell(fleet, s, kind, !back);
    fflush(stdout);
}

/* --- decisions -------------------------------------------------------------------------------- */

/* Which cards are taken: scattered, the same for a larger share and more. */
static void fill(struct tg_fleet *fleet, size_t nodes, double from, double to, struct scene *s)
{
    s->cards = CARDS;
    for (size_t i = 0; i < nodes * CARDS; i++) {
        double place = (double)(tg_hash64(&i, sizeof(i)) % 1000000) / 1e6;

        if (place < from || place >= to)
            continue;
        scene_claim(s, i / CARDS, i % CARDS);
        tg_fleet_put(fleet, TG_FLEET_CLAIM, &s->claim);
    }
    tg_fleet_settle(fleet);
}

/* Decides and assumes; the caller takes it back. */
static int decide(struct tg_fleet *fleet, const struct scene_pod *pod, struct tg_arena *arena,
                  double *ret_us, struct tg_error *err)
{
    struct tg_placement placement;
    struct tg_no_place why = {0};
    double start = now_us();
    const struct tg_placed_device *device;
    int rc;

    tg_arena_reset(arena);
    rc = tg_place(fleet, &pod->place, arena, &placement, &why, err);
    if (rc < 0)
        return rc;
    device = &placement.pieces[0].devices[0];
    tg_fleet_assume(
        fleet,
        &(struct tg_fleet_busy){.driver = device->driver,
                                .pool = device->pool,
                                .device = device->device,
                                .holder = "pod ns/p"},
        1, &(struct tg_fleet_assumed){.pod = &pod->pod, .node = placement.pieces[0].node}, 1);
    *ret_us = now_us() - start;
    return 0;
}

/* The first pod of its kind, again and again. */
static int bench_kind(struct tg_fleet *fleet, size_t nodes, enum scene_kind kind, double full,
                      struct tg_error *err)
{
    static const char *const names[SCENE_KINDS] = {[SCENE_SIZE] = "pod of a new size",
                                                   [SCENE_SELECTOR] = "pod with a new selector",
                                                   [SCENE_LABEL] = "pod with a nodeSelector"};
    static struct times times;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)1 << 30);
    size_t mark = tg_fleet_mark(fleet);
    struct scene_pod pod;
    int rc = 0;

    for (times.n = 0; rc == 0 && times.n < NEW_KINDS; times.n++) {
        scene_pod_vary(&pod, kind, (unsigned)(times.n + 1 + (size_t)(full * 100) * NEW_KINDS));
        rc = decide(fleet, &pod, arena, &times.items[times.n], err);
        tg_fleet_undo(fleet, mark);
    }
    if (rc == 0)
        print_event(nodes, names[kind], &times);
    return rc;
}

/* As a pass does: some decisions one after the other, then all are taken back. The first of a kind
 * of pod counts everything and has a line of its own. */
static int measure(struct tg_fleet *fleet, struct times *times, double *ret_first,
                   struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)1 << 30);
    size_t mark = tg_fleet_mark(fleet);
    struct scene_pod pod;
    double begin = now_us();
    int rc;

    scene_pod_write(&pod);
    rc = decide(fleet, &pod, arena, ret_first, err);
    for (times->n = 0; rc == 0 && times->n < DECISIONS && now_us() - begin < SECONDS * 1e6;) {
        if (times->n % 4 == 0)
            tg_fleet_undo(fleet, mark);
        rc = decide(fleet, &pod, arena, &times->items[times->n], err);
        times->n += rc == 0 ? 1 : 0;
    }
    tg_fleet_undo(fleet, mark);
    sort_times(times);
    return rc;
}

static int bench_claim(struct tg_fleet *fleet, size_t nodes, double full, struct tg_error *err)
{
    static struct times times;
    double first = 0;
    int rc = measure(fleet, &times, &first, err);

    if (rc < 0)
        return tg_error_wrap(err, "%zu nodes, %.2f full", nodes, full);
    printf("{\"bench\":\"first\",\"nodes\":%zu,\"full\":%g,\"us\":%.1f}\n", nodes, full, first);
    printf("{\"bench\":\"claim\",\"nodes\":%zu,\"full\":%g,\"p50_us\":%.2f,\"p99_us\":%.2f,"
           "\"max_us\":%.2f}\n",
           nodes, full, percentile(&times, 0.5), percentile(&times, 0.99), percentile(&times, 1));
    fflush(stdout);
    return 0;
}

static int bench_size(size_t nodes, struct tg_error *err)
{
    static struct scene scene;
    struct tg_fleet *fleet = bench_model(nodes, &scene);
    int rc = 0;

    for (enum event kind = 0; kind < EVENT_KINDS; kind++)
        bench_event(fleet, nodes, kind, &scene);
    for (size_t k = 0; rc == 0 && k < TG_ARRAY_SIZE(fullness); k++) {
        fill(fleet, nodes, k == 0 ? 0 : fullness[k - 1], fullness[k], &scene);
        rc = bench_claim(fleet, nodes, fullness[k], err);
        for (enum scene_kind kind = 0; rc == 0 && kind < SCENE_KINDS; kind++)
            rc = bench_kind(fleet, nodes, kind, fullness[k], err);
    }
    tg_fleet_close(fleet);
    return rc == 0 ? bench_gangs(nodes, err) : rc;
}

/* --- beside the peer -------------------------------------------------------------------------- */

/* The same fleet and claim as a case of tests/peers/allocator. There is no guard for it. */
static int write_case(FILE *file, size_t devices, struct scene *s, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf line = TG_BUF_INIT((size_t)64 << 20);
    struct scene_pod pod;
    struct tg_json_writer w;

    scene_pod_write(&pod);
    tg_json_writer_init(&w, &line);
    tg_jw_begin_object(&w);
    tg_jw_kv_string(&w, "name", "one device");
    tg_jw_kv_raw(&w, "deviceClasses",
                 "[{\"metadata\":{\"name\":\"gpu\"},\"spec\":{\"selectors\":[{\"cel\":{"
                 "\"expression\":\"device.attributes[\\\"" SCENE_DRIVER
                 "\\\"].productName == \\\"NVIDIA H100 80GB HBM3\\\"\"}}]}}]");
    for (size_t kind = 0; kind < 2; kind++) {
        tg_jw_key(&w, kind == 0 ? "nodes" : "resourceSlices");
        tg_jw_begin_array(&w);
        for (size_t i = 0; i < PEER_NODES; i++) {
            TG_AUTOBUF struct tg_buf object = TG_BUF_INIT((size_t)1 << 20);

            s->cards = (i + 1) * devices / PEER_NODES - i * devices / PEER_NODES;
            scene_node(s, i);
            if (tg_json_encode(kind == 0 ? &tg_node_type : &tg_resource_slice_type,
                               kind == 0 ? (const void *)&s->node : &s->slice, &object, err) < 0)
                return -1;
            if (kind == 0 || s->cards > 0)
                tg_jw_raw(&w, tg_buf_str(&object));
        }
        tg_jw_end_array(&w);
    }
    tg_jw_key(&w, "claims");
    tg_jw_begin_array(&w);
    tg_jw_raw(&w, "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"p\",\"uid\":\"u\"},\"spec\":{"
                  "\"devices\":{\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":"
                  "\"gpu\",\"allocationMode\":\"ExactCount\",\"count\":1}}]}}}");
    tg_jw_end_array(&w);
    tg_jw_end_object(&w);
    if (tg_jw_finish(&w, err) < 0 || fprintf(file, "%s\n", tg_buf_str(&line)) < 0)
        return tg_error_set(err, TG_UNAVAILABLE, "the cases cannot be written");
    return 0;
}

static int measure_ours(size_t devices, double *ret, struct tg_error *err)
{
    static struct scene scene;
    static struct times times;
    double ignored = 0;
    struct tg_fleet *fleet = build(PEER_NODES, devices, &scene, &ignored);
    int rc = measure(fleet, &times, &ignored, err);

    if (rc == 0)
        *ret = percentile(&times, 0.5);
    tg_fleet_close(fleet);
    return rc;
}

static int print_peers(FILE *answers, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)1 << 20);
    char line[4096];

    for (size_t i = 0; i < TG_ARRAY_SIZE(peer_devices); i++) {
        double ours = 0, theirs = 0, fits = 0;
        struct tg_json *json;
        int rc;

        if (fgets(line, sizeof(line), answers) == NULL)
            return tg_error_set(err, TG_INVALID_ARGUMENT, "the peer gave no answer");
        rc = tg_json_parse(line, strlen(line), arena, &json, err);
        if (rc == 0)
            rc = peer_number(json, "us", &theirs, err);
        if (rc == 0)
            rc = peer_number(json, "fits", &fits, err);
        if (rc == 0 && fits < 1)
            rc = tg_error_set(err, TG_UNKNOWN, "the peer placed nothing");
        if (rc == 0)
            rc = measure_ours(peer_devices[i], &ours, err);
        if (rc < 0)
            return rc;
        printf("{\"bench\":\"peer\",\"devices\":%zu,\"ours_us\":%.2f,\"peer_us\":%.1f,"
               "\"ratio\":%.0f}\n",
               peer_devices[i], ours, theirs, theirs / ours);
    }
    return 0;
}

static int bench_peer(const char *peer, struct tg_error *err)
{
    TG_AUTOFCLOSE FILE *cases = tmpfile();
    TG_AUTOFCLOSE FILE *answers = tmpfile();
    static struct scene scene;
    int rc = 0;

    if (cases == NULL || answers == NULL)
        return tg_error_set(err, TG_UNAVAILABLE, "no temporary file");
    for (size_t i = 0; rc == 0 && i < TG_ARRAY_SIZE(peer_devices); i++)
        rc = write_case(cases, peer_devices[i], &scene, err);
    if (rc == 0 && (fflush(cases) != 0 || fseek(cases, 0, SEEK_SET) != 0))
        rc = tg_error_set(err, TG_UNAVAILABLE, "the cases cannot be written");
    if (rc == 0)
        rc = peer_run(peer, cases, answers, err);
    if (rc == 0)
        rc = fseek(answers, 0, SEEK_SET);
    return rc == 0 ? print_peers(answers, err) : rc;
}

int main(int argc, char **argv)
{
    size_t most = argc > 1 ? strtoul(argv[1], NULL, 10) : sizes[TG_ARRAY_SIZE(sizes) - 1];
    const char *peer = argc > 2 ? argv[2] : "build/peers/allocator-1.37";
    struct tg_error err = TG_ERROR_INIT;
    int rc = 0;

    if (most >= MIG_NODES)
        rc = bench_mig(&err);
    for (size_t i = 0; rc == 0 && i < TG_ARRAY_SIZE(sizes) && sizes[i] <= most; i++)
        rc = bench_size(sizes[i], &err);
    if (rc == 0)
        rc = bench_peer(peer, &err);
    if (rc < 0)
        fprintf(stderr, "bench_core: %s\n", err.message);
    return rc < 0 ? 1 : 0;
}
