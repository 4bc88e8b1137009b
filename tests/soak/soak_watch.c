/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client that lists and watches for so long, through whatever disturbs it, and must not grow:
 *   soak_watch --server URL --origin URL --ca FILE --seconds N
 * server is what is watched (a fault proxy), origin the server behind it, which is asked at the
 * end, undisturbed, to stop changing and what there is. Passed: the store comes to hold exactly
 * that; every change began where the one before had ended; memory and descriptors are those of the
 * end of the first fifth.
 */
#include <dirent.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/kubernetes/client/informer.h"
#include "api/kubernetes/objects/kinds.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/options.h"
#include "api/runtime/base/str.h"

#define SAMPLE_EVERY TG_SECOND
#define REPORT_EVERY 10 /* seconds */
#define SETTLE (90 * TG_SECOND)
/* What may come on top of the first fifth: buffers that a long burst left, fragmentation. */
#define HEAP_SLACK(first) ((first) / 20 + ((size_t)1 << 20))
#define RSS_SLACK(first) ((first) / 10 + ((size_t)4 << 20))
#define FILE_SLACK 2
#define HEAP_PEAK(median) ((median) / 4 * 9) /* a second copy, and the text of a page */

struct usage {
    size_t heap, rss, files;
};

struct soak {
    struct tg_loop *loop;
    struct tg_kube_client *client, *origin;
    struct tg_informer *informer;
    struct tg_timer timer;
    int64_t began, duration;
    struct usage *samples; /* one a second, of when there was something to hold */
    size_t n_samples, max_samples;
    size_t wrong_changes, errors;
    size_t held; /* added less deleted */
    bool frozen; /* the origin has told what there is */
    uint64_t version, n, digest;
    int failures;
};

static size_t count_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    size_t n = 0;

    while (folder != NULL && readdir(folder) != NULL)
        n++;
    if (folder != NULL)
        closedir(folder);
    return n;
}

static struct usage measure(void)
{
    struct mallinfo2 heap = mallinfo2();
    struct usage usage = {.heap = heap.uordblks + heap.hblkhd, .files = count_files()};
    FILE *file = fopen("/proc/self/statm", "re");
    size_t pages = 0;

    if (file == NULL || fscanf(file, "%*u %zu", &pages) != 1)
        abort();
    fclose(file);
    usage.rss = pages * 4096;
    return usage;
}

static void on_change(void *data, struct tg_informer *informer, const struct tg_stored *before,
                      const struct tg_stored *after)
{
    struct soak *soak = data;

    (void)informer;
    soak->held += (size_t)(after != NULL) - (size_t)(before != NULL);
    if (before != NULL && after != NULL && before->version >= after->version)
        soak->wrong_changes++;
}

static void on_error(void *data, struct tg_informer *informer, const struct tg_object_meta *about,
                     const struct tg_error *err)
{
    struct soak *soak = data;

    (void)informer;
    (void)err;
    soak->errors++;
    /* Answers are cut and refused; no object is ever unreadable. */
    if (about != NULL)
        soak->wrong_changes++;
}

static bool add_to_digest(void *data, const struct tg_stored *stored)
{
    const struct tg_object_meta *meta = stored->object->metadata;
    char text[512];
    int n = snprintf(text, sizeof(text), "%s %s %" PRIu64, meta->name, meta->uid, stored->version);

    *(uint64_t *)data += tg_hash64(text, (size_t)n);
    return true;
}

static bool holds_all(const struct soak *soak)
{
    uint64_t digest = 0;

    if (tg_informer_count(soak->informer) != soak->n)
        return false;
    tg_informer_each(soak->informer, add_to_digest, &digest);
    return digest == soak->digest;
}

static void fail(struct soak *soak, const char *what)
{
    printf("FAILED: %s\n", what);
    soak->failures++;
}

static void on_frozen(void *data, const struct tg_rest_response *response,
                      const struct tg_error *err)
{
    struct soak *soak = data;

    soak->frozen = err->code == TG_OK && response->status == 200 &&
                   sscanf(response->body, "%" SCNu64 " %" SCNu64 " %" SCNu64, &soak->version,
                          &soak->n, &soak->digest) == 3;
    if (soak->frozen)
        return;
    fail(soak, "the server does not say what there is");
    tg_loop_stop(soak->loop);
}

