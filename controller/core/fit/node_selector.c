/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/str.h"
#include "controller/core/fit/rule.h"

bool tg_fit_node_selector(const struct tg_fleet_node *node, const struct tg_fit_guest *guest)
{
    const struct tg_pod *pod = guest->pod;

    for (size_t i = 0; pod->spec != NULL && i < pod->spec->node_selector.n; i++) {
        const struct tg_string_pair *want = &pod->spec->node_selector.items[i];

        if (!tg_streq(tg_meta_label(node->object->metadata, want->key), want->value))
            return false;
    }
    return true;
}

bool tg_fit_selector_reads(const struct tg_fit_guest *guest, const char *key)
{
    const struct tg_pod *pod = guest->pod;

    for (size_t i = 0; key != NULL && pod->spec != NULL && i < pod->spec->node_selector.n; i++) {
        if (tg_streq(pod->spec->node_selector.items[i].key, key))
            return true;
    }
    return false;
}

bool tg_fit_has_selector(const struct tg_fit_guest *guest)
{
    return guest->pod->spec != NULL && guest->pod->spec->node_selector.n > 0;
}
