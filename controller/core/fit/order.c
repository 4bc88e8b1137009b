/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/fit/order.h"

#include <string.h>

#include "controller/core/fit/blobs.h"
#include "controller/core/model/sort.h"

/* Parts with more devices are not looked at for harm, which takes time by the
 * square. */
#define HARM_MAX_PART 256

struct sorter {
    const struct tg_fit_state *state;
    struct tg_fit_order *order;
    const struct tg_view *view;
    struct tg_arena *arena;
    bool *wanted;   /* one a device */
    bool *involved; /* one a want */
    size_t *root;   /* one a counter: union-find */
    size_t *rank;   /* one a counter: its place among those of its part */
    size_t *harm;   /* one an orbit */
    size_t *first;  /* one an orbit: its first device */
    size_t *sign;   /* one a device: number of its signature */
    struct tg_fit_bytes bytes;
    struct tg_error *err;
};

static size_t find_root(size_t *root, size_t counter)
{
    while (root[counter] != counter) {
        root[counter] = root[root[counter]];
        counter = root[counter];
    }
    return counter;
}

static void mark_wanted(struct sorter *s)
{
    struct tg_fit_table *table = s->state->table;

    for (size_t c = 0; c < s->state->n_claims; c++) {
        const struct tg_fit_claim *claim = &s->state->claims[c];

        for (size_t r = 0; r < claim->n_requests; r++) {
            for (size_t k = 0; k < claim->requests[r].n_choices; k++)
                s->involved[claim->requests[r].choices[k].want] = true;
        }
    }
    for (size_t w = 0; w < table->book->n_wants; w++) {
        for (size_t d = 0; s->involved[w] && d < s->view->n_devices; d++)
            s->wanted[d] = s->wanted[d] || tg_fit_table_cell(table, w, d) != TG_CELL_NO;
    }
}

/* Counters that one wanted device consumes belong together. Parts are numbered:
 * counters first. */
static void join_counters(struct sorter *s)
{
    const struct tg_view *view = s->view;
    size_t *seen = s->order->taken; /* as scratch: members of a part so far */

    for (size_t i = 0; i < view->n_counters; i++)
        s->root[i] = i;
    for (size_t d = 0; d < view->n_devices; d++) {
        const struct tg_view_device *device = &view->devices[d];

        for (size_t i = 1; s->wanted[d] && i < device->n_consumes; i++) {
            size_t a = find_root(s->root, device->consumes[0].counter);
            size_t b = find_root(s->root, device->consumes[i].counter);

            /* The smaller one stays: the result does not depend on the order. */
            s->root[a < b ? b : a] = a < b ? a : b;
        }
        s->order->part[d] = view->n_counters + d;
    }
    for (size_t i = 0; i < view->n_counters; i++)
        s->rank[i] = seen[find_root(s->root, i)]++;
    memset(seen, 0, (view->n_counters + view->n_devices) * sizeof(*seen));
    for (size_t d = 0; d < view->n_devices; d++) {
        if (view->devices[d].n_consumes > 0)
            s->order->part[d] = find_root(s->root, view->devices[d].consumes[0].counter);
    }
}

static void put_capacity(struct tg_fit_bytes *b, const struct tg_view_device *d)
{
    for (size_t i = 0; i < d->n_capacity; i++) {
        const struct tg_view_capacity *c = &d->capacity[i];

        tg_fit_bytes_put(b, c->name, strlen(c->name) + 1);
        tg_fit_bytes_amount(b, c->value);
        tg_fit_bytes_amount(b, c->used);
        tg_fit_bytes_number(b, (size_t)c->policy * 8 + c->has_default * 4U + c->has_max * 2U +
                                   c->has_step);
        tg_fit_bytes_amount(b, c->default_);
        tg_fit_bytes_amount(b, c->min);
        tg_fit_bytes_amount(b, c->max);
        tg_fit_bytes_amount(b, c->step);
        tg_fit_bytes_number(b, c->n_values);
        for (size_t k = 0; k < c->n_values; k++)
            tg_fit_bytes_amount(b, c->values[k]);
    }
}

static void put_values(struct tg_fit_bytes *b, const struct tg_fit_values *values)
{
    tg_fit_bytes_number(b, values->n * 2 + values->has);
    tg_fit_bytes_put(b, values->ids, values->n * sizeof(*values->ids));
}

/* Everything of a device that the search can see, counters by their place in
 * the part. */
