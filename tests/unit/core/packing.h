/* SPDX-License-Identifier: Apache-2.0 */
/* Small nodes and requests for the tests of controller/core/pack. */
#ifndef TG_TESTS_UNIT_CORE_PACKING_H
#define TG_TESTS_UNIT_CORE_PACKING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "controller/core/pack/node.h"

/* A node of kind 0 with plenty of memory; one number a card: what is left of it. */
#define NODE(cpu_milli, ...)                                                                       \
    node_of((cpu_milli), (const uint16_t[]){__VA_ARGS__},                                          \
            sizeof((const uint16_t[]){__VA_ARGS__}) / sizeof(uint16_t))

static inline struct tg_pack_node node_of(int64_t cpu, const uint16_t *left, size_t n)
{
    struct tg_pack_node node = {.cpu = cpu, .memory = 1000, .cards = (uint8_t)n};

    for (size_t i = 0; i < n; i++)
        node.free[i] = left[i];
    return node;
}

static inline struct tg_pack_request share(uint16_t milli)
{
    return (struct tg_pack_request){
        .cpu = 100, .memory = 1, .kinds = TG_PACK_ANY_KIND, .cards = 1, .share = milli};
}

static inline struct tg_pack_request whole(uint16_t cards)
{
    return (struct tg_pack_request){
        .cpu = 100, .memory = 1, .kinds = TG_PACK_ANY_KIND, .cards = cards, .share = TG_PACK_CARD};
}

#endif
