/* SPDX-License-Identifier: Apache-2.0 */
/* The service socket: v1.DRAPlugin, v1beta1.DRAPlugin and both health services, on top of claims.h
 * and health_stream.h. */
#ifndef TG_PLUGIN_DRA_SERVICE_H
#define TG_PLUGIN_DRA_SERVICE_H

#include "api/runtime/base/error.h"
#include "api/runtime/base/metrics.h"
#include "api/runtime/loop/loop.h"
#include "kubelet-plugin/claims.h"
#include "kubelet-plugin/health_stream.h"

struct tg_dra_service;

/* Borrows claims and health; the path is copied. */
int tg_dra_service_new(struct tg_loop *loop, const char *path, struct tg_claims *claims,
                       struct tg_health_stream *health, struct tg_dra_service **ret,
                       struct tg_error *err);
/* Tells the registry, which outlives the service, of connections. */
void tg_dra_service_measure(struct tg_dra_service *service, struct tg_metrics *metrics);
/* Open calls are answered with UNAVAILABLE. NULL is allowed. */
void tg_dra_service_free(struct tg_dra_service *service);

#endif
