/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/cluster_rules.h"

#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "tests/support/json_edit.h"

#define RESERVED_MAX 256
#define RESULTS_MAX 32

static int refuse(struct tg_error *err, const char *why)
{
    return tg_error_set(err, TG_INVALID_ARGUMENT, "invalid: %s", why);
}

static size_t length(const struct tg_json *list)
{
    return list == NULL ? 0 : list->n;
}

static bool equal(const struct tg_json *a, const struct tg_json *b)
{
    return a == NULL || b == NULL ? a == b : tg_json_equal(a, b);
}

static bool contains(const struct tg_json *list, const struct tg_json *item)
{
    for (size_t i = 0; i < length(list); i++)
        if (tg_json_equal(list->items[i], item))
            return true;
    return false;
}

/* --- metadata -------------------------------------------------------------------------------- */

static int check_metadata(struct tg_json *old, struct tg_json *next, struct tg_error *err)
{
    const struct tg_json *before = tg_edit_at(old, "metadata", "finalizers", NULL);
    const struct tg_json *after = tg_edit_at(next, "metadata", "finalizers", NULL);

    if (tg_edit_at(old, "metadata", "deletionTimestamp", NULL) == NULL)
        return 0;
    for (size_t i = 0; i < length(after); i++)
        if (!contains(before, after->items[i]))
            return refuse(err, "no new finalizers on an object that is being deleted");
    return 0;
}

/* --- claims ---------------------------------------------------------------------------------- */

static bool requested(struct tg_json *claim, const char *name)
{
    const struct tg_json *list = tg_edit_at(claim, "spec", "devices", "requests", NULL);

    for (size_t i = 0; i < length(list); i++)
        if (tg_streq(tg_json_string(tg_json_get(list->items[i], "name")), name))
            return true;
    return false;
}

static int check_results(struct tg_json *claim, const struct tg_json *results, struct tg_error *err)
{
    static const char *const names[] = {"driver", "pool", "device"};

    if (length(results) > RESULTS_MAX)
        return refuse(err, "too many results");
    for (size_t i = 0; i < length(results); i++) {
        if (!requested(claim, tg_json_string(tg_json_get(results->items[i], "request"))))
            return refuse(err, "a result of a request that the spec does not have");
        for (size_t j = 0; j < TG_ARRAY_SIZE(names); j++)
            if (tg_or(tg_json_string(tg_json_get(results->items[i], names[j])), NULL) == NULL)
                return refuse(err, "a result without driver, pool or device");
    }
    return 0;
}

static int check_config(struct tg_json *claim, const struct tg_json *config, struct tg_error *err)
{
    for (size_t i = 0; i < length(config); i++) {
        struct tg_json *entry = config->items[i];
        const char *source = tg_edit_string_at(entry, "source", NULL);
        const struct tg_json *requests = tg_json_get(entry, "requests");
        const struct tg_json *parameters = tg_edit_at(entry, "opaque", "parameters", NULL);

        if (!tg_streq(source, "FromClass") && !tg_streq(source, "FromClaim"))
            return refuse(err, "config without a source");
        if (tg_edit_string_at(entry, "opaque", "driver") == NULL || parameters == NULL ||
            parameters->kind != TG_JSON_OBJECT)
            return refuse(err, "config without driver or parameters");
        for (size_t j = 0; j < length(requests); j++)
            if (!requested(claim, tg_json_string(requests->items[j])))
                return refuse(err, "config of a request that the spec does not have");
    }
    return 0;
}

static int check_new_allocation(struct tg_json *claim, struct tg_json *allocation,
                                struct tg_error *err)
{
    const char *time = tg_edit_string_at(allocation, "allocationTimestamp", NULL);
    struct tg_json *selector = tg_edit_at(allocation, "nodeSelector", NULL);
    int r;

    if (time != NULL && (strlen(time) != strlen("2026-01-01T00:00:00Z") || time[19] != 'Z'))
        return refuse(err, "allocationTimestamp is not of whole seconds in UTC");
    if (selector != NULL && length(tg_edit_at(selector, "nodeSelectorTerms", NULL)) == 0)
        return refuse(err, "a nodeSelector without terms");
    r = check_results(claim, tg_edit_at(allocation, "devices", "results", NULL), err);
    return r < 0 ? r : check_config(claim, tg_edit_at(allocation, "devices", "config", NULL), err);
}

static int check_reserved(struct tg_json *old, struct tg_json *next, struct tg_error *err)
{
    const struct tg_json *before = tg_edit_at(old, "status", "reservedFor", NULL);
    const struct tg_json *after = tg_edit_at(next, "status", "reservedFor", NULL);

    if (length(after) > RESERVED_MAX)
        return refuse(err, "too many reservations");
    if (length(after) > 0 && tg_edit_at(next, "status", "allocation", NULL) == NULL)
        return refuse(err, "reservedFor without an allocation");
    for (size_t i = 0; i < length(after); i++) {
        struct tg_json *entry = after->items[i];
        const char *uid = tg_edit_string_at(entry, "uid", NULL);

        if (uid == NULL || tg_edit_string_at(entry, "name", NULL) == NULL ||
            tg_edit_string_at(entry, "resource", NULL) == NULL)
            return refuse(err, "a reservation without resource, name or uid");
        for (size_t j = 0; j < i; j++)
            if (tg_streq(uid, tg_edit_string_at(after->items[j], "uid", NULL)))
                return refuse(err, "a pod reserves twice");
        if (!contains(before, entry) &&
            tg_edit_at(old, "metadata", "deletionTimestamp", NULL) != NULL)
            return refuse(err, "no new reservations of a claim that is being deleted");
    }
    return 0;
}

