#!/bin/bash
# osprof compare is not wrong more often than docs/compare-accuracy.md says: the scores of the pairs that judge it, anew.
. "$(dirname "$0")/lib.sh"

need python3
root=$(realpath -- "$tests_dir/../..")
accuracy() {
    python3 -B "$root/bench/compare-accuracy" "$@"
}

accuracy check "$root/docs/compare-accuracy.md" >out || {
    cat out >&2
    fail "osprof compare is wrong more often than docs/compare-accuracy.md says"
}

# Labels the other way round are noticed, in a tenth of the pairs.
mkdir corpus
tar -xzf "$root/bench/compare-corpus/first.tar.gz" -C corpus
awk -F '\t' -v OFS='\t' 'NR == 1 || NR % 10 == 2 { if (NR > 1) $2 = $2 == "same" ? "different" : "same"; print }' \
    corpus/pairs.tsv >wrong.tsv
mv wrong.tsv corpus/pairs.tsv
status=0
accuracy check "$root/docs/compare-accuracy.md" corpus >out || status=$?
assert_eq 1 "$status" "exit status for labels the other way round"
assert_eq 4 "$(grep -c '^worse than documented: ' out)" "complaints about labels the other way round"

# Sets of runs that are there are judged: what is found, and what is reported where nothing changed.
mkdir -p sets/runs
printf 'run\tscenario\tload\teffect\top\n' >sets/runs.tsv
add_runs() { # add_runs PREFIX COUNT EFFECT OP [CHANGE]
    local prefix=$1 count=$2 effect=$3 op=$4 number
    shift 4
    python3 "$tests_dir/../cli/make_runs.py" "sets/runs/$prefix" "$count" "$@"
    for ((number = 0; number < count; number++)); do
        printf '%s\tmade-up\tquiet\t%s\t%s\n' "$prefix$number" "$effect" "$op" >>sets/runs.tsv
    done
}
add_runs same 6 - -
add_runs slow 3 x1.5 WRITE WRITE=1.5
accuracy sets sets --draws 4 --preempted 0 >out
grep -q '^| made-up  *| 0.0 % .* | -  *| -  *|$' out || fail "sets of the same are told to differ: $(<out)"
grep -q '^| all its calls ×1.5  *| 1.[45][0-9]  *| 100.0 % .* | -  *| -  *|$' out || fail "a slower operation is not found: $(<out)"

# Noise that is put in: of 7 times 1000 calls about 70 take 3 ms longer, each exactly, and no call is lost.
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$root/bench/accuracy" python3 - sets/runs/same0.osprof <<'END' || fail "noise is put in wrongly"
import random, sys
import preempted, profiles
text = open(sys.argv[1]).read()
noisy = preempted.add(text, random.Random(1), 0.01)
assert profiles.totals(preempted.add(text, random.Random(1), 0)) == profiles.totals(text)
hits = 0
for op, (calls, cycles) in profiles.totals(text).items():
    noisy_calls, noisy_cycles = profiles.totals(noisy)[op]
    assert noisy_calls == calls == sum(profiles.read(noisy)[op])
    hit, rest = divmod(noisy_cycles - cycles, 3_000_000)
    assert rest == 0
    assert sum(profiles.read(noisy)[op][21:]) - sum(profiles.read(text)[op][21:]) == hit
    hits += hit
assert 40 < hits < 100, hits
END

# Runs that are made up, with that noise: twice the latency is found.
accuracy simulated --trials 1 >out
assert_eq 4 "$(grep -c '^| [a-z]*  *| [14]  *| [^|]*| 100.0 % ' out)" "machines on which twice the latency is found"
assert_eq 4 "$(grep -c '| [01] of 1: below [0-9.]* % ' out)" "machines for which false alarms are counted"

# Made-up pairs are judged right.
accuracy synthetic --pairs 1 >out
assert_eq 5 "$(grep -c '| 1 of 1, 100.0 %' out)" "kinds of made-up pairs that are told right"

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
expect_accuracy_trouble "cannot read the archive empty.md: not a gzip file" score empty.md
expect_accuracy_trouble "empty.md has no table that states the errors of FARMOVER and of all three phases" \
    check empty.md
