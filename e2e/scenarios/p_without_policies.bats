#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Our policies keep the scheduler from clearing allocations. Somebody may not have applied them.

load lib

setup() { scenario_setup; }

teardown() {
    tg_process_running scheduler || tg_scheduler_start
    restrict null
    scenario_teardown
}

# restrict MATCH: puts our policies into force where the matchResources MATCH say. (Not by removing them: an API server of
# 1.37 that has once lost the last binding of a kind of parameters does not look at new parameters before it is started anew.)
restrict() {
    local kinds=validatingadmissionpolicybindings binding
    (($(tg_minor) < 36)) || kinds+=,mutatingadmissionpolicybindings
    for binding in $(k get "$kinds" -o name | grep /tangram-); do
        k patch "$binding" --type=merge -p "{\"spec\": {\"matchResources\": $1}}" >/dev/null
    done
}

# probe: a claim that our policies do not let in.
probe() {
    kn create -f - <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: probe}
spec: {devices: {requests: [{name: gpus, exactly: {deviceClassName: gpu.tangram.dev}}]}}
YAML
}

# no_policy: what the policy on claims guards can be written by others.
no_policy() {
    kn patch resourceclaim probe --subresource=status --type=merge --dry-run=server -p '{"status": {"allocation": {
        "devices": {"results": [{"request": "gpus", "driver": "gpu.tangram.dev", "pool": "nowhere", "device": "none"}]}}}}'
}

solo() { pod solo one | sed '/schedulingGates:/d'; }

# no_gate: a pod that has none is let in, and is given none.
no_gate() { [[ $(solo | kn create --dry-run=server -o json -f - | jq -c '.spec.schedulingGates // []') == '[]' ]]; }

# bats test_tags=core
@test "(p) the scheduler clears the allocation of an ungated pod that has lost its room: it gets another one" {
    restrict "{\"namespaceSelector\": {\"matchExpressions\": [
        {\"key\": \"kubernetes.io/metadata.name\", \"operator\": \"NotIn\", \"values\": [\"$NAMESPACE\"]}]}}"
    # The API server notices a changed binding a moment later, each policy's on its own.
    tg_wait_until 30 probe
    tg_wait_until 30 no_policy
    kn delete resourceclaim probe
    template one 1 "$H100" | kn create -f -
    tg_wait_until 30 no_gate
    tg_process_stop scheduler
    solo | kn create -f -
    local claim node
    claim=$(watch_until 30 '.status.resourceClaimStatuses[0].resourceClaimName != null' pod/solo |
        jq -r '.status.resourceClaimStatuses[0].resourceClaimName')
    node=$(watch_until 30 '.status.allocation != null' "resourceclaim/$claim" | jq -r "$ALLOCATED_NODE")
    record "$BATS_TEST_TMPDIR/claims" resourceclaims
    tg_wait_until 30 grep -q "$claim" "$BATS_TEST_TMPDIR/claims"
    intruder "$node" "  nodeName: $node" | kn create -f -
    tg_scheduler_start

    wait_event 60 Pod solo 'deallocation of ResourceClaim completed'
    wait_ready 180 solo
    [[ $(node_of solo) != "$node" && $(printed solo) == "$(allocated "$claim")" ]]
    # Cleared in between: never from one place to another in one write.
    tg_wait_until 30 jq -se "[.[].object | if .status.allocation then $ALLOCATED_NODE else \"none\" end] |
        .[0] == \"$node\" and index(\"none\") > 0 and .[-1] != \"$node\" and .[-1] != \"none\"" "$BATS_TEST_TMPDIR/claims"
}
