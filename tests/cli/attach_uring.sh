#!/bin/bash
# osprof attach: requests of io_uring, calls of libaio, and page faults of mapped files: each as often as the program says.
# shellcheck disable=SC2119 # "watched" takes options of osprof attach
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"

need_root
need mkfs.ext4 losetup

waiting=
before_cleanup() {
    [ -z "$waiting" ] || kill -KILL "$waiting" 2>/dev/null || true
    kill_watchers
    ! mountpoint -q "$scratch/disk" || umount -l "$scratch/disk"
}

mkdir fs
mount -t tmpfs tmpfs fs
fs=$scratch/fs
calls=$TEST_PROGRAMS/async_calls

stopped() {
    kill -INT "$watcher"
    ended 0
}

# told PATTERN: "OP CALLS" of those operations, not of groups
told() {
    counts profile | grep -Ex "($1) .*" || true
}

# in_fs WHAT...: the program does that there
in_fs() {
    local status=0
    env -C "$fs" "$calls" "$@" || status=$? # the shell's own cd would count
    [ "$status" != 77 ] || skip "this kernel has no io_uring or libaio for us: $*"
    assert_eq 0 "$status" "exit status of the program: $*"
}

prepare() {
    truncate -s 0 "$1/ringed"
    dd if=/dev/zero of="$1/ringed" bs=4096 count=64 status=none
    [ -p "$1/fifo" ] || mkfifo "$1/fifo"
}

# header KEY: what these lines of the profile say
header() {
    sed -n "s/^# $1: //p" profile
}

# ---- Requests of a ring

prepare "$fs"
# Names are found a little later.
has_program() {
    "$OSPROF" show --by program "$fs" >programs && grep -q '^async_calls ' programs
}

load=(read=5 write=7 readv=11 registered=13 read-only=2 fsync=3 open=17 missing=6 close=19 statx=23 directory=29 chain=4
    cancel-linked=31 elsewhere=8 untimed=9)
expected="URING_CLOSE 19
URING_FSYNC 34
URING_MKDIR 29
URING_OPEN 21
URING_READ 64
URING_STATX 23
URING_UNLINK 29
URING_WRITE 9"
for how in '' polled; do
    watched
    # shellcheck disable=SC2086 # no word if it is empty
    in_fs $how "${load[@]}"
    wait_until 20 has_program || fail "whose they are is not known: $(<programs)"
    stopped
    [ -n "$(told 'URING.*')" ] || skip "this kernel does not tell requests of io_uring"
    assert_eq "$expected" "$(told 'URING.*')" "requests of a ring${how:+ that a thread of the kernel polls}"
    tr '\n' ' ' <out | grep -q ' the latency of 9 requests of io_uring (they asked for no completion)' ||
        fail "it is not said which have no latency: $(<out)"
done
header bytes >of_bytes
grep -qx "URING_READ asked $((4096 * (5 + 13 + 4 + 31) + 300 * 11)) moved $((4096 * (5 + 13 + 4) + 300 * 11))" of_bytes ||
    fail "bytes of reads: $(<of_bytes)"
grep -qx "URING_WRITE asked $((4096 * 9)) moved $((4096 * 7))" of_bytes || fail "bytes of writes: $(<of_bytes)"
header failed >failures
assert_eq "URING_FSYNC other 31
URING_WRITE EBADF 2" "$(grep URING failures | sort)" "requests that failed"
expect 0 show --by file --of /ringed profile
grep -Eq '^URING_READ +64 ' out || fail "they are not of the file: $(<out)"

# With a completion for each there is nothing to say.
watched
in_fs read=3
stopped
assert_eq "URING_READ 3" "$(told 'URING.*')" "requests of a ring"
! tr '\n' ' ' <out | grep -q 'of io_uring' || fail "it is said that some have no latency: $(<out)"

# ---- Requests that wait, until they are canceled, their ring is closed, or their program is killed

is_told() {
    "$OSPROF" save "$fs" -o profile && [ "$(told URING_READ)" = "URING_READ $1" ]
}

watched
in_fs fifo=2 cancel=1 close-ring fifo=2 read=1
env -C "$fs" "$calls" fifo=4 forever >waits &
waiting=$!
is_waiting() {
    grep -qsx waits waits
}
wait_until 20 is_waiting || fail "the program does not wait"
wait_until 20 is_told 6 || fail "those of rings that were closed: $(told URING_READ)"
kill -KILL "$waiting"
wait "$waiting" 2>/dev/null || true
waiting=
wait_until 20 is_told 11 || fail "those of a program that was killed: $(told URING_READ)"
stopped
assert_eq 10 "$(header failed | sed -n 's/^URING_READ other //p;s/^URING_READ EINTR //p' | awk '{ n += $1 } END { print n }')" \
    "reads that failed"
! grep -q 'not measured' err || fail "some are lost: $(<err)"

# ---- Calls of libaio

watched
in_fs aio=7 aio-elsewhere=5 aio=3
stopped
assert_eq "IO_GETEVENTS 10
IO_SUBMIT 10" "$(told 'IO_.*')" "calls of libaio on the file system"

# ---- Page faults of mapped files that are not in memory

truncate -s 16M image
mkfs.ext4 -q image
mkdir disk
if mount -o loop image disk; then
    fs=$scratch/disk
    prepare "$fs"
    sync -f "$fs"
    watched
    in_fs mapped=61
    stopped
    if [ -n "$(told PAGE_FAULT)" ] || [ -e /sys/kernel/tracing/events/filemap/mm_filemap_fault ]; then
        assert_eq "PAGE_FAULT 61" "$(told PAGE_FAULT)" "page faults for which something was read"
        watched
        in_fs mapped-in-memory=61
        stopped
        assert_eq "" "$(told PAGE_FAULT)" "page faults of pages that are in memory"
    fi
    umount disk
else
    echo "not tried: page faults, which take a loop device" >&2
fi
umount "$scratch/fs"
