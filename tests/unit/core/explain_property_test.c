/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explanations of random small fleets, checked by brute force: cards by themselves and partitions
 * that share counters, matchAttribute, spread, members that stay together. Every number of the
 * funnel is counted again from the generator's own idea of the fleet; everything that is said to
 * help is done to the fleet or the request, and must help; where nothing of a kind is said to help,
 * everything of that kind is tried, and nothing may. Seeds are fixed: a failure prints its own.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "tests/unit/core/explain_game.h"

#include "api/runtime/base/str.h"

#define SEEDS 1500

static uint64_t playing; /* for messages */
#define fail_in_game(format, ...) fail_msg("seed %" PRIu64 ": " format, playing, __VA_ARGS__)

/* The number of a resident: "claim ns/h12". */
static int number_of(const char *holder)
{
    return (int)strtol(strrchr(holder, 'h') + 1, NULL, 10);
}

/* --- counted again ---------------------------------------------------------------------------- */

static bool selects(const struct want *want, const struct gpu *gpu, size_t index)
{
    if (want->predicate == INDEX_IS)
        return (int)index == want->value;
    return want->predicate == ANY || gpu->memory >= want->value;
}

/* Halves of the card that somebody has. */
static unsigned cuts_held(const struct box *box)
{
    unsigned held = 0;

    for (size_t d = 0; d < box->n; d++)
        held |= box->gpus[d].holder == NOBODY ? 0 : box->gpus[d].cuts;
    return held;
}

static bool accepts(const struct want *want, const struct box *box, size_t index)
{
    const struct gpu *gpu = &box->gpus[index];

    return selects(want, gpu, index) && (!gpu->tainted || want->tolerates) &&
           gpu->holder == NOBODY && !gpu->unsupported && (gpu->cuts & cuts_held(box)) == 0;
}

/* May a claim that has those devices have this one too? */
static bool goes_with(const struct job *job, const struct box *box, unsigned taken, size_t device)
{
    for (size_t d = 0; d < box->n; d++) {
        if ((taken >> d & 1U) == 0)
            continue;
        if (d == device || (box->gpus[d].cuts & box->gpus[device].cuts) != 0 ||
            (job->same && box->gpus[d].root != box->gpus[device].root))
            return false;
    }
    return true;
}

/* Devices of the box to the wants of one job, one by one, in every way. */
static bool devices_do(const struct job *job, const struct box *box, size_t want, size_t unit,
                       unsigned taken)
{
    if (want == job->n)
        return true;
    if (unit == job->wants[want].count)
        return devices_do(job, box, want + 1, 0, taken);
    for (size_t d = 0; d < box->n; d++) {
        if (goes_with(job, box, taken, d) && accepts(&job->wants[want], box, d) &&
            devices_do(job, box, want, unit + 1, taken | 1U << d))
            return true;
    }
    return false;
}

/* How many rules the box fails for the job, and the first of them. */
static size_t rules_failed(const struct job *job, const struct box *box, const char **ret)
{
    const struct {
        const char *code;
        bool failed;
    } rules[] = {
        {"NodeUnschedulable", box->cordoned},
        {"NodeTainted", box->tainted && !job->tolerates},
        {"NodeSelectorMismatch", job->selects && !box->labelled},
        {"NodeAffinityMismatch", job->affine && !box->labelled},
    };
    size_t n = 0;

    for (size_t i = 0; i < 4; i++) {
        if (rules[i].failed && n++ == 0)
            *ret = rules[i].code;
    }
    return n;
}

static int used_cpu(const struct box *box)
{
    int halves = 0;

    for (size_t d = 0; d < box->n; d++)
        halves += box->gpus[d].holder != NOBODY ? 1 : 0;
    return halves * 500;
}

static bool takes(const struct job *job, const struct box *box)
{
    const char *rule;

    return rules_failed(job, box, &rule) == 0 && box->cpu * 1000 - used_cpu(box) >= job->cpu * 1000;
}

static bool in_domain(const struct tg_explanation *e, const struct game *game,
                      const struct box *box)
{
    char name[16];

    if (!game->pack)
        return true;
    snprintf(name, sizeof(name), "r%d", box->rack);
    return box->rack != NOBODY && strcmp(e->best_domain.name, name) == 0;
}

