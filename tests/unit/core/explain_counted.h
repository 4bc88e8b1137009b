/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of an explanation counted again: funnel, attempt, domains, rules of the topology,
 * near misses, holders. Included by one test program. */
#ifndef TG_TESTS_UNIT_CORE_EXPLAIN_COUNTED_H
#define TG_TESTS_UNIT_CORE_EXPLAIN_COUNTED_H

#include <inttypes.h>
#include <stdlib.h>

#include "tests/unit/core/explain_oracle.h"

static const char *playing = "games"; /* for messages, as the seed */
static uint64_t seed_played;
#define fail_in_game(format, ...)                                                                  \
    fail_msg("%s, seed %" PRIu64 ": " format, playing, seed_played, __VA_ARGS__)
#define check(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_in_game("%s", #condition);                                                        \
    } while (0)
#define check_number(what, is, counted)                                                            \
    do {                                                                                           \
        if ((size_t)(is) != (size_t)(counted))                                                     \
            fail_in_game("%s: %zu, counted %zu", what, (size_t)(is), (size_t)(counted));           \
    } while (0)

/* The number of a resident: "claim ns/h12". */
static inline int number_of(const char *holder)
{
    return (int)strtol(strrchr(holder, 'h') + 1, NULL, 10);
}

/* Would the devices of the box do for the job, whatever else it says? */
static inline bool devices_do(const struct game *game, size_t job, size_t box)
{
    struct game roomy = *game;

    roomy.boxes[box].cordoned = roomy.boxes[box].tainted = false;
    roomy.boxes[box].labelled = true;
    roomy.boxes[box].cpu = 1000;
    return fits_on(&roomy, job, box, 1);
}

static inline size_t job_of(const struct tg_explanation *e)
{
    return strtoul(e->member + strlen("ns/m-"), NULL, 10);
}

/* --- numbers that go by nothing but the fleet --- */

/* Up to TG_FUNNEL_NODE_FIT. */
static inline void count_funnel(const struct game *game, size_t job, size_t request, size_t *ret)
{
    const struct want *want = &game->jobs[job].wants[request];

    memset(ret, 0, TG_FUNNEL_STAGES * sizeof(*ret));
    for (size_t b = 0; b < game->n_boxes; b++) {
        const struct box *box = &game->boxes[b];
        bool together = devices_do(game, job, b), fit = fits_on(game, job, b, 1);

        for (size_t d = 0; d < box->n; d++) {
            const struct gpu *gpu = &box->gpus[d];
            const bool holds[TG_FUNNEL_STAGES] = {
                true,
                true,
                selects(want, gpu, d),
                tolerates(want, gpu),
                gpu->holder == NOBODY,
                !gpu->unsupported,
                (gpu->cuts & cuts_held(box)) == 0,
                together,
                fit,
                false,
            };

            for (size_t s = 0; s < TG_FUNNEL_STAGES && holds[s]; s++)
                ret[s]++;
        }
    }
}

static inline void check_funnel(const struct tg_explanation *e, const struct game *game)
{
    size_t job = job_of(e), numbers[TG_FUNNEL_STAGES];

    check_number("requests", e->n_requests, game->jobs[job].n);
    for (size_t r = 0; r < game->jobs[job].n; r++) {
        count_funnel(game, job, r, numbers);
        for (size_t s = 0; s < TG_FUNNEL_DOMAIN; s++) {
            if (e->requests[r].devices[s] != numbers[s])
                fail_in_game("request %zu, %s: %zu, counted %zu", r,
                             tg_funnel_stage_name((enum tg_funnel_stage)s),
                             e->requests[r].devices[s], numbers[s]);
        }
    }
}

/* --- numbers that go by where the other members are --- */

/* The game as the best attempt was made: rules beside pack are off if they are not what is in the
 * way. */
static inline struct game as_attempted(const struct tg_explanation *e, const struct game *game)
{
    struct game ret = *game;

    if (e->n_topology == 0)
        ret.n_rules = 0;
    return ret;
}

/* The domain of that name; NOBODY: there is none. */
static inline int find_domain(const struct game *game, enum place place, const char *name)
{
    for (size_t b = 0; name != NULL && b < game->n_boxes; b++) {
        char text[16];
        int domain = domain_of(game, place, b);

        if (domain != NOBODY && strcmp(domain_name(place, domain, text), name) == 0)
            return domain;
    }
    return NOBODY;
}

