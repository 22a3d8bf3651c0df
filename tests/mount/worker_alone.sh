#!/bin/bash
# One caller at a time is served by one worker alone, in the class SCHED_IDLE. A call that hangs there delays nobody
# else, and ends that; so does SIGTERM at any time.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need mkfs.ext4 fsfreeze
frozen=
hung=

before_cleanup() {
    [ -z "$frozen" ] || fsfreeze -u "$lower"
    [ -z "$hung" ] || wait "$hung" || true
}

# proc_pid_stat(5): the policy is the 39th field after the name; SCHED_IDLE is 5.
workers_alone() {
    awk '{ sub(/^.*\) /, ""); idle += $39 == 5 } END { print idle + 0 }' /proc/"$daemon_pid"/task/*/stat
}

call_often() {
    local count
    for count in $(seq 300); do
        [ -e "$mnt/file" ] || fail "call $count does not find the file"
    done
}

one_is_alone() {
    call_often
    [ "$(workers_alone)" -eq 1 ]
}

none_is_alone() {
    [ "$(workers_alone)" -eq 0 ]
}

truncate -s 32M image
mkfs.ext4 -q image
mount -o loop image "$lower" 2>/dev/null || skip "no loop devices"
touch "$lower/file"
mkdir "$lower/place"

mount_osproffs -o cache=none "$lower" "$mnt"
wait_until 30 one_is_alone || fail "one caller, and no worker serves alone"

fsfreeze -f "$lower"
frozen=yes
timeout -s KILL 60 mkdir "$mnt/place/made" 2>/dev/null &
hung=$!
wait_until 10 none_is_alone || fail "a worker that hangs still serves alone"
timeout 10 stat "$mnt/file" >/dev/null || fail "a call that hangs delays another"
for count in 1 2 3; do
    timeout 10 bash -c 'for count in $(seq 300); do [ -e "$1/file" ]; done' - "$mnt" || fail "calls while one hangs"
done
fsfreeze -u "$lower"
frozen=
wait "$hung"
hung=
[ -d "$lower/place/made" ] || fail "the call that hung was lost"

wait_until 30 one_is_alone || fail "no worker serves alone any more"
unmount_osproffs "$mnt"
assert_profiled MKDIR

# Ended while it serves alone.
mount_osproffs -o cache=none "$lower" "$mnt"
wait_until 30 one_is_alone || fail "one caller, and no worker serves alone"
kill -TERM "$daemon_pid"
assert_status 0 "SIGTERM while one worker serves alone"
assert_unmounted "$mnt"

# -s is one plain worker.
mount_osproffs -s -o cache=none "$lower" "$mnt"
for count in 1 2 3; do
    call_often
done
none_is_alone || fail "-s: the worker has changed its class"
unmount_osproffs "$mnt"
umount "$lower"
