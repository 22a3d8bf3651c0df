#!/bin/bash
# Names of files and directories that somebody else chose: newlines, escape sequences, no UTF-8, as long as can be. No view
# is broken by them, no terminal obeys them; and only root and the owner see them, however permissions are checked.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need python3 perl
long=$(printf 'n%.0s' {1..255})
names=($'two\nlines' $'\e[31mred\a\b' $'not\xff\xfeutf8' "$long" ' blanks  ' 'kernel' '(name forgotten)' 'x, but for 3 cycles at most' "quo'te\"back\\slash" $'\xc3\xa4\xe2\x82\xac')
mkdir "$lower/place" "$lower/place/$long"
for name in "${names[@]}"; do
    mkdir "$lower/place/$long/$name"
    echo content >"$lower/place/$long/$name/$name"
done
chmod -R a+rX "$lower"

# look_at PROFILE-OR-MOUNT JSON: all views of it are whole
look_at() {
    {
        "$OSPROF" show "$1"
        "$OSPROF" show --by file "$1"
        "$OSPROF" show --by directory "$1"
        "$OSPROF" show --of "/place" --by directory "$1"
    } >"$scratch/shown"
    ! LC_ALL=C grep -q $'[\e\a\b]' "$scratch/shown" || fail "a terminal would obey what $1 shows"
    [ "$(sed '/^$/,$d' "$scratch/shown" | wc -L)" -le 80 ] || fail "the first page is wider than 80 columns"
    cat "$2" >"$scratch/json"
    python3 - "$scratch/json" <<'END' || fail "JSON of $1 is broken"
import json, sys
profile = json.load(open(sys.argv[1], encoding="utf-8"))
names = {group.get("name", "") for group in profile["groups"]}
assert any("two\nlines" in name for name in names), names
assert any("\x1b[31mred" in name for name in names), names
END
    "$OSPROF" show --metrics "$1" >"$scratch/metrics" || fail "no metrics of $1"
    ! grep -q 'blanks' "$scratch/metrics" || fail "metrics name files"
}

use_all() {
    perl -e 'for my $f (@ARGV) { open(F, "<", $f) or die; my $line = <F>; close(F) }' "$mnt/place/$long"/*/*
}

options=cache=none,by=file+directory+program
mount_osproffs -o "$options" "$lower" "$mnt"
use_all
look_at "$mnt" "$mnt/.osprof.json"
while [ ! -e "$scratch/enough" ]; do
    use_all
done &
load=$!
"$OSPROF" top --batch --count 2 --delay 1 --by file "$mnt" >"$scratch/top"
! LC_ALL=C grep -q $'[\e\a\b]' "$scratch/top" || fail "a terminal would obey what top prints"
grep -q 'two.lines\|red' "$scratch/top" || fail "top shows no files: $(cat "$scratch/top")"
"$OSPROF" top --batch --count 2 --delay 1 --by directory "$mnt" >"$scratch/top"
touch "$scratch/enough"
wait "$load"
grep -q 'nnn' "$scratch/top" || fail "top shows no directories"
unmount_osproffs "$mnt"
"$OSPROF" show --check "$final_profile" >"$scratch/checked" || fail "osprof show --check finds fault: $(cat "$scratch/checked")"
"$OSPROF" show --json "$final_profile" >"$scratch/final.json"
look_at "$final_profile" "$scratch/final.json"
"$OSPROF" show --of "x, but for 3 cycles at most" --by file "$final_profile" 2>/dev/null && fail "a part of a path is no path"
"$OSPROF" save -o "$scratch/merged" "$final_profile" "$final_profile" 2>/dev/null
! LC_ALL=C grep -q $'\e' "$scratch/merged" || fail "a sum has control characters"
grep -qE '^# (file|directory):' "$scratch/merged" || fail "a sum has no files"
assert_eq 600 "$(stat -c %a "$scratch/merged")" "mode of a sum with files"
! grep -q ' path ' "$scratch/merged" || [ "$(stat -c %a "$scratch/merged")" = 600 ] || fail "a sum tells all of a file"

# Others see no names in any view, however permissions are checked.
[ "$(id -u)" = 0 ] || exit 0
for checks in default_permissions no_default_permissions; do
    mount_osproffs -o "$options,allow_other,$checks" "$lower" "$mnt"
    as_user cat "$mnt/place/$long/kernel/kernel" >"$scratch/read"
    use_all
    for file in .osprof .osprof.json .osprof.metrics; do
        as_user cat "$mnt/$file" >"$scratch/seen"
        [ -s "$scratch/seen" ] || fail "another user reads nothing of $file"
        ! LC_ALL=C grep -qE 'nnnn|/place|lines|"file"|"directory"|^# (file|directory):' "$scratch/seen" ||
            fail "$file tells another user of files ($checks)"
    done
    as_user "$OSPROF" show --by file "$mnt" >"$scratch/seen" 2>&1 && fail "another user is shown files ($checks)"
    ! grep -q nnnn "$scratch/seen" || fail "a message names files"
    cat "$mnt/.osprof" >"$scratch/profile"
    grep -q '^# directory: [0-9]* /place' "$scratch/profile" || fail "root is not told of directories ($checks)"
    unmount_osproffs "$mnt"
done
