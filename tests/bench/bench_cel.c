/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles and evaluates ten selectors as users write them, here and in the Go package of
 * Kubernetes (tests/peers/cel --bench), and prints both side by side. Compiling includes the cost
 * estimate, evaluating includes the conversion of the device, on both sides. Budgets: evaluation 20
 * times and compilation 5 times as fast as Go; a row below them says so, but time is measured here,
 * not tested. Fails when an evaluation allocates from the heap (with a regular expression libre2
 * may: its memory is bounded, see regex.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/json/decode.h"
#include "api/runtime/json/encode.h"
#include "api/runtime/json/value.h"
#include "controller/core/cel/selector.h"
#include "tests/bench/peer.h"

#define EVALUATION_BUDGET 20.0
#define COMPILE_BUDGET 5.0
#define ROUNDS 5
#define ROUND_NS 100e6

#define DRIVER "gpu.example.com"
#define A "device.attributes[\"" DRIVER "\"]"
#define C "device.capacity[\"" DRIVER "\"]"

static const struct {
    const char *name, *expression;
    bool regex;
} selectors[] = {
    {"driver", "device.driver == \"" DRIVER "\"", false},
    {"product", A ".productName == \"NVIDIA H100 80GB HBM3\"", false},
    {"memory", C ".memory.compareTo(quantity(\"40Gi\")) >= 0", false},
    {"version", A ".driverVersion.isGreaterThan(semver(\"550.0.0\"))", false},
    {"index", A ".index < 8 && " A ".healthy", false},
    {"one of", A ".architecture in [\"Ampere\", \"Ada\", \"Hopper\", \"Blackwell\"]", false},
    {"guarded", "has(" A ".profile) && " A ".profile == \"1g.10gb\" || !has(" A ".profile)", false},
    {"optional", A ".?numaNode.orValue(0) == 1", false},
    {"bind", "cel.bind(a, " A ", a.healthy && a.cores >= 100 && a.type == \"gpu\")", false},
    {"pattern", A ".productName.matches(\"^NVIDIA [AH]100 .*GB\")", true},
};
#define N (sizeof(selectors) / sizeof(selectors[0]))

static const char device_json[] =
    "{\"driver\": \"" DRIVER "\", \"attributes\": {"
    "\"productName\": {\"string\": \"NVIDIA H100 80GB HBM3\"}, \"architecture\": {\"string\": "
    "\"Hopper\"}, \"type\": {\"string\": \"gpu\"}, \"uuid\": {\"string\": "
    "\"GPU-18db0e85-99e9-c746-8531-ffeb86328b39\"}, \"brand\": {\"string\": \"Nvidia\"}, "
    "\"driverVersion\": {\"version\": \"550.54.15\"}, \"cudaComputeCapability\": {\"version\": "
    "\"9.0.0\"}, \"index\": {\"int\": 3}, \"numaNode\": {\"int\": 1}, \"cores\": {\"int\": 132}, "
    "\"healthy\": {\"bool\": true}, \"resource.kubernetes.io/pcieRoot\": {\"string\": "
    "\"pci0000:01\"}}, \"capacity\": {\"memory\": {\"value\": \"80Gi\"}, \"bandwidth\": "
    "{\"value\": \"3350G\"}, \"slices\": {\"value\": \"7\"}}}";

struct result {
    double compile_ns, evaluate_ns, allocations;
};

/* Every call of the allocator by our code passes here (linked with --wrap). */
static size_t heap_calls;
void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t n);
void *__real_realloc(void *p, size_t n);

void *__wrap_malloc(size_t n)
{
    heap_calls++;
    return __real_malloc(n);
}

void *__wrap_calloc(size_t count, size_t n)
{
    heap_calls++;
    return __real_calloc(count, n);
}

void *__wrap_realloc(void *p, size_t n)
{
    heap_calls++;
    return __real_realloc(p, n);
}

/* Processor time, as on the other side: others may use the machine too. */
static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

struct subject {
    const char *expression;
    struct tg_device *device;
    struct tg_arena *arena; /* of the compilation */
    struct tg_selector *selector;
};

static int compile_once(struct subject *s, struct tg_error *err)
{
    tg_arena_reset(s->arena);
    return tg_selector_compile(s->expression, s->arena, &s->selector, err);
}

static int evaluate_once(struct subject *s, struct tg_error *err)
{
    bool match;

    return tg_selector_matches(s->selector, DRIVER, s->device, &match, err);
}

/* Nanoseconds a call, the best of the rounds: whatever else runs only ever makes it slower. */
static int measure(struct subject *s, int (*call)(struct subject *s, struct tg_error *err),
                   double *ret, struct tg_error *err)
{
    *ret = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now_ns(), spent;
        size_t count = 0;

        do {
            for (int i = 0; i < 64; i++) {
                int rc = call(s, err);

                if (rc < 0)
                    return rc;
            }
            count += 64;
            spent = now_ns() - begin;
        } while (spent < ROUND_NS);
        if (round == 0 || spent / (double)count < *ret)
            *ret = spent / (double)count;
    }
    return 0;
}

