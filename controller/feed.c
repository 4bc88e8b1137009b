/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the stores to the fleet, which keeps what it needs of an object, and to what a pass
 * looks at. */
#include "controller/controller.h"

static const struct {
    bool part; /* of the fleet */
    enum tg_fleet_kind kind;
} fed[TG_VIEW_KINDS] = {
    [TG_VIEW_POD] = {true, TG_FLEET_POD},
    [TG_VIEW_NODE] = {true, TG_FLEET_NODE},
    [TG_VIEW_CLAIM] = {true, TG_FLEET_CLAIM},
    [TG_VIEW_SLICE] = {true, TG_FLEET_SLICE},
    [TG_VIEW_CLASS] = {true, TG_FLEET_CLASS},
    [TG_VIEW_TAINT_RULE] = {true, TG_FLEET_TAINT_RULE},
    [TG_VIEW_VOLUME] = {true, TG_FLEET_VOLUME},
    [TG_VIEW_VOLUME_CLAIM] = {true, TG_FLEET_VOLUME_CLAIM},
    [TG_VIEW_STORAGE_CLASS] = {true, TG_FLEET_STORAGE_CLASS},
};

void tg_controller_feed(struct tg_controller *controller, enum tg_view_kind kind,
                        const struct tg_object *before, const struct tg_object *after)
{
    if (kind == TG_VIEW_POD)
        tg_awake_pod_changed(controller->awake, (const void *)before, (const void *)after);
    if (kind == TG_VIEW_CLAIM)
        tg_awake_claim_changed(controller->awake, (const void *)before, (const void *)after);
    if (!fed[kind].part)
        return;
    if (after != NULL)
        tg_fleet_put(controller->fleet, fed[kind].kind, after);
    else if (before != NULL)
        tg_fleet_drop(controller->fleet, fed[kind].kind, before->metadata->namespace_,
                      before->metadata->name);
}
