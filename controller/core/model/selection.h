/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selectors that are in use, each compiled once, and what they say of devices: once for each shape
 * (content.c), where what is read tells devices of a shape apart once for each content, and of all
 * of these once for each tuple of what the selector reads, so that a thousand cards that differ in
 * nothing but their UUID are one evaluation. Private to controller/core.
 */
#ifndef TG_CORE_MODEL_SELECTION_H
#define TG_CORE_MODEL_SELECTION_H

#include "controller/core/model/view.h"

struct tg_selection;

/* The selector of that text. It stays until the next tg_selections_tick, longer while it is held.
 * Errors: as tg_selector_compile_with. */
int tg_selection_get(const struct tg_fleet *fleet, const char *expression,
                     struct tg_selection **ret, struct tg_error *err);
void tg_selection_hold(struct tg_selection *selection);
void tg_selection_release(struct tg_selection *selection);
const char *tg_selection_expression(const struct tg_selection *selection);
/* Does it match the device of that row? TG_FAILED_PRECONDITION: it fails on it. */
int tg_selection_matches(struct tg_selection *selection, const struct tg_fleet *fleet,
                         size_t device, bool *ret, struct tg_error *err);
/* The same of all devices that have the shape of that one; *ret_known is false where they are to be
 * asked one by one. */
int tg_selection_of_shape(struct tg_selection *selection, const struct tg_fleet *fleet,
                          size_t device, bool *ret_known, bool *ret, struct tg_error *err);
/* How often it was evaluated, for tests. */
size_t tg_selection_evaluations(const struct tg_selection *selection);
/* A decision begins: of selectors that nobody holds only those used last are kept. */
void tg_selections_tick(const struct tg_fleet *fleet);

#endif
