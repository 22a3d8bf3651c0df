#!/bin/bash
# osprof why -a: what threads wait for, in words and numbers: in each case that is provoked, and where nobody waits.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"

need_root
need python3 flock taskset setpriv
"$OSPROF" why -a --for 100ms >/dev/null 2>"$scratch/err" || skip "$(cat "$scratch/err")"

started=()
before_cleanup() {
    [ ${#started[@]} = 0 ] || kill -KILL "${started[@]}" 2>/dev/null || true
    exec 7>&-
    wait 2>/dev/null || true
}

# waits COMMAND...: starts it, as $pid, and waits until it does not run
waits() {
    "$@" 7>&- & # which has no part in what this shell holds
    pid=$!
    started+=("$pid")
    until_sleeps "$pid"
}

# until_sleeps PID: in a system call
until_sleeps() {
    wait_until 30 sleeps "$1" || fail "process $1 does not wait"
}

sleeps() {
    local state
    state=$(awk '{ print $3 }' "/proc/$1/stat") && [ "$state" != R ] && [ "$(cat "/proc/$1/syscall")" != running ]
}

# sees ARGUMENT...: what osprof says, in one line, of processes
sees() {
    local wide=(--width 1000)
    [[ " $* " != *" --json "* ]] || wide=()
    expect 0 why -a "${wide[@]}" "$@" 7>&-
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

# of_json EXPRESSION: in python, of d, the document, and rows(cause), the rows whose cause has that in it
of_json() {
    python3 -c '
import json, sys
d = json.load(open("out"))
def rows(cause):
    return [w for w in d["waits"] if cause in w["cause"]]
assert '"$1"', (d["elapsed_seconds"], d["total_seconds"], rows(""))' || fail "JSON is not: $1"
}

# ---- A lock of a file: held by one, waited for by the other

echo >locked
exec 7>locked
flock 7
waits flock locked true
locking=$pid
sees --pid "$locking" --for 300ms
says "of process $locking \\(flock\\): 1 thread of 1 process waited, [0-9.]+ m?s in all \\(idle waits excluded\\)"
says 'All of that time it was waiting for a lock of a file that another holds \(flock\): flock;'
says ' 100\.0 % .* 1 .*waiting for a lock of a file that another holds \(flock\) \(1 still\)$'
says "flock $locking waits for the flock of [^ ]*/locked, held by (bash|why_all.sh) $$"
says_not 'before the end:|not measured|no cause by name|in part only'

# What the holder does is reported, too.
waits flock --no-fork second_lock sleep 100
holding=$pid
waits flock -o second_lock true
sees --pid "$pid" --for 300ms
says "flock $pid waits for the flock of [^ ]*/second_lock, held by sleep $holding, which is sleeping\$"
kill "$holding"

# It has waited for longer than anybody has looked: that is not counted.
nap 500
sees --pid "$locking" --for 200ms --json
of_json 'rows("flock")[0]["waiting_now"] == 1 and rows("flock")[0]["waits"] == 0'
of_json '0.1 < rows("flock")[0]["total_seconds"] <= d["elapsed_seconds"] + 0.01'
of_json '"waits for the flock of" in rows("flock")[0]["holder"]'
of_json '"flock_lock_inode_wait" in rows("flock")[0]["stack"] or "flock" in rows("flock")[0]["stack"]'
"${python_schema:=python3}" "$tests_dir/../cli/validate.py" "$data/../../docs/waits.schema.json" out || fail "JSON"

# While it waits for nothing else its neighbour, who has the lock, waits for work.
waits sleep 100
sees --pid "$pid" --for 300ms
says "of process $pid \\(sleep\\): no thread waited \\(idle waits excluded\\)\\.\$"
says 'Idle waits, not included: .*, 1 thread all the time; sleeping \(100\.0 %\)\. --idle shows them\.$'
says_not 'waiting for a lock'
sees --pid "$pid" --for 300ms --idle
says ' - .*sleeping \(1 still\)$'

# Its neighbour is hardly ever held up: by nothing but the time until it has a CPU, and it has priority.
sleeping=$pid
if chrt -f 1 true 2>/dev/null; then
    waits chrt -f 1 python3 -c 'import time
while True: time.sleep(0.4)'
    sees --pid "$pid" --for 2s
    says "of process $pid \\([a-z0-9.]+\\): no thread waited \\(idle waits excluded\\), except [0-9.]+ [mnµ]?s in all \\([0-9.]+ % of the time\\)\\.\$"
    says_not 'All of that time|of that time, |no cause by name'
    kill -KILL "$pid"
    pid=$sleeping
fi

# Both together: who sleeps is in no share.
sees --pid "$locking,$pid" --for 300ms --by process
says ' 100\.0 % .* flock '"$locking"' +waiting for a lock of a file'
says_not 'sleep '"$pid"' +'
flock -u 7

# ---- Two threads that wait for the same: whose the holder is

flock 7
cat >two_threads.py <<'END'
import fcntl, threading
def lock():
    fcntl.flock(open("locked"), fcntl.LOCK_EX)
threads = [threading.Thread(target=lock) for _ in range(2)]
for thread in threads: thread.start()
open("two_threads", "w")
for thread in threads: thread.join()
END
waits python3 two_threads.py
wait_until 30 test -e two_threads || fail "process $pid has no threads"
for thread in /proc/"$pid"/task/*; do
    until_sleeps "${thread##*/}"
done
sees --pid "$pid" --for 300ms --json
of_json 'len(rows("flock")) == 2 and len([w for w in rows("flock") if "holder" in w]) == 1'
of_json 'all("(thread %d) waits for the flock of" % w["thread"] in w["holder"] for w in rows("flock") if "holder" in w)'
sees --pid "$pid" --for 300ms --by thread
[ "$(grep -c 'waits for the flock of' out)" = 1 ] || fail "each thread has a holder: $(cat out)"
sees --pid "$pid" --for 300ms --by process
says "python3 $pid \\(thread [0-9]+\\) waits for the flock of"
flock -u 7
wait "$pid" || fail "status $? of two threads"

# ---- Many that wait for several locks: not only who has waited longest has a turn

flock 7
others=()
for i in 1 2 3 4 5; do
    waits flock --no-fork "other_$i" sleep 100
    others+=("$pid")
done
waiting=
for i in 1 2 3 4 5; do
    waits flock "other_$i" true
    others+=("$pid")
    waiting+=,$pid
done
sees --pid "${waiting#,}" --for 2s --json
of_json 'len(rows("flock")) == 5'
for i in 1 2 3 4 5; do
    of_json '[w["holder"].endswith("/other_'"$i, held by sleep ${others[i - 1]}"', which is sleeping")
        for w in rows("flock") if w["process"] == '"${others[4 + i]}"'] == [True]'
done
says_not 'circle'
kill "${others[@]}" 2>/dev/null || true
flock -u 7

# ---- A pipe that is full, and one that is empty

mkfifo full
exec 8<>full
waits dd if=/dev/zero of=full bs=64k count=4 status=none
sees --pid "$pid" --for 300ms
says 'All of that time it was waiting .*pipe.*: dd;'

# With one who waits for something else as long: neither is most of it.
writing=$pid
flock 7
waits flock locked true
sees --pid "$writing,$pid" --for 300ms
says 'The largest part of that time, (50\.0|49\.[0-9]) %, they were waiting '
flock -u 7
waits sh -c 'read -r line <&8'
sees --pid "$pid" --for 300ms
says 'no thread waited \(idle waits excluded\)'
exec 8>&-

# ---- Each wait is counted once, or said not to be: those of a process that another has started are as many as the kernel
# says that it gave up its CPU, except the last time, when it ended. It does not sleep where a timer has run out before. Who
# is woken while it is about to wait gives up its CPU, too, but does not wait: at most once.

mkfifo go
cat >child.py <<'END'
import time
for _ in range(97): time.sleep(0.002)
END
cat >sleeps.py <<'END'
import os, subprocess, sys
sys.stdin.readline()
child = subprocess.Popen([sys.executable, "child.py"])
_, _, usage = os.wait4(child.pid, 0)
open("slept_now", "w").write(f"{child.pid} {usage.ru_nvcsw - 1}\n")
os.rename("slept_now", "slept")
sys.stdin.readline()
END
python3 sleeps.py <go 7>&- &
parent=$!
started+=("$parent")
exec 9>go
until_sleeps "$parent"
rm -f err # of another, that says the same
"$OSPROF" why -a --pid "$parent" --json >out 2>err &
watcher=$!
started+=("$watcher")
wait_until 30 grep -q 'is counted until Ctrl-C' err || fail "does not begin: $(cat err)"
echo >&9
wait_until 60 test -e slept || fail "process $parent does not go on"
kill -INT "$watcher"
wait "$watcher" || fail "status $? of osprof why -a"
read -r child waited <slept
[ "$waited" -ge 49 ] || fail "it has waited $waited times, and should have slept 97 times"
of_json "0 <= $waited"' - sum(w["waits"] for w in rows("") if w["process"] == '"$child"' and "CPU" not in w["cause"]) <= 1 + d["lost_waits"] + d["skipped_waits"]'
of_json 'sum(w["waits"] for w in rows("sleeping")) >= 49 - d["lost_waits"]'
of_json 'sum(w["total_seconds"] for w in rows("sleeping")) >= 49 * 0.001'
of_json 'all(w["class"] == "work" for w in rows("sleeping"))'
of_json 'sum(w["waits"] for w in rows("child") if w["process"] == '"$parent"') >= 1'
of_json 'd["lost_waits"] < 49'
exec 9>&-

# ---- Without a CPU: two that compute, on one

taskset -c 0 sh -c 'while :; do :; done' &
started+=("$!")
one=$!
taskset -c 0 sh -c 'while :; do :; done' &
started+=("$!")
sees --pid "$one,$!" --for 600ms
says 'All of that time they were waiting for a CPU \(runqueue latency\)'
says ': 2 threads of 2 processes waited, [0-9.]+ m?s in all \(idle waits excluded\)'
kill -KILL "$one" "$!"

# ---- What a name may have

flock 7
python3 -c '
import ctypes, fcntl
ctypes.CDLL(None).prctl(15, b"a\x1b[31mb\nc\xff")
open("named", "w")
fcntl.flock(open("locked"), fcntl.LOCK_SH)' 7>&- &
pid=$!
started+=("$pid")
wait_until 30 test -e named || fail "process $pid has no name"
until_sleeps "$pid"
sees --pid "$pid" --for 300ms
! LC_ALL=C grep -q $'\x1b' out || fail "a terminal obeys a name: $(cat -v out)"
sees --pid "$pid" --for 300ms --json
of_json 'rows("flock")[0]["program"].startswith("a\x1b[31mb\nc")'
flock -u 7

# One that has none.
flock 7
python3 -c '
import ctypes, fcntl
ctypes.CDLL(None).prctl(15, b"")
open("not_named", "w")
fcntl.flock(open("locked"), fcntl.LOCK_SH)' 7>&- &
pid=$!
started+=("$pid")
wait_until 30 test -e not_named || fail "process $pid keeps its name"
until_sleeps "$pid"
sees --pid "$pid" --for 300ms
says 'another holds \(flock\): \(no name\);'
says '^ +\(no name\) \([0-9.]+ ms\)$'
sees --pid "$pid" --for 300ms --by process
says " 1 .* \\(no name\\) $pid +waiting for a lock"
flock -u 7

# ---- Who has waited for longest, but waits no more

exec 8>second
flock 7
flock 8
waits flock locked true
first=$pid
mkfifo begin
bash -c 'read -r _ <begin; exec flock second true' 7>&- 8>&- &
second=$!
started+=("$second")
exec 9<>begin
rm -f err # of another, that says the same
"$OSPROF" why -a --width 1000 --pid "$first,$second" >out 2>err 7>&- 8>&- &
watcher=$!
started+=("$watcher")
wait_until 30 grep -q 'is counted until Ctrl-C' err || fail "does not begin: $(cat err)"
nap 1600
echo >&9
wait_until 30 grep -q flock "/proc/$second/comm" || fail "process $second does not go on"
until_sleeps "$second"
nap 100
flock -u 7
wait "$first" || fail "status $? of flock"
kill -INT "$watcher"
wait "$watcher" || fail "status $? of osprof why -a"
says '\(flock\) \(1 still\)$'
says "^ +([0-9.]+ [^ ]+ before the end: flock $first|flock $second) waits for the flock of"
flock -u 8
exec 8>&- 9>&-

# ---- Any number of names: rows have an end

cat >names.py <<'END'
import ctypes, time
set_name = ctypes.CDLL(None).prctl
input()
for i in range(24000):
    set_name(15, b"n%d" % i, 0, 0, 0)
    time.sleep(1e-6)
open("named_all", "w")
input()
END
exec 9<>begin
python3 names.py <begin &
pid=$!
started+=("$pid")
rm -f err # of another, that says the same
"$OSPROF" why -a --width 1000 --by program --idle --verbose --pid "$pid" >out 2>err &
watcher=$!
started+=("$watcher")
wait_until 30 grep -q 'is counted until Ctrl-C' err || fail "does not begin: $(cat err)"
echo >&9
wait_until 120 test -e named_all || fail "process $pid does not end"
kill -INT "$watcher"
wait "$watcher" || fail "status $? of osprof why -a"
kill -KILL "$pid"
exec 9>&-
grep -q 'More than 20000 threads, names and causes: those that waited least are summed by program; ' out ||
    fail "what is summed: $(tail -5 out)"
[ "$(grep -c ' n[0-9][0-9]* ' out)" -le 40000 ] || fail "programs have no end"
grep -q ' (others) ' out || fail "no others: $(tail -20 out)"

# ---- Without the right to look at others' threads: what cannot be known is said

# as_nobody CAPABILITIES ARGUMENT...
as_nobody() {
    setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps "-all,$1" --ambient-caps "-all,$1" \
        "$OSPROF" why -a --pid "$locking" --for 300ms "${@:2}" >out 2>err 7>&- || fail "status $?: $(cat err)"
}

provide_programs

in_part="Who holds what is waited for is known in part only: this user may not look at the calls and open files of all who \
waited. Root may, or who has the capabilities CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH and, for what holders wait for themselves, \
CAP_SYS_ADMIN."
some=+bpf,+perfmon
if setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps "-all,$some" --ambient-caps "-all,$some" true 2>/dev/null; then
    flock 7
    waits flock locked true
    locking=$pid
    as_nobody "$some" --width 1000
    grep -qxF "$in_part" out || fail "does not say what is hidden: $(cat out)"
    ! user_sees_processes || says "flock $locking waits for the flock of a file, held by "
    as_nobody "$some" --json
    of_json 'd["hidden"] == "'"$in_part"'"'
    as_nobody "$some,+sys_ptrace,+dac_read_search" --width 1000
    says "flock $locking waits for the flock of [^ ]*/locked, held by (bash|why_all.sh) $$"
    says '^What holders wait for themselves is known in part only: this user may not look at the kernel stacks of all processes\. Root may, or who has the capability CAP_SYS_ADMIN\.$'
    as_nobody "$some,+sys_ptrace,+dac_read_search,+sys_admin" --width 1000
    says_not 'in part only'
    flock -u 7
fi

# ---- Wrong arguments, and no right

expect_trouble "osprof: cannot watch process 4194303: there is none of that number" why -a --pid 4194303
# Nothing is seen of threads of the kernel: that is not to wait for nothing.
if grep -qx kthreadd /proc/2/comm; then
    expect_trouble "osprof: cannot see what process 2 waits for: threads of the kernel are left out" why -a --pid "$$,2" --for 100ms
fi
expect 2 why -a x
grep -q -- '-a takes no profile' err || fail "$(cat err)"
expect 2 why --for 1s x
grep -q -- '--for goes with -a only' err || fail "$(cat err)"
expect 2 why -a --by uid
grep -q -- '--by uid goes with slow calls only' err || fail "$(cat err)"
expect 2 why --by thread x
grep -q -- '--by thread goes with -a only' err || fail "$(cat err)"
expect 2 why -a --op READ
grep -q -- '--op does not go with -a' err || fail "$(cat err)"
if unshare --pid --fork --mount-proc true 2>/dev/null; then
    unshare --pid --fork --mount-proc "$OSPROF" why -a --for 100ms >out 2>err && fail "numbers of another PID namespace are taken"
    grep -q 'cannot see what threads wait for: osprof must run outside of this PID namespace' err || fail "$(cat err)"
fi
as_user "$OSPROF" why -a --for 100ms >out 2>err && fail "anybody sees what threads wait for"
grep -q "cannot see what threads wait for: this takes root, or the capabilities CAP_BPF and CAP_PERFMON; try sudo ('osprof doctor' lists what works here)" err || fail "$(cat err)"
