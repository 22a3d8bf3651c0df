#!/bin/bash
# A tree with everything in it is made through the mount, archived through it and unpacked through it.
. "$(dirname "$0")/lib.sh"
need tar

roundtrip() {
    tar -C "$mnt" --format=posix --sparse --acls --xattrs --xattrs-include='*' -cf made.tar made
    mkdir "$mnt/unpacked"
    tar -C "$mnt/unpacked" --numeric-owner -p --acls --xattrs --xattrs-include='*' -xf made.tar
}

make_tree "$scratch/reference"
mount_osproffs "$lower" "$mnt"
make_tree "$mnt/made"
roundtrip
assert_same_view "$lower" "$mnt"
unmount_osproffs "$mnt"
assert_profiled CREATE WRITE READ LINK SYMLINK MKNOD SETXATTR GETXATTR LISTXATTR READLINK

assert_same_tree "$scratch/reference" "$lower/made"
assert_same_tree "$lower/made" "$lower/unpacked/made"
blocks=$(stat -c %b "$lower/unpacked/made/holes")
[ "$blocks" -lt 4096 ] || fail "the holes of a 64 MiB file were filled: $blocks blocks"
