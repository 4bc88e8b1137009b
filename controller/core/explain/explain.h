/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a request has no place, as data: how many devices are left after each condition, where it
 * comes closest and what is missing there, who holds what it needs, what nearly fits, and what
 * would help. Everything is bounded; numbers are of the fleet as it stands, the placements that a
 * pass has assumed included. words.h makes sentences of it, document.h JSON.
 *
 * Deterministic: the same fleet and request, told in any order, have the same explanation.
 */
#ifndef TG_CORE_EXPLAIN_EXPLAIN_H
#define TG_CORE_EXPLAIN_EXPLAIN_H

#include "controller/core/gang/place.h"

/* What is listed at most. */
#define TG_EXPLAIN_REQUESTS 8
#define TG_EXPLAIN_HOLDERS 8
#define TG_EXPLAIN_MISSES 12
#define TG_EXPLAIN_HELPS 8
#define TG_EXPLAIN_MOVES 4
#define TG_EXPLAIN_TOPOLOGY 8

/* Conditions that a device must meet, one after the other: each number counts those that met all up
 * to there. The first ones are of the device, the last five of the node that it is on (a device of
 * several nodes counts if it is so on one of them). */
enum tg_funnel_stage {
    TG_FUNNEL_SEEN,        /* published in a usable pool */
    TG_FUNNEL_CLASS,       /* all selectors of the DeviceClass match */
    TG_FUNNEL_SELECTED,    /* all selectors of the request match */
    TG_FUNNEL_TOLERATED,   /* no taint that the request does not tolerate; healthy */
    TG_FUNNEL_FREE,        /* nobody holds it; with admin access: as before */
    TG_FUNNEL_UNCONTESTED, /* may be given away: no class that is not managed matches it too, and
                              nothing else bars it */
    TG_FUNNEL_CAPACITY,    /* the counters and the capacity that it shares with others suffice */
    TG_FUNNEL_TOGETHER,    /* on a node whose devices meet all requests of one member together:
                              counts, constraints, alternatives */
    TG_FUNNEL_NODE_FIT,    /* on such a node that passes all node rules and has room for the pod */
    TG_FUNNEL_DOMAIN, /* in the domain that comes closest; without a required level: as before */
    TG_FUNNEL_LEFT,   /* not taken by members that were placed before this one */
    TG_FUNNEL_STAGES, /* how many there are */
};
/* "seen", "class", "selected", ...: stable, keys of the JSON. */
const char *tg_funnel_stage_name(enum tg_funnel_stage stage);

struct tg_explained_request { /* one request of the member, or one alternative of firstAvailable */
    const char *claim;        /* "ns/name" */
    const char *request;      /* its name, also of an alternative */
    const char *device_class;
    size_t count; /* devices that it asks for; All: 0 */
    size_t devices[TG_FUNNEL_STAGES];
};

/* Who has devices that the request could use, or has reserved them. */
struct tg_explained_holder {
    const char *name; /* "claim ns/name", "gang ns/name", "pod ns/name" */
    const char *pod;  /* "ns/name" of the first pod that its claim is reserved for, or NULL */
    const char *node; /* of the first such device; NULL: of none */
    size_t devices;   /* how many of them it has */
    int64_t until;    /* wall clock (ns) at which a hold ends; 0: not known */
    bool on_best_node;
    bool counted; /* supply.held counts it: where it comes closest, on a node that passes all rules
                   */
};

/* Where the member comes closest. */
struct tg_explained_node {
    const char *name; /* NULL: there is none */
    const char *rule; /* reason code of the node rule that it fails, or NULL */
    size_t free;      /* devices there that the member could have, nothing else being placed */
    size_t needed;    /* devices that it needs there at least */
    /* What is short beside devices, as far as known: */
    const char *resource; /* NULL: nothing */
    int64_t left, wanted; /* of the resource: cpu in thousandths, everything else in units */
};

/* Where the whole gang comes closest. */
struct tg_explained_domain {
    const char *level;      /* NULL: no level is required */
    const char *node_label; /* of the level; NULL at level host */
    const char *name;       /* NULL: no node has the label */
    size_t placed;          /* members that have a place there */
    size_t free;            /* devices there that members could use */
    size_t domains;         /* that there are */
    bool whole_fleet_fits;  /* without the level all would have a place */
};

/* A required rule of the gang's topology beside pack of the whole: spread, pack of a role, or
 * deviceConstraints. Told if the fleet has room for all members but for such rules. */
struct tg_explained_topology {
    const char *field;      /* what asks for it: "topology.spread[0]" */
    const char *level;      /* or the device attribute */
    bool attribute;         /* it is one */
    const char *node_label; /* of the level; NULL: a device attribute, or the node itself */
    size_t most;            /* members in one domain at most; 0: all have to be in one */
    size_t members;         /* that it binds */
    size_t domains;         /* that there are */
    size_t roomy;           /* domains with room for at least one of them */
    const char *best;       /* all in one: the domain with room for most; NULL: there is none */
    size_t room;            /* members of those that the best domain has room for */
    bool alone;             /* without this rule alone all members would have a place */
};

/* Nodes that a rule keeps away: the first one that each fails, in the order of fit/rules.c. */
#define TG_EXPLAIN_RULES 8
struct tg_explained_rule {
    const char *rule; /* reason code */
    const char *text; /* "cordoned" */
    size_t nodes;
};

/* Devices that some request of the member selects and that may be given away, on nodes that pass
 * all rules, where it comes closest: how many, and what is the matter with them (each is counted
 * once). */
struct tg_explained_supply {
    size_t matching; /* all of them */
    size_t held;
    size_t tainted; /* or unhealthy */
    size_t used_up; /* free, but the counters or the capacity that they share are not */
    size_t taken;   /* by members that were placed before */
    size_t free;
    size_t nodes; /* with a free one */
    size_t most;  /* free ones on one node */
};

