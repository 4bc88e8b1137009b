/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/rule.h"

#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/gang/domain.h"
#include "controller/core/gang/search.h"
#include "controller/core/model/sort.h"

/* Choices of domains that are tried: then it is given up, as when the steps of a search end. */
#define CHOICES 4096

/* --- domains ---------------------------------------------------------------------------------- */

static int by_name(const void *pa, const void *pb, const void *context)
{
    (void)context;
    return strcmp(*(const char *const *)pa, *(const char *const *)pb);
}

/* The numbers of the numbering's domains by name. */
static int rank_names(const struct tg_board *board, const struct tg_numbering *numbering,
                      uint32_t **ret, struct tg_error *err)
{
    const void **order;
    int rc = tg_core_alloc_unset(board->arena, numbering->n, sizeof(**ret), ret, err);

    if (rc == 0)
        rc = tg_core_alloc_unset(board->arena, numbering->n, sizeof(*order), &order, err);
    for (size_t i = 0; rc == 0 && i < numbering->n; i++)
        order[i] = &numbering->names[i];
    if (rc == 0)
        rc = tg_core_sort(order, numbering->n, by_name, NULL, board->arena, err);
    for (size_t i = 0; rc == 0 && i < numbering->n; i++)
        (*ret)[(const char *const *)order[i] - (const char *const *)numbering->names] = (uint32_t)i;
    return rc;
}

static int number_domains(struct tg_board *board, const struct tg_level *level,
                          struct tg_rule_state *state, struct tg_error *err)
{
    size_t nodes = board->fleet->n_nodes;
    struct tg_numbering numbering;
    struct tg_scope everything;
    uint32_t *ranks;
    int rc = tg_board_everything(board, &everything, err);

    if (rc == 0)
        rc = tg_domains_number(board, level, &everything, &numbering, err);
    if (rc == 0)
        rc = rank_names(board, &numbering, &ranks, err);
    if (rc == 0)
        rc =
            tg_core_alloc_unset(board->arena, nodes, sizeof(*state->of_node), &state->of_node, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < nodes; i++)
        state->of_node[i] = TG_NO_DOMAIN;
    for (size_t i = 0; i < everything.n; i++) {
        if (numbering.of[i] != TG_NO_DOMAIN)
            state->of_node[everything.nodes[i]] = ranks[numbering.of[i]];
    }
    state->n_domains = numbering.n;
    rc = tg_core_alloc(board->arena, state->n_domains, sizeof(*state->count), &state->count, err);
    /* An explanation tries other limits. */
    if (rc == 0 && state->rule->most > 0)
        rc = tg_core_alloc_unset(board->arena, state->n_domains * TG_RULE_FEW, sizeof(*state->few),
                                 &state->few, err);
    if (rc == 0 && state->rule->most > 0)
        rc = tg_core_alloc_unset(board->arena, state->n_domains, sizeof(*state->n_few),
                                 &state->n_few, err);
    return rc;
}

int tg_rules_init(struct tg_board *board, struct tg_error *err)
{
    const struct tg_place_request *request = board->request;
    int rc =
        tg_core_alloc(board->arena, request->n_rules, sizeof(*board->rules), &board->rules, err);

    for (size_t i = 0; rc == 0 && i < request->n_rules; i++) {
        struct tg_rule_state *state = &board->rules[i];

        *state =
            (struct tg_rule_state){.rule = &request->rules[i], .on = true, .chosen = TG_NO_DOMAIN};
        rc = number_domains(board, state->rule->level, state, err);
    }
    board->n_rules = rc < 0 ? 0 : request->n_rules;
    return rc;
}

/* --- what is allowed -------------------------------------------------------------------------- */

bool tg_rule_binds(const struct tg_rule_state *state, const struct tg_board_group *group)
{
    return state->on && (state->rule->roles == NULL || state->rule->roles[group->piece->role]);
}

bool tg_rules_reach(const struct tg_board *board, size_t group, size_t node)
{
    for (size_t i = 0; i < board->n_rules; i++) {
        const struct tg_rule_state *state = &board->rules[i];
        uint32_t domain = state->of_node[node];

        if (tg_rule_binds(state, &board->groups[group]) &&
            (domain == TG_NO_DOMAIN || (state->chosen != TG_NO_DOMAIN && state->chosen != domain)))
            return false;
    }
    return true;
}

