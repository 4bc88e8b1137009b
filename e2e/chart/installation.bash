# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # the tests use the names
#
# What the tests of an installation share.

CHART=$BATS_TEST_DIRNAME/../../deploy/helm/tangram
RELEASE_NAMESPACE=tangram-system

helm() { "$TG_HELM" --kubeconfig "$TG_DIR/kubeconfig/admin" --namespace "$RELEASE_NAMESPACE" "$@"; }
kt() { tg_admin --namespace "$RELEASE_NAMESPACE" "$@"; }

# CARDS: options of helm for the simulated cards of ../system.
CARDS=(--set-file "plugin.inventory.default=$BATS_TEST_DIRNAME/../system/inventory.yaml"
    --set-file "plugin.inventory.eight=$BATS_TEST_DIRNAME/../system/inventory-eight.yaml")

# installed: every pod of the release is ready, and every node's devices are published.
installed() {
    local node set
    kt rollout status deployment/tangram-controller --timeout=120s
    for set in $(kt get daemonsets -o name); do
        kt rollout status "$set" --timeout=120s
    done
    for node in $(tg_node_names); do
        tg_slices_wait 60 "$node"
    done
}

# left NODE: the files that Tangram has on the node, one a line.
left() { tg_node_exec "$1" find /var/lib/kubelet/plugins/gpu.tangram.dev /var/lib/kubelet/plugins_registry /var/run/cdi ! -type d -printf '%f\n' | sort; }

# nothing_left: no node has any.
nothing_left() {
    local node files
    for node in $(tg_node_names); do
        files=$(left "$node") && [[ -z $files ]] || { echo "$node has ${files:-no such folders}" && return 1; }
    done
}

# uninstall: returns when all pods have ended.
uninstall() {
    helm uninstall tangram --wait
    kt wait --for=delete pod -l app.kubernetes.io/part-of=tangram --timeout=60s
}

# leader: the pod that holds the lease; empty when nobody does.
leader() { kt get lease tangram-controller-default -o jsonpath='{.spec.holderIdentity}'; }

# led: somebody holds it.
led() { [[ -n $(leader) ]]; }

diagnose_installation() {
    kt get pods -o wide || true
    kt get events --sort-by=.metadata.creationTimestamp | tail -n 30 || true
    kt logs --all-containers --tail=20 --prefix -l app.kubernetes.io/part-of=tangram || true
}
