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

# tg_controller_start [NAME KUBECONFIG CONFIG ADDRESS]: the controller, or one of another name beside it; until it is ready.
tg_controller_start() {
    local name=${1:-tangram-controller} kubeconfig=${2:-$TG_DIR/kubeconfig/tangram-controller}
    local config=${3:-$TG_SYSTEM/controller.yaml} address=${4:-$(tg_health_address)}
    tg_process_start "$name" "$TG_BIN/tangram-controller" --kubeconfig "$kubeconfig" --config "$config" \
        --health-addr "$address"
    tg_process_wait "$name" 60 curl -fsS "http://$address/readyz"
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
    mkdir -p "$TG_DIR/attributes/$node"
    tg_node_spawn "$node" "$name" "$TG_BIN/tangram-kubelet-plugin" --attributes-dir "$TG_DIR/attributes/$node" --node-name "$node" --kubeconfig "$kubeconfig" \
        --provider sim --inventory "$inventory" --driver-name "$driver" --conflict-grace 3s "${@:5}"
}

# tg_slices_wait SECONDS NODE [DRIVER]: until the node's devices are published.
tg_slices_wait() {
    tg_watch_first "$1" ".spec.nodeName == \"$2\" and .spec.driver == \"${3:-$TG_DRIVER}\"" resourceslices >/dev/null
}

# -- the fault proxy (tests/support/faultproxy) in front of the API server --------------------------------------------

tg_proxy_address() { echo "$TG_HOST_ADDRESS:6444"; }

# tg_proxy_start: without rules. The API server's own certificate has the address of the bridge, too.
tg_proxy_start() {
    local go control=$TG_DIR/config/faultproxy.control
    go=$("$TG_ROOT/e2e/components/go")
    "$go" build -C "$TG_ROOT/tests/support/faultproxy" -o "$TG_DIR/config/faultproxy" .
    rm -f "$control"
    tg_process_start faultproxy "$TG_DIR/config/faultproxy" --listen "$(tg_proxy_address)" --to "https://$TG_API_ADDRESS" \
        --ca "$TG_DIR/pki/ca.crt" --cert "$TG_DIR/pki/apiserver.crt" --key "$TG_DIR/pki/apiserver.key" \
        --log "$TG_DIR/log/faultproxy.jsonl" --control "$control"
    tg_process_wait faultproxy 30 test -S "$control"
}

# tg_proxied FILE: the kubeconfig FILE, for somebody who is to go through the proxy. Tokens pass, certificates do not.
tg_proxied() { sed "s|https://$TG_API_ADDRESS|https://$(tg_proxy_address)|" "$1"; }

# tg_proxy_rules: the rules on standard input, one JSON object a line, take the place of those in force.
tg_proxy_rules() {
    curl -fsS --unix-socket "$TG_DIR/config/faultproxy.control" --request PUT --data-binary @- http://control/rules >/dev/null
}

# tg_proxy_faults: what they have done since, a JSON array.
tg_proxy_faults() { curl -fsS --unix-socket "$TG_DIR/config/faultproxy.control" http://control/faults; }