static size_t job_of(const struct tg_explanation *e)
{
    return strtoul(e->member + strlen("ns/m-"), NULL, 10);
}

static void count_funnel(const struct tg_explanation *e, const struct game *game, size_t request,
                         size_t *ret)
{
    const struct job *job = &game->jobs[job_of(e)];
    const struct want *want = &job->wants[request];

    memset(ret, 0, TG_FUNNEL_STAGES * sizeof(*ret));
    for (size_t b = 0; b < game->n_boxes; b++) {
        const struct box *box = &game->boxes[b];
        bool together = devices_do(job, box, 0, 0, 0);

        for (size_t d = 0; d < box->n; d++) {
            const struct gpu *gpu = &box->gpus[d];
            const bool holds[TG_FUNNEL_STAGES] = {
                true,
                true,
                selects(want, gpu, d),
                !gpu->tainted || want->tolerates,
                gpu->holder == NOBODY,
                !gpu->unsupported,
                (gpu->cuts & cuts_held(box)) == 0,
                together,
                takes(job, box),
                in_domain(e, game, box),
                false,
            };

            for (size_t s = 0; s < TG_FUNNEL_STAGES && holds[s]; s++)
                ret[s]++;
        }
    }
}

static bool all_alike(const struct game *game)
{
    for (size_t i = 1; i < game->n_jobs; i++) {
        if (memcmp(&game->jobs[i], &game->jobs[0], sizeof(game->jobs[0])) != 0)
            return false;
    }
    return true;
}

static void check_funnel(const struct tg_explanation *e, const struct game *game)
{
    const struct job *job = &game->jobs[job_of(e)];
    size_t numbers[TG_FUNNEL_STAGES];

    assert_int_equal(e->n_requests, job->n);
    for (size_t r = 0; r < job->n; r++) {
        count_funnel(e, game, r, numbers);
        /* What is left follows from the rest if all ask for one kind of device. */
        if (job->n == 1 && all_alike(game))
            numbers[TG_FUNNEL_LEFT] = numbers[TG_FUNNEL_DOMAIN] - e->placed * job->wants[0].count;
        else
            numbers[TG_FUNNEL_LEFT] = e->requests[r].devices[TG_FUNNEL_LEFT];
        /* Which nodes the rules leave depends on who is placed already. */
        if (e->n_topology > 0) {
            assert_true(e->requests[r].devices[TG_FUNNEL_DOMAIN] <= numbers[TG_FUNNEL_DOMAIN]);
            numbers[TG_FUNNEL_DOMAIN] = e->requests[r].devices[TG_FUNNEL_DOMAIN];
            numbers[TG_FUNNEL_LEFT] = e->requests[r].devices[TG_FUNNEL_LEFT];
        }
        for (size_t s = 0; s < TG_FUNNEL_STAGES; s++) {
            if (e->requests[r].devices[s] != numbers[s])
                fail_in_game("request %zu, %s: %zu, counted %zu", r,
                             tg_funnel_stage_name((enum tg_funnel_stage)s),
                             e->requests[r].devices[s], numbers[s]);
        }
        assert_true(numbers[TG_FUNNEL_LEFT] <= numbers[TG_FUNNEL_DOMAIN]);
    }
}

/* Nodes that fail one rule alone, and what is free on them. */
static void check_node_misses(const struct tg_explanation *e, const struct game *game)
{
    const struct job *job = &game->jobs[job_of(e)];

    for (size_t i = 0; i < e->n_misses; i++) {
        size_t nodes = 0, devices = 0;

        if (strncmp(e->misses[i].rule, "Node", 4) != 0)
            continue;
        for (size_t b = 0; b < game->n_boxes; b++) {
            const struct box *box = &game->boxes[b];
            const char *rule = "";

            if (rules_failed(job, box, &rule) != 1 || strcmp(rule, e->misses[i].rule) != 0)
                continue;
            nodes++;
            for (size_t d = 0; d < box->n; d++) {
                bool any = false;

                for (size_t r = 0; r < job->n; r++)
                    any = any || accepts(&job->wants[r], box, d);
                devices += any ? 1 : 0;
            }
        }
        if (nodes != e->misses[i].nodes || devices != e->misses[i].devices)
            fail_in_game("%s: %zu nodes and %zu devices, counted %zu and %zu", e->misses[i].rule,
                         e->misses[i].nodes, e->misses[i].devices, nodes, devices);
    }
}

