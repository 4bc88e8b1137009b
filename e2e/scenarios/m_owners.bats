#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Owners that never create all members of a gang, since the first ones wait: the explanation names their setting.

load lib

setup() { scenario_setup; }
teardown() { scenario_teardown; }

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
    explained '^1 of 2 members exist[.] Job train creates at most 1 pods at a time [(]spec.parallelism[)]'
    kn patch job train --type=merge -p '{"spec": {"parallelism": 2}}'
    watch_until 60 '(.status.ready // 0) == 2' job/train >/dev/null
}
