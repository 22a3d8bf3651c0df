#!/bin/bash
# Joint profiles: latencies related to what calls were about; from the mount option and from the control command.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

# calls_with JOINT VALUE PROFILE: calls in the row of that value
calls_with() {
    awk -v joint="JOINT_$1" -v value="$2:" '/^(OP|JOINT)_/ { found = $1 == joint; next }
        found && $1 == value { for (i = 2; i <= NF; i++) sum += $i } END { print sum + 0 }' "$3"
}

for name in {1..7}; do
    echo "$name" >"$lower/$name"
done
truncate -s 64K "$lower/large"

mount_osproffs -o "cache=none,joint=read:size+read:past_eof+readdir:past_eof+lookup:error+mkdir:blocked+read:cpu" \
    "$lower" "$mnt"
dd if="$mnt/large" of=/dev/null bs=8K status=none
dd if="$mnt/large" of=/dev/null bs=4K count=3 status=none
ls "$mnt" >/dev/null
mkdir "$mnt/directory"
for name in none nothing nowhere; do
    [ ! -e "$mnt/$name" ] || fail "found $name"
done
cat "$mnt/.osprof" >"$scratch/profile"
"$OSPROF" show --check "$scratch/profile" >/dev/null
assert_eq 9 "$(calls_with READ_SIZE 8192 "$scratch/profile")" "reads of 8 KiB"
assert_eq 3 "$(calls_with READ_SIZE 4096 "$scratch/profile")" "reads of 4 KiB"
assert_eq 1 "$(calls_with READ_PAST_EOF 1 "$scratch/profile")" "reads past the end"
assert_eq 1 "$(calls_with READDIR_PAST_EOF 1 "$scratch/profile")" "readdir past the end"
[ "$(calls_with LOOKUP_ERROR 2 "$scratch/profile")" -ge 3 ] || fail "no lookups that failed by ENOENT"
grep -q '^JOINT_READ_CPU$' "$scratch/profile" || fail "no CPU times of reads"
"$OSPROF" show --joint --op READ "$scratch/profile" >"$scratch/shown"
grep -q '^READ by size' "$scratch/shown" || fail "show --joint: $(cat "$scratch/shown")"
shown=$(awk '/^    8 KiB \.\. 16 KiB/ { sum += $6 } END { print sum }' "$scratch/shown")
assert_eq 9 "$shown" "reads of 8 KiB in show --joint"

command_control "joint off"
cat "$mnt/1" >/dev/null
assert_eq "" "$(grep '^JOINT' "$mnt/.osprof" || true)" "joint profiles, when off"
command_control "joint rmdir error"
command_control "joint rmdir blocked"
! rmdir "$mnt" 2>/dev/null || fail "removed the root"
rmdir "$mnt/directory"
assert_eq 1 "$(calls_with RMDIR_ERROR 0 "$mnt/.osprof")" "rmdir without error"
command_control "joint rmdir off"
for wrong in joint "joint read" "joint read taste" "joint smell size" "joint lookup size" "joint read size size"; do
    ! command_control "$wrong" 2>/dev/null || fail "accepted: $wrong"
done
assert_eq "" "$(grep '^JOINT' "$mnt/.osprof" || true)" "joint profiles after wrong commands"
unmount_osproffs "$mnt"
! "$OSPROF" show --joint "$final_profile" >/dev/null 2>"$scratch/message" || fail "shows what is not there"
grep -q "no joint profiles" "$scratch/message" || fail "says: $(cat "$scratch/message")"

# While the choice changes, calls go on and are all counted.
mount_osproffs -o cache=none "$lower" "$mnt"
(for _ in {1..500}; do
    [ -e "$mnt/1" ]
done) &
load=$!
for _ in {1..50}; do
    command_control "joint lookup error"
    command_control "joint getattr cpu"
    command_control "joint off"
done
wait "$load"
"$OSPROF" show --check "$mnt" >/dev/null
[ "$(profile_calls LOOKUP "$mnt/.osprof")" -ge 500 ] || fail "lookups were lost"
unmount_osproffs "$mnt"
