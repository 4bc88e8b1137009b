#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A controller manager without an account for each of its controllers, as some clusters run it. Its claim controller is
# told from users by another name, and must be able to do all that it does.

load lib

SHARED=system:kube-controller-manager

setup() {
    scenario_setup
    local flags=("${TG_CONTROLLER_MANAGER_FLAGS[@]}")
    # What the documentation of Kubernetes demands for it: all roles of its controllers.
    k get clusterroles -o json | jq --arg user "$SHARED" --arg mark "$NAMESPACE" '{apiVersion: "v1", kind: "List", items: [
        .items[].metadata.name | select(startswith("system:controller:")) |
        {apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding",
         metadata: {name: "\($mark):\(.)", labels: {scenario: $mark}},
         roleRef: {apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: .},
         subjects: [{apiGroup: "rbac.authorization.k8s.io", kind: "User", name: $user}]}]}' | k create -f - >/dev/null
    tg_process_stop controller-manager
    TG_CONTROLLER_MANAGER_FLAGS+=(--use-service-account-credentials=false)
    tg_controller_manager_start
    TG_CONTROLLER_MANAGER_FLAGS=("${flags[@]}")
}

teardown() {
    diagnose_failure
    tg_process_stop controller-manager
    tg_controller_manager_start
    k delete clusterrolebindings -l "scenario=$NAMESPACE" >/dev/null
    scenario_teardown
}

# by_shared: what the shared account has written to claims here, as {verb, resource, code}, one a line.
by_shared() {
    jq -c --arg namespace "$NAMESPACE" --arg user "$SHARED" 'select(.objectRef.namespace == $namespace and .user.username == $user) |
        {verb, resource: ([.objectRef.resource, .objectRef.subresource // empty] | join("/")), code: .responseStatus.code}' \
        "$TG_DIR/log/audit.log"
}

# bats test_tags=core
@test "(q) a claim controller without an account of its own makes, reserves, clears and deletes claims as ever" {
    { template duo 1 "$RTX" 'gang: duo, size: 2'; job duo duo 2; } | kn create -f -
    watch_until 120 '.status.ready == 2' job/duo >/dev/null
    local pods pod claims claim
    pods=$(kn get pods -l job=duo -o jsonpath='{.items[*].metadata.name}')
    claims=$(for pod in $pods; do claim_of "$pod"; echo; done)
    for pod in $pods; do
        finish "$pod"
    done
    kn wait --for=condition=Complete job/duo --timeout=60s
    # Claims made for a pod go when it has finished: no longer reserved, cleared, deleted.
    for claim in $claims; do
        kn wait --for=delete "resourceclaim/$claim" --timeout=60s
    done

    has_done_all() {
        by_shared | jq -se '[.[] | select(.code < 300)] | any(.verb == "create" and .resource == "resourceclaims") and
            any(.verb == "delete" and .resource == "resourceclaims") and any(.resource == "resourceclaims/status")'
    }
    tg_wait_until 30 has_done_all # the log tells of a request after its answer
    by_shared | sort | uniq -c | sed 's/^/# /' >&3
    by_shared | jq -se 'all(.code != 403 and .code != 422)'
}
