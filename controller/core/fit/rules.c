/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/rule.h"

#include "api/runtime/base/cleanup.h"

const struct tg_fit_rule tg_fit_rules[] = {
    {"NodeNotReady", "not ready", tg_fit_ready, NULL, NULL},
    {"NodeUnreadable", "with quantities that cannot be read", tg_fit_readable, NULL, NULL},
    {"NodeUnschedulable", "cordoned", tg_fit_schedulable, NULL, NULL},
    {"NodeTainted", "with taints that the pod does not tolerate", tg_fit_taints, NULL, NULL},
    {"NodeSelectorMismatch", "outside the pod's nodeSelector", tg_fit_node_selector,
     tg_fit_has_selector, tg_fit_selector_reads},
    {"NodeAffinityMismatch", "outside the pod's required node affinity", tg_fit_node_affinity,
     tg_fit_has_affinity, tg_fit_affinity_reads},
    {"VolumeUnreachable", "out of reach of the pod's volumes", tg_fit_volumes, tg_fit_has_volumes,
     tg_fit_volumes_read},
};
const size_t tg_fit_rules_count = TG_ARRAY_SIZE(tg_fit_rules);

bool tg_fit_cares(const struct tg_fit_guest *guest)
{
    bool cares = false;

    for (size_t i = 0; i < tg_fit_rules_count; i++)
        cares = cares || (tg_fit_rules[i].cares != NULL && tg_fit_rules[i].cares(guest));
    return cares;
}

bool tg_fit_reads(const struct tg_fit_guest *guest, const char *key)
{
    bool reads = false;

    for (size_t i = 0; i < tg_fit_rules_count; i++)
        reads = reads || (tg_fit_rules[i].reads != NULL && tg_fit_rules[i].reads(guest, key));
    return reads;
}

size_t tg_fit_first_failed(const struct tg_fleet_node *node, const struct tg_fit_guest *guest)
{
    size_t i = 0;

    while (i < tg_fit_rules_count &&
           ((node->plain && tg_fit_rules[i].cares == NULL) || tg_fit_rules[i].passes(node, guest)))
        i++;
    return i;
}
