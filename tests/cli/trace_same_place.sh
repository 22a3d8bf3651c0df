#!/bin/bash
# Several requests at a time for one place of a disk, such as a block that several threads read without the page cache: all
# are counted.
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

loop=
before_cleanup() {
    ! mountpoint -q "$lower" || umount -l "$lower"
    [ -z "$loop" ] || losetup -d "$loop"
}

truncate -s 64M image
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 image
loop=$(losetup -f --show image) || skip "no loop device"
mount -o noatime "$loop" "$lower"
need_counting block "$lower"
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
expect 0 run --layers user,block -d "$lower" -q -o profile -- python3 load.py
assert_eq 917 "$(<out)" "requests that the disk has counted"
may_lack=$(sed -n 's/^osprof: the layer block may lack \([0-9]*\) request.*/\1/p' err)
split_layers profile
calls=$(layer_calls block | sed -n 's/^READ //p')
if [ "$calls" -gt 917 ] || [ "$calls" -lt $((917 - ${may_lack:-0})) ]; then
    fail "$calls requests are counted; ${may_lack:-0} may be lacking"
fi
