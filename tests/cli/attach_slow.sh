#!/bin/bash
# Calls that something below makes slow, and osprof attach: each is in the bucket of the time that it took, its file is
# named, and other calls are not in that bucket. A frozen ext4, a FUSE daemon that stands still, a disk that does, and one of
# which a control group gets little.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"

need_root
need_fuse
need mkfs.ext4 fsfreeze losetup findmnt python3

stopped=
group=
before_cleanup() {
    thaw
    [ -z "$stopped" ] || kill -CONT "$stopped"
    kill_watchers
    [ -z "$group" ] || { wait "$caller" 2>/dev/null || true; rmdir "$group" || true; }
}

PYTHON=$(type -P python3)
# Writes eight times on descriptor 9 when told, if it writes at all, and calls once more when told again: "direct" is a write
# of 512 KiB past the page cache.
cat >call.py <<'END'
import fcntl, mmap, os, sys
def write():
    os.pwrite(9, b"0123456789", 0)
def direct():
    fcntl.fcntl(9, fcntl.F_SETFL, fcntl.fcntl(9, fcntl.F_GETFL) | os.O_DIRECT)
    os.pwrite(9, mmap.mmap(-1, 512 << 10), 512 << 10)
act = {"read": lambda: os.pread(9, 10, 0), "write": write, "direct": direct}[sys.argv[1]]
sys.stdin.readline()
if sys.argv[1] != "read":
    for _ in range(8):
        write()
print("ready", flush=True)
sys.stdin.readline()
act()
END

is_in_call() {
    [ "$(cut -d ' ' -f 2 "/proc/$caller/syscall")" = 0x9 ]
}

clock_ns() {
    date +%s%N
}

# begin_caller read|write|direct FILE: it is started, and has opened the file
begin_caller() {
    rm -f go ready
    mkfifo go ready
    "$PYTHON" call.py "$1" 9<>"$2" <go >ready &
    caller=$!
    others=("$caller")
    exec 7>go
    exec 6<ready
}

# slow_call STOP [GO]: it calls after STOP, and goes on after GO, or by itself. Sets longest_ns: it cannot have taken more
slow_call() {
    local before_ns
    echo >&7
    read -r -u 6 _
    "$1"
    before_ns=$(clock_ns)
    echo >&7
    exec 7>&- 6<&-
    if [ "${2:-}" ]; then
        wait_until 60 is_in_call || fail "it does not call"
        sleep 0.7
        "$2"
    fi
    wait "$caller" || fail "the call fails"
    others=()
    longest_ns=$(($(clock_ns) - before_ns))
}

# assert_slow OP FAST FILE: of the calls on FILE one took the time, FAST others did not
assert_slow() {
    kill -INT "$watcher"
    ended 0
    "$OSPROF" show --check profile >&2 || fail "osprof show --check finds fault"
    local took_ns
    took_ns=$(sed -n "s/^# longest: $1 \([0-9]*\) .*/\1/p" profile | head -n 1)
    if [ "${took_ns:-0}" -lt 700000000 ] || [ "$took_ns" -gt "$longest_ns" ]; then
        fail "$1 took ${took_ns:-nothing} ns, not 0.7 s to $longest_ns ns"
    fi
    # buckets of a resolution of 1: bucket b has latencies from 2^b ns on
    awk -v op="OP_$1" -v file="# file: " -v path=" $3" -v took="$took_ns" -v fast="$2" '
        /^# [a-z]*: / { here = index($0, file) == 1 && substr($0, length($0) - length(path) + 1) == path }
        here && $1 == op { calls = $2; getline; n = split($0, buckets) }
        END {
            for (wanted = 0; 2 ^ (wanted + 1) <= took; wanted++);
            for (i = 1; i < n; i++) others += buckets[i]
            if (calls != fast + 1 || n - 1 != wanted || buckets[n] != 1 || others != fast) {
                print calls " calls; the last bucket is " n - 1 " with " buckets[n] " calls, not " wanted " with 1"
                exit 1
            }
        }' profile >&2 || fail "$1 of $3 is not where it must be: $(<profile)"
    assert_eq "$(basename "$PYTHON" | cut -c 1-15)" "$("$OSPROF" show --by program profile | awk '/^program +calls/ { getline; print $1 }')" \
        "program that took longest"
    "$OSPROF" show --by file profile | awk '/^ +[0-9]+ +[0-9.]+ % / && !rows++' | grep -q " $3$" ||
        fail "$3 is not the file that took longest: $("$OSPROF" show --by file profile)"
}

