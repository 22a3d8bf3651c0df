#!/bin/bash
# osprof compare: what it prints, to the character; its scores by another implementation; what it makes of profiles that
# are hard to compare.
. "$(dirname "$0")/lib.sh"

cp "$data/compare-before.osprof" "$data/compare-after.osprof" .
grep -vE '^# (interval|borders)' compare-before.osprof |
    awk '/^[#O]/ { flush(); print; next }
         { for (i = 1; i <= NF && $1 != "-"; i++) sum[i] += $i; if (NF > most) most = NF }
         function flush() { if (most) { for (i = 1; i <= most; i++) printf " %d", sum[i]; print ""; delete sum; most = 0 } }
         END { flush() }' >whole-before.osprof

# expect_compared STATUS NAME ARGUMENT...: as expect_golden, with another exit status
expect_compared() {
    local status=$1 golden=$data/$2.txt
    shift 2
    expect "$status" compare "$@"
    [ -z "${GOLDEN_WRITE:-}" ] || cp "$scratch/out" "$golden"
    diff -u "$golden" "$scratch/out" >&2 || fail "prints something else: osprof compare $*"
    [ ! -s "$scratch/err" ] || fail "complains: osprof compare $*"
}

# profile NAME LINE...: makes a profile whose clock is of 1 GHz
profile() {
    local name=$1
    shift
    printf '%s\n' '# osprof 1' '# clock: monotonic 1000000000 Hz' "$@" >"$name.osprof"
}

# expect_verdict VERDICT ARGUMENT...: of the only operation
expect_verdict() {
    local verdict=$1
    shift
    "$OSPROF" compare --json "$@" >out 2>err || [ $? -eq 1 ] || fail "$(<err)"
    assert_eq "$verdict" "$(sed -n 's/^ *"reason": "\(.*\)",$/\1/p' out | paste -sd ' ')" "verdict of: $*"
}

# ---- What it prints

# Layers have other calls of the same name. That is said first; nothing is refused.
profile of-user '# layer: user' 'OP_READ 100 150000' ' 0 0 0 0 0 0 0 0 0 0 100'
profile of-fs '# layer: fs' 'OP_READ 100 150000' ' 0 0 0 0 0 0 0 0 0 0 100'
profile of-none 'OP_READ 100 150000' ' 0 0 0 0 0 0 0 0 0 0 100'
expect 0 compare of-user.osprof of-fs.osprof
assert_eq "A is of the layer user, B of the layer fs: operations of the same name are other calls there." \
    "$(sed -n '1p; 2{/^A and B/!p}' "$scratch/out" | paste -sd ' ')" "profiles of two layers"
for pair in 'of-user of-user' 'of-user of-none'; do
    expect 0 compare "${pair% *}.osprof" "${pair#* }.osprof"
    ! grep -q 'of the layer' "$scratch/out" || fail "warns of layers: $(<"$scratch/out")"
done

expect_compared 1 compare-sampled compare-before.osprof compare-after.osprof
expect_compared 1 compare-whole whole-before.osprof compare-after.osprof
expect_compared 1 compare-ascii --ascii --width 60 --method grouplat whole-before.osprof compare-after.osprof
expect_compared 0 compare-same whole-before.osprof whole-before.osprof
expect_compared 0 compare-all --all --width 100 whole-before.osprof whole-before.osprof
profile small-a '# interval: 1000' 'OP_READ 120 1000' ' 0 0 40' ' 0 0 40 0 0 0 0 20' 'OP_FSYNC 1 900000' ' -' ' -' \
    'OP_OPEN 20 400' ' 0 0 0 0 20' ' -'
profile small-b '# interval: 1000' 'OP_READ 120 8000' ' 0 0 40' ' 0 0 0 0 20 60' 'OP_OPEN 20 400' ' 0 0 0 0 20' ' -'
expect_compared 1 compare-json --json small-a.osprof small-b.osprof
cp "$data/show-hung.osprof" hung.osprof
expect_compared 1 compare-hung hung.osprof compare-after.osprof
LC_ALL=C expect_compared 1 compare-ascii --width 60 --method GROUPLAT whole-before.osprof compare-after.osprof

