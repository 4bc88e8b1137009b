/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of a request beside pack of the whole: spread, pack of a role, deviceConstraints. Are
 * they what is in the way, where do they come closest, and which of them alone is it? */
#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/explain/parts.h"
#include "controller/core/gang/rule.h"
#include "controller/core/gang/search.h"
#include "controller/core/model/sort.h"

/* Steps of the search for each question. */
#define SEARCH_STEPS ((size_t)20000)

/* Nodes of all questions together, as trials are counted (help.c). */
#define STEPS_DEFAULT ((size_t)30000)

/* Does it fit with the rules as they are now? What the search gives up does not. */
static int fits_now(struct tg_explaining *e, bool *ret, struct tg_error *err)
{
    struct tg_board *board = e->board;
    int rc;

    board->gave_up = false;
    board->steps = 0;
    board->choices = 0;
    board->max_steps = SEARCH_STEPS;
    rc = tg_pack_search(&e->pack, board, ret, err);
    board->gave_up = false;
    board->steps = 0;
    board->choices = 0;
    board->max_steps = e->out->steps;
    return rc;
}

int tg_explain_attempt(struct tg_explaining *e, const struct tg_scope *scope, size_t *ret_placed,
                       struct tg_error *err)
{
    int rc = 0;

    if (e->blocked)
        rc = tg_rules_choose(e->board, scope, err);
    if (rc == 0)
        rc = tg_search_best_fit(e->board, scope, ret_placed, err);
    /* A search that gave up may have missed a place for all. */
    if (*ret_placed == e->board->n_members)
        *ret_placed = e->board->n_members - 1;
    return rc;
}

const char *tg_explain_domain_name(const struct tg_level *level, const char *name)
{
    const char *space = level->device_attribute == NULL || name == NULL ? NULL : strchr(name, ' ');

    return space == NULL ? name : space + 1;
}

/* --- what is told of a rule ------------------------------------------------------------------- */

static int tell_best(struct tg_explaining *e, const struct tg_rule_state *state,
                     struct tg_explained_topology *ret, struct tg_error *err)
{
    const struct tg_board *board = e->board;
    size_t node = 0;
    int rc;

    ret->room = state->room;
    while (node < board->fleet->n_nodes &&
           (state->chosen == TG_NO_DOMAIN || state->of_node[node] != state->chosen))
        node++;
    if (node == board->fleet->n_nodes)
        return 0;
    rc = tg_domain_value(board, state->rule->level, node, &ret->best, err);
    ret->best = tg_explain_domain_name(state->rule->level, ret->best);
    return rc;
}

/* All of its domains count, not only the one that was chosen for it. */
static int count_roomy(struct tg_explaining *e, struct tg_rule_state *state, size_t *ret,
                       struct tg_error *err)
{
    uint32_t chosen = state->chosen;
    size_t *room;
    int rc;

    state->chosen = TG_NO_DOMAIN;
    rc = tg_rule_room(e->board, state, &e->domain->scope, &room, err);
    state->chosen = chosen;
    for (size_t i = 0; rc == 0 && i < state->n_domains; i++)
        *ret += room[i] > 0 ? 1 : 0;
    return rc;
}

static int tell_rule(struct tg_explaining *e, struct tg_rule_state *state,
                     struct tg_explained_topology *ret, struct tg_error *err)
{
    const struct tg_level *level = state->rule->level;
    int rc = count_roomy(e, state, &ret->roomy, err);

    if (rc < 0)
        return rc;
    ret->field = tg_or(state->rule->field, "topology");
    ret->level = level->device_attribute != NULL ? level->device_attribute : level->name;
    ret->node_label = level->node_label;
    ret->attribute = level->device_attribute != NULL;
    ret->most = state->rule->most;
    ret->domains = state->n_domains;
    for (size_t k = 0; k < e->board->n_groups; k++)
        ret->members += tg_rule_binds(state, &e->board->groups[k]) ? e->board->groups[k].n : 0;
    return ret->most > 0 ? 0 : tell_best(e, state, ret, err);
}

int tg_explain_limits(struct tg_explaining *e, struct tg_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < e->out->n_topology; i++)
        rc = tell_rule(e, &e->board->rules[e->told_rules[i]], &e->out->topology[i], err);
    return rc;
}

/* --- are they in the way? --------------------------------------------------------------------- */

/* Those that bind somebody; the others are in nobody's way. */
static bool is_told(const struct tg_board *board, const struct tg_rule_state *state)
{
    for (size_t k = 0; k < board->n_groups; k++) {
        if (tg_rule_binds(state, &board->groups[k]))
            return true;
    }
    return false;
}

static size_t count_told(const struct tg_board *board)
{
    size_t n = 0;

    for (size_t i = 0; i < board->n_rules; i++)
        n += is_told(board, &board->rules[i]) ? 1 : 0;
    return n;
}

