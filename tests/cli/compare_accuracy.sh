#!/bin/bash
# osprof compare is not wrong more often than docs/compare-accuracy.md says: the scores of all labelled pairs, anew.
. "$(dirname "$0")/lib.sh"

need python3
root=$(realpath -- "$tests_dir/../..")
accuracy() {
    python3 -B "$root/bench/compare-accuracy" "$@"
}

accuracy score --claims "$root/docs/compare-accuracy.md" >out || {
    cat out >&2
    fail "osprof compare is wrong more often than docs/compare-accuracy.md says"
}

# Labels the other way round are noticed, in a tenth of the pairs.
corpus=$root/bench/compare-corpus
mkdir corpus
ln -s "$corpus/runs" corpus/runs
awk -F '\t' -v OFS='\t' 'NR % 10 != 1 { next } NR > 1 { $2 = $2 == "same" ? "different" : "same" } { print }' "$corpus/pairs.tsv" >corpus/pairs.tsv
status=0
accuracy score --claims "$root/docs/compare-accuracy.md" corpus >out || status=$?
assert_eq 1 "$status" "exit status for labels the other way round"
assert_eq 4 "$(grep -c '^worse than documented: ' out)" "complaints about labels the other way round"

# What cannot be read is said in one line.
expect_accuracy_trouble() {
    local message=$1 status=0
    shift
    accuracy "$@" >out 2>err || status=$?
    assert_eq "2 compare-accuracy: $message" "$status $(<err)" "compare-accuracy $*"
}
expect_accuracy_trouble "cannot read the pairs of no/such/pairs.tsv: [Errno 2] No such file or directory: 'no/such/pairs.tsv'" \
    score no/such
echo nothing >empty.md
expect_accuracy_trouble "empty.md has no table that states the errors of FARMOVER and of all three phases" \
    score --claims empty.md
