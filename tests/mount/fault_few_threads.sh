#!/bin/bash
# A limit of processes and threads (pids.max of a cgroup) that is too small: osproffs in the background ends with a message
# and another status than 0, and leaves no mount and no live file; or it serves.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
name=osproffs-test-$$
cgroup=

before_cleanup() {
    local pid
    [ -n "$cgroup" ] || return 0
    for pid in $(<"$cgroup/cgroup.procs"); do
        kill -KILL "$pid" 2>/dev/null || true
    done
    wait_until 20 rmdir "$cgroup" 2>/dev/null || true
}

tops=$(awk '$3 == "cgroup" && $4 ~ /(^|,)pids(,|$)/ || $3 == "cgroup2" { print $2 }' /proc/self/mounts)
for top in $tops; do
    mkdir "$top/$name" 2>/dev/null || continue
    cgroup=$top/$name
    [ ! -e "$cgroup/pids.max" ] || break
    rmdir "$cgroup"
    cgroup=
done
[ -n "$cgroup" ] || skip "no cgroup can be made that limits processes"

# begin LIMIT [OPTION]...: prints its status
begin() {
    local status=0
    echo "$1" >"$cgroup/pids.max"
    (
        echo 0 >"$cgroup/cgroup.procs"
        exec "$OSPROFFS" -o profile="$scratch/profile" "${@:2}" "$lower" "$mnt" 2>"$scratch/err"
    ) || status=$?
    echo "$status"
}

is_empty() {
    [ "$(<"$cgroup/pids.current")" -eq 0 ]
}

# Enough for it to start, and one more each time.
try_limits() {
    local limit status
    for limit in {1..12}; do
        status=$(begin "$limit" "$@")
        if [ "$status" -eq 0 ]; then
            [ "$limit" -gt 3 ] || fail "$limit are enough, it says: $*"
            timeout 20 ls "$mnt" >/dev/null || fail "with $limit it says that it is mounted, and serves nothing: $*"
            unmount_below "$mnt"
            wait_until 20 is_empty || fail "does not end: $*"
            return
        fi
        assert_eq "2 1" "$status $(grep -c '^osproffs: ' err)" "status and messages with a limit of $limit: $*"
        [ -z "$(mounts_below "$mnt")" ] || fail "a mount is left with a limit of $limit: $*"
        wait_until 20 is_empty || fail "a process is left with a limit of $limit: $*"
        assert_eq "" "$(find "$XDG_RUNTIME_DIR" -name "*.live")" "live files left with a limit of $limit: $*"
    done
    fail "never starts: $(<err)"
}

try_limits
try_limits -o by=program+file
try_limits -s
