#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The budgets of memory, on the programs that have just played the other scenarios. Sanitizers would break them.

load lib

setup() { tg_load "$TG_E2E_DIR"; }

# kilobytes NAME FIELD...: the sum of these fields of the process's memory.
kilobytes() {
    local pid
    pid=$(tg_process_pid "$1")
    shift
    awk -v fields=" $* " '{ sub(":", "", $1); if (index(fields, " " $1 " ")) sum += $2 } END { print sum }' \
        "/proc/$pid/smaps_rollup"
}

# at_most LIMIT WHAT VALUE
at_most() {
    echo "# $2: $3 kB of at most $1 kB" >&3
    (($3 <= $1))
}

@test "a plugin with eight cards takes at most 18 MB, 4 MB of them private and dirty" {
    [[ ${TANGRAM_PRESET:-debug} != @(asan|tsan) ]] || skip "a sanitizer's memory is not ours"
    eight() { k get resourceslices -o json | jq -e '[.items[] | select(.spec.nodeName == "node-6") | .spec.devices[]] | length == 8'; }
    tg_wait_until 60 eight # what a scenario before had there is going
    at_most $((18 * 1024)) "resident" "$(kilobytes node-6.tangram Rss)"
    at_most $((4 * 1024)) "private dirty" "$(kilobytes node-6.tangram Private_Dirty)"
}

@test "the controller takes at most 24 MB on the fleet of these scenarios" {
    [[ ${TANGRAM_PRESET:-debug} != @(asan|tsan) ]] || skip "a sanitizer's memory is not ours"
    at_most $((24 * 1024)) "resident" "$(kilobytes tangram-controller Rss)"
}
