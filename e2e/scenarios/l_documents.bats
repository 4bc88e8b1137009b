#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What the documents show is done here as it is written there, from top to bottom: a yaml block is applied, a sh block is
# run, and a text block is what the sh block before it prints ("…" stands for anything, further lines may stand around).

load lib

ROOT=$BATS_TEST_DIRNAME/../..

setup() {
    scenario_setup
    # The kubectl of the documents' reader, who is in the scenario's namespace.
    mkdir "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/blocks"
    cat >"$BATS_TEST_TMPDIR/bin/kubectl" <<SH
#!/bin/sh
exec $(command -v kubectl) --kubeconfig '$TG_DIR/kubeconfig/admin' --namespace '$NAMESPACE' "\$@"
SH
    chmod +x "$BATS_TEST_TMPDIR/bin/kubectl"
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

# blocks FILE: writes its fenced blocks to blocks/NUMBER.KIND, in order, and prints their names.
blocks() {
    awk -v folder="$BATS_TEST_TMPDIR/blocks" '
        !inside && /^```[a-z]+$/ { inside = 1; name = sprintf("%s/%02d.%s", folder, ++n, substr($0, 4)); print name; next }
        inside && /^```$/ { inside = 0; close(name); next }
        inside { print >name }' "$1"
}

# shows OUTPUT TEXT: every line of the file TEXT is a line of the file OUTPUT; runs of blanks count as one.
shows() {
    local line pattern
    while IFS= read -r line; do
        pattern=$(sed -E 's/[][(){}.*+?^$|\\]/\\&/g; s/…/.*/g; s/ +/ +/g' <<<"$line")
        grep -qE "^ *$pattern *$" "$1" || {
            echo "expected a line '$line'"
            return 1
        }
    done <"$2"
}

run_block() { PATH=$BATS_TEST_TMPDIR/bin:$PATH bash -euo pipefail "$1" 2>&1; }

# shown BLOCK TEXT: events and logs may lag behind what they are about.
shown() { run_block "$1" >"$BATS_TEST_TMPDIR/output" && shows "$BATS_TEST_TMPDIR/output" "$2"; }

# follow FILE
follow() {
    local block text names
    mapfile -t names < <(blocks "$1")
    ((${#names[@]} > 0))
    for block in "${names[@]}"; do
        echo "--- ${block##*/}"
        case $block in
        *.yaml) kn apply -f "$block" ;;
        *.sh)
            text=$(printf '%s\n' "${names[@]}" | grep -xFA1 "$block" | grep '\.text$' || true)
            if [[ -z $text ]]; then
                run_block "$block"
            elif ! tg_wait_until 60 shown "$block" "$text"; then
                shown "$block" "$text" || true
                cat "$BATS_TEST_TMPDIR/output"
                return 1
            fi
            ;;
        *.text) ;;
        *)
            echo "$1 has a block of another kind: $block"
            return 1
            ;;
        esac
    done
}

# bats test_tags=core
@test "(l) the user guide works as it is written" {
    follow "$ROOT/deploy/docs/user-guide.md"
}

@test "(l) the gang of the README waits, says why, and has its place as soon as a rack has room" {
    follow "$ROOT/README.md"
    wait_event 30 Gang llama-70b '1 of 4 members have a place in rack .*8 devices on one node are needed'
    run_block "$BATS_TEST_TMPDIR/blocks/02.sh" | grep -q 'Phase: *Waiting'

    FAKES=yes
    "$TG_CLUSTER_SCRIPTS/fake-nodes" "$TG_DIR" --count 4 --label example.com/rack=rack-9
    "$TG_CLUSTER_SCRIPTS/fake-slices" "$TG_DIR" fake-{1..4} --devices 8 --account "$TG_NAMESPACE/$TG_PLUGIN_ACCOUNT"
    kn wait --for=condition=Running gang/llama-70b --timeout=60s
    kn wait --for=condition=PodScheduled pods --selector=job-name=llama --timeout=60s
    [[ $(kn get pods --selector=job-name=llama -o jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}' | sort | xargs) == \
        'fake-1 fake-2 fake-3 fake-4' ]]
}
