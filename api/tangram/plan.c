/* SPDX-License-Identifier: Apache-2.0 */
#include "api/tangram/plan.h"

#include "api/runtime/base/str.h"
#include "api/tangram/fields.h"

/* Limits of the Kubernetes API: 32 results a claim (AllocationResultsMaxSize), 32 requests, names.
 */
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
