/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of a fleet in classes of alike ones: same cpu, memory and cards left, whatever their
 * order on the node. A policy looks at classes, not at nodes. Of each class the node of the lowest
 * number is known; numbers are in the order of the nodes' names.
 */
#ifndef TG_CORE_PACK_CLASSES_H
#define TG_CORE_PACK_CLASSES_H

#include <stddef.h>

#include "controller/core/pack/node.h"

struct tg_pack_class {
    struct tg_pack_node node; /* sorted */
    uint64_t hash;
    uint32_t next;  /* in the bucket of its hash, or in the list of free ones */
    uint32_t nodes; /* members; 0, and no pins: a free place */
    uint32_t pins;  /* stays although it may have no members */
    uint32_t stamp; /* differs from that of every class that was here before */
    uint32_t live;  /* place in the list of live ones */
    uint32_t *heap; /* numbers of nodes, smallest first; may hold some that have left */
    uint32_t n_heap, heap_size;
};

struct tg_pack_classes {
    struct tg_pack_class *items;
    uint32_t n, capacity;
    uint32_t *buckets;
    uint32_t n_buckets; /* a power of two */
    uint32_t free;      /* first free place; TG_PACK_NO_CLASS */
    uint32_t *live;     /* the classes that have nodes, in no order that means anything */
    uint32_t n_live;
    uint32_t *of_node; /* class of each node */
    uint32_t n_nodes, nodes_size;
    uint32_t stamps;
};

#define TG_PACK_NO_CLASS UINT32_MAX

void tg_pack_classes_init(struct tg_pack_classes *classes);
void tg_pack_classes_done(struct tg_pack_classes *classes);
/* A new node, the next number. Returns its class. */
uint32_t tg_pack_classes_add(struct tg_pack_classes *classes, const struct tg_pack_node *node);
/* The node is now like this. Returns its new class; the old one may be gone. */
uint32_t tg_pack_classes_move(struct tg_pack_classes *classes, uint32_t number,
                              const struct tg_pack_node *node);
/* The class stays, with its number, until it is let go as often; it may be without nodes then. */
void tg_pack_classes_pin(struct tg_pack_classes *classes, uint32_t klass);
void tg_pack_classes_unpin(struct tg_pack_classes *classes, uint32_t klass);
/* The lowest number in a live class with nodes. */
uint32_t tg_pack_classes_first(struct tg_pack_classes *classes, uint32_t klass);
/* A stamp that no class has had. */
uint32_t tg_pack_classes_stamp(struct tg_pack_classes *classes);

#endif
