#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0

load lib

setup() { scenario_setup; }
teardown() { scenario_teardown; }

# same_containers BEFORE: no container was restarted or replaced.
containers() {
    kn get pods -o json | jq -c '[.items[] | {name: .metadata.name, containers: [.status.containerStatuses[]? |
        {containerID, restartCount, running: (.state.running != null)}]}]'
}

@test "(f) plugin killed and kubelet restarted under running pods: pods run on, slices come back, no device twice" {
    {
        template one 1 "$H100"
        pod old-1 one "  nodeSelector: {kubernetes.io/hostname: node-1}"
        pod old-2 one "  nodeSelector: {kubernetes.io/hostname: node-2}"
    } | kn create -f -
    wait_ready 60 old-1 old-2
    local before slices
    before=$(containers)
    slices=$(devices_of node-1)

    "$TG_CLUSTER_SCRIPTS/stop" "$TG_DIR" node-1.tangram KILL
    "$TG_CLUSTER_SCRIPTS/stop" "$TG_DIR" node-2.tangram KILL
    # The kubelet of node-1 restarts without its plugin and wipes the node's slices; node-2's plugin comes back first.
    tg_plugin_start node-2
    "$TG_CLUSTER_SCRIPTS/restart-kubelet" "$TG_DIR" node-1
    "$TG_CLUSTER_SCRIPTS/restart-kubelet" "$TG_DIR" node-2
    tg_plugin_start node-1
    tg_slices_wait 60 node-1
    tg_slices_wait 60 node-2
    k wait --for=condition=Ready node/node-1 node/node-2 --timeout=60s
    # Slices that were seen may have been those that the kubelet was about to wipe.
    come_back() { [[ $(devices_of node-1) == "$slices" ]]; }
    tg_wait_until 60 come_back

    # Pods that arrive now get other devices than those that run.
    {
        pod new-1 one "  nodeSelector: {kubernetes.io/hostname: node-1}"
        pod new-2 one "  nodeSelector: {kubernetes.io/hostname: node-2}"
    } | kn create -f -
    wait_ready 90 new-1 new-2
    expect_distinct 4 "$(for pod in old-1 old-2 new-1 new-2; do printed "$pod"; done)"
    kn delete pod new-1 new-2 --wait --timeout=30s
    [[ $(containers) == "$before" ]]

    # A pod that started before the kill can still be ended: its devices are unprepared and released.
    local claim
    claim=$(claim_of old-1)
    kn delete pod old-1 --wait --timeout=30s
    kn wait --for=delete "resourceclaim/$claim" --timeout=30s
}

devices_of() {
    k get resourceslices -o json | jq -r --arg node "$1" --arg driver "$TG_DRIVER" \
        '.items[] | select(.spec.nodeName == $node and .spec.driver == $driver) | .spec.devices[].name' | sort
}

# rail VALUE: the node's slice says so of its first device; null: it does not.
rail() {
    tg_watch_first 30 ".spec.nodeName == \"node-3\" and .spec.driver == \"$TG_DRIVER\" and
        (.spec.devices[0].attributes[\"example.com/rail\"].int // null) == $1" resourceslices | jq -r .metadata.uid
}

@test "(f) an attribute that the operator adds to devices is in the slice while the plugin runs, and is taken back" {
    local slice document=$TG_DIR/attributes/node-3/rails.yaml
    slice=$(rail null)
    printf '%s\n' 'apiVersion: tangram.dev/v1alpha1' 'kind: DeviceAttributes' 'rules:' \
        '- {match: {}, attributes: {example.com/rail: {int: 3}}}' >"$document"
    # The same slice: whoever has devices of it is not disturbed.
    [[ $(rail 3) == "$slice" ]]
    rm "$document"
    [[ $(rail null) == "$slice" ]]
}
