#!/bin/bash
# An idle mount that looks for slow calls wakes up less than once a second, all threads together; and the first call
# afterwards is looked at.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need flock
seconds=20
holder=

before_cleanup() {
    [ -z "$holder" ] || wait "$holder" || true
}

# How often the daemon's threads have gone to sleep so far.
count_sleeps() {
    cat /proc/"$daemon_pid"/task/*/status | awk '/^voluntary_ctxt_switches:/ { sum += $2 } END { print sum }'
}

mount_osproffs -o slow=20ms,flock "$lower" "$mnt"
: >"$mnt/lock"
sleep 8 # until it is as quiet as it gets
before=$(count_sleeps)
sleep "$seconds"
sleeps=$(($(count_sleeps) - before))
[ "$sleeps" -le "$seconds" ] || fail "$sleeps wake-ups in $seconds idle seconds"

# From below, so that the first call is the one that waits.
exec 9>"$lower/lock"
flock 9
(
    exec 9>&-
    exec timeout 60 flock "$mnt/lock" true
) &
holder=$!
sleep 0.5
exec 9>&-
wait "$holder"
holder=
"$OSPROF" why --op setlkw --width 100 "$mnt" >"$scratch/why" || fail "osprof why: $(<"$scratch/why")"
grep -Eq "  SETLKW +waiting for |  SETLKW +in " "$scratch/why" || fail "not what the first call waited for: $(<"$scratch/why")"
! grep -q "before it was sampled" "$scratch/why" || fail "nobody looked: $(<"$scratch/why")"
unmount_osproffs "$mnt"
