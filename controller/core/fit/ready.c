/* SPDX-License-Identifier: Apache-2.0 */
#include "api/runtime/base/str.h"
#include "controller/core/fit/rule.h"

/* A node that does not say that it is ready is not. */
bool tg_fit_ready(const struct tg_fleet_node *node, const struct tg_fit_guest *guest)
{
    const struct tg_node_status *status = node->object->status;
    const struct tg_condition *ready = NULL;

    (void)guest;
    if (status != NULL)
        ready = tg_condition_find(status->conditions.items, status->conditions.n, "Ready");
    return ready != NULL && tg_streq(ready->status, "True");
}
