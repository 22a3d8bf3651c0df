#!/bin/bash
# A memory limit that ends the daemon, as that of a container: what the live file holds is every call that had ended.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need python3
[ -z "${ASAN_OPTIONS:-}" ] || skip "sanitizers need more memory than is limited"

cgroup=
before_cleanup() {
    [ -z "$cgroup" ] || wait_until 20 rmdir "$cgroup" || echo "$cgroup stays" >&2
}

# make_cgroup BYTES: sets cgroup; of version 1 or, where the controller is there, 2
make_cgroup() {
    local base
    if base=$(findmnt -nt cgroup -O memory -o TARGET | head -n 1) && [ -n "$base" ]; then
        cgroup=$base/$(sed -n 's/^[0-9]*:memory:\///p' /proc/self/cgroup)/osproffs-$$
        mkdir "$cgroup" 2>/dev/null || give_up "cannot make a memory cgroup"
        echo "$1" >"$cgroup/memory.limit_in_bytes" || give_up "cannot limit memory"
        echo "$1" >"$cgroup/memory.memsw.limit_in_bytes" 2>/dev/null || true
    elif base=$(findmnt -nt cgroup2 -o TARGET | head -n 1) && grep -qw memory "$base/cgroup.subtree_control"; then
        cgroup=$base/osproffs-$$
        mkdir "$cgroup" 2>/dev/null || give_up "cannot make a memory cgroup"
        echo "$1" >"$cgroup/memory.max" || give_up "cannot limit memory"
        echo 0 >"$cgroup/memory.swap.max" 2>/dev/null || true
    else
        give_up "no memory controller of cgroups"
    fi
}

give_up() {
    [ ! -d "$cgroup" ] || rmdir "$cgroup"
    cgroup=
    skip "$1"
}

limited() {
    unset MALLOC_PERTURB_ # takes memory by itself
    echo "$BASHPID" >"$cgroup/cgroup.procs"
    exec "$@"
}

# Until there is no daemon any more; prints how many calls have ended.
make_on() {
    timeout 100 python3 -c '
import os, sys
made = 0
try:
    while True:
        os.symlink("nowhere", f"{sys.argv[1]}/{made}")
        made += 1
except OSError:
    pass
print(made)' "$mnt"
}

mount -t tmpfs tmpfs "$lower" # its memory is that of who makes something there
make_cgroup 16M
start_daemon limited "$OSPROFFS" -f "$lower" "$mnt"
pid_of[$mnt]=$daemon_pid
wait_for_mount "$mnt"
live=$(live_file)
make_on >made || fail "the load does not end"
assert_status 137 "beyond its memory"
try_unmount "$mnt" || fail "cannot unmount what is left"
"$OSPROF" save "$live" >recovered || fail "osprof save fails"
"$OSPROF" show --check recovered >/dev/null || fail "the recovered profile is inconsistent"
made=$(<made)
recovered=$(profile_calls SYMLINK recovered)
echo "$made calls had ended, $recovered are recovered"
[ "$made" -gt 1000 ] || fail "hardly any load: $made calls"
[[ $recovered -eq $made || $recovered -eq $((made + 1)) ]] || fail "$made calls had ended, $recovered are recovered"
