/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the run-time auditor costs: a fleet of eight cards a node, each card in a claim of its own,
 * each claim with its bound pod. One line of JSON: the audit of everything at once (audit_ms), what
 * a turn of the judgement of single allocations begins with (scene_ms), and one allocation
 * (claim_us). Nothing may be found.
 *
 *   bench_audit [NODES]       10,000
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/runtime/base/buf.h"
#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/clock.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/json/decode.h"
#include "controller/audit/grants.h"
#include "controller/gather/grant.h"

enum { CARDS = 8 };
#define DRIVER "gpu.example.com"
#define NOW (INT64_C(1767225600) * TG_SECOND)

static const struct tg_type *const types[TG_VIEW_KINDS] = {
    [TG_VIEW_POD] = &tg_pod_type,
    [TG_VIEW_NODE] = &tg_node_type,
    [TG_VIEW_CLAIM] = &tg_resource_claim_type,
    [TG_VIEW_SLICE] = &tg_resource_slice_type,
    [TG_VIEW_CLASS] = &tg_device_class_type,
};

/* The text has ' for ". */
static void add(struct tg_view *view, enum tg_view_kind kind, struct tg_arena *arena,
                const struct tg_buf *text)
{
    char *json = tg_xstrdup(text->data);
    struct tg_error err = TG_ERROR_INIT;
    void *object;

    for (char *c = json; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';
    if (tg_json_decode_new(types[kind], json, strlen(json), arena, &object, &err) < 0) {
        fprintf(stderr, "bench_audit: %s: %s\n", err.message, json);
        exit(1);
    }
    free(json);
    tg_view_add(view, kind, object);
}

static void add_class(struct tg_view *view, struct tg_arena *arena, const char *name,
                      const char *labels, const char *selectors)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(4096);

    tg_buf_printf(&text,
                  "{'metadata':{'name':'%s','uid':'%s','creationTimestamp':'2025-01-01T00:00:00Z',"
                  "'labels':{%s}},'spec':{'selectors':[%s]}}",
                  name, name, labels, selectors);
    add(view, TG_VIEW_CLASS, arena, &text);
}

static void add_node(struct tg_view *view, struct tg_arena *arena, size_t node)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(1 << 16);

    tg_buf_printf(&text, "{'metadata':{'name':'node-%zu','uid':'n%zu'}}", node, node);
    add(view, TG_VIEW_NODE, arena, &text);
    tg_buf_clear(&text);
    tg_buf_printf(&text,
                  "{'metadata':{'name':'node-%zu','uid':'s%zu'},'spec':{'driver':'" DRIVER
                  "','nodeName':'node-%zu','pool':{'name':'node-%zu','generation':1,"
                  "'resourceSliceCount':1},'devices':[",
                  node, node, node, node);
    for (size_t i = 0; i < CARDS; i++)
        tg_buf_printf(&text,
                      "%s{'name':'gpu-%zu','attributes':{'type':{'string':'gpu'},'index':{'int':"
                      "%zu}},'capacity':{'memory':{'value':'80Gi'}}}",
                      i > 0 ? "," : "", i, i);
    tg_buf_append_str(&text, "]}}");
    add(view, TG_VIEW_SLICE, arena, &text);
}

