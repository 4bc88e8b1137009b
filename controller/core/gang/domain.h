/* SPDX-License-Identifier: Apache-2.0 */
/* The domains of a topology level among the nodes of a scope. Nodes without the label are in none.
 */
#ifndef TG_CORE_GANG_DOMAIN_H
#define TG_CORE_GANG_DOMAIN_H

#include "controller/core/gang/board.h"

struct tg_domain {
    const char *name; /* the label's value; the node's name at level host */
    struct tg_scope scope;
    size_t places; /* members that have room, each group for itself */
    size_t room;   /* members that could go there, of all groups */
    size_t free;   /* free devices that members could use */
    bool emptiest; /* the policy wants the emptiest one first */
};

struct tg_domains {
    struct tg_domain *items; /* the tightest first: fewest places, then fewest free devices,
                                 then the name; for a policy that spreads the emptiest first */
    size_t n;
};

/* The domain of the node, NULL: in none. Of a level by device attribute it is what all devices say
 * that a member could use now; nodes whose devices differ are in none. Errors: of selectors, the
 * arena. */
int tg_domain_value(const struct tg_board *board, const struct tg_level *level, size_t node,
                    const char **ret, struct tg_error *err);
int tg_domains_find(const struct tg_board *board, const struct tg_level *level,
                    const struct tg_scope *scope, struct tg_domains *ret, struct tg_error *err);

#endif
