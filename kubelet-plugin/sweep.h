/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepared claims that nobody has any more: their pods went while this program was not there, and
 * the kubelet has forgotten them too, so it never unprepares them. Each time that the kubelet has
 * registered the driver, and a while has passed in which it could have said so itself, each
 * prepared claim is looked for in the API server. Unprepared is one that is not there, bears the
 * uid of another, is not allocated or is reserved for nobody, unless the kubelet has asked for it
 * meanwhile.
 */
#ifndef TG_PLUGIN_SWEEP_H
#define TG_PLUGIN_SWEEP_H

#include "kubelet-plugin/claims.h"

struct tg_sweep;

/* Borrows all. `claims` tells of what the kubelet asks (tg_claims_when_asked is taken). */
struct tg_sweep *tg_sweep_new(struct tg_loop *loop, struct tg_device_worker *devices,
                              struct tg_claims *claims, const struct tg_claim_source *source);
/* The kubelet has registered the driver: looks after `delay` ns, and every `delay` (at least a
 * second) more as long as the API server cannot say of each claim. Again while one is under way:
 * nothing. */
void tg_sweep_start(struct tg_sweep *sweep, int64_t delay);
/* Before the claims are freed; the device worker must be freed before. NULL is allowed. */
void tg_sweep_free(struct tg_sweep *sweep);

#endif
