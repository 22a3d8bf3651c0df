#!/bin/bash
# Profiles of processes and of users: whose calls they were, and nobody's twice.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

readers=()
before_cleanup() {
    kill "${readers[@]}" 2>/dev/null
    wait "${readers[@]}" 2>/dev/null
}

# calls_of KIND WHO OP PROFILE: calls in that group; of groups that have the same name, the sum
calls_of() {
    awk -v group="# $1: $2" -v op="OP_$3" '/^#/ { found = $0 == group || $0 ~ group "$"; next }
        found && $1 == op { sum += $2 } END { print sum + 0 }' "$4"
}

# assert_sums PROFILE: the groups of each grouping have what the whole has
assert_sums() {
    local different
    different=$(awk '/^#/ { kind = $2 ~ /^(process|uid):$/ ? $2 : ""; if (kind) kinds[kind]; next }
        /^(OP|JOINT)_/ { op = $1; next }
        op ~ /^OP_/ { for (i = 1; i <= NF; i++) if (kind) sum[kind op " " i] += $i; else whole[op " " i] += $i }
        END { for (kind in kinds) for (cell in whole)
                  if (sum[kind cell] != whole[cell]) print kind, cell, whole[cell] - sum[kind cell] }' "$1")
    assert_eq "" "$different" "what the groups of $1 lack"
}

for name in {1..7}; do
    echo "$name" >"$lower/$name"
done
truncate -s 64K "$lower/large"

# read_and_stay FILE COUNT: reads it in so many pieces, and stays until it is known who does; sets reader
read_and_stay() {
    perl -e 'open(F, $ARGV[0]); sysread(F, $piece, 4096) for 1 .. $ARGV[1]; close(F); sleep(600)' "$1" "$2" &
    reader=$!
    readers+=("$reader")
    wait_until 60 grep -q "^# process: $reader perl\$" "$mnt/.osprof" || fail "process $reader is not known as perl"
}

mount_osproffs -o cache=none,by=process "$lower" "$mnt"
read_and_stay "$mnt/large" 13
read_and_stay "$mnt/1" 1
head -c 1 "$mnt/1" >/dev/null
"$OSPROF" show --by process "$mnt" >"$scratch/shown" # which asks the mount itself
cat "$mnt/.osprof" >"$scratch/profile"
"$OSPROF" show --check "$scratch/profile" >/dev/null
assert_sums "$scratch/profile"
assert_eq 14 "$(calls_of process '[0-9]+ perl' READ "$scratch/profile")" "reads of perl"
assert_eq 1 "$(calls_of process "$reader perl" READ "$scratch/profile")" "reads of process $reader"
# Older kernels say that nobody has closed a file, newer ones (seen with 7.3) who it was.
released=$(calls_of process kernel RELEASE "$scratch/profile")
[ "$released" != 0 ] || released=$(calls_of process '[0-9]+ (perl|head)' RELEASE "$scratch/profile")
assert_eq 3 "$released" "files released"
assert_eq 2 "$(grep -c '^perl ' "$scratch/shown")" "rows of perl in show --by process"

# The calls of some, as a page and for other programs.
"$OSPROF" show --of perl "$scratch/profile" >"$scratch/shown"
grep -q '^calls of  perl, 2 of them$' "$scratch/shown" || fail "show --of perl: $(cat "$scratch/shown")"
assert_eq 14 "$(awk '$1 == "READ" { print $2; exit }' "$scratch/shown")" "reads in show --of perl"
"$OSPROF" show --of "$reader" --op read --csv "$scratch/profile" >"$scratch/shown"
assert_eq 1 "$(awk -F, '$1 == "READ" { sum += $7 } END { print sum }' "$scratch/shown")" "reads in show --of PID --csv"
! "$OSPROF" show --of nobody "$mnt" 2>"$scratch/message" || fail "shows the calls of nobody"
grep -q "no calls of nobody in $mnt" "$scratch/message" || fail "says: $(cat "$scratch/message")"
! "$OSPROF" show --by uid "$mnt" 2>"$scratch/message" || fail "shows users"
grep -q "no calls by uid in $mnt; osproffs -o by=uid records them" "$scratch/message" || fail "says: $(cat "$scratch/message")"

# A program begun by another keeps its process, and gets its own name; threads are their process.
command_control reset
assert_eq "" "$(grep '^# process' "$mnt/.osprof" || true)" "groups after reset"
bash -c "[ -e '$mnt/1' ]; exec perl -e 'while (1) { open(F, q($mnt/2)); close(F); select(undef, undef, undef, 0.002) }'" &
perl=$!
readers+=("$perl")
wait_until 60 grep -q "^# process: $perl perl\$" "$mnt/.osprof" || fail "process $perl is not known as perl"
kill "$perl"
wait "$perl" || true
assert_eq 1 "$(grep -c "^# process: $perl" "$mnt/.osprof")" "groups of process $perl"
unmount_osproffs "$mnt"
assert_sums "$final_profile"

# As many as were asked for.
mount_osproffs -o cache=none,by=process,groups=3 "$lower" "$mnt"
for name in {1..7}; do
    cat "$mnt/$name" >/dev/null
done
unmount_osproffs "$mnt"
assert_sums "$final_profile"
assert_eq 3 "$(grep -c '^# process: [0-9]' "$final_profile")" "processes kept"
assert_eq 4 "$(calls_of process other OPEN "$final_profile")" "files opened by the others"

# Users. The kernel's own calls are not root's.
mount_osproffs -o cache=none,by=uid,allow_other "$lower" "$mnt"
cat "$mnt"/{1..5} >/dev/null
if [ "$(id -u)" = 0 ]; then
    as_user cat "$mnt/1" "$mnt/2" "$mnt/3" >/dev/null
    assert_eq 3 "$(calls_of uid "$user_uid" OPEN "$mnt/.osprof")" "files opened by a user"
fi
assert_eq 5 "$(calls_of uid "$(id -u)" OPEN "$mnt/.osprof")" "files opened by us"
"$OSPROF" show --by uid "$mnt" | grep -q '^user  *uid  *calls' || fail "show --by uid"
unmount_osproffs "$mnt"
[ "$(calls_of uid kernel RELEASE "$final_profile")" -ge 5 ] || fail "the kernel releases no files"
assert_sums "$final_profile"

# Many at once, and each call is somebody's.
mount_osproffs -o by=process+uid,interval=0.05,joint=read:size+lookup:error "$lower" "$mnt"
loads=()
for _ in {1..5}; do
    for name in {1..7}; do
        wc "$mnt/$name" "$mnt/none$name" >/dev/null 2>&1 &
        loads+=($!)
    done
    command_control reset
    "$OSPROF" show --check "$mnt/.osprof" >/dev/null
done
wait "${loads[@]}" || true # of the files, half do not exist
command_control reset
wc "$mnt"/* >/dev/null
unmount_osproffs "$mnt"
assert_sums "$final_profile"
"$OSPROF" show --check "$final_profile" >/dev/null

# Two groupings at once: a table each, and the calls of one of them.
"$OSPROF" show --by all "$final_profile" >"$scratch/shown"
grep -q '^process  *pid  *calls' "$scratch/shown" || fail "show --by all has no processes"
grep -q '^user  *uid  *calls' "$scratch/shown" || fail "show --by all has no users"
"$OSPROF" show --by uid "$final_profile" >"$scratch/shown"
! grep -q '^process ' "$scratch/shown" || fail "show --by uid has processes"
"$OSPROF" show --by uid --of "$(id -u)" "$final_profile" >"$scratch/shown"
grep -q "^calls of user *$(id -u)\$" "$scratch/shown" || fail "show --by uid --of: $(cat "$scratch/shown")"
assert_eq 8 "$(awk '$1 == "OPEN" { print $2; exit }' "$scratch/shown")" "files opened by us"
