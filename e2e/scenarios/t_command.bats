#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# kubectl-tangram on a live cluster: it says what the controller says, reads only what it may show, and lets pods go.

load lib

PROGRAM=${TANGRAM_BIN:-$BATS_TEST_DIRNAME/../../build/${TANGRAM_PRESET:-debug}/bin}/kubectl-tangram

setup() {
    scenario_setup
    STOPPED=''
    cd "$BATS_TEST_TMPDIR"
}
teardown() {
    [[ -z $STOPPED ]] || tg_controller_start
    scenario_teardown
}

# tangram VERB ARGUMENT...
tangram() { "$PROGRAM" "$@" --kubeconfig "$TG_DIR/kubeconfig/admin"; }

# wide: a gang of one that no node has enough cards for; all that it concerns has been told so.
wide() {
    { template nine 9 "$RTX" 'gang: wide, size: 1'; pod wide-0 nine; } | kn create -f -
    watch_until 30 '.status.phase == "Waiting"' gang/wide >/dev/null
    wait_event 30 Pod wide-0 NeverFits
    wait_event 30 Gang wide NeverFits
    wait_event 30 ResourceClaim "$(claim_of wide-0)" NeverFits
}

# bats test_tags=core
@test "(t) explain, fit, simulate and a dump say of a gang that waits what the controller says" {
    local target why
    wide
    why=$(kn get gang wide -o jsonpath='{.status.explanation}')
    for target in wide pod/wide-0 "claim/$(claim_of wide-0)"; do
        run -1 tangram explain "$target" --namespace "$NAMESPACE"
        [[ $output == *"status: Waiting: $why"* && $output == *"gang $NAMESPACE/wide: waits: NeverFits"* ]]
        [[ $output == *"NeverFits: $why"* && $output == *"event: "*"NeverFits: $why"* ]]
    done

    tangram dump >cluster.json
    run -1 "$PROGRAM" explain wide --namespace "$NAMESPACE" cluster.json
    [[ $output == *"NeverFits: $why"* ]]
    run ! grep -E 'last-applied|"env"|"command"|"image"|"args"' cluster.json

    { template one 1 "$RTX"; pod single one; } |
        sed "s/^metadata: *$/&\n  namespace: $NAMESPACE/; s/^metadata: {/&namespace: $NAMESPACE, /" >single.yaml
    run -0 tangram fit single.yaml
    [[ $output == yes ]]
    run -0 tangram simulate --from-cluster single.yaml
    [[ $output == *": placed"* ]]
    run -0 "$PROGRAM" fit cluster.json single.yaml
    [[ $output == yes ]]
    run -0 "$PROGRAM" validate -f single.yaml
}

@test "(t) a gang is let go by hand while nobody leads, and not before" {
    INVENTS='a gate removed by hand'
    wide
    run -1 tangram release wide --namespace "$NAMESPACE"
    [[ $output == *"a controller leads"* ]]
    [[ $(kn get pod wide-0 -o jsonpath='{.spec.schedulingGates[*].name}') == "$GATE" ]]
    STOPPED=yes
    tg_process_stop tangram-controller
    tg_wait_until 30 tangram release wide --namespace "$NAMESPACE"
    [[ -z $(kn get pod wide-0 -o jsonpath='{.spec.schedulingGates[*].name}') ]]
}

# Edits of a slice and of a claim that are right; of each, validate and the server must say the same. (Not among them: a count of
# 33, which the server takes, and which no claim can ever get.)
SLICE='{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "edited"}, "spec": {
    "driver": "gpu.example.com", "nodeName": "nowhere", "pool": {"name": "nowhere", "generation": 0, "resourceSliceCount": 1},
    "devices": [{"name": "gpu-0", "attributes": {"model": {"string": "H100"}}, "capacity": {"memory": {"value": "80Gi"}}}]}}'
CLAIM='{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "edited"}, "spec": {"devices": {
    "requests": [{"name": "gpu", "exactly": {"deviceClassName": "none"}}]}}}'
