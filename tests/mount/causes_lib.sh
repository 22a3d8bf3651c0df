# shellcheck shell=bash
# Making calls wait for a known cause, for a known time; for the tests of causes, and for bench/causes. Source after
# lib.sh and helpers.sh.
#
# The disk is an image in a directory that an osproffs shows, as a loop device: it hangs while that daemon is stopped.
#
# A function provoke_NAME makes a call through the mount wait, and ends that. It says so with
#
#     provoked CAUSE OP HOW
#
# or, where the machine cannot, with not_provoked CAUSE WHY. bench/causes has its own of these. provoked finds $held_ms, for
# how long the call was made to wait, at least.
# shellcheck disable=SC2154,SC2034 # assigned there; used there

: "${hold_ms:=300}" # how long a cause lasts from when the call is seen to wait
caller=
holder=
loop=
hung=
disk_pid=
served_pid=
group=
numbers=0

# ---- A disk that hangs

# An ext4 in $lower.
make_disk() {
    local directory
    need mkfs.ext4 losetup fsfreeze
    mkdir -p image below
    rm -f image/image
    truncate -s 64M image/image
    mkfs.ext4 -q -b 4096 image/image # a block a page, so that none keeps another in memory
    mount_osproffs -o control=.below,cache=none image below
    disk_pid=$daemon_pid
    loop=$(losetup -f --show below/image 2>/dev/null) || skip "no loop devices"
    mount "$loop" "$lower"
    chmod 777 "$lower"
    seq 600000 | head -c 4M >"$lower/file"
    cp "$lower/file" "$lower/direct"
    for directory in "$lower"/dir-{0..8}; do
        mkdir "$directory" "$directory/sub"
        touch "$directory"/{1..100}
    done
    umount "$lower" # else what the journal has written stays in memory
    mount "$loop" "$lower"
}

# The names and inodes of two files stay known.
hang_disk() {
    stat "$mnt/file" "$mnt/direct" >/dev/null 2>&1 || true
    hang_all
}

hang_all() {
    hung=$disk_pid
    hang_daemon "$hung"
}

remove_disk() {
    ! mountpoint -q "$lower" || umount "$lower" || umount -l "$lower"
    [ -z "$loop" ] || losetup -d "$loop"
    loop=
    ! mountpoint -q below || unmount_osproffs below
}

# Contents of files and directories are not in memory any more, names and inodes are.
forget_pages() {
    sync -f "$lower"
    drop_caches 1
}

# Inodes neither, except those in use.
forget_all() {
    sync -f "$lower"
    drop_caches 3
}

# ---- A call that waits

# serve [OPTION]...: osproffs under test, which asks for everything anew
serve() {
    mkdir -p -m 700 live
    mount_osproffs -o slow=50ms,live=live,cache=none,workers=plain,posix_lock,flock "$@" "$lower" "$mnt"
    served_pid=$daemon_pid
    live=$scratch/live/$served_pid.live
}

# call COMMAND...: in the background
call() {
    timeout -s KILL 60 "$@" >"$scratch/called" 2>&1 </dev/null &
    caller=$!
}

# hold COMMAND...: in the background; it has what the call waits for
hold() {
    "$@" >"$scratch/holding" 2>&1 </dev/null &
    holder=$!
}

# hold_hanging COMMAND...: the same, once it hangs itself; the program is read first, for that may hang too
hold_hanging() {
    "$1" --version >/dev/null
    hold "$@"
    wait_until 5 grep -q '^State:.D' "/proc/$holder/status" || fail "does not hang: $*"
}

# in_flight OP: a call of it is; a regular expression
in_flight() {
    "$OSPROF" why "$live" 2>&1 | grep -Eq "^ +[0-9.]+ [mu]?s +[0-9]+  $1 "
}

# The call has been waiting for a while, and then need not any more: release COMMAND...
hold_for() {
    local op=$1 begin
    shift
    wait_until 20 in_flight "$op" || fail "no $op is in flight: $("$OSPROF" why "$live" 2>&1)"
    begin=$(date +%s%3N)
    nap "$hold_ms"
    [ -z "${SHOW_STACKS:-}" ] || show_stacks
    held_ms=$(($(date +%s%3N) - begin))
    release
    wait "$caller" || true
    caller=
}

# For authors of new lines in share/osproffs/causes.
show_stacks() {
    local task
    for task in "/proc/$served_pid/task"/*; do
        grep -qE 'fuse_dev_do_read|fuse_dev_read|sigtimedwait|futex' "$task/stack" || sed 's/+.*//; s/.* //' "$task/stack"
    done 2>/dev/null | paste -sd ' ' >&2
}

