/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How good a place is, where that is claimed (controller/core/gang/README.md): members that are
 * alike get the tightest domain of the required level, and as few domains of the preferred one as
 * can be; and of the nodes there those after which most is left on the roomiest ones, or least
 * uneven for `spread`. Against brute force over all sets of domains and all ways to share the
 * members out.
 */
#include "tests/unit/core/world.h"

enum { FLEETS = 5000, RACKS = 4, NODES = 8, CARDS = 4 };

static const struct tg_level rack = {.name = "rack", .node_label = "rack", .rank = 0};
static const char *const policies[] = {"fill", "binpack", "mig", "spread"};
enum { SPREAD = 3 };

static uint64_t random_state;

static unsigned below(unsigned n)
{
    random_state = random_state * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(random_state >> 33) % n;
}

struct game {
    unsigned rack[NODES], free[NODES], n_nodes;
    unsigned members, cards;
    bool required;
    unsigned places[RACKS]; /* members of this gang that have room there, node by node */
};

static void make(struct game *game)
{
    *game = (struct game){.n_nodes = 2 + below(NODES - 1),
                          .members = 1 + below(6),
                          .cards = 1U << below(3),
                          .required = below(2) == 0};
    for (unsigned i = 0; i < game->n_nodes; i++) {
        unsigned places;

        game->rack[i] = below(RACKS);
        game->free[i] = below(CARDS + 1);
        places = game->free[i] / game->cards;
        game->places[game->rack[i]] += places < game->members ? places : game->members;
    }
}

static struct tg_fleet *build(struct world *w, const struct game *game)
{
    add_class(w, "gpu", "");
    for (unsigned i = 0; i < game->n_nodes; i++) {
        char node[8], labels[32];

        snprintf(node, sizeof(node), "n%u", i);
        snprintf(labels, sizeof(labels), "\"rack\":\"r%u\"", game->rack[i]);
        add_node(w, node, labels, "");
        if (game->free[i] > 0)
            add_gpus(w, node, game->free[i], "");
    }
    return world_fleet(w);
}

/* The least that one rack with room for all has room for; UINT_MAX: none has. */
static unsigned tightest(const struct game *game)
{
    unsigned least = UINT32_MAX;

    for (unsigned i = 0; i < RACKS; i++) {
        if (game->places[i] >= game->members && game->places[i] < least)
            least = game->places[i];
    }
    return least;
}

/* The least number of racks with room for all together; UINT_MAX: all have too little. */
static unsigned fewest(const struct game *game)
{
    unsigned least = UINT32_MAX;

    for (unsigned set = 1; set < 1U << RACKS; set++) {
        unsigned room = 0, n = (unsigned)__builtin_popcount(set);

        for (unsigned i = 0; i < RACKS; i++)
            room += (set >> i & 1) != 0 ? game->places[i] : 0;
        if (room >= game->members && n < least)
            least = n;
    }
    return least;
}

static unsigned racks_of(const struct game *game, const struct tg_placement *placement)
{
    unsigned set = 0;

    for (size_t i = 0; i < placement->n_pieces; i++)
        set |= 1U << game->rack[placement->pieces[i].node[1] - '0'];
    return set;
}

static void judge(const struct game *game, bool placed, const struct tg_placement *placement,
                  unsigned seed)
{
    bool tight = game->required && seed % 4 != SPREAD;
    unsigned wanted = game->required ? tightest(game) : fewest(game), set, has = 0;

    if (placed != (wanted != UINT32_MAX))
        fail_msg("seed %u: placed %d", seed, placed);
    if (!placed)
        return;
    set = racks_of(game, placement);
    for (unsigned i = 0; i < RACKS; i++)
        has += (set >> i & 1) == 0 ? 0 : tight ? game->places[i] : 1;
    if (has != (tight || !game->required ? wanted : 1) ||
        (game->required && __builtin_popcount(set) != 1))
        fail_msg("seed %u: %u instead of %u", seed, has, wanted);
}

/* --- inside a domain -------------------------------------------------------------------------- */

/* What is left of the nodes of a scope, and the best of that over all ways to put the members
 * there. */
struct leavings {
    unsigned places[NODES], cards[NODES]; /* on the 1, 2, ... roomiest nodes together, at most */
    unsigned squares;                     /* of what is left of each node, together, at least */
};

