/* SPDX-License-Identifier: Apache-2.0 */
/* What a pod takes of its node, counted as the scheduler does. */
#ifndef TG_CORE_MODEL_DEMAND_H
#define TG_CORE_MODEL_DEMAND_H

#include <stdint.h>

#include "api/kubernetes/objects/core.h"
#include "api/runtime/base/arena.h"
#include "api/runtime/base/error.h"

#define TG_RESOURCE_CPU "cpu"
#define TG_RESOURCE_MEMORY "memory"
#define TG_RESOURCE_PODS "pods"
/* A port of the node is a resource of which every node has one: "host port TCP/80". No resource of
 * the API has a space in its name. */
#define TG_RESOURCE_HOST_PORT "host port "
bool tg_is_host_port(const char *resource);

/* cpu in thousandths, everything else in whole units, both rounded up as Kubernetes does. */
struct tg_amount {
    const char *name;
    int64_t value;
};

/* Sorted by name; one of "pods" is always in it. */
struct tg_demand {
    struct tg_amount *items;
    size_t n;
};

/* Scratch that is used again for every pod; zeroed at first. */
struct tg_demand_row {
    const char *name;
    int64_t total, sidecars, init;
};
struct tg_demand_table {
    struct tg_demand_row *rows;
    size_t n, capacity;
};

/* TG_INVALID_ARGUMENT: not a quantity, or below 0. Too large values end at INT64_MAX. */
int tg_amount_parse(const char *resource, const char *text, int64_t *ret, struct tg_error *err);
/* a + b and a * n without overflow: they end at INT64_MAX. */
int64_t tg_amount_add(int64_t a, int64_t b);
int64_t tg_amount_times(int64_t a, size_t n);

/* Effective requests (KEP-753 sidecars, KEP-2837 pod-level resources): the larger of containers
 * plus sidecars and of each init container plus the sidecars before it; pod-level requests replace
 * cpu, memory and hugepages; overhead is added. table->rows[].total holds the result, in no order.
 */
int tg_demand_count(const struct tg_pod *pod, struct tg_demand_table *table, struct tg_arena *arena,
                    struct tg_error *err);
/* The sum over pods, sorted. Errors name the pod. */
int tg_demand_sum(const struct tg_pod *const *pods, size_t n, struct tg_arena *arena,
                  struct tg_demand *ret, struct tg_error *err);

#endif
