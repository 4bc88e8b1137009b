/* SPDX-License-Identifier: Apache-2.0 */
/* What would help, from what costs a user least to what costs most. Each is tried (trial.h). */
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "controller/core/explain/move.h"
#include "controller/core/explain/numbers.h"
#include "controller/core/explain/trial.h"

/* Of nodes, and of devices where the kind of request is a new one, of all trials together. */
#define STEPS_DEFAULT ((size_t)20000)

static const char *const codes[TG_HELP_KINDS] = {
    [TG_HELP_FEWER_MEMBERS] = "FewerMembers",
    [TG_HELP_FEWER_DEVICES] = "FewerDevices",
    [TG_HELP_WIDER_TOPOLOGY] = "WiderTopology",
    [TG_HELP_NO_TOPOLOGY] = "NoTopology",
    [TG_HELP_WIDER_SPREAD] = "WiderSpread",
    [TG_HELP_NO_SPREAD] = "NoSpread",
    [TG_HELP_NO_ROLE_TOPOLOGY] = "NoRoleTopology",
    [TG_HELP_NO_DEVICE_CONSTRAINT] = "NoDeviceConstraint",
    [TG_HELP_TOLERATE_NODE_TAINT] = "TolerateNodeTaint",
    [TG_HELP_TOLERATE_DEVICE_TAINT] = "TolerateDeviceTaint",
    [TG_HELP_RELAX_SELECTOR] = "RelaxSelector",
    [TG_HELP_RELAX_NODE_SELECTOR] = "RelaxNodeSelector",
    [TG_HELP_RELAX_NODE_AFFINITY] = "RelaxNodeAffinity",
    [TG_HELP_SMALLER_POD] = "SmallerPod",
    [TG_HELP_MOVE] = "MoveClaims",
};

const char *tg_help_code(enum tg_help_kind kind)
{
    return codes[kind];
}

struct helper {
    struct tg_explaining *e;
    struct tg_numbers numbers;
    struct tg_trial trial;
};

static void add(struct helper *h, const struct tg_explained_help *help)
{
    struct tg_explanation *out = h->e->out;

    if (out->n_helps == TG_EXPLAIN_HELPS)
        return;
    out->helps[out->n_helps] = *help;
    out->helps[out->n_helps++].code = codes[help->kind];
}

/* By numbers where they decide it, else by trial. */
static bool fits(struct helper *h, const struct tg_trial_change *change,
                 const struct tg_numbers_change *numbers)
{
    if (tg_numbers_decide(&h->numbers, numbers))
        return tg_numbers_fit(&h->numbers, numbers);
    return tg_trial_fits(&h->trial, h->e->in->request, change, NULL);
}

/* --- rules ----------------------------------------------------------------------------------- */

static struct tg_toleration tolerate(const struct tg_taint *taint)
{
    bool valued = taint->value != NULL && taint->value[0] != '\0';

    return (struct tg_toleration){.key = taint->key,
                                  .operator_ = valued ? "Equal" : "Exists",
                                  .value = valued ? taint->value : NULL,
                                  .effect = taint->effect};
}

/* The change that takes the suspect out of the way. */
static bool change_of(const struct tg_explain_suspect *suspect, const char *request,
                      struct tg_toleration *toleration, struct tg_trial_change *change,
                      enum tg_help_kind *kind)
{
    static const struct {
        const char *rule;
        enum tg_help_kind kind;
    } kinds[] = {
        {"NodeTainted", TG_HELP_TOLERATE_NODE_TAINT},
        {"DeviceTainted", TG_HELP_TOLERATE_DEVICE_TAINT},
        {"SelectorMismatch", TG_HELP_RELAX_SELECTOR},
        {"NodeSelectorMismatch", TG_HELP_RELAX_NODE_SELECTOR},
        {"NodeAffinityMismatch", TG_HELP_RELAX_NODE_AFFINITY},
    };
    size_t i = 0;

    while (i < TG_ARRAY_SIZE(kinds) && strcmp(kinds[i].rule, suspect->rule) != 0)
        i++;
    if (i == TG_ARRAY_SIZE(kinds))
        return false;
    *kind = kinds[i].kind;
    *change = (struct tg_trial_change){.no_node_selector = *kind == TG_HELP_RELAX_NODE_SELECTOR,
                                       .no_node_affinity = *kind == TG_HELP_RELAX_NODE_AFFINITY};
    if (suspect->taint != NULL)
        *toleration = tolerate(suspect->taint);
    if (*kind == TG_HELP_TOLERATE_NODE_TAINT)
        change->pod_toleration = toleration;
    if (*kind == TG_HELP_TOLERATE_DEVICE_TAINT)
        change->request_toleration = toleration;
    if (*kind == TG_HELP_RELAX_SELECTOR)
        change->no_selector = suspect->text;
    if (*kind == TG_HELP_TOLERATE_DEVICE_TAINT || *kind == TG_HELP_RELAX_SELECTOR)
        change->request = request;
    return true;
}

