/* SPDX-License-Identifier: Apache-2.0 */
/* Random small fleets with claims that hold devices, and gangs that ask for some: the generator's
 * own idea of them, and the same as API objects. Included by one test program. */
#ifndef TG_TESTS_UNIT_CORE_EXPLAIN_GAME_H
#define TG_TESTS_UNIT_CORE_EXPLAIN_GAME_H

#include "tests/unit/core/world.h"

#include "controller/core/explain/explain.h"

#define NODES_MAX 4
#define DEVICES_MAX 4
#define JOBS_MAX 4
#define WANTS_MAX 2
#define RULES_MAX 2
#define ROLES 2
#define NOBODY (-1)

enum predicate { ANY, INDEX_IS, MEMORY_AT_LEAST, PREDICATES };

struct gpu {
    int holder; /* a resident, or NOBODY */
    bool tainted, unsupported;
    int memory;
    int root;      /* an attribute of which the devices of a claim may have to be alike */
    int clique;    /* the same of those of a whole gang; NOBODY: it has no such attribute */
    unsigned cuts; /* halves of the card that it takes, a bit each; 0: it is a card by itself */
};
struct box {
    int cpu, rack; /* rack NOBODY: no label */
    bool zone, labelled, cordoned, tainted;
    size_t n;
    struct gpu gpus[DEVICES_MAX];
};
struct want {
    enum predicate predicate;
    int value;
    size_t count;
    bool tolerates;
};
struct job {
    int cpu; /* in thousandths */
    size_t role;
    bool selects, affine, tolerates;
    bool same; /* all its devices have the same root */
    size_t n;
    struct want wants[WANTS_MAX];
};
enum place { ZONE, RACK, HOST, CLIQUE, PLACES };
struct rule { /* beside pack of the whole */
    enum place place;
    size_t most;    /* members in one at most; 0: all in the same one */
    unsigned roles; /* whom it binds, a bit each */
};
struct game {
    struct box boxes[NODES_MAX];
    struct job jobs[JOBS_MAX];
    struct rule rules[RULES_MAX];
    size_t n_boxes, n_jobs, n_residents, n_rules;
    bool pack; /* in one rack */
    bool wide; /* in one zone instead */
};
#define EVERYBODY ((1U << ROLES) - 1)

static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static inline int below(uint64_t *state, int n)
{
    return (int)(next_random(state) % (uint64_t)n);
}

static inline bool one_in(uint64_t *state, int n)
{
    return below(state, n) == 0;
}

static inline void generate_box(struct game *game, struct box *box, uint64_t *r)
{
    *box = (struct box){.cpu = 2 + below(r, 4),
                        .rack = one_in(r, 5) ? NOBODY : below(r, 2),
                        .zone = one_in(r, 2),
                        .labelled = !one_in(r, 3),
                        .cordoned = one_in(r, 8),
                        .tainted = one_in(r, 6),
                        .n = (size_t)below(r, DEVICES_MAX + 1)};
    for (size_t d = 0; d < box->n; d++) {
        box->gpus[d] = (struct gpu){.holder = NOBODY,
                                    .tainted = one_in(r, 8),
                                    .unsupported = one_in(r, 12),
                                    .memory = 10 * (1 + below(r, 3)),
                                    .root = (int)d % 2,
                                    .clique = NOBODY};
        if (one_in(r, 2))
            box->gpus[d].holder = (int)game->n_residents++;
    }
}

static inline void generate_job(struct job *job, uint64_t *r)
{
    *job = (struct job){.cpu = 1000 * (1 + below(r, 2)),
                        .selects = one_in(r, 5),
                        .affine = one_in(r, 6),
                        .tolerates = one_in(r, 4),
                        .n = 1 + (size_t)one_in(r, 4)};
    for (size_t i = 0; i < job->n; i++) {
        struct want *want = &job->wants[i];

        *want = (struct want){.predicate = (enum predicate)below(r, PREDICATES),
                              .count = (size_t)(1 + below(r, 3)),
                              .tolerates = one_in(r, 4)};
        want->value = want->predicate == INDEX_IS ? below(r, DEVICES_MAX) : 10 * (1 + below(r, 3));
        if (want->predicate == INDEX_IS)
            want->count = 1;
    }
}

