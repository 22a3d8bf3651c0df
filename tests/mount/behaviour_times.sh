#!/bin/bash
# Times before 1970, after 2038 and far beyond: each is what the lower file system makes of it, at once and after a remount.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/behaviour_lib.sh"

need_root
need mkfs.ext4

# later: what a new mount shows of the files of old_times
later() {
    mkdir -p "$lower/direct/show_times" "$lower/mounted/show_times"
    mount_osproffs -o allow_other "$lower" "$mnt"
    "$behaviour" "$lower/direct" show_times >"$scratch/below"
    "$behaviour" "$mnt/mounted" show_times >"$scratch/above"
    diff "$scratch/below" "$scratch/above" >&2 || fail "times differ after a remount, on $(stat -fc %T "$lower")"
    unmount_osproffs "$mnt"
}

all() {
    compare allow_other "" old_times
    later
    compare allow_other,cache=none as_user old_times
    compare allow_other,no_default_permissions as_user old_times
    later
}

on tmpfs all
grep -q ' atime -1000003.000000005 ' "$scratch/above" || fail "no time before 1970 is shown: $(<"$scratch/above")"
on ext4 all
# 32 bits of seconds
MKFS_OPTIONS='-I 128' on ext4 all
grep -q ' atime -1.000000000 ' "$scratch/above" || fail "no time before 1970 is shown: $(<"$scratch/above")"
if have mkfs.xfs; then
    SIZE=300M on xfs all
    SIZE=300M MKFS_OPTIONS='-m bigtime=0' on xfs all
else
    say "not shown: XFS, as mkfs.xfs is not installed"
fi
end_comparison
