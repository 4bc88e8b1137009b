#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The scheduler's own allocator beside Tangram: other devices (a second plugin, driver gpu.example.com, on node-6) and
# a class without our label.

load lib

FOREIGN=gpu.example.com
CONTESTS=contests.example.com

setup() {
    scenario_setup
    k create -f - <<YAML
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: $FOREIGN}
spec: {selectors: [{cel: {expression: device.driver == "$FOREIGN"}}]}
YAML
    tg_plugin_start node-6 foreign "$FOREIGN" "$TG_SYSTEM/inventory-foreign.yaml"
    tg_slices_wait 60 node-6 "$FOREIGN"
}

teardown() {
    diagnose_failure
    # The kubelet asks the plugin to unprepare: it ends after the pods.
    kn delete pods --all --wait --timeout=60s >/dev/null
    "$TG_CLUSTER_SCRIPTS/stop" "$TG_DIR" node-6.foreign || true
    [[ ! -e $TG_DIR/run/node-5.twin ]] || "$TG_CLUSTER_SCRIPTS/stop" "$TG_DIR" node-5.twin || true
    k delete resourceslice clash --ignore-not-found >/dev/null
    scenario_teardown
    k delete deviceclass "$FOREIGN" "$CONTESTS" --ignore-not-found >/dev/null
    k get resourceslices -o json | jq -r --arg driver "$FOREIGN" '.items[] | select(.spec.driver == $driver) | .metadata.name' |
        xargs -r "$TG_CLUSTER_SCRIPTS/kubectl" "$TG_DIR" delete resourceslice >/dev/null
}

# foreign_template NAME COUNT
foreign_template() {
    cat <<YAML
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: $1}
spec: {spec: {devices: {requests: [{name: gpus, exactly: {deviceClassName: $FOREIGN, count: $2}}]}}}
YAML
}

# ungated YAML on standard input: without our gate on any version.
ungated() { sed '/schedulingGates/d'; }

@test "(g) default-scheduler workloads with unmanaged classes on other devices work untouched" {
    { foreign_template foreign 1; pod theirs-1 foreign; pod theirs-2 foreign; } | ungated | kn create -f -
    { template ours 1 "$H100"; pod ours ours "  nodeSelector: {kubernetes.io/hostname: node-6}"; } | kn create -f -
    wait_ready 60 theirs-1 theirs-2 ours

    local pod devices=''
    for pod in theirs-1 theirs-2; do
        [[ $(node_of "$pod") == node-6 ]]
        [[ $(printed "$pod") == "$(allocated "$(claim_of "$pod")")" ]]
        devices+=$(printed "$pod")$'\n'
        # Nothing of ours on pod or claim.
        kn get pod "$pod" -o json | jq -e '.spec | (.schedulingGates // [] | length == 0) and (.affinity == null)'
        kn get resourceclaim "$(claim_of "$pod")" -o json | jq -e '
            all((.metadata.annotations // {}), (.metadata.labels // {}) | keys[]; startswith("tangram.dev/") | not) and
            ([.status.allocation.devices.config[]? | select(.opaque.driver == "tangram.dev")] | length == 0)'
    done
    expect_distinct 2 "$devices"
    [[ $(kn get resourceclaim "$(claim_of ours)" -o json | jq -r '.status.allocation.devices.results[].driver') == "$TG_DRIVER" ]]

    # It waits, and is served, by the scheduler alone.
    pod theirs-3 foreign | ungated | kn create -f -
    wait_event 30 Pod theirs-3 FailedScheduling
    kn delete pod theirs-1 --wait --timeout=30s
    wait_ready 60 theirs-3
    kn get events -o json | jq -e '[.items[] | select(.source.component == "tangram-controller" or
        .reportingComponent == "tangram-controller") |
        select(.involvedObject.name | startswith("theirs"))] | length == 0'
}

@test "(g) a claim that mixes managed and unmanaged classes is refused with an event and allocated by nobody" {
    kn create -f - <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: mixed, labels: {tangram.dev/managed: "true"}}
spec: {devices: {requests: [
  {name: ours, exactly: {deviceClassName: $TG_DRIVER, count: 1}},
  {name: theirs, exactly: {deviceClassName: $FOREIGN, count: 1}}]}}