/* Whatever rule could help is among the suspects: without one there is nothing that it alone keeps
 * away. */
static int try_rules(struct helper *h, struct tg_error *err)
{
    struct tg_explaining *e = h->e;

    for (size_t i = 0; i < e->n_suspects; i++) {
        const struct tg_explain_suspect *suspect = &e->suspects[i];
        const char *request =
            e->out->n_requests == 0 ? NULL : e->out->requests[suspect->request].request;
        struct tg_trial_change change;
        struct tg_toleration toleration;
        struct tg_explained_help help = {.what = suspect->text};

        if (!change_of(suspect, request, &toleration, &change, &help.kind) ||
            !fits(h, &change, &(struct tg_numbers_change){.suspect = i}))
            continue;
        help.request = change.request;
        if (suspect->taint != NULL) {
            help.what = tg_explain_taint(e->arena, suspect->taint);
            if (help.what == NULL)
                return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                    "the decision needs more memory than its budget");
        }
        add(h, &help);
    }
    return 0;
}

/* --- topology -------------------------------------------------------------------------------- */

/* Does it fit with that level? Domains of numbers are of the board, which the trials leave alone.
 */
static bool fits_in(struct helper *h, const struct tg_level *level)
{
    struct tg_place_request request = *h->e->in->request;
    struct tg_domains domains = {.n = 0};
    const struct tg_numbers_change numbers = {.suspect = TG_NO_SUSPECT, .domains = &domains};

    if (tg_numbers_decide(&h->numbers, &numbers))
        return tg_domains_find(h->e->board, level, &h->e->pack.everything, &domains, NULL) == 0 &&
               tg_numbers_fit(&h->numbers, &numbers);
    request.pack_required = level;
    return tg_trial_fits(&h->trial, &request, NULL, NULL);
}

static const struct tg_level *find_rank(const struct tg_explain_input *in, size_t rank)
{
    for (size_t i = 0; i < in->n_levels; i++) {
        if (in->levels[i].rank == rank && in->levels[i].device_attribute == NULL)
            return &in->levels[i];
    }
    return NULL;
}

/* The next wider level that would do, else none at all. */
static void try_topology(struct helper *h)
{
    const struct tg_level *required = h->e->in->request->pack_required;
    size_t rank = 0;

    if (required == NULL || !h->e->out->best_domain.whole_fleet_fits)
        return;
    if (required->rank != TG_LEVEL_UNRANKED)
        rank = required->rank;
    for (; rank > 0; rank--) {
        const struct tg_level *wider = find_rank(h->e->in, rank - 1);

        if (wider == NULL || !fits_in(h, wider))
            continue;
        add(h, &(struct tg_explained_help){.kind = TG_HELP_WIDER_TOPOLOGY, .what = wider->name});
        return;
    }
    /* That was found out before, but for other rules that the gang has. */
    if (h->e->in->request->n_rules == 0 || fits_in(h, NULL))
        add(h, &(struct tg_explained_help){.kind = TG_HELP_NO_TOPOLOGY});
}

/* Rules of the gang beside pack: found by the board. */
static int try_limits(struct helper *h, struct tg_error *err)
{
    struct tg_explained_help helps[TG_EXPLAIN_TOPOLOGY];
    size_t n = 0;
    int rc = tg_explain_topology_helps(h->e, helps, &n, err);

    for (size_t i = 0; i < n; i++)
        add(h, &helps[i]);
    return rc;
}

/* --- less ------------------------------------------------------------------------------------ */

/* The demand of a member with so much less of the resource, in the arena; NULL: it is exhausted. */
static struct tg_demand *lessen(struct helper *h, const char *resource, int64_t less)
{
    const struct tg_demand *demand = &h->e->group->demand;
    struct tg_demand *ret = tg_arena_alloc(h->e->arena, sizeof(*ret));

    if (ret == NULL)
        return NULL;
    *ret = (struct tg_demand){
        .items = tg_arena_alloc_array(h->e->arena, demand->n + 1, sizeof(*ret->items)),
        .n = demand->n};
    for (size_t i = 0; ret->items != NULL && i < demand->n; i++) {
        ret->items[i] = demand->items[i];
        if (strcmp(demand->items[i].name, resource) == 0)
            ret->items[i].value -= less;
    }
    return ret->items == NULL ? NULL : ret;
}

