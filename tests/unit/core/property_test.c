/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random small fleets against brute force. The generator keeps its own idea of every device and
 * request, so that neither the oracle nor the checker goes through the code under test. Seeds are
 * fixed: a failure prints its own and is found again.
 */
#include "tests/unit/core/world.h"

#define SEEDS 3000
#define NODES_MAX 4
#define DEVICES_MAX 4
#define PIECES_MAX 4
#define REQUESTS_MAX 2

enum predicate { ANY, INDEX_IS, MEMORY_AT_LEAST, PREDICATES };

struct gpu {
    bool held, tainted, unsupported;
    int memory;
};
struct box {
    int cpu, rack; /* rack -1: no label */
    bool zone, cordoned;
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
    bool zone;
    int fixed; /* a box, -1: free */
    size_t n;
    struct want wants[REQUESTS_MAX];
};
enum pack { NONE, REQUIRED, PREFERRED };

struct game {
    struct box boxes[NODES_MAX];
    struct job jobs[PIECES_MAX];
    size_t n_boxes, n_jobs;
    enum pack pack;
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int below(uint64_t *state, int n)
{
    return (int)(next_random(state) % (uint64_t)n);
}

static void generate_box(struct box *box, uint64_t *r)
{
    *box = (struct box){.cpu = 1 + below(r, 4),
                        .rack = below(r, 5) == 0 ? -1 : below(r, 2),
                        .zone = below(r, 2) == 0,
                        .cordoned = below(r, 8) == 0,
                        .n = (size_t)below(r, DEVICES_MAX + 1)};
    for (size_t d = 0; d < box->n; d++)
        box->gpus[d] = (struct gpu){.held = below(r, 5) == 0,
                                    .tainted = below(r, 6) == 0,
                                    .unsupported = below(r, 10) == 0,
                                    .memory = 10 * (1 + below(r, 3))};
}

static void generate_job(struct job *job, size_t n_boxes, uint64_t *r)
{
    *job = (struct job){.cpu = 1 + below(r, 2),
                        .zone = below(r, 4) == 0,
                        .fixed = below(r, 10) == 0 ? below(r, (int)n_boxes) : -1,
                        .n = (size_t)below(r, REQUESTS_MAX + 1)};
    for (size_t i = 0; i < job->n; i++) {
        struct want *want = &job->wants[i];

        *want = (struct want){.predicate = (enum predicate)below(r, PREDICATES),
                              .count = (size_t)(1 + below(r, 2)),
                              .tolerates = below(r, 4) == 0};
        want->value = want->predicate == INDEX_IS ? below(r, DEVICES_MAX) : 10 * (1 + below(r, 3));
    }
}

/* Half of the games have members that are all alike. */
static void generate(struct game *game, uint64_t *r)
{
    bool alike = below(r, 2) == 0;

    *game = (struct game){.n_boxes = (size_t)(1 + below(r, NODES_MAX)),
                          .n_jobs = (size_t)(1 + below(r, PIECES_MAX)),
                          .pack = (enum pack)below(r, 3)};
    for (size_t i = 0; i < game->n_boxes; i++)
        generate_box(&game->boxes[i], r);
    for (size_t i = 0; i < game->n_jobs; i++) {
        if (alike && i > 0)
            game->jobs[i] = game->jobs[0];
        else
            generate_job(&game->jobs[i], game->n_boxes, r);
    }
}

/* The oracle and the checker. */

static bool accepts(const struct want *want, const struct gpu *gpu, size_t index)
{
    if (gpu->held || gpu->unsupported || (gpu->tainted && !want->tolerates))
        return false;
    if (want->predicate == INDEX_IS)
        return (int)index == want->value;
    return want->predicate == ANY || gpu->memory >= want->value;
}

static bool may_stand(const struct game *game, size_t job, size_t box)
{
    const struct job *j = &game->jobs[job];
    const struct box *b = &game->boxes[box];

    return !b->cordoned && (!j->zone || b->zone) && (j->fixed < 0 || (size_t)j->fixed == box);
}

/* Gives devices to what is left of the wants of the jobs on a box, one by one, in every way. */
static bool devices_do(const struct game *game, const int *where, size_t box, size_t job,
                       size_t want, size_t unit, unsigned taken)
{
    const struct box *b = &game->boxes[box];

    if (job == game->n_jobs)
        return true;
    if (where[job] != (int)box || want == game->jobs[job].n)
        return devices_do(game, where, box, job + 1, 0, 0, taken);
    if (unit == game->jobs[job].wants[want].count)
        return devices_do(game, where, box, job, want + 1, 0, taken);
    for (size_t d = 0; d < b->n; d++) {
        if ((taken >> d & 1U) != 0 || !accepts(&game->jobs[job].wants[want], &b->gpus[d], d))
            continue;
        if (devices_do(game, where, box, job, want, unit + 1, taken | 1U << d))
            return true;
    }
    return false;
}

static bool nodes_do(const struct game *game, const int *where)
{
    for (size_t box = 0; box < game->n_boxes; box++) {
        int cpu = 0;

        for (size_t job = 0; job < game->n_jobs; job++)
            cpu += where[job] == (int)box ? game->jobs[job].cpu : 0;
        if (cpu > game->boxes[box].cpu || !devices_do(game, where, box, 0, 0, 0, 0))
            return false;
    }
    return true;
}

static bool racks_do(const struct game *game, const int *where)
{
    for (size_t job = 0; game->pack == REQUIRED && job < game->n_jobs; job++) {
        int rack = game->boxes[where[job]].rack;

        if (rack < 0 || rack != game->boxes[where[0]].rack)
            return false;
    }
    return true;
}

static bool oracle(const struct game *game, int *where, size_t job)
{
    if (job == game->n_jobs)
        return racks_do(game, where) && nodes_do(game, where);
    for (size_t box = 0; box < game->n_boxes; box++) {
        where[job] = (int)box;
        if (may_stand(game, job, box) && oracle(game, where, job + 1))
            return true;
    }
    return false;
}

/* The placement against the game. */
static void check(const struct game *game, const struct tg_placement *p, const size_t *job_of)
{
    bool taken[NODES_MAX][DEVICES_MAX] = {{false}};
    int where[PIECES_MAX] = {0};

    assert_int_equal(p->n_pieces, game->n_jobs);
    for (size_t i = 0; i < p->n_pieces; i++) {
        const struct tg_placed_piece *piece = &p->pieces[i];
        const struct job *job = &game->jobs[job_of[i]];
        size_t box = (size_t)(piece->node[1] - '0'), n = 0;

        assert_true(box < game->n_boxes && may_stand(game, job_of[i], box));
        where[job_of[i]] = (int)box;
        for (size_t w = 0; w < job->n; w++) {
            for (size_t unit = 0; unit < job->wants[w].count; unit++, n++) {
                const struct tg_placed_device *device = &piece->devices[n];
                size_t d = (size_t)(device->device[4] - '0');

                assert_true(n < piece->n_devices && d < game->boxes[box].n);
                assert_string_equal(device->pool, piece->node);
                assert_int_equal(device->request[1] - '0', (int)w);
                assert_true(accepts(&job->wants[w], &game->boxes[box].gpus[d], d));
                assert_false(taken[box][d]);
                taken[box][d] = true;
            }
        }
        assert_int_equal(n, piece->n_devices);
    }
    assert_true(racks_do(game, where));
    if (game->pack == PREFERRED) {
        struct game strict = *game;
        int other[PIECES_MAX];

        /* One domain for all if there is one that holds all. */
        strict.pack = REQUIRED;
        if (oracle(&strict, other, 0))
            assert_true(racks_do(&strict, where));
    }
    assert_true(nodes_do(game, where));
}

/* The game as API objects; `order` turns the sequence of everything. */

static size_t turn(size_t i, size_t n, size_t order)
{
    return order == 0 ? i : n - 1 - (i + order) % n;
}

static void write_device(char *json, size_t size, size_t index, const struct gpu *gpu)
{
    snprintf(json, size,
             "{\"name\":\"gpu-%zu\",\"attributes\":{\"index\":{\"int\":%zu},\"memory\":{\"int\":%d}"
             "%s}%s}",
             index, index, gpu->memory,
             gpu->unsupported ? ",\"tangram.dev/x\":{\"bool\":true}" : "",
             gpu->tainted ? ",\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]" : "");
}

/* Each device in a slice of its own: a pool of several slices, in any order. */
static void add_box(struct world *w, const struct box *box, size_t index, size_t order)
{
    char name[32], rack[64], labels[128], device[256], slice[640];

    snprintf(name, sizeof(name), "n%zu", index);
    rack[0] = '\0';
    if (box->rack >= 0)
        snprintf(rack, sizeof(rack), "\"rack\":\"r%d\"%s", box->rack, box->zone ? "," : "");
    snprintf(labels, sizeof(labels), "%s%s", rack, box->zone ? "\"zone\":\"z\"" : "");
    w->nodes[w->n_nodes++] =
        decodef(w->arena, &tg_node_type,
                "{\"metadata\":{\"name\":\"%s\",\"labels\":{%s}},\"spec\":{%s},\"status\":{"
                "\"conditions\":[{\"type\":"
                "\"Ready\",\"status\":\"True\"}],\"allocatable\":{\"cpu\":\"%d\",\"pods\":\"9\"}}}",
                name, labels, box->cordoned ? "\"unschedulable\":true" : "", box->cpu);
    for (size_t i = 0; i < box->n; i++) {
        size_t d = turn(i, box->n, order);

        write_device(device, sizeof(device), d, &box->gpus[d]);
        snprintf(slice, sizeof(slice),
                 "{\"metadata\":{\"name\":\"s-%s-%zu\"},\"spec\":{\"driver\":\"" GPU_DRIVER
                 "\",\"nodeName\":\"%s\",\"pool\":{\"name\":\"%s\",\"generation\":3,"
                 "\"resourceSliceCount\":%zu},"
                 "\"devices\":[%s]}}",
                 name, d, name, name, box->n, device);
        add_slice(w, slice);
        if (box->gpus[d].held) {
            char claim[64], gpu[32];

            snprintf(claim, sizeof(claim), "h-%s-%zu", name, d);
            snprintf(gpu, sizeof(gpu), "gpu-%zu", d);
            add_holder(w, claim, name, gpu);
        }
    }
}

static struct tg_piece make_piece(struct world *w, const struct job *job, size_t index)
{
    static const char *const forms[] = {
        [ANY] = "%.0dtrue",
        [INDEX_IS] = "device.attributes[\\\"" GPU_DRIVER "\\\"].index == %d",
        [MEMORY_AT_LEAST] = "device.attributes[\\\"" GPU_DRIVER "\\\"].memory >= %d",
    };
    char requests[2048] = "\"requests\":[", name[16], cpu[16];
    struct tg_piece piece;

