#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The life of the installation of install.bats, in the order of the tests: each stands on the one before.

load ../scenarios/lib
load installation
load prometheus

NAMESPACE=team-a

setup_file() {
    tg_load "$TG_E2E_DIR"
    tg_admin create namespace "$NAMESPACE" >/dev/null
    tg_admin --namespace "$NAMESPACE" wait --for=create serviceaccount/default --timeout=30s >/dev/null
}
setup() {
    tg_load "$TG_E2E_DIR"
    mapfile -t KEPT < <(tg_node_names | sed 's/^node/kept/')
}
teardown() {
    [[ -n ${BATS_TEST_COMPLETED:-} ]] && return
    diagnose_installation
    kn get pods,resourceclaims,gangs -o wide || true
    kn get events --sort-by=.metadata.creationTimestamp | tail -n 20 || true
}

# gang NAME SIZE: of pods with two big cards each, which is all that a node has.
gang() {
    local i
    template "$1" 2 "$H100" "gang: $1, size: $2"
    for ((i = 1; i <= $2; i++)); do
        pod "$1-$i" "$1"
    done
}

# kept: the pods of the gang `kept`, their restarts and phases.
kept() { kn get pods "${KEPT[@]}" -o jsonpath='{range .items[*]}{.metadata.uid}:{.status.containerStatuses[0].restartCount}:{.status.phase} {end}'; }

# untouched: the pods of the gang `kept` are those that were started, and have not been restarted.
untouched() { [[ $(kept) == "$(cat "$BATS_FILE_TMPDIR/kept")" ]]; }

# needed NODE: the files that its pods need to be taken back.
needed() {
    kn get pods,resourceclaims -o json | jq -r --arg node "$1" '(.items | map(select(.kind == "ResourceClaim") | {(.metadata.name): .metadata.uid}) | add) as $uid |
        [.items[] | select(.kind == "Pod" and .spec.nodeName == $node).status.resourceClaimStatuses[] |
            "k8s.gpu.tangram.dev-claim_\($uid[.resourceClaimName]).json"] | sort[], if . == [] then empty else "prepare.journal" end'
}

# columns: how many columns of the CRD are of the version after this.
columns() { k get customresourcedefinition gangs.tangram.dev -o json | jq '[.spec.versions[0].additionalPrinterColumns[] | select(.name == "Next")] | length'; }

# nothing_of PATTERN COMMAND...: it lists no such name. What others clear away goes a moment later.
nothing_of() {
    local names
    names=$("${@:2}" -o name) && ! grep "$1" <<<"$names"
}

# all_of TAG: every pod of the release has its image of that tag. One of before is listed until the kubelet has cleared it away, which
# a rollout does not wait for.
all_of() { kt get pods -l app.kubernetes.io/part-of=tangram -o json | jq -e --arg tag ":$1" '.items != [] and all(.items[].spec.containers[0].image; endswith($tag))'; }

as_administrator() { KUBECONFIG=$TG_DIR/kubeconfig/admin bash -euo pipefail -c "$1"; }

# of_pod POD PORT COMMAND...: runs it with ADDRESS, from which the port of the pod is reached as from inside.
of_pod() {
    local pod=$1 port=$2 serves='Forwarding from (127.0.0.1:[0-9]+)' status=0
    shift 2
    rm -f "$TG_DIR/log/forward.log"
    tg_process_start forward kubectl --kubeconfig "$TG_DIR/kubeconfig/admin" -n "$RELEASE_NAMESPACE" port-forward "pod/$pod" ":$port"
    tg_process_wait forward 30 logged forward "$serves"
    ADDRESS=$(logged forward "$serves") "$@" || status=$?
    tg_process_stop forward
    return "$status"
}

