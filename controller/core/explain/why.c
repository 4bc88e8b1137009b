/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/explain/why.h"

#include <inttypes.h>
#include <string.h>

#include "api/kubernetes/values/quantity.h"
#include "api/runtime/base/str.h"
#include "controller/core/explain/survey.h"
#include "controller/core/explain/text.h"
#include "controller/core/fit/room.h"
#include "controller/core/fit/rule.h"
#include "controller/core/gang/assign.h"
#include "controller/core/model/sort.h"

/* Everything an explanation is made of. */
struct why {
    struct tg_board *board;
    const struct tg_pack *pack;
    const struct tg_domain *domain; /* where it came closest */
    bool whole_fits;                /* without the required level it would fit */
    size_t placed;
    const struct tg_board_member *member; /* the first one without a place */
    const struct tg_board_group *group;
    struct tg_scope scope; /* where its place was looked for */
    struct tg_survey survey;
    struct tg_text text;
};

static const char *node_name(const struct why *w, size_t node)
{
    return w->board->fleet->nodes[node].name;
}

static void add_holders(struct tg_text *text, const struct tg_holders *holders)
{
    for (size_t i = 0; i < holders->n; i++) {
        const char *before = i == 0 ? "" : i + 1 == holders->n && !holders->more ? " and " : ", ";

        tg_text_add(text, "%s%s", before, holders->names[i]);
    }
    if (holders->more)
        tg_text_add(text, " and others");
}

/* "3 not ready, 1 cordoned" */
static void add_failed_rules(struct why *w)
{
    const char *before = "";

    for (size_t i = 0; i < tg_fit_rules_count; i++) {
        if (w->survey.failed[i] == 0)
            continue;
        tg_text_add(&w->text, "%s%zu %s", before, w->survey.failed[i], tg_fit_rules[i].text);
        before = ", ";
    }
}

static const char *say_nodes_unavailable(struct why *w)
{
    const char *fixed = w->group->piece->fixed_node;

    if (fixed != NULL && w->survey.nodes == 0) {
        tg_text_add(&w->text, "node %s, to which its other claims tie it, is gone", fixed);
    } else if (fixed != NULL) {
        tg_text_add(&w->text, "node %s, to which its other claims tie it, takes no pods (", fixed);
        add_failed_rules(w);
        tg_text_add(&w->text, ")");
    } else if (w->survey.nodes == 0) {
        tg_text_add(&w->text, "there are no nodes");
    } else {
        tg_text_add(&w->text, "no node can take the pod: of ");
        tg_text_count(&w->text, w->survey.nodes, "node ", "nodes ");
        add_failed_rules(w);
    }
    return "NodesUnavailable";
}

static const char *say_no_matching_device(struct why *w)
{
    const struct tg_ask *ask = &w->board->book.asks[w->group->needs[w->survey.need_without].ask];

    tg_text_add(&w->text, "no device on ");
    tg_text_count(&w->text, w->survey.nodes_fit, "suitable node matches", "suitable nodes matches");
    tg_text_add(&w->text, " DeviceClass %s", ask->klass->name);
    if (ask->request->selectors.n > 0)
        tg_text_add(&w->text, " with the selector '%.160s'%s",
                    ask->request->selectors.items[0].cel->expression,
                    ask->request->selectors.n > 1 ? " and others" : "");
    return "NoMatchingDevice";
}

static void add_amount(struct tg_text *text, const char *resource, int64_t value)
{
    bool cpu = strcmp(resource, TG_RESOURCE_CPU) == 0,
         memory = strcmp(resource, TG_RESOURCE_MEMORY) == 0;
    struct tg_quantity quantity = tg_quantity_from_int(value, TG_QUANTITY_BINARY_SI);
    char number[TG_QUANTITY_TEXT];

    if (cpu && value % 1000 != 0)
        tg_text_add(text, "%" PRId64 "m", value);
    else if (memory && tg_quantity_format(&quantity, number, sizeof(number)) == 0)
        tg_text_add(text, "%s", number);
    else
        tg_text_add(text, "%" PRId64, cpu ? value / 1000 : value);
}

