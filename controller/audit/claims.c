/* SPDX-License-Identifier: Apache-2.0 */
/* I4, and what is left over on claims: markers, reservations, finalizers that nobody takes away. */
#include "api/runtime/base/map.h"
#include "api/runtime/base/str.h"
#include "api/tangram/names.h"
#include "controller/audit/parts.h"
#include "controller/gather/grant.h"

/* Who has a record, by UID. */
struct records {
    struct tg_map *gangs; /* -> struct tg_gang */
    struct tg_map *pods;  /* gated ones -> struct tg_pod */
};

static bool lists(const struct tg_plan *plan, const char *uid)
{
    for (size_t i = 0; plan != NULL && i < plan->members.n; i++)
        for (size_t j = 0; j < plan->members.items[i].claims.n; j++)
            if (tg_streq(plan->members.items[i].claims.items[j].uid, uid))
                return true;
    return false;
}

/* A user of the claim that still waits for the rest of its gang. */
static const struct tg_pod *waiting_user(const struct tg_resource_claim *claim,
                                         const struct records *records)
{
    for (size_t i = 0; i < claim->status->reserved_for.n; i++) {
        const char *uid = claim->status->reserved_for.items[i].uid;
        const struct tg_pod *pod = uid == NULL ? NULL : tg_map_get(records->pods, uid);

        if (pod != NULL)
            return pod;
    }
    return NULL;
}

/* An allocation is part of the plan that its marker names for as long as a gate is there. A single
 * claim (no UID) is its own record. */
static int check_marker(struct tg_auditing *a, const struct tg_resource_claim *claim,
                        const struct tg_plan_marker *marker, const struct records *records)
{
    const struct tg_pod *waits = waiting_user(claim, records);
    const struct tg_gang *gang;

    if (waits == NULL || marker->gang_uid[0] == '\0')
        return 0;
    gang = tg_map_get(records->gangs, marker->gang_uid);
    if (gang != NULL && gang->status != NULL && lists(gang->status->plan, claim->metadata->uid))
        return 0;
    if (tg_streq(waits->metadata->uid, marker->gang_uid) &&
        tg_meta_annotation(waits->metadata, TG_ANNOTATION_PLAN) != NULL)
        return 0;
    return tg_audit_found(a, TG_FOUND_MARKER_WITHOUT_PLAN, &tg_kind_resource_claim, claim->metadata,
                          "it is allocated for a plan (of UID %s) that does not exist, and pod %s "
                          "waits with it",
                          marker->gang_uid, waits->metadata->name);
}

static int check_users(struct tg_auditing *a, const struct tg_resource_claim *claim)
{
    int r = 0;

    if (claim->status->reserved_for.n == 0 && claim->metadata->deletion_timestamp == NULL)
        return tg_audit_found(a, TG_FOUND_NEVER_RESERVED, &tg_kind_resource_claim, claim->metadata,
                              "it is allocated and reserved for nobody: nobody will release it");
    for (size_t i = 0; r == 0 && i < claim->status->reserved_for.n; i++) {
        const struct tg_consumer_reference *user = &claim->status->reserved_for.items[i];

        if (tg_streq(user->resource, "pods") && tg_or(user->api_group, "")[0] == '\0' &&
            tg_audit_pod(a, claim->metadata->namespace_, user->name, user->uid) == NULL)
            r = tg_audit_found(a, TG_FOUND_RESERVATION_WITHOUT_POD, &tg_kind_resource_claim,
                               claim->metadata, "it is reserved for pod %s (UID %s), which is gone",
                               tg_or(user->name, "?"), tg_or(user->uid, "?"));
    }
    return r;
}

static int check_class(struct tg_auditing *a, const struct tg_resource_claim *claim)
{
    const char *unmanaged = tg_audit_class(a, claim, TG_CLASS_UNMANAGED);

    if (unmanaged == NULL)
        return 0;
    return tg_audit_found(a, TG_FOUND_UNMANAGED_CLASS, &tg_kind_resource_claim, claim->metadata,
                          "it was allocated by Tangram, and DeviceClass %s is not managed; if the "
                          "class was managed until lately this ends with the claim",
                          unmanaged);
}

static int check(struct tg_auditing *a, const struct tg_resource_claim *claim,
                 const struct records *records)
{
    bool reserved = claim->status != NULL && claim->status->reserved_for.n > 0;
    struct tg_plan_marker marker;
    int r = 0;

    if (tg_claim_marker(claim, a->arena, &marker) &&
        tg_streq(tg_or(marker.instance, TG_INSTANCE_DEFAULT), a->instance)) {
        r = check_class(a, claim);
        if (r == 0)
            r = check_marker(a, claim, &marker, records);
        if (r == 0)
            r = check_users(a, claim);
    }
    if (r == 0 && claim->metadata->deletion_timestamp != NULL && !reserved &&
        tg_meta_has_finalizer(claim->metadata, TG_FINALIZER_CLAIM) && tg_audit_is_ours(a, claim))
        r = tg_audit_found(
            a, TG_FOUND_ORPHANED_FINALIZER, &tg_kind_resource_claim, claim->metadata,
            "it was deleted, nobody uses it, and it keeps finalizer " TG_FINALIZER_CLAIM);
    return r;
}

static void index_by_uid(struct tg_map *map, const struct tg_object_meta *meta, const void *object)
{
    /* The map hands out what it was given; nobody writes through it. */
    if (meta->uid != NULL)
        tg_map_set(map, meta->uid, (void *)(uintptr_t)object);
}

int tg_audit_claims(struct tg_auditing *a)
{
    const struct tg_view_list *lists = a->view->lists;
    TG_AUTOMAP struct tg_map *gangs = tg_map_new(NULL);
    TG_AUTOMAP struct tg_map *pods = tg_map_new(NULL);
    const struct records records = {.gangs = gangs, .pods = pods};
    int r = 0;

    for (size_t i = 0; i < lists[TG_VIEW_GANG].n; i++) {
        const struct tg_gang *gang = lists[TG_VIEW_GANG].items[i];

        index_by_uid(gangs, gang->metadata, gang);
    }
    for (size_t i = 0; i < lists[TG_VIEW_POD].n; i++) {
        const struct tg_pod *pod = lists[TG_VIEW_POD].items[i];

        if (pod->spec != NULL && tg_pod_has_gate(pod, TG_GATE))
            index_by_uid(pods, pod->metadata, pod);
    }
    for (size_t i = 0; r == 0 && i < lists[TG_VIEW_CLAIM].n; i++)
        r = check(a, lists[TG_VIEW_CLAIM].items[i], &records);
    return r;
}
