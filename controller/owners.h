/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that create the pods of incomplete gangs, read when there is something to explain:
 * one GET an owner, a bounded number of them, kept for a while. A kind that the server does not
 * know, an owner that is gone or may not be read is no error: there is nothing to say then.
 */
#ifndef TG_CONTROLLER_OWNERS_H
#define TG_CONTROLLER_OWNERS_H

#include "api/kubernetes/client/client.h"
#include "controller/commit/commit.h"

#define TG_OWNERS_MAX 256                /* that are kept */
#define TG_OWNERS_FRESH (30 * TG_SECOND) /* what is older is read again when it is asked for */

struct tg_owners;

/* on_news: something was learnt, so that an explanation may have changed. */
struct tg_owners *tg_owners_new(struct tg_kube_client *client, const struct tg_clock *clock,
                                void (*on_news)(void *data), void *data);
/* NULL is allowed. Before the client. */
void tg_owners_free(struct tg_owners *owners);

/* To a decision that waits for members: what keeps their owners from creating them, from what is
 * known by now; asks for what is not. owners NULL: nothing. Memory is the arena's. */
void tg_owners_explain(struct tg_owners *owners, const struct tg_unit *unit, struct tg_arena *arena,
                       struct tg_decision *decision);

/* How many are kept at the moment: at most TG_OWNERS_MAX. */
size_t tg_owners_count(const struct tg_owners *owners);

#endif
