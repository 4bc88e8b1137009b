# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# A real Prometheus beside the cluster, which reads the pods of the release through the API server. It ends with the cluster, or
# before.

# jobs_of ADDRESS PROGRAM PORT: one job a program, named as the chart's ServiceMonitors make it.
jobs_of() {
    local pod
    printf -- '- job_name: tangram-%s-metrics\n  static_configs:\n' "$2"
    for pod in $(kt get pods -l "app.kubernetes.io/name=tangram-$2" -o jsonpath='{.items[*].metadata.name}'); do
        printf -- '  - targets: ["%s"]\n    labels: {pod: %s, instance: %s, __metrics_path__: %s}\n' "$1" "$pod" "$pod" \
            "/api/v1/namespaces/$RELEASE_NAMESPACE/pods/$pod:$3/proxy/metrics"
    done
}

# logged NAME PATTERN: what the pattern's group matches in the log of a process; fails as long as it does not.
logged() { sed -n -E "s/.*$2.*/\\1/p" "$TG_DIR/log/$1.log" | grep -m 1 .; }

# prometheus_start: reads everything once a second. Prints its address.
prometheus_start() {
    local proxy listens='Listening on" address=([0-9.:]+)' serves='Starting to serve on ([0-9.:]+)'
    rm -rf "$TG_DIR/prometheus"
    tg_process_start proxy kubectl --kubeconfig "$TG_DIR/kubeconfig/admin" proxy --port=0
    tg_process_wait proxy 30 logged proxy "$serves"
    proxy=$(logged proxy "$serves")
    {
        printf 'global: {scrape_interval: 1s, scrape_timeout: 1s}\nscrape_configs:\n'
        jobs_of "$proxy" controller 8080
        jobs_of "$proxy" kubelet-plugin 8081
    } >"$TG_DIR/config/prometheus.yml"
    tg_process_start prometheus "$TG_PROMETHEUS" --config.file="$TG_DIR/config/prometheus.yml" \
        --storage.tsdb.path="$TG_DIR/prometheus" --web.listen-address=127.0.0.1:0
    tg_process_wait prometheus 60 logged prometheus "$listens"
    logged prometheus "$listens"
}

prometheus_stop() {
    tg_process_stop prometheus
    tg_process_stop proxy
}
