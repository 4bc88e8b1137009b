# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Waiting for what the API server tells, with a deadline. The stream is ended by its process id as soon as it has told:
# kubectl notices a closed pipe only when it writes next.

# tg_watch_first SECONDS FILTER ARGUMENTS...: watches what `kubectl get ARGUMENTS` shows until the jq FILTER holds for an
# object, and prints that object. Fails after SECONDS. Of an argument KIND/NAME a list of one is watched: kubectl does not
# show what happens to a single object between reading it and watching it.
tg_watch_first() {
    local seconds=$1 filter=$2 status=0 watch pid argument arguments=()
    for argument in "${@:3}"; do
        case $argument in
        -*/*) arguments+=("$argument") ;;
        */*) arguments+=("${argument%%/*}" --field-selector "metadata.name=${argument#*/}") ;;
        *) arguments+=("$argument") ;;
        esac
    done
    set -- "${arguments[@]}"
    exec {watch}< <(exec timeout "$seconds" kubectl --kubeconfig "$TG_DIR/kubeconfig/admin" get "$@" --watch -o json \
        2>/dev/null 3>&- 4>&-)
    pid=$!
    jq -nce "first(inputs | select($filter))" <&"$watch" || status=$?
    kill "$pid" 2>/dev/null || true
    exec {watch}<&-
    ((status == 0)) || {
        echo "no object of '$*' came to satisfy this within $seconds s: $filter" >&2
        return 1
    }
}

# log_line SECONDS PREFIX NAMESPACE POD: the first line of the log that begins with PREFIX, or nothing once the log ends.
log_line() {
    local log pid line=''
    exec {log}< <(exec timeout "$1" kubectl --kubeconfig "$TG_DIR/kubeconfig/admin" --namespace "$3" \
        logs --follow "$4" 2>&1 3>&- 4>&-)
    pid=$!
    while IFS= read -r line <&"$log" && [[ $line != "$2"* ]]; do
        continue
    done
    kill "$pid" 2>/dev/null || true
    exec {log}<&-
    [[ $line != "$2"* ]] || echo "$line"
}

# tg_log_line SECONDS PREFIX NAMESPACE POD: the first line of the pod's log that begins with PREFIX, without it. A log may
# lag behind the start of its container, and a container that is being made has none.
tg_log_line() {
    local deadline=$((SECONDS + $1)) line
    until line=$(log_line "$@") && [[ -n $line ]]; do
        ((SECONDS < deadline)) || {
            echo "the log of $4 has no line that begins with '$2' after $1 s" >&2
            return 1
        }
        sleep 0.2
    done
    echo "${line#"$2"}"
}
