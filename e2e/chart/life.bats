#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The life of an installation by helm, in the order of the tests: each stands on the one before.

load ../scenarios/lib
load prometheus

CHART=$BATS_TEST_DIRNAME/../../deploy/helm/tangram
RELEASE_NAMESPACE=tangram-system
NAMESPACE=team-a

helm() { "$TG_HELM" --kubeconfig "$TG_DIR/kubeconfig/admin" --namespace "$RELEASE_NAMESPACE" "$@"; }
kt() { tg_admin --namespace "$RELEASE_NAMESPACE" "$@"; }

setup_file() {
    tg_load "$TG_E2E_DIR"
    local node program
    for node in $(tg_node_names); do
        tg_node_load_images "$node" "$TG_IMAGES"/*.tar
        # Another tag of the same programs: an upgrade that changes nothing but the pods.
        for program in tangram-controller tangram-kubelet-plugin; do
            tg_node_exec "$node" ctr --namespace k8s.io images tag "tangram.dev/$program:one" "tangram.dev/$program:two" >/dev/null
        done
        tg_admin label node "$node" "example.com/rack=rack-1" >/dev/null
    done
    tg_admin create namespace "$NAMESPACE" >/dev/null
    tg_admin --namespace "$NAMESPACE" wait --for=create serviceaccount/default --timeout=30s >/dev/null
}
setup() { tg_load "$TG_E2E_DIR"; }
teardown() {
    [[ -n ${BATS_TEST_COMPLETED:-} ]] && return
    kt get pods -o wide || true
    kt get events --sort-by=.metadata.creationTimestamp | tail -n 30 || true
    kt logs --all-containers --tail=20 --prefix -l app.kubernetes.io/part-of=tangram || true
    kn get pods,resourceclaims,gangs -o wide || true
    kn get events --sort-by=.metadata.creationTimestamp | tail -n 20 || true
}

# installed: every pod of the release is ready, and every node's devices are published.
installed() {
    local node
    kt rollout status deployment/tangram-controller --timeout=120s
    kt rollout status daemonset/tangram-kubelet-plugin --timeout=120s
    for node in $(tg_node_names); do
        tg_slices_wait 60 "$node"
    done
}

# gang NAME: three pods with two big cards each, which is all there is.
gang() {
    local i
    template "$1" 2 "$H100" "gang: $1, size: 3, topology: {pack: {required: rack}}"
    for i in 1 2 3; do
        pod "$1-$i" "$1"
    done
}

# untouched: the pods of the gang `kept` are those that were started, and have not been restarted.
untouched() {
    [[ $(kn get pods kept-1 kept-2 kept-3 -o jsonpath='{range .items[*]}{.metadata.uid}:{.status.containerStatuses[0].restartCount}:{.status.phase} {end}') == \
        "$(cat "$BATS_FILE_TMPDIR/kept")" ]]
}

as_administrator() { KUBECONFIG=$TG_DIR/kubeconfig/admin bash -euo pipefail -c "$1"; }

# capabilities: of this server, for helm without a server.
capabilities() {
    echo "--kube-version=1.$(tg_minor)"
    (($(tg_minor) < 36)) || echo --api-versions=admissionregistration.k8s.io/v1/MutatingAdmissionPolicy
}

# leader: the pod that holds the lease; empty when nobody does.
leader() { kt get lease tangram-controller-default -o jsonpath='{.spec.holderIdentity}'; }

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

@test "every object of every set of values is accepted by the server" {
    local values options=()
    mapfile -t options < <(capabilities)
    # A set may ask for mutating policies, which this server must have.
    (($(tg_minor) >= 36)) || options+=(--set policies.gate=auto)
    k create namespace "$RELEASE_NAMESPACE"
    k apply --server-side -f "$BATS_TEST_DIRNAME/monitoring.yaml"
    k wait --for=condition=Established -f "$BATS_TEST_DIRNAME/monitoring.yaml" --timeout=30s
    for values in "$BATS_TEST_DIRNAME"/../../tests/chart/values/*.yaml; do
        helm template tangram "$CHART" --values "$values" "${options[@]}" >"$BATS_TEST_TMPDIR/objects"
        k apply --server-side --dry-run=server --validate=strict -f "$BATS_TEST_TMPDIR/objects"
    done
    k delete -f "$BATS_TEST_DIRNAME/monitoring.yaml" --wait
    k delete namespace "$RELEASE_NAMESPACE" --wait --timeout=60s
}

@test "install: one command, and everything is ready" {
    helm install tangram "$CHART" --create-namespace --values "$BATS_TEST_DIRNAME/values.yaml" --wait --timeout 120s
    installed
    [[ $(helm get notes tangram) == *"is installed (managed)"* ]]
    # The controller fits into a namespace of the strictest kind.
    kt get deployment tangram-controller -o json | jq -e '.spec.template.spec | .securityContext.runAsNonRoot and
        (.containers[0].securityContext | .allowPrivilegeEscalation == false and .readOnlyRootFilesystem)' >/dev/null
    k create namespace strict --dry-run=client -o json | jq '.metadata.labels = {"pod-security.kubernetes.io/enforce": "restricted"}' |
        k apply -f - >/dev/null
    kt get pods -l app.kubernetes.io/name=tangram-controller -o json | jq '.items[0] | {apiVersion, kind, metadata: {name: "strict"},
        spec: (.spec | del(.nodeName, .serviceAccountName, .serviceAccount, .volumes, .priority, .priorityClassName) | .containers[0] |= del(.volumeMounts) |
        {containers, securityContext})}' | k --namespace strict create --dry-run=server -f - >/dev/null
    k delete namespace strict --wait=false >/dev/null
}

@test "the demo plays on an installation that is there, and leaves nothing" {
    "$BATS_TEST_DIRNAME/../demo" --kubeconfig "$TG_DIR/kubeconfig/admin" --image "$IMAGE" >"$BATS_TEST_TMPDIR/said"
    cat "$BATS_TEST_TMPDIR/said"
    # Nine cards: five pods each.
    grep -q 'two Jobs of 5 pods with one device each; 9 devices are free' "$BATS_TEST_TMPDIR/said"
    grep -q '[0-4] of 5 members have a place' "$BATS_TEST_TMPDIR/said"
    tg_wait_until 60 sh -c "! kubectl --kubeconfig '$TG_DIR/kubeconfig/admin' get namespaces -o name | grep -q tangram-demo"
    [[ -z $(k get resourceclaims,gangs --all-namespaces -o name) ]]
}

@test "use: a gang runs" {
    gang kept | kn create -f -
    wait_ready 90 kept-1 kept-2 kept-3
    kn get pods kept-1 kept-2 kept-3 -o jsonpath='{range .items[*]}{.metadata.uid}:{.status.containerStatuses[0].restartCount}:{.status.phase} {end}' \
        >"$BATS_FILE_TMPDIR/kept"
    [[ $(cat "$BATS_FILE_TMPDIR/kept") == *:0:Running* ]]
}

@test "metrics: every query of the dashboard finds something, and promtool has nothing to say" {
    local address pod port
    gang waits | kn create -f -
    wait_event 60 Pod waits-1 InsufficientDevices
    for pod in $(kt get pods -l app.kubernetes.io/part-of=tangram -o jsonpath='{.items[*].metadata.name}'); do
        port=$([[ $pod == *controller* ]] && echo 8080 || echo 8081)
        kt get --raw "/api/v1/namespaces/$RELEASE_NAMESPACE/pods/$pod:$port/proxy/metrics" >"$BATS_TEST_TMPDIR/$pod"
        [[ -z $("$TG_PROMTOOL" check metrics <"$BATS_TEST_TMPDIR/$pod" 2>&1) ]]
    done
    grep -h '^tangram_controller_pending_pods{reason="InsufficientDevices"} 3$' "$BATS_TEST_TMPDIR"/tangram-controller-*
    grep -h '^tangram_fleet_devices{state="held"} 6$' "$BATS_TEST_TMPDIR"/tangram-controller-*
    # The two Jobs of the demo and the gang that runs.
    grep -h '^tangram_controller_commit_duration_seconds_count{outcome="committed"} 3$' "$BATS_TEST_TMPDIR"/tangram-controller-*
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
    helm upgrade tangram "$CHART" --values "$BATS_TEST_DIRNAME/values.yaml" --set image.tag=two --set controller.verbosity=1 --wait --timeout 180s
    installed
    [[ $(kt get pods -l app.kubernetes.io/part-of=tangram -o jsonpath='{.items[*].spec.containers[0].image}' | tr ' ' '\n' | grep -vc ':two$') == 0 ]]
    untouched
    invariants_hold
    # What waited is decided by the new controller as soon as there is room.
    kn get pods waits-1 waits-2 waits-3 -o json | jq -e 'all(.items[]; .spec.schedulingGates | any(.name == "tangram.dev/gang"))' >/dev/null
}

@test "roll back: the former release, and the gangs stay" {
    helm rollback tangram 1 --wait --timeout 180s
    installed
    [[ $(kt get pods -l app.kubernetes.io/part-of=tangram -o jsonpath='{.items[*].spec.containers[0].image}' | tr ' ' '\n' | grep -vc ':one$') == 0 ]]
    untouched
    invariants_hold
}

@test "uninstall: nothing of ours is left, running pods run on, waiting ones are released as the notes say" {
    local notes pods gangs
    # The notes hold the commands; they are run as they stand there, by an administrator.
    notes=$(helm get notes tangram)
    pods=$(sed -n '/^     kubectl get pods --all-namespaces/,/^     done/p' <<<"$notes")
    gangs=$(sed -n '/^     kubectl get gangs.tangram.dev/,/^       done/p' <<<"$notes")
    [[ $pods == *"patch pod"* && $gangs == *"patch gang"* ]]
    # A Gang that keeps the CRD, as one whose plan is being carried out does.
    kn patch gang waits --type merge --patch '{"metadata": {"finalizers": ["tangram.dev/plan"]}}'
    helm uninstall tangram
    as_administrator "$pods"
    as_administrator "$gangs"
    k wait --for=delete customresourcedefinition/gangs.tangram.dev --timeout=60s
    kt wait --for=delete pod -l app.kubernetes.io/part-of=tangram --timeout=60s
    untouched
    [[ $(kn get pods -o json | jq '[.items[] | select(.spec.schedulingGates // [] != [])] | length') == 0 ]]
    [[ -z $(k get "$(kinds)" -o name | grep tangram) ]]
    [[ -z $(kt get all,configmaps,poddisruptionbudgets -o name | grep tangram) ]]
    k delete namespace "$RELEASE_NAMESPACE" --wait --timeout=60s
    untouched
}
