/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/explain/document.h"

#include "api/kubernetes/values/rfc3339.h"
#include "api/runtime/base/clock.h"
#include "controller/core/explain/words.h"

static void write_funnel(struct tg_json_writer *w, const struct tg_explained_request *r)
{
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "claim", r->claim);
    tg_jw_kv_string(w, "request", r->request);
    tg_jw_kv_string(w, "deviceClassName", r->device_class);
    tg_jw_kv_string(w, "allocationMode", r->count == 0 ? "All" : "ExactCount");
    if (r->count > 0)
        tg_jw_kv_int(w, "count", (int64_t)r->count);
    tg_jw_key(w, "devices");
    tg_jw_begin_object(w);
    for (size_t s = 0; s < TG_FUNNEL_STAGES; s++)
        tg_jw_kv_int(w, tg_funnel_stage_name((enum tg_funnel_stage)s), (int64_t)r->devices[s]);
    tg_jw_end_object(w);
    tg_jw_end_object(w);
}

static void write_node(struct tg_json_writer *w, const struct tg_explained_node *node)
{
    tg_jw_key(w, "bestNode");
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "nodeName", node->name);
    tg_jw_kv_int(w, "free", (int64_t)node->free);
    tg_jw_kv_int(w, "needed", (int64_t)node->needed);
    tg_jw_kv_string(w, "rule", node->rule);
    if (node->resource != NULL) {
        tg_jw_kv_string(w, "resource", node->resource);
        tg_jw_kv_int(w, "left", node->left);
        tg_jw_kv_int(w, "wanted", node->wanted);
    }
    tg_jw_end_object(w);
}

static void write_domain(struct tg_json_writer *w, const struct tg_explained_domain *domain)
{
    tg_jw_key(w, "bestDomain");
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "level", domain->level);
    tg_jw_kv_string(w, "nodeLabel", domain->node_label);
    tg_jw_kv_string(w, "name", domain->name);
    tg_jw_kv_int(w, "placed", (int64_t)domain->placed);
    tg_jw_kv_int(w, "free", (int64_t)domain->free);
    tg_jw_kv_int(w, "domains", (int64_t)domain->domains);
    tg_jw_kv_bool(w, "wholeFleetFits", domain->whole_fleet_fits);
    tg_jw_end_object(w);
}

static void write_topology(struct tg_json_writer *w, const struct tg_explanation *e)
{
    tg_jw_key(w, "topology");
    tg_jw_begin_array(w);
    for (size_t i = 0; i < e->n_topology; i++) {
        const struct tg_explained_topology *t = &e->topology[i];

        tg_jw_begin_object(w);
        tg_jw_kv_string(w, "field", t->field);
        tg_jw_kv_string(w, t->attribute ? "matchAttribute" : "level", t->level);
        if (t->most > 0)
            tg_jw_kv_int(w, "maxPerDomain", (int64_t)t->most);
        tg_jw_kv_int(w, "members", (int64_t)t->members);
        tg_jw_kv_int(w, "domains", (int64_t)t->domains);
        tg_jw_kv_int(w, "domainsWithRoom", (int64_t)t->roomy);
        if (t->best != NULL) {
            tg_jw_kv_string(w, "bestDomain", t->best);
            tg_jw_kv_int(w, "room", (int64_t)t->room);
        }
        tg_jw_kv_bool(w, "alone", t->alone);
        tg_jw_end_object(w);
    }
    tg_jw_end_array(w);
}

static void write_supply(struct tg_json_writer *w, const struct tg_explained_supply *s)
{
    tg_jw_key(w, "supply");
    tg_jw_begin_object(w);
    tg_jw_kv_int(w, "matching", (int64_t)s->matching);
    tg_jw_kv_int(w, "held", (int64_t)s->held);
    tg_jw_kv_int(w, "tainted", (int64_t)s->tainted);
    tg_jw_kv_int(w, "usedUp", (int64_t)s->used_up);
    tg_jw_kv_int(w, "taken", (int64_t)s->taken);
    tg_jw_kv_int(w, "free", (int64_t)s->free);
    tg_jw_kv_int(w, "nodes", (int64_t)s->nodes);
    tg_jw_kv_int(w, "mostOnOneNode", (int64_t)s->most);
    tg_jw_end_object(w);
}

static void write_rules(struct tg_json_writer *w, const struct tg_explanation *e)
{
    tg_jw_key(w, "nodesLeftOut");
    tg_jw_begin_array(w);
    for (size_t i = 0; i < e->n_rules; i++) {
        tg_jw_begin_object(w);
        tg_jw_kv_string(w, "rule", e->rules[i].rule);
        tg_jw_kv_int(w, "nodes", (int64_t)e->rules[i].nodes);
        tg_jw_end_object(w);
    }
    tg_jw_end_array(w);
}

