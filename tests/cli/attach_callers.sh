#!/bin/bash
# Whose calls osprof attach counts: the program, the process and the control group are those that the kernel has at the call,
# also where a process executes another program, changes its name or its group, or has the number of one that has ended.
# shellcheck disable=SC2119 # "watched" takes options of osprof attach
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"

need_root
need python3

group=
before_cleanup() {
    kill_watchers
    [ -z "$group" ] || rmdir "$group" || true
}

finished() {
    kill -INT "$watcher"
    ended 0
    "$OSPROF" show --check profile >&2 || fail "osprof show --check finds fault"
}

mkdir fs
mount -t tmpfs tmpfs fs
fs=$scratch/fs
printf %030d 0 >fs/file
PYTHON=$(realpath "$(type -P python3)")
python_name=$(basename "$PYTHON" | cut -c 1-15)

# ---- A shell opens what it redirects, and executes dd, which reads: 31 calls until the end of the file

watched
for _ in {1..23}; do sh -c 'exec dd of=/dev/null bs=1 status=none <"$0"' fs/file; done
finished
assert_eq "0 713" "$(of_group program sh READ) $(of_group program dd READ)" "READs of sh, and of dd"
assert_eq "0 713" "$(of_group process sh READ) $(of_group process dd READ)" "READs of processes while they are called so"
[ "$(of_group program sh OPEN)" -ge 23 ] || fail "OPENs of sh: $(of_group program sh OPEN)"

# ---- A process has three names in turn

cat >names.py <<'END'
import ctypes, os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
for turn in range(21):
    ctypes.CDLL(None).prctl(15, b"name-%d" % (turn % 3), 0, 0, 0)
    for _ in range(101 + turn % 3):
        os.pread(fd, 1, 0)
END
watched
"$PYTHON" -I -S names.py fs/file
finished
for kind in program process; do
    for i in 0 1 2; do
        assert_eq $((7 * (101 + i))) "$(of_group $kind name-$i PREAD)" "PREADs as name-$i, by $kind"
    done
done
assert_eq 1 "$(sed -n 's/^# process: \([0-9]*\) name-.*/\1/p' profile | sort -u | wc -l)" "processes of those names"

# ---- Processes that end, and others that get their numbers

cat >with_number.py <<'END'
import ctypes, os, struct, sys
number = ctypes.c_int(int(sys.argv[1]))
how = struct.pack("=11Q", 0, 0, 0, 0, 17, 0, 0, 0, ctypes.addressof(number), 1, 0)  # struct clone_args: exit_signal, set_tid
child = ctypes.CDLL(None).syscall(435, how, ctypes.c_size_t(len(how)))
if child == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
sys.exit(child < 0 or os.waitpid(child, 0)[1])
END
cat >preads.py <<'END'
import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
for _ in range(int(sys.argv[2])):
    os.pread(fd, 1, 0)
END
# at_number COMMAND...: as a process of that number, which others may have for a while
number=$(($(cat /proc/sys/kernel/pid_max) - 1999))
while [ -e "/proc/$number" ]; do number=$((number + 1)); done
at_number() {
    wait_until 60 "$PYTHON" -I -S with_number.py "$number" "$@" || fail "there is no process $number: $*"
}
watched
for _ in {1..5}; do
    at_number dd if=fs/file of=/dev/null bs=1 status=none
    at_number "$PYTHON" -I -S preads.py fs/file 101
done
at_number "$PYTHON" -I -S preads.py fs/file 7
finished
assert_eq "155 0" "$(of_group program dd READ) $(of_group program dd PREAD)" "READs and PREADs of dd"
assert_eq 512 "$(of_group program "$python_name" PREAD)" "PREADs of python3"
assert_eq 6 "$(grep -c "^# process: $number $python_name\$" profile)" "processes of that number and name, one after the other"

# ---- A process that moves into a control group

root=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
[ -n "$root" ] || { echo "no control groups of version 2 are mounted" && exit 0; }
group=$root/osprof-callers-$$
mkdir "$group" 2>/dev/null || { group= && echo "no control group can be made" && exit 0; }
own=$(sed -n 's/^0:://p' /proc/self/cgroup)
watched
for _ in {1..7}; do
    bash -c 'read -rN3 _ <"$0" && echo $$ >"$1/cgroup.procs" && exec dd if="$0" of=/dev/null bs=1 status=none' fs/file "$group"
done
finished
assert_eq 217 "$(of_group cgroup "/${group##*/}" READ)" "READs in the control group"
assert_eq "$(($(calls READ profile) - 217))" "$(of_group cgroup "$own" READ)" "READs before, in $own"
