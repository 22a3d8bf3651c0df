#!/bin/bash
# osprof attach --pid and osprof why -a --pid: descendants of the process count, those that there are already and later ones,
# through parents that have ended meanwhile; a later process with the number of one that has ended does not.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"

need_root
need python3 flock pgrep

fs=$scratch/fs
# shellcheck source=attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"
page=page said=said
before_cleanup() {
    exec 7>&-
    kill_watchers
    wait 2>/dev/null || true
}

mkdir fs
mount -t tmpfs tmpfs fs

# of COMMAND...: a process, as $named, that goes on with a line from descriptor 7
of() {
    rm -f go
    mkfifo go
    "$@" <go &
    named=$!
    others=("$named")
    exec 7>go
}

# goes: it does, and ends
goes() {
    echo >&7
    exec 7>&-
    wait "$named"
    others=()
}

# ---- Descendants that there are already

cat >writes.sh <<'END'
read -r _
dd if=/dev/zero of="$1" bs=10 count=7 status=none
sh -c 'dd if=/dev/zero of="$1.later" bs=10 count=11 status=none; :' sh "$1"
END
# shellcheck disable=SC2016 # for the shells inside
of sh -c 'sh -c '\''sh writes.sh fs/grandchild; :'\''; :'
is_waiting() { pgrep -f "^sh writes.sh fs/grandchild" >/dev/null; }
wait_until 20 is_waiting || fail "there is no grandchild"
watched_by --pid "$named" fs
assert_eq "osprof: calls of process $named (sh) and its descendants on $fs (tmpfs) are counted until Ctrl-C" "$(<said)" "what is counted"
dd if=/dev/zero of=fs/other bs=10 count=5 status=none
goes
ended 0
grep -qx "osprof: process $named has ended, and so have its descendants" said || fail "why it ends is not said: $(<said)"
assert_eq 18 "$(calls WRITE profile)" "WRITE of a grandchild (7) and its later child (11)"

# ---- Descendants that fork and end while they are looked for: orphans become children of the one that was named

cat >relays.py <<'END'
import ctypes, os, sys, time
PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
def relay():
    while not os.path.exists("fs/go"):
        time.sleep(0.005)
        if os.fork() > 0:
            os._exit(0)
    fd = os.open("fs/%d" % os.getpid(), os.O_WRONLY | os.O_CREAT)
    for _ in range(7):
        os.write(fd, b"12345")
    os._exit(0)
for _ in range(7):
    if os.fork() == 0:
        relay()
sys.stdin.readline()
open("fs/go", "w")
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
END
of python3 -I -S relays.py
watched_by --pid "$named" --by none fs
goes
ended 0
assert_eq 49 "$(calls WRITE profile)" "WRITE of 7 lines of processes"

# ---- A number that another process gets

cat >ends.py <<'END'
import os, sys
child = os.fork()
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
open("fs/number", "w").write(str(child))
sys.stdin.readline()
END
# gets NUMBER: a process with that number writes. Returns 1 if it got another one
gets() {
    echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid
    # shellcheck disable=SC2016 # for the shell inside
    sh -c '[ $$ = "$1" ] || exit 1; i=0; while [ $i -lt 17 ]; do echo; i=$((i + 1)); done >fs/stranger' sh "$1"
}
if [ -w /proc/sys/kernel/ns_last_pid ]; then
    of sh -c 'read -r _; exec python3 -I -S ends.py'
    watched_by --pid "$named" --by none fs
    echo >&7
    wait_until 20 test -s fs/number || fail "there is no number"
    for _ in $(seq 200); do
        ! gets "$(<fs/number)" || break
    done
    goes
    ended 0
    [ -e fs/stranger ] || echo "no other process got the number"
    assert_eq 1 "$(calls WRITE profile)" "WRITE of the process, not of a stranger with its child's number"
fi

# ---- Waits

# until_sleeps PID: in a lock
until_sleeps() {
    wait_until 20 grep -q flock "/proc/$1/wchan" "/proc/$1/stack" || fail "process $1 does not wait"
}

if ! "$OSPROF" why -a --for 100ms >/dev/null 2>err; then
    skip "$(<err)"
fi

# waits_of PROGRAM CAUSE: waits in the JSON
waits_of() {
    python3 -I -S - "$1" "$2" <<'END'
import json, sys
d = json.load(open("out"))
print(sum(w["waits"] + w["waiting_now"] for w in d["waits"] if sys.argv[1] in w["program"] and sys.argv[2] in w["cause"]))
END
}

# why_begins: osprof why, as $watcher, counts waits of $named and its descendants
why_begins() {
    rm -f said
    "$OSPROF" why -a --pid "$named" --idle --json >out 2>said 7>&- &
    watcher=$!
    wait_until 60 grep -qs "is counted until Ctrl-C" said || fail "it does not begin: $(<said)"
}

why_ends() {
    kill -INT "$watcher"
    wait "$watcher" || fail "exit status $?: $(<said)"
    watcher=
    "${python_schema:=python3}" "$tests_dir/../cli/validate.py" "$data/../../docs/waits.schema.json" out || fail "JSON"
}

# A daemon waits for a lock while the process that was named sleeps.
cat >daemon.py <<'END'
import fcntl, os, sys
sys.stdin.readline()
if os.fork() == 0:
    if os.fork() == 0:
        os.setsid()
        open("daemon", "w").write(str(os.getpid()))
        fcntl.flock(open("locked"), fcntl.LOCK_EX)
        os._exit(0)
    os._exit(0)
os.wait()
sys.stdin.readline()
END
flock --no-fork locked sleep 600 &
holder=$!
of python3 -I -S daemon.py
others+=("$holder")
why_begins
echo >&7
wait_until 20 test -s daemon || fail "there is no daemon"
until_sleeps "$(<daemon)"
why_ends
assert_eq 1 "$(waits_of "" "lock of a file")" "waits of the daemon for a lock"
kill "$holder"
goes

# Shells that a shell runs for a moment, and each a program.
cat >shells.sh <<'END'
read -r _
for _ in $(seq 41); do sh -c 'sleep 0.02; :'; done
END
of bash shells.sh
why_begins
goes
why_ends
lost=$(python3 -c 'import json; d = json.load(open("out")); print(d["lost_waits"] + d["skipped_waits"])')
slept=$(waits_of sleep sleeping)
((slept <= 41 && slept + lost >= 41)) || fail "of 41 sleeps $slept are counted, and $lost said to be lost"
