#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The API server is what limits a large cluster: every write counts.

load lib

setup() { scenario_setup; }
teardown() { scenario_teardown; }

# count REGEX: writes to resources that match.
count() { writes | awk -v resource="\"resource\":\"$1\"" '$0 ~ resource { sum += $1 } END { print sum + 0 }'; }

@test "a gang of four pods costs at most three writes a pod on claims and pods, and no event" {
    local number
    template quartet 1 "$RTX" "gang: quartet, size: 4" | kn create -f -
    { for number in 1 2 3 4; do pod "quartet-$number" quartet; done; } | kn create -f -
    wait_ready 90 quartet-1 quartet-2 quartet-3 quartet-4
    kn wait --for=jsonpath='{.status.phase}'=Running gang/quartet --timeout=30s
    writes | sed 's/^/# /' >&3

    (($(count '(resourceclaims|pods)(/[a-z]*)?') <= 12))
    (($(count 'gangs(/[a-z]*)?') <= 8))
    (($(count 'events') == 0))
}
