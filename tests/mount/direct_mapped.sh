#!/bin/bash
# What is written to a mapping of a file that is open with O_DIRECT arrives, also if the user may not open the file again:
# as it was made read-only, moved below a directory that may not be searched, or removed.
. "$(dirname "$0")/lib.sh"
need_user_mounts "$@"
provide_programs
need python3 mkfs.ext4

cat >"$scratch/mapped.py" <<'END'
import mmap
import os
import sys

top = sys.argv[1]


def attempt(what, call):
    try:
        print(what + ":", call())
    except OSError as error:
        print(what + ":", error.strerror)


def write_mapped(case, change):
    path = f"{top}/{case}"
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o444 if case == "made" else 0o644)
    os.ftruncate(fd, 5000)
    second = os.open(path, os.O_RDONLY)
    memory = mmap.mmap(fd, 5000)
    memory[:] = case[0].encode() * 5000
    change(path)
    attempt(case + ", msync", memory.flush)
    memory.close()
    block = mmap.mmap(-1, 4096)
    attempt(case + ", direct again", lambda: os.pwrite(fd, block, 8192))
    attempt(case + ", fsync", lambda: os.fsync(fd))
    os.close(fd)
    attempt(case, lambda: (set(os.pread(second, 5000, 0)), os.fstat(second).st_size))


os.mkdir(f"{top}/private")
write_mapped("made", lambda path: None)
write_mapped("closed", lambda path: os.chmod(path, 0o444))
write_mapped("removed", lambda path: (os.chmod(path, 0o444), os.unlink(path)))
write_mapped("hidden", lambda path: (os.rename(path, f"{top}/private/hidden"), os.chmod(f"{top}/private", 0)))
END
chmod 0644 "$scratch/mapped.py"

truncate -s 32M image
mkfs.ext4 -q image
mount -o loop image "$lower" 2>/dev/null || skip "no loop devices"
mkdir "$lower/native" "$lower/shown"
chown "$user_uid:$user_gid" "$lower"/* "$mnt"
as_user python3 "$scratch/mapped.py" "$lower/native" >"$scratch/right" 2>&1
assert_eq 16 "$(wc -l <"$scratch/right")" "lines below"
for option in cache=auto cache=none; do
    mount_osproffs_as_user -o "$option" "$lower/shown" "$mnt"
    as_user mkdir "$mnt/$option"
    as_user python3 "$scratch/mapped.py" "$mnt/$option" >"$scratch/found" 2>&1 || true
    diff "$scratch/right" "$scratch/found" >&2 || fail "differs: $option"
    unmount_osproffs "$mnt"
done
umount "$lower"
