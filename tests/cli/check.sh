#!/bin/bash
# osprof show --check: consistent, inconsistent and unreadable profiles.
. "$(dirname "$0")/lib.sh"

# expect_check STATUS OUTPUT PROFILE...
expect_check() {
    local wanted=$1 output=$2
    shift 2
    expect "$wanted" show --check "$@"
    assert_eq "$output" "$(<"$scratch/out")" "output of: osprof show --check $*"
}

cd "$data"
calls=$(awk '/^OP_/ { sum += $2 } END { print sum }' show-grep.osprof)
expect_check 0 "show-grep.osprof: consistent: 12 ops, ${calls%???},${calls: -3} calls" show-grep.osprof
expect_check 0 "show-empty.osprof: consistent: 0 ops, 0 calls" show-empty.osprof
expect_check 0 "show-hung.osprof: consistent: 2 ops, 132 calls, 2 in flight" show-hung.osprof

expect_check 1 "show-inconsistent-calls.osprof: OP_READ: 12 calls, but 11 in buckets and 0 in flight" \
    show-inconsistent-calls.osprof
expect_check 1 "show-inconsistent-total.osprof: OP_READ: a total of 22529 cycles, but its buckets allow 11264 to 22528
show-inconsistent-total.osprof: OP_WRITE: a total of 23 cycles, but its buckets allow 24 to 48" \
    show-inconsistent-total.osprof
expect_check 1 "show-inconsistent-flight.osprof: 2 clamped calls, but 0 in bucket 0
show-inconsistent-flight.osprof: OP_FSYNC: a call in flight, but none was counted
show-inconsistent-flight.osprof: OP_READ: 11 calls, but 11 in buckets and 1 in flight" show-inconsistent-flight.osprof

# Every profile is checked; the worst decides.
expect_check 1 "show-inconsistent-calls.osprof: OP_READ: 12 calls, but 11 in buckets and 0 in flight
show-empty.osprof: consistent: 0 ops, 0 calls" show-inconsistent-calls.osprof show-empty.osprof
expect_check 2 "show-empty.osprof: consistent: 0 ops, 0 calls" \
    should-fail-more-buckets-than-calls.osprof show-empty.osprof
assert_eq 1 "$(wc -l <"$scratch/err")" "lines about the unreadable one"

# Without a name it is the last result.
keep_result show-hung.osprof
expect_check 0 "@1: consistent: 2 ops, 132 calls, 2 in flight"

# What does not go with it, or without it
see="see 'osprof help show'"
for option in json csv op=READ by=process of=cat charts explain; do
    expect_trouble "osprof show: --check shows nothing else: leave out --${option%=*}; $see" \
        show --check "--$option" show-grep.osprof
done
expect_trouble "osprof show: --preemption goes with --check; $see" show --preemption show-grep.osprof
for option in quantum=4ms threads=3; do
    expect_trouble "osprof show: --quantum and --threads go with --check --preemption; $see" \
        show --check "--$option" show-grep.osprof
done
for quantum in 4ns 0.1us 0ms 2h ms; do
    expect_trouble "osprof show: --quantum $quantum: must be a time from 1us to 1h, such as 4ms; $see" \
        show --check --preemption --quantum "$quantum" show-grep.osprof
done

# No more calls fail than end.
printf '# osprof 1\n# failed: READ EIO 2 ENOENT 1\nOP_READ 3 24\n 0 0 0 3\n' >failures
expect 0 show --check failures
sed 's/EIO 2/EIO 3/' failures >more-failures
expect 2 show --check more-failures

# One bucket's count of a real profile changed by one, either way, is noticed.
awk '/^OP_/ { op = $1 } op == "OP_OPEN" && /^ / && !done { for (i = NF; !$i; i--); $i--; $0 = " " $0; done = 1 } 1' \
    show-grep.osprof >"$scratch/one-less"
expect 1 show --check "$scratch/one-less"
awk '/^OP_OPEN / { $2-- } 1' show-grep.osprof >"$scratch/one-more"
expect 2 show --check "$scratch/one-more"

# Cut within a line, at any byte, no profile is taken for a whole one, by whatever reads it.
cd "$scratch"
mkdir cuts
for name in show-answer compare-after show-groups; do
    profile=$data/$name.osprof
    size=$(stat -c %s "$profile")
    for ((bytes = 50; bytes < size; bytes += 100)); do
        head -c "$bytes" "$profile" >cuts/profile
        [ -n "$(tail -c 1 cuts/profile)" ] || continue # a whole line: it may be whole
        for command in "show --check" show "show --json" "compare $profile" "save -o saved" "save -o saved $profile" "plot -o plotted.svg"; do
            status=0
            # shellcheck disable=SC2086 # words
            "$OSPROF" $command cuts/profile >out 2>err || status=$?
            [ "$status" -eq 2 ] || fail "status $status of osprof $command of $bytes bytes of $name: $(<err)"
            grep -q 'cuts/profile' err || fail "osprof $command does not tell of $bytes bytes of $name: $(<err)"
        done
    done
done
[ ! -e saved ] || fail "what was cut is saved, or its sum"
