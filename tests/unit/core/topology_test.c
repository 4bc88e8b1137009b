/* SPDX-License-Identifier: Apache-2.0 */
/* Members together and apart: rules of roles and of the whole, against every possible placement. */
#include "tests/unit/core/world.h"

static const struct tg_level rack = {.name = "rack", .node_label = "rack", .rank = 0};
static const struct tg_level row = {.name = "row", .node_label = "row", .rank = 1};
static const struct tg_level clique = {
    .name = "clique", .device_attribute = GPU_DRIVER "/clique", .rank = 2};

static int place(struct world *w, const struct tg_piece *pieces, size_t n,
                 const struct tg_place_rule *rules, size_t n_rules, struct tg_placement *ret,
                 struct tg_no_place *why)
{
    return tg_place(world_fleet(w),
                    &(struct tg_place_request){.name = "gang ns/g",
                                               .pieces = pieces,
                                               .n_pieces = n,
                                               .rules = rules,
                                               .n_rules = n_rules},
                    w->arena, ret, why, NULL);
}

static void add(struct world *w, const char *node, const char *labels, size_t gpus, const char *in)
{
    char attributes[64] = "";

    if (in != NULL)
        snprintf(attributes, sizeof(attributes), "\"clique\":{\"string\":\"%s\"}", in);
    add_node(w, node, labels, "");
    add_gpus(w, node, gpus, attributes);
}

static void no_more_than_so_many_are_in_a_domain(void **state)
{
    static const struct tg_place_rule one = {.level = &rack, .most = 1, .required = true};
    static const struct tg_place_rule wish = {.level = &rack, .most = 1};
    struct world w;
    struct tg_piece *pieces;
    struct tg_placement p;
    struct tg_no_place why = {.text = ""};

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add(&w, "a", "\"rack\":\"r1\"", 4, NULL);
    add(&w, "b", "\"rack\":\"r1\"", 4, NULL);
    add(&w, "c", "\"rack\":\"r2\"", 4, NULL);
    add(&w, "d", "", 4, NULL);
    pieces = new_gang(&w, 3, 1);
    assert_int_equal(place(&w, pieces, 2, &one, 1, &p, &why), 0);
    assert_string_equal(p.pieces[0].node, "a");
    assert_string_equal(p.pieces[1].node, "c");
    assert_int_equal(place(&w, pieces, 3, &one, 1, &p, &why), -TG_UNAVAILABLE);
    assert_string_equal(why.reason, "TopologyUnsatisfied");
    assert_int_equal(why.members_short, 1);
    assert_non_null(
        strstr(why.text, "no more than 1 may be in one domain of level rack (topology)"));
    assert_int_equal(place(&w, pieces, 3, &wish, 1, &p, &why), 0);
    assert_string_equal(p.pieces[0].node, "a");
    assert_string_equal(p.pieces[2].node, "a");
    world_done(&w);
}

static void a_role_keeps_together_where_the_whole_does_not_fit(void **state)
{
    static const bool workers[] = {false, false, true};
    static const struct tg_place_rule rule = {.level = &rack, .roles = workers, .required = true};
    struct world w;
    struct tg_piece *pieces;
    struct tg_placement p;
    struct tg_no_place why = {.text = ""};

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add(&w, "a", "\"rack\":\"r1\"", 1, NULL);
    add(&w, "b", "\"rack\":\"r2\"", 1, NULL);
    add(&w, "c", "\"rack\":\"r2\"", 1, NULL);
    pieces = new_gang(&w, 3, 1);
    for (size_t i = 0; i < 3; i++)
        pieces[i].role = i == 0 ? 1 : 2;
    assert_int_equal(place(&w, pieces, 3, &rule, 1, &p, &why), 0);
    assert_string_equal(p.pieces[0].node, "a");
    pieces[0].role = 2;
    assert_int_equal(place(&w, pieces, 3, &rule, 1, &p, &why), -TG_UNAVAILABLE);
    assert_string_equal(why.reason, "TopologyUnsatisfied");
    world_done(&w);
}

/* Of the racks that hold the role the one with least room besides, whatever its name. */
static void a_role_goes_to_the_tightest_domain(void **state)
{
    static const struct tg_place_rule rule = {.level = &rack, .required = true};
    struct world w;
    struct tg_placement p;
    struct tg_no_place why = {.text = ""};

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add(&w, "a", "\"rack\":\"r1\"", 1, NULL);
    add(&w, "b", "\"rack\":\"r2\"", 2, NULL);
    add(&w, "c", "\"rack\":\"r3\"", 2, NULL);
    add(&w, "d", "\"rack\":\"r2\"", 1, NULL);
    assert_int_equal(place(&w, new_gang(&w, 2, 1), 2, &rule, 1, &p, &why), 0);
    assert_string_equal(p.pieces[0].node, "c");
    assert_string_equal(p.pieces[1].node, "c");
    world_done(&w);
}

