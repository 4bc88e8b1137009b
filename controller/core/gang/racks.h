/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which domain each node is in, as far as packing policies care (tg_pack_rating.domain): of the
 * topology levels by node label the narrowest that has two domains at least and no more than
 * TG_RACKS_MAX, since nodes of different domains are never alike. A function of the labels that
 * nodes have now, whatever they had before.
 */
#ifndef TG_CORE_GANG_RACKS_H
#define TG_CORE_GANG_RACKS_H

#include "controller/core/model/view.h"

#define TG_RACKS_MAX 64
#define TG_RACKS_LEVELS 8

struct tg_level;
struct tg_racks;

struct tg_racks *tg_racks_new(const struct tg_fleet *fleet); /* heap */
void tg_racks_free(struct tg_racks *racks);
/* The levels, outermost first; host and those of devices are left out, and of what remains all but
 * the innermost TG_RACKS_LEVELS. Every node is to be looked at again. */
void tg_racks_set_levels(struct tg_racks *racks, const struct tg_level *levels, size_t n);
/* Reads the labels of the node of that row, or that it is none any more. */
void tg_racks_look(struct tg_racks *racks, size_t row);
/* Nodes have been looked at. true: another level counts now, or domains have other numbers. */
bool tg_racks_settle(struct tg_racks *racks);
/* The number of the node's domain; 0: it has none. */
uint32_t tg_racks_of(const struct tg_racks *racks, size_t row);

#endif
