/* SPDX-License-Identifier: Apache-2.0 */
/* The bench's objects, and what other components of a cluster do with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "tests/unit/controller/bench.h"

void bench_slice(struct bench *bench, const char *node, size_t gpus, const char *extra)
{
    TG_AUTOBUF struct tg_buf devices = TG_BUF_INIT((size_t)64 * 1024);

    for (size_t i = 0; i < gpus; i++)
        tg_buf_printf(&devices, "%s{'name':'gpu-%zu','attributes':{'type':{'string':'gpu'}}%s}",
                      i > 0 ? "," : "", i, i == 0 && extra != NULL ? extra : "");
    tg_cluster_delete(bench->cluster, TG_VIEW_SLICE, NULL, node);
    tg_cluster_create(bench->cluster, TG_VIEW_SLICE,
                      "{'metadata':{'name':'%s'},'spec':{'driver':'" DRIVER
                      "','nodeName':'%s','pool':{'name':'%s','generation':1,"
                      "'resourceSliceCount':1},'devices':[%s]}}",
                      node, node, node, tg_buf_str(&devices));
}

void bench_node(struct bench *bench, const char *name, size_t gpus)
{
    tg_cluster_create(
        bench->cluster, TG_VIEW_NODE,
        "{'metadata':{'name':'%s','labels':{'kubernetes.io/hostname':'%s','rack':'r1'}},"
        "'spec':{},'status':{'allocatable':{'cpu':'64','memory':'256Gi','pods':'110'},"
        "'conditions':[{'type':'Ready','status':'True'}]}}",
        name, name);
    bench_slice(bench, name, gpus, NULL);
}

void bench_fleet(struct bench *bench, size_t n)
{
    tg_cluster_create(bench->cluster, TG_VIEW_CLASS,
                      "{'metadata':{'name':'gpu','labels':{'" TG_LABEL_CONTROLLER "':'default'}},"
                      "'spec':{'selectors':[{'cel':{'expression':"
                      "'\\\"granted\\\" in device.attributes[\\\"tangram.dev\\\"]'}}],"
                      "'config':[{'opaque':{'driver':'" DRIVER
                      "','parameters':{'sharing':'none'}}}]}}");
    tg_cluster_create(bench->cluster, TG_VIEW_NAMESPACE,
                      "{'metadata':{'name':'" NS "'},'status':{'phase':'Active'}}");
    for (size_t i = 1; i <= n; i++) {
        char name[16];

        snprintf(name, sizeof(name), "n%zu", i);
        bench_node(bench, name, 2);
    }
}

void bench_pod(struct bench *bench, const char *name, size_t claims, size_t gpus,
               const char *config)
{
    static const char *const gpu[] = {"gpu", "gpu", "gpu", "gpu", "gpu", "gpu", "gpu", "gpu"};

    assert_true(claims <= TG_ARRAY_SIZE(gpu));
    bench_pod_of(bench, name, gpu, claims, gpus, config);
}

void bench_pod_of(struct bench *bench, const char *name, const char *const *classes, size_t claims,
                  size_t gpus, const char *config)
{
    TG_AUTOBUF struct tg_buf entries = TG_BUF_INIT(4096), statuses = TG_BUF_INIT(4096);
    const struct tg_snapshot *pod;

    for (size_t i = 0; i < claims; i++) {
        const char *comma = i > 0 ? "," : "";

        tg_buf_printf(&entries, "%s{'name':'c%zu','resourceClaimTemplateName':'t'}", comma, i);
        tg_buf_printf(&statuses, "%s{'name':'c%zu','resourceClaimName':'%s-%zu'}", comma, i, name,
                      i);
    }
    pod = tg_cluster_create(
        bench->cluster, TG_VIEW_POD,
        "{'metadata':{'namespace':'" NS
        "','name':'%s'},'spec':{'schedulingGates':[{'name':'" TG_GATE
        "'}],'resourceClaims':[%s],'containers':[{'name':'c','resources':{'requests':{'cpu':'1'}}}"
        "]},'status':{'phase':'Pending','resourceClaimStatuses':[%s]}}",
        name, tg_buf_str(&entries), tg_buf_str(&statuses));
    for (size_t i = 0; i < claims; i++)
        tg_cluster_create(
            bench->cluster, TG_VIEW_CLAIM,
            "{'metadata':{'namespace':'" NS "','name':'%s-%zu','ownerReferences':[{'apiVersion':"
            "'v1','kind':'Pod','name':'%s','uid':'%s','controller':true}]},'spec':{'devices':{"
            "'requests':[{'name':'gpus','exactly':{'deviceClassName':'%s','allocationMode':"
            "'ExactCount','count':%zu}}],'config':[%s]}}}",
            name, i, name, pod->uid, classes[i], gpus, tg_or(config, ""));
}

const char *bench_member_config(struct bench *bench, const char *gang, int size)
{
    return tg_arena_printf(bench->arena,
                           "{'opaque':{'driver':'tangram.dev','parameters':{'apiVersion':"
                           "'tangram.dev/v1alpha1','kind':'GangMember','gang':'%s','size':%d}}}",
                           gang, size);
}

void bench_gang(struct bench *bench, const char *gang, int size, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char name[64];

        snprintf(name, sizeof(name), "%s-%zu", gang, i);
        bench_pod(bench, name, 1, 1, bench_member_config(bench, gang, size));
    }
}

void bench_delete_pod(struct bench *bench, const char *name)
{
    tg_cluster_delete(bench->cluster, TG_VIEW_POD, NS, name);
}

/* --- others ---------------------------------------------------------------------------------- */

