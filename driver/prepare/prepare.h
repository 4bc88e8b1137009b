/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which claims are prepared on this node: a state machine over a journal (journal.h) and a folder
 * of CDI documents (cdi.h). No kubelet, no API server, no clock. Every call is synchronous and
 * durable when it returns: what was answered survives kill -9 and power loss. One instance a state
 * folder (lock.h), one thread.
 *
 *   prepare     intent -> partitions made, cards set -> CDI document -> done
 *   unprepare   removing -> document removed -> cards as before, partitions removed -> gone
 *
 * A start finishes what was begun, or takes back what did not get as far as its document.
 */
#ifndef TG_DRIVER_PREPARE_PREPARE_H
#define TG_DRIVER_PREPARE_PREPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "api/kubernetes/objects/resource.h"
#include "api/runtime/base/error.h"
#include "driver/prepare/crash.h"
#include "driver/provider/provider.h"

#define TG_PREPARE_CLAIMS_MAX 4096 /* prepared at once; more is TG_RESOURCE_EXHAUSTED */

struct tg_prepare_options {
    const char *state_folder;     /* journal and lock; made if it is not there */
    const char *cdi_folder;       /* /var/run/cdi; made if it is not there */
    const char *boot_id_file;     /* /proc/sys/kernel/random/boot_id */
    struct tg_provider *provider; /* hardware; NULL: devices are no more than their variables */
    const char *driver;   /* CDI kind `k8s.<driver>/claim`; results of other drivers are skipped */
    const char *pool;     /* the only pool that is ours: the node's name */
    size_t compact_after; /* journal records before it is rewritten; 0 = 512 */
    struct tg_prepare_crash *crash; /* NULL outside tests */
};

/* What a start found; for log and metrics. */
struct tg_prepare_report {
    size_t claims; /* prepared, as answered by tg_prepare_at */
    /* Interrupted calls: prepared to the end, taken back, unprepared to the end. */
    size_t completed, undone, finished;
    /* CDI documents written again: missing, damaged, of an earlier boot or release. */
    size_t regenerated;
    /* Claims that only their CDI documents knew, because the journal was lost or damaged. */
    size_t adopted;
    /* Prepared claims of which a device is not there any more: still held, documents as they were.
     */
    size_t missing;
    char missing_why[256]; /* of the last of these */
    size_t unfinished;   /* going, and their hardware cannot be asked: they hold it until it can */
    size_t orphans;      /* CDI documents under our name that nobody can read: removed */
    bool rebooted;       /* boot id differs from the journal's */
    bool torn;           /* the journal ended in half a record, of which nobody had been told */
    char set_aside[256]; /* the copy of the damaged journal, "" if it was sound */
    char damage[256];    /* what was wrong with it */
};

/* Results in the form in which the kubelet wants them. */
struct tg_prepared_device {
    const char *request; /* base name: "req" of "req/sub" */
    const char *pool, *device;
    const char *share_id; /* NULL if none */
    bool admin_access;
    const char *cdi_id; /* "k8s.<driver>/claim=<uid>_<request>_<device>", see cdi.h */
};
struct tg_prepared_claim {
    const char *uid, *namespace_, *name;
    const struct tg_prepared_device *devices; /* in the order of the allocation's results */
    size_t n;
};

struct tg_prepare;

/*
 * Opens the state and recovers. `devices` is borrowed and must outlive the object or be replaced by
 * tg_prepare_set_devices. `report` may be NULL.
 *   TG_UNAVAILABLE (retry)  another instance holds the folder
 *   TG_FAILED_PRECONDITION  the journal is of a newer, unknown format; it is left untouched
 */
int tg_prepare_open(const struct tg_prepare_options *options, const struct tg_device_set *devices,
                    struct tg_prepare **ret, struct tg_prepare_report *report,
                    struct tg_error *err);
/* Closes without unpreparing anything. NULL is allowed. */
void tg_prepare_close(struct tg_prepare *prepare);
/* Closes in order: nothing stays in the state folder but what claims need that hold something, and
 * journals that were set aside. Without a journal nothing is prepared, so a crash on the way does
 * no harm. Closes in any case; an error says what stayed. NULL is allowed. */
int tg_prepare_end(struct tg_prepare *prepare, struct tg_error *err);
/* The hardware was listed again. Prepared claims stay as they are. */
void tg_prepare_set_devices(struct tg_prepare *prepare, const struct tg_device_set *devices);
/* What a start does, once more, after hardware came that was not there: makes partitions and
 * documents right, and finishes what is going. `report` is zeroed. */
int tg_prepare_settle(struct tg_prepare *prepare, struct tg_prepare_report *report,
                      struct tg_error *err);
/* True if that could have something to do: claims that are going, or that miss hardware. */
bool tg_prepare_unsettled(const struct tg_prepare *prepare);
/* True if a claim holds the partition that stands at that place, and made it or will. */
bool tg_prepare_owns(const struct tg_prepare *prepare, const struct tg_partition *place);

/*
 * Prepares a claim from status.allocation.devices.results. The same claim again gives the same
 * answer (and writes its CDI document again if that is gone). *ret is valid until the claim is
 * unprepared or the object closed; a claim without results of our driver gets an empty answer and
 * is not remembered.
 *   TG_INVALID_ARGUMENT     uid, names or results make no sense
 *   TG_NOT_FOUND (retry)    a device is not on this node
 *   TG_FAILED_PRECONDITION  (retry) a device is held by another prepared claim, which the text
 *                           names; or the claim is prepared with other devices. Not held in that
 *                           sense: results with adminAccess on either side, and different share
 *                           ids of one device.
 *   TG_RESOURCE_EXHAUSTED   too many claims, or the disk is full
 * After a failure the claim is as it was before, unless that cannot be written either: then it
 * keeps its devices until the next call for it, or the next start.
 */
int tg_prepare_claim(struct tg_prepare *prepare, const char *uid, const char *namespace_,
                     const char *name, const struct tg_allocation_device *results, size_t n,
                     const struct tg_prepared_claim **ret, struct tg_error *err);
/* The same with the configuration of the allocation: entries of our driver are GpuConfig and
 * MigConfig (api/tangram/gpu_config.h), and cards are set as they say while the claim is prepared.
 *   TG_INVALID_ARGUMENT     an entry is not understood; the text names it
 *   TG_UNIMPLEMENTED        ... or asks for what there is not
 *   TG_FAILED_PRECONDITION  (retry) another claim has a share of a card and wants it set otherwise
 */
int tg_prepare_allocation(struct tg_prepare *prepare, const char *uid, const char *namespace_,
                          const char *name, const struct tg_allocation_devices *allocation,
                          const struct tg_prepared_claim **ret, struct tg_error *err);
/* Unprepares. A claim that is not prepared is success; a claim that a failure leaves halfway keeps
 * its devices until the call is repeated. Success, too, while hardware cannot be asked (no driver):
 * the pod can end, and what is left on the card is held until tg_prepare_settle removes it. */
int tg_prepare_release(struct tg_prepare *prepare, const char *uid, struct tg_error *err);

/* The prepared claim of that uid, or NULL. */
const struct tg_prepared_claim *tg_prepare_find(const struct tg_prepare *prepare, const char *uid);
/* All prepared claims, in the order in which they were prepared. */
size_t tg_prepare_count(const struct tg_prepare *prepare);
const struct tg_prepared_claim *tg_prepare_at(const struct tg_prepare *prepare, size_t i);

#endif
