/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of the kubelet's DRA service as plain structs, the same for v1 and v1beta1. The wire
 * format is in proto/dra.proto.
 */
#ifndef TG_KUBELET_DRA_H
#define TG_KUBELET_DRA_H

#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/base/buf.h"
#include "api/runtime/base/error.h"

enum tg_kubelet_dra_version {
    TG_KUBELET_DRA_V1,      /* Kubernetes 1.34 and later */
    TG_KUBELET_DRA_V1BETA1, /* 1.32 and later; has no share ids */
};

/* Names of the services as GetInfo lists them (not as paths). */
#define TG_KUBELET_DRA_V1_SERVICE "v1.DRAPlugin"
#define TG_KUBELET_DRA_V1BETA1_SERVICE "v1beta1.DRAPlugin"

#define TG_KUBELET_DRA_V1_PREPARE "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodePrepareResources"
#define TG_KUBELET_DRA_V1_UNPREPARE                                                                \
    "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodeUnprepareResources"
#define TG_KUBELET_DRA_V1BETA1_PREPARE                                                             \
    "/k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin/NodePrepareResources"
#define TG_KUBELET_DRA_V1BETA1_UNPREPARE                                                           \
    "/k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin/NodeUnprepareResources"

/* A claim as the kubelet names it: all that it tells. No string is NULL or empty. */
struct tg_kubelet_claim {
    const char *namespace_, *uid, *name;
};
struct tg_kubelet_claims {
    struct tg_kubelet_claim *items;
    size_t n;
};

struct tg_kubelet_device {
    const char *request; /* base name (of "req/sub": "req"); NULL: all requests of the claim */
    const char *pool, *device;
    const char *cdi_id;   /* "vendor/class=name"; NULL: none */
    const char *share_id; /* NULL: none */
};
/* What became of one claim. */
struct tg_kubelet_answer {
    const char *uid;
    const char *error; /* NULL: success. Invalid UTF-8 is replaced: the kubelet would refuse the
                          whole answer */
    const struct tg_kubelet_device *devices; /* of a prepared claim */
    size_t n;
};

/* Reads the request of NodePrepareResources or NodeUnprepareResources, of either version.
 * Everything is in the arena. TG_INVALID_ARGUMENT: no such message, or a claim without uid, name or
 * namespace, or with invalid UTF-8; TG_RESOURCE_EXHAUSTED: the arena's budget. */
int tg_kubelet_claims_decode(const uint8_t *message, size_t n, struct tg_arena *arena,
                             struct tg_kubelet_claims *ret, struct tg_error *err);
/* Append the answer: there must be one for each claim asked for. TG_RESOURCE_EXHAUSTED: the
 * buffer's cap. */
int tg_kubelet_prepared_encode(enum tg_kubelet_dra_version version,
                               const struct tg_kubelet_answer *answers, size_t n,
                               struct tg_buf *out, struct tg_error *err);
int tg_kubelet_unprepared_encode(const struct tg_kubelet_answer *answers, size_t n,
                                 struct tg_buf *out, struct tg_error *err);

#endif
