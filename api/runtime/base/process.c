/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/process.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/file.h"

enum { CPU, RESIDENT, VIRTUAL, HEAP, STARTED, OPEN_FDS, MAX_FDS, BUILD, N_METRICS };

static const struct tg_metric_definition table[N_METRICS] = {
    [CPU] = {.name = "process_cpu_seconds_total",
             .help = "Total user and system CPU time spent in seconds.",
             .kind = TG_METRIC_COUNTER},
    [RESIDENT] = {.name = "process_resident_memory_bytes",
                  .help = "Resident memory size in bytes.",
                  .kind = TG_METRIC_GAUGE},
    [VIRTUAL] = {.name = "process_virtual_memory_bytes",
                 .help = "Virtual memory size in bytes.",
                 .kind = TG_METRIC_GAUGE},
    /* What the resident memory does not tell: whether it is held, or merely not given back. */
    [HEAP] = {.name = "tangram_process_heap_in_use_bytes",
              .help = "Memory that the program has allocated and not freed, in bytes.",
              .kind = TG_METRIC_GAUGE},
    [STARTED] = {.name = "process_start_time_seconds",
                 .help = "Start time of the process since the Unix epoch in seconds.",
                 .kind = TG_METRIC_GAUGE},
    [OPEN_FDS] = {.name = "process_open_fds",
                  .help = "Number of open file descriptors.",
                  .kind = TG_METRIC_GAUGE},
    [MAX_FDS] = {.name = "process_max_fds",
                 .help = "Maximum number of open file descriptors.",
                 .kind = TG_METRIC_GAUGE},
    [BUILD] = {.name = "tangram_build_info",
               .help = "Program and version, always 1.",
               .kind = TG_METRIC_GAUGE,
               .labels = {"program", "version"}},
};

/* Fields of /proc/self/stat from the third on, after the name in parentheses (proc(5)). */
struct stat_fields {
    unsigned long long user, system, started, virtual_bytes;
    long long resident_pages;
};

static bool read_stat(struct stat_fields *ret)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(4096);
    const char *after;

    if (tg_file_read("/proc/self/stat", &text, NULL) != 0)
        return false;
    after = strrchr(tg_buf_str(&text), ')');
    return after != NULL &&
           sscanf(after + 1,
                  " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d "
                  "%llu %llu %lld",
                  &ret->user, &ret->system, &ret->started, &ret->virtual_bytes,
                  &ret->resident_pages) == 5;
}

static double count_fds(void)
{
    DIR *folder = opendir("/proc/self/fd");
    double n = -3; /* itself, "." and ".." */

    if (folder == NULL)
        return 0;
    while (readdir(folder) != NULL)
        n++;
    closedir(folder);
    return n;
}

/* The kernel counts from boot, a clock that goes on during suspension. */
static double start_time(unsigned long long ticks)
{
    const struct tg_clock *clock = tg_clock_system();
    double boot = (double)(tg_now_wall(clock) - tg_now_monotonic(clock)) / (double)TG_SECOND;

    return boot + (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static void collect(void *data)
{
    struct tg_metrics *metrics = data;
    struct tg_metric *metric[N_METRICS];
    struct mallinfo2 heap = mallinfo2();
    struct stat_fields stat;
    struct rlimit files;

    tg_metrics_add(metrics, table, N_METRICS, metric);
    tg_metric_set(metric[HEAP], NULL, (double)(heap.uordblks + heap.hblkhd));
    tg_metric_set(metric[OPEN_FDS], NULL, count_fds());
    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        tg_metric_set(metric[MAX_FDS], NULL, (double)files.rlim_cur);
    if (!read_stat(&stat))
        return;
    tg_metric_set(metric[CPU], NULL,
                  (double)(stat.user + stat.system) / (double)sysconf(_SC_CLK_TCK));
    tg_metric_set(metric[RESIDENT], NULL,
                  (double)stat.resident_pages * (double)sysconf(_SC_PAGESIZE));
    tg_metric_set(metric[VIRTUAL], NULL, (double)stat.virtual_bytes);
    tg_metric_set(metric[STARTED], NULL, start_time(stat.started));
}

void tg_process_measure(struct tg_metrics *metrics, const char *program, const char *version)
{
    struct tg_metric *metric[N_METRICS];

    tg_metrics_add(metrics, table, N_METRICS, metric);
    tg_metric_set(metric[BUILD], TG_LABELS(program, version), 1);
    tg_metrics_on_collect(metrics, collect, metrics);
}
