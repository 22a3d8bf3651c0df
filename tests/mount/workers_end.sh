#!/bin/bash
# Workers that a burst of calls needed end when they have been idle for a while. The next burst's count where those had
# counted: the live file does not grow, and the profile, its groups and the events have exactly the kernel's calls.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/tracing.sh"

need_root
need python3
openers=61 calls_each=7
holder=

before_cleanup() {
    end_lease
    end_trace
}

# Who opens the file waits.
hold_lease() {
    rm -f "$scratch/held"
    "$TEST_PROGRAMS/hold_lease" "$lower/file" >"$scratch/held" &
    holder=$!
    wait_until 20 test -s "$scratch/held" || fail "the lease is not held"
}

end_lease() {
    [ -z "$holder" ] || { kill "$holder" && wait "$holder"; } 2>/dev/null || true
    holder=
}

# In so many threads: opens the file, and asks so often for its attributes.
open_at_once='
import os, sys, threading
def use():
    fd = os.open(sys.argv[1], os.O_WRONLY)
    for _ in range(int(sys.argv[3])):
        os.fstat(fd)
    os.close(fd)
threads = [threading.Thread(target=use) for _ in range(int(sys.argv[2]))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
'

# The live file tells it: reading in the mount would be calls, too.
all_wait() {
    "$OSPROF" save "$(live_file)" >"$scratch/now"
    [ "$(grep -c '^# call: OPEN age ' "$scratch/now")" -eq "$openers" ]
}

thread_count() {
    find /proc/"$daemon_pid"/task -mindepth 1 -maxdepth 1 | wc -l
}

are_few() {
    [ "$(thread_count)" -le "$few" ]
}

# As many workers as callers, until they are not needed any more.
burst() {
    local user
    hold_lease
    python3 -c "$open_at_once" "$mnt/file" "$openers" "$calls_each" &
    user=$!
    wait_until 30 all_wait || fail "$(grep -c '^# call: OPEN age ' "$scratch/now") of $openers calls wait"
    [ "$(thread_count)" -gt "$openers" ] || fail "$(thread_count) threads for $openers calls"
    end_lease
    wait "$user"
    wait_until 60 are_few || fail "$(thread_count) threads long after $openers calls at once, $few are enough"
}

[ "$(cat /proc/sys/fs/lease-break-time)" -ge 40 ] || skip "leases are broken too soon"
start_trace
echo text >"$lower/file"
mount_osproffs -o "cache=none,by=uid+program,slow=100ms,events=$scratch/events" "$lower" "$mnt"
connection=$(mountpoint -d "$mnt")
few=$(($(thread_count) + 3 * $(nproc)))
burst
before=$(stat -c %s "$(live_file)")
burst
after=$(stat -c %s "$(live_file)")
[ $((after - before)) -lt $((before / 4)) ] || fail "the live file grows from $before to $after bytes with the second burst"
wait_until 20 all_are_closed || fail "a file is not closed"
unmount_osproffs "$mnt"

assert_profiled OPEN GETATTR
assert_eq $((2 * openers)) "$(profile_calls OPEN "$final_profile")" "calls of OPEN"
traced_calls "${connection#*:}" "$daemon_pid" >"$scratch/traced"
assert_eq 0 "$(lost_events)" "trace events lost"
awk '/^# (uid|program): / { exit } { print }' "$final_profile" >"$scratch/whole"
profiled_calls "$scratch/whole" | diff "$scratch/traced" - >&2 || fail "the profile (>) differs from the kernel's trace (<)"
"$OSPROF" events profile "$scratch/events" >"$scratch/made"
profiled_calls "$scratch/made" | diff "$scratch/traced" - >&2 || fail "the events (>) differ from the kernel's trace (<)"
awk '/^# uid: / { uids = 1 } /^# program: / { uids = 0 } uids && $1 == "OP_OPEN" { calls += $2 } END { print calls }' \
    "$final_profile" >"$scratch/of-users"
assert_eq $((2 * openers)) "$(cat "$scratch/of-users")" "calls of OPEN of all users"
