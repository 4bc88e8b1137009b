/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/explain/survey.h"

#include <string.h>

#include "controller/core/fit/room.h"
#include "controller/core/fit/rule.h"
#include "controller/core/model/sort.h"

struct surveyor {
    struct tg_board *board;
    const struct tg_board_group *group;
    size_t group_index;
    const bool *taken_by_us;
    bool *fits;      /* one a node: in scope and through the rules */
    size_t *free_on; /* one a node */
    bool *matched;   /* one a need */
    struct tg_survey *out;
};

static void note_holder(struct tg_holders *holders, const char *name)
{
    for (size_t i = 0; i < holders->n; i++) {
        if (strcmp(holders->names[i], name) == 0)
            return;
    }
    if (holders->n == TG_SURVEY_HOLDERS)
        holders->more = true;
    else
        holders->names[holders->n++] = name;
}

static void survey_nodes(struct surveyor *s, const struct tg_scope *scope)
{
    s->out->nodes = scope->n;
    for (size_t i = 0; i < scope->n; i++) {
        size_t failed = s->group->failed[scope->nodes[i]];

        if (failed == tg_fit_rules_count) {
            s->fits[scope->nodes[i]] = true;
            s->out->nodes_fit++;
        } else {
            s->out->failed[failed > tg_fit_rules_count ? tg_fit_rules_count : failed]++;
        }
    }
}

/* Does some request select the device? Selectors that fail on it do not: such an error was told
 * where it mattered. */
static enum tg_ask_answer answer(struct surveyor *s, size_t device)
{
    enum tg_ask_answer best = TG_ASK_NO;

    for (size_t i = 0; i < s->group->n_needs; i++) {
        enum tg_ask_answer one = TG_ASK_NO;

        if (tg_ask_answer(&s->board->book, s->group->needs[i].ask, device, &one, NULL) < 0 ||
            one == TG_ASK_NO)
            continue;
        s->matched[i] = s->matched[i] || s->board->fleet->devices[device].unsupported == NULL;
        if (best != TG_ASK_YES)
            best = one;
    }
    return best;
}

static void note_free(struct surveyor *s, const struct tg_fleet_device *device)
{
    if (!device->wide) {
        s->free_on[device->node]++;
        return;
    }
    for (size_t i = 0; i < s->board->fleet->n_nodes; i++)
        s->free_on[i] += s->fits[i] ? 1 : 0;
}

/* Is there a node that fits and may have it? */
static bool counts_here(const struct surveyor *s, const struct tg_fleet_device *device)
{
    if (device->wide)
        return s->out->nodes_fit > 0;
    return device->node != TG_NO_INDEX && s->fits[device->node];
}

static void survey_device(struct surveyor *s, size_t index)
{
    const struct tg_fleet_device *device = &s->board->fleet->devices[index];
    bool counts = counts_here(s, device);
    enum tg_ask_answer a = TG_ASK_NO;

    if (!counts && (device->unsupported == NULL || device->node != TG_NO_INDEX))
        return;
    a = answer(s, index);
    if (a == TG_ASK_NO)
        return;
    if (device->unsupported != NULL) {
        s->out->unsupported++;
        s->out->unsupported_why =
            s->out->unsupported_why == NULL ? device->unsupported : s->out->unsupported_why;
        return;
    }
    if (device->contested != NULL) {
        if (s->out->contested++ == 0)
            s->out->contested_by = device->contested;
        return;
    }
    s->out->matching++;
    if (device->holder != NULL && !s->group->admin) {
        s->out->held++;
        note_holder(&s->out->holders, device->holder);
    } else if (a == TG_ASK_TAINTED) {
        s->out->tainted++;
    } else if (s->taken_by_us[index] && !device->shared) {
        s->out->taken++;
    } else {
        s->out->free++;
        note_free(s, device);
    }
}

static void find_best(struct surveyor *s)
{
    const struct tg_fleet *fleet = s->board->fleet;
    struct tg_fleet_walk walk = {.next = 0};
    size_t i;

    while ((i = tg_fleet_next_node(fleet, &walk)) != TG_NO_INDEX) {
        s->out->nodes_free += s->free_on[i] > 0 ? 1 : 0;
        if (s->free_on[i] > s->out->best_free) {
            s->out->best_free = s->free_on[i];
            s->out->best_node = i;
        }
    }
    if (s->out->best_node == TG_NO_INDEX)
        return;
    for (size_t d = 0; d < fleet->nodes[s->out->best_node].n_devices; d++) {
        size_t index = fleet->nodes[s->out->best_node].devices[d];

        /* What is made of the same counters may be in the way, whatever it is. */
        if (fleet->devices[index].holder != NULL &&
            (fleet->devices[index].exact || answer(s, index) != TG_ASK_NO))
            note_holder(&s->out->best_holders, fleet->devices[index].holder);
    }
}

