/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/runtime/base/str.h"
#include "controller/core/explain/parts.h"
#include "controller/core/fit/room.h"
#include "controller/core/fit/rule.h"

/* --- the node -------------------------------------------------------------------------------- */

struct rank { /* of a node; more is better, the first difference counts */
    size_t passes, enough, short_of, free;
};

static struct rank rank_of(const struct tg_explaining *e, size_t node)
{
    size_t free = e->left_on[node] + e->wide, needed = e->group->devices;

    return (struct rank){.passes = e->group->failed[node] == tg_fit_rules_count,
                         .enough = free < needed ? free : needed,
                         .short_of = e->short_of[node],
                         .free = free};
}

static bool is_better(const struct tg_explaining *e, const struct rank *a, size_t node_a,
                      const struct rank *b, size_t node_b)
{
    const struct tg_fleet_node *nodes = e->board->fleet->nodes;

    if (a->passes != b->passes)
        return a->passes > b->passes;
    if (a->enough != b->enough)
        return a->enough > b->enough;
    if (a->short_of != b->short_of)
        return a->short_of > b->short_of;
    if (a->free != b->free)
        return a->free > b->free;
    return nodes[node_a].order < nodes[node_b].order;
}

static size_t find_best_node(const struct tg_explaining *e)
{
    size_t best = TG_NO_INDEX;
    struct rank best_rank = {0};

    for (size_t i = 0; i < e->board->fleet->n_nodes; i++) {
        struct rank rank;

        if (!e->in_scope[i] || e->board->fleet->nodes[i].object == NULL)
            continue;
        rank = rank_of(e, i);
        if (best == TG_NO_INDEX || is_better(e, &rank, i, &best_rank, best)) {
            best = i;
            best_rank = rank;
        }
    }
    return best;
}

static int64_t amount_of(const struct tg_demand *demand, const char *resource)
{
    for (size_t i = 0; i < demand->n; i++) {
        if (strcmp(demand->items[i].name, resource) == 0)
            return demand->items[i].value;
    }
    return 0;
}

/* Room there beside the members that are on the board. */
static void measure_room(const struct tg_explaining *e, size_t node, struct tg_explained_node *ret)
{
    struct tg_board *board = e->board;
    const struct tg_demand *demand = &e->group->demand;
    size_t n_taken = 0;

    for (size_t m = board->head[node]; m != TG_NO_INDEX; m = board->members[m].next)
        board->taken[n_taken++] = &board->groups[board->members[m].group].demand;
    if (tg_room_copies(&board->fleet->nodes[node], board->taken, n_taken, demand, 1,
                       &ret->resource) > 0) {
        ret->resource = NULL;
        return;
    }
    ret->wanted = amount_of(demand, ret->resource);
    ret->left = tg_fleet_room_left(&board->fleet->nodes[node], ret->resource);
    for (size_t i = 0; i < n_taken; i++) {
        int64_t amount = amount_of(board->taken[i], ret->resource);

        ret->left = ret->left > amount ? ret->left - amount : 0;
    }
    ret->left = ret->left < 0 ? 0 : ret->left;
}

static void tell_node(struct tg_explaining *e, size_t node)
{
    struct tg_explained_node *ret = &e->out->best_node;
    size_t failed = e->group->failed[node];

    *ret = (struct tg_explained_node){.name = e->board->fleet->nodes[node].name,
                                      .free = e->left_on[node] + e->wide,
                                      .needed = e->group->devices};
    if (failed < tg_fit_rules_count)
        ret->rule = tg_fit_rules[failed].reason;
    measure_room(e, node, ret);
}

/* --- the domain ------------------------------------------------------------------------------ */

static void tell_domain(struct tg_explaining *e)
{
    const struct tg_level *level = e->board->request->pack_required;
    struct tg_explained_domain *ret = &e->out->best_domain;

    if (level == NULL)
        return;
    ret->level = level->name;
    ret->node_label = level->node_label;
    ret->domains = e->pack.required.n;
    if (e->domain == NULL)
        return;
    ret->name = tg_explain_domain_name(level, e->domain->name);
    ret->placed = e->out->placed;
    ret->free = e->domain->free;
}

