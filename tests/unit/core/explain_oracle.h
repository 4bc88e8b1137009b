/* SPDX-License-Identifier: Apache-2.0 */
/* Where the members of a game can go, by trying every way: what explanations are compared with.
 * Nothing here is of the product. Included by one test program. */
#ifndef TG_TESTS_UNIT_CORE_EXPLAIN_ORACLE_H
#define TG_TESTS_UNIT_CORE_EXPLAIN_ORACLE_H

#include "tests/unit/core/explain_game.h"

/* --- one device, one node --------------------------------------------------------------------- */

static inline bool selects(const struct want *want, const struct gpu *gpu, size_t index)
{
    if (want->predicate == INDEX_IS)
        return (int)index == want->value;
    return want->predicate == ANY || gpu->memory >= want->value;
}

static inline bool tolerates(const struct want *want, const struct gpu *gpu)
{
    return !gpu->tainted || want->tolerates;
}

/* Halves of the card that somebody has. */
static inline unsigned cuts_held(const struct box *box)
{
    unsigned held = 0;

    for (size_t d = 0; d < box->n; d++)
        held |= box->gpus[d].holder == NOBODY ? 0 : box->gpus[d].cuts;
    return held;
}

static inline bool accepts(const struct want *want, const struct box *box, size_t index)
{
    const struct gpu *gpu = &box->gpus[index];

    return selects(want, gpu, index) && tolerates(want, gpu) && gpu->holder == NOBODY &&
           !gpu->unsupported && (gpu->cuts & cuts_held(box)) == 0;
}

/* How many rules the box fails for the job, and the first of them. */
static inline size_t rules_failed(const struct job *job, const struct box *box, const char **ret)
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

    *ret = NULL;
    for (size_t i = 0; i < 4; i++) {
        if (rules[i].failed && n++ == 0)
            *ret = rules[i].code;
    }
    return n;
}

static inline bool passes(const struct job *job, const struct box *box)
{
    const char *rule;

    return rules_failed(job, box, &rule) == 0;
}

static inline int used_cpu(const struct box *box)
{
    int held = 0;

    for (size_t d = 0; d < box->n; d++)
        held += box->gpus[d].holder != NOBODY ? 1 : 0;
    return held * 500;
}

/* Do they ask for the same? */
static inline bool same_job(const struct job *a, const struct job *b)
{
    bool same = a->cpu == b->cpu && a->role == b->role && a->selects == b->selects &&
                a->affine == b->affine && a->tolerates == b->tolerates && a->same == b->same &&
                a->n == b->n;

    for (size_t i = 0; same && i < a->n; i++) {
        const struct want *x = &a->wants[i], *y = &b->wants[i];

        same = x->predicate == y->predicate && (x->predicate == ANY || x->value == y->value) &&
               x->count == y->count && x->tolerates == y->tolerates;
    }
    return same;
}

static inline bool all_alike(const struct game *game)
{
    for (size_t i = 1; i < game->n_jobs; i++) {
        if (!same_job(&game->jobs[i], &game->jobs[0]))
            return false;
    }
    return true;
}

/* --- domains ---------------------------------------------------------------------------------- */

static inline bool is_wanted(const struct game *game, const struct gpu *gpu, size_t index)
{
    for (size_t i = 0; i < game->n_jobs; i++) {
        for (size_t w = 0; w < game->jobs[i].n; w++) {
            if (selects(&game->jobs[i].wants[w], gpu, index) &&
                tolerates(&game->jobs[i].wants[w], gpu))
                return true;
        }
    }
    return false;
}

/* What all free devices that members could use say; NOBODY: different things, or nothing. */
static inline int clique_of(const struct game *game, const struct box *box)
{
    int clique = NOBODY;
    bool any = false;

    for (size_t d = 0; d < box->n; d++) {
        const struct gpu *gpu = &box->gpus[d];

        if (gpu->holder != NOBODY || gpu->unsupported || !is_wanted(game, gpu, d))
            continue;
        if (any && gpu->clique != clique)
            return NOBODY;
        clique = gpu->clique;
        any = true;
    }
    return clique;
}

/* NOBODY: in none. */
static inline int domain_of(const struct game *game, enum place place, size_t box)
{
    if (place == ZONE)
        return game->boxes[box].zone;
    if (place == RACK)
        return game->boxes[box].rack;
    return place == HOST ? (int)box : clique_of(game, &game->boxes[box]);
}

/* Its name, as an explanation has it. */
static inline const char *domain_name(enum place place, int domain, char ret[16])
{
    static const char *const letters[PLACES] = {"z", "r", "n", "c"};

    snprintf(ret, 16, "%s%d", letters[place], domain);
    return ret;
}

/* --- attempts --------------------------------------------------------------------------------- */

struct attempt {
    int where[JOBS_MAX]; /* the box of each job, or NOBODY */
    unsigned taken[NODES_MAX];
    int cpu[NODES_MAX];
};

struct trying {
    const struct game *game;
    int domain;            /* of pack, or NOBODY: everywhere */
    int chosen[RULES_MAX]; /* of rules that want members together: only there; NOBODY: anywhere */
    size_t to_place;       /* so many jobs, and */
    int left_out;          /* not this one; NOBODY: whichever */
    /* Is this one as it should be? Then it is the last. NULL: any is. */
    bool (*visit)(const struct trying *t, const struct attempt *attempt);
    void *data;
};

static inline struct trying trying_all(const struct game *game)
{
    struct trying t = {
        .game = game, .domain = NOBODY, .to_place = game->n_jobs, .left_out = NOBODY};

    for (size_t i = 0; i < RULES_MAX; i++)
        t.chosen[i] = NOBODY;
    return t;
}

