#!/bin/bash
# rsync copies a tree with everything in it into the mount and back out of it, and then finds nothing left to do.
. "$(dirname "$0")/lib.sh"
need rsync

copy() {
    rsync -aHAXS --numeric-ids "$@"
}

make_tree "$scratch/reference"
mount_osproffs "$lower" "$mnt"
copy "$scratch/reference/" "$mnt/in/"
copy "$mnt/in/" "$scratch/out/"
assert_eq "" "$(copy --checksum --dry-run --itemize-changes --delete "$scratch/reference/" "$mnt/in/")" \
    "differences that rsync sees"
assert_same_view "$lower" "$mnt"

rm "$mnt/in/many/"[1-9] # restored by the next run, in the places that the removed ones had
copy --delete "$scratch/reference/" "$mnt/in/"
unmount_osproffs "$mnt"
assert_profiled CREATE WRITE READ RENAME LINK SYMLINK MKNOD SETXATTR GETXATTR LISTXATTR

assert_same_tree "$scratch/reference" "$lower/in"
assert_same_tree "$scratch/reference" "$scratch/out"
