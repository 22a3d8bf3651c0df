#!/bin/bash
# Several requests at a time for one place of a disk, such as a block that several threads read without the page cache: the
# tracepoints do not tell them apart. How many are not counted is printed, and no cache is said to have answered them.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=run_lib.sh
. "$tests_dir/../cli/run_lib.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"
# shellcheck source=trace_lib.sh
. "$tests_dir/../cli/trace_lib.sh"

need_root
need mkfs.ext4 losetup python3
need_tracepoints block/block_rq_issue

loop=
before_cleanup() {
    ! mountpoint -q "$lower" || umount -l "$lower"
    [ -z "$loop" ] || losetup -d "$loop"
}

truncate -s 64M image
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 image
loop=$(losetup -f --show image) || skip "no loop device"
mount -o noatime "$loop" "$lower"
head -c 4096 /dev/urandom >"$lower/file"
sync -f "$lower"

cat >load.py <<END
import mmap, os, threading
def read():
    file = os.open("$lower/file", os.O_RDONLY | os.O_DIRECT)
    for i in range(131):
        os.preadv(file, [buffers.pop()], 0)
buffers = [mmap.mmap(-1, 4096) for i in range(7 * 131)]
threads = [threading.Thread(target=read) for i in range(7)]
def count():
    return int(open("/sys/block/${loop#/dev/}/stat").read().split()[0])
before = count()
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(count() - before)
END
expect 0 run --layers user,block -d "$lower" -q -p profile -- python3 load.py
assert_eq 917 "$(<out)" "requests that the disk has counted"
lacks=$(sed -n 's/^osprof: the layer block lacks \([0-9]*\) requests: several at a time for one place of a disk cannot be told apart$/\1/p' err)
[ "${lacks:-0}" -gt 0 ] || fail "nothing is told: $(<err)"
may_lack=$(sed -n 's/^osprof: the layer block may lack \([0-9]*\) request.*/\1/p' err)
split_layers profile
assert_eq $((917 - lacks - ${may_lack:-0})) "$(layer_calls block | sed -n 's/^READ //p')" "requests that are counted"
grep -qx '# incomplete: yes' layer.block || fail "the profile does not say that it is incomplete"
expect 0 show profile
grep -qx 'block is incomplete: some calls are missing there.' out || fail "no warning: $(<out)"
! grep -q 'cache answered' out || fail "no cache has answered: $(<out)"
