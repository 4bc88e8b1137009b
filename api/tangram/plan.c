/* SPDX-License-Identifier: Apache-2.0 */
#include "api/tangram/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "api/tangram/fields.h"

/* Limits of the Kubernetes API: 32 results a claim (AllocationResultsMaxSize), 32 requests, names.
 */
/* Binding conditions are qualified names of labels. */
enum { MAX_CONDITIONS = 4, CONDITION = 317 };
enum { MAX_RESULTS = 32, MAX_CLAIMS = 32, MAX_CLASSES = 32, NAME = 253, UID = 64, POOL = 253 };

static const struct tg_field result_fields[] = {
    STRING(struct tg_plan_result, request, "request", REQUIRED,
           DOC(.description = "Name of the request, or request/subrequest.", .max_length = 127)),
    STRINGS(struct tg_plan_result, devices, "devices", MAX_RESULTS, REQUIRED,
            DOC(.description = "Device names, in the order in which the results are written.",
                .max_length = 63)),
    STRING(struct tg_plan_result, driver, "driver",
           DOC(.description = "Driver, where it is not the driver of the plan.", .max_length = 63)),
    STRING(struct tg_plan_result, pool, "pool",
           DOC(.description = "Pool, where it is not named after the member's node.",
               .max_length = POOL)),
    BOOLEAN(struct tg_plan_result, admin_access, "adminAccess",
            DOC(.description = "The devices are used by admin access, whoever has them.")),
    FREE_FORM(struct tg_plan_result, consumed, "consumedCapacity",
              DOC(.description = "What the claim takes of each device; the devices are shared.",
                  .free_form = true)),
    STRINGS(struct tg_plan_result, binding_conditions, "bindingConditions", MAX_CONDITIONS,
            DOC(.description = "Conditions that the results copy from the devices.",
                .max_length = CONDITION)),
    STRINGS(struct tg_plan_result, binding_failure_conditions, "bindingFailureConditions",
            MAX_CONDITIONS,
            DOC(.description = "Conditions that the results copy from the devices.",
                .max_length = CONDITION)),
};
static const struct tg_type result_type = TG_TYPE(struct tg_plan_result, result_fields);

static const struct tg_field claim_fields[] = {
    STRING(struct tg_plan_claim, name, "name", REQUIRED,
           DOC(.description = "Name of the ResourceClaim.", .max_length = NAME)),
    STRING(struct tg_plan_claim, uid, "uid", REQUIRED,
           DOC(.description = "UID of the ResourceClaim.", .max_length = UID)),
    OBJECTS(struct tg_plan_claim, results, "results", &result_type, MAX_RESULTS, REQUIRED,
            DOC(.description = "Devices by request.")),
};
static const struct tg_type claim_type = TG_TYPE(struct tg_plan_claim, claim_fields);

static const struct tg_field member_fields[] = {
    STRING(struct tg_plan_member, pod, "pod", REQUIRED,
           DOC(.description = "Name of the member's pod.", .max_length = NAME)),
    STRING(struct tg_plan_member, uid, "uid", REQUIRED,
           DOC(.description = "UID of the member's pod.", .max_length = UID)),
    STRING(struct tg_plan_member, role, "role",
           DOC(.description = "Role of the member, where the gang has roles.", .max_length = 63)),
    STRING(struct tg_plan_member, node, "node", REQUIRED,
           DOC(.description = "Node that the member is pinned to.", .max_length = NAME)),
    OBJECTS(struct tg_plan_member, claims, "claims", &claim_type, MAX_CLAIMS,
            DOC(.description = "Claims of the member; gone when every gate of the gang is.")),
};
static const struct tg_type member_type = TG_TYPE(struct tg_plan_member, member_fields);

static const struct tg_field class_fields[] = {
    STRING(struct tg_plan_class, name, "name", REQUIRED,
           DOC(.description = "Name of the DeviceClass.", .max_length = NAME)),
    FREE_FORM(struct tg_plan_class, config, "config", REQUIRED,
              DOC(.description = "Configuration of the class as it was when the plan was made.",
                  .free_form = true)),
};
static const struct tg_type class_type = TG_TYPE(struct tg_plan_class, class_fields);

static const struct tg_field plan_fields[] = {
    INTEGER(struct tg_plan, epoch, "epoch", REQUIRED,
            DOC(.description = "Epoch of the leader that decided the plan.", .format = "int64")),
    STRING(struct tg_plan, allocation_timestamp, "allocationTimestamp",
           DOC(.description = "Time of every allocation of the plan, in whole seconds.",
               .format = "date-time")),
    STRING(struct tg_plan, driver, "driver",
           DOC(.description = "Driver of every result that names none.", .max_length = 63)),
    OBJECTS(struct tg_plan, classes, "classes", &class_type, MAX_CLASSES,
            DOC(.description = "Classes whose configuration the allocations copy.")),
    OBJECTS(struct tg_plan, members, "members", &member_type, TG_GANG_MAX_MEMBERS, REQUIRED,
            DOC(.description = "Every member with its node and devices.")),
};
const struct tg_type tg_plan_type = TG_TYPE(struct tg_plan, plan_fields);

