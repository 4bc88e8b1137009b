/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA cards, through the library of their driver (library.h). The library is loaded when devices
 * are listed, and let go when its session is lost: a driver that comes late, goes, or is replaced,
 * is found at the next listing.
 *
 * A card whose MIG mode is off is one device. Of one whose MIG mode is on, devices are
 *
 *   by default                the instances that are there, "<card>-<profile id>-<start>"
 *   named by dynamic_mig      each legal place of each profile (but those with extra engines or
 *                             graphics), made when a claim is prepared; they share the counters
 *                             memory-slice-0... of the card's counter set
 *
 * MIG mode itself is never changed. Instances that somebody made on a card of the second kind are
 * devices, too, which are not removed; places into which they reach are not offered, and a problem
 * tells of them until the caller says which are his (tg_device_set.problems).
 *
 * Attributes: type (gpu, mig), uuid, index, minor, productName, architecture, brand,
 * cudaComputeCapability, driverVersion, cudaDriverVersion, numaNode, fabricClique, and
 * resource.kubernetes.io/{pciBusID,pcieRoot}; of partitions profile, parentUUID, parentIndex,
 * parentMinor, memorySliceStart, memorySliceSize in the place of index and minor. Capacities:
 * memory, and of partitions multiprocessors, copyEngines, decoders, encoders, jpegEngines,
 * ofaEngines.
 */
#ifndef TG_DRIVER_PROVIDER_NVML_NVML_H
#define TG_DRIVER_PROVIDER_NVML_NVML_H

#include "driver/provider/nvml/watch.h"
#include "driver/provider/provider.h"

/*
 * Calls of the library are made on the caller's thread, and take as long as they do; programs use
 * the provider through its guard (guard.h). `watch`, which may be NULL, is told of them. Touches no
 * hardware. TG_INVALID_ARGUMENT for options that make no sense.
 */
int tg_nvml_provider_new(const struct tg_provider_options *options, struct tg_nvml_watch *watch,
                         struct tg_provider **ret, struct tg_error *err);

/* A card that is not touched, and why, for people. */
struct tg_nvml_left_out {
    unsigned index;
    char why[256];
};
/* Those, and no others, from now on; they are problems of each listing. Copied. */
void tg_nvml_provider_leave_out(struct tg_provider *provider, const struct tg_nvml_left_out *cards,
                                size_t n);
/* Of the driver, as it was listed last ("": never): containers get the libraries of that version.
 * It may be handed on to a provider that has not listed yet. */
const char *tg_nvml_provider_version(const struct tg_provider *provider);
void tg_nvml_provider_set_version(struct tg_provider *provider, const char *version);

#endif
