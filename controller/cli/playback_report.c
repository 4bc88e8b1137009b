/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "api/runtime/base/str.h"
#include "api/runtime/json/encode.h"
#include "api/tangram/names.h"
#include "controller/cli/playback.h"

#define ROWS 20
#define NEVER_SHOWN 10
#define JSON_MAX ((size_t)256 << 20)

static double percent(double share)
{
    return 100 * share;
}

static void print_rows(const struct tg_playback *playback, FILE *out)
{
    size_t at = 0;

    fprintf(out, "%12s %8s %8s %8s %12s\n", "time", "running", "waiting", "in use", "fragmented");
    for (int i = 0; i <= ROWS; i++) {
        double time = playback->end * i / ROWS;
        const struct tg_playback_point *p;

        while (at + 1 < playback->points.n && playback->points.items[at + 1].at <= time)
            at++;
        p = &playback->points.items[at];
        fprintf(out, "%11.0fs %8zu %8zu %7.1f%% %11.1f%%\n", time, p->running, p->waiting,
                percent(p->used), percent(p->fragmented));
    }
}

static void print_never(const struct tg_playback *playback, FILE *out)
{
    size_t shown = 0;

    for (size_t i = 0; i < playback->jobs.n && shown < NEVER_SHOWN; i++) {
        const struct tg_playback_job *job = &playback->jobs.items[i];

        if (job->started >= 0)
            continue;
        fprintf(out, "  %s: %s\n", job->arrival->name, tg_or(job->reason, ""));
        shown++;
    }
    if (playback->never > shown)
        fprintf(out, "  and %zu more\n", playback->never - shown);
}

void tg_playback_text(const struct tg_playback *playback, FILE *out)
{
    fprintf(out, "%zu gangs on %zu nodes with %zu cards, %.0f s\n", playback->jobs.n,
            playback->nodes, playback->cards, playback->end);
    print_rows(playback, out);
    fprintf(out, "mean in use %.1f%%, of what was free %.1f%% on nodes in use (fragmented)\n",
            percent(playback->used), percent(playback->fragmented));
    fprintf(out, "waiting: mean %.1f s, median %.1f s, 95 of 100 at most %.1f s, longest %.1f s\n",
            playback->wait_mean, playback->wait_median, playback->wait_p95, playback->wait_max);
    if (playback->never == 0)
        fputs("all of them ran\n", out);
    else
        fprintf(out, "%zu never ran:\n", playback->never);
    print_never(playback, out);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void write_number(struct tg_json_writer *w, const char *key, double value)
{
    char text[40];

    snprintf(text, sizeof(text), "%.6g", isfinite(value) ? value : 0);
    tg_jw_kv_raw(w, key, text);
}

static void write_job(struct tg_json_writer *w, const struct tg_playback_job *job)
{
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "name", job->arrival->name);
    write_number(w, "at_s", job->arrival->at);
    if (job->started >= 0)
        write_number(w, "wait_s", job->started - job->arrival->at);
    else
        tg_jw_kv_string(w, "reason", job->reason);
    tg_jw_end_object(w);
}

static void write_point(struct tg_json_writer *w, const struct tg_playback_point *point)
{
    tg_jw_begin_object(w);
    write_number(w, "at_s", point->at);
    tg_jw_kv_int(w, "running", (int64_t)point->running);
    tg_jw_kv_int(w, "waiting", (int64_t)point->waiting);
    write_number(w, "used", point->used);
    write_number(w, "fragmented", point->fragmented);
    tg_jw_end_object(w);
}

int tg_playback_json(const struct tg_playback *playback, FILE *out, struct tg_error *err)
{
    TG_AUTOBUF struct tg_buf buf = TG_BUF_INIT(JSON_MAX);
    struct tg_json_writer w;
    int r;

    tg_json_writer_init(&w, &buf);
    tg_jw_begin_object(&w);
    tg_jw_kv_string(&w, "apiVersion", TG_API_VERSION);
    tg_jw_kv_string(&w, "kind", "Playback");
    tg_jw_kv_int(&w, "nodes", (int64_t)playback->nodes);
    tg_jw_kv_int(&w, "cards", (int64_t)playback->cards);
    write_number(&w, "used", playback->used);
    write_number(&w, "fragmented", playback->fragmented);
    write_number(&w, "waitMean_s", playback->wait_mean);
    write_number(&w, "waitMedian_s", playback->wait_median);
    write_number(&w, "wait95_s", playback->wait_p95);
    write_number(&w, "waitMax_s", playback->wait_max);
    tg_jw_kv_int(&w, "neverRan", (int64_t)playback->never);
    tg_jw_key(&w, "gangs");
    tg_jw_begin_array(&w);
    for (size_t i = 0; i < playback->jobs.n; i++)
        write_job(&w, &playback->jobs.items[i]);
    tg_jw_end_array(&w);
    tg_jw_key(&w, "points");
    tg_jw_begin_array(&w);
    for (size_t i = 0; i < playback->points.n; i++)
        write_point(&w, &playback->points.items[i]);
    tg_jw_end_array(&w);
    tg_jw_end_object(&w);
    r = tg_jw_finish(&w, err);
    if (r == 0)
        fprintf(out, "%s\n", tg_buf_str(&buf));
    return r;
}
