#!/bin/bash
# osprof attach --slow TIME --events FILE: each slow call that has ended is a record, others are not, and the file and
# profiles of it say so. Calls on an ext4 that is frozen, some of them at the same time.
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

truncate -s 32M image
mkfs.ext4 -q image
mkdir fs
mount -o loop image fs
fs=$scratch/fs
mkdir fs/deep
for name in a b c; do echo 0123456789 >"fs/deep/$name"; done
sync -f fs

# Writes 10 bytes in the file when told, and opens it anew when told again.
cat >call.py <<'END'
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
print("ready", flush=True)
sys.stdin.readline()
os.pwrite(fd, b"0123456789", 0)
os.open(sys.argv[1], os.O_WRONLY | os.O_TRUNC)
END
# It is in a call whose third argument is 10.
writes() {
    [ "$(awk '{ print $4 }' "/proc/$1/syscall")" = 0xa ]
}

# ---- What is refused

expect_refused() { # MESSAGE ARGUMENT...
    ! "$OSPROF" attach --for 100ms "${@:2}" "$fs" 2>err || fail "it takes: ${*:2}"
    grep -qF -- "$1" err || fail "${*:2}: $(<err)"
}
expect_refused "--events is of slow calls: give --slow TIME, too" --events events
ln -s elsewhere link
mkdir directory
expect_refused "cannot record events to link: it is a symbolic link, which is not followed; name the file" --slow 1s --events link
expect_refused "cannot record events to directory: Is a directory" --slow 1s --events directory
expect_refused "cannot record events to none/events: No such file" --slow 1s --events none/events
if [ -e elsewhere ] || [ -e events ]; then fail "a file was made"; fi
echo text >events
expect_refused "cannot record events to events: it is there, and is no result of osprof; --force replaces it" --slow 1s --events events
assert_eq text "$(<events)" "the text that was there"
rm events

# ---- Three calls at the same time; one of them fails

cp "$data/show-grep.osprof" events
gos=()
watched --slow 300ms --events events --slowlog slow.log
cat fs/deep/a >/dev/null
for name in a b c; do
    mkfifo "go.$name" "ready.$name"
    python3 call.py "fs/deep/$name" <"go.$name" >"ready.$name" &
    others+=("$!")
    exec {go}>"go.$name"
    gos+=("$go")
    read -r _ <"ready.$name"
done
freeze "$fs"
for go in "${gos[@]}"; do echo >&"$go"; done
for caller in "${others[@]}"; do wait_until 60 writes "$caller" || fail "$caller does not write"; done
sleep 0.7
thaw
for caller in "${others[@]}"; do wait "$caller" || fail "a call fails"; done
callers=("${others[@]}")
others=()
kill -INT "$watcher"
ended 0
! grep -q "are not in it" err || fail "calls are missing: $(<err)"
assert_eq 600 "$(stat -c %a events)" "mode of the file"
cmp "$data/show-grep.osprof" events.old || fail "the result that was there is not kept"

"$OSPROF" events show events >shown
grep -q -- '-- the trace begins, with only calls of at least 300 ms --' shown || fail "it does not say which calls: $(<shown)"
assert_eq 1 "$(grep -c -- '-- the trace ends --' shown)" "ends"
python3 - "${callers[@]}" <<'END' || fail "events are not the slow calls of the log: $(<shown) $(<slow.log)"
import json, re, sys
log = [json.loads(line) for line in open("slow.log")]
shown = [line.split() for line in open("shown") if re.search(r" /deep/", line)]
assert len(log) == len(shown) == 3, (log, shown)
for line in shown:
    assert line[3] == "PWRITE" and line[5].startswith("python"), line
    assert line[6:8] == ["10", "B"], line
assert sorted(line[4] for line in shown) == sorted(sys.argv[1:4])
assert sorted(line[8] for line in shown) == ["/deep/a", "/deep/b", "/deep/c"]
END