slice_edits() {
    cat <<'END'
.
.spec.driver = "gpu example"
.spec.pool.name = "a/b"
.spec.pool.name = "a//b"
del(.spec.pool.generation)
.spec.pool.generation = -1
.spec.pool.resourceSliceCount = 0
.spec.allNodes = true
.spec.allNodes = false | del(.spec.nodeName)
del(.spec.nodeName)
del(.spec.nodeName) | .spec.nodeSelector = {nodeSelectorTerms: []}
del(.spec.nodeName) | .spec.perDeviceNodeSelection = true
del(.spec.nodeName) | .spec.perDeviceNodeSelection = true | .spec.devices[0].allNodes = true
.spec.devices[0].nodeName = "nowhere"
.spec.devices += .spec.devices
.spec.devices[0].name = "GPU"
.spec.devices = [range(128) as $i | {name: "gpu-\($i)"}]
.spec.devices = [range(129) as $i | {name: "gpu-\($i)"}]
.spec.devices = [range(65) as $i | {name: "gpu-\($i)", taints: [{key: "a", effect: "NoSchedule"}]}]
.spec.devices[0].attributes["a-b"] = {bool: true}
.spec.devices[0].attributes["example.com/a"] = {bool: true}
.spec.devices[0].attributes.model = {string: "a", int: 1}
.spec.devices[0].attributes.model = {}
.spec.devices[0].attributes.model = {string: ("a" * 65)}
.spec.devices[0].attributes.model = {version: "1.2"}
.spec.devices[0].attributes = ([range(32) | {key: "a\(.)", value: {int: .}}] | from_entries)
.spec.devices[0].attributes = ([range(31) | {key: "a\(.)", value: {int: .}}] | from_entries)
.spec.devices[0].capacity.memory.requestPolicy = {default: "1Gi"}
.spec.devices[0].taints = [{key: "example.com/a", effect: "None"}]
.spec.devices[0].taints = [{key: "a/b/c", effect: "NoExecute"}]
.spec.devices[0].taints = [{key: "a", effect: "Never"}]
.spec.devices[0].taints = [range(17) | {key: "a\(.)", effect: "NoSchedule"}]
.spec.devices[0].bindingConditions = ["example.com/ready"]
.spec.devices[0].bindingConditions = ["ready"] | .spec.devices[0].bindingFailureConditions = ["failed"]
.spec.devices[0].consumesCounters = [{counterSet: "a", counters: {memory: {value: "1Gi"}}}]
.spec.devices[0].consumesCounters = [{counterSet: "a", counters: {}}]
.spec.devices[0].consumesCounters = [range(3) | {counterSet: "a\(.)", counters: {memory: {value: "1Gi"}}}]
.spec.devices[0].consumesCounters = [range(2) | {counterSet: "a", counters: {memory: {value: "1Gi"}}}]
.spec.sharedCounters = [{name: "a", counters: {memory: {value: "1Gi"}}}]
del(.spec.devices) | .spec.sharedCounters = [{name: "a", counters: {memory: {value: "1Gi"}}}]
del(.spec.devices) | .spec.sharedCounters = [{name: "a", counters: {Memory: {value: "1Gi"}}}]
del(.spec.devices) | .spec.sharedCounters = [range(2) | {name: "a", counters: {memory: {value: "1Gi"}}}]
del(.spec.devices) | .spec.sharedCounters = [range(9) | {name: "a\(.)", counters: {memory: {value: "1Gi"}}}]
END
}
claim_edits() {
    cat <<'END'
.
.spec.devices.requests += .spec.devices.requests
.spec.devices.requests = [range(33) | {name: "r\(.)", exactly: {deviceClassName: "none"}}]
.spec.devices.requests[0].exactly.count = 0
.spec.devices.requests[0].exactly.count = -1
.spec.devices.requests[0].exactly |= . + {allocationMode: "All", count: 2}
.spec.devices.requests[0].exactly.selectors = [range(33) | {cel: {expression: "true"}}]
.spec.devices.requests[0].exactly.tolerations = [{operator: "Exists"}]
.spec.devices.requests[0].exactly.tolerations = [{operator: "Is", key: "a"}]
.spec.devices.requests[0].exactly.tolerations = [{operator: "Exists", key: "a", value: "b"}]
.spec.devices.requests[0].exactly.tolerations = [{value: "b"}]
.spec.devices.requests[0].exactly.tolerations = [{key: "a", effect: "Never"}]
.spec.devices.requests[0].exactly.tolerations = [{key: "a", effect: "None"}]
.spec.devices.requests[0].exactly.tolerations = [range(17) | {operator: "Exists", key: "a\(.)"}]
.spec.devices.requests = [{name: "a", firstAvailable: [range(8) | {name: "b\(.)", deviceClassName: "none"}]}]
.spec.devices.requests = [{name: "a", firstAvailable: [range(9) | {name: "b\(.)", deviceClassName: "none"}]}]
.spec.devices.requests = [{name: "a", firstAvailable: [range(2) | {name: "b", deviceClassName: "none"}]}]
.spec.devices.constraints = [{matchAttribute: "example.com/a", requests: ["gpu"]}]
.spec.devices.constraints = [{matchAttribute: "a", requests: ["gpu"]}]
.spec.devices.constraints = [{matchAttribute: "example.com/a", requests: ["cpu"]}]
.spec.devices.constraints = [range(33) | {matchAttribute: "example.com/a"}]
.spec.devices.config = [{opaque: {driver: "gpu.example.com", parameters: {}}}]
.spec.devices.config = [{opaque: {driver: "gpu.example.com", parameters: {text: ("a" * 10240)}}}]
.spec.devices.config = [{opaque: {driver: "gpu.example.com", parameters: []}}]
END
}

# compare DOCUMENT: reads edits; prints those of which the two say something else.
compare() {
    local edit ours server
    while read -r edit; do
        jq "$edit" <<<"$1" >edited.yaml
        "$PROGRAM" validate -f edited.yaml >ours.txt && ours=yes || ours=no
        kn create --dry-run=server -f edited.yaml >server.txt 2>&1 && server=yes || server=no
        if [[ $ours != "$server" ]]; then
            echo "$edit: validate says $ours, the server $server"
            cat ours.txt server.txt
        fi
    done
}

@test "(t) validate refuses of slices and claims what the server refuses, and nothing else" {
    (($(tg_minor) >= 36)) || skip "Kubernetes 1.$(tg_minor) drops fields unless alpha gates are on, right or wrong"
    [[ -z $(slice_edits | compare "$SLICE" | tee /dev/stderr) ]]
    [[ -z $(claim_edits | compare "$CLAIM" | tee /dev/stderr) ]]
}