# Whatever holds a call ends.
release() {
    [ -z "$hung" ] || kill -CONT "$hung"
    hung=
    thaw
    [ -z "$holder" ] || end_holder
}

end_holder() {
    kill "$holder" 2>/dev/null || true
    wait "$holder" || true
    holder=
}

# For the test's before_cleanup().
end_causes() {
    release
    [ -z "$caller" ] || wait "$caller"
    exec 8<&-
    ! mountpoint -q "$mnt" || unmount_osproffs "$mnt"
    ! mountpoint -q cached || unmount_osproffs cached
    leave_group
    ! mountpoint -q overlay || umount overlay
    remove_disk
}

# attributed OP CAUSE: OP as a regular expression. Sets latency_ms of all slow calls of it so far, and attributed_ms, which
# is CAUSE's, and forgets them. On a busy machine a part is waiting for a CPU, and running: that is not what was provoked,
# and left out.
attributed() {
    cat "$mnt/.osprof" >"$scratch/profile"
    read -r latency_ms attributed_ms < <(awk -v op="$1" -v cause="$2" '
        /^# clock:/ { hz = $4 }
        $1 == "#" && $2 == "cause:" && $3 ~ "^" op "$" {
            words = $0
            sub(/^.* cause /, "", words)
            gsub(/\\040/, " ", words)
            if (words == cause) seen += $7
            if (words == cause || words !~ /^(running|waiting for a CPU \(runqueue latency\))$/) total += $7
        }
        END { printf "%d %d\n", total / hz * 1000, seen / hz * 1000 }' "$scratch/profile")
    command_control reset
}

# At least 95 % of the time for which it was held is the cause's. What it does when that is over is not.
provoked() {
    attributed "$2" "$1"
    [ "$latency_ms" -gt 0 ] || fail "$2 was not slow ($3)"
    [ $((100 * attributed_ms)) -ge $((95 * (latency_ms < held_ms ? latency_ms : held_ms))) ] ||
        fail "$1: only $attributed_ms of $latency_ms ms of $2 ($3): $(grep -a '^# cause: ' "$scratch/profile")"
}

not_provoked() {
    printf 'not provoked: %s: %s\n' "$1" "$2"
}

# Another each time, for new names.
next_number() {
    numbers=$((numbers + 1))
}

# ---- The file system as a whole

provoke_frozen() {
    local cause="waiting for a frozen file system"
    next_number
    freeze "$lower"
    call mkdir "$mnt/frozen-$numbers"
    hold_for MKDIR
    provoked "$cause" MKDIR "fsfreeze"
    freeze "$lower"
    call dd if=/dev/zero of="$mnt/file" bs=100 count=1 conv=notrunc
    hold_for WRITE
    provoked "$cause" WRITE "fsfreeze"
    freeze "$lower"
    call truncate -s 4000000 "$mnt/file"
    hold_for SETATTR
    provoked "$cause" SETATTR "fsfreeze"
}

# ---- The disk

provoke_read() {
    forget_pages
    hang_disk
    call cat "$mnt/file"
    hold_for READ
    provoked "reading from the disk" READ "a disk that hangs"
    touch "$lower/file" # the block that its inode is in stays in memory, only its contents do not
    dd of="$lower/file" oflag=nocache conv=notrunc,fdatasync count=0 status=none
    hang_disk
    call dd if=/dev/zero of="$mnt/file" bs=100 count=1 conv=notrunc
    hold_for WRITE
    provoked "reading from the disk" WRITE "a disk that hangs, part of a block"
}

provoke_metadata() {
    local cause="reading metadata from the disk"
    forget_all
    hang_all
    call stat "$mnt/dir-0/100"
    hold_for LOOKUP
    provoked "$cause" LOOKUP "a disk that hangs"
    forget_pages
    hang_disk
    call ls -U "$mnt/dir-0"
    hold_for READDIR
    provoked "$cause" READDIR "a disk that hangs"
}

provoke_direct() {
    stat "$mnt/direct" >/dev/null
    hang_disk
    call dd if="$mnt/direct" of=/dev/null iflag=direct bs=4k count=1
    hold_for READ
    provoked "reading from the disk, past the cache" READ "a disk that hangs, O_DIRECT"
    hang_disk
    call dd of="$mnt/direct" if=/dev/zero oflag=direct bs=4k count=1 conv=notrunc
    hold_for WRITE
    provoked "writing to the disk, past the cache" WRITE "a disk that hangs, O_DIRECT"
}

provoke_writeback() {
    cat "$lower/file" >/dev/null
    sync -f "$lower"
    hang_disk
    call dd if=/dev/zero of="$mnt/file" bs=64k count=1 conv=notrunc,fsync
    hold_for FSYNC
    provoked "waiting for pages to be written" FSYNC "a disk that hangs"
}

provoke_flush() {
    sync -f "$lower"
    hang_disk
    call sync "$mnt/direct"
    hold_for FSYNC
    provoked "waiting for the disk to flush its cache" FSYNC "a disk that hangs, nothing to be written"
}

# Where no more than 1 MiB of the device may be dirty.
provoke_dirty() {
    local bdi
    bdi=/sys/class/bdi/$(cat "/sys/block/${loop#/dev/}/dev")
    if ! [ -w "$bdi/max_bytes" ] || ! echo 1 >"$bdi/strict_limit" || ! echo 1048576 >"$bdi/max_bytes"; then
        not_provoked "waiting because too much is to be written (dirty pages)" "no limit for a device (Linux 6.2)"
        return
    fi
    cat "$lower/file" >/dev/null
    sync -f "$lower"
    hang_disk
    call dd if=/dev/zero of="$mnt/file" bs=64k count=64 conv=notrunc
    hold_ms=1200 hold_for WRITE # it sleeps and runs alternately
    provoked "waiting because too much is to be written (dirty pages)" WRITE "a disk that hangs, a limit of 1 MiB"
    echo 0 >"$bdi/strict_limit"
}

# ---- The journal

provoke_journal() {
    sync -f "$lower"
    chmod 600 "$lower/direct"
    stat "$mnt/direct" >/dev/null
    hang_disk
    call sync "$mnt/direct"
    hold_for FSYNC
    provoked "waiting for the ext4 journal to commit" FSYNC "a disk that hangs"
    chmod 640 "$lower/file"
    hang_disk
    hold_hanging sync -f "$lower"
    # It may hang before the journal commits: what changes then is of the same transaction, and waits for nothing.
    wait_until 5 grep -q jbd2_log_wait_commit "/proc/$holder/stack" || fail "the journal does not commit"
    nap 100 # until the commit waits for the disk
    call chmod 600 "$mnt/file"
    hold_for SETATTR
    provoked "waiting for a block that the ext4 journal holds" SETATTR "a disk that hangs while others sync"
}

# ---- The kernel's locks

# hold_directory DIRECTORY NAME...: somebody makes a file in it, and hangs; that there are such names, or none, is known
hold_directory() {
    local directory=$1 name
    shift
    for name; do
        stat "$mnt/$directory/$name" >/dev/null 2>&1 || true
    done
    ls "$lower/$directory/sub" "$mnt/file" >/dev/null
    forget_pages
    hang_disk
    hold_hanging touch "$lower/$directory/held"
}

# with_directory OP COMMAND...: it waits for the lock of the directory
with_directory() {
    local op=$1
    shift
    call "$@"
    hold_for "$op"
    provoked "waiting for a lock of a directory" "$op" "somebody makes a file, and hangs"
}

# Each in a directory that is as it was when the disk was mounted.
provoke_directory_lock() {
    hold_directory dir-1 new
    with_directory CREATE touch "$mnt/dir-1/new"
    hold_directory dir-2 new
    with_directory LINK ln "$mnt/file" "$mnt/dir-2/new"
    hold_directory dir-3 new
    with_directory MKDIR mkdir "$mnt/dir-3/new"
    hold_directory dir-4
    with_directory LOOKUP stat "$mnt/dir-4/new"
    hold_directory dir-5
    with_directory READDIR ls -U "$mnt/dir-5"
    hold_directory dir-6 1
    with_directory UNLINK rm -f "$mnt/dir-6/1"
    hold_directory dir-7 sub
    with_directory RMDIR rmdir "$mnt/dir-7/sub"
    hold_directory dir-8 2 new
    with_directory "RENAME2?" mv "$mnt/dir-8/2" "$mnt/dir-8/new"
}

# with_file OP COMMAND...: it waits for the lock of $lower/file, while somebody cuts it, and hangs
with_file() {
    local op=$1
    shift
    dd if=/dev/zero of="$lower/file" bs=1M count=4 conv=notrunc status=none
    stat "$mnt/file" >/dev/null
    forget_pages
    hang_disk
    next_number
    hold_hanging truncate -s $((4000000 - numbers * 10001)) "$lower/file"
    call "$@"
    hold_for "$op"
    provoked "waiting for a lock of a file" "$op" "somebody cuts the file, and hangs"
}

provoke_file_lock() {
    with_file WRITE dd if=/dev/zero of="$mnt/file" bs=100 count=1 conv=notrunc
    with_file READ dd if="$mnt/file" of=/dev/null bs=64k count=1
    with_file SETATTR chmod 600 "$mnt/file"
    with_file SETATTR truncate -s 5000000 "$mnt/file"
    with_file SETATTR touch "$mnt/file"
    with_file FALLOCATE fallocate -l 4096 "$mnt/file"
    ! have setfattr || with_file SETXATTR setfattr -n user.a -v 1 "$mnt/file"
    with_file UNLINK rm -f "$mnt/file"
    cp "$lower/direct" "$lower/file"
}

# ---- Locks that programs ask for

# is_locked [FILE]
is_locked() {
    ! flock -n "${1:-$lower/file}" true
}

provoke_flock() {
    hold flock --no-fork "$lower/file" sleep 60
    wait_until 20 is_locked || fail "nobody holds the lock"
    call flock "$mnt/file" true
    hold_for SETLKW
    provoked "waiting for a lock of a file that another holds (flock)" SETLKW "flock(1)"
}

provoke_lease() {
    hold "$TEST_PROGRAMS/hold_lease" "$lower/file"
    wait_until 20 grep -q held holding || fail "nobody holds the lease"
    call cat "$mnt/file"
    hold_for OPEN
    provoked "waiting for who has a lease of the file" OPEN "F_SETLEASE"
}

provoke_fcntl() {
    local cause="waiting for a lock of a file that another holds (fcntl)"
    have python3 || {
        not_provoked "$cause" "no python3"
        return
    }
    rm -f held
    hold python3 -c 'import fcntl, sys, time
file = open(sys.argv[1], "r+")
fcntl.lockf(file, fcntl.LOCK_EX)
open("held", "w")
time.sleep(60)' "$lower/file"
    wait_until 20 test -e held
    call python3 -c 'import fcntl, sys
fcntl.lockf(open(sys.argv[1], "r+"), fcntl.LOCK_EX)' "$mnt/file"
    hold_for SETLKW
    provoked "$cause" SETLKW "F_SETLKW"
}

# ---- Other file systems below

# The lower directory is a FUSE mount itself, whose daemon is stopped.
provoke_fuse() {
    unmount_osproffs "$mnt"
    mount_osproffs -o slow=50ms,live=live,cache=none below "$mnt"
    served_pid=$daemon_pid
    live=$scratch/live/$served_pid.live
    hang_disk
    call stat "$mnt/none"
    hold_for LOOKUP
    provoked "waiting for another FUSE daemon" LOOKUP "a FUSE file system below, stopped"
    unmount_osproffs "$mnt"
    serve
}

# Pages of a file in a FUSE mount that caches them: the kernel reads ahead, and the thread waits for the page, not for the
# request. Its daemon is stopped when the file is open.
provoke_fuse_page() {
    local disk=$disk_pid
    unmount_osproffs "$mnt"
    mkdir -p cached
    mount_osproffs -o control=.cached "$lower" cached
    disk_pid=$daemon_pid
    mount_osproffs -o slow=50ms,live=live,cache=none cached "$mnt"
    served_pid=$daemon_pid
    live=$scratch/live/$served_pid.live
    exec 8<"$mnt/file"
    forget_pages
    hung=$disk_pid
    hang_daemon "$hung"
    call sh -c 'dd bs=64k count=1 of=/dev/null <&8'
    exec 8<&-
    hold_for READ
    provoked "waiting for another FUSE daemon" READ "a FUSE file system below that has a cache, stopped"
    unmount_osproffs "$mnt"
    unmount_osproffs cached
    disk_pid=$disk
    serve
}

provoke_overlay() {
    local cause="copying a file up to the upper layer (overlayfs)"
    unmount_osproffs "$mnt"
    mkdir -p upper work overlay
    mount -t overlay -o lowerdir="$lower",upperdir=upper,workdir=work overlay overlay 2>/dev/null || {
        not_provoked "$cause" "no overlayfs"
        serve
        return
    }
    mount_osproffs -o slow=50ms,live=live,cache=none overlay "$mnt"
    served_pid=$daemon_pid
    live=$scratch/live/$served_pid.live
    stat "$mnt/direct" >/dev/null
    forget_pages
    hang_disk
    call dd if=/dev/zero of="$mnt/direct" bs=100 count=1 conv=notrunc
    hold_for OPEN
    provoked "$cause" OPEN "a disk that hangs"
    unmount_osproffs "$mnt"
    umount overlay
    serve
}

# ---- CPU and memory

# Workers may use the last CPU only, and now and then it is another's that has priority.
provoke_cpu() {
    local cause="waiting for a CPU (runqueue latency)" cpu round
    cpu=$(($(getconf _NPROCESSORS_ONLN) - 1))
    if [ "$cpu" -eq 0 ] || ! taskset -c "$cpu" chrt -f 1 true 2>/dev/null; then
        not_provoked "$cause" "a single CPU, or nobody may have priority (chrt -f)"
        return
    fi
    unmount_osproffs "$mnt"
    serve -o slow=20ms
    pin_workers "$cpu"
    cat "$lower/file" >/dev/null
    # shellcheck disable=SC2016 # for that shell
    call sh -c 'while cp "$1/file" "$1/copy"; do :; done' - "$mnt"
    held_ms=200
    for round in {1..12}; do
        nap 100
        pin_workers "$cpu"
        timeout 0.6 taskset -c "$cpu" chrt -f 1 sh -c 'while :; do :; done' || true
        ! was_held || break
    done
    end_call
    if was_held; then
        provoked "$cause" COPY_FILE_RANGE "others with priority, for 0.6 s"
    else
        not_provoked "$cause" "no call was under way just then"
    fi
    unmount_osproffs "$mnt"
    serve
}

# A call was under way just then.
was_held() {
    "$OSPROF" why "$live" | grep -Eq '[0-9] +[0-9][0-9][0-9] ms +COPY_FILE_RANGE '
}

# Those that wait for requests.
pin_workers() {
    local task
    for task in "/proc/$served_pid/task"/*; do
        ! grep -qs fuse_dev "$task/stack" || taskset -p -c "$1" "${task##*/}" >/dev/null
    done
}

