/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/cli/playback.h"

#include <inttypes.h>
#include <stdlib.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/cli/picture.h"

#define JOB_MEMORY ((size_t)64 << 20)
#define NAMESPACE "arrivals"
#define CARD 1000 /* parts of a card */

/* One gang that is there or waits. */
struct job {
    size_t index; /* of the arrival */
    int64_t priority;
    struct tg_arena *arena;
    struct tg_arena *last; /* of the last attempt but the first; NULL: there was none */
    struct tg_problems problems;
    struct tg_documents documents;
    struct tg_world world;
    const struct tg_plan *plan; /* NULL: it waits */
    char *owner;                /* for tg_fleet_hold */
    double ends;                /* < 0: never */
};

struct node {
    const char *name;
    int64_t all, used; /* parts of cards */
};

struct playing {
    struct tg_world *world;
    const struct tg_arrivals *arrivals;
    const char *class;
    int64_t now;
    struct tg_fleet *fleet;
    struct tg_playback *out;
    bool partitions; /* the fleet has some */
    TG_VEC(struct node) nodes;
    struct tg_map *node_index; /* name -> index + 1 */
    struct tg_map *parts;      /* "node/device" -> parts of a card, where that is not all */
    TG_VEC(struct job *) waiting, running;
    size_t never; /* wait as well, but are known never to fit: nothing is kept of them */
    struct tg_error *err;
};

/* --- one gang -------------------------------------------------------------------------------- */

static void job_free(struct job *job)
{
    if (job == NULL)
        return;
    job->world.configuration = NULL; /* everybody's */
    tg_world_done(&job->world);
    tg_documents_done(&job->documents);
    tg_problems_done(&job->problems);
    tg_arena_free(job->last);
    tg_arena_free(job->arena);
    free(job->owner);
    free(job);
}

/* What a user would have applied. */
static void write_manifests(const struct playing *p, const struct tg_arrival *a, struct tg_buf *out)
{
    tg_buf_printf(out,
                  "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: "
                  "%s, namespace: " NAMESPACE "}, spec: {spec: {devices: {requests: [{name: gpus, "
                  "exactly: {deviceClassName: %s, count: %" PRId64,
                  a->name, p->class, a->gpus);
    if (a->profile != NULL)
        tg_buf_printf(out,
                      ", selectors: [{cel: {expression: 'has(device.attributes[device.driver]"
                      ".profile) && device.attributes[device.driver].profile == \"%s\"'}}]",
                      a->profile);
    else if (p->partitions)
        tg_buf_append_str(out, ", selectors: [{cel: {expression: '!has(device.attributes["
                               "device.driver].profile)'}}]");
    tg_buf_append_str(out, "}}]");
    if (a->members > 1 || a->pack_required != NULL)
        tg_buf_printf(out,
                      ", config: [{opaque: {driver: " TG_MARKER_DRIVER
                      ", parameters: {apiVersion: " TG_API_VERSION ", kind: " TG_KIND_MEMBER
                      ", gang: %s, size: %" PRId64 "%s%s%s}}}]",
                      a->name, a->members,
                      a->pack_required == NULL ? "" : ", topology: {pack: {required: ",
                      tg_or(a->pack_required, ""), a->pack_required == NULL ? "" : "}}");
    tg_buf_printf(
        out,
        "}}}}\n---\n{apiVersion: batch/v1, kind: Job, metadata: {name: %s, namespace: " NAMESPACE
        "}, spec: {parallelism: %" PRId64 ", template: {spec: {priority: %" PRId64
        ", containers: [{name: main}], resourceClaims: [{name: gpus, "
        "resourceClaimTemplateName: %s}]}}}}\n",
        a->name, a->members, a->priority, a->name);
}

