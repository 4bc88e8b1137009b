/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/controller/invariants.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"

static const struct tg_resource_claim *claim_of(const struct tg_snapshot *s)
{
    return s == NULL ? NULL : (const void *)s->object;
}

static void check_devices(struct bench *bench)
{
    TG_AUTOMAP struct tg_map *holders = tg_map_new(NULL);
    const struct tg_snapshot *s;

    for (size_t i = 0; (s = tg_cluster_nth(bench->cluster, TG_VIEW_CLAIM, i)) != NULL; i++) {
        const struct tg_resource_claim *claim = claim_of(s);

        for (size_t j = 0;
             tg_claim_allocated(claim) && j < claim->status->allocation->devices->results.n; j++) {
            const struct tg_allocation_device *d =
                &claim->status->allocation->devices->results.items[j];
            TG_AUTOFREE char *key = tg_xasprintf("%s/%s/%s", d->driver, d->pool, d->device);

            /* Sums of shares and counters are the checker's business (special_devices_test). */
            if (d->admin_access.value || d->share_id != NULL)
                continue;
            if (tg_map_has(holders, key))
                bench_fail(bench, "I1: %s held by %s and %s", key, s->key,
                           (const char *)tg_map_get(holders, key));
            tg_map_set(holders, key, (void *)(uintptr_t)s->key);
        }
    }
}

void invariants_claim(struct bench *bench, const char *klass, const struct tg_snapshot *before,
                      const struct tg_snapshot *after)
{
    const struct tg_resource_claim *claim = claim_of(after);

    if (!tg_claim_allocated(claim) || (before != NULL && tg_claim_allocated(claim_of(before))))
        return;
    check_devices(bench);
    for (size_t i = 0; klass != NULL && i < claim->spec->devices->requests.n; i++)
        if (!tg_streq(claim->spec->devices->requests.items[i].exactly->device_class_name, klass))
            fail_msg("I4: %s is of another class", after->key);
}

static const char *instance_of(const struct tg_snapshot *s)
{
    const struct tg_gang *gang = s == NULL ? NULL : (const void *)s->object;

    return gang == NULL || gang->status == NULL ? NULL : gang->status->instance;
}

void invariants_instance(struct bench *bench, const char *writer, const struct tg_snapshot *before,
                         const struct tg_snapshot *after)
{
    if (instance_of(before) != NULL && !tg_streq(instance_of(before), writer))
        bench_fail(bench, "%s of instance %s was written by %s", after->name, instance_of(before),
                   writer);
    if (instance_of(after) != NULL && !tg_streq(instance_of(after), writer))
        bench_fail(bench, "%s was given to %s by %s", after->name, instance_of(after), writer);
}

/* --- I2 -------------------------------------------------------------------------------------- */

static const struct tg_snapshot *look(struct bench *bench, enum tg_view_kind kind,
                                      const char *namespace_, const char *name)
{
    return bench->racing ? tg_cluster_seen(bench->cluster, kind, namespace_, name)
                         : tg_cluster_get(bench->cluster, kind, namespace_, name);
}

/* Of the plan, if it still lists claims: exactly these devices. */
static bool as_planned(const struct tg_plan *plan, const struct tg_resource_claim *claim)
{
    const struct tg_allocation_devices *devices = claim->status->allocation->devices;

    for (size_t i = 0; plan != NULL && i < plan->members.n; i++)
        for (size_t j = 0; j < plan->members.items[i].claims.n; j++) {
            const struct tg_plan_claim *planned = &plan->members.items[i].claims.items[j];
            size_t n = 0;

            if (!tg_streq(planned->uid, claim->metadata->uid))
                continue;
            for (size_t k = 0; k < planned->results.n; k++)
                for (size_t l = 0; l < planned->results.items[k].devices.n; l++, n++)
                    if (n >= devices->results.n ||
                        !tg_streq(devices->results.items[n].device,
                                  planned->results.items[k].devices.items[l]))
                        return false;
            return n == devices->results.n;
        }
    return true;
}

static bool reserved_for(const struct tg_resource_claim *claim, const struct tg_pod *pod)
{
    for (size_t i = 0; i < claim->status->reserved_for.n; i++)
        if (tg_streq(claim->status->reserved_for.items[i].uid, pod->metadata->uid))
            return true;
    return false;
}

static void check_member(struct bench *bench, const struct tg_pod *pod, const struct tg_plan *plan,
                         const char *node)
{
    for (size_t i = 0; i < pod->spec->resource_claims.n; i++) {
        const char *name = tg_pod_claim_object(pod, &pod->spec->resource_claims.items[i]);
        const struct tg_snapshot *s =
            name == NULL ? NULL : look(bench, TG_VIEW_CLAIM, pod->metadata->namespace_, name);
        const struct tg_resource_claim *claim = claim_of(s);
        struct tg_plan_marker marker;
        const char *why = NULL;

        if (claim == NULL || !tg_claim_allocated(claim))
            why = "is not allocated";
        else if (!tg_claim_marker(claim, bench->arena, &marker))
            why = "is not ours";
        else if (!reserved_for(claim, pod))
            why = "is not reserved";
        else if (node != NULL && !tg_streq(tg_claim_node(claim), node))
            why = "is on another node";
        else if (!as_planned(plan, claim))
            why = "has other devices than planned";
        if (why != NULL)
            bench_fail(bench, "I2: a gate was removed, but claim %s of pod %s %s", tg_or(name, "?"),
                       pod->metadata->name, why);
    }
}