static const char *say_node_resources(struct why *w)
{
    const struct tg_survey *s = &w->survey;

    if (s->short_resource == NULL) {
        tg_text_add(&w->text, "no node has room for the pod");
        return "InsufficientNodeResources";
    }
    tg_text_count(&w->text, s->nodes_short, "node", "nodes");
    if (w->group->devices > 0)
        tg_text_add(&w->text, s->nodes_short == 1 ? " has the devices but not the room"
                                                  : " have the devices but not the room");
    else
        tg_text_add(&w->text, s->nodes_short == 1 ? " lacks room" : " lack room");
    tg_text_add(&w->text, ": node %s has ", node_name(w, s->short_node));
    add_amount(&w->text, s->short_resource, s->short_left);
    tg_text_add(&w->text, " %s left of the ", s->short_resource);
    add_amount(&w->text, s->short_resource, s->short_need);
    tg_text_add(&w->text, " needed (%s)", tg_room_rule_of(s->short_resource)->reason);
    return "InsufficientNodeResources";
}

static void add_needed(struct why *w)
{
    tg_text_count(&w->text, w->group->devices, "device is", "devices");
    tg_text_add(&w->text, w->group->devices == 1 ? " needed; " : " on one node are needed; ");
}

static void add_best_node(struct why *w)
{
    const struct tg_survey *s = &w->survey;

    tg_text_add(&w->text, "best: node %s with %zu of %zu", node_name(w, s->best_node), s->best_free,
                w->group->devices);
    if (s->best_holders.n > 0) {
        tg_text_add(&w->text, "; the others there are held by ");
        add_holders(&w->text, &s->best_holders);
    }
}

static const char *say_insufficient_devices(struct why *w)
{
    const struct tg_survey *s = &w->survey;

    add_needed(w);
    if (s->free == 0)
        tg_text_add(&w->text, "none is free");
    else
        tg_text_add(&w->text, s->free == 1 ? "%zu is free" : "%zu are free", s->free);
    tg_text_add(&w->text, " of the %zu that match", s->matching);
    if (s->taken > 0)
        tg_text_add(&w->text, ", %zu %s to the other members", s->taken,
                    s->taken == 1 ? "goes" : "go");
    if (s->held > 0) {
        tg_text_add(&w->text, ", %zu %s held by ", s->held, s->held == 1 ? "is" : "are");
        add_holders(&w->text, &s->holders);
    }
    return "InsufficientDevices";
}

static const char *say_fragmented(struct why *w)
{
    const struct tg_survey *s = &w->survey;

    add_needed(w);
    tg_text_add(&w->text, "%zu are free in all, but spread over %zu nodes with at most %zu each (",
                s->free, s->nodes_free, s->best_free);
    add_best_node(w);
    tg_text_add(&w->text, ")");
    return "FragmentedDevices";
}

/* Enough of them on one node, but what one request needs only matches what another one does. */
static const char *say_wrong_mix(struct why *w)
{
    add_needed(w);
    if (w->group->exact_on[w->survey.best_node]) {
        tg_text_add(&w->text,
                    "node %s has %zu that nobody holds, but what they share with others (counters "
                    "of a card, capacity) is used up, or they cannot meet the requests together",
                    node_name(w, w->survey.best_node), w->survey.best_free);
        if (w->survey.best_holders.n > 0) {
            tg_text_add(&w->text, "; devices there are held by ");
            add_holders(&w->text, &w->survey.best_holders);
        }
        return "InsufficientDevices";
    }
    if (w->group->exact) {
        tg_text_add(&w->text,
                    "node %s has %zu free, but they cannot meet the requests together with their "
                    "constraints, alternatives and allocation modes",
                    node_name(w, w->survey.best_node), w->survey.best_free);
        return "InsufficientDevices";
    }
    tg_text_add(&w->text,
                "node %s has %zu free, but they cannot meet the %zu different requests together (",
                node_name(w, w->survey.best_node), w->survey.best_free, w->group->n_needs);
    for (size_t i = 0; i < w->group->n_needs && i < 4; i++) {
        const struct tg_need *need = &w->group->needs[i];

        tg_text_add(&w->text, "%s%zu of DeviceClass %s", i == 0 ? "" : ", ", need->count,
                    w->board->book.asks[need->ask].klass->name);
    }
    tg_text_add(&w->text, w->group->n_needs > 4 ? ", ...)" : ")");
    return "InsufficientDevices";
}

