/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which Kubernetes release the API server is of, as /version says: read at the start, at the
 * beginning of each reign and once an hour, so that the upgrade of a control plane needs no restart
 * here. Until it is known, and where it cannot be read, it is 0, which counts as the newest.
 */
#ifndef TG_CONTROLLER_RELEASE_H
#define TG_CONTROLLER_RELEASE_H

#include "api/kubernetes/client/client.h"

#define TG_RELEASE_EVERY (3600 * TG_SECOND)
#define TG_RELEASE_AGAIN (60 * TG_SECOND) /* after a request that failed */

struct tg_release;

/* Asks at once. on_change: another release than before. */
struct tg_release *tg_release_new(struct tg_kube_client *client,
                                  void (*on_change)(void *data, unsigned minor), void *data);
/* NULL is allowed. Before the client. */
void tg_release_free(struct tg_release *release);
/* Asks again now, unless a request is under way. */
void tg_release_read(struct tg_release *release);
/* 36 of Kubernetes 1.36; 0: not known. */
unsigned tg_release_minor(const struct tg_release *release);

#endif
