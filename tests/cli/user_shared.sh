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

# More threads than places: where files must be small, there are few.
small_run() {
    (ulimit -f 4096 && user_run 0 "$TEST_PROGRAMS/clone_calls" threads "$1") || exit 1
}
small_run 7
assert_calls OPEN=7 READ=7 FSTAT=7 LSEEK=7 CLOSE=7
small_run 131
most=$(sed -n 's/^# not_seen: .* beyond \([0-9]*\) at a time$/\1/p' "$scratch/profile")
[ "${most:-0}" -gt 7 ] && [ "$most" -lt 131 ] || fail "threads beyond '$most' at a time were not seen?"
# The first thread may want a place too, for calls that turn out not to count.
beyond=$(sed -n 's/^# not_seen: \([0-9]*\) threads beyond .*/\1/p' "$scratch/profile")
[ $((beyond + $(calls READ))) -ge 131 ] && [ "$beyond" -le $((132 - most + 1)) ] && [ "$(calls READ)" -le "$most" ] ||
    fail "$(calls READ) threads were seen and $beyond were not, of 131"
! grep '^# incomplete:' "$scratch/profile" || fail "memory is said to be the cause"
