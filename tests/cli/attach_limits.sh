#!/bin/bash
# osprof attach at its limits: a file among very many, and a process; a file system that is unmounted while it is in use; no
# more privilege than is needed; several at once; no room for the result; and nothing in the kernel after it was killed.
# shellcheck disable=SC2119 # "watched" takes options of osprof attach
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"

need_root
need python3 setpriv

before_cleanup() {
    kill_watchers
    unmount_below "$scratch"
}

PYTHON=$(type -P python3)
mkdir fs
mount -t tmpfs tmpfs fs
fs=$scratch/fs
chmod 777 "$fs"

# ---- Very many files and processes, and one of each that matters

cat >flood.py <<'END'
import os, sys
files, writes = int(sys.argv[1]), int(sys.argv[2])
hot = os.open("hot", os.O_CREAT | os.O_WRONLY)
for number in range(files):
    os.close(os.open(f"cold/{number}", os.O_CREAT))
    if number % (files // writes) == 0:
        os.pwrite(hot, b"12345" * 4000, 0)
END
cat >processes.py <<'END'
import os, sys
hot = os.open("hot", os.O_WRONLY)
for number in range(int(sys.argv[1])):
    if os.fork() == 0:
        os.pwrite(hot, b"1", 0)
        os._exit(0)
    os.wait()
END
memory_kb() {
    awk '/^VmHWM:/ { print $2 }' "/proc/$watcher/status"
}
mkdir -m 777 fs/cold
watched
before_kb=$(memory_kb)
(cd fs && "$PYTHON" "$scratch/flood.py" 30000 1500 && exec "$PYTHON" "$scratch/processes.py" 500)
after_kb=$(memory_kb)
kill -INT "$watcher"
ended 0
assert_eq "30001 2000" "$(calls OPEN profile | awk '{ print $1 - 1 }') $(calls PWRITE profile)" "OPEN and PWRITE of a flood"
expect 0 show --by file --of /hot profile
# what it called before it was among those that took most time is in "other"
hot_calls=$(sed -n 's/^PWRITE *\([0-9,]*\) .*/\1/p' out | tr -d ,)
if [ "${hot_calls:-0}" -lt 1900 ] || [ "$hot_calls" -gt 2000 ]; then
    fail "the hot file has other calls: $(<out)"
fi
assert_eq 0 "$(sed -n 's/^# ungrouped: //p' profile | grep . || echo 0)" "calls that belong to no group"
for kind in file directory program; do # processes that have just begun come on top
    # as many as are kept, and the rest
    [ "$(grep -c "^# $kind: " profile)" -le 257 ] || fail "there are more groups of $kind than are kept"
done
ldd "$OSPROF" | grep -q 'lib[at]san' || [ "$after_kb" -le $((before_kb + 32768)) ] || # sanitizers keep more
    fail "it has grown from $before_kb KB to $after_kb KB by a flood"

# ---- Looked at while calls go on: none of them is said to belong to no group

cat >steady.py <<'END'
import os
file = os.open("steady", os.O_CREAT | os.O_WRONLY)
while True:
    os.pwrite(file, b"1", 0)
END
watched
(cd fs && exec "$PYTHON" "$scratch/steady.py") &
steady=$!
others=("$steady")
for _ in {1..7}; do
    "$OSPROF" save "$fs" -o now
    # on each CPU a call may just be between the two
    [ "$(sed -n 's/^# ungrouped: //p' now | grep . || echo 0)" -le "$(nproc --all)" ] ||
        fail "calls belong to no group: $(grep '^# ungrouped: ' now) of $(calls PWRITE now)"
done
kill "$steady"
wait "$steady" 2>/dev/null || true
others=()
kill -INT "$watcher"
ended 0
assert_eq 0 "$(sed -n 's/^# ungrouped: //p' profile | grep . || echo 0)" "calls that belong to no group at the end"

# ---- Unmounted while a program is at it

cat >busy.py <<'END'
import os
count = 0
directory = os.getcwd()
while os.path.ismount(directory):
    try:
        os.close(os.open(directory + "/busy", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.unlink(directory + "/busy")
    except OSError:
        break
    count += 1
    if count == 7:
        print("begun", flush=True)
    os.chdir("/")
END
mkfifo begun
watched
(cd fs && exec "$PYTHON" "$scratch/busy.py" >"$scratch/begun") &
busy=$!
others=("$busy")
read -r _ <begun
wait_until 60 umount "$fs" || fail "it cannot be unmounted"
ended 0
wait "$busy"
others=()
assert_eq "osprof: $fs is not mounted any more" "$(tail -n 1 err)" "why it ends"
[ "$(calls OPEN profile)" -ge 7 ] || fail "calls before it was unmounted are lost"

# ---- No more privilege than is needed

mount -t tmpfs tmpfs fs
chmod 777 fs
provide_programs
mkdir -m 700 unprivileged
chown 65534 unprivileged
# with CAPABILITY[,CAPABILITY]...: as nobody
with() {
    (
        cd unprivileged && XDG_RUNTIME_DIR=$PWD XDG_STATE_HOME=$PWD exec setpriv --reuid 65534 --regid 65534 --clear-groups \
            --inh-caps "-all,$1" --ambient-caps "-all,$1" --bounding-set "-all,$1" \
            "$OSPROF" attach -q --for 100ms -o profile "$fs"
    )
}
for alone in +bpf +perfmon +sys_ptrace,+syslog; do
    assert_refused "cannot watch $fs: this takes root, or the capabilities CAP_BPF and CAP_PERFMON; try sudo ('osprof doctor' lists what works here)" with "$alone"
done
with +bpf,+perfmon 2>err || fail "CAP_BPF and CAP_PERFMON are not enough: $(<err)"
assert_eq "65534 600" "$(stat -c '%u %a' unprivileged/profile)" "owner and mode of the profile"

# ---- Several at once: one watches, and the others name it

are_told() {
    [ "$(grep -lsF "osprof: $fs is watched already, by process " at-once-* | wc -l)" = 3 ]
}
for number in {1..4}; do
    "$OSPROF" attach -q "$fs" 2>"at-once-$number" &
    others+=("$!")
done
wait_until 100 are_told || fail "of four at once not three are refused: $(cat at-once-*)"
winner=$(sed -n 's/.* is watched already, by process \([0-9]*\): .*/\1/p' at-once-* | sort -u)
grep -qx "$winner" < <(printf '%s\n' "${others[@]}") || fail "another one watches: $winner, of ${others[*]}"
kill -INT "$winner"
succeeded=0
for one in "${others[@]}"; do
    ! wait "$one" || succeeded=$((succeeded + 1))
done
others=()
assert_eq 1 "$succeeded" "of four at once succeed"
mkdir "$fs/beside"
for place in "$fs" "$fs/beside"; do # other places, so both
    "$OSPROF" attach -q --for 100ms "$place" 2>>both &
    others+=("$!")
done
for one in "${others[@]}"; do
    wait "$one" || fail "of two at once, at other places, one is refused: $(<both)"
done
others=()

# ---- No room for the result

mkdir full
mount -t tmpfs -o size=64k full full
head -c 100000 /dev/zero >full/all 2>/dev/null || true

# written STATE: 7 writes while it watches, whose profile finds no room
written() {
    XDG_STATE_HOME=$scratch/$1 watched -q -o full/profile
    dd if=/dev/zero of="$fs/written" bs=10 count=7 status=none
    kill -INT "$watcher"
    local status=0
    wait "$watcher" || status=$?
    watcher=
    assert_eq 2 "$status" "exit status without room for the result"
}
written full/state
grep -qx 'osprof: cannot write full/profile: No space left on device' err || fail "it is not told: $(<err)"
left=$(sed -n "s|^osprof: the profile of $fs is in \(.*\), from where 'osprof save' takes it\$|\1|p" err)
[ "$left" ] || fail "it is not told where the profile is: $(<err)"
"$OSPROF" save -o recovered --remove "$left"
assert_eq 7 "$(calls WRITE recovered)" "WRITE of what is recovered"
rm "$fs/written"
written state
grep -qx 'osprof: cannot write full/profile: No space left on device; it is kept: osprof show @1' err || fail "it is not told: $(<err)"
! grep -q "'osprof save'" err || fail "what is kept is said to be elsewhere too: $(<err)"
assert_eq "" "$(find "$XDG_RUNTIME_DIR/osprof" -name '*-*.*')" "what is left of one whose result is kept"
umount full

# ---- Killed

watched
programs=$(sed -n 's/^prog_id:\t//p' "/proc/$watcher"/fdinfo/* | sort -u)
[ -n "$programs" ] || fail "it has no programs in the kernel"
bpftool() {
    PATH=$PATH:/usr/sbin command bpftool "$@"
}
are_gone() {
    local program
    for program in $programs; do
        ! bpftool prog show id "$program" || return 1
    done
}
bpftool version >/dev/null 2>&1 || skip "bpftool is not installed"
! are_gone >/dev/null 2>&1 || fail "bpftool does not find the programs"
kill -KILL "$watcher"
wait "$watcher" 2>/dev/null || true
watcher=
wait_until 60 are_gone || fail "programs are left in the kernel"
umount fs
