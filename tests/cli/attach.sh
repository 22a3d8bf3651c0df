#!/bin/bash
# osprof attach: system calls on a file system in use, by all programs, counted in place. What counts is what strace shows,
# operation by operation, of programs that link the C library, that do not, and that ran before.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"

need_root
need strace tar sqlite3 python3 setpriv unshare

mkdir fs
mount -t tmpfs tmpfs fs
fs=$scratch/fs

# ---- What counts is what strace shows

cat >load <<'END'
echo line >a; cat a; cp a b; mv b c; ln -s c d; ln c e; cat d; stat . c d none; rm d e
mkdir dir; echo 2 >dir/f; ls -la . dir; rmdir none dir; rm -r dir
chmod 600 c; touch c; truncate -s 100 c; test -e c; cat none; readlink c; cat /proc/self/cwd/none
tar -cf t.tar a c; tar -xf t.tar; rm t.tar
sqlite3 db 'create table t (a); insert into t values (1); select * from t;'
python3 -c 'import os
with open("p", "wb") as f:
    os.pwritev(f.fileno(), [b"abc", b"de"], 0); os.preadv(os.open("p", os.O_RDONLY), [bytearray(9)], 0)
    import fcntl; fcntl.lockf(f, fcntl.LOCK_EX); fcntl.flock(f, fcntl.LOCK_EX); fcntl.fcntl(f, fcntl.F_GETFL)
    os.fsync(f.fileno()); os.fdatasync(f.fileno())