    snprintf(name, sizeof(name), "m%zu", index);
    snprintf(cpu, sizeof(cpu), "%d", job->cpu);
    for (size_t i = 0; i < job->n; i++) {
        const struct want *want = &job->wants[i];
        size_t at = strlen(requests);
        char selector[160];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(selector, sizeof(selector), forms[want->predicate],
                 want->predicate == ANY ? 0 : want->value);
#pragma GCC diagnostic pop
        snprintf(requests + at, sizeof(requests) - at,
                 "%s{\"name\":\"r%zu\",\"exactly\":{\"deviceClassName\":\"gpu\",\"count\":%zu,"
                 "\"selectors\":[{\"cel\":"
                 "{\"expression\":\"%s\"}}]%s}}",
                 i == 0 ? "" : ",", i, want->count, selector,
                 want->tolerates ? ",\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"}]"
                                 : "");
    }
    snprintf(requests + strlen(requests), sizeof(requests) - strlen(requests), "]");
    piece =
        new_piece(w, new_pod(w, name, cpu, job->zone ? "\"nodeSelector\":{\"zone\":\"z\"}," : ""),
                  job->n == 0 ? NULL : new_claim(w, name, requests));
    if (job->fixed >= 0)
        piece.fixed_node = tg_arena_printf(w->arena, "n%d", job->fixed);
    return piece;
}