expect 1 compare - compare-after.osprof <whole-before.osprof
diff <(grep -v '^A  ' "$data/compare-whole.txt") <(grep -v '^A  ' out) >&2 || fail "standard input is compared otherwise"
expect 1 compare --quiet whole-before.osprof compare-after.osprof
[ ! -s out ] || fail "prints something in spite of --quiet"
expect 0 compare -q compare-after.osprof compare-after.osprof

for width in 40 60 80; do
    expect 1 compare --width "$width" --all compare-before.osprof compare-after.osprof
    widest=$(sed -n '/^operation/,/^$/p; /[│└]/p; /^ .* [nµm]\?s  *[0-9]* /p' out | wc -L)
    [ "$widest" -le "$width" ] || fail "$widest columns, not $width"
done

# ---- Scores by another implementation, and a JSON schema

need python3
python3 -c 'import jsonschema' 2>/dev/null || skip "python3-jsonschema is not installed"
# validate SCHEMA JSON: in the end, all by one process
validations=0
validate() {
    validations=$((validations + 1))
    cp "$2" "$1-$validations.json"
}
validate_all() {
    local schema
    for schema; do
        python3 "$tests_dir/../cli/validate.py" "$data/../../docs/$schema.schema.json" "$schema"-*.json ||
            fail "not by the schema of a $schema"
    done
}
expect_scores() {
    "$OSPROF" compare --json "$1" "$2" >comparison.json || [ $? -eq 1 ] || fail "trouble with $1 and $2"
    validate comparison comparison.json
    python3 "$tests_dir/../cli/compare_scores.py" "$1" "$2" comparison.json || fail "scores of $1 and $2"
}
validate comparison "$data/compare-json.txt"
expect_scores compare-before.osprof compare-after.osprof
# A long name leaves room for all columns.
for side in before after; do
    sed 's/^OP_READ /OP_COPY_FILE_RANGE /' compare-$side.osprof >long-$side.osprof
done
expect 1 compare --width 80 long-before.osprof long-after.osprof
grep -q '^operation  .*calls, A  calls, B  calls, B/A$' out || fail "a column is missing: $(<out)"
! sed -n '/^operation/,/^$/p' out | iconv -t ASCII//TRANSLIT | awk 'length > 80' | grep -q . || fail "wider than the screen: $(<out)"
expect_scores compare-after.osprof whole-before.osprof
for seed in 1 2 3 4 5 6; do
    for side in a b; do
        {
            echo "# clock: monotonic 1000000000 Hz"
            [ "$side$((seed % 2))" = b0 ] && echo "# resolution: 2" || echo "# resolution: 8"
            awk -v seed="$seed$([ "$side" = a ] || echo 7)" 'BEGIN {
                srand(seed)
                for (op = 0; op < 7; op++) {
                    text = ""; calls = 0; cycles = 0
                    for (b = 0; b < 120; b++) {
                        n = rand() < 0.5 ? 0 : int(exp(10 * rand()))
                        text = text " " n; calls += n; cycles += n * 2 ^ (b / 8)
                    }
                    printf "OP_N%d %d %d\n%s\n", op, calls, cycles, text
                }
            }'
        } >"random-$side.osprof"
    done
    expect_scores random-a.osprof random-b.osprof
done

# ---- Correlations

profile readdir 'OP_READDIR 35238 9999999' ' 0 0 0 0 0 0 21307 0 0 0 0 9811 0 0 0 0 1709 0 0 0 2411' \
    'OP_READPAGE 4120 100000' ' 0 0 0 0 20 4100' 'OP_OPEN 28 1000' ' 0 0 0 0 28' 'OP_RELEASE 28 1000' ' 0 0 0 28'
expect_compared 1 compare-within --within readdir.osprof
expect_compared 1 compare-within-json --within --json readdir.osprof
validate correlation out
expect 1 compare --within -q readdir.osprof
[ ! -s out ] || fail "prints something in spite of --quiet"
profile alone 'OP_OPEN 9 1000' ' 0 0 0 0 9' 'OP_RELEASE 9 1000' ' 0 0 0 9'
expect 0 compare --within alone.osprof
assert_eq "No operations, and no peaks of different ones, with equal numbers of calls that are no chance." "$(<out)" \
    "no correlations"
expect 0 compare --within --json alone.osprof
validate correlation out

# ---- What is hard to compare