os.scandir(".").close(); os.stat("p", follow_symlinks=False); os.unlink("p")'
END
mkdir traces
watched --label rack=7
# shellcheck disable=SC2016 # for the shell inside
PATH=/usr/bin:/bin strace -ff -y -v -o traces/t sh -c 'cd "$1" && exec sh ../load' sh "$fs" >printed 2>&1 || true
kill -INT "$watcher"
ended 0
python3 "$tests_dir/../cli/strace_counts.py" "$fs" "$(mountpoint -d "$fs")" traces/* >expected
[ "$(wc -l <expected)" -gt 25 ] || fail "the load has few operations: $(<expected)"
counts profile >counted
diff expected counted >&2 || fail "what is counted (>) is not what strace shows"
assert_eq syscall "$(sed -n 's/^# layer: //p' profile)" "layer"
tr '\n' ' ' <out | grep -Eq ' Not measured: [0-9]+ calls? by name \(unresolved: here or on another file system, of all programs of this machine; [0-9]+ failed\)' ||
    fail "it is not said what is not told: $(<out)"
grep -qx '# label rack: 7' profile || fail "the label is missing"
not_measured='not measured, as another osprof attach was running already'
if ! grep -qx "# cost: $not_measured" profile || ! compgen -G '/run/osprof/*.live' >/dev/null; then # none but this one is there
    grep -Eqx '# cost_time: each [0-9]+ counted [0-9]+' profile || fail "what it cost is not known: $(grep '^# cost' profile)"
    [ "$(sed -n 's/^# cost_calls: //p' profile)" -ge "$(awk '{ n += $2 } END { print n }' counted)" ] ||
        fail "fewer system calls of the machine than were counted"
fi
without_cost() {
    sed '/^# cost\(_time\|_calls\)\{0,1\}: /d' profile
}
without_cost | sed '2i # cost_time: each 300 counted 812\n# cost_calls: 52310' >costly
COLUMNS=150 "$OSPROF" show costly >page
grep -qx 'cost      about 300 ns more for each of 52,310 system calls of this machine, 812 ns for those counted' page ||
    fail "other words for what it costs: $(<page)"
without_cost | sed "2i # cost: $not_measured" >costly
assert_eq "cost      $not_measured" "$(COLUMNS=150 "$OSPROF" show costly | grep '^cost ' | uniq)" "a cost that was not measured"
without_cost >costly
! COLUMNS=150 "$OSPROF" show costly | grep '^cost ' || fail "a cost that is not known is shown"
"$OSPROF" show --check profile >&2 || fail "osprof show --check finds fault"
assert_eq 600 "$(stat -c %a profile)" "mode of the profile"
expect 0 show @1
grep -qx 'mount     '"$fs" out || fail "the kept result is another one: $(<out)"

# ---- Programs that no library can be preloaded into, and one that ran before: each as often as it says

cat >early.py <<'END'
import os, sys
sys.stdin.readline()
for i in range(7):
    os.write(3, b"12345")
os.fsync(3)
END
mkfifo go
/usr/bin/python3 early.py <go 3>"$fs/early" &
early=$!
others=("$early")
exec 7>go
watched
echo >&7
exec 7>&-
wait "$early"
others=()
assert_eq "7 1" "$("$OSPROF" save "$fs" -o now && echo "$(calls WRITE now) $(calls FSYNC now)")" \
    "WRITE and FSYNC of a program that ran before, while it is watched"
if [ -x "$TEST_PROGRAMS/unseen_calls_static" ]; then
    "$OSPROF" ctl "$fs" reset
    (cd "$fs" && strace -f -o "$scratch/static" "$TEST_PROGRAMS/unseen_calls_static" >/dev/null 2>&1) || true
    "$OSPROF" save "$fs" -o now
    [ "$(awk '/^OP_/ { n += $2 } END { print n + 0 }' now)" -gt 0 ] || fail "calls of a static program are not seen"
fi
cp "$(type -P dd)" set-id-dd
chown "$user_uid" set-id-dd
chmod u+s,a+rx set-id-dd
chmod 777 "$fs"
"$OSPROF" ctl "$fs" reset
./set-id-dd if=/dev/zero of="$fs/set-id" bs=10 count=13 status=none
"$OSPROF" save "$fs" -o now
assert_eq 13 "$(calls WRITE now)" "WRITE of a set-id program"
"$OSPROF" show "$fs" | grep -Eq '^layer +syscall$' || fail "osprof show DIR shows another profile: $("$OSPROF" show "$fs")"

# Commands add no calls of their own; a file on the file system that is watched may be named, and then there are some.
"$OSPROF" save --rotate "$fs" -o first
"$OSPROF" save "$fs" -o now
assert_eq "" "$(counts now)" "calls of osprof save --rotate and osprof save"
"$OSPROF" save --rotate "$fs/" -o second
assert_eq "" "$(counts second)" "calls of osprof save and osprof save --rotate"
"$OSPROF" save "$fs" -o "$fs/inside"
"$OSPROF" save "$fs" -o now
[ "$(calls OPEN now)" -ge 1 ] || fail "the file of osprof save is not counted: $(counts now)"
rm "$fs/inside"
assert_refused "$fs is watched already, by process $watcher: osprof show $fs" "$OSPROF" attach "$fs"

# What the second one of two costs is not known, but what the first one does.
COLUMNS=150 "$OSPROF" attach -o beside --for 100ms "$scratch" >page 2>err || fail "a second one does not run: $(<err)"
assert_eq "# cost: $not_measured" "$(grep '^# cost' beside)" "the second one's cost"
grep -qx "cost      $not_measured" page || fail "it is not on the page: $(<page)"

# Whose calls, and on what: all of them, and as the programs know them.
mkdir -m 777 "$fs/deep"
"$OSPROF" ctl "$fs" reset
(cd "$fs/deep" && ../../set-id-dd if=/dev/zero of=hot bs=10 count=40 status=none && dd if=hot of=/dev/null bs=10 status=none)
for i in $(seq 300); do echo >"$fs/cold$i"; done
"$OSPROF" save "$fs" -o now
for kind in process program file directory; do
    assert_eq "$(awk '{ n += $2 } END { print n }' <(counts now))" \
        "$(awk -v kind="# $kind:" 'index($0, "# ") == 1 && /^# [a-z]*: / { here = index($0, kind) == 1 } /^OP_/ && !/^OP_SYNCFS / && here { n += $2 } END { print n + 0 }' now)" \
        "calls of all groups by $kind"
done
"$OSPROF" show --by file "$fs" >files
grep -Eq ' /deep/hot$' files || fail "the hot file is not among them: $(<files)"
"$OSPROF" show --by directory "$fs" | grep -Eq ' /deep$' || fail "the directory is not among them"
"$OSPROF" show --by program "$fs" | grep -Eq '^set-id-dd ' || fail "the program is not among them: $("$OSPROF" show --by program "$fs")"
expect 0 show --by file --of /deep/hot "$fs"
grep -Eq '^WRITE +40 ' out || fail "other calls on the file: $(<out)"
grep -Eq '^READ +41 ' out || fail "other calls on the file: $(<out)"

# What other commands say of it meanwhile.
expect 0 top --batch --ascii --delay 0.5 --count 1 "$fs"
grep -qx "layer *syscall" <("$OSPROF" show "$fs") || fail "osprof show shows another layer"
! "$OSPROF" show "$fs" | grep '^failed ' || fail "it is not known that nothing failed"
expect 2 why "$fs"
assert_eq "osprof: nobody looks for slow calls in $fs: begin osprof attach anew, with --slow 10ms" "$(<err)" \
    "what osprof why says"

# A call that a signal interrupts and the kernel makes anew is one.
mkfifo "$fs/pipe"
exec 8<>"$fs/pipe"
"$OSPROF" ctl "$fs" reset
head -c 5 <&8 >got &
reader=$!
is_reading() {
    grep -Eqs 'pipe_read|anon_pipe_read' "/proc/$reader/stack" || [ "$(cut -d ' ' -f 1 "/proc/$reader/syscall" 2>/dev/null)" = 0 ]
}
wait_until 20 is_reading || fail "head does not read"
for _ in 1 2 3; do
    kill -STOP "$reader"
    sleep 0.2
    kill -CONT "$reader"
    sleep 0.2
done
printf 12345 >&8
wait "$reader"
exec 8>&-
kill -INT "$watcher"
ended 0
assert_eq 1 "$(calls READ profile)" "READ that was stopped and continued three times"
longest_ns=$(sed -n 's/^# longest: READ \([0-9]*\) .*/\1/p' profile)
[ "$longest_ns" -ge 1000000000 ] || fail "the READ that waited for 1.2 s took $longest_ns ns"

