/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of names in the order in which they came, in few bytes: the texts one behind the other,
 * and two numbers a name. At the start there is one for each pod of the cluster with a claim.
 */
#ifndef TG_CONTROLLER_GATHER_NAMES_H
#define TG_CONTROLLER_GATHER_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/vec.h"

struct tg_names { /* {0}: empty */
    TG_VEC(char) texts;
    TG_VEC(uint32_t) places; /* of the texts + 1, in the order of coming; 0: gone */
    uint32_t *slots;         /* numbers of places + 1 by hash, 0: none; a power of two of them */
    size_t n_slots;
    size_t n; /* how many there are */
};

void tg_names_done(struct tg_names *names); /* empty afterwards */
/* One that is there keeps its place. */
void tg_names_add(struct tg_names *names, const char *name);
/* Takes no memory and gives none back; nothing, if it is not there. */
void tg_names_remove(struct tg_names *names, const char *name);
/* One after the other: *at is 0 at first; NULL at the end. Valid until the next add or tidy; names
 * may be removed meanwhile. */
const char *tg_names_next(const struct tg_names *names, size_t *at);
/* Gives back what those that have gone took, if it is much. */
void tg_names_tidy(struct tg_names *names);

#endif
