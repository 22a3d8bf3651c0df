#!/bin/bash
# osprof attach: calls of 32-bit programs, which have other numbers, and arguments in other registers, count like all.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"

need_root
mkdir fs
mount -t tmpfs tmpfs fs
fs=$scratch/fs
calls=$TEST_PROGRAMS/calls_of_32_bits

status=0
env -C "$fs" "$calls" || status=$?
[ "$status" != 77 ] || skip "this machine runs no 32-bit programs of x86"
assert_eq 0 "$status" "exit status of the program"

watched --by file
env -C "$fs" "$calls"
kill -INT "$watcher"
ended 0
assert_eq "ACCESS 3
CHDIR 5
CLOSE 1
IOCTL 2
LOCK 1
OPEN 1
PREAD 7
PWRITE 2
RENAME 1
STAT 30
UNLINK 1
WRITE 7
WRITEV 5" "$(counts profile)" "calls of 32 bits"
grep -qx '# failed: STAT ENOENT 6' profile || fail "those that failed: $(grep '# failed' profile)"
grep -qx '# bytes: WRITEV asked 1500 moved 1500' profile || fail "bytes of vectors: $(grep '# bytes' profile)"
grep -qx '# bytes: PWRITE asked 20 moved 20' profile || fail "bytes: $(grep '# bytes' profile)"
expect 0 show --by file --of /file profile
grep -Eq '^PREAD +7 ' out || fail "their file is not known: $(<out)"
umount "$fs"
