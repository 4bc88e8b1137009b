/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the controller would decide for a cluster on paper: its own gathering, commit machine and
 * search, without writes. Units are decided in the controller's order, and what one gets is taken
 * for those after it.
 */
#ifndef TG_CONTROLLER_CLI_SIMULATION_H
#define TG_CONTROLLER_CLI_SIMULATION_H

#include "controller/cli/world.h"
#include "controller/commit/commit.h"

/* What becomes of a unit. */
struct tg_outcome {
    const struct tg_unit *unit;
    const struct tg_plan *plan; /* decided here; NULL: none */
    bool asked;                 /* it is of the workload, not of the cluster */
    bool standing;              /* it has what it needs already, or its plan is being carried out */
    const char *phase;          /* TG_PHASE_* */
    const char *reason, *text;  /* why it waits; NULL if it does not */
    size_t members_short, devices_per_member; /* when there is no room; 0: not known */
    /* In whole, if it was asked for and there is no room: lines of text, and a JSON object. */
    const char *page, *details;
};

struct tg_simulation {
    struct tg_outcome *items; /* in the order of decision */
    size_t n;
    /* How many of them. If there is a workload, only its units count as placed or waiting. */
    size_t placed, standing, waiting, others_waiting;
    bool explain;           /* asked for: what is missing, and what would help */
    bool learn;             /* the units come now: packing policies learn of them */
    struct tg_fleet *fleet; /* with everything that was given away */
};

/* Decides and explains the units of the world; Gangs that the controller would make are added to
 * it. now: wall, ns. Memory is the world's. Errors: only its exhaustion. */
int tg_simulate(struct tg_world *world, int64_t now, struct tg_simulation *ret,
                struct tg_error *err);

/* The same in a fleet that stands already: ret->fleet, explain and learn are given, what is given
 * away is assumed in it (tg_fleet_undo takes it back), and what the world says of devices is not
 * looked at. */
int tg_simulate_in(struct tg_world *world, int64_t now, struct tg_simulation *ret,
                   struct tg_error *err);

/* The fleet of a world alone. */
int tg_simulation_fleet(struct tg_world *world, struct tg_fleet **ret, struct tg_error *err);

/* "gang default/llama" */
const char *tg_outcome_name(const struct tg_outcome *outcome, struct tg_arena *arena);

#endif
