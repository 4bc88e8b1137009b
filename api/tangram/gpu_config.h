/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GpuConfig and MigConfig: opaque parameters of a class or claim for the driver of our devices, how
 * a card is to be set while the claim is prepared.
 *
 *   {apiVersion: tangram.dev/v1alpha1, kind: GpuConfig,     # of whole cards
 *    sharing: TimeSlicing,                                  # the only value, and the default
 *    timeSlicing: {interval: Default | Short | Medium | Long},
 *    computeMode: Default | ExclusiveProcess}
 *   {apiVersion: tangram.dev/v1alpha1, kind: MigConfig,     # of partitions
 *    sharing: TimeSlicing}
 *
 * What is left out stays as it is on the card. Decoding is strict: what is not understood is an
 * error with the field's name, and what does not exist yet (sharing: MPS) is refused by name.
 */
#ifndef TG_TANGRAM_GPU_CONFIG_H
#define TG_TANGRAM_GPU_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"
#include "api/runtime/json/field.h"

/* How a card is set; what is not set stays as it is. */
struct tg_gpu_settings {
    struct tg_opt_int time_slice;   /* 0 default, 1 short, 2 medium, 3 long */
    struct tg_opt_int compute_mode; /* nvmlComputeMode_t: 0 default, 3 exclusive process */
};
#define TG_TIME_SLICE_DEFAULT 0
#define TG_TIME_SLICE_MAX 3
#define TG_COMPUTE_MODE_DEFAULT 0
#define TG_COMPUTE_MODE_EXCLUSIVE_PROCESS 3
#define TG_COMPUTE_MODE_MAX 3

struct tg_gpu_config {
    bool mig; /* a MigConfig: of partitions, with no settings of the card */
    struct tg_gpu_settings settings;
};

/* Decodes the text of opaque.parameters, exactly as stored. `arena` is for the decoding only; *ret
 * borrows nothing. TG_INVALID_ARGUMENT names the field: unknown field or value, wrong type,
 * apiVersion or kind, settings that contradict each other. TG_UNIMPLEMENTED: sharing MPS. */
int tg_gpu_config_decode(const char *json, size_t n, struct tg_arena *arena,
                         struct tg_gpu_config *ret, struct tg_error *err);

/* The words for people: "Short", "ExclusiveProcess"; "?" for a number that has none. */
const char *tg_time_slice_name(int64_t time_slice);
const char *tg_compute_mode_name(int64_t compute_mode);

#endif
