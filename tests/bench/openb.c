/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/openb.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"

enum { COLUMNS_MAX = 16, LINE_MAX_BYTES = 1024 };

struct reader {
    const char *path;
    unsigned line;
    char text[LINE_MAX_BYTES];
    char *column[COLUMNS_MAX];
    unsigned columns;
};

static int complain(const struct reader *reader, const char *what)
{
    (void)fprintf(stderr, "%s:%u: %s\n", reader->path, reader->line, what);
    return -1;
}

static void split(struct reader *reader)
{
    char *at = reader->text;

    at[strcspn(at, "\r\n")] = '\0';
    reader->columns = 0;
    while (reader->columns < COLUMNS_MAX) {
        reader->column[reader->columns++] = at;
        at = strchr(at, ',');
        if (at == NULL)
            return;
        *at++ = '\0';
    }
}

static bool number(const char *text, int64_t max, int64_t *ret)
{
    char *end;

    errno = 0;
    *ret = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *ret >= 0 && *ret <= max;
}

/* The number of the model, new or old; TG_PACK_KINDS_MAX when there are too many. */
static unsigned model(struct openb *trace, const char *name)
{
    for (unsigned i = 0; i < trace->n_models; i++) {
        if (strcmp(trace->models[i], name) == 0)
            return i;
    }
    if (trace->n_models == TG_PACK_KINDS_MAX - 1 || strlen(name) >= sizeof(trace->models[0]))
        return TG_PACK_KINDS_MAX;
    memcpy(trace->models[trace->n_models], name, strlen(name) + 1);
    return trace->n_models++;
}

static int add_node(struct openb *trace, struct reader *reader)
{
    struct tg_pack_node node = {.cards = 0};
    int64_t cards = 0;
    unsigned kind;

    if (reader->columns < 5 || !number(reader->column[1], INT64_MAX, &node.cpu) ||
        !number(reader->column[2], INT64_MAX, &node.memory) ||
        !number(reader->column[3], TG_PACK_CARDS_MAX, &cards))
        return complain(reader, "expected sn,cpu_milli,memory_mib,gpu,model");
    kind = model(trace, reader->column[4]);
    if (kind == TG_PACK_KINDS_MAX)
        return complain(reader, "too many models, or a name that is too long");
    node.cards = (uint8_t)cards;
    for (unsigned i = 0; i < node.cards; i++) {
        node.kind[i] = (uint8_t)kind;
        node.free[i] = TG_PACK_CARD;
    }
    trace->capacity += cards * TG_PACK_CARD;
    trace->nodes = tg_xreallocarray(trace->nodes, trace->n_nodes + 1, sizeof(node));
    trace->nodes[trace->n_nodes++] = node;
    return 0;
}

static int parse_kinds(struct openb *trace, struct reader *reader, char *text, uint64_t *ret)
{
    char *rest = text;

    *ret = TG_PACK_ANY_KIND;
    if (*text == '\0')
        return 0;
    for (*ret = 0; rest != NULL;) {
        char *name = rest;
        unsigned kind;

        rest = strchr(rest, '|');
        if (rest != NULL)
            *rest++ = '\0';
        kind = model(trace, name);
        if (kind == TG_PACK_KINDS_MAX)
            return complain(reader, "too many models, or a name that is too long");
        *ret |= UINT64_C(1) << kind;
    }
    return 0;
}

static int add_pod(struct openb *trace, struct reader *reader)
{
    struct tg_pack_request pod = {.kinds = TG_PACK_ANY_KIND};
    int64_t cards = 0, share = 0;

    if (reader->columns < 5 || !number(reader->column[1], INT64_MAX, &pod.cpu) ||
        !number(reader->column[2], INT64_MAX, &pod.memory) ||
        !number(reader->column[3], TG_PACK_CARDS_MAX, &cards) ||
        !number(reader->column[4], TG_PACK_CARD, &share))
        return complain(reader, "expected name,cpu_milli,memory_mib,num_gpu,gpu_milli");
    if (cards > 0 && (share == 0 || (cards > 1 && share != TG_PACK_CARD)))
        return complain(reader, "gpu_milli is 1000 where num_gpu is more than one");
    pod.cards = (uint16_t)cards;
    pod.share = (uint16_t)(cards > 0 ? share : 0);
    if (cards > 0 && reader->columns > 5 &&
        parse_kinds(trace, reader, reader->column[5], &pod.kinds) != 0)
        return -1;
    trace->pods[trace->n_pods++] = pod;
    return 0;
}

