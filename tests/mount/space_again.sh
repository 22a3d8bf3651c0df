#!/bin/bash
# What a removed or replaced file took is free for the next one at once, as below, also where a descriptor is all that the
# daemon has of a file: on a file system that has room for little more than one of them, another fits each time.
. "$(dirname "$0")/lib.sh"
need_user_mounts "$@"
provide_programs
need python3

cat >"$scratch/again.py" <<'END'
import os
import sys

directory, times = sys.argv[1], int(sys.argv[2])
data = bytes(1 << 20)
failures = 0


def fill(name):
    fd = os.open(f"{directory}/{name}", os.O_CREAT | os.O_WRONLY)
    try:
        for _ in range(30):
            os.write(fd, data)
    finally:
        os.close(fd)


for _ in range(times):
    try:
        fill("one")
        os.mknod(f"{directory}/other")
        os.rename(f"{directory}/other", f"{directory}/one")
        fill("third")
        os.unlink(f"{directory}/third")
    except OSError as error:
        failures += 1
        last = error
if failures:
    print(f"{failures} of {times}: {last}")
END
chmod 0644 "$scratch/again.py"

mount -t tmpfs -o size=40m,mode=0777 tmpfs "$lower"
chown "$user_uid:$user_gid" "$mnt"
assert_eq "" "$(as_user python3 "$scratch/again.py" "$lower" 10)" "below"
for option in cache=auto cache=none; do
    mount_osproffs_as_user -o "$option" "$lower" "$mnt"
    assert_eq "" "$(as_user timeout 100 python3 "$scratch/again.py" "$mnt" 20)" "$option"
    unmount_osproffs "$mnt"
done

# The same for inodes, of which there is one to spare: for files without a name, and for names, which tmpfs counts too.
cat >"$scratch/inodes.py" <<'END'
import os
import sys

directory, times = sys.argv[1], int(sys.argv[2])
for _ in range(times):
    os.close(os.open(f"{directory}/one", os.O_CREAT | os.O_WRONLY))
    os.unlink(f"{directory}/one")
    try:
        if sys.argv[3] == "attribute":
            os.setxattr(f"{directory}/1", "user.large", bytes(900))
            os.removexattr(f"{directory}/1", "user.large")
        elif sys.argv[3] == "link":
            os.link(f"{directory}/1", f"{directory}/link")
            os.unlink(f"{directory}/link")
        else:
            os.close(os.open(directory, os.O_TMPFILE | os.O_WRONLY))
    except OSError as error:
        print(error)
END
chmod 0644 "$scratch/inodes.py"
mount -o remount,nr_inodes=20 "$lower"
for name in {1..18}; do
    as_user touch "$lower/$name"
done
attribute=attribute # takes the room of an inode in tmpfs, since Linux 6.6
[ -z "$(as_user python3 "$scratch/inodes.py" "$lower" 1 attribute)" ] || attribute=
for what in file link $attribute; do
    assert_eq "" "$(as_user python3 "$scratch/inodes.py" "$lower" 10 "$what")" "$what, below"
done
if as_user touch "$lower/last" && as_user touch "$lower/more" 2>/dev/null; then
    fail "there is room for two more inodes"
fi
rm "$lower/last"
mount_osproffs_as_user "$lower" "$mnt"
for what in file link $attribute; do
    assert_eq "" "$(as_user timeout 100 python3 "$scratch/inodes.py" "$mnt" 20 "$what")" "$what"
done
unmount_osproffs "$mnt"
rm "$lower"/{1..18}

# Where nothing comes free it is full, and that is said soon.
mount_osproffs_as_user "$lower" "$mnt"
as_user dd if=/dev/zero of="$mnt/full" bs=1M 2>"$scratch/errors" && fail "40 MB hold more"
grep -q 'No space left' "$scratch/errors" || fail "it is not full: $(<"$scratch/errors")"
as_user timeout 20 bash -c "for i in {1..100}; do ! echo more >>'$mnt/full' || exit 1; done" 2>/dev/null ||
    fail "full, but not at once"
unmount_osproffs "$mnt"
umount "$lower"
