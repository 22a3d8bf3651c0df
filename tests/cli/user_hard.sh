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

# told: what the profile says that was not seen
told() {
    not_seen
}

# ---- Processes

hard child_of_vfork
assert_eq "1 1 3" "$(calls OPEN) $(calls FTRUNCATE) $(calls PREAD)" "calls of a child of vfork"
[ "$(calls WRITE)" -ge 1 ] || fail "what a child of vfork has written is not counted"
hard spawned
assert_eq "1 3" "$(calls OPEN) $(calls PREAD)" "calls of a program that spawns others"
hard clone OPEN=2 FTRUNCATE=1 PREAD=6 WRITE=4 CLOSE=1
hard raw_children OPEN=1 FTRUNCATE=1 WRITE=211 LSEEK=211 CLOSE=211
hard without_thread
assert_eq "1 1 3 2" "$(calls OPEN) $(calls FTRUNCATE) $(calls PREAD) $(calls ACCESS)" \
    "calls of a program whose children have no thread area"

# ---- Signals and threads

hard small_stack OPEN=2 WRITE=2 CLOSE=2
options='-d . --everything' same 0 "$TEST_PROGRAMS/hard_calls" jumps # out of calls on a FIFO
assert_eq "1 2 19 7" "$(calls MKNOD) $(calls OPEN) $(calls READ) $(calls PREAD)" "calls that handlers have jumped out of"
hard cancelled
assert_eq "1 1" "$(calls OPEN) $(calls FTRUNCATE)" "calls of a program with cancelled threads"
hard exiting_threads OPEN=33 FTRUNCATE=33 PREAD=66 CLOSE=33
hard at_exit OPEN=1 FTRUNCATE=1 PREAD=24

# ---- Limits

hard small_files OPEN=1 FTRUNCATE=1 PREAD=5 PWRITE=1
(
    ulimit -f 100
    user_run 0 echo works
    assert_eq works "$(<"$scratch/out")" "output of a command whose live file may not be made"
    assert_eq "osprof: the layer user is not profiled: no live file can be made in $XDG_RUNTIME_DIR/osprof: File too large" \
        "$(<"$scratch/err")" "message of a live file that would be too large"
)

hard few_descriptors UNLINK=1 OPEN=3 FTRUNCATE=2 PREAD=12 CLOSE=1 OPENDIR=1
assert_eq "" "$(told)" "what is told of a program that has no descriptors left"
hard no_memory

# ---- Descriptors

hard close_all OPEN=4 FTRUNCATE=4 PREAD=17 CLOSE=1
hard errno OPEN=1 FTRUNCATE=1 PREAD=1 CLOSE=1 FOPEN=1 FCLOSE=1 OPENDIR=1 READDIR=1 CLOSEDIR=1
hard loader_error FOPEN=1 FFLUSH=1 FCLOSE=1 STAT=1 CHMOD=1 TRUNCATE=1 UNLINK=1
hard asynchronous OPEN=1 FTRUNCATE=1
assert_eq "3 asynchronous calls" "$(told)" "what is told of asynchronous calls"

# ---- Names that are not there: the kernel's answer is EFAULT

hard bad_names RENAME=7 STAT=2

# ---- What is executed without the environment

same 0 sh -c 'echo line >file; env -i cat file; env LD_PRELOAD= cat file; cat file; env -i no-such-program || :'
assert_eq "2 programs without the environment" "$(told)" "what is told of programs without the environment"
[ "$(calls OPEN)" -ge 2 ] || fail "the program with the environment is not counted"

# ---- Another root directory, and none of /proc

[ "$(id -u)" = 0 ] || exit 0
hard another_root MKDIR=1 OPEN=1 FTRUNCATE=1 PREAD=5
assert_eq "1 program in another root directory or mount namespace" "$(told)" "what is told of another root directory"
options='' hard another_root CHDIR=1 MKDIR=1 OPEN=2 FTRUNCATE=1 PREAD=5 WRITE=1 CLOSE=1 STAT=1
assert_eq "" "$(told)" "what is told of another root directory where all files count"
! unshare --mount true 2>/dev/null || hard without_proc OPEN=1 FTRUNCATE=1 PREAD=5 CLOSE=1 STAT=1
