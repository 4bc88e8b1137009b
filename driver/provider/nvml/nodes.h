/* SPDX-License-Identifier: Apache-2.0 */
/* Device nodes by number, from what the driver shows below /proc: containers get them whether or
 * not somebody has made them on the host yet. */
#ifndef TG_DRIVER_PROVIDER_NVML_NODES_H
#define TG_DRIVER_PROVIDER_NVML_NODES_H

#include "driver/provider/provider.h"

/* The card's node; for a partition also those that give access to its GPU instance and compute
 * instance. TG_FAILED_PRECONDITION (retry) names the file that is missing. */
int tg_nvml_nodes_of_device(const char *root, const struct tg_provider_device *device,
                            const struct tg_instance *instance, struct tg_arena *arena,
                            struct tg_edits *ret, struct tg_error *err);
/* Control nodes, and the variable by which the vendor's own container hook keeps its hands off. */
int tg_nvml_nodes_common(const char *root, struct tg_arena *arena, struct tg_edits *ret,
                         struct tg_error *err);

#endif