/* The Gang whose plan lists the pod, by the names that the server has: the cache knows no order. */
static const struct tg_gang *gang_of(struct bench *bench, const struct tg_pod *pod)
{
    const struct tg_snapshot *s;

    for (size_t i = 0; (s = tg_cluster_nth(bench->cluster, TG_VIEW_GANG, i)) != NULL; i++) {
        const struct tg_snapshot *known = look(bench, TG_VIEW_GANG, s->namespace_, s->name);
        const struct tg_gang *gang = known == NULL ? NULL : (const void *)known->object;
        const struct tg_plan *plan =
            gang == NULL || gang->status == NULL ? NULL : gang->status->plan;

        for (size_t j = 0; plan != NULL && j < plan->members.n; j++)
            if (tg_streq(plan->members.items[j].uid, pod->metadata->uid))
                return gang;
    }
    return NULL;
}

static const struct tg_pod *live_pod(struct bench *bench, const char *name, const char *uid)
{
    const struct tg_snapshot *s = look(bench, TG_VIEW_POD, NS, name);
    const struct tg_pod *pod = s == NULL ? NULL : (const void *)s->object;

    return pod == NULL || !tg_streq(s->uid, uid) || tg_pod_finished(pod) ||
                   pod->metadata->deletion_timestamp != NULL
               ? NULL
               : pod;
}

static bool pinned_to(const struct tg_pod *pod, const char *node)
{
    const struct tg_node_selector *required =
        pod->spec->affinity == NULL || pod->spec->affinity->node_affinity == NULL
            ? NULL
            : pod->spec->affinity->node_affinity->required;
    size_t pins = 0;

    for (size_t i = 0; required != NULL && i < required->terms.n; i++)
        for (size_t j = 0; j < required->terms.items[i].match_fields.n; j++)
            pins += tg_streq(required->terms.items[i].match_fields.items[j].values.items[0], node);
    return required != NULL && required->terms.n > 0 && pins == required->terms.n;
}

void invariants_gate(struct bench *bench, const struct tg_snapshot *snapshot)
{
    const struct tg_pod *pod = (const void *)snapshot->object;
    const struct tg_gang *gang = gang_of(bench, pod);
    const struct tg_plan *plan = gang == NULL ? NULL : gang->status->plan;

    check_member(bench, pod, plan, NULL);
    if (plan == NULL)
        return;
    if (!tg_streq(gang->status->phase, TG_PHASE_ALLOCATED) &&
        !tg_streq(gang->status->phase, TG_PHASE_DEGRADED))
        bench->ungated_early++;
    for (size_t i = 0; i < plan->members.n; i++) {
        const struct tg_plan_member *member = &plan->members.items[i];
        const struct tg_pod *other = live_pod(bench, member->pod, member->uid);

        if (other != NULL)
            check_member(bench, other, plan, member->node);
        if (!bench->racing && other == pod && !pinned_to(pod, member->node))
            fail_msg("pod %s was released without being pinned to %s", pod->metadata->name,
                     member->node);
    }
}

static bool same_gang(const char *a, const char *b)
{
    size_t n = (size_t)(strrchr(a, '-') == NULL ? 0 : strrchr(a, '-') - a + 1);

    return strncmp(a, b, n) == 0 && strchr(b + n, '-') == NULL && (n > 0 || strcmp(a, b) == 0);
}

void invariants_late_gate(struct bench *bench, const struct tg_snapshot *pod)
{
    const struct tg_snapshot *s;

    for (size_t i = 0; (s = tg_cluster_nth(bench->cluster, TG_VIEW_CLAIM, i)) != NULL; i++) {
        const struct tg_owner_reference *owner = tg_meta_controller(s->object->metadata);

        if (owner != NULL && same_gang(pod->name, owner->name) &&
            tg_cluster_get(bench->cluster, TG_VIEW_POD, NS, owner->name) != NULL &&
            tg_map_has(bench->taken_back, s->key))
            bench_fail(bench, "I2: a late write released %s though claim %s was taken back",
                       pod->name, s->name);
    }
}

/* --- I3 -------------------------------------------------------------------------------------- */

static size_t claims_held(struct bench *bench, const struct tg_pod *pod)
{
    size_t held = 0;

    for (size_t i = 0; i < pod->spec->resource_claims.n; i++) {
        const char *name = tg_pod_claim_object(pod, &pod->spec->resource_claims.items[i]);
        const struct tg_snapshot *s =
            name == NULL ? NULL : tg_cluster_get(bench->cluster, TG_VIEW_CLAIM, NS, name);
        struct tg_plan_marker marker;

        held += s != NULL && tg_claim_marker(claim_of(s), bench->arena, &marker);
    }
    return held;
}

void invariants_rest(struct bench *bench)
{
    const struct tg_snapshot *s;

    for (size_t i = 0; (s = tg_cluster_nth(bench->cluster, TG_VIEW_POD, i)) != NULL; i++) {
        const struct tg_pod *pod = (const void *)s->object;

        if (!tg_pod_finished(pod) && pod->metadata->deletion_timestamp == NULL &&
            pod->spec->node_name == NULL && claims_held(bench, pod) > 0)
            bench_fail(bench, "I3: pod %s %s with %zu of %zu claims allocated", pod->metadata->name,
                       tg_pod_has_gate(pod, TG_GATE) ? "is gated" : "does not start",
                       claims_held(bench, pod), pod->spec->resource_claims.n);
    }
}