static inline bool in_scope(const struct trying *t, size_t box)
{
    return t->domain == NOBODY || domain_of(t->game, t->game->wide ? ZONE : RACK, box) == t->domain;
}

static inline bool rule_allows(const struct trying *t, const struct attempt *a, size_t number,
                               size_t job, size_t box)
{
    const struct rule *rule = &t->game->rules[number];
    int domain = domain_of(t->game, rule->place, box);
    size_t there = 0, elsewhere = 0;

    if (!binds(rule, &t->game->jobs[job]))
        return true;
    for (size_t i = 0; i < t->game->n_jobs; i++) {
        if (a->where[i] == NOBODY || i == job || !binds(rule, &t->game->jobs[i]))
            continue;
        if (domain_of(t->game, rule->place, (size_t)a->where[i]) == domain)
            there++;
        else
            elsewhere++;
    }
    if (domain == NOBODY)
        return false;
    if (rule->most > 0)
        return there < rule->most;
    return elsewhere == 0 && (t->chosen[number] == NOBODY || t->chosen[number] == domain);
}

static inline bool rules_allow(const struct trying *t, const struct attempt *a, size_t job,
                               size_t box)
{
    for (size_t i = 0; i < t->game->n_rules; i++) {
        if (!rule_allows(t, a, i, job, box))
            return false;
    }
    return true;
}

/* May a claim that has those devices have this one too, beside what others took? */
static inline bool goes_with(const struct job *job, const struct box *box, unsigned mine,
                             unsigned taken, size_t device)
{
    for (size_t d = 0; d < box->n; d++) {
        if (((mine | taken) >> d & 1U) == 0)
            continue;
        if (d == device || (box->gpus[d].cuts & box->gpus[device].cuts) != 0)
            return false;
        if (job->same && (mine >> d & 1U) != 0 && box->gpus[d].root != box->gpus[device].root)
            return false;
    }
    return true;
}

static inline bool try_from(const struct trying *t, struct attempt *a, size_t job);

/* The devices of the box to the wants of the job, one by one, in every way, and the jobs after it.
 */
static inline bool try_devices(const struct trying *t, struct attempt *a, size_t job, size_t want,
                               size_t unit, size_t first, unsigned mine)
{
    const struct job *j = &t->game->jobs[job];
    size_t b = (size_t)a->where[job];
    const struct box *box = &t->game->boxes[b];

    if (want == j->n) {
        bool enough;

        a->taken[b] |= mine;
        enough = try_from(t, a, job + 1);
        a->taken[b] &= ~mine;
        return enough;
    }
    if (unit == j->wants[want].count)
        return try_devices(t, a, job, want + 1, 0, 0, mine);
    for (size_t d = first; d < box->n; d++) {
        if (accepts(&j->wants[want], box, d) && goes_with(j, box, mine, a->taken[b], d) &&
            try_devices(t, a, job, want, unit + 1, d + 1, mine | 1U << d))
            return true;
    }
    return false;
}

static inline size_t count_placed(const struct trying *t, const struct attempt *a)
{
    size_t n = 0;

    for (size_t i = 0; i < t->game->n_jobs; i++)
        n += a->where[i] != NOBODY ? 1 : 0;
    return n;
}

static inline bool try_box(const struct trying *t, struct attempt *a, size_t job, size_t b)
{
    const struct job *j = &t->game->jobs[job];
    const struct box *box = &t->game->boxes[b];
    bool enough;

    if (!in_scope(t, b) || !passes(j, box) || !rules_allow(t, a, job, b) ||
        box->cpu * 1000 - used_cpu(box) - a->cpu[b] < j->cpu)
        return false;
    a->where[job] = (int)b;
    a->cpu[b] += j->cpu;
    enough = try_devices(t, a, job, 0, 0, 0, 0);
    a->cpu[b] -= j->cpu;
    a->where[job] = NOBODY;
    return enough;
}

/* Jobs from that one on. */
static inline bool try_from(const struct trying *t, struct attempt *a, size_t job)
{
    size_t placed = count_placed(t, a);

    if (placed == t->to_place && (t->left_out == NOBODY || a->where[t->left_out] == NOBODY))
        return t->visit == NULL || t->visit(t, a);
    if (job == t->game->n_jobs || placed + (t->game->n_jobs - job) < t->to_place)
        return false;
    for (size_t b = 0; b < t->game->n_boxes && (int)job != t->left_out; b++) {
        if (try_box(t, a, job, b))
            return true;
    }
    return t->to_place < t->game->n_jobs && try_from(t, a, job + 1);
}

static inline bool try_all(const struct trying *t)
{
    struct attempt a = {.cpu = {0}};

    for (size_t i = 0; i < JOBS_MAX; i++)
        a.where[i] = NOBODY;
    return try_from(t, &a, 0);
}

/* Have so many of the members a place, in one domain of the required level if there is one? */
static inline bool fits_some(const struct game *game, size_t members)
{
    struct trying t = trying_all(game);

    t.to_place = members;
    if (!game->pack)
        return try_all(&t);
    for (t.domain = 0; t.domain < 2; t.domain++) {
        if (try_all(&t))
            return true;
    }
    return false;
}

static inline bool fits(const struct game *game)
{
    return fits_some(game, game->n_jobs);
}

/* Can one node have so many of that job, with no rules beside? */
static inline bool fits_on(const struct game *game, size_t job, size_t box, size_t copies)
{
    struct game alone = {.n_boxes = 1, .n_jobs = copies, .boxes = {game->boxes[box]}};

    for (size_t i = 0; i < copies; i++)
        alone.jobs[i] = game->jobs[job];
    return fits(&alone);
}

#endif
