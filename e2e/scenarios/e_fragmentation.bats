#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0

load lib

B200='NVIDIA B200'

setup() {
    scenario_setup
    "$TG_CLUSTER_SCRIPTS/fake-nodes" "$TG_DIR" --count 7
    "$TG_CLUSTER_SCRIPTS/fake-slices" "$TG_DIR" fake-{1..7} --devices 8 --product "$B200" \
        --account "$TG_NAMESPACE/$TG_PLUGIN_ACCOUNT"
}

teardown() {
    diagnose_failure
    # No kubelet ends the pods of a fake node.
    kn delete pods --all --grace-period=0 --force >/dev/null 2>&1
    scenario_teardown
    "$TG_CLUSTER_SCRIPTS/fake-nodes" "$TG_DIR" --remove
}

@test "(e) seven 8-GPU nodes at 7 of 8, a 2-GPU request: pending, the explanation names the fragmentation" {
    local number
    {
        template seven 7 "$B200"
        for number in 1 2 3 4 5 6 7; do
            pod "busy-$number" seven "  nodeSelector: {kubernetes.io/hostname: fake-$number}"
        done
    } | kn create -f -
    for number in 1 2 3 4 5 6 7; do
        kn wait --for=condition=PodScheduled "pod/busy-$number" --timeout=60s
        [[ $(node_of "busy-$number") == "fake-$number" ]]
    done

    { template pair 2 "$B200"; pod wants-two pair; } | kn create -f -
    # Seven are free, and no node has two of them; what would fit was tried.
    local why='FragmentedDevices: .*7 are free in all, but spread over 7 nodes with at most 1 each.*It would fit now .*with 1 device in request gpus'
    watch_until 30 '(.status.resourceClaimStatuses // []) | length == 1' pod/wants-two >/dev/null
    wait_event 30 Pod wants-two "$why"
    wait_event 30 ResourceClaim "$(claim_of wants-two)" "$why"
    [[ -z $(node_of wants-two) ]]
    [[ -z $(kn get resourceclaim "$(claim_of wants-two)" -o jsonpath='{.status.allocation}') ]]

    # One of the seven ends: now there is a node with two.
    kn delete pod busy-3 --grace-period=0 --force
    kn wait --for=condition=PodScheduled pod/wants-two --timeout=60s
    [[ $(node_of wants-two) == fake-3 ]]
}
