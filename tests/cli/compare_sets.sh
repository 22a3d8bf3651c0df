#!/bin/bash
# osprof compare A... -- B...: what it says of sets of runs that are made up, in all its forms, and of bad input.
. "$(dirname "$0")/lib.sh"

need python3
runs=$tests_dir/../cli/make_runs.py
make_runs() {
    python3 "$runs" "$@"
}

# names PREFIX: of its runs
names() {
    printf '%s\n' "$1"?.osprof
}

make_runs a 5
make_runs b 5
make_runs slow 5 WRITE=1.3
make_runs mode 5 GETATTR+0.01@64
make_runs all 5 all=1.5
make_runs some 5 'LOOKUP!0.3@ENOENT'
make_runs others 5 'LOOKUP!0.3@ENOENT'
make_runs failing 5 'LOOKUP!0.3@ENOENT' 'READ!0.04@EIO'

# verdict OP: what --brief says of it, from $scratch/out
verdict() {
    sed -n "s/^$1  *\(.*\)  mean .*/\1/p" "$scratch/out" | sed 's/ *$//'
}

# shellcheck disable=SC2046 # names have no blanks
{
    expect 0 compare $(names a) -- $(names b)
    grep -q '^No operation surely changed, of 7' "$scratch/out" || fail "the same is said to have changed"
    expect 1 compare --brief $(names a) -- $(names slow)
    assert_eq slower "$(verdict WRITE)" "an operation 1.3 times slower"
    assert_eq alike "$(verdict READ)" "an operation beside it"
    expect 1 compare --brief $(names a) -- $(names mode)
    assert_eq slower "$(verdict GETATTR)" "an operation of which 1 % are slow"
    expect 1 compare --fail-on slower $(names a) -- $(names slow)
    expect 0 compare --fail-on slower $(names slow) -- $(names a)
    expect 1 compare --quiet $(names slow) -- $(names a)
    [ ! -s "$scratch/out" ] || fail "--quiet prints something"
    expect 0 compare --at-least 50 $(names a) -- $(names slow)
    expect 1 compare $(names a) -- $(names all)
    grep -q '^Everything is 1.[45][0-9]* times slower' "$scratch/out" || fail "a change of everything is not told"

    # Failures
    expect 0 compare --brief $(names some) -- $(names others)
    assert_eq alike "$(verdict LOOKUP)" "an operation that fails as often"
    expect 1 compare --brief $(names others) -- $(names failing)
    assert_eq alike "$(verdict LOOKUP)" "an operation that fails as often"
    assert_eq "fails more" "$(verdict READ)" "an operation that fails now"
    expect 0 compare --fail-on slower $(names others) -- $(names failing)
    expect 1 compare --ascii $(names others) -- $(names failing)
    grep -q '^0 of 7 operations slower, 0 faster, 1 failing more' "$scratch/out" || fail "$(head -1 "$scratch/out")"
    grep -Eq "^  failures 0 % -> [34][.0-9]* % of the calls, most of B's EIO$" "$scratch/out" || fail "no line of failures"
    expect 1 compare --markdown $(names failing) -- $(names others)
    grep -Eq '^\| READ \| fails less \| .* \| [34][.0-9]* % → 0 % \|$' "$scratch/out" || fail "--markdown has no failures"
    expect 1 compare --json $(names others) -- $(names failing)
    python3 -c '
import json, sys
ops = {op["name"]: op for op in json.load(sys.stdin)["ops"]}
failures = ops["READ"]["failures"]
assert failures["a_share"] == 0 and 0.03 < failures["b_share"] < 0.05 and failures["changed"], failures
assert not ops["LOOKUP"]["failures"]["changed"] and "failures" not in ops["WRITE"]
' <"$scratch/out" || fail "JSON of failures"

    # An interval that is wider than its column stands apart from the figure before it.
    expect 1 compare --ascii --width 100 "$data/compare-before.osprof" "$data/../fuzz/corpus-profile/complete.osprof" -- \
        "$data/compare-after.osprof" "$data/show-grep.osprof"
    grep -q '^READ .* 89.3 us 90.0 \[' "$scratch/out" || fail "$(grep '^READ ' "$scratch/out")"

    # The interval holds what was planted.
    expect 1 compare --json $(names a) -- $(names slow)
    python3 -c '
import json, sys
ops = {op["name"]: op for op in json.load(sys.stdin)["ops"]}
mean = ops["WRITE"]["figures"]["mean"]
assert mean["low"] <= 1.3 <= mean["high"], mean
assert mean["changed"] and not ops["READ"]["figures"]["mean"]["changed"]
' <"$scratch/out" || fail "the interval does not hold the factor"

    # Lists of names
    names a >a.list
    names slow >b.list
    cp "$scratch/out" by_names
    expect 1 compare --json @a.list -- @b.list
    cmp -s "$scratch/out" by_names || fail "a list of names is not what it names"
    expect 1 compare --json @a.list -- @- <b.list
    cmp -s "$scratch/out" by_names || fail "a list on standard input is not what it names"

    # One run on a side
    expect 0 compare a0.osprof a1.osprof a2.osprof -- b0.osprof

    # A word after "--" that has nothing before it is a name
    expect 0 compare -- a0.osprof a0.osprof

    # Markdown
    expect 1 compare --markdown $(names a) -- $(names slow)
    grep -q '^| WRITE | slower | ' "$scratch/out" || fail "--markdown has no row for WRITE"

    # For the eye: an operation that changed, A over B, at any width
    for width in 40 60 80 200; do
        expect 1 compare --width "$width" --ascii $(names a) -- $(names mode)
        ! LC_ALL=C grep -q '[^ -~]' "$scratch/out" || fail "--ascii prints other characters"
        ! grep -q '^.\{201\}' "$scratch/out" || fail "a line is too long"
    done
    assert_eq "A, all runs;B, all runs" "$(sed -n 's/^ *\([AB], all runs\)$/\1/p' "$scratch/out" | paste -sd';')" charts
}

