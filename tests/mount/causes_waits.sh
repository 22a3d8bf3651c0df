#!/bin/bash
# What programs wait for, each provoked: the words, and whether it is waiting for work. Of pipes, sockets, locks and the
# like; of a disk that hangs, of a FUSE daemon that is stopped, and in control groups.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/causes_lib.sh"

need_root
need pgrep
python=$(python_with mmap) || skip "no python3"
keeper=    # wait_in.py, whose processes wait
swap=
provoked=0
declare -A pid_in=()

before_cleanup() {
    release
    end_waits
    leave_group
    remove_swap
    remove_disk
}

end_waits() {
    started+=(${keeper:+"$keeper"})
    keeper=
    end_started
}

# waits_for KIND CAUSE PID: its first thread, or one of the others
waits_for() {
    # shellcheck disable=SC2046 # a word each
    "$TEST_PROGRAMS/cause_of" $(ls "/proc/$3/task") | grep -q "^[0-9]* $1 $2 |"
}

# assert_waits KIND CAUSE HOW [PID]
assert_waits() {
    local pid=${4:-$waiter}
    # shellcheck disable=SC2046 # a word each
    wait_until 20 waits_for "$1" "$2" "$pid" ||
        fail "$3: expected '$1 $2', found '$("$TEST_PROGRAMS/cause_of" $(ls "/proc/$pid/task"))'"
    provoked=$((provoked + 1))
}

# held CAUSE HOW [PID], work CAUSE HOW [PID]
held() { assert_waits wait "$@"; }
work() { assert_waits work "$@"; }

# wait_in NAME[=FILE]...: processes that wait so, in $pid_in
wait_in() {
    local name pid
    end_waits
    "$python" "$tests_dir/wait_in.py" "$@" >told 2>wait_in.log &
    keeper=$!
    wait_until 30 all_told $# || fail "wait_in.py: $(cat wait_in.log)"
    while read -r name pid; do
        pid_in[$name]=$pid
    done <told
}

all_told() {
    [ "$(wc -l <told)" -eq "$1" ]
}

# ---- Without a disk

programs_that_wait() {
    wait_in full_pipe full_pipe_splice full_unix full_unix_datagrams full_tcp connect_tcp connect_unix=listening \
        full_terminal message_queue_full epoll poll select_call sleep pause sigwait wait empty_pipe fifo=fifo empty_unix \
        empty_unix_datagrams empty_tcp empty_udp netlink accept accept_unix=accepting terminal futex semaphore \
        message_queue posix_queue inotify eventfd signalfd timerfd aio io_uring traced stopped
    while IFS=: read -r kind name cause; do
        assert_waits "$kind" "$cause" "$name" "${pid_in[$name]}"
    done <<'END'
wait:full_pipe:waiting for another process to read from a full pipe
wait:full_pipe_splice:waiting for another process to read from a full pipe
wait:full_unix:waiting for another process to read from a full socket
wait:full_unix_datagrams:waiting for another process to read from a full socket
wait:full_tcp:waiting for room to send over the network
wait:connect_tcp:waiting for a connection over the network
wait:connect_unix:waiting for another process to accept a connection
wait:full_terminal:waiting for another process to read from a full terminal
wait:message_queue_full:waiting for room in a message queue
work:epoll:waiting for events
work:poll:waiting for events
work:select_call:waiting for events
work:sleep:sleeping
work:pause:waiting for a signal
work:sigwait:waiting for a signal
work:wait:waiting for a child process
work:empty_pipe:waiting for another process at a pipe
work:fifo:waiting for another process to open a FIFO
work:empty_unix:waiting for another process at a socket
work:empty_unix_datagrams:waiting for another process at a socket
work:empty_tcp:waiting for the network
work:empty_udp:waiting for the network
work:netlink:waiting for events
work:accept:waiting for connections
work:accept_unix:waiting for connections
work:terminal:waiting for input at a terminal
work:futex:waiting for another thread (futex)
work:semaphore:waiting for another process (semaphore)
work:message_queue:waiting for a message
work:posix_queue:waiting for a message
work:inotify:waiting for events
work:eventfd:waiting for events
work:signalfd:waiting for events
work:timerfd:sleeping
work:aio:waiting for completions (libaio)
work:io_uring:waiting for completions (io_uring)
work:traced:stopped by a debugger
work:stopped:stopped by a signal
END
}

locks_of_files() {
    touch locked
    hold flock --no-fork locked sleep 60
    wait_until 20 is_locked locked || fail "nobody holds the lock"
    start flock locked true
    held "waiting for a lock of a file that another holds (flock)" "flock(1)"
    end_holder
    wait_in fcntl_lock=locked
    held "waiting for a lock of a file that another holds (fcntl)" F_SETLKW "${pid_in[fcntl_lock]}"
}

# ---- A disk that hangs, and its file system

reads() {
    wait_in mapped_page="$lower/file"
    work "waiting for a signal" "sigwait(3)" "${pid_in[mapped_page]}"
    forget_pages
    hang_all
    kill -USR1 "${pid_in[mapped_page]}"
    held "reading a page of a mapped file" "a disk that hangs" "${pid_in[mapped_page]}"
    start cat "$lower/file"
    held "reading from the disk" "a disk that hangs"
    start dd if="$lower/direct" of=/dev/null iflag=direct bs=4k count=1
    held "reading from the disk, past the cache" "a disk that hangs, O_DIRECT"
    release
    end_waits
}

