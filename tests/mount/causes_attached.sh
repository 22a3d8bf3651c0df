#!/bin/bash
# What slow calls wait for on a file system that osprof attach watches: calls are made on the file system itself, each cause
# is provoked, and osprof why names it.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
# shellcheck source=../cli/attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"
. "$tests_dir/causes_lib.sh"

need_root
python=$(python_with json) || skip "no python3"
python=$("$python" -c 'import sys; print(sys.executable)') # not a wrapper, which waits for others itself
PATH=$(dirname "$python"):$PATH
caller_pid=

before_cleanup() {
    release
    end_started
    [ -z "$caller" ] || kill -KILL "$caller" 2>/dev/null || true
    [ -z "$caller" ] || wait "$caller" || true
    kill_watchers
    exec 8<&-
    leave_group
    ! mountpoint -q overlay || umount overlay || umount -l overlay
    ! mountpoint -q cached || unmount_osproffs cached
    remove_disk
}

# ---- Calls are made on the file system itself, and osprof attach sees them

call() {
    "$@" >"$scratch/called" 2>&1 </dev/null &
    caller=$! caller_pid=$!
}

switches() {
    sed -n 's/^voluntary_ctxt_switches:.//p' "/proc/$caller/status"
}

# It sleeps for long enough to be slow.
is_held() {
    local before
    before=$(switches)
    nap 100
    grep -q '^State:.[DS]' "/proc/$caller/status" && [ "$before" = "$(switches)" ]
}

# The same of a call that wakes up now and then.
is_in_call() {
    local before
    before=$(<"/proc/$caller/syscall")
    nap 100
    grep -q '^State:.[DS]' "/proc/$caller/status" && [ "$before" != running ] && [ "$before" = "$(<"/proc/$caller/syscall")" ]
}

# hold_for OP: when the call is held, or is_... in $until
hold_for() {
    wait_until 30 "${until:-is_held}" || fail "no $1 waits"
    nap 100
    release
    wait "$caller" || true
    caller=
}

# names CAUSE: for a slow call of the process that was held
names() {
    "$OSPROF" why --json "${asked:-$fs}" 2>why.log | "$python" -c '
import json, sys
pid, cause = int(sys.argv[1]), sys.argv[2]
profile = json.load(sys.stdin)
sys.exit(not any(c["pid"] == pid and c["cause"] == cause for c in profile.get("slow_calls", [])))' "$caller_pid" "$1"
}

# names_part CAUSE OP: for a part of slow calls of it. One that wakes up now and then also waits for a CPU.
names_part() {
    "$OSPROF" why --json "${asked:-$fs}" 2>why.log | "$python" -c '
import json, sys
cause, op = sys.argv[1:]
profile = json.load(sys.stdin)
sys.exit(not any(c["op"] == op and c["cause"] == cause and c["total_cycles"] > 0 for c in profile["causes"]))' "$1" "$2"
}

provoked() {
    wait_until 5 "${named:-names}" "$1" "$2" || fail "$1: not named for $2 ($3): $("$OSPROF" why "${asked:-$fs}" 2>&1)"
    causes[$1]=1
}

# Which were provoked.
declare -A causes=()

# watch_next DIR: what was watched until now is not any more
watch_next() {
    [ -z "$watcher" ] || {
        kill -INT "$watcher"
        ended 0
    }
    fs=$1
    watched --slow 50ms
    asked=$(find "$XDG_RUNTIME_DIR/osprof" -name '*-*.live') # a mount of osproffs has a profile of its own
}

# ---- Beside its own disk, journal and locks

# A process that may have 16 MiB writes more than that, and the disk hangs.
memory() {
    local cause="waiting for memory to be freed"
    in_group memory || return 0
    limit memory.limit_in_bytes 16M memory.max 16M
    dd if=/dev/zero of="$lower/large" bs=1M count=24 status=none
    forget_pages
    hang_disk
    # shellcheck disable=SC2016 # for that shell
    call bash -c 'echo $$ >"$1/cgroup.procs"; exec dd if=/dev/zero of="$2" bs=1M count=24 conv=notrunc' - "$group" "$lower/large"
    hold_for WRITE
    provoked "$cause" WRITE "a control group of 16 MiB, a disk that hangs"
    leave_group
    rm -f "$lower/large"
}

