/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the API server keeps counters in ResourceSlices, and where. Where the feature is off it
 * drops the fields and says nothing, and devices without their counters would be given away over
 * and over; so before any is published a device that consumes counters of another slice is sent as
 * a dry run, and what comes back tells. A server that refuses it may be one that wants the counters
 * beside the device (1.34 with its alpha feature): it is asked a second time.
 */
#ifndef TG_PLUGIN_LAYOUT_PROBE_H
#define TG_PLUGIN_LAYOUT_PROBE_H

#include "api/kubernetes/client/client.h"
#include "driver/inventory/layout.h"

struct tg_layout_probe;

/* Nothing is sent yet. `told` is called when the answer is known, and when it changes:
 * TG_SLICES_PLAIN (no counters), TG_SLICES_COUNTERS or TG_SLICES_TOGETHER. Strings are borrowed. */
struct tg_layout_probe *tg_layout_probe_new(struct tg_kube_client *client, const char *driver,
                                            const char *node_name,
                                            void (*told)(void *data, enum tg_slice_layout layout),
                                            void *data);
void tg_layout_probe_free(struct tg_layout_probe *probe); /* NULL is allowed */
/* Asks, unless a question is on its way. Failures are repeated every few seconds. */
void tg_layout_probe_ask(struct tg_layout_probe *probe);
/* The server may be another one than before (its watch broke): asks again soon, if the answer was
 * ever wanted. */
void tg_layout_probe_ask_again(struct tg_layout_probe *probe);
/* True once the answer is known; *ret is the answer. */
bool tg_layout_probe_known(const struct tg_layout_probe *probe, enum tg_slice_layout *ret);

#endif