# Of calls that a handler interrupts, one is made anew, the other fails, and the program makes it again. Calls of a thread
# that is killed have failed.
cat >interrupted.py <<'END'
import os, signal, sys, threading, time
signal.signal(signal.SIGUSR1, lambda *_: None)
signal.siginterrupt(signal.SIGUSR1, sys.argv[1] == "fails")
def state():
    return open("/proc/self/stat").read().rsplit(")", 1)[1].split()[0]
def wake():
    for act in (lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1), lambda: os.write(8, b"12345")):
        time.sleep(0.1)
        while state() != "S":
            time.sleep(0.1)
        act()
threading.Thread(target=wake).start()
os.read(8, 5)
END
# reads PROFILE: calls, and how many failed by a signal
reads() {
    echo "$(calls READ "$1") $(sed -n '/^# failed: READ EINTR /{s///p;q}' "$1")"
}
watched
exec 8<>"$fs/pipe"
/usr/bin/python3 interrupted.py anew
"$OSPROF" save "$fs" -o now
assert_eq "1 " "$(reads now)" "READ that is made anew after a handler, and how often it failed"
"$OSPROF" ctl "$fs" reset
/usr/bin/python3 interrupted.py fails
"$OSPROF" save "$fs" -o now
assert_eq "2 1" "$(reads now)" "READ that fails for a handler and is made again, and how often it failed"
"$OSPROF" ctl "$fs" reset
head -c 5 <&8 >got &
reader=$!
wait_until 20 is_reading || fail "head does not read"
kill -KILL "$reader"
wait "$reader" 2>/dev/null || true
exec 8>&-
"$OSPROF" save "$fs" -o now
assert_eq "1 1" "$(reads now)" "READ of a thread that is killed, and how often it failed"

# ---- Names that are not in memory when the call begins; mount points; more bytes than a call can move

cat >odd.py <<'END'
import ctypes, mmap, os, sys
directory = os.open(sys.argv[1], os.O_RDONLY)
os.fchdir(directory)
with open(sys.argv[2], "wb") as name:
    name.write(b"none".ljust(mmap.PAGESIZE, b"\0"))
pages = mmap.mmap(os.open(sys.argv[2], os.O_RDONLY), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
address = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(pages)))
for _ in range(7):
    pages.madvise(mmap.MADV_DONTNEED)
    ctypes.CDLL(None).unlink(address)
for _ in range(3):
    os.lstat("inner")
os.chdir(os.path.dirname(sys.argv[1]))
for _ in range(5):
    os.lstat(os.path.basename(sys.argv[1]))
a, b = os.open("a", os.O_RDWR, dir_fd=directory), os.open("b", os.O_RDWR | os.O_CREAT, dir_fd=directory)
for _ in range(4):
    os.copy_file_range(a, b, 1 << 62)
