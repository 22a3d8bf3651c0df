#!/bin/bash
# Who holds what a thread waits for, as a sentence: file locks, pipes, FUSE daemons, disks; what the holder waits for; and
# what of that another user can read.
# shellcheck disable=SC2016 # texts for bash -c
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/causes_lib.sh"

need_root
need_fuse
need setpriv flock mkfs.ext4 fsfreeze
connections=/sys/fs/fuse/connections
processes=()

before_cleanup() {
    thaw
    end_all
    end_causes
    ! mountpoint -q "$connections" || umount "$connections" 2>/dev/null || true
}

# ---- Processes

# begin COMMAND...: in the background; sets pid
begin() {
    "$@" >"$scratch/output" 2>&1 </dev/null &
    pid=$!
    processes+=("$pid")
}

take() {
    begin "$TEST_PROGRAMS/take_lock" "$@"
}

# take_now KIND FILE...: waits until it has all of them; sets holder_pid
take_now() {
    take "$@"
    holder_pid=$pid
    wait_until 20 has_taken $(($# / 2)) || fail "does not get: $*: $(<"$scratch/output")"
}

has_taken() {
    [ "$(grep -c held "$scratch/output")" = "$1" ]
}

child_of() {
    tr ' ' '\n' <"/proc/$1/task/$1/children" | head -n 1
}

has_child() {
    [ -n "$(child_of "$1")" ]
}

end_all() {
    local each
    for each in ${processes[@]+"${processes[@]}"}; do
        kill "$each" 2>/dev/null || true
    done
    for each in ${processes[@]+"${processes[@]}"}; do
        wait "$each" 2>/dev/null || true
    done
    processes=()
}

# ---- What is said

ask() {
    timeout -s KILL 30 "$TEST_PROGRAMS/who_holds" "$@"
}

# says_to_user PATTERN PID
says_to_user() {
    if user_sees_processes; then
        says "$1" ask_as_user "$2"
    else
        says "process $2: what it waits for cannot be seen" ask_as_user "$2"
    fi
}

ask_as_user() {
    as_user timeout -s KILL 30 "$TEST_PROGRAMS/who_holds" "$@"
}

# says PATTERN COMMAND...: its output matches a pattern of the shell, when the process has begun to wait
says() {
    local pattern=$1
    shift
    wait_until 20 does_match "$pattern" "$@" || fail "expected '$pattern', found '$("$@")'"
}

does_match() {
    local pattern=$1
    shift
    # shellcheck disable=SC2053 # it is a pattern
    [[ "$("$@")" == $pattern ]]
}

# ---- Locks: of a holder that waits for nobody

for name in file other third; do
    echo >"$scratch/$name"
    chmod 666 "$scratch/$name"
done
file=$scratch/file
idle="which is waiting for a signal"

take_now flock "$file"
take flock "$file"
says "take_lock $pid waits for the flock of $file, held by take_lock $holder_pid, $idle" ask "$pid"
says "take_lock $holder_pid is waiting for a signal" ask "$holder_pid"
says_to_user "take_lock $pid waits for the flock of a file, taken by take_lock $holder_pid" "$pid"
says_to_user "take_lock $holder_pid: what it waits for cannot be seen" "$holder_pid"
kill -STOP "$holder_pid"
says "* held by take_lock $holder_pid, which is stopped" ask "$pid"
says_to_user "* taken by take_lock $holder_pid, which is stopped" "$pid"
kill -CONT "$holder_pid"
end_all

take_now fcntl "$file"
take fcntl "$file"
says "take_lock $pid waits for the fcntl lock of $file, held by take_lock $holder_pid, $idle" ask "$pid"
says_to_user "take_lock $pid waits for the fcntl lock of a file, held by take_lock $holder_pid" "$pid"
end_all

# the table of locks has no process of a description
take_now ofd "$file"
take ofd "$file"
says "take_lock $pid waits for the fcntl lock of $file, held by take_lock $holder_pid, $idle" ask "$pid"
says_to_user "take_lock $pid: what it waits for cannot be seen" "$pid"
take fcntl "$file"
says "take_lock $pid waits for the fcntl lock of $file, held by take_lock $holder_pid, $idle" ask "$pid"
says_to_user "take_lock $pid waits for the fcntl lock of a file, held by an open file description" "$pid"
end_all

begin "$TEST_PROGRAMS/hold_lease" "$file"
holder_pid=$pid
wait_until 20 has_taken 1 || fail "no lease: $(<"$scratch/output")"
begin head "$file"
says "head $pid waits for the lease of $file, held by hold_lease $holder_pid, $idle" ask "$pid"
end_all

# a user sees processes of his own
begin exec_as "$user_uid" "$user_gid" "" "$TEST_PROGRAMS/take_lock" flock "$file"
holder_pid=$pid
wait_until 20 has_taken 1 || fail "does not get the lock: $(<"$scratch/output")"
begin exec_as "$user_uid" "$user_gid" "" "$TEST_PROGRAMS/take_lock" flock "$file"
says "take_lock $pid waits for the flock of $file, held by take_lock $holder_pid, *" ask_as_user "$pid"
end_all

# the process that took the lock has ended, and passed it on
begin bash -c 'exec 9>"$1"; flock 9; echo held; exec sleep 300' _ "$file"
holder_pid=$pid
wait_until 20 has_taken 1 || fail "does not get the lock: $(<"$scratch/output")"
take flock "$file"
says "take_lock $pid waits for the flock of $file, held by sleep $holder_pid, which is sleeping" ask "$pid"
says_to_user "take_lock $pid waits for the flock of a file, held by an open file description" "$pid"
end_all

# two share it
take_now shared "$file"
take_now shared "$file"
take flock "$file"
says "take_lock $pid waits for the flock of $file, held by take_lock * (and 1 other), $idle" ask "$pid"
end_all

odd=$scratch/$'odd\n\033[2J'
echo >"$odd"
take_now flock "$odd"
take flock "$odd"
says "take_lock $pid waits for the flock of $scratch/odd??\[2J, held by take_lock $holder_pid, $idle" ask "$pid"
! ask "$pid" | tail -n +2 | grep . || fail "a name makes a second line"
end_all

# ---- Locks: of a holder that waits itself

other=$scratch/other
third=$scratch/third

take_now flock "$third"
last=$pid
take fcntl "$other" flock "$third"
middle=$pid
wait_until 20 has_taken 1
take flock "$file" fcntl "$other"
first=$pid
wait_until 20 has_taken 1
take flock "$file"
says "take_lock $pid waits for the flock of $file, held by take_lock $first, which waits for the fcntl lock of $other, held by \
take_lock $middle, which waits for the flock of $third, held by take_lock $last, $idle" ask "$pid"
end_all

# two wait for each other; "go" lets the second one go on
mkfifo go
begin bash -c 'exec 8>"$1" 9>"$2"; flock 8; echo held; read -r <"$3"; exec flock 9' _ "$file" "$other" go
first=$pid
wait_until 20 has_taken 1
begin bash -c 'exec 8>"$1" 9>"$2"; flock 9; echo held; exec flock 8' _ "$file" "$other"
second=$pid
wait_until 20 has_taken 1
says "flock $second waits for the flock of $file, held by bash $first, which *" ask "$second"
echo >go
says "flock $first waits for the flock of $other, held by flock $second, which waits for the flock of $file, held by flock \
$first: a circle" ask "$first"
end_all

# ---- A frozen file system

mkdir disk
truncate -s 32M disk.image
mkfs.ext4 -q disk.image
mount -o loop disk.image disk 2>/dev/null || skip "no loop devices"
echo >disk/file
freeze "$scratch/disk"
take flock "$file" write "$scratch/disk/file"
holder_pid=$pid
wait_until 20 has_taken 1 || fail "does not get: $file: $(<output)"
take flock "$file"
says "take_lock $pid waits for the flock of $file, held by take_lock $holder_pid, which waits for the frozen file system \
$scratch/disk" ask "$pid"
# a thread of its holds it up; nothing of the others is said
take flock "$other" thread - write "$scratch/disk/file"
holder_pid=$pid
wait_until 20 has_taken 1 || fail "does not get: $other: $(<output)"
take flock "$other"
says "take_lock $pid waits for the flock of $other, held by take_lock $holder_pid, whose thread * waits for the frozen file \
system $scratch/disk" ask "$pid"
# where only the path is in the call, the file system is not known
begin mkdir disk/directory
says "mkdir $pid is waiting for a frozen file system" ask "$pid"
thaw
end_all
umount disk

# threads that wait for nobody
take flock "$file" thread - flock "$other"
holder_pid=$pid
wait_until 20 has_taken 2
take flock "$file"
says "take_lock $pid waits for the flock of $file, held by take_lock $holder_pid" ask "$pid"
end_all

# ---- Pipes

begin bash -c 'exec cat /dev/zero > >(exec sleep 300)'
wait_until 20 has_child "$pid" || fail "nobody reads the pipe"
reader=$(child_of "$pid")
says "cat $pid waits for room in a pipe, read by sleep $reader, which is sleeping" ask "$pid"
says_to_user "cat $pid: what it waits for cannot be seen" "$pid"
kill "$reader"
end_all

mkfifo fifo
begin bash -c 'exec sleep 300 <>fifo'
begin bash -c 'exec cat <fifo'
reader=$pid
begin bash -c 'exec sleep 300 >fifo'
says "cat $reader waits for data from $scratch/fifo, written by sleep * (and 1 other), which is sleeping" ask "$reader"
end_all

# ---- FUSE daemons

# begin_reader FILE: opens it, and reads it when "go" is written
begin_reader() {
    begin bash -c 'exec 5<"$1"; echo held; read -r <go; exec dd bs=1 count=1 status=none <&5' _ "$1"
    wait_until 20 has_taken 1 || fail "does not open $1"
}

cp "$file" "$lower/file"
mount_osproffs -o cache=none,flock,live=none "$lower" "$mnt"
device=$(mountpoint -d "$mnt")
take_now flock "$lower/file"
last=$holder_pid
take flock "$mnt/file"
says "take_lock $pid waits for the FUSE file system $mnt, served by osproffs $daemon_pid, whose thread * waits for the flock \
of $lower/file, held by take_lock $last, $idle" ask "$pid"
end_all
begin_reader "$mnt/file"
hang_daemon "$daemon_pid"
echo >go
served="waits for the FUSE file system $mnt, served by osproffs $daemon_pid, which is stopped"
says "dd $pid $served" ask "$pid"
# where only the path is in the call, the file system is known from outside, or if requests wait in no other one
begin stat "$mnt/other"
! mountpoint -q "$connections" || umount "$connections"
says "stat $pid is waiting for another FUSE daemon" ask "$pid"
says "stat $pid $served" ask "$pid" "$pid" "$device"
if mount -t fusectl fusectl "$connections" 2>/dev/null && [ -e "$connections/${device#*:}/waiting" ]; then
    says "stat $pid $served" ask "$pid"
fi
kill -CONT "$daemon_pid"
end_all
unmount_osproffs "$mnt"

# ---- A disk, whose daemon is stopped

make_disk
begin_reader "$lower/file"
forget_pages
hang_disk

echo >go
says "dd $pid waits for the disk ${loop#/dev/} (* in flight), which is the file $scratch/below/image in the FUSE file system \
$scratch/below, served by osproffs $disk_pid, which is stopped" ask "$pid"
release
end_all
