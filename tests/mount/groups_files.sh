#!/bin/bash
# Files: the calls on one are together under its path, however it is renamed, removed or linked; and others do not learn
# of it.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need perl
mkdir "$lower/directory"
for name in often renamed removed linked; do
    echo content >"$lower/directory/$name"
done
echo content >"$lower/$(printf 'two\nlines')"
ln "$lower/directory/linked" "$lower/directory/link"
chmod 755 "$lower" "$lower/directory"
options=cache=none,by=file+uid
[ "$(id -u)" != 0 ] || options+=,allow_other

# calls_on PATH OP: how many the latest profile has, of the file with that path as it is written there
calls_on() {
    path=$1 op=OP_$2 awk '/^# / { found = $0 == "# file: " $3 " " ENVIRON["path"] }
        found && $1 == ENVIRON["op"] { print $2 }' "$scratch/profile"
}
read_profile() {
    cat "$mnt/.osprof" >"$scratch/profile"
}
# Names are asked for behind the calls.
has_calls_on() {
    read_profile
    [ "$(calls_on "$1" "$2")" = "$3" ]
}
expect_calls_on() {
    wait_until 60 has_calls_on "$@" || fail "calls of $2 on $1: expected $3, found '$(calls_on "$1" "$2")'"
}

mount_osproffs -o "$options" "$lower" "$mnt"
perl -e 'for (1 .. 13) { open(F, $ARGV[0]); <F>; close(F) }' "$mnt/directory/often"
expect_calls_on /directory/often OPEN 13
[ "$(calls_on / LOOKUP)" -ge 13 ] || fail "lookups in the mount itself are not its own"
cat "$mnt/$(printf 'two\nlines')" >"$scratch/read"
expect_calls_on '/two\012lines' OPEN 1

# The name at the latest call; one that is gone is marked.
exec 5<"$mnt/directory/renamed"
mv "$mnt/directory/renamed" "$mnt/directory/new name"
cat <&5 >"$scratch/read"
exec 5<&-
expect_calls_on "/directory/new name" OPEN 1
exec 5<"$mnt/directory/removed"
rm "$mnt/directory/removed"
cat <&5 >"$scratch/read"
exec 5<&-
expect_calls_on "/directory/removed (deleted)" OPEN 1

# Two names of one file: its calls are under one of them.
cat "$mnt/directory/linked" "$mnt/directory/link" >"$scratch/read"
has_both_links() {
    read_profile
    [ "$(calls_on /directory/linked OPEN)$(calls_on /directory/link OPEN)" = 2 ]
}
wait_until 60 has_both_links || fail "calls on a file with two names are not in one place"

# A file that replaces another: under the name that both had.
for content in 1 2 3; do
    echo $content >"$mnt/directory/new"
    mv "$mnt/directory/new" "$mnt/directory/replaced"
    cat "$mnt/directory/replaced" >"$scratch/read"
    expect_calls_on /directory/replaced OPEN "$content"
done

"$OSPROF" show --check "$scratch/profile" >"$scratch/checked" || fail "osprof show --check finds fault: $(cat "$scratch/checked")"
"$OSPROF" show --by file "$mnt" | grep -q ' /directory/often$' || fail "show --by file has no row of a file"
"$OSPROF" show --of directory/often "$scratch/profile" >"$scratch/shown"
grep -q 'calls on file *directory/often$' "$scratch/shown" || fail "show --of does not say whose calls: $(cat "$scratch/shown")"
grep -q 'OPEN' "$scratch/shown" || fail "show --of has no histogram"
grep -q '"name":"/directory/often","missed_cycles_max":0' <(tr -d ' \n' <"$mnt/.osprof.json") ||
    fail "no file in the JSON view"

# The profile that others read, and files that they might, name no file.
if [ "$(id -u)" = 0 ]; then
    for file in .osprof .osprof.json .osprof.metrics; do
        as_user cat "$mnt/$file" >"$scratch/shown"
        ! grep -qE 'often|replaced|^# file: |"file"' "$scratch/shown" || fail "$file shows files to another user"
    done
    as_user cat "$mnt/.osprof" | grep -q '^# uid: ' || fail "another user is shown no users"
fi
command_control "dump $scratch/dumped"
grep -q '^# file: 0 /directory/often$' "$scratch/dumped" || fail "no file in a dump"
assert_eq 600 "$(stat -c %a "$scratch/dumped")" "mode of a dump"
! grep -q often "$mnt/.osprof.metrics" || fail "metrics have names of files"

# More files than there may be: none is lost.
unmount_osproffs "$mnt"
mount_osproffs -o cache=none,by=file,groups=8 "$lower" "$mnt"
mkdir "$mnt/many"
for i in {1..50}; do
    echo content >"$mnt/many/$i"
done
perl -e 'for (1 .. 997) { open(F, $ARGV[0]); close(F) }' "$mnt/directory/often"
has_most_calls() { # its first may be among the others', as long as the kernel still releases the 50
    read_profile
    [ "$(calls_on /directory/often OPEN)" -ge 900 ]
}
wait_until 60 has_most_calls || fail "calls of OPEN on /directory/often: $(calls_on /directory/often OPEN) of 997"
opened=$(awk '/^# file: / { groups = 1 } groups && $1 == "OP_CREATE" { sum += $2 } END { print sum }' "$scratch/profile")
assert_eq 50 "$opened" "files created, in all groups"
[ "$(grep -c '^# file: [0-9]' "$scratch/profile")" -le 8 ] || fail "more than 8 files are told apart"
grep -q '^# file: [1-9][0-9]* /' "$scratch/profile" || fail "no file that may have missed calls says so"
"$OSPROF" show --check "$scratch/profile" >"$scratch/checked" || fail "osprof show --check finds fault: $(cat "$scratch/checked")"
unmount_osproffs "$mnt"
