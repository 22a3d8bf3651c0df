#!/bin/bash
# Which files calls of osprof attach are on, where one has the inode number that another one had before, or has too: on FUSE,
# overlayfs and ext4; files that are deleted, renamed, of several names, and read from the disk again.
# shellcheck disable=SC2119 # "watched" takes options of osprof attach
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"

need_root
need_fuse
need python3 mkfs.ext4

before_cleanup() {
    kill_watchers
    unmount_below "$scratch"
}

finished() {
    kill -INT "$watcher"
    ended 0
    "$OSPROF" show --check profile >&2 || fail "osprof show --check finds fault"
}

cat >calls.py <<'END'
import os, shutil, sys
os.chdir(sys.argv[1])
def writes(name, count):
    fd = os.open(name, os.O_CREAT | os.O_RDWR, 0o600)
    for _ in range(count):
        os.pwrite(fd, b"1", 0)
    return fd
exec(sys.stdin.read())
END

# written NAME CALLS [NAME CALLS]...: what the lines of Python on standard input write, file by file
written() {
    watched
    "$PYTHON" -I -S calls.py "$fs"
    finished
    while [ $# -gt 0 ]; do
        assert_eq "$2" "$(of_group file "$1" PWRITE)" "PWRITEs of $1, $what"
        shift 2
    done
}
PYTHON=$(type -P python3)

# numbers_again: files of which the next one has the inode number that the last one had
numbers_again() {
    written /part-0 101 /part-1 102 /part-2 103 /part-3 104 /database 1009 <<'END'
for i in range(4):
    os.close(writes("part-%d" % i, 101 + i))
    os.unlink("part-%d" % i)
os.close(writes("database", 1009))
os.unlink("database")
END
    written /a-0/sub/data 101 /a-1/sub/data 102 /a-2/sub/data 103 <<'END'
for i in range(3):
    os.makedirs("a-%d/sub" % i)
    os.close(writes("a-%d/sub/data" % i, 101 + i))
    shutil.rmtree("a-%d" % i)
END
    assert_eq "101 103" "$(of_group directory /a-0/sub PWRITE) $(of_group directory /a-2/sub PWRITE)" "PWRITEs by directory, $what"
}

# names_too: which are several of one file, one after the other or at the same time
names_too() {
    written /old 101 /new 103 /b/new 107 /link 109 <<'END'
os.mkdir("b")
os.close(writes("old", 101))
os.rename("old", "new")
os.close(writes("new", 103))
os.rename("new", "b/new")
os.close(writes("b/new", 107))
os.link("b/new", "link")
os.close(writes("link", 109))
END
    rm -r "$fs/b" "$fs/link"
}

# read_again: an inode that the kernel has forgotten meanwhile is the same file
read_again() {
    mkdir "$fs/deep"
    echo >"$fs/deep/file"
    watched
    for _ in 1 2 3; do
        "$PYTHON" -I -S calls.py "$fs" <<<'os.close(writes("deep/file", 101))'
        sync
        drop_caches 2
    done
    finished
    assert_eq "303 1" "$(of_group file /deep/file PWRITE) $(grep -c '^# file: .*/deep/file$' profile)" "PWRITEs, and groups, $what"
    rm -r "$fs/deep"
}

# ---- ext4, whose inodes have generations

mkdir ext4
truncate -s 32M image
mkfs.ext4 -q image
mount -o loop image ext4
fs=$scratch/ext4 what="on ext4"
numbers_again
read_again

# ---- overlayfs

mkdir ext4/lower ext4/upper ext4/work fs
if mount -t overlay overlay -o lowerdir=ext4/lower,upperdir=ext4/upper,workdir=ext4/work fs 2>why; then
    fs=$scratch/fs what="on overlayfs"
    numbers_again
    names_too
    read_again
    umount fs
else
    echo "no overlayfs: $(<why)"
fi

# ---- FUSE

type -P bindfs >/dev/null || { echo "no bindfs" && exit 0; }
mkdir ext4/all
bindfs ext4/all fs
fs=$scratch/fs what="on FUSE"
numbers_again
names_too
read_again

# A slow call is on the file that is there, not on one that was deleted before.
cat >slow.py <<'END'
import os, subprocess, sys, threading
fd = os.open("old", os.O_CREAT | os.O_RDWR)
os.close(fd)
os.unlink("old")
fd = writes("database", 0)
subprocess.run(["fsfreeze", "-f", "../ext4"], check=True)
threading.Timer(.5, lambda: subprocess.run(["fsfreeze", "-u", "../ext4"])).start()
os.pwrite(fd, b"1", 0)
END
watched --slow 100ms --slowlog slow.log
"$PYTHON" -I calls.py "$fs" <slow.py
finished
"$PYTHON" -c 'import json, os, sys
call, = [call for call in map(json.loads, open("slow.log")) if call["op"] == "PWRITE"]
assert (call["path"], call["inode"]) == ("/database", os.stat(sys.argv[1]).st_ino), call' "$fs/database" >&2 ||
    fail "the log of slow calls is not right: $(<slow.log)"
