#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Dynamic MIG on Kubernetes 1.34 with its alpha feature DRAPartitionableDevices: the API server keeps counters, and wants them in the
# slice of the devices that consume of them. Nobody tells the plugin: it finds out. The scheduler's own allocator, which knows
# nothing of Tangram, keeps the places apart.

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

# The server keeps them, whatever its version says, and the classes are not managed.
keeps_counters() { true; }
managed_label() { :; }
gate() { :; }

slices() { k get resourceslices -o json | jq -c --arg driver "$MIG_DRIVER" '[.items[].spec | select(.driver == $driver)]'; }
# has_partition POD: its container has printed the UUID of one.
has_partition() { [[ $(kn logs "$1" | head -n 1) =~ ^TANGRAM_DEVICE_UUIDS=MIG-[0-9a-f-]{36}$ ]]; }

@test "counters are in the slices of their devices, and the scheduler's own allocator gives no memory away twice" {
    tg_slices_wait 60 node-1 "$MIG_DRIVER"
    # Each slice that has counters has the devices, too, and no device consumes of a set that its slice has not.
    slices | jq -e 'length > 0 and all((.sharedCounters // []) != [] and (.devices // []) != [])'
    slices | jq -e 'all([.sharedCounters[].name] as $sets | .devices | all(.consumesCounters | length > 0 and all(.counterSet | IN($sets[]))))'
    # Nothing is said to be derived.
    slices | jq -e 'all(.devices | all(.attributes["tangram.dev/derived"] == null))'

    mig_class mig-3g 3g.40gb
    mig_class mig-2g 2g.48gb
    mig_pod one mig-3g
    mig_pod two mig-3g
    mig_pod four mig-2g
    wait_ready 120 one two four
    [[ $(instances) == 3 ]]
    local name
    for name in one two four; do
        tg_wait_until 30 has_partition "$name"
    done
    mig_pod three mig-3g
    watch_until 60 '[.status.conditions[]? | select(.type == "PodScheduled" and .status == "False")] != []' pod/three >/dev/null
    kn delete pod two --wait --timeout=60s
    wait_ready 120 three
    [[ $(instances) == 3 ]]
    kn delete pods --all --wait --timeout=90s
    [[ $(instances) == 0 ]]
}
