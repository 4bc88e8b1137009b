/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges every allocation by itself (audit/grants), so many at a time that the loop is never kept
 * for long: between two of these turns events and writes have theirs.
 */
#ifndef TG_CONTROLLER_INSPECTOR_H
#define TG_CONTROLLER_INSPECTOR_H

#include "controller/audit/audit.h"

struct tg_controller;
struct tg_inspector;

/* done is called on the loop at the end of each round. */
struct tg_inspector *tg_inspector_new(struct tg_controller *controller, void (*done)(void *data),
                                      void *data);
void tg_inspector_free(struct tg_inspector *inspector); /* NULL is allowed */
/* Begins a round over all claims, unless one is under way. Claims that come meanwhile may be left
 * to the next one. */
void tg_inspector_start(struct tg_inspector *inspector);
/* Appends what the last complete round found to the findings; objects and texts are the
 * inspector's, until the end of the next round. */
void tg_inspector_add(const struct tg_inspector *inspector, struct tg_findings *findings);
/* Claims that the last complete round looked at, and the nanoseconds of the longest turn. */
size_t tg_inspector_seen(const struct tg_inspector *inspector);
int64_t tg_inspector_longest(const struct tg_inspector *inspector);

#endif
