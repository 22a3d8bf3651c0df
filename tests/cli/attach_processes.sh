#!/bin/bash
# osprof attach of some processes, of a control group, and of what a process sees: whose calls count, and on what.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"

need_root
need python3

fs=$scratch/fs
# shellcheck source=attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"
page=page said=said
group=
before_cleanup() {
    others+=(${early:+"$early"} ${other:+"$other"})
    exec 7>&- 9>&-
    kill_watchers
    wait 2>/dev/null || true
    [ -z "$group" ] || find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || true
}

mkdir fs
mount -t tmpfs tmpfs fs

# A process that waits until it may begin. What it does on files is counted, on whatever file system: not on pipes,
# devices and what the kernel shows as files.
cat >load.py <<'END'
import os, subprocess, sys
sys.stdin.readline()
files = [os.open(path, os.O_RDWR | os.O_CREAT) for path in sys.argv[1:3]]
for fd in files:
    for _ in range(7):
        os.write(fd, b"12345")
    os.fsync(fd)
readable, writable = os.pipe()
null, shown = os.open("/dev/null", os.O_WRONLY), os.open("/proc/self/stat", os.O_RDONLY)
kept = os.memfd_create("memory")
for _ in range(5):
    os.write(writable, b"x"), os.read(readable, 1), os.write(null, b"x"), os.pread(shown, 9, 0), os.write(kept, b"x")
for _ in range(3):
    os.stat(sys.argv[1]), os.stat("/proc/self/stat")
for _ in range(4):
    os.access("./" * 600 + "none", os.R_OK) # longer than what is looked up
subprocess.run(["dd", "if=/dev/zero", "of=" + sys.argv[1] + ".child", "bs=10", "count=11", "status=none"])
END

# begins [WRAPPER]...: the load, as $early, which waits
begins() {
    rm -f go
    mkfifo go
    "$@" /usr/bin/python3 load.py "$scratch/on-disk" "$scratch/fs/in-memory" <go &
    early=$!
    exec 7>go
}

# goes: it does its work, and ends
goes() {
    echo >&7
    exec 7>&-
    wait "$early"
    early=
}

# ---- Processes

begins
process=$early
sleep 600 &
other=$!
watched_by --pid "$process"
assert_eq "osprof: calls of process $process (python3) and its descendants on all file systems are counted until Ctrl-C; meanwhile: osprof show /proc/$process" \
    "$(<said)" "what is counted"
assert_refused "/proc/$process is watched already, by process $watcher: osprof show /proc/$process" "$OSPROF" attach --pid "$process"
for _ in 1 2 3; do dd if=/dev/zero of=fs/other bs=10 count=5 status=none; done
expect 0 show "/proc/$process"
grep -q 'no calls' out || fail "others' calls are counted: $(<out)"
goes
ended 0
grep -qx "osprof: process $process has ended, and so have its descendants" said || fail "why it ends is not said: $(<said)"
assert_eq "25 2" "$(calls WRITE profile) $(calls FSYNC profile)" "WRITE (7 + 7 + 11) and FSYNC that are counted"
expect 0 show --by program --of python3 profile
grep -Eq '^STAT +3 ' out || fail "other STATs are counted than those of files: $(<out)"
grep -qx "# calls of process: $process" profile || fail "whose calls they are is not in the profile"
head -n 1 page | grep -q "; calls of process $process took " || fail "the page does not say whose calls: $(head -n 1 page)"
tr '\n' ' ' <page | grep -Eq 'Not measured: ([4-9]) calls by name \(unresolved: here or on pseudo file systems such as /proc, of these processes; \1 failed\)' ||
    fail "it is not said what is not told: $(<page)"
"$OSPROF" show --by program profile | grep -Eq '^dd +' || fail "the child is not among the programs"
"$OSPROF" show --by file profile | grep -Eq " .*/fs/in-memory$" || fail "the file below its mount point is not named"
expect 0 show --by filesystem --of "$scratch/fs tmpfs" profile
grep -Eq '^WRITE +7 ' out || fail "other calls on the file system in memory: $(<out)"
expect 0 show --by filesystem --of "$(findmnt -nro TARGET,FSTYPE -T .)" profile
grep -Eq '^WRITE +18 ' out || fail "other calls on the file system of the directory: $(<out)"
"$OSPROF" show --check profile >&2 || fail "osprof show --check finds fault"
expect 0 show --list
grep -Eq "^@1 .* osprof attach --pid $process$" out || fail "what was kept is not named: $(<out)"

