#!/bin/bash
# The commands of part 1 of docs/tutorial.md work as they stand there, and find the lock that is planted. Part 2 is for root
# and takes its time; scripts/tutorial runs it, too.
. "$(dirname "$0")/lib.sh"
need_fuse
need perl gnuplot

tutorial=$(realpath -- "$tests_dir/../../scripts/tutorial")
document=$(realpath -- "$tests_dir/../../docs/tutorial.md")

status=0
TMPDIR=$scratch timeout -k 10 120 "$tutorial" --check 1 >"$scratch/found.md" 2>"$scratch/err" || status=$?
cat "$scratch/err" >&2
assert_eq 0 "$status" "exit status of scripts/tutorial"
[ ! -s "$scratch/err" ] || fail "it complains"
assert_eq "" "$(find "$scratch" -maxdepth 1 -name 'osproffs.*')" "left behind"

# Each process takes the lock and gives it back a hundred times, and syncs as often.
calls_of() {
    sed -n "s/^    $1  *\([0-9,]*\) .*/\1/p" "$scratch/found.md" | head -n 1
}
assert_eq 200 "$(calls_of SETLKW)" "calls of SETLKW by one process"
assert_eq 100 "$(calls_of FSYNC)" "calls of FSYNC by one process"
grep -qx '    SETLKW: .* buckets' "$scratch/found.md" || fail "the comparison does not find the lock"
grep -q '^      calls 200 → 800:' "$scratch/found.md" || fail "four processes do not make four times the calls"

# What is not an output is copied as it is, with part 2 as a whole.
outline() {
    grep -v '^    [^$>]' "$1" | sed '/^$/d'
}
diff -u <(outline "$document") <(outline "$scratch/found.md") >&2 || fail "changes the text"
diff -u <(sed -n '/^## Part 2/,$p' "$document") <(sed -n '/^## Part 2/,$p' "$scratch/found.md") >&2 || fail "changes part 2"

# A part that is not there, and options that are not
for wrong in "--check 9" "--check x" "--write" "--check 1 2"; do
    # shellcheck disable=SC2086 # two words
    ! "$tutorial" $wrong >"$scratch/out" 2>"$scratch/err" || fail "takes $wrong"
    assert_eq 1 "$(wc -l <"$scratch/err")" "lines of the message about $wrong"
done
