/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/groups.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"

void tg_groups_init(struct tg_groups *groups, const struct tg_fleet *fleet)
{
    *groups = (struct tg_groups){.fleet = fleet};
    tg_groups_grow(groups);
}

void tg_groups_grow(struct tg_groups *groups)
{
    size_t n = groups->fleet == NULL ? 0 : groups->fleet->n_nodes;

    if (n > groups->rows_size) {
        groups->rows_size = n + n / 8 + 16;
        groups->of_row =
            tg_xreallocarray(groups->of_row, groups->rows_size, sizeof(*groups->of_row));
    }
    for (; groups->n_rows < n; groups->n_rows++)
        groups->of_row[groups->n_rows] = TG_NO_GROUP;
}

void tg_groups_done(struct tg_groups *groups)
{
    for (uint32_t i = 0; i < groups->n; i++)
        free(groups->items[i].heap);
    free(groups->items);
    free(groups->of_row);
    free(groups->live);
    *groups = (struct tg_groups){.n = 0};
}

static bool before(const struct tg_groups *groups, uint32_t a, uint32_t b)
{
    return groups->fleet->nodes[a].order < groups->fleet->nodes[b].order;
}

static void sift_down(const struct tg_groups *groups, struct tg_group *group, uint32_t at)
{
    uint32_t *heap = group->heap, row = heap[at];

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child >= group->n_heap)
            break;
        if (child + 1 < group->n_heap && before(groups, heap[child + 1], heap[child]))
            child++;
        if (!before(groups, heap[child], row))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = row;
}

/* Leaves out what is not there any more, and what is there twice. */
static void clean(struct tg_groups *groups, uint32_t number)
{
    struct tg_group *group = &groups->items[number];
    uint32_t n = 0;

    for (uint32_t i = 0; i < group->n_heap; i++) {
        uint32_t row = group->heap[i];

        if (groups->of_row[row] != number)
            continue;
        groups->of_row[row] = TG_NO_GROUP; /* seen */
        group->heap[n++] = row;
    }
    group->n_heap = n;
    for (uint32_t i = 0; i < n; i++)
        groups->of_row[group->heap[i]] = number;
    for (uint32_t i = n / 2; i-- > 0;)
        sift_down(groups, group, i);
}

static void push(struct tg_groups *groups, uint32_t number, uint32_t row)
{
    struct tg_group *group = &groups->items[number];
    uint32_t at;

    if (group->n_heap == group->room) {
        group->room = group->room == 0 ? 4 : 2 * group->room;
        group->heap = tg_xreallocarray(group->heap, group->room, sizeof(uint32_t));
    }
    for (at = group->n_heap++; at > 0 && before(groups, row, group->heap[(at - 1) / 2]);
         at = (at - 1) / 2)
        group->heap[at] = group->heap[(at - 1) / 2];
    group->heap[at] = row;
    if (group->n_heap > 4 * group->members + 64)
        clean(groups, number);
}

static void leave(struct tg_groups *groups, uint32_t number)
{
    struct tg_group *group = &groups->items[number];

    if (--group->members > 0)
        return;
    group->n_heap = 0;
    groups->live[group->live] = groups->live[--groups->n_live];
    groups->items[groups->live[group->live]].live = group->live;
}

static void enter(struct tg_groups *groups, uint32_t number, uint32_t row)
{
    struct tg_group *group;

    if (number >= groups->n) {
        uint32_t n = number + number / 2 + 16;

        groups->items = tg_xreallocarray(groups->items, n, sizeof(*groups->items));
        memset(groups->items + groups->n, 0, (n - groups->n) * sizeof(*groups->items));
        groups->live = tg_xreallocarray(groups->live, n, sizeof(uint32_t));
        groups->n = n;
    }
    group = &groups->items[number];
    if (group->members++ == 0) {
        group->live = groups->n_live;
        groups->live[groups->n_live++] = number;
    }
    push(groups, number, row);
}

void tg_groups_move(struct tg_groups *groups, size_t row, uint32_t group)
{
    uint32_t old = groups->of_row[row];

    if (old == group)
        return;
    groups->of_row[row] = group;
    if (old != TG_NO_GROUP)
        leave(groups, old);
    if (group != TG_NO_GROUP)
        enter(groups, group, (uint32_t)row);
}

size_t tg_groups_first(struct tg_groups *groups, uint32_t number)
{
    struct tg_group *group = &groups->items[number];

    while (groups->of_row[group->heap[0]] != number) {
        group->heap[0] = group->heap[--group->n_heap];
        sift_down(groups, group, 0);
    }
    return group->heap[0];
}
