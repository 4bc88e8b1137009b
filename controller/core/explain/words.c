/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/explain/words.h"

#include <inttypes.h>
#include <string.h>

#include "api/kubernetes/values/quantity.h"
#include "api/kubernetes/values/rfc3339.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/str.h"
#include "controller/core/explain/phrase.h"
#include "controller/core/fit/room.h"
#include "controller/core/model/demand.h"

/* What a sentence names at most. */
#define SENTENCE_HOLDERS 3
#define SENTENCE_HELPS 3
#define SENTENCE_MISSES 2
#define SENTENCE_LIMITS 2

static const char *is_or_are(size_t n)
{
    return n == 1 ? "is" : "are";
}

void tg_words_amount(struct tg_text *text, const char *resource, int64_t value)
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

enum which { ALL_HOLDERS, COUNTED_HOLDERS, BEST_HOLDERS };

static bool is_of(const struct tg_explained_holder *holder, enum which which)
{
    return which == ALL_HOLDERS || (which == BEST_HOLDERS ? holder->on_best_node : holder->counted);
}

static void add_holder(struct tg_text *text, const struct tg_explained_holder *holder)
{
    char until[32];

    tg_text_add(text, "%s", holder->name);
    if (holder->until == 0)
        return;
    tg_time_format_seconds(holder->until / TG_SECOND, until);
    tg_text_add(text, " until %s", until);
}

static void add_holders(struct tg_text *text, const struct tg_explanation *e, enum which which)
{
    size_t n = 0, told = 0;

    for (size_t i = 0; i < e->n_holders; i++)
        n += is_of(&e->holders[i], which) ? 1 : 0;
    for (size_t i = 0; i < e->n_holders && told < SENTENCE_HOLDERS; i++) {
        if (!is_of(&e->holders[i], which))
            continue;
        if (told > 0)
            tg_text_add(text, told + 1 == n ? " and " : ", ");
        add_holder(text, &e->holders[i]);
        told++;
    }
    if (n > told)
        tg_text_add(text, " and others");
}

static bool has_best_holders(const struct tg_explanation *e)
{
    return e->n_holders > 0 && e->holders[0].on_best_node;
}

/* "3 not ready, 1 cordoned" */
static void add_rules(struct tg_text *text, const struct tg_explanation *e)
{
    for (size_t i = 0; i < e->n_rules; i++)
        tg_text_add(text, "%s%zu %s", i == 0 ? "" : ", ", e->rules[i].nodes, e->rules[i].text);
}

/* --- one reason each ------------------------------------------------------------------------- */

static void say_no_domain(struct tg_text *text, const struct tg_explanation *e)
{
    const struct tg_explained_domain *domain = &e->best_domain;

    if (domain->name == NULL)
        tg_text_add(text,
                    "all members have to be in one domain of level %s, but no node has the label "
                    "%s",
                    domain->level, tg_or(domain->node_label, "kubernetes.io/hostname"));
}

static void say_nodes_unavailable(struct tg_text *text, const struct tg_explanation *e)
{
    if (e->fixed_node != NULL && e->nodes == 0) {
        tg_text_add(text, "node %s, to which its other claims tie it, is gone", e->fixed_node);
    } else if (e->fixed_node != NULL) {
        tg_text_add(text, "node %s, to which its other claims tie it, takes no pods (",
                    e->fixed_node);
        add_rules(text, e);
        tg_text_add(text, ")");
    } else if (e->nodes == 0) {
        tg_text_add(text, "there are no nodes");
    } else {
        tg_text_add(text, e->nodes_fit > 0 ? "no node that has matching devices can take the pod ("
                                           : "no node can take the pod (");
        tg_text_count(text, e->nodes, "node: ", "nodes: ");
        add_rules(text, e);
        tg_text_add(text, ")");
    }
}

/* The first request that nothing passes at that stage. */
static const struct tg_explained_request *stopped_at(const struct tg_explanation *e,
                                                     enum tg_funnel_stage stage)
{
    size_t i = 0;

    while (i + 1 < e->n_requests && e->requests[i].devices[stage] > 0)
        i++;
    return &e->requests[i];
}

