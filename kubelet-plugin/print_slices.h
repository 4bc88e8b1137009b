/* SPDX-License-Identifier: Apache-2.0 */
/* --print-slices: what would be published, without kubelet, API server or state. */
#ifndef TG_PLUGIN_PRINT_SLICES_H
#define TG_PLUGIN_PRINT_SLICES_H

#include <stdio.h>

#include "kubelet-plugin/options.h"

/* One JSON document a line to `out`; what is not offered, and why, to `problems`. Partitions are
 * printed as on an API server that keeps counters, or derived if the options say so. */
int tg_print_slices(const struct tg_plugin_options *options, FILE *out, FILE *problems,
                    struct tg_error *err);

#endif
