#!/bin/bash
# Who asks matters as on the lower file system: the same script is run by several users below and above the mount, its
# outputs compared; a few results are also stated outright, as both could be wrong.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need setpriv setfacl getfacl python3
# Execution with set-id bits needs a file system that honours them.
! findmnt -no OPTIONS -T "$scratch" | grep -qw nosuid || skip "$scratch does not honour set-id bits"

# prepare DIR: what root leaves for the others
prepare() {
    mkdir -m 0777 "$1"
    mkdir -m 1777 "$1/sticky"
    mkdir -m 2777 "$1/setgid"
    mkdir -m 0770 "$1/group-only"
    mkdir -m 0700 "$1/private"
    mkdir -m 0777 "$1/default-acl"
    chgrp 7777 "$1/setgid" "$1/group-only"
    echo roots >"$1/sticky/roots"
    echo private >"$1/private/file"
    echo readable >"$1/readable"
    install -m 0640 -g 7777 "$1/readable" "$1/for-group"
    install -m 0600 "$1/readable" "$1/for-acl"
    setfacl -m "u:$user_uid:rw" "$1/for-acl"
    setfacl -d -m "u:$user_uid:rwx,g:7777:rx,o:-" "$1/default-acl"
    install -m 4755 /usr/bin/id "$1/set-uid"
    chown 4321 "$1/set-uid"
    chmod 4755 "$1/set-uid"
    install -m 0755 -g 7777 /usr/bin/id "$1/set-gid"
    chmod 2755 "$1/set-gid"
}

# What each of them tries, in the directory that root prepared: each call's result is a line. One process makes them all,
# except what only programs show.
cat >"$scratch/script" <<'SCRIPT'
import errno
import os
import stat
import subprocess


def attempt(text, call, *arguments, **options):
    try:
        found = call(*arguments, **options)
        print(f"{text}: {'OK' if found is None else found}")
    except OSError as error:
        print(f"{text}: {errno.errorcode[error.errno]}")


def put(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666))
    with open(path, "w") as file:
        file.write("text\n")


def get(path):
    with open(path) as file:
        return file.read()


def more(path):
    with open(path, "a") as file:
        file.write("more\n")


def show(path):
    st = os.lstat(path)
    return f"{stat.filemode(st.st_mode)} {st.st_uid}:{st.st_gid} {st.st_nlink}"


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return f"{done.stdout} status {done.returncode}"


for place in (".", "sticky", "setgid", "default-acl", "group-only", "private"):
    for mask in (0o022, 0o027, 0o000):
        os.umask(mask)
        names = {kind: f"{place}/{kind}-{mask:03o}" for kind in ("file", "directory", "fifo", "symlink", "link")}
        attempt(f"put {names['file']}", put, names["file"])
        attempt(f"mkdir {names['directory']}", os.mkdir, names["directory"])
        attempt(f"mkfifo {names['fifo']}", os.mkfifo, names["fifo"])
        attempt(f"symlink {names['symlink']}", os.symlink, "target", names["symlink"])
        attempt(f"link {names['link']}", os.link, names["file"], names["link"])
        for name in names.values():
            attempt(f"stat {name}", show, name)
print(run("sh", "-c", "getfacl -n default-acl/*"))
for name in ("readable", "for-group", "for-acl", "private/file"):
    attempt(f"read {name}", get, name)
attempt("list private", os.listdir, "private")
attempt("put readable", put, "readable")
attempt("put for-acl", put, "for-acl")
attempt("unlink sticky/roots", os.unlink, "sticky/roots")
attempt("rename sticky/roots", os.rename, "sticky/roots", "sticky/moved")
attempt("chmod readable", os.chmod, "readable", 0o777)
attempt("chown readable", os.chown, "readable", os.geteuid(), -1)
attempt("chgrp readable", os.chown, "readable", -1, 7777)
attempt("chgrp file-022", os.chown, "file-022", -1, 7777)
attempt("chgrp file-022 to another", os.chown, "file-022", -1, 8888)
attempt("utimens readable", os.utime, "readable", (5, 5))
attempt("truncate readable", os.truncate, "readable", 1)
attempt("setxattr readable", os.setxattr, "readable", "user.x", b"y")
attempt("setxattr file-022", os.setxattr, "file-022", "trusted.x", b"y")
print(run("setfacl", "-m", "u:5:r", "file-022"))
attempt("mknod device", os.mknod, "device", stat.S_IFCHR | 0o600, os.makedev(1, 3))
for name in ("readable", "for-group", "for-acl", "private", "private/file", "set-uid"):
    for how in (os.R_OK, os.W_OK, os.X_OK):
        attempt(f"access {how} {name}", os.access, name, how, effective_ids=True)
for command in (("./set-uid", "-un", "-r"), ("./set-uid", "-u"), ("./set-gid", "-g")):
    try:
        print(*command, run(*command))
    except OSError as error:
        print(*command, errno.errorcode[error.errno])
