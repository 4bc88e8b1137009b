/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How good a place is, where that is claimed: members that are alike get the tightest domain of the
 * required level, and as few domains of the preferred one as can be, whatever the policy. Against
 * brute force over all sets of domains.
 */
#include "tests/unit/core/world.h"

enum { FLEETS = 5000, RACKS = 4, NODES = 8, CARDS = 4 };

static const struct tg_level rack = {.name = "rack", .node_label = "rack", .rank = 0};
static const char *const policies[] = {"fill", "binpack", "mig"};

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
    unsigned wanted = game->required ? tightest(game) : fewest(game), set, has = 0;

    if (placed != (wanted != UINT32_MAX))
        fail_msg("seed %u: placed %d", seed, placed);
    if (!placed)
        return;
    set = racks_of(game, placement);
    for (unsigned i = 0; i < RACKS; i++)
        has += (set >> i & 1) == 0 ? 0 : game->required ? game->places[i] : 1;
    if (has != wanted || (game->required && __builtin_popcount(set) != 1))
        fail_msg("seed %u: %u instead of %u", seed, has, wanted);
}

static void the_tightest_domain_and_the_fewest(void **state)
{
    size_t n_placed = 0;

    (void)state;
    for (unsigned seed = 1; seed <= FLEETS; seed++) {
        struct tg_policies policy = {.fleet = policies[seed % 3]};
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
        n_placed += placed;
        world_done(&w);
    }
    assert_true(n_placed > FLEETS / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tightest_domain_and_the_fewest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