# Nothing, in one or both.
profile nothing
echo '# osprof 1' >bare.osprof
profile some 'OP_READ 100 50000' ' 0 0 0 0 0 0 0 0 100'
expect 0 compare nothing.osprof bare.osprof
grep -q '^A         nothing.osprof: no operation has been called$' out || fail "does not tell of an empty profile"
grep -qx 'Nothing to compare: neither profile has calls.' out || fail "compares nothing: $(<out)"
expect_scores_of_empty() {
    expect_verdict "one side" "$@"
    validate comparison out
}
expect_scores_of_empty nothing.osprof some.osprof
expect_scores_of_empty some.osprof bare.osprof
expect 1 compare some.osprof nothing.osprof
grep -q '^READ: only in A$' out || fail "does not tell of an operation that B lacks"

# Calls in flight are not compared.
profile flying 'OP_READ 130 50000' ' 0 0 0 0 0 0 0 0 100'
expect_verdict similar some.osprof flying.osprof
expect 0 compare --all some.osprof flying.osprof
grep -q '^  30 of B not returned, and not compared$' out || fail "does not tell of calls in flight"

# Other hosts: half the rate is a bucket less.
printf '%s\n' '# clock: monotonic 500000000 Hz' '# resolution: 1' 'OP_READ 100 25000' ' 0 0 0 0 0 0 0 100' >slow.osprof
expect_verdict similar some.osprof slow.osprof
assert_eq 0 "$(sed -n 's/^ *"EARTHMOVER": \(.*\),$/\1/p' out)" "earth moved between clock rates"
printf '%s\n' 'OP_READ 100 50000' ' 0 0 0 0 0 0 0 0 100' >silent.osprof
expect_verdict similar silent.osprof silent.osprof
expect_trouble "osprof: cannot compare some.osprof with silent.osprof: only some.osprof tells its clock's rate; add a line \
\"# clock: tsc HZ Hz\" to silent.osprof if you know it" compare some.osprof silent.osprof
expect_trouble "osprof: cannot compare silent.osprof with some.osprof: only some.osprof tells its clock's rate; add a line \
\"# clock: tsc HZ Hz\" to silent.osprof if you know it" compare silent.osprof some.osprof
printf '%s\n' '# clock: tsc 18446744073709551615 Hz' 'OP_READ 1 18446744073709551615' ' 1' >vast.osprof
printf '%s\n' '# clock: tsc 1 Hz' 'OP_READ 1 18446744073709551615' ' 1' >tiny.osprof
expect 1 compare -q vast.osprof tiny.osprof

# What profiles say may be hostile to terminals and to JSON.
printf '# lower: \033[2J"\xff\n# clock: tsc 1000 Hz\nOP_READ 1 18446744073709551615\n 0 1\n' >hostile.osprof
expect 1 compare hostile.osprof some.osprof
! grep -q $'\033' out || fail "an escape sequence reaches the terminal"
expect 1 compare --json hostile.osprof some.osprof
validate comparison out

validate_all comparison correlation

# Broken ones.
for broken in "$data"/should-fail-*.osprof; do
    for order in "$broken some.osprof" "some.osprof $broken"; do
        read -r first second <<<"$order"
        expect 2 compare "$first" "$second"
        assert_eq 1 "$(wc -l <err)" "lines about $broken"
        grep -q "^osprof: $broken is not a profile: " err || fail "$(<err)"
        [ ! -s out ] || fail "prints something of $broken"
    done
    expect 2 compare --within "$broken"
done
expect 2 compare some.osprof no/such
status=0
"$OSPROF" compare whole-before.osprof compare-after.osprof >/dev/full 2>err || status=$?
assert_eq "2 osprof: cannot write standard output: No space left on device" "$status $(<err)" "full disk"

# A million intervals, in seconds.
{
    printf '# clock: tsc 1000000000 Hz\n# resolution: 8\n# interval: 1000000\nOP_READ 1000000 1000000000\n'
    awk 'BEGIN { for (i = 0; i < 1000000; i++) print (i % 2 ? "-" : " 0 0 0 0 0 0 0 0 0 0 0 0 1 1") }'
} >million.osprof
expect 0 compare --all million.osprof million.osprof
assert_eq 12 "$(grep -c '^.* 8333[0-9] ' out)" "slots of a million intervals"

# ---- Arguments

