/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every byte is a choice in the history of a small cluster and of one fleet that lives through it:
 * nodes, slices, classes and taint rules come, change and go; claims are placed, written, freed, or
 * assumed and taken back. What is placed the checker allows, by the objects as they stand; in the
 * end the fleet equals one that is told the outcome at once.
 */
#include <stdio.h>
#include <stdlib.h>

#include "api/kubernetes/objects/capacity.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "api/runtime/json/encode.h"
#include "controller/judge.h"
#include "tests/fuzz/allocation_text.h"

#define ARENA_BYTES ((size_t)256 << 20)
#define TEXT_BYTES ((size_t)1 << 20)
#define SLOTS 8 /* of each kind */
#define MAX_BUSY 256

struct play {
    struct choices choices;
    struct tg_buf text;
    struct tg_arena *arena;
    struct tg_fleet *fleet;
    const void *objects[TG_VIEW_KINDS][SLOTS];
    struct tg_fleet_busy busy[MAX_BUSY]; /* what is assumed */
    size_t n_busy;
    unsigned claims;
};

static const struct {
    enum tg_fleet_kind kind;
    const struct tg_type *type;
} kinds[TG_VIEW_KINDS] = {
    [TG_VIEW_NODE] = {TG_FLEET_NODE, &tg_node_type},
    [TG_VIEW_SLICE] = {TG_FLEET_SLICE, &tg_resource_slice_type},
    [TG_VIEW_CLASS] = {TG_FLEET_CLASS, &tg_device_class_type},
    [TG_VIEW_TAINT_RULE] = {TG_FLEET_TAINT_RULE, &tg_device_taint_rule_type},
    [TG_VIEW_VOLUME] = {TG_FLEET_VOLUME, &tg_persistent_volume_type},
    [TG_VIEW_VOLUME_CLAIM] = {TG_FLEET_VOLUME_CLAIM, &tg_persistent_volume_claim_type},
    [TG_VIEW_STORAGE_CLASS] = {TG_FLEET_STORAGE_CLASS, &tg_storage_class_type},
    [TG_VIEW_CLAIM] = {TG_FLEET_CLAIM, &tg_resource_claim_type},
};

/* With everything that is there, as the API would have it. */
static void broken(struct play *p, const char *what, const struct tg_error *err)
{
    fprintf(stderr, "%s: %s: %s\n%s\n", what, err->reason, err->message, p->text.data);
    for (size_t kind = 0; kind < TG_VIEW_KINDS; kind++) {
        for (size_t i = 0; i < SLOTS; i++) {
            p->text.len = 0;
            if (p->objects[kind][i] != NULL &&
                tg_json_encode(kinds[kind].type, p->objects[kind][i], &p->text, NULL) == 0)
                fprintf(stderr, "%s\n", p->text.data);
        }
    }
    for (size_t i = 0; i < p->n_busy; i++)
        fprintf(stderr, "assumed: %s/%s/%s share %s\n", p->busy[i].driver, p->busy[i].pool,
                p->busy[i].device, tg_or(p->busy[i].share, "-"));
    abort();
}

static void *read_text(struct play *p, enum tg_view_kind kind)
{
    struct tg_error err = TG_ERROR_INIT;
    void *object = NULL;

    if (tg_json_decode_new(kinds[kind].type, p->text.data, p->text.len, p->arena, &object, &err) <
        0)
        broken(p, "not read", &err);
    return object;
}

static void drop(struct play *p, enum tg_view_kind kind, unsigned slot)
{
    const struct tg_object *object = p->objects[kind][slot];

    if (object == NULL)
        return;
    tg_fleet_drop(p->fleet, kinds[kind].kind, object->metadata->namespace_, object->metadata->name);
    p->objects[kind][slot] = NULL;
}

static void put(struct play *p, enum tg_view_kind kind, unsigned slot, const void *object)
{
    tg_fleet_put(p->fleet, kinds[kind].kind, object);
    p->objects[kind][slot] = object;
}

/* --- what others do --- */

