/* SPDX-License-Identifier: Apache-2.0 */
/* A program of the driver that is run from a worker thread and waited for. */
#ifndef TG_DRIVER_PROVIDER_NVML_TOOL_H
#define TG_DRIVER_PROVIDER_NVML_TOOL_H

#include <stdint.h>

#include "api/runtime/base/error.h"

/*
 * Runs argv[0], a path, with exactly that environment (both end with NULL) and waits at most
 * `timeout` ns for its end; then it and what it started are killed. No shell has a part in it.
 * Works whatever else in the process collects children. TG_UNAVAILABLE: it did not end with 0; the
 * text has the program's last line. TG_DEADLINE_EXCEEDED.
 */
int tg_nvml_tool_run(const char *const *argv, const char *const *env, int64_t timeout,
                     struct tg_error *err);

#endif