static inline void generate(struct game *game, uint64_t *r)
{
    bool alike = !one_in(r, 4);

    *game = (struct game){.n_boxes = (size_t)(1 + below(r, NODES_MAX)),
                          .n_jobs = (size_t)(1 + below(r, JOBS_MAX - 1)),
                          .pack = one_in(r, 3)};
    for (size_t i = 0; i < game->n_boxes; i++)
        generate_box(game, &game->boxes[i], r);
    for (size_t i = 0; i < game->n_jobs; i++) {
        if (alike && i > 0)
            game->jobs[i] = game->jobs[0];
        else
            generate_job(&game->jobs[i], r);
    }
}

/* One card in pieces: the whole of it, or two halves. Whoever has a piece leaves the others alone.
 */
static inline void cut_box(struct box *box, uint64_t *r)
{
    static const unsigned cuts[] = {3, 1, 2};
    bool whole = one_in(r, 3);

    if (box->n < 3)
        return;
    box->n = 3;
    for (size_t d = 0; d < box->n; d++) {
        box->gpus[d].cuts = cuts[d];
        if ((d == 0) != whole)
            box->gpus[d].holder = NOBODY;
    }
}

/* The same game with one thing more that only some requests ask for. */
static inline void add_rule(struct game *game, uint64_t *r)
{
    switch (below(r, 6)) {
    case 0:
        for (size_t i = 0; i < game->n_jobs; i++)
            game->jobs[i].same = true;
        break;
    case 1:
        for (size_t b = 0; b < game->n_boxes; b++)
            cut_box(&game->boxes[b], r);
        break;
    default:
        break;
    }
}

/* --- games that are about topology ------------------------------------------------------------ */

enum kind { PACK, SPREAD, SPREAD_OF_ROLE, PACK_OF_ROLE, DEVICE_CONSTRAINT, TWO_RULES, KINDS };
static const char *const kind_names[KINDS] = {
    [PACK] = "pack",
    [SPREAD] = "spread",
    [SPREAD_OF_ROLE] = "spread of a role",
    [PACK_OF_ROLE] = "pack of a role",
    [DEVICE_CONSTRAINT] = "deviceConstraints",
    [TWO_RULES] = "two rules",
};

static inline struct rule generate_rule(enum kind kind, uint64_t *r)
{
    static const enum place spreads[] = {ZONE, RACK, HOST};
    static const enum place packs[] = {RACK, HOST, HOST, ZONE};
    struct rule rule = {.place = packs[below(r, 4)], .roles = EVERYBODY};

    if (kind == TWO_RULES)
        kind = (enum kind)(SPREAD + below(r, TWO_RULES - SPREAD));
    if (kind == SPREAD_OF_ROLE || kind == PACK_OF_ROLE)
        rule.roles = 1U << (one_in(r, 6) ? 0 : 1);
    if (kind == SPREAD || kind == SPREAD_OF_ROLE) {
        rule.place = spreads[below(r, 3)];
        rule.most = one_in(r, 3) ? 2 : 1;
    }
    if (kind == DEVICE_CONSTRAINT)
        rule.place = CLIQUE;
    return rule;
}

/* Room for most gangs, so that it is the topology that is in the way: few rules of nodes, labels
 * nearly everywhere, cards of one clique a node but for some. */
static inline void generate_roomy_box(struct game *game, struct box *box, uint64_t *r)
{
    int clique = below(r, 2);

    *box = (struct box){.cpu = 4 + below(r, 4),
                        .rack = one_in(r, 6) ? NOBODY : below(r, 2),
                        .zone = one_in(r, 2),
                        .labelled = !one_in(r, 8),
                        .cordoned = one_in(r, 16),
                        .tainted = one_in(r, 16),
                        .n = (size_t)(1 + below(r, DEVICES_MAX))};
    for (size_t d = 0; d < box->n; d++) {
        box->gpus[d] = (struct gpu){.holder = NOBODY,
                                    .tainted = one_in(r, 12),
                                    .unsupported = one_in(r, 16),
                                    .memory = 10 * (1 + below(r, 3)),
                                    .root = (int)d % 2,
                                    .clique = one_in(r, 10) ? below(r, 3) - 1 : clique};
        if (one_in(r, 5))
            box->gpus[d].holder = (int)game->n_residents++;
    }
}