YAML
    pod mixed unused | sed 's/resourceClaimTemplateName: unused/resourceClaimName: mixed/' | kn create -f -
    wait_event 30 ResourceClaim mixed "$FOREIGN"
    [[ -z $(kn get resourceclaim mixed -o jsonpath='{.status.allocation}') ]]
}

@test "(g) devices that a class of others matches too are given to nobody, which is told, until it does no more" {
    k create -f - <<YAML
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: $CONTESTS}
spec: {selectors: [{cel: {expression: device.driver == "$TG_DRIVER"}}]}
YAML
    tg_watch_first 30 ".involvedObject.kind == \"DeviceClass\" and .involvedObject.name == \"$CONTESTS\" and
        .reason == \"ContestedDevices\"" --namespace default events >/dev/null
    { template contested 1 "$H100"; pod contested contested; } | kn create -f -
    wait_event 30 Pod contested "DeviceClass $CONTESTS, which is not managed"
    [[ -z $(kn get resourceclaim "$(claim_of contested)" -o jsonpath='{.status.allocation}') ]]
    k delete deviceclass "$CONTESTS"
    wait_ready 60 contested
}

# not_published DRIVER TEXT: an event on node-5 says that nothing is published since DRIVER publishes the same card.
not_published() {
    tg_watch_first 30 ".involvedObject.kind == \"Node\" and .involvedObject.name == \"node-5\" and
        .reason == \"DevicesNotPublished\" and (.message | contains(\"driver $1 publishes our card\"))" \
        --namespace default events >/dev/null
}
published_on() { tg_watch_first 60 ".spec.nodeName == \"$1\" and .spec.driver == \"$TG_DRIVER\"" resourceslices | jq -r .metadata.name; }
slices_of() { k get resourceslices -o json | jq -r --arg driver "$1" '.items[].spec | select(.driver == $driver) | .nodeName' | sort; }

@test "(g) a card that another driver publishes too is withdrawn, and published again when that has ended" {
    local slice before
    before=$(slices_of "$TG_DRIVER")
    slice=$(k get resourceslices -o json | jq -c --arg driver "$TG_DRIVER" '
        .items[] | select(.spec.nodeName == "node-5" and .spec.driver == $driver)')
    k create -f - <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: clash}
spec:
  driver: clash.example.com
  nodeName: node-5
  pool: {name: node-5, generation: 1, resourceSliceCount: 1}
  devices: [{name: same, attributes: {uuid: {string: $(jq '.spec.devices[0].attributes.uuid.string' <<<"$slice")}}}]
YAML
    k wait --for=delete "resourceslice/$(jq -r .metadata.name <<<"$slice")" --timeout=30s
    not_published clash.example.com
    [[ $(slices_of "$TG_DRIVER") == "$(grep -v '^node-5$' <<<"$before")" ]]
    k get resourceslice clash -o json | jq 'del(.metadata.uid, .metadata.resourceVersion)' >"$BATS_TEST_TMPDIR/clash"
    k delete resourceslice clash
    slice=$(published_on node-5)
    # Once more: what is told again and nothing newer after it gets a higher count, a minute later.
    k create -f "$BATS_TEST_TMPDIR/clash"
    k wait --for=delete "resourceslice/$slice" --timeout=30s
    k delete resourceslice clash
    tg_slices_wait 60 node-5

    # Whoever comes second with the same cards publishes nothing; nobody is disturbed.
    tg_plugin_start node-5 twin twin.example.com "$TG_SYSTEM/inventory.yaml" --health-addr 127.0.0.1:8099
    not_published "$TG_DRIVER"
    is_not_ready() {
        [[ $("$TG_CLUSTER_SCRIPTS/node-exec" "$TG_DIR" node-5 curl -s -w '%{http_code}' http://127.0.0.1:8099/readyz) == \
            *"slices: driver $TG_DRIVER publishes our card"*503 ]]
    }
    tg_wait_until 30 is_not_ready
    [[ -z $(slices_of twin.example.com) && $(slices_of "$TG_DRIVER") == "$before" ]]
}