see="see 'osprof help compare'"
expect_trouble "osprof compare: two profiles are compared, not 1; $see" compare some.osprof
expect_trouble "osprof compare: two profiles are compared, not 3; $see" compare a b c
expect_trouble "osprof compare: @1 is compared with what? Name a second profile, as in osprof compare @2 @1; $see" compare @1
expect_trouble "osprof: cannot open no/such: No such file or directory; two profiles are expected, two sets of them with -- \
between, or a directory that 'osprof run --vs' has kept runs in" compare no/such
expect_trouble "osprof compare: --within takes one profile, not 2; $see" compare --within a b
expect_trouble "osprof compare: only one of the profiles can be standard input; $see" compare - -
expect_trouble "osprof compare: --method must be FARMOVER, EARTHMOVER, TOTOPS, TOTLAT, CHISQUARE, GROUPOPS or GROUPLAT, not 'KS'; $see" compare --method KS a b
expect_trouble "osprof compare: --threshold does not go with --within, which looks at one profile; $see" \
    compare --within --threshold 1 a
expect_trouble "osprof compare: --quiet, --ascii, --color, --no-labels and --width do not go with --json; $see" compare --json -q a b
expect_trouble "osprof compare: --quiet, --ascii, --color, --no-labels and --width do not go with --json; $see" compare --json --color never a b
for number in -1 nan inf 0x10 "" " 1" 101 1e99 one; do
    expect_trouble "osprof compare: --threshold must be a number from 0 to 100, not '$number'; $see" \
        compare "--threshold=$number" a b
done
expect_trouble "osprof compare: --width must be a number from 40 to 1000, not '39'; $see" compare --width 39 a b
expect_trouble "osprof compare: option '--apart' needs an argument; $see" compare --apart

# Thresholds: of the score alone, at and above it.
profile octave 'OP_READ 100 100000' ' 0 0 0 0 0 0 0 0 0 100'
expect_verdict "no change" some.osprof octave.osprof # an octave is noise
expect_verdict score --method EARTHMOVER some.osprof octave.osprof
expect_verdict "no change" --method EARTHMOVER --threshold 1 some.osprof octave.osprof
expect_verdict score --method EARTHMOVER --threshold 0.99 some.osprof octave.osprof
expect_verdict similar --method EARTHMOVER --similar 60 some.osprof octave.osprof
expect_verdict score --method EARTHMOVER --min-calls 101 some.osprof octave.osprof # few calls, but all of the latency
profile far 'OP_READ 100 200000' ' 0 0 0 0 0 0 0 0 0 0 100'
expect_verdict score some.osprof far.osprof
expect_verdict score --score-only --threshold 0.24 some.osprof far.osprof
expect_verdict "no change" --score-only --threshold 0.25 some.osprof far.osprof
# Failures are reported if their number changed, and make no difference.
profile failing '# failed: READ EIO 3 ENOENT 1' 'OP_READ 100 50000' ' 0 0 0 0 0 0 0 0 100'
expect 0 compare --all --ascii failing.osprof some.osprof
grep -qx '  failed 4 -> 0: gone' "$scratch/out" || fail "failures that are gone are not told"
expect 0 compare --all --ascii failing.osprof failing.osprof
! grep -q '^  failed' "$scratch/out" || fail "tells of failures that are as before"
expect 0 compare --json failing.osprof some.osprof
python3 -c 'import json, sys; op = json.load(sys.stdin)["ops"][0]; assert op["a"]["failed"] == 4 and "failed" not in op["b"]' \
    <"$scratch/out" || fail "JSON does not tell failures"
python3 "$tests_dir/../cli/validate.py" "$data/../../docs/comparison.schema.json" "$scratch/out" || fail "not by the schema"

# ---- Three lists

