#!/bin/bash
# osprof run --layers user: any number of processes and threads, one after the other or at once.
. "$(dirname "$0")/lib.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"

printf 'some data\n' >"$lower/data"

# Children that the C library does not know: their places are used again, so later programs are counted too.
user_run 0 sh -c "$TEST_PROGRAMS/clone_calls clones 211; $TEST_PROGRAMS/clone_calls clones 223"
assert_eq $((211 + 223)) "$(calls PREAD)" "reads of children of clone"
! grep -E '^# (incomplete|not_seen):' "$scratch/profile" || fail "something is said to be missing"

# A child of vfork has borrowed memory: the place that it takes is its parent's, and nobody else counts there.
user_run 0 "$TEST_PROGRAMS/clone_calls" vfork 100003
assert_eq $((1 + 2 * 100003)) "$(calls PREAD)" "reads after a first one in a child of vfork"
! grep -E '^# (incomplete|not_seen):' "$scratch/profile" || fail "something is said to be missing"

# More threads than places: where files must be small, there are few.
small_run() {
    (ulimit -f 4096 && user_run 0 "$TEST_PROGRAMS/clone_calls" threads "$1") || exit 1
}
small_run 7
assert_calls OPEN=7 READ=7 FSTAT=7 LSEEK=7 CLOSE=7
small_run 131
most=$(sed -n 's/^# threads_max: //p' "$scratch/profile")
(( ${most:-0} > 7 && most < 131 )) || fail "threads beyond '$most' at a time were not seen?"
# The first thread may want a place too, for calls that turn out not to count.
beyond=$(sed -n 's/^# not_seen: crowded \([0-9]*\)$/\1/p' "$scratch/profile")
(( beyond + $(calls READ) >= 131 && beyond <= 132 - most + 1 && $(calls READ) <= most )) ||
    fail "$(calls READ) threads were seen and $beyond were not, of 131"
! grep '^# incomplete:' "$scratch/profile" || fail "memory is said to be the cause"

# wait_for FILE, or fail
wait_for() {
    local step
    for ((step = 0; step < 1000; step++)); do
        [ ! -e "$1" ] || return 0
        sleep 0.02
    done
    : >"$lower/go" # a command that waits ends
    fail "$1 is not made: ${2-}"
}

# Killed itself, osprof leaves the command alone: nothing is mounted. The profile is recovered from the live file.
# shellcheck disable=SC2016 # for the shell below
(cd "$lower" && exec "$OSPROF" run --layers user -d . -q -o "$scratch/profile" -- \
    sh -c 'cat data >/dev/null; : >started; while [ ! -e go ]; do sleep 0.02; done; cat data data; : >ended') >"$scratch/out" 2>&1 &
osprof_pid=$!
wait_for "$lower/started"
kill -KILL "$osprof_pid"
wait "$osprof_pid" 2>/dev/null || true
: >"$lower/go"
wait_for "$lower/ended" "the command was killed too"
live=$XDG_RUNTIME_DIR/osprof/$osprof_pid-user-0.live
"$OSPROF" save --list | grep -qE "^ *$osprof_pid +dead .* $live " || fail "the live file is not listed"
expect 0 save --remove -o "$scratch/profile" "$live"
[ "$(calls OPEN)" = 5 ] || fail "$(calls OPEN) opened files were counted, before and after, not 5"
[ ! -e "$live" ] || fail "the live file is still there"
