#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0

load lib

# The controller was started with another configuration.
CONFIGURED=''
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
    [[ -z $CONFIGURED ]] || restart_with default
    scenario_teardown
    "$TG_CLUSTER_SCRIPTS/fake-nodes" "$TG_DIR" --remove
}

# restart_with POLICY: the controller, with another policy of placement.
restart_with() {
    sed "s/policy: default/policy: $1/" "$TG_SYSTEM/controller.yaml" >"$TG_DIR/config/placement.yaml"
    tg_process_stop tangram-controller
    tg_controller_start tangram-controller "$TG_DIR/kubeconfig/tangram-controller" "$TG_DIR/config/placement.yaml"
}

# busy NUMBER CARDS: of the node fake-NUMBER.
busy() {
    template "of-$2" "$2" "$B200"
    pod "busy-$1" "of-$2" "  nodeSelector: {kubernetes.io/hostname: fake-$1}"
}

# place POD TEMPLATE: creates it; prints its node.
place() {
    pod "$1" "$2" | kn create -f - >/dev/null
    kn wait --for=condition=PodScheduled "pod/$1" --timeout=60s >/dev/null
    node_of "$1"
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

# bats test_tags=core
@test "(e) small requests go to nodes that are in use already, the fullest first: whole nodes stay for a gang" {
    { busy 5 5; busy 6 2; busy 7 7; template one 1 "$B200"; template pair 2 "$B200"; } | kn create -f -
    kn wait --for=condition=PodScheduled pod/busy-{5,6,7} --timeout=60s

    [[ $(place single one) == fake-7 ]]
    local number
    for number in 1 2 3; do
        [[ $(place "pair-$number" pair) == fake-[56] ]]
    done
    { template whole 8 "$B200" "gang: whole, size: 4"; for number in 1 2 3 4; do pod "whole-$number" whole; done; } | kn create -f -
    kn wait --for=condition=PodScheduled pod/whole-{1,2,3,4} --timeout=60s
    [[ $(for number in 1 2 3 4; do node_of "whole-$number"; echo; done | sort | xargs) == 'fake-1 fake-2 fake-3 fake-4' ]]
}

@test "(e) the policy is that of the configuration" {
    { busy 6 2; busy 7 7; template one 1 "$B200"; } | kn create -f -
    kn wait --for=condition=PodScheduled pod/busy-{6,7} --timeout=60s
    CONFIGURED=yes
    restart_with spread
    [[ $(place spread one) == fake-1 ]]
    restart_with binpack
    [[ $(place packed one) == fake-7 ]]
    # For one class it can be another than for the fleet.
    restart_with 'binpack, classes: [{class: gpu.tangram.dev, policy: spread}]'
    [[ $(place spread-by-class one) == fake-2 ]]
}
