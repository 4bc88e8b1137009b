#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0

load lib

setup() { scenario_setup; }
teardown() { scenario_teardown; }

# bats test_tags=core
@test "(b) gang of 3 pods x 2 GPUs: all start, devices disjoint, allocations pinned" {
    {
        template trio 2 "$H100" "gang: trio, size: 3"
        pod trio-1 trio
        pod trio-2 trio
        pod trio-3 trio
    } | kn create -f -
    wait_ready 90 trio-1 trio-2 trio-3

    local member devices=''
    for member in trio-1 trio-2 trio-3; do
        [[ $(printed "$member") == "$(allocated "$(claim_of "$member")")" ]]
        devices+=$(printed "$member")$'\n'
        expect_pinned "$member"
    done
    expect_distinct 6 "$devices"
    kn wait --for=jsonpath='{.status.phase}'=Running gang/trio --timeout=30s

    # The gang's own object goes after its last member.
    kn delete pod trio-1 trio-2 trio-3 --wait --timeout=30s
    kn wait --for=delete gang/trio --timeout=60s
}

@test "(b) a gang that must share a rack is placed in one" {
    {
        template packed 2 "$H100" "gang: packed, size: 3, topology: {pack: {required: rack}}"
        pod packed-1 packed
        pod packed-2 packed
        pod packed-3 packed
    } | kn create -f -
    wait_ready 90 packed-1 packed-2 packed-3

    local member racks=''
    for member in packed-1 packed-2 packed-3; do
        racks+=$(k get node "$(node_of "$member")" -o jsonpath='{.metadata.labels.example\.com/rack}')$'\n'
    done
    [[ $(sort -u <<<"$racks" | grep -c .) == 1 ]]
}
