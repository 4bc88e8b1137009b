/* SPDX-License-Identifier: Apache-2.0 */
/* Random small fleets with claims that hold devices, and gangs that ask for some: the generator's
 * own idea of them, and the same as API objects. Included by one test program. */
#ifndef TG_TESTS_UNIT_CORE_EXPLAIN_GAME_H
#define TG_TESTS_UNIT_CORE_EXPLAIN_GAME_H

#include "tests/unit/core/world.h"

#include "controller/core/explain/explain.h"

#define NODES_MAX 4
#define DEVICES_MAX 4
#define JOBS_MAX 3
#define WANTS_MAX 2
#define NOBODY (-1)

enum predicate { ANY, INDEX_IS, MEMORY_AT_LEAST, PREDICATES };

struct gpu {
    int holder; /* a resident, or NOBODY */
    bool tainted, unsupported;
    int memory;
    int root;      /* an attribute of which the devices of a claim may have to be alike */
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
    int cpu;
    bool selects, affine, tolerates;
    bool same; /* all its devices have the same root */
    size_t n;
    struct want wants[WANTS_MAX];
};
struct game {
    struct box boxes[NODES_MAX];
    struct job jobs[JOBS_MAX];
    size_t n_boxes, n_jobs, n_residents;
    bool pack;     /* in one rack */
    bool wide;     /* in one zone instead */
    size_t spread; /* members in one rack at most; 0: as many as there are */
    bool together; /* all in one rack, as a rule of their role asks for it */
};

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
                                    .root = (int)d % 2};
        if (one_in(r, 2))
            box->gpus[d].holder = (int)game->n_residents++;
    }
}

static inline void generate_job(struct job *job, uint64_t *r)
{
    *job = (struct job){.cpu = 1 + below(r, 2),
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
                          .n_jobs = (size_t)(1 + below(r, JOBS_MAX)),
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
    case 2:
        game->spread = game->pack ? 0 : 1;
        break;
    case 3:
        game->together = !game->pack;
        break;
    default:
        break;
    }
}

/* --- the game as objects ---------------------------------------------------------------------- */

struct table {
    struct world w;
    struct tg_fleet *fleet;
    struct tg_piece *pieces;
    struct tg_place_request request;
    struct tg_place_rule rule;
};

static const struct tg_level levels[] = {
    {.name = "zone", .node_label = "zone", .rank = 0},
    {.name = "rack", .node_label = "rack", .rank = 1},
};

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

static inline void lay_box(struct world *w, const struct game *game, size_t b)
{
    const struct box *box = &game->boxes[b];
    bool cut = box->n > 0 && box->gpus[0].cuts != 0;
    char json[8192], rack[32] = "", counters[256];
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
            "},\"root\":{\"int\":%d}%s}%s%s}",
            d == 0 ? "" : ",", d, d, box->gpus[d].memory, box->gpus[d].root,
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
    snprintf(cpu, sizeof(cpu), "%d", job->cpu);
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
    for (n = 0; n < game->n_jobs; n++)
        t->pieces[n] = lay_job(&t->w, &game->jobs[n], n);
    t->request = (struct tg_place_request){.name = "gang ns/g",
                                           .pieces = t->pieces,
                                           .n_pieces = n,
                                           .pack_required = game->wide   ? &levels[0]
                                                            : game->pack ? &levels[1]
                                                                         : NULL};
    t->rule = (struct tg_place_rule){
        .level = &levels[1], .most = game->spread, .required = true, .field = "rule"};
    t->request.rules = &t->rule;
    t->request.n_rules = game->spread > 0 || game->together ? 1 : 0;
    t->fleet = world_fleet(&t->w);
}

static inline void clear(struct table *t)
{
    world_done(&t->w);
}

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
