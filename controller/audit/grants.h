/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One allocation of ours after the other, by itself: is it what its claim asks for (core/check, a
 * second opinion that shares no code with what decides), and does no class that is not managed
 * reach its devices (I4)? That nobody else has them is for the other checks, which look at all of
 * them together. Pure, and cheap enough to be done a few hundred at a time.
 */
#ifndef TG_CONTROLLER_AUDIT_GRANTS_H
#define TG_CONTROLLER_AUDIT_GRANTS_H

#include "controller/audit/audit.h"

/* What is needed of the cluster, for as many allocations as one likes. */
struct tg_grants;

/* The view has classes and slices; it and the arena outlive the result. now: wall, ns.
 * TG_RESOURCE_EXHAUSTED: the arena. */
int tg_grants_open(const struct tg_view *view, const char *instance, int64_t now,
                   struct tg_arena *arena, struct tg_grants **ret, struct tg_error *err);

/* Appends what is wrong with the allocation of the claim to ret, whose texts are the arena's.
 * Nothing, if it is not allocated or not by us. node: that of the allocation, or NULL if it is gone
 * (nothing is judged then). What can have come after the allocation (a taint, a device that is
 * away) is not told; what can come after it but seldom does (another selector of the class, say) is
 * told of allocations younger than TG_GRANTS_YOUNG alone. */
#define TG_GRANTS_YOUNG (15 * 60 * TG_SECOND)
int tg_grants_check(const struct tg_grants *grants, const struct tg_resource_claim *claim,
                    const struct tg_node *node, struct tg_arena *arena, struct tg_findings *ret,
                    struct tg_error *err);

#endif
