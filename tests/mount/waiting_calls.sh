#!/bin/bash
# Calls that wait below occupy workers. However many of them one user makes, others are served; his are served when there is
# room, each once, and can be killed.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need setpriv python3
openers=599
stopped=
processes=()
before_cleanup() {
    local pid
    [ -z "$stopped" ] || kill -CONT "$stopped"
    for pid in ${processes[@]+"${processes[@]}"}; do
        { kill -9 "$pid" && wait "$pid"; } 2>/dev/null || true
    done
}

# Opens the file for writing, and the other for reading, in so many threads each; says how often it got either.
open_many='
import os, sys, threading
opened = []
def open_one(name, flags):
    fd = os.open(name, flags)
    opened.append(name)
    os.close(fd)
threading.stack_size(65536)
for number in range(int(sys.argv[1])):
    threading.Thread(target=open_one, args=(sys.argv[2], os.O_WRONLY)).start()
for thread in threading.enumerate():
    if thread is not threading.current_thread():
        thread.join()
print(len(opened))
'

in_user() {
    exec_as "$user_uid" "$user_gid" "" "$@"
}

# Who opens the file waits, for longer than this test lasts.
hold_lease() {
    rm -f "$scratch/held"
    in_user "$TEST_PROGRAMS/hold_lease" "$lower/users" >"$scratch/held" &
    holder=$!
    processes+=("$holder")
    wait_until 20 test -s "$scratch/held" || fail "the lease is not held"
}

end_lease() {
    { kill "$holder" && wait "$holder"; } 2>/dev/null || true
}

waiting() {
    grep -c '^# call: OPEN age ' "$mnt/.osprof" || true
}

# More than a third of the workers is the user's, and no more than half.
are_waiting() {
    local count
    count=$(waiting)
    [ "$count" -gt $((512 / 3)) ] && [ "$count" -le $((512 / 2)) ]
}

none_waits() {
    [ "$(waiting)" -eq 0 ]
}

start_openers() {
    in_user python3 -c "$open_many" "$openers" "$mnt/users" >"$scratch/opened" 2>/dev/null &
    opener=$!
    processes+=("$opener")
    wait_until 40 are_waiting || fail "of $openers calls $(waiting) wait"
}

others_are_served() {
    local number
    for number in 1 2 3; do
        assert_eq text "$(timeout 15 cat "$mnt/file")" "read by root, $number"
        assert_eq text "$(as_ids 4711 4711 "" timeout 15 cat "$mnt/file")" "read by another user, $number"
        as_ids "$((4711 + number))" 4711 "" timeout 15 bash -c "echo text >$mnt/everybodys/$number && ls -l $mnt/everybodys >/dev/null"
    done
}

# One who looks a name up has the directory's lock in the kernel meanwhile.
the_user_looks_up() {
    ! as_user timeout 15 stat "$mnt/everybodys/none" 2>"$scratch/looked" || fail "there is such a name"
    grep -q 'No such file' "$scratch/looked" || fail "looked up by the user: $(<"$scratch/looked")"
}

one_users_calls_leave_workers_to_others() {
    hold_lease
    start_openers
    the_user_looks_up
    others_are_served
    are_waiting || fail "of $openers calls $(waiting) wait after others were served"
    end_lease
    wait_for_end "$opener" 60 || fail "calls still wait for a lease that is gone"
    assert_eq "$openers" "$(cat "$scratch/opened")" "files that the user opened"
    others_are_served
}

# They were never served: the profile holds those that were.
calls_that_are_put_off_can_be_killed() {
    hold_lease
    start_openers
    kill -9 "$opener"
    wait_for_end "$opener" 30 2>/dev/null || fail "who waits cannot be killed"
    wait_until 30 none_waits || fail "$(waiting) calls wait for nobody"
    others_are_served
    assert_eq text "$(as_user timeout 15 cat "$mnt/file")" "read by the user"
    end_lease
}

unmounting_does_not_wait_for_them() {
    hold_lease
    start_openers
    umount -l "$mnt"
    kill -9 "$opener"
    wait_for_end "$opener" 30 2>/dev/null || fail "who waits cannot be killed"
    end_lease
}