# ---- Bad input

sed 's/^# layer: fs/# layer: block/' b0.osprof >block.osprof
sed 's/^# clock.*/# clock: tsc unknown/' b0.osprof >rateless.osprof
echo nonsense >broken.osprof
expect_trouble "osprof: cannot compare a0.osprof with block.osprof: one is of the layer fs, the other of block" \
    compare a0.osprof a1.osprof -- b0.osprof block.osprof
expect 2 compare a0.osprof broken.osprof -- b0.osprof b1.osprof missing.osprof
grep -q 'broken.osprof' "$scratch/err" || fail "a broken profile is not named"
grep -q 'missing.osprof' "$scratch/err" || fail "the second that cannot be read is not named"
expect_trouble "osprof: cannot open the list of profiles no.list: No such file or directory" compare @no.list -- b0.osprof
most=18446744073709551615
for number in 0 1 2; do
    printf '%s\n' '# osprof 1' '# layer: fs' '# clock: tsc 1000000000 Hz' "OP_READ $most $most" " $most" >most$number.osprof
done
expect_trouble "osprof: cannot compare these profiles: the sum of a side does not fit 64 bits" \
    compare most0.osprof most1.osprof -- most2.osprof
sed 's/ 1000000000 Hz/ 3000000000 Hz/' most2.osprof >fast.osprof
expect_trouble "osprof: cannot compare these profiles: their clock rates are too far apart for their latencies" \
    compare most0.osprof most1.osprof -- fast.osprof
: >empty.list
expect_trouble "osprof: nothing to compare: a list names no profile" compare @empty.list -- b0.osprof
expect_trouble 'osprof: one run on each side tells nothing of noise: compare them as two profiles, without "--"' \
    compare a0.osprof -- b0.osprof
expect 2 compare --method TOTOPS a0.osprof a1.osprof -- b0.osprof
expect 2 compare --json --brief a0.osprof a1.osprof -- b0.osprof
expect 2 compare --brief a0.osprof b0.osprof
expect 2 compare --at-least 0 a0.osprof a1.osprof -- b0.osprof

ln -s a1.osprof linked.osprof
cp a1.osprof copy.osprof
expect_trouble "osprof: a1.osprof is given twice: a run counts once, and on one side" compare a0.osprof a1.osprof a1.osprof -- b0.osprof
expect_trouble "osprof: a1.osprof and linked.osprof are the same file: a run counts once, and on one side" \
    compare a0.osprof a1.osprof -- b0.osprof linked.osprof
printf '%s\n' a1.osprof >a1.list
expect_trouble "osprof: a1.osprof is given twice: a run counts once, and on one side" compare a0.osprof a1.osprof @a1.list -- b0.osprof
expect 0 compare a0.osprof a1.osprof -- b0.osprof copy.osprof
mkdir runs
for number in 0 1 2; do cp a$number.osprof runs/a-$number.osprof && cp b$number.osprof runs/b-$number.osprof; done
expect 0 compare runs
expect_trouble "osprof: runs is a directory, and a profile is expected; name those in it one by one, such as runs/*.osprof
osprof: runs/ is a directory, and a profile is expected; name those in it one by one, such as runs/*.osprof" compare runs -- runs/
mkdir empty
expect_trouble "osprof: empty is a directory, but not the root of an osproffs mount: it has no control file .osprof" compare empty -- a0.osprof a1.osprof
expect_trouble "osprof: cannot open nosuch/: No such file or directory; two profiles are expected, two sets of them with -- between, or a directory that 'osprof run --vs' has kept runs in" \
    compare nosuch/
expect 2 compare a0.osprof
grep -qF "osprof compare: two profiles are compared, not 1" err || fail "one profile: $(<err)"
mkfifo runs/b-3.osprof
status=0
timeout 60 "$OSPROF" compare runs >out 2>err || status=$?
assert_eq "2 osprof: runs/b-3.osprof is not a profile: it is a FIFO, a socket or a device, which is read only if it is named" \
    "$status $(<err)" "a FIFO among the runs"

# ---- The schema

python=$(python_with jsonschema) || skip "no python3 that has jsonschema"
for set in b slow mode all failing; do
    # shellcheck disable=SC2046 # names have no blanks
    "$OSPROF" compare --json $(names a) -- $(names "$set") >view.json || [ $? = 1 ] || fail "$set: trouble"
    "$python" "$data/../cli/validate.py" "$data/../../docs/verdict.schema.json" view.json || fail "$set: not by the schema"
done