static int survey_room(struct surveyor *s, const struct tg_scope *scope, struct tg_error *err)
{
    struct tg_board *board = s->board;

    for (size_t i = 0; i < scope->n; i++) {
        size_t node = scope->nodes[i], n_taken = 0;
        const char *resource = NULL;
        bool enough = false;
        int rc = 0;

        if (!s->fits[node])
            continue;
        rc = tg_board_devices_fit(board, node, s->group_index, 1, &enough, err);
        if (rc < 0)
            return rc;
        for (size_t m = board->head[node]; m != TG_NO_INDEX; m = board->members[m].next)
            board->taken[n_taken++] = &board->groups[board->members[m].group].demand;
        if (!enough || tg_room_copies(&board->fleet->nodes[node], board->taken, n_taken,
                                      &s->group->demand, 1, &resource) > 0)
            continue;
        if (s->out->nodes_short++ == 0) {
            s->out->short_node = node;
            s->out->short_resource = resource;
        }
    }
    return 0;
}

static int64_t amount_of(const struct tg_demand *demand, const char *resource)
{
    for (size_t i = 0; i < demand->n; i++) {
        if (strcmp(demand->items[i].name, resource) == 0)
            return demand->items[i].value;
    }
    return 0;
}

/* The numbers for the first node that lacks room. */
static void measure_short(struct surveyor *s)
{
    struct tg_board *board = s->board;
    struct tg_survey *out = s->out;

    if (out->short_resource == NULL)
        return;
    out->short_need = amount_of(&s->group->demand, out->short_resource);
    out->short_left =
        tg_fleet_room_left(&board->fleet->nodes[out->short_node], out->short_resource);
    for (size_t m = board->head[out->short_node]; m != TG_NO_INDEX; m = board->members[m].next) {
        int64_t amount =
            amount_of(&board->groups[board->members[m].group].demand, out->short_resource);

        out->short_left = out->short_left > amount ? out->short_left - amount : 0;
    }
    out->short_left = out->short_left < 0 ? 0 : out->short_left;
}

int tg_survey_take(struct tg_board *board, size_t group, const struct tg_scope *scope,
                   const bool *taken_by_us, struct tg_survey *ret, struct tg_error *err)
{
    struct surveyor s = {.board = board,
                         .group = &board->groups[group],
                         .group_index = group,
                         .taken_by_us = taken_by_us,
                         .out = ret};
    struct tg_fleet_walk walk = {.next = 0};
    bool any = false;
    size_t device;
    int rc = 0;

    *ret = (struct tg_survey){
        .best_node = TG_NO_INDEX, .short_node = TG_NO_INDEX, .need_without = TG_NO_INDEX};
    rc = tg_core_alloc(board->arena, tg_fit_rules_count + 1, sizeof(*ret->failed), &ret->failed,
                       err);
    if (rc == 0)
        rc = tg_core_alloc(board->arena, board->fleet->n_nodes, sizeof(*s.fits), &s.fits, err);
    if (rc == 0)
        rc =
            tg_core_alloc(board->arena, board->fleet->n_nodes, sizeof(*s.free_on), &s.free_on, err);
    if (rc == 0)
        rc = tg_core_alloc(board->arena, s.group->n_needs, sizeof(*s.matched), &s.matched, err);
    if (rc < 0)
        return rc;
    survey_nodes(&s, scope);
    while ((device = tg_fleet_next_device(board->fleet, &walk)) != TG_NO_INDEX)
        survey_device(&s, device);
    find_best(&s);
    for (size_t i = s.group->n_needs; i > 0; i--) {
        if (!s.matched[i - 1])
            ret->need_without = i - 1;
        any = any || s.matched[i - 1];
    }
    /* Of alternatives one is enough. */
    if (s.group->exact && any)
        ret->need_without = TG_NO_INDEX;
    rc = survey_room(&s, scope, err);
    measure_short(&s);
    return rc;
}
