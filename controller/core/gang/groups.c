/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/groups.h"

#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/mem.h"
#include "controller/core/model/sort.h"

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

static void make_heap(const struct tg_groups *groups, struct tg_group *group)
{
    for (uint32_t i = group->n_heap / 2; group->state == TG_GROUP_LOOSE && i-- > 0;)
        sift_down(groups, group, i);
    group->state = TG_GROUP_HEAP;
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
    if (group->state == TG_GROUP_HEAP) {
        group->state = TG_GROUP_LOOSE;
        make_heap(groups, group);
    }
}

static void sift_up(const struct tg_groups *groups, struct tg_group *group, uint32_t at)
{
    uint32_t *heap = group->heap, row = heap[at];

    for (; at > 0 && before(groups, row, heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = row;
}

/* Who comes one after the other by name is a heap by itself. Else nothing is done until somebody
 * asks who is first: of most groups nobody does. */
static void push(struct tg_groups *groups, uint32_t number, uint32_t row)
{
    struct tg_group *group = &groups->items[number];

    if (group->n_heap == group->room) {
        group->room = group->room == 0 ? 4 : 2 * group->room;
        group->heap = tg_xreallocarray(group->heap, group->room, sizeof(uint32_t));
    }
    if (group->n_heap == 0)
        group->state = TG_GROUP_SORTED;
    else if (group->state == TG_GROUP_SORTED && before(groups, row, group->heap[group->n_heap - 1]))
        group->state = TG_GROUP_LOOSE;
    group->heap[group->n_heap++] = row;
    if (group->state == TG_GROUP_HEAP)
        sift_up(groups, group, group->n_heap - 1);
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

    make_heap(groups, group);
    while (groups->of_row[group->heap[0]] != number) {
        group->heap[0] = group->heap[--group->n_heap];
        sift_down(groups, group, 0);
    }
    return group->heap[0];
}

/* Places of a group's heap, as a heap by what stands there: where its walk by name may go next. */
struct front {
    const struct tg_groups *groups;
    const uint32_t *heap; /* of the group */
    uint32_t *items, n;
};

static bool comes_before(const struct front *f, uint32_t a, uint32_t b)
{
    return before(f->groups, f->heap[a], f->heap[b]);
}

static void push_place(struct front *f, uint32_t place)
{
    uint32_t at;

    for (at = f->n++; at > 0 && comes_before(f, place, f->items[(at - 1) / 2]); at = (at - 1) / 2)
        f->items[at] = f->items[(at - 1) / 2];
    f->items[at] = place;
}

static uint32_t pop_place(struct front *f)
{
    uint32_t top = f->items[0], last = f->items[--f->n], at = 0;

    for (uint32_t child = 1; child < f->n; child = 2 * at + 1) {
        if (child + 1 < f->n && comes_before(f, f->items[child + 1], f->items[child]))
            child++;
        if (!comes_before(f, f->items[child], last))
            break;
        f->items[at] = f->items[child];
        at = child;
    }
    f->items[at] = last;
    return top;
}

/* The first n of a group by name, or all if it has fewer. */
static int list_first(struct tg_groups *groups, uint32_t number, size_t n, struct tg_arena *arena,
                      size_t *ret, size_t *ret_n, struct tg_error *err)
{
    struct tg_group *group = &groups->items[number];
    struct front front = {.groups = groups, .heap = group->heap};
    int rc = tg_core_alloc_unset(arena, group->n_heap, sizeof(*front.items), &front.items, err);

    *ret_n = 0;
    make_heap(groups, group);
    if (rc == 0 && group->n_heap > 0)
        push_place(&front, 0);
    while (rc == 0 && front.n > 0 && *ret_n < n) {
        uint32_t place = pop_place(&front), row = group->heap[place];

        for (uint32_t child = 2 * place + 1; child < group->n_heap && child <= 2 * place + 2;
             child++)
            push_place(&front, child);
        /* Some have left, and who came back is there twice, one beside the other. */
        if (groups->of_row[row] == number && (*ret_n == 0 || ret[*ret_n - 1] != row))
            ret[(*ret_n)++] = row;
    }
    return rc;
}

struct rated {
    struct tg_pack_rating rating;
    uint32_t group;
};

static int by_rating(const void *pa, const void *pb, const void *context)
{
    const struct rated *a = pa, *b = pb;

    (void)context;
    return tg_pack_rating_better(&b->rating, &a->rating) -
           tg_pack_rating_better(&a->rating, &b->rating);
}

/* Groups with members, the best first. */
static int rate_groups(const struct tg_groups *groups, struct tg_rank *rank, unsigned type,
                       struct tg_arena *arena, const void ***ret, struct tg_error *err)
{
    struct rated *items;
    int rc = tg_core_alloc_unset(arena, groups->n_live, sizeof(*items), &items, err);

    if (rc == 0)
        rc = tg_core_alloc_unset(arena, groups->n_live, sizeof(**ret), ret, err);
    for (uint32_t i = 0; rc == 0 && i < groups->n_live; i++) {
        items[i].group = groups->live[i];
        tg_rank_rate(rank, type, items[i].group, &items[i].rating);
        (*ret)[i] = &items[i];
    }
    return rc < 0 ? rc : tg_core_sort(*ret, groups->n_live, by_rating, NULL, arena, err);
}

int tg_groups_list_best(struct tg_groups *groups, struct tg_rank *rank, unsigned type, size_t n,
                        struct tg_arena *arena, size_t **ret, size_t *ret_n, struct tg_error *err)
{
    const void **order;
    size_t size = 0;
    int rc = rate_groups(groups, rank, type, arena, &order, err);

    *ret_n = 0;
    for (uint32_t i = 0; i < groups->n_live; i++) {
        size_t members = groups->items[groups->live[i]].members;

        size += members < n ? members : n;
    }
    if (rc == 0)
        rc = tg_core_alloc_unset(arena, size, sizeof(**ret), ret, err);
    for (uint32_t i = 0; rc == 0 && i < groups->n_live; i++) {
        size_t more = 0;

        /* All that are as good as the last one that is needed: the first by name may be there. */
        if (*ret_n >= n && by_rating(order[i - 1], order[i], NULL) != 0)
            break;
        rc = list_first(groups, ((const struct rated *)order[i])->group, n, arena, *ret + *ret_n,
                        &more, err);
        *ret_n += more;
    }
    return rc;
}
