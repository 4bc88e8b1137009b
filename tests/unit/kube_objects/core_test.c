/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/kube_objects/tables.h"

#include "api/kubernetes/objects/core.h"

static const char *pair(const struct tg_string_pair *items, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (tg_streq(items[i].key, key))
            return items[i].value;
    return NULL;
}
#define PAIR(list, key) pair((list).items, (list).n, key)

static void check_affinity(const struct tg_affinity *affinity)
{
    assert_int_equal(affinity->node_affinity->required->terms.n, 1);
    assert_non_null(strstr(affinity->pod_affinity->required, "kubernetes.io/hostname"));
    assert_non_null(strstr(affinity->pod_anti_affinity->required, "topology.kubernetes.io/zone"));
}

static void check_containers(const struct tg_pod_spec *spec)
{
    const struct tg_container *main_ = &spec->containers.items[0];
    const struct tg_container *sidecar = &spec->init_containers.items[0];

    assert_int_equal(spec->containers.n, 1);
    assert_string_equal(main_->name, "main");
    assert_null(main_->restart_policy);
    assert_string_equal(PAIR(main_->resources->requests, "cpu"), "7500m");
    assert_string_equal(PAIR(main_->resources->limits, "cpu"), "8");
    assert_opt_int(main_->ports.items[0].host_port, 8000);
    assert_string_equal(main_->ports.items[0].host_ip, "10.0.0.1");
    assert_string_equal(main_->ports.items[0].protocol, "TCP");
    assert_string_equal(sidecar->name, "proxy");
    assert_string_equal(sidecar->restart_policy, "Always");
}

static void check_pod_spec(const struct tg_pod_spec *spec)
{
    assert_string_equal(spec->node_name, "node-1");
    assert_string_equal(spec->scheduler_name, "default-scheduler");
    assert_string_equal(spec->priority_class_name, "batch");
    assert_opt_int(spec->priority, 1000);
    assert_string_equal(PAIR(spec->node_selector, "example.com/pool"), "gpu");
    assert_string_equal(PAIR(spec->overhead, "memory"), "120Mi");
    assert_string_equal(PAIR(spec->resources->requests, "cpu"), "8");
    assert_string_equal(PAIR(spec->resources->limits, "cpu"), "9");
    assert_opt_bool(spec->host_network, true);
    assert_string_equal(spec->tolerations.items[0].key, "nvidia.com/gpu");
    assert_string_equal(spec->tolerations.items[0].operator_, "Equal");
    assert_string_equal(spec->tolerations.items[0].value, "present");
    assert_string_equal(spec->tolerations.items[0].effect, "NoSchedule");
    assert_opt_int(spec->tolerations.items[1].toleration_seconds, 300);
    assert_string_equal(spec->topology_spread.items[0].when_unsatisfiable, "DoNotSchedule");
    assert_string_equal(spec->topology_spread.items[0].topology_key, "topology.kubernetes.io/zone");
    assert_int_equal(spec->volumes.n, 3);
    assert_string_equal(spec->volumes.items[0].name, "cache");
    assert_string_equal(spec->volumes.items[0].persistent_volume_claim->claim_name, "cache");
    assert_null(spec->volumes.items[0].ephemeral);
    assert_non_null(strstr(spec->volumes.items[1].ephemeral, "volumeClaimTemplate"));
    check_containers(spec);
    check_affinity(spec->affinity);
}

static void a_pod_is_read_as_the_api_server_writes_it(void **state)
{
    const struct tg_pod *pod;
    struct document d;

    (void)state;
    document_read(&d, "Pod", &tg_pod_type);
    document_check(&d, &tg_pod_type, "");
    pod = d.object;
    assert_string_equal(pod->metadata->name, "llama-0");
    check_pod_spec(pod->spec);
    assert_string_equal(pod->status->phase, "Pending");
    assert_string_equal(pod->status->nominated_node_name, "node-2");
    assert_string_equal(pod->status->conditions.items[0].reason, "SchedulingGated");
    assert_true(tg_pod_has_gate(pod, "tangram.dev/gang"));
    assert_false(tg_pod_has_gate(pod, "tangram.dev"));
    assert_string_equal(tg_pod_claim_object(pod, &pod->spec->resource_claims.items[0]),
                        "llama-0-gpus-abcde");
    assert_string_equal(pod->spec->resource_claims.items[0].resource_claim_template_name,
                        "llama-gpus");
    assert_string_equal(tg_pod_claim_object(pod, &pod->spec->resource_claims.items[1]),
                        "cache-gpu");
    document_done(&d);
}

static void a_claim_without_a_record_has_no_object_yet(void **state)
{
    const struct tg_pod_claim entry = {.name = "gpus", .resource_claim_template_name = "t"};
    struct tg_pod_claim_status records[] = {{.name = "other", .resource_claim_name = "x"},
                                            {.name = "gpus"}};
    struct tg_pod_status status = {.resource_claim_statuses = {records, 2}};
    struct tg_pod pod = {0};

    (void)state;
    assert_null(tg_pod_claim_object(&pod, &entry));
    assert_false(tg_pod_has_gate(&pod, "tangram.dev/gang"));
    pod.status = &status;
    assert_null(tg_pod_claim_object(&pod, &entry));
    records[1].resource_claim_name = "p-gpus";
    assert_string_equal(tg_pod_claim_object(&pod, &entry), "p-gpus");
}