static void try_smaller_pod(struct helper *h)
{
    const struct tg_explained_node *node = &h->e->out->best_node;
    const struct tg_trial_change change = {.resource = node->resource,
                                           .less = node->wanted - node->left};
    struct tg_numbers_change numbers = {.suspect = TG_NO_SUSPECT};

    if (node->resource == NULL || node->left <= 0 || node->rule != NULL ||
        !tg_trial_can_shrink(h->e->group->piece, &change))
        return;
    numbers.demand = lessen(h, node->resource, change.less);
    if (numbers.demand != NULL && fits(h, &change, &numbers))
        add(h, &(struct tg_explained_help){
                   .kind = TG_HELP_SMALLER_POD, .what = node->resource, .amount = node->left});
}

/* Alternatives of one request have its name. */
static bool has_alternatives(const struct tg_explanation *e, const struct tg_explained_request *r)
{
    size_t n = 0;

    for (size_t i = 0; i < e->n_requests; i++)
        n += strcmp(e->requests[i].claim, r->claim) == 0 &&
                     strcmp(e->requests[i].request, r->request) == 0
                 ? 1
                 : 0;
    return n > 1;
}

/* The largest count of one request with which all fits: what fits with more fits with fewer. */
static void try_fewer_devices(struct helper *h, const struct tg_explained_request *request)
{
    size_t low = 0, high = request->count == 0 ? 0 : request->count - 1;

    if (has_alternatives(h->e->out, request))
        return;

    while (low < high) {
        size_t middle = high - (high - low) / 2;
        const struct tg_trial_change change = {.request = request->request, .count = middle};

        if (fits(h, &change,
                 &(struct tg_numbers_change){.suspect = TG_NO_SUSPECT, .devices = middle}))
            low = middle;
        else
            high = middle - 1;
    }
    if (low > 0)
        add(h, &(struct tg_explained_help){
                   .kind = TG_HELP_FEWER_DEVICES, .request = request->request, .n = low});
}

/* Members that are all alike: as many as have a place in the best attempt, and those have. Where
 * rules of topology are not what is in the way that attempt was made without them: then as many as
 * have one. */
static void try_fewer_members(struct helper *h)
{
    struct tg_place_request fewer = *h->e->in->request;
    bool fits = fewer.n_rules == 0 || h->e->blocked;

    fewer.n_pieces = h->e->out->placed;
    if (h->e->board->n_groups > 1 || h->e->out->gave_up)
        return;
    while (!fits && fewer.n_pieces > 0) {
        fits = tg_trial_fits(&h->trial, &fewer, NULL, NULL);
        fewer.n_pieces -= fits ? 0 : 1;
    }
    if (fewer.n_pieces > 0)
        add(h, &(struct tg_explained_help){.kind = TG_HELP_FEWER_MEMBERS, .n = fewer.n_pieces});
}

static int try_moves(struct helper *h, bool *ret_complete, struct tg_error *err)
{
    struct tg_explained_help help;
    bool found = false;
    int rc = tg_explain_move(h->e, &h->trial, &found, &help, ret_complete, err);

    if (rc == 0 && found)
        add(h, &help);
    return rc;
}

int tg_explain_helps(struct tg_explaining *e, struct tg_fleet *fleet, struct tg_error *err)
{
    struct helper h = {.e = e};
    bool moves = false;
    size_t steps = e->in->max_steps == 0 ? STEPS_DEFAULT : e->in->max_steps;
    int rc;

    rc = tg_trial_init(&h.trial, fleet, steps, e->arena, err);

    if (rc == 0)
        rc = tg_numbers_init(&h.numbers, e, err);
    if (rc == 0)
        rc = try_rules(&h, err);
    if (rc < 0)
        return rc;
    rc = try_limits(&h, err);
    if (rc < 0)
        return rc;
    try_topology(&h);
    rc = try_moves(&h, &moves, err);
    if (rc < 0)
        return rc;
    try_smaller_pod(&h);
    for (size_t i = 0; i < e->out->n_requests; i++)
        try_fewer_devices(&h, &e->out->requests[i]);
    try_fewer_members(&h);
    e->out->helps_complete = moves && !h.trial.refused && e->board->n_groups == 1 &&
                             !e->out->more_misses && !e->out->more_requests;
    return 0;
}