end_call() {
    kill "$caller"
    wait "$caller" || true
    caller=
}

# group_directory CONTROLLER: a new control group's, of version 1 or 2; fails where there is none
group_directory() {
    if [ -d "/sys/fs/cgroup/$1" ]; then
        group=/sys/fs/cgroup/$1/osproffs-causes-$$
    else
        group=/sys/fs/cgroup/osproffs-causes-$$
        grep -qw "$1" /sys/fs/cgroup/cgroup.subtree_control 2>/dev/null || return 1
    fi
    mkdir "$group"
}

leave_group() {
    local pid
    [ -n "$group" ] || return 0
    while read -r pid; do
        echo "$pid" >"${group%/*}/cgroup.procs" 2>/dev/null || true
    done <"$group/cgroup.procs"
    rmdir "$group"
    group=
}

# Who may have 16 MiB writes more than that, and the disk hangs.
provoke_memory() {
    local cause="waiting for memory to be freed"
    group_directory memory || {
        group=
        not_provoked "$cause" "no control groups for memory"
        return
    }
    echo 16M >"$group/memory.limit_in_bytes" 2>/dev/null || echo 16M >"$group/memory.max"
    echo "$served_pid" >"$group/cgroup.procs"
    rm -f "$lower/large"
    dd if=/dev/zero of="$lower/large" bs=1M count=24 status=none
    forget_pages
    hang_disk
    call dd if=/dev/zero of="$mnt/large" bs=1M count=24 conv=notrunc
    hold_for WRITE
    provoked "$cause" WRITE "a control group of 16 MiB, a disk that hangs"
    leave_group
    rm -f "$lower/large"
}

# ---- Processes that wait

started=()

# start COMMAND...: in the background; its process is $waiter
start() {
    "$@" >/dev/null 2>&1 </dev/null &
    waiter=$!
    started+=("$waiter")
}

end_started() {
    local pid
    for pid in "${started[@]}"; do
        kill "$pid" 2>/dev/null || true
        kill -CONT "$pid" 2>/dev/null || true
        wait "$pid" || true
    done
    started=()
}

# in_group CONTROLLER: makes a group; prints why not if there are none
in_group() {
    group_directory "$1" && return
    group=
    not_provoked "a limit of a control group" "there are none for $1"
    return 1
}

# limit FILE1 VALUE1 FILE2 VALUE2: of control groups of version 1, of version 2
limit() {
    if [ -e "$group/$1" ]; then
        echo "$2" >"$group/$1"
    else
        echo "$4" >"$group/$3"
    fi
}

# start_in_group COMMAND...
start_in_group() {
    # shellcheck disable=SC2016 # for that shell
    start bash -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' - "$group" "$@"
}