/* Some ask for more, most for one card whichever it is. */
static inline void generate_easy_job(struct job *job, uint64_t *r)
{
    generate_job(job, r);
    if (one_in(r, 3))
        return;
    job->n = 1;
    job->selects = job->affine = false;
    job->wants[0] = (struct want){.count = (size_t)(1 + one_in(r, 3)), .tolerates = !one_in(r, 3)};
}

/* The first member is of a role of its own if there are roles. They ask for different things in
 * some games, and for the same in others. */
static inline void generate_ruled(struct game *game, enum kind kind, uint64_t *r)
{
    bool alike = !one_in(r, 3), roles = kind == SPREAD_OF_ROLE || kind == PACK_OF_ROLE;

    *game = (struct game){.n_boxes = (size_t)(NODES_MAX - below(r, 2)),
                          .n_jobs = (size_t)(JOBS_MAX - (kind == PACK_OF_ROLE ? 0 : below(r, 2))),
                          .n_rules = kind == PACK        ? 0
                                     : kind == TWO_RULES ? 2
                                                         : 1,
                          .pack = kind == PACK || (kind != PACK_OF_ROLE && one_in(r, 8))};
    for (size_t i = 0; i < game->n_boxes; i++)
        generate_roomy_box(game, &game->boxes[i], r);
    for (size_t i = 0; i < game->n_rules; i++) {
        game->rules[i] = generate_rule(kind, r);
        roles = roles || game->rules[i].roles != EVERYBODY;
    }
    for (size_t i = 0; i < game->n_jobs; i++) {
        struct job *job = &game->jobs[i];

        if (i > 0 && (alike || one_in(r, 2)))
            *job = game->jobs[i - 1];
        else
            generate_easy_job(job, r);
        job->role = roles && i > 0 ? 1 : 0;
    }
}

static inline bool binds(const struct rule *rule, const struct job *job)
{
    return (rule->roles >> job->role & 1U) != 0;
}

/* --- the game as objects ---------------------------------------------------------------------- */

struct table {
    struct world w;
    struct tg_fleet *fleet;
    struct tg_piece *pieces;
    struct tg_place_request request;
    struct tg_place_rule rules[RULES_MAX];
    bool roles[RULES_MAX][ROLES];
};

static const struct tg_level levels[PLACES] = {
    [ZONE] = {.name = "zone", .node_label = "zone", .rank = 0},
    [RACK] = {.name = "rack", .node_label = "rack", .rank = 1},
    [HOST] = {.name = TG_LEVEL_HOST, .rank = 2},
    [CLIQUE] = {.name = GPU_DRIVER "/clique",
                .device_attribute = GPU_DRIVER "/clique",
                .rank = TG_LEVEL_UNRANKED},
};
static const char *const rule_fields[RULES_MAX] = {"rule 0", "rule 1"};

/* The halves of its card that a piece takes. */
static inline const char *consumed(const struct gpu *gpu, char *ret, size_t size)
{
    static const char *const halves[] = {"", "\"half-0\":{\"value\":\"1\"}",
                                         "\"half-1\":{\"value\":\"1\"}"};

    ret[0] = '\0';
    if (gpu->cuts != 0)
        snprintf(ret, size,
                 ",\"consumesCounters\":[{\"counterSet\":\"card\",\"counters\":{%s%s%s}}]",
                 halves[gpu->cuts & 1U], gpu->cuts == 3 ? "," : "", halves[gpu->cuts & 2U]);
    return ret;
}

/* Its clique, or nothing. */
static inline const char *attributed(const struct gpu *gpu, char *ret, size_t size)
{
    ret[0] = '\0';
    if (gpu->clique != NOBODY)
        snprintf(ret, size, ",\"clique\":{\"string\":\"c%d\"}", gpu->clique);
    return ret;
}

