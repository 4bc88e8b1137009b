# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What documents show is done as it is written there, from top to bottom: a yaml block is applied, a sh block is run, and a text
# block is what the sh block before it prints ("…" stands for anything, further lines may stand around).

# documents_setup NAMESPACE: the kubectl of the documents' reader, who is in that namespace.
documents_setup() {
    mkdir "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/blocks"
    cat >"$BATS_TEST_TMPDIR/bin/kubectl" <<SH
#!/bin/sh
exec $(command -v kubectl) --kubeconfig '$TG_DIR/kubeconfig/admin' --namespace '$1' "\$@"
SH
    chmod +x "$BATS_TEST_TMPDIR/bin/kubectl"
}

# blocks FILE: writes its fenced blocks to blocks/NUMBER.KIND, in order, and prints their names.
blocks() {
    awk -v folder="$BATS_TEST_TMPDIR/blocks" '
        !inside && /^```[a-z]+$/ { inside = 1; name = sprintf("%s/%02d.%s", folder, ++n, substr($0, 4)); print name; next }
        inside && /^```$/ { inside = 0; close(name); next }
        inside { print >name }' "$1"
}

# shows OUTPUT TEXT: every line of the file TEXT is a line of the file OUTPUT; runs of blanks count as one.
shows() {
    local line pattern
    while IFS= read -r line; do
        pattern=$(sed -E 's/[][(){}.*+?^$|\\]/\\&/g; s/…/.*/g; s/ +/ +/g' <<<"$line")
        grep -qE "^ *$pattern *$" "$1" || {
            echo "expected a line '$line'"
            return 1
        }
    done <"$2"
}

run_block() { PATH=$BATS_TEST_TMPDIR/bin:$PATH bash -euo pipefail "$1" 2>&1; }

# shown BLOCK TEXT: events and logs may lag behind what they are about.
shown() { run_block "$1" >"$BATS_TEST_TMPDIR/output" && shows "$BATS_TEST_TMPDIR/output" "$2"; }

# follow FILE
follow() {
    local block text names
    mapfile -t names < <(blocks "$1")
    ((${#names[@]} > 0))
    for block in "${names[@]}"; do
        echo "--- ${block##*/}"
        case $block in
        *.yaml) kn apply -f "$block" ;;
        *.sh)
            text=$(printf '%s\n' "${names[@]}" | grep -xFA1 "$block" | grep '\.text$' || true)
            if [[ -z $text ]]; then
                run_block "$block"
            elif ! tg_wait_until 60 shown "$block" "$text"; then
                shown "$block" "$text" || true
                cat "$BATS_TEST_TMPDIR/output"
                return 1
            fi
            ;;
        *.text) ;;
        *)
            echo "$1 has a block of another kind: $block"
            return 1
            ;;
        esac
    done
}
