#!/bin/bash
# Memory that was needed once is given back: that of profiles which were made for several readers at once, and for
# rotations.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need python3
! grep -q '__[at]san_init' "$OSPROFFS" || skip "built with a sanitizer, which keeps what is freed"
unset MALLOC_PERTURB_ # writes to all that is allocated
callers=173

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

# assert_given_back BEFORE-KIB WHAT
assert_given_back() {
    local after most_kib=5000
    after=$(anonymous_kib)
    [ $((after - $1)) -le "$most_kib" ] || fail "$((after - $1)) KiB are kept after $2"
}

echo text >"$lower/file"
mount_osproffs -o "resolution=8,by=process+file" "$lower" "$mnt"
call_from_many
cat "$mnt/.osprof" >/dev/null
before=$(anonymous_kib)
for _ in 1 2 3; do
    python3 -c "$read_profiles" "$mnt/.osprof" 16
done
assert_given_back "$before" "reading the profile"
for _ in $(seq 7); do
    "$OSPROF" rotate "$mnt" "$scratch/span"
    rm -f "$scratch/span"
done
assert_given_back "$before" "rotations"
unmount_osproffs "$mnt"
