/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes a gang may use together: the levels of topology.pack around the search. */
#ifndef TG_CORE_GANG_PACK_H
#define TG_CORE_GANG_PACK_H

#include "controller/core/gang/domain.h"
#include "controller/core/gang/search.h"

struct tg_pack {
    struct tg_scope everything; /* after tg_pack_open */
    struct tg_domains
        required; /* of the required level; one that holds everything if there is none */
};

int tg_pack_init(struct tg_pack *pack, struct tg_board *board, struct tg_error *err);
/* For whoever looks at all rows of the fleet and the nodes of all domains: these are listed and
 * read, and rows that are no node have failed a rule that is none. */
int tg_pack_open(struct tg_pack *pack, struct tg_board *board, struct tg_error *err);
/* *ret: the board holds the placement. */
int tg_pack_search(const struct tg_pack *pack, struct tg_board *board, bool *ret,
                   struct tg_error *err);
/* The same with all rules of the request (rule.h); if there is none, with the required ones alone,
 * which stay on. */
int tg_pack_place(const struct tg_pack *pack, struct tg_board *board, bool *ret,
                  struct tg_error *err);
/* Would all members have a place if they needed not be in one domain of the required level? */
int tg_pack_anywhere(struct tg_board *board, bool *ret, struct tg_error *err);

#endif
