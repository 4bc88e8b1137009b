/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The marker that makes an allocation ours: one opaque entry of driver tangram.dev in
 * status.allocation.devices.config, {apiVersion, kind: Plan, gangUID, epoch} (design 5.2, step 2b).
 * An instance other than the default one says its name as well.
 */
#ifndef TG_TANGRAM_PLAN_MARKER_H
#define TG_TANGRAM_PLAN_MARKER_H

#include <stddef.h>
#include <stdint.h>

#include "api/runtime/base/arena.h"
#include "api/runtime/base/buf.h"
#include "api/runtime/base/error.h"

struct tg_plan_marker {
    const char
        *gang_uid; /* UID of the Gang, or of the pod of an implicit gang; "" for a single claim */
    int64_t epoch; /* of the leader that decided the plan; >= 0 */
    const char *instance; /* of the controller that allocates; NULL: the default one */
};

/* Appends the parameters as compact JSON, always the same bytes for the same marker. */
int tg_plan_marker_encode(const struct tg_plan_marker *marker, struct tg_buf *out,
                          struct tg_error *err);

/* Appends the whole config entry:
 * {"opaque":{"driver":"tangram.dev","parameters":{...}},"source":"FromClass"}. No requests are
 * named, so it applies to all; the source is one of the two that the API accepts. */
int tg_plan_marker_encode_config(const struct tg_plan_marker *marker, struct tg_buf *out,
                                 struct tg_error *err);

/* Decodes opaque.parameters of an entry of driver tangram.dev. TG_NOT_FOUND: valid JSON of another
 * kind (a GangMember, say). TG_INVALID_ARGUMENT: kind Plan but malformed. */
int tg_plan_marker_decode(const char *json, size_t n, struct tg_arena *arena,
                          struct tg_plan_marker *ret, struct tg_error *err);

#endif