static void write_holders(struct tg_json_writer *w, const struct tg_explanation *e)
{
    tg_jw_key(w, "holders");
    tg_jw_begin_array(w);
    for (size_t i = 0; i < e->n_holders; i++) {
        const struct tg_explained_holder *h = &e->holders[i];
        char until[32];

        tg_jw_begin_object(w);
        tg_jw_kv_string(w, "name", h->name);
        tg_jw_kv_string(w, "pod", h->pod);
        tg_jw_kv_string(w, "nodeName", h->node);
        tg_jw_kv_int(w, "devices", (int64_t)h->devices);
        tg_jw_kv_bool(w, "onBestNode", h->on_best_node);
        if (h->until != 0) {
            tg_time_format_seconds(h->until / TG_SECOND, until);
            tg_jw_kv_string(w, "until", until);
        }
        tg_jw_end_object(w);
    }
    tg_jw_end_array(w);
}

static void write_misses(struct tg_json_writer *w, const struct tg_explanation *e)
{
    tg_jw_key(w, "nearMisses");
    tg_jw_begin_array(w);
    for (size_t i = 0; i < e->n_misses; i++) {
        const struct tg_explained_miss *miss = &e->misses[i];

        tg_jw_begin_object(w);
        tg_jw_kv_string(w, "rule", miss->rule);
        tg_jw_kv_string(w, "what", miss->what);
        tg_jw_kv_int(w, "nodes", (int64_t)miss->nodes);
        tg_jw_kv_int(w, "devices", (int64_t)miss->devices);
        tg_jw_end_object(w);
    }
    tg_jw_end_array(w);
}

static void write_moves(struct tg_json_writer *w, const struct tg_explained_help *help)
{
    tg_jw_key(w, "moves");
    tg_jw_begin_array(w);
    for (size_t i = 0; i < help->n_moves; i++) {
        tg_jw_begin_object(w);
        tg_jw_kv_string(w, "holder", help->moves[i].holder);
        tg_jw_kv_string(w, "pod", help->moves[i].pod);
        tg_jw_kv_string(w, "from", help->moves[i].from);
        tg_jw_kv_string(w, "to", help->moves[i].to);
        tg_jw_kv_int(w, "devices", (int64_t)help->moves[i].devices);
        tg_jw_end_object(w);
    }
    tg_jw_end_array(w);
}

static void write_helps(struct tg_json_writer *w, const struct tg_explanation *e)
{
    tg_jw_key(w, "helps");
    tg_jw_begin_array(w);
    for (size_t i = 0; i < e->n_helps; i++) {
        const struct tg_explained_help *help = &e->helps[i];

        tg_jw_begin_object(w);
        tg_jw_kv_string(w, "code", help->code);
        tg_jw_kv_string(w, "what", help->what);
        tg_jw_kv_string(w, "request", help->request);
        if (help->n > 0)
            tg_jw_kv_int(w, "count", (int64_t)help->n);
        if (help->amount > 0)
            tg_jw_kv_int(w, "amount", help->amount);
        if (help->n_moves > 0)
            write_moves(w, help);
        tg_jw_end_object(w);
    }
    tg_jw_end_array(w);
    tg_jw_kv_bool(w, "helpsComplete", e->helps_complete);
}

void tg_explanation_write(const struct tg_explanation *e, struct tg_json_writer *w)
{
    struct tg_text text;

    tg_explanation_sentence(e, &text);
    tg_jw_begin_object(w);
    tg_jw_kv_string(w, "reason", e->reason);
    tg_jw_kv_string(w, "message", text.data);
    tg_jw_kv_int(w, "members", (int64_t)e->members);
    tg_jw_kv_int(w, "placed", (int64_t)e->placed);
    if (e->reason != NULL) {
        tg_jw_kv_string(w, "member", e->member);
        tg_jw_kv_int(w, "devicesPerMember", (int64_t)e->devices);
        tg_jw_kv_bool(w, "gaveUp", e->gave_up);
        tg_jw_kv_bool(w, "neverFits", e->never);
        tg_jw_kv_int(w, "nodes", (int64_t)e->nodes);
        tg_jw_kv_int(w, "nodesFit", (int64_t)e->nodes_fit);
        write_rules(w, e);
        write_supply(w, &e->supply);
        tg_jw_key(w, "requests");
        tg_jw_begin_array(w);
        for (size_t i = 0; i < e->n_requests; i++)
            write_funnel(w, &e->requests[i]);
        tg_jw_end_array(w);
        if (e->best_node.name != NULL)
            write_node(w, &e->best_node);
        if (e->best_domain.level != NULL)
            write_domain(w, &e->best_domain);
        if (e->n_topology > 0)
            write_topology(w, e);
        write_holders(w, e);
        write_misses(w, e);
        write_helps(w, e);
    }
    tg_jw_end_object(w);
}
