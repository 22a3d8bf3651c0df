# shellcheck shell=bash
# For tests that provoke causes on file systems that osprof attach watches: calls are made on the file system itself, and
# osprof why must name what they waited for. Source after causes_lib.sh and ../cli/attach_lib.sh.
# shellcheck disable=SC2154,SC2034 # assigned there; used there

need_root
python=$(python_with json) || skip "no python3"
python=$("$python" -c 'import sys; print(sys.executable)') # not a wrapper, which waits for others itself
PATH=$(dirname "$python"):$PATH
caller_pid=

before_cleanup() {
    release
    end_started
    [ -z "$caller" ] || kill -KILL "$caller" 2>/dev/null || true
    [ -z "$caller" ] || wait "$caller" || true
    kill_watchers
    exec 8<&-
    leave_group
    ! mountpoint -q overlay || umount overlay || umount -l overlay
    ! mountpoint -q cached || unmount_osproffs cached
    remove_disk
}

# ---- Calls are made on the file system itself, and osprof attach sees them

call() {
    "$@" >"$scratch/called" 2>&1 </dev/null &
    caller=$! caller_pid=$!
}

switches() {
    sed -n 's/^voluntary_ctxt_switches:.//p' "/proc/$caller/status"
}

# It sleeps for long enough to be slow.
is_held() {
    local before
    before=$(switches)
    nap 100
    grep -q '^State:.[DS]' "/proc/$caller/status" && [ "$before" = "$(switches)" ]
}

# The same of a call that wakes up now and then.
is_in_call() {
    local before
    before=$(<"/proc/$caller/syscall")
    nap 100
    grep -q '^State:.[DS]' "/proc/$caller/status" && [ "$before" != running ] && [ "$before" = "$(<"/proc/$caller/syscall")" ]
}

# hold_for OP: when the call is held, or is_... in $until
hold_for() {
    wait_until 30 "${until:-is_held}" || fail "no $1 waits"
    nap 100
    release
    wait "$caller" || true
    caller=
}

# names CAUSE: for a slow call of the process that was held
names() {
    "$OSPROF" why --json "${asked:-$fs}" 2>why.log | "$python" -c '
import json, sys
pid, cause = int(sys.argv[1]), sys.argv[2]
profile = json.load(sys.stdin)
sys.exit(not any(c["pid"] == pid and c["cause"] == cause for c in profile.get("slow_calls", [])))' "$caller_pid" "$1"
}

# names_part CAUSE OP: for a part of slow calls of it. One that wakes up now and then also waits for a CPU.
names_part() {
    "$OSPROF" why --json "${asked:-$fs}" 2>why.log | "$python" -c '
import json, sys
cause, op = sys.argv[1:]
profile = json.load(sys.stdin)
sys.exit(not any(c["op"] == op and c["cause"] == cause and c["total_cycles"] > 0 for c in profile["causes"]))' "$1" "$2"
}

provoked() {
    wait_until 5 "${named:-names}" "$1" "$2" || fail "$1: not named for $2 ($3): $("$OSPROF" why "${asked:-$fs}" 2>&1)"
    causes[$1]=1
}

# Which were provoked.
declare -A causes=()
