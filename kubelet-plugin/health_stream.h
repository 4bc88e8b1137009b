/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Health of the devices for the kubelets that watch it: all devices in every message, at once for a
 * new watcher and then once a half time-out, each time found out anew. Nobody watching: no timer.
 */
#ifndef TG_PLUGIN_HEALTH_STREAM_H
#define TG_PLUGIN_HEALTH_STREAM_H

#include "api/runtime/base/clock.h"
#include "api/runtime/grpc/grpc.h"
#include "api/runtime/loop/loop.h"
#include "kubelet-plugin/device_worker.h"

struct tg_health_stream;

/* Borrows all. timeout: how long the kubelet takes a message for current, in ns. */
struct tg_health_stream *tg_health_stream_new(struct tg_loop *loop, const struct tg_clock *clock,
                                              struct tg_device_worker *devices, int64_t timeout);
/* The device worker must be freed before. NULL is allowed. */
void tg_health_stream_free(struct tg_health_stream *stream);
void tg_health_stream_add(struct tg_health_stream *stream, struct tg_grpc_call call);
void tg_health_stream_remove(struct tg_health_stream *stream, struct tg_grpc_call call);

#endif
