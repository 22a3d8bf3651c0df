#!/bin/bash
# Which functions of programs slow calls came from, as osprof attach --stacks finds it: in programs with and without frame
# pointers, unwind tables and symbols, fixed in memory and static, that have ended, and that cannot be read; in libraries alone.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"

need_root
need_part stacks
need nm objcopy strip python3 pgrep setpriv
mkdir fs programs
mount -t tmpfs tmpfs fs
fs=$scratch/fs
export XDG_STATE_HOME=$scratch/state

expect 2 attach --stacks "$fs"
grep -q 'of slow calls: give --slow TIME' err || fail "--stacks without --slow: $(<err)"
for right in sys_ptrace dac_read_search setuid; do
    ! setpriv --bounding-set "-$right" "$OSPROF" attach --slow 10ms --stacks --for 100ms "$fs" 2>err || fail "without $right"
    grep -q 'takes CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE, CAP_DAC_READ_SEARCH, CAP_SETUID and CAP_SETGID' err || fail "without $right: $(<err)"
done

# program NAME KIND: has the file name NAME, which it calls itself
program() {
    cp "$TEST_PROGRAMS/slow_$2" "programs/$1"
}

# slow_calls NAME OFTEN RARELY: on a file of its own; it stays until end_programs
stays=()
slow_calls() {
    local stay
    mkfifo "stay-$1"
    "programs/$1" "$fs/$1" "$2" "$3" <"stay-$1" &
    others+=("$!")
    exec {stay}>"stay-$1"
    stays+=("$stay")
    rm "stay-$1"
}
end_programs() {
    local stay pid
    for stay in "${stays[@]}"; do
        exec {stay}>&-
    done
    stays=()
    for pid in "${others[@]}"; do
        wait "$pid" || fail "a program fails"
    done
    others=()
}

# why [OPTION]... PROFILE: in one line
why() {
    "$OSPROF" why --width 1000 "$@"
}
told() {
    why "$fs" | grep -E "FLOCKs? (from|of) " || true
}
has_count() {
    why "$fs" | grep -q "^$1 calls\? took "
}
# expect_told NUMBER SENTENCE: of all calls since the last time
expect_told() {
    wait_until 60 has_count "$1" || fail "$1 slow calls are not there: $(why "$fs") $("$OSPROF" show "$fs")"
    assert_eq "$2" "$(told)" "which functions made them"
}
# expect_stack EXPRESSION: of one of the last calls
expect_stack() {
    why --stacks "$fs" >stacks
    grep -Eq "^ *$1\$" stacks || fail "no stack like $1: $(<stacks)"
}
forget() {
    end_programs
    expect 0 ctl "$fs" reset
}
# ended_all: osprof attach
ended_all() {
    end_programs
    kill -INT "$watcher"
    ended 0
}
is_gone() {
    [ ! -e "/proc/$1" ] || [ "$(awk '{ print $3 }' "/proc/$1/stat")" = Z ]
}

# Processes of osprof: the one that starts readers, and the reader.
has_reader() {
    starter=$(pgrep -P "$watcher" -x osprof-stacks) && reader=$(pgrep -P "$starter" -x osprof-stacks-1)
}
find_reader() {
    wait_until 30 has_reader || fail "there is no reader"
}
# of_status FIELD PROCESS
of_status() {
    sed -n "s/^$1:[[:blank:]]*//p" "/proc/$2/status" | tr '\t' ' ' | sed 's/ *$//'
}

# begin_last NAME: the program of that name waits for its only lock until end_last
begin_last() {
    rm -f go
    mkfifo go
    "programs/$1" "$fs/$1" 1 0 wait <go &
    others=("$!")
    exec 7>go
    wait_until 30 is_locked "$!" || fail "it does not wait for its lock"
}
is_locked() {
    grep -qE '^(73|32) ' "/proc/$1/syscall"
}
end_last() {
    echo >&7
    exec 7>&-
    wait "${others[0]}" || fail "it fails"
    others=()
}

is_looked_at() {
    why --stacks "$fs" | grep -q 'do_syscall_64\|invoke_syscall'
}

cuts='^Stacks that end in \.\.\. could not be followed further: '
whole='flock < commit_row < run < main < [^ ]+ < __libc_start_main < _start'

# ---- Not wanted

program db pointers
watched --slow 10ms
begin_last db
wait_until 30 is_looked_at || fail "no stack of the kernel: $(why --stacks "$fs")"
end_last
expect_told 1 ""
is_looked_at || fail "no stack of the kernel when it has ended: $(why --stacks "$fs")"
! why --stacks "$fs" | grep -q commit_row || fail "a stack that nobody asked for"
ended_all

