/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/rule.h"
#include "controller/core/model/node_match.h"

bool tg_fit_has_affinity(const struct tg_pod *pod)
{
    const struct tg_affinity *affinity = pod->spec == NULL ? NULL : pod->spec->affinity;

    return affinity != NULL && affinity->node_affinity != NULL &&
           affinity->node_affinity->required != NULL;
}

bool tg_fit_node_affinity(const struct tg_fleet_node *node, const struct tg_pod *pod)
{
    return !tg_fit_has_affinity(pod) ||
           tg_node_selector_matches(pod->spec->affinity->node_affinity->required, node->object);
}