# ---- ext4 that is frozen

truncate -s 32M image
mkfs.ext4 -q image
mkdir fs
mount -o loop image fs
fs=$scratch/fs
mkdir fs/deep
echo 0123456789 >fs/deep/slow
sync -f fs

freeze_it() { freeze "$fs"; }
begin_caller write fs/deep/slow
watched --resolution 1 --slow 500ms --slowlog slow.log
slow_call freeze_it thaw
assert_slow PWRITE 8 /deep/slow

# The log has that call, and none of the fast ones.
"$PYTHON" -c 'import json, os, sys
calls = [call for call in map(json.loads, open("slow.log")) if call["op"] == "PWRITE"]
assert len(calls) == 1, len(calls)
call = calls[0]
assert 700000000 <= call["latency_ns"] <= int(sys.argv[1])
inode = os.stat(sys.argv[2] + "/deep/slow").st_ino
assert (call["mount"], call["path"], call["inode"], call["moved_bytes"]) == (sys.argv[2], "/deep/slow", inode, 10)
assert call["cause"] == "waiting for a frozen file system"
kept = [call for call in json.load(sys.stdin)["slow_calls"] if call["op"] == "PWRITE"]
assert [call["inode"] for call in kept] == [inode], kept' "$longest_ns" "$fs" < <("$OSPROF" show --json profile) >&2 ||
    fail "the log of slow calls is not right: $(<slow.log)"
expect_refused() {
    ! "$OSPROF" attach --for 100ms "${@:2}" "$fs" 2>err || fail "it takes: ${*:2}"
    grep -qF -- "$1" err || fail "${*:2}: $(<err)"
}
expect_refused "--slowlog is of slow calls: give --slow TIME, too" --slowlog other.log
expect_refused "cannot open it" --slow 1s --slowlog /proc/version

# ---- A FUSE daemon that stands still

mkdir "$lower/deep"
truncate -s 32M "$lower/image"
echo 0123456789 >"$lower/deep/slow"
mount_osproffs -o profile=/dev/null,cache=none "$lower" "$mnt"
daemon=$daemon_pid
stop_daemon() {
    stopped=$daemon
    hang_daemon "$daemon"
}
continue_daemon() {
    kill -CONT "$daemon"
    stopped=
}

begin_caller read "$mnt/deep/slow"
fs=$mnt watched --resolution 1
slow_call stop_daemon continue_daemon
assert_slow PREAD 0 /deep/slow

# ---- A disk that does: ext4 in a file of that daemon

umount fs
mkfs.ext4 -q "$mnt/image"
mount -o loop "$mnt/image" fs
mkdir fs/deep
echo 0123456789 >fs/deep/slow
umount fs
mount -o loop "$mnt/image" fs
begin_caller read fs/deep/slow
watched --resolution 1
slow_call stop_daemon continue_daemon
assert_slow PREAD 0 /deep/slow
umount fs
unmount_osproffs "$mnt"

# ---- A disk of which the process's control group gets 512 KiB a second: 512 KiB are written at once

# throttle DEVICE [DIRECTORY]...: makes a group below one of these, of either version of control groups; sets group
throttle() {
    local device=$1 directory
    shift
    for directory; do
        { echo +io >"$directory/cgroup.subtree_control"; } 2>/dev/null || true # of version 2
        group=$directory/osproffs-slow-$$
        mkdir "$group" 2>/dev/null || continue
        if { echo "$device 524288" >"$group/blkio.throttle.write_bps_device" || echo "$device wbps=524288" >"$group/io.max"; } 2>/dev/null; then
            return
        fi
        rmdir "$group"
    done
    group=
    return 1
}
join_group() { echo "$caller" >"$group/cgroup.procs"; }

mount -o loop image fs
source=$(findmnt -no SOURCE fs)
mapfile -t tops < <(awk '/ - cgroup2 / || / - cgroup .*[ ,]blkio/ { print $5 }' /proc/self/mountinfo)
if throttle "$(<"/sys/class/block/${source##*/}/dev")" "${tops[@]}"; then
    begin_caller direct fs/deep/throttled
    watched --resolution 1
    slow_call join_group
    assert_slow PWRITE 8 /deep/throttled
    rmdir "$group"
    group=
else
    echo "no control group throttles disks here"
fi
umount fs
