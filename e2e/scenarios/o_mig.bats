#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Cards that are partitioned on demand, under the default scheduler: the plugin is the real one, the driver's library is that
# of tests/support/fake-nvml. A driver of its own, beside the one with simulated cards.

load lib

MIG_DRIVER=mig.example.com

setup() {
    scenario_setup
    CARDS=$BATS_TEST_TMPDIR
    chmod 755 "$BATS_TEST_TMPDIR"
    cat >"$CARDS/scenario" <<'CARDS'
card h100-80gb mig=on pci=0000:f1:00.0
card rtx-pro-6000-blackwell-96gb mig=on pci=0000:f2:00.0
CARDS
    mig_plugin_start
}
teardown() {
    kn delete pods --all --wait --timeout=60s >/dev/null
    tg_process_stop node-1.mig || true
    k delete deviceclass mig-3g mig-2g --ignore-not-found >/dev/null
    k delete resourceslices --field-selector "spec.driver=$MIG_DRIVER" >/dev/null
    scenario_teardown
}

mig_plugin_start() {
    local kubeconfig=$TG_DIR/kubeconfig/node-1.plugin
    [[ -e $kubeconfig ]] || "$TG_CLUSTER_SCRIPTS/token" "$TG_DIR" "$TG_NAMESPACE" "$TG_PLUGIN_ACCOUNT" --node node-1 >"$kubeconfig"
    tg_node_spawn node-1 mig env FAKE_NVML_SCENARIO="$CARDS/scenario" FAKE_NVML_STATE="$CARDS/cards" FAKE_NVML_ROOT="$CARDS/root" \
        "$TG_BIN/tangram-kubelet-plugin" --node-name node-1 --kubeconfig "$kubeconfig" --driver-name "$MIG_DRIVER" \
        --provider nvml --nvml-library "$TG_BIN/../tests/fake-nvml/libnvidia-ml.so.1" --system-root "$CARDS/root" --dynamic-mig '*'
}

# mig_class NAME PROFILE
mig_class() {
    k apply -f - >/dev/null <<YAML
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: $1}
spec: {selectors: [{cel: {expression: 'device.driver == "$MIG_DRIVER" && device.attributes["$MIG_DRIVER"].profile == "$2"'}}]}
YAML
    kn apply -f - >/dev/null <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: $1}
spec: {spec: {devices: {requests: [{name: gpus, exactly: {deviceClassName: $1}}]}}}
YAML
}

# mig_pod NAME CLASS
mig_pod() {
    kn apply -f - >/dev/null <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  terminationGracePeriodSeconds: 1
  resourceClaims: [{name: gpus, resourceClaimTemplateName: $2}]
  containers:
  - name: main
    image: $IMAGE
    imagePullPolicy: Never
    command: [sh, -c, "env | grep TANGRAM_DEVICE_UUIDS; ls /dev/nvidia-caps | wc -l; exec tail -f /dev/null"]
    resources: {claims: [{name: gpus}]}
YAML
}

# instances: how many GPU instances are on the cards.
instances() { find "$CARDS/root/proc" -path '*/mig/gi*/access' -not -path '*/ci*' | wc -l; }

@test "(o) partitions are made for pods and removed after them; the counters keep a third out; kill -9 disturbs nobody" {
    (($(tg_minor) >= 36)) || skip "the API server keeps no counters before 1.36"
    tg_slices_wait 60 node-1 "$MIG_DRIVER"
    mig_class mig-3g 3g.40gb
    mig_class mig-2g 2g.48gb
    mig_pod one mig-3g
    mig_pod two mig-3g
    mig_pod four mig-2g
    wait_ready 120 one two four
    [[ $(instances) == 3 ]]
    [[ $(kn logs one) =~ MIG-[0-9a-f-]{36} ]]
    [[ $(kn logs one | tail -n 1) == 2 ]]
    [[ $(kn logs one | head -n 1) != "$(kn logs two | head -n 1)" ]]

    mig_pod three mig-3g
    watch_until 60 '[.status.conditions[]? | select(.type == "PodScheduled" and .status == "False")] != []' pod/three >/dev/null
    local before
    before=$(kn get pod one -o jsonpath='{.status.containerStatuses[0].containerID}')
    tg_process_stop node-1.mig KILL
    mig_plugin_start
    kn delete pod two --wait --timeout=60s
    wait_ready 120 three
    [[ $(instances) == 3 ]]
    [[ $(kn get pod one -o jsonpath='{.status.containerStatuses[0].containerID}') == "$before" ]]

    kn delete pods --all --wait --timeout=90s
    [[ $(instances) == 0 ]]
}
