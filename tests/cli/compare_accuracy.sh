#!/bin/bash
# osprof compare is not wrong more often than docs/internals/compare-accuracy.md says: the scores of the pairs that judge it, anew.
. "$(dirname "$0")/lib.sh"

need python3
root=$(realpath -- "$tests_dir/../..")
accuracy() {
    python3 -B "$root/bench/compare-accuracy" "$@"
}

accuracy check "$root/docs/internals/compare-accuracy.md" >out || {
    cat out >&2
    fail "osprof compare is wrong more often than docs/internals/compare-accuracy.md says"
}

# Labels the other way round are noticed, in a tenth of the pairs.
mkdir corpus
tar -xzf "$root/bench/compare-corpus/first.tar.gz" -C corpus
awk -F '\t' -v OFS='\t' 'NR == 1 || NR % 10 == 2 { if (NR > 1) $2 = $2 == "same" ? "different" : "same"; print }' \
    corpus/pairs.tsv >wrong.tsv
mv wrong.tsv corpus/pairs.tsv
status=0
accuracy check "$root/docs/internals/compare-accuracy.md" corpus >out || status=$?
assert_eq 1 "$status" "exit status for labels the other way round"
assert_eq 4 "$(grep -c '^worse than documented: ' out)" "complaints about labels the other way round"

need_part statistics
# Sets of runs that are there are judged: what is found, and what is reported where nothing changed.
add_runs() { # add_runs DIRECTORY PREFIX COUNT EFFECT OP [CHANGE]
    local directory=$1 prefix=$2 count=$3 effect=$4 op=$5 number
    shift 5
    mkdir -p "$directory/runs"
    [ -f "$directory/runs.tsv" ] || printf 'run\tscenario\tload\teffect\top\n' >"$directory/runs.tsv"
    python3 "$tests_dir/../cli/make_runs.py" "$directory/runs/$prefix" "$count" "$@"
    for ((number = 0; number < count; number++)); do
        printf '%s\tmade-up\tquiet\t%s\t%s\n' "$prefix$number" "$effect" "$op" >>"$directory/runs.tsv"
    done
}
add_runs sets same 6 - -
add_runs sets slow 3 x1.5 WRITE WRITE=1.5
accuracy sets sets --draws 4 --preempted 0 >out
grep -q '^| made-up  *| 0.0 % .* | -  *| -  *|$' out || fail "sets of the same are told to differ: $(<out)"
grep -q '^| all its calls ×1.5  *| 1.[45][0-9]  *| 100.0 % .* | -  *| -  *|$' out || fail "a slower operation is not found: $(<out)"

# Runs that differ by 14 % together, and of which each operation differs by 2 %, and by 1 % for its calls.
add_runs spread one 32 - - run=0.2
accuracy sets spread --draws 1 --preempted 0 >out
grep -q '^| made-up  *| 9  *| 1[0-9].[0-9] % *| \(1.[5-9]\|2.[0-5]\) % (.*) *|$' out || fail "what runs differ by is not found: $(<out)"

# Noise that is put in: of 10,000 calls about 100 take 3 ms longer, each exactly, and no call is lost. The longest call of an
# operation is then a delayed one, but that of STATFS took a second before. osprof reads the result.
PYTHONPATH="$root/bench/accuracy" python3 - sets/runs/same0.osprof >noisy.osprof <<'END' ||
import random, sys
import preempted, profiles
text = open(sys.argv[1]).read() + f"OP_STATFS 1001 {1000 * 1500 + 2**30}\n {'0 ' * 10}1000 {'0 ' * 19}1\n"
longest = {op: 2 ** (len(buckets) - 1) for op, buckets in profiles.read(text).items()}
lines = [f"# longest: {op} {cycles} object 3\n" for op, cycles in longest.items()]
text = text.replace("OP_", "".join(lines) + "OP_", 1)
noisy = preempted.add(text, random.Random(1), 0.01)
assert preempted.add(text, random.Random(1), 0) == text
hits = 0
for op, (calls, cycles) in profiles.totals(text).items():
    noisy_calls, noisy_cycles = profiles.totals(noisy)[op]
    assert noisy_calls == calls == sum(profiles.read(noisy)[op])
    hit, rest = divmod(noisy_cycles - cycles, 3_000_000)
    assert rest == 0 and hit > 0
    assert sum(profiles.read(noisy)[op][21:]) - sum(profiles.read(text)[op][21:]) == hit
    hits += hit
assert 60 < hits < 140, hits
for line in noisy.splitlines():
    if line.startswith("# longest: "):
        op, cycles = line.split()[2:4]
        assert 3_000_000 < int(cycles) < 6_000_000 if op != "STATFS" else int(cycles) == 2**30, line
        del longest[op]
assert not longest
print(noisy, end="")
END
    fail "noise is put in wrongly"
"$OSPROF" show --check noisy.osprof >out 2>&1 || fail "osprof does not take a run with noise for a profile: $(<out)"

# Runs that are made up, with that noise: twice the latency is found.
accuracy counts --trials 2 >out
grep -q '^| one call more, nothing drawn  *| 100 %; others 0 of 2  *| 100 %; others 0 of 2  *| 100 %; others 0 of 2  *|$' out ||
    fail "an exact number is not found: $(<out)"
grep -Eq '^[|] six draw 3 or 4 +[|] 0 of 2: below 77.7 % ' out || fail "a number that is drawn: $(<out)"

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
