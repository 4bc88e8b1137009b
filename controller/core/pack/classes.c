/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "controller/core/pack/classes.h"

void tg_pack_classes_init(struct tg_pack_classes *classes)
{
    *classes = (struct tg_pack_classes){.free = TG_PACK_NO_CLASS, .n_buckets = 1024};
    classes->buckets = tg_xreallocarray(NULL, classes->n_buckets, sizeof(uint32_t));
    memset(classes->buckets, 0xff, classes->n_buckets * sizeof(uint32_t));
}

void tg_pack_classes_done(struct tg_pack_classes *classes)
{
    for (uint32_t i = 0; i < classes->n; i++)
        free(classes->items[i].heap);
    free(classes->items);
    free(classes->buckets);
    free(classes->live);
    free(classes->of_node);
}

uint32_t tg_pack_classes_stamp(struct tg_pack_classes *classes)
{
    return ++classes->stamps;
}

static uint32_t *bucket(struct tg_pack_classes *classes, uint64_t hash)
{
    return &classes->buckets[hash & (classes->n_buckets - 1)];
}

static void rehash(struct tg_pack_classes *classes)
{
    classes->n_buckets *= 2;
    classes->buckets = tg_xreallocarray(classes->buckets, classes->n_buckets, sizeof(uint32_t));
    memset(classes->buckets, 0xff, classes->n_buckets * sizeof(uint32_t));
    for (uint32_t i = 0; i < classes->n_live; i++) {
        struct tg_pack_class *item = &classes->items[classes->live[i]];
        uint32_t *head = bucket(classes, item->hash);

        item->next = *head;
        *head = classes->live[i];
    }
}

static void grow(struct tg_pack_classes *classes)
{
    uint32_t old = classes->capacity;

    classes->capacity = old == 0 ? 256 : old * 2;
    classes->items =
        tg_xreallocarray(classes->items, classes->capacity, sizeof(struct tg_pack_class));
    memset(classes->items + old, 0, (classes->capacity - old) * sizeof(struct tg_pack_class));
    classes->live = tg_xreallocarray(classes->live, classes->capacity, sizeof(uint32_t));
}

/* The class of such nodes, made if there is none. `node` is sorted. */
static uint32_t find(struct tg_pack_classes *classes, const struct tg_pack_node *node)
{
    uint64_t hash = tg_pack_node_hash(node);
    struct tg_pack_class *item;
    uint32_t i;

    for (i = *bucket(classes, hash); i != TG_PACK_NO_CLASS; i = classes->items[i].next) {
        if (classes->items[i].hash == hash && tg_pack_node_equal(&classes->items[i].node, node))
            return i;
    }
    if (classes->n_live >= classes->n_buckets)
        rehash(classes);
    if (classes->free == TG_PACK_NO_CLASS && classes->n == classes->capacity)
        grow(classes);
    i = classes->free != TG_PACK_NO_CLASS ? classes->free : classes->n++;
    item = &classes->items[i];
    if (i == classes->free)
        classes->free = item->next;
    item->node = *node;
    item->hash = hash;
    item->stamp = tg_pack_classes_stamp(classes);
    item->n_heap = 0;
    item->live = classes->n_live;
    item->next = *bucket(classes, hash);
    *bucket(classes, hash) = i;
    classes->live[classes->n_live++] = i;
    return i;
}

static void drop(struct tg_pack_classes *classes, uint32_t klass)
{
    struct tg_pack_class *item = &classes->items[klass];
    uint32_t *at = bucket(classes, item->hash);
    uint32_t last = classes->live[--classes->n_live];

    while (*at != klass)
        at = &classes->items[*at].next;
    *at = item->next;
    classes->live[item->live] = last;
    classes->items[last].live = item->live;
    item->next = classes->free;
    classes->free = klass;
}

static void sift_down(uint32_t *heap, uint32_t n, uint32_t at)
{
    for (;;) {
        uint32_t child = 2 * at + 1;
        uint32_t value = heap[at];

        if (child >= n)
            return;
        if (child + 1 < n && heap[child + 1] < heap[child])
            child++;
        if (heap[child] >= value)
            return;
        heap[at] = heap[child];
        heap[child] = value;
        at = child;
    }
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Leaves out what has left the class, and what is there twice. Ascending numbers are a heap. */
static void clean(const struct tg_pack_classes *classes, uint32_t klass)
{
    struct tg_pack_class *item = &classes->items[klass];
    uint32_t n = 0;

    qsort(item->heap, item->n_heap, sizeof(uint32_t), by_number);
    for (uint32_t i = 0; i < item->n_heap; i++) {
        if (classes->of_node[item->heap[i]] == klass &&
            (n == 0 || item->heap[n - 1] != item->heap[i]))
            item->heap[n++] = item->heap[i];
    }
    item->n_heap = n;
}

static void push(struct tg_pack_classes *classes, uint32_t klass, uint32_t number)
{
    struct tg_pack_class *item = &classes->items[klass];
    uint32_t at;

    if (item->n_heap == item->heap_size) {
        item->heap_size = item->heap_size == 0 ? 4 : item->heap_size * 2;
        item->heap = tg_xreallocarray(item->heap, item->heap_size, sizeof(uint32_t));
    }
    at = item->n_heap++;
    while (at > 0 && item->heap[(at - 1) / 2] > number) {
        item->heap[at] = item->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    item->heap[at] = number;
    if (item->n_heap > 4 * item->nodes + 64)
        clean(classes, klass);
}

uint32_t tg_pack_classes_first(struct tg_pack_classes *classes, uint32_t klass)
{
    struct tg_pack_class *item = &classes->items[klass];

    while (classes->of_node[item->heap[0]] != klass) {
        item->heap[0] = item->heap[--item->n_heap];
        sift_down(item->heap, item->n_heap, 0);
    }
    return item->heap[0];
}

static uint32_t enter(struct tg_pack_classes *classes, uint32_t number,
                      const struct tg_pack_node *node)
{
    struct tg_pack_node sorted = tg_pack_node_sorted(node);
    uint32_t klass = find(classes, &sorted);

    classes->items[klass].nodes++;
    classes->of_node[number] = klass;
    push(classes, klass, number);
    return klass;
}

uint32_t tg_pack_classes_add(struct tg_pack_classes *classes, const struct tg_pack_node *node)
{
    if (classes->n_nodes == classes->nodes_size) {
        classes->nodes_size = classes->nodes_size == 0 ? 256 : classes->nodes_size * 2;
        classes->of_node =
            tg_xreallocarray(classes->of_node, classes->nodes_size, sizeof(uint32_t));
    }
    return enter(classes, classes->n_nodes++, node);
}

uint32_t tg_pack_classes_move(struct tg_pack_classes *classes, uint32_t number,
                              const struct tg_pack_node *node)
{
    uint32_t old = classes->of_node[number];

    classes->of_node[number] = TG_PACK_NO_CLASS;
    if (--classes->items[old].nodes == 0 && classes->items[old].pins == 0)
        drop(classes, old);
    return enter(classes, number, node);
}

void tg_pack_classes_pin(struct tg_pack_classes *classes, uint32_t klass)
{
    classes->items[klass].pins++;
}

void tg_pack_classes_unpin(struct tg_pack_classes *classes, uint32_t klass)
{
    struct tg_pack_class *item = &classes->items[klass];

    if (--item->pins == 0 && item->nodes == 0)
        drop(classes, klass);
}
