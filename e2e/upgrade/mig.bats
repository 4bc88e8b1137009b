#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Dynamic MIG on a version whose API server keeps no counters, upgraded under running pods to one that does: slices change,
# names do not.

load ../scenarios/lib
load ../scenarios/mig

setup() {
    scenario_setup
    mig_cards "$BATS_TEST_TMPDIR"
    mig_plugin_start
}
teardown() {
    mig_clear
    scenario_teardown
}

# Objects are written as the older version wants them, and stay so.
tg_minor() { echo 34; }

devices() {
    k get resourceslices -o json | jq -r --arg driver "$MIG_DRIVER" '.items[].spec | select(.driver == $driver).devices[]?.name' | sort
}
# running POD...: the containers, and how often they were started.
running() { kn get "${@/#/pod/}" -o json | jq -c '[.items[] | .metadata.name, (.status.containerStatuses[] | .containerID, .restartCount)]'; }

@test "pods with partitions go on when the control plane, and then the kubelet, are of a newer version" {
    tg_slices_wait 60 node-1 "$MIG_DRIVER"
    mig_class mig-3g 3g.40gb
    mig_class mig-2g 2g.48gb
    mig_pod one mig-3g
    mig_pod two mig-3g
    mig_pod four mig-2g
    wait_ready 120 one two four
    local names containers held
    names=$(devices)
    containers=$(running one two four)
    held=$(kn get resourceclaims -o json | jq -c '[.items[] | .metadata.name, .status.allocation]')
    [[ -n $names && $(instances) == 3 ]]

    "$TG_CLUSTER_SCRIPTS/upgrade" "$TG_DIR" "$TG_UPGRADE_TO"
    # A controller that cannot renew its lease ends, and its Deployment starts another.
    tg_process_running tangram-controller || tg_controller_start
    tg_watch_first 120 ".spec.driver == \"$MIG_DRIVER\" and (.spec.sharedCounters // []) != []" resourceslices >/dev/null
    tg_watch_first 60 ".spec.driver == \"$MIG_DRIVER\" and ([.spec.devices[]?.consumesCounters] | any)" resourceslices >/dev/null
    [[ $(devices) == "$names" ]]
    [[ $(running one two four) == "$containers" ]]

    "$TG_CLUSTER_SCRIPTS/restart-kubelet" "$TG_DIR" node-1
    tg_watch_first 60 ".status.nodeInfo.kubeletVersion | startswith(\"v$TG_UPGRADE_TO.\")" nodes >/dev/null
    k wait --for=condition=Ready node/node-1 --timeout=60s

    # A third half of the card waits for one of the others to go, as before.
    mig_pod three mig-3g
    watch_until 60 '[.status.conditions[]? | select(.type == "PodScheduled" and .status == "False")] != []' pod/three >/dev/null
    [[ $(running one two four) == "$containers" && $(instances) == 3 ]]
    [[ $(kn get resourceclaims -o json | jq -c '[.items[] | select(.status.allocation) | .metadata.name, .status.allocation]') == "$held" ]]
    kn delete pod two --wait --timeout=60s
    wait_ready 120 three
    kn delete pods --all --wait --timeout=90s
    [[ $(instances) == 0 ]]
}
