/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do the counters of a device leave room for it, nothing else being given away? What the view of a
 * node (model/node_view.h) says of that is kept in a byte a device until the node is news
 * (model/news.h), so that a decision makes no view of a node on which nothing has happened. Known
 * of pools of one node only: what others leave of the rest is no news here.
 */
#ifndef TG_CORE_GANG_LEEWAY_H
#define TG_CORE_GANG_LEEWAY_H

#include "controller/core/gang/match.h"
#include "controller/core/model/node_view.h"

enum tg_leeway { TG_LEEWAY_UNKNOWN, TG_LEEWAY_ENOUGH, TG_LEEWAY_SHORT };

/* Is it known of the devices of the node? */
bool tg_leeway_is_known(const struct tg_fleet *fleet, size_t node);
/* What is known of the device of that row. */
enum tg_leeway tg_leeway_of(const struct tg_fleet *fleet, size_t device);
/* Makes it known of the devices of the node. */
int tg_leeway_look(const struct tg_fleet *fleet, size_t node, struct tg_error *err);
/* The same by a view of the node as it is now, made by the rules of objects. */
void tg_leeway_learn(const struct tg_fleet *fleet, size_t node, const struct tg_view *view);
/* Of one device of a view. */
bool tg_leeway_suffices(const struct tg_view *view, const struct tg_view_device *device);
/* Devices of the node that nobody holds and that one of the needs accepts, but that are known to be
 * short: no search gives them to anybody, but by admin access. */
size_t tg_leeway_count_short(const struct tg_fleet *fleet, const struct tg_ask_book *book,
                             const struct tg_need *needs, size_t n_needs, size_t node);

#endif
