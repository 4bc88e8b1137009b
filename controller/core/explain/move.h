/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which claims to move elsewhere so that the request fits: found by the plans of controller/core/
 * defrag where cards are alike, one by one and two by two among the holders that are told
 * otherwise, and then tried: the claims and their pods are taken off the fleet, the request is
 * placed, and they are placed anew beside it. Private to explain.
 */
#ifndef TG_CORE_EXPLAIN_MOVE_H
#define TG_CORE_EXPLAIN_MOVE_H

#include "controller/core/explain/parts.h"
#include "controller/core/explain/trial.h"

/* *ret_found: *ret has the moves. *ret_complete: every single claim that could matter was tried,
 * and every two of them. The fleet is as it was. */
int tg_explain_move(struct tg_explaining *e, struct tg_trial *trial, bool *ret_found,
                    struct tg_explained_help *ret, bool *ret_complete, struct tg_error *err);

#endif