static const char *say_member(struct why *w)
{
    const struct tg_survey *s = &w->survey;

    if (s->nodes_fit == 0)
        return say_nodes_unavailable(w);
    if (w->group->devices > 0 && s->need_without != TG_NO_INDEX)
        return say_no_matching_device(w);
    if (w->group->devices == 0 || s->nodes_short > 0)
        return say_node_resources(w);
    if (s->free < w->group->devices)
        return say_insufficient_devices(w);
    return s->best_free < w->group->devices ? say_fragmented(w) : say_wrong_mix(w);
}

/* What was not counted and why: the user may be able to change it. */
static void add_left_out(struct why *w)
{
    const struct tg_survey *s = &w->survey;
    const struct tg_fleet *fleet = w->board->fleet;
    struct tg_fleet_bad_pool bad;

    if (s->nodes_fit > 0 && s->nodes_fit < s->nodes && w->group->piece->fixed_node == NULL) {
        tg_text_add(&w->text, "; left out: nodes ");
        add_failed_rules(w);
    }
    if (s->tainted > 0) {
        tg_text_add(&w->text, "; ");
        tg_text_count(&w->text, s->tainted, "matching device is", "matching devices are");
        tg_text_add(&w->text, " tainted or unhealthy");
    }
    if (s->unsupported > 0) {
        tg_text_add(&w->text, "; ");
        tg_text_count(&w->text, s->unsupported, "matching device is", "matching devices are");
        tg_text_add(&w->text, " never allocated (%s)", s->unsupported_why);
    }
    if (s->contested > 0) {
        tg_text_add(&w->text, "; ");
        tg_text_count(&w->text, s->contested, "matching device is", "matching devices are");
        tg_text_add(&w->text,
                    " given to nobody, since DeviceClass %s, which is not managed, matches too",
                    s->contested_by);
    }
    if (tg_fleet_bad_pool(fleet, &bad)) {
        tg_text_add(&w->text, "; ");
        tg_text_count(&w->text, fleet->n_bad_pools, "pool is", "pools are");
        tg_text_add(&w->text, " unusable (pool %s of %s: %s)", bad.pool, bad.driver, bad.why);
    }
}

static const char *say_no_label(struct why *w)
{
    const struct tg_level *level = w->board->request->pack_required;

    tg_text_add(&w->text,
                "all members have to be in one domain of level %s, but no node has the label %s",
                level->name, tg_or(level->node_label, TG_LEVEL_HOST));
    return "NoDomain";
}

/* How far the gang got, and in which domain. */
static void add_progress(struct why *w)
{
    const struct tg_level *level = w->board->request->pack_required;
    size_t n = w->board->n_members;

    if (level != NULL && w->whole_fits)
        tg_text_add(&w->text, "the fleet as a whole has room, but no single domain of level %s; ",
                    level->name);
    if (n > 1)
        tg_text_add(&w->text, "%zu of %zu members have a place", w->placed, n);
    if (level != NULL)
        tg_text_add(&w->text, "%s in %s %s, the best of %zu", n > 1 ? "" : "it comes closest",
                    level->name, w->domain->name, w->pack->required.n);
    if (n > 1)
        tg_text_add(&w->text, "; for the next one, ");
    else if (level != NULL)
        tg_text_add(&w->text, "; ");
}

/* The domain in which most members have a place; with as many, the one with the most free devices.
 */