/* --- holders --------------------------------------------------------------------------------- */

static void note_holder(struct tg_explaining *e, size_t device, bool on_best)
{
    const struct tg_fleet_device *row = &e->board->fleet->devices[device];
    struct tg_explanation *out = e->out;
    struct tg_explained_holder *holder = out->holders;

    while (holder < out->holders + out->n_holders && strcmp(holder->name, row->holder) != 0)
        holder++;
    if (holder == out->holders + TG_EXPLAIN_HOLDERS) {
        out->more_holders = true;
        return;
    }
    if (holder == out->holders + out->n_holders) {
        *holder = (struct tg_explained_holder){
            .name = row->holder,
            .node = row->node == TG_NO_INDEX ? NULL : e->board->fleet->nodes[row->node].name,
            .on_best_node = on_best};
        out->n_holders++;
    }
    holder->devices++;
    holder->counted = holder->counted || (row->node != TG_NO_INDEX && e->in_scope[row->node] &&
                                          e->group->failed[row->node] == tg_fit_rules_count);
}

/* What is made of the same counters may be in the way, whatever it is. */
static bool is_in_the_way(const struct tg_explaining *e, size_t device)
{
    for (size_t i = 0; i < e->out->n_requests; i++) {
        enum tg_ask_answer answer = TG_ASK_NO;

        if (tg_ask_answer(&e->board->book, e->slots[i]->ask, device, &answer, NULL) == 0 &&
            answer != TG_ASK_NO)
            return true;
    }
    return e->board->fleet->devices[device].exact;
}

static void list_holders(struct tg_explaining *e, size_t best)
{
    const struct tg_fleet *fleet = e->board->fleet;

    if (e->group->admin || e->group->devices == 0)
        return;
    for (size_t i = 0; best != TG_NO_INDEX && i < fleet->nodes[best].n_devices; i++) {
        size_t device = fleet->nodes[best].devices[i];

        if (fleet->devices[device].holder != NULL && is_in_the_way(e, device))
            note_holder(e, device, true);
    }
    for (size_t i = 0; i < e->n_held; i++) {
        if (fleet->devices[e->held[i]].node != best || best == TG_NO_INDEX)
            note_holder(e, e->held[i], false);
    }
    if (e->n_held == TG_EXPLAIN_HELD)
        e->out->more_holders = true;
}

/* Names are those of the fleet, in which trials take claims off and put them back. */
static int keep_names(struct tg_explaining *e, struct tg_error *err)
{
    for (size_t i = 0; i < e->out->n_holders; i++) {
        e->out->holders[i].name = tg_arena_strdup(e->arena, e->out->holders[i].name);
        if (e->out->holders[i].name == NULL)
            return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                "the decision needs more memory than its budget");
    }
    return 0;
}

static void find_residents(struct tg_explaining *e)
{
    for (size_t i = 0; e->in->find != NULL && i < e->out->n_holders; i++) {
        struct tg_explained_holder *holder = &e->out->holders[i];
        struct tg_resident resident = {.claim = NULL};

        if (!e->in->find(e->in->data, holder->name, &resident))
            continue;
        holder->until = resident.until;
        if (resident.n_pods > 0)
            holder->pod = tg_arena_printf(e->arena, "%s/%s",
                                          tg_or(resident.pods[0]->metadata->namespace_, ""),
                                          tg_or(resident.pods[0]->metadata->name, "?"));
    }
}

/* --- can it ever fit? ------------------------------------------------------------------------ */

static bool is_shared_somewhere(const struct tg_board *board)
{
    for (size_t i = 0; i < board->fleet->n_nodes; i++) {
        if (board->shared[i])
            return true;
    }
    return false;
}

/* Members that the nodes of the scope would take if nobody held anything, by number. */
static size_t most_members(const struct tg_explaining *e, const struct tg_scope *scope)
{
    size_t n = 0;

    for (size_t i = 0; i < scope->n; i++)
        n += e->whole_on[scope->nodes[i]] / e->group->devices;
    return n;
}

