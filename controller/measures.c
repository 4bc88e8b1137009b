/* SPDX-License-Identifier: Apache-2.0 */
/* What the controller tells at /metrics about itself; requests and informers are measured by their
 * client. */
#include "api/runtime/base/process.h"
#include "controller/controller.h"
#include "controller/operation.h"

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
};

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
