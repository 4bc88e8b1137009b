/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/gang/match.h"

#include "controller/core/gang/board.h"
#include "controller/core/model/sort.h"

int tg_match_init(struct tg_match *match, const struct tg_ask_book *book, size_t max_devices,
                  size_t max_needs, struct tg_arena *arena, struct tg_error *err)
{
    int rc = 0;

    *match = (struct tg_match){.book = book, .max_devices = max_devices, .max_needs = max_needs};
    rc = tg_core_alloc(arena, max_devices, sizeof(*match->owner), &match->owner, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, max_devices, sizeof(*match->settled), &match->settled, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, max_needs, sizeof(*match->came_from), &match->came_from, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, max_needs, sizeof(*match->came_over), &match->came_over, err);
    if (rc == 0)
        rc = tg_core_alloc(arena, max_needs, sizeof(*match->seen), &match->seen, err);
    return rc < 0 ? rc : tg_core_alloc(arena, max_needs, sizeof(*match->queue), &match->queue, err);
}

static void begin(struct tg_match *match, const struct tg_fleet_node *node)
{
    match->node = node;
    for (size_t d = 0; d < node->n_devices; d++) {
        match->owner[d] = TG_NO_INDEX;
        match->settled[d] = false;
    }
}

static int accepts(const struct tg_match *match, size_t ask, size_t d, bool *ret,
                   struct tg_error *err)
{
    size_t device = match->node->devices[d];
    enum tg_ask_answer answer = TG_ASK_NO;
    int rc = 0;

    if (tg_board_usable(&match->book->fleet->devices[device]))
        rc = tg_ask_answer(match->book, ask, device, &answer, err);
    *ret = answer == TG_ASK_YES;
    return rc;
}

/* The device d is free for `need`: everyone on the way moves up by one. */
static void shift(struct tg_match *match, size_t d, size_t need, size_t start)
{
    match->owner[d] = need;
    while (need != start) {
        match->owner[match->came_over[need]] = match->came_from[need];
        need = match->came_from[need];
    }
}

/* Looks at the devices for one need of the queue: a free one ends the search, a taken one puts its
 * owner into the queue. */
static int visit(struct tg_match *match, const struct tg_need *needs, size_t need, size_t *tail,
                 size_t *ret_free, struct tg_error *err)
{
    for (size_t d = 0; d < match->node->n_devices; d++) {
        size_t owner = match->owner[d];
        bool accepted = false;
        int rc = 0;

        if (match->settled[d] || (owner != TG_NO_INDEX && match->seen[owner]))
            continue;
        rc = accepts(match, needs[need].ask, d, &accepted, err);
        if (rc < 0)
            return rc;
        if (!accepted)
            continue;
        if (owner == TG_NO_INDEX) {
            *ret_free = d;
            return 0;
        }
        match->seen[owner] = true;
        match->came_from[owner] = need;
        match->came_over[owner] = d;
        match->queue[(*tail)++] = owner;
    }
    return 0;
}

/* One more device for needs[start], moving others if need be. */
static int augment(struct tg_match *match, const struct tg_need *needs, size_t n, size_t start,
                   bool *ret, struct tg_error *err)
{
    size_t head = 0, tail = 0;

    for (size_t i = 0; i < n; i++)
        match->seen[i] = false;
    match->seen[start] = true;
    match->queue[tail++] = start;
    *ret = false;
    while (head < tail && !*ret) {
        size_t need = match->queue[head++], free_device = TG_NO_INDEX;
        int rc = visit(match, needs, need, &tail, &free_device, err);

        if (rc < 0)
            return rc;
        if (free_device != TG_NO_INDEX) {
            shift(match, free_device, need, start);
            *ret = true;
        }
    }
    return 0;
}

int tg_match_feasible(struct tg_match *match, const struct tg_fleet_node *node,
                      const struct tg_need *needs, size_t n, bool *ret, struct tg_error *err)
{
    size_t total = 0;

    *ret = true;
    for (size_t i = 0; i < n; i++) {
        /* Also keeps a huge count from being tried one by one. */
        if (needs[i].count > node->n_devices || (total += needs[i].count) > node->n_devices) {
            *ret = false;
            return 0;
        }
    }
    begin(match, node);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < needs[i].count; k++) {
            int rc = augment(match, needs, n, i, ret, err);

            if (rc < 0 || !*ret)
                return rc;
        }
    }
    return 0;
}

static size_t device_of(const struct tg_match *match, size_t need)
{
    size_t d = 0;

    while (match->owner[d] != need)
        d++;
    return d;
}

/* Gives d to need i if everyone else can still be served; else leaves all as it was. */
static int try_device(struct tg_match *match, const struct tg_need *needs, size_t n, size_t i,
                      size_t d, bool *ret, struct tg_error *err)
{
    size_t mine = device_of(match, i), other = match->owner[d];
    int rc = accepts(match, needs[i].ask, d, ret, err);

    if (rc < 0 || !*ret || d == mine)
        return rc;
    match->owner[mine] = TG_NO_INDEX;
    match->owner[d] = i;
    if (other == TG_NO_INDEX)
        return 0;
    match->settled[d] = true;
    rc = augment(match, needs, n, other, ret, err);
    match->settled[d] = false;
    if (rc == 0 && !*ret) {
        match->owner[mine] = i;
        match->owner[d] = other;
    }
    return rc;
}

int tg_match_lowest(struct tg_match *match, const struct tg_fleet_node *node,
                    const struct tg_need *needs, size_t n, size_t *devices, struct tg_error *err)
{
    bool ok = false;
    int rc = tg_match_feasible(match, node, needs, n, &ok, err);

    if (rc == 0 && !ok)
        return tg_error_set(err, TG_INTERNAL, "node %s: devices of a placement cannot be matched",
                            node->name);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        ok = false;
        for (size_t d = 0; rc == 0 && !ok && d < node->n_devices; d++) {
            if (match->settled[d])
                continue;
            rc = try_device(match, needs, n, i, d, &ok, err);
            if (ok) {
                match->settled[d] = true;
                devices[i] = node->devices[d];
            }
        }
    }
    return rc;
}
