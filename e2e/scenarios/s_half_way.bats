#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A gang is half allocated, and then something happens to it. The controller goes through a fault proxy, which refuses the
# write to one of three claims for as long as the scenario wants: so the moment lasts.

# bats file_tags=core

load lib

setup_file() {
    tg_load "$TG_E2E_DIR"
    tg_process_stop tangram-controller
    tg_proxy_start
    tg_proxied "$TG_DIR/kubeconfig/tangram-controller" >"$TG_DIR/kubeconfig/tangram-controller-proxied"
    sed 's/lease: 5s/lease: 15s/' "$BATS_TEST_DIRNAME/disturbed.yaml" >"$TG_DIR/config/half-way.yaml"
    proxied_start "$TG_DIR/config/half-way.yaml"
}

teardown_file() {
    tg_load "$TG_E2E_DIR"
    tg_process_stop tangram-standby KILL
    tg_process_stop tangram-controller
    tg_process_stop faultproxy
    tg_controller_start
}

# proxied_start CONFIG: the controller, behind the proxy.
proxied_start() { tg_controller_start tangram-controller "$TG_DIR/kubeconfig/tangram-controller-proxied" "$1"; }

setup() {
    OTHER='' WITHOUT_PLUGIN=''
    scenario_setup
}

teardown() {
    tg_proxy_rules </dev/null
    [[ -z $WITHOUT_PLUGIN ]] || tg_plugin_start "$WITHOUT_PLUGIN"
    [[ -z $OTHER ]] || k delete namespace "$OTHER" --ignore-not-found --wait=false >/dev/null
    scenario_teardown
}

# all_gated COUNT: so many pods are there, and all of them are gated.
all_gated() {
    kn get pods -o json | jq -e --arg gate "$GATE" --argjson count "$1" '
        (.items | length) == $count and all(.items[]; any(.spec.schedulingGates[]?; .name == $gate))' >/dev/null
}

# await_claim POD FILTER: until it holds for the claim of the pod; prints the name.
await_claim() {
    watch_until 60 "(.metadata.name | startswith(\"$1-\")) and ($2)" resourceclaims | jq -r .metadata.name
}

await_cleared() { watch_until 60 '.status.allocation == null' "resourceclaim/$1" >/dev/null; }

# half_way: of the gang trio, all gated, the claims of trio-1 and trio-3 are allocated and that of trio-2 cannot be. Sets
# FIRST, SECOND and THIRD, their claims.
half_way() {
    { template trio 2 "$H100" 'gang: trio, size: 3'; pod trio-1 trio; pod trio-2 trio; } | kn create -f -
    SECOND=$(await_claim trio-2 true)
    tg_proxy_rules <<JSON
{"name": "half", "do": "status", "code": 403, "verb": "patch", "resource": "resourceclaims/status", "path": "/$SECOND/status", "times": -1}
JSON
    pod trio-3 trio | kn create -f -
    FIRST=$(await_claim trio-1 '.status.allocation != null')
    THIRD=$(await_claim trio-3 '.status.allocation != null')
    [[ $(kn get resourceclaim "$SECOND" -o jsonpath='{.status.allocation}') == "" ]]
    all_gated 3
}

# all_run: all three, on different devices.
all_run() {
    wait_ready 180 trio-1 trio-2 trio-3
    expect_distinct 6 "$(for member in trio-1 trio-2 trio-3; do printed "$member"; done)"
    watch_until 30 '.status.phase == "Running"' gang/trio >/dev/null
}

@test "(s) a member is deleted before, during and after the commit: taken back, taken back, replaced" {
    # Before: it never counted.
    { template trio 2 "$H100" 'gang: trio, size: 3'; pod trio-1 trio; pod trio-2 trio; } | kn create -f -
    watch_until 30 '(.status.explanation // "") | test("^2 of 3 members exist")' gang/trio >/dev/null
    kn delete pod trio-1 trio-2 --wait --timeout=30s
    kn delete resourceclaimtemplate trio
    kn wait --for=delete resourceclaims --all --timeout=30s

    # During: the others wait, and hold nothing.
    half_way
    kn delete pod trio-3 --wait --timeout=30s
    await_cleared "$FIRST"
    kn wait --for=delete "resourceclaim/$THIRD" --timeout=30s
    all_gated 2
    watch_until 30 '(.status.explanation // "") | test("^2 of 3 members exist")' gang/trio >/dev/null
    tg_proxy_rules </dev/null
    pod trio-3 trio | kn create -f -
    all_run

    # After: a new one takes its place.
    local devices
    devices=$(printed trio-3)
    kn delete pod trio-3 --wait --timeout=30s
    watch_until 30 '.status.phase == "Degraded"' gang/trio >/dev/null
    pod trio-3 trio | kn create -f -
    all_run
    [[ $(printed trio-3) == "$devices" ]]
}

@test "(s) the Gang is deleted half way: taken back, let go, and made anew for the members that wait" {
    half_way
    local old new
    old=$(kn get gang trio -o jsonpath='{.metadata.uid}')
    record "$BATS_TEST_TMPDIR/claims" resourceclaims
    tg_wait_until 30 grep -q "$THIRD" "$BATS_TEST_TMPDIR/claims"
    kn delete gang trio --wait=false
    new=$(watch_until 60 ".metadata.uid != \"$old\"" gang/trio | jq -r .metadata.uid)
    all_gated 3
    tg_proxy_rules </dev/null
    all_run
    # Each claim was of the old gang's plan, then free, then of the new one's.
    tg_wait_until 30 jq -se --arg first "$FIRST" --arg third "$THIRD" --arg old "$old" --arg new "$new" '
        def plan: [.status.allocation.devices.config[]? | select(.opaque.driver == "tangram.dev") | .opaque.parameters.gangUID][0];
        [.[].object] as $states | all($first, $third; . as $name |
            [$states[] | select(.metadata.name == $name) | plan] | [., .[1:]] | transpose | map(select(.[0] != .[1])[0]) ==
            [$old, null, $new])' "$BATS_TEST_TMPDIR/claims"
}