static inline void lay_box(struct world *w, const struct game *game, size_t b)
{
    const struct box *box = &game->boxes[b];
    bool cut = box->n > 0 && box->gpus[0].cuts != 0;
    char json[8192], rack[32] = "", counters[256], clique[64];
    size_t at = 0;

    if (box->rack != NOBODY)
        snprintf(rack, sizeof(rack), "\"rack\":\"r%d\",", box->rack);
    w->nodes[w->n_nodes++] = decodef(
        w->arena, &tg_node_type,
        "{\"metadata\":{\"name\":\"n%zu\",\"labels\":{%s\"zone\":\"z%d\"%s}},\"spec\":{%s%s%s},"
        "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],\"allocatable\":{"
        "\"cpu\":\"%d\",\"memory\":\"64Gi\",\"pods\":\"110\"}}}",
        b, rack, box->zone, box->labelled ? ",\"good\":\"yes\",\"fine\":\"yes\"" : "",
        box->cordoned ? "\"unschedulable\":true" : "", box->cordoned && box->tainted ? "," : "",
        box->tainted ? "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]" : "", box->cpu);
    at = (size_t)snprintf(json, sizeof(json),
                          "{\"metadata\":{\"name\":\"s-n%zu\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                          "\",\"nodeName\":\"n%zu\",\"pool\":{\"name\":\"n%zu\",\"generation\":1,"
                          "\"resourceSliceCount\":%d},\"devices\":[",
                          b, b, b, cut ? 2 : 1);
    for (size_t d = 0; d < box->n; d++)
        at += (size_t)snprintf(
            json + at, sizeof(json) - at,
            "%s{\"name\":\"gpu-%zu\",\"attributes\":{\"index\":{\"int\":%zu},\"memory\":{\"int\":%d"
            "},\"root\":{\"int\":%d}%s%s}%s%s}",
            d == 0 ? "" : ",", d, d, box->gpus[d].memory, box->gpus[d].root,
            attributed(&box->gpus[d], clique, sizeof(clique)),
            box->gpus[d].unsupported ? ",\"tangram.dev/x\":{\"bool\":true}" : "",
            box->gpus[d].tainted ? ",\"taints\":[{\"key\":\"t\",\"effect\":\"NoSchedule\"}]" : "",
            consumed(&box->gpus[d], counters, sizeof(counters)));
    snprintf(json + at, sizeof(json) - at, "]}}");
    add_slice(w, json);
    if (!cut)
        return;
    snprintf(json, sizeof(json),
             "{\"metadata\":{\"name\":\"t-n%zu\"},\"spec\":{\"driver\":\"" GPU_DRIVER
             "\",\"nodeName\":\"n%zu\",\"pool\":{\"name\":\"n%zu\",\"generation\":1,"
             "\"resourceSliceCount\":2},\"sharedCounters\":[{\"name\":\"card\",\"counters\":{"
             "\"half-0\":{\"value\":\"1\"},\"half-1\":{\"value\":\"1\"}}}]}}",
             b, b, b);
    add_slice(w, json);
}

static inline void lay_resident(struct world *w, size_t resident, size_t box, size_t gpu)
{
    char name[16], more[256];

    snprintf(name, sizeof(name), "h%zu", resident);
    snprintf(more, sizeof(more),
             "\"nodeName\":\"n%zu\",\"resourceClaims\":[{\"name\":\"c\",\"resourceClaimName\":\"%s"
             "\"}],",
             box, name);
    w->pods[w->n_pods++] = new_pod(w, name, "500m", more);
    w->claims[w->n_claims++] = decodef(
        w->arena, &tg_resource_claim_type,
        "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%s\",\"uid\":\"u-%s\"},\"spec\":{"
        "\"devices\":{\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":"
        "\"gpu\"}}]}},\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":"
        "\"r\",\"driver\":\"" GPU_DRIVER "\",\"pool\":\"n%zu\",\"device\":\"gpu-%zu\"}]}}}}",
        name, name, box, gpu);
}

static inline const char *selector_of(const struct want *want, char *ret, size_t size)
{
    ret[0] = '\0';
    if (want->predicate == INDEX_IS)
        snprintf(ret, size,
                 ",\"selectors\":[{\"cel\":{\"expression\":\"device.attributes['" GPU_DRIVER
                 "'].index == %d\"}}]",
                 want->value);
    if (want->predicate == MEMORY_AT_LEAST)
        snprintf(ret, size,
                 ",\"selectors\":[{\"cel\":{\"expression\":\"device.attributes['" GPU_DRIVER
                 "'].memory >= %d\"}}]",
                 want->value);
    return ret;
}

