#!/bin/bash
# A program that is run in place of one with open files closes them while the kernel holds a lock, which who asks where it
# runs waits for: the mount must not wait for that.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
runners=()
before_cleanup() {
    [ "${#runners[@]}" -eq 0 ] || kill -KILL "${runners[@]}" 2>/dev/null || true
}

echo text >"$lower/file"
mount_osproffs -o allow_other,cache=none "$lower" "$mnt"
for number in 1 2 3; do
    "$TEST_PROGRAMS/exec_closing" "$mnt/file" 101 &
    runners+=("$!")
done
for pid in "${runners[@]}"; do
    wait_for_end "$pid" 120 || fail "process $pid hangs: $(cat "/proc/$pid/wchan")"
    wait "$pid"
done
runners=()
unmount_osproffs "$mnt"
assert_profiled OPEN FLUSH RELEASE
assert_eq 1515 "$(profile_calls FLUSH "$final_profile")" "FLUSH of 3 * 101 * 5 files"
