/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/gather/grant.h"

#include <string.h>

#include "api/runtime/base/str.h"
#include "api/tangram/names.h"

bool tg_claim_allocated(const struct tg_resource_claim *claim)
{
    return claim->status != NULL && claim->status->allocation != NULL;
}

bool tg_claim_marker(const struct tg_resource_claim *claim, struct tg_arena *arena,
                     struct tg_plan_marker *ret)
{
    const struct tg_allocation_devices *devices =
        tg_claim_allocated(claim) ? claim->status->allocation->devices : NULL;

    for (size_t i = 0; devices != NULL && i < devices->config.n; i++) {
        const struct tg_opaque_config *opaque = devices->config.items[i].opaque;

        if (opaque != NULL && tg_streq(opaque->driver, TG_MARKER_DRIVER) &&
            opaque->parameters != NULL &&
            tg_plan_marker_decode(opaque->parameters, strlen(opaque->parameters), arena, ret,
                                  NULL) == 0)
            return true;
    }
    return false;
}

const char *tg_claim_node(const struct tg_resource_claim *claim)
{
    const struct tg_node_selector *selector =
        tg_claim_allocated(claim) ? claim->status->allocation->node_selector : NULL;
    const struct tg_selector_requirement *field;

    if (selector == NULL || selector->terms.n != 1 || selector->terms.items[0].match_fields.n != 1)
        return NULL;
    field = &selector->terms.items[0].match_fields.items[0];
    if (!tg_streq(field->key, "metadata.name") || !tg_streq(field->operator_, "In") ||
        field->values.n != 1)
        return NULL;
    return field->values.items[0];
}
