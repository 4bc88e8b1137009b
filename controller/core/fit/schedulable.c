/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/rule.h"
#include "controller/core/model/taint.h"

/* As the scheduler's NodeUnschedulable: cordoned, unless the pod tolerates the taint that stands
 * for it. */
bool tg_fit_schedulable(const struct tg_fleet_node *node, const struct tg_fit_guest *guest)
{
    static const struct tg_taint cordon = {.key = "node.kubernetes.io/unschedulable",
                                           .effect = TG_EFFECT_NO_SCHEDULE};
    const struct tg_node_spec *spec = node->object->spec;

    if (spec == NULL || !spec->unschedulable.set || !spec->unschedulable.value)
        return true;
    return guest->pod->spec != NULL &&
           tg_taint_tolerated(&cordon, guest->pod->spec->tolerations.items,
                              guest->pod->spec->tolerations.n);
}
