/* SPDX-License-Identifier: Apache-2.0 */
/* What the API server refuses, for cluster_model. Sources: Kubernetes validation of ResourceClaim
 * status and of gated pods (KEP 3521, KEP 3838), apiserver's handling of finalizers. */
#ifndef TG_TESTS_SUPPORT_CLUSTER_RULES_H
#define TG_TESTS_SUPPORT_CLUSTER_RULES_H

#include "api/runtime/base/error.h"
#include "api/runtime/json/value.h"
#include "controller/gather/view.h"

/* 0, or TG_INVALID_ARGUMENT: the update of the object's status (or of everything else) from old to
 * next is refused. */
int tg_cluster_check(enum tg_view_kind kind, bool status, struct tg_json *old, struct tg_json *next,
                     struct tg_error *err);

#endif