/* Changes end, so that both sides can be compared. */
static void freeze(struct soak *soak)
{
    const struct tg_rest_call call = {
        .method = TG_REST_POST, .path = "/freeze", .done = on_frozen, .data = soak};

    tg_rest_send(tg_kube_client_rest(soak->origin), &call);
}

static void report(const struct soak *soak, int64_t at, const struct usage *usage)
{
    struct tg_informer_counters counters = tg_informer_counters(soak->informer);

    printf("%5" PRId64 " s: %zu objects, %" PRIu64 " events, %" PRIu64 " relists, %" PRIu64
           " reconnects, %zu errors; heap %zu KiB, RSS %zu KiB, %zu descriptors\n",
           at / TG_SECOND, tg_informer_count(soak->informer), counters.events, counters.relists,
           counters.reconnects, soak->errors, usage->heap / 1024, usage->rss / 1024, usage->files);
    fflush(stdout);
}

static void sample(struct soak *soak, int64_t at)
{
    struct usage usage = measure();

    if (tg_informer_synced(soak->informer) && soak->n_samples < soak->max_samples)
        soak->samples[soak->n_samples++] = usage;
    if (at / TG_SECOND % REPORT_EVERY == 0)
        report(soak, at, &usage);
}

static void on_timer(struct tg_timer *timer)
{
    struct soak *soak = timer->data;
    int64_t at = tg_now_monotonic(tg_clock_system()) - soak->began;
    bool asked = at >= soak->duration;

    sample(soak, at);
    if (soak->frozen && holds_all(soak)) {
        tg_loop_stop(soak->loop);
        return;
    }
    if (asked && at - SAMPLE_EVERY < soak->duration)
        freeze(soak);
    if (at > soak->duration + SETTLE) {
        fail(soak, "the store does not come to hold what the server has");
        tg_loop_stop(soak->loop);
        return;
    }
    tg_timer_start(soak->loop, &soak->timer, SAMPLE_EVERY);
}

static int compare_sizes(const void *a, const void *b)
{
    const size_t left = *(const size_t *)a, right = *(const size_t *)b;

    return (left > right) - (left < right);
}

/* Of one figure (an offset into struct usage) over n samples. */
static size_t median(const struct usage *samples, size_t n, size_t figure)
{
    TG_AUTOFREE size_t *sizes = tg_xcalloc(n + 1, sizeof(*sizes));

    for (size_t i = 0; i < n; i++)
        memcpy(&sizes[i], (const char *)&samples[i] + figure, sizeof(*sizes));
    qsort(sizes, n, sizeof(*sizes), compare_sizes);
    return sizes[n / 2];
}

static void judge_usage(struct soak *soak)
{
    static const struct {
        const char *name;
        size_t figure;
    } figures[] = {{"heap", offsetof(struct usage, heap)},
                   {"RSS", offsetof(struct usage, rss)},
                   {"descriptors", offsetof(struct usage, files)}};
    const size_t part = soak->n_samples / 5;
    const struct usage *last = &soak->samples[soak->n_samples - part];
    size_t before[TG_ARRAY_SIZE(figures)], after[TG_ARRAY_SIZE(figures)], peak = 0;

    for (size_t i = 0; i < TG_ARRAY_SIZE(figures); i++) {
        before[i] = median(soak->samples, part, figures[i].figure);
        after[i] = median(last, part, figures[i].figure);
        printf("%s: median %zu in the first fifth, %zu in the last\n", figures[i].name, before[i],
               after[i]);
    }
    for (size_t i = 0; i < soak->n_samples; i++)
        peak = soak->samples[i].heap > peak ? soak->samples[i].heap : peak;
    printf("heap: at most %zu\n", peak);
    /* What the allocator keeps between objects, but could give back. */
    malloc_trim(0);
    printf("RSS: %zu after malloc_trim\n", measure().rss);
    if (after[0] > before[0] + HEAP_SLACK(before[0]) || peak > HEAP_PEAK(before[0]))
        fail(soak, "the heap has grown");
    if (after[1] > before[1] + RSS_SLACK(before[1]))
        fail(soak, "the program has grown");
    if (after[2] > before[2] + FILE_SLACK)
        fail(soak, "descriptors were not closed");
}