bool tg_rules_allow(const struct tg_board *board, size_t group, size_t node)
{
    if (!tg_rules_reach(board, group, node))
        return false;
    for (size_t i = 0; i < board->n_rules; i++) {
        const struct tg_rule_state *state = &board->rules[i];

        if (state->rule->most > 0 && tg_rule_binds(state, &board->groups[group]) &&
            state->count[state->of_node[node]] >= state->rule->most)
            return false;
    }
    return true;
}

bool tg_rules_may_hold(const struct tg_board *board)
{
    for (size_t i = 0; i < board->n_rules; i++) {
        const struct tg_rule_state *state = &board->rules[i];
        size_t members = 0;

        for (size_t k = 0; k < board->n_groups; k++)
            members += tg_rule_binds(state, &board->groups[k]) ? board->groups[k].n : 0;
        /* As many domains as members are enough for any limit. */
        if (state->rule->most > 0 && state->n_domains < members &&
            state->n_domains * state->rule->most < members)
            return false;
    }
    return true;
}

struct tg_rule_state *tg_rules_small_limit(const struct tg_board *board, size_t group)
{
    struct tg_rule_state *ret = NULL;

    for (size_t i = 0; i < board->n_rules; i++) {
        struct tg_rule_state *state = &board->rules[i];

        if (state->rule->most == 0 || !tg_rule_binds(state, &board->groups[group]))
            continue;
        if (ret != NULL || state->rule->most > TG_RULE_FEW)
            return NULL;
        ret = state;
    }
    return ret;
}

void tg_rules_count(struct tg_board *board, size_t group, size_t node, int by)
{
    for (size_t i = 0; i < board->n_rules; i++) {
        struct tg_rule_state *state = &board->rules[i];

        if (state->of_node[node] == TG_NO_DOMAIN || !tg_rule_binds(state, &board->groups[group]))
            continue;
        if (by > 0)
            state->count[state->of_node[node]]++;
        else
            state->count[state->of_node[node]]--;
    }
}

void tg_rules_clear(struct tg_board *board)
{
    for (size_t i = 0; i < board->n_rules; i++) {
        for (size_t k = 0; k < board->rules[i].n_domains; k++)
            board->rules[i].count[k] = 0;
    }
}

bool tg_rules_keep(struct tg_board *board, enum tg_rules_kept kept)
{
    bool different = kept == TG_RULES_ALL;

    tg_board_clear(board);
    for (size_t i = 0; i < board->n_rules; i++) {
        struct tg_rule_state *state = &board->rules[i];
        bool on = kept == TG_RULES_ALL || (kept == TG_RULES_REQUIRED && state->rule->required);

        different = different || on != state->on;
        state->on = on;
        state->chosen = TG_NO_DOMAIN;
    }
    return different;
}

/* --- choices ---------------------------------------------------------------------------------- */

struct choice {
    uint32_t domain;
    size_t room;
};

static int by_room(const void *pa, const void *pb, const void *context)
{
    const struct choice *a = pa, *b = pb;

    (void)context;
    if (a->room != b->room)
        return a->room < b->room ? -1 : 1;
    return a->domain < b->domain ? -1 : a->domain > b->domain;
}

/* Adds the room of the group in each domain; one with too little of it is none. */
static void add_room(struct tg_board *board, const struct tg_rule_state *state, size_t k,
                     const struct tg_scope *scope, size_t *room, struct choice *choices)
{
    const struct tg_board_group *group = &board->groups[k];

    memset(room, 0, state->n_domains * sizeof(*room));
    for (size_t i = 0; i < scope->n; i++) {
        if (tg_rules_reach(board, k, scope->nodes[i]))
            room[state->of_node[scope->nodes[i]]] += group->capacity[scope->nodes[i]];
    }
    for (size_t i = 0; i < state->n_domains; i++) {
        if (room[i] < group->n)
            choices[i].room = SIZE_MAX;
        else if (choices[i].room != SIZE_MAX)
            choices[i].room += room[i];
    }
}

/* The domains that have room for each group that the rule binds, the tightest first. */
static int list_choices(struct tg_board *board, const struct tg_rule_state *state,
                        const struct tg_scope *scope, const void ***ret, size_t *ret_n,
                        struct tg_error *err)
{
    struct choice *choices;
    size_t *room, n = 0;
    int rc = tg_core_alloc(board->arena, state->n_domains, sizeof(*choices), &choices, err);

