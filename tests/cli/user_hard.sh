#!/bin/bash
# osprof run --layers user at hard places: children before they execute something, signal handlers, threads that are
# cancelled or end, next to no descriptors, memory or file sizes, another root directory. What the program prints and how
# it ends is the same without osprof.
. "$(dirname "$0")/lib.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"

# same STATUS COMMAND...: in $lower, first without osprof, then with it
same() {
    local wanted=$1 status=0
    shift
    rm -rf "${lower:?}"/*
    (cd "$lower" && exec "$@") >"$scratch/plain" 2>"$scratch/plain.err" || status=$?
    assert_eq "$wanted" "$status" "exit status without osprof of: $*"
    rm -rf "${lower:?}"/*
    user_run "$wanted" "$@"
    diff "$scratch/plain" "$scratch/out" >&2 || fail "prints something else: $*"
    diff "$scratch/plain.err" "$scratch/err" >&2 || fail "complains about something else: $*"
}

# hard WHAT OP=NUMBER...: a row of hard_calls.c, and the calls of its profile, all of them
hard() {
    local what=$1
    shift
    same 0 "$TEST_PROGRAMS/hard_calls" "$what"
    [ $# -eq 0 ] || assert_calls "$@"
}

# ---- Processes

hard child_of_vfork
assert_eq "1 1 3" "$(calls OPEN) $(calls FTRUNCATE) $(calls PREAD)" "calls of a child of vfork"
[ "$(calls WRITE)" -ge 1 ] || fail "what a child of vfork has written is not counted"
hard spawned
assert_eq "1 3" "$(calls OPEN) $(calls PREAD)" "calls of a program that spawns others"
hard clone OPEN=2 FTRUNCATE=1 PREAD=6 WRITE=4 CLOSE=1
hard raw_children OPEN=1 FTRUNCATE=1 WRITE=211 LSEEK=211 CLOSE=211

# ---- Signals and threads

hard small_stack OPEN=2 WRITE=2 CLOSE=2
same 0 "$TEST_PROGRAMS/hard_calls" jumps
assert_eq "1 2 19 7" "$(calls MKNOD) $(calls OPEN) $(calls READ) $(calls PREAD)" "calls that handlers have jumped out of"
hard cancelled
assert_eq "1 1" "$(calls OPEN) $(calls FTRUNCATE)" "calls of a program with cancelled threads"
hard exiting_threads OPEN=33 FTRUNCATE=33 PREAD=66 CLOSE=33
hard at_exit OPEN=1 FTRUNCATE=1 PREAD=24

# ---- Limits

hard small_files
grep -q '^# incomplete: yes$' "$scratch/profile" || fail "nobody is told that the live file could not grow"
(
    ulimit -f 100
    user_run 0 echo works
    assert_eq works "$(<"$scratch/out")" "output of a command whose live file may not be made"
    assert_eq "osprof: the layer user is not profiled: no live file can be made in $XDG_RUNTIME_DIR/osprof: File too large" \
        "$(<"$scratch/err")" "message of a live file that would be too large"
)

# ---- Descriptors

hard close_all OPEN=4 FTRUNCATE=4 PREAD=17 CLOSE=1
hard errno OPEN=1 FTRUNCATE=1 PREAD=1 CLOSE=1 FOPEN=1 FCLOSE=1 OPENDIR=1 READDIR=1 CLOSEDIR=1
