/* SPDX-License-Identifier: Apache-2.0 */
/* The cards of a fleet and who has them: nodes hold cards, cards hold pieces. */
#ifndef TG_CONTROLLER_CLI_PICTURE_H
#define TG_CONTROLLER_CLI_PICTURE_H

#include "controller/cli/simulation.h"

/* A partition that somebody has, or the whole card. */
struct tg_piece_shown {
    const char *device;
    const char *profile; /* of a partition; NULL: the whole card */
    int64_t start, size; /* memory slices */
    const char *holder;  /* "gang ns/name", "claim ns/name" ... */
    bool given;          /* by this simulation */
};

struct tg_card_shown {
    const char *name;
    size_t slices; /* memory slices; 0: the card is not partitioned */
    TG_VEC(struct tg_piece_shown) pieces;
};

struct tg_node_shown {
    const char *name;
    const char *domain; /* of the outermost level, or NULL */
    TG_VEC(struct tg_card_shown) cards;
};

struct tg_picture {
    struct tg_arena *arena;
    TG_VEC(struct tg_node_shown) nodes; /* in natural order: h-2 before h-10 */
    size_t cards, taken, given;         /* cards, and those of which something is taken, or given
                                           here; a card can be both */
    size_t slices, slices_taken;        /* memory slices of partitioned cards */
};

/* Of the world after a simulation. Strings are those of the world. */
void tg_picture_take(const struct tg_world *world, const struct tg_simulation *simulation,
                     struct tg_picture *ret);
void tg_picture_done(struct tg_picture *picture);

#endif