static void put_device(struct sorter *s, size_t device)
{
    const struct tg_view_device *d = &s->view->devices[device];
    const struct tg_fit_state *state = s->state;
    bool shareable = tg_fit_shareable(s->view, device);

    s->bytes.n = 0;
    for (size_t w = 0; w < state->table->book->n_wants; w++) {
        unsigned char cell =
            s->involved[w] ? (unsigned char)tg_fit_table_cell(state->table, w, device) : 0;

        tg_fit_bytes_put(&s->bytes, &cell, 1);
    }
    for (size_t c = 0; c < state->n_claims; c++) {
        for (size_t k = 0; k < state->claims[c].n_constraints; k++)
            put_values(&s->bytes, &state->tracks[c][k].domain->devices[device]);
    }
    tg_fit_bytes_number(&s->bytes, shareable * 2U + tg_fit_in_use_shared(s->view, device));
    if (shareable)
        put_capacity(&s->bytes, d);
    for (size_t i = 0; i < d->n_consumes; i++) {
        tg_fit_bytes_number(&s->bytes, s->rank[d->consumes[i].counter]);
        tg_fit_bytes_amount(&s->bytes, d->consumes[i].amount);
    }
}

static int sign_devices(struct sorter *s)
{
    struct tg_fit_blobs blobs;
    int rc = tg_fit_blobs_init(&blobs, s->view->n_devices, s->arena, s->err);

    for (size_t d = 0; rc == 0 && d < s->view->n_devices; d++) {
        if (!s->wanted[d])
            continue;
        put_device(s, d);
        rc = s->bytes.rc < 0
                 ? s->bytes.rc
                 : tg_fit_blobs_add(&blobs, s->bytes.data, s->bytes.n, &s->sign[d], s->err);
    }
    return rc;
}

static void list_parts(struct sorter *s)
{
    struct tg_fit_order *order = s->order;

    for (size_t p = 0; p < s->view->n_counters + s->view->n_devices; p++)
        order->head[p] = TG_NO_DEVICE;
    for (size_t d = s->view->n_devices; d > 0; d--) {
        if (!s->wanted[d - 1])
            continue;
        order->next[d - 1] = order->head[order->part[d - 1]];
        order->head[order->part[d - 1]] = d - 1;
    }
}

static void put_part(struct sorter *s, size_t part)
{
    s->bytes.n = 0;
    for (size_t d = s->order->head[part]; d != TG_NO_DEVICE; d = s->order->next[d])
        tg_fit_bytes_number(&s->bytes, s->sign[d]);
    if (part >= s->view->n_counters)
        return;
    for (size_t i = part; i < s->view->n_counters; i++) {
        if (find_root(s->root, i) == part)
            tg_fit_bytes_amount(&s->bytes, s->view->counters[i].left);
    }
}

/* orbit[d]: the class of its part and its own signature. */
static int find_orbits(struct sorter *s, size_t *ret_n)
{
    size_t n_parts = s->view->n_counters + s->view->n_devices;
    struct tg_fit_order *order = s->order;
    struct tg_fit_blobs parts, orbits;
    int rc = tg_fit_blobs_init(&parts, s->view->n_devices, s->arena, s->err);

    if (rc == 0)
        rc = tg_fit_blobs_init(&orbits, s->view->n_devices, s->arena, s->err);
    for (size_t p = 0; rc == 0 && p < n_parts; p++) {
        if (order->head[p] == TG_NO_DEVICE)
            continue;
        put_part(s, p);
        rc = s->bytes.rc < 0
                 ? s->bytes.rc
                 : tg_fit_blobs_add(&parts, s->bytes.data, s->bytes.n, &order->class[p], s -> err);
        for (size_t d = order->head[p]; rc == 0 && d != TG_NO_DEVICE; d = order->next[d]) {
            size_t pair[2] = {order->class[p], s -> sign[d]};

            rc = tg_fit_blobs_add(&orbits, pair, sizeof(pair), &order->orbit[d], s->err);
        }
    }
    *ret_n = orbits.n;
    return rc;
}

/* Does taking a leave too little for b, which there was enough for? */
static bool hinders(const struct tg_view *view, const struct tg_view_device *a,
                    const struct tg_view_device *b)
{
    for (size_t i = 0, k = 0; i < a->n_consumes && k < b->n_consumes;) {
        if (a->consumes[i].counter < b->consumes[k].counter) {
            i++;
        } else if (a->consumes[i].counter > b->consumes[k].counter) {
            k++;
        } else {
            __int128 left = view->counters[a->consumes[i].counter].left;

            if (left >= b->consumes[k].amount &&
                left - a->consumes[i].amount < b->consumes[k].amount)
                return true;
            i++;
            k++;
        }
    }
    return false;
}

