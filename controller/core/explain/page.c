/* SPDX-License-Identifier: Apache-2.0 */
/* An explanation for a terminal. */
#include "api/runtime/base/str.h"
#include "controller/core/explain/phrase.h"
#include "controller/core/explain/words.h"

static const char *const stage_words[TG_FUNNEL_STAGES] = {
    [TG_FUNNEL_SEEN] = "devices published",
    [TG_FUNNEL_CLASS] = "of the DeviceClass",
    [TG_FUNNEL_SELECTED] = "match the selectors of the request",
    [TG_FUNNEL_TOLERATED] = "healthy, and without taints that the request does not tolerate",
    [TG_FUNNEL_FREE] = "held by nobody",
    [TG_FUNNEL_UNCONTESTED] = "of managed classes only",
    [TG_FUNNEL_CAPACITY] = "with counters and capacity left",
    [TG_FUNNEL_TOGETHER] = "on nodes whose devices meet all requests of one member",
    [TG_FUNNEL_NODE_FIT] = "on such nodes that take the pod",
    [TG_FUNNEL_DOMAIN] = "in the domain that comes closest",
    [TG_FUNNEL_LEFT] = "left by the members before",
};

/* Stages that change nothing are left out, but for the first and the last. */
static void page_request(struct tg_buf *out, const struct tg_explained_request *r)
{
    size_t before = r->devices[TG_FUNNEL_SEEN];

    if (r->count == 0)
        tg_buf_printf(out, "Request %s of claim %s: all devices of DeviceClass %s\n", r->request,
                      r->claim, r->device_class);
    else
        tg_buf_printf(out, "Request %s of claim %s: %zu of DeviceClass %s\n", r->request, r->claim,
                      r->count, r->device_class);
    for (size_t s = 0; s < TG_FUNNEL_STAGES; s++) {
        if (s > 0 && s + 1 < TG_FUNNEL_STAGES && r->devices[s] == before)
            continue;
        tg_buf_printf(out, "  %6zu %s\n", r->devices[s], stage_words[s]);
        before = r->devices[s];
    }
}

static void page_node(struct tg_buf *out, const struct tg_explanation *e)
{
    const struct tg_explained_node *node = &e->best_node;
    struct tg_text text;

    if (node->name == NULL)
        return;
    tg_buf_printf(out, "Best node: %s, %zu of %zu devices", node->name,
                  node->free < node->needed ? node->free : node->needed, node->needed);
    if (node->rule != NULL)
        tg_buf_printf(out, ", %s", node->rule);
    if (node->resource != NULL) {
        tg_text_init(&text);
        tg_words_amount(&text, node->resource, node->left);
        tg_text_add(&text, " of ");
        tg_words_amount(&text, node->resource, node->wanted);
        tg_buf_printf(out, ", %s %s", text.data, node->resource);
    }
    tg_buf_append_str(out, "\n");
}

static void page_limits(struct tg_buf *out, const struct tg_explanation *e)
{
    for (size_t i = 0; i < e->n_topology; i++) {
        struct tg_text text;

        tg_text_init(&text);
        tg_words_limit(&text, &e->topology[i]);
        tg_buf_printf(out, "%s  %s\n", i == 0 ? "The gang's topology\n" : "", text.data);
    }
}

static void page_holders(struct tg_buf *out, const struct tg_explanation *e)
{
    for (size_t i = 0; i < e->n_holders; i++) {
        const struct tg_explained_holder *h = &e->holders[i];

        tg_buf_printf(out, "%s  %s: %zu on node %s", i == 0 ? "Held by\n" : "", h->name, h->devices,
                      tg_or(h->node, "-"));
        if (h->pod != NULL)
            tg_buf_printf(out, ", for pod %s", h->pod);
        tg_buf_append_str(out, "\n");
    }
    if (e->more_holders)
        tg_buf_append_str(out, "  and others\n");
}

static void page_misses(struct tg_buf *out, const struct tg_explanation *e)
{
    bool first = true;

    for (size_t i = 0; i < e->n_misses; i++) {
        struct tg_text text;

        tg_text_init(&text);
        if (!tg_words_miss(&text, &e->misses[i]))
            continue;
        tg_buf_printf(out, "%s  %s\n", first ? "Nearly\n" : "", text.data);
        first = false;
    }
}

static void page_helps(struct tg_buf *out, const struct tg_explanation *e)
{
    for (size_t i = 0; i < e->n_helps; i++) {
        struct tg_text text;

        tg_text_init(&text);
        tg_words_help(&text, &e->helps[i]);
        tg_buf_printf(out, "%s  %s (%s)\n", i == 0 ? "It would fit now\n" : "", text.data,
                      e->helps[i].code);
    }
    if (e->n_helps == 0 && e->helps_complete)
        tg_buf_append_str(out, "Nothing that was tried would make it fit now.\n");
}

int tg_explanation_page(const struct tg_explanation *e, struct tg_buf *ret, struct tg_error *err)
{
    struct tg_text text;

    tg_explanation_sentence(e, &text);
    tg_buf_printf(ret, "%s: %s\n", tg_or(e->reason, "Fits"), text.data);
    if (e->member != NULL && e->members > 1)
        tg_buf_printf(ret, "Member: %s\n", e->member);
    for (size_t i = 0; i < e->n_requests; i++)
        page_request(ret, &e->requests[i]);
    if (e->reason != NULL)
        page_node(ret, e);
    page_limits(ret, e);
    page_holders(ret, e);
    page_misses(ret, e);
    page_helps(ret, e);
    return ret->failed ? tg_error_set(err, TG_RESOURCE_EXHAUSTED,
                                      "the explanation is longer than its bound")
                       : 0;
}