const char *tg_plan_result_driver(const struct tg_plan *plan, const struct tg_plan_result *result)
{
    return result->driver != NULL ? result->driver : plan->driver;
}

const char *tg_plan_result_pool(const struct tg_plan_member *member,
                                const struct tg_plan_result *result)
{
    return result->pool != NULL ? result->pool : member->node;
}

size_t tg_plan_claim_results(const struct tg_plan_claim *claim)
{
    size_t n = 0;

    for (size_t i = 0; i < claim->results.n; i++)
        n += claim->results.items[i].devices.n;
    return n;
}

/* Two independent halves; the finaliser is that of splitmix64. */
static uint64_t mix(uint64_t hash, const void *data, size_t n)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i <= n; i++) { /* the length counts too */
        hash ^= i < n ? bytes[i] : 0x100 + n;
        hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
        hash ^= hash >> 31;
    }
    return hash;
}

void tg_plan_share_id(const struct tg_plan *plan, const struct tg_plan_claim *claim, size_t index,
                      char ret[TG_PLAN_SHARE_ID])
{
    const char *const texts[] = {claim->uid, plan->allocation_timestamp};
    uint64_t half[2] = {UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xc2b2ae3d27d4eb4f)};

    for (size_t h = 0; h < TG_ARRAY_SIZE(half); h++) {
        half[h] = mix(half[h], &plan->epoch.value, sizeof(plan->epoch.value));
        half[h] = mix(half[h], &index, sizeof(index));
        for (size_t i = 0; i < TG_ARRAY_SIZE(texts); i++)
            half[h] = mix(half[h], tg_or(texts[i], ""), strlen(tg_or(texts[i], "")));
    }
    /* Version 8 (made by a rule of one's own), variant of RFC 9562. */
    snprintf(ret, TG_PLAN_SHARE_ID, "%08" PRIx32 "-%04x-8%03x-%04x-%012" PRIx64,
             (uint32_t)(half[0] >> 32), (unsigned)(half[0] >> 16) & 0xffffU,
             (unsigned)half[0] & 0xfffU, ((unsigned)(half[1] >> 48) & 0x3fffU) | 0x8000U,
             half[1] & UINT64_C(0xffffffffffff));
}

static bool blank(const char *s)
{
    return s == NULL || s[0] == '\0';
}

static const char *claim_fault(const struct tg_plan *plan, const struct tg_plan_claim *claim)
{
    if (blank(claim->name))
        return "name";
    if (blank(claim->uid))
        return "uid";
    if (claim->results.n == 0)
        return "results";
    for (size_t i = 0; i < claim->results.n; i++) {
        const struct tg_plan_result *result = &claim->results.items[i];
        if (blank(result->request))
            return "results[].request";
        if (result->devices.n == 0)
            return "results[].devices";
        for (size_t j = 0; j < result->devices.n; j++)
            if (blank(result->devices.items[j]))
                return "results[].devices[]";
        if (blank(tg_plan_result_driver(plan, result)))
            return "results[].driver";
        if (result->consumed != NULL && result->consumed[0] != '{')
            return "results[].consumedCapacity";
    }
    return NULL;
}

static int validate_member(const struct tg_plan *plan, size_t index, struct tg_error *err)
{
    const struct tg_plan_member *member = &plan->members.items[index];
    const char *fault = blank(member->pod)    ? "pod"
                        : blank(member->uid)  ? "uid"
                        : blank(member->node) ? "node"
                                              : NULL;
    if (fault != NULL)
        return tg_error_set(err, TG_DATA_LOSS, "plan: members[%zu].%s is missing or empty", index,
                            fault);
    for (size_t i = 0; i < member->claims.n; i++) {
        fault = claim_fault(plan, &member->claims.items[i]);
        if (fault != NULL)
            return tg_error_set(err, TG_DATA_LOSS,
                                "plan: members[%zu].claims[%zu].%s is missing or empty", index, i,
                                fault);
    }
    if (member->claims.n > 0 && blank(plan->allocation_timestamp))
        return tg_error_set(err, TG_DATA_LOSS, "plan: allocationTimestamp is missing or empty");
    return 0;
}

int tg_plan_validate(const struct tg_plan *plan, struct tg_error *err)
{
    if (!plan->epoch.set || plan->epoch.value < 0)
        return tg_error_set(err, TG_DATA_LOSS, "plan: epoch is missing or negative");
    if (plan->members.n == 0)
        return tg_error_set(err, TG_DATA_LOSS, "plan: members is missing or empty");
    for (size_t i = 0; i < plan->classes.n; i++)
        if (blank(plan->classes.items[i].name) || blank(plan->classes.items[i].config))
            return tg_error_set(err, TG_DATA_LOSS, "plan: classes[%zu] lacks name or config", i);
    for (size_t i = 0; i < plan->members.n; i++) {
        int rc = validate_member(plan, i, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}
