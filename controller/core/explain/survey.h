/* SPDX-License-Identifier: Apache-2.0 */
/* What stands where for one group of member, with the members that do have a place on the board:
 * the numbers of an explanation. */
#ifndef TG_CORE_EXPLAIN_SURVEY_H
#define TG_CORE_EXPLAIN_SURVEY_H

#include "controller/core/gang/board.h"

#define TG_SURVEY_HOLDERS 3

struct tg_holders { /* the first ones, in order of devices */
    const char *names[TG_SURVEY_HOLDERS];
    size_t n;
    bool more;
};

struct tg_survey {
    size_t nodes;     /* of the scope */
    size_t nodes_fit; /* that pass all rules */
    size_t *failed;   /* how many fail which rule, the fixed node's included (tg_fit_rules_count + 1
                         entries) */
    /* Devices that some request of the group selects, on nodes that fit: */
    size_t matching;             /* all of them; those below are part of it */
    size_t held, tainted, taken; /* taken: by the members that have a place */
    size_t free;
    size_t nodes_free;  /* nodes with at least one free one */
    size_t unsupported; /* wherever they are */
    const char *unsupported_why;
    size_t contested; /* on nodes that fit: others can have them (model/contest.h) */
    const char *contested_by;
    size_t best_node; /* with the most free ones, the first by name; TG_NO_INDEX: none */
    size_t best_free;
    struct tg_holders holders;      /* everywhere */
    struct tg_holders best_holders; /* on the best node */
    /* Nodes where the devices suffice and the room does not: */
    size_t nodes_short;
    size_t short_node; /* the first of them */
    const char *short_resource;
    int64_t short_left, short_need;
    size_t need_without; /* index of a need that no device matches at all, held ones included;
                            TG_NO_INDEX: none */
};

/* taken_by_us: one a device: does a member on the board have it? */
int tg_survey_take(struct tg_board *board, size_t group, const struct tg_scope *scope,
                   const bool *taken_by_us, struct tg_survey *ret, struct tg_error *err);

#endif
