#!/bin/bash
# Blocks that a file system reserves for root stay reserved: however another user writes, through the kernel's page
# cache too, where the kernel does not say whose pages they are.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need setpriv mkfs.ext4 python3 tune2fs

truncate -s 32M "$scratch/image"
mkfs.ext4 -q -b 4096 -m 25 "$scratch/image"
reserved=$(tune2fs -l "$scratch/image" | awk -F: '/^Reserved block count/ { print $2 + 0 }')
mount -o loop "$scratch/image" "$lower" || skip "cannot mount a file"
chmod 0777 "$lower"

# free: blocks that are free to root
free() {
    sync -f "$lower"
    stat -f -c %f "$lower"
}

assert_reserve_is_left() {
    local left
    left=$(free)
    [ "$left" -ge "$reserved" ] || fail "$1: $left of $reserved reserved blocks are left"
    rm "$lower/file"
    sync -f "$lower"
}

# fill HOW: makes file as large as the whole file system; out of room it fails
cat >"$scratch/fill.py" <<'PYTHON'
import mmap, os, sys
how, path, size = sys.argv[1], sys.argv[2], 31 << 20
fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
try:
    if how == "write":
        while os.write(fd, b"x" * 65536):
            pass
    elif how == "fallocate":
        for offset in range(0, size, 65536):
            os.posix_fallocate(fd, offset, 65536)
    else:
        os.ftruncate(fd, size)
        pages = mmap.mmap(fd, size)
        for offset in range(0, size, 4096):
            pages[offset] = 1
        pages.flush()
    sys.exit("nothing failed")
except OSError as error:
    print(how, error.strerror)
PYTHON

mount_osproffs -o allow_other "$lower" "$mnt"
for how in write fallocate mmap; do
    (as_user python3 "$scratch/fill.py" "$how" "$mnt/file" || true) >"$scratch/out" 2>&1
    assert_reserve_is_left "$how"
    grep -q "^$how No space left" "$scratch/out" || fail "$how: the user is not told: $(cat "$scratch/out")"
done
# while root has the file open too
touch "$lower/file" && chmod 0666 "$lower/file"
exec 9<>"$mnt/file"
(as_user python3 "$scratch/fill.py" mmap "$mnt/file" || true) >"$scratch/out" 2>&1
exec 9>&-
assert_reserve_is_left "mmap beside root"
# root itself may
python3 "$scratch/fill.py" mmap "$mnt/file" >"$scratch/out" 2>&1 || true
[ "$(free)" -lt "$reserved" ] || fail "root gets no reserved blocks"
unmount_osproffs "$mnt"
