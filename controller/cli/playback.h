/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrivals and departures on a fleet: at each arrival the newcomer is decided, at each departure
 * everybody who waits, in the controller's order, but those who want at least what somebody was
 * just refused. What does not fit waits; nobody is preempted.
 */
#ifndef TG_CONTROLLER_CLI_PLAYBACK_H
#define TG_CONTROLLER_CLI_PLAYBACK_H

#include "controller/cli/arrivals.h"
#include "controller/cli/world.h"

/* After each event. Shares are of 1. */
struct tg_playback_point {
    double at;
    size_t running, waiting; /* gangs */
    double used;             /* of all cards; a partition counts as its part of the card */
    double fragmented;       /* of what is free: on nodes of which something is in use */
};

struct tg_playback_job {
    const struct tg_arrival *arrival;
    double started;     /* < 0: never */
    const char *reason; /* why it waited last, or NULL */
};

struct tg_playback {
    TG_VEC(struct tg_playback_point) points;
    TG_VEC(struct tg_playback_job) jobs;               /* as the arrivals */
    double end;                                        /* of the last event */
    double used, fragmented;                           /* means over time */
    double wait_mean, wait_median, wait_p95, wait_max; /* seconds, of those that started */
    size_t never;                                      /* started */
    size_t searches;                                   /* for a place, of all together */
    size_t nodes, cards;
};

/* class: the DeviceClass that they ask for. Errors: memory; a level or class that is not there. */
int tg_playback_run(struct tg_world *world, const struct tg_arrivals *arrivals, const char *class,
                    int64_t now, struct tg_playback *ret, struct tg_error *err);
void tg_playback_done(struct tg_playback *playback);

/* playback_report.c: so many rows at equal times, and sums; or one JSON document, kind Playback. */
void tg_playback_text(const struct tg_playback *playback, FILE *out);
int tg_playback_json(const struct tg_playback *playback, FILE *out, struct tg_error *err);
/* plot_svg.c: use, waiting and fragmentation over time. */
int tg_playback_svg(const struct tg_playback *playback, struct tg_buf *out, struct tg_error *err);

#endif