# verbosity POD PORT: is read and set from inside, and nowhere else.
verbosity() {
    local said
    of_pod "$1" "$2" sh -euc '
        [ "$(curl -fsS "$ADDRESS/debug/flags/v")" = 0 ]
        curl -fsS -X PUT -d 4 "$ADDRESS/debug/flags/v" >&2
        [ "$(curl -fsS "$ADDRESS/debug/flags/v")" = 4 ]
        curl -fsS -X PUT -d 0 "$ADDRESS/debug/flags/v" >&2'
    ! said=$(kt get --raw "/api/v1/namespaces/$RELEASE_NAMESPACE/pods/$1:$2/proxy/debug/flags/v" 2>&1) || return 1
    [[ $said == *"use kubectl port-forward"* ]]
}

# kinds: of everything that the chart makes outside its namespace.
kinds() {
    printf 'customresourcedefinitions,deviceclasses,validatingadmissionpolicies,validatingadmissionpolicybindings,clusterroles,clusterrolebindings'
    (($(tg_minor) < 36)) || printf ',mutatingadmissionpolicies,mutatingadmissionpolicybindings'
}

@test "the replica that stood still has been started anew, once" {
    [[ -e $TG_DIR/stands-still ]] || skip "none did: the kubelet takes more than a minute, which pass with --scenarios only"
    local pod
    pod=$(<"$TG_DIR/stands-still")
    # The event stays when a scenario has drained its node since.
    tg_watch_first 90 ".involvedObject.name == \"$pod\" and .reason == \"Killing\" and (.message | test(\"failed liveness probe\"))" \
        --namespace "$RELEASE_NAMESPACE" events >/dev/null
    # Nobody else was.
    [[ $(kt get pods -o json | jq --arg pod "$pod" '[.items[] | select(.metadata.name != $pod).status.containerStatuses[].restartCount] | add') == 0 ]]
}

@test "the demo plays on an installation that is there, and leaves nothing" {
    "$BATS_TEST_DIRNAME/../demo" --kubeconfig "$TG_DIR/kubeconfig/admin" --image "$IMAGE" >"$BATS_TEST_TMPDIR/said"
    cat "$BATS_TEST_TMPDIR/said"
    grep -E 'two Jobs of [0-9]+ pods with one device each; [0-9]+ devices are free' "$BATS_TEST_TMPDIR/said"
    grep -E '[0-9]+ of [0-9]+ members have a place' "$BATS_TEST_TMPDIR/said"
    tg_wait_until 60 sh -c "! kubectl --kubeconfig '$TG_DIR/kubeconfig/admin' get namespaces -o name | grep -q tangram-demo"
    tg_wait_until 60 nothing_of . k get resourceclaims,gangs --all-namespaces
}

@test "use: a gang of as many pods as there are nodes runs" {
    gang kept "$TG_NODES" | kn create -f -
    wait_ready 90 "${KEPT[@]}"
    kept >"$BATS_FILE_TMPDIR/kept"
    [[ $(cat "$BATS_FILE_TMPDIR/kept") == *:0:Running* ]]
}

# What an operator is promised to see.
MEASURED=(tangram_controller_pending_units tangram_controller_pending_pods tangram_controller_decision_duration_seconds_bucket
    tangram_controller_commit_duration_seconds_bucket 'tangram_controller_commit_duration_seconds_count\{outcome="committed"\}'
    rest_client_requests_total rest_client_request_duration_seconds_bucket tangram_informer_lag_seconds_bucket
    tangram_informer_silence_seconds tangram_fleet_devices tangram_fleet_fragmented_devices tangram_fleet_partitions_memory_bytes
    tangram_controller_contested_devices 'tangram_plugin_claim_duration_seconds_bucket\{operation="prepare",outcome="ok",[^}]*\}')