two() { # two NAME CALLS OF_READ...: READ, beside a WRITE that takes most of the time
    profile "$1" "OP_READ $2" "$3" 'OP_WRITE 1000 100000000' ' 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1000' \
        'OP_LOOKUP 100 25000' ' 0 0 0 0 0 0 0 100' "${@:4}"
}
octave_a='2000 20000000' octave_b='2000 40000000'
two once "$octave_a" ' 0 0 0 0 0 0 0 0 0 0 0 0 0 2000'
two twice "$octave_b" ' 0 0 0 0 0 0 0 0 0 0 0 0 0 0 2000'
expect 0 compare --ascii once.osprof twice.osprof
assert_eq '0 of 3 operations changed, 1 may be noise, 2 are the same.' "$(head -n 1 out)" "an octave"
grep -qx '  READ took 2.0 times as long' out || fail "twice the latency: $(<out)"
grep -qx 'The same within 5 %: WRITE LOOKUP' out || fail "what is the same: $(<out)"
expect 0 compare --ascii twice.osprof once.osprof
grep -qx '  READ took 0.50 times as long' out || fail "half the latency: $(<out)"
expect 0 compare --ascii once.osprof once.osprof
assert_eq 'A and B are identical: the same calls and latencies in 3 operations.' "$(head -n 1 out)" "a profile and itself"
! grep -q 'noise' out || fail "an identical profile is noise"
sed 's/^OP_WRITE 1000 100000000/OP_WRITE 1000 100000001/' once.osprof >nearly.osprof
expect 0 compare once.osprof nearly.osprof
assert_eq '0 of 3 operations changed, 0 may be noise, 3 are the same.' "$(head -n 1 out)" "a cycle more"

# What is said of calls is true of these two, whether another run would have as many or not.
noise_title='Different in these two, but maybe by noise; repeat to decide, as with osprof run --repeat 5 --vs:'
profile five 'OP_WRITE 1000 100000000' ' 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1000' 'OP_OPENDIR 5 50000' ' 0 0 0 0 0 0 0 0 0 0 0 0 0 5'
profile seventeen 'OP_WRITE 1000 100000000' ' 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1000' 'OP_OPENDIR 17 170000' ' 0 0 0 0 0 0 0 0 0 0 0 0 0 17'
profile none 'OP_WRITE 1000 100000000' ' 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1000'
expect 0 compare --ascii --min-share 0 five.osprof seventeen.osprof
assert_eq "$noise_title|  OPENDIR was called 3.4 times as often, 17 calls after 5" "$(grep -A1 '^Different' out | paste -sd '|')" "more calls"
expect 0 compare --ascii --min-share 0 seventeen.osprof five.osprof
grep -qx '  OPENDIR was called 0.29 times as often, 5 calls after 17' out || fail "fewer calls: $(<out)"
expect 0 compare --ascii --min-share 0 none.osprof five.osprof
grep -qx '  OPENDIR: only in B, 5 calls' out || fail "calls of one side: $(<out)"

# A latency of 0 has no ratio.
profile zero 'OP_WRITE 1000 0' ' 1000'
profile zeros 'OP_WRITE 1500 0' ' 1500'
profile thousand 'OP_WRITE 1000 1000000' ' 0 0 0 0 0 0 0 0 0 1000'
expect 1 compare --ascii zero.osprof thousand.osprof
grep -qx 'WRITE: took 1.00 us a call after 0 ns' out || fail "from 0: $(<out)"
! grep -qiE 'inf|nan|times as long' out || fail "a ratio to 0: $(<out)"
expect 1 compare --ascii thousand.osprof zero.osprof
grep -qx 'WRITE: took 0 ns a call after 1.00 us' out || fail "to 0: $(<out)"
expect 0 compare --ascii zero.osprof zeros.osprof
grep -qx '  WRITE was called 1.5 times as often, 1,500 calls after 1,000' out || fail "0 on both sides: $(<out)"
expect 1 compare --json zero.osprof thousand.osprof
! grep -q mean_ratio out || fail "a ratio to 0 in JSON: $(<out)"
python3 "$tests_dir/../cli/validate.py" "$data/../../docs/comparison.schema.json" out || fail "0 is not by the schema"

# Less than 1 % of the latency, 20 times as long: changed, in a line. Twice as long: noise.
sed -e 's/^OP_LOOKUP 100 25000/OP_LOOKUP 100 500000/' -e 's/^ 0 0 0 0 0 0 0 100$/ 0 0 0 0 0 0 0 0 0 0 0 0 100/' once.osprof >cheap20.osprof
expect 0 compare --ascii once.osprof cheap20.osprof
assert_eq '1 of 3 operations changed, 0 may be noise, 2 are the same.' "$(head -n 1 out)" "a cheap operation"
grep -Eq '^LOOKUP +250 ns +5.00 us +20 ' out || fail "a cheap operation that changed: $(<out)"
grep -qx 'Less than 1 % of the latency, so not in the exit status: LOOKUP' out || fail "$(<out)"
! grep -q '^LOOKUP: ' out || fail "details of a cheap operation"
sed -e 's/^OP_LOOKUP 100 25000/OP_LOOKUP 100 50000/' -e 's/^ 0 0 0 0 0 0 0 100$/ 0 0 0 0 0 0 0 0 100/' once.osprof >cheap2.osprof
expect 0 compare --ascii once.osprof cheap2.osprof
grep -qx '  LOOKUP took 2.0 times as long' out || fail "a cheap operation with noise: $(<out)"

