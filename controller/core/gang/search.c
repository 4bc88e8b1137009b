/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/search.h"

#include "controller/core/gang/offer.h"
#include "controller/core/gang/rule.h"
#include "controller/core/model/sort.h"

bool tg_search_may_fit(const struct tg_board *board, const struct tg_scope *scope)
{
    if (!tg_rules_may_hold(board))
        return false;
    for (size_t k = 0; k < board->n_groups; k++) {
        size_t room = 0;

        for (size_t i = 0; i < scope->n && room < board->groups[k].n; i++)
            room += tg_rules_reach(board, k, scope->nodes[i])
                        ? board->groups[k].capacity[scope->nodes[i]]
                        : 0;
        if (room < board->groups[k].n)
            return false;
    }
    return true;
}

/* a before b: the better one by the policy, then by name. */
static bool before(const struct tg_board *board, const struct tg_candidate *a,
                   const struct tg_candidate *b)
{
    const struct tg_fleet_node *nodes = board->fleet->nodes;

    if (tg_pack_rating_better(&a->rating, &b->rating))
        return true;
    return !tg_pack_rating_better(&b->rating, &a->rating) &&
           nodes[a->node].order < nodes[b->node].order;
}

/* board->order as a heap, the best candidate on top. */
static void sift_down(struct tg_board *board, size_t n, size_t at)
{
    const void **heap = board->order;
    const void *item = heap[at];

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= n)
            break;
        if (child + 1 < n && before(board, heap[child + 1], heap[child]))
            child++;
        if (!before(board, heap[child], item))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
}

static void rate(const struct tg_board_group *group, struct tg_candidate *c)
{
    tg_rank_rate(group->rank, group->type, tg_rank_class(group->rank, c->node), &c->rating);
}

/* Where the candidate goes: at n, in the place of a worse one, or nowhere (TG_NO_INDEX). A domain
 * that takes few more members needs only as many candidates, the best: what is put on one leaves
 * the others as they are. */
static size_t shortlist(const struct tg_board *board, struct tg_rule_state *limit,
                        const struct tg_candidate *c, size_t n)
{
    uint32_t domain = limit->of_node[c->node], worst = 0;
    uint32_t *few = limit->few + domain * TG_RULE_FEW;
    const struct tg_candidate *listed = board->candidates;

    if (limit->n_few[domain] < limit->rule->most - limit->count[domain]) {
        few[limit->n_few[domain]++] = (uint32_t)n;
        return n;
    }
    for (uint32_t i = 1; i < limit->n_few[domain]; i++)
        worst = before(board, &listed[few[worst]], &listed[few[i]]) ? i : worst;
    return before(board, c, &listed[few[worst]]) ? few[worst] : TG_NO_INDEX;
}

static void add_candidate(struct tg_board *board, const struct tg_board_group *group,
                          struct tg_rule_state *limit, struct tg_candidate c, size_t *n)
{
    size_t at = *n;

    rate(group, &c);
    if (limit != NULL)
        at = shortlist(board, limit, &c, at);
    if (at == TG_NO_INDEX)
        return;
    board->candidates[at] = c;
    if (at == *n)
        board->order[(*n)++] = &board->candidates[at];
}

/* The nodes that take at least one member of the group now: a heap. */
static int find_candidates(struct tg_board *board, const struct tg_scope *scope, size_t k,
                           size_t *ret_n, struct tg_error *err)
{
    const struct tg_board_group *group = &board->groups[k];
    struct tg_rule_state *limit = tg_rules_small_limit(board, k);
    size_t n = 0;

    for (size_t i = 0; limit != NULL && i < limit->n_domains; i++)
        limit->n_few[i] = 0;
    for (size_t i = 0; i < scope->n; i++) {
        size_t node = scope->nodes[i], copies = group->capacity[node];

        if (!tg_rules_allow(board, k, node))
            continue;
        if (board->head[node] != TG_NO_INDEX && copies > 0) {
            int rc = tg_board_copies(board, node, k, copies, &copies, err);

            if (rc < 0)
                return rc;
        }
        if (copies > 0)
            add_candidate(board, group, limit,
                          (struct tg_candidate){.node = node, .copies = copies}, &n);
    }
    for (size_t i = n / 2; i-- > 0;)
        sift_down(board, n, i);
    *ret_n = n;
    return 0;
}

