/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one evaluation, and how a call fails: without text, since && and || absorb most
 * failures; the message is made when one gets out. */
#ifndef TG_CORE_CEL_RUN_H
#define TG_CORE_CEL_RUN_H

#include "controller/core/cel/node.h"
#include "controller/core/cel/report.h"

struct tg_cel_fault {
    const char *what; /* static */
    const char *text; /* follows it; may be NULL */
    size_t n;
    uint32_t offset; /* of the source */
    bool fatal;      /* nothing absorbs it: the cost limit, memory */
};

struct tg_cel_slot {
    struct tg_cel_value value;
    const struct tg_cel_fault *fault; /* the value is an error */
    const struct tg_cel_node *init;   /* cel.bind: evaluated on first use */
};

struct tg_cel_run {
    struct tg_cel_scratch *scratch;
    struct tg_cel_slot *slots;
    const struct tg_cel_value *variables; /* of the environment */
    struct tg_cel_value device;
    const struct tg_cel_zones *zones;
    struct tg_cel_fault fault;
    uint64_t cost, limit;
    bool plain; /* the language profile: newer rules of string.format() */
    unsigned minor;
};

int tg_cel_fail(struct tg_cel_run *run, const struct tg_cel_node *at, const char *what);
int tg_cel_fail_text(struct tg_cel_run *run, const struct tg_cel_node *at, const char *what,
                     const char *text, size_t n);
int tg_cel_fail_value(struct tg_cel_run *run, const struct tg_cel_node *at, const char *what,
                      const struct tg_cel_value *value);
int tg_cel_fail_memory(struct tg_cel_run *run, const struct tg_cel_node *at);
int tg_cel_fail_overload(struct tg_cel_run *run, const struct tg_cel_node *at);

/* Adds to the cost; -1 when the limit is passed. */
static inline int tg_cel_spend(struct tg_cel_run *run, const struct tg_cel_node *at, uint64_t cost)
{
    run->cost += cost;
    if (__builtin_expect(run->cost <= run->limit && run->cost >= cost, 1))
        return 0;
    run->fault = (struct tg_cel_fault){
        .what = "operation cancelled: actual cost limit exceeded",
        .offset = at->offset,
        .fatal = true,
    };
    return -1;
}

#endif
