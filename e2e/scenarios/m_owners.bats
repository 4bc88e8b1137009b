#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Owners that never create all members of a gang, since the first ones wait: the explanation names their setting.

load lib

setup() { scenario_setup; }
teardown() {
    crds_delete
    scenario_teardown
}

# explained REGEX: the gang's explanation matches.
explained() { watch_until 30 "(.status.explanation // \"\") | test(\"$1\")" gang/train >/dev/null; }

# stateful POLICY: a StatefulSet of two pods that are a gang.
stateful() {
    cat <<YAML
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: workers}
spec:
  replicas: 2
  serviceName: none
  podManagementPolicy: $1
  selector: {matchLabels: {app: workers}}
  template:
    metadata: {labels: {app: workers}}
    spec:
$(pod_spec two "$SHOW; exec tail -f /dev/null" "      ")
YAML
}

# bats test_tags=core
@test "(m) a StatefulSet that creates its pods in order is named with what helps, and that helps" {
    { template two 1 "$RTX" 'gang: train, size: 2'; stateful OrderedReady; } | kn create -f -
    kn wait --for=create gang/train --timeout=30s
    explained '^1 of 2 members exist[.] StatefulSet workers .*spec.podManagementPolicy: Parallel'
    kn delete statefulset workers --wait --timeout=60s
    kn wait --for=delete pod/workers-0 --timeout=60s
    stateful Parallel | kn create -f -
    wait_ready 60 workers-0 workers-1
    kn delete statefulset workers --wait --timeout=60s
}

@test "(m) a Job that runs fewer pods at a time than its gang has is named with the field, and raising it helps" {
    { template two 1 "$RTX" 'gang: train, size: 2'; job train two 2 | sed 's/parallelism: 2/parallelism: 1/'; } | kn create -f -
    kn wait --for=create gang/train --timeout=30s
    explained '^1 of 2 members exist[.] Job train creates at most 1 pod at a time [(]spec.parallelism[)]'
    kn patch job train --type=merge -p '{"spec": {"parallelism": 2}}'
    watch_until 60 '(.status.ready // 0) == 2' job/train >/dev/null
}

# deployment REPLICAS: of pods that are a gang.
deployment() {
    cat <<YAML
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: servers}
spec:
  replicas: $1
  strategy: {type: Recreate}
  selector: {matchLabels: {app: servers}}
  template:
    metadata: {labels: {app: servers}}
    spec:
$(pod_spec two "$SHOW; exec tail -f /dev/null" "      ")
YAML
}

@test "(m) a Deployment with fewer replicas than its gang has members is named with the field, and raising it helps" {
    { template two 1 "$RTX" 'gang: train, size: 2'; deployment 1; } | kn create -f -
    kn wait --for=create gang/train --timeout=30s
    explained '^1 of 2 members exist[.] Deployment servers creates at most 1 pod at a time [(]spec.replicas[)]'
    kn scale deployment servers --replicas=2
    watch_until 60 '(.status.readyReplicas // 0) == 2' deployment/servers >/dev/null
    kn delete deployment servers --cascade=foreground --wait --timeout=60s
}

# owned_by KIND NAME VERSION: a manifest on standard input, owned by that object as its controller.
owned_by() {
    local uid
    uid=$(kn get "${1,,}" "$2" -o jsonpath='{.metadata.uid}')
    sed "s|^metadata: {name: \([a-z]*\)}\$|metadata: {name: \1, ownerReferences: [{apiVersion: $3, kind: $1, name: $2, uid: $uid, controller: true}]}|"
}

@test "(m) a LeaderWorkerSet and a JobSet that wait for the first pods to be ready are named with what helps" {
    crds_apply
    kn create -f - <<YAML
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: serving}
spec:
  startupPolicy: LeaderReady
  leaderWorkerTemplate:
    size: 2
    workerTemplate: {spec: {containers: [{name: main, image: $IMAGE}]}}
---
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: learning}
spec:
  startupPolicy: {startupPolicyOrder: InOrder}
  replicatedJobs:
  - name: first
    template: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: $IMAGE}]}}}}
YAML
    # What their controllers would have made by then.
    { template two 1 "$RTX" 'gang: train, size: 2'
        stateful Parallel | sed 's/replicas: 2/replicas: 1/' | owned_by LeaderWorkerSet serving leaderworkerset.x-k8s.io/v1; } | kn create -f -
    kn wait --for=create gang/train --timeout=30s
    explained '^1 of 2 members exist[.] LeaderWorkerSet serving .*spec.startupPolicy: LeaderCreated'
    kn delete statefulset workers --cascade=foreground --wait --timeout=60s
    kn wait --for=delete gang/train --timeout=60s
    job first two 1 | owned_by JobSet learning jobset.x-k8s.io/v1alpha2 | kn create -f -
    kn wait --for=create gang/train --timeout=30s
    explained '^1 of 2 members exist[.] JobSet learning .*spec.startupPolicy.startupPolicyOrder: AnyOrder'
}