static void say_no_match(struct tg_text *text, const struct tg_explanation *e)
{
    const struct tg_explained_request *r = stopped_at(e, TG_FUNNEL_SELECTED);

    if (r->devices[TG_FUNNEL_SEEN] == 0)
        tg_text_add(text, "no node publishes a device");
    else if (r->devices[TG_FUNNEL_CLASS] == 0)
        tg_text_add(text, "none of the %zu devices is of DeviceClass %s",
                    r->devices[TG_FUNNEL_SEEN], r->device_class);
    else
        tg_text_add(text,
                    "none of the %zu devices of DeviceClass %s matches the selectors of "
                    "request %s of claim %s",
                    r->devices[TG_FUNNEL_CLASS], r->device_class, r->request, r->claim);
}

static void say_never(struct tg_text *text, const struct tg_explanation *e)
{
    if (e->never_one) {
        tg_text_add(text,
                    "%zu devices on one node are needed, and no node has more than %zu that "
                    "match, held ones included: it can never fit on these nodes",
                    e->devices, e->most);
        return;
    }
    tg_text_add(text, "even with every device free ");
    if (e->best_domain.level != NULL)
        tg_text_add(text, "no domain of level %s has room for more than ", e->best_domain.level);
    else
        tg_text_add(text, "the nodes have room for no more than ");
    tg_text_add(text, "%zu of the %zu members with ", e->most, e->members);
    tg_text_count(text, e->devices, "device each", "devices each");
    tg_text_add(text, ": it can never fit on these nodes");
}

static void say_tainted(struct tg_text *text, const struct tg_explanation *e)
{
    const struct tg_explained_request *r = stopped_at(e, TG_FUNNEL_TOLERATED);
    size_t n = r->devices[TG_FUNNEL_SELECTED];

    if (n == 1)
        tg_text_add(text, "the one device that matches is tainted or unhealthy");
    else
        tg_text_add(text, "all %zu devices that match are tainted or unhealthy", n);
}

/* Why devices that match and are free are given to nobody: the misses know. */
static void say_barred(struct tg_text *text, const struct tg_explanation *e)
{
    const struct tg_explained_request *r = stopped_at(e, TG_FUNNEL_UNCONTESTED);
    bool contested = strcmp(e->reason, "DevicesContested") == 0;

    tg_text_add(text, "the ");
    tg_text_count(text, r->devices[TG_FUNNEL_FREE], "device that matches and is free is",
                  "devices that match and are free are");
    tg_text_add(text, contested ? " given to nobody" : " never allocated");
    for (size_t i = 0; i < e->n_misses; i++) {
        if (strcmp(e->misses[i].rule, contested ? "DeviceContested" : "DeviceUnsupported") != 0)
            continue;
        if (contested)
            tg_text_add(text, ", since DeviceClass %s, which is not managed, matches too",
                        e->misses[i].what);
        else
            tg_text_add(text, " (%s)", e->misses[i].what);
        return;
    }
}

static void add_shortage_of_room(struct tg_text *text, const struct tg_explained_node *node)
{
    const char *reason = tg_room_rule_of(node->resource)->reason;

    if (tg_is_host_port(node->resource)) {
        tg_text_add(text, "on node %s %s is taken (%s)", node->name, node->resource, reason);
        return;
    }
    tg_text_add(text, "node %s has ", node->name);
    tg_words_amount(text, node->resource, node->left);
    tg_text_add(text, " %s left of the ", node->resource);
    tg_words_amount(text, node->resource, node->wanted);
    tg_text_add(text, " needed (%s)", reason);
}

static void say_no_room(struct tg_text *text, const struct tg_explanation *e)
{
    if (e->best_node.resource == NULL) {
        tg_text_add(text, "no node has room for the pod");
        return;
    }
    if (e->devices > 0)
        tg_text_add(text, "the devices are there, the room for the pod is not: ");
    else
        tg_text_add(text, "no node has room for the pod: ");
    add_shortage_of_room(text, &e->best_node);
}

static void add_needed(struct tg_text *text, const struct tg_explanation *e)
{
    tg_text_count(text, e->devices, "device is", "devices");
    tg_text_add(text, e->devices == 1 ? " needed; " : " on one node are needed; ");
}

