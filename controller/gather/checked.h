/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which claims were found to be servable, so that their selectors are not compiled again by every
 * pass: a claim's spec never changes, and classes seldom do. What is remembered are claims of the
 * last pass alone.
 */
#ifndef TG_CONTROLLER_GATHER_CHECKED_H
#define TG_CONTROLLER_GATHER_CHECKED_H

#include "controller/gather/view.h"

struct tg_checked;

struct tg_checked *tg_checked_new(void);
void tg_checked_free(struct tg_checked *checked); /* NULL is allowed */
/* A new look at the cluster begins: if its classes, or what selectors are compiled for, are not
 * those of the last one, nothing is known any more. Claims that the last look did not ask about are
 * forgotten. */
void tg_checked_begin(struct tg_checked *checked, const struct tg_view *view);
/* It was noted since the classes are what they are. */
bool tg_checked_knows(struct tg_checked *checked, const struct tg_resource_claim *claim);
void tg_checked_note(struct tg_checked *checked, const struct tg_resource_claim *claim);

#endif