# Calls have words of their own; scores and methods are for those who ask.
profile syncs 'OP_FSYNC 603 603000' ' 0 0 0 0 0 0 0 0 0 603'
profile sync 'OP_FSYNC 3 3000' ' 0 0 0 0 0 0 0 0 0 3'
expect 1 compare --ascii syncs.osprof sync.osprof
grep -qx 'FSYNC: was called 0.00498 times as often' out || fail "fewer calls: $(<out)"
grep -qx '  calls 603 -> 3: 201 times less' out || fail "fewer calls: $(<out)"
! grep -qiE 'bucket|score|MOVER|verdict|one-sided' out || fail "a word of the method: $(grep -iE 'bucket|score|MOVER|verdict' out)"
expect 1 compare --ascii -v syncs.osprof sync.osprof
grep -q '^method    FARMOVER, ' out || fail "-v does not name the method"
grep -Eq '^FSYNC .* 0.00 +totals$' out || fail "-v has no score: $(<out)"
expect 1 compare --ascii --method EARTHMOVER some.osprof far.osprof
grep -q '^method    EARTHMOVER, ' out || fail "--method is not named"
profile crowd 'OP_FSYNC 900000 900000000' ' 0 0 0 0 0 0 0 0 0 900000'
expect 1 compare --ascii crowd.osprof sync.osprof
grep -qx 'FSYNC: was called <0.001 times as often' out || fail "hardly any call: $(<out)"
expect 1 compare --ascii sync.osprof crowd.osprof
grep -qx 'FSYNC: was called 300,000 times as often' out || fail "many calls: $(<out)"
expect_trouble "osprof compare: --verbose does not go with sets of runs; see 'osprof help compare'" compare -v a b -- c

profile many 'OP_READ 500 250000' ' 0 0 0 0 0 0 0 0 500'
expect_verdict totals some.osprof many.osprof
expect_verdict "no change" --apart 80 some.osprof many.osprof
expect_verdict "no change" --score-only some.osprof many.osprof
expect_verdict score --method totops some.osprof many.osprof

# ---- data=passthrough: what the kernel did by itself is not gone

# mount LINE...: a profile
mount_profile() {
    printf '%s\n' '# osprof 1' '# clock: tsc 1000000000 Hz' "$@"
}
mount_profile 'OP_WRITE 100 76800' " 0 0 0 0 0 0 0 0 0 100" 'OP_OPEN 100 76800' " 0 0 0 0 0 0 0 0 0 100" >copying
mount_profile '# data: passthrough' '# workers: plain' '# io_uring: yes' 'OP_OPEN 100 76800' " 0 0 0 0 0 0 0 0 0 100" >passing
mount_profile 'OP_OPEN 100 76800' " 0 0 0 0 0 0 0 0 0 100" >idle
expect 1 compare --all --ascii copying passing
assert_eq "WRITE: only in A
  in B the kernel's (data=passthrough): not profiled here; the layer user sees them" \
    "$(sed -n '/^WRITE: /,/^$/p' "$scratch/out" | sed '/^$/d')" "writes that the kernel makes"
assert_eq "data      copy -> passthrough
workers   adaptive -> plain
io_uring  no -> yes" "$(grep -E '^(data|workers|io_uring) ' "$scratch/out")" "how the mounts differ"
expect 1 compare --all --ascii passing copying
grep -q "^  in A the kernel's (data=passthrough)" "$scratch/out" || fail "the other way round: $(<"$scratch/out")"
expect 1 compare --all --ascii copying idle
grep -q '^  calls 100 -> 0: gone$' "$scratch/out" || fail "writes that are gone are not: $(<"$scratch/out")"
! grep -qE '^(data|workers|io_uring) ' "$scratch/out" || fail "tells what is the same: $(<"$scratch/out")"
