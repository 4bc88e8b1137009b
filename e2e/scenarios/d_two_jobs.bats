#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0

load lib

setup() { scenario_setup; }
teardown() { scenario_teardown; }

pods_of() { kn get pods -l "job=$1" -o jsonpath='{range .items[*]}{.metadata.name}{"\n"}{end}'; }

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
    kn get pods -l "job=$second" -o json | jq -e --arg gate "$GATE" \
        '(.items | length == 4) and all(.items[]; any(.spec.schedulingGates[]?; .name == $gate))'
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
