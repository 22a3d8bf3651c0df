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
make_runs both 5 READ=0.7 READ+0.02@100
make_runs all 5 all=1.5
make_runs noisy 5 run=0.2
make_runs most 5 run=0.2 all=2.3 READ=0.487
make_runs often 5 'READ*5' READ=0.74 'OPEN*2'
make_runs heavy 5 'RMDIR*2'
make_runs cheap 5 'LOOKUP*2' 'LOOKUP+0.5@0.04' 'LOOKUP!1@ENOENT'
make_runs quick 5 'LOOKUP*2' 'LOOKUP=0.5' 'LOOKUP!1@ENOENT'
make_runs far 5 GETATTR+0.01@3500
make_runs doubt 2 READ=1.12
make_runs wild 2 READ=1.5
cp a2.osprof wild1.osprof
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
    grep -q '^No operation changed significantly by more than 10 %, of 9' "$scratch/out" || fail "the same is said to have changed"
    expect 1 compare --brief $(names a) -- $(names slow)
    assert_eq slower "$(verdict WRITE)" "an operation 1.3 times slower"
    assert_eq "no change" "$(verdict READ)" "an operation beside it"
    expect 1 compare --brief $(names a) -- $(names mode)
    assert_eq "some calls slower (mean)" "$(verdict GETATTR)" "an operation of which 1 % are slow"
    expect 1 compare --fail-on slower $(names a) -- $(names mode)
    expect 0 compare --fail-on slower $(names mode) -- $(names a)
    expect 1 compare $(names mode) -- $(names a)
    grep -q '^0 of 9 operations slower, 0 faster, 1 with some calls faster[.]$' "$scratch/out" || fail "$(head -1 "$scratch/out")"
    expect 1 compare --ascii $(names a) -- $(names mode)
    grep -Eq '^  typical 7.[0-9]+ us -> 7.[0-9]+ us: x(0.9|1.0)[0-9] [[][^]]*[]]$' "$scratch/out" || fail "typical latency: $(<"$scratch/out")"
    grep -Eq "^  slow calls 0 % -> 1 % of the calls, about [5-8][0-9] times A's typical latency\$" "$scratch/out" || fail "slow calls: $(<"$scratch/out")"

    # Of too few calls to judge, on one side or both, there are numbers where they matter: 1 % of all latency.
    # They vary from run to run.
    few=(1 3 2 3 1)
    for run in 0 1 2 3 4; do
        printf -v bucket19 ' 0%.0s' {1..19}
        printf -v bucket24 ' 0%.0s' {1..24}
        setxattrs=${few[run]} statfs=$((run % 3 + 2)) fsyncdirs=$((398 + run))
        { cat a$run.osprof; printf 'OP_FSYNCDIR %d 300000000\n%s %d\nOP_STATFS %d 3000\n%s %d\n' $fsyncdirs "$bucket19" $fsyncdirs $statfs "$(printf ' 0%.0s' {1..9})" $statfs; } >rare$run.osprof
        { cat b$run.osprof; printf 'OP_FSYNCDIR 4 3000000\n%s 4\nOP_SETXATTR %d 60000000\n%s %d\n' "$bucket19" "$setxattrs" "$bucket24" "$setxattrs"; } >rarer$run.osprof
    done
    expect 0 compare --ascii $(names rare) -- $(names rarer)
    assert_eq "Not judged, with fewer than 10 calls a run in A or B:|  FSYNCDIR: 400 -> 4 calls a run, -297 ms a run|  SETXATTR: 0 -> 2 calls a run, +60.0 ms a run" \
        "$(grep -A2 '^Not judged' "$scratch/out" | paste -sd '|')" "what is not judged"
    assert_eq "Fewer than 10 calls a run: STATFS" "$(grep '^Fewer' "$scratch/out")" "what does not matter either"

    # A number that is the same in all runs of a side, and another in the other's, is exact, however small. with NAME SET
    # COUNT...: runs of a set with so many FSYNCDIRs, a run each
    with() {
        local name=$1 set=$2 run=0 count
        shift 2
        for count; do
            { cat "$set$run.osprof"; [ "$count" -eq 0 ] || printf 'OP_FSYNCDIR %d %d\n%s %d\n' "$count" $((count * 1000)) "$(printf ' 0%.0s' {1..9})" "$count"; } >"$name$run.osprof"
            run=$((run + 1))
        done
    }
    with none a 0 0 0 0 0
    with one b 1 1 1 1 1
    expect 1 compare --ascii --fail-on calls $(names none) -- $(names one)
    assert_eq "0 of 10 operations slower, 0 faster, 1 only on one side." "$(head -n 1 "$scratch/out")" "one more call a run"
    assert_eq "FSYNCDIR: only in B|  calls a run 0 -> 1" "$(grep -A1 '^FSYNCDIR:' "$scratch/out" | paste -sd '|')" "one more call a run"
    ! grep -q '^Fewer than' "$scratch/out" || fail "an exact number is among few calls: $(<"$scratch/out")"
    expect 0 compare --fail-on calls,slower $(names one) -- $(names none)
    expect 1 compare --ascii $(names one) -- $(names none)
    grep -q '^FSYNCDIR: only in A$' "$scratch/out" || fail "one call less a run: $(<"$scratch/out")"
    with three a 3 3 3
    with four b 4 4 4
    expect 1 compare --ascii --fail-on calls three[012].osprof -- four[012].osprof
    assert_eq "FSYNCDIR: more calls|  calls a run 3 -> 4: x1.33 [1.33-1.33]" "$(grep -A1 '^FSYNCDIR:' "$scratch/out" | paste -sd '|')" "3 against 4"
    expect 0 compare --fail-on calls --at-least 50 three[012].osprof -- four[012].osprof
    expect 0 compare --fail-on calls four[012].osprof -- three[012].osprof
    # Two runs a side may be alike by chance; so may three, beside an operation whose number is drawn.
    expect 0 compare --ascii --fail-on calls three[01].osprof -- four[01].osprof
    grep -q '^  FSYNCDIR: calls 3 -> 4 in all runs, but with so few runs that may be chance; about 1 more run$' "$scratch/out" || fail "2 + 2 runs: $(<"$scratch/out")"
    expect 0 compare --ascii none[01].osprof -- one[01].osprof
    grep -q '^  FSYNCDIR: calls 0 -> 1 in all runs, but ' "$scratch/out" || fail "2 + 2 runs: $(<"$scratch/out")"
    for run in 0 1 2; do
        for set in three four; do { cat $set$run.osprof; printf 'OP_STATFS %d 300\n 0 0 0 0 0 0 %d\n' $((run % 2 + 1)) $((run % 2 + 1)); } >drawn-$set$run.osprof; done
    done
    expect 0 compare --ascii --fail-on calls drawn-three[012].osprof -- drawn-four[012].osprof
    grep -q '^  FSYNCDIR: calls 3 -> 4 in all runs, but with so few runs that may be chance; about 1 more run$' "$scratch/out" || fail "beside drawn numbers: $(<"$scratch/out")"
    grep -q '^Fewer than 10 calls a run: STATFS$' "$scratch/out" || fail "drawn numbers: $(<"$scratch/out")"
    # A number that varies on a side is no exact one.
    with varied b 4 4 5 4 4
    with threes a 3 3 3 3 3
    expect 0 compare --fail-on calls $(names threes) -- $(names varied)
    grep -q '^Fewer than 10 calls a run: FSYNCDIR$' "$scratch/out" || fail "a number that varies: $(<"$scratch/out")"

    expect 0 compare $(names a) -- $(names b)
    ! grep -q '^Not judged' "$scratch/out" || fail "enough calls are not judged: $(grep -A2 '^Not judged' "$scratch/out")"

    # Usually faster, in the mean slower: no "faster" without it.
    expect 1 compare --ascii --width 200 --fail-on slower $(names a) -- $(names both)
    assert_eq 2 "$(grep -Ec '^READ(:|  )  *faster, mean longer( |$)' "$scratch/out")" "an operation that is faster and slower"
    ! grep -qE '^READ.*faster( |$)' "$scratch/out" || fail "faster, though the mean has grown: $(grep READ "$scratch/out")"
    grep -Eq "^  slow calls 0 % -> 2 % of the calls, about [0-9]+ times A's typical latency\$" "$scratch/out" || fail "slow calls: $(<"$scratch/out")"
    expect 1 compare --brief $(names both) -- $(names a)
    assert_eq "slower, mean shorter" "$(verdict READ)" "the other way round"
    expect 1 compare --fail-on slower $(names a) -- $(names slow)
    expect 0 compare --fail-on slower $(names slow) -- $(names a)
    expect 1 compare --quiet $(names slow) -- $(names a)
    [ ! -s "$scratch/out" ] || fail "--quiet prints something"
    expect 0 compare --at-least 50 $(names a) -- $(names slow)
    expect 1 compare $(names a) -- $(names all)
    grep -q '^All operations together take 1.[45][0-9]* \[.*\] times as long a call: the machine was busier' "$scratch/out" ||
        fail "a change of everything is not told: $(<"$scratch/out")"
    grep -q '^No operation changed significantly by more than 10 % against the rest, of 9' "$scratch/out" || fail "$(head -1 "$scratch/out")"
    ! grep -q 'adjusted' "$scratch/out" || fail "explains a column that is not there"
    expect 1 compare --brief $(names a) -- $(names all)
    assert_eq "as the rest" "$(verdict READ)" "an operation among all that changed"

    # A ratio is that of the figures beside it. All but READ take 2.3 times as long; it takes 1.12 times as long.
    expect 1 compare --width 200 --ascii $(names noisy) -- $(names most)
    grep -Eq '^READ +faster than the rest +[+][0-9]+ us +1[.][12][0-9] [[][^]]*[]] +[0-9.]+ us +[0-9.]+ us +1[.][12][0-9] [[].*[]] +0[.]4[0-9] [[]' "$scratch/out" ||
        fail "$(grep READ "$scratch/out")"
    grep -q '^operation .* mean, B/A  *adjusted ' "$scratch/out" || fail "the adjusted change has no column"
    grep -q '^"adjusted" is mean, B/A, without that; "than the rest" goes by it[.]$' "$scratch/out" || fail "adjusted is not explained"
    grep -q '^  typical latency adjusted for what all operations have in common: x0.4' "$scratch/out" || fail "the adjusted latency"
    ! grep -q '^READ: faster$' "$scratch/out" || fail "an operation whose mean grew is called faster"
    expect 1 compare --width 200 --ascii $(names a) -- $(names slow)
    ! grep -qi 'adjusted' "$scratch/out" || fail "adjusted where nothing is common: $(<"$scratch/out")"
    expect 1 compare --json $(names noisy) -- $(names most)
    python3 -c '
