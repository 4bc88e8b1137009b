/* SPDX-License-Identifier: Apache-2.0 */
/* Every plan is carried out move by move; small fleets against every plan of one and two moves. */
#include "controller/core/defrag/empty.h"
#include "tests/unit/core/packing.h"

enum { NODES = 4, CARDS = 4, RESIDENTS_MAX = NODES * CARDS, ROUNDS = 6000 };

struct scene {
    uint16_t left[NODES];
    bool target[NODES];
    uint32_t domain[NODES];
    struct tg_empty_resident residents[RESIDENTS_MAX];
    uint32_t n;
    struct tg_empty_want want;
};

static unsigned below(uint64_t *state, unsigned n)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return (unsigned)(*state >> 33) % n;
}

static void generate(struct scene *scene, uint64_t *random)
{
    *scene = (struct scene){.n = 0};
    for (uint32_t i = 0; i < NODES; i++) {
        scene->left[i] = CARDS;
        scene->target[i] = below(random, 4) > 0;
        scene->domain[i] = i / 2;
        for (unsigned k = below(random, 4); k > 0; k--) {
            uint16_t cards = (uint16_t)(1 + below(random, 3));

            if (cards > scene->left[i])
                continue;
            scene->left[i] = (uint16_t)(scene->left[i] - cards);
            scene->residents[scene->n++] =
                (struct tg_empty_resident){.node = i,
                                           .cards = cards,
                                           .movable = below(random, 4) > 0,
                                           .stays = below(random, 4) == 0};
        }
    }
    scene->want = (struct tg_empty_want){.members = 1 + below(random, 3),
                                         .cards = (uint16_t)(1 + below(random, CARDS)),
                                         .max_moves = below(random, 4)};
}

static uint32_t places(const struct scene *scene)
{
    uint32_t n = 0;

    for (unsigned i = 0; i < NODES; i++)
        n += scene->target[i] ? scene->left[i] / scene->want.cards : 0U;
    return n;
}

static bool may_move(const struct scene *scene, uint32_t resident, uint32_t to)
{
    const struct tg_empty_resident *r = &scene->residents[resident];

    return r->movable && to != r->node && scene->left[to] >= r->cards &&
           (!r->stays || scene->domain[to] == scene->domain[r->node]);
}

static void move(struct scene *scene, uint32_t resident, uint32_t to)
{
    struct tg_empty_resident *r = &scene->residents[resident];

    scene->left[r->node] = (uint16_t)(scene->left[r->node] + r->cards);
    scene->left[to] = (uint16_t)(scene->left[to] - r->cards);
    r->node = to;
}

static bool possible(struct scene scene, unsigned moves)
{
    if (places(&scene) >= scene.want.members)
        return true;
    for (uint32_t r = 0; r < scene.n && moves > 0; r++) {
        for (uint32_t to = 0; to < NODES; to++) {
            struct scene next = scene;

            if (!may_move(&scene, r, to))
                continue;
            move(&next, r, to);
            if (possible(next, moves - 1))
                return true;
        }
    }
    return false;
}

static bool plan(const struct scene *scene, struct tg_arena *arena, struct tg_empty_plan *ret)
{
    struct tg_empty_fleet fleet = {.left = scene->left,
                                   .target = scene->target,
                                   .domain = scene->domain,
                                   .n_nodes = NODES,
                                   .residents = scene->residents,
                                   .n_residents = scene->n};
    struct tg_error err = TG_ERROR_INIT;
    bool found = false;

    assert_int_equal(tg_empty_plan(&fleet, &scene->want, arena, &found, ret, &err), 0);
    return found;
}

static void carry_out(struct scene scene, const struct tg_empty_plan *found)
{
    bool moved[RESIDENTS_MAX] = {false};
    uint32_t before = places(&scene), cards = 0;

    assert_true(found->n_moves <= scene.want.max_moves);
    for (uint32_t i = 0; i < found->n_moves; i++) {
        const struct tg_empty_move *m = &found->moves[i];

        assert_false(moved[m->resident]);
        assert_true(may_move(&scene, m->resident, m->to));
        moved[m->resident] = true;
        cards += scene.residents[m->resident].cards;
        move(&scene, m->resident, m->to);
    }
    assert_true(places(&scene) >= scene.want.members);
    assert_int_equal(found->cards_moved, cards);
    assert_int_equal(found->places_won, places(&scene) - before);
}

static void plans_can_be_carried_out_and_few_are_missed(void **state)
{
    uint64_t random = 11;
    unsigned found_n = 0, wanted = 0, missed = 0;

    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct tg_arena *arena = tg_arena_new(1 << 20);
        struct tg_empty_plan ret;
        struct scene scene;
        bool found;

        generate(&scene, &random);
        found = plan(&scene, arena, &ret);
        if (found) {
            carry_out(scene, &ret);
            found_n++;
        }
        if (possible(scene, 0)) {
            assert_true(found);
            assert_int_equal(ret.n_moves, 0);
        } else if (possible(scene, scene.want.max_moves < 2 ? scene.want.max_moves : 2)) {
            wanted++;
            missed += !found;
        }
        tg_arena_free(arena);
    }
    assert_true(found_n > ROUNDS / 4);
    /* Of what one or two moves can do, one in twenty may be missed. */
    assert_true(wanted > 200);
    if (missed * 20 > wanted)
        fail_msg("%u of %u fleets that two moves would do for have no plan", missed, wanted);
}

