# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Each node has a cgroup of its own in every hierarchy of the host, and sees it as the root: its containers cannot be
# mistaken for another node's, and the cgroup's list of processes is complete when the node is to go.

# tg_cgroup_roots: the mount points of the host's hierarchies: many with cgroup v1, one with v2.
tg_cgroup_roots() { awk '($3 == "cgroup" || $3 == "cgroup2") && $2 ~ "^/sys/fs/cgroup" {print $2}' /proc/mounts; }

# tg_cgroup_create NODE
tg_cgroup_create() {
    local root path
    while read -r root; do
        path=$root/$TG_BRIDGE/$1
        if [[ -e $root/cgroup.controllers ]]; then
            cgroup_delegate "$root"
            mkdir -p "$root/$TG_BRIDGE"
            cgroup_delegate "$root/$TG_BRIDGE"
        fi
        mkdir -p "$path"
        if [[ -e $path/cpuset.cpus && ! -e $root/cgroup.controllers ]]; then
            # v1: a cpuset takes no process before it has processors and memory, and only then may its children.
            for path in "$root/$TG_BRIDGE" "$path"; do
                cat "$root/cpuset.cpus" >"$path/cpuset.cpus"
                cat "$root/cpuset.mems" >"$path/cpuset.mems"
                echo 1 >"$path/cgroup.clone_children"
            done
        fi
    done < <(tg_cgroup_roots)
}

# cgroup_delegate PATH: v2: the children of PATH may use its controllers.
cgroup_delegate() {
    local controller
    for controller in $(<"$1/cgroup.controllers"); do
        echo "+$controller" >"$1/cgroup.subtree_control" 2>/dev/null || true
    done
}

# tg_cgroup_enter NODE [CHILD]: moves the calling shell, and with it what it executes, into the node's cgroup.
tg_cgroup_enter() {
    local root
    while read -r root; do
        # In v2 a cgroup with children holds no processes: the node's daemons live in a child.
        if [[ -e $root/cgroup.controllers && -d $root/$TG_BRIDGE/$1/init ]]; then
            echo "$BASHPID" >"$root/$TG_BRIDGE/$1/init/cgroup.procs"
        else
            echo "$BASHPID" >"$root/$TG_BRIDGE/$1/cgroup.procs"
        fi
    done < <(tg_cgroup_roots)
}

# tg_cgroup_pids: the processes of all nodes of this cluster, containers included.
tg_cgroup_pids() {
    local root
    while read -r root; do
        [[ ! -d $root/$TG_BRIDGE ]] || find "$root/$TG_BRIDGE" -name cgroup.procs -exec cat {} + 2>/dev/null || true
    done < <(tg_cgroup_roots) | sort -nu
}

cgroup_empty() { [[ -z $(tg_cgroup_pids) ]]; }

# tg_cgroup_remove: ends what still runs in the nodes and removes their cgroups.
tg_cgroup_remove() {
    local root pid
    while read -r pid; do
        kill -s KILL "$pid" 2>/dev/null || true
    done < <(tg_cgroup_pids)
    tg_wait_until 10 cgroup_empty || tg_fail "processes of the nodes cannot be killed: $(tg_cgroup_pids | xargs)"
    while read -r root; do
        [[ ! -d $root/$TG_BRIDGE ]] || find "$root/$TG_BRIDGE" -depth -type d -exec rmdir {} +
    done < <(tg_cgroup_roots)
}
