#!/bin/bash
# Who asks matters as on the lower file system: the same script is run by several users below and above the mount, its
# outputs compared; a few results are also stated outright, as both could be wrong.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need setpriv setfacl getfacl
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

# What each of them tries, in the directory that root prepared.
cat >"$scratch/script" <<'SCRIPT'
try() { "$@" 2>&1 | sed "s|^[^:]*: ||"; echo "$*: ${PIPESTATUS[0]}"; }
show() { stat -c '%n %F %a %u:%g %h' "$@" 2>&1; }
put() { echo text >"$1"; }
for place in . sticky setgid default-acl group-only private; do
    for mask in 022 027 000; do
        umask "$mask"
        try put "$place/file-$mask"
        try mkdir "$place/directory-$mask"
        try mkfifo "$place/fifo-$mask"
        try ln -s target "$place/symlink-$mask"
        try ln "$place/file-$mask" "$place/link-$mask"
        show "$place"/{file,directory,fifo,symlink,link}-"$mask"
    done
done
getfacl -n default-acl/* 2>&1
try cat readable
try cat for-group
try cat for-acl
try cat private/file
try ls private
try put readable
try put for-acl
try rm -f sticky/roots
try mv sticky/roots sticky/moved
try chmod 0777 readable
try chown "$(id -u)" readable
try chgrp 7777 file-022
try chgrp 8888 file-022
try touch -d @5 readable
try truncate -s 1 readable
try setfattr -n user.x -v y readable
try setfattr -n trusted.x -v y file-022
try setfacl -m u:5:r file-022
try mknod device c 1 3
for file in readable for-group for-acl private private/file set-uid; do
    for mode in r w x; do
        test "-$mode" "$file"; echo "test -$mode $file: $?"
    done
done
try ./set-uid -un -r
try ./set-uid -u
try ./set-gid -g
chmod 2755 directory-022 && show directory-022
chmod 6755 file-022 && show file-022
echo more >>file-022; show file-022
try rm -rf sticky/file-022 group-only/file-022 setgid/directory-022
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
        (cd "$place" && exec_as "$1" "$2" "$3" bash "$scratch/script") >"$scratch/$(basename "$place")" 2>&1 || true
    done
    printed=$scratch/above-$rounds
    [ "$(wc -l <"$printed")" -gt 150 ] || fail "the script did not run: $(cat "$printed")"
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
grep -q '^4321$' "$printed" || fail "a set-uid program did not run as its owner"
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
