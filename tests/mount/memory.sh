#!/bin/bash
# Memory that was needed once is given back: that of profiles which were made for several readers at once, and for
# rotations, and that of inodes which the kernel has forgotten.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need python3
! grep -q '__[at]san_init' "$OSPROFFS" || skip "built with a sanitizer, which keeps what is freed"
unset MALLOC_PERTURB_ # writes to all that is allocated
callers=173 inodes=200000

anonymous_kib() {
    awk '/^Anonymous:/ { print $2 }' /proc/"$daemon_pid"/smaps_rollup
}

# Each caller is a process of its own, and so a group of the profile.
call_from_many() {
    local number
    for number in $(seq "$callers"); do
        cat "$mnt/file"
        ls -l "$mnt"
    done >/dev/null
}

# By so many at once, each in an open file of its own.
read_profiles='
import sys, threading
sizes = []
def read():
    with open(sys.argv[1], "rb") as profile:
        sizes.append(len(profile.read()))
threads = [threading.Thread(target=read) for _ in range(int(sys.argv[2]))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit(len(sizes) < int(sys.argv[2]) or min(sizes) < 100000)
'

# assert_given_back BEFORE-KIB MOST-KIB WHAT
assert_given_back() {
    local kept_kib=$(($(anonymous_kib) - $1))
    [ "$kept_kib" -le "$2" ] || fail "$kept_kib KiB are kept after $3"
}

# is_given_back BEFORE-KIB MOST-KIB: once the kernel forgets. What something else has just looked at it keeps at first.
is_given_back() {
    drop_caches 2
    [ $(($(anonymous_kib) - $1)) -le "$2" ]
}

make_many='
import os, sys
for number in range(int(sys.argv[2])):
    if number % 1000 == 0:
        directory = f"{sys.argv[1]}/{number // 1000}"
        os.makedirs(directory)
    os.mknod(f"{directory}/{number}")
'

know_all() {
    find "$mnt/many" -size +1G
    known=$(anonymous_kib)
}

# Of those that were forgotten last some are remembered, in 64 chunks of 112 KiB.
inodes_are_given_back() {
    local before known
    python3 -c "$make_many" "$lower/many" "$inodes"
    before=$(anonymous_kib)
    with_caches know_all
    [ $((known - before)) -ge $((inodes * 90 / 1024)) ] || fail "$((known - before)) KiB for $inodes inodes"
    sync -f "$mnt"
    wait_until 60 is_given_back "$before" 13000 ||
        fail "$(($(anonymous_kib) - before)) KiB of $((known - before)) are kept of $inodes forgotten inodes"
}

mount -t tmpfs tmpfs "$lower"
echo text >"$lower/file"
mount_osproffs -o "resolution=8,by=process+file" "$lower" "$mnt"
call_from_many
cat "$mnt/.osprof" >/dev/null
before=$(anonymous_kib)
for _ in 1 2 3; do
    python3 -c "$read_profiles" "$mnt/.osprof" 16
done
assert_given_back "$before" 15000 "reading the profile" # a profile and its text take half of that
for _ in $(seq 7); do
    "$OSPROF" save --rotate "$mnt" -o "$scratch/span"
    rm -f "$scratch/span"
done
assert_given_back "$before" 15000 "rotations"
inodes_are_given_back
unmount_osproffs "$mnt"
