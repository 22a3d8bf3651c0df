#!/bin/bash
# osprof attach: calls by names that lead there count, and none that leads elsewhere does: through symbolic links, "..",
# bind mounts, other roots and mount namespaces; where a directory is another one than before; on tmpfs, ext4, overlayfs
# and subvolumes of btrfs.
# shellcheck disable=SC2119 # "watched" takes options of osprof attach
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"

need_root
need python3 unshare mkfs.ext4

before_cleanup() {
    kill_watchers
    unmount_below "$scratch"
}

# Calls that fail are calls. Only its own are on the file system.
cat >calls.py <<'END'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def times(count, call, *arguments, **options):
    for _ in range(count):
        try:
            call(*arguments, **options)
        except OSError:
            pass
exec(sys.stdin.read())
END

# made WANTED ["WHAT"]: what the lines of Python on standard input call counts as that: "OP CALLS OP CALLS".
# The command that asks for the counts makes a STATX itself.
made() {
    "$OSPROF" ctl "$fs" reset
    (cd "$scratch" && exec /usr/bin/python3 -I -S calls.py)
    "$OSPROF" save "$fs" -o now
    assert_eq "$1" "$(counts now | sed '/^STATX /d' | paste -sd ' ')" "what counts: ${2:-}"
}

finished() {
    kill -INT "$watcher"
    ended 0
}

# not_told: how many calls the page says
not_told() {
    sed -n 's/^# not_told: of_[a-z]* \([0-9]*\).*/\1/p' profile | grep . || echo 0
}

mkdir fs other
mount -t tmpfs tmpfs fs
mount -t tmpfs tmpfs other
fs=$scratch/fs
mkdir -p fs/a/b fs/m other/a/b
touch fs/a/f fs/a/b/f other/a/f other/a/b/f
watched

# ---- Along the name

made "MKDIR 7 OPEN 2 RMDIR 5 UNLINK 3" "absolute and relative names" <<'END'
times(7, os.mkdir, "fs/a/b/none/more")
times(5, os.rmdir, os.path.abspath("fs/a/b/none"))
times(3, os.unlink, "fs//a/./b///none")
times(2, os.open, "fs/none", os.O_RDONLY)
END
made "ACCESS 3 UNLINK 7" '".."' <<'END'
times(3, os.access, "fs/a/b/../../../fs/a/f", 0)
times(7, os.unlink, "other/../fs/a/none")
times(5, os.unlink, "fs/../none")
times(5, os.unlink, "fs/../other/a/none")
times(5, os.access, "fs/..", 0)
END
made "MKDIR 3 RENAME 5 RMDIR 7" "entries of directories" <<'END'
times(3, os.mkdir, "fs/a")
times(5, os.rename, "fs/none", "other/none")
times(7, os.rmdir, "fs/a/")
times(3, os.rename, "other/none", "fs/none")
times(5, os.mkdir, "fs")
END
made "ACCESS 5 CHDIR 1 STAT 8 UNLINK 3" "relative to the current directory" <<'END'
os.chdir("fs/a")
times(5, os.access, "b/f", 0)
times(7, os.stat, "../../other/a/none")
times(3, os.unlink, "../a/none")
times(8, os.stat, "none")
os.chdir("../..")
END
made "CLOSE 1 OPEN 1 STAT 3 UNLINK 5" "relative to a directory that is open" <<'END'
directory = os.open("fs/a", os.O_RDONLY | os.O_DIRECTORY)
times(3, os.stat, "b/none", dir_fd=directory)
times(5, os.unlink, "b/none", dir_fd=directory)
times(7, os.unlink, "../../other/a/none", dir_fd=directory)
os.close(directory)
END

made "CHMOD 7 CLOSE 1 OPEN 1" "what is open, by its link in /proc" <<'END'
inside, outside = os.open("fs/a/f", os.O_PATH), os.open("other/a/f", os.O_PATH)
times(7, os.chmod, f"/proc/self/fd/{inside}", 0o600)
times(5, os.chmod, f"/proc/self/fd/{outside}", 0o600)
times(3, os.chmod, f"/proc/self/fd/{inside}/none", 0o600)
times(3, os.chmod, "/proc/self/fd/77777777", 0o600)
os.close(inside)
END

