#!/bin/bash
# Short calls are served by a crew of workers in the class SCHED_IDLE: one for one caller. A call that hangs there delays
# nobody else, and ends the crew; so does SIGTERM at any time.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need mkfs.ext4 fsfreeze
[ "$(nproc)" -gt 1 ] || skip "one CPU: no crew"
frozen=
hung=

before_cleanup() {
    [ -z "$frozen" ] || fsfreeze -u "$lower"
    [ -z "$hung" ] || wait "$hung" || true
}

# proc_pid_stat(5): the policy is the 39th field after the name; SCHED_IDLE is 5.
crew_size() {
    awk '{ sub(/^.*\) /, ""); idle += $39 == 5 } END { print idle + 0 }' /proc/"$daemon_pid"/task/*/stat
}

call_often() {
    local count
    for count in $(seq 3000); do
        [ -e "$mnt/file" ] || fail "call $count does not find the file"
    done
}

# While calls come: without them the crew ends soon.
crew_of_one() {
    call_often &
    local calls=$! size
    sleep 0.02
    size=$(crew_size)
    wait "$calls" && [ "$size" -eq 1 ]
}

expect() {
    local condition=$1 wanting
    ! wait_until 30 "$condition" || return 0
    wanting=$(sed -E 's|.* ([0-9]+)/.*|\1|' /proc/loadavg)
    [ "$wanting" -le $(($(nproc) * 3)) ] || skip "$wanting threads want a CPU: no place for a crew"
    fail "$2"
}

expect_crew() {
    expect crew_of_one "$1"
}

no_crew() {
    [ "$(crew_size)" -eq 0 ]
}

truncate -s 32M image
mkfs.ext4 -q image
mount -o loop image "$lower" 2>/dev/null || skip "no loop devices"
touch "$lower/file"
mkdir "$lower/place"

mount_osproffs -o cache=none "$lower" "$mnt"
expect_crew "no crew of one for one caller"

wait_until 10 no_crew || fail "a crew without requests does not end"
expect_crew "no crew the second time"
fsfreeze -f "$lower"
frozen=yes
timeout -s KILL 60 mkdir "$mnt/place/made" 2>/dev/null &
hung=$!
timeout 10 stat "$mnt/file" >/dev/null || fail "a call that hangs delays another"
wait_until 10 no_crew || fail "a call that hangs does not end the crew" # others may have begun one meanwhile, for 40 ms
export -f call_often fail
export mnt
for count in 1 2 3; do
    timeout 10 bash -c call_often || fail "calls while one hangs"
done
fsfreeze -u "$lower"
frozen=
wait "$hung"
hung=
[ -d "$lower/place/made" ] || fail "the call that hung was lost"

expect_crew "no crew after that"
unmount_osproffs "$mnt"
assert_profiled MKDIR

# For several callers on several CPUs the daemon's autogroup is moved, if it is its own; a crew that has ended leaves it
# where it was.
group_nice() {
    sed 's/.* nice //' "/proc/$daemon_pid/autogroup" 2>/dev/null || true
}

group_moves() {
    local count calls=() moved=1
    for count in 1 2 3 4; do
        call_often &
        calls+=($!)
    done
    for count in $(seq 20); do
        sleep 0.01
        [ "$(group_nice)" = 0 ] || moved=0
    done
    wait "${calls[@]}"
    return "$moved"
}

group_is_home() {
    [ "$(group_nice)" = 0 ]
}

start_daemon setsid "$OSPROFFS" -f -o cache=none "$lower" "$mnt"
pid_of[$mnt]=$daemon_pid
wait_for_mount "$mnt"
if group_is_home; then
    expect group_moves "for several callers the daemon's autogroup is left as it is"
    wait_until 10 group_is_home || fail "a crew that has ended leaves a nice value of $(group_nice)"
fi
unmount_osproffs "$mnt"

# Ended while there is a crew.
mount_osproffs -o cache=none "$lower" "$mnt"
expect_crew "no crew of one for one caller"
kill -TERM "$daemon_pid"
assert_status 0 "SIGTERM while there is a crew"
assert_unmounted "$mnt"

# Plain workers are never in another class; -s is one of them.
for option in -oworkers=plain -s; do
    mount_osproffs "$option" -o cache=none "$lower" "$mnt"
    for count in 1 2 3; do
        call_often
        no_crew || fail "$option: a worker has changed its class"
    done
    is_plain=0
    ! grep -q '^# workers: plain$' "$mnt/.osprof" || is_plain=1
    expected=1
    [ "$option" != -s ] || expected=0
    assert_eq "$expected" "$is_plain" "$option: the profile says that workers are plain"
    unmount_osproffs "$mnt"
done
umount "$lower"