# Somebody else has priority on the only CPU that the caller may use.
cpu() {
    local cause="waiting for a CPU (runqueue latency)" cpu
    cpu=$(($(getconf _NPROCESSORS_ONLN) - 1))
    if [ "$cpu" -eq 0 ] || ! taskset -c "$cpu" chrt -f 1 true 2>/dev/null; then
        not_provoked "$cause" "a single CPU, or nobody may have priority (chrt -f)"
        return
    fi
    cat "$lower/file" >/dev/null
    call taskset -c "$cpu" "$python" -c 'import os, sys
file = os.open(sys.argv[1], os.O_RDONLY)
while True: os.pread(file, 4 << 20, 0)' "$lower/file"
    for _ in {1..12}; do
        nap 100
        timeout 0.6 taskset -c "$cpu" chrt -f 1 sh -c 'while :; do :; done' || true
        ! names "$cause" || break
    done
    kill "$caller"
    wait "$caller" || true
    caller=
    provoked "$cause" PREAD "others with priority, for 0.6 s"
}

# A request waits for its answer; with a cache, the reader for the page.
fuse() {
    mkdir below/files
    seq 100000 >below/files/known
    exec 8<below/files/known
    watch_next "$scratch/below"
    hang_disk
    call sh -c 'exec dd bs=100 count=1 of=/dev/null <&8'
    hold_for READ
    provoked "waiting for another FUSE daemon" READ "a daemon that is stopped"
    hang_disk
    call stat below/files/none
    hold_for STAT
    provoked "waiting for another FUSE daemon" STAT "a daemon that is stopped, a name"
    exec 8<&-
}

fuse_page() {
    local disk=$disk_pid
    mkdir -p cached
    mount_osproffs -o control=.cached "$lower" cached
    disk_pid=$daemon_pid
    watch_next "$scratch/cached"
    exec 8<cached/file
    forget_pages
    hung=$disk_pid
    hang_daemon "$hung"
    call sh -c 'exec dd bs=64k count=1 of=/dev/null <&8'
    exec 8<&-
    hold_for READ
    provoked "waiting for another FUSE daemon" READ "a daemon that is stopped, a page"
    disk_pid=$disk
}

overlay() {
    local cause="copying a file up to the upper layer (overlayfs)"
    mkdir -p upper work overlay
    mount -t overlay -o lowerdir="$lower",upperdir=upper,workdir=work overlay overlay 2>/dev/null || {
        not_provoked "$cause" "no overlayfs"
        return
    }
    watch_next "$scratch/overlay"
    stat overlay/direct >/dev/null
    forget_pages
    hang_disk
    call dd if=/dev/zero of=overlay/direct bs=100 count=1 conv=notrunc
    hold_for OPEN
    provoked "$cause" OPEN "a disk that hangs"
}

locks_of_the_kernel() {
    hold_directory dir-1 new
    with_directory CREATE touch "$mnt/dir-1/new"
    with_file WRITE dd if=/dev/zero of="$mnt/file" bs=100 count=1 conv=notrunc
}

# ---- All of them

make_disk
mnt=$lower
watch_next "$lower"
# As long as a call is in flight it looks.
start flock --no-fork "$lower/dir-0/2" sleep 600
wait_until 20 is_locked "$lower/dir-0/2" || fail "nobody holds the lock"
start flock "$lower/dir-0/2" true
for name in frozen read metadata direct writeback flush journal flock fcntl; do
    with_caches_alone "provoke_$name"
done
with_caches_alone locks_of_the_kernel

# A call that waited for several things is in a row of each with its part, and counts in that of its main cause.
"$OSPROF" why --json "$fs" >why.json
"$python" - <<'END' || fail "causes: $("$OSPROF" why "$fs" 2>&1)"
import collections, json
profile = json.load(open("why.json"))
totals, longest = collections.Counter(), collections.Counter()
for row in profile["causes"]:
    totals[row["op"]] += row["total_cycles"]
    longest[row["op"]] = max(longest[row["op"]], row["longest_cycles"])
for op in totals:
    assert totals[op] >= longest[op] > 0, (op, totals[op], longest[op])
END
end_started

until=is_in_call named=names_part
for name in provoke_lease provoke_dirty memory; do
    with_caches_alone "$name"
done
until='' named=''
for name in cpu fuse fuse_page overlay; do
    with_caches_alone "$name"
done
kill -INT "$watcher"
ended 0
[ "${#causes[@]}" -ge 15 ] || fail "only ${#causes[@]} causes were provoked"
echo "${#causes[@]} causes provoked: ${!causes[*]}"
