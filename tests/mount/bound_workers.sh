#!/bin/bash
# Short calls are served by workers in the class SCHED_IDLE: one for one caller. A call that hangs there delays nobody else,
# and makes all workers plain; SIGTERM ends the daemon at any time.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need mkfs.ext4 fsfreeze python3
[ "$(nproc)" -gt 1 ] || skip "one CPU: workers are never bound"
hung=
calls=

end_calls() {
    [ -z "$calls" ] || { kill "$calls" && wait "$calls"; } 2>/dev/null || true
    calls=
}

before_cleanup() {
    end_calls
    thaw
    [ -z "$hung" ] || wait "$hung" || true
}

# Calls until it is killed, one after the other, and says when it has made so many.
call_until_killed='
import os, sys
for count in range(1000000000):
    os.stat(sys.argv[1])
    if count == 1000:
        print("called", flush=True)
'

start_calls() {
    python3 -c "$call_until_killed" "$mnt/file" >"$scratch/calls" 2>/dev/null &
    calls=$!
}

# proc_pid_stat(5): the class is the 39th field after the name; SCHED_IDLE is 5. Beside others who want the CPUs workers are
# bound for moments only, so these are watched for without a pause. Exits with 0 once there are so many in it.
watch_for_class='
import os, sys, time
tasks, wanted, end = sys.argv[1], int(sys.argv[2]), time.monotonic() + float(sys.argv[3])
def policy(task):
    try:
        with open(f"{tasks}/{task}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[38]
    except OSError:
        return ""
while time.monotonic() < end:
    if sum(policy(task) == "5" for task in os.listdir(tasks)) == wanted:
        sys.exit(0)
sys.exit(1)
'

# are_bound COUNT SECONDS
are_bound() {
    python3 -c "$watch_for_class" "/proc/$daemon_pid/task" "$1" "$2"
}

assert_one_is_bound() {
    start_calls
    are_bound 1 60 || fail "$1: no worker is bound for one caller"
    end_calls
}

truncate -s 32M image
mkfs.ext4 -q image
mount -o loop image "$lower" 2>/dev/null || skip "no loop devices"
touch "$lower/file"
mkdir "$lower/place"

mount_osproffs -o cache=none "$lower" "$mnt"
assert_one_is_bound "at first"
are_bound 0 10 || fail "without requests a worker stays bound"

# One that hangs while a worker is bound.
start_calls
are_bound 1 60 || fail "the second time: no worker is bound for one caller"
freeze "$lower"
timeout -s KILL 60 mkdir "$mnt/place/made" 2>/dev/null &
hung=$!
for _ in 1 2 3; do
    timeout 10 stat "$mnt/file" >/dev/null || fail "a call that hangs delays another"
done
: >"$scratch/calls"
end_calls
start_calls
wait_until 20 test -s "$scratch/calls" || fail "a call that hangs delays a thousand others"
end_calls
thaw
wait "$hung"
hung=
[ -d "$lower/place/made" ] || fail "the call that hung was lost"

assert_one_is_bound "after a call that hung"
unmount_osproffs "$mnt"
assert_profiled MKDIR

# Ended while one is bound.
mount_osproffs -o cache=none "$lower" "$mnt"
start_calls
are_bound 1 60 || fail "before SIGTERM: no worker is bound for one caller"
kill -TERM "$daemon_pid"
assert_status 0 "SIGTERM while a worker is bound"
end_calls
assert_unmounted "$mnt"

# Plain workers are never in another class; -s is one of them.
for option in -oworkers=plain -s; do
    mount_osproffs "$option" -o cache=none "$lower" "$mnt"
    start_calls
    ! are_bound 1 1 || fail "$option: a worker has changed its class"
    end_calls
    is_plain=0
    ! grep -q '^# workers: plain$' "$mnt/.osprof" || is_plain=1
    expected=1
    [ "$option" != -s ] || expected=0
    assert_eq "$expected" "$is_plain" "$option: the profile says that workers are plain"
    unmount_osproffs "$mnt"
done
umount "$lower"