    if (rc == 0)
        rc = tg_core_alloc(board->arena, state->n_domains, sizeof(*room), &room, err);
    if (rc == 0)
        rc = tg_core_alloc(board->arena, state->n_domains, sizeof(**ret), ret, err);
    if (rc == 0)
        rc = tg_board_read(board, scope, err);
    if (rc < 0)
        return rc;
    for (size_t k = 0; k < board->n_groups; k++) {
        if (tg_rule_binds(state, &board->groups[k]))
            add_room(board, state, k, scope, room, choices);
    }
    for (size_t i = 0; i < state->n_domains; i++) {
        choices[i].domain = (uint32_t)i;
        if (choices[i].room != SIZE_MAX)
            (*ret)[n++] = &choices[i];
    }
    *ret_n = n;
    return tg_core_sort(*ret, n, by_room, NULL, board->arena, err);
}

/* Is a domain to be chosen for it? Not if it binds nobody. */
static bool is_choice(const struct tg_board *board, const struct tg_rule_state *state)
{
    for (size_t k = 0; k < board->n_groups; k++) {
        if (state->rule->most == 0 && tg_rule_binds(state, &board->groups[k]))
            return true;
    }
    return false;
}

/* Rules from i on. Few of them: the API allows 16 at most, each once. */
static int choose(struct tg_board *board, size_t i, const struct tg_scope *scope, bool *ret,
                  struct tg_error *err)
{
    struct tg_rule_state *state;
    const void **choices;
    size_t n = 0;
    int rc;

    while (i < board->n_rules && !is_choice(board, &board->rules[i]))
        i++;
    if (i == board->n_rules) {
        board->choices++;
        return tg_search_all(board, scope, ret, err);
    }
    state = &board->rules[i];
    rc = list_choices(board, state, scope, &choices, &n, err);
    for (size_t k = 0; rc == 0 && !*ret && k < n; k++) {
        if (board->choices >= CHOICES) {
            board->gave_up = true;
            break;
        }
        state->chosen = ((const struct choice *)choices[k])->domain;
        rc = choose(board, i + 1, scope, ret, err);
    }
    state->chosen = TG_NO_DOMAIN;
    return rc;
}

int tg_rules_search(struct tg_board *board, const struct tg_scope *scope, bool *ret,
                    struct tg_error *err)
{
    *ret = false;
    return choose(board, 0, scope, ret, err);
}

int tg_rule_room(const struct tg_board *board, const struct tg_rule_state *state,
                 const struct tg_scope *scope, size_t **ret, struct tg_error *err)
{
    size_t *of_group, *room;
    int rc = tg_core_alloc(board->arena, state->n_domains, sizeof(*room), &room, err);

    if (rc == 0)
        rc = tg_core_alloc(board->arena, state->n_domains, sizeof(*of_group), &of_group, err);
    for (size_t k = 0; rc == 0 && k < board->n_groups; k++) {
        const struct tg_board_group *group = &board->groups[k];

        if (!tg_rule_binds(state, group))
            continue;
        memset(of_group, 0, state->n_domains * sizeof(*of_group));
        for (size_t i = 0; i < scope->n; i++) {
            if (tg_rules_reach(board, k, scope->nodes[i]))
                of_group[state->of_node[scope->nodes[i]]] += group->capacity[scope->nodes[i]];
        }
        for (size_t i = 0; i < state->n_domains; i++)
            room[i] += of_group[i] < group->n ? of_group[i] : group->n;
    }
    *ret = room;
    return rc;
}

int tg_rules_choose(struct tg_board *board, const struct tg_scope *scope, struct tg_error *err)
{
    for (size_t r = 0; r < board->n_rules; r++) {
        board->rules[r].chosen = TG_NO_DOMAIN;
        board->rules[r].room = 0;
    }
    for (size_t r = 0; r < board->n_rules; r++) {
        struct tg_rule_state *state = &board->rules[r];
        size_t *room;
        int rc;

        if (!is_choice(board, state))
            continue;
        rc = tg_rule_room(board, state, scope, &room, err);
        if (rc < 0)
            return rc;
        for (size_t i = 0; i < state->n_domains; i++) {
            if (state->chosen != TG_NO_DOMAIN && room[i] <= state->room)
                continue;
            state->chosen = (uint32_t)i;
            state->room = room[i];
        }
    }
    return 0;
}