static int measure_ours(const char *expression, struct tg_device *device, struct result *ret,
                        struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)1 << 20);
    struct subject s = {.expression = expression, .device = device, .arena = arena};
    int rc = measure(&s, compile_once, &ret->compile_ns, err);

    if (rc == 0)
        rc = measure(&s, evaluate_once, &ret->evaluate_ns, err);
    if (rc < 0)
        return rc;
    heap_calls = 0;
    rc = evaluate_once(&s, err);
    ret->allocations = (double)heap_calls;
    return rc;
}

static int write_requests(FILE *file, struct tg_error *err)
{
    for (size_t i = 0; i < N; i++) {
        TG_AUTOBUF struct tg_buf line = TG_BUF_INIT(65536);
        struct tg_json_writer w;

        tg_json_writer_init(&w, &line);
        tg_jw_begin_object(&w);
        tg_jw_kv_int(&w, "id", (int64_t)i);
        tg_jw_kv_string(&w, "expression", selectors[i].expression);
        tg_jw_kv_raw(&w, "features", "[\"ConsumableCapacity\",\"ListTypeAttributes\"]");
        tg_jw_kv_raw(&w, "device", device_json);
        tg_jw_end_object(&w);
        if (tg_jw_finish(&w, err) < 0 || fprintf(file, "%s\n", tg_buf_str(&line)) < 0)
            return -1;
    }
    if (fflush(file) != 0 || fseek(file, 0, SEEK_SET) != 0)
        return tg_error_set(err, TG_UNAVAILABLE, "the requests cannot be written");
    return 0;
}

static int read_answers(FILE *file, struct result *results, struct tg_error *err)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)1 << 20);
    char line[4096];
    int rc = fseek(file, 0, SEEK_SET);

    for (size_t i = 0; i < N && rc == 0; i++) {
        struct tg_json *json;

        if (fgets(line, sizeof(line), file) == NULL)
            return tg_error_set(err, TG_INVALID_ARGUMENT, "the peer gave no answer to %s",
                                selectors[i].name);
        rc = tg_json_parse(line, strlen(line), arena, &json, err);
        if (rc == 0)
            rc = peer_number(json, "compile_ns", &results[i].compile_ns, err);
        if (rc == 0)
            rc = peer_number(json, "evaluate_ns", &results[i].evaluate_ns, err);
        if (rc == 0)
            rc = peer_number(json, "allocations", &results[i].allocations, err);
    }
    return rc;
}

static int measure_peer(const char *peer, struct result *results, struct tg_error *err)
{
    FILE *requests = tmpfile(), *answers = tmpfile();
    int rc;

    if (requests == NULL || answers == NULL)
        rc = tg_error_set(err, TG_UNAVAILABLE, "no temporary file");
    else
        rc = write_requests(requests, err);
    if (rc == 0)
        rc = peer_run(peer, requests, answers, err);
    if (rc == 0)
        rc = read_answers(answers, results, err);
    if (requests != NULL)
        fclose(requests);
    if (answers != NULL)
        fclose(answers);
    return rc;
}

static unsigned print_row(size_t i, const struct result *ours, const struct result *theirs)
{
    double compile = theirs->compile_ns / ours->compile_ns;
    double evaluate = theirs->evaluate_ns / ours->evaluate_ns;
    bool slow = compile < COMPILE_BUDGET || evaluate < EVALUATION_BUDGET;
    bool allocates = ours->allocations > 0 && !selectors[i].regex;

    printf("%-10s %9.2f %9.2f %6.1fx %12.0f %12.0f %6.1fx %6.0f %6.0f%s\n", selectors[i].name,
           ours->compile_ns / 1e3, theirs->compile_ns / 1e3, compile, 1e9 / ours->evaluate_ns,
           1e9 / theirs->evaluate_ns, evaluate, ours->allocations, theirs->allocations,
           allocates ? "  ALLOCATES"
           : slow    ? "  below its budget"
                     : "");
    return allocates;
}

int main(int argc, char **argv)
{
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new((size_t)1 << 20);
    const char *peer = argc == 2 ? argv[1] : "build/peers/cel-1.37";
    struct result ours[N], theirs[N];
    struct tg_device device = {0};
    struct tg_error err = {0};
    unsigned failed = 0;
    int rc =
        tg_json_decode(&tg_device_type, device_json, strlen(device_json), &device, arena, &err);

    for (size_t i = 0; i < N && rc == 0; i++)
        rc = measure_ours(selectors[i].expression, &device, &ours[i], &err);
    if (rc == 0)
        rc = measure_peer(peer, theirs, &err);
    if (rc < 0) {
        fprintf(stderr, "bench_cel: %s\n", err.message);
        return 1;
    }
    printf("%-10s %27s %33s %13s\n", "", "compile, us", "evaluations/s", "allocations");
    printf("%-10s %9s %9s %7s %12s %12s %7s %6s %6s\n", "selector", "tangram", "Go", "", "tangram",
           "Go", "", "", "Go");
    for (size_t i = 0; i < N; i++)
        failed += print_row(i, &ours[i], &theirs[i]);
    printf("%zu passed, %u failed\n", N - failed, failed);
    return failed > 0;
}