static int find_closest(struct why *w, struct tg_error *err)
{
    size_t most = 0;

    for (size_t i = 0; i < w->pack->required.n; i++) {
        const struct tg_domain *domain = &w->pack->required.items[i];
        size_t placed = 0;
        int rc = tg_search_best_fit(w->board, &domain->scope, &placed, err);

        if (rc < 0)
            return rc;
        if (w->domain == NULL || placed > most ||
            (placed == most && domain->free > w->domain->free)) {
            w->domain = domain;
            most = placed;
        }
    }
    return 0;
}

/* The best attempt is put on the board again, and the first member that it leaves out is looked at.
 */
static int look_at_member(struct why *w, struct tg_error *err)
{
    struct tg_board *board = w->board;
    size_t first = 0, *node;
    int rc = tg_search_best_fit(board, &w->domain->scope, &w->placed, err);

    if (rc == 0)
        rc = tg_core_alloc(board->arena, 1, sizeof(*node), &node, err);
    if (rc < 0)
        return rc;
    while (first + 1 < board->n_members && board->members[first].node != TG_NO_INDEX)
        first++;
    w->member = &board->members[first];
    w->group = &board->groups[w->member->group];
    w->scope = w->domain->scope;
    if (w->group->piece->fixed_node != NULL) {
        *node = tg_fleet_find_node(board->fleet, w->group->piece->fixed_node);
        w->scope = (struct tg_scope){.nodes = node, .n = *node == TG_NO_INDEX ? 0 : 1};
    }
    return 0;
}

static int survey(struct why *w, struct tg_error *err)
{
    struct tg_board *board = w->board;
    struct tg_assignment *assigned;
    bool *taken;
    int rc = tg_core_alloc(board->arena, board->n_members, sizeof(*assigned), &assigned, err);

    if (rc == 0)
        rc = tg_core_alloc(board->arena, board->fleet->device_rows, sizeof(*taken), &taken, err);
    if (rc == 0)
        rc = tg_assign_devices(board, assigned, err);
    for (size_t i = 0; rc == 0 && i < board->n_members; i++) {
        for (size_t k = 0; k < assigned[i].n; k++)
            taken[assigned[i].items[k].device] = true;
    }
    return rc < 0 ? rc : tg_survey_take(board, w->member->group, &w->scope, taken, &w->survey, err);
}

static const char *compose(struct why *w)
{
    const char *reason;

    if (w->board->gave_up) {
        tg_text_add(&w->text,
                    "gave up after %zu steps without an answer: the members ask for different "
                    "things in too "
                    "many combinations; closest so far: ",
                    w->board->max_steps);
    }
    add_progress(w);
    reason = say_member(w);
    add_left_out(w);
    if (w->board->gave_up)
        return "GaveUp";
    return w->board->request->pack_required != NULL && w->whole_fits ? "NoDomain" : reason;
}

static int finish(struct why *w, const char *reason, struct tg_no_place *ret, struct tg_error *err)
{
    *ret = (struct tg_no_place){.reason = reason,
                                .text = tg_arena_strdup(w->board->arena, w->text.data),
                                .members_short = w->board->n_members - w->placed,
                                .devices_per_member = w->member == NULL ? 0 : w->member->devices};
    if (ret->text == NULL)
        return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                            "the decision needs more memory than its budget");
    return 0;
}

int tg_explain(struct tg_board *board, const struct tg_pack *pack, struct tg_no_place *ret,
               struct tg_error *err)
{
    struct why *w;
    int rc = tg_core_alloc(board->arena, 1, sizeof(*w), &w, err);

    if (rc < 0)
        return rc;
    w->board = board;
    w->pack = pack;
    tg_text_init(&w->text);
    if (pack->required.n == 0) {
        w->member = board->members;
        return finish(w, say_no_label(w), ret, err);
    }
    if (board->request->pack_required != NULL)
        rc = tg_search_all(board, &pack->everything, &w->whole_fits, err);
    if (rc == 0)
        rc = find_closest(w, err);
    if (rc == 0)
        rc = look_at_member(w, err);
    if (rc == 0)
        rc = survey(w, err);
    return rc < 0 ? rc : finish(w, compose(w), ret, err);
}