static void change_node(struct play *p)
{
    unsigned slot = pick(&p->choices, 2);

    if (pick(&p->choices, 4) == 3) {
        drop(p, TG_VIEW_NODE, slot);
        return;
    }
    ADD(&p->choices,
        "{\"metadata\":{\"name\":\"n%u\",\"labels\":{\"zone\":\"z%u\"}},\"status\":{"
        "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],\"allocatable\":{\"pods\":\"9\"}"
        "}}",
        slot + 1, 1 + pick(&p->choices, 2));
    put(p, TG_VIEW_NODE, slot, read_text(p, TG_VIEW_NODE));
}

static void add_counters(struct play *p, const char *driver, unsigned count)
{
    ADD(&p->choices,
        "{\"metadata\":{\"name\":\"%sc\"},\"spec\":{\"driver\":\"%s\",\"pool\":{\"name\":\"p\","
        "\"generation\":2,\"resourceSliceCount\":%u},\"nodeName\":\"n%u\",\"sharedCounters\":[{"
        "\"name\":\"set\",\"counters\":{\"g\":{\"value\":\"%u\"}}}]}}",
        driver, driver, count, 1 + pick(&p->choices, 2), 2 + pick(&p->choices, 5));
}

static void put_slice(struct play *p, unsigned slot, unsigned count, unsigned generation,
                      bool counters)
{
    const char *driver = slot < 3 ? "d" : "e";

    p->text.len = 0;
    if (slot % 3 == 2)
        add_counters(p, driver, count);
    else
        add_slice(&p->choices, driver, slot % 3, count, generation, counters);
    put(p, TG_VIEW_SLICE, slot, read_text(p, TG_VIEW_SLICE));
}

/* A whole pool, as a driver publishes it. Slots: of each of two drivers two slices with devices,
 * one with counters. */
static void publish(struct play *p)
{
    unsigned first = 3 * pick(&p->choices, 2), slices = 1 + pick(&p->choices, 2);
    bool counters = pick(&p->choices, 2) == 1;

    p->choices.devices = 0;
    for (unsigned i = 0; i < 2; i++) {
        if (i < slices)
            put_slice(p, first + i, slices + counters, 2, counters);
        else
            drop(p, TG_VIEW_SLICE, first + i);
    }
    if (counters)
        put_slice(p, first + 2, slices + 1, 2, true);
    else
        drop(p, TG_VIEW_SLICE, first + 2);
}

/* One slice, whatever the others say. */
static void change_slice(struct play *p)
{
    unsigned slot = pick(&p->choices, 6);

    if (pick(&p->choices, 3) == 2) {
        drop(p, TG_VIEW_SLICE, slot);
        return;
    }
    p->choices.devices = 0;
    put_slice(p, slot, 1 + pick(&p->choices, 3), 2 + pick(&p->choices, 4) / 3,
              pick(&p->choices, 2) == 1);
}

#define GUARD                                                                                      \
    "{\"cel\":{\"expression\":\"\\\"granted\\\" in device.attributes[\\\"tangram.dev\\\"]\"}}"
#define MANAGED "\"labels\":{\"tangram.dev/controller\":\"default\"}"
#define MANAGED_CLASS(name, more)                                                                  \
    "{\"metadata\":{\"name\":\"" name "\"," MANAGED "},\"spec\":{\"selectors\":[" GUARD more "]}}"
#define ONE_MORE(expression) ",{\"cel\":{\"expression\":\"" expression "\"}}"
#define THEIRS                                                                                     \
    "{\"metadata\":{\"name\":\"theirs\"},\"spec\":{\"selectors\":[{\"cel\":{\"expression\":"       \
    "\"device.driver == 'e'\"}}]}}"
static const char *const classes[] = {
    MANAGED_CLASS("c0", ""),
    MANAGED_CLASS("c1", ONE_MORE("device.driver == 'd'")),
    MANAGED_CLASS("c2", ONE_MORE("'k' in device.attributes['d']")),
    THEIRS,
};

static void put_class(struct play *p, unsigned slot)
{
    add(&p->choices, classes[slot]);
    put(p, TG_VIEW_CLASS, slot, read_text(p, TG_VIEW_CLASS));
}