/* Of domains with equal room the one with fewer devices that anybody could use: those of the member
 * that is less choosy. */
static void of_equal_domains_that_with_fewest_devices_is_taken(void **state)
{
    struct world w;
    struct tg_piece pieces[2];
    struct tg_placement p;
    struct tg_no_place why = {.text = ""};

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add(&w, "a", "", 4, "x");
    add(&w, "b", "", 3, "y");
    pieces[0] = new_gang(&w, 1, 2)[0];
    pieces[1] = new_piece(
        &w, new_pod(&w, "z", "1", ""),
        new_claim(&w, "z",
                  "\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"gpu\","
                  "\"selectors\":[{\"cel\":{\"expression\":\"device.attributes[\\\"" GPU_DRIVER
                  "\\\"].index == 0\"}}]}}]"));
    assert_int_equal(tg_place(world_fleet(&w),
                              &(struct tg_place_request){.name = "gang ns/g",
                                                         .pieces = pieces,
                                                         .n_pieces = 2,
                                                         .pack_required = &clique},
                              w.arena, &p, &why, NULL),
                     0);
    assert_string_equal(p.pieces[0].node, "b");
    assert_string_equal(p.pieces[1].node, "b");
    world_done(&w);
}

static void all_devices_say_the_same(void **state)
{
    static const struct tg_place_rule rule = {.level = &clique, .required = true};
    struct world w;
    struct tg_piece *pieces;
    struct tg_placement p;
    struct tg_no_place why = {.text = ""};

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add(&w, "a", "", 2, "x");
    add(&w, "b", "", 1, "y");
    add(&w, "c", "", 2, "y");
    add(&w, "d", "", 9, NULL); /* says nothing: in no clique */
    pieces = new_gang(&w, 3, 1);
    assert_int_equal(place(&w, pieces, 3, &rule, 1, &p, &why), 0);
    for (size_t i = 0; i < 3; i++)
        assert_true(p.pieces[i].node[0] == 'b' || p.pieces[i].node[0] == 'c');
    add_holder(&w, "h", "c", "gpu-0");
    assert_int_equal(place(&w, pieces, 3, &rule, 1, &p, &why), -TG_UNAVAILABLE);
    assert_int_equal(place(&w, pieces, 2, &rule, 1, &p, &why), 0);
    assert_string_equal(p.pieces[0].node, "a");
    world_done(&w);
}

static void a_level_may_be_an_attribute_of_devices(void **state)
{
    struct world w;
    struct tg_placement p;
    struct tg_no_place why = {.text = ""};

    (void)state;
    world_init(&w);
    add_class(&w, "gpu", "");
    add(&w, "a", "", 1, "x");
    add(&w, "b", "", 1, "y");
    add(&w, "c", "", 1, "y");
    assert_int_equal(tg_place(world_fleet(&w),
                              &(struct tg_place_request){.name = "gang ns/g",
                                                         .pieces = new_gang(&w, 2, 1),
                                                         .n_pieces = 2,
                                                         .pack_required = &clique},
                              w.arena, &p, &why, NULL),
                     0);
    assert_string_equal(p.pieces[0].node, "b");
    assert_string_equal(p.pieces[1].node, "c");
    world_done(&w);
}

/* --- against every placement ------------------------------------------------------------------ */

enum { GAMES = 5000, NODES_MAX = 5, PIECES_MAX = 4 };

static uint64_t random_state;

static size_t below(size_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)(random_state % n);
}

struct game {
    size_t n_nodes, n_pieces, n_rules;
    size_t gpus[NODES_MAX];
    int domain[2][NODES_MAX]; /* rack, row; -1: none */
    size_t wants[PIECES_MAX], role[PIECES_MAX];
    struct tg_place_rule rules[3];
    bool roles[3][3];
};

