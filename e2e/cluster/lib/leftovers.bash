# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What a cluster may have left on the machine: nothing.

# leftover_processes: everything we start carries TG_DIR in its environment, whatever became of its parent.
leftover_processes() {
    local environment pid
    for environment in /proc/[0-9]*/environ; do
        pid=${environment#/proc/}
        pid=${pid%/environ}
        # Not this script, nor what called it.
        if [[ $tg_own_processes != *" $pid "* ]] && grep -qzFx "TG_DIR=$TG_DIR" "$environment" 2>/dev/null; then
            echo "process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)"
        fi
    done
}

# tg_leftovers: one line for each thing that is still there, but for the bridge; without the bridge, what is named after it
# is not ours.
tg_leftovers() {
    local root tg_own_processes=" $$ $BASHPID $PPID "
    leftover_processes
    awk -v dir="$TG_DIR/" 'index($0, dir) {print "mount " $2}' /proc/mounts
    tg_network_owned || return 0
    ip -br link 2>/dev/null | awk -v bridge="$TG_BRIDGE" '$1 ~ "^" bridge "-" {print "interface " $1}'
    ip netns list 2>/dev/null | awk -v bridge="$TG_BRIDGE" '$1 ~ "^" bridge "-" {print "namespace " $1}'
    awk -v bridge="/$TG_BRIDGE-" 'index($2, bridge) {print "mount " $2}' /proc/mounts
    while read -r root; do
        [[ ! -e $root/$TG_BRIDGE ]] || echo "cgroup $root/$TG_BRIDGE"
    done < <(tg_cgroup_roots)
}
