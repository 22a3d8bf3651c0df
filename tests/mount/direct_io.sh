#!/bin/bash
# O_DIRECT on a disk that takes whole blocks only: programs that switch it off for the rest of a file, or on later, get what
# they get below.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need mkfs.ext4 python3

# Writes a block each way, and says what came of each: direct, then not, then direct again, then not a whole block.
switch='
import errno, fcntl, mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | (os.O_DIRECT if sys.argv[2] == "direct" else 0), 0o600)
block = mmap.mmap(-1, 4096)
def write(data, offset):
    try:
        print(os.pwrite(fd, data, offset))
    except OSError as error:
        print(errno.errorcode[error.errno])
def switch_direct(on):
    flags = fcntl.fcntl(fd, fcntl.F_GETFL)
    fcntl.fcntl(fd, fcntl.F_SETFL, flags | os.O_DIRECT if on else flags & ~os.O_DIRECT)
block[:] = b"a" * 4096
write(block, 0)
switch_direct(False)
write(b"b" * 1001, 4096)
switch_direct(True)
block[:] = b"c" * 4096
write(block, 8192)
switch_direct(False)
write(b"d" * 7, 12288)
'

assert_same() {
    local name=$1 below above
    shift
    below=$("$@" "$lower/$name-below" 2>&1)
    above=$("$@" "$mnt/$name-above" 2>&1)
    assert_eq "$below" "$above" "$name"
    cmp "$lower/$name-below" "$lower/$name-above" || fail "$name: other data"
}

copy_directly() {
    dd if=source of="$1" bs=4096 oflag=direct status=none
}

switch_after() {
    python3 -c "$switch" "$2" "$1"
}

truncate -s 32M image
mkfs.ext4 -q image
mount -o loop image "$lower" 2>/dev/null || skip "no loop devices"
head -c 10007 /dev/urandom >source
for options in cache=auto cache=none allow_other,no_default_permissions; do
    mount_osproffs -o "$options" "$lower" "$mnt"
    assert_same "copy-$options" copy_directly
    assert_same "direct-$options" switch_after direct
    assert_same "buffered-$options" switch_after buffered
    unmount_osproffs "$mnt"
done
umount "$lower"