/* Enough of them on one node, but not for all that is asked for. */
static void say_not_together(struct tg_text *text, const struct tg_explanation *e)
{
    tg_text_add(text, "node %s has %zu that are free, but they cannot meet ", e->best_node.name,
                e->best_node.free);
    if (e->n_requests > 1)
        tg_text_add(text, "the %zu requests together", e->n_requests);
    else if (e->requests[0].count == 0)
        tg_text_add(text, "the request: it asks for all devices of a node that match");
    else
        tg_text_add(text, "the request: what they share with others (counters of a card, capacity) "
                          "does not suffice");
    if (!has_best_holders(e))
        return;
    tg_text_add(text, "; devices there are held by ");
    add_holders(text, e, BEST_HOLDERS);
}

static void add_used_up(struct tg_text *text, const struct tg_explanation *e)
{
    size_t n = e->supply.used_up;

    if (e->n_holders > 0)
        tg_text_add(text, ", %zu %s what others have of the same card", n,
                    n == 1 ? "overlaps" : "overlap");
    else
        tg_text_add(text, ", %zu %s too little capacity", n, n == 1 ? "has" : "have");
}

static void say_insufficient(struct tg_text *text, const struct tg_explanation *e)
{
    const struct tg_explained_supply *s = &e->supply;

    add_needed(text, e);
    if (s->free >= e->devices) {
        say_not_together(text, e);
        return;
    }
    if (s->free == 0)
        tg_text_add(text, "none is free");
    else
        tg_text_add(text, "%zu %s free", s->free, is_or_are(s->free));
    tg_text_add(text, " of the %zu that %s", s->matching, s->matching == 1 ? "matches" : "match");
    if (s->taken > 0)
        tg_text_add(text, ", %zu %s to the other members", s->taken, s->taken == 1 ? "goes" : "go");
    if (s->used_up > 0)
        add_used_up(text, e);
    if (s->held > 0)
        tg_text_add(text, ", %zu %s held by ", s->held, is_or_are(s->held));
    else if (s->used_up > 0 && e->n_holders > 0)
        tg_text_add(text, ", held by ");
    else
        return;
    add_holders(text, e, s->held > 0 ? COUNTED_HOLDERS : ALL_HOLDERS);
}

static void say_fragmented(struct tg_text *text, const struct tg_explanation *e)
{
    const struct tg_explained_supply *s = &e->supply;

    add_needed(text, e);
    tg_text_add(text, "%zu are free in all, but spread over %zu nodes with at most %zu each",
                s->free, s->nodes, s->most);
    tg_text_add(text, " (best: node %s with %zu of %zu", e->best_node.name, e->best_node.free,
                e->devices);
    if (has_best_holders(e)) {
        tg_text_add(text, "; the others there are held by ");
        add_holders(text, e, BEST_HOLDERS);
    }
    tg_text_add(text, ")");
}

static void say_constraints(struct tg_text *text, const struct tg_explanation *e)
{
    add_needed(text, e);
    tg_text_add(text,
                "node %s has %zu free, but they cannot meet the constraints of the claim together",
                e->best_node.name, e->best_node.free);
}

/* GaveUp and NoDomain say what is the matter where it comes closest, too. */
static void say_member(struct tg_text *text, const struct tg_explanation *e)
{
    if (e->nodes_fit == 0)
        say_nodes_unavailable(text, e);
    else if (e->devices == 0)
        say_no_room(text, e);
    else if (e->supply.free < e->devices)
        say_insufficient(text, e);
    else if (e->supply.most < e->devices)
        say_fragmented(text, e);
    else if (e->best_node.resource != NULL)
        say_no_room(text, e);
    else
        say_insufficient(text, e);
}

static void say_closest(struct tg_text *text, const struct tg_explanation *e)
{
    if (e->best_domain.level != NULL && e->best_domain.name == NULL)
        say_no_domain(text, e);
    else
        say_member(text, e);
}

/* "one domain of level rack", "one node" */
static void add_one_of(struct tg_text *text, const struct tg_explained_topology *t)
{
    if (t->node_label == NULL)
        tg_text_add(text, "one node (%s)", t->field);
    else
        tg_text_add(text, "one domain of level %s (%s)", t->level, t->field);
}

