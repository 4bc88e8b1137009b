#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Cards that are partitioned on demand: the plugin is the real one, the driver's library is that of tests/support/fake-nvml. A
# driver of its own, beside the one with simulated cards. Where the API server keeps counters, under the default scheduler;
# where it does not, the controller derives them.

load lib
load mig

setup() {
    scenario_setup
    mig_cards "$BATS_TEST_TMPDIR"
    mig_plugin_start
}
teardown() {
    mig_clear
    scenario_teardown
}

# has_partition POD: its container has printed the UUID of one, and that it sees the two device nodes of one.
has_partition() { [[ $(kn logs "$1" | xargs) =~ ^TANGRAM_DEVICE_UUIDS=MIG-[0-9a-f-]{36}\ 2$ ]]; }

# bats test_tags=core
@test "(o) partitions are made for pods and removed after them; the counters keep a third out; kill -9 disturbs nobody" {
    tg_slices_wait 60 node-1 "$MIG_DRIVER"
    mig_class mig-3g 3g.40gb
    mig_class mig-2g 2g.48gb
    mig_pod one mig-3g
    mig_pod two mig-3g
    mig_pod four mig-2g
    wait_ready 120 one two four
    [[ $(instances) == 3 ]]
    local name uuids=''
    for name in one two; do
        tg_wait_until 30 has_partition "$name"
        uuids+=$(kn logs "$name" | head -n 1)$'\n'
    done
    expect_distinct 2 "$uuids"

    mig_pod three mig-3g
    watch_until 60 '[.status.conditions[]? | select(.type == "PodScheduled" and .status == "False")] != []' pod/three >/dev/null
    local before
    before=$(kn get pod one -o jsonpath='{.status.containerStatuses[0].containerID}')
    tg_process_stop node-1.mig KILL
    mig_plugin_start
    kn delete pod two --wait --timeout=60s
    wait_ready 120 three
    [[ $(instances) == 3 ]]
    [[ $(kn get pod one -o jsonpath='{.status.containerStatuses[0].containerID}') == "$before" ]]

    kn delete pods --all --wait --timeout=90s
    [[ $(instances) == 0 ]]
}

@test "(o) a card whose driver does not answer costs its own pods only; they are told why, and start when it answers" {
    tg_process_stop node-1.mig
    mig_plugin_start --nvml-timeout 2s
    tg_slices_wait 60 node-1 "$MIG_DRIVER"
    mig_class mig-3g 3g.40gb
    mig_class mig-2g 2g.48gb
    mig_play 'fault nvmlDeviceCreateGpuInstanceWithPlacement on=0 hang'
    mig_pod one mig-3g
    wait_event 90 Pod one 'card 0000:f1:00.0: nvmlDeviceCreateGpuInstanceWithPlacement has not answered within 2 s'
    mig_pod four mig-2g
    wait_ready 120 four
    [[ $(instances) == 1 ]]

    mig_play
    wait_ready 180 one
    [[ $(instances) == 2 ]]
    tg_wait_until 30 has_partition one
    kn delete pods --all --wait --timeout=90s
    [[ $(instances) == 0 ]]
}

@test "(o) a driver whose library never ends loading is told, and the plugin goes on and can be ended" {
    tg_process_stop node-1.mig
    mig_play 'fault dlopen hang'
    mig_plugin_start --nvml-timeout 2s
    local log=$TG_DIR/log/node-1.mig.log
    tg_wait_until 60 grep -q "the driver's library: dlopen has not answered within 8 s" "$log"
    kill -s TERM "$(tg_process_pid node-1.mig)"
    tg_wait_until 10 process_gone node-1.mig
    tg_process_stop node-1.mig # forgets it
    mig_play
    mig_plugin_start
    tg_slices_wait 60 node-1 "$MIG_DRIVER"
}
