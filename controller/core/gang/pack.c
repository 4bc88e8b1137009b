/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/pack.h"

#include "controller/core/fit/rule.h"
#include "controller/core/gang/rule.h"
#include "controller/core/model/sort.h"

int tg_pack_init(struct tg_pack *pack, struct tg_board *board, struct tg_error *err)
{
    int rc = 0;

    *pack = (struct tg_pack){.required = {.n = 0}};
    if (board->request->pack_required != NULL)
        return tg_domains_find(board, board->request->pack_required, NULL, &pack->required, err);
    rc = tg_core_alloc(board->arena, 1, sizeof(*pack->required.items), &pack->required.items, err);
    if (rc == 0)
        rc = tg_domain_whole(board, pack->required.items, err);
    pack->required.n = 1;
    return rc;
}

/* Rows of the fleet that are no node take nobody: what was not read is not set. */
static void blank_rows(struct tg_board *board)
{
    for (size_t i = 0; i < board->fleet->n_nodes; i++) {
        if (board->read[i])
            continue;
        board->head[i] = TG_NO_INDEX;
        board->used[i] = 0;
        board->free_any[i] = 0;
        board->free_wanted[i] = 0;
        board->shared[i] = false;
        for (size_t k = 0; k < board->n_groups; k++) {
            board->groups[k].failed[i] = (unsigned char)(tg_fit_rules_count + 1);
            board->groups[k].capacity[i] = 0;
            board->groups[k].free[i] = 0;
            board->groups[k].exact_on[i] = false;
        }
    }
}

int tg_pack_open(struct tg_pack *pack, struct tg_board *board, struct tg_error *err)
{
    int rc = tg_board_everything(board, &pack->everything, err);

    if (rc == 0)
        rc = tg_board_read(board, &pack->everything, err);
    if (rc == 0)
        blank_rows(board);
    return rc < 0 ? rc : tg_domains_open(board, &pack->required, err);
}

/* Is it the whole fleet, and do sums tell all about it? */
static bool is_anywhere(const struct tg_board *board, const struct tg_domain *domain)
{
    return domain->regions == NULL && domain->scope.nodes == NULL && board->n_rules == 0;
}

/* All members in the domain. */
static int search_domain(struct tg_board *board, struct tg_domain *domain, bool *ret,
                         struct tg_error *err)
{
    size_t placed = 0;
    int rc = 0;

    if (!tg_domain_may_hold(board, domain))
        return 0;
    if (is_anywhere(board, domain))
        rc = tg_search_anywhere(board, &placed, err);
    *ret = rc == 0 && placed == board->n_members;
    if (rc < 0 || *ret)
        return rc;
    rc = tg_domain_open(board, domain, err);
    return rc < 0 ? rc : tg_rules_search(board, &domain->scope, ret, err);
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
        rc = search_domain(board, &domains->items[i], ret, err);
    return rc;
}

/* Domains within a scope, the roomiest first; nodes: room for the nodes of all. */
struct few {
    struct tg_domains domains; /* the tightest first */
    const void **order;
    size_t n;
    size_t *nodes;
    size_t *rooms; /* of each group in the `summed` roomiest together */
    size_t summed;
};

static struct tg_domain *domain_at(const struct few *few, size_t i)
{
    return &few->domains.items[(const struct tg_domain *)few->order[i] - few->domains.items];
}

/* One domain more. */
static int extend(struct tg_board *board, const struct few *few, size_t i, struct tg_scope *scope,
                  struct tg_error *err)
{
    struct tg_domain *domain = domain_at(few, i);
    int rc = tg_domain_open(board, domain, err);

    for (size_t k = 0; rc == 0 && k < domain->scope.n; k++)
        few->nodes[scope->n++] = domain->scope.nodes[k];
    return rc;
}

static void add_rooms(const struct tg_board *board, size_t *rooms, const struct tg_domain *domain)
{
    for (size_t k = 0; k < board->n_groups; k++)
        rooms[k] += domain->rooms[k];
}

/* With one domain more, is there room for each group for itself? */
static bool suffices(const struct tg_board *board, const size_t *rooms,
                     const struct tg_domain *domain)
{
    for (size_t k = 0; k < board->n_groups; k++) {
        if (rooms[k] + domain->rooms[k] < board->groups[k].n)
            return false;
    }
    return true;
}

/* How many of the domains that end at `end` have as many places as the last of them. */
static size_t equals_before(const void *const *order, size_t from, size_t end)
{
    size_t n = 1;

    while (end - n > from && compare_places(order[end - n - 1], order[end - 1], NULL) == 0)
        n++;
    return n;
}

