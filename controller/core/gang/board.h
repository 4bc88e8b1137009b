/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The board of one decision: members (the pieces, largest first), groups (members that are alike in
 * everything that placement looks at), and for each group and node what an empty board allows.
 * Private to gang and explain.
 */
#ifndef TG_CORE_GANG_BOARD_H
#define TG_CORE_GANG_BOARD_H

#include "controller/core/fit/ask.h"
#include "controller/core/gang/exact.h"
#include "controller/core/gang/match.h"
#include "controller/core/gang/place.h"
#include "controller/core/gang/rank.h"

#define TG_DEFAULT_MAX_STEPS ((size_t)1000000)

struct tg_board_slot { /* one request of one claim of a member, or one of its alternatives */
    const struct tg_resource_claim *claim;
    const char *request;
    size_t ask, count;
};

struct tg_board_member {
    const struct tg_piece *piece;
    size_t index;                  /* in the request */
    const char *namespace_, *name; /* of its first pod (or claim): the order among equals */
    const char *key;               /* what makes it alike to others, gang/key.h */
    size_t devices;                /* at least */
    size_t group;
    struct tg_board_slot *slots;
    size_t n_slots;
    bool exact;                  /* a claim of it needs the exact search */
    bool admin;                  /* a request of it wants admin access */
    struct tg_fit_claim *claims; /* of the board's book, one a claim of the piece; NULL: the board
                                    has no exact member */
    size_t node;                 /* TG_NO_INDEX: not placed */
    size_t next;                 /* the next member on the same node */
};

struct tg_board_group {
    const struct tg_piece *piece; /* of its first member */
    size_t first, n;              /* board->members[first .. first + n) */
    struct tg_offer *offer;       /* what the fleet offers to it */
    size_t fixed;                 /* the node that it is fixed to; TG_NO_INDEX: none */
    struct tg_rank *rank;         /* by its policy */
    unsigned type;                /* its request there */
    struct tg_demand demand;
    struct tg_need *needs; /* its slots, merged by ask */
    size_t n_needs;
    size_t devices; /* of a member, at least */
    bool exact;     /* its members are */
    bool admin;     /* they are */
    /* One a node, of those that were read: */
    unsigned char *
        failed; /* index of the failed rule; tg_fit_rules_count: none; + 1: another node is fixed */
    uint32_t *capacity; /* members of this group on the empty board, at most n */
    uint32_t *free;     /* free devices that some need accepts */
    bool *exact_on;     /* one of them is exact (model/view.h): so is the search there */
};

struct tg_candidate {
    size_t node, copies;
    struct tg_pack_rating rating; /* of one member more there */
};

/* Nodes that an attempt may use. */
struct tg_scope {
    const size_t *nodes;
    size_t n;
};

struct tg_rule_state;

struct tg_board {
    const struct tg_fleet *fleet;
    const struct tg_place_request *request;
    struct tg_arena *arena;
    struct tg_ask_book book;
    struct tg_board_member *members;
    size_t n_members;
    struct tg_board_group *groups;
    size_t n_groups;
    struct tg_scope everything; /* nodes NULL: not listed yet */
    bool *read; /* one a node: what follows, and the same of groups, is there (tg_board_read) */
    /* One a node, of those that were read: */
    size_t *head;          /* the last member put there, TG_NO_INDEX: empty */
    size_t *used;          /* devices taken by the members there */
    uint32_t *free_any;    /* usable free devices */
    bool *shared;          /* one of them can be given more than once */
    uint32_t *free_wanted; /* of them, the most that one group could use */
    size_t steps, max_steps;
    bool gave_up;
    struct tg_rule_state *rules; /* rule.h */
    size_t n_rules, choices;
    /* Scratch: */
    struct tg_match match;
    struct tg_exact exact;       /* if any_exact */
    bool any_exact;              /* a member or a device of the fleet is */
    struct tg_fit_claim *claims; /* room for those of all members and of one more */
    const struct tg_demand **taken;
    struct tg_need *needs;
    size_t *need_of_ask;
    struct tg_candidate *candidates;
    const void **order;
    size_t *cursor; /* of the exhaustive search, one a member; NULL until it is needed */
};

/* Reads the request, groups it, and finds out what the fleet offers to each group; no node is read
 * yet. Errors: as tg_place. */
int tg_board_init(struct tg_board *board, const struct tg_fleet *fleet,
                  const struct tg_place_request *request, struct tg_arena *arena,
                  struct tg_error *err);
/* Judges these nodes; those that were read before stay as they are. Whoever looks at one says so
 * first. Not after the fleet or its offers were asked for something else. */
int tg_board_read(struct tg_board *board, const struct tg_scope *scope, struct tg_error *err);
/* All nodes, in order of names; listed once. */
int tg_board_everything(struct tg_board *board, struct tg_scope *ret, struct tg_error *err);
/* How many more members of the group the node takes beside those already there, at most max. Exact.
 */
int tg_board_copies(struct tg_board *board, size_t node, size_t group, size_t max, size_t *ret,
                    struct tg_error *err);
/* Do the devices alone suffice for that many more members there, whatever the room? */
int tg_board_devices_fit(struct tg_board *board, size_t node, size_t group, size_t times, bool *ret,
                         struct tg_error *err);
/* board->match has room for the node's devices, and for as many needs of one each. */
int tg_board_open_match(struct tg_board *board, size_t node, struct tg_error *err);
void tg_board_put(struct tg_board *board, size_t member, size_t node);
/* Takes back the member that was put on its node last. */
void tg_board_take(struct tg_board *board, size_t member);
void tg_board_clear(struct tg_board *board);
/* Are the node's devices shared out by the exact search, with a member of the group put there
 * (TG_NO_INDEX: as it is)? */
bool tg_board_is_exact(const struct tg_board *board, size_t node, size_t group);
/* Is the device there to be given: supported and held by nobody? */
bool tg_board_usable(const struct tg_fleet_device *device);

#endif