/* Member after member to the node that is best for it then. */
static void put_group(struct tg_board *board, size_t k, size_t n, size_t *ret_placed)
{
    const struct tg_board_group *group = &board->groups[k];
    size_t member = group->first, end = group->first + group->n;

    while (n > 0 && member < end) {
        /* The domain of the best may be full by now. */
        if (!tg_rules_allow(board, k, ((const struct tg_candidate *)board->order[0])->node)) {
            board->order[0] = board->order[--n];
            if (n > 0)
                sift_down(board, n, 0);
            continue;
        }
        struct tg_candidate *best =
            &board->candidates[(const struct tg_candidate *)board->order[0] - board->candidates];

        tg_board_put(board, member++, best->node);
        tg_rank_put(group->rank, best->node, group->type);
        if (--best->copies == 0 || !tg_rules_allow(board, k, best->node))
            board->order[0] = board->order[--n];
        else
            rate(group, best);
        if (n > 0)
            sift_down(board, n, 0);
    }
    *ret_placed += member - group->first;
}

int tg_search_best_fit(struct tg_board *board, const struct tg_scope *scope, size_t *ret_placed,
                       struct tg_error *err)
{
    int rc = 0;

    *ret_placed = 0;
    rc = tg_board_read(board, scope, err);
    tg_board_clear(board);
    for (size_t k = 0; rc == 0 && k < board->n_groups; k++) {
        size_t n = 0;

        rc = find_candidates(board, scope, k, &n, err);
        if (rc == 0)
            put_group(board, k, n, ret_placed);
    }
    for (size_t k = 0; k < board->n_groups; k++)
        tg_rank_take_all(board->groups[k].rank);
    return rc;
}

/* Nodes among which the group finds the best for each of its members: no more come into question
 * than it has members, for what is put on one leaves the others as they are; those where members of
 * other groups are, and then as many that are empty. */
static int list_best(struct tg_board *board, size_t k, struct tg_scope *ret, struct tg_error *err)
{
    struct tg_board_group *group = &board->groups[k];
    size_t *best, *nodes, n_best = 0, n = 0;
    int rc =
        tg_offer_list(group->offer, group->n + group->first, board->arena, &best, &n_best, err);

    if (rc == 0)
        rc = tg_core_alloc_unset(board->arena, n_best + board->n_members, sizeof(*nodes), &nodes,
                                 err);
    for (size_t m = 0; rc == 0 && m < board->n_members; m++) {
        size_t node = board->members[m].node;

        if (node != TG_NO_INDEX && board->head[node] == m)
            nodes[n++] = node;
    }
    for (size_t i = 0; rc == 0 && i < n_best; i++) {
        if (!board->read[best[i]] || board->head[best[i]] == TG_NO_INDEX)
            nodes[n++] = best[i];
    }
    *ret = (struct tg_scope){.nodes = nodes, .n = n};
    return rc < 0 ? rc : tg_board_read(board, ret, err);
}

int tg_search_anywhere(struct tg_board *board, size_t *ret_placed, struct tg_error *err)
{
    int rc = 0;

    *ret_placed = 0;
    tg_board_clear(board);
    for (size_t k = 0; rc == 0 && k < board->n_groups; k++) {
        struct tg_scope best;
        size_t n = 0;

        rc = list_best(board, k, &best, err);
        if (rc == 0)
            rc = find_candidates(board, &best, k, &n, err);
        if (rc == 0)
            put_group(board, k, n, ret_placed);
    }
    for (size_t k = 0; k < board->n_groups; k++)
        tg_rank_take_all(board->groups[k].rank);
    return rc;
}

