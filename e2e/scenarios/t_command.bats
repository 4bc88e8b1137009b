#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# kubectl-tangram on a live cluster: it says what the controller says, reads only what it may show, and lets pods go.

load lib

setup() {
    scenario_setup
    PROGRAM=${TANGRAM_BIN:-$BATS_TEST_DIRNAME/../../build/${TANGRAM_PRESET:-debug}/bin}/kubectl-tangram
    cd "$BATS_TEST_TMPDIR"
}
teardown() { scenario_teardown; }

# tangram VERB ARGUMENT...
tangram() { "$PROGRAM" "$@" --kubeconfig "$TG_DIR/kubeconfig/admin"; }

# bats test_tags=core
@test "(t) explain, fit and a dump say of a gang that waits what the controller says" {
    { template nine 9 "$RTX" 'gang: giant, size: 1'; pod giant nine; } | kn create -f -
    watch_until 30 '.status.phase == "Waiting"' gang/giant >/dev/null
    run -1 tangram explain giant --namespace "$NAMESPACE"
    [[ $output == *"status: Waiting: "* && $output == *"gang $NAMESPACE/giant: waits: "* && $output == *"9 devices on one node are needed"* ]]

    tangram dump >cluster.json
    run -1 "$PROGRAM" explain giant --namespace "$NAMESPACE" cluster.json
    [[ $output == *"9 devices on one node are needed"* ]]
    ! grep -qE 'last-applied|"env"|"command"|"image"|"args"' cluster.json

    { template one 1 "$RTX"; pod single one; } | sed "s/^metadata: *$/&\n  namespace: $NAMESPACE/; s/^metadata: {/&namespace: $NAMESPACE, /" >single.yaml
    run -0 tangram fit single.yaml
    [[ $output == yes ]]
    run -0 "$PROGRAM" validate -f single.yaml
}

@test "(t) a gang is let go by hand only if nobody leads, or by force, and only by who may" {
    INVENTS='a gate removed by hand'
    { template nine 9 "$RTX" 'gang: giant, size: 1'; pod giant nine; } | kn create -f -
    watch_until 30 '.status.phase == "Waiting"' gang/giant >/dev/null
    run -1 tangram release giant --namespace "$NAMESPACE"
    [[ $output == *"a controller leads"* ]]
    [[ $(kn get pod giant -o jsonpath='{.spec.schedulingGates[*].name}') == tangram.dev/gang ]]
    run -0 tangram release giant --namespace "$NAMESPACE" --force
    [[ $output == *"pod/giant released"* && $output == *"1 of them have claims without devices"* ]]
    [[ -z $(kn get pod giant -o jsonpath='{.spec.schedulingGates[*].name}') ]]
}
