/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/rule.h"
#include "controller/core/model/node_match.h"

static const struct tg_node_selector *required_of(const struct tg_pod *pod)
{
    const struct tg_affinity *affinity = pod->spec == NULL ? NULL : pod->spec->affinity;

    return affinity == NULL || affinity->node_affinity == NULL ? NULL
                                                               : affinity->node_affinity->required;
}

bool tg_fit_has_affinity(const struct tg_fit_guest *guest)
{
    return required_of(guest->pod) != NULL;
}

bool tg_fit_node_affinity(const struct tg_fleet_node *node, const struct tg_fit_guest *guest)
{
    const struct tg_node_selector *required = required_of(guest->pod);

    return required == NULL || tg_node_selector_matches(required, node->object);
}

bool tg_fit_affinity_reads(const struct tg_fit_guest *guest, const char *key)
{
    const struct tg_node_selector *required = required_of(guest->pod);

    return required != NULL && tg_node_selector_reads(required, key);
}
