#!/bin/bash
# What slow calls wait for, as osprof attach --slow finds it: calls on a frozen ext4 and for a lock that another has, by a
# descriptor and by a name, that had begun before and that begin meanwhile; while they are under way, when they have ended, and
# when osprof attach has ended, or was killed.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"

need_root
need mkfs.ext4 fsfreeze losetup python3

before_cleanup() {
    thaw
    kill_watchers
}

PYTHON=$(type -P python3)
program=$(basename "$PYTHON" | cut -c 1-15)
# Writes, makes a directory, or locks a file that another descriptor has locked, in a second thread, and says so. The lock is
# given up when told.
cat >call.py <<'END'
import fcntl, os, sys, threading
what, top = sys.argv[1:]
fd, other = (os.open(top + "/file", os.O_RDWR) for _ in range(2))
calls = {"write": lambda: os.pwrite(fd, b"x", 0), "mkdir": lambda: os.mkdir(top + "/made"),
         "lock": lambda: fcntl.flock(fd, fcntl.LOCK_EX)}
if what == "lock":
    fcntl.flock(other, fcntl.LOCK_EX)
def call():
    print(threading.get_native_id(), flush=True)
    calls[what]()
thread = threading.Thread(target=call)
thread.start()
sys.stdin.readline()
fcntl.flock(other, fcntl.LOCK_UN)
thread.join()
END

# sleeps THREAD: in a call of the file system
sleeps() {
    grep -qE '^(18|67|73|83|258|34) ' "/proc/$1/syscall" 2>/dev/null
}

# begin_call NAME write|mkdir|lock: sets thread; end_call NAME ends it
declare -A callers inputs
begin_call() {
    local in out
    rm -f "$1.in" "$1.out"
    mkfifo "$1.in" "$1.out"
    "$PYTHON" call.py "$2" "$fs" <"$1.in" >"$1.out" &
    callers[$1]=$!
    others+=("$!")
    exec {in}>"$1.in" {out}<"$1.out"
    inputs[$1]=$in
    read -r -u "$out" thread
    exec {out}<&-
    wait_until 60 sleeps "$thread" || fail "$1: the call does not wait"
}
end_call() {
    local in=${inputs[$1]}
    echo >&"$in"
    exec {in}>&-
    wait "${callers[$1]}" || fail "$1: the call fails"
}

# why PROFILE: its answer, of one call a line, without times, and without sync(2) by anybody on the machine
why() {
    "$OSPROF" why --json "$1" | python3 -c '
import json, sys
profile = json.load(sys.stdin)
for call in profile.get("in_flight", []):
    print("in flight:", call["op"], call["pid"], call.get("path"), call.get("cause"))
for cause in profile.get("causes", []):
    print("cause:", cause["op"], cause["calls"], cause["cause"])
for call in profile.get("slow_calls", []):
    print("slow:", call["op"], call["pid"], call["program"], call.get("path"), call["cause"])' | sed '/ SYNCFS /d'
}
# says LINE [PROFILE]
says() {
    why "${2:-$fs}" >said_why 2>/dev/null && grep -qxF "$1" said_why
}
expect_says() {
    wait_until 60 says "$@" || fail "osprof why does not say '$1': $(why "${2:-$fs}")"
}
says_neither() {
    ! why "$fs" | grep -E "$1" || fail "osprof why says what is not so: $(why "$fs")"
}

truncate -s 32M image
mkfs.ext4 -q image
mkdir fs
mount -o loop image fs
fs=$scratch/fs
echo 0123456789 >fs/file
sync -f fs
frozen_cause="waiting for a frozen file system"
lock_cause="waiting for a lock of a file that another holds (flock)"
before="(since before osprof attached)"

# ---- Many calls of one user that hang do not hide those of another

# Another user, who writes a byte in each of so many threads
cat >many.py <<'END'
import os, sys, threading
fd = os.open(sys.argv[1], os.O_RDWR)
os.setuid(65534)
threading.stack_size(65536)
for _ in range(int(sys.argv[2])):
    threading.Thread(target=os.pwrite, args=(fd, b"x", 0)).start()