static int play(struct world *w, const struct game *game, size_t order, size_t *job_of,
                struct tg_placement *ret, struct tg_no_place *why)
{
    static const struct tg_level rack = {.name = "rack", .node_label = "rack"};
    struct tg_piece *pieces = tg_arena_alloc_array(w->arena, game->n_jobs, sizeof(*pieces));
    struct tg_error err = TG_ERROR_INIT;
    int rc = 0;

    assert_non_null(pieces);
    add_class(w, "gpu", "");
    for (size_t i = 0; i < game->n_boxes; i++) {
        size_t box = turn(i, game->n_boxes, order);

        add_box(w, &game->boxes[box], box, order);
    }
    for (size_t i = 0; i < game->n_jobs; i++) {
        job_of[i] = turn(i, game->n_jobs, order);
        pieces[i] = make_piece(w, &game->jobs[job_of[i]], job_of[i]);
    }
    rc = tg_place(
        world_fleet(w),
        &(struct tg_place_request){.name = "gang ns/g",
                                   .pieces = pieces,
                                   .n_pieces = game->n_jobs,
                                   .pack_required = game->pack == REQUIRED ? &rack : NULL,
                                   .pack_preferred = game->pack == PREFERRED ? &rack : NULL},
        w->arena, ret, why, &err);
    if (rc != 0 && rc != -TG_UNAVAILABLE)
        fail_msg("%s", err.message);
    return rc;
}

