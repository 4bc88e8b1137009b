/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/model/demand.h"

#include <string.h>

#include "api/kubernetes/values/quantity.h"
#include "api/runtime/base/str.h"
#include "controller/core/model/sort.h"

int64_t tg_amount_add(int64_t a, int64_t b)
{
    int64_t sum = 0;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t tg_amount_times(int64_t a, size_t n)
{
    int64_t product = 0;

    if (n > INT64_MAX || __builtin_mul_overflow(a, (int64_t)n, &product))
        return a == 0 ? 0 : INT64_MAX;
    return product;
}

int tg_amount_parse(const char *resource, const char *text, int64_t *ret, struct tg_error *err)
{
    struct tg_quantity quantity;
    int rc = tg_quantity_parse(text == NULL ? "" : text, &quantity, err);

    if (rc < 0)
        return tg_error_wrap(err, "%s", resource);
    *ret = strcmp(resource, TG_RESOURCE_CPU) == 0 ? tg_quantity_milli_value(&quantity)
                                                  : tg_quantity_value(&quantity);
    if (*ret < 0)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "%s: %s is below zero", resource, text);
    return 0;
}

static int grow(struct tg_demand_table *table, struct tg_arena *arena, struct tg_error *err)
{
    size_t capacity = table->capacity == 0 ? 8 : table->capacity * 2;
    struct tg_demand_row *rows;
    int rc = tg_core_alloc(arena, capacity, sizeof(*rows), &rows, err);

    if (rc < 0)
        return rc;
    if (table->n > 0)
        memcpy(rows, table->rows, table->n * sizeof(*rows));
    table->rows = rows;
    table->capacity = capacity;
    return 0;
}

static int row_of(struct tg_demand_table *table, const char *name, struct tg_arena *arena,
                  struct tg_demand_row **ret, struct tg_error *err)
{
    for (size_t i = 0; i < table->n; i++) {
        if (strcmp(table->rows[i].name, name) == 0) {
            *ret = &table->rows[i];
            return 0;
        }
    }
    if (table->n == table->capacity) {
        int rc = grow(table, arena, err);

        if (rc < 0)
            return rc;
    }
    *ret = &table->rows[table->n++];
    **ret = (struct tg_demand_row){.name = name};
    return 0;
}

/* How a list of requests enters the table. */
enum part { PART_CONTAINER, PART_SIDECAR, PART_INIT, PART_POD_LEVEL, PART_OVERHEAD };

static void enter(struct tg_demand_row *row, enum part part, int64_t value)
{
    int64_t with_sidecars = tg_amount_add(value, row->sidecars);

    if (part == PART_POD_LEVEL) {
        row->total = value;
    } else if (part == PART_INIT) {
        row->init = with_sidecars > row->init ? with_sidecars : row->init;
    } else {
        row->total = tg_amount_add(row->total, value);
        if (part == PART_SIDECAR)
            row->sidecars = with_sidecars;
    }
}

/* Resources that spec.resources may replace. */
static bool is_pod_level(const char *name)
{
    return strcmp(name, TG_RESOURCE_CPU) == 0 || strcmp(name, TG_RESOURCE_MEMORY) == 0 ||
           tg_has_prefix(name, "hugepages-");
}

static int enter_list(struct tg_demand_table *table, enum part part,
                      const struct tg_string_pair *items, size_t n, struct tg_arena *arena,
                      struct tg_error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct tg_demand_row *row = NULL;
        int64_t value = 0;
        int rc = 0;

        if (part == PART_POD_LEVEL && !is_pod_level(items[i].key))
            continue;
        rc = tg_amount_parse(items[i].key, items[i].value, &value, err);
        if (rc == 0)
            rc = row_of(table, items[i].key, arena, &row, err);
        if (rc < 0)
            return rc;
        enter(row, part, value);
    }
    return 0;
}

static int enter_container(struct tg_demand_table *table, enum part part,
                           const struct tg_container *c, struct tg_arena *arena,
                           struct tg_error *err)
{
    int rc = 0;

    if (c->resources != NULL)
        rc = enter_list(table, part, c->resources->requests.items, c->resources->requests.n, arena,
                        err);
    return rc < 0 ? tg_error_wrap(err, "container %s", tg_or(c->name, "?")) : 0;
}

bool tg_is_host_port(const char *resource)
{
    return tg_has_prefix(resource, TG_RESOURCE_HOST_PORT);
}

/* Ports of the node that a container wants for itself. The address does not matter here: two that
 * would do beside each other on different addresses of one node are kept apart. */
static int enter_ports(struct tg_demand_table *table, const struct tg_container *c,
                       struct tg_arena *arena, struct tg_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < c->ports.n; i++) {
        const struct tg_container_port *port = &c->ports.items[i];
        struct tg_demand_row *row = NULL;
        const char *name;

        if (!port->host_port.set || port->host_port.value <= 0)
            continue;
        name = tg_arena_printf(arena, TG_RESOURCE_HOST_PORT "%s/%lld", tg_or(port->protocol, "TCP"),
                               (long long)port->host_port.value);
        if (name == NULL)
            return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                "the decision needs more memory than its budget");
        rc = row_of(table, name, arena, &row, err);
        if (rc == 0)
            row->total = 1;
    }
    return rc;
}