# ---- With frame pointers; the result is kept

watched --slow 10ms --stacks
slow_calls db 4 2
expect_told 6 "4 of 6 FLOCKs from commit_row of db"
expect_stack "$whole"
expect_stack 'flock < check_point < run < main < .*'
! grep -q "$cuts" stacks || fail "it says that stacks are cut: $(<stacks)"
grep -A1 'entry_SYSCALL_64\|el0t_64_sync' stacks | grep -q 'flock < ' || fail "not below the kernel's: $(<stacks)"
"$OSPROF" why --json "$fs" >json
python3 -c '
import json
profile = json.load(open("json"))
counts = {(c["op"], c["program"], c["function"]): c["calls"] for c in profile["slow_callers"]}
assert counts == {("FLOCK", "db", "commit_row"): 4, ("FLOCK", "db", "check_point"): 2}, counts
assert all(c["user_stack"].startswith("flock < ") for c in profile["slow_calls"])' || fail "JSON"
python3 "$tests_dir/../cli/validate.py" "$data/../../docs/profile.schema.json" json || fail "not by the schema"
assert_eq 600 "$(stat -c %a "$XDG_RUNTIME_DIR"/osprof/*-0.live)" "mode of the live file"
ended_all
grep -qx 'Slow: 4 of 6 FLOCKs from commit_row of db.\?' "$page" || fail "the page at the end: $(<"$page")"
assert_eq "4 of 6 FLOCKs from commit_row of db" "$(why | grep FLOCKs)" "the result that is kept"
assert_eq "4 of 6 FLOCKs from commit_row of db" "$(why profile | grep FLOCKs)" "the profile"
assert_eq 600 "$(stat -c %a profile)" "mode of the profile"
"$OSPROF" show --check profile >&2 || fail "osprof show --check finds fault"
expect 0 save -o both profile profile
assert_eq "8 of 12 FLOCKs from commit_row of db" "$(why both | grep FLOCKs)" "the sum of two"

# ---- Other programs: no function made half of all calls, so that none is named

watched --slow 10ms --stacks
for kind in no_tables no_pointers neither fixed; do
    program "$kind" "$kind"
    slow_calls "$kind" 2 1
done
count=12
! [ -x "$TEST_PROGRAMS/slow_static" ] || {
    program static static
    slow_calls static 1 0
    count=$((count + 1))
}
# Without symbols a function has the address of the call, which is in commit_row.
program bare fixed
# Of the symbols that are left the one before commit_row is of another function.
program exported exported
nm -S programs/bare | awk '$4 == "commit_row" { print "0x" $1, "0x" $2 }' >place_bare
nm -S programs/exported | awk '$4 == "commit_row" { print "0x" $1, "0x" $2 }' >place_exported
strip programs/bare programs/exported
nm -D programs/exported | grep -q ' T _start$' || fail "_start is not exported"
# The names of symbols are somebody else's.
objcopy --redefine-sym commit_row=$'evil\e[31m < name' "$TEST_PROGRAMS/slow_fixed" programs/evil
for name in bare exported evil; do
    slow_calls "$name" 1 0
done
expect_told $((count + 3)) ""
why --stacks "$fs" >stacks
grep -q "$cuts" stacks || fail "it does not say that stacks are cut: $(<stacks)"
"$OSPROF" why --json "$fs" >json
python3 - <<'CODE' || fail "functions of other programs: $(<json)"
import json, pathlib, re
profile = json.load(open("json"))
counts = {(c["program"], c["function"]): c["calls"] for c in profile["slow_callers"]}
for kind in ("no_tables", "no_pointers", "neither", "fixed"):
    assert counts.pop((kind, "commit_row")) == 2 and counts.pop((kind, "check_point")) == 1, kind
assert counts.pop(("static", "commit_row"), 1) == 1
assert counts.pop(("evil", "evil?[31m???name")) == 1
for name in ("bare", "exported"):
    begin, size = (int(word, 16) for word in pathlib.Path("place_" + name).read_text().split())
    ((_, function),) = [key for key in counts if key[0] == name]
    address = int(re.fullmatch(name + r"\+(0x[0-9a-f]+)", function)[1], 16)
    assert begin <= address < begin + size, (function, hex(begin), size)
    assert counts.pop((name, function)) == 1
