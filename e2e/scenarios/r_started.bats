#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What becomes of a gang that has started when something happens to a member: onMemberLoss.

# bats file_tags=core

load lib

setup() {
    PRIORITY='' CORDONED=''
    scenario_setup
}

teardown() {
    tg_process_running scheduler || tg_scheduler_start
    [[ -z $PRIORITY ]] || k delete priorityclass "$PRIORITY" >/dev/null
    [[ -z $CORDONED ]] || k uncordon "$CORDONED" >/dev/null
    scenario_teardown
}

# gang_of_two FIELDS: a Gang of two workers that have a node each, and their template.
gang_of_two() {
    cat <<YAML
apiVersion: tangram.dev/v1alpha1
kind: Gang
metadata: {name: duo}
spec: {roles: [{name: worker, size: 2}], $1}
YAML
    template duo 2 "$H100" 'gang: duo, role: worker'
}

# workers: a ReplicaSet of two, which makes a new pod for one that goes.
workers() {
    cat <<YAML
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: workers}
spec:
  replicas: 2
  selector: {matchLabels: {app: workers}}
  template:
    metadata: {labels: {app: workers}}
    spec:
$(pod_spec duo "$SHOW; exec tail -f /dev/null" "      ")
YAML
}

await_phase() { watch_until "$1" ".status.phase == \"$2\"" gang/duo >/dev/null; }

# await_whole: all members run, and no place is held any more.
await_whole() { watch_until 60 '.status.phase == "Running" and (.status.holds // []) == []' gang/duo >/dev/null; }