/* As the scheduler: those of init containers that run to their end do not count. */
static int count_ports(const struct tg_pod_spec *spec, struct tg_demand_table *table,
                       struct tg_arena *arena, struct tg_error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < spec->containers.n; i++)
        rc = enter_ports(table, &spec->containers.items[i], arena, err);
    for (size_t i = 0; rc == 0 && i < spec->init_containers.n; i++) {
        if (tg_streq(spec->init_containers.items[i].restart_policy, "Always"))
            rc = enter_ports(table, &spec->init_containers.items[i], arena, err);
    }
    return rc;
}

int tg_demand_count(const struct tg_pod *pod, struct tg_demand_table *table, struct tg_arena *arena,
                    struct tg_error *err)
{
    const struct tg_pod_spec *spec = pod->spec;
    struct tg_demand_row *pods = NULL;
    int rc = 0;

    table->n = 0;
    if (spec == NULL)
        return tg_error_set(err, TG_INVALID_ARGUMENT, "the pod has no spec");
    for (size_t i = 0; rc == 0 && i < spec->containers.n; i++)
        rc = enter_container(table, PART_CONTAINER, &spec->containers.items[i], arena, err);
    for (size_t i = 0; rc == 0 && i < spec->init_containers.n; i++) {
        const struct tg_container *c = &spec->init_containers.items[i];
        bool sidecar = tg_streq(c->restart_policy, "Always");

        rc = enter_container(table, sidecar ? PART_SIDECAR : PART_INIT, c, arena, err);
    }
    for (size_t i = 0; i < table->n; i++) {
        if (table->rows[i].init > table->rows[i].total)
            table->rows[i].total = table->rows[i].init;
    }
    if (rc == 0 && spec->resources != NULL)
        rc = enter_list(table, PART_POD_LEVEL, spec->resources->requests.items,
                        spec->resources->requests.n, arena, err);
    if (rc == 0)
        rc = enter_list(table, PART_OVERHEAD, spec->overhead.items, spec->overhead.n, arena, err);
    if (rc == 0)
        rc = count_ports(spec, table, arena, err);
    if (rc == 0)
        rc = row_of(table, TG_RESOURCE_PODS, arena, &pods, err);
    if (rc == 0)
        pods->total = 1;
    return rc;
}

static int compare_amounts(const void *a, const void *b, const void *context)
{
    (void)context;
    return strcmp(((const struct tg_amount *)a)->name, ((const struct tg_amount *)b)->name);
}

/* Adds what was counted to the sum; both are short lists. */
static int accumulate(struct tg_demand_table *sum, const struct tg_demand_table *one,
                      struct tg_arena *arena, struct tg_error *err)
{
    for (size_t i = 0; i < one->n; i++) {
        struct tg_demand_row *row = NULL;
        int rc = row_of(sum, one->rows[i].name, arena, &row, err);

        if (rc < 0)
            return rc;
        row->total = tg_amount_add(row->total, one->rows[i].total);
    }
    return 0;
}

static int sorted(const struct tg_demand_table *table, struct tg_arena *arena,
                  struct tg_demand *ret, struct tg_error *err)
{
    struct tg_amount *amounts;
    const void **order;
    int rc = tg_core_alloc(arena, table->n, sizeof(*amounts), &amounts, err);

    if (rc == 0)
        rc = tg_core_alloc(arena, table->n, sizeof(*order), &order, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, table->n, sizeof(*ret->items), &ret->items, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < table->n; i++) {
        amounts[i] = (struct tg_amount){.name = table->rows[i].name, .value = table->rows[i].total};
        order[i] = &amounts[i];
    }
    rc = tg_core_sort(order, table->n, compare_amounts, NULL, arena, err);
    for (size_t i = 0; rc == 0 && i < table->n; i++)
        ret->items[i] = *(const struct tg_amount *)order[i];
    ret->n = table->n;
    return rc;
}

int tg_demand_sum(const struct tg_pod *const *pods, size_t n, struct tg_arena *arena,
                  struct tg_demand *ret, struct tg_error *err)
{
    struct tg_demand_table one = {0}, sum = {0};

    for (size_t i = 0; i < n; i++) {
        int rc = tg_demand_count(pods[i], &one, arena, err);

        if (rc < 0)
            return tg_error_wrap(err, "pod %s/%s", tg_or(pods[i]->metadata->namespace_, ""),
                                 tg_or(pods[i]->metadata->name, "?"));
        rc = accumulate(&sum, &one, arena, err);
        if (rc < 0)
            return rc;
    }
    return sorted(&sum, arena, ret, err);
}