assert not counts, counts
begins = {
    "no_tables": r"flock < commit_row < run < main < .*",
    "no_pointers": r"flock < commit_row < run < main < [^ ]+ < __libc_start_main < _start",
    "neither": r"flock < commit_row < \.\.\.",
    "fixed": r"flock < commit_row < run < main < [^ ]+ < __libc_start_main < _start",
    "static": r"flock < commit_row < run < main < .*",
}
stacks = {}
for call in profile["slow_calls"]:
    stacks.setdefault(call["program"], []).append(call["user_stack"])
for program, expression in begins.items():
    found = stacks.get(program, [])
    assert program == "static" or any(re.fullmatch(expression, stack) for stack in found), (program, found)
CODE
forget

# ---- Only libraries are on the stack; more of them than are read

program shell pointers
# It is still there when it is looked at.
in_libraries() {
    mkfifo stay
    env "$@" SLOW_FILE="$fs/shell" LD_PRELOAD="$TEST_PROGRAMS/slow_thread.so" programs/shell "$fs/shell" 0 0 <stay &
    others+=("$!")
    exec {kept}>stay
    stays+=("$kept")
    rm stay
}
in_libraries
expect_told 1 "1 of 1 FLOCK of shell from no function of its own: only libraries are on its stack"
expect_stack 'flock < wait_in_library( < [^ ]*[^. ])+'
forget
in_libraries SLOW_DEEP=1
expect_told 1 "1 of 1 FLOCK of shell from an unknown function: its stack is too deep"
expect_stack 'flock < wait_in_library < wait_deep < \.\.\.'
forget

# ---- It ends as soon as its call has

# What the program NAME has mapped is known.
is_noted() {
    find "/proc/$reader/fd" -lname "*/programs/$1" | grep -q .
}
program short pointers
find_reader
begin_last short
wait_until 30 is_noted short || fail "it is not seen while it waits"
end_last
expect_told 1 "1 of 1 FLOCK from commit_row of short"
forget
kill -STOP "$watcher"
programs/short "$fs/short" 1 0 </dev/null || fail "it fails"
kill -CONT "$watcher"
expect_told 1 "1 of 1 FLOCK of short from an unknown function: its program had ended"
forget

# ---- What reads programs has no rights but to read

for process in "$starter" "$reader"; do
    assert_eq "4294901760 4294901760 4294901760 4294901760" "$(of_status Uid "$process")" "user"
    assert_eq "4294901760 4294901760 4294901760 4294901760" "$(of_status Gid "$process")" "group"
    assert_eq "" "$(of_status Groups "$process")" "groups"
    # CAP_CHECKPOINT_RESTORE, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH
    assert_eq "0000010000080004 0000010000080004" "$(of_status CapEff "$process") $(of_status CapPrm "$process")" "capabilities"
    assert_eq 1 "$(of_status NoNewPrivs "$process")" "new privileges"
done
assert_eq 2 "$(of_status Seccomp "$reader")" "filter of system calls"
assert_eq 1 "$(grep -c '^[^ ]* .w.s ' "/proc/$reader/maps")" "memory that others share: the table of what cannot be read"

# ---- It does not answer, as on a file system that hangs; it ends; nothing is left to start it

# readers SIGNAL
readers() {
    pgrep -P "$starter" | xargs kill -s "$1"
}

program far pointers
readers STOP
slow_calls far 1 0
expect_told 1 "1 of 1 FLOCK of far from an unknown function: its program could not be read in time"
forget
is_told_again() {
    programs/far "$fs/far" 1 0 </dev/null
    told | grep -q 'FLOCKs\? from commit_row of far$'
}
wait_until 60 is_told_again || fail "no reader is started in place of one that does not answer: $(told)"
expect 0 ctl "$fs" reset
readers KILL
slow_calls far 1 0
expect_told 1 "1 of 1 FLOCK from commit_row of far"
forget
all=$(pgrep -P "$starter")
kill -KILL "$starter"
for reader in $all; do
    wait_until 10 is_gone "$reader" || fail "a reader does not end with the process that has started it"
done
slow_calls far 1 0
expect_told 1 "1 of 1 FLOCK of far from an unknown function: what reads programs has ended"
ended_all
watched --slow 10ms --stacks
find_reader
kill -STOP "$reader"
kill -INT "$watcher"
ended 0
wait_until 10 is_gone "$reader" || fail "the process that reads programs is still there"
wait_until 10 is_gone "$starter" || fail "the process that starts it is still there"
