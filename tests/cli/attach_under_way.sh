#!/bin/bash
# Calls that are under way when osprof attach begins: when they end they are not counted, for nobody knows how long they took,
# and it says how many they were. Others that begin meanwhile are counted.
# shellcheck disable=SC2119 # "watched" takes options of osprof attach
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"

need_root
need mkfs.ext4 fsfreeze losetup python3

before_cleanup() {
    thaw
    ! mountpoint -q "$scratch/other" || umount -l "$scratch/other"
    kill_watchers
}

# Three writes, a directory that is made, and a lock that is held by another descriptor: each in a thread, which says what it
# has done. Then a sixth thread waits for a byte of a pipe, in a call that is on no file.
cat >calls.py <<'END'
import fcntl, os, sys, threading
top = sys.argv[1]
fds = [os.open(top + "/file", os.O_RDWR) for _ in range(5)]
fcntl.flock(fds[3], fcntl.LOCK_EX)
calls = [lambda fd=fd: os.pwrite(fd, b"x", 0) for fd in fds[:3]]
calls += [lambda: os.mkdir(top + "/made"), lambda: fcntl.flock(fds[4], fcntl.LOCK_EX)]
threads = [threading.Thread(target=call) for call in calls]
for thread in threads:
    thread.start()
sys.stdin.readline()
fcntl.flock(fds[3], fcntl.LOCK_UN)
for thread in threads:
    thread.join()
os.fsync(fds[0])
END

# in_calls N: so many of its threads wait in calls of the file system
in_calls() {
    [ "$(grep -lE '^(18|67|73|83|258|34) ' /proc/"$caller"/task/*/syscall 2>/dev/null | wc -l)" = "$1" ]
}

begin_calls() {
    rm -f go
    mkfifo go
    python3 calls.py "$fs" <go &
    caller=$!
    others=("$caller")
    exec 7>go
}

end_calls() {
    echo >&7
    exec 7>&-
    wait "$caller" || fail "the calls fail"
    others=()
    kill -INT "$watcher"
    ended 0
    "$OSPROF" show --check profile >&2 || fail "osprof show --check finds fault"
}

truncate -s 32M image
mkfs.ext4 -q image
mkdir fs
mount -o loop image fs
fs=$scratch/fs
echo 0123456789 >fs/file
sync -f fs

# ---- They begin before

freeze "$fs"
begin_calls
wait_until 60 in_calls 5 || fail "the calls do not wait: $(cat /proc/"$caller"/task/*/syscall)"
watched
thaw
end_calls
tr '\n' ' ' <"$page" | grep -q 'Not measured: .*the latency of 5 calls (begun before osprof attached)' || fail "calls that had begun before are not told: $(<"$page")"
for op in PWRITE MKDIR; do
    assert_eq 0 "$(calls "$op" profile)" "$op, which had begun before"
done
assert_eq 1 "$(calls FLOCK profile)" "FLOCK, which unlocks"
assert_eq 1 "$(calls FSYNC profile)" "FSYNC, which began afterwards"
rmdir fs/made

# ---- They begin afterwards

watched
freeze "$fs"
begin_calls
wait_until 60 in_calls 5 || fail "the calls do not wait"
thaw
end_calls
! grep -q 'had begun before' "$page" || fail "calls that began afterwards had begun before: $(<"$page")"
assert_eq "FLOCK 3
MKDIR 1
PWRITE 3" "$(counts profile | grep -E '^(FLOCK|MKDIR|PWRITE) ')" "calls that began afterwards"
rmdir fs/made

# ---- They are on another file system

mkdir other
mount -t tmpfs tmpfs other
freeze "$fs"
begin_calls
wait_until 60 in_calls 5 || fail "the calls do not wait"
watched_by "$scratch/other"
thaw
end_calls
! grep -q 'had begun before' "$page" || fail "calls on another file system had begun before: $(<"$page")"
umount fs other
