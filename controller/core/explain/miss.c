/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "controller/core/explain/parts.h"
#include "controller/core/fit/rule.h"
#include "controller/core/model/sort.h"
#include "controller/core/model/taint.h"

static bool same_taint(const struct tg_taint *a, const struct tg_taint *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return tg_streq(a->key, b->key) && tg_streq(a->value, b->value) &&
           tg_streq(a->effect, b->effect);
}

static bool same_suspect(const struct tg_explain_suspect *a, const struct tg_explain_suspect *b)
{
    return (a->rule == b->rule || strcmp(a->rule, b->rule) == 0) && a->request == b->request &&
           (a->text == b->text || tg_streq(a->text, b->text)) && same_taint(a->taint, b->taint);
}

static size_t find_suspect(const struct tg_explaining *e, const struct tg_explain_suspect *suspect)
{
    size_t i = 0;

    if (e->last_suspect < e->n_suspects && same_suspect(&e->suspects[e->last_suspect], suspect))
        return e->last_suspect;
    while (i < e->n_suspects && !same_suspect(&e->suspects[i], suspect))
        i++;
    return i;
}

unsigned char tg_explain_suspect(struct tg_explaining *e, const struct tg_explain_suspect *suspect,
                                 size_t node, size_t devices)
{
    size_t i = find_suspect(e, suspect);

    if (i == TG_EXPLAIN_SUSPECTS) {
        e->out->more_misses = true;
        return 0;
    }
    if (i == e->n_suspects)
        e->suspects[e->n_suspects++] = *suspect;
    e->last_suspect = i;
    e->suspects[i].devices += devices;
    e->suspects[i].special = e->suspects[i].special || suspect->special;
    if (node != TG_NO_INDEX && (e->suspect_on[node] >> i & 1U) == 0) {
        e->suspect_on[node] |= 1U << i;
        e->suspects[i].nodes++;
    }
    return (unsigned char)(i + 1);
}

/* --- nodes ----------------------------------------------------------------------------------- */

/* Taints that Kubernetes itself puts on a node that fails the rule: no second reason. */
static const struct {
    const char *rule, *key;
} companions[] = {
    {"NodeNotReady", "node.kubernetes.io/not-ready"},
    {"NodeNotReady", "node.kubernetes.io/unreachable"},
    {"NodeUnschedulable", "node.kubernetes.io/unschedulable"},
};

static bool is_companion(const char *key, const bool *failed)
{
    for (size_t i = 0; i < TG_ARRAY_SIZE(companions); i++) {
        for (size_t r = 0; r < tg_fit_rules_count; r++) {
            if (failed[r] && strcmp(tg_fit_rules[r].reason, companions[i].rule) == 0 &&
                tg_streq(key, companions[i].key))
                return true;
        }
    }
    return false;
}

/* Taints of the node that some pod of the piece does not tolerate and that no other failed rule
 * explains: how many, and the first. */
static size_t count_taints(const struct tg_piece *piece, const struct tg_fleet_node *node,
                           const bool *failed, const struct tg_taint **ret)
{
    const struct tg_node_spec *spec = node->object->spec;
    size_t n = 0;

    for (size_t i = 0; spec != NULL && i < spec->taints.n; i++) {
        const struct tg_taint *taint = &spec->taints.items[i];
        bool tolerated = true;

        for (size_t p = 0; p < piece->n_pods && tolerated; p++) {
            const struct tg_pod_spec *pod = piece->pods[p]->spec;

            tolerated = pod != NULL &&
                        tg_taint_tolerated(taint, pod->tolerations.items, pod->tolerations.n);
        }
        if (!tolerated && tg_taint_blocks(taint) && !is_companion(taint->key, failed) && n++ == 0)
            *ret = taint;
    }
    return n;
}

#define RULES_MAX 16

