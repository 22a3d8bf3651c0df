#!/bin/bash
# The mount's options noatime and nodiratime hold below: reading through the mount leaves access times as they were, and
# without them moves those that reading below would.
. "$(dirname "$0")/lib.sh"

need_root
mkdir "$scratch/disk"
mount -t tmpfs -o strictatime,mode=0755 tmpfs "$scratch/disk" # each reading moves times there
lower=$scratch/disk

# prepare: files and directories that were read long ago
prepare() {
    rm -rf "${lower:?}"/*
    mkdir "$lower"/{listed,searched}
    seq 100000 >"$lower/read"
    echo owned >"$lower/owned"
    chown "$user_uid" "$lower/owned"
    cp /usr/bin/true "$lower/executed"
    touch -a -d @7 "$lower"/*
}

# use: reads everything, also what was just made
use() {
    cat "$mnt/read" "$mnt/owned" >/dev/null
    ! kernel_is_from 6.6 || # since then tmpfs has direct I/O
        dd if="$mnt/read" iflag=direct bs=4096 count=1 status=none >/dev/null
    "$mnt/executed"
    ls "$mnt/listed"
    (exec 3<>"$mnt/made" && echo line >&3 && touch -a -d @7 "$mnt/made" && cat "$mnt/made" >/dev/null && cat <&3)
}

# assert_moved EXPECTED NAME...: "yes" or "no"
assert_moved() {
    local expected=$1 name
    shift
    for name; do
        [ "$(stat -c %X "$lower/$name")" = 7 ] && moved=no || moved=yes
        assert_eq "$expected" "$moved" "access time of $name moved with $options"
        assert_eq "$(stat -c %X "$lower/$name")" "$(stat -c %X "$mnt/$name")" "access time shown of $name with $options"
    done
}

# with OPTIONS
with() {
    options=$1
    prepare
    mount_osproffs -o "$options" "$lower" "$mnt"
    use
}

with allow_other
assert_moved yes read owned executed listed made
unmount_osproffs "$mnt"

with allow_other,noatime
assert_moved no read owned executed listed made searched
grep -q " $mnt .*noatime" /proc/self/mounts || fail "the kernel does not know of noatime"
as_user cat "$mnt/owned" "$mnt/read" >/dev/null
assert_moved no owned read
unmount_osproffs "$mnt"

with allow_other,noatime,no_default_permissions
assert_moved no read owned executed listed made
as_user cat "$mnt/owned" "$mnt/read" >/dev/null
assert_moved no owned read
unmount_osproffs "$mnt"

with nodiratime
assert_moved no listed
assert_moved yes read made
unmount_osproffs "$mnt"

# The last one wins.
with noatime,nodiratime,atime,diratime
assert_moved yes read listed
unmount_osproffs "$mnt"