/* As an explanation says that it was tried, in the domains that it names. */
static inline struct trying trying_as_told(const struct tg_explanation *e, const struct game *game)
{
    struct trying t = trying_all(game);

    t.to_place = e->placed;
    t.left_out = (int)job_of(e);
    if (game->pack)
        t.domain = find_domain(game, RACK, e->best_domain.name);
    for (size_t i = 0; i < game->n_rules; i++) {
        if (game->rules[i].most == 0)
            t.chosen[i] = find_domain(game, game->rules[i].place, e->topology[i].best);
    }
    return t;
}

static inline bool any_accepts(const struct job *job, const struct box *box, size_t device)
{
    bool any = false;

    for (size_t r = 0; r < job->n; r++)
        any = any || accepts(&job->wants[r], box, device);
    return any;
}

static inline void add_supply(const struct job *job, const struct box *box, unsigned taken,
                              struct tg_explained_supply *ret)
{
    size_t here = 0;

    for (size_t d = 0; d < box->n; d++) {
        const struct gpu *gpu = &box->gpus[d];
        bool selected = false, could = false;

        for (size_t r = 0; r < job->n; r++) {
            selected = selected || selects(&job->wants[r], gpu, d);
            could = could || (selects(&job->wants[r], gpu, d) && tolerates(&job->wants[r], gpu));
        }
        if (!selected || gpu->unsupported)
            continue;
        ret->matching++;
        if (gpu->holder != NOBODY)
            ret->held++;
        else if (!could)
            ret->tainted++;
        else if (!any_accepts(job, box, d))
            ret->used_up++;
        else if ((taken >> d & 1U) != 0)
            ret->taken++;
        else
            here++;
    }
    ret->free += here;
    ret->nodes += here > 0 ? 1 : 0;
    ret->most = here > ret->most ? here : ret->most;
}

static inline size_t left_on(const struct job *job, const struct box *box, unsigned taken)
{
    size_t n = 0;

    for (size_t d = 0; d < box->n; d++)
        n += any_accepts(job, box, d) && (taken >> d & 1U) == 0 ? 1 : 0;
    return n;
}

/* What an explanation tells beside the funnel's first stages, counted. */
struct counted {
    size_t domain[WANTS_MAX], left[WANTS_MAX];
    size_t nodes, nodes_fit, enough; /* enough: devices on the best node, up to what is needed */
    struct tg_explained_supply supply;
};

static inline size_t needed_by(const struct job *job)
{
    size_t n = 0;

    for (size_t r = 0; r < job->n; r++)
        n += job->wants[r].count;
    return n;
}

static inline void count_box(const struct trying *t, size_t member, size_t b, unsigned taken,
                             struct counted *ret)
{
    const struct job *job = &t->game->jobs[member];
    const struct box *box = &t->game->boxes[b];
    size_t left = left_on(job, box, taken), needed = needed_by(job);

    ret->nodes++;
    if (!passes(job, box))
        return;
    ret->nodes_fit++;
    left = left < needed ? left : needed;
    ret->enough = left > ret->enough ? left : ret->enough;
    add_supply(job, box, taken, &ret->supply);
    if (!fits_on(t->game, member, b, 1))
        return;
    for (size_t r = 0; r < job->n; r++) {
        for (size_t d = 0; d < box->n; d++) {
            bool could = accepts(&job->wants[r], box, d);

            ret->domain[r] += could ? 1 : 0;
            ret->left[r] += could && (taken >> d & 1U) == 0 ? 1 : 0;
        }
    }
}

static inline bool is_best_node(const struct tg_explanation *e, const struct trying *t,
                                const struct attempt *a, const struct counted *counted)
{
    size_t job = job_of(e), b = strtoul(e->best_node.name + 1, NULL, 10);
    const struct box *box = &t->game->boxes[b];
    size_t left = left_on(&t->game->jobs[job], box, a->taken[b]);
    int cpu = box->cpu * 1000 - used_cpu(box) - a->cpu[b];
    const char *rule = NULL;
    bool fails = rules_failed(&t->game->jobs[job], box, &rule) > 0;

    if (left != e->best_node.free || e->best_node.needed != needed_by(&t->game->jobs[job]) ||
        (rule == NULL) != (e->best_node.rule == NULL) ||
        (rule != NULL && strcmp(rule, e->best_node.rule) != 0))
        return false;
    if (cpu < t->game->jobs[job].cpu
            ? e->best_node.resource == NULL || e->best_node.left != (cpu > 0 ? cpu : 0) ||
                  e->best_node.wanted != t->game->jobs[job].cpu
            : e->best_node.resource != NULL)
        return false;
    left = left < e->best_node.needed ? left : e->best_node.needed;
    return fails ? counted->nodes_fit == 0 : left == counted->enough;
}

