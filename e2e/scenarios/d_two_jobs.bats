#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0

load lib

setup() { scenario_setup; }
teardown() { scenario_teardown; }

pods_of() { kn get pods -l "job=$1" -o jsonpath='{range .items[*]}{.metadata.name}{"\n"}{end}'; }

# nodes_are JOB NODES: where its pods are.
nodes_are() {
    local nodes
    nodes=$(kn get pods -l "job=$1" -o jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}' | sort | xargs)
    [[ $nodes == "$2" ]] || {
        echo "the pods of $1 are on $nodes, not on $2"
        return 1
    }
}

@test "(d) two 4-pod Jobs on six single-GPU nodes: exactly one runs; when it finishes, the other runs" {
    {
        template left 1 "$RTX" "gang: left, size: 4"
        template right 1 "$RTX" "gang: right, size: 4"
        job left left 4
        job right right 4
    } | kn create -f -

    local first second pod
    first=$(watch_until 120 '.status.ready == 4' jobs | jq -r .metadata.name)
    [[ $first == left ]] && second=right || second=left
    expect_distinct 4 "$(for pod in $(pods_of "$first"); do printed "$pod"; done)"
    expect_distinct 4 "$(for pod in $(pods_of "$first"); do node_of "$pod"; echo; done)"

    # The other one holds nothing at all.
    watch_until 30 '.status.phase == "Waiting"' "gang/$second" >/dev/null
    all_wait() {
        kn get pods -l "job=$second" -o json | jq -e --arg gate "$GATE" '(.items | length == 4) and
            all(.items[]; any(.spec.schedulingGates[]?; .name == $gate) and (.status.resourceClaimStatuses | length == 1))'
    }
    tg_wait_until 30 all_wait
    for pod in $(pods_of "$second"); do
        [[ $(kn get resourceclaim "$(claim_of "$pod")" -o jsonpath='{.status.allocation}') == "" ]]
    done

    for pod in $(pods_of "$first"); do
        finish "$pod"
    done
    kn wait --for=condition=Complete "job/$first" --timeout=60s
    watch_until 90 '.status.ready == 4' "job/$second" >/dev/null
    expect_distinct 4 "$(for pod in $(pods_of "$second"); do printed "$pod"; done)"
}

@test "(d) a small Job goes where it breaks no node, so that a large one starts beside it" {
    {
        template single 1 "$H100"
        template left 1 "$H100" "gang: left, size: 2"
        template right 2 "$H100" "gang: right, size: 4"
        # By name node-1 would be the first to have room.
        pod busy-4 single "  nodeSelector: {kubernetes.io/hostname: node-4}"
        pod busy-5 single "  nodeSelector: {kubernetes.io/hostname: node-5}"
    } | kn create -f -
    wait_ready 60 busy-4 busy-5

    job left left 2 | kn create -f -
    watch_until 60 '.status.ready == 2' jobs >/dev/null
    nodes_are left 'node-4 node-5'
    job right right 4 | kn create -f -
    kn wait --for=jsonpath='{.status.ready}'=4 job/right --timeout=60s
    nodes_are right 'node-1 node-2 node-3 node-6'
}
