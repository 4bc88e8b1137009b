/* SPDX-License-Identifier: Apache-2.0 */
/* I2, pods: whatever runs has its devices, on its node, for itself. */
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/audit/parts.h"
#include "controller/gather/grant.h"

static int check_claim(struct tg_auditing *a, const struct tg_pod *pod,
                       const struct tg_resource_claim *claim)
{
    const char *node = tg_claim_node(claim);
    const char *lacks = NULL;

    if (!tg_audit_is_ours(a, claim))
        return 0;
    if (!tg_claim_allocated(claim))
        lacks = "not allocated";
    else if (!tg_audit_reserved_for(claim, pod->metadata->uid))
        lacks = "not reserved for it";
    if (lacks != NULL)
        return tg_audit_found(a, TG_FOUND_STARTED_WITHOUT_CLAIM, &tg_kind_pod, pod->metadata,
                              "it is on node %s, and its claim %s is %s", pod->spec->node_name,
                              claim->metadata->name, lacks);
    if (node != NULL && !tg_streq(node, pod->spec->node_name))
        return tg_audit_found(a, TG_FOUND_STARTED_ELSEWHERE, &tg_kind_pod, pod->metadata,
                              "it is on node %s, and the devices of its claim %s are on node %s",
                              pod->spec->node_name, claim->metadata->name, node);
    return 0;
}

static bool runs(const struct tg_pod *pod)
{
    return pod->spec != NULL && pod->spec->node_name != NULL && !tg_pod_finished(pod) &&
           pod->metadata->deletion_timestamp == NULL;
}

/* The claims of a pod one can see nothing of are not judged. */
static int check_allocated_in_part(struct tg_auditing *a, const struct tg_pod *pod)
{
    size_t ours = 0, allocated = 0;

    for (size_t i = 0; i < pod->spec->resource_claims.n; i++) {
        const char *name = tg_pod_claim_object(pod, &pod->spec->resource_claims.items[i]);
        const struct tg_resource_claim *claim =
            tg_view_claim(a->view, pod->metadata->namespace_, name);

        if (claim == NULL || !tg_audit_is_ours(a, claim))
            continue;
        ours++;
        /* One that others use as well may have been allocated for them. */
        allocated += tg_claim_allocated(claim) && tg_audit_reserved_for(claim, pod->metadata->uid);
    }
    if (allocated == 0 || allocated == ours)
        return 0;
    return tg_audit_found(a, TG_FOUND_PARTLY_ALLOCATED, &tg_kind_pod, pod->metadata,
                          "it waits, and %zu of its %zu claims are allocated", allocated, ours);
}

int tg_audit_pods(struct tg_auditing *a)
{
    const struct tg_view_list *pods = &a->view->lists[TG_VIEW_POD];
    int r = 0;

    for (size_t i = 0; r == 0 && i < pods->n; i++) {
        const struct tg_pod *pod = pods->items[i];

        if (pod->spec != NULL && tg_pod_has_gate(pod, TG_GATE) &&
            pod->metadata->deletion_timestamp == NULL)
            r = check_allocated_in_part(a, pod);
        for (size_t j = 0; r == 0 && runs(pod) && j < pod->spec->resource_claims.n; j++) {
            const char *name = tg_pod_claim_object(pod, &pod->spec->resource_claims.items[j]);
            const struct tg_resource_claim *claim =
                tg_view_claim(a->view, pod->metadata->namespace_, name);

            if (claim != NULL)
                r = check_claim(a, pod, claim);
        }
    }
    return r;
}
