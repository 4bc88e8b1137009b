/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes say the same of a label: regions, kept with the fleet from one decision to the next
 * and brought up to date by what has changed (model/news.h), so that no decision reads the labels
 * of all nodes.
 */
#ifndef TG_CORE_GANG_REGIONS_H
#define TG_CORE_GANG_REGIONS_H

#include "controller/core/model/view.h"

#define TG_NO_REGION UINT32_MAX

struct tg_regions;

/* Those of the label, up to date; they stand until something changes. Of the labels asked for last
 * a few dozen are kept, more than one decision asks for. */
struct tg_regions *tg_regions_get(const struct tg_fleet *fleet, const char *label);
/* Of no other regions, not even those of the same label that were forgotten and found anew. */
uint64_t tg_regions_serial(const struct tg_regions *regions);
/* Numbers are below that. A region keeps its number while it has nodes; then it may be another's.
 * Which has which depends on the order of events: what must not goes by name. */
uint32_t tg_regions_count(const struct tg_regions *regions);
/* TG_NO_REGION: the node does not have the label, or the row is no node. */
uint32_t tg_regions_of(const struct tg_regions *regions, size_t row);
/* The label's value; NULL: the number is nobody's. */
const char *tg_regions_name(const struct tg_regions *regions, uint32_t region);
/* How many nodes it has, and their rows in order of names; the arena is for scratch. */
size_t tg_regions_size(const struct tg_regions *regions, uint32_t region);
int tg_regions_nodes(const struct tg_regions *regions, uint32_t region, struct tg_arena *arena,
                     size_t *ret, struct tg_error *err);

#endif