static const struct tg_pod *pod_named(struct bench *bench, const char *name)
{
    const struct tg_snapshot *s =
        name == NULL ? NULL : tg_cluster_get(bench->cluster, TG_VIEW_POD, NS, name);

    return s == NULL ? NULL : (const void *)s->object;
}

static bool keeps_reservation(struct bench *bench, const struct tg_consumer_reference *user)
{
    const struct tg_pod *pod = pod_named(bench, user->name);

    return pod != NULL && tg_streq(pod->metadata->uid, user->uid) && !tg_pod_finished(pod) &&
           !(pod->metadata->deletion_timestamp != NULL && pod->spec->node_name == NULL);
}

/* The claim controller takes back an allocation whose last user is gone. */
static bool release_claim(struct bench *bench, const struct tg_snapshot *s)
{
    const struct tg_resource_claim *claim = (const void *)s->object;
    bool finalizer = tg_meta_has_finalizer(claim->metadata, TG_FINALIZER_CLAIM);
    bool deleting = claim->metadata->deletion_timestamp != NULL;
    size_t n = claim->status == NULL ? 0 : claim->status->reserved_for.n, kept = 0;

    for (size_t i = 0; i < n; i++)
        kept += keeps_reservation(bench, &claim->status->reserved_for.items[i]);
    if (!finalizer || kept > 0 || (n == 0 && !deleting))
        return false;
    tg_cluster_change(bench->cluster, TG_VIEW_CLAIM, NS, s->name,
                      "{'metadata':{'finalizers':null},"
                      "'status':{'allocation':null,'reservedFor':null,'devices':null}}");
    return true;
}

static bool collect_claim(struct bench *bench, const struct tg_snapshot *s)
{
    const struct tg_owner_reference *owner = tg_meta_controller(s->object->metadata);
    const struct tg_pod *pod;

    if (owner == NULL || s->object->metadata->deletion_timestamp != NULL)
        return false;
    pod = pod_named(bench, owner->name);
    if (pod != NULL && tg_streq(pod->metadata->uid, owner->uid) && !tg_pod_finished(pod))
        return false;
    tg_cluster_delete(bench->cluster, TG_VIEW_CLAIM, NS, s->name);
    return true;
}

/* The node on which every claim of the pod is allocated, or NULL. */
static const char *node_of_claims(struct bench *bench, const struct tg_pod *pod)
{
    const char *node = NULL;

    for (size_t i = 0; i < pod->spec->resource_claims.n; i++) {
        const char *name = tg_pod_claim_object(pod, &pod->spec->resource_claims.items[i]);
        const struct tg_snapshot *s =
            name == NULL ? NULL : tg_cluster_get(bench->cluster, TG_VIEW_CLAIM, NS, name);
        const char *own = s == NULL ? NULL : tg_claim_node((const void *)s->object);

        if (own == NULL || (node != NULL && !tg_streq(node, own)))
            return NULL;
        node = own;
    }
    return node;
}

static bool schedule(struct bench *bench, const struct tg_snapshot *s)
{
    const struct tg_pod *pod = (const void *)s->object;
    const char *node;

    if (pod->spec->scheduling_gates.n > 0 || pod->spec->node_name != NULL || tg_pod_finished(pod) ||
        pod->metadata->deletion_timestamp != NULL)
        return false;
    node = node_of_claims(bench, pod);
    if (node == NULL || tg_cluster_get(bench->cluster, TG_VIEW_NODE, NULL, node) == NULL)
        return false;
    tg_cluster_change(bench->cluster, TG_VIEW_POD, NS, s->name,
                      "{'spec':{'nodeName':'%s'},'status':{'phase':'Running'}}", node);
    return true;
}

static bool each(struct bench *bench, enum tg_view_kind kind,
                 bool (*act)(struct bench *bench, const struct tg_snapshot *s))
{
    TG_VEC(const struct tg_snapshot *) all = {0};
    const struct tg_snapshot *s;
    bool acted = false;

    for (size_t i = 0; (s = tg_cluster_nth(bench->cluster, kind, i)) != NULL; i++)
        *TG_VEC_PUSH(&all) = s;
    for (size_t i = 0; i < all.n; i++)
        acted = act(bench, all.items[i]) || acted;
    TG_VEC_DONE(&all);
    return acted;
}

bool bench_others(struct bench *bench)
{
    bool acted = each(bench, TG_VIEW_CLAIM, release_claim);

    acted = each(bench, TG_VIEW_CLAIM, collect_claim) || acted;
    return (!bench->no_scheduler && each(bench, TG_VIEW_POD, schedule)) || acted;
}