attempt("chmod directory-022", os.chmod, "directory-022", 0o2755)
attempt("stat directory-022", show, "directory-022")
attempt("chmod file-022", os.chmod, "file-022", 0o6755)
attempt("stat file-022", show, "file-022")
attempt("append file-022", more, "file-022")
attempt("stat file-022", show, "file-022")
attempt("unlink sticky/file-022", os.unlink, "sticky/file-022")
attempt("unlink group-only/file-022", os.unlink, "group-only/file-022")
attempt("rmdir setgid/directory-022", os.rmdir, "setgid/directory-022")
SCRIPT

# compare UID GID GROUPS: in a directory of their own each time
rounds=0
compare() {
    local place
    rounds=$((rounds + 1))
    below=$lower/below-$rounds above=$lower/above-$rounds
    prepare "$below"
    prepare "$above"
    for place in "$below" "$mnt/above-$rounds"; do
        (cd "$place" && exec_as "$1" "$2" "$3" python3 "$scratch/script") >"$scratch/$(basename "$place")" 2>&1 || true
    done
    printed=$scratch/above-$rounds
    ! grep -q 'Traceback' "$printed" || fail "the script did not run: $(cat "$printed")"
    [ "$(wc -l <"$printed")" -gt 200 ] || fail "the script did not run: $(cat "$printed")"
    diff "$scratch/below-$rounds" "$printed" >&2 || fail "results of user $1, group $2, groups '$3' differ"
    diff <(owners "$below") <(owners "$above") >&2 || fail "owners or modes differ"
}

owners() {
    (cd "$1" && find . -printf '%p %y %m %U:%G\n' | sort)
}

# Set-id bits go when somebody writes or truncates who may not set them, be it root; a capability of the file always.
cat >"$scratch/set-id" <<'SCRIPT'
for how in "$@"; do
    cp /usr/bin/true "$how"
    chmod 6777 "$how"
    setcap cap_net_raw+ep "$how" 2>&1
    case $how in
    write) printf 'x' | dd of="$how" conv=notrunc status=none ;;
    truncate) truncate -s 5 "$how" ;;
    append) printf 'x' >>"$how" ;;
    punch) fallocate -p -o 0 -l 4096 "$how" ;;
    esac
    stat -c '%n %a' "$how"
    getcap "$how"
done
SCRIPT
compare_set_id() {
    local place
    for place in "$lower/set-id-below" "$mnt/set-id-above"; do
        mkdir -m 0777 "$place"
        (cd "$place" && "$@" bash "$scratch/set-id" "${ways[@]}") >"$scratch/$(basename "$place")" 2>&1 || true
    done
    grep -q 'append 777' "$scratch/set-id-below" || [ "$1" = env ] || fail "set-id bits are kept below"
    diff "$scratch/set-id-below" "$scratch/set-id-above" >&2 || fail "set-id bits after writing as: $*"
    rm -r "$lower"/set-id-*
}

mount_osproffs -o allow_other "$lower" "$mnt"
ways=(write truncate append punch)
compare_set_id env
compare_set_id exec_as "$user_uid" "$user_gid" ""
ways=(write truncate append) # the kernel does not say who punches holes
compare_set_id setpriv --bounding-set=-fsetid
compare "$user_uid" "$user_gid" ""
assert_eq "$user_uid:$user_gid" "$(stat -c %u:%g "$above/file-022")" "owner of a new file"
assert_eq "$user_uid:7777" "$(stat -c %u:%g "$above/setgid/file-022")" "in a set-gid directory"
grep -q '^\./set-uid -u 4321$' "$printed" || fail "a set-uid program did not run as its owner"
[ ! -e "$above/group-only/file-000" ] || fail "a stranger wrote to a directory of a group"
compare "$user_uid" "$user_gid" 7777
[ -e "$above/group-only/file-000" ] || fail "a supplementary group counts for nothing"
compare 1234 7777 8888,9999
compare 0 0 0
compare 0 "$user_gid" ""
unmount_osproffs "$mnt"

# The same when it is the kernel that writes.
if "$OSPROFFS" -V | grep -q +passthrough; then
    mount_osproffs -o allow_other,data=passthrough "$lower" "$mnt"
    ways=(write truncate append punch)
    compare_set_id env
    compare_set_id exec_as "$user_uid" "$user_gid" ""
    unmount_osproffs "$mnt"
fi

# The same when it is not the kernel that checks.
mount_osproffs -o allow_other,no_default_permissions,cache=none "$lower" "$mnt"
compare "$user_uid" "$user_gid" ""
compare "$user_uid" "$user_gid" 7777
compare 0 0 0
unmount_osproffs "$mnt"

# Without allow_other the mount is its owner's alone, root or not.
mount_osproffs "$lower" "$mnt"
assert_refused 'Permission denied' as_user ls "$mnt"
unmount_osproffs "$mnt"