static int check_claim_status(struct tg_json *old, struct tg_json *next, struct tg_error *err)
{
    struct tg_json *before = tg_edit_at(old, "status", "allocation", NULL);
    struct tg_json *after = tg_edit_at(next, "status", "allocation", NULL);
    int r = 0;

    if (before != NULL && after != NULL && !tg_json_equal(before, after))
        return refuse(err, "status.allocation: field is immutable");
    if (before == NULL && after != NULL)
        r = check_new_allocation(next, after, err);
    return r < 0 ? r : check_reserved(old, next, err);
}

static int check_claim(struct tg_json *old, struct tg_json *next, struct tg_error *err)
{
    return equal(tg_edit_at(old, "spec", NULL), tg_edit_at(next, "spec", NULL))
               ? 0
               : refuse(err, "spec: field is immutable");
}

/* --- pods ------------------------------------------------------------------------------------ */

/* Entries may go, none may come. */
static bool gates_shrink(struct tg_json *old, struct tg_json *next)
{
    const struct tg_json *before = tg_edit_at(old, "spec", "schedulingGates", NULL);
    const struct tg_json *after = tg_edit_at(next, "spec", "schedulingGates", NULL);
    size_t j = 0;

    for (size_t i = 0; i < length(before) && j < length(after); i++)
        if (tg_json_equal(before->items[i], after->items[j]))
            j++;
    return j == length(after);
}

static bool begins_with(const struct tg_json *longer, const struct tg_json *shorter)
{
    for (size_t i = 0; i < length(shorter); i++)
        if (i >= length(longer) || !tg_json_equal(longer->items[i], shorter->items[i]))
            return false;
    return true;
}

/* Required node affinity: the same terms, each with more in it at most. */
static bool affinity_tightens(struct tg_json *old, struct tg_json *next)
{
    static const char REQUIRED[] = "requiredDuringSchedulingIgnoredDuringExecution";
    static const char *const parts[] = {"matchExpressions", "matchFields"};
    const struct tg_json *before =
        tg_edit_at(old, "spec", "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms", NULL);
    const struct tg_json *after =
        tg_edit_at(next, "spec", "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms", NULL);

    if (length(before) == 0)
        return true;
    if (length(after) != before->n)
        return false;
    for (size_t i = 0; i < before->n; i++)
        for (size_t j = 0; j < TG_ARRAY_SIZE(parts); j++)
            if (!begins_with(tg_json_get(after->items[i], parts[j]),
                             tg_json_get(before->items[i], parts[j])))
                return false;
    return true;
}

static bool same_member(struct tg_json *old, struct tg_json *next, const char *key)
{
    return equal(tg_json_get(old, key), tg_json_get(next, key));
}

static int check_pod(struct tg_json *old, struct tg_json *next, struct tg_error *err)
{
    struct tg_json *before = tg_edit_at(old, "spec", NULL), *after = tg_edit_at(next, "spec", NULL);
    bool gated = length(tg_json_get(before, "schedulingGates")) > 0;

    if (!gates_shrink(old, next))
        return refuse(err, "spec.schedulingGates: only deletion is allowed");
    if (!gated && !same_member(before, after, "affinity"))
        return refuse(err, "spec.affinity of a pod without gates");
    if (!affinity_tightens(old, next))
        return refuse(err, "spec.affinity.nodeAffinity may only be tightened");
    for (size_t i = 0; i < after->n; i++)
        if (strcmp(after->keys[i], "schedulingGates") != 0 &&
            strcmp(after->keys[i], "affinity") != 0 && !same_member(before, after, after->keys[i]))
            return refuse(err, "spec: field is immutable");
    if (!equal(tg_edit_at(old, "spec", "affinity", "podAffinity", NULL),
               tg_edit_at(next, "spec", "affinity", "podAffinity", NULL)))
        return refuse(err, "spec.affinity.podAffinity: field is immutable");
    return 0;
}

static int check_gang(struct tg_json *old, struct tg_json *next, struct tg_error *err)
{
    return equal(tg_edit_at(old, "spec", NULL), tg_edit_at(next, "spec", NULL))
               ? 0
               : refuse(err, "spec is immutable");
}

int tg_cluster_check(enum tg_view_kind kind, bool status, struct tg_json *old, struct tg_json *next,
                     struct tg_error *err)
{
    static int (*const checks[TG_VIEW_KINDS][2])(struct tg_json *, struct tg_json *,
                                                 struct tg_error *) = {
        [TG_VIEW_POD] = {check_pod, NULL},
        [TG_VIEW_CLAIM] = {check_claim, check_claim_status},
        [TG_VIEW_GANG] = {check_gang, NULL},
    };
    int r = check_metadata(old, next, err);

    if (r == 0 && checks[kind][status] != NULL)
        r = checks[kind][status](old, next, err);
    return r;
}