/* Adds one way: what it leaves of n nodes. */
static void add_way(const struct game *game, const unsigned *left, unsigned n, struct leavings *ret)
{
    unsigned sorted[NODES], places = 0, cards = 0, squares = 0;

    for (unsigned i = 0; i < n; i++) {
        unsigned at = i;

        for (; at > 0 && sorted[at - 1] < left[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = left[i];
    }
    for (unsigned i = 0; i < n; i++) {
        places += sorted[i] / game->cards;
        cards += sorted[i];
        squares += sorted[i] * sorted[i];
        ret->places[i] = places > ret->places[i] ? places : ret->places[i];
        ret->cards[i] = cards > ret->cards[i] ? cards : ret->cards[i];
    }
    ret->squares = squares < ret->squares ? squares : ret->squares;
}

/* All ways to put the members on the nodes from i on. */
static void try_all(const struct game *game, unsigned *left, unsigned n, unsigned i,
                    unsigned members, struct leavings *ret)
{
    unsigned before;

    if (i == n) {
        if (members == 0)
            add_way(game, left, n, ret);
        return;
    }
    before = left[i];
    for (unsigned put = 0; put <= members && put * game->cards <= before; put++) {
        left[i] = before - put * game->cards;
        try_all(game, left, n, i + 1, members - put, ret);
    }
    left[i] = before;
}

/* The domains that the members got are the scope: there are no fewer that hold them. */
static void judge_nodes(const struct game *game, const struct tg_placement *placement,
                        unsigned seed)
{
    unsigned set = racks_of(game, placement), node_of[NODES], left[NODES], n = 0;
    struct leavings best = {.squares = UINT32_MAX}, own = {.squares = UINT32_MAX};

    for (unsigned i = 0; i < game->n_nodes; i++) {
        if ((set >> game->rack[i] & 1) == 0)
            continue;
        left[n] = game->free[i];
        node_of[n++] = i;
    }
    try_all(game, left, n, 0, game->members, &best);
    for (unsigned m = 0; m < game->members; m++) {
        for (unsigned i = 0; i < n; i++)
            left[i] -=
                (unsigned)(placement->pieces[m].node[1] - '0') == node_of[i] ? game->cards : 0;
    }
    add_way(game, left, n, &own);
    if (seed % 4 == SPREAD && own.squares != best.squares)
        fail_msg("seed %u: squares %u instead of %u", seed, own.squares, best.squares);
    for (unsigned k = 0; k < n && seed % 4 != SPREAD; k++) {
        if (own.places[k] != best.places[k])
            fail_msg("seed %u: %u places on %u nodes instead of %u", seed, own.places[k], k + 1,
                     best.places[k]);
        if (own.cards[k] + (k + 1) * (game->cards - 1) < best.cards[k])
            fail_msg("seed %u: %u cards on %u nodes instead of %u", seed, own.cards[k], k + 1,
                     best.cards[k]);
    }
}

/* --- both ------------------------------------------------------------------------------------- */

static void the_best_domains_and_the_best_nodes_there(void **state)
{
    size_t n_placed = 0;

    (void)state;
    for (unsigned seed = 1; seed <= FLEETS; seed++) {
        struct tg_policies policy = {.fleet = policies[seed % 4]};
        struct tg_place_request request = {.name = "gang ns/g", .policies = &policy};
        struct tg_placement placement;
        struct tg_no_place why = {.text = ""};
        struct tg_error err = TG_ERROR_INIT;
        struct tg_fleet *fleet;
        struct game game;
        struct world w;
        bool placed;

        random_state = seed;
        make(&game);
        world_init(&w);
        fleet = build(&w, &game);
        request.pieces = new_gang(&w, game.members, game.cards);
        request.n_pieces = game.members;
        request.pack_required = game.required ? &rack : NULL;
        request.pack_preferred = game.required ? NULL : &rack;
        placed = tg_place(fleet, &request, w.arena, &placement, &why, &err) == 0;
        judge(&game, placed, &placement, seed);
        if (placed)
            judge_nodes(&game, &placement, seed);
        n_placed += placed;
        world_done(&w);
    }
    assert_true(n_placed > FLEETS / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_domains_and_the_best_nodes_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