static void assert_same_plan(const struct tg_placement *a, const size_t *job_a,
                             const struct tg_placement *b, const size_t *job_b)
{
    for (size_t i = 0; i < a->n_pieces; i++) {
        size_t k = 0;

        while (job_b[k] != job_a[i])
            k++;
        assert_string_equal(a->pieces[i].node, b->pieces[k].node);
        assert_int_equal(a->pieces[i].n_devices, b->pieces[k].n_devices);
        for (size_t d = 0; d < a->pieces[i].n_devices; d++)
            assert_string_equal(a->pieces[i].devices[d].device, b->pieces[k].devices[d].device);
    }
}

static void random_fleets_agree_with_brute_force_in_any_order(void **state)
{
    size_t placed = 0, refused = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t r = seed * UINT64_C(0x9E3779B97F4A7C15);
        struct game game;
        struct tg_placement first = {.n_pieces = 0}, other = {.n_pieces = 0};
        struct tg_no_place why = {.text = NULL}, other_why = {.text = NULL};
        size_t jobs[PIECES_MAX], other_jobs[PIECES_MAX];
        int where[PIECES_MAX], rc = 0;
        struct world w, turned;
        bool possible = false;

        generate(&game, &r);
        world_init(&w);
        world_init(&turned);
        possible = oracle(&game, where, 0);
        rc = play(&w, &game, 0, jobs, &first, &why);
        if ((rc == 0) != possible)
            fail_msg("seed %llu: %s, but the oracle says %s", (unsigned long long)seed,
                     rc == 0 ? "placed" : why.text, possible ? "possible" : "impossible");
        assert_int_equal(
            play(&turned, &game, 1 + (size_t)(seed % 3), other_jobs, &other, &other_why), rc);
        if (rc == 0) {
            check(&game, &first, jobs);
            assert_same_plan(&first, jobs, &other, other_jobs);
            placed++;
        } else {
            assert_string_not_equal(why.reason, "GaveUp");
            assert_string_equal(why.reason, other_why.reason);
            assert_string_equal(why.text, other_why.text);
            assert_true(strlen(why.text) <= 800);
            assert_in_range(why.members_short, 1, game.n_jobs);
            refused++;
        }
        world_done(&w);
        world_done(&turned);
    }
    /* Both outcomes are common, or the test shows nothing. */
    assert_true(placed > SEEDS / 5 && refused > SEEDS / 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_fleets_agree_with_brute_force_in_any_order),
    };

    return cmocka_run_group_tests_name("property", tests, NULL, NULL);
}
