#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The operator guide, from an empty cluster on. Comes last by its name: an API server of 1.36 and later would not gate the pods of
# those after it (see the notes of the chart).

load ../scenarios/lib
load ../scenarios/documents
load installation

setup() {
    tg_load "$TG_E2E_DIR"
    documents_setup default
    cat >"$BATS_TEST_TMPDIR/bin/helm" <<SH
#!/bin/sh
exec $TG_HELM --kubeconfig '$TG_DIR/kubeconfig/admin' "\$@"
SH
    chmod +x "$BATS_TEST_TMPDIR/bin/helm"
}
teardown() {
    [[ -n ${BATS_TEST_COMPLETED:-} ]] && return
    tg_admin --namespace tangram-system get pods -o wide || true
    tg_admin --namespace tangram-system logs --tail=20 --prefix -l app.kubernetes.io/part-of=tangram || true
}

@test "the operator guide works as it is written, from an empty cluster" {
    cd "$BATS_TEST_DIRNAME/../.."
    TMPDIR=$BATS_TEST_TMPDIR follow deploy/docs/operator-guide.md
    nothing_left
}