void tg_words_limit(struct tg_text *text, const struct tg_explained_topology *t)
{
    bool host = t->node_label == NULL;

    if (t->attribute) {
        tg_text_add(text, "all devices need the same %s (%s)", t->level, t->field);
    } else if (t->most > 0) {
        tg_text_add(text, "no more than %zu may be %s ", t->most, host ? "on" : "in");
        add_one_of(text, t);
    } else {
        tg_text_add(text, "%zu members need ", t->members);
        add_one_of(text, t);
    }
    if (t->domains == 0 && t->attribute)
        tg_text_add(text, ", and no node has free devices that all say it");
    else if (t->domains == 0)
        tg_text_add(text, ", and no node has the label %s",
                    tg_or(t->node_label, "kubernetes.io/hostname"));
    else if (t->most > 0)
        tg_text_add(text, ", and %zu %s room", t->roomy,
                    t->roomy == 1 ? (host ? "node has" : "domain has")
                                  : (host ? "nodes have" : "domains have"));
    else
        tg_text_add(text, ", and %s, the best of %zu, has room for %zu of %zu", tg_or(t->best, "?"),
                    t->domains, t->room, t->members);
}

/* What alone is in the way; if it takes several rules, all of them. */
static void say_limits(struct tg_text *text, const struct tg_explanation *e)
{
    size_t alone = 0, told = 0;

    for (size_t i = 0; i < e->n_topology; i++)
        alone += e->topology[i].alone ? 1 : 0;
    for (size_t i = 0; i < e->n_topology && told < SENTENCE_LIMITS; i++) {
        if (alone > 0 && !e->topology[i].alone)
            continue;
        tg_text_add(text, told > 0 ? "; " : "");
        tg_words_limit(text, &e->topology[i]);
        told++;
    }
    if (e->nodes_fit == 0)
        return;
    tg_text_add(text, "; for the next one, ");
    say_member(text, e);
}

static const struct {
    const char *reason;
    void (*say)(struct tg_text *text, const struct tg_explanation *e);
} sayings[] = {
    {"GaveUp", say_closest},
    {"NoDomain", say_closest},
    {"TopologyUnsatisfied", say_limits},
    {"NodesUnavailable", say_nodes_unavailable},
    {"NoMatchingDevice", say_no_match},
    {"NeverFits", say_never},
    {"DevicesTainted", say_tainted},
    {"DevicesContested", say_barred},
    {"DevicesUnsupported", say_barred},
    {"InsufficientNodeResources", say_no_room},
    {"InsufficientDevices", say_insufficient},
    {"FragmentedDevices", say_fragmented},
    {"ConstraintsUnmet", say_constraints},
};

static void say_reason(struct tg_text *text, const struct tg_explanation *e)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(sayings); i++) {
        if (strcmp(sayings[i].reason, e->reason) == 0)
            sayings[i].say(text, e);
    }
}

/* --- around it ------------------------------------------------------------------------------- */

/* How far the gang got, and in which domain. */
static void add_progress(struct tg_text *text, const struct tg_explanation *e)
{
    const struct tg_explained_domain *domain = &e->best_domain;
    bool level = domain->level != NULL && domain->name != NULL;

    if (e->gave_up)
        tg_text_add(text,
                    "gave up after %zu steps without an answer: the members ask for different "
                    "things in too many combinations; closest so far: ",
                    e->steps);
    if (strcmp(e->reason, "NeverFits") == 0 || (domain->level != NULL && domain->name == NULL))
        return;
    if (e->n_topology > 0) {
        tg_text_add(text,
                    "the fleet has room for all, but not within the gang's topology; %zu of %zu "
                    "members have a place",
                    e->placed, e->members);
        if (level)
            tg_text_add(text, " in %s %s, the best of %zu", domain->level, domain->name,
                        domain->domains);
        tg_text_add(text, "; ");
        return;
    }
    if (level && domain->whole_fleet_fits)
        tg_text_add(text, "the fleet as a whole has room, but no single domain of level %s; ",
                    domain->level);
    if (e->members > 1)
        tg_text_add(text, "%zu of %zu members have a place", e->placed, e->members);
    if (level)
        tg_text_add(text, "%s in %s %s, the best of %zu", e->members > 1 ? "" : "it comes closest",
                    domain->level, domain->name, domain->domains);
    if (e->members > 1)
        tg_text_add(text, "; for the next one, ");
    else if (level)
        tg_text_add(text, "; ");
}

