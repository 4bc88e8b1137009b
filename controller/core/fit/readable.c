/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/rule.h"

/* Of a node with an unreadable allocatable, or a pod with unreadable requests on it, nobody knows
 * what is left. */
bool tg_fit_readable(const struct tg_fleet_node *node, const struct tg_fit_guest *guest)
{
    (void)guest;
    return node->broken == NULL;
}
