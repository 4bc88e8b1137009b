/* SPDX-License-Identifier: Apache-2.0 */
/* The domains of a topology level among the nodes of a scope. Nodes without the label are in none.
 */
#ifndef TG_CORE_GANG_DOMAIN_H
#define TG_CORE_GANG_DOMAIN_H

#include "controller/core/gang/board.h"
#include "controller/core/gang/regions.h"

struct tg_domain {
    const char *name;      /* the label's value; the node's name at level host */
    struct tg_scope scope; /* nodes NULL: how many there are, but not which (tg_domain_open) */
    const size_t *rooms;   /* of each group, the members that could go there */
    size_t places;         /* members that have room, each group for itself */
    size_t room;           /* members that could go there, of all groups */
    size_t free;           /* free devices that members could use; of several groups, where one of
                              them has too little room, at least */
    bool emptiest;         /* the policy wants the emptiest one first */
    const struct tg_regions *regions; /* whose nodes they are, while they are not listed */
    uint32_t region;
};

struct tg_domains {
    struct tg_domain *items; /* the tightest first: fewest places, then fewest free devices,
                                 then the name; for a policy that spreads the emptiest first */
    size_t n;
};

/* Which domain each node of a scope is in. */
struct tg_numbering {
    uint32_t *of; /* one a node of the scope, in its order; TG_NO_DOMAIN: in none */
    const char **names;
    size_t n; /* domains */
};
#define TG_NO_DOMAIN UINT32_MAX

/* The domain of the node, NULL: in none. Of a level by device attribute it is what all devices say
 * that a member could use now; nodes whose devices differ are in none. Errors: of selectors, the
 * arena. */
int tg_domain_value(const struct tg_board *board, const struct tg_level *level, size_t node,
                    const char **ret, struct tg_error *err);
/* Numbers in no order that means anything. Errors as above. */
int tg_domains_number(const struct tg_board *board, const struct tg_level *level,
                      const struct tg_scope *scope, struct tg_numbering *ret, struct tg_error *err);
/* scope NULL: the whole fleet. Domains of a label are then told by sums that are kept (tally.h) and
 * their nodes neither listed nor read, unless sums do not tell everything. */
int tg_domains_find(struct tg_board *board, const struct tg_level *level,
                    const struct tg_scope *scope, struct tg_domains *ret, struct tg_error *err);
/* Its nodes are listed, in order of names, and read (tg_board_read). */
int tg_domain_open(struct tg_board *board, struct tg_domain *domain, struct tg_error *err);
/* All of them. */
int tg_domains_open(struct tg_board *board, struct tg_domains *domains, struct tg_error *err);
/* All nodes together, told by sums as well: a domain without a name. */
int tg_domain_whole(struct tg_board *board, struct tg_domain *ret, struct tg_error *err);
/* Is there room for each group for itself? What has none holds nothing. */
static inline bool tg_domain_may_hold(const struct tg_board *board, const struct tg_domain *domain)
{
    return domain->places == board->n_members;
}

#endif