END
echo 12345 >"$fs/a"
mkdir "$fs/inner"
mount -t tmpfs inner "$fs/inner"
"$OSPROF" ctl "$fs" reset
/usr/bin/python3 odd.py "$fs" "$scratch/name"
"$OSPROF" save "$fs" -o now
umount "$fs/inner"
assert_eq 7 "$(calls UNLINK now)" "UNLINK of a name that is not in memory"
assert_eq 5 "$(calls STAT now)" "STAT of the mount point, and none of one of another file system in it"
assert_eq "asked $((4 * 0x7ffff000)) moved 6" "$(sed -n '/^# bytes: COPY_FILE_RANGE /{s///p;q}' now)" \
    "bytes of which the kernel moves fewer"
kill -INT "$watcher"
ended 0

# ---- A file system that hangs hinders nobody, and how long it hung is in the calls

if [ -w /dev/fuse ]; then
    echo line >"$lower/file"
    mount_osproffs -o profile=/dev/null,cache=none "$lower" "$mnt"
    daemon=$daemon_pid
    kill -STOP "$daemon"
    fs=$mnt watched
    cat "$mnt/file" >got &
    reader=$!
    sleep 1.2
    kill -CONT "$daemon"
    wait "$reader"
    assert_eq line "$(<got)" "what is read"
    kill -INT "$watcher"
    ended 0
    longest_ns=$(sed -n 's/^# longest: [A-Z]* \([0-9]*\) .*/\1/p' profile | sort -n | tail -n 1)
    [ "$longest_ns" -ge 1000000000 ] || fail "nothing took the second for which it hung: $longest_ns ns"
    unmount_osproffs "$mnt"
fi

# ---- Intervals; a time to end; unmounted; killed

watched --for 1500ms --interval 100ms --resolution 1
ended 0
grep -qx "osprof: calls of all programs on $fs (tmpfs) are counted for 1.5 s" err || fail "how long: $(<err)"
intervals=$(sed -n 's/^# borders: //p' profile | wc -w)
[ "$intervals" -ge 10 ] || fail "$intervals intervals of 100 ms in 1.5 s"
assert_eq 1 "$(sed -n 's/^# resolution: //p' profile)" "resolution"

watched
echo line >"$fs/last"
umount "$fs"
ended 0
grep -qx "osprof: $fs is not mounted any more" err || fail "it is not told why it ends: $(<err)"
[ "$(calls WRITE profile)" -ge 1 ] || fail "the last calls are lost"

mount -t tmpfs tmpfs "$fs"
watched
echo line >"$fs/last"
"$OSPROF" save "$fs" -o now
kill -KILL "$watcher"
wait "$watcher" 2>/dev/null || true
"$OSPROF" save -o recovered --remove "$(find "$XDG_RUNTIME_DIR/osprof" -name '*-*.live')"
assert_eq "$(counts now)" "$(counts recovered)" "what is recovered of one that was killed"

# ---- Directories of it; what cannot be done

mkdir "$fs/dir"
fs=$fs/dir watched -q
grep -qx "osprof: $fs/dir is no mount point: calls of all programs on all of $fs (tmpfs) are counted until Ctrl-C" err ||
    fail "it is not told what is counted: $(<err)"
echo line >"$fs/beside"
"$OSPROF" show "$fs/dir" | grep -q WRITE || fail "calls beside the directory are not counted"
# Control lines that it does not take, with the reason; the profile is unchanged.
"$OSPROF" ctl "$fs/dir" dump 2>err && fail "it has a place for a final profile"
grep -q "^osprof: $fs/dir: dump" err || fail "it is not told what fails: $(<err)"
! grep -q 'Invalid argument' err || fail "it is not told why there is no place for a final profile: $(<err)"
assert_refused "osprof: $fs/dir: rotate: the file is missing: only mounts with -o rotate name their files; osprof save --rotate MOUNT -o FILE names one" "$OSPROF" save --rotate "$fs/dir"
assert_refused "osprof: $fs/dir: groups file: not while it runs: osprof attach and osprof fuse take --by when they start" \
    "$OSPROF" ctl "$fs/dir" groups file
assert_refused "osprof: $fs/dir: joint READ size: not possible here: only osproffs and osprof fuse relate latencies to values" \
    "$OSPROF" ctl "$fs/dir" joint READ size
assert_refused "osprof: $fs/dir: slow 10ms: not while it runs: osprof attach takes --slow when it starts; mounts of osproffs and osprof fuse take this line" \
    "$OSPROF" ctl "$fs/dir" slow 10ms
