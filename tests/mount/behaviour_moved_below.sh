#!/bin/bash
# Files and directories that are moved below while they are open, or somebody's working directory: what is open goes on, and
# names are where they are below. By handle, and by descriptor, where there are no handles.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/behaviour_lib.sh"

need_root

# The kernel does not ask where the parent of a working directory is: until that is looked up where it is now, its
# parent is the one it had.
compare_parents() {
    mount_osproffs -o "$1" "$lower" "$mnt"
    run_topics "$lower/mounted" "$mnt/mounted" "$2" 1200 moved_parent >"$scratch/above"
    unmount_osproffs "$mnt"
    assert_eq 'the parent: . .. the parent: . .. moved' "$(grep '^the parent' "$scratch/above" | paste -sd ' ')" "parents"
    assert_eq 'getcwd: /c/moved' "$(grep '^getcwd' "$scratch/above" | tail -n 1)" "its name in the end"
}

all() {
    compare allow_other "" moved_below
    compare_parents allow_other ""
    compare allow_other,no_default_permissions as_user moved_below
    compare_parents allow_other,cache=none as_user
}

on tmpfs all
mkdir "$scratch/upper" "$scratch/work" "$scratch/under"
if mount -t overlay -o "lowerdir=$scratch/under,upperdir=$scratch/upper,workdir=$scratch/work" overlay "$lower" 2>/dev/null; then
    compare allow_other as_user moved_below # no handles
    umount "$lower"
else
    say "not shown: overlayfs cannot be mounted"
fi
end_comparison