# measured: every pod tells, and what they tell is so.
measured() {
    local pod port metric all=$BATS_TEST_TMPDIR/all
    for pod in $(kt get pods -l app.kubernetes.io/part-of=tangram -o jsonpath='{.items[*].metadata.name}'); do
        port=$([[ $pod == *controller* ]] && echo 8080 || echo 8081)
        kt get --raw "/api/v1/namespaces/$RELEASE_NAMESPACE/pods/$pod:$port/proxy/metrics" >"$BATS_TEST_TMPDIR/$pod" || return 1
    done
    cat "$BATS_TEST_TMPDIR"/tangram-* >"$all"
    # The last one: of the gang that runs at least, by whoever leads by now.
    for metric in "${MEASURED[@]/%/[{ ]}" 'tangram_controller_pending_pods\{reason="InsufficientDevices"\} 3$' \
        "tangram_fleet_devices\\{state=\"held\"\\} $((2 * TG_NODES))\$" 'tangram_controller_commit_duration_seconds_count\{outcome="committed"\} [1-9]'; do
        grep -qE "^$metric" "$all" || { echo "nobody tells $metric" && return 1; }
    done
}

@test "metrics: every query of the dashboard finds something, and promtool has nothing to say" {
    local address pod
    gang waits 3 | kn create -f -
    wait_event 60 Pod waits-1 InsufficientDevices
    tg_wait_until 60 measured || { measured && false; }
    for pod in "$BATS_TEST_TMPDIR"/tangram-*; do
        [[ -z $("$TG_PROMTOOL" check metrics <"$pod" 2>&1) ]]
    done
    address=$(prometheus_start)
    "$BATS_TEST_DIRNAME/queries.py" "$address" "$CHART/files/dashboard.json"
    prometheus_stop
}

@test "debug pages are for who may forward a port; the verbosity of the log changes at run time" {
    local pod
    pod=$(leader)
    verbosity "$pod" 8080
    of_pod "$pod" 8080 sh -euc 'curl -fsS "$ADDRESS/debug/units"' | jq -e '.leading and any(.units[]; .says // "" | test("InsufficientDevices"))' >/dev/null
    verbosity "$(kt get pods -l app.kubernetes.io/name=tangram-kubelet-plugin -o jsonpath='{.items[0].metadata.name}')" 8081
}

@test "a leader that is ended gives its lease back, and the other replica leads" {
    local ended states=$BATS_TEST_TMPDIR/leases
    ended=$(leader)
    NAMESPACE=$RELEASE_NAMESPACE record "$states" lease tangram-controller-default
    tg_wait_until 30 test -s "$states" # the watch has begun
    kt delete pod "$ended" --wait=false
    # Nobody's for a moment: the other one need not wait until it has run out.
    tg_wait_until 60 jq -e -s --arg ended "$ended" 'map(.object.spec.holderIdentity // "") | index("") as $free |
        $free != null and any(.[$free:][]; . != "" and . != $ended)' "$states"
    kill "${WATCHES[@]}"
    installed
    untouched
    kn get pods waits-1 waits-2 waits-3 -o json | jq -e 'all(.items[]; .spec.schedulingGates | any(.name == "tangram.dev/gang"))' >/dev/null
}

@test "upgrade: new images and a new CRD under a running gang and a waiting one" {
    # The next version has one column more.
    cp -r "$CHART" "$BATS_TEST_TMPDIR/next"
    sed -i 's|^    additionalPrinterColumns:$|&\n    - {name: Next, type: string, jsonPath: .metadata.uid}|' "$BATS_TEST_TMPDIR/next/files/gangs.yaml"
    [[ $(columns) == 0 ]]
    helm upgrade tangram "$BATS_TEST_TMPDIR/next" --values "$BATS_TEST_DIRNAME/values.yaml" "${CARDS[@]}" --set image.tag=two \
        --set controller.verbosity=1 --wait --timeout 180s
    installed
    [[ $(columns) == 1 ]]
    tg_wait_until 60 all_of two
    untouched
    invariants_hold
    # What waited is decided by the new controller as soon as there is room.
    kn get pods waits-1 waits-2 waits-3 -o json | jq -e 'all(.items[]; .spec.schedulingGates | any(.name == "tangram.dev/gang"))' >/dev/null
}

@test "roll back: the former release, and the gangs stay" {
    helm rollback tangram 1 --wait --timeout 180s
    installed
    [[ $(columns) == 0 ]]
    tg_wait_until 60 all_of one
    untouched
    invariants_hold
}