import json, math, sys
said = json.load(sys.stdin)
read = next(op for op in said["ops"] if op["name"] == "READ")
mean = read["figures"]["mean"]
assert math.isclose(mean["ratio"], mean["b_cycles"] / mean["a_cycles"], rel_tol=1e-9), mean
assert math.isclose(mean["ratio_beside_common"] * said["common"]["ratio"], mean["ratio"], rel_tol=1e-9), (mean, said["common"])
assert read["verdict"] == "faster than the rest" and read["decided_by"] == "typical"
assert "ratio_beside_common" not in read["figures"]["calls"]
' <"$scratch/out" || fail "JSON of ratios"

    # Calls are no latency: five times as many, in three quarters of the time each.
    expect 1 compare --brief $(names a) -- $(names often)
    assert_eq "more calls, faster" "$(verdict READ)" "an operation that is faster and called more often"
    assert_eq "more calls" "$(verdict OPEN)" "an operation that is called more often"
    expect 0 compare --fail-on slower $(names a) -- $(names often)
    grep -q '^0 of 9 operations slower, 1 faster, 2 with more calls' "$scratch/out" || fail "$(head -1 "$scratch/out")"
    grep -Eq '^  calls a run 1,000 . 5,000: ×5.00 ' "$scratch/out" || fail "calls: $(<"$scratch/out")"
    expect 1 compare --ascii --width 80 $(names a) -- $(names often)
    grep -Eq '^operation +verdict +cost a run +mean, B/A +calls, B/A$' "$scratch/out" || fail "no column of calls: $(<"$scratch/out")"
    grep -Eq '^READ +more calls, faster +[+][0-9.]+ ms +0.7[0-9] [[].*[]] +5.00 [[]5.00-5.00[]]$' "$scratch/out" || fail "calls: $(<"$scratch/out")"
    expect 1 compare --ascii --width 80 $(names a) -- $(names slow)
    grep -Eq '^operation +verdict +cost a run +mean, A +mean, B +mean, B/A$' "$scratch/out" || fail "a column of calls that did not change: $(<"$scratch/out")"

    # Failures that are short calls make the mean shorter; others do not, if all calls are faster.
    # shorter: what is said of that
    shorter() {
        sed -n '/^  shorter mean: /,/^  [a-z].* around\|^  A, all runs/p' "$scratch/out" | sed '$d' | paste -sd ' ' | tr -s ' '
    }
    expect 1 compare --ascii --width 80 $(names a) -- $(names cheap)
    [[ $(shorter) =~ ^\ shorter\ mean:\ a\ run\ has\ [0-9,]+\ more\ failures\ and\ (9[0-9][0-9]|1,0[0-9][0-9])\ more\ calls\ below\ 2.05\ us\;\ the\ other\ calls\ are\ no\ faster$ ]] ||
        fail "short failures: $(shorter)"
    grep -Eq '^LOOKUP: more calls, faster' "$scratch/out" || fail "short failures: $(<"$scratch/out")"
    expect 1 compare --ascii --width 80 $(names a) -- $(names quick)
    grep -Eq '^LOOKUP: more calls, faster' "$scratch/out" || fail "faster calls: $(<"$scratch/out")"
    assert_eq "" "$(shorter)" "of calls that are all faster"
    expect 1 compare -q --fail-on slower,calls $(names a) -- $(names often)
    expect 1 compare -q --fail-on calls $(names a) -- $(names often)
    expect 0 compare -q --fail-on calls $(names often) -- $(names a)
    expect 1 compare -q --fail-on total $(names a) -- $(names heavy)
    expect 0 compare -q --fail-on total,slower,elapsed $(names a) -- $(names often)
    expect 0 compare -q --fail-on total,elapsed $(names often) -- $(names a)
    expect 0 compare -q --fail-on elapsed $(names a) -- $(names often)

    # The whole interval must be beyond --at-least, not only a part of it.
    make_runs more 5 WRITE=1.18
    expect 1 compare --ascii --fail-on slower --at-least 5 $(names a) -- $(names more)
    interval=$(sed -n 's/^  typical .*: x[0-9.]* \[\([0-9.]*\)-\([0-9.]*\)\]$/\1 \2/p' "$scratch/out")
    read -r low high <<<"$interval"
    between=$(awk -v low="$low" -v high="$high" 'BEGIN { print 100 * ((low + high) / 2 - 1) }')
    below=$(awk -v low="$low" 'BEGIN { print 100 * (low - 1) - 1 }')
    expect 1 compare --fail-on slower --at-least "$below" $(names a) -- $(names more)
    expect 0 compare --ascii --fail-on slower --at-least "$between" $(names a) -- $(names more)
    grep -q "^No operation changed significantly by more than $between %, of 9, 1 inconclusive[.]\$" "$scratch/out" || fail "$(<"$scratch/out")"
    grep -Eq "^  WRITE: typical x1[.][12][0-9] .*; significantly slower, but not by more than $between %; (about [0-9]+ more runs?|more than)" "$scratch/out" ||
        fail "a part of the interval: $(<"$scratch/out")"
    expect 0 compare --fail-on slower --at-least 40 $(names a) -- $(names more)

    # A latency of 0 is less than any other, and has no ratio.
    for run in 0 1 2 3 4; do
        sed -E '/^OP_READ/{N;s/.*/OP_READ 1000 0\n 1000/}' a$run.osprof >zero$run.osprof
        printf '# osprof 1\n# layer: fs\n# clock: tsc 1000000000 Hz\nOP_READ 1000 0\n 1000\n' >nothing$run.osprof
        printf '# osprof 1\n# layer: fs\n# clock: tsc 1000000000 Hz\nOP_READ 1000 1000000\n 0 0 0 0 0 0 0 0 0 1000\n' >something$run.osprof
    done
    expect 1 compare --ascii --fail-on slower $(names zero) -- $(names b)
    grep -q '^READ: slower$' "$scratch/out" || fail "from 0: $(<"$scratch/out")"
    grep -Eq '^  mean 0 ns -> 2[.][0-9]+ us$' "$scratch/out" || fail "from 0: $(<"$scratch/out")"
    ! grep -qiE '(^|[^a-z])(inf|nan)' "$scratch/out" || fail "a ratio to 0: $(<"$scratch/out")"
    expect 0 compare --ascii --fail-on slower $(names b) -- $(names zero)
    grep -q '^READ: faster$' "$scratch/out" || fail "to 0: $(<"$scratch/out")"
    for run in 0 1 2 3 4; do sed -E '/^OP_READ/{N;s/.*/OP_READ 1000 0\n 1000/}' all$run.osprof >all-zero$run.osprof; done
    expect 1 compare --brief $(names zero) -- $(names all-zero)
    assert_eq "no change" "$(verdict READ)" "0 on both sides, where all others are slower"
    expect 1 compare --ascii --fail-on total $(names nothing) -- $(names something)
    grep -q '^The calls of a run took, together, 1.00 ms after 0 ns: more time[.]$' "$scratch/out" || fail "all from 0: $(<"$scratch/out")"
    expect 1 compare --json $(names zero) -- $(names b)
    python3 -c '
