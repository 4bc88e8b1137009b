#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# kubectl-tangram on a live cluster: it says what the controller says, reads only what it may show, and lets pods go.

load lib

PROGRAM=${TANGRAM_BIN:-$BATS_TEST_DIRNAME/../../build/${TANGRAM_PRESET:-debug}/bin}/kubectl-tangram

setup() {
    scenario_setup
    STOPPED=''
    cd "$BATS_TEST_TMPDIR"
}
teardown() {
    [[ -z $STOPPED ]] || tg_controller_start
    scenario_teardown
}

# tangram VERB ARGUMENT...
tangram() { "$PROGRAM" "$@" --kubeconfig "$TG_DIR/kubeconfig/admin"; }

# wide: a gang of one that no node has enough cards for; all that it concerns has been told so.
wide() {
    { template nine 9 "$RTX" 'gang: wide, size: 1'; pod wide-0 nine; } | kn create -f -
    watch_until 30 '.status.phase == "Waiting"' gang/wide >/dev/null
    wait_event 30 Pod wide-0 NeverFits
    wait_event 30 Gang wide NeverFits
    wait_event 30 ResourceClaim "$(claim_of wide-0)" NeverFits
}

# bats test_tags=core
@test "(t) explain, fit, simulate and a dump say of a gang that waits what the controller says" {
    local target why
    wide
    why=$(kn get gang wide -o jsonpath='{.status.explanation}')
    for target in wide pod/wide-0 "claim/$(claim_of wide-0)"; do
        run -1 tangram explain "$target" --namespace "$NAMESPACE"
        [[ $output == *"status: Waiting: $why"* && $output == *"gang $NAMESPACE/wide: waits: NeverFits"* ]]
        [[ $output == *"NeverFits: $why"* && $output == *"event: "*"NeverFits: $why"* ]]
    done

    tangram dump >cluster.json
    run -1 "$PROGRAM" explain wide --namespace "$NAMESPACE" cluster.json
    [[ $output == *"NeverFits: $why"* ]]
    run ! grep -E 'last-applied|"env"|"command"|"image"|"args"' cluster.json

    { template one 1 "$RTX"; pod single one; } |
        sed "s/^metadata: *$/&\n  namespace: $NAMESPACE/; s/^metadata: {/&namespace: $NAMESPACE, /" >single.yaml
    run -0 tangram fit single.yaml
    [[ $output == yes ]]
    run -0 tangram simulate --from-cluster single.yaml
    [[ $output == *": placed"* ]]
    run -0 "$PROGRAM" fit cluster.json single.yaml
    [[ $output == yes ]]
    run -0 "$PROGRAM" validate -f single.yaml
}

@test "(t) a gang is let go by hand while nobody leads, and not before" {
    INVENTS='a gate removed by hand'
    wide
    run -1 tangram release wide --namespace "$NAMESPACE"
    [[ $output == *"a controller leads"* ]]
    [[ $(kn get pod wide-0 -o jsonpath='{.spec.schedulingGates[*].name}') == "$GATE" ]]
    STOPPED=yes
    tg_process_stop tangram-controller
    tg_wait_until 30 tangram release wide --namespace "$NAMESPACE"
    [[ -z $(kn get pod wide-0 -o jsonpath='{.spec.schedulingGates[*].name}') ]]
}
