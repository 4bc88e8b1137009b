#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What devices share: the counters of two cards in dynamic MIG, the capacity of a device for several claims, and admin
# access. The first two are slices that the test writes, for a driver of which nobody prepares anything: allocated, bound,
# and never started.

load lib

MIG=mig.example.com
SHARED=shared.example.com
# Profiles of an H100 80 GB: name, memory slices, where they may begin.
PROFILES='[["7g.80gb", 8, [0]], ["4g.40gb", 4, [0]], ["3g.40gb", 4, [0, 4]], ["2g.20gb", 2, [0, 2, 4]],
    ["1g.10gb", 1, [0, 1, 2, 3, 4, 5, 6]]]'

setup() {
    scenario_setup
    (($(tg_minor) >= 36)) || skip "Kubernetes 1.$(tg_minor) drops counters and shares unless alpha gates are on"
    local class
    for class in "$MIG" "$SHARED"; do
        k create -f - <<YAML
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: $class, labels: {tangram.dev/controller: default}}
spec:
  selectors:
  - {cel: {expression: '"granted" in device.attributes["tangram.dev"]'}}
  - {cel: {expression: device.driver == "$class"}}
YAML
    done
}

teardown() {
    diagnose_failure
    kn delete pods,resourceclaims --all --wait --timeout=60s >/dev/null
    scenario_teardown
    k delete deviceclass "$MIG" "$SHARED" --ignore-not-found >/dev/null
    k delete resourceslice mig-devices mig-counters shared-devices --ignore-not-found >/dev/null
}

# slice NAME DRIVER COUNT SPEC: of node-1, of COUNT slices of the pool.
slice() {
    jq -n --arg name "$1" --arg driver "$2" --argjson count "$3" --argjson more "$4" '{
        apiVersion: "resource.k8s.io/v1", kind: "ResourceSlice", metadata: {name: $name},
        spec: ({driver: $driver, nodeName: "node-1", pool: {name: "node-1", generation: 1, resourceSliceCount: $count}} + $more)
    }' | k create -f -
}

# mig_cards: two cards, one counter set each: a counter a memory slice.
mig_cards() {
    slice mig-counters "$MIG" 2 "$(jq -n '{sharedCounters: [range(2) | {name: "card-\(.)",
        counters: ([range(8) | {key: "memory-slice-\(.)", value: {value: "1"}}] | from_entries)}]}')"
    slice mig-devices "$MIG" 2 "$(jq -n --argjson profiles "$PROFILES" '{devices: [range(2) as $card | $profiles[] |
        . as [$profile, $size, $starts] | $starts[] | . as $start | {
            name: "card-\($card)-\($profile | gsub("[.]"; "-"))-\($start)",
            attributes: {profile: {string: $profile}, card: {int: $card}},
            consumesCounters: [{counterSet: "card-\($card)", counters:
                ([range($start; $start + $size) | {key: "memory-slice-\(.)", value: {value: "1"}}] | from_entries)}]}]}')"
}

# partition PROFILE [MEMBER]: a template named after the profile.
partition() {
    local name=${1%%.*}
    template "$name" 1 unused "${2:-}" "$MIG" |
        sed "s|expression: .*|expression: device.attributes[\"$MIG\"].profile == \"$1\"|"
}

# one POD TEMPLATE: a pod with a claim of it.
one() { pod "$1" "$2"; }

# wait_bound POD...: allocated and bound; it does not start, since nobody prepares its devices.
wait_bound() { kn wait --for=condition=PodScheduled "${@/#/pod/}" --timeout=60s; }

# taken: memory slices that the allocations of this namespace take, "card/slice" a line.
taken() {
    kn get resourceclaims -o json | jq -r --argjson profiles "$PROFILES" '
        [.items[].status.allocation.devices.results[]?.device | capture("^card-(?<card>[0-9])-(?<p>.*)-(?<start>[0-9])$")][] |
        . as $d | ($profiles[] | select((.[0] | gsub("[.]"; "-")) == $d.p) | .[1]) as $size |
        range($d.start | tonumber; ($d.start | tonumber) + $size) | "\($d.card)/\(.)"'
}

# taken_are COUNT: different ones. Claims of pods that are gone are cleared by and by.
taken_are() { expect_distinct "$1" "$(taken)"; }