static void judge(struct soak *soak)
{
    const struct tg_informer_counters counters = tg_informer_counters(soak->informer);

    if (soak->n_samples < 10 || counters.events == 0 || soak->n == 0)
        fail(soak, "nothing has happened");
    else
        judge_usage(soak);
    if (soak->wrong_changes > 0)
        fail(soak, "a change went backwards, or an object could not be read");
    if (soak->held != tg_informer_count(soak->informer))
        fail(soak, "what was told to be added and deleted is not what there is");
}

struct options {
    const char *server, *origin, *ca;
    int64_t seconds;
};
static const struct tg_option option_table[] = {
    {.name = "server",
     .kind = TG_OPTION_STRING,
     .offset = offsetof(struct options, server),
     .argument = "URL",
     .help = "what is watched",
     .required = true},
    {.name = "origin",
     .kind = TG_OPTION_STRING,
     .offset = offsetof(struct options, origin),
     .argument = "URL",
     .help = "the server behind it",
     .required = true},
    {.name = "ca",
     .kind = TG_OPTION_STRING,
     .offset = offsetof(struct options, ca),
     .argument = "FILE",
     .help = "authority of the certificates of both",
     .required = true},
    {.name = "seconds",
     .kind = TG_OPTION_INT,
     .offset = offsetof(struct options, seconds),
     .fallback = "120",
     .argument = "N",
     .help = "how long things change",
     .min = 10,
     .max = 86400},
};
static const struct tg_option_set option_set = {.program = "soak_watch",
                                                .summary = "Watches for long and must not grow.",
                                                .options = option_table,
                                                .n = TG_ARRAY_SIZE(option_table)};

static struct tg_kube_client *client_of(struct tg_loop *loop, const struct options *options,
                                        const char *server)
{
    const struct tg_kube_config config = {.server = server,
                                          .namespace_ = "default",
                                          .tls = {.ca_file = options->ca},
                                          .token = "soak"};
    struct tg_kube_client *client = NULL;
    struct tg_error err = TG_ERROR_INIT;

    if (tg_kube_client_new(loop, tg_clock_system(), &config, "soak_watch", &client, &err) < 0) {
        fprintf(stderr, "soak_watch: %s\n", err.message);
        exit(EXIT_FAILURE);
    }
    return client;
}

static int soak_run(const struct options *options)
{
    struct soak soak = {.loop = tg_loop_new(true), .duration = options->seconds * TG_SECOND};
    const struct tg_informer_config config = {.kind = &tg_kind_resource_claim,
                                              .watch_timeout = 3 * TG_SECOND,
                                              .watch_idle = 4 * TG_SECOND,
                                              .backoff = 100 * TG_MILLISECOND,
                                              .on_change = on_change,
                                              .on_error = on_error,
                                              .data = &soak};

    soak.max_samples = (size_t)options->seconds + 2 * (size_t)(SETTLE / TG_SECOND);
    soak.samples = tg_xcalloc(soak.max_samples, sizeof(*soak.samples));
    soak.client = client_of(soak.loop, options, options->server);
    soak.origin = client_of(soak.loop, options, options->origin);
    soak.informer = tg_informer_new(soak.client, &config);
    soak.began = tg_now_monotonic(tg_clock_system());
    soak.timer = (struct tg_timer){.callback = on_timer, .data = &soak};
    tg_timer_start(soak.loop, &soak.timer, SAMPLE_EVERY);
    tg_loop_run(soak.loop);
    tg_timer_stop(&soak.timer);
    judge(&soak);
    tg_informer_free(soak.informer);
    tg_kube_client_free(soak.client);
    tg_kube_client_free(soak.origin);
    tg_loop_free(soak.loop);
    free(soak.samples);
    return soak.failures;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    enum tg_options_result result;
    struct tg_error err = TG_ERROR_INIT;

    if (tg_options_parse(&option_set, argc, argv, &options, &result, &err) < 0) {
        fprintf(stderr, "soak_watch: %s\n", err.message);
        return 2;
    }
    if (result == TG_OPTIONS_EXIT)
        return EXIT_SUCCESS;
    if (soak_run(&options) > 0)
        return EXIT_FAILURE;
    puts("the store holds what the server has; nothing has grown");
    return EXIT_SUCCESS;
}
