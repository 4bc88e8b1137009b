/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/rule.h"

#include "api/runtime/base/cleanup.h"

const struct tg_fit_rule tg_fit_rules[] = {
    {"NodeNotReady", "not ready", tg_fit_ready},
    {"NodeUnreadable", "with quantities that cannot be read", tg_fit_readable},
    {"NodeUnschedulable", "cordoned", tg_fit_schedulable},
    {"NodeTainted", "with taints that the pod does not tolerate", tg_fit_taints},
    {"NodeSelectorMismatch", "outside the pod's nodeSelector", tg_fit_node_selector},
    {"NodeAffinityMismatch", "outside the pod's required node affinity", tg_fit_node_affinity},
};
const size_t tg_fit_rules_count = TG_ARRAY_SIZE(tg_fit_rules);

size_t tg_fit_first_failed(const struct tg_fleet_node *node, const struct tg_pod *pod)
{
    size_t i = 0;

    while (i < tg_fit_rules_count && tg_fit_rules[i].passes(node, pod))
        i++;
    return i;
}
