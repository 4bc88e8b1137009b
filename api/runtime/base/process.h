/* SPDX-License-Identifier: Apache-2.0 */
/* What every process tells about itself: process_* as all Prometheus clients name them, and the
 * build. */
#ifndef TG_RUNTIME_BASE_PROCESS_H
#define TG_RUNTIME_BASE_PROCESS_H

#include "api/runtime/base/metrics.h"

/* Adds the metrics, read from /proc when they are collected. program: "tangram-controller"; both
 * strings must outlive the registry. */
void tg_process_measure(struct tg_metrics *metrics, const char *program, const char *version);

#endif
