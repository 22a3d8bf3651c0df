#!/bin/bash
# Who is killed while a call of his waits in the lower file system dies, whenever that is: just before the call, in it, or
# when it has been answered.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
holder=
before_cleanup() {
    [ -z "$holder" ] || { kill "$holder" && wait "$holder"; } 2>/dev/null || true
}

echo text >"$lower/leased"
"$TEST_PROGRAMS/hold_lease" "$lower/leased" >"$scratch/lease" &
holder=$!
wait_until 10 grep -q held "$scratch/lease" || fail "no lease on $lower/leased"
[ "$(cat /proc/sys/fs/lease-break-time)" -ge 40 ] || skip "leases are broken too early here"

mount_osproffs "$lower" "$mnt"
timeout 35 "$TEST_PROGRAMS/kill_openers" "$mnt/leased" 3000 || fail "somebody who was killed still waits"
timeout 5 stat "$mnt" >/dev/null || fail "the mount does not answer any more"
kill "$holder"
wait "$holder" || true
holder=
assert_eq text "$(cat "$mnt/leased")" "the file, when the lease is gone"
unmount_osproffs "$mnt"
