/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a gang wants of its topology beside pack of the whole: some of its members in one domain
 * (pack of a role, the same value of a device attribute), or at most so many in each. Domains of a
 * device attribute: nodes whose devices that members could use all have the same value.
 */
#ifndef TG_CORE_GANG_RULE_H
#define TG_CORE_GANG_RULE_H

#include "controller/core/gang/domain.h"

struct tg_rule_state {
    const struct tg_place_rule *rule;
    bool on;           /* is it kept at the moment? */
    uint32_t *of_node; /* domain of each node, numbered by name; TG_NO_DOMAIN: in none */
    size_t n_domains;
    uint32_t chosen; /* together: the domain; TG_NO_DOMAIN: none yet */
    size_t room;     /* tg_rules_choose: members that the rule binds, in the chosen one */
    size_t *count;   /* apart: members that it binds, in each domain */
    uint32_t *few; /* apart, at most TG_RULE_FEW: of each domain the best candidates of a search */
    uint32_t *n_few;
};
/* Limits up to this are small: a domain with one needs no more candidates than it may get members.
 */
#define TG_RULE_FEW 4

/* The states of the request's rules, all on. Errors: of selectors, the arena. */
int tg_rules_init(struct tg_board *board, struct tg_error *err);
/* Is the node in a domain where the group may go at all? */
bool tg_rules_reach(const struct tg_board *board, size_t group, size_t node);
/* May one more member of the group go to the node? */
bool tg_rules_allow(const struct tg_board *board, size_t group, size_t node);
/* Are there domains enough for the limits of those rules that want members apart? What is in the
 * domains does not count: no nodes that become free would help. */
bool tg_rules_may_hold(const struct tg_board *board);
/* The rule with a small limit that binds the group, if no other limit does; else NULL. */
struct tg_rule_state *tg_rules_small_limit(const struct tg_board *board, size_t group);
/* A member of the group came to the node, or left it. */
void tg_rules_count(struct tg_board *board, size_t group, size_t node, int by);
void tg_rules_clear(struct tg_board *board);
/* Switches rules: the required ones always on; those that are only preferred, too? none at all? */
enum tg_rules_kept { TG_RULES_ALL, TG_RULES_REQUIRED, TG_RULES_NONE };
/* false: nothing is different from the stage before. */
bool tg_rules_keep(struct tg_board *board, enum tg_rules_kept kept);
/* Does it bind the group? */
bool tg_rule_binds(const struct tg_rule_state *state, const struct tg_board_group *group);
/* Members that the rule binds and that each of its domains has room for among the nodes, each group
 * for itself: state->n_domains numbers of the arena. TG_RESOURCE_EXHAUSTED. */
int tg_rule_room(const struct tg_board *board, const struct tg_rule_state *state,
                 const struct tg_scope *scope, size_t **ret, struct tg_error *err);
/* For an attempt that need not hold all: chooses for each rule that wants members together the
 * domain with room for most of them, the first by name among equals. */
int tg_rules_choose(struct tg_board *board, const struct tg_scope *scope, struct tg_error *err);
/* All members by the search, with each choice of domains for those that are to be together, the
 * tightest first, until one holds: *ret. */
int tg_rules_search(struct tg_board *board, const struct tg_scope *scope, bool *ret,
                    struct tg_error *err);

#endif
