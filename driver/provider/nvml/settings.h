/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a card is set. The compute mode is a call of the library; for the time slice it has none, and
 * the driver's own tool is run (nvidia-smi compute-policy --set-timeslice).
 */
#ifndef TG_DRIVER_PROVIDER_NVML_SETTINGS_H
#define TG_DRIVER_PROVIDER_NVML_SETTINGS_H

#include "api/tangram/gpu_config.h"
#include "driver/provider/nvml/card.h"

/* The compute mode as it is now; a time slice cannot be asked for. */
int tg_nvml_settings_read(const struct tg_nvml *nvml, const struct tg_nvml_card *card,
                          struct tg_gpu_settings *ret, struct tg_error *err);
/* `driver_root`: where usr/bin/nvidia-smi is ("" is /); `library`: the path of the driver's
 * library, which the tool needs where it is not among the loader's. A mode that is as wanted is not
 * set again. */
int tg_nvml_settings_write(const struct tg_nvml *nvml, const struct tg_nvml_card *card,
                           const char *driver_root, const char *library,
                           const struct tg_gpu_settings *wanted, struct tg_error *err);

#endif
