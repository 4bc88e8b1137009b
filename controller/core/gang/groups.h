/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes in groups that have numbers; of each group the first node by name is known. */
#ifndef TG_CORE_GANG_GROUPS_H
#define TG_CORE_GANG_GROUPS_H

#include "controller/core/gang/rank.h"
#include "controller/core/model/view.h"

#define TG_NO_GROUP UINT32_MAX

struct tg_group {
    uint32_t *heap; /* rows, the first by name on top; may hold some that have left */
    uint32_t n_heap, room;
    uint32_t members;
    uint32_t live; /* place in the list of those with members */
    /* Is the heap one? Sorted it is, too; loose it is in no order that is known. */
    enum { TG_GROUP_SORTED, TG_GROUP_LOOSE, TG_GROUP_HEAP } state;
};

struct tg_groups {
    const struct tg_fleet *fleet; /* whose nodes they are */
    struct tg_group *items;
    uint32_t n;
    size_t n_rows, rows_size;
    uint32_t *of_row;
    uint32_t *live, n_live; /* groups with members, in no order that means anything */
};

/* No row is in any group. */
void tg_groups_init(struct tg_groups *groups, const struct tg_fleet *fleet);
/* The fleet has more rows: they are in none. */
void tg_groups_grow(struct tg_groups *groups);
void tg_groups_done(struct tg_groups *groups); /* of zeroed ones, too */
/* The row is in that group now; TG_NO_GROUP: in none. */
void tg_groups_move(struct tg_groups *groups, size_t row, uint32_t group);
/* Of a group with members. */
size_t tg_groups_first(struct tg_groups *groups, uint32_t group);
/* Groups are classes of the rank. Rows among which are the n that are best by it for a request of
 * the type, of equally good ones the first by name: in whatever order, few more than n, or all that
 * are in a group. *ret is the arena's. */
int tg_groups_list_best(struct tg_groups *groups, struct tg_rank *rank, unsigned type, size_t n,
                        struct tg_arena *arena, size_t **ret, size_t *ret_n, struct tg_error *err);

#endif
