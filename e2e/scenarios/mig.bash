# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# A plugin of its own on node-1, for a driver of its own: cards of tests/support/fake-nvml that are partitioned on demand.
# Loaded after lib.bash.

MIG_DRIVER=mig.example.com

# mig_cards FOLDER: cards with a memory of their own, which outlive the plugin.
mig_cards() {
    CARDS=$1
    chmod 755 "$CARDS"
    cat >"$CARDS/scenario" <<'CARDS'
card h100-80gb mig=on pci=0000:f1:00.0
card rtx-pro-6000-blackwell-96gb mig=on pci=0000:f2:00.0
CARDS
}

# mig_clear: what a scenario may have left.
mig_clear() {
    kn delete pods --all --wait --timeout=60s >/dev/null
    tg_process_stop node-1.mig || true
    k delete deviceclass mig-3g mig-2g --ignore-not-found >/dev/null
    k delete resourceslices --field-selector "spec.driver=$MIG_DRIVER" >/dev/null
}

# mig_play [LINE]: the cards from now on, and a line more of the scenario.
mig_play() {
    (grep '^card' "$CARDS/scenario" && printf '%s\n' "$@") >"$CARDS/next"
    mv "$CARDS/next" "$CARDS/scenario"
}

# mig_plugin_start [OPTION...]
mig_plugin_start() {
    local kubeconfig=$TG_DIR/kubeconfig/node-1.plugin
    [[ -e $kubeconfig ]] || "$TG_CLUSTER_SCRIPTS/token" "$TG_DIR" "$TG_NAMESPACE" "$TG_PLUGIN_ACCOUNT" --node node-1 >"$kubeconfig"
    tg_node_spawn node-1 mig env FAKE_NVML_SCENARIO="$CARDS/scenario" FAKE_NVML_STATE="$CARDS/cards" FAKE_NVML_ROOT="$CARDS/root" \
        "$TG_BIN/tangram-kubelet-plugin" --node-name node-1 --kubeconfig "$kubeconfig" --driver-name "$MIG_DRIVER" \
        --provider nvml --nvml-library "$TG_BIN/../tests/fake-nvml/libnvidia-ml.so.1" --system-root "$CARDS/root" --dynamic-mig '*' \
        --placements derived "$@"
}

keeps_counters() { (($(tg_minor) >= 36)); }

# mig_class NAME PROFILE: without counters in the API server only a managed class can have such devices.
mig_class() {
    local label='' guard=''
    if ! keeps_counters; then
        label=', labels: {tangram.dev/controller: default}'
        guard="{cel: {expression: '\"granted\" in device.attributes[\"tangram.dev\"]'}},"
    fi
    k apply -f - >/dev/null <<YAML
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: $1$label}
spec:
  selectors: [$guard {cel: {expression: 'device.driver == "$MIG_DRIVER" && device.attributes["$MIG_DRIVER"].profile == "$2"'}}]
YAML
    kn apply -f - >/dev/null <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata:
  name: $1
$(managed_label "  ")
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
  $(gate)
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