# read_again RESOURCE: the controller has read one of this namespace.
read_again() {
    jq -se --arg namespace "$NAMESPACE" --arg resource "$1" 'any(.[]; .verb == "get" and .objectRef.namespace == $namespace and
        .objectRef.resource == $resource and .user.username == "system:serviceaccount:tangram-system:tangram-controller")' \
        "$TG_DIR/log/audit.log" >/dev/null
}

@test "(s) the answers to writes of a pod and of a Gang are lost: it is read what became of them, and all run" {
    tg_proxy_rules <<JSON
{"name": "lost-pod", "do": "cut", "when": "after", "how": "stream", "verb": "patch", "resource": "pods", "times": 1}
{"name": "lost-gang", "do": "cut", "when": "after", "how": "stream", "verb": "patch", "resource": "gangs/status", "times": 1}
JSON
    { template trio 2 "$H100" 'gang: trio, size: 3'; pod trio-1 trio; pod trio-2 trio; pod trio-3 trio; } | kn create -f -
    all_run
    both_lost() { tg_proxy_faults | jq -e 'map(.rule) | contains(["lost-pod", "lost-gang"])'; }
    tg_wait_until 30 both_lost
    tg_wait_until 30 read_again pods
    tg_wait_until 30 read_again gangs
}

@test "(s) the namespace is deleted half way: nothing of it stays, and the devices are free" {
    OTHER=$NAMESPACE-other
    local own=$NAMESPACE number
    k create namespace "$OTHER"
    NAMESPACE=$OTHER
    kn wait --for=create serviceaccount/default --timeout=30s
    half_way
    k delete namespace "$OTHER" --wait --timeout=60s
    NAMESPACE=$own OTHER=''
    tg_proxy_rules </dev/null
    { for number in 1 2 3 4 5 6; do template "pair-$number" 2 "$H100"; pod "all-$number" "pair-$number"; done; } | kn create -f -
    wait_ready 90 all-1 all-2 all-3 all-4 all-5 all-6
}

@test "(s) a kubelet restarts half way and its slices are gone: the plan waits for them, and is made true" {
    half_way
    local node devices
    node=$(kn get resourceclaim "$FIRST" -o json | jq -r "$ALLOCATED_NODE")
    devices=$(allocated "$FIRST")
    WITHOUT_PLUGIN=$node
    tg_process_stop "$node.tangram"
    "$TG_CLUSTER_SCRIPTS/restart-kubelet" "$TG_DIR" "$node"
    slices_gone() { [[ -z $(k get resourceslices -o json | jq -r --arg node "$node" '.items[] | select(.spec.nodeName == $node)') ]]; }
    tg_wait_until 60 slices_gone
    watch_until 30 '(.status.explanation // "") | test("not ready|not published|absent|away")' gang/trio >/dev/null
    all_gated 3
    tg_proxy_rules </dev/null
    tg_plugin_start "$node"
    WITHOUT_PLUGIN=''
    tg_slices_wait 60 "$node"
    all_run
    [[ $(allocated "$FIRST") == "$devices" ]]
}

@test "(s) a leader is stopped beyond its lease right before it removes gates: another one takes back and plans anew" {
    tg_process_stop tangram-controller
    proxied_start "$BATS_TEST_DIRNAME/disturbed.yaml"
    leads() { grep -q " $(tg_process_pid tangram-controller) .*\"Leading\"" "$TG_DIR/log/tangram-controller.log"; }
    tg_wait_until 30 leads
    tg_controller_start tangram-standby "$TG_DIR/kubeconfig/tangram-controller" "$BATS_TEST_DIRNAME/disturbed.yaml" \
        "127.20.$TG_INDEX.1:8081"
    { template trio 2 "$H100" 'gang: trio, size: 3'; pod trio-1 trio; pod trio-2 trio; } | kn create -f -
    await_claim trio-2 true >/dev/null
    tg_proxy_rules <<JSON
{"name": "late", "do": "stop", "signal": "STOP", "when": "late", "ms": 15000, "pid": "$TG_DIR/run/tangram-controller", "verb": "patch", "resource": "pods", "times": 3}
JSON
    pod trio-3 trio | kn create -f -
    stopped() { tg_proxy_faults | jq -e 'length > 0'; }
    tg_wait_until 30 stopped
    kn delete pod trio-3 --wait --timeout=30s
    # Whoever leads now has taken the claims back.
    await_cleared "$(claim_of trio-1)"
    await_cleared "$(claim_of trio-2)"
    # What the former leader had on its way is refused, and it ends.
    tg_wait_until 60 process_gone tangram-controller
    tail -n 20 "$TG_DIR/log/tangram-controller.log" | grep 'Lost the lease; exiting'
    late_answers() { jq -sce '[.[] | select(.what == "request" and .rule == "late") | .server]' "$TG_DIR/log/faultproxy.jsonl"; }
    late_refused() { late_answers | jq -e 'length > 0 and all(. == 409 or . == 404) and any(. == 409)'; }
    tg_wait_until 30 late_refused || { late_answers && false; }
    all_gated 2
    pod trio-3 trio | kn create -f -
    all_run
}