import json, math, sys
read = next(op for op in json.load(sys.stdin)["ops"] if op["name"] == "READ")
assert read["verdict"] == "slower" and "slow_calls" not in read and not read["peaks"], read
mean = read["figures"]["mean"]
assert mean["a_cycles"] == 0 and mean["b_cycles"] > 0 and mean["changed"] and "ratio" not in mean, mean
' <"$scratch/out" || fail "JSON of a latency of 0"

    # A run that takes longer
    for run in 0 1 2 3 4; do sed "s/^# elapsed: .*/# elapsed: 13${run}0000000/" b$run.osprof >late$run.osprof; done
    expect 0 compare $(names a) -- $(names late)
    grep -q '^A run took 1.3[0-9]* \[.*\] times as long: more time[.]$' "$scratch/out" || fail "$(<"$scratch/out")"
    expect 1 compare -q --fail-on elapsed $(names a) -- $(names late)
    expect 0 compare -q --fail-on slower,calls,total $(names a) -- $(names late)

    # Factors, not thousands of percents
    expect 1 compare --ascii $(names a) -- $(names far)
    grep -Eq '^  calls around .*: 0 % -> 1 %, which alone makes the mean latency x(3[0-9]|40)' "$scratch/out" || fail "$(<"$scratch/out")"
    ! grep -q 'e+' "$scratch/out" || fail "a number with an exponent: $(grep 'e+' "$scratch/out")"
    expect 1 compare --ascii $(names a) -- $(names mode)
    grep -Eq '^  calls around .*: 0 % -> 1 %, [+](5|6|7)[0-9.]* % of the mean latency$' "$scratch/out" || fail "$(<"$scratch/out")"

    expect 1 compare --ascii $(names far) -- $(names a)
    ! grep -qE 'e[-+][0-9]' "$scratch/out" || fail "a number with an exponent: $(grep -E 'e[-+][0-9]' "$scratch/out")"
    for run in 0 1 2; do sed -E 's/^OP_READ .*/OP_READ 1000 3000000000/; /^OP_READ/{n;s/.*/ 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1000/}' a$run.osprof >huge$run.osprof; done
    expect 1 compare --ascii $(names huge) -- $(names a)
    grep -q '^READ .*<0.001 [[]<0.001-<0.001[]]' "$scratch/out" || fail "a tiny factor: $(<"$scratch/out")"

    # Inconclusive, and why
    expect 0 compare --ascii a0.osprof a1.osprof -- doubt0.osprof doubt1.osprof
    grep -Eq '^  READ: typical x1.1[0-9]* \[1[.].*\]; probably slower, but not significant after correction for [0-9]+ tests; ' "$scratch/out" ||
        fail "an interval that excludes 1 is not explained: $(<"$scratch/out")"
    expect 0 compare --ascii a0.osprof a1.osprof -- wild0.osprof wild1.osprof
    grep -Eq '^  READ: (typical|mean) x[0-9.]* \[0.*\]; (about [0-9]+ more runs?|more than)' "$scratch/out" || fail "$(<"$scratch/out")"

    # Failures
    expect 0 compare --brief $(names some) -- $(names others)
    assert_eq "no change" "$(verdict LOOKUP)" "an operation that fails as often"
    expect 1 compare --brief $(names others) -- $(names failing)
    assert_eq "no change" "$(verdict LOOKUP)" "an operation that fails as often"
    assert_eq "fails more" "$(verdict READ)" "an operation that fails now"
    expect 0 compare --fail-on slower $(names others) -- $(names failing)
    expect 1 compare --ascii $(names others) -- $(names failing)
    grep -q '^0 of 9 operations slower, 0 faster, 1 failing more' "$scratch/out" || fail "$(head -1 "$scratch/out")"
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

    # A wide interval stands apart from the figure before it.
    expect 1 compare --ascii --width 100 "$data/compare-before.osprof" "$data/../fuzz/corpus-profile/complete.osprof" -- \
        "$data/compare-after.osprof" "$data/show-grep.osprof"
    grep -q '^READ  *slower  .* 89.3 us  *15.9 \[' "$scratch/out" || fail "$(grep '^READ ' "$scratch/out")"

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
for list in faster 'slower,' slower,,calls slower+calls; do
    expect_trouble "osprof compare: --fail-on $list: must be change, slower, calls, total or elapsed, or several of them with commas \
between; see 'osprof help compare'" compare --fail-on "$list" a0.osprof a1.osprof -- b0.osprof
done
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
expect_trouble "osprof: empty is a directory, and nothing profiles it: osprof attach empty, or osproffs empty MOUNTPOINT, does" compare empty -- a0.osprof a1.osprof
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
for set in b slow mode all failing zero one; do
    # shellcheck disable=SC2046 # names have no blanks
    "$OSPROF" compare --json $(names a) -- $(names "$set") >view.json || [ $? = 1 ] || fail "$set: trouble"
    "$python" "$data/../cli/validate.py" "$data/../../docs/verdict.schema.json" view.json || fail "$set: not by the schema"
done
