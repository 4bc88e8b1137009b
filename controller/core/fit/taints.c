/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/rule.h"
#include "controller/core/model/taint.h"

bool tg_fit_taints(const struct tg_fleet_node *node, const struct tg_fit_guest *guest)
{
    const struct tg_pod *pod = guest->pod;
    const struct tg_node_spec *spec = node->object->spec;
    const struct tg_toleration *tolerations =
        pod->spec == NULL ? NULL : pod->spec->tolerations.items;
    size_t n = pod->spec == NULL ? 0 : pod->spec->tolerations.n;

    for (size_t i = 0; spec != NULL && i < spec->taints.n; i++) {
        if (tg_taint_blocks(&spec->taints.items[i]) &&
            !tg_taint_tolerated(&spec->taints.items[i], tolerations, n))
            return false;
    }
    return true;
}
