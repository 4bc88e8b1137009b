/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that touches devices, on a thread of its own: a device library that hangs holds up
 * neither the kubelet's calls nor the health server. Jobs run one after the other. Results are
 * copied on that thread, so that nothing of the driver is looked at from two.
 *
 * Hardware is listed again every half minute, and every five seconds while its driver is away or
 * claims wait for it. Without a driver the worker starts all the same, with no devices: pods must
 * be able to end.
 */
#ifndef TG_PLUGIN_DEVICE_WORKER_H
#define TG_PLUGIN_DEVICE_WORKER_H

#include "api/kubelet/dra.h"
#include "api/kubelet/health.h"
#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/error.h"
#include "api/runtime/base/metrics.h"
#include "api/runtime/loop/loop.h"
#include "driver/prepare/prepare.h"
#include "driver/provider/provider.h"

struct tg_device_worker;

struct tg_device_worker_config {
    const char *provider;
    /* Makes the provider; NULL: tg_provider_new. A seam for tests. */
    int (*new_provider)(const char *kind, const struct tg_provider_options *options,
                        struct tg_provider **ret, struct tg_error *err);
    struct tg_provider_options provider_options;
    const char *attributes_folder; /* of drop-ins (driver/provider/dropins.h); NULL, "": none */
    struct tg_prepare_options prepare_options; /* the pool's name is that of the node */
    /* Once: devices are listed, the journal is recovered and CDI documents are in place; or why
     * not. */
    void (*started)(void *data, const struct tg_prepare_report *report, const struct tg_error *err);
    /* After that: the devices are others than before. What was borrowed from the old ones must be
     * let go of before the call returns. NULL: nobody wants to know. */
    void (*changed)(void *data);
    void *data;
    int64_t anxious; /* ns between listings while the driver is away; 0: 5 s */
};

/* Strings are borrowed. Begins at once; while another instance holds the state folder it tries
 * again every second. */
struct tg_device_worker *tg_device_worker_new(struct tg_loop *loop,
                                              const struct tg_device_worker_config *config);
/* Tells the registry, which outlives the worker, how many jobs there are and how long one takes. */
void tg_device_worker_measure(struct tg_device_worker *worker, struct tg_metrics *metrics);
/* Waits for the running job; jobs that wait are dropped without `done`. NULL is allowed. */
void tg_device_worker_free(struct tg_device_worker *worker);
/* The devices as they were listed last; until `changed`. Only after `started` without an error. */
const struct tg_device_set *tg_device_worker_devices(const struct tg_device_worker *worker);
/* 0 if the hardware could be listed since the start; otherwise why not. Nothing may be published
 * before: an empty node is something else. */
int tg_device_worker_status(const struct tg_device_worker *worker, struct tg_error *err);

/* Lists the hardware again, soon: something about it has changed. Nothing before `started`. */
void tg_device_worker_list_again(struct tg_device_worker *worker);

/* How long the job that runs has been running, ns; 0: none runs. */
int64_t tg_device_worker_busy(const struct tg_device_worker *worker);

/* Embedded by the caller and untouched by him until `done`. `err.code` is TG_OK on success. */
struct tg_device_job {
    void (*done)(struct tg_device_job *job);
    void *data;
    struct tg_arena *arena; /* for the results; the worker's until `done` */
    const char *uid;
    const char *namespace_, *name;                  /* prepare */
    const struct tg_allocation_devices *allocation; /* prepare */
    struct tg_error err;
    struct tg_kubelet_device *devices; /* prepare: the answer */
    size_t n_devices;
    struct tg_kubelet_claim *claims; /* claims: all that are prepared */
    size_t n_claims;
    struct tg_kubelet_device_health *health; /* check: all devices */
    size_t n_health;
    struct tg_device_worker *worker; /* set by the call */
};
/* Only after `started` without an error. */
void tg_device_worker_prepare(struct tg_device_worker *worker, struct tg_device_job *job);
void tg_device_worker_release(struct tg_device_worker *worker, struct tg_device_job *job);
/* What is prepared. */
void tg_device_worker_claims(struct tg_device_worker *worker, struct tg_device_job *job);
/* Lists the devices again: those that are found are healthy, those that were there before, or that
 * claims hold, and are not are unhealthy; when listing fails, all are unknown. `updated` is left 0.
 */
void tg_device_worker_check(struct tg_device_worker *worker, struct tg_device_job *job);

#endif