# no_gates POD...: of ours.
no_gates() { kn get "${@/#/pod/}" -o json | jq -e 'all(.items[]; (.spec.schedulingGates // []) == [])' >/dev/null; }

@test "while nobody leads, waiting pods and gangs are let go by hand as the notes and the guide say" {
    local notes pods gangs
    # The notes hold the commands; they are run as they stand there, by an administrator.
    notes=$(helm get notes tangram)
    pods=$(sed -n '/^     kubectl get pods --all-namespaces/,/^     done/p' <<<"$notes")
    gangs=$(sed -n '/^     kubectl get gangs.tangram.dev/,/^       done/p' <<<"$notes")
    [[ $pods == *"patch pod"* && $gangs == *"patch gang"* ]]
    gang waits-too 2 | kn create -f -
    kn wait --for=create gang/waits-too --timeout=30s
    kt scale deployment tangram-controller --replicas=0
    kt wait --for=delete pod -l app.kubernetes.io/name=tangram-controller --timeout=60s
    kn patch gang waits --type merge --patch '{"metadata": {"finalizers": ["tangram.dev/plan"]}}'
    # The one gang by the program of the controller's image, the other as the notes say.
    k config view --raw --flatten >"$TG_IMAGE_FILES/tangram-controller/kubeconfig"
    tg_wait_until 60 chroot "$TG_IMAGE_FILES/tangram-controller" /usr/bin/kubectl-tangram release --kubeconfig /kubeconfig -n "$NAMESPACE" waits-too
    no_gates waits-too-1 waits-too-2
    [[ $(kn get pods waits-1 -o jsonpath='{.spec.schedulingGates[0].name}') == tangram.dev/gang ]]
    as_administrator "$pods"
    as_administrator "$gangs"
    no_gates waits-1 waits-2 waits-3
    [[ -z $(kn get gang waits -o jsonpath='{.metadata.finalizers}') ]]
    kn delete pods waits-1 waits-2 waits-3 waits-too-1 waits-too-2 --wait --timeout=30s
    kt scale deployment tangram-controller --replicas=2
    installed
    untouched
}

@test "uninstall: nothing of ours is left, running pods run on, waiting ones are released and told why" {
    local node pod
    gang waits-last 2 | kn create -f -
    wait_event 60 Pod waits-last-1 InsufficientDevices
    # A Gang that keeps the CRD, as one whose plan is being carried out does.
    kn patch gang waits-last --type merge --patch '{"metadata": {"finalizers": ["tangram.dev/plan"]}}'
    helm uninstall tangram
    no_gates waits-last-1 waits-last-2
    for pod in waits-last-1 waits-last-2; do
        wait_event 30 Pod "$pod" 'Released: Tangram was uninstalled'
    done
    k wait --for=delete customresourcedefinition/gangs.tangram.dev --timeout=60s
    kt wait --for=delete pod -l app.kubernetes.io/part-of=tangram --timeout=60s
    untouched
    [[ $(kn get pods -o json | jq '[.items[] | select(.spec.schedulingGates // [] != [])] | length') == 0 ]]
    tg_wait_until 60 nothing_of tangram k get "$(kinds)"
    tg_wait_until 60 nothing_of tangram kt get all,configmaps,poddisruptionbudgets
    # On a node: of what runs on, by which a later installation frees it, and nobody to talk to.
    for node in $(tg_node_names); do
        [[ $(left "$node") == "$(needed "$node")" ]]
    done
    k delete namespace "$RELEASE_NAMESPACE" --wait --timeout=60s
    untouched
}

@test "an installation that comes later frees what has ended, and leaves nothing on any node" {
    local set
    helm install tangram "$CHART" --create-namespace --values "$BATS_TEST_DIRNAME/values.yaml" "${CARDS[@]}" --set mode=driver-only
    for set in $(kt get daemonsets -o name); do
        kt rollout status "$set" --timeout=120s
    done
    untouched
    kn delete pods --all --wait --timeout=60s
    uninstall
    nothing_left
    k delete namespace "$RELEASE_NAMESPACE" --wait --timeout=60s
}
