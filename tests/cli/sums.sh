#!/bin/bash
# Sums of counts that have 64 bits each are exact wherever they are printed, or refused: of operations, groups, causes,
# layers and profiles.
. "$(dirname "$0")/lib.sh"

half=9223372036854775807  # 2^63 - 1
most=18446744073709551615 # 2^64 - 1

# make NAME LAYER CALLS OP...: a profile in which each of these has so many calls of a cycle, which is a nanosecond
make() {
    local name=$1 layer=$2 calls=$3 op
    shift 3
    {
        printf '%s\n' '# osprof 1' "# layer: $layer" '# clock: tsc 1000000000 Hz' '# elapsed: 1000000000'
        for op; do
            printf 'OP_%s %s %s\n%s\n' "$op" "$calls" "$calls" "$calls"
        done
    } >"$name"
}

# assert_prints TEXT ARGUMENT...
assert_prints() {
    local text=$1
    shift
    expect 0 "$@"
    grep -qF -- "$text" out || {
        head -n 30 out >&2
        fail "does not print '$text': osprof $*"
    }
}

make three.osprof fs "$half" READ WRITE OPEN
sum=27,670,116,110,564,327,421
assert_prints "total     27,670,116,111 s in $sum calls of 3 operations" show three.osprof
assert_prints "three.osprof: consistent: 3 ops, $sum calls" show --check three.osprof
assert_prints "27,670,116,111 s in $sum calls, taken" compare three.osprof three.osprof
assert_prints "$sum calls, 27,670,116,111 s" plot --gnuplot three.osprof
expect 0 show --csv three.osprof
assert_eq "3 $half" "$(sed 1d out | cut -d , -f 7 | sort | uniq -c | xargs)" "counts in CSV"

# Numbers of the table stand apart.
make one.osprof fs "$most" GETATTR
expect 1 compare one.osprof three.osprof
grep -qE '^GETATTR +1.00 ns +- +- +18,446,744,073,709,551,615( |$)' out || {
    cat out >&2
    fail "numbers run into each other"
}

# Merging adds within an operation, which has room for 64 bits: more is refused.
make other.osprof fs "$half" READ LOOKUP
make third.osprof fs 2 READ
assert_prints "OP_READ 18446744073709551614 18446744073709551614" save three.osprof other.osprof
expect 2 save three.osprof other.osprof third.osprof
[ ! -s out ] || fail "prints a sum that does not fit"
assert_eq "osprof: cannot sum up third.osprof: the sum does not fit 64 bits" "$(<err)" "message of a sum that does not fit"

# Groups: of one caller, and of several of a name.
{
    cat three.osprof
    for id in 1 2; do
        echo "# process: $id same"
        for op in READ WRITE OPEN; do
            printf 'OP_%s 4611686018427387903 4611686018427387903\n4611686018427387903\n' "$op"
        done
    done
} >groups.osprof
assert_prints 13,835,058,055,282,163,709 show --by process groups.osprof
assert_prints "in 27,670,116,110,564,327,418 calls of 3" show --of same groups.osprof

# Layers: an operation that is several of the layer below, in the table, as JSON and in the figure.
make user.osprof user "$most" STAT
make fs.osprof fs "$most" LOOKUP GETATTR
"$OSPROF" save -o layers.osprof user.osprof fs.osprof
assert_prints "36,893,488,147,419,103,230" show layers.osprof
assert_prints '"calls": 36893488147419103230' show --json layers.osprof
assert_prints "36,893,488,147,419,103,230 calls, " plot --layers --gnuplot layers.osprof
if python=$(python_with jsonschema); then
    "$OSPROF" show --json layers.osprof >layers.json
    "$python" "$(dirname "$0")/validate.py" "$tests_dir/../../docs/recording.schema.json" layers.json
fi

# Failures of several operations, and what is not there.
{
    printf '%s\n' '# osprof 1' '# layer: fs' '# clock: tsc 1000000000 Hz' '# elapsed: 1000000000'
    for op in READ WRITE OPEN CREATE MKDIR RMDIR UNLINK; do
        printf '# failed: %s EIO %s\n' "$op" "$half"
    done
    printf '# failed: %s %s %s\n' LOOKUP ENOENT "$most" GETXATTR ENODATA "$most"
    for op in READ WRITE OPEN CREATE MKDIR RMDIR UNLINK; do
        printf 'OP_%s %s %s\n%s\n' "$op" "$half" "$half" "$half"
    done
    for op in LOOKUP GETXATTR; do
        printf 'OP_%s %s %s\n%s\n' "$op" "$most" "$most" "$most"
    done
} >failed.osprof
assert_prints "others 18,446,744,073,709,551,614" show --width 250 failed.osprof
grep -v EIO failed.osprof >absent.osprof
assert_prints "nothing but 36,893,488,147,419,103,230 queries for what is not there" show --width 250 absent.osprof

# Causes of slow calls: over operations, and in metrics, where the causes beyond a bound are one.
{
    printf '%s\n' '# osprof 1' '# layer: fs' '# clock: tsc 1000000000 Hz' '# elapsed: 1000000000' '# slow: 1'
    for op in READ WRITE OPEN; do
        printf '# cause: %s calls %s total %s longest 1 cause waiting\\040for\\040a\\040lock\n' "$op" "$half" "$half"
    done
    for op in READ WRITE OPEN; do
        printf 'OP_%s %s %s\n%s\n' "$op" "$half" "$half" "$half"
    done
} >slow.osprof
assert_prints "$sum calls took 1.00 ns or longer" why slow.osprof
{
    printf '%s\n' '# osprof 1' '# layer: fs' '# clock: tsc 1000000000 Hz' '# elapsed: 1000000000' '# slow: 1'
    for number in {1..131}; do
        printf '# cause: READ calls %s total %s longest 1 cause cause\\040%s\n' "$half" "$half" "$number"
    done
    printf 'OP_READ %s %s\n%s\n' "$half" "$half" "$half"
} >causes.osprof
assert_prints "${sum//,/}" show --metrics causes.osprof

# Calls whose clock ran backwards are compared with all operations' lowest buckets.
sed 's/^# elapsed.*/&\n# clamped: 18446744073709551615/' three.osprof >clamped.osprof
assert_prints "clamped.osprof: consistent" show --check clamped.osprof
sed 's/^# elapsed.*/&\n# clamped: 18446744073709551615/' third.osprof >clamped.osprof
expect 1 show --check clamped.osprof
assert_eq "clamped.osprof: 18446744073709551615 clamped calls, but 2 in bucket 0" "$(<out)" "clamped calls"