# await_lost POD REGEX: the gang has lost a member, says why, and keeps the two devices of POD.
await_lost() {
    watch_until 30 ".status.phase == \"Degraded\" and (.status.explanation | test(\"$2\")) and
        ([.status.holds[]? | select(.pod == \"$1\" and .device != null)] | length == 2)" gang/duo >/dev/null
}

# bound_workers: names of the two pods of the ReplicaSet that are on nodes, when there are two.
bound_workers() {
    kn get pods -l app=workers -o json | jq -re '[.items[] | select(.spec.nodeName and (.metadata.deletionTimestamp | not)) |
        .metadata.name] | select(length == 2)[]'
}

# released POD: on its way to the scheduler, pinned; prints the node.
released() {
    watch_until 30 '(.spec.schedulingGates // []) == []' "pod/$1" |
        jq -re '.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].values[0]'
}

@test "(r) a CPU pod takes the room of a released member: its place is held, and when the room is back it joins" {
    tg_process_stop scheduler
    { gang_of_two 'onMemberLoss: Hold, holdFor: 5m, bindTimeout: 3s'; pod duo-1 duo; pod duo-2 duo; } | kn create -f -
    local node devices
    node=$(released duo-1)
    released duo-2 >/dev/null
    devices=$(allocated "$(claim_of duo-1)")
    intruder "$node" "  nodeName: $node" | kn create -f -
    tg_scheduler_start

    await_lost duo-1 'was released to its node, but is not bound'
    wait_ready 120 duo-2
    kn delete pod intruder --wait --timeout=30s
    wait_ready 180 duo-1
    [[ $(node_of duo-1) == "$node" && $(printed duo-1) == "$devices" ]]
    await_whole
}

@test "(r) a CPU pod that stays: when the hold has ended, the gang is recreated, elsewhere" {
    tg_process_stop scheduler
    { gang_of_two 'onMemberLoss: Hold, holdFor: 3s, bindTimeout: 8s'; workers; } | kn create -f -
    local pod node before
    pod=$(watch_until 30 '(.spec.schedulingGates // []) == []' pods -l app=workers | jq -r .metadata.name)
    node=$(released "$pod")
    before=$(kn get pods -l app=workers -o jsonpath='{.items[*].metadata.name}')
    intruder "$node" "  nodeName: $node" | kn create -f -
    tg_scheduler_start

    await_lost "$pod" 'was released to its node, but is not bound'
    tg_wait_until 60 bound_workers
    await_phase 60 Running
    local devices=''
    for pod in $(bound_workers); do
        [[ " $before " != *" $pod "* ]]
        [[ $(node_of "$pod") != "$node" ]]
        devices+=$(printed "$pod")$'\n'
    done
    expect_distinct 4 "$devices"
}

@test "(r) a member that is preempted: the others run on, nobody else gets its devices, a replacement does" {
    { gang_of_two 'onMemberLoss: Hold, holdFor: 5m'; pod duo-1 duo; pod duo-2 duo; } | kn create -f -
    wait_ready 180 duo-1 duo-2
    await_phase 30 Running
    local node devices survivor
    node=$(node_of duo-1)
    devices=$(printed duo-1)
    survivor=$(kn get pod duo-2 -o jsonpath='{.metadata.uid} {.status.containerStatuses[0].containerID}')
    PRIORITY=$NAMESPACE
    k create priorityclass "$PRIORITY" --value=1000 >/dev/null
    intruder "$node" "  nodeSelector: {kubernetes.io/hostname: $node}" "  priorityClassName: $PRIORITY" | kn create -f -
    wait_ready 120 intruder
    kn wait --for=delete pod/duo-1 --timeout=30s
    await_lost duo-1 '1 of 2 members are gone [(]pod duo-1'

    { template other 2 "$H100"; pod other other "  nodeSelector: {kubernetes.io/hostname: $node}"; } | kn create -f -
    wait_event 30 Pod other 'InsufficientDevices: '
    kn delete pod intruder --wait --timeout=30s
    pod duo-1 duo | kn create -f -
    wait_ready 180 duo-1
    [[ $(node_of duo-1) == "$node" && $(printed duo-1) == "$devices" ]]
    await_phase 30 Running
    [[ $(kn get pod duo-2 -o jsonpath='{.metadata.uid} {.status.containerStatuses[0].containerID}') == "$survivor" ]]
    kn get pod other -o json | jq -e '.spec.nodeName == null' >/dev/null
}

@test "(r) a member that is deleted, Release: the others run on, and its devices are free" {
    { gang_of_two 'onMemberLoss: Release'; pod duo-1 duo; pod duo-2 duo; } | kn create -f -
    wait_ready 180 duo-1 duo-2
    await_phase 30 Running
    local node devices
    node=$(node_of duo-1)
    devices=$(printed duo-1)
    kn delete pod duo-1 --wait --timeout=30s
    { template other 2 "$H100"; pod other other "  nodeSelector: {kubernetes.io/hostname: $node}"; } | kn create -f -
    wait_ready 180 other
    [[ $(printed other) == "$devices" ]]
    kn wait --for=condition=Ready pod/duo-2 --timeout=10s
}

@test "(r) a node is drained: its member goes, a new one joins the others from another node, they run on" {
    { gang_of_two 'onMemberLoss: Hold, holdFor: 5m'; workers; } | kn create -f -
    await_phase 90 Running
    local pods lost survivor node
    pods=$(kn get pods -l app=workers -o jsonpath='{.items[*].metadata.name}')
    lost=${pods% *} survivor=${pods#* }
    node=$(node_of "$lost")
    CORDONED=$node
    k drain "$node" --force --ignore-daemonsets --delete-emptydir-data --timeout=60s >/dev/null
    kn wait --for=delete "pod/$lost" --timeout=30s
    pods=$(tg_wait_until 60 bound_workers && bound_workers)
    grep -qx "$survivor" <<<"$pods"
    for pod in $pods; do
        [[ $(node_of "$pod") != "$node" ]]
    done
    expect_distinct 4 "$(for pod in $pods; do printed "$pod"; done)"
    await_whole
}

@test "(r) a Job finishes member by member: what one had is free at once, the others run on" {
    { template trio 1 "$RTX" 'gang: trio, size: 3'; job trio trio 3; } | kn create -f -
    watch_until 120 '.status.ready == 3' job/trio >/dev/null
    local pods pod node devices
    pods=$(kn get pods -l job=trio -o jsonpath='{.items[*].metadata.name}')
    pod=${pods%% *}
    node=$(node_of "$pod")
    devices=$(printed "$pod")
    finish "$pod"
    { template other 1 "$RTX"; pod other other "  nodeSelector: {kubernetes.io/hostname: $node}"; } | kn create -f -
    wait_ready 180 other
    [[ $(printed other) == "$devices" ]]
    watch_until 30 '.status.phase == "Running"' gang/trio >/dev/null
    watch_until 30 '.status.ready == 2 and .status.succeeded == 1 and (.status.failed // 0) == 0' job/trio >/dev/null
    for pod in ${pods#* }; do
        finish "$pod"
    done
    kn wait --for=condition=Complete job/trio --timeout=60s
    watch_until 30 '.status.phase == "Completed"' gang/trio >/dev/null
}
