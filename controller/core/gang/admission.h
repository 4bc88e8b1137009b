/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which node rule (fit/rule.h) a node fails for a piece. What rules ask of a plain node is in its
 * labels: while every node is looked at, nodes that say the same in them are asked once.
 */
#ifndef TG_CORE_GANG_ADMISSION_H
#define TG_CORE_GANG_ADMISSION_H

#include "controller/core/gang/place.h"
#include "controller/core/model/view.h"

struct tg_admission {
    const struct tg_fleet *fleet;
    const struct tg_piece *piece;
    bool cares;            /* about nodes, by a rule */
    bool named;            /* about their names, too */
    unsigned char *labels; /* what is remembered, by the number of the labels, or NULL */
};

/* The piece is the caller's and stays. */
void tg_admission_init(struct tg_admission *admission, const struct tg_fleet *fleet,
                       const struct tg_piece *piece);
/* From here on until it forgets, no node changes: answers are remembered. */
void tg_admission_remember(struct tg_admission *admission);
void tg_admission_forget(struct tg_admission *admission);
/* The index of the failed rule, tg_fit_rules_count: none. A row that is no node has failed a rule
 * that does not exist. */
unsigned char tg_admission_failed(const struct tg_admission *admission,
                                  const struct tg_fleet_node *row);

#endif
