/* SPDX-License-Identifier: Apache-2.0 */
/* What the controller tells at /metrics about itself; requests and informers are measured by their
 * client. */
#include <stdio.h>
#include <string.h>

#include "api/runtime/base/process.h"
#include "controller/controller.h"
#include "controller/operation.h"

enum { DECISION_BOUNDS = 10, COMMIT_BOUNDS = 10 };
/* Budgets of a decision: 20 us for one device, 1 and 5 ms for a gang. */
static const double decision_bounds[DECISION_BOUNDS] = {0.00002, 0.0001, 0.0005, 0.001, 0.0025,
                                                        0.005,   0.025,  0.1,    0.5,   2.5};
static const double commit_bounds[COMMIT_BOUNDS] = {0.01, 0.025, 0.05, 0.1, 0.25,
                                                    0.5,  1,     2.5,  10,  60};

static const struct tg_metric_definition table[TG_CONTROLLER_METRICS] = {
    [TG_CONTROLLER_LEADING] = {.name = "tangram_controller_leading",
                               .help = "1 while this replica holds the lease.",
                               .kind = TG_METRIC_GAUGE},
    [TG_CONTROLLER_PASSES] = {.name = "tangram_controller_passes_total",
                              .help = "Passes over all gangs and claims.",
                              .kind = TG_METRIC_COUNTER},
    [TG_CONTROLLER_PASS_DURATION] = {.name = "tangram_controller_pass_duration_seconds",
                                     .help = "Time of one pass that decided.",
                                     .kind = TG_METRIC_HISTOGRAM,
                                     .bounds = tg_metric_latencies,
                                     .n_bounds = TG_METRIC_LATENCIES},
    [TG_CONTROLLER_UNITS] = {.name = "tangram_controller_units",
                             .help = "Gangs, pods and claims that are remembered because something "
                                     "is under way.",
                             .kind = TG_METRIC_GAUGE},
    [TG_CONTROLLER_WRITES] = {.name = "tangram_controller_writes_total",
                              .help = "Writes of decisions that were answered.",
                              .kind = TG_METRIC_COUNTER},
    [TG_CONTROLLER_WRITE_FAILURES] = {.name = "tangram_controller_write_failures_total",
                                      .help = "Writes of decisions that failed.",
                                      .kind = TG_METRIC_COUNTER},
    [TG_CONTROLLER_IN_FLIGHT] = {.name = "tangram_controller_writes_in_flight",
                                 .help = "Writes of decisions that are under way.",
                                 .kind = TG_METRIC_GAUGE},
    [TG_CONTROLLER_WAITING] = {.name = "tangram_controller_writes_waiting",
                               .help = "Writes of decisions that wait for their turn.",
                               .kind = TG_METRIC_GAUGE},
    [TG_CONTROLLER_CONTESTED] = {.name = "tangram_controller_contested_devices",
                                 .help =
                                     "Devices that a managed class and another one match: given "
                                     "to nobody.",
                                 .kind = TG_METRIC_GAUGE},
    [TG_CONTROLLER_FINDINGS] = {.name = "tangram_controller_audit_findings",
                                .help = "What the auditor has found and told, and is still there.",
                                .kind = TG_METRIC_GAUGE,
                                .labels = {"reason", "invariant"}},
    [TG_CONTROLLER_PENDING_UNITS] = {.name = "tangram_controller_pending_units",
                                     .help = "Gangs, pods and claims that wait, by what they were "
                                             "told.",
                                     .kind = TG_METRIC_GAUGE,
                                     .labels = {"reason"}},
    [TG_CONTROLLER_PENDING_PODS] = {.name = "tangram_controller_pending_pods",
                                    .help = "Pods with our gate in units that wait.",
                                    .kind = TG_METRIC_GAUGE,
                                    .labels = {"reason"}},
    [TG_CONTROLLER_DECISION_DURATION] = {.name = "tangram_controller_decision_duration_seconds",
                                         .help = "Searches for a place for one unit.",
                                         .kind = TG_METRIC_HISTOGRAM,
                                         .labels = {"outcome"},
                                         .bounds = decision_bounds,
                                         .n_bounds = DECISION_BOUNDS},
    [TG_CONTROLLER_COMMIT_DURATION] = {.name = "tangram_controller_commit_duration_seconds",
                                       .help =
                                           "From the decision of a plan until no member of it is "
                                           "gated and every claim is allocated, or until it was "
                                           "taken back.",
                                       .kind = TG_METRIC_HISTOGRAM,
                                       .labels = {"outcome"},
                                       .bounds = commit_bounds,
                                       .n_bounds = COMMIT_BOUNDS},
    [TG_CONTROLLER_DEVICES] = {.name = "tangram_fleet_devices",
                               .help = "Devices that are given away as a whole, by what they are.",
                               .kind = TG_METRIC_GAUGE,
                               .labels = {"state"}},
    [TG_CONTROLLER_FRAGMENTED] = {.name = "tangram_fleet_fragmented_devices",
                                  .help =
                                      "Free devices that are left over when every node is filled "
                                      "with requests for that many.",
                                  .kind = TG_METRIC_GAUGE,
                                  .labels = {"request"}},
    [TG_CONTROLLER_PARTS_MEMORY] = {.name = "tangram_fleet_partitions_memory_bytes",
                                    .help =
                                        "Memory of cards that are given away in parts; stranded: "
                                        "free, and no part that is published fits there any more.",
                                    .kind = TG_METRIC_GAUGE,
                                    .labels = {"state"}},
};

