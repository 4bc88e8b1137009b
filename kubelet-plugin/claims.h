/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preparing and unpreparing batches of claims: each claim of a batch is read from the API server
 * (prepare only), checked and handed to the devices, independently of the others; when all are done
 * the batch is answered.
 */
#ifndef TG_PLUGIN_CLAIMS_H
#define TG_PLUGIN_CLAIMS_H

#include "api/kubelet/dra.h"
#include "api/runtime/base/metrics.h"
#include "api/runtime/loop/loop.h"
#include "kubelet-plugin/device_worker.h"

/* Where claims are read. A seam: programs use the API server, tests a table. */
struct tg_claim_source {
    /* Reads a claim; `done` is called exactly once from the loop (never from inside), unless
     * cancelled: JSON of the object, or an error. Returns a handle for cancel. */
    void *(*get)(void *data, const char *namespace_, const char *name,
                 void (*done)(void *done_data, const char *json, size_t n,
                              const struct tg_error *err),
                 void *done_data);
    void (*cancel)(void *data, void *handle);
    void *data;
};

struct tg_claims;
struct tg_claim_batch;

/* One answer for each claim, in the order of the request; valid during the call. */
typedef void tg_claims_done(void *data, const struct tg_kubelet_answer *answers, size_t n);

/* Borrows all. */
struct tg_claims *tg_claims_new(struct tg_loop *loop, struct tg_device_worker *devices,
                                const struct tg_claim_source *source);
/* A prepare whose devices another claim still holds waits that long (ns; at first 0) for it to be
 * released before it is refused. */
void tg_claims_wait_for_devices(struct tg_claims *claims, int64_t patience);
/* A batch that the devices have not finished after that long (ns; at first never) is answered with
 * an error; what they began goes on, and the kubelet's next call finds it done. While one job of
 * theirs takes longer than that, they are given nothing more. */
void tg_claims_limit(struct tg_claims *claims, int64_t deadline);
/* Measures each claim of each call; before the first one. */
void tg_claims_measure(struct tg_claims *claims, struct tg_metrics *metrics);
/* Drops everything without answers. The device worker must be freed before. NULL is allowed. */
void tg_claims_free(struct tg_claims *claims);

/* `done` is called exactly once, never from inside, unless abandoned. Claims are copied. */
struct tg_claim_batch *tg_claims_prepare(struct tg_claims *claims,
                                         const struct tg_kubelet_claims *request,
                                         tg_claims_done *done, void *data);
/* Needs no API server. A prepare of the same claim that still waits for the API server is given up
 * first. */
struct tg_claim_batch *tg_claims_unprepare(struct tg_claims *claims,
                                           const struct tg_kubelet_claims *request,
                                           tg_claims_done *done, void *data);
/* Nobody waits for the answer any more: what the devices began is finished, what they did not is
 * not begun: a claim that is prepared after the kubelet forgot it would hold its devices for ever.
 * `done` is not called. */
void tg_claims_abandon(struct tg_claim_batch *batch);
/* Calls asked for each claim of each call, before anything is done about it. NULL: nobody wants to
 * know. */
void tg_claims_when_asked(struct tg_claims *claims, void (*asked)(void *data, const char *uid),
                          void *data);
/* Calls idle each time that the last unfinished batch ends, and at once if there is none. */
void tg_claims_when_idle(struct tg_claims *claims, void (*idle)(void *data), void *data);

#endif
