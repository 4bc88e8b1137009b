/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is placed and committed as one: a gang, a pod with several claims (an implicit gang), or one
 * claim with the pods that use it.
 */
#ifndef TG_CONTROLLER_GATHER_UNIT_H
#define TG_CONTROLLER_GATHER_UNIT_H

#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"
#include "api/tangram/gang.h"
#include "api/tangram/member.h"
#include "controller/gather/view.h"

enum tg_unit_kind { TG_UNIT_GANG, TG_UNIT_POD, TG_UNIT_CLAIM };

struct tg_unit_member {
    const struct tg_pod *pod;
    const char *role; /* NULL: the nameless role */
    /* The managed claims of the pod, in the order of spec.resourceClaims. */
    const struct tg_resource_claim **claims;
    size_t n_claims;
    bool gated;       /* has our gate */
    const char *wait; /* why it does not count as present yet (claims not created, a foreign
                         gate...); NULL: present */
};

/* What is wrong with a unit beyond waiting: shown on claim, pod and gang until somebody changes it.
 */
struct tg_unit_problem {
    const char *reason; /* CamelCase; NULL: no problem */
    const char *text;
    const struct tg_resource_claim *claim; /* NULL: not about one */
};

struct tg_unit {
    enum tg_unit_kind kind;
    const char *namespace_, *name;
    const char *key;                      /* "gang/ns/name", "pod/ns/name", "claim/ns/name" */
    const struct tg_unit_member *members; /* live ones, oldest first */
    size_t n_members;
    int64_t priority; /* of the first member */
    const char
        *created; /* creationTimestamp of the oldest member (gang: of the Gang if that is older) */
    struct tg_unit_problem problem;
    /* Gangs only. */
    const struct tg_gang *gang; /* NULL: there is no object yet */
    const struct tg_member
        *declared;     /* what the members' claims say; NULL if nobody says anything (any more) */
    const char *value; /* gangFrom: the label value; NULL otherwise */
    bool ours; /* the object or a claim of a member names our instance; false: nobody names any, and
                  the default instance looks after the gang until somebody does */
};

struct tg_units {
    const struct tg_unit *items; /* priority first, then age, then key */
    size_t n;
};

/* Gathering makes something of it: it has claims or names a gang, and has not ended. */
bool tg_pod_gathered(const struct tg_pod *pod);

/* All units of the view. classes of `instance` are ours; a Gang of another instance is left out,
 * and members of ours that ask for it are a unit with a problem and without the Gang. Memory is the
 * arena's. */
int tg_gather(const struct tg_view *view, const char *instance, struct tg_arena *arena,
              struct tg_units *ret, struct tg_error *err);

#endif