/* The exhaustive search: member after member, each over the nodes of the scope. */
struct search {
    struct tg_board *board;
    const struct tg_scope *scope;
    size_t *cursor; /* of each member: where in the scope it stands or is to be tried next */
};

/* Before the first member of a group: is there room for all of them beside what is placed? */
static int group_may_fit(struct search *s, size_t member, bool *ret, struct tg_error *err)
{
    struct tg_board *board = s->board;
    size_t k = board->members[member].group, room = 0;
    const struct tg_board_group *group = &board->groups[k];

    *ret = true;
    if (member != group->first)
        return 0;
    for (size_t i = 0; i < s->scope->n && room < group->n; i++) {
        size_t node = s->scope->nodes[i], copies = group->capacity[node];

        if (!tg_rules_allow(board, k, node))
            continue;
        if (board->head[node] != TG_NO_INDEX && copies > 0) {
            int rc = tg_board_copies(board, node, k, copies, &copies, err);

            board->steps++;
            if (rc < 0)
                return rc;
        }
        room += copies;
    }
    *ret = room >= group->n;
    return 0;
}

/* Puts the member on the next node that takes it. */
static int advance(struct search *s, size_t member, bool *ret, struct tg_error *err)
{
    struct tg_board *board = s->board;
    size_t k = board->members[member].group;

    *ret = false;
    for (; s->cursor[member] < s->scope->n && board->steps < board->max_steps;
         s->cursor[member]++) {
        size_t node = s->scope->nodes[s->cursor[member]], copies = 0;
        int rc = 0;

        board->steps++;
        if (board->groups[k].capacity[node] == 0 || !tg_rules_allow(board, k, node))
            continue;
        rc = tg_board_copies(board, node, k, 1, &copies, err);
        if (rc < 0)
            return rc;
        if (copies == 1) {
            tg_board_put(board, member, node);
            *ret = true;
            return 0;
        }
    }
    return 0;
}

/* Where the search for a member begins: like ones take nodes in order, since exchanging them
 * changes nothing. */
static size_t first_cursor(const struct search *s, size_t member)
{
    return member == s->board->groups[s->board->members[member].group].first
               ? 0
               : s->cursor[member - 1];
}

static int search_everything(struct search *s, bool *ret, struct tg_error *err)
{
    struct tg_board *board = s->board;
    size_t member = 0;
    bool fresh = true;

    tg_board_clear(board);
    *ret = false;
    while (member < board->n_members) {
        bool placed = true;
        int rc = 0;

        if (fresh) {
            s->cursor[member] = first_cursor(s, member);
            rc = group_may_fit(s, member, &placed, err);
        }
        if (rc == 0 && placed)
            rc = advance(s, member, &placed, err);
        if (rc < 0)
            return rc;
        if (board->steps >= board->max_steps) {
            board->gave_up = true;
            return 0;
        }
        fresh = placed;
        if (placed) {
            member++;
            continue;
        }
        if (member == 0)
            return 0;
        tg_board_take(board, --member);
        s->cursor[member]++;
    }
    *ret = true;
    return 0;
}

int tg_search_all(struct tg_board *board, const struct tg_scope *scope, bool *ret,
                  struct tg_error *err)
{
    struct search s = {.board = board, .scope = scope, .cursor = NULL};
    size_t placed = 0;
    int rc = 0;

    *ret = false;
    rc = tg_board_read(board, scope, err);
    if (rc < 0 || !tg_search_may_fit(board, scope))
        return rc;
    rc = tg_search_best_fit(board, scope, &placed, err);
    *ret = rc == 0 && placed == board->n_members;
    /* Limits of one level, or of none, leave best fit exact for members that are alike. */
    if (rc < 0 || *ret || (board->n_groups < 2 && board->n_rules < 2) || board->gave_up)
        return rc;
    if (board->cursor == NULL)
        rc = tg_core_alloc(board->arena, board->n_members, sizeof(*board->cursor), &board->cursor,
                           err);
    s.cursor = board->cursor;
    return rc < 0 ? rc : search_everything(&s, ret, err);
}