static void nothing_is_moved_that_must_not_be(void **state)
{
    static const uint16_t left[] = {1, 1};
    struct tg_empty_resident residents[] = {{.node = 0, .cards = 1}, {.node = 1, .cards = 1}};
    struct tg_empty_fleet fleet = {
        .left = left, .n_nodes = 2, .residents = residents, .n_residents = 2};
    struct tg_empty_want want = {.members = 1, .cards = 2, .max_moves = 9};
    struct tg_arena *arena = tg_arena_new(1 << 20);
    struct tg_error err = TG_ERROR_INIT;
    struct tg_empty_plan ret;
    bool found = true;

    (void)state;
    assert_int_equal(tg_empty_plan(&fleet, &want, arena, &found, &ret, &err), 0);
    assert_false(found);
    residents[1].movable = true;
    assert_int_equal(tg_empty_plan(&fleet, &want, arena, &found, &ret, &err), 0);
    assert_true(found);
    assert_int_equal(ret.n_moves, 1);
    assert_int_equal(ret.moves[0].resident, 1);
    assert_int_equal(ret.moves[0].to, 0);
    /* As many nodes as that may be looked at. */
    want.max_steps = 1;
    assert_int_equal(tg_empty_plan(&fleet, &want, arena, &found, &ret, &err), 0);
    assert_false(found);
    tg_arena_free(arena);
}

/* The gang may only use node 0, where one card is free, as on node 1: two of node 1's cards for one
 * of node 0's. No single move of anybody but the 1 is possible, and that one alone wins nothing. */
static void what_is_free_on_two_nodes_comes_together_by_a_trade(void **state)
{
    struct scene scene = {
        .left = {1, 1, 0, 0},
        .target = {true},
        .residents = {{.node = 0, .cards = 2, .movable = true},
                      {.node = 0, .cards = 1},
                      {.node = 1, .cards = 1, .movable = true},
                      {.node = 1, .cards = 2},
                      {.node = 2, .cards = 4, .movable = true},
                      {.node = 3, .cards = 4, .movable = true}},
        .n = 6,
        .want = {.members = 1, .cards = 2, .max_moves = 2},
    };
    struct tg_arena *arena = tg_arena_new(1 << 20);
    struct tg_empty_plan ret;

    (void)state;
    assert_true(plan(&scene, arena, &ret));
    assert_int_equal(ret.n_moves, 2);
    carry_out(scene, &ret);
    scene.want.max_moves = 1;
    assert_false(plan(&scene, arena, &ret));
    /* What was found before the limit is done. */
    scene.want.max_moves = 2;
    scene.want.max_trials = 1;
    assert_true(plan(&scene, arena, &ret));
    scene.want.max_trials = 0;
    /* Nobody leaves a domain that it has to stay in. */
    scene.want.max_moves = 2;
    scene.domain[1] = 1;
    scene.residents[0].stays = true;
    assert_false(plan(&scene, arena, &ret));
    tg_arena_free(arena);
}

/* Both nodes are to have room for two: the 2 can only come when the 3 has gone. */
static void who_goes_is_first_where_only_that_is_possible(void **state)
{
    struct scene scene = {
        .left = {1, 3, 0, 0},
        .target = {true, true},
        .residents = {{.node = 0, .cards = 3, .movable = true},
                      {.node = 1, .cards = 2, .movable = true}},
        .n = 2,
        .want = {.members = 2, .cards = 2, .max_moves = 2},
    };
    struct tg_arena *arena = tg_arena_new(1 << 20);
    struct tg_empty_plan ret;

    (void)state;
    assert_true(plan(&scene, arena, &ret));
    carry_out(scene, &ret);
    /* Neither can be first. */
    scene.left[1] = 2;
    scene.want.cards = 3;
    scene.residents[0].cards = 4;
    assert_false(plan(&scene, arena, &ret));
    tg_arena_free(arena);
}

static void a_budget_that_is_too_small_is_an_error(void **state)
{
    static const uint16_t left[] = {1};
    struct tg_empty_fleet fleet = {.left = left, .n_nodes = 1};
    struct tg_empty_want want = {.members = 1, .cards = 2, .max_moves = 9};
    struct tg_arena *arena = tg_arena_new(8);
    struct tg_error err = TG_ERROR_INIT;
    struct tg_empty_plan ret;
    bool found;

    (void)state;
    assert_int_equal(tg_empty_plan(&fleet, &want, arena, &found, &ret, &err),
                     -TG_RESOURCE_EXHAUSTED);
    tg_arena_free(arena);
}

/* Fewer trades are tried, and fewer plans are found; each that is found is whole. */
static void the_limit_of_trades_is_heeded(void **state)
{
    uint64_t random = 11;
    unsigned found_n[2] = {0};

    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct tg_arena *arena = tg_arena_new(1 << 20);
        struct tg_empty_plan ret;
        struct scene scene;

        generate(&scene, &random);
        for (unsigned i = 0; i < 2; i++) {
            scene.want.max_trials = i;
            if (!plan(&scene, arena, &ret))
                continue;
            carry_out(scene, &ret);
            found_n[i]++;
        }
        tg_arena_free(arena);
    }
    assert_in_range(found_n[1], 1, found_n[0] - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_can_be_carried_out_and_few_are_missed),
        cmocka_unit_test(nothing_is_moved_that_must_not_be),
        cmocka_unit_test(what_is_free_on_two_nodes_comes_together_by_a_trade),
        cmocka_unit_test(the_limit_of_trades_is_heeded),
        cmocka_unit_test(who_goes_is_first_where_only_that_is_possible),
        cmocka_unit_test(a_budget_that_is_too_small_is_an_error),
    };

    return cmocka_run_group_tests_name("empty", tests, NULL, NULL);
}