static void add_claim(struct tg_view *view, struct tg_arena *arena, size_t node, size_t card)
{
    TG_AUTOBUF struct tg_buf text = TG_BUF_INIT(1 << 16);

    tg_buf_printf(&text,
                  "{'metadata':{'namespace':'ns','name':'p-%zu-%zu','uid':'p-%zu-%zu'},'spec':{"
                  "'nodeName':'node-%zu','resourceClaims':[{'name':'gpu','resourceClaimName':"
                  "'c-%zu-%zu'}],'containers':[{'name':'main'}]},'status':{'phase':'Running'}}",
                  node, card, node, card, node, node, card);
    add(view, TG_VIEW_POD, arena, &text);
    tg_buf_clear(&text);
    tg_buf_printf(
        &text,
        "{'metadata':{'namespace':'ns','name':'c-%zu-%zu','uid':'c-%zu-%zu','finalizers':["
        "'resource.kubernetes.io/delete-protection']},'spec':{'devices':{'requests':[{'name':"
        "'gpus','exactly':{'deviceClassName':'gpu','allocationMode':'ExactCount','count':1}}]}},"
        "'status':{'allocation':{'allocationTimestamp':'2026-01-01T00:00:00Z','devices':{"
        "'results':[{'request':'gpus','driver':'" DRIVER "','pool':'node-%zu','device':'gpu-%zu'}],"
        "'config':[{'source':'FromClass','opaque':{'driver':'tangram.dev','parameters':{"
        "'apiVersion':'tangram.dev/v1alpha1','epoch':1,'gangUID':'','kind':'Plan'}}}]},"
        "'nodeSelector':{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':"
        "'In','values':['node-%zu']}]}]}},'reservedFor':[{'resource':'pods','name':'p-%zu-%zu',"
        "'uid':'p-%zu-%zu'}]}}",
        node, card, node, card, node, card, node, node, card, node, card);
    add(view, TG_VIEW_CLAIM, arena, &text);
}

static int64_t processor_time(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * TG_SECOND + now.tv_nsec;
}

static double ms(int64_t ns)
{
    return (double)ns / (double)TG_MILLISECOND;
}

static void fail(const struct tg_error *err, const struct tg_findings *findings)
{
    fprintf(stderr, "bench_audit: %s%s\n", err->message,
            findings->n > 0 ? findings->items[0].text : "");
    exit(1);
}

static void measure(const struct tg_view *view, size_t nodes)
{
    struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_arena *scratch = tg_arena_new(TG_ARENA_UNLIMITED);
    const struct tg_view_list *claims = &view->lists[TG_VIEW_CLAIM];
    struct tg_error err = TG_ERROR_INIT;
    struct tg_findings findings;
    struct tg_grants *grants;
    int64_t began = processor_time(), audited, opened;

    if (tg_audit(view, "default", arena, &findings, &err) < 0 || findings.n > 0)
        fail(&err, &findings);
    audited = processor_time();
    if (tg_grants_open(view, "default", NOW, arena, &grants, &err) < 0)
        fail(&err, &findings);
    opened = processor_time();
    for (size_t i = 0; i < claims->n; i++) {
        const struct tg_resource_claim *claim = claims->items[i];

        tg_arena_reset(scratch);
        if (tg_grants_check(grants, claim,
                            tg_view_get(view, TG_VIEW_NODE, NULL, tg_claim_node(claim)), scratch,
                            &findings, &err) < 0 ||
            findings.n > 0)
            fail(&err, &findings);
    }
    printf("{\"bench\":\"audit\",\"nodes\":%zu,\"claims\":%zu,\"audit_ms\":%.1f,\"scene_ms\":%.2f,"
           "\"claim_us\":%.1f}\n",
           nodes, claims->n, ms(audited - began), ms(opened - audited),
           (double)(processor_time() - opened) / (double)claims->n / 1000);
    tg_arena_free(arena);
    tg_arena_free(scratch);
}

int main(int argc, char **argv)
{
    size_t nodes = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 10000;
    struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_view view;

    tg_view_init(&view);
    add_class(&view, arena, "gpu", "'tangram.dev/controller':'default'",
              "{'cel':{'expression':'\\\"granted\\\" in device.attributes[\\\"tangram.dev\\\"]'}},"
              "{'cel':{'expression':'device.driver == \\\"" DRIVER "\\\"'}}");
    add_class(&view, arena, "others", "",
              "{'cel':{'expression':'device.driver == \\\"nic.example.com\\\"'}}");
    for (size_t i = 0; i < nodes; i++) {
        add_node(&view, arena, i);
        for (size_t k = 0; k < CARDS; k++)
            add_claim(&view, arena, i, k);
    }
    measure(&view, nodes);
    tg_view_done(&view);
    tg_arena_free(arena);
    return 0;
}
