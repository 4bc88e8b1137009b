#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0

load lib

RACKS=()

setup() { scenario_setup; }
teardown() {
    local rack
    diagnose_failure
    # No kubelet ends the pods of a fake node.
    ((${#RACKS[@]} == 0)) || kn delete pods --all --grace-period=0 --force >/dev/null 2>&1
    scenario_teardown
    for rack in "${RACKS[@]}"; do
        "$TG_CLUSTER_SCRIPTS/fake-nodes" "$TG_DIR" --remove --prefix "$rack"
    done
}

# fill NODES: pods that hold both big cards of that many nodes.
fill() {
    local number
    template filler 2 "$H100"
    for ((number = 1; number <= $1; number++)); do
        pod "filler-$number" filler
    done
}

# bats test_tags=core
@test "(c) room for two members only: nothing is allocated nor un-gated, the reason is told, room makes it run" {
    fill 4 | kn create -f -
    wait_ready 90 filler-1 filler-2 filler-3 filler-4

    template trio 2 "$H100" "gang: trio, size: 3" | kn create -f -
    record "$BATS_TEST_TMPDIR/claims" resourceclaims
    record "$BATS_TEST_TMPDIR/pods" pods
    # Established: the watches have shown what exists.
    tg_wait_until 30 grep -q filler-4 "$BATS_TEST_TMPDIR/pods"
    tg_wait_until 30 grep -q filler-4 "$BATS_TEST_TMPDIR/claims"
    { pod trio-1 trio; pod trio-2 trio; pod trio-3 trio; } | kn create -f -

    # The reason, on all three kinds of object.
    kn wait --for=create gang/trio --timeout=30s
    local why='2 of 3 members have a place; .*2 devices on one node are needed'
    watch_until 30 ".status.phase == \"Waiting\" and (.status.explanation // \"\" | test(\"$why\"))" gang/trio >/dev/null
    local member
    for member in trio-1 trio-2 trio-3; do
        watch_until 30 '(.status.resourceClaimStatuses // []) | length == 1' "pod/$member" >/dev/null
        wait_event 30 Pod "$member" "InsufficientDevices: $why"
        wait_event 30 ResourceClaim "$(claim_of "$member")" "InsufficientDevices: $why"
    done
    wait_event 30 Gang trio "InsufficientDevices: $why"

    # Then it is quiet.
    local kind quiet=()
    for kind in gangs pods resourceclaims; do
        unchanged 10 "$kind" &
        quiet+=("$!")
    done
    for kind in "${quiet[@]}"; do
        wait "$kind"
    done

    # One code and one text, wherever people look: the last event of three pods, three claims and the gang, and its status.
    why=$(kn get gang trio -o jsonpath='{.status.explanation}')
    all_say() {
        kn get events -o json | jq -e --arg why "$why" '
            [.items[] | select(.reason == "InsufficientDevices")] | group_by(.involvedObject.kind + "/" + .involvedObject.name) |
            length == 7 and all(max_by(.lastTimestamp).message == $why)'
    }
    tg_wait_until 30 all_say
    kn get gang trio -o json | jq -e --arg why "$why" '
        any(.status.conditions[]; .reason == "InsufficientDevices" and .message == $why)'

    # And at no moment was there a part of a gang.
    jq -se '[.[].object | select(.metadata.name | startswith("trio-"))] |
        length >= 3 and all(.status.allocation == null)' "$BATS_TEST_TMPDIR/claims"
    jq -se --arg gate "$GATE" '[.[].object | select(.metadata.name | startswith("trio-"))] |
        length >= 3 and all(any(.spec.schedulingGates[]?; .name == $gate))' "$BATS_TEST_TMPDIR/pods"

    kn delete pod filler-1 --wait --timeout=30s
    wait_ready 60 trio-1 trio-2 trio-3
    expect_distinct 6 "$(for member in trio-1 trio-2 trio-3; do printed "$member"; done)"
}

# rack NAME NODES: so many nodes with eight cards.
rack() {
    RACKS+=("$1")
    "$TG_CLUSTER_SCRIPTS/fake-nodes" "$TG_DIR" --prefix "$1" --count "$2" --label "example.com/rack=$1"
    "$TG_CLUSTER_SCRIPTS/fake-slices" "$TG_DIR" $(seq -f "$1-%.0f" "$2") --devices 8 --product 'NVIDIA B200' \
        --account "$TG_NAMESPACE/$TG_PLUGIN_ACCOUNT"
}

# whole NAME SIZE: a gang of so many whole nodes, in one rack.
whole() {
    local member
    template "$1" 8 'NVIDIA B200' "gang: $1, size: $2, topology: {pack: {required: rack}}"
    for ((member = 1; member <= $2; member++)); do
        pod "$1-$member" "$1"
    done
}

# bats test_tags=core
@test "(c) a gang takes the rack that has just room for it, so that the one after it finds room for all" {
    # By name the larger one is the first, and would hold either gang.
    rack east 3
    rack north 2
    local gang size rack
    while read -r gang size rack; do
        whole "$gang" "$size" | kn create -f -
        kn wait --for=create "gang/$gang" --timeout=30s
        kn wait --for=jsonpath='{.status.phase}'=Running "gang/$gang" --timeout=60s
        [[ $(kn get pods -o json | jq -r --arg gang "$gang-" '[.items[] | select(.metadata.name | startswith($gang)) |
            .spec.nodeName] | sort | join(" ")') == "$(seq -f "$rack-%.0f" -s ' ' "$size")" ]]
    done <<<'two 2 north
three 3 east'
}