END
in_writes() { # PID COUNT
    [ "$(grep -l '^18 ' "/proc/$1"/task/*/syscall 2>/dev/null | wc -l)" -ge "$2" ]
}
watched --slow 50ms
freeze "$fs"
"$PYTHON" many.py fs/file 2200 &
many=$!
others+=("$many")
wait_until 60 in_writes "$many" 2200 || fail "its threads do not all write"
nap 1000
begin_call single write
is_in_flight() {
    "$OSPROF" why --json "$fs" >why.json && grep -qw "\"pid\": $1" why.json
}
wait_until 60 is_in_flight "$thread" || fail "the call of root is not among those in flight"
thaw
end_call single
wait "$many" || fail "calls of the other user fail"
others=()
kill -INT "$watcher"
ended 0

# ---- Nothing is slow

watched --slow 50ms
cat fs/file >/dev/null
expect 1 why "$fs"
assert_eq "No call that has ended took 50.0 ms or longer" "$(<out)" "what it says of calls that are not slow"
expect 1 why -q "$fs"
assert_eq "" "$(<out)" "what it prints with --quiet"
kill -INT "$watcher"
ended 0
expect 1 why profile
assert_eq "No call that has ended took 50.0 ms or longer" "$(<out)" "what it says of them at the end"

# ---- Some had begun before, others begin meanwhile

freeze "$fs"
begin_call early write
early=$thread
begin_call early_name mkdir
begin_call early_lock lock
early_lock=$thread
watched --slow 50ms
begin_call late write
late=$thread
expect_says "in flight: PWRITE $early /file $frozen_cause $before"
expect_says "in flight: FLOCK $early_lock /file $lock_cause $before"
expect_says "in flight: PWRITE $late /file $frozen_cause"
says_neither '^(cause|slow): '
expect 0 show "$fs"
grep -q "^In flight: 3 calls" out || fail "osprof show does not show calls in flight: $(<out)"
"$OSPROF" show --check "$fs" >&2 || fail "osprof show --check finds fault with calls in flight"
COLUMNS=250 expect 0 top --batch --count 1 --delay 0.3 "$fs"
grep -q "^ *PWRITE .* $late  *$program  */file\$" out || fail "osprof top has no call in flight: $(<out)"
sed 's/^ *//' out >causes
grep -qxF "$frozen_cause" causes || fail "osprof top has no cause of it: $(<out)"
grep -qxF "$lock_cause $before" causes || fail "osprof top has no cause of the lock: $(<out)"
thaw
end_call early
end_call early_name
end_call early_lock
end_call late
expect_says "slow: PWRITE $late $program /file $frozen_cause"
expect_says "cause: PWRITE 1 $frozen_cause"
says_neither '^in flight: '
"$OSPROF" serve --listen 127.0.0.1:0 "$fs" >url 2>/dev/null &
others+=("$!")
wait_until 60 test -s url || fail "does not serve"
python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())' "$(grep -o 'http[^ ]*' url)" >metrics
kill "$!"
grep -q "^osprof_slow_calls_total{layer=\"syscall\".*,op=\"PWRITE\",cause=\"$frozen_cause\"} 1\$" metrics ||
    fail "osprof serve does not count the slow call: $(grep slow metrics)"
! grep 'osprof_slow_calls_total.*FLOCK' metrics || fail "osprof serve counts what had begun before"
says_neither 'FLOCK|MKDIR'
kill -INT "$watcher"
ended 0
tr '\n' ' ' <"$page" | grep -q 'the latency of 3 calls (begun before osprof attached)' ||
    fail "calls that had begun before are not told: $(<"$page")"
says "slow: PWRITE $late $program /file $frozen_cause" profile || fail "osprof why of the result: $(why profile)"
"$OSPROF" show --check profile >&2 || fail "osprof show --check finds fault"
rmdir fs/made

# ---- By a name; a lock; and it is killed meanwhile

watched --slow 50ms --by none
freeze "$fs"
begin_call name mkdir
name=$thread
begin_call lock lock
lock=$thread
expect_says "in flight: FLOCK $lock /file $lock_cause"
sleep 0.3
says_neither 'MKDIR' # nobody knows yet where it is
thaw
end_call name
expect_says "slow: MKDIR $name $program / $frozen_cause"
says_neither 'PWRITE'
kill -KILL "$watcher"
wait "$watcher" || true
watcher=
live=$(find "$XDG_RUNTIME_DIR/osprof" -name '*-*.live')
expect_says "slow: MKDIR $name $program / $frozen_cause" "$live"
expect_says "in flight: FLOCK $lock /file $lock_cause" "$live"
end_call lock
rm -f "$live" "${live%.live}.sock"
umount fs