static void check_device_misses(const struct tg_explanation *e, const struct game *game)
{
    const struct job *job = &game->jobs[job_of(e)];

    for (size_t i = 0; i < e->n_misses; i++) {
        const struct want *want = &job->wants[e->misses[i].request];
        bool selector = strcmp(e->misses[i].rule, "SelectorMismatch") == 0,
             taint = strcmp(e->misses[i].rule, "DeviceTainted") == 0;
        size_t devices = 0;

        if (!selector && !taint)
            continue;
        for (size_t b = 0; b < game->n_boxes; b++) {
            const struct box *box = &game->boxes[b];
            const char *rule;

            for (size_t d = 0; d < box->n && rules_failed(job, box, &rule) == 0; d++) {
                const struct gpu *gpu = &box->gpus[d];
                bool tainted = gpu->tainted && !want->tolerates;

                devices += gpu->holder == NOBODY && !gpu->unsupported &&
                                   selects(want, gpu, d) != selector && tainted == taint
                               ? 1
                               : 0;
            }
        }
        if (devices != e->misses[i].devices)
            fail_in_game("%s: %zu devices, counted %zu", e->misses[i].rule, e->misses[i].devices,
                         devices);
    }
}

static void check_supply(const struct tg_explanation *e, const struct game *game)
{
    const struct tg_explained_supply *s = &e->supply;
    size_t total = s->held + s->tainted + s->used_up + s->taken + s->free;

    (void)game;
    assert_int_equal(total, s->matching);
    assert_true(s->most <= s->free);
}

static void check_holders(const struct tg_explanation *e, const struct game *game)
{
    for (size_t i = 0; i < e->n_holders; i++) {
        int resident = number_of(e->holders[i].name);
        size_t n = 0;

        for (size_t b = 0; b < game->n_boxes; b++) {
            for (size_t d = 0; d < game->boxes[b].n; d++)
                n += game->boxes[b].gpus[d].holder == resident ? 1 : 0;
        }
        assert_int_equal(n, 1);
        assert_int_equal(e->holders[i].devices, 1);
    }
}

/* --- what helps ------------------------------------------------------------------------------- */

static void change_jobs(struct game *game, void (*change)(struct job *job, size_t request),
                        size_t request)
{
    for (size_t i = 0; i < game->n_jobs; i++)
        change(&game->jobs[i], request);
}

static void tolerate_node(struct job *job, size_t request)
{
    (void)request;
    job->tolerates = true;
}

static void drop_node_selector(struct job *job, size_t request)
{
    (void)request;
    job->selects = false;
}

static void drop_affinity(struct job *job, size_t request)
{
    (void)request;
    job->affine = false;
}

static void tolerate_device(struct job *job, size_t request)
{
    job->wants[request].tolerates = true;
}

static void drop_selector(struct job *job, size_t request)
{
    job->wants[request].predicate = ANY;
}

static const struct {
    enum tg_help_kind kind;
    void (*change)(struct job *job, size_t request);
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

/* Said to help if and only if it does. */
static void check_rules(const struct tg_explanation *e, const struct game *game)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        for (size_t r = 0; r < game->jobs[0].n; r++) {
            struct game changed = *game;
            bool told = is_told(e, rules[i].kind, r, rules[i].of_request, 0), helps;

            change_jobs(&changed, rules[i].change, r);
            helps = places(&changed);
            if (told && !helps)
                fail_in_game("%s (r%zu) is said to help and does not", tg_help_code(rules[i].kind),
                             r);
            if (!told && helps && e->helps_complete)
                fail_in_game("%s (r%zu) helps and is not told", tg_help_code(rules[i].kind), r);
        }
    }
}

static void check_topology(const struct tg_explanation *e, const struct game *game)
{
    struct game in_zone = *game, anywhere = *game;
    bool zone, none;

    if (!game->pack)
        return;
    in_zone.wide = true;
    anywhere.pack = false;
    zone = places(&in_zone);
    none = places(&anywhere);
    assert_int_equal(is_told(e, TG_HELP_WIDER_TOPOLOGY, 0, false, 0), zone);
    assert_int_equal(is_told(e, TG_HELP_NO_TOPOLOGY, 0, false, 0), none && !zone);
}

/* A rule of the topology: said to be in the way if and only if all fits without it, and the least
 * limit that is wide enough is told. */
