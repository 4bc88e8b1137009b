/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/pack.h"

#include "controller/core/gang/rule.h"
#include "controller/core/model/sort.h"

int tg_pack_init(struct tg_pack *pack, struct tg_board *board, struct tg_error *err)
{
    struct tg_fleet_walk walk = {.next = 0};
    size_t *nodes, node;
    int rc = tg_core_alloc(board->arena, board->fleet->n_nodes, sizeof(*nodes), &nodes, err);

    *pack = (struct tg_pack){.everything = {.nodes = nodes}};
    if (rc < 0)
        return rc;
    while ((node = tg_fleet_next_node(board->fleet, &walk)) != TG_NO_INDEX)
        nodes[pack->everything.n++] = node;
    if (board->request->pack_required != NULL)
        return tg_domains_find(board, board->request->pack_required, &pack->everything,
                               &pack->required, err);
    rc = tg_core_alloc(board->arena, 1, sizeof(*pack->required.items), &pack->required.items, err);
    if (rc == 0)
        pack->required.items[pack->required.n++] =
            (struct tg_domain){.name = "", .scope = pack->everything};
    return rc;
}

/* Domains by how many members have room there, the most first; the tighter one among equals. */
static int compare_places(const void *pa, const void *pb, const void *context)
{
    const struct tg_domain *a = pa, *b = pb;

    (void)context;
    return a->places == b->places ? 0 : (a->places > b->places ? -1 : 1);
}

/* All members in one domain of the level, the tightest first. */
static int search_single(struct tg_board *board, const struct tg_domains *domains, bool *ret,
                         struct tg_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && !*ret && i < domains->n; i++)
        rc = tg_rules_search(board, &domains->items[i].scope, ret, err);
    return rc;
}

/* Domains within a scope, the roomiest first; nodes: room for the nodes of all. */
struct few {
    struct tg_domains domains; /* the tightest first */
    const void **order;
    size_t n;
    size_t *nodes;
};

static void extend(size_t *nodes, struct tg_scope *scope, const struct tg_domain *domain)
{
    for (size_t i = 0; i < domain->scope.n; i++)
        nodes[scope->n++] = domain->scope.nodes[i];
}

/* How many of the domains that end at `end` have as many places as the last of them. */
static size_t equals_before(const void *const *order, size_t from, size_t end)
{
    size_t n = 1;

    while (end - n > from && compare_places(order[end - n - 1], order[end - 1], NULL) == 0)
        n++;
    return n;
}

/* base holds the `from` roomiest domains and one more is needed: the one with the fewest places
 * that does, of equal ones the tightest. */
static int search_last(struct tg_board *board, const void *const *order, size_t n, size_t from,
                       size_t *nodes, const struct tg_scope *base, bool *ret, struct tg_error *err)
{
    int rc = 0;

    for (size_t end = n; rc == 0 && !*ret && end > from;) {
        size_t equals = equals_before(order, from, end);

        for (size_t i = end - equals; rc == 0 && !*ret && i < end; i++) {
            struct tg_scope scope = *base;

            extend(nodes, &scope, order[i]);
            rc = tg_rules_search(board, &scope, ret, err);
        }
        end -= equals;
    }
    return rc;
}

/* Ways to choose domains that are tried for one number of them, and how many are chosen at most. */
enum { CHOICES_MAX = 1000, CHOSEN_MAX = 8 };

/* The next ascending choice of n numbers below `of`. */
static bool next_choice(size_t *chosen, size_t n, size_t of)
{
    size_t k = n;

    while (k > 0 && chosen[k - 1] == of - (n - (k - 1)))
        k--;
    if (k == 0)
        return false;
    chosen[k - 1]++;
    for (; k < n; k++)
        chosen[k] = chosen[k - 1] + 1;
    return true;
}

/* For members of several kinds the roomiest domains need not be the right ones: every choice of n,
 * the roomier ones first, if there are not too many. */
