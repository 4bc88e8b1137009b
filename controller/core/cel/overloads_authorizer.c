/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The authorizer library of the API server (pkg/cel/library/authz.go). Selectors have it as every
 * Kubernetes environment does, but nothing that they can name is an authorizer: a call passes the
 * checker where the type of its target is not known, and is an error when it is reached.
 */
#include "controller/core/cel/overloads.h"

#define OBJECT(id, text)                                                                           \
    static const struct tg_cel_type id = {.kind = TG_CEL_OBJECT,                                   \
                                          .name = "kubernetes.authorization." text}
OBJECT(authorizer, "Authorizer");
OBJECT(path_check, "PathCheck");
OBJECT(group_check, "GroupCheck");
OBJECT(resource_check, "ResourceCheck");
OBJECT(decision, "Decision");

static int refuse(struct tg_cel_run *run, const struct tg_cel_node *call,
                  const struct tg_cel_value *args, struct tg_cel_value *ret)
{
    (void)args;
    (void)ret;
    return tg_cel_fail_overload(run, call);
}

#define BUILDER(id, from, to)                                                                      \
    static const struct tg_cel_overload id[] = {                                                   \
        MEMBER(#id, AUTHORIZER, UNIT, refuse, to, from, STRING)}
#define SELECTOR(id)                                                                               \
    static const struct tg_cel_overload id[] = {                                                   \
        MEMBER(#id, AUTHORIZER, REQUIREMENTS, refuse, &resource_check, &resource_check, STRING)}
#define ANSWER(id, to)                                                                             \
    static const struct tg_cel_overload id[] = {                                                   \
        MEMBER(#id, AUTHORIZER, UNIT, refuse, to, &decision)}

BUILDER(authorizer_path, &authorizer, &path_check);
BUILDER(authorizer_group, &authorizer, &group_check);
BUILDER(groupcheck_resource, &group_check, &resource_check);
BUILDER(resourcecheck_subresource, &resource_check, &resource_check);
BUILDER(resourcecheck_namespace, &resource_check, &resource_check);
BUILDER(resourcecheck_name, &resource_check, &resource_check);
SELECTOR(authorizer_fieldselector);
SELECTOR(authorizer_labelselector);
ANSWER(decision_errored, BOOL);
ANSWER(decision_error, STRING);
ANSWER(decision_allowed, BOOL);
ANSWER(decision_reason, STRING);
static const struct tg_cel_overload authorizer_service_account[] = {
    MEMBER("authorizer_serviceaccount", AUTHORIZER, UNIT, refuse, &authorizer, &authorizer, STRING,
           STRING),
};
static const struct tg_cel_overload check[] = {
    MEMBER("pathcheck_check", AUTHORIZER, AUTHORIZE, refuse, &decision, &path_check, STRING),
    MEMBER("resourcecheck_check", AUTHORIZER, AUTHORIZE, refuse, &decision, &resource_check,
           STRING),
};

/* By name, as strcmp has it. */
static const struct tg_cel_function functions[] = {
    FUNCTION("allowed", decision_allowed),
    FUNCTION("check", check),
    FUNCTION("error", decision_error),
    FUNCTION("errored", decision_errored),
    FUNCTION("fieldSelector", authorizer_fieldselector),
    FUNCTION("group", authorizer_group),
    FUNCTION("labelSelector", authorizer_labelselector),
    FUNCTION("name", resourcecheck_name),
    FUNCTION("namespace", resourcecheck_namespace),
    FUNCTION("path", authorizer_path),
    FUNCTION("reason", decision_reason),
    FUNCTION("resource", groupcheck_resource),
    FUNCTION("serviceAccount", authorizer_service_account),
    FUNCTION("subresource", resourcecheck_subresource),
};

const struct tg_cel_functions tg_cel_authorizer_functions = {functions, TG_ARRAY_SIZE(functions)};