static void add_left_out(struct tg_text *text, const struct tg_explanation *e)
{
    if (e->nodes_fit > 0 && e->n_rules > 0 && e->fixed_node == NULL &&
        strcmp(e->reason, "NodesUnavailable") != 0) {
        tg_text_add(text, "; left out: nodes ");
        add_rules(text, e);
    }
    if (e->supply.tainted > 0 && strcmp(e->reason, "DevicesTainted") != 0) {
        tg_text_add(text, "; ");
        tg_text_count(text, e->supply.tainted, "matching device is", "matching devices are");
        tg_text_add(text, " tainted or unhealthy");
    }
    for (size_t i = 0; i < e->n_misses; i++) {
        const struct tg_explained_miss *miss = &e->misses[i];
        bool contested = strcmp(miss->rule, "DeviceContested") == 0;

        if ((!contested && strcmp(miss->rule, "DeviceUnsupported") != 0) ||
            strcmp(e->reason, contested ? "DevicesContested" : "DevicesUnsupported") == 0)
            continue;
        tg_text_add(text, "; ");
        tg_text_count(text, miss->devices, "matching device is", "matching devices are");
        if (contested)
            tg_text_add(text,
                        " given to nobody, since DeviceClass %s, which is not managed, matches "
                        "too",
                        miss->what);
        else
            tg_text_add(text, " never allocated (%s)", miss->what);
    }
    if (e->bad_pools > 0) {
        tg_text_add(text, "; ");
        tg_text_count(text, e->bad_pools, "pool is", "pools are");
        tg_text_add(text, " unusable (%s: %s)", e->bad_pool, e->bad_pool_why);
    }
}

/* --- near misses ----------------------------------------------------------------------------- */

static const struct {
    const char *rule, *with;
} misses[] = {
    {"NodeNotReady", "once ready"},
    {"NodeUnschedulable", "once uncordoned"},
    {"NodeTainted", "with the taint %.200s tolerated by the pod"},
    {"NodeSelectorMismatch", "without the pod's nodeSelector"},
    {"NodeAffinityMismatch", "without the pod's required node affinity"},
    {"VolumeUnreachable", "where the pod's volumes cannot be reached"},
    {"DeviceUnhealthy", "once healthy"},
    {"DeviceTainted", "with the taint %.200s tolerated by the request"},
    {"SelectorMismatch", "without the selector `%.160s`"},
    {"ClassMismatch", "without the selector `%.160s` of the DeviceClass"},
};

static const char *with_of(const char *rule)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(misses); i++) {
        if (strcmp(misses[i].rule, rule) == 0)
            return misses[i].with;
    }
    return NULL;
}

static void add_with(struct tg_text *text, const char *with, const char *what)
{
    const char *gap = strstr(with, "%.");

    if (gap == NULL) {
        tg_text_add(text, "%s", with);
        return;
    }
    tg_text_add(text, "%.*s%.200s%s", (int)(gap - with), with, tg_or(what, ""),
                strchr(gap, 's') + 1);
}

bool tg_words_miss(struct tg_text *text, const struct tg_explained_miss *miss)
{
    const char *with = with_of(miss->rule);
    bool of_node = strncmp(miss->rule, "Node", 4) == 0;

    if (with == NULL)
        return false;
    if (of_node) {
        tg_text_count(text, miss->nodes, "more node", "more nodes");
        if (miss->devices > 0) {
            tg_text_add(text, " with ");
            tg_text_count(text, miss->devices, "free device", "free devices");
        }
    } else {
        tg_text_count(text, miss->devices, "more device", "more devices");
    }
    tg_text_add(text, " ");
    add_with(text, with, miss->what);
    return true;
}

/* Two requests may miss the same. */
static bool is_told(const struct tg_explanation *e, size_t miss)
{
    for (size_t i = 0; i < miss; i++) {
        if (strcmp(e->misses[i].rule, e->misses[miss].rule) == 0 &&
            tg_streq(e->misses[i].what, e->misses[miss].what))
            return true;
    }
    return false;
}

