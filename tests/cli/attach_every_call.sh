#!/bin/bash
# osprof attach: each system call of this kernel that takes a descriptor or a name is in the table of those that are counted,
# or here with the reason why it is not. A call that a later kernel has got fails this test until it is in one of them.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"

need_root

calls=/sys/kernel/tracing/events/syscalls
if [ ! -e "$calls" ] && [ "${IN_OWN_NAMESPACE:-}" ]; then
    mkdir tracing
    mount -t tracefs tracefs tracing || skip "tracefs, where the kernel lists its system calls, cannot be mounted"
    calls=$scratch/tracing/events/syscalls
fi
compgen -G "$calls/sys_enter_*/format" >/dev/null || skip "this kernel does not list its system calls (CONFIG_FTRACE_SYSCALLS)"

# How the kernel calls arguments that are descriptors or names. Some calls have another name there than in programs.
awk '
    FNR == 1 { call = FILENAME; sub(/.*sys_enter_/, "", call); sub(/\/format$/, "", call) }
    /field:/ && !/field:.*[ *](common_|__syscall_nr)/ && /field:[^;]*(fd|fd_in|fd_out|fds|fdin|fdout|fildes|file|filename|path|name|special|root);/ { print call }' \
    "$calls"/sys_enter_*/format |
    sed 's/^newstat$/stat/; s/^newlstat$/lstat/; s/^newfstat$/fstat/; s/^sendfile64$/sendfile/' | sort -u >have
[ "$(wc -l <have)" -gt 100 ] || fail "few calls take a descriptor or a name: $(<have)"

sed -n 's/^    [A-Z_]*ROW\(_OF\)\?(\(LATER_\)\?\([a-z0-9_]*\),.*/\3/p' "$tests_dir/../../src/bpf/call_table.c" | sort -u >counted
[ "$(wc -l <counted)" -gt 90 ] || fail "the table has few rows: $(<counted)"

cat >reasons <<'END'
sockets: accept accept4 bind connect getpeername getsockname getsockopt listen recvfrom recvmmsg recvmsg sendmmsg sendmsg sendto setsockopt shutdown
descriptors that are of no file: epoll_ctl epoll_pwait epoll_pwait2 epoll_wait inotify_rm_watch io_uring_register landlock_add_rule landlock_restrict_self perf_event_open pidfd_send_signal process_madvise process_mrelease setns signalfd signalfd4 timerfd_gettime timerfd_settime
pipes: pipe pipe2 tee vmsplice
descriptors get numbers, and no file system is asked: dup dup2 dup3 pidfd_getfd
its requests are counted, each: io_uring_enter
waits for descriptors of any kind, and never for files: poll ppoll
names that are of no file: fsopen memfd_create mq_open mq_unlink newuname setdomainname sethostname
mounts, swap and accounting, by the administrator: acct chroot fsconfig fsmount fspick mount mount_setattr move_mount open_tree open_tree_attr pivot_root quotactl quotactl_fd swapoff swapon umount
osprof-attach(1) says that it is not counted: close_range execve execveat fanotify_mark
END
cut -d : -f 2 reasons | xargs -n 1 | sort -u >excepted

assert_eq "" "$(sort -u counted excepted | comm -13 - have | xargs)" \
    "calls with descriptors or names that are neither in src/bpf/call_table.c nor excepted here"
assert_eq "" "$(comm -12 counted excepted | xargs)" "calls that are counted, and excepted"
sed -n "s/^osprof-attach(1) .*: //p" reasons | xargs -n 1 >told
while read -r call; do
    grep -Eq "(^|[^a-z_])$call\(2\)|^\.Xr $call 2" "$tests_dir/../../man/osprof-attach.1" || fail "osprof-attach(1) does not say that $call is not counted"
done <told