static int search_choices(struct tg_board *board, const struct few *few, size_t n, bool *ret,
                          struct tg_error *err)
{
    size_t chosen[CHOSEN_MAX];
    bool more = n <= CHOSEN_MAX && n <= few->n;
    int rc = 0;

    for (size_t k = 0; more && k < n; k++)
        chosen[k] = k;
    for (unsigned tries = 0; rc == 0 && !*ret && more && tries < CHOICES_MAX; tries++) {
        struct tg_scope scope = {.nodes = few->nodes};

        for (size_t k = 0; k < n; k++)
            extend(few->nodes, &scope, few->order[chosen[k]]);
        rc = tg_rules_search(board, &scope, ret, err);
        more = next_choice(chosen, n, few->n);
    }
    return rc;
}

/* The preferred domains within a domain of the required level; none where there is no room. */
static int open_few(struct tg_board *board, const struct tg_scope *within, struct few *few,
                    struct tg_error *err)
{
    int rc = 0;

    if (!tg_search_may_fit(board, within))
        return 0;
    rc = tg_domains_find(board, board->request->pack_preferred, within, &few->domains, err);
    if (rc == 0)
        rc = tg_core_alloc(board->arena, few->domains.n, sizeof(*few->order), &few->order, err);
    if (rc == 0)
        rc = tg_core_alloc(board->arena, within->n, sizeof(*few->nodes), &few->nodes, err);
    if (rc < 0)
        return rc;
    few->n = few->domains.n;
    for (size_t i = 0; i < few->n; i++)
        few->order[i] = &few->domains.items[i];
    return tg_core_sort(few->order, few->n, compare_places, NULL, board->arena, err);
}

/* All members in n of the domains: the roomiest n - 1 and one more. */
static int search_few(struct tg_board *board, const struct few *few, size_t n, bool *ret,
                      struct tg_error *err)
{
    struct tg_scope base = {.nodes = few->nodes}, next;
    int rc = 0;

    if (n > few->n)
        return 0;
    for (size_t i = 0; i + 1 < n; i++)
        extend(few->nodes, &base, few->order[i]);
    next = base;
    extend(few->nodes, &next, few->order[n - 1]);
    /* The roomiest next one must do before a tighter one is looked for. */
    if (tg_search_may_fit(board, &next))
        rc = search_last(board, (const void *const *)few->order, few->n, n - 1, few->nodes, &base,
                         ret, err);
    if (rc == 0 && !*ret && board->n_groups > 1)
        rc = search_choices(board, few, n, ret, err);
    return rc;
}

/* As few domains of the preferred level as can be, in whichever domain of the required one; of
 * equally few in the tightest. */
static int search_preferred(const struct tg_pack *pack, struct tg_board *board, bool *ret,
                            struct tg_error *err)
{
    struct few *few;
    size_t most = 0;
    int rc = tg_core_alloc(board->arena, pack->required.n, sizeof(*few), &few, err);

    for (size_t i = 0; rc == 0 && i < pack->required.n; i++) {
        rc = open_few(board, &pack->required.items[i].scope, &few[i], err);
        most = few[i].n > most ? few[i].n : most;
    }
    for (size_t n = 1; rc == 0 && !*ret && n <= most; n++) {
        for (size_t i = 0; rc == 0 && !*ret && i < pack->required.n; i++)
            rc = n == 1 ? search_single(board, &few[i].domains, ret, err)
                        : search_few(board, &few[i], n, ret, err);
    }
    return rc;
}

int tg_pack_search(const struct tg_pack *pack, struct tg_board *board, bool *ret,
                   struct tg_error *err)
{
    int rc = 0;

    *ret = false;
    if (board->request->pack_preferred != NULL)
        rc = search_preferred(pack, board, ret, err);
    /* Nodes without the preferred level's label come last. */
    for (size_t i = 0; rc == 0 && !*ret && i < pack->required.n; i++)
        rc = tg_rules_search(board, &pack->required.items[i].scope, ret, err);
    return rc;
}
