#!/bin/bash
# What a program has written through a mapping is written below whole, or msync, fsync and close say why not: no room, or
# a limit of file sizes. In all cache modes. (The unit tests have quotas, broken disks and signals.)
. "$(dirname "$0")/lib.sh"

need_root
need mkfs.ext4 python3

# fill.py CALL FILE BELOW BYTES: fills FILE, an empty one of that size, through a mapping and prints the error of CALL, or how many bytes are missing below
cat >"$scratch/fill.py" <<'PYTHON'
import errno, mmap, os, sys
call, path, below, size = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
fd = os.open(path, os.O_RDWR)
pages = mmap.mmap(fd, size)
for offset in range(0, size, 65536):
    pages[offset:offset + 65536] = b"q" * 65536
try:
    if call == "msync":
        pages.flush()
    elif call == "fsync":
        os.fsync(fd)
    elif call == "close":
        os.close(os.dup(fd))
    else:
        sys.exit("no such call: " + call)
except OSError as error:
    print(errno.errorcode[error.errno])
    sys.exit()
with open(below, "rb") as file:
    print("missing:", size - file.read().count(b"q"))
PYTHON

size=$((1024 * 1024))

# expect CALL ERRORS: by that call the program gets one of the errors
expect() {
    local call=$1 errors=$2 found
    truncate -s "$size" "$lower/dir/file"
    found=$(python3 "$scratch/fill.py" "$call" "$mnt/dir/file" "$lower/dir/file" "$size" 2>&1 || true)
    rm -f "$lower/dir/file"
    [[ " $errors " == *" $found "* ]] || fail "cache=$cache, $call: expected $errors, found $found"
}

# A file system without room: about 300 KiB are left.
make_full() {
    truncate -s 32M "$scratch/image"
    mkfs.ext4 -q -F -b 4096 -m 0 "$scratch/image"
    mount -o loop "$scratch/image" "$lower" || skip "cannot mount a file"
    mkdir "$lower/dir"
    dd if=/dev/zero of="$lower/fill" bs=64k status=none 2>/dev/null || true
    truncate -s -300K "$lower/fill"
    sync -f "$lower"
}

# expect_each ERRORS ERRORS-OF-CLOSE [KIBIBYTES]: close(2) of a FUSE file tells only ENOSPC by its name. The daemon writes no
# files larger than that.
expect_each() {
    for cache in auto always none; do
        ulimit -S -f "${3:-unlimited}"
        mount_osproffs -o cache="$cache" "$lower" "$mnt"
        ulimit -S -f unlimited
        expect msync "$1"
        expect fsync "$1"
        expect close "$2"
        unmount_osproffs "$mnt"
    done
}

make_full
expect_each ENOSPC ENOSPC
rm "$lower/fill"
expect_each "missing: 0" "missing: 0"
expect_each EFBIG "EFBIG EIO" 300