static void change_class(struct play *p)
{
    unsigned slot = 3 - pick(&p->choices, 4) / 3;

    if (p->objects[TG_VIEW_CLASS][slot] != NULL)
        drop(p, TG_VIEW_CLASS, slot);
    else
        put_class(p, slot);
}

static void change_rule(struct play *p)
{
    if (p->objects[TG_VIEW_TAINT_RULE][0] != NULL) {
        drop(p, TG_VIEW_TAINT_RULE, 0);
        return;
    }
    ADD(&p->choices,
        "{\"metadata\":{\"name\":\"r\"},\"spec\":{\"deviceSelector\":{\"driver\":\"d\",\"device\":"
        "\"a%u\"},\"taint\":{\"key\":\"t\",\"effect\":\"NoSchedule\"}}}",
        pick(&p->choices, 3));
    put(p, TG_VIEW_TAINT_RULE, 0, read_text(p, TG_VIEW_TAINT_RULE));
}

/* --- what we do --- */

static void free_claim(struct play *p)
{
    drop(p, TG_VIEW_CLAIM, pick(&p->choices, SLOTS));
}

static void undo(struct play *p)
{
    tg_fleet_undo(p->fleet, 0);
    p->n_busy = 0;
}

static const struct tg_resource_claim *new_claim(struct play *p)
{
    struct tg_resource_claim *claim;

    p->text.len = 0;
    add_claim(&p->choices, 0);
    claim = read_text(p, TG_VIEW_CLAIM);
    claim->metadata->namespace_ = "ns";
    return claim;
}

static void assume(struct play *p, const struct tg_placed_piece *piece)
{
    size_t first = p->n_busy;

    for (size_t i = 0; i < piece->n_devices && p->n_busy < MAX_BUSY; i++) {
        const struct tg_placed_device *d = &piece->devices[i];
        struct tg_fleet_busy *busy = &p->busy[p->n_busy];

        if (d->admin)
            continue;
        *busy = (struct tg_fleet_busy){
            .driver = d->driver, .pool = d->pool, .device = d->device, .holder = "assumed"};
        if (d->consumed != NULL) {
            busy->share = tg_arena_printf(p->arena, "s%u-%zu", p->claims, i);
            tg_capacity_amounts_read(d->consumed, p->arena, &busy->consumed, &busy->n_consumed,
                                     NULL);
        }
        p->n_busy++;
    }
    tg_fleet_assume(p->fleet, p->busy + first, p->n_busy - first, NULL, 0);
}

/* The claim is there with its allocation, as the commit machine would have written it. */
static void write_claim(struct play *p, const struct tg_placed_piece *piece,
                        const struct tg_resource_claim *claim, unsigned slot)
{
    struct {
        struct tg_resource_claim claim;
        struct tg_object_meta meta;
        struct tg_resource_claim_status status;
        struct tg_allocation allocation;
        struct tg_allocation_devices devices;
    } *made = tg_arena_alloc(p->arena, sizeof(*made));
    struct tg_allocation_device *results =
        tg_arena_alloc_array(p->arena, piece->n_devices, sizeof(*results));

    if (made == NULL || results == NULL)
        return;
    for (size_t i = 0; i < piece->n_devices; i++) {
        const struct tg_placed_device *d = &piece->devices[i];

        results[i] = (struct tg_allocation_device){.request = d->request,
                                                   .driver = d->driver,
                                                   .pool = d->pool,
                                                   .device = d->device,
                                                   .consumed_capacity = d->consumed};
        results[i].admin_access = (struct tg_opt_bool){.set = d->admin, .value = d->admin};
        if (d->consumed != NULL)
            results[i].share_id = tg_arena_printf(p->arena, "s%u-%zu", p->claims, i);
    }
    made->claim = *claim;
    made->meta = *claim->metadata;
    made->meta.name = tg_arena_printf(p->arena, "x%u", slot);
    made->claim.metadata = &made->meta;
    made->claim.status = &made->status;
    made->status.allocation = &made->allocation;
    made->allocation.devices = &made->devices;
    made->devices.results.items = results;
    made->devices.results.n = piece->n_devices;
    put(p, TG_VIEW_CLAIM, slot, &made->claim);
}

