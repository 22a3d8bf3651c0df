#!/bin/bash
# osprof why -a, of what holds programs up on purpose: the cause comes first, and who holds it stands with it. Of many
# programs that wait for work nobody is held up.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/causes_lib.sh"

need_root
python=$(python_with mmap) || skip "no python3"
"$OSPROF" why -a --for 100ms >out 2>err || skip "$(cat err)"

before_cleanup() {
    release
    end_started
    leave_group
    remove_disk
}

# sees TEXT [HOLDER]: what osprof says first of $waiter; regular expressions. Until it has waited for long enough.
sees() {
    wait_until 30 says_first "$@" || fail "osprof does not say first: $1${2:+; and: $2}
$(cat out)"
}

says_first() {
    "$OSPROF" why -a --width 1000 --pid "$waiter" --for 500ms >out && grep -qE "^(Most|All) of that time.* it was $1" out &&
        grep -qE -- "${2-}" out
}

# ---- Who waits for work

of_work=(epoll poll select_call sleep pause sigwait wait empty_pipe empty_unix empty_tcp empty_udp netlink accept terminal
    futex semaphore message_queue posix_queue inotify eventfd signalfd timerfd aio io_uring)
"$python" "$tests_dir/wait_in.py" "${of_work[@]}" >told 2>log &
waiter=$!
started+=("$waiter")
wait_until 30 grep -q "^${of_work[-1]} " told || fail "wait_in.py: $(cat log)"
for ((i = 0; i < 10; i++)); do
    start sleep 60
done
nap 300
pids=$(awk '{ printf ",%s", $2 }' told)
"$OSPROF" why -a --width 1000 --pid "$waiter$pids,$(IFS=, && echo "${started[*]:1}")" --for 500ms >out
grep -qE ': no thread waited \(idle waits excluded\)(\.|, except )' out || fail "somebody waits: $(cat out)"
grep -qE '^Idle waits, not included: .* [34][0-9] threads all the time; ' out || fail "who waits for work: $(cat out)"
end_started

# ---- Who is held up

make_disk

# shellcheck disable=SC2016 # for that shell
start bash -c 'exec 5<>"$1" && until [ -e frozen ]; do sleep 0.05; done && echo >&5' - "$lower/file"
writer=$waiter
nap 300
freeze "$lower"
touch frozen
start mkdir "$lower/frozen"
sees "waiting for a frozen file system: mkdir;"
waiter=$writer
sees "waiting for a frozen file system: bash;" "bash $waiter waits for the frozen file system $lower"
thaw
end_started

hang_all
start stat below/none
sees "waiting for another FUSE daemon: stat;"
release
end_started

forget_pages
hang_all
start cat "$lower/file"
sees "reading from the disk: cat;" "cat $waiter waits for the disk ${loop#/dev/}"
! grep -q 'limited by' out || fail "there is no limit: $(cat out)"
release
end_started

sync -f "$lower"
chmod 600 "$lower/direct"
hang_all
start sync "$lower/direct"
sees "waiting for the ext4 journal to commit: sync;"
release
end_started

if in_group cpu; then
    limit cpu.cfs_quota_us 2000 cpu.max "2000 100000"
    start_in_group bash -c 'while :; do :; done'
    sees "waiting for a CPU: its control group had used up its quota: bash;"
    end_started
    leave_group
fi

if in_group blkio; then
    device=$(cat "/sys/block/${loop#/dev/}/dev")
    limit blkio.throttle.read_bps_device "$device 1024" io.max "$device rbps=1024"
    forget_pages
    start_in_group dd if="$lower/direct" of=/dev/null iflag=direct bs=4k count=1
    sees "reading from the disk, past the cache: dd;" \
        "dd $waiter waits for the disk ${loop#/dev/} .*, limited by the waiter's control group /"
    end_started
    leave_group
fi

if in_group memory; then
    limit memory.limit_in_bytes 16M memory.max 16M
    dd if=/dev/zero of="$lower/large" bs=1M count=24 status=none
    forget_pages
    hang_all
    start_in_group dd if=/dev/zero of="$lower/large" bs=1M count=24 conv=notrunc
    sees "waiting for memory to be freed: dd;"
    release
    end_started
    leave_group
fi