static void look_at_node(struct tg_explaining *e, size_t node)
{
    const struct tg_piece *piece = e->group->piece;
    const struct tg_fleet_node *row = &e->board->fleet->nodes[node];
    bool failed[RULES_MAX] = {false};
    struct tg_explain_suspect suspect = {.rule = NULL};
    size_t n_failed = 0, n_taints = 0;

    for (size_t r = 0; r < tg_fit_rules_count; r++) {
        for (size_t p = 0; p < piece->n_pods && !failed[r]; p++) {
            const struct tg_fit_guest guest = {.pod = piece->pods[p], .volumes = piece->volumes};

            failed[r] = !tg_fit_rules[r].passes(row, &guest);
        }
        if (failed[r] && tg_fit_rules[r].passes != tg_fit_taints) {
            suspect.rule = tg_fit_rules[r].reason;
            n_failed++;
        }
    }
    n_taints = count_taints(piece, row, failed, &suspect.taint);
    if (n_failed + n_taints != 1)
        return;
    if (n_taints == 1)
        suspect.rule = "NodeTainted";
    else
        suspect.taint = NULL;
    e->near_node[node] = tg_explain_suspect(e, &suspect, node, e->free_on[node]);
}

/* --- what is told ---------------------------------------------------------------------------- */

const char *tg_explain_taint(struct tg_arena *arena, const struct tg_taint *taint)
{
    return tg_arena_printf(arena, "%s%s%s:%s", tg_or(taint->key, ""),
                           taint->value == NULL || taint->value[0] == '\0' ? "" : "=",
                           tg_or(taint->value, ""), tg_or(taint->effect, ""));
}

/* Most devices first, then most nodes, then in the order in which they were met. */
static int compare_suspects(const void *pa, const void *pb, const void *context)
{
    const struct tg_explain_suspect *a = pa, *b = pb;

    (void)context;
    if (a->devices != b->devices)
        return a->devices > b->devices ? -1 : 1;
    return a->nodes == b->nodes ? 0 : (a->nodes > b->nodes ? -1 : 1);
}

/* Expressions are kept by the fleet for as long as they are used: ours outlive that. */
static int keep_texts(struct tg_explaining *e, struct tg_error *err)
{
    for (size_t i = 0; i < e->n_suspects; i++) {
        struct tg_explain_suspect *suspect = &e->suspects[i];

        if (suspect->text == NULL)
            continue;
        suspect->text = tg_arena_strdup(e->arena, suspect->text);
        if (suspect->text == NULL)
            return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                "the decision needs more memory than its budget");
    }
    return 0;
}

int tg_explain_misses(struct tg_explaining *e, struct tg_error *err)
{
    const void *order[TG_EXPLAIN_SUSPECTS], *scratch[TG_EXPLAIN_SUSPECTS];
    const struct tg_scope *everything = &e->pack.everything;
    int rc = keep_texts(e, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < everything->n; i++) {
        size_t node = everything->nodes[i];

        /* A piece that is fixed elsewhere has failed a rule that is none. */
        if (e->group->failed[node] < tg_fit_rules_count)
            look_at_node(e, node);
    }
    for (size_t i = 0; i < e->n_suspects; i++)
        order[i] = &e->suspects[i];
    tg_core_sort_in(order, scratch, e->n_suspects, compare_suspects, NULL);
    for (size_t i = 0; i < e->n_suspects; i++) {
        const struct tg_explain_suspect *suspect = order[i];
        struct tg_explained_miss *miss = &e->out->misses[e->out->n_misses];

        if (e->out->n_misses == TG_EXPLAIN_MISSES) {
            e->out->more_misses = true;
            break;
        }
        *miss = (struct tg_explained_miss){.rule = suspect->rule,
                                           .what = suspect->text,
                                           .request = suspect->request,
                                           .nodes = suspect->nodes,
                                           .devices = suspect->devices};
        if (suspect->taint != NULL) {
            miss->what = tg_explain_taint(e->arena, suspect->taint);
            if (miss->what == NULL)
                return tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                    "the decision needs more memory than its budget");
        }
        e->out->n_misses++;
    }
    return 0;
}
