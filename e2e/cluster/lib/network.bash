# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# A bridge on the host, and for each node a network namespace with one interface in it. The nodes route to each
# other's pods directly, so the host forwards nothing and its settings stay as they are.

tg_node_netns() { echo "$TG_BRIDGE-$1"; }
tg_node_address() { echo "10.200.$TG_INDEX.$((10 + $1))"; }
tg_pod_range() { echo "10.$((201 + TG_INDEX)).$1.0/24"; }

# tg_network_mark DIR: what the bridge of the cluster in DIR carries as its alias.
tg_network_mark() { echo "tangram $(sha256sum <<<"$1" | cut -c1-16)"; }

# tg_network_claim INDEX DIR: creating the bridge is what reserves an index among clusters of this machine.
tg_network_claim() { ip link add "tg$1" type bridge 2>/dev/null && ip link set "tg$1" alias "$(tg_network_mark "$2")"; }

# tg_network_owned: the bridge of our index is there and ours. Without it the index, and what is named after it, may be
# another cluster's by now. (Between creation and marking a bridge has no alias; only its own cluster is that early.)
tg_network_owned() {
    local alias
    alias=$(ip -j link show dev "$TG_BRIDGE" 2>/dev/null | jq -r '.[0].ifalias // ""') || return 1
    [[ -z $alias || $alias == "$(tg_network_mark "$TG_DIR")" ]]
}

tg_network_create() {
    ip addr add "$TG_HOST_ADDRESS/24" dev "$TG_BRIDGE"
    ip addr add "$TG_API_ADDRESS/32" dev "$TG_BRIDGE"
    ip link set "$TG_BRIDGE" up
}

# tg_network_add_node NUMBER
tg_network_add_node() {
    local number=$1 netns link other
    netns=$(tg_node_netns "node-$number")
    link=$TG_BRIDGE-$number
    ip netns add "$netns"
    ip link add "$link" type veth peer name eth0 netns "$netns"
    ip link set "$link" master "$TG_BRIDGE" up
    ip -n "$netns" link set lo up
    ip -n "$netns" addr add "$(tg_node_address "$number")/24" dev eth0
    ip -n "$netns" link set eth0 up
    ip -n "$netns" route add default via "$TG_HOST_ADDRESS"
    for ((other = 1; other <= TG_NODES; other++)); do
        ((other == number)) ||
            ip -n "$netns" route add "$(tg_pod_range "$other")" via "$(tg_node_address "$other")"
    done
    ip route add "$(tg_pod_range "$number")" via "$(tg_node_address "$number")" dev "$TG_BRIDGE"
    nsenter --net="/run/netns/$netns" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
}

# tg_network_remove: everything but the bridge; with a namespace go its interfaces.
tg_network_remove() {
    local netns link
    while read -r netns; do
        ip netns delete "$netns"
    done < <(ip netns list 2>/dev/null | cut -d' ' -f1 | grep "^$TG_BRIDGE-node-")
    while read -r link; do
        ip link delete "$link" 2>/dev/null || true # the kernel takes it away with its peer, a moment later
    done < <(ip -o link show master "$TG_BRIDGE" 2>/dev/null | awk -F'[ :@]+' '{print $2}')
    # `ip netns add` makes the folder a mount of its own, once; without namespaces nobody needs it.
    if [[ -d /run/netns && -z $(ls -A /run/netns) ]]; then
        umount /run/netns 2>/dev/null || true
        rmdir /run/netns 2>/dev/null || true
    fi
}

# tg_network_release: gives the index back, with the bridge's addresses and routes; the very last thing.
tg_network_release() { ip link delete "$TG_BRIDGE"; }
