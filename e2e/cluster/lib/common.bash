# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # settings are read by the other files
#
# What every script of this folder needs: messages, waiting, and the description of a cluster.
#
# A cluster lives in one folder, its DIR:
#   cluster.env     its settings, written by `up`
#   pki/ kubeconfig/ config/   what the components are started with
#   log/ run/       one log and one process record for each process
#   nodes/NAME/     the folders that stand in for the node's own disk

tg_say() { printf 'cluster: %s\n' "$*" >&2; }

tg_fail() {
    printf 'cluster: %s\n' "$*" >&2
    exit 1
}

# tg_wait_until SECONDS COMMAND...: repeats COMMAND until it succeeds; fails after SECONDS. For things that send no
# event: a socket that comes to life, a process that ends.
tg_wait_until() {
    local deadline=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < deadline)) || return 1
        sleep 0.1
    done
}

# tg_load DIR: takes over the settings of a cluster.
tg_load() {
    TG_DIR=$(realpath "$1")
    [[ -r $TG_DIR/cluster.env ]] || tg_fail "$1 holds no cluster (no cluster.env in it)"
    # shellcheck source=/dev/null
    source "$TG_DIR/cluster.env"
    PATH=$TG_COMPONENTS:$PATH
    # Addresses: everything of a cluster follows from its index, so that several run beside each other.
    # The API server listens on the address of the service "kubernetes", so pods reach it without kube-proxy.
    TG_BRIDGE=tg$TG_INDEX
    TG_HOST_ADDRESS=10.200.$TG_INDEX.1
    TG_SERVICE_RANGE=10.$((96 + TG_INDEX)).0.0/16
    TG_API_ADDRESS=10.$((96 + TG_INDEX)).0.1
    TG_ETCD_URL=http://127.20.$TG_INDEX.1:2379
    TG_ETCD_PEER_URL=http://127.20.$TG_INDEX.1:2380
    export PATH TG_DIR
}

# tg_admin ARGUMENTS...: kubectl as the cluster's administrator.
tg_admin() { kubectl --kubeconfig "$TG_DIR/kubeconfig/admin" "$@"; }

# tg_node_names: the names of the real nodes, one a line.
tg_node_names() {
    local number
    for ((number = 1; number <= TG_NODES; number++)); do
        echo "node-$number"
    done
}

# tg_node_number NODE
tg_node_number() {
    local number=${1#node-}
    if [[ $1 != node-* || ! $number =~ ^[1-9][0-9]*$ ]] || ((number > TG_NODES)); then
        tg_fail "there is no node $1 in $TG_DIR; there are node-1 to node-$TG_NODES"
    fi
    echo "$number"
}
