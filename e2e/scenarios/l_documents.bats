#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The documents work as they are written (documents.bash).

load lib
load documents

ROOT=$BATS_TEST_DIRNAME/../..

setup() {
    scenario_setup
    documents_setup "$NAMESPACE"
}

teardown() {
    diagnose_failure
    if [[ -n ${FAKES:-} ]]; then
        # No kubelet ends the pods of a fake node, and a Job would replace them.
        kn delete jobs --all --cascade=orphan >/dev/null
        kn delete pods --all --grace-period=0 --force >/dev/null 2>&1
    fi
    scenario_teardown
    [[ -n ${FAKES:-} ]] || return 0
    "$TG_CLUSTER_SCRIPTS/fake-nodes" "$TG_DIR" --remove
}

# bats test_tags=core
@test "(l) the user guide works as it is written" {
    crds_apply
    follow "$ROOT/deploy/docs/user-guide.md"
    crds_delete
}

@test "(l) the gang of the README waits, says why, and has its place as soon as a rack has room" {
    follow "$ROOT/README.md"
    wait_event 30 Gang llama-70b 'NeverFits: .*no domain of level rack has room for more than [0-9] of the 4 members with 8 devices each'
    waits() { run_block "$BATS_TEST_TMPDIR/blocks/02.sh" | grep 'Phase: *Waiting'; }
    tg_wait_until 30 waits

    FAKES=yes
    "$TG_CLUSTER_SCRIPTS/fake-nodes" "$TG_DIR" --count 4 --label example.com/rack=rack-9
    "$TG_CLUSTER_SCRIPTS/fake-slices" "$TG_DIR" fake-{1..4} --devices 8 --account "$TG_NAMESPACE/$TG_PLUGIN_ACCOUNT"
    kn wait --for=condition=Running gang/llama-70b --timeout=60s
    kn wait --for=condition=PodScheduled pods --selector=job-name=llama --timeout=60s
    [[ $(kn get pods --selector=job-name=llama -o jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}' | sort | xargs) == \
        'fake-1 fake-2 fake-3 fake-4' ]]
}
