/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where membership comes from: one file a source, one table (sources.c). A source looks at a pod
 * and the claims that exist for it and says which gang it belongs to. The first source that knows
 * wins.
 */
#ifndef TG_CONTROLLER_GATHER_SOURCE_H
#define TG_CONTROLLER_GATHER_SOURCE_H

#include "api/runtime/base/arena.h"
#include "api/tangram/member.h"
#include "controller/gather/unit.h"

struct tg_membership {
    const char *gang;                 /* name of the Gang object; NULL: no member of a gang */
    const char *value;                /* label value behind it, or NULL */
    const char *role;                 /* NULL: the nameless one */
    const struct tg_member *declared; /* what a claim says; NULL from other sources */
    struct tg_unit_problem problem;
};

struct tg_source {
    const char *name;
    /* 0 with ret->gang NULL: not known here. A contradiction is told in ret->problem. Only
     * exhaustion of the arena fails. */
    int (*look)(const struct tg_pod *pod, const struct tg_resource_claim *const *claims, size_t n,
                struct tg_arena *arena, struct tg_membership *ret, struct tg_error *err);
};

extern const struct tg_source tg_source_claim_config, tg_source_pod_labels;

/* Asks the sources in order; the first that knows the gang wins, and one that names another is told
 * as a problem. */
int tg_membership_of(const struct tg_pod *pod, const struct tg_resource_claim *const *claims,
                     size_t n, struct tg_arena *arena, struct tg_membership *ret,
                     struct tg_error *err);

#endif
