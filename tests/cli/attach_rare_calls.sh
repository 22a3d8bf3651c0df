#!/bin/bash
# Calls that programs seldom make are counted by osprof attach and by osprof run, under the same operations: sync(2),
# readahead(2), madvise(2), file handles, ioctl(2), chdir(2), inotify_add_watch(2), cachestat(2).
# shellcheck disable=SC2119 # "watched" takes options of osprof attach
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"

need_root
need mkfs.ext4
mkdir fs
truncate -s 20M image
mkfs.ext4 -q image
mount -o loop image fs
fs=$scratch/fs
head -c 100000 /dev/zero >fs/f
calls=$TEST_PROGRAMS/rare_calls
wanted="ACCESS 3 CHDIR 6 CLOSE 5 FADVISE 18 IOCTL 7 MMAP 1 MSYNC 4 OPEN 7 STAT 4"

# syncs PROFILE: SYNCFS of the program; others on the machine may call sync(2), too
syncs() {
    awk '/^# [a-z]*: / { here = $0 == "# program: rare_calls" } /^OP_SYNCFS / && here { print $2 }' "$1"
}

watched --by file+program
"$calls" "$fs"
"$OSPROF" save "$fs" -o now
assert_eq "$wanted" "$(counts now | xargs)" "what osprof attach counts"
assert_eq 5 "$(syncs now)" "SYNCFS"
"$OSPROF" ctl "$fs" reset
"$calls" "$fs" others
"$OSPROF" save "$fs" -o now
assert_eq "" "$(counts now | xargs)" "calls on what is no file of it"
assert_eq "" "$(syncs now)" "SYNCFS of no file"
kill -INT "$watcher"
ended 0
grep -qx '# failed: CHDIR ENOENT 3' profile && fail "failures that were reset are there"
"$OSPROF" show --check profile >&2 || fail "osprof show --check finds fault"

# whose file: that of the mapping, of the handle, of the new directory
watched --by file
"$calls" "$fs"
kill -INT "$watcher"
ended 0
grep -qx '# failed: CHDIR ENOENT 3' profile || fail "how chdir(2) failed: $(grep '^# failed' profile)"
expect 0 show --by file --of /f profile
for pair in ACCESS=3 FADVISE=18 IOCTL=7 MSYNC=4 STAT=4; do
    grep -Eq "^${pair%=*} +${pair#*=} " out || fail "other calls on the file than $pair: $(<out)"
done

"$OSPROF" run -q -o profile -- "$calls" "$fs"
assert_eq "$wanted" "$(counts profile | xargs)" "what osprof run counts"
grep -q '^OP_SYNCFS 5 ' profile || fail "osprof run counts another number of SYNCFS: $(grep ^OP_SYNCFS profile)"
"$OSPROF" run -q -o profile -d "$fs" -- "$calls" "$fs"
assert_eq "ACCESS 3 CHDIR 6 CLOSE 5 FADVISE 10 IOCTL 7 MMAP 1 OPEN 7 STAT 4" "$(counts profile | xargs)" \
    "what osprof run -d counts: not what tells no file"
grep -q '^OP_SYNCFS 3 ' profile || fail "osprof run -d counts another number of SYNCFS: $(grep ^OP_SYNCFS profile)"
umount "$fs"