/* By numbers alone, which prove that it cannot, never that it can. */
static void judge_ever(struct tg_explaining *e)
{
    const struct tg_board *board = e->board;
    size_t node = 0, members = 0;

    if (e->group->devices == 0 || e->group->admin || is_shared_somewhere(board))
        return;
    for (size_t i = 0; i < board->fleet->n_nodes; i++)
        node = e->whole_on[i] > node ? e->whole_on[i] : node;
    node += e->whole_wide;
    e->out->most = node;
    e->out->never = e->out->never_one = node > 0 && node < e->group->devices;
    if (e->out->never || board->n_groups > 1 || e->whole_wide > 0 || node == 0)
        return;
    for (size_t i = 0; i < e->pack.required.n; i++) {
        size_t n = most_members(e, &e->pack.required.items[i].scope);

        members = n > members ? n : members;
    }
    e->out->never = members < board->n_members;
    e->out->most = members;
}

/* --- nodes by rule --------------------------------------------------------------------------- */

static void note_rule(struct tg_explanation *out, size_t failed)
{
    struct tg_explained_rule *rule = out->rules;

    while (rule < out->rules + out->n_rules && rule->rule != tg_fit_rules[failed].reason)
        rule++;
    if (rule == out->rules + TG_EXPLAIN_RULES)
        return;
    if (rule == out->rules + out->n_rules)
        out->rules[out->n_rules++] = (struct tg_explained_rule){.rule = tg_fit_rules[failed].reason,
                                                                .text = tg_fit_rules[failed].text};
    rule->nodes++;
}

static int compare_rules(const struct tg_explained_rule *a, const struct tg_explained_rule *b)
{
    size_t i = 0, k = 0;

    while (tg_fit_rules[i].reason != a->rule)
        i++;
    while (tg_fit_rules[k].reason != b->rule)
        k++;
    return i < k ? -1 : i > k;
}

static void sort_rules(struct tg_explanation *out)
{
    for (size_t i = 1; i < out->n_rules; i++) {
        for (size_t k = i; k > 0 && compare_rules(&out->rules[k - 1], &out->rules[k]) > 0; k--) {
            struct tg_explained_rule rule = out->rules[k];

            out->rules[k] = out->rules[k - 1];
            out->rules[k - 1] = rule;
        }
    }
}

static void count_nodes(struct tg_explaining *e)
{
    struct tg_explained_supply *supply = &e->out->supply;

    for (size_t i = 0; i < e->board->fleet->n_nodes; i++) {
        size_t failed = e->group->failed[i], here = e->left_on[i] + e->wide;

        if (!e->in_scope[i])
            continue;
        e->out->nodes++;
        if (failed < tg_fit_rules_count)
            note_rule(e->out, failed);
        if (failed != tg_fit_rules_count)
            continue;
        e->out->nodes_fit++;
        supply->nodes += here > 0 ? 1 : 0;
        supply->most = here > supply->most ? here : supply->most;
    }
    sort_rules(e->out);
}

static void tell_bad_pools(struct tg_explaining *e)
{
    struct tg_fleet_bad_pool pool;

    e->out->bad_pools = e->board->fleet->n_bad_pools;
    if (!tg_fleet_bad_pool(e->board->fleet, &pool))
        return;
    e->out->bad_pool = tg_arena_printf(e->arena, "%s/%s", pool.driver, pool.pool);
    e->out->bad_pool_why = pool.why;
}

int tg_explain_closest(struct tg_explaining *e, struct tg_error *err)
{
    size_t best = find_best_node(e);
    int rc;

    count_nodes(e);
    tell_bad_pools(e);
    if (best != TG_NO_INDEX)
        tell_node(e, best);
    tell_domain(e);
    list_holders(e, best);
    rc = keep_names(e, err);
    if (rc < 0)
        return rc;
    find_residents(e);
    judge_ever(e);
    return 0;
}