static struct job *job_new(struct playing *p, size_t index)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(16384);
    const struct tg_arrival *a = &p->arrivals->items.items[index];
    const struct tg_view_list *classes = &p->world->view.lists[TG_VIEW_CLASS];
    struct job *job = tg_xcalloc(1, sizeof(*job));

    job->index = index;
    job->priority = a->priority;
    job->owner = tg_xasprintf("gang/" NAMESPACE "/%s", a->name);
    job->arena = tg_arena_new(JOB_MEMORY);
    tg_problems_init(&job->problems, job->arena);
    tg_documents_init(&job->documents, job->arena);
    tg_world_init(&job->world, job->arena, &job->problems, p->world->created);
    job->world.configuration = p->world->configuration;
    for (size_t i = 0; i < classes->n; i++)
        tg_view_add(&job->world.view, TG_VIEW_CLASS, classes->items[i]);
    write_manifests(p, a, &text);
    tg_documents_parse(&job->documents, a->name, tg_buf_str(&text), text.len, &job->problems);
    tg_world_add(&job->world, &job->documents);
    tg_world_finish(&job->world);
    if (job->problems.n == 0)
        return job;
    tg_error_set(p->err, TG_INVALID_ARGUMENT, "%s: %s", a->name, job->problems.items.items[0].text);
    job_free(job);
    return NULL;
}

/* --- what is in use -------------------------------------------------------------------------- */

static int64_t parts_of(const struct playing *p, const char *node, const char *device)
{
    TG_AUTOFREE char *key = tg_xasprintf("%s/%s", node, device);
    uintptr_t parts = (uintptr_t)tg_map_get(p->parts, key);

    return parts == 0 ? CARD : (int64_t)parts;
}

static struct node *node_named(struct playing *p, const char *name)
{
    uintptr_t index = (uintptr_t)tg_map_get(p->node_index, name);

    return index == 0 ? NULL : &p->nodes.items[index - 1];
}

static void account_claim(struct playing *p, struct node *node, const struct tg_plan_claim *claim,
                          int sign)
{
    for (size_t i = 0; i < claim->results.n; i++)
        for (size_t k = 0; k < claim->results.items[i].devices.n; k++)
            node->used += sign * parts_of(p, node->name, claim->results.items[i].devices.items[k]);
}

static void account(struct playing *p, const struct tg_plan *plan, int sign)
{
    for (size_t i = 0; i < plan->members.n; i++) {
        struct node *node = node_named(p, plan->members.items[i].node);

        for (size_t k = 0; node != NULL && k < plan->members.items[i].claims.n; k++)
            account_claim(p, node, &plan->members.items[i].claims.items[k], sign);
    }
}

/* Devices get their owner and pods their room, until the gang leaves. */
static void hold(struct playing *p, struct job *job)
{
    const struct tg_plan *plan = job->plan;
    TG_VEC(struct tg_fleet_busy) busy = {0};

    for (size_t i = 0; i < plan->members.n; i++) {
        const struct tg_plan_member *member = &plan->members.items[i];
        const struct tg_pod *pod = tg_view_pod(&job->world.view, NAMESPACE, member->pod);
        struct tg_pod bound;
        struct tg_pod_spec spec;

        for (size_t k = 0; k < member->claims.n; k++) {
            TG_VEC_RESERVE(&busy, busy.n + tg_plan_claim_results(&member->claims.items[k]));
            tg_commit_busy(plan, member, &member->claims.items[k], job->owner, job->arena,
                           busy.items, &busy.n);
        }
        if (pod == NULL)
            continue;
        bound = *pod;
        spec = *pod->spec;
        spec.node_name = member->node;
        bound.spec = &spec;
        tg_fleet_put(p->fleet, TG_FLEET_POD, &bound);
    }
    tg_fleet_hold(p->fleet, job->owner, busy.items, busy.n);
    TG_VEC_DONE(&busy);
}

static void let_go(struct playing *p, struct job *job)
{
    tg_fleet_hold(p->fleet, job->owner, NULL, 0);
    for (size_t i = 0; i < job->plan->members.n; i++)
        tg_fleet_drop(p->fleet, TG_FLEET_POD, NAMESPACE, job->plan->members.items[i].pod);
    account(p, job->plan, -1);
}

/* --- decisions ------------------------------------------------------------------------------- */

/* All units of the job are placed, or none is: a Job of single pods has as many units. */
static bool all_placed(const struct tg_simulation *simulation)
{
    return simulation->n > 0 && simulation->placed == simulation->n;
}