static void succeeded_and_failed_pods_are_finished(void **state)
{
    static const struct {
        const char *phase;
        bool finished;
    } cases[] = {{"Pending", false},  {"Running", false}, {"Unknown", false},
                 {"Succeeded", true}, {"Failed", true},   {NULL, false}};
    struct tg_pod_status status = {0};
    struct tg_pod pod = {0};

    (void)state;
    assert_false(tg_pod_finished(&pod));
    pod.status = &status;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        status.phase = cases[i].phase;
        assert_int_equal(tg_pod_finished(&pod), cases[i].finished);
    }
}

static void a_node_is_read_as_the_api_server_writes_it(void **state)
{
    const struct tg_node *node;
    struct document d;

    (void)state;
    document_read(&d, "Node", &tg_node_type);
    document_check(&d, &tg_node_type, " namespace ");
    node = d.object;
    assert_opt_bool(node->spec->unschedulable, true);
    assert_string_equal(node->spec->taints.items[0].key, "node.kubernetes.io/unschedulable");
    assert_string_equal(node->spec->taints.items[0].value, "yes");
    assert_string_equal(node->spec->taints.items[0].effect, "NoSchedule");
    assert_string_equal(node->spec->taints.items[0].time_added, "2026-11-02T08:15:31Z");
    /* Not capacity: that is what the kubelet keeps for itself, too. */
    assert_string_equal(PAIR(node->status->allocatable, "cpu"), "95");
    assert_string_equal(PAIR(node->status->allocatable, "hugepages-2Mi"), "0");
    assert_int_equal(node->status->allocatable.n, 5);
    assert_string_equal(node->status->conditions.items[0].type, "Ready");
    assert_string_equal(node->status->conditions.items[0].status, "True");
    assert_string_equal(node->status->conditions.items[0].reason, "KubeletReady");
    assert_string_equal(node->status->conditions.items[0].message,
                        "kubelet is posting ready status");
    assert_string_equal(node->status->conditions.items[0].last_transition_time,
                        "2026-11-02T08:15:31Z");
    assert_opt_int(node->status->conditions.items[0].observed_generation, 3);
    document_done(&d);
}

static void a_namespace_is_read_as_the_api_server_writes_it(void **state)
{
    const struct tg_namespace *namespace_;
    struct document d;

    (void)state;
    document_read(&d, "Namespace", &tg_namespace_type);
    document_check(&d, &tg_namespace_type, " namespace ");
    namespace_ = d.object;
    assert_string_equal(namespace_->status->phase, "Terminating");
    document_done(&d);
}

static void an_event_is_read_as_the_api_server_writes_it(void **state)
{
    const struct tg_event *event;
    struct document d;

    (void)state;
    document_read(&d, "Event", &tg_event_type);
    document_check(&d, &tg_event_type, "");
    event = d.object;
    assert_string_equal(event->involved_object->api_version, "v1");
    assert_string_equal(event->involved_object->kind, "Pod");
    assert_string_equal(event->involved_object->namespace_, "ml");
    assert_string_equal(event->involved_object->name, "llama-0");
    assert_string_equal(event->involved_object->uid, "5f0c2a4e-8d0b-4a55-9a54-0f6e0f3c1a01");
    assert_string_equal(event->reason, "Waiting");
    assert_string_equal(event->message, "gang ml/llama-70b waits: 3 of 4 members exist.");
    assert_string_equal(event->type, "Warning");
    assert_string_equal(event->reporting_component, "tangram-controller");
    assert_string_equal(event->first_timestamp, "2026-11-02T08:15:31Z");
    assert_string_equal(event->last_timestamp, "2026-11-02T08:25:31Z");
    assert_opt_int(event->count, 7);
    document_done(&d);
}

static void of_a_pod_whose_metadata_is_unreadable_the_rest_is_known(void **state)
{
    static const char text[] =
        "{\"metadata\":{\"annotations\":{\"a\":\"\\u0000\"}},\"spec\":{\"nodeName\":\"n\"},"
        "\"status\":{\"phase\":\"Running\"}}";
    struct tg_arena *arena = tg_arena_new(1 << 16);
    void *object = NULL;
    const struct tg_pod *pod;

    (void)state;
    assert_int_equal(tg_json_decode_new(&tg_pod_type, text, strlen(text), arena, &object, NULL),
                     -TG_INVALID_ARGUMENT);
    assert_int_equal(
        tg_json_decode_new(tg_pod_salvage[0], text, strlen(text), arena, &object, NULL), 0);
    pod = object;
    assert_string_equal(pod->spec->node_name, "n");
    assert_string_equal(pod->status->phase, "Running");
    assert_null(tg_pod_salvage[1]);
    tg_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_is_read_as_the_api_server_writes_it),
        cmocka_unit_test(a_claim_without_a_record_has_no_object_yet),
        cmocka_unit_test(succeeded_and_failed_pods_are_finished),
        cmocka_unit_test(a_node_is_read_as_the_api_server_writes_it),
        cmocka_unit_test(a_namespace_is_read_as_the_api_server_writes_it),
        cmocka_unit_test(an_event_is_read_as_the_api_server_writes_it),
        cmocka_unit_test(of_a_pod_whose_metadata_is_unreadable_the_rest_is_known),
    };
    return cmocka_run_group_tests_name("core", tests, NULL, NULL);
}
