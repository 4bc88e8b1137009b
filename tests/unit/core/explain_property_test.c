/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explanations of random small fleets, checked by brute force (explain_counted.h,
 * explain_oracle.h): cards by themselves and partitions that share counters, matchAttribute, pack
 * of the whole, spread, pack of a role, deviceConstraints. Every number is counted again from the
 * generator's own idea of the fleet; everything that is said to help is done to the fleet or the
 * request, and must help; where nothing of a kind is said to help, everything of that kind is
 * tried, and nothing may. Seeds are fixed: a failure prints its own.
 */
#include "tests/unit/core/explain_counted.h"

#define SEEDS 1500
#define SEEDS_OF_KIND 900
/* Games of each kind in which it is that kind that is in the way, at least. */
#define BLOCKED_LEAST 100

/* --- what helps ------------------------------------------------------------------------------- */

/* model: the job that the explanation is about. */
typedef void (*change_fn)(struct job *job, size_t request, const struct job *model);

static void tolerate_node(struct job *job, size_t request, const struct job *model)
{
    (void)request;
    (void)model;
    job->tolerates = true;
}

static void drop_node_selector(struct job *job, size_t request, const struct job *model)
{
    (void)request;
    (void)model;
    job->selects = false;
}

static void drop_affinity(struct job *job, size_t request, const struct job *model)
{
    (void)request;
    (void)model;
    job->affine = false;
}

static void tolerate_device(struct job *job, size_t request, const struct job *model)
{
    (void)model;
    job->wants[request].tolerates = true;
}

/* That selector, wherever it is in a request of that name. */
static void drop_selector(struct job *job, size_t request, const struct job *model)
{
    if (job->wants[request].predicate == model->wants[request].predicate &&
        job->wants[request].value == model->wants[request].value)
        job->wants[request].predicate = ANY;
}

static const struct {
    enum tg_help_kind kind;
    change_fn change;
    bool of_request;
} rules[] = {
    {TG_HELP_TOLERATE_NODE_TAINT, tolerate_node, false},
    {TG_HELP_RELAX_NODE_SELECTOR, drop_node_selector, false},
    {TG_HELP_RELAX_NODE_AFFINITY, drop_affinity, false},
    {TG_HELP_TOLERATE_DEVICE_TAINT, tolerate_device, true},
    {TG_HELP_RELAX_SELECTOR, drop_selector, true},
};

static bool is_told(const struct tg_explanation *e, enum tg_help_kind kind, size_t request,
                    bool of_request, size_t n)
{
    char name[8];

    snprintf(name, sizeof(name), "r%zu", request);
    for (size_t i = 0; i < e->n_helps; i++) {
        if (e->helps[i].kind == kind && (!of_request || strcmp(e->helps[i].request, name) == 0) &&
            (n == 0 || e->helps[i].n == n))
            return true;
    }
    return false;
}

/* Nothing was cut off, and nothing was left untried. */
static bool is_complete(const struct tg_explanation *e)
{
    return e->helps_complete && e->n_helps < TG_EXPLAIN_HELPS;
}

/* Said to help if and only if it does. */
static void check_rules(const struct tg_explanation *e, const struct game *game)
{
    const struct job model = game->jobs[job_of(e)];

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        for (size_t r = 0; r < model.n; r++) {
            struct game changed = *game;
            bool told = is_told(e, rules[i].kind, r, rules[i].of_request, 0), helps;

            for (size_t k = 0; k < game->n_jobs; k++)
                rules[i].change(&changed.jobs[k], r, &model);
            helps = fits(&changed);
            if (told && !helps)
                fail_in_game("%s (r%zu) is said to help and does not", tg_help_code(rules[i].kind),
                             r);
            if (!told && helps && is_complete(e))
                fail_in_game("%s (r%zu) helps and is not told", tg_help_code(rules[i].kind), r);
        }
    }
}