static const char *first_reason(const struct tg_simulation *simulation)
{
    for (size_t i = 0; i < simulation->n; i++)
        if (simulation->items[i].plan == NULL)
            return simulation->items[i].reason;
    return NULL;
}

static int try_job(struct playing *p, struct job *job, double at)
{
    struct tg_playback_job *told = &p->out->jobs.items[job->index];
    struct tg_simulation simulation = {.fleet = p->fleet, .learn = told->reason == NULL};
    size_t mark;
    int r;

    /* The first attempt makes the Gang, which stays; what others leave behind goes. */
    if (told->reason != NULL) {
        tg_arena_free(job->last);
        job->last = tg_arena_new(JOB_MEMORY);
        job->world.arena = job->last;
    }
    p->out->searches++;
    tg_fleet_settle(p->fleet);
    mark = tg_fleet_mark(p->fleet);
    r = tg_simulate_in(&job->world, p->now, &simulation, p->err);
    tg_fleet_undo(p->fleet, mark);
    if (r < 0)
        return r;
    if (!all_placed(&simulation)) {
        const char *reason = tg_or(first_reason(&simulation), "Unknown");

        if (!tg_streq(told->reason, reason))
            told->reason = tg_arena_strdup(p->world->arena, reason);
        return 0;
    }
    job->plan = simulation.items[0].plan;
    job->ends = p->arrivals->items.items[job->index].duration > 0
                    ? at + p->arrivals->items.items[job->index].duration
                    : -1;
    told->started = at;
    hold(p, job);
    account(p, job->plan, 1);
    return 0;
}

/* Priority, then who came first: the arrivals are in the order of their times. */
static int compare_waiting(const void *a, const void *b)
{
    const struct job *x = *(const struct job *const *)a, *y = *(const struct job *const *)b;

    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* What is free now: not worth a search if a job needs more. */
struct room {
    int64_t all, node; /* parts of cards: everywhere, on the node with the most */
};

static struct room room_left(const struct playing *p)
{
    struct room room = {0};

    for (size_t i = 0; i < p->nodes.n; i++) {
        int64_t left = p->nodes.items[i].all - p->nodes.items[i].used;

        room.all += left;
        room.node = left > room.node ? left : room.node;
    }
    return room;
}

static bool hopeless(const struct playing *p, const struct job *job, const struct room *room)
{
    const struct tg_arrival *a = &p->arrivals->items.items[job->index];

    return a->profile == NULL &&
           (a->gpus * CARD > room->node || a->gpus * a->members * CARD > room->all);
}

/* Those of a pass over the waiting that found no room. While it lasts, room only gets less. */
struct refused {
    TG_VEC(const struct tg_arrival *) items;
};

/* Somebody who wants no more than this one, and nothing else, has been refused. */
static bool refused_before(const struct refused *refused, const struct tg_arrival *a)
{
    for (size_t i = 0; i < refused->items.n; i++) {
        const struct tg_arrival *b = refused->items.items[i];

        if (b->gpus <= a->gpus && b->members <= a->members && tg_streq(b->profile, a->profile) &&
            tg_streq(b->pack_required, a->pack_required))
            return true;
    }
    return false;
}

static int try_waiting(struct playing *p, double at)
{
    struct room room = room_left(p);
    struct refused refused = {0};
    size_t kept = 0;
    int r = 0;

    if (p->waiting.n > 0)
        qsort(p->waiting.items, p->waiting.n, sizeof(*p->waiting.items), compare_waiting);
    for (size_t i = 0; i < p->waiting.n; i++) {
        struct job *job = p->waiting.items[i];
        const struct tg_arrival *arrival = &p->arrivals->items.items[job->index];

        if (r == 0 && !hopeless(p, job, &room) && !refused_before(&refused, arrival)) {
            r = try_job(p, job, at);
            if (job->plan == NULL)
                *TG_VEC_PUSH(&refused.items) = arrival;
        }
        if (job->plan != NULL) {
            *TG_VEC_PUSH(&p->running) = job;
            room = room_left(p);
        } else
            p->waiting.items[kept++] = job;
    }
    p->waiting.n = kept;
    TG_VEC_DONE(&refused.items);
    return r;
}

/* What would not fit into the empty fleet either does not fit later: the fleet stays as it is. */
static bool fits_never(const struct playing *p, size_t index)
{
    return tg_streq(p->out->jobs.items[index].reason, "NeverFits");
}

static int arrive(struct playing *p, size_t index)
{
    struct job *job = job_new(p, index);
    int r;

    if (job == NULL)
        return -(int)TG_INVALID_ARGUMENT;
    r = try_job(p, job, p->arrivals->items.items[index].at);
    if (job->plan != NULL)
        *TG_VEC_PUSH(&p->running) = job;
    else if (fits_never(p, index)) {
        p->never++;
        job_free(job);
    } else
        *TG_VEC_PUSH(&p->waiting) = job;
    return r;
}

/* --- time ------------------------------------------------------------------------------------ */

/* Index of the next to leave; SIZE_MAX: nobody does. */
static size_t next_to_leave(const struct playing *p)
{
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < p->running.n; i++)
        if (p->running.items[i]->ends >= 0 &&
            (best == SIZE_MAX || p->running.items[i]->ends < p->running.items[best]->ends))
            best = i;
    return best;
}

