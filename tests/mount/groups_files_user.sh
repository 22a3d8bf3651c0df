#!/bin/bash
# Files of a mount of an ordinary user, which holds what is known by descriptors: a number that is free is the next
# file's at once, and none is taken for another.
. "$(dirname "$0")/lib.sh"
need_user_mounts "$@"
. "$tests_dir/helpers.sh"

chown -R "$user_uid:$user_gid" "$lower" "$mnt"
mount_osproffs_as_user -o cache=none,by=file "$lower" "$mnt"
for i in {1..5}; do
    as_user dd if=/dev/zero of="$mnt/short" bs=1 count="$i" status=none
    as_user rm "$mnt/short"
done
as_user dd if=/dev/zero of="$mnt/long" bs=1 count=11 status=none
as_user cat "$mnt/.osprof" >"$scratch/profile"
writes=$(awk '/^# / { found = $2 == "file:" && $4 == "/long" } found && $1 == "OP_WRITE" { print $2 }' "$scratch/profile")
assert_eq 11 "$writes" "writes to a file that may have another's number"
writes=$(awk '/^# file: / { groups = 1 } groups && $1 == "OP_WRITE" { sum += $2 } END { print sum }' "$scratch/profile")
assert_eq 26 "$writes" "writes to all files"
unmount_osproffs "$mnt"
