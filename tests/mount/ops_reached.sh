#!/bin/bash
# Every operation reaches the profiler, and each call is counted once: primes of system calls in, the same primes in
# the profile. (BMAP is missing: the kernel sends it to file systems on block devices only.)
. "$(dirname "$0")/lib.sh"

mkdir "$lower/stage"
mount_osproffs -o cache=none,posix_lock,flock "$lower" "$mnt"
timeout 60 "$TEST_PROGRAMS/ops_reached" "$mnt/stage" "$mnt/.osprof" || fail "counts differ"
unmount_osproffs "$mnt"

# The final profile says the same (CREATE: and two files of the stage).
for op_calls in CREATE:139 RENAME:137 RENAME2:137 MKNOD:127 FSYNCDIR:211 GETLK:223 SETLK:460 SETLKW:468; do
    assert_eq "${op_calls#*:}" "$(profile_calls "${op_calls%:*}" "$final_profile")" "final ${op_calls%:*}"
done

cached=(READDIRPLUS SETXATTR FSYNC)
! kernel_is_from 6.6 || cached+=(STATX)
mount_osproffs "$lower" "$mnt"
timeout 60 "$TEST_PROGRAMS/ops_reached" "$mnt/stage" "$mnt/.osprof" "${cached[@]}" || fail "counts differ with caches"
unmount_osproffs "$mnt"

# timing=off records nothing, and changes nothing else.
mount_osproffs -o timing=off "$lower" "$mnt"
assert_eq "$(ls "$lower/stage")" "$(ls "$mnt/stage")" "timing=off"
unmount_osproffs "$mnt"
assert_eq 0 "$(grep -c "^OP_" "$final_profile" || true)" "operations recorded with timing=off"