static void note_point(struct playing *p, double at)
{
    struct tg_playback_point *point = TG_VEC_PUSH(&p->out->points);
    int64_t all = 0, used = 0, holes = 0;

    for (size_t i = 0; i < p->nodes.n; i++) {
        const struct node *node = &p->nodes.items[i];

        all += node->all;
        used += node->used;
        if (node->used > 0)
            holes += node->all - node->used;
    }
    *point = (struct tg_playback_point){.at = at,
                                        .running = p->running.n,
                                        .waiting = p->waiting.n + p->never,
                                        .used = all == 0 ? 0 : (double)used / (double)all,
                                        .fragmented =
                                            all == used ? 0 : (double)holes / (double)(all - used)};
}

static int play(struct playing *p)
{
    size_t next = 0;
    int r = 0;

    note_point(p, 0);
    while (r == 0) {
        size_t leaves = next_to_leave(p);
        bool arrives = next < p->arrivals->items.n;
        double at;

        if (!arrives && leaves == SIZE_MAX)
            break;
        if (leaves != SIZE_MAX &&
            (!arrives || p->running.items[leaves]->ends <= p->arrivals->items.items[next].at)) {
            struct job *job = p->running.items[leaves];

            at = job->ends;
            let_go(p, job);
            p->running.items[leaves] = p->running.items[--p->running.n];
            job_free(job);
            r = try_waiting(p, at);
        } else {
            at = p->arrivals->items.items[next].at;
            r = arrive(p, next++);
        }
        note_point(p, at);
        p->out->end = at;
    }
    return r;
}

/* --- sums ------------------------------------------------------------------------------------ */