/* The next wider level if that is enough, else none at all. */
static void check_pack(const struct tg_explanation *e, const struct game *game)
{
    struct game in_zone = *game, anywhere = *game;
    bool zone, none;

    if (!game->pack || e->n_helps == TG_EXPLAIN_HELPS)
        return;
    in_zone.wide = true;
    anywhere.pack = false;
    zone = fits(&in_zone);
    none = fits(&anywhere);
    check_number("a wider level", is_told(e, TG_HELP_WIDER_TOPOLOGY, 0, false, 0), zone);
    check_number("no level", is_told(e, TG_HELP_NO_TOPOLOGY, 0, false, 0), none && !zone);
}

/* What is told of that rule, or NULL. */
static const struct tg_explained_help *find_help(const struct tg_explanation *e, const char *what)
{
    for (size_t i = 0; i < e->n_helps; i++) {
        if (e->helps[i].what != NULL && strcmp(e->helps[i].what, what) == 0)
            return &e->helps[i];
    }
    return NULL;
}

/* The least limit that is wide enough; 0: none is. */
static size_t least_limit(const struct game *game, size_t rule)
{
    struct game wider = *game;
    size_t members = 0;

    for (size_t i = 0; i < game->n_jobs; i++)
        members += binds(&game->rules[rule], &game->jobs[i]) ? 1 : 0;
    while (++wider.rules[rule].most <= members) {
        if (fits(&wider))
            return wider.rules[rule].most;
    }
    return 0;
}

/* A rule of the topology is said to help if and only if all fits without it. */
static void check_limit(const struct tg_explanation *e, const struct game *game, size_t number)
{
    const struct rule *rule = &game->rules[number];
    const struct tg_explained_help *told = find_help(e, rule_fields[number]);
    struct game less = without(game, number);
    enum tg_help_kind kind = rule->place == CLIQUE ? TG_HELP_NO_DEVICE_CONSTRAINT
                             : rule->most > 0      ? TG_HELP_NO_SPREAD
                                                   : TG_HELP_NO_ROLE_TOPOLOGY;
    size_t most = 0;

    check_number("relaxing a rule", told != NULL, fits(&less));
    if (told == NULL)
        return;
    if (rule->most > 0)
        most = least_limit(game, number);
    check_number("maxPerDomain", told->n, most);
    check_number("what to relax", told->kind, most > 0 ? TG_HELP_WIDER_SPREAD : kind);
}

/* The most that fits is told, no more and no less. */
static void check_fewer_devices(const struct tg_explanation *e, const struct game *game)
{
    for (size_t r = 0; r < game->jobs[0].n; r++) {
        struct game changed = *game;
        size_t n = game->jobs[0].wants[r].count;

        while (--n > 0) {
            for (size_t i = 0; i < game->n_jobs; i++)
                changed.jobs[i].wants[r].count = n;
            if (fits(&changed))
                break;
        }
        check_number("fewer devices", is_told(e, TG_HELP_FEWER_DEVICES, r, true, n), n > 0);
        check_number("fewer devices", is_told(e, TG_HELP_FEWER_DEVICES, r, true, 0), n > 0);
    }
}

static void check_fewer_members(const struct tg_explanation *e, const struct game *game)
{
    struct game changed = *game;

    do
        changed.n_jobs--;
    while (changed.n_jobs > 0 && !fits(&changed));
    check_number("fewer members", is_told(e, TG_HELP_FEWER_MEMBERS, 0, false, changed.n_jobs),
                 changed.n_jobs > 0);
    check_number("fewer members", is_told(e, TG_HELP_FEWER_MEMBERS, 0, false, 0),
                 changed.n_jobs > 0);
}

