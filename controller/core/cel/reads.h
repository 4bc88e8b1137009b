/* SPDX-License-Identifier: Apache-2.0 */
/* Which parts of a device a tree reads. */
#ifndef TG_CORE_CEL_READS_H
#define TG_CORE_CEL_READS_H

#include "controller/core/cel/node.h"
#include "controller/core/cel/program.h"

/* Of a checked tree, before constants are folded. false: the arena is exhausted. */
bool tg_cel_find_reads(struct tg_arena *arena, struct tg_cel_node *root, struct tg_cel_reads *ret);

#endif
