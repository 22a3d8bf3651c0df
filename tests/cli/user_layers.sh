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
expect 0 run --layers user,fs --mount-option cache=none -q -o "$scratch/profile" -- dd if=file of=/dev/null bs=4096 status=none
cd "$scratch"
assert_eq $'user\nfs' "$(sed -n 's/^# layer: //p' profile)" "the layers of the recording, the outermost first"
expect 0 show --check profile
assert_eq 2 "$(grep -c consistent out)" "layers that are consistent"
csplit -s -f layer. profile '/^# osprof /' '{*}'
mv layer.01 profile
assert_eq 12 "$(calls READ)" "reads of the program, the last of which finds the end"
assert_eq '# bytes: READ asked 49152 moved 45056' "$(grep '^# bytes: READ ' profile)" "bytes that it read"
mv layer.02 profile
assert_eq 12 "$(calls READ)" "reads of the file system"
assert_nothing_left

# Of several directories each has a file of its own for the layer fs.
mkdir lower2
expect 0 run --layers user,fs -d "$lower" -d lower2 -q -o several -- cat "$lower/file"
assert_eq $'several:# layer: user\nseveral.1:# layer: fs\nseveral.2:# layer: fs' "$(grep '^# layer: ' several several.[12])" "files"
assert_nothing_left
expect 125 run --layers user,fs -d "$lower" -d lower2 -o - true
assert_eq "osprof run: standard output takes one profile, not 2; see 'osprof help run'" "$(head -n 1 err)" "message of several files for standard output"
rm several.2; mkdir several.2
expect 125 run --layers user,fs -d "$lower" -d lower2 -q -o several true
assert_eq "osprof: cannot write profile several: Is a directory" "$(<err)" "message of a name that is taken"

# Standard output takes all layers.
expect 0 run --layers user,fs -d "$lower" -o - true
assert_eq $'user\nfs' "$(sed -n 's/^# layer: //p' out)" "the layers of standard output"

# Both are shown, the one above first, and before that both together.
expect 0 run --layers fs,user -v -d "$lower" --mount-option cache=none -- dd if="$lower/file" of=/dev/null bs=4096 status=none
grep -E '^layer     ' err >layers
assert_eq $'layer     user\nlayer     fs' "$(<layers)" "the pages"
assert_eq "READ libc 12" "$(awk '$1 == "READ" && $2 == "libc" { print $1, $2, $5 }' err)" "reads of the program in the table"
assert_eq "lower 12" "$(awk '$1 == "READ" { getline; print $1, $4 }' err | head -n 1)" "reads of the file system in the table"
[ "$(grep -n '^operation  layer' err | cut -d : -f 1)" -lt "$(grep -n '^layer     ' err | head -n 1 | cut -d : -f 1)" ] ||
    fail "the table is not first: $(<err)"
# By default the table, and what it means, are all.
expect 0 run --layers fs,user -d "$lower" --mount-option cache=none -- dd if="$lower/file" of=/dev/null bs=4096 status=none
assert_eq 1 "$(grep -c '^operation  ' err)" "tables"
[ "$(wc -l <err)" -le 20 ] || fail "more than a screen: $(<err)"
assert_nothing_left

# The live file must not be seen through a mount.
expect 125 run --layers user,fs -d "$scratch" -q -o profile true
assert_eq "osprof: cannot profile $scratch: live files are in it, in $XDG_RUNTIME_DIR/osprof; choose another place by XDG_RUNTIME_DIR, or --layers user" \
    "$(<err)" "message of a live file below a mount"

# Which files count is found out without asking their file system anything.
mount_osproffs "$lower" "$mnt"
for option in '' "-d $mnt"; do
    # shellcheck disable=SC2086 # two words
    "$OSPROF" run $option -q -o profile -- cat "$mnt/file" >/dev/null
    assert_eq 1 "$(calls OPEN)" "files of a mount that are opened, $option"
done
unmount_osproffs "$mnt"
assert_profiled OPEN READ
assert_eq 0 "$(profile_calls STATFS "$final_profile")" "STATFS of a mount whose files count"