begins
process=$early
watched_by --pid "$other,$process" --by none fs
assert_eq "osprof: calls of processes $other, $process and their descendants on $PWD/fs (tmpfs) are counted until Ctrl-C" \
    "$(sed "s| fs (| $PWD/fs (|" said)" "what is counted"
goes
"$OSPROF" save "$scratch/fs" -o now
assert_eq "7 1 0" "$(calls WRITE now) $(calls FSYNC now) $(calls STAT now)" "WRITE, FSYNC and STAT on that file system alone"
kill "$other"
wait "$other" 2>/dev/null || true
other=
ended 0
expect 1 show --by file profile
grep -qx "osprof: no calls by file in profile; osprof attach --by file records them" err || fail "no advice: $(<err)"
grep -qx "osprof: all of the processes have ended, and so have their descendants" said || fail "why it ends is not said: $(<said)"

begins
process=$early
watched_by --pid "$process,$process" --by none fs
grep -q "^osprof: calls of process $process (python3) and its descendants on " said || fail "it is two processes: $(<said)"
goes
ended 0

# ---- What cannot be watched

# shellcheck disable=SC2016 # for the shell inside
status=0
sh -c 'echo $$ >own && exec "$0" attach --pid $$ --for 100ms' "$OSPROF" 2>err || status=$?
assert_eq "2 osprof: cannot watch process $(<own): it is osprof itself, which does not measure its own calls" "$status $(<err)" "its own number"

assert_refused "cannot watch process 2147483647: there is none of that number" "$OSPROF" attach --pid 2147483647
for text in 0 -1 x 1x '1,' ',1' '' 4294967296; do
    assert_refused "--pid $text: must be numbers of processes, such as 4711,4712; see 'osprof help attach'" "$OSPROF" attach --pid "$text"
done
for text in 1,,2 1,x 1,x,2 1,2x,3; do # what is wrong is shown alone, if that is not empty
    wrong=$(tr , '\n' <<<"$text" | grep '[^0-9]') || wrong=$text
    assert_refused "--pid $wrong: must be numbers of processes, such as 4711,4712; see 'osprof help attach'" "$OSPROF" attach --pid "$text"
done
assert_refused "--pid 101,102,103,104 and 5,003 more: has more than 4096 processes; see 'osprof help attach'" \
    "$OSPROF" attach --pid "$(seq -s, 101 5107)"
assert_refused "--pid $(seq -s' ' 5000 | head -c 57)...: must be numbers of processes, such as 4711,4712; see 'osprof help attach'" \
    "$OSPROF" attach --pid "$(seq -s' ' 5000)"
cat >threads.py <<'END'
import threading
started = threading.Thread(target=threading.Event().wait, daemon=True)
started.start()
print(started.native_id, flush=True)
threading.Event().wait()
END
/usr/bin/python3 threads.py >thread &
early=$!
is_told() {
    [ -s thread ]
}
wait_until 20 is_told || fail "there is no thread"
assert_refused "cannot watch process $(<thread): it is a thread of process $early" "$OSPROF" attach --pid "$(<thread)"
kill "$early"
wait "$early" 2>/dev/null || true
early=
assert_refused "see 'osprof help attach'" "$OSPROF" attach
assert_refused "see 'osprof help attach'" "$OSPROF" attach fs fs
provide_programs
assert_refused "cannot watch processes: this takes root, or the capabilities CAP_BPF and CAP_PERFMON; try sudo ('osprof doctor' lists what works here)" as_user "$OSPROF" attach --pid $$
if unshare -pf true 2>/dev/null; then
    assert_refused "cannot watch single processes from within a PID namespace: osprof must run outside of it" \
        unshare -pf --mount-proc "$OSPROF" attach --pid 1
fi

# ---- Control groups

root=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
if [ -z "$root" ]; then
    assert_refused "cannot watch control group test: none of version 2 are mounted, only they tell of each process which one it is in" \
        "$OSPROF" attach --cgroup test
    exit 0
fi
name=osproffs-test-$$.slice
group=$root/$name
mkdir "$group" "$group/inner" 2>/dev/null || { group= && exit 0; }

# in_group: a command in the inner one
in_group() {
    # shellcheck disable=SC2016 # for the shell inside
    sh -c 'echo $$ >"$1" && shift && exec "$@"' sh "$group/inner/cgroup.procs" "$@"
}
for given in "$name" "$group" "/$name"; do
    begins in_group
    watched_by --cgroup "$given"
    assert_eq "osprof: calls of control group /$name on all file systems are counted until Ctrl-C; meanwhile: osprof show $group" \
        "$(<said)" "what is counted"
    dd if=/dev/zero of=fs/other bs=10 count=5 status=none
    goes
    kill -INT "$watcher"
    ended 0
    assert_eq "25 2" "$(calls WRITE profile) $(calls FSYNC profile)" "WRITE and FSYNC in the control group, given as $given"
    tr '\n' ' ' <page | grep -Eq 'Not measured: ([4-9]) calls by name \(unresolved: here or on pseudo file systems such as /proc, of this control group; \1 failed\)' ||
        fail "it is not said what is not told: $(<page)"
    head -n 1 page | grep -q "; calls of cgroup /osproffs-test" || fail "the page does not say whose calls: $(head -n 1 page)"
done
expect 0 show --by cgroup --of "/$name/inner" profile
grep -Eq '^WRITE +25 ' out || fail "other calls of the inner group: $(<out)"
begins in_group
watched_by fs
dd if=/dev/zero of=fs/other bs=10 count=5 status=none
goes
kill -INT "$watcher"
ended 0
expect 0 show --by cgroup --of "/$name/inner" profile
grep -Eq '^WRITE +7 ' out || fail "other calls of the control group: $(<out)"

assert_refused "there is no control group none-of-that-name below $root" "$OSPROF" attach --cgroup none-of-that-name
assert_refused "there is no control group ../../.. below $root" "$OSPROF" attach --cgroup ../../..
assert_refused "cannot watch a control group without a name" "$OSPROF" attach --cgroup ''
mkdir "$group/other" "$group/other/inner-$$" "$group/inner/inner-$$"
expect 2 attach --cgroup "inner-$$"
grep -Eqx "osprof: there are 2 control groups of the name inner-$$: /$name/(inner|other)/inner-$$, /$name/(inner|other)/inner-$$; name one by its path" err ||
    fail "which one is not asked: $(<err)"
rmdir "$group/other/inner-$$" "$group/other" "$group/inner/inner-$$"
watched_by --cgroup "$name/inner"
rmdir "$group/inner"
mkdir "$group/inner" # another one
ended 0
grep -qx "osprof: control group /$name/inner is gone" said || fail "why it ends is not said: $(<said)"