# The place of the file is shortened where it is long.
refusal=$("$OSPROF" ctl "$fs/dir" events calls 2>&1) && fail "events are recorded to a file named while it runs"
[[ $refusal == "osprof: $fs/dir: events /"*": not possible here: mounts of osproffs take this line, and osprof attach takes --events when it starts" ]] ||
    fail "it is not told why no events are recorded: $refusal"
[ ! -e calls ] || fail "the file for events that are not recorded is left"
assert_refused "osprof: $fs/dir: 'reset' takes no argument, found 'now'" "$OSPROF" ctl "$fs/dir" reset now
assert_refused "osprof ctl: 'osprof save --rotate $fs/dir -o rotated' writes the profile to a file; see 'osprof help ctl'" \
    "$OSPROF" ctl "$fs/dir" rotate rotated
for command in '' ' ' $'\t'; do
    assert_refused "osprof ctl: the command is empty; see 'osprof help ctl'" "$OSPROF" ctl "$fs/dir" "$command"
done
assert_refused "osprof ctl: the mount point is empty; see 'osprof help ctl'" "$OSPROF" ctl "" reset
assert_refused "osprof ctl: events takes one file, not 'of it' too; quote a name with blanks; see 'osprof help ctl'" \
    "$OSPROF" ctl "$fs/dir" events calls "of it"
[ ! -e calls ] || fail "a file for events that are not recorded is made"
"$OSPROF" save "$fs/dir" -o now
[ "$(calls WRITE now)" -ge 1 ] || fail "the profile is reset by what is refused"

# While it is paused, nothing is counted.
"$OSPROF" ctl "$fs/dir" pause
"$OSPROF" ctl "$fs/dir" reset
echo line >"$fs/beside"
"$OSPROF" save "$fs/dir" -o now
assert_eq "" "$(counts now)" "calls while it is paused"
assert_eq 1 "$(find . -maxdepth 1 -name 'now*.old' | wc -l)" "older files of the same name"
"$OSPROF" ctl "$fs/dir" resume
echo line >"$fs/beside"
"$OSPROF" save "$fs/dir" -o now
assert_eq 1 "$(calls WRITE now)" "WRITE when it goes on"
assert_eq "" "$(counts now.old)" "what the file had before"
kill -TERM "$watcher"
ended 0
[ ! -s out ] || fail "-q prints something"

# ---- What it writes: besides @1, the file that is named, of which an older result is kept, and nothing else is replaced

cp profile before
"$OSPROF" attach -q --for 100ms -o profile "$fs" 2>err || fail "an older result is in its way: $(<err)"
cmp before profile.old || fail "the older result is not kept"
"$OSPROF" show @1 2>/dev/null | grep -qx "mount     $fs" || fail "it is not kept"
"$OSPROF" attach -q --for 100ms "$fs" 2>err || fail "it fails without a file: $(<err)"
assert_eq "" "$(find . -maxdepth 1 -name 'osprof.out*')" "files that nobody named"
watched --json
echo line >"$fs/beside"
kill -INT "$watcher"
ended 0
"$OSPROF" show --json profile >shown
cmp out shown || fail "another JSON than that of the file"
grep -q '"op": "WRITE"' out || fail "JSON without the calls: $(<out)"
if python=$(python_with jsonschema); then
    "$python" "$tests_dir/../cli/validate.py" "$data/../../docs/profile.schema.json" out || fail "not by the schema"
fi
assert_refused "osprof attach: --json goes without --quiet, --verbose and --output -; see 'osprof help attach'" \
    "$OSPROF" attach --json -q --for 100ms "$fs"
ln -s profile to-profile
echo text >text
for name in "text: it is there, and is no result of osprof; --force replaces it" \
    "to-profile: it is a symbolic link, which is not followed; name the file" "fs: Is a directory" \
    "none/profile: No such file or directory"; do
    "$OSPROF" attach -q --for 100ms -o "${name%%:*}" "$fs" 2>err && fail "written: ${name%%:*}"
    assert_eq "osprof: cannot write $name" "$(<err)" "all that is said, before it begins"
done
assert_eq text "$(<text)" "what is no result"
"$OSPROF" attach -q --for 100ms --force -o text "$fs" 2>err || fail "it does not replace a file with --force: $(<err)"
grep -qx '# layer: syscall' text || fail "--force writes no profile"
[ ! -e text.old ] || fail "what --force replaces is kept"

