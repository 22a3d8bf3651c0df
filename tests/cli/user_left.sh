#!/bin/bash
# osprof run --layers user: calls that never return, because a signal handler jumps out of them or their process ends,
# are counted as left, and the profile is consistent. Calls that are only interrupted, by a handler on any stack or by
# a coroutine, are none of them.
. "$(dirname "$0")/lib.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"

options='-d . --everything' # most calls are on FIFOs

# left_calls WHAT LEFT OP=NUMBER...: a row of left_calls.c; LEFT: "OP calls" of those left, "" for none; and how many
# calls were begun
left_calls() {
    local what=$1 left=$2 one
    shift 2
    rm -rf "${lower:?}"/*
    user_run 0 "$TEST_PROGRAMS/left_calls" "$what"
    assert_eq "$left" "$(sed -n 's/^# left: //p' "$scratch/profile")" "calls left: $what"
    for one; do
        assert_eq "${one#*=}" "$(calls "${one%=*}")" "calls of ${one%=*}: $what"
    done
    expect 0 show --check "$scratch/profile"
}

left_calls fault_in_fread "FREAD 8" FREAD=8 FOPEN=8
grep -q ', 8 left before they returned$' "$scratch/out" || fail "osprof show --check does not say how many calls were left"
expect 0 show "$scratch/profile"
tr '\n' ' ' <"$scratch/out" | grep -qF \
    "8 calls never returned (FREAD 8): a jump left them, or their process ended or executed another program." ||
    fail "osprof show does not say how many calls were left"
assert_eq 0 "$("$OSPROF" show --metrics "$scratch/profile" | awk '/^osprof_op_calls_in_flight/ { sum += $2 } END { print sum }')" \
    "calls in flight in metrics"
left_calls jump_after_calls "READ 3" READ=3 PREAD=6
left_calls ended "READ 3" READ=3

left_calls thread_exit "" READ=1
left_calls interrupted "" READ=2 PREAD=4 WRITE=2
left_calls coroutines "" READ=2 PREAD=14 WRITE=2
! grep -q 'left' "$scratch/out" || fail "osprof show --check speaks of calls left where there are none"

# What warm-ups have left is none of the run.
rm -f "$lower"/* "$scratch/profile"
# shellcheck disable=SC2016 # for the shell below
(cd "$lower" && exec "$OSPROF" run --layers user -d . --everything --warmup 1 -q -o "$scratch/profile" -- \
    sh -c 'if [ -e fifo ]; then exec cat data; else exec "$TEST_PROGRAMS/left_calls" jump_after_calls; fi') >/dev/null
! grep '^# left:' "$scratch/profile" || fail "calls that a warm-up has left are told of"
assert_eq 0 "$(calls PREAD)" "calls of the warm-up"
[ "$(calls READ)" = "$(ended READ)" ] || fail "calls that a warm-up has left are counted in the run"
expect 0 show --check "$scratch/profile"

# Two profiles together have the calls left of both.
rm -f "$lower"/*
user_run 0 "$TEST_PROGRAMS/left_calls" fault_in_fread
cp "$scratch/profile" "$scratch/first"
rm -f "$lower"/*
user_run 0 "$TEST_PROGRAMS/left_calls" fault_in_fread
expect 0 save -o "$scratch/sum" "$scratch/first" "$scratch/profile"
assert_eq "FREAD 16" "$(sed -n 's/^# left: //p' "$scratch/sum")" "calls left of two profiles"
expect 0 show --check "$scratch/sum"
