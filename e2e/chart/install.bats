#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# An installation by helm on a cluster that has none. It stays.

load ../scenarios/lib
load installation

setup() { tg_load "$TG_E2E_DIR"; }
teardown() { [[ -n ${BATS_TEST_COMPLETED:-} ]] || diagnose_installation; }

# capabilities: of this server, for helm without a server.
capabilities() {
    echo "--kube-version=1.$(tg_minor)"
    (($(tg_minor) < 36)) || echo --api-versions=admissionregistration.k8s.io/v1/MutatingAdmissionPolicy
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
        helm template tangram "$CHART" --values "$values" "${options[@]}" >"$BATS_TEST_TMPDIR/$(basename "$values")"
    done
    # All sets by one kubectl: it asks the server what there is once.
    k apply --server-side --dry-run=server --validate=strict -f "$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/said"
    [[ $(grep -c . "$BATS_TEST_TMPDIR/said") == "$(cat "$BATS_TEST_TMPDIR"/*.yaml | grep -c '^kind: ')" ]]
    k delete -f "$BATS_TEST_DIRNAME/monitoring.yaml" --wait
    k delete namespace "$RELEASE_NAMESPACE" --wait --timeout=60s
}

@test "install: one command, and everything is ready" {
    local began=$SECONDS
    helm install tangram "$CHART" --create-namespace --values "$BATS_TEST_DIRNAME/values.yaml" "${CARDS[@]}" --wait --timeout 120s
    echo "# installed and ready after $((SECONDS - began)) s" >&3
    installed
    tg_wait_until 30 policies_in_force
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

@test "a replica that stands still answers no probe (what becomes of it: life.bats)" {
    [[ -n ${TG_SCENARIOS:-} ]] || skip "the kubelet takes more than a minute, which pass with --scenarios only"
    local pod node container process
    tg_wait_until 60 led
    pod=$(kt get pods -l app.kubernetes.io/name=tangram-controller -o json | jq -r --arg leader "$(leader)" '[.items[].metadata.name | select(. != $leader)][0]')
    node=$(kt get pod "$pod" -o jsonpath='{.spec.nodeName}')
    container=$(kt get pod "$pod" -o jsonpath='{.status.containerStatuses[0].containerID}')
    process=$(tg_node_exec "$node" ctr --namespace k8s.io tasks list | awk -v id="${container#containerd://}" '$1 == id { print $2 }')
    tg_node_exec "$node" kill -STOP "$process"
    echo "$pod" >"$TG_DIR/stands-still"
}
