/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of an explanation share while it is made. Private to explain. */
#ifndef TG_CORE_EXPLAIN_PARTS_H
#define TG_CORE_EXPLAIN_PARTS_H

#include "controller/core/explain/explain.h"
#include "controller/core/gang/pack.h"

/* A device that some request of the member could have, nothing else being placed. */
struct tg_explain_choice {
    uint32_t device;
    uint32_t requests; /* bit i: requests[i] of the explanation */
};

/* What keeps devices or nodes away although everything else is right: collected while they are
 * walked over, more than are told in the end. */
#define TG_EXPLAIN_SUSPECTS 32
struct tg_explain_suspect {
    const char *rule;
    const void *cause; /* a taint, a text: what it is told from others by, beside its words */
    const struct tg_taint *taint;
    const char *text;
    size_t request, nodes, devices;
    bool special; /* one of the devices is exact, or can be given more than once */
};

/* Held devices that are looked at for their holders, beside those of the best node. */
#define TG_EXPLAIN_HELD 64

struct tg_explaining {
    const struct tg_explain_input *in;
    struct tg_explanation *out;
    struct tg_board *board;
    struct tg_arena *arena;
    struct tg_pack pack;
    const struct tg_domain *domain; /* where it came closest */
    bool brief;   /* nothing but the reason is wanted: no choices, so no tg_explain_stages */
    bool blocked; /* the rules of the request beside pack are what is in the way */
    const struct tg_board_member *member; /* the first one without a place */
    const struct tg_board_group *group;
    size_t group_index;
    /* One a device: */
    bool *taken; /* a member on the board has it */
    bool *whole; /* some request could have it if nobody held it */
    /* One a node: */
    bool *in_scope;          /* of the domain, or the fixed node */
    uint32_t *free_on;       /* devices that some request could have, nothing else being placed */
    uint32_t *left_on;       /* of them, those that members on the board leave */
    uint32_t *whole_on;      /* devices that some request could have if nobody held any */
    unsigned char *stage_of; /* the last stage that holds: TG_FUNNEL_CAPACITY, _TOGETHER, _NODE_FIT
                              */
    bool *short_of;          /* has the devices beside members on the board, but not the room */
    struct tg_explain_choice *choices;
    size_t n_choices;
    uint32_t held[TG_EXPLAIN_HELD]; /* the first devices that would do and that somebody holds */
    size_t n_held;
    size_t wide;       /* choices that are of no node in particular */
    size_t whole_wide; /* the same if nobody held any */
    const struct tg_board_slot *slots[TG_EXPLAIN_REQUESTS]; /* of the member, one a request told */
    bool fits_alone[TG_EXPLAIN_REQUESTS]; /* a device on a node that fits matches, held or not */
    struct tg_explain_suspect suspects[TG_EXPLAIN_SUSPECTS];
    size_t n_suspects;
    uint32_t *suspect_on; /* one a node: bit i, suspects[i] counts it already */
    unsigned char
        *near_device;         /* one a device: 1 + the suspect that alone keeps it away, 0: none */
    unsigned char *near_node; /* the same, one a node */
    size_t last_suspect;      /* it is often the same again */
    size_t told_rules[TG_EXPLAIN_TOPOLOGY]; /* of the request, one a rule told */
    size_t rule_steps;                      /* nodes of questions about rules so far */
    bool guards[TG_EXPLAIN_REQUESTS]; /* the first selector of its class is the guard, which matches
                                         every device */
};

/* topology.c: are the rules of the request beside pack what is in the way? They are on then, and
 * off if there is no room without them either. */
int tg_explain_topology(struct tg_explaining *e, struct tg_error *err);
/* The attempt that comes closest among the nodes stays on the board. */
int tg_explain_attempt(struct tg_explaining *e, const struct tg_scope *scope, size_t *ret_placed,
                       struct tg_error *err);
/* What is told of those rules; while the board holds the best attempt. */
int tg_explain_limits(struct tg_explaining *e, struct tg_error *err);
/* A domain as people call it: of a device attribute the value without its type. */
const char *tg_explain_domain_name(const struct tg_level *level, const char *name);
/* What would help of it: the field that is wider or away. */
int tg_explain_topology_helps(struct tg_explaining *e, struct tg_explained_help *ret, size_t *ret_n,
                              struct tg_error *err);
/* funnel.c: requests, choices, what stands on nodes; the board holds the best attempt. */
int tg_explain_walk(struct tg_explaining *e, struct tg_error *err);
/* funnel.c: the stages that are of nodes; last, for the board is cleared. */
int tg_explain_stages(struct tg_explaining *e, struct tg_error *err);
/* miss.c. More devices of a node (TG_NO_INDEX: of none) that this alone keeps away. 1 + its number;
 * 0: there are too many. */
unsigned char tg_explain_suspect(struct tg_explaining *e, const struct tg_explain_suspect *suspect,
                                 size_t node, size_t devices);
/* "key=value:effect", of the arena; NULL: it is exhausted. */
const char *tg_explain_taint(struct tg_arena *arena, const struct tg_taint *taint);
/* After the walk. */
int tg_explain_misses(struct tg_explaining *e, struct tg_error *err);
/* closest.c: best node, best domain, holders, whether it can ever fit; after the walk, while the
 * board holds the best attempt. */
int tg_explain_closest(struct tg_explaining *e, struct tg_error *err);
/* help.c: what would help; last. The board is of no use any more. */
int tg_explain_helps(struct tg_explaining *e, struct tg_fleet *fleet, struct tg_error *err);

#endif