/* Would it fit without that rule? The only one that there is was tried with all of them. */
static int is_alone(struct tg_explaining *e, struct tg_rule_state *state, bool *ret,
                    struct tg_error *err)
{
    size_t steps = e->in->max_steps == 0 ? STEPS_DEFAULT : e->in->max_steps;
    int rc;

    *ret = count_told(e->board) == 1;
    if (*ret || e->rule_steps + e->board->fleet->n_nodes > steps)
        return 0;
    e->rule_steps += e->board->fleet->n_nodes;
    state->on = false;
    rc = fits_now(e, ret, err);
    state->on = true;
    return rc;
}

static void list_rules(struct tg_explaining *e)
{
    for (size_t i = 0; i < e->board->n_rules; i++) {
        if (!is_told(e->board, &e->board->rules[i]))
            continue;
        if (e->out->n_topology == TG_EXPLAIN_TOPOLOGY) {
            e->out->more_topology = true;
            break;
        }
        e->told_rules[e->out->n_topology++] = i;
    }
}

int tg_explain_topology(struct tg_explaining *e, struct tg_error *err)
{
    struct tg_board *board = e->board;
    bool fits = false;
    int rc = 0;

    if (board->n_rules == 0 || e->out->gave_up)
        return 0;
    if (tg_rules_keep(board, TG_RULES_NONE))
        rc = fits_now(e, &fits, err);
    if (rc < 0 || !fits)
        return rc;
    e->blocked = true;
    tg_rules_keep(board, TG_RULES_REQUIRED);
    list_rules(e);
    for (size_t i = 0; rc == 0 && i < e->out->n_topology; i++) {
        tg_rules_keep(board, TG_RULES_REQUIRED);
        rc = is_alone(e, &board->rules[e->told_rules[i]], &e->out->topology[i].alone, err);
    }
    tg_rules_keep(board, TG_RULES_REQUIRED);
    return rc;
}

/* --- what would help -------------------------------------------------------------------------- */

/* The least limit with which the domains have room for all that it binds, by number: in whichever
 * domains other rules choose. */
static int least_limit(struct tg_explaining *e, const struct tg_rule_state *state, size_t members,
                       size_t *ret, struct tg_error *err)
{
    size_t *room, sum = 0;
    int rc;

    tg_rules_keep(e->board, TG_RULES_REQUIRED);
    rc = tg_rule_room(e->board, state, &e->pack.everything, &room, err);
    *ret = state->rule->most;
    while (rc == 0 && sum < members && *ret < members) {
        ++*ret;
        sum = 0;
        for (size_t i = 0; i < state->n_domains; i++)
            sum += room[i] < *ret ? room[i] : *ret;
    }
    return rc;
}

/* A wider limit if one does. The least one by number is right for members that are alike, unless
 * something else is in the way of it: then the next ones are tried. */
static int try_wider(struct tg_explaining *e, struct tg_rule_state *state,
                     const struct tg_explained_topology *told, size_t *ret, struct tg_error *err)
{
    const struct tg_place_rule *rule = state->rule;
    size_t steps = e->in->max_steps == 0 ? STEPS_DEFAULT : e->in->max_steps;
    struct tg_place_rule wider = *rule;
    bool fits = false;
    int rc = least_limit(e, state, told->members, &wider.most, err);

    for (; rc == 0 && !fits && wider.most <= told->members; wider.most++) {
        if (e->rule_steps + e->board->fleet->n_nodes > steps)
            break;
        e->rule_steps += e->board->fleet->n_nodes;
        tg_rules_keep(e->board, TG_RULES_REQUIRED);
        state->rule = &wider;
        rc = fits_now(e, &fits, err);
        state->rule = rule;
        *ret = fits ? wider.most : 0;
    }
    return rc;
}

static enum tg_help_kind kind_of(const struct tg_explained_topology *told)
{
    if (told->attribute)
        return TG_HELP_NO_DEVICE_CONSTRAINT;
    return told->most > 0 ? TG_HELP_NO_SPREAD : TG_HELP_NO_ROLE_TOPOLOGY;
}

int tg_explain_topology_helps(struct tg_explaining *e, struct tg_explained_help *ret, size_t *ret_n,
                              struct tg_error *err)
{
    int rc = 0;

    *ret_n = 0;
    for (size_t i = 0; rc == 0 && i < e->out->n_topology; i++) {
        const struct tg_explained_topology *told = &e->out->topology[i];
        struct tg_explained_help *help = &ret[*ret_n];

        if (!told->alone)
            continue;
        *help = (struct tg_explained_help){.kind = kind_of(told), .what = told->field};
        if (help->kind == TG_HELP_NO_SPREAD)
            rc = try_wider(e, &e->board->rules[e->told_rules[i]], told, &help->n, err);
        if (help->n > 0)
            help->kind = TG_HELP_WIDER_SPREAD;
        ++*ret_n;
    }
    return rc;
}
