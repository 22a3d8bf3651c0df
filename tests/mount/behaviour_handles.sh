#!/bin/bash
# File handles through the mount (name_to_handle_at, open_by_handle_at): they lead to what they were taken of, after the
# kernel has forgotten it, and it has moved, here or below; and never to a file that came later.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/behaviour_lib.sh"

need_root
need mkfs.ext4

on tmpfs compare allow_other "" handles
on ext4 compare allow_other,cache=none "" handles
on ext4 compare allow_other,no_default_permissions "" handles

# Those of an earlier mount are of no use: they lead to no other file either.
export KEPT=$scratch/kept
mount_osproffs -o allow_other "$lower" "$mnt"
run_topics "$lower/kept" "$mnt/kept" "" 0 handles_kept >/dev/null
remount_osproffs -o allow_other "$lower" "$mnt"
run_topics "$lower/old" "$mnt/old" "" 0 handles_old >"$scratch/old"
assert_eq 20 "$(grep -c '^open_it.* = -1 ESTALE$' "$scratch/old")" "stale handles: $(sort "$scratch/old" | uniq -c)"
unmount_osproffs "$mnt"
end_comparison