# To the nanosecond, and for a trace viewer
"$OSPROF" events export --format csv -o events.csv events
"$OSPROF" events export --format chrome -o events.json events
python3 - <<'END' || fail "what is exported is not what the log has: $(<events.csv)"
import csv, json
log = {call["process"]: call for call in map(json.loads, open("slow.log"))}
rows = list(csv.DictReader(open("events.csv")))
assert sorted(int(row["latency_ns"]) for row in rows) == sorted(call["latency_ns"] for call in log.values())
assert all(call["latency_ns"] >= 700000000 for call in log.values())
trace = json.load(open("events.json"))
calls = [event for event in (trace["traceEvents"] if isinstance(trace, dict) else trace) if event["ph"] == "X"]
assert len(calls) == 3 and all(event["name"] == "PWRITE" for event in calls), calls
END

# The profile of these is no profile of all calls, and says so.
"$OSPROF" events profile -o slow.osprof events
assert_eq "# only: calls of at least 300 ms" "$(grep '^# only' slow.osprof)" "label"
assert_eq "# incomplete: yes" "$(grep '^# incomplete' slow.osprof)" "mark"
assert_eq "PWRITE 3" "$(counts slow.osprof)" "calls"
"$OSPROF" show --width 200 slow.osprof >shown
grep -q '^Incomplete: it has only calls of at least 300 ms\.$' shown || fail "it passes as the profile of all: $(<shown)"
[ "$(calls OPEN profile)" -ge 4 ] || fail "the profile of all calls lacks some: $(<profile)"
! grep -q '^# only' profile || fail "the profile of all calls is said to be of some"

# ---- A process that executes another program: each call has the name that its process had then

cat >two_programs.py <<'END'
import os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
print("ready", flush=True)
sys.stdin.readline()
os.pwrite(fd, b"0123456789", 0)
print("ready", flush=True)
sys.stdin.readline()
os.execvp("dd", ["dd", "if=/dev/zero", "of=" + sys.argv[1], "bs=10", "count=1", "conv=notrunc", "status=none"])
END
watched --slow 300ms --events events
mkfifo go.two ready.two
python3 two_programs.py fs/deep/a <go.two >ready.two &
caller=$!
others+=("$caller")
exec {go}>go.two {ready}<ready.two
for ((call = 0; call < 2; call++)); do
    read -r -u "$ready" _
    freeze "$fs"
    echo >&"$go"
    wait_until 60 writes "$caller" || fail "it does not write"
    sleep 0.5
    thaw
done
wait "$caller" || fail "a call fails"
others=()
kill -INT "$watcher"
ended 0
"$OSPROF" events show --width 140 events >shown
assert_eq "$caller python3
$caller dd" "$(awk '/ P?WRITE / { print $5, $6 }' shown)" "the callers in: $(<shown)"
"$OSPROF" events export --format csv -o events.csv events
assert_eq "python3 dd" "$(python3 -c '
import csv
print(*(row["program"] for row in csv.DictReader(open("events.csv"))))')" "programs of rows"
"$OSPROF" events export --format chrome -o events.json events
assert_eq "dd python3" "$(python3 -c '
import json
trace = json.load(open("events.json"))
events = trace["traceEvents"] if isinstance(trace, dict) else trace
names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
print(*sorted(names[e["tid"]] for e in events if e["ph"] == "X"))')" "names of the tracks of calls"
assert_eq "python3 dd" "$(PYTHONPATH=$tests_dir/../../python python3 -c '
import osprof
print(*(call.program for call in osprof.load_events("events")))')" "programs, for Python"

# ---- Without a slow call there is none in it; a reset is a mark

watched --slow 10s --events events
cat fs/deep/a >/dev/null
"$OSPROF" ctl "$fs" reset
kill -INT "$watcher"
ended 0
"$OSPROF" events show events >shown 2>err && fail "calls: $(<shown)"
grep -q -- '-- the trace begins, with only calls of at least 10 s --' shown || fail "it does not say which calls: $(<shown)"
grep -q -- '-- the profile is reset --' shown || fail "there is no mark: $(<shown)"
! grep -q '/deep' shown || fail "fast calls are in it: $(<shown)"
