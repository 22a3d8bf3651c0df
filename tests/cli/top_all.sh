#!/bin/bash
# osprof top -a: what threads wait for, as text and on the screen: a lock that is held, and nobody who waits.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=top_terminal.sh
. "$(dirname "$0")/top_terminal.sh"

need_root
need flock setpriv
"$OSPROF" top -a --batch --count 1 --delay 0.1 >/dev/null 2>"$scratch/err" || skip "$(cat "$scratch/err")"
export OSPROF

started=()
before_cleanup() {
    [ ${#started[@]} = 0 ] || kill -KILL "${started[@]}" 2>/dev/null || true
    end_terminal || true
    exec 7>&-
    wait 2>/dev/null || true
}

sleeps() {
    local state
    state=$(awk '{ print $3 }' "/proc/$1/stat") && [ "$state" != R ] && [ "$(cat "/proc/$1/syscall")" != running ]
}

# waits COMMAND...: starts it, as $pid, and waits until it does not run
waits() {
    "$@" &
    pid=$!
    started+=("$pid")
    wait_until 30 sleeps "$pid" || fail "process $pid does not wait"
}

# sees ARGUMENT...: what is printed
sees() {
    COLUMNS=500 expect 0 top -a --batch --count 1 --delay 0.3 "$@"
    [ ! -s err ] || fail "complains: $(cat err)"
}

says() {
    grep -qE -- "$1" out || fail "does not say: $1
$(cat out)"
}

says_not() {
    ! grep -qE -- "$1" out || fail "says: $1
$(cat out)"
}

echo >locked
exec 7>locked
flock 7
waits flock locked true 7>&-
locking=$pid
waits sleep 1000 7>&-
sleeping=$pid

# ---- As text

sees --pid "$locking"
says "^[0-9-]+ [0-9:]+ .*  the last [0-9.]+ m?s  process $locking \\(flock\\)\$"
says "of process $locking \\(flock\\): 1 thread of 1 process waited, [0-9.]+ m?s in all \\(idle waits excluded\\)"
says 'All of that time it was waiting for a lock of a file that another holds \(flock\): flock;'
says ' 100\.0 % .* 1 .*waiting for a lock of a file that another holds \(flock\) \(1 still\)$'
sees --pid "$sleeping"
says "of process $sleeping \\(sleep\\): no thread waited \\(idle waits excluded\\)\\.\$"
says 'Idle waits, not included: .*, 1 thread all the time; sleeping \(100\.0 %\)\.$'
says_not 'waiting for a lock|--idle|--verbose'
sees --by process --pid "$locking,$sleeping"
says " 100\\.0 % .* flock $locking +waiting for a lock"
says_not "sleep $sleeping +"

# Each report is of its own interval, however long the wait has lasted: not of two.
expect 0 top -a --batch --count 3 --delay 0.3 --pid "$locking"
assert_eq 3 "$(grep -c "of process $locking" out)" "reports"
awk '
    function seconds(number, unit) { return unit == "s" ? number : number / 1000 }
    / 100\.0 % / { whole += seconds($3, $4) }
    / the last / { for (i = 1; i < NF; i++) if ($i == "last") elapsed += seconds($(i + 1), $(i + 2)) }
    END { exit !(whole > 0.7 * elapsed && whole < 1.05 * elapsed) }' out || fail "waits are not those of the intervals
$(cat out)"

# What is not known for lack of rights is said, also here.
provide_programs
in_part='is known in part only: this user may not look at '
as_nobody() {
    COLUMNS=500 setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps "-all,$1" --ambient-caps "-all,$1" \
        "$OSPROF" top -a --batch --count 1 --delay 0.3 --pid "$locking" >out 2>err 7>&- || fail "status $?: $(cat err)"
}
if setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps "-all,+bpf" --ambient-caps "-all,+bpf" true 2>/dev/null; then
    as_nobody +bpf,+perfmon
    says "^Who holds what is waited for $in_part"
    as_nobody +bpf,+perfmon,+sys_ptrace,+dac_read_search,+sys_admin
    says "flock $locking waits for the flock of [^ ]*/locked, held by "
    says_not "$in_part"
fi

# ---- On the screen

start_terminal 7>&-
resize 100 40
drive_all() {
    rm -f modes-before modes-after
    keys "clear; bash drive -a $*" Enter
    wait_shows '^h help'
}

drive_all --delay 3600 --pid "$locking,$sleeping"
wait_shows 'What threads wait for is counted from here on'
keys Space
wait_shows "the last .*  processes $locking, $sleeping"
wait_shows 'waiting for a lock of a file that another holds'
wait_shows "^> +100\\.0 % .* flock $locking +waiting for a lock"
wait_shows "causes of flock $locking\$"
shows_not "sleep $sleeping" || fail "shows who waits for work only"
keys r
wait_shows 'What threads wait for is counted from here on'
keys Space
wait_shows "[0-9] m?s since [0-9:]+  processes $locking, $sleeping"
keys a
wait_shows "the last .*  processes $locking, $sleeping"
keys h
wait_shows 'chooses the one below'
keys h
wait_shows "causes of flock $locking\$"
keys p
wait_shows 'This screen is paused'
keys p
shows_no_more 'This screen is paused' || fail "it does not go on"
keys q
ended 0

# A cursor, which stays with whom it has been put on.
waits flock locked true 7>&-
second=$pid
drive_all --delay 0.5 --pid "$locking,$second"
wait_shows "^>.* flock ($locking|$second) +waiting for a lock"
wait_shows "^ .* flock ($locking|$second) +waiting for a lock"
first=$(shown | sed -n 's/^>.* flock \([0-9]*\) .*/\1/p')
other=$((first == locking ? second : locking))
keys p
wait_shows 'This screen is paused'
first=$(shown | sed -n 's/^>.* flock \([0-9]*\) .*/\1/p')
other=$((first == locking ? second : locking))
keys Down
wait_shows "causes of flock $other\$"
keys Down
shows "causes of flock $other\$" || fail "the cursor has left the list"
keys p
kill "$first"
wait_shows "^>.* flock $other +waiting for a lock"
shows_no_more "^ .* flock $first " || fail "shows who has ended for ever"
wait_shows "causes of flock $other\$"
keys q
ended 0

# ---- Wrong arguments, and no right

expect_trouble "osprof: cannot watch process 4194303: there is none of that number" top -a --batch --pid 4194303
# refused WORDS ARGUMENT...
refused() {
    expect 2 top "${@:2}"
    grep -q -- "$1" err || fail "$(cat err)"
}
refused '-a takes no mount' -a x
refused '--sort does not go with -a' -a --sort calls
refused '--by uid does not go with -a' -a --by uid
refused '--by thread goes with -a only' --by thread
refused '--pid goes with -a only' --pid 1
refused '--pid and --cgroup exclude each other' -a --pid 1 --cgroup x
as_user "$OSPROF" top -a --batch --count 1 >out 2>err && fail "anybody sees what threads wait for"
grep -q "cannot see what threads wait for: this takes root, or the capabilities CAP_BPF and CAP_PERFMON" err ||
    fail "$(cat err)"
