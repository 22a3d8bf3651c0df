#!/bin/bash
# Calls that wait for locks: there are so many places for them and no more, whose threads and counters are used again; one
# user does not take them all. Where the daemon has no descriptor left, waiting fails as opening does.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need flock python3
places=512
one_users=$(((places - places / 16) / 2)) # a sixteenth is for root and who mounted, and half of the rest for the next
waiters=()
before_cleanup() {
    local pid
    for pid in ${waiters[@]+"${waiters[@]}"}; do
        { kill "$pid" && wait "$pid"; } 2>/dev/null || true
    done
}

# FLOCK|LOCKF FILE COUNT: so many threads wait for the lock of an open file each, or of a byte each. Those that are refused
# say why; the process ends when none waits any more.
wait_many='
import errno, fcntl, os, resource, sys, threading
resource.setrlimit(resource.RLIMIT_NOFILE, (2048, 2048))
def wait(file, number):
    try:
        if sys.argv[1] == "FLOCK":
            fcntl.flock(file, fcntl.LOCK_EX)
            fcntl.flock(file, fcntl.LOCK_UN)
        else:
            fcntl.lockf(file, fcntl.LOCK_EX, 1, number)
    except OSError as error:
        os.write(1, (errno.errorcode[error.errno] + "\n").encode())
threading.stack_size(65536)
shared = os.open(sys.argv[2], os.O_RDWR)
for number in range(int(sys.argv[3])):
    file = os.open(sys.argv[2], os.O_RDWR) if sys.argv[1] == "FLOCK" else shared
    threading.Thread(target=wait, args=(file, number)).start()
'

# How many calls in flight wait.
waiting() {
    grep -c '^# call: SETLKW age ' "$mnt/.osprof" || true
}

are_waiting() {
    [ "$(waiting)" -eq "$1" ]
}

assert_waiting() {
    wait_until 40 are_waiting "$1" || fail "$2: expected $1 calls that wait, found $(waiting)"
}

# assert_all_refused ERROR COUNT FILE
assert_all_refused() {
    wait_until 40 eval "[ \$(wc -l <'$3') -eq $2 ]" || fail "expected $2 to be refused, found $(wc -l <"$3")"
    assert_eq "$1" "$(sort -u "$3")" "why they are refused"
}

hold() {
    exec {held}<"$lower/file"
    flock "$held"
}

let_go() {
    local pid
    exec {held}<&-
    for pid in "${waiters[@]}"; do
        wait_for_end "$pid" 60 || fail "one still waits for a lock that is free"
    done
    waiters=()
}

# start_waiters NAME COMMAND...
start_waiters() {
    local name=$1
    shift
    "$@" {held}<&- >"$scratch/$name" &
    waiters+=($!)
}

one_user_leaves_half_to_others() {
    hold
    start_waiters users exec_as "$user_uid" "$user_gid" "" python3 -c "$wait_many" FLOCK "$mnt/file" 307
    assert_waiting $one_users "one user"
    assert_all_refused ENOLCK $((307 - one_users)) "$scratch/users"
    start_waiters others exec_as 4711 4711 "" python3 -c "$wait_many" FLOCK "$mnt/file" 1
    assert_waiting $((one_users + 1)) "another user"
    start_waiters roots python3 -c "$wait_many" FLOCK "$mnt/file" 307
    assert_waiting "$places" "root"
    assert_all_refused ENOLCK $((307 - (places - one_users - 1))) "$scratch/roots"
    let_go
    assert_waiting 0 "when the lock is free"
}

# Threads that have ended leave their counters to the next.
places_are_used_again() {
    local before_bytes after_bytes
    before_bytes=$(stat -c %s "$(live_file)")
    hold
    start_waiters again python3 -c "$wait_many" FLOCK "$mnt/file" "$places"
    assert_waiting "$places" "again"
    let_go
    after_bytes=$(stat -c %s "$(live_file)")
    [ "$after_bytes" -le $((before_bytes + 1000000)) ] || fail "the live file grows from $before_bytes to $after_bytes"
    [ "$after_bytes" -le $(((places + 100) * 45000)) ] || fail "the live file has $after_bytes bytes"
}

hold_record_lock='
import fcntl, signal, sys
with open(sys.argv[1], "r+") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    print("held", flush=True)
    signal.pause()
'

limited() {
    ulimit -n 64
    exec "$@"
}

out_of_descriptors_is_told_as_elsewhere() {
    start_daemon limited "$OSPROFFS" -f -o posix_lock "$lower" "$mnt"
    pid_of[$mnt]=$daemon_pid
    wait_for_mount "$mnt"
    python3 -c "$hold_record_lock" "$lower/file" >"$scratch/holder" &
    waiters+=($!)
    wait_until 20 test -s "$scratch/holder" || fail "the lock is not held"
    python3 -c "$wait_many" LOCKF "$mnt/file" 101 >"$scratch/refused" &
    waiters+=($!)
    wait_until 40 test -s "$scratch/refused" || fail "101 locks are waited for through 64 descriptors"
    sleep 1
    assert_eq ENFILE "$(sort -u "$scratch/refused")" "why waiting is refused"
    before_cleanup
    waiters=()
    unmount_osproffs "$mnt"
}

echo text >"$lower/file"
chmod 0666 "$lower/file"
mount_osproffs -o allow_other,flock "$lower" "$mnt"
one_user_leaves_half_to_others
places_are_used_again
grep -q '^# locks: flock$' "$mnt/.osprof" || fail "the profile does not name the locks that are forwarded"
unmount_osproffs "$mnt"
assert_profiled SETLKW
out_of_descriptors_is_told_as_elsewhere
