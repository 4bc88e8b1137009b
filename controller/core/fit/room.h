/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what is left on a node: they depend on what else is placed there. One line of the
 * table a rule. */
#ifndef TG_CORE_FIT_ROOM_H
#define TG_CORE_FIT_ROOM_H

#include "controller/core/model/view.h"

struct tg_room_rule {
    const char *reason;   /* stable code, documented in controller/core/README.md */
    const char *resource; /* NULL: every resource that no other line names */
};

extern const struct tg_room_rule tg_room_rules[];
extern const size_t tg_room_rules_count;

/* The rule that watches over a resource. */
const struct tg_room_rule *tg_room_rule_of(const char *resource);
/* How many times the amount that is wanted goes into what is left, at most max. */
static inline size_t tg_room_share(int64_t left, int64_t want, size_t max)
{
    /* As a rule there is enough: a product costs less than a quotient. */
    if (want == 0 || max == 0 || (left > 0 && (__int128)want * (__int128)max <= left))
        return max;
    return left <= 0 ? 0 : (size_t)(left / want);
}
/* How many copies of the demand fit into what the node has left beside `taken` (0 to max). A
 * resource of which the demand wants nothing is no obstacle, even if it is overcommitted.
 * *ret_short (may be NULL): the resource that lets no more in. */
size_t tg_room_copies(const struct tg_fleet_node *node, const struct tg_demand *const *taken,
                      size_t n_taken, const struct tg_demand *demand, size_t max,
                      const char **ret_short);

#endif
