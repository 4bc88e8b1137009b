# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# A node: namespaces with the standard paths in them, its own containerd, a real kubelet.

node_write_containerd_config() {
    cat >"$1" <<'TOML'
version = 3
disabled_plugins = ["io.containerd.nri.v1.nri", "io.containerd.internal.v1.opt"]

[plugins."io.containerd.cri.v1.runtime"]
  enable_cdi = true
  cdi_spec_dirs = ["/etc/cdi", "/var/run/cdi"]
  # Without CAP_SYS_RESOURCE no process may lower its OOM score, and sandboxes fail with an unrelated message.
  restrict_oom_score_adj = true
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["/usr/lib/cni"]
    conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "tangram.dev/e2e/pause:1"
TOML
}

# node_write_cni_config FILE NUMBER
node_write_cni_config() {
    jq -n --arg subnet "$(tg_pod_range "$2")" '{cniVersion: "1.0.0", name: "pods", plugins: [{
        type: "ptp", ipMasq: false,
        ipam: {type: "host-local", subnet: $subnet, routes: [{dst: "0.0.0.0/0"}]}}]}' >"$1"
}

node_write_kubelet_config() {
    cat >"$1" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: true}
  x509: {clientCAFile: $TG_DIR/pki/ca.crt}
authorization: {mode: Webhook}
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: []
failCgroupV1: false
failSwapOn: false
localStorageCapacityIsolation: false
evictionHard: {}
imageGCHighThresholdPercent: 100
makeIPTablesUtilChains: false
volumePluginDir: /var/lib/kubelet/volume-plugins
resolvConf: ""
clusterDNS: ["10.$((96 + TG_INDEX)).0.10"]
YAML
}

# tg_node_create NODE: namespaces and configuration; nothing of Kubernetes runs yet.
tg_node_create() {
    local node=$1 number folder=$TG_DIR/nodes/$1
    number=$(tg_node_number "$node")
    mkdir -p "$folder/etc/upper/cni/net.d" "$folder/etc/upper/containerd"
    node_write_containerd_config "$folder/etc/upper/containerd/config.toml"
    node_write_cni_config "$folder/etc/upper/cni/net.d/10-pods.conflist" "$number"
    tg_network_add_node "$number"
    tg_cgroup_create "$node"
    tg_process_start "$node.init" "$TG_CLUSTER_SCRIPTS/lib/node-enter" "$TG_DIR" "$node"
}

# tg_node_spawn NODE NAME COMMAND...: a recorded process in the node's namespaces.
tg_node_spawn() {
    local node=$1 name=$2
    shift 2
    tg_process_start "$node.$name" "$TG_CLUSTER_SCRIPTS/node-exec" "$TG_DIR" "$node" "$@"
}

tg_node_exec() { "$TG_CLUSTER_SCRIPTS/node-exec" "$TG_DIR" "$@"; }

tg_containerd_start() {
    local node=$1
    tg_process_wait "$node.init" 20 test -e "$TG_DIR/nodes/$node/ready"
    tg_node_spawn "$node" containerd containerd --config /etc/containerd/config.toml --log-level warn
}

# tg_node_load_images NODE ARCHIVE...
tg_node_load_images() {
    local node=$1 archive
    shift
    tg_process_wait "$node.containerd" 30 tg_node_exec "$node" ctr version
    for archive in "$@"; do
        tg_node_exec "$node" env CONTAINERD_SUPPRESS_DEPRECATION_WARNINGS=1 ctr --namespace k8s.io images import "$archive" >/dev/null
    done
}

tg_kubelet_start() {
    local node=$1
    tg_node_spawn "$node" kubelet kubelet --config="$TG_DIR/config/kubelet.yaml" \
        --kubeconfig="$TG_DIR/kubeconfig/$node" --hostname-override="$node" \
        --node-ip="$(tg_node_address "$(tg_node_number "$node")")" --cert-dir=/var/lib/kubelet/pki --v=2
}
