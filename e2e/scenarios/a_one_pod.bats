#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0

load lib

setup() { scenario_setup; }
teardown() { scenario_teardown; }

# bats test_tags=core
@test "(a) one pod, one claim: the container prints its device, deletion releases it" {
    { template one 1 "$H100"; pod solo one; } | kn create -f -
    wait_ready 60 solo

    local claim devices
    claim=$(claim_of solo)
    devices=$(allocated "$claim")
    expect_distinct 1 "$devices"
    [[ $(printed solo) == "$devices" ]]
    [[ $devices =~ ^gpu-[0-9a-f]{12}$ ]]

    kn delete pod solo --wait --timeout=30s
    kn wait --for=delete "resourceclaim/$claim" --timeout=30s

    # Released: all twelve can be had again, this one among them.
    local number
    { for number in 1 2 3 4 5 6; do template "pair-$number" 2 "$H100"; pod "all-$number" "pair-$number"; done; } | kn create -f -
    wait_ready 90 all-1 all-2 all-3 all-4 all-5 all-6
    local everything
    everything=$(for number in 1 2 3 4 5 6; do printed "all-$number"; done)
    expect_distinct 12 "$everything"
    grep -qx "$devices" <<<"$everything"
}
