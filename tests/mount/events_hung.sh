#!/bin/bash
# Events are saved on a file system that hangs (a frozen ext4): calls go on; SIGTERM ends the daemon, which saves its
# profile; commands that hang there hold up neither.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need mkfs.ext4 fsfreeze
commander=

before_cleanup() {
    thaw
    [ -z "$commander" ] || wait "$commander" || true
    commander=
}

# command_hangs TEXT: a command that the frozen file system holds up
command_hangs() {
    command_control "$1" 2>said &
    commander=$!
    nap 500
    kill -0 "$commander" || fail "the command $1 has ended: $(cat said)"
}

# The process is there until its last thread comes back.
has_ended() {
    grep -q '^State:.*zombie' "/proc/$daemon_pid/status"
}

# SIGTERM ends it, with the whole profile, while it hangs.
ends_while_it_hangs() {
    kill -TERM "$daemon_pid"
    wait_until 30 has_ended || {
        explain_running "$daemon_pid"
        fail "osproffs does not end while events hang"
    }
    assert_known_load "$final_profile"
    grep -q "cannot save all events" "$daemon_log" || fail "nothing is said: $(cat "$daemon_log")"
    assert_unmounted "$mnt"
    thaw
    wait "$daemon_pid" || true
    [ -z "$commander" ] || wait "$commander" || true
    commander=
    rmdir "$lower"/known-*
    rm -rf disk/*
}

recording_hangs() {
    mount_osproffs -o "events=$scratch/disk/events" "$lower" "$mnt"
    timeout 20 stat "$mnt" >/dev/null || fail "the mount does not answer" # it is served: the file has its beginning
    freeze "$scratch/disk"
    known_load "$mnt"
    nap 1500
    timeout 20 stat "$mnt"/known-* >/dev/null || fail "calls do not go on"
    ends_while_it_hangs
}

beginning_hangs() {
    mount_osproffs "$lower" "$mnt"
    known_load "$mnt"
    freeze "$scratch/disk"
    command_hangs "events $scratch/disk/events"
    timeout 20 stat "$mnt"/known-* >/dev/null || fail "calls do not go on"
    ends_while_it_hangs
}

writing_a_ring_hangs() {
    mount_osproffs -o "events=$scratch/events,events_ring=1M" "$lower" "$mnt"
    known_load "$mnt"
    freeze "$scratch/disk"
    command_hangs "events $scratch/disk/events"
    timeout 20 stat "$mnt"/known-* >/dev/null || fail "calls do not go on"
    ends_while_it_hangs
}

is_in_mkdir() {
    grep -q '^# call: MKDIR age ' "$mnt/.osprof"
}

# What led to a slow call is to be saved where that call hangs too.
slow_call_hangs() {
    mkdir disk/lower
    mount_osproffs -o "events=$scratch/disk/events,events_ring=1M,slow=50ms" "$scratch/disk/lower" "$mnt"
    known_load "$mnt"
    freeze "$scratch/disk"
    timeout -s KILL 60 mkdir "$mnt/known-6/slow" 2>/dev/null &
    commander=$!
    wait_until 30 is_in_mkdir || fail "the slow call does not come"
    nap 500
    kill -TERM "$daemon_pid"
    wait_until 30 has_ended || {
        explain_running "$daemon_pid"
        fail "osproffs does not end while events hang"
    }
    grep -q "cannot save all events" "$daemon_log" || fail "nothing is said: $(cat "$daemon_log")"
    assert_eq 8 "$(profile_calls MKDIR "$final_profile")" "calls of MKDIR, with the one in flight"
    before_cleanup
    wait "$daemon_pid" || true
    rm -rf disk/*
}

mkdir disk
truncate -s 32M image
mkfs.ext4 -q image
mount -o loop image disk 2>/dev/null || skip "no loop devices"
recording_hangs
beginning_hangs
writing_a_ring_hangs
slow_call_hangs
umount disk