# ---- Symbolic links

ln -s fs/a to-fs
ln -s "$scratch/other" fs/away
ln -s ../../other/a/f fs/a/file-away
ln -s ../fs/a/f other/file-back
ln -s "$scratch/other/none" fs/dangling
ln -s a fs/again
made "UNLINK 3" "links within names" <<'END'
times(3, os.unlink, "to-fs/b/none")
times(5, os.unlink, "fs/away/a/none")
END
made "ACCESS 7 CHMOD 2 CHOWN 3 READLINK 5 STAT 1 UNLINK 4" "links at their end" <<'END'
times(2, os.chmod, "other/file-back", 0o600)
times(7, os.access, "fs/again/b/f", 0)
times(5, os.access, "fs/a/file-away", 0)
times(6, os.chmod, "fs/a/file-away", 0o600)
times(8, os.access, "fs/dangling", 0)
times(3, os.chown, "fs/a/file-away", 0, 0, follow_symlinks=False)
times(5, os.readlink, "fs/a/file-away")
times(4, os.unlink, "fs/away/")
times(1, os.stat, "fs/dangling", follow_symlinks=False)
END
made "OPEN 3" "a link that is not followed, for the file must be new" <<'END'
times(3, os.open, "fs/a/file-away", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
times(5, os.open, "fs/dangling", os.O_RDONLY)
END

# ---- Calls of later kernels, and with flags that say how a name is looked up

made "CHMOD 5 GETXATTR 12 OPEN 1" "fchmodat2 and getxattrat, where links are followed and where not" <<'END'
times(3, libc.syscall, 452, -100, b"fs/a/f", 0o600, 0)
times(2, libc.syscall, 452, -100, b"fs/a/file-away", 0o600, 0x100)
times(7, libc.syscall, 452, -100, b"fs/a/file-away", 0o600, 0)
times(5, libc.syscall, 464, -100, b"fs/a/f", 0, b"user.none", 0, 16)
times(7, libc.syscall, 464, os.open("fs/a", os.O_PATH), b"", 0x1000, b"user.none", 0, 16)
times(3, libc.syscall, 464, -100, b"other/a/f", 0, b"user.none", 0, 16)
END
made "OPEN 14" "openat2, as others, and where its flags do not end the search" <<'END'
how = lambda flags, resolve: ctypes.byref((ctypes.c_uint64 * 3)(flags, 0, resolve))
times(7, libc.syscall, 437, -100, b"fs/none", how(0, 0), 24)
times(5, libc.syscall, 437, -100, b"fs/none", how(0, 4), 24) # RESOLVE_NO_SYMLINKS
times(2, libc.syscall, 437, -100, b"fs/a/file-away", how(os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0), 24)
times(3, libc.syscall, 437, -100, b"fs/a/file-away/none", how(0, 0), 24)
times(4, libc.syscall, 437, -100, b"fs/again/none", how(0, 4), 24)
times(6, libc.syscall, 437, -100, b"other/none", how(0, 0), 24)
END
if [ "$(uname -m)" = x86_64 ]; then
    made "UTIMENS 3" "utime" <<'END'
times(3, libc.syscall, 132, b"fs/a/f", 0)
times(5, libc.syscall, 132, b"other/a/f", 0)
END
fi

# ---- Directories that are others than before

made "ACCESS 3" "before it is renamed" <<'END'
times(3, os.access, "fs/a/b/f", 0)
END
mv fs/a/b fs/a/c
ln -s "$scratch/other/a/b" fs/a/b
made "ACCESS 5" "a directory that was renamed, and a link in its place" <<'END'
times(7, os.unlink, "fs/a/b/none")
times(3, os.access, "fs/a/b/none/more", 0)
times(5, os.access, "fs/a/c/none/more", 0)
END
rm fs/a/b
mv fs/a/c fs/a/b
mount -t tmpfs over fs/m
made "ACCESS 3" "a mount over a directory" <<'END'
times(7, os.unlink, "fs/m/none")
times(5, os.access, "fs/m/none", 0)
times(3, os.access, "fs/a/none", 0)
END
umount fs/m
made "UNLINK 7" "when it is gone" <<'END'
times(7, os.unlink, "fs/m/none")
END

# ---- Below a mount that has very many others before it

# mount_many FIRST LAST
mount_many() {
    /usr/bin/python3 -I -S -c '
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
for number in range(int(sys.argv[1]), int(sys.argv[2]) + 1):
    os.mkdir(f"many/{number}")
    if libc.mount(b"many", f"many/{number}".encode(), b"tmpfs", 0, None) < 0:
        raise OSError(ctypes.get_errno(), "mount")' "$1" "$2" || fail "not all can be mounted"
}
mkdir many
mount -t tmpfs many many
mount_many 1 300
mkdir many/last
mount --bind fs many/last
made "ACCESS 5 CHMOD 2 MKDIR 3 UNLINK 7" "the last of 301 mounts in a mount" <<'END'
times(7, os.unlink, "many/last/a/none")
times(5, os.access, "many/last/a/f", 0)
times(3, os.mkdir, "many/last/a")
times(2, os.chmod, "many/last/a/f", 0o600)
times(11, os.unlink, "many/300/none")
END
umount many/last
made "UNLINK 2" "when it is gone" <<'END'
times(7, os.unlink, "many/last/none")
times(2, os.unlink, "fs/none")
END
mount -t tmpfs last many/last
made "" "when another one is mounted there" <<'END'
times(7, os.unlink, "many/last/none")
END
mount --bind fs many/last
made "UNLINK 7" "when it is mounted over that" <<'END'
times(7, os.unlink, "many/last/a/none")
END

# A name that leads through so many that the CPU would be taken for long: the mounts found so far are remembered for the next.
mount_many 301 5600
made "UNLINK 7" "through 20 of 5,600 mounts" <<'END'
times(8, os.unlink, "many/" + "".join(f"{number}/../" for number in range(5581, 5601)) + "last/a/none")
END
umount -l many

# ---- In another mount namespace

mkfifo ready
# shellcheck disable=SC2016 # for the shell inside
unshare -m --propagation private sh -c 'mount -t tmpfs elsewhere "$1/fs/m" && mount --bind "$1/fs/a" "$1/other/a" && echo >"$1/ready" &&
    exec sleep 600' sh "$scratch" &
others=("$!")
read -r _ <ready
made "UNLINK 7" "here, where another namespace has a mount" <<'END'
times(7, os.unlink, "fs/m/none")
times(5, os.unlink, "other/a/none")
END
made "UNLINK 5" "in that namespace" <<END
times(1, libc.setns, os.open("/proc/${others[0]}/ns/mnt", os.O_RDONLY), 0)
os.chdir("$scratch")
times(7, os.unlink, "fs/m/none")
times(5, os.unlink, "other/a/none")
END
kill "${others[0]}"
wait "${others[0]}" 2>/dev/null || true
others=()

# ---- Bind mounts, other roots

mkdir bound
mount --bind fs/a bound
made "ACCESS 3 UNLINK 7" "a bind mount of a directory" <<'END'
times(7, os.unlink, "bound/b/none")
times(3, os.access, "bound/b/../f", 0)
times(5, os.access, "bound/../other/a/f", 0)
END
mount -t tmpfs over bound
made "" "hidden by another mount" <<'END'
times(7, os.unlink, "bound/b/none")
END
umount bound
umount bound
made "ACCESS 3 CHDIR 1 MKDIR 2 UNLINK 7" "another root, out of which no name leads" <<'END'
os.chroot("fs/a")
times(7, os.unlink, "/b/none")
times(3, os.access, "/../../b/../f", 0)
times(2, os.mkdir, "/b/../b")
os.chdir("/")
END
made "" "a root elsewhere with the same names" <<'END'
os.chroot("other")
times(7, os.unlink, "/a/none")
times(3, os.access, "/a/b/none", 0)
END
finished

# ---- What is not told

watched --pid $$
made "READLINK 5" "what the kernel alone can resolve" <<'END'
os.chdir("other")
times(11, os.unlink, "/proc/self/cwd/../fs/none")
times(13, libc.syscall, 437, -100, b"../fs/none", ctypes.byref((ctypes.c_uint64 * 3)(0, 0, 0x10)), 24) # RESOLVE_IN_ROOT
times(7, os.unlink, "../fs/" + "./" * 400 + "none")
times(3, os.unlink, "../fs/" + "./" * 600 + "none")
times(5, os.readlink, "../fs/again")
over = ctypes.create_string_buffer(b"../fs/again", 100)
times(1, libc.readlink, over, over, 100)
END
finished
[ "$(not_told)" -ge 28 ] || fail "not told are $(not_told) calls, of at least 28 that cannot be"
watched --pid $$
finished
was=$(not_told)
[ "$was" -lt 28 ] || fail "of no calls $was are not told"
umount fs

# ---- Files that are on a disk; names below what is mounted

truncate -s 20M image
mkfs.ext4 -q image
mount -o loop image fs
mkdir -p fs/sub/in fs/beside
touch fs/sub/in/f fs/beside/g
ln -s ../fs/sub/../sub/in/f fs/short
ln -s "$(printf '../fs/sub/in/%s' "$(printf './%.0s' {1..40})f")" fs/long
watched
made "ACCESS 23" "names of no file, again and again" <<'END'
times(23, os.access, "fs/sub/none", 0)
END
made "ACCESS 3 CHMOD 2" "links that the kernel has at hand, and that it has not" <<'END'
times(3, os.access, "fs/short", 0)
times(2, os.chmod, "fs/short", 0o600)
times(5, os.access, "fs/long", 0)
END
finished
mkdir part
mount --bind fs/sub part
fs=$scratch/part watched
fs=$scratch/part made "CHMOD 10 UNLINK 3" "all of the file system, of which a part is mounted" <<'END'
times(7, os.chmod, "part/in/f", 0o600)
times(1, os.chmod, "fs/beside/g", 0o600)
times(2, os.chmod, "fs/sub", 0o700)
times(3, os.unlink, "fs/none")
END
finished
"$OSPROF" show --by file profile >files
for path in /in/f / outside:/beside/g outside:/; do
    awk '{ print $NF }' files | grep -qxF "$path" || fail "not among the files: $path: $(<files)"
done
expect 0 show --by file --of /in/f profile
grep -Eq '^CHMOD +7 ' out || fail "other calls on /in/f: $(<out)"
umount part
umount fs

# ---- Overlayfs

mkdir -p layers/lower/a layers/upper layers/work
touch layers/lower/a/f
if mount -t overlay overlay -o lowerdir=layers/lower,upperdir=layers/upper,workdir=layers/work fs 2>why; then
    watched
    made "ACCESS 3 CHMOD 2 STAT 8 UNLINK 7" "overlayfs, and not what is below" <<'END'
times(7, os.unlink, "fs/a/none")
times(3, os.access, "fs/a/f", 0)
times(5, os.stat, "fs/a/none")
times(3, os.stat, "fs/a/f")
times(2, os.chmod, "fs/a/f", 0o600)
times(11, os.unlink, "layers/lower/a/none")
times(13, os.stat, "layers/lower/a/f")
END
    finished
    umount fs
else
    echo "no overlayfs: $(<why)"
fi

# ---- Subvolumes

if type -P mkfs.btrfs btrfs >/dev/null && truncate -s 120M volume && mkfs.btrfs -q volume >why 2>&1 && mount -o loop volume fs 2>why; then
    btrfs -q subvolume create fs/@home
    btrfs -q subvolume create fs/@home/inner
    touch fs/@home/f fs/@home/inner/g fs/h
    mkdir at
    mount -o subvol=@home "$(findmnt -no SOURCE fs)" at
    fs=$scratch/at watched
    fs=$scratch/at made "ACCESS 5 CHMOD 3 STAT 9 UNLINK 7" "subvolumes" <<'END'
times(7, os.unlink, "at/inner/none")
times(5, os.access, "at/f", 0)
times(4, os.stat, "at/inner/g")
times(3, os.stat, "fs/h")
times(2, os.stat, "at/inner/none")
times(3, os.chmod, "at/inner/g", 0o600)
times(5, os.stat, "other/a/f")
END
    finished
    "$OSPROF" show --by file profile >files
    for path in /inner/g /f /inner outside:/h; do
        awk '{ print $NF }' files | grep -qxF "$path" || fail "not among the files: $path: $(<files)"
    done
    umount at
    umount fs
else
    echo "no btrfs: $(cat why 2>/dev/null)"
fi