static void add_misses(struct tg_text *text, const struct tg_explanation *e)
{
    size_t told = 0;

    for (size_t i = 0; i < e->n_misses && told < SENTENCE_MISSES; i++) {
        if (e->misses[i].devices == 0 && e->devices > 0)
            continue;
        if (with_of(e->misses[i].rule) == NULL || is_told(e, i))
            continue;
        tg_text_add(text, told == 0 ? ". Nearly: " : "; ");
        tg_words_miss(text, &e->misses[i]);
        told++;
    }
}

/* --- what would help ------------------------------------------------------------------------- */

static void add_moves(struct tg_text *text, const struct tg_explained_help *help)
{
    tg_text_add(text, "if ");
    for (size_t i = 0; i < help->n_moves; i++) {
        const struct tg_explained_move *move = &help->moves[i];

        if (i > 0)
            tg_text_add(text, i + 1 == help->n_moves ? " and " : ", ");
        if (strcmp(move->from, move->to) == 0)
            tg_text_add(text, "%s had other devices of node %s", move->holder, move->from);
        else
            tg_text_add(text, "%s moved from node %s to node %s", move->holder, move->from,
                        move->to);
    }
}

void tg_words_help(struct tg_text *text, const struct tg_explained_help *help)
{
    switch (help->kind) {
    case TG_HELP_FEWER_MEMBERS:
        tg_text_add(text, "with ");
        tg_text_count(text, help->n, "member", "members");
        break;
    case TG_HELP_FEWER_DEVICES:
        tg_text_add(text, "with ");
        tg_text_count(text, help->n, "device", "devices");
        tg_text_add(text, " in request %s", help->request);
        break;
    case TG_HELP_WIDER_TOPOLOGY:
        tg_text_add(text, "with topology.pack.required: %s", help->what);
        break;
    case TG_HELP_NO_TOPOLOGY:
        tg_text_add(text, "without topology.pack.required");
        break;
    case TG_HELP_WIDER_SPREAD:
        tg_text_add(text, "with a maxPerDomain of %zu in %s", help->n, help->what);
        break;
    case TG_HELP_NO_SPREAD:
    case TG_HELP_NO_ROLE_TOPOLOGY:
    case TG_HELP_NO_DEVICE_CONSTRAINT:
        tg_text_add(text, "without %s", help->what);
        break;
    case TG_HELP_TOLERATE_NODE_TAINT:
        tg_text_add(text, "with the taint %.200s tolerated by the pod", help->what);
        break;
    case TG_HELP_TOLERATE_DEVICE_TAINT:
        tg_text_add(text, "with the taint %.200s tolerated by request %s", help->what,
                    help->request);
        break;
    case TG_HELP_RELAX_SELECTOR:
        tg_text_add(text, "without the selector `%.160s` of request %s", help->what, help->request);
        break;
    case TG_HELP_RELAX_NODE_SELECTOR:
        tg_text_add(text, "without the pod's nodeSelector");
        break;
    case TG_HELP_RELAX_NODE_AFFINITY:
        tg_text_add(text, "without the pod's required node affinity");
        break;
    case TG_HELP_SMALLER_POD:
        tg_text_add(text, "with ");
        tg_words_amount(text, help->what, help->amount);
        tg_text_add(text, " %s for the pod", help->what);
        break;
    case TG_HELP_MOVE:
        add_moves(text, help);
        break;
    case TG_HELP_KINDS:
        break;
    }
}

static void add_helps(struct tg_text *text, const struct tg_explanation *e)
{
    for (size_t i = 0; i < e->n_helps && i < SENTENCE_HELPS; i++) {
        tg_text_add(text, i == 0 ? ". It would fit now " : "; or ");
        tg_words_help(text, &e->helps[i]);
    }
}

void tg_explanation_sentence(const struct tg_explanation *e, struct tg_text *ret)
{
    tg_text_init(ret);
    if (e->reason == NULL) {
        tg_text_add(ret, "it fits");
        return;
    }
    add_progress(ret, e);
    say_reason(ret, e);
    add_left_out(ret, e);
    if (e->n_helps == 0)
        add_misses(ret, e);
    else
        add_helps(ret, e);
}