@test "(n) profiles of dynamic MIG are given out as far as the counters of the cards go, and come back" {
    mig_cards
    { partition 4g.40gb; partition 3g.40gb; partition 7g.80gb; partition 1g.10gb
        one four-a 4g; one four-b 4g; one three-a 3g; one three-b 3g; } | kn create -f -
    wait_bound four-a four-b three-a three-b
    [[ $(node_of four-a) == node-1 ]]
    expect_distinct 16 "$(taken)"

    # Both cards are full: what waits is told who has them.
    { one small 1g; one whole 7g; } | kn create -f -
    wait_event 30 Pod small 'InsufficientDevices.*held by claim '
    wait_event 30 Pod whole 'InsufficientDevices.*held by claim '

    # A half of each card is not a card; what fits into a half is served.
    kn delete pod three-a three-b --wait --timeout=30s
    wait_bound small
    tg_wait_until 30 taken_are 9
    [[ -z $(kn get resourceclaim "$(claim_of whole)" -o jsonpath='{.status.allocation}') ]]
    kn delete pod four-a four-b small --wait --timeout=30s
    wait_bound whole
    tg_wait_until 30 taken_are 8
}

@test "(n) a partition goes where it breaks least: a card in use first, and there the place that leaves most open" {
    mig_cards
    { partition 4g.40gb | sed 's|\(profile == .*\)|\1 \&\& device.attributes["'"$MIG"'"].card == 1|'
        partition 2g.20gb; partition 1g.10gb; partition 7g.80gb; one half 4g; } | kn create -f -
    wait_bound half
    # By name the places of card-0 are first, and those at the start of a card.
    one small 1g | kn create -f -
    wait_bound small
    [[ $(allocated "$(claim_of small)") == card-1-1g-10gb-6 ]]
    one middle 2g | kn create -f -
    wait_bound middle
    [[ $(allocated "$(claim_of middle)") == card-1-2g-20gb-4 ]]
    one whole 7g | kn create -f -
    wait_bound whole
    [[ $(allocated "$(claim_of whole)") == card-0-7g-80gb-0 ]]
}

@test "(n) a gang of partitions gets all of them or none" {
    mig_cards
    { partition 7g.80gb; partition 3g.40gb 'gang: parts, size: 3'; one whole 7g; } | kn create -f -
    wait_bound whole
    { one part-a 3g; one part-b 3g; one part-c 3g; } | kn create -f -
    watch_until 30 '(.status.explanation // "") | test("2 of 3 members have a place")' gang/parts >/dev/null
    expect_distinct 8 "$(taken)"
    kn delete pod whole --wait --timeout=30s
    wait_bound part-a part-b part-c
    tg_wait_until 30 taken_are 12
}

@test "(n) claims share a device as far as its capacity goes" {
    slice shared-devices "$SHARED" 1 '{"devices": [{"name": "big", "allowMultipleAllocations": true, "capacity": {"memory":
        {"value": "10Gi", "requestPolicy": {"default": "1Gi", "validRange": {"min": "1Gi", "step": "1Gi"}}}}}]}'
    template share 1 unused '' "$SHARED" | sed 's|selectors:|capacity: {requests: {memory: 3500Mi}}|; /- cel:/d; /expression:/d' |
        kn create -f -
    # Of three that come in one second any two may be first.
    { one share-a share; one share-b share; } | kn create -f -
    wait_bound share-a share-b
    one share-c share | kn create -f -
    wait_event 30 Pod share-c InsufficientDevices
    kn get resourceclaims -o json | jq -e '[.items[].status.allocation.devices.results[]? |
        {device, consumed: .consumedCapacity.memory}] == [range(2) | {device: "big", consumed: "4Gi"}]'
    expect_distinct 2 "$(kn get resourceclaims -o json | jq -r '.items[].status.allocation.devices.results[]?.shareID')"
    kn delete pod share-a --wait --timeout=30s
    wait_bound share-c
}

@test "(n) admin access is to a device that another pod has" {
    k label namespace "$NAMESPACE" resource.kubernetes.io/admin-access=true
    { template user 1 "$H100"; pod user user '  nodeSelector: {kubernetes.io/hostname: node-6}'
        template watcher 8 "$H100" | sed 's/allocationMode: ExactCount/allocationMode: All, adminAccess: true/; /count: 8/d' |
            sed 's/^\( *\)allocationMode: All, adminAccess: true/\1allocationMode: All\n\1adminAccess: true/'
        pod watcher watcher '  nodeSelector: {kubernetes.io/hostname: node-6}'; } | kn create -f -
    wait_ready 60 user watcher
    [[ $(printed watcher) == *"$(printed user)"* ]]
    kn get resourceclaim "$(claim_of watcher)" -o json | jq -e 'all(.status.allocation.devices.results[]; .adminAccess)'
}
