#!/bin/bash
# A disk that takes 3 ms longer for each read: the layer block of osprof run has that time, and no other layer does.
#
# The disk is an image in a directory that slow_osproffs shows, as a loop device. (A delay by device mapper would be above
# the requests that are traced.)
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
# shellcheck source=../cli/trace_lib.sh
. "$tests_dir/../cli/trace_lib.sh"

need_fuse
need mkfs.ext4 losetup

loop=
before_cleanup() {
    ! mountpoint -q "$lower" || umount -l "$lower"
    [ -z "$loop" ] || losetup -d "$loop"
}

mkdir image below
truncate -s 64M image/image
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 image/image
profiled=$OSPROFFS
OSPROFFS=${OSPROFFS%src/fuse/osproffs}bench/slow_osproffs
export SLOW_OSPROFFS=READ:3000000:1
mount_osproffs -o control=.below,cache=none image below
loop=$(losetup -f --show below/image) || skip "no loop device"
mount -o noatime "$loop" "$lower"
OSPROFFS=$profiled need_counting block "$lower"
seq 600000 | head -c 4M >"$lower/file"
sync -f "$lower"

reads=101
export OSPROFFS=$profiled
"$OSPROF" run --layers fs,block -d "$lower" -q -o profile -- dd if="$lower/file" of=/dev/null bs=4k count=$reads iflag=direct status=none
split_layers profile
"$OSPROF" show --check layer.block >&2
assert_eq "$reads" "$(profile_calls READ layer.fs)" "reads of the file system"
[ "$(profile_calls READ layer.block)" -ge "$reads" ] || fail "fewer reads of the disk than of the file system: $(<layer.block)"
assert_eq "${loop#/dev/}" "$(sed -n 's/^# devices: //p' layer.block)" "devices"

# 2^21 ns is 2.1 ms
assert_eq 0 "$(awk '/^OP_READ / { getline; for (b = 1; b <= 21 && b <= NF; b++) calls += $b; print calls + 0 }' layer.block)" \
    "reads of the disk that took less than 2.1 ms"
injected=$((reads * 3000000))
seen=$(layer_total READ block)
[ "$seen" -ge "$injected" ] || fail "of $injected ns that the disk was made to wait, only $seen ns are at the layer block"
umount "$lower"
losetup -d "$loop"
loop=
unmount_osproffs below