static int read_file(struct openb *trace, const char *path,
                     int (*add)(struct openb *, struct reader *), size_t max)
{
    struct reader reader = {.path = path};
    FILE *file = fopen(path, "re");
    int result = 0;

    if (file == NULL) {
        (void)fprintf(stderr, "%s: %s\n", path, strerrordesc_np(errno));
        return -1;
    }
    while (result == 0 && fgets(reader.text, sizeof(reader.text), file) != NULL) {
        if (reader.line++ == 0)
            continue; /* the heads of the columns */
        if (reader.line > max)
            result = complain(&reader, "too many lines");
        split(&reader);
        if (result == 0)
            result = add(trace, &reader);
    }
    (void)fclose(file);
    return result;
}

enum { LINES_MAX = 100000 };

static void name_of(const char *path, char *ret, size_t size)
{
    const char *base = strrchr(path, '/');
    const char *start = strstr(path, "pod_list_");

    start = start != NULL ? start + strlen("pod_list_") : base != NULL ? base + 1 : path;
    (void)snprintf(ret, size, "%.*s", (int)strcspn(start, "."), start);
}

int openb_read(struct openb *trace, const char *nodes_path, const char *pods_path)
{
    *trace = (struct openb){.n_nodes = 0};
    name_of(pods_path, trace->name, sizeof(trace->name));
    trace->pods = tg_xreallocarray(NULL, LINES_MAX, sizeof(*trace->pods));
    if (read_file(trace, nodes_path, add_node, LINES_MAX) == 0 &&
        read_file(trace, pods_path, add_pod, LINES_MAX) == 0 && trace->n_nodes > 0 &&
        trace->n_pods > 0)
        return 0;
    openb_done(trace);
    return -1;
}

void openb_done(struct openb *trace)
{
    free(trace->nodes);
    free(trace->pods);
}

uint32_t openb_next(struct openb_random *random)
{
    random->state ^= random->state << 13;
    random->state ^= random->state >> 7;
    random->state ^= random->state << 17;
    return (uint32_t)(random->state >> 32);
}

void openb_seed(struct openb_random *random, unsigned seed)
{
    random->state = 0x9E3779B97F4A7C15U * (seed + UINT64_C(1));
    for (unsigned i = 0; i < 10; i++)
        (void)openb_next(random);
}

unsigned openb_below(struct openb_random *random, size_t n)
{
    return openb_next(random) % (unsigned)n;
}

static size_t thin_out(struct tg_pack_request *pods, size_t n, int64_t demand, int64_t wanted,
                       struct openb_random *random)
{
    while (demand * 10 > wanted) {
        unsigned i = openb_below(random, n);

        demand -= tg_pack_request_size(&pods[i]);
        memmove(&pods[i], &pods[i + 1], (n - i - 1) * sizeof(*pods));
        n--;
    }
    return n;
}

size_t openb_arrivals(const struct openb *trace, unsigned seed, struct tg_pack_request **ret)
{
    int64_t wanted = trace->capacity * 13; /* in tenths */
    size_t n = trace->n_pods, size = n + LINES_MAX;
    struct tg_pack_request *pods = tg_xreallocarray(NULL, size, sizeof(*pods));
    struct openb_random random;
    int64_t demand = 0;

    openb_seed(&random, seed);
    memcpy(pods, trace->pods, n * sizeof(*pods));
    for (size_t i = n - 1; i > 0; i--) {
        unsigned j = openb_below(&random, i + 1);
        struct tg_pack_request t = pods[i];

        pods[i] = pods[j];
        pods[j] = t;
    }
    for (size_t i = 0; i < n; i++)
        demand += tg_pack_request_size(&pods[i]);
    *ret = pods;
    if (demand * 10 > wanted)
        return thin_out(pods, n, demand, wanted, &random);
    while (n < size) {
        const struct tg_pack_request *pod = &trace->pods[openb_below(&random, trace->n_pods)];

        if ((demand + pod->share) * 10 > wanted)
            break;
        demand += tg_pack_request_size(pod);
        pods[n++] = *pod;
    }
    return n;
}

struct tg_pack_node *openb_renamed(const struct openb *trace, unsigned seed)
{
    struct tg_pack_node *nodes = tg_xreallocarray(NULL, trace->n_nodes, sizeof(*nodes));
    struct openb_random random;

    openb_seed(&random, ~seed); /* not the numbers that shuffle the pods */
    memcpy(nodes, trace->nodes, trace->n_nodes * sizeof(*nodes));
    for (size_t i = trace->n_nodes - 1; i > 0; i--) {
        unsigned j = openb_below(&random, i + 1);
        struct tg_pack_node t = nodes[i];

        nodes[i] = nodes[j];
        nodes[j] = t;
    }
    return nodes;
}