static void judge(struct play *p, const struct tg_place_request *request,
                  const struct tg_placement *placement)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(ARENA_BYTES);
    struct tg_error err = TG_ERROR_INIT;
    struct tg_view view;

    tg_view_init(&view);
    for (size_t kind = 0; kind < TG_VIEW_KINDS; kind++) {
        for (size_t i = 0; i < SLOTS; i++) {
            if (p->objects[kind][i] != NULL)
                tg_view_add(&view, (enum tg_view_kind)kind, p->objects[kind][i]);
        }
    }
    if (tg_judge_placement(&view, p->busy, p->n_busy, request, placement, arena, &err) < 0)
        broken(p, "placed against the rules", &err);
    tg_view_done(&view);
}

static void place(struct play *p)
{
    const struct tg_resource_claim *claims[2];
    struct tg_piece pieces[2];
    struct tg_place_request request = {
        .name = "gang", .pieces = pieces, .n_pieces = 1 + pick(&p->choices, 3) / 2};
    struct tg_placement placement;
    struct tg_no_place why = {.reason = NULL};
    struct tg_error err = TG_ERROR_INIT;
    bool assumed = pick(&p->choices, 3) == 2;
    int rc;

    for (size_t i = 0; i < request.n_pieces; i++) {
        claims[i] = new_claim(p);
        pieces[i] = (struct tg_piece){.claims = &claims[i], .n_claims = 1};
    }
    tg_fleet_settle(p->fleet);
    rc = tg_place(p->fleet, &request, p->arena, &placement, &why, &err);
    if (rc == -TG_UNAVAILABLE && tg_streq(why.reason, "GaveUp"))
        broken(p, "gave up", &err);
    if (rc == -TG_INTERNAL)
        broken(p, "internal", &err);
    if (rc < 0)
        return;
    judge(p, &request, &placement);
    for (size_t i = 0; i < request.n_pieces; i++, p->claims++) {
        unsigned slot = p->claims % SLOTS;

        if (assumed) {
            assume(p, &placement.pieces[i]);
            continue;
        }
        drop(p, TG_VIEW_CLAIM, slot);
        write_claim(p, &placement.pieces[i], claims[i], slot);
    }
}

/* The fleet that lived through it, without what was only assumed, and one that is told it now. */
static void compare(struct play *p)
{
    struct tg_fleet *fresh = tg_fleet_open("default");

    undo(p);
    for (size_t kind = 0; kind < TG_VIEW_KINDS; kind++) {
        for (size_t i = 0; i < SLOTS; i++) {
            if (p->objects[kind][i] != NULL)
                tg_fleet_put(fresh, kinds[kind].kind, p->objects[kind][i]);
        }
    }
    tg_fleet_settle(p->fleet);
    tg_fleet_settle(fresh);
    if (tg_fleet_hash(p->fleet) != tg_fleet_hash(fresh))
        broken(p, "the history has left a trace", &TG_ERROR_INIT);
    tg_fleet_close(fresh);
}

static void (*const events[])(struct play *p) = {
    place, publish, place,       free_claim,   publish,      place, undo,        place,
    place, publish, change_node, change_slice, change_class, place, change_rule, publish,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(ARENA_BYTES);
    struct play play = {.text = TG_BUF_INIT(TEXT_BYTES), .arena = arena};

    play.choices = (struct choices){.data = data, .n = n, .out = &play.text};
    play.fleet = tg_fleet_open("default");
    for (unsigned slot = 0; slot < 3; slot++, play.text.len = 0)
        put_class(&play, slot);
    change_node(&play);
    while (play.choices.n > 0) {
        play.text.len = 0;
        events[pick(&play.choices, TG_ARRAY_SIZE(events))](&play);
    }
    compare(&play);
    tg_fleet_close(play.fleet);
    tg_buf_done(&play.text);
    return 0;
}
