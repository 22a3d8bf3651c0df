#!/bin/bash
# The commands of docs/tutorial.md work as they stand there, find the lock that is planted, and prove that it is gone.
. "$(dirname "$0")/lib.sh"
need_fuse
need perl gnuplot

tutorial=$(realpath -- "$tests_dir/../../scripts/docs/tutorial")
document=$(realpath -- "$tests_dir/../../docs/tutorial.md")

status=0
TMPDIR=$scratch timeout -k 10 240 "$tutorial" --check >"$scratch/found.md" 2>"$scratch/err" || status=$?
cat "$scratch/err" >&2
assert_eq 0 "$status" "exit status of scripts/docs/tutorial"
[ ! -s "$scratch/err" ] || fail "it complains"
assert_eq "" "$(find "$scratch" -maxdepth 1 -name 'osproffs.*')" "left behind"

# section TITLE: what stands below it
section() {
    sed -n "/^## $1/,/^## /p" "$scratch/found.md"
}
section "Is it the" | grep -Eq '^ +[0-9.]+ % +FLOCK +[0-9]+ ' || fail "the page does not name the lock"

# Each process takes the lock and gives it back a hundred times, and syncs as often.
calls_of() {
    section "Is a lock" | sed -n "s/^      $1  *\([0-9,]*\) .*/\1/p" | head -n 1
}
assert_eq 200 "$(calls_of FLOCK)" "calls of FLOCK by one process"
assert_eq 100 "$(calls_of FSYNC)" "calls of FSYNC by one process"
grep -Eq '^    FLOCK: took [0-9,.]+ times as long' "$scratch/found.md" || fail "the comparison does not find the lock"
grep -q '^      calls 200 → 800:' "$scratch/found.md" || fail "four processes do not make four times the calls"
grep -q '^    [0-9]*: *flock ' "$scratch/found.md" || fail "does not show the line"
grep -Eq '^    FLOCK +faster ' "$scratch/found.md" || fail "the verdict does not know what became faster"

# What is not an output is copied as it is.
outline() {
    grep -v '^    [^$>]' "$1" | grep -v '^      [^$>]' | sed '/^$/d'
}
diff -u <(outline "$document") <(outline "$scratch/found.md") >&2 || fail "changes the text"

# Of a document any command may fail, and then it stays as it was.
printf '%s\n' '# A page' '' '    $ echo one' '    two' '' 'Text.' '' '    $ false' >page.md
cp page.md before.md
status=0
"$tutorial" "$PWD/page.md" 2>"$scratch/err" || status=$?
assert_eq 1 "$status" "exit status where a command fails"
cmp page.md before.md || fail "writes a document of which a command failed"
sed -i '/false/d' page.md
"$tutorial" "$PWD/page.md"
assert_eq "    one" "$(grep '^    [^$]' page.md)" "the output in the document"

# Documents that are not there, and options that are not
for wrong in "--check nosuch" "--write" "--check 1 2"; do
    # shellcheck disable=SC2086 # two words
    ! "$tutorial" $wrong >"$scratch/out" 2>"$scratch/err" || fail "takes $wrong"
    assert_eq 1 "$(wc -l <"$scratch/err")" "lines of the message about $wrong"
done
