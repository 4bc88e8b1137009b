# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Tangram on a cluster: our manifests, the controller as a process of the host, a plugin on every node. Each program
# uses a token of its own service account, as its pod would; the plugin's is bound to its node. For scripts that have
# loaded a cluster (tg_load).

TG_SYSTEM=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TG_ROOT=$(cd "$TG_SYSTEM/../.." && pwd)
TG_BIN=$TG_ROOT/build/${TANGRAM_PRESET:-debug}/bin

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

# tg_health_url: where the controller answers; the address is the cluster's own.
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

# tg_plugin_start NODE [NAME DRIVER INVENTORY]: the plugin, or one of another name that serves another driver.
tg_plugin_start() {
    local node=$1 name=${2:-tangram} driver=${3:-$TG_DRIVER} inventory=${4:-$(tg_inventory "$1")}
    local kubeconfig=$TG_DIR/kubeconfig/$node.plugin
    [[ -e $kubeconfig ]] || "$TG_CLUSTER_SCRIPTS/token" "$TG_DIR" "$TG_NAMESPACE" "$TG_PLUGIN_ACCOUNT" --node "$node" \
        >"$kubeconfig"
    tg_node_spawn "$node" "$name" "$TG_BIN/tangram-kubelet-plugin" --node-name "$node" --kubeconfig "$kubeconfig" \
        --provider sim --inventory "$inventory" --driver-name "$driver"
}

# tg_slices_wait SECONDS NODE [DRIVER]: until the node's devices are published.
tg_slices_wait() {
    local watch pid status=0 driver=${3:-$TG_DRIVER}
    exec {watch}< <(exec timeout "$1" kubectl --kubeconfig "$TG_DIR/kubeconfig/admin" get resourceslices --watch -o json \
        2>/dev/null 3>&- 4>&-)
    pid=$!
    jq -ne --arg node "$2" --arg driver "$driver" \
        'first(inputs | select(.spec.nodeName == $node and .spec.driver == $driver))' <&"$watch" >/dev/null || status=$?
    kill "$pid" 2>/dev/null || true
    exec {watch}<&-
    ((status == 0)) || tg_say "$2 publishes no devices of $driver within $1 s"
    return "$status"
}