static size_t harm_of(const struct sorter *s, size_t device)
{
    size_t harm = 0, n = 0;

    if (s->view->devices[device].n_consumes == 0)
        return 0;
    for (size_t d = s->order->head[s->order->part[device]]; d != TG_NO_DEVICE;
         d = s->order->next[d]) {
        harm += d != device && hinders(s->view, &s->view->devices[device], &s->view->devices[d]);
        if (++n > HARM_MAX_PART)
            return 0;
    }
    return harm;
}

static int weigh_orbits(struct sorter *s, size_t n)
{
    int rc = tg_core_alloc(s->arena, n, sizeof(*s->order->harm), &s->order->harm, s->err);

    if (rc == 0)
        rc = tg_core_alloc(s->arena, n, sizeof(*s->first), &s->first, s->err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        s->first[i] = TG_NO_DEVICE;
    for (size_t d = 0; rc == 0 && d < s->view->n_devices; d++) {
        size_t orbit = s->order->orbit[d];

        if (!s->wanted[d] || s->first[orbit] != TG_NO_DEVICE)
            continue;
        s->first[orbit] = d;
        s->order->harm[orbit] = harm_of(s, d);
    }
    return rc;
}

static int compare_numbers(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int compare_devices(const void *a, const void *b, const void *context)
{
    const struct sorter *s = context;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    size_t o = s->order->orbit[x], p = s->order->orbit[y];
    int order = compare_numbers(s->order->harm[o], s->order->harm[p]);

    if (order == 0)
        order = compare_numbers(s->first[o], s->first[p]);
    if (order == 0)
        order = compare_numbers(s->order->part[x], s->order->part[y]);
    return order != 0 ? order : compare_numbers(x, y);
}

static int sort_devices(struct sorter *s, bool as_given)
{
    size_t *numbers, n = 0;
    const void **sorted;
    int rc = tg_core_alloc(s->arena, s->view->n_devices, sizeof(*numbers), &numbers, s->err);

    if (rc == 0)
        rc = tg_core_alloc(s->arena, s->view->n_devices, sizeof(*sorted), &sorted, s->err);
    for (size_t d = 0; rc == 0 && d < s->view->n_devices; d++) {
        numbers[n] = d;
        sorted[n] = &numbers[n];
        n += s->wanted[d];
    }
    if (rc == 0 && !as_given)
        rc = tg_core_sort(sorted, n, compare_devices, s, s->arena, s->err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        s->order->devices[i] = *(const size_t *)sorted[i];
    s->order->n = n;
    return rc;
}

static int allocate(struct sorter *s)
{
    size_t n = s->view->n_devices, n_counters = s->view->n_counters;
    struct {
        void *at;
        size_t n, size;
    } const rooms[] = {
        {&s->order->devices, n, sizeof(size_t)},
        {&s->order->orbit, n, sizeof(size_t)},
        {&s->order->part, n, sizeof(size_t)},
        {&s->order->taken, n + n_counters, sizeof(size_t)},
        {&s->order->class, n + n_counters, sizeof(size_t)},
        {&s->order->head, n + n_counters, sizeof(size_t)},
        {&s->order->next, n, sizeof(size_t)},
        {&s->wanted, n, sizeof(bool)},
        {&s->involved, s->state->table->book->n_wants, sizeof(bool)},
        {&s->root, n_counters, sizeof(size_t)},
        {&s->rank, n_counters, sizeof(size_t)},
        {&s->sign, n, sizeof(size_t)},
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(rooms) / sizeof(rooms[0]); i++)
        rc = tg_core_alloc(s->arena, rooms[i].n, rooms[i].size, rooms[i].at, s->err);
    return rc;
}

int tg_fit_order_init(struct tg_fit_order *order, const struct tg_fit_state *state, bool as_given,
                      struct tg_error *err)
{
    struct sorter s = {.state = state,
                       .order = order,
                       .view = state->table->view,
                       .arena = state->table->arena,
                       .err = err};
    size_t n = 0;
    int rc = allocate(&s);

    if (rc < 0)
        return rc;
    s.bytes = (struct tg_fit_bytes){.arena = s.arena, .err = err};
    mark_wanted(&s);
    join_counters(&s);
    rc = sign_devices(&s);
    list_parts(&s);
    if (rc == 0)
        rc = find_orbits(&s, &n);
    if (rc == 0)
        rc = weigh_orbits(&s, n);
    return rc < 0 ? rc : sort_devices(&s, as_given);
}
