/* SPDX-License-Identifier: Apache-2.0 */
/* One number of a page of metrics, for tests. */
#ifndef TG_TESTS_SUPPORT_METRIC_PAGE_H
#define TG_TESTS_SUPPORT_METRIC_PAGE_H

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/metrics.h"

/* The value of a series as it is written ("name" or "name{label=\"value\"}"); -1: there is none. */
static inline double metric_on_page(struct tg_metrics *metrics, const char *series)
{
    TG_AUTOBUF struct tg_buf page = TG_BUF_INIT(1 << 20);
    size_t n = strlen(series);
    const char *line;

    tg_metrics_write(metrics, &page);
    for (line = tg_buf_str(&page); line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, series, n) == 0 && line[n] == ' ')
            return strtod(line + n, NULL);
    }
    return -1;
}

#endif
