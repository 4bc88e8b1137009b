/* SPDX-License-Identifier: Apache-2.0 */
/* controller/core/fit: the table of node rules and the file behind each line. */
#include "controller/core/fit/rule.h"
#include "tests/unit/core/world.h"

#define READY "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}"
#define NODE(labels, spec)                                                                         \
    "{\"metadata\":{\"name\":\"n1\",\"labels\":{" labels "}},\"spec\":{" spec "}," READY "}"
#define EXPR(key, op, values)                                                                      \
    "{\"key\":\"" key "\",\"operator\":\"" op "\",\"values\":[" values "]}"
#define AFFINITY(terms)                                                                            \
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"         \
    "\"nodeSelectorTerms\":[" terms "]}}}"
#define ONE_EXPR(expr) AFFINITY("{\"matchExpressions\":[" expr "]}")
#define ONE_FIELD(expr) AFFINITY("{\"matchFields\":[" expr "]}")

static const struct {
    const char *node, *pod; /* pod: members of the spec */
    const char *reason;     /* of the first failed rule, NULL: none */
} cases[] = {
    {NODE("", ""), "", NULL},
    {"{\"metadata\":{\"name\":\"n1\"}}", "", "NodeNotReady"},
    {"{\"metadata\":{\"name\":\"n1\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":"
     "\"False\"}]}}",
     "", "NodeNotReady"},
    {"{\"metadata\":{\"name\":\"n1\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":"
     "\"True\"}],"
     "\"allocatable\":{\"cpu\":\"?\"}}}",
     "", "NodeUnreadable"},
    {NODE("", "\"unschedulable\":true"), "", "NodeUnschedulable"},
    {NODE("", "\"unschedulable\":false"), "", NULL},
    {NODE("", "\"unschedulable\":true"),
     "\"tolerations\":[{\"key\":\"node.kubernetes.io/unschedulable\",\"operator\":\"Exists\"}]",
     NULL},
    {NODE("", "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]"), "", "NodeTainted"},
    {NODE("", "\"taints\":[{\"key\":\"k\",\"effect\":\"NoExecute\"}]"), "", "NodeTainted"},
    {NODE("", "\"taints\":[{\"key\":\"k\",\"effect\":\"PreferNoSchedule\"}]"), "", NULL},
    {NODE("", "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]"),
     "\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"}]", NULL},
    {NODE("", "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"},{\"key\":\"l\",\"effect\":"
              "\"NoSchedule\"}]"),
     "\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"}]", "NodeTainted"},
    {NODE("\"a\":\"b\"", ""), "\"nodeSelector\":{\"a\":\"b\"}", NULL},
    {NODE("\"a\":\"b\"", ""), "\"nodeSelector\":{\"a\":\"c\"}", "NodeSelectorMismatch"},
    {NODE("", ""), "\"nodeSelector\":{\"a\":\"\"}", "NodeSelectorMismatch"},
    {NODE("\"a\":\"b\"", ""), ONE_EXPR(EXPR("a", "In", "\"x\",\"b\"")), NULL},
    {NODE("\"a\":\"b\"", ""), ONE_EXPR(EXPR("a", "In", "\"x\"")), "NodeAffinityMismatch"},
    {NODE("", ""), ONE_EXPR(EXPR("a", "In", "\"x\"")), "NodeAffinityMismatch"},
    {NODE("\"a\":\"b\"", ""), ONE_EXPR(EXPR("a", "NotIn", "\"b\"")), "NodeAffinityMismatch"},
    {NODE("", ""), ONE_EXPR(EXPR("a", "NotIn", "\"b\"")), NULL},
    {NODE("\"a\":\"b\"", ""), ONE_EXPR(EXPR("a", "Exists", "")), NULL},
    {NODE("", ""), ONE_EXPR(EXPR("a", "Exists", "")), "NodeAffinityMismatch"},
    {NODE("", ""), ONE_EXPR(EXPR("a", "DoesNotExist", "")), NULL},
    {NODE("\"a\":\"b\"", ""), ONE_EXPR(EXPR("a", "DoesNotExist", "")), "NodeAffinityMismatch"},
    {NODE("\"a\":\"5\"", ""), ONE_EXPR(EXPR("a", "Gt", "\"4\"")), NULL},
    {NODE("\"a\":\"5\"", ""), ONE_EXPR(EXPR("a", "Gt", "\"5\"")), "NodeAffinityMismatch"},
    {NODE("\"a\":\"5\"", ""), ONE_EXPR(EXPR("a", "Lt", "\"6\"")), NULL},
    {NODE("\"a\":\"x\"", ""), ONE_EXPR(EXPR("a", "Lt", "\"6\"")), "NodeAffinityMismatch"},
    {NODE("\"a\":\"b\"", ""), ONE_EXPR(EXPR("a", "Like", "\"b\"")), "NodeAffinityMismatch"},
    {NODE("", ""), ONE_FIELD(EXPR("metadata.name", "In", "\"n1\"")), NULL},
    {NODE("", ""), ONE_FIELD(EXPR("metadata.name", "In", "\"n2\"")), "NodeAffinityMismatch"},
    {NODE("", ""), ONE_FIELD(EXPR("metadata.name", "NotIn", "\"n1\"")), "NodeAffinityMismatch"},
    /* A field that does not exist is empty. The API server lets no pod have one. */
    {NODE("", ""), ONE_FIELD(EXPR("spec.x", "NotIn", "\"n1\"")), NULL},
    /* Terms are ORed, what is in a term is ANDed, an empty term and no terms at all match nothing.
     */
    {NODE("\"a\":\"b\"", ""),
     AFFINITY("{\"matchExpressions\":[" EXPR("z", "Exists", "") "]},{\"matchExpressions\":[" EXPR(
         "a", "Exists", "") "]}"),
     NULL},
    {NODE("\"a\":\"b\"", ""), ONE_EXPR(EXPR("a", "Exists", "") "," EXPR("z", "Exists", "")),
     "NodeAffinityMismatch"},
    {NODE("\"a\":\"b\"", ""),
     AFFINITY("{\"matchExpressions\":[" EXPR("a", "Exists", "") "],\"matchFields\":[" EXPR(
         "metadata.name", "In", "\"n2\"") "]}"),
     "NodeAffinityMismatch"},
    {NODE("", ""), AFFINITY("{}"), "NodeAffinityMismatch"},
    {NODE("", ""), AFFINITY(""), "NodeAffinityMismatch"},
    {NODE("", ""), "\"affinity\":{}", NULL},
    /* What cannot be read matches nothing, NotIn included. */
    {NODE("", ""), ONE_EXPR(EXPR("a", "NotIn", "")), "NodeAffinityMismatch"},
    {NODE("", ""), ONE_EXPR(EXPR("a", "DoesNotExist", "\"\"")), "NodeAffinityMismatch"},
    {NODE("", ""), ONE_FIELD(EXPR("metadata.name", "In", "\"n1\",\"n2\"")), "NodeAffinityMismatch"},
    {NODE("", ""), ONE_FIELD(EXPR("metadata.name", "Exists", "\"n1\"")), "NodeAffinityMismatch"},
};

static void each_rule_answers_as_the_scheduler_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world w;
        struct tg_fleet *fleet;
        const struct tg_pod *pod;
        const char *reason = NULL;
        size_t failed = 0;

        world_init(&w);
        w.nodes[w.n_nodes++] = decode(w.arena, &tg_node_type, cases[i].node);
        pod = decodef(w.arena, &tg_pod_type, "{\"metadata\":{\"name\":\"p\"},\"spec\":{%s}}",
                      cases[i].pod);
        fleet = world_fleet(&w);
        failed = tg_fit_first_failed(&fleet->nodes[0], &(struct tg_fit_guest){.pod = pod});
        reason = failed == tg_fit_rules_count ? NULL : tg_fit_rules[failed].reason;
        if ((reason == NULL) != (cases[i].reason == NULL) ||
            (reason != NULL && strcmp(reason, cases[i].reason) != 0))
            fail_msg("%s on %s: %s", cases[i].pod, cases[i].node,
                     reason == NULL ? "passes" : reason);
        world_done(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_answers_as_the_scheduler_does),
    };

    return cmocka_run_group_tests_name("rules", tests, NULL, NULL);
}