/* Is everything told as it is with the other members there? */
static inline bool is_as_told(const struct trying *t, const struct attempt *a)
{
    const struct tg_explanation *e = t->data;
    size_t job = job_of(e);
    struct counted counted = {.nodes = 0};

    for (size_t b = 0; b < t->game->n_boxes; b++) {
        if (in_scope(t, b) && rules_allow(t, a, job, b))
            count_box(t, job, b, a->taken[b], &counted);
    }
    for (size_t r = 0; r < t->game->jobs[job].n; r++) {
        if (e->requests[r].devices[TG_FUNNEL_DOMAIN] != counted.domain[r] ||
            e->requests[r].devices[TG_FUNNEL_LEFT] != counted.left[r])
            return false;
    }
    if (e->nodes != counted.nodes || e->nodes_fit != counted.nodes_fit ||
        memcmp(&e->supply, &counted.supply, sizeof(e->supply)) != 0)
        return false;
    return e->best_node.name == NULL ? counted.nodes == 0 : is_best_node(e, t, a, &counted);
}

/* Is there a way to place as many members as are said to be placed, with which everything else is
 * as it is said to be? And can there be more, all members being alike? */
static inline void check_attempt(const struct tg_explanation *e, const struct game *game)
{
    struct game attempted = as_attempted(e, game);
    struct trying t = trying_as_told(e, &attempted);

    t.visit = is_as_told;
    t.data = (void *)e;
    if (!try_all(&t))
        fail_in_game("%zu of %zu members and %s: nothing is like that", e->placed, e->members,
                     e->member);
    if (all_alike(game) && attempted.n_rules < 2 && fits_some(&attempted, e->placed + 1))
        fail_in_game("more than %zu of %zu members have a place", e->placed, e->members);
}

static inline void check_domain(const struct tg_explanation *e, const struct game *game)
{
    struct game anywhere = as_attempted(e, game);
    size_t domains = 0;

    if (!game->pack) {
        check(e->best_domain.level == NULL);
        return;
    }
    anywhere.pack = false;
    for (int domain = 0; domain < 2; domain++) {
        size_t b = 0;

        while (b < game->n_boxes && game->boxes[b].rack != domain)
            b++;
        domains += b < game->n_boxes ? 1 : 0;
    }
    check_number("domains", e->best_domain.domains, domains);
    check_number("placed in the domain", e->best_domain.placed, e->placed);
    check_number("the whole fleet", e->best_domain.whole_fleet_fits, fits(&anywhere));
}

/* Nodes that fail that rule alone, and what is free on them. */
static inline struct tg_explained_miss count_miss(const struct game *game, const struct job *job,
                                                  const char *rule)
{
    struct tg_explained_miss ret = {.rule = rule};

    for (size_t b = 0; b < game->n_boxes; b++) {
        const struct box *box = &game->boxes[b];
        const char *failed;

        if (rules_failed(job, box, &failed) != 1 || strcmp(failed, rule) != 0)
            continue;
        ret.nodes++;
        ret.devices += left_on(job, box, 0);
    }
    return ret;
}

/* Each rule that alone keeps nodes away is told, with what it keeps away, and no other is. */
static inline void check_node_misses(const struct tg_explanation *e, const struct game *game)
{
    static const char *const rules[] = {"NodeUnschedulable", "NodeTainted", "NodeSelectorMismatch",
                                        "NodeAffinityMismatch"};

    for (size_t r = 0; r < sizeof(rules) / sizeof(rules[0]); r++) {
        struct tg_explained_miss miss = count_miss(game, &game->jobs[job_of(e)], rules[r]);
        size_t i = 0;

        while (i < e->n_misses && strcmp(e->misses[i].rule, rules[r]) != 0)
            i++;
        check_number(rules[r], i<e->n_misses, miss.nodes> 0);
        if (i == e->n_misses)
            continue;
        check_number("its nodes", e->misses[i].nodes, miss.nodes);
        check_number("its devices", e->misses[i].devices, miss.devices);
    }
}

