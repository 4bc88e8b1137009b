# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Background processes, each recorded in run/NAME by process id and start time: a number that the kernel has given
# to another process since is never taken for ours.

# process_start_time PID: field 22 of the kernel's record; the name in field 2 may contain anything, so cut after it.
process_start_time() {
    local stat
    { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 1
    # shellcheck disable=SC2086 # the fields are to be split
    set -- ${stat##*) }
    echo "${20}"
}

# tg_process_start NAME COMMAND...: starts COMMAND in its own process group with its output in log/NAME.log.
tg_process_start() {
    local name=$1 pid
    shift
    ! tg_process_running "$name" || tg_fail "$name is already running as process $(tg_process_pid "$name")"
    # A test runner keeps descriptors of its own open; a daemon that inherits them would keep the runner waiting.
    setsid "$@" >>"$TG_DIR/log/$name.log" 2>&1 </dev/null 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
    pid=$!
    echo "$pid $(process_start_time "$pid")" >"$TG_DIR/run/$name"
    disown "$pid"
}

# tg_process_pid NAME: the process id, as long as it is still that process.
tg_process_pid() {
    local pid started
    [[ -e $TG_DIR/run/$1 ]] || return 1
    read -r pid started <"$TG_DIR/run/$1"
    # Without a time it had ended before it could be recorded.
    [[ -n $started && $(process_start_time "$pid") == "$started" ]] || return 1
    echo "$pid"
}

# tg_process_running NAME: a zombie does not run any more.
tg_process_running() {
    local pid
    pid=$(tg_process_pid "$1") && ! grep -q '^State:[[:space:]]*Z' "/proc/$pid/status" 2>/dev/null
}

# tg_process_wait NAME SECONDS COMMAND...: until COMMAND succeeds; gives up at once when the process has ended.
tg_process_wait() {
    local name=$1 deadline=$((SECONDS + $2))
    shift 2
    until "$@" >/dev/null 2>&1; do
        if ((SECONDS >= deadline)) || ! tg_process_running "$name"; then
            tg_say "$name does not become ready; the end of $TG_DIR/log/$name.log:"
            tail -n 20 "$TG_DIR/log/$name.log" >&2
            exit 1
        fi
        sleep 0.1
    done
}

process_gone() { ! tg_process_running "$1"; }

# tg_process_stop NAME [SIGNAL]: sends the signal (TERM) and waits; after ten seconds the process is killed.
tg_process_stop() {
    local name=$1 signal=${2:-TERM} pid
    if pid=$(tg_process_pid "$name"); then
        kill -s "$signal" "$pid" 2>/dev/null || true
        tg_wait_until 10 process_gone "$name" || {
            tg_say "$name (process $pid) does not end; killing it"
            kill -s KILL "$pid" 2>/dev/null || true
            tg_wait_until 10 process_gone "$name" || tg_fail "$name (process $pid) cannot be killed"
        }
    fi
    rm -f "$TG_DIR/run/$name"
}

# tg_process_names: everything recorded, one a line.
tg_process_names() { (cd "$TG_DIR/run" && find . -type f -printf '%P\n' | sort); }
