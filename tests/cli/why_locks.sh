#!/bin/bash
# osprof why -a --locks: which locks of the kernel threads fight for, who holds them, and where nobody fights.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"

need_root
need_fuse
need python3
"$OSPROF" why -a --locks --for 100ms >/dev/null 2>"$scratch/err" || skip "$(cat "$scratch/err")"

started=()
daemon=
before_cleanup() {
    [ -z "$daemon" ] || kill -CONT "$daemon" 2>/dev/null || true
    [ ${#started[@]} = 0 ] || kill -KILL "${started[@]}" 2>/dev/null || true
    exec 8>&- 9>&-
    wait "${started[@]}" 2>/dev/null || true
}

says() {
    grep -qE -- "$1" out || fail "does not say: $1
$(cat out)"
}

says_not() {
    ! grep -qE -- "$1" out || fail "says: $1
$(cat out)"
}

# of_json EXPRESSION: in python, of d, the document, and locks(key=value...), the rows of which that is true
of_json() {
    python3 -c '
import json
d = json.load(open("out"))
def locks(**wanted):
    return [l for l in d["locks"] if all(l.get(key) == value for key, value in wanted.items())]
assert '"$1"', (d["elapsed_seconds"], locks())' || fail "JSON is not: $1"
}

# watch PID [OPTION]...: begins to look at a process, as $watcher
watch() {
    local pid=$1
    shift
    rm -f err # of the one before, who says the same
    "$OSPROF" why -a --locks --pid "$pid" "$@" >out 2>err &
    watcher=$!
    started+=("$watcher")
    wait_until 30 grep -q 'is counted until Ctrl-C' err || fail "does not begin: $(cat err)"
}

# end_watch: what it has seen is in out then
end_watch() {
    kill -INT "$watcher"
    wait "$watcher" || fail "status $? of osprof why -a"
}

# Two read by one open file description: who is second waits for its position, a mutex, until the daemon has answered the
# first. Both do so at a word, one after the other.
cat >readers.py <<'END_OF_READERS'
import os, sys, time
def waits_for_daemon(pid):
    stack = open(f"/proc/{pid}/stack").read()
    is_reading = "_read" in stack and "_fault" not in stack
    return is_reading and ("fuse_" in stack or "folio_wait" in stack or "wait_on_page" in stack)
file = os.open(sys.argv[1], os.O_RDONLY)
open("ready", "w")
sys.stdin.readline()
first = os.fork()
if first == 0:
    os.read(file, 1)
    os._exit(0)
open("first", "w").write(str(first))
while not waits_for_daemon(first):
    time.sleep(0.01)
open("second", "w")
os.read(file, 1)
os.waitpid(first, 0)
open("ended", "w")
sys.stdin.readline()
END_OF_READERS

# begin_readers FILE: in $reader, that hold its description; as they wait for a word on descriptor 9
begin_readers() {
    rm -f ready first second ended go
    mkfifo go
    python3 readers.py "$1" <go &
    reader=$!
    started+=("$reader")
    exec 9>go
    wait_until 30 test -e ready || fail "process $reader does not open $1"
}

# It is in read(2), not anywhere else: it may wait for a disk before.
second_waits() {
    [ -e second ] && [ "$(awk '{ print $3 }' "/proc/$reader/stat")" = D ] && grep -q read "/proc/$reader/stack"
}

for file in one two; do
    head -c 4096 /dev/zero >lower/$file
done

mount_osproffs lower mnt
daemon=$daemon_pid

# ---- A mutex that another has, for as long as a daemon is stopped

begin_readers mnt/one
hang_daemon "$daemon"
watch "$reader" --width 1000
echo >&9
wait_until 30 second_waits || fail "process $reader does not wait"
nap 300 # who holds it is looked for, too
end_watch
says '^Locks of the kernel: threads slept .* for them, which is part of the waits above'
says ' 1 .*mutex, asleep: [a-z_]+ \(1 still\)$'
says "python3 $reader waits for the kernel's lock in [a-z_]+, held by python3 $(<first)"
says_not 'no contention|not measured'

# What has begun before is not known: no contention is seen.
expect 0 why -a --locks --pid "$reader" --for 300ms --width 1000
says '^Locks of the kernel: no contention was seen\.$'
says_not 'asleep|contentions'

# Without --locks there is nothing of them.
expect 0 why -a --pid "$reader" --for 300ms --width 1000
says_not 'Locks of the kernel'
kill -CONT "$daemon"
wait_until 30 test -e ended || fail "process $reader does not go on"
exec 9>&-

# The same until it has ended: once, by one of them only, and in the waits, too.
begin_readers mnt/two
hang_daemon "$daemon"
watch "$reader" --json
echo >&9
wait_until 30 second_waits || fail "process $reader does not wait"
nap 300
kill -CONT "$daemon"
wait_until 30 test -e ended || fail "process $reader does not go on"
end_watch
of_json '[(l["process"], l["contentions"], l["waiting_now"]) for l in locks(lock="mutex", state="asleep")] == [('"$reader"', 1, 0)]'
of_json '0.25 < locks(lock="mutex", state="asleep")[0]["total_seconds"] <= d["elapsed_seconds"]'
of_json 'all("pos" in l["function"] or "read" in l["function"] for l in locks(lock="mutex"))'
of_json 'sum(w["total_seconds"] for w in d["waits"] if w["process"] == '"$reader"') >= locks(lock="mutex", state="asleep")[0]["total_seconds"]'
of_json 'd["lost_contentions"] == 0 and d["skipped_contentions"] >= 0'
"${python_schema:=python3}" "$tests_dir/../cli/validate.py" "$data/../../docs/waits.schema.json" out || fail "JSON"
exec 9>&-

# ---- Seven that make directories: in one directory, and each in its own

cat >makers.py <<'END_OF_MAKERS'
import os, sys, time
def waits(pid):
    state = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]
    return state in "SD" and "mkdir" in open(f"/proc/{pid}/stack").read()
where = sys.argv[1]
directories = [where if sys.argv[2] == "together" else f"{where}/{number}" for number in range(7)]
for directory in directories:
    os.makedirs(directory, exist_ok=True)
open("ready", "w")
sys.stdin.readline()
makers = []
for number in range(7):
    makers.append(os.fork())
    if makers[-1] == 0:
        for i in range(43):
            os.mkdir(f"{directories[number]}/{number}.{i}")
        os._exit(0)
while not all(waits(maker) for maker in makers):
    time.sleep(0.01)
open("waiting", "w")
for maker in makers:
    os.waitpid(maker, 0)
open("ended", "w")
sys.stdin.readline()
END_OF_MAKERS

# sees_makers DIRECTORY HOW [OPTION]...: the daemon is stopped until all of them wait for it, or for each other
sees_makers() {
    rm -f ready waiting ended go
    mkfifo go
    python3 makers.py "$1" "$2" <go &
    started+=("$!")
    exec 8>go
    wait_until 30 test -e ready || fail "no makers"
    hang_daemon "$daemon"
    watch "$!" "${@:3}"
    echo >&8
    wait_until 60 test -e waiting || fail "makers do not wait"
    kill -CONT "$daemon"
    wait_until 60 test -e ended || fail "makers do not end"
    end_watch
    exec 8>&-
}

# What locks the directory; its name has changed.
of_directory='[l for l in locks(lock="rwsem", access="write", state="asleep") if "mkdir" in l["function"] or "create" in l["function"] or "dirop" in l["function"]]'
sees_makers mnt/a together --json
of_json "0 < sum(l['contentions'] for l in $of_directory) <= 7 * 43"
of_json "all(l['program'] == 'python3' for l in $of_directory)"
of_json "len(set(l['process'] for l in $of_directory)) > 1"
sees_makers mnt/b together --width 1000
says '^Locks of the kernel: threads slept '
says ' [1-9][0-9]* .*rwsem to write, asleep: [a-z_]+$'
[ "$(sed -n '/^Locks of the kernel/,$p' out | wc -l)" -le 20 ] || fail "too long: $(cat out)"
sees_makers mnt/c apart --json
of_json "$of_directory == []"

# ---- Wrong arguments, and no right

expect 2 why --locks x
grep -q -- '--locks goes with -a only' err || fail "$(cat err)"
provide_programs
as_user "$OSPROF" why -a --locks --for 100ms >out 2>err && fail "anybody sees what threads fight for"
assert_eq "osprof: cannot see what threads wait for: this takes root, or the capabilities CAP_BPF and CAP_PERFMON; try sudo ('osprof doctor' lists what works here)" "$(<err)" "refusal"