# Nobody reads from the pipe: that is what is said, whatever else has failed since
mkfifo pipe
exec 5<>pipe
exec 6>pipe
exec 5>&-
status=0
labels=() # more than is written at once
for number in {1..16}; do
    labels+=(--label "note$number=$(printf '%0250d' 0)")
done
(trap '' PIPE && exec "$OSPROF" attach "$fs" -q -o - --for 100ms "${labels[@]}" >&6 2>err) || status=$?
exec 6>&-
assert_eq "2 osprof: cannot write standard output: Broken pipe" "$status $(tail -n 1 err)" "a closed pipe"

# What the kernel finds there, not what another mount hides, or what a link leads away from
mkdir -p "$fs/covered/dir"
mount -t tmpfs under "$fs/covered/dir"
mkdir "$fs/covered/dir/deep"
ln -s "$fs/covered/dir/deep" link
# is_on MOUNTPOINT DIR
is_on() {
    "$OSPROF" attach -q --for 100ms "$2" 2>err
    grep -Eq "calls of all programs on (all of )?$1 \(tmpfs\)" err || fail "$2 is on another file system: $(<err)"
}
is_on "$fs/covered/dir" link/..
mount -t tmpfs over "$fs/covered"
mkdir "$fs/covered/dir"
is_on "$fs/covered" "$fs/covered/dir"
umount "$fs/covered"
umount "$fs/covered/dir"

mkfifo ready
# shellcheck disable=SC2016 # for the shell inside
unshare -m sh -c 'mount -t tmpfs elsewhere "$1" && echo >ready && exec sleep 600' sh "$fs/dir" &
early=$!
others=("$early")
read -r _ <ready
is_on "$fs/dir" "/proc/$early/root$fs/dir"
grep -qx "osprof: calls of all programs on $fs/dir (tmpfs) are counted for 0.1 s" err || fail "it is another file system: $(<err)"
assert_refused "cannot watch /proc/$early/root/none: No such file or directory" "$OSPROF" attach "/proc/$early/root/none"
ln -s "$fs/dir" "$fs/link"
assert_refused \
    "cannot watch /proc/$early/root$fs/link: a symbolic link, or the root of process $early, leads out of what that process has mounted; name where it leads" \
    "$OSPROF" attach --for 100ms "/proc/$early/root$fs/link"
kill "$early"
wait "$early" 2>/dev/null || true
others=()

# The root of a process need not be a mount point
mkdir "$fs/root" "$fs/root/deep"
mkfifo hold
/usr/bin/python3 -c 'import os, sys; os.chroot(sys.argv[1]); print(flush=True); os.read(0, 1)' "$fs/root" <>hold >ready &
early=$!
others=("$early")
read -r _ <ready
for place in "/proc/$early/root" "/proc/$early/root/deep"; do
    is_on "$fs" "$place"
    grep -q "^osprof: $place is no mount point: calls of all programs on all of $fs " err || fail "it is not told what is counted: $(<err)"
done
assert_refused "cannot watch /proc/$early/root/none: No such file or directory" "$OSPROF" attach "/proc/$early/root/none"
kill "$early"
wait "$early" 2>/dev/null || true
others=()

# shellcheck disable=SC2016 # for the shell inside
assert_refused "cannot watch $fs: Too many open files" sh -c 'ulimit -n 8; exec "$@"' sh "$OSPROF" attach --for 100ms "$fs"
mkdir gone
# shellcheck disable=SC2016 # for the shell inside
assert_refused "cannot watch .: No such file or directory" sh -c 'cd gone && rmdir ../gone && exec "$@"' sh "$OSPROF" attach .
assert_refused "cannot watch : No such file or directory" "$OSPROF" attach --for 100ms ""
assert_refused "cannot watch none: No such file or directory" "$OSPROF" attach none
assert_refused "cannot watch load: Not a directory" "$OSPROF" attach load
assert_refused "cannot watch /proc: it is on proc, which holds no files, but tells what the kernel knows" "$OSPROF" attach /proc
assert_refused "see 'osprof help attach'" "$OSPROF" attach
assert_refused "see 'osprof help attach'" "$OSPROF" attach --resolution 3 "$fs"
assert_refused "--slow 10: the unit is missing: such as 10ms, or 10s; see 'osprof help attach'" "$OSPROF" attach --slow 10 "$fs"
provide_programs
assert_refused "cannot watch $fs: this takes root, or the capabilities CAP_BPF and CAP_PERFMON; try sudo ('osprof doctor' lists what works here)" as_user "$OSPROF" attach "$fs"
umount "$fs"
