/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/pack.h"

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
        rc = tg_search_all(board, &domains->items[i].scope, ret, err);
    return rc;
}

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
            rc = tg_search_all(board, &scope, ret, err);
        }
        end -= equals;
    }
    return rc;
}

/* As few domains as possible: more and more of the roomiest ones. */
static int search_few(struct tg_board *board, const struct tg_domains *domains,
                      const struct tg_scope *within, bool *ret, struct tg_error *err)
{
    const void **order;
    size_t *nodes;
    struct tg_scope base = {.n = 0};
    int rc = tg_core_alloc(board->arena, domains->n, sizeof(*order), &order, err);

    if (rc == 0)
        rc = tg_core_alloc(board->arena, within->n, sizeof(*nodes), &nodes, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < domains->n; i++)
        order[i] = &domains->items[i];
    rc = tg_core_sort(order, domains->n, compare_places, NULL, board->arena, err);
    base.nodes = nodes;
    for (size_t n = 1; rc == 0 && !*ret && n < domains->n; n++) {
        struct tg_scope next;

        extend(nodes, &base, order[n - 1]);
        next = base;
        extend(nodes, &next, order[n]);
        /* The roomiest next one must do before a tighter one is looked for. */
        if (tg_search_may_fit(board, &next))
            rc = search_last(board, (const void *const *)order, domains->n, n, nodes, &base, ret,
                             err);
    }
    return rc;
}

/* One domain of the preferred level for all, in whichever domain of the required one. inner: the
 * preferred domains in each. */
static int search_preferred(const struct tg_pack *pack, struct tg_board *board,
                            struct tg_domains *inner, bool *ret, struct tg_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < pack->required.n; i++)
        rc = tg_domains_find(board, board->request->pack_preferred, &pack->required.items[i].scope,
                             &inner[i], err);
    for (size_t i = 0; rc == 0 && !*ret && i < pack->required.n; i++)
        rc = search_single(board, &inner[i], ret, err);
    return rc;
}

int tg_pack_search(const struct tg_pack *pack, struct tg_board *board, bool *ret,
                   struct tg_error *err)
{
    bool preferred = board->request->pack_preferred != NULL;
    struct tg_domains *inner = NULL;
    int rc = tg_core_alloc(board->arena, pack->required.n, sizeof(*inner), &inner, err);

    *ret = false;
    if (rc == 0 && preferred)
        rc = search_preferred(pack, board, inner, ret, err);
    for (size_t i = 0; rc == 0 && !*ret && i < pack->required.n; i++) {
        const struct tg_scope *scope = &pack->required.items[i].scope;

        if (!tg_search_may_fit(board, scope))
            continue;
        if (preferred)
            rc = search_few(board, &inner[i], scope, ret, err);
        /* Nodes without the preferred level's label come last. */
        if (rc == 0 && !*ret)
            rc = tg_search_all(board, scope, ret, err);
    }
    return rc;
}
