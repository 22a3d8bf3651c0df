#!/bin/bash
# osprof run --layers user,fs: a command's calls, and what they are to the file system, in one run.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"
# shellcheck source=run_lib.sh
. "$tests_dir/../cli/run_lib.sh"

need_fuse
unshare --mount true 2>/dev/null || skip "cannot make a mount namespace"

dd if=/dev/zero of="$lower/file" bs=4096 count=11 status=none
cd "$lower"
expect 0 run --layers user,fs -o cache=none -p "$scratch/profile" -- dd if=file of=/dev/null bs=4096 status=none
cd "$scratch"
mv profile.user profile
assert_eq user "$(sed -n 's/^# layer: //p' profile)" "the layer of one"
assert_eq 12 "$(calls READ)" "reads of the program, the last of which finds the end"
assert_eq '# bytes: READ asked 49152 moved 45056' "$(grep '^# bytes: READ ' profile)" "bytes that it read"
mv profile.fs profile
assert_eq fs "$(sed -n 's/^# layer: //p' profile)" "the layer of the other"
assert_eq 12 "$(calls READ)" "reads of the file system"
assert_nothing_left

# Both are shown, the one above first.
expect 0 run --layers fs,user -d "$lower" -- cat "$lower/file"
grep -E '^layer ' err >layers
assert_eq $'layer     user\nlayer     fs' "$(<layers)" "the pages"
assert_nothing_left

# The live file must not be seen through a mount.
expect 125 run --layers user,fs -d "$scratch" -p profile true
assert_eq "osprof: cannot profile $scratch: live files are in it, in $XDG_RUNTIME_DIR/osprof; choose another place by XDG_RUNTIME_DIR, or --layers user" \
    "$(<err)" "message of a live file below a mount"
