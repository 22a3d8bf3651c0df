#!/bin/bash
# Programs: all processes of one name are one, also if each lives for one file only, and each has its name.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

perl=
before_cleanup() {
    [ -z "$perl" ] || kill "$perl" 2>/dev/null || true
}

# calls_of KIND WHO OP PROFILE: calls in groups whose line ends with that
calls_of() {
    awk -v kind="# $1:" -v who="$2" -v op="OP_$3" '/^#/ { found = index($0, kind) == 1 && $0 ~ " " who "$"; next }
        found && $1 == op { sum += $2 } END { print sum + 0 }' "$4"
}

echo content >"$lower/file"
chmod 755 "$lower"

# Of many that are short-lived none is nameless, and by name they are few.
mount_osproffs -o cache=none,by=process+program,groups=4096 "$lower" "$mnt"
loads=()
for _ in {1..53}; do
    cat "$mnt/file" "$mnt/file" >/dev/null &
    loads+=($!)
    head -c 1 "$mnt/file" >/dev/null &
    loads+=($!)
done
wait "${loads[@]}"
unmount_osproffs "$mnt"
"$OSPROF" show --check "$final_profile" >/dev/null
assert_eq 106 "$(calls_of program cat OPEN "$final_profile")" "files opened by cat"
assert_eq 53 "$(calls_of program head OPEN "$final_profile")" "files opened by head"
assert_eq 106 "$(calls_of process '[0-9]+ cat' OPEN "$final_profile")" "files opened by processes that are cat"
assert_eq 53 "$(calls_of process '[0-9]+ head' OPEN "$final_profile")" "files opened by processes that are head"
assert_eq 53 "$(grep -c '^# process: [0-9]* cat$' "$final_profile")" "processes that are cat"
assert_eq "" "$(grep -E '^# process: [0-9]+$|^# program: (other)?$' "$final_profile" || true)" "who has no name"
"$OSPROF" show --by program "$final_profile" >"$scratch/shown"
grep -Eq '^cat +[0-9]+ ' "$scratch/shown" || fail "show --by program has no row of cat: $(cat "$scratch/shown")"
"$OSPROF" show --by program --of cat "$final_profile" >"$scratch/shown"
grep -q '^calls of program *cat$' "$scratch/shown" || fail "show --by program --of cat: $(cat "$scratch/shown")"
"$OSPROF" show --json "$final_profile" >"$scratch/json"
grep -q '"grouping": "program"' "$scratch/json" || fail "JSON has no programs"

# Few groups are enough for programs.
mount_osproffs -o cache=none,by=process+program,groups=4 "$lower" "$mnt"
for _ in {1..13}; do
    cat "$mnt/file" >/dev/null
done
has_others() {
    cat "$mnt/.osprof" >"$scratch/profile"
    [ "$(calls_of process other OPEN "$scratch/profile")" -ge 9 ]
}
wait_until 30 has_others || fail "no other processes with few groups" # when it is known who all were
unmount_osproffs "$mnt"
assert_eq 13 "$(calls_of program cat OPEN "$final_profile")" "files opened by cat with few groups"

# What is not told apart is said where it is much.
"$OSPROF" show --by process "$final_profile" >"$scratch/shown"
tr '\n' ' ' <"$scratch/shown" |
    grep -Eq ' Other: [0-9]+ % of the time is of processes without a row; at most -o groups=N have one \(default 256\)\. ' ||
    fail "show --by process does not tell of others: $(cat "$scratch/shown")"
"$OSPROF" show --by program "$final_profile" >"$scratch/shown"
! grep -q '^Other' "$scratch/shown" || fail "show --by program tells of others: $(cat "$scratch/shown")"

# A process that begins another program is two programs.
mount_osproffs -o cache=none,by=program "$lower" "$mnt"
bash -c "[ -e '$mnt/file' ]; exec perl -e 'while (1) { open(F, q($mnt/file)); close(F); select(undef, undef, undef, 0.002) }'" &
perl=$!
wait_until 60 grep -q '^# program: perl$' "$mnt/.osprof" || fail "no program perl"
kill "$perl"
wait "$perl" || true
perl=
[ "$(calls_of program bash LOOKUP "$mnt/.osprof")" -ge 1 ] || fail "bash has no calls"
unmount_osproffs "$mnt"

# Those of another user, too.
if [ "$(id -u)" = 0 ]; then
    mount_osproffs -o cache=none,allow_other,by=program+uid "$lower" "$mnt"
    for _ in {1..17}; do
        as_user cat "$mnt/file" >/dev/null
    done
    unmount_osproffs "$mnt"
    assert_eq 17 "$(calls_of program cat OPEN "$final_profile")" "files opened by a user's cat"
    assert_eq 17 "$(calls_of uid "$user_uid" OPEN "$final_profile")" "files opened by the user"
fi
