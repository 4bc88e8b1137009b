/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leader election by a Lease, on a client (connection) of its own. A decision is made only while
 * tg_elector_leading() and a write sent only while its deadline ends before
 * tg_elector_valid_until(). The epoch lives in an annotation of the Lease and only grows: each
 * acquisition sets max(seen) + 1 in the same write.
 */
#ifndef TG_KUBERNETES_CLIENT_LEASE_H
#define TG_KUBERNETES_CLIENT_LEASE_H

#include "api/kubernetes/client/client.h"

struct tg_elector;

struct tg_elector_config {
    const char *namespace_, *name, *identity;
    const char *epoch_annotation; /* "tangram.dev/epoch" */
    /* Of the lease; renewed every third, given up when not renewed for two thirds. A standby reads
     * the lease every sixth, but not less often than twice a second: it can count the end of a
     * lease only from when it has seen the renewal. */
    int64_t duration;
    void (*on_leading)(void *data, uint64_t epoch); /* and again after tg_elector_raise */
    /* Not leading any more; the program may stop, or go on as a standby (the elector goes on by
     * itself). */
    void (*on_lost)(void *data, const struct tg_error *why);
    void *data;
};

/* Strings are copied. Must be freed before its client. */
struct tg_elector *tg_elector_new(struct tg_kube_client *client,
                                  const struct tg_elector_config *config);
/* Without giving the lease up; from on_leading and on_lost too. NULL is allowed. */
void tg_elector_free(struct tg_elector *elector);
/* Writes an empty holder so that a successor need not wait; done is called when written or failed
 * (within 2 s). */
void tg_elector_release(struct tg_elector *elector, void (*done)(void *data), void *data);
/* By the clock, even before on_lost is called. */
bool tg_elector_leading(const struct tg_elector *elector);
/* A leader has seen this epoch on an object, which is not below its own (the Lease was deleted and
 * with it the count): writes a higher one than both into the Lease and calls on_leading again.
 * Until then tg_elector_epoch says the old one. Values of half the range and above are ignored. */
void tg_elector_raise(struct tg_elector *elector, uint64_t seen);
/* Of the last acquisition, 0 before the first. */
uint64_t tg_elector_epoch(const struct tg_elector *elector);
/* Monotonic time (ns) until which nobody else can hold the lease: time of the last renewal request
 * + duration; 0 when not leading. */
int64_t tg_elector_valid_until(const struct tg_elector *elector);

#endif