static inline struct tg_piece lay_job(struct world *w, const struct job *job, size_t number)
{
    char name[16], more[512], requests[1024], selector[256], cpu[16];
    size_t at = 0;

    snprintf(name, sizeof(name), "m-%02zu", number);
    snprintf(cpu, sizeof(cpu), "%dm", job->cpu);
    snprintf(more, sizeof(more), "%s%s%s",
             job->selects ? "\"nodeSelector\":{\"good\":\"yes\"}," : "",
             job->affine ? "\"affinity\":{\"nodeAffinity\":{"
                           "\"requiredDuringSchedulingIgnoredDuringExecution\":{"
                           "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"fine\","
                           "\"operator\":\"Exists\"}]}]}}},"
                         : "",
             job->tolerates ? "\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"}]," : "");
    at = (size_t)snprintf(requests, sizeof(requests), "\"requests\":[");
    for (size_t i = 0; i < job->n; i++)
        at += (size_t)snprintf(
            requests + at, sizeof(requests) - at,
            "%s{\"name\":\"r%zu\",\"exactly\":{\"deviceClassName\":\"gpu\",\"count\":%zu%s%s}}",
            i == 0 ? "" : ",", i, job->wants[i].count,
            selector_of(&job->wants[i], selector, sizeof(selector)),
            job->wants[i].tolerates ? ",\"tolerations\":[{\"key\":\"t\",\"operator\":\"Exists\"}]"
                                    : "");
    snprintf(requests + at, sizeof(requests) - at, "]%s",
             job->same ? ",\"constraints\":[{\"matchAttribute\":\"" GPU_DRIVER "/root\"}]" : "");
    return new_piece(w, new_pod(w, name, cpu, more), new_claim(w, name, requests));
}

static inline void lay_rule(struct table *t, const struct rule *rule, size_t number)
{
    for (size_t i = 0; i < ROLES; i++)
        t->roles[number][i] = (rule->roles >> i & 1U) != 0;
    t->rules[number] =
        (struct tg_place_rule){.level = &levels[rule->place],
                               .roles = rule->roles == EVERYBODY ? NULL : t->roles[number],
                               .most = rule->most,
                               .required = true,
                               .field = rule_fields[number]};
}

static inline void lay(struct table *t, const struct game *game)
{
    size_t n = 0;

    memset(t, 0, sizeof(*t));
    world_init(&t->w);
    add_class(&t->w, "gpu", "");
    for (size_t b = 0; b < game->n_boxes; b++)
        lay_box(&t->w, game, b);
    for (size_t b = 0; b < game->n_boxes; b++) {
        for (size_t d = 0; d < game->boxes[b].n; d++) {
            if (game->boxes[b].gpus[d].holder != NOBODY)
                lay_resident(&t->w, (size_t)game->boxes[b].gpus[d].holder, b, d);
        }
    }
    t->pieces = tg_arena_alloc_array(t->w.arena, game->n_jobs, sizeof(*t->pieces));
    assert_non_null(t->pieces);
    for (n = 0; n < game->n_jobs; n++) {
        t->pieces[n] = lay_job(&t->w, &game->jobs[n], n);
        t->pieces[n].role = game->jobs[n].role;
    }
    for (size_t i = 0; i < game->n_rules; i++)
        lay_rule(t, &game->rules[i], i);
    t->request = (struct tg_place_request){.name = "gang ns/g",
                                           .pieces = t->pieces,
                                           .n_pieces = n,
                                           .pack_required = game->wide   ? &levels[ZONE]
                                                            : game->pack ? &levels[RACK]
                                                                         : NULL,
                                           .rules = t->rules,
                                           .n_rules = game->n_rules};
    t->fleet = world_fleet(&t->w);
}

static inline void clear(struct table *t)
{
    world_done(&t->w);
}

/* What the product says. */
static inline bool places(const struct game *game)
{
    struct table t;
    struct tg_placement placement;
    struct tg_no_place why;
    struct tg_error err = TG_ERROR_INIT;
    int rc;

    lay(&t, game);
    rc = tg_place(t.fleet, &t.request, t.w.arena, &placement, &why, &err);
    if (rc < 0 && rc != -TG_UNAVAILABLE)
        fail_msg("%s", err.message);
    clear(&t);
    return rc == 0;
}

static inline bool find_resident(void *data, const char *holder, struct tg_resident *ret)
{
    struct world *w = data;

    for (size_t i = 0; i < w->n_claims; i++) {
        char name[64];

        snprintf(name, sizeof(name), "claim ns/%s", w->claims[i]->metadata->name);
        if (strcmp(name, holder) != 0)
            continue;
        *ret = (struct tg_resident){.claim = w->claims[i], .pods = &w->pods[i], .n_pods = 1};
        return true;
    }
    return false;
}

#endif