# Looks up so many names at once; says how often there was no memory for that.
look_up_many='
import errno, os, sys, threading
failed = []
def look_up(number):
    try:
        os.stat(f"{sys.argv[2]}/{number}")
    except OSError as error:
        failed.append(error.errno)
        if error.errno == errno.ENOMEM:
            print("refused", flush=True)
threading.stack_size(65536)
for number in range(int(sys.argv[1])):
    threading.Thread(target=look_up, args=(number,)).start()
for thread in threading.enumerate():
    if thread is not threading.current_thread():
        thread.join()
print(failed.count(errno.ENOMEM))
'

are_looking_up() {
    [ "$(grep -c '^# call: LOOKUP age ' "$mnt/.osprof" || true)" -ge 100 ]
}

# Beyond what a user has room for they end after two seconds: they keep directories from others.
calls_that_hold_directories_are_not_put_off_for_long() {
    local looker
    mkdir "$scratch/below" "$lower/hangs"
    mount_osproffs -o allow_other,cache=none "$scratch/below" "$lower/hangs"
    stopped=${pid_of[$lower/hangs]}
    mount_osproffs -o allow_other "$lower" "$mnt"
    as_user ls "$mnt/hangs" "$mnt/everybodys" >/dev/null
    kill -STOP "$stopped"
    in_user python3 -c "$look_up_many" 300 "$mnt/hangs" >"$scratch/refused" &
    looker=$!
    processes+=("$looker")
    wait_until 20 are_looking_up || fail "no LOOKUP waits"
    in_user timeout 30 stat "$mnt/everybodys/another" >"$scratch/stat" 2>&1 &
    processes+=("$!")
    others_are_served
    wait_until 20 grep -q refused "$scratch/refused" || fail "all calls are put off"
    others_are_served
    kill -CONT "$stopped"
    stopped=
    wait_for_end "$looker" 30 || fail "names are still looked up"
    [ "$(tail -n 1 "$scratch/refused")" -ge 100 ] || fail "$(tail -n 1 "$scratch/refused") of 300 are refused"
    unmount_osproffs "$mnt"
    unmount_osproffs "$lower/hangs"
    rmdir "$scratch/below" "$lower/hangs"
}

# The lower file system is another mount, whose daemon is stopped.
asynchronous_reads_leave_the_rest_to_others() {
    local reader number start
    mkdir "$scratch/below" "$lower/hangs"
    truncate -s 4M "$scratch/below/file"
    chmod 0644 "$scratch/below/file"
    mount_osproffs -o allow_other,cache=none "$scratch/below" "$lower/hangs"
    stopped=${pid_of[$lower/hangs]}
    mount_osproffs -o allow_other "$lower" "$mnt"
    mkfifo "$scratch/start"
    in_user "$TEST_PROGRAMS/submit_reads" "$mnt/hangs/file" 307 <"$scratch/start" >"$scratch/reads" &
    reader=$!
    processes+=("$reader")
    exec {start}>"$scratch/start"
    wait_until 20 test -s "$scratch/reads" || fail "the file does not open"
    kill -STOP "$stopped"
    exec {start}>&-
    wait_until 20 are_reading || fail "no read waits"
    for number in 1 2; do
        drop_caches 2
        others_are_served
    done
    kill -CONT "$stopped"
    stopped=
    wait_for_end "$reader" 30 || fail "reads still wait"
    assert_eq read "$(tail -n 1 "$scratch/reads")" "the end of the reads"
    unmount_osproffs "$mnt"
    unmount_osproffs "$lower/hangs"
}

are_reading() {
    [ "$(grep -c '^# call: READ age ' "$mnt/.osprof" || true)" -ge 60 ]
}

old_lease_break_s=$(cat /proc/sys/fs/lease-break-time)
[ "$old_lease_break_s" -ge 40 ] || skip "leases are broken after $old_lease_break_s s"
echo text >"$lower/file"
mkdir -m 0777 "$lower/everybodys"
echo text >"$lower/users"
chown "$user_uid:$user_gid" "$lower/users"
mount_osproffs -o allow_other "$lower" "$mnt"
one_users_calls_leave_workers_to_others
calls_that_are_put_off_can_be_killed
unmount_osproffs "$mnt"
mount_osproffs -o allow_other "$lower" "$mnt"
unmounting_does_not_wait_for_them
calls_that_hold_directories_are_not_put_off_for_long
asynchronous_reads_leave_the_rest_to_others