static void make(struct game *g)
{
    g->n_nodes = 1 + below(NODES_MAX);
    g->n_pieces = 1 + below(PIECES_MAX);
    g->n_rules = 1 + below(3);
    for (size_t i = 0; i < g->n_nodes; i++) {
        g->gpus[i] = below(4);
        g->domain[0][i] = (int)below(4) - 1;
        g->domain[1][i] = (int)below(3);
    }
    for (size_t i = 0; i < g->n_pieces; i++) {
        g->role[i] = 1 + below(2);
        g->wants[i] = g->role[i] + (below(8) == 0 ? 1 : 0);
    }
    for (size_t i = 0; i < g->n_rules; i++) {
        bool all = below(3) == 0;

        for (size_t k = 1; k < 3; k++)
            g->roles[i][k] = below(2) == 0;
        g->rules[i] = (struct tg_place_rule){.level = below(2) == 0 ? &rack : &row,
                                             .roles = all ? NULL : g->roles[i],
                                             .most = below(2) == 0 ? 0 : 1 + below(2),
                                             .required = true};
    }
}

static bool rule_holds(const struct game *g, const struct tg_place_rule *rule, const size_t *node)
{
    size_t count[4] = {0}, used = 0;

    for (size_t i = 0; i < g->n_pieces; i++) {
        int domain = g->domain[rule->level == &row][node[i]];

        if (rule->roles != NULL && !rule->roles[g->role[i]])
            continue;
        if (domain < 0)
            return false;
        used += count[domain]++ == 0 ? 1 : 0;
        if (rule->most > 0 && count[domain] > rule->most)
            return false;
    }
    return rule->most > 0 || used <= 1;
}

static bool holds(const struct game *g, const size_t *node)
{
    size_t used[NODES_MAX] = {0};

    for (size_t i = 0; i < g->n_pieces; i++) {
        used[node[i]] += g->wants[i];
        if (used[node[i]] > g->gpus[node[i]])
            return false;
    }
    for (size_t i = 0; i < g->n_rules; i++) {
        if (!rule_holds(g, &g->rules[i], node))
            return false;
    }
    return true;
}

static bool possible(const struct game *g)
{
    size_t node[PIECES_MAX] = {0}, i = 0;

    while (!holds(g, node)) {
        for (i = 0; i < g->n_pieces && ++node[i] == g->n_nodes; i++)
            node[i] = 0;
        if (i == g->n_pieces)
            return false;
    }
    return true;
}

static int play(const struct game *g, size_t *node)
{
    struct world w;
    struct tg_piece pieces[PIECES_MAX];
    struct tg_placement p;
    struct tg_no_place why = {.text = ""};
    int rc;

    world_init(&w);
    add_class(&w, "gpu", "");
    for (size_t i = 0; i < g->n_nodes; i++) {
        char name[32], labels[96], first[48] = "";

        snprintf(name, sizeof(name), "n%zu", i);
        if (g->domain[0][i] >= 0)
            snprintf(first, sizeof(first), "\"rack\":\"%d\",", g->domain[0][i]);
        snprintf(labels, sizeof(labels), "%s\"row\":\"%d\"", first, g->domain[1][i]);
        add(&w, name, labels, g->gpus[i], NULL);
    }
    for (size_t i = 0; i < g->n_pieces; i++) {
        char name[32];

        snprintf(name, sizeof(name), "m%zu", i);
        pieces[i] = new_piece(&w, new_pod(&w, name, "1", ""), new_gpu_claim(&w, name, g->wants[i]));
        pieces[i].role = g->role[i];
    }
    rc = place(&w, pieces, g->n_pieces, g->rules, g->n_rules, &p, &why);
    for (size_t i = 0; rc == 0 && i < g->n_pieces; i++)
        node[i] = (size_t)(p.pieces[i].node[1] - '0');
    world_done(&w);
    return rc;
}

static void a_place_is_found_exactly_when_there_is_one(void **state)
{
    size_t placed = 0;

    (void)state;
    random_state = 88172645463325252;
    for (size_t seed = 0; seed < GAMES; seed++) {
        struct game g = {.n_nodes = 0};
        size_t node[PIECES_MAX];
        int rc;

        make(&g);
        rc = play(&g, node);
        if (rc != (possible(&g) ? 0 : -TG_UNAVAILABLE))
            fail_msg("game %zu: %d", seed, rc);
        if (rc == 0 && !holds(&g, node))
            fail_msg("game %zu: a rule is broken", seed);
        placed += rc == 0 ? 1 : 0;
    }
    assert_true(placed > GAMES / 10 && placed < GAMES * 9 / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_more_than_so_many_are_in_a_domain),
        cmocka_unit_test(a_role_keeps_together_where_the_whole_does_not_fit),
        cmocka_unit_test(a_role_goes_to_the_tightest_domain),
        cmocka_unit_test(of_equal_domains_that_with_fewest_devices_is_taken),
        cmocka_unit_test(all_devices_say_the_same),
        cmocka_unit_test(a_level_may_be_an_attribute_of_devices),
        cmocka_unit_test(a_place_is_found_exactly_when_there_is_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