shared() {
    forget_pages
    hang_all
    wait_in position="$lower/file" spawn="$lower/program"
    held "waiting for another call on the same open file" "two threads that read" "${pid_in[position]}"
    held "waiting for a child process to start a program (vfork)" "posix_spawn(3)" "${pid_in[spawn]}"
    start stat below/none
    held "waiting for another FUSE daemon" "a daemon that is stopped"
    release
    end_waits
}

writes() {
    cat "$lower/file" >/dev/null
    sync -f "$lower"
    hang_all
    start dd if=/dev/zero of="$lower/file" bs=64k count=1 conv=notrunc,fsync
    held "waiting for pages to be written" "a disk that hangs"
    release
    end_waits
    sync -f "$lower"
    chmod 600 "$lower/direct"
    hang_all
    start sync "$lower/direct"
    held "waiting for the ext4 journal to commit" "a disk that hangs"
    held "writing the ext4 journal" "its thread" "$(pgrep -x "jbd2/${loop#/dev/}-.*")"
    release
    end_waits
}

directories() {
    ls "$lower/dir-1/sub" >/dev/null
    forget_pages
    hang_all
    start touch "$lower/dir-1/held"
    held "reading metadata from the disk" "a disk that hangs"
    start mkdir "$lower/dir-1/new"
    held "waiting for a lock of a directory" "two who make names in it"
    release
    end_waits
}

frozen() {
    freeze "$lower"
    start dd if=/dev/zero of="$lower/file" bs=100 count=1 conv=notrunc
    held "waiting for a frozen file system" "fsfreeze, a write"
    start mkdir "$lower/frozen"
    held "waiting for a frozen file system" "fsfreeze, mkdir"
    thaw
    end_waits
}

# ---- Control groups

limited_cpu() {
    in_group cpu || return 0
    limit cpu.cfs_quota_us 2000 cpu.max "2000 100000"
    start_in_group bash -c 'while :; do :; done'
    held "waiting for a CPU (runqueue latency)" "2 % of a CPU"
    end_waits
    leave_group
}

limited_disk() {
    local device
    in_group blkio || return 0
    device=$(cat "/sys/block/${loop#/dev/}/dev")
    limit blkio.throttle.read_bps_device "$device 1024" io.max "$device rbps=1024"
    forget_pages
    start_in_group dd if="$lower/direct" of=/dev/null iflag=direct bs=4k count=1
    held "reading from the disk, past the cache" "a limited disk, O_DIRECT"
    start_in_group dd if="$lower/file" of=/dev/null bs=4k count=1
    held "reading from the disk" "a limited disk"
    end_waits
    leave_group
}

# Who may have 16 MiB writes more than that, and the disk hangs; who may have no more at all.
limited_memory() {
    in_group memory || return 0
    limit memory.limit_in_bytes 16M memory.max 16M
    dd if=/dev/zero of="$lower/large" bs=1M count=24 status=none
    forget_pages
    hang_all
    start_in_group dd if=/dev/zero of="$lower/large" bs=1M count=24 conv=notrunc
    held "waiting for memory to be freed" "a control group of 16 MiB, a disk that hangs"
    release
    end_waits
    if echo 1 >"$group/memory.oom_control" 2>/dev/null; then
        wait_in touch_memory
        echo "${pid_in[touch_memory]}" >"$group/cgroup.procs"
        kill -USR1 "${pid_in[touch_memory]}"
        held "waiting for memory of its control group" "16 MiB, nobody is killed" "${pid_in[touch_memory]}"
        end_waits
    fi
    leave_group
}

# Swap of its own, on a disk that hangs, for a program that needs more than its group may have.
swapped() {
    ! grep -q '^/' /proc/swaps || {
        not_provoked "reading from the swap" "there is some already"
        return 0
    }
    in_group memory || return 0
    limit memory.limit_in_bytes 16M memory.max 16M
    fallocate -l 80M image/swap
    swap=$(losetup -f --show below/swap)
    mkswap "$swap" >/dev/null 2>&1
    swapon "$swap"
    wait_in touch_memory
    echo "${pid_in[touch_memory]}" >"$group/cgroup.procs"
    kill -USR1 "${pid_in[touch_memory]}"
    wait_until 60 has_swapped || fail "nothing is swapped"
    hang_all
    kill -USR1 "${pid_in[touch_memory]}"
    held "reading from the swap" "a disk that hangs" "${pid_in[touch_memory]}"
    release
    end_waits
    remove_swap
    leave_group
}

has_swapped() {
    grep -q '^VmSwap:.*[0-9][0-9][0-9][0-9] kB' "/proc/${pid_in[touch_memory]}/status" &&
        waits_for work "waiting for a signal" "${pid_in[touch_memory]}"
}

remove_swap() {
    [ -n "$swap" ] || return 0
    swapoff "$swap"
    losetup -d "$swap"
    swap=
}

frozen_group() {
    in_group freezer || return 0
    start_in_group sleep 60
    limit freezer.state FROZEN cgroup.freeze 1
    work "stopped by the freezer of control groups" "freezer.state"
    limit freezer.state THAWED cgroup.freeze 0
    end_waits
    leave_group
}

programs_that_wait
locks_of_files
make_disk
cp /bin/true "$lower/program"
for name in reads shared writes directories frozen limited_cpu limited_disk limited_memory swapped frozen_group; do
    with_caches_alone "$name"
done
echo "$provoked waits provoked"
