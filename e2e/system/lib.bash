# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # the scripts that load it use the names
#
# Tangram on a cluster: our manifests, the controller as a process of the host, a plugin on every node. Each program
# uses a token of its own service account, as its pod would; the plugin's is bound to its node. For scripts that have
# loaded a cluster (tg_load).

TG_SYSTEM=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TG_ROOT=$(cd "$TG_SYSTEM/../.." && pwd)
TG_BIN=${TANGRAM_BIN:-$TG_ROOT/build/${TANGRAM_PRESET:-debug}/bin}

TG_NAMESPACE=tangram-system
TG_CONTROLLER_ACCOUNT=tangram-controller
TG_PLUGIN_ACCOUNT=tangram-kubelet-plugin
TG_DRIVER=gpu.tangram.dev

tg_system_check_programs() {
    local program
    for program in tangram-controller tangram-kubelet-plugin; do
        [[ -x $TG_BIN/$program ]] ||
            tg_fail "$TG_BIN/$program is missing; build it: cmake --preset ${TANGRAM_PRESET:-debug} && cmake --build --preset ${TANGRAM_PRESET:-debug}"
    done
}

# tg_minor: the minor version of the cluster.
tg_minor() { echo "${TG_KUBERNETES#*.}"; }

# tg_manifests_apply: what an operator applies, by the version of the cluster, and then until it is in force.
tg_manifests_apply() {
    local folder=1.34
    (($(tg_minor) < 36)) || folder=1.36
    tg_admin apply --server-side -f "$TG_ROOT/deploy/manifests/base" -f "$TG_ROOT/deploy/manifests/$folder" >/dev/null
    tg_admin wait --for=condition=Established customresourcedefinition/gangs.tangram.dev --timeout=30s >/dev/null
    # The API server loads policies and their parameters in the background, and tells nobody when it has.
    tg_wait_until 30 policies_in_force || tg_fail "the admission policies are not in force after 30 s"
}

# policies_in_force: one that looks at classes, and one that does not.
policies_in_force() {
    local answer
    answer=$(tg_admin create --dry-run=server -o json -f - 2>&1 <<'JSON' || true
{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": "probe", "namespace": "default"},
 "spec": {"spec": {"devices": {"requests": [{"name": "gpus", "exactly": {"deviceClassName": "gpu.tangram.dev"}}]}}}}
JSON
    )
    [[ $answer == *tangram.dev/managed* ]] || return 1
    answer=$(tg_admin create --dry-run=server -f - 2>&1 <<'JSON' || true
{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "probe"},
 "spec": {"driver": "gpu.tangram.dev", "nodeName": "probe", "pool": {"name": "probe", "generation": 1, "resourceSliceCount": 1},
          "devices": [{"name": "d"}]}}
JSON
    )
    [[ $answer == *tangram-slices* ]]
}

# tg_health_address: where the controller answers; the address is the cluster's own.
tg_health_address() { echo "127.20.$TG_INDEX.1:8080"; }

tg_controller_start() {
    tg_process_start tangram-controller "$TG_BIN/tangram-controller" --kubeconfig "$TG_DIR/kubeconfig/tangram-controller" \
        --config "$TG_SYSTEM/controller.yaml" --health-addr "$(tg_health_address)"
    tg_process_wait tangram-controller 60 curl -fsS "http://$(tg_health_address)/readyz"
}

# tg_inventory NODE
tg_inventory() {
    case $1 in
    node-6) echo "$TG_SYSTEM/inventory-eight.yaml" ;;
    *) echo "$TG_SYSTEM/inventory.yaml" ;;
    esac
}

# tg_plugin_start NODE [NAME DRIVER INVENTORY [OPTION...]]: the plugin, or one of another name that serves another driver.
tg_plugin_start() {
    local node=$1 name=${2:-tangram} driver=${3:-$TG_DRIVER} inventory=${4:-$(tg_inventory "$1")}
    local kubeconfig=$TG_DIR/kubeconfig/$node.plugin
    [[ -e $kubeconfig ]] || "$TG_CLUSTER_SCRIPTS/token" "$TG_DIR" "$TG_NAMESPACE" "$TG_PLUGIN_ACCOUNT" --node "$node" \
        >"$kubeconfig"
    tg_node_spawn "$node" "$name" "$TG_BIN/tangram-kubelet-plugin" --node-name "$node" --kubeconfig "$kubeconfig" \
        --provider sim --inventory "$inventory" --driver-name "$driver" --conflict-grace 3s "${@:5}"
}

# tg_slices_wait SECONDS NODE [DRIVER]: until the node's devices are published.
tg_slices_wait() {
    tg_watch_first "$1" ".spec.nodeName == \"$2\" and .spec.driver == \"${3:-$TG_DRIVER}\"" resourceslices >/dev/null
}