/* What nobody waits for any more is 0. */
static void collect_pending(const struct tg_controller *controller)
{
    struct tg_metric *units = controller->metric[TG_CONTROLLER_PENDING_UNITS];
    struct tg_metric *pods = controller->metric[TG_CONTROLLER_PENDING_PODS];

    tg_metric_reset(units);
    tg_metric_reset(pods);
    for (struct tg_map_entry *e = tg_map_first(controller->units); e != NULL; e = tg_map_next(e)) {
        const struct tg_unit_state *state = tg_map_value(e);
        char reason[64];

        if (state->said == NULL)
            continue;
        snprintf(reason, sizeof(reason), "%.*s", (int)strcspn(state->said, ":"), state->said);
        tg_metric_add(units, TG_LABELS(reason), 1);
        tg_metric_add(pods, TG_LABELS(reason), (double)state->waiting);
    }
}

static void collect_fleet(const struct tg_controller *controller)
{
    static const char *const states[TG_USAGE_STATES] = {[TG_USAGE_FREE] = "free",
                                                        [TG_USAGE_HELD] = "held",
                                                        [TG_USAGE_TAINTED] = "tainted",
                                                        [TG_USAGE_CONTESTED] = "contested",
                                                        [TG_USAGE_UNSUPPORTED] = "unsupported"};
    struct tg_metric *memory = controller->metric[TG_CONTROLLER_PARTS_MEMORY];
    struct tg_usage usage;

    tg_fleet_settle(controller->fleet);
    tg_usage_read(controller->usage, controller->fleet, &usage);
    for (size_t i = 0; i < TG_USAGE_STATES; i++)
        tg_metric_set(controller->metric[TG_CONTROLLER_DEVICES], TG_LABELS(states[i]),
                      (double)usage.devices[i]);
    for (size_t i = 0; i < TG_USAGE_REQUESTS; i++) {
        char request[16];

        snprintf(request, sizeof(request), "%u", tg_usage_requests[i]);
        tg_metric_set(controller->metric[TG_CONTROLLER_FRAGMENTED], TG_LABELS(request),
                      (double)usage.fragmented[i]);
    }
    tg_metric_set(memory, TG_LABELS("held"), (double)(usage.parts_memory - usage.parts_free));
    tg_metric_set(memory, TG_LABELS("usable"), (double)(usage.parts_free - usage.parts_stranded));
    tg_metric_set(memory, TG_LABELS("stranded"), (double)usage.parts_stranded);
}

static void collect(void *data)
{
    const struct tg_controller *controller = data;
    struct tg_metric *const *metric = controller->metric;
    size_t waiting = 0;

    for (const struct tg_operation *op = controller->first_waiting; op != NULL; op = op->next)
        waiting++;
    tg_metric_set(metric[TG_CONTROLLER_LEADING], NULL, tg_elector_leading(controller->elector));
    tg_metric_set(metric[TG_CONTROLLER_PASSES], NULL, (double)controller->passes);
    tg_metric_set(metric[TG_CONTROLLER_UNITS], NULL, (double)tg_map_count(controller->units));
    tg_metric_set(metric[TG_CONTROLLER_WRITES], NULL, (double)controller->writes);
    tg_metric_set(metric[TG_CONTROLLER_WRITE_FAILURES], NULL, (double)controller->write_failures);
    tg_metric_set(metric[TG_CONTROLLER_IN_FLIGHT], NULL, (double)controller->operations);
    tg_metric_set(metric[TG_CONTROLLER_WAITING], NULL, (double)waiting);
    tg_metric_set(metric[TG_CONTROLLER_CONTESTED], NULL, (double)controller->contested);
    for (enum tg_finding_code code = 0; code < TG_FOUND_CODES; code++)
        tg_metric_set(metric[TG_CONTROLLER_FINDINGS],
                      TG_LABELS(tg_finding_reason(code), tg_finding_invariant(code)),
                      (double)tg_auditor_lasting(controller->auditor, code));
    collect_pending(controller);
    collect_fleet(controller);
}

void tg_controller_measure(struct tg_controller *controller)
{
    controller->metrics = tg_metrics_new();
    tg_process_measure(controller->metrics, "tangram-controller", TANGRAM_VERSION);
    tg_kube_client_measure(controller->client, controller->metrics, "main");
    tg_kube_client_measure(controller->lease_client, controller->metrics, "lease");
    tg_metrics_add(controller->metrics, table, TG_CONTROLLER_METRICS, controller->metric);
    tg_metrics_on_collect(controller->metrics, collect, controller);
}
