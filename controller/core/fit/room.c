/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/room.h"

#include <string.h>

#include "api/runtime/base/cleanup.h"

const struct tg_room_rule tg_room_rules[] = {
    {"InsufficientCPU", TG_RESOURCE_CPU}, {"InsufficientMemory", TG_RESOURCE_MEMORY},
    {"TooManyPods", TG_RESOURCE_PODS},    {"HostPortTaken", TG_RESOURCE_HOST_PORT},
    {"InsufficientResource", NULL},
};
const size_t tg_room_rules_count = TG_ARRAY_SIZE(tg_room_rules);

const struct tg_room_rule *tg_room_rule_of(const char *resource)
{
    size_t i = 0;

    if (tg_is_host_port(resource))
        resource = TG_RESOURCE_HOST_PORT;
    while (tg_room_rules[i].resource != NULL && strcmp(tg_room_rules[i].resource, resource) != 0)
        i++;
    return &tg_room_rules[i];
}

static int64_t amount_of(const struct tg_demand *demand, const char *resource)
{
    for (size_t i = 0; i < demand->n; i++) {
        if (strcmp(demand->items[i].name, resource) == 0)
            return demand->items[i].value;
    }
    return 0;
}

size_t tg_room_copies(const struct tg_fleet_node *node, const struct tg_demand *const *taken,
                      size_t n_taken, const struct tg_demand *demand, size_t max,
                      const char **ret_short)
{
    size_t copies = max;

    for (size_t i = 0; i < demand->n; i++) {
        const struct tg_amount *want = &demand->items[i];
        int64_t left = tg_fleet_room_left(node, want->name);
        size_t fit = copies;

        if (want->value == 0)
            continue;
        for (size_t k = 0; k < n_taken; k++)
            left -= left > 0
                        ? (amount_of(taken[k], want->name) > left ? left
                                                                  : amount_of(taken[k], want->name))
                        : 0;
        fit = tg_room_share(left, want->value, copies);
        if (fit < copies) {
            copies = fit;
            if (ret_short != NULL)
                *ret_short = want->name;
        }
    }
    return copies;
}
