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

# A disk that one node has: nothing of it is there at first.
@test "(a) a pod with a volume waits for it, and goes to the node that has it" {
    local node
    node=$(tg_node_names | tail -n 1)
    { template one 1 "$H100"; pod reader one "  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]"; } | kn create -f -
    wait_event 30 Pod reader "VolumeNotReady: .*PersistentVolumeClaim data does not exist yet"
    kn create -f - <<YAML
apiVersion: v1
kind: PersistentVolume
metadata: {name: $NAMESPACE}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: ""
  persistentVolumeReclaimPolicy: Retain
  local: {path: /tmp}
  claimRef: {namespace: $NAMESPACE, name: data}
  nodeAffinity:
    required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [$node]}]}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: ""
  volumeName: $NAMESPACE
  resources: {requests: {storage: 1Gi}}
YAML
    wait_ready 60 reader
    [[ $(kn get pod reader -o jsonpath='{.spec.nodeName}') == "$node" ]]
    kn delete pod/reader --wait --timeout=30s
    kn delete pvc/data --wait --timeout=30s
    k delete "pv/$NAMESPACE" --wait --timeout=30s
}
