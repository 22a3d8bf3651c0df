#!/bin/bash
# osprof run --layers user of programs that forbid themselves system calls: they do what they do without osprof, and are
# reported.
. "$(dirname "$0")/lib.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"

program=$TEST_PROGRAMS/sandbox_calls
status=0
(cd "$lower" && "$program" kill executed) >out || status=$?
[ "$status" != 9 ] || skip "programs may not forbid themselves system calls here"
assert_eq 0 "$status" "exit status of a program that makes no other calls"
rm -f "$lower/data"

# sandboxed HOW WHERE CALLS: so many of each of OPEN, PWRITE, PREAD and CLOSE are counted
sandboxed() {
    local op status=0
    (cd "$lower" && exec "$program" "$1" "$2") >"$scratch/plain" || status=$?
    rm -f "$lower/data"
    user_run "$status" "$program" "$1" "$2"
    rm -f "$lower/data"
    diff "$scratch/plain" "$scratch/out" >&2 || fail "prints something else: $1 $2"
    for op in OPEN PWRITE PREAD CLOSE; do
        assert_eq "$3" "$(calls "$op")" "$op of: $1 $2"
    done
}

for how in open mmap both kill number inline privileges; do
    sandboxed "$how" main 0
    assert_eq "1 sandboxed program" "$(not_seen)" "what is told of: $how main"
    sandboxed "$how" later 1
    [[ $how =~ kill|number|inline ]] || sandboxed "$how" child 1 # which waits, and that is another call
done
sandboxed kill executed 0
assert_eq "1 sandboxed program" "$(not_seen)" "what is told of a program that was executed in a sandbox"

# Who gives up privileges and then executes something may have forbidden nothing: what is executed counts.
sandboxed privileges executed 1
assert_eq "1 sandboxed program" "$(not_seen)" "what is told of a program that has given up privileges"

# Who only asks is no such program.
sandboxed probe main 1
assert_eq "" "$(not_seen)" "what is told of a program that asks"
sandboxed nothing executed 1
