#!/bin/bash
# A lower file system without POSIX ACLs or extended attributes serves other users as it does below: the kernel asks
# for ACLs before it lets anybody in.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need setpriv getfacl setfacl

fill() {
    mkdir -m 1777 "$lower/everybodys"
    mkdir -m 0700 "$lower/private"
    echo text | tee "$lower/readable" "$lower/private/file" >"$lower/secret"
    chmod 0600 "$lower/secret"
}

# What another user may and may not, below and above.
use() {
    cd "$1"
    cat readable
    cat secret
    cat private/file
    ls private
    echo own >everybodys/own && cat everybodys/own
    mkdir everybodys/directory && rmdir everybodys/directory
    getfacl -n everybodys/own
    setfacl -m u:5:r everybodys/own
    rm everybodys/own
} 2>&1

compare() {
    local options
    for options in allow_other allow_other,no_default_permissions; do
        mount_osproffs -o "$options" "$lower" "$mnt"
        (as_user bash -c "$(declare -f use); use $lower" || true) >"$scratch/below"
        (as_user bash -c "$(declare -f use); use $mnt" || true) >"$scratch/above"
        grep -q '^own$' "$scratch/below" || fail "the commands did not run: $(cat "$scratch/below")"
        diff "$scratch/below" "$scratch/above" >&2 || fail "another user's results differ on $1 ($options)"
        unmount_osproffs "$mnt"
    done
}

mount -t ramfs -o mode=0755 ramfs "$lower"
fill
compare ramfs
umount "$lower"

if have mkfs.ext4; then
    truncate -s 16M "$scratch/image"
    mkfs.ext4 -q "$scratch/image"
    if mount -o loop,noacl "$scratch/image" "$lower" 2>/dev/null; then
        fill
        compare "ext4 without ACLs"
        umount "$lower"
    fi
fi