static void check_limits(const struct tg_explanation *e, const struct game *game)
{
    struct game free_of_it = *game, wider = *game;
    size_t most = 0;
    bool helps;

    if (game->spread == 0 && !game->together)
        return;
    free_of_it.spread = 0;
    free_of_it.together = false;
    helps = places(&free_of_it);
    assert_int_equal(e->n_topology > 0, helps);
    assert_int_equal(is_told(e, TG_HELP_NO_ROLE_TOPOLOGY, 0, false, 0), helps && game->together);
    while (helps && game->spread > 0 && most == 0 && ++wider.spread <= game->n_jobs)
        most = places(&wider) ? wider.spread : 0;
    assert_int_equal(is_told(e, TG_HELP_WIDER_SPREAD, 0, false, most), most > 0);
    assert_int_equal(is_told(e, TG_HELP_WIDER_SPREAD, 0, false, 0), most > 0);
    assert_int_equal(is_told(e, TG_HELP_NO_SPREAD, 0, false, 0),
                     helps && game->spread > 0 && most == 0);
}

/* The most that fits is told, no more and no less. */
static void check_less(const struct tg_explanation *e, const struct game *game)
{
    for (size_t r = 0; r < game->jobs[0].n; r++) {
        struct game changed = *game;
        size_t n = game->jobs[0].wants[r].count;

        while (--n > 0) {
            for (size_t i = 0; i < game->n_jobs; i++)
                changed.jobs[i].wants[r].count = n;
            if (places(&changed))
                break;
        }
        assert_int_equal(is_told(e, TG_HELP_FEWER_DEVICES, r, true, n), n > 0);
        assert_int_equal(is_told(e, TG_HELP_FEWER_DEVICES, r, true, 0), n > 0);
    }
    for (struct game changed = *game; --changed.n_jobs > 0;) {
        if (!places(&changed))
            continue;
        assert_true(is_told(e, TG_HELP_FEWER_MEMBERS, 0, false, changed.n_jobs));
        return;
    }
    assert_false(is_told(e, TG_HELP_FEWER_MEMBERS, 0, false, 0));
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
        return places(game);
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
    return places(&lifted) && moving_helps(&lifted, residents, n);
}

static void check_moves(const struct tg_explanation *e, const struct game *game)
{
    bool told = false;

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
    if (told || !e->helps_complete)
        return;
    for (int a = 0; a < (int)game->n_residents; a++) {
        const int one[] = {a};

        if (lifting_helps(game, one, 1))
            fail_in_game("moving h%d helps and is not told", a);
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
    assert_false(places(&empty));
}

/* --- all of it -------------------------------------------------------------------------------- */

static size_t play(uint64_t seed)
{
    uint64_t r = seed * 0x9e3779b97f4a7c15U + 1;
    struct game game;
    struct table t;
    struct tg_explanation e;
    struct tg_error err = TG_ERROR_INIT;
    struct tg_explain_input input = {.levels = levels,
                                     .n_levels = 2,
                                     .find = find_resident,
                                     .data = &t.w,
                                     .max_steps = SIZE_MAX};
    uint64_t before;

    generate(&game, &r);
    add_rule(&game, &r);
    if (places(&game))
        return 0;
    lay(&t, &game);
    input.request = &t.request;
    before = tg_fleet_hash(t.fleet);
    if (tg_explain_request(t.fleet, &input, t.w.arena, &e, &err) < 0)
        fail_msg("%s", err.message);
    assert_non_null(e.reason);
    assert_true(tg_fleet_hash(t.fleet) == before);
    if (e.member != NULL && e.best_node.name != NULL) {
        check_funnel(&e, &game);
        check_node_misses(&e, &game);
        check_device_misses(&e, &game);
        check_supply(&e, &game);
        check_holders(&e, &game);
        check_ever(&e, &game);
        check_moves(&e, &game);
        if (all_alike(&game)) {
            check_rules(&e, &game);
            check_topology(&e, &game);
            check_limits(&e, &game);
            check_less(&e, &game);
        }
    }
    clear(&t);
    return 1;
}

static void what_an_explanation_says_is_so(void **state)
{
    size_t explained = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        playing = seed;
        explained += play(seed);
    }
    assert_true(explained > SEEDS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_an_explanation_says_is_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
