/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/rule.h"
#include "controller/core/model/node_match.h"

bool tg_fit_has_volumes(const struct tg_fit_guest *guest)
{
    return guest->volumes != NULL;
}

bool tg_fit_volumes(const struct tg_fleet_node *node, const struct tg_fit_guest *guest)
{
    for (size_t i = 0; guest->volumes != NULL && i < guest->volumes->n; i++) {
        if (!tg_node_selector_matches(guest->volumes->selectors[i], node->object))
            return false;
    }
    return true;
}

bool tg_fit_volumes_read(const struct tg_fit_guest *guest, const char *key)
{
    for (size_t i = 0; guest->volumes != NULL && i < guest->volumes->n; i++) {
        if (tg_node_selector_reads(guest->volumes->selectors[i], key))
            return true;
    }
    return false;
}
