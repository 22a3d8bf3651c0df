#!/bin/bash
# Directories: calls count to the directory of the file, or to one above it at a given depth; and profiles of short jobs
# have names, also of what is gone.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need perl
mkdir -p "$lower/a/b/c/d" "$lower/e" "$lower/f"
for place in . a a/b a/b/c a/b/c/d e; do
    echo content >"$lower/$place/file"
done

# calls_in PATH OP: how many the latest profile has, of the directory with that path as it is written there
calls_in() {
    path=$1 op=OP_$2 awk '/^# / { found = $1 " " $2 == "# directory:" && substr($0, index($0, $4)) == ENVIRON["path"] }
        found && $1 == ENVIRON["op"] { sum += $2 } END { print sum + 0 }' "$scratch/profile"
}
expect_calls_in() {
    assert_eq "$3" "$(calls_in "$1" "$2")" "calls of $2 in $1"
}
open_each() {
    perl -e 'for (1 .. shift) { for my $f (@ARGV) { open(F, $f) or die; close(F) } }' "$@"
}

# What the file is in, no more.
mount_osproffs -o cache=none,by=directory+file "$lower" "$mnt"
open_each 7 "$mnt"/{.,a,a/b,a/b/c,a/b/c/d,e}/file
ls "$mnt/e" >"$scratch/read"
cat "$mnt/.osprof" >"$scratch/profile"
for place in /a /a/b /a/b/c /a/b/c/d /e /; do
    expect_calls_in "$place" OPEN 7
done
expect_calls_in /e OPENDIR 1

# What is moved counts where it is looked up next.
mv "$mnt/e/file" "$mnt/f/moved"
open_each 5 "$mnt/f/moved"
cat "$mnt/.osprof" >"$scratch/profile"
expect_calls_in /f OPEN 5
expect_calls_in /e OPEN 7
expect_calls_in /e RENAME2 1
expect_calls_in /f RENAME2 0

"$OSPROF" show --by directory "$mnt" | grep -q ' /a/b/c$' || fail "show --by directory has no row of a directory"
"$OSPROF" show --of a/b/c --by directory "$scratch/profile" >"$scratch/shown"
grep -q 'calls on directory *a/b/c$' "$scratch/shown" || fail "show --of does not say where: $(cat "$scratch/shown")"
"$OSPROF" show --check "$scratch/profile" >"$scratch/checked" || fail "osprof show --check finds fault: $(cat "$scratch/checked")"
tr -d ' \n' <"$mnt/.osprof.json" | grep -q '"grouping":"directory","who":"id","name":"/a/b/c/d"' ||
    fail "no directory in the JSON view"
! grep -q '/a/b' "$mnt/.osprof.metrics" || fail "metrics have names of directories"
unmount_osproffs "$mnt"
mv "$lower/f/moved" "$lower/e/file"

# Deeper ones count to what they are in at that depth.
mount_osproffs -o cache=none,by=directory:2 "$lower" "$mnt"
open_each 3 "$mnt"/{.,a,a/b,a/b/c,a/b/c/d,e}/file
cat "$mnt/.osprof" >"$scratch/profile"
expect_calls_in / OPEN 3
expect_calls_in /a OPEN 3
expect_calls_in /a/b OPEN 9
expect_calls_in /e OPEN 3
assert_eq 4 "$(grep -c '^# directory: [0-9]' "$scratch/profile")" "directories with calls"
mv "$mnt/a/b/c" "$mnt/f/g"
open_each 2 "$mnt/f/g/d/file"
cat "$mnt/.osprof" >"$scratch/profile"
expect_calls_in /f/g OPEN 2
unmount_osproffs "$mnt"
mv "$lower/f/g" "$lower/a/b/c"

# Short jobs: all have names, at the end of the mount and before.
mkdir "$lower/many"
for i in {1..199}; do
    echo content >"$lower/many/file$i"
done
expect_names() {
    local unnamed
    unnamed=$(grep -c '^# [a-z]*: [0-9]* (' "$1" || true)
    assert_eq 0 "$unnamed" "groups without names after $2"
}
mount_osproffs -o by=file+directory "$lower" "$mnt"
grep -r zzz "$mnt/many" || true
cat "$mnt/.osprof" >"$scratch/profile"
expect_names "$scratch/profile" grep
[ "$(grep -c '^# file: 0 /many/file' "$scratch/profile")" = 199 ] || fail "files that grep has read are missing"
tar -cf - -C "$mnt" many | cat >"$scratch/tar"
unmount_osproffs "$mnt"
expect_names "$final_profile" tar

mount_osproffs -o cache=none,by=file+directory "$lower" "$mnt"
perl -e 'for my $f (@ARGV) { open(F, ">", $f) or die; print F "x"; close(F); unlink($f) or die }' \
    "$mnt"/many/temporary{1..97}
rm -r "$mnt/many"
unmount_osproffs "$mnt"
expect_names "$final_profile" "rm -r"
if [ "$(id -u)" = 0 ]; then
    grep -q '^# directory: [0-9]* /many (deleted)$' "$final_profile" || fail "the directory is not marked as deleted"
    # One that was last called just before it was deleted, and asked for just then, has its name of that moment.
    grep -E '^# file: [0-9]+ /many/temporary[0-9]+( \(deleted\))?$' "$final_profile" >"$scratch/names" || true
    [ "$(wc -l <"$scratch/names")" = 97 ] || fail "files that lived shortly have no names"
    [ "$(grep -c '(deleted)$' "$scratch/names")" -ge 49 ] || fail "files that are gone are not marked as deleted"
fi
