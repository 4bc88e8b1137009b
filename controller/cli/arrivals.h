/* SPDX-License-Identifier: Apache-2.0 */
/* A CSV file of gangs that come and go (design 11). */
#ifndef TG_CONTROLLER_CLI_ARRIVALS_H
#define TG_CONTROLLER_CLI_ARRIVALS_H

#include <stdint.h>

#include "controller/cli/problems.h"

#define TG_ARRIVALS_MAX 100000          /* rows */
#define TG_ARRIVALS_MEMBERS_MAX 2000000 /* of all rows: each is a pod, some 40 us */

struct tg_arrival {
    double at;        /* seconds */
    double duration;  /* seconds; 0: it stays */
    const char *name; /* unique */
    int64_t members, gpus, priority;
    const char *profile;       /* of MIG; NULL: whole cards */
    const char *pack_required; /* level; NULL: none */
};

struct tg_arrivals {
    TG_VEC(struct tg_arrival) items; /* in the order of their times, then of the file */
};

/* The header names the columns, in any order: at_s, name, members, gpus_per_member, profile,
 * duration_s, priority, pack_required; at_s, name and gpus_per_member must be there. Lines that
 * begin with # are comments. What is wrong is added to problems with line and column. */
void tg_arrivals_parse(struct tg_arrivals *arrivals, const char *file, const char *data, size_t n,
                       struct tg_problems *problems);
void tg_arrivals_read(struct tg_arrivals *arrivals, const char *file, struct tg_problems *problems);
void tg_arrivals_done(struct tg_arrivals *arrivals);

#endif