/* A pod that asks for less: every one that asks for more than that. */
static void check_smaller_pod(const struct tg_explanation *e, const struct game *game)
{
    for (size_t i = 0; i < e->n_helps; i++) {
        struct game changed = *game;
        int less = game->jobs[job_of(e)].cpu - (int)e->helps[i].amount;

        if (e->helps[i].kind != TG_HELP_SMALLER_POD)
            continue;
        for (size_t k = 0; k < game->n_jobs; k++)
            changed.jobs[k].cpu -= changed.jobs[k].cpu > less ? less : 0;
        if (!fits(&changed))
            fail_in_game("a pod with %d cpu is said to help and does not", (int)e->helps[i].amount);
    }
}

/* --- moves ------------------------------------------------------------------------------------ */

static bool may_live(const struct box *box, size_t gpu)
{
    const struct gpu *g = &box->gpus[gpu];

    return g->holder == NOBODY && !g->tainted && !g->unsupported && !box->cordoned &&
           (g->cuts & cuts_held(box)) == 0 && !box->tainted &&
           used_cpu(box) + 500 <= box->cpu * 1000;
}

static struct gpu *find_gpu(struct game *game, int resident)
{
    for (size_t b = 0; b < game->n_boxes; b++) {
        for (size_t d = 0; d < game->boxes[b].n; d++) {
            if (game->boxes[b].gpus[d].holder == resident)
                return &game->boxes[b].gpus[d];
        }
    }
    return NULL;
}

/* Does some new place of these residents make room? Every place is tried. */
static bool moving_helps(struct game *game, const int *residents, size_t n)
{
    if (n == 0)
        return fits(game);
    for (size_t b = 0; b < game->n_boxes; b++) {
        for (size_t d = 0; d < game->boxes[b].n; d++) {
            bool helps;

            if (!may_live(&game->boxes[b], d))
                continue;
            game->boxes[b].gpus[d].holder = residents[0];
            helps = moving_helps(game, residents + 1, n - 1);
            game->boxes[b].gpus[d].holder = NOBODY;
            if (helps)
                return true;
        }
    }
    return false;
}

/* Of a card that was cut some residents went before the game began: nothing moves them. */
static bool lifting_helps(const struct game *game, const int *residents, size_t n)
{
    struct game lifted = *game;

    for (size_t i = 0; i < n; i++) {
        struct gpu *gpu = find_gpu(&lifted, residents[i]);

        if (gpu == NULL)
            return false;
        gpu->holder = NOBODY;
    }
    /* Most do not even help by being gone. */
    return fits(&lifted) && moving_helps(&lifted, residents, n);
}

/* Two claims of which one goes to the very card that keeps a node out of a clique are beyond what
 * is tried. */
static bool has_clique(const struct game *game)
{
    for (size_t i = 0; i < game->n_rules; i++) {
        if (game->rules[i].place == CLIQUE)
            return true;
    }
    return false;
}

static void check_moves(const struct tg_explanation *e, const struct game *game)
{
    bool told = false, pairs = !has_clique(game);

    for (size_t i = 0; i < e->n_helps; i++) {
        const struct tg_explained_help *help = &e->helps[i];
        int residents[TG_EXPLAIN_MOVES];

        if (help->kind != TG_HELP_MOVE)
            continue;
        told = true;
        for (size_t k = 0; k < help->n_moves; k++)
            residents[k] = number_of(help->moves[k].holder);
        if (!lifting_helps(game, residents, help->n_moves))
            fail_in_game("moving %s and so on is said to help and does not", help->moves[0].holder);
    }
    if (told || !is_complete(e))
        return;
    for (int a = 0; a < (int)game->n_residents; a++) {
        for (int b = a; b < (pairs ? (int)game->n_residents : a + 1); b++) {
            const int two[] = {a, b};

            if (lifting_helps(game, two, a == b ? 1 : 2))
                fail_in_game("moving h%d and h%d helps and is not told", a, b);
        }
    }
}