static inline void check_device_misses(const struct tg_explanation *e, const struct game *game)
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

            for (size_t d = 0; d < box->n && passes(job, box); d++) {
                const struct gpu *gpu = &box->gpus[d];
                bool tainted = !tolerates(want, gpu);

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

static inline void check_holders(const struct tg_explanation *e, const struct game *game)
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

/* --- rules beside pack --- */

static inline struct game without(const struct game *game, size_t rule)
{
    struct game ret = *game;

    ret.n_rules--;
    if (rule == 0)
        ret.rules[0] = ret.rules[1];
    return ret;
}

/* Members like that job, that the box has room for if it is in reach of all their rules. */
static inline size_t room_on(const struct trying *t, size_t job, size_t box, size_t members)
{
    const struct attempt nobody = {.where = {NOBODY, NOBODY, NOBODY, NOBODY}};
    size_t n = 0;

    if (!in_scope(t, box) || !rules_allow(t, &nobody, job, box))
        return 0;
    while (n < members && fits_on(t->game, job, box, n + 1))
        n++;
    return n;
}

/* Members that the rule binds and that its domain has room for, each kind for itself. */
static inline size_t room_in(const struct trying *t, size_t rule, int domain)
{
    const struct game *game = t->game;
    size_t room = 0;

    for (size_t i = 0; i < game->n_jobs; i++) {
        size_t alike = 0, here = 0;
        bool first = true;

        for (size_t k = 0; k < game->n_jobs; k++) {
            bool same = same_job(&game->jobs[i], &game->jobs[k]);

            alike += same ? 1 : 0;
            first = first && !(same && k < i);
        }
        if (!first || !binds(&game->rules[rule], &game->jobs[i]))
            continue;
        for (size_t b = 0; b < game->n_boxes; b++) {
            if (domain_of(game, game->rules[rule].place, b) == domain)
                here += room_on(t, i, b, alike);
        }
        room += here < alike ? here : alike;
    }
    return room;
}

struct tally { /* of the domains of a rule */
    size_t domains, roomy, most_room;
    int best; /* the first with most room; NOBODY: there is none */
};

static inline struct tally tally_domains(const struct trying *t, size_t rule)
{
    struct tally ret = {.best = NOBODY};

    for (int domain = 0; domain < NODES_MAX; domain++) {
        size_t b = 0, room;

        while (b < t->game->n_boxes && domain_of(t->game, t->game->rules[rule].place, b) != domain)
            b++;
        if (b == t->game->n_boxes)
            continue;
        room = room_in(t, rule, domain);
        ret.domains++;
        ret.roomy += room > 0 ? 1 : 0;
        if (ret.best == NOBODY || room > ret.most_room) {
            ret.best = domain;
            ret.most_room = room;
        }
    }
    return ret;
}

/* Domains have room within those that the other rules chose; which is the best one was decided
 * within those of the rules before it. */
static inline void check_rule(const struct tg_explanation *e, const struct game *game,
                              size_t number)
{
    const struct tg_explained_topology *told = &e->topology[number];
    const struct rule *rule = &game->rules[number];
    struct trying t = trying_as_told(e, game);
    struct game less = without(game, number);
    struct tally tally;
    size_t members = 0;
    char name[16];

    for (size_t i = 0; i < game->n_jobs; i++)
        members += binds(rule, &game->jobs[i]) ? 1 : 0;
    t.chosen[number] = NOBODY;
    tally = tally_domains(&t, number);
    check(strcmp(told->field, rule_fields[number]) == 0);
    check_number("attribute", told->attribute, rule->place == CLIQUE);
    check_number("most", told->most, rule->most);
    check_number("members", told->members, members);
    check_number("domains", told->domains, tally.domains);
    check_number("alone", told->alone, fits(&less));
    check_number("domains with room", told->roomy, tally.roomy);
    if (rule->most > 0)
        return;
    for (size_t i = number; i < game->n_rules; i++)
        t.chosen[i] = NOBODY;
    tally = tally_domains(&t, number);
    check((told->best == NULL) == (tally.best == NOBODY));
    check(told->best == NULL ||
          strcmp(told->best, domain_name(rule->place, tally.best, name)) == 0);
    check_number("room", told->room, tally.most_room);
}

/* Said to be in the way if and only if all fits without them. */
static inline void check_rules_told(const struct tg_explanation *e, const struct game *game)
{
    struct game none = *game;

    none.n_rules = 0;
    check_number("rules told", e->n_topology, game->n_rules > 0 && fits(&none) ? game->n_rules : 0);
    for (size_t i = 0; i < e->n_topology; i++)
        check_rule(e, game, i);
}

static inline void check_reason(const struct tg_explanation *e, const struct game *game)
{
    bool blocked = e->n_topology > 0,
         no_domain = !blocked && game->pack && e->best_domain.whole_fleet_fits && !e->never;

    check_number("TopologyUnsatisfied", strcmp(e->reason, "TopologyUnsatisfied") == 0, blocked);
    check_number("NoDomain", strcmp(e->reason, "NoDomain") == 0, no_domain);
}

#endif