/* One rule alone is in the way of so much: what it would add if it were not there. */
struct tg_explained_miss {
    const char *rule; /* reason code: of a node rule, or SelectorMismatch, ClassMismatch,
                         DeviceTainted, DeviceUnhealthy, DeviceContested, DeviceUnsupported */
    const char *what; /* the taint, selector, class; NULL: the code says all */
    size_t request;   /* index into requests, of a rule about devices */
    size_t nodes;     /* nodes that fail this rule only */
    size_t devices;   /* devices that fail this rule only, on nodes that fail none */
};

enum tg_help_kind {
    TG_HELP_FEWER_MEMBERS,
    TG_HELP_FEWER_DEVICES,
    TG_HELP_WIDER_TOPOLOGY,
    TG_HELP_NO_TOPOLOGY,
    TG_HELP_WIDER_SPREAD,
    TG_HELP_NO_SPREAD,
    TG_HELP_NO_ROLE_TOPOLOGY,
    TG_HELP_NO_DEVICE_CONSTRAINT,
    TG_HELP_TOLERATE_NODE_TAINT,
    TG_HELP_TOLERATE_DEVICE_TAINT,
    TG_HELP_RELAX_SELECTOR,
    TG_HELP_RELAX_NODE_SELECTOR,
    TG_HELP_RELAX_NODE_AFFINITY,
    TG_HELP_SMALLER_POD,
    TG_HELP_MOVE,
    TG_HELP_KINDS, /* how many there are */
};

struct tg_explained_move { /* of what a claim has, with the pods that use it */
    const char *holder;    /* "claim ns/name" */
    const char *pod;       /* as in the holder */
    const char *from, *to; /* nodes */
    size_t devices;
};

/* One thing that would make the whole request fit now: it was tried on the fleet. */
struct tg_explained_help {
    enum tg_help_kind kind;
    const char *code;    /* stable, of the kind: "MoveClaims", "RelaxSelector", ... */
    const char *what;    /* the taint, selector, level, resource or field; NULL: moves, numbers */
    const char *request; /* of which request, or NULL */
    size_t n;            /* devices of the request, members, maxPerDomain: what would fit */
    int64_t amount;      /* of a resource (what): what would fit */
    struct tg_explained_move moves[TG_EXPLAIN_MOVES];
    size_t n_moves;
};
const char *tg_help_code(enum tg_help_kind kind);

struct tg_explanation {
    const char *reason; /* stable code, controller/core/README.md; NULL: it fits */
    size_t members;     /* of the request */
    size_t placed;      /* in the best attempt */
    const char *member; /* "ns/name" of the first one without a place: what follows is about it */
    bool gave_up;       /* the search ended at its step bound */
    size_t steps;       /* that bound */
    bool never;         /* even with all its devices free, no node or no domain would be enough */
    bool never_one;     /* not even for this one member */
    size_t most;        /* never_one: devices on one node at most; else members at most */
    size_t devices;     /* that the member needs at least */
    size_t nodes;       /* that were looked at */
    size_t nodes_fit;   /* that pass all node rules */
    const char *fixed_node; /* the only one that its other claims allow, or NULL */
    struct tg_explained_rule rules[TG_EXPLAIN_RULES];
    size_t n_rules;
    struct tg_explained_supply supply;
    size_t bad_pools;     /* of which nothing is given */
    const char *bad_pool; /* the first of them, "driver/pool" */
    const char *bad_pool_why;
    struct tg_explained_request requests[TG_EXPLAIN_REQUESTS];
    size_t n_requests;
    struct tg_explained_node best_node;
    struct tg_explained_domain best_domain;
    struct tg_explained_topology topology[TG_EXPLAIN_TOPOLOGY];
    size_t n_topology; /* 0: such rules are not what is in the way */
    struct tg_explained_holder holders[TG_EXPLAIN_HOLDERS]; /* most useful ones first */
    size_t n_holders;
    struct tg_explained_miss misses[TG_EXPLAIN_MISSES]; /* most useful ones first */
    size_t n_misses;
    struct tg_explained_help helps[TG_EXPLAIN_HELPS]; /* cheapest first */
    size_t n_helps;
    bool helps_complete; /* everything that tg_explain knows to try was tried */
    bool more_requests, more_holders, more_misses, more_topology; /* lists were cut */
};

/* What is known of a holder beyond the fleet. */
struct tg_resident {
    const struct tg_resource_claim *claim; /* allocated; NULL: not a claim */
    const struct tg_pod *const *pods;      /* bound or not, that use it */
    size_t n_pods;
    int64_t until; /* wall clock (ns), of a hold; 0: not known */
};

struct tg_explain_input {
    const struct tg_place_request *request;
    /* Levels of the configuration, for wider ones; may be none. */
    const struct tg_level *levels;
    size_t n_levels;
    /* Finds who is behind a holder's name; what it gives outlives the call. NULL, or false: nothing
     * is known, and nothing of it is moved. */
    bool (*find)(void *data, const char *holder, struct tg_resident *ret);
    void *data;
    /* How much is tried: each attempt costs what the fleet has of nodes and devices. 0: a number
     * that keeps to 5 ms at 10,000 nodes. SIZE_MAX: everything. */
    size_t max_steps;
};

/* Explains a request for which tg_place found no place; ret->reason is NULL if it has one. Tries
 * things on the fleet and leaves it as it was. Memory is the arena's, and strings are its or those
 * of input and fleet. Errors: as tg_place, but TG_UNAVAILABLE. */
int tg_explain_request(struct tg_fleet *fleet, const struct tg_explain_input *input,
                       struct tg_arena *arena, struct tg_explanation *ret, struct tg_error *err);

#endif