/* The summed domains, and that one. */
static int search_with(struct tg_board *board, const struct few *few, size_t last, bool *ret,
                       struct tg_error *err)
{
    struct tg_scope scope = {.nodes = few->nodes};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < few->summed; i++)
        rc = extend(board, few, i, &scope, err);
    if (rc == 0)
        rc = extend(board, few, last, &scope, err);
    return rc < 0 ? rc : tg_rules_search(board, &scope, ret, err);
}

/* Beside the summed domains one more is needed: the one with the fewest places that does, of equal
 * ones the tightest. */
static int search_last(struct tg_board *board, const struct few *few, bool *ret,
                       struct tg_error *err)
{
    int rc = 0;

    for (size_t end = few->n; rc == 0 && !*ret && end > few->summed;) {
        size_t equals = equals_before((const void *const *)few->order, few->summed, end);

        for (size_t i = end - equals; rc == 0 && !*ret && i < end; i++) {
            if (suffices(board, few->rooms, domain_at(few, i)))
                rc = search_with(board, few, i, ret, err);
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

static int search_choice(struct tg_board *board, const struct few *few, const size_t *chosen,
                         size_t n, bool *ret, struct tg_error *err)
{
    struct tg_scope scope = {.nodes = few->nodes};
    int rc = 0;

    for (size_t k = 0; k < board->n_groups; k++) {
        size_t room = 0;

        for (size_t i = 0; i < n; i++)
            room += domain_at(few, chosen[i])->rooms[k];
        if (room < board->groups[k].n)
            return 0;
    }
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = extend(board, few, chosen[i], &scope, err);
    return rc < 0 ? rc : tg_rules_search(board, &scope, ret, err);
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
        rc = search_choice(board, few, chosen, n, ret, err);
        more = next_choice(chosen, n, few->n);
    }
    return rc;
}

/* The preferred domains within a domain of the required level; none where there is no room. */
static int open_few(struct tg_board *board, struct tg_domain *within, struct few *few,
                    struct tg_error *err)
{
    bool whole = board->request->pack_required == NULL;
    size_t nodes = 0;
    int rc = 0;

    if (!tg_domain_may_hold(board, within))
        return 0;
    if (!whole)
        rc = tg_domain_open(board, within, err);
    if (rc == 0)
        rc = tg_domains_find(board, board->request->pack_preferred, whole ? NULL : &within->scope,
                             &few->domains, err);
    if (rc == 0)
        rc = tg_core_alloc(board->arena, few->domains.n, sizeof(*few->order), &few->order, err);
    if (rc == 0)
        rc = tg_core_alloc(board->arena, board->n_groups, sizeof(*few->rooms), &few->rooms, err);
    if (rc < 0)
        return rc;
    few->n = few->domains.n;
    for (size_t i = 0; i < few->n; i++) {
        few->order[i] = &few->domains.items[i];
        nodes += few->domains.items[i].scope.n;
    }
    rc = tg_core_alloc_unset(board->arena, nodes, sizeof(*few->nodes), &few->nodes, err);
    return rc < 0 ? rc : tg_core_sort(few->order, few->n, compare_places, NULL, board->arena, err);
}

/* All members in n of the domains: the roomiest n - 1 and one more. */
static int search_few(struct tg_board *board, struct few *few, size_t n, bool *ret,
                      struct tg_error *err)
{
    int rc = 0;

    if (n > few->n)
        return 0;
    for (; few->summed + 1 < n; few->summed++)
        add_rooms(board, few->rooms, domain_at(few, few->summed));
    /* The roomiest next one must do before a tighter one is looked for. */
    if (suffices(board, few->rooms, domain_at(few, n - 1)))
        rc = search_last(board, few, ret, err);
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
        rc = open_few(board, &pack->required.items[i], &few[i], err);
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
        rc = search_domain(board, &pack->required.items[i], ret, err);
    return rc;
}

int tg_pack_place(const struct tg_pack *pack, struct tg_board *board, bool *ret,
                  struct tg_error *err)
{
    int rc = tg_pack_search(pack, board, ret, err);

    if (rc == 0 && !*ret && tg_rules_keep(board, TG_RULES_REQUIRED))
        rc = tg_pack_search(pack, board, ret, err);
    return rc;
}

int tg_pack_anywhere(struct tg_board *board, bool *ret, struct tg_error *err)
{
    struct tg_domain whole;
    int rc = tg_domain_whole(board, &whole, err);

    *ret = false;
    return rc < 0 ? rc : search_domain(board, &whole, ret, err);
}
