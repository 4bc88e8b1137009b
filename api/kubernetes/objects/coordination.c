/* SPDX-License-Identifier: Apache-2.0 */
#include "api/kubernetes/objects/coordination.h"

static const struct tg_field lease_spec_fields[] = {
    TG_FIELD_STR(struct tg_lease_spec, holder_identity, "holderIdentity"),
    TG_FIELD_STR(struct tg_lease_spec, acquire_time, "acquireTime"),
    TG_FIELD_STR(struct tg_lease_spec, renew_time, "renewTime"),
    TG_FIELD_INTEGER(struct tg_lease_spec, lease_duration_seconds, "leaseDurationSeconds"),
    TG_FIELD_INTEGER(struct tg_lease_spec, lease_transitions, "leaseTransitions"),
};
static const struct tg_type lease_spec_type = TG_TYPE(struct tg_lease_spec, lease_spec_fields);

static const struct tg_field lease_fields[] = {
    TG_FIELD_OBJ(struct tg_lease, metadata, "metadata", &tg_object_meta_type),
    TG_FIELD_OBJ(struct tg_lease, spec, "spec", &lease_spec_type),
};
const struct tg_type tg_lease_type = TG_TYPE(struct tg_lease, lease_fields);