static int compare_waits(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void sum_waits(struct tg_playback *out)
{
    TG_VEC(double) waits = {0};
    double sum = 0;

    for (size_t i = 0; i < out->jobs.n; i++) {
        const struct tg_playback_job *job = &out->jobs.items[i];

        if (job->started < 0) {
            out->never++;
            continue;
        }
        *TG_VEC_PUSH(&waits) = job->started - job->arrival->at;
        sum += job->started - job->arrival->at;
    }
    if (waits.n > 0) {
        qsort(waits.items, waits.n, sizeof(*waits.items), compare_waits);
        out->wait_mean = sum / (double)waits.n;
        out->wait_median = waits.items[waits.n / 2];
        out->wait_p95 = waits.items[waits.n * 95 / 100];
        out->wait_max = waits.items[waits.n - 1];
    }
    TG_VEC_DONE(&waits);
}

static void sum_points(struct tg_playback *out)
{
    double first = out->points.n > 1 ? out->points.items[1].at : 0, span = out->end - first;

    for (size_t i = 1; span > 0 && i + 1 < out->points.n; i++) {
        const struct tg_playback_point *point = &out->points.items[i];
        double share = (point[1].at - point->at) / span;

        out->used += share * point->used;
        out->fragmented += share * point->fragmented;
    }
}

/* --- the fleet before ------------------------------------------------------------------------ */

static void note_partitions(struct playing *p)
{
    const struct tg_view_list *slices = &p->world->view.lists[TG_VIEW_SLICE];

    for (size_t i = 0; i < slices->n; i++) {
        const struct tg_resource_slice_spec *spec =
            ((const struct tg_resource_slice *)slices->items[i])->spec;

        for (size_t k = 0; spec != NULL && spec->node_name != NULL && k < spec->devices.n; k++) {
            const struct tg_device *device = &spec->devices.items[k];
            TG_AUTOFREE char *key = NULL;
            size_t counters;

            if (device->consumes_counters.n == 0)
                continue;
            p->partitions = true;
            counters = device->consumes_counters.items[0].counters.n;
            key = tg_xasprintf("%s/%s", spec->node_name, device->name);
            /* A counter is a memory slice, eight of them a card. */
            tg_map_set(p->parts, key, (void *)(uintptr_t)(counters * CARD / 8 + 1));
        }
    }
}

static void note_nodes(struct playing *p)
{
    const struct tg_simulation nothing = {.fleet = p->fleet};
    struct tg_picture picture;

    tg_picture_take(p->world, &nothing, &picture);
    p->out->nodes = picture.nodes.n;
    p->out->cards = picture.cards;
    for (size_t i = 0; i < picture.nodes.n; i++) {
        const struct tg_node_shown *shown = &picture.nodes.items[i];
        struct node *node = TG_VEC_PUSH(&p->nodes);

        node->name = shown->name;
        node->all = (int64_t)shown->cards.n * CARD;
        for (size_t k = 0; k < shown->cards.n; k++)
            for (size_t j = 0; j < shown->cards.items[k].pieces.n; j++)
                node->used +=
                    parts_of(p, shown->name, shown->cards.items[k].pieces.items[j].device);
        tg_map_set(p->node_index, node->name, (void *)(uintptr_t)(i + 1));
    }
    tg_picture_done(&picture);
}

static int check(const struct playing *p)
{
    struct tg_level level;

    if (tg_view_get(&p->world->view, TG_VIEW_CLASS, NULL, p->class) == NULL)
        return tg_error_set(p->err, TG_NOT_FOUND,
                            "there is no DeviceClass %s in the fleet; choose another with --class",
                            p->class);
    for (size_t i = 0; i < p->arrivals->items.n; i++) {
        const struct tg_arrival *a = &p->arrivals->items.items[i];

        if (a->pack_required != NULL &&
            tg_configuration_find_level(p->world->configuration, a->pack_required, &level, p->err) <
                0)
            return tg_error_wrap(p->err, "%s: pack_required", a->name);
    }
    return 0;
}

int tg_playback_run(struct tg_world *world, const struct tg_arrivals *arrivals, const char *class,
                    int64_t now, struct tg_playback *ret, struct tg_error *err)
{
    TG_AUTOMAP struct tg_map *node_index = tg_map_new(NULL);
    TG_AUTOMAP struct tg_map *parts = tg_map_new(NULL);
    struct playing p = {.world = world,
                        .arrivals = arrivals,
                        .class = class,
                        .now = now,
                        .out = ret,
                        .node_index = node_index,
                        .parts = parts,
                        .err = err};
    int r;

    *ret = (struct tg_playback){0};
    for (size_t i = 0; i < arrivals->items.n; i++)
        *TG_VEC_PUSH(&ret->jobs) =
            (struct tg_playback_job){.arrival = &arrivals->items.items[i], .started = -1};
    r = check(&p);
    if (r == 0)
        r = tg_simulation_fleet(world, &p.fleet, err);
    if (r == 0) {
        note_partitions(&p);
        note_nodes(&p);
        r = play(&p);
    }
    for (size_t i = 0; i < p.waiting.n; i++)
        job_free(p.waiting.items[i]);
    for (size_t i = 0; i < p.running.n; i++)
        job_free(p.running.items[i]);
    TG_VEC_DONE(&p.waiting);
    TG_VEC_DONE(&p.running);
    TG_VEC_DONE(&p.nodes);
    sum_waits(ret);
    sum_points(ret);
    return r;
}

void tg_playback_done(struct tg_playback *playback)
{
    TG_VEC_DONE(&playback->points);
    TG_VEC_DONE(&playback->jobs);
}
