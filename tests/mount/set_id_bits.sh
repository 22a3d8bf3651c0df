#!/bin/bash
# Set-id bits and capabilities of files: who gives a file the owner that it has takes them away or is refused, and who
# writes takes them away, through the mount as below it, with every cache and however permissions are checked.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need setpriv setcap python3

# fill DIR: a file for each call that may change something
fill() {
    local mode
    rm -rf "${1:?}"/*
    for mode in 4755 2755 2744 6777 0644; do
        cp /usr/bin/true "$1/program-$mode"
        chmod "$mode" "$1/program-$mode"
    done
    cp /usr/bin/true "$1/capable-0777" && chmod 0777 "$1/capable-0777"
    setcap cap_net_raw+ep "$1/capable-0777"
    for mode in write fallocate truncate copy; do
        cp /usr/bin/true "$1/$mode-6777"
        chmod 6777 "$1/$mode-6777"
    done
    mkdir -m 2755 "$1/directory"
    ln -s program-4755 "$1/link"
}

# What comes of each call, and the modes afterwards.
calls='
import errno, os, sys
os.chdir(sys.argv[1])

def say(name, call, *arguments):
    try:
        call(*arguments)
        outcome = "done"
    except OSError as error:
        outcome = errno.errorcode[error.errno]
    print(name, outcome)

def opened(name, call, flags=os.O_WRONLY):
    fd = os.open(name, flags)
    say(name, call, fd)
    os.close(fd)

for name in sorted(os.listdir(".")):
    if name.startswith(("program", "capable", "directory", "link")):
        say("lchown " + name, os.lchown, name, -1, -1)
opened("program-2755", lambda fd: os.fchown(fd, -1, -1), os.O_RDONLY)
opened("write-6777", lambda fd: os.write(fd, b"text"))
opened("fallocate-6777", lambda fd: os.posix_fallocate(fd, 0, 100000))
opened("truncate-6777", lambda fd: os.ftruncate(fd, 7))
with open("program-0644", "rb") as source:
    opened("copy-6777", lambda fd: os.copy_file_range(source.fileno(), fd, 1000))
for name in sorted(os.listdir(".")):
    attr = os.lstat(name)
    capability = "security.capability" in os.listxattr(name, follow_symlinks=False)
    print(name, oct(attr.st_mode), attr.st_uid, attr.st_gid, capability)
'

# compare AS...: the same calls by somebody in a directory below the mount and in one that is seen through it
compare() {
    local place
    for place in below above; do
        fill "$lower/$place"
    done
    "$@" python3 -c "$calls" "$lower/below" >"$scratch/below"
    "$@" python3 -c "$calls" "$mnt/above" >"$scratch/above"
    diff "$scratch/below" "$scratch/above" >&2 || fail "not as below: $*, $options"
}

refuses_others() {
    grep -qx 'lchown program-4755 EPERM' "$scratch/below" || fail "not refused below"
    grep -qx 'write-6777 0o100777 0 0 False' "$scratch/below" || fail "a write leaves the bits below"
}

# The limit that docs/internals/mounts.md names: it may be the announcement of a write then.
does_nothing_while_open() {
    local writer
    exec {writer}>>"$mnt/above/program-4755"
    as_user python3 -c 'import os, sys; os.chown(sys.argv[1], -1, -1)' "$mnt/above/program-4755"
    assert_eq 4755 "$(stat -c %a "$mnt/above/program-4755")" "while it is open for writing"
    exec {writer}>&-
    wait_until 20 refuses_chown || fail "still not refused when it is closed"
    assert_eq 4755 "$(stat -c %a "$mnt/above/program-4755")" "after a refusal"
}

refuses_chown() {
    ! as_user python3 -c 'import os, sys; os.chown(sys.argv[1], -1, -1)' "$mnt/above/program-4755" 2>"$scratch/err"
}

mkdir "$lower/below" "$lower/above"
for options in default_permissions default_permissions,cache=none default_permissions,cache=always \
    no_default_permissions no_default_permissions,cache=none; do
    mount_osproffs -o "allow_other,$options" "$lower" "$mnt"
    compare as_user
    refuses_others
    does_nothing_while_open
    unmount_osproffs "$mnt" # cache=always keeps what it knows of files that are replaced below
    mount_osproffs -o "allow_other,$options" "$lower" "$mnt"
    compare env
    unmount_osproffs "$mnt"
done
