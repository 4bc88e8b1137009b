/* SPDX-License-Identifier: Apache-2.0 */
/*
 * churn: a loss system. Pods of the trace arrive at random, live for a random time of mean 1, and
 * are lost when they fit nowhere. Statistics are kept from WARM_UP to HORIZON lives.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "tests/bench/packing_scenarios.h"

static const double warm_up = 3, horizon = 8;

struct departure {
    double time;
    struct tg_pack_choice choice;
    unsigned type;
};

/* Departures, the next one first. */
struct agenda {
    struct departure *items;
    size_t n, size;
};

static void agenda_add(struct agenda *agenda, struct departure departure)
{
    size_t at = agenda->n++;

    if (agenda->n > agenda->size) {
        agenda->size = agenda->size == 0 ? 1024 : 2 * agenda->size;
        agenda->items = tg_xreallocarray(agenda->items, agenda->size, sizeof(departure));
    }
    for (; at > 0 && agenda->items[(at - 1) / 2].time > departure.time; at = (at - 1) / 2)
        agenda->items[at] = agenda->items[(at - 1) / 2];
    agenda->items[at] = departure;
}

static struct departure agenda_take(struct agenda *agenda)
{
    struct departure first = agenda->items[0], last = agenda->items[--agenda->n];
    size_t at = 0;

    for (size_t child = 1; child < agenda->n; child = 2 * at + 1) {
        if (child + 1 < agenda->n && agenda->items[child + 1].time < agenda->items[child].time)
            child++;
        if (agenda->items[child].time >= last.time)
            break;
        agenda->items[at] = agenda->items[child];
        at = child;
    }
    if (agenda->n > 0)
        agenda->items[at] = last;
    return first;
}

struct run {
    struct tg_packer *packer;
    struct agenda agenda;
    struct openb_random random;
    int64_t used;
    double counted_to, used_time; /* milli-cards times time, since the warm-up */
    double asked, accepted;       /* milli-cards, since the warm-up */
};

static double uniform(struct run *run)
{
    return (openb_next(&run->random) + 0.5) / 4294967296.0;
}

static void advance(struct run *run, double to)
{
    to = to < horizon ? to : horizon;
    if (to <= run->counted_to)
        return;
    run->used_time += (double)run->used * (to - run->counted_to);
    run->counted_to = to;
}

static void depart_until(struct run *run, const struct tg_mix *types, double time)
{
    while (run->agenda.n > 0 && run->agenda.items[0].time <= time) {
        struct departure departure = agenda_take(&run->agenda);

        advance(run, departure.time);
        tg_packer_take(run->packer, departure.type, &departure.choice);
        run->used -= tg_pack_request_size(&types->types[departure.type].request);
    }
    advance(run, time);
}

static void arrive(struct run *run, const struct tg_pack_request *pod, double time, double life)
{
    int64_t size = tg_pack_request_size(pod);
    unsigned type = tg_packer_type(run->packer, pod);
    struct tg_pack_choice choice;
    bool placed;

    tg_packer_arrive(run->packer, type);
    placed = tg_packer_choose(run->packer, type, &choice);
    if (placed) {
        tg_packer_put(run->packer, type, &choice);
        run->used += size;
        agenda_add(&run->agenda,
                   (struct departure){.time = time + life, .choice = choice, .type = type});
    }
    if (time >= warm_up) {
        run->asked += (double)size;
        run->accepted += placed ? (double)size : 0;
    }
}

static void play(const struct openb *trace, const struct settings *settings,
                 const struct tg_mix *mix, unsigned seed)
{
    struct run run = {.packer = new_packer(trace, settings, mix), .counted_to = warm_up};
    double rate = settings->load * (double)trace->capacity * (double)trace->n_pods /
                  (double)tg_mix_demand(mix);
    double capacity = (double)trace->capacity;

    openb_seed(&run.random, seed);
    for (double now = 0;;) {
        double next = now - log(uniform(&run)) / rate;
        double life = -log(uniform(&run));
        unsigned pod = openb_below(&run.random, trace->n_pods);

        depart_until(&run, &run.packer->mix, next < horizon ? next : horizon);
        if (next >= horizon)
            break;
        now = next;
        arrive(&run, &trace->pods[pod], now, life);
    }
    printf("\"seed\":%u,\"alloc\":%.2f,\"accepted\":%.2f}\n", seed,
           100 * run.used_time / (horizon - warm_up) / capacity, 100 * run.accepted / run.asked);
    (void)fflush(stdout);
    free(run.agenda.items);
    tg_packer_free(run.packer);
}

int scenario_churn(const struct settings *settings)
{
    static struct tg_mix mix;
    struct openb trace;

    if (openb_read(&trace, settings->nodes, settings->pods) != 0)
        return 2;
    read_mix(&trace, &mix);
    for (unsigned seed = settings->first_seed; seed <= settings->last_seed; seed++) {
        printf(
            "{\"bench\":\"churn\",\"pods\":\"%s\",\"policy\":\"%s\",\"learned\":%s,\"load\":%.2f,",
            trace.name, settings->policy, settings->learned ? "true" : "false", settings->load);
        play(&trace, settings, &mix, seed);
    }
    openb_done(&trace);
    return 0;
}