static void check_ever(const struct tg_explanation *e, const struct game *game)
{
    struct game empty = *game;

    if (!e->never)
        return;
    for (size_t b = 0; b < empty.n_boxes; b++) {
        empty.boxes[b].cordoned = empty.boxes[b].tainted = false;
        for (size_t d = 0; d < empty.boxes[b].n; d++)
            empty.boxes[b].gpus[d].holder = NOBODY;
    }
    empty.n_rules = 0;
    check(!fits(&empty));
}

/* --- all of it -------------------------------------------------------------------------------- */

static void check_explanation(const struct tg_explanation *e, const struct game *game)
{
    check_funnel(e, game);
    check_attempt(e, game);
    check_domain(e, game);
    check_rules_told(e, game);
    check_reason(e, game);
    check_node_misses(e, game);
    check_device_misses(e, game);
    check_holders(e, game);
    check_ever(e, game);
    check_rules(e, game);
    check_moves(e, game);
    check_smaller_pod(e, game);
    for (size_t i = 0; i < e->n_topology && e->n_helps < TG_EXPLAIN_HELPS; i++)
        check_limit(e, game, i);
    check_pack(e, game);
    if (!all_alike(game) || e->n_helps == TG_EXPLAIN_HELPS)
        return;
    check_fewer_devices(e, game);
    check_fewer_members(e, game);
}

/* false: there is nothing to explain. */
static bool play(const struct game *game, struct tg_explanation *ret)
{
    struct table t;
    struct tg_error err = TG_ERROR_INIT;
    struct tg_explain_input input = {.levels = levels,
                                     .n_levels = 2,
                                     .find = find_resident,
                                     .data = &t.w,
                                     .max_steps = SIZE_MAX};
    bool placed = places(game);
    uint64_t before;

    if (placed != fits(game))
        fail_in_game("it is %s", placed ? "placed and does not fit" : "not placed and fits");
    if (placed)
        return false;
    lay(&t, game);
    input.request = &t.request;
    before = tg_fleet_hash(t.fleet);
    if (tg_explain_request(t.fleet, &input, t.w.arena, ret, &err) < 0)
        fail_in_game("%s", err.message);
    assert_non_null(ret->reason);
    assert_true(tg_fleet_hash(t.fleet) == before);
    if (ret->member != NULL)
        check_explanation(ret, game);
    clear(&t);
    return true;
}

static uint64_t begin(const char *what, uint64_t seed)
{
    playing = what;
    seed_played = seed;
    return seed * 0x9e3779b97f4a7c15U + 1;
}

static void what_an_explanation_says_is_so(void **state)
{
    size_t explained = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t r = begin("games", seed);
        struct game game;
        struct tg_explanation e;

        generate(&game, &r);
        add_rule(&game, &r);
        explained += play(&game, &e) ? 1 : 0;
    }
    assert_true(explained > SEEDS / 2);
}

/* Is it what the game is about that is in the way? */
static bool is_blocked(const struct tg_explanation *e, enum kind kind)
{
    if (kind == PACK)
        return e->best_domain.whole_fleet_fits;
    return e->n_topology > 0 && (kind != TWO_RULES || e->n_topology == 2);
}

static void what_is_said_of_topology_is_so(void **state)
{
    bool short_of = false;

    (void)state;
    for (enum kind kind = PACK; kind < KINDS; kind++) {
        size_t blocked = 0;

        for (uint64_t seed = 1; seed <= SEEDS_OF_KIND; seed++) {
            uint64_t r = begin(kind_names[kind], seed);
            struct game game;
            struct tg_explanation e;

            generate_ruled(&game, kind, &r);
            blocked += play(&game, &e) && is_blocked(&e, kind) ? 1 : 0;
        }
        print_message("%s: in the way in %zu games of %d\n", kind_names[kind], blocked,
                      SEEDS_OF_KIND);
        short_of = short_of || blocked < BLOCKED_LEAST;
    }
    assert_false(short_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_an_explanation_says_is_so),
        cmocka_unit_test(what_is_said_of_topology_is_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
