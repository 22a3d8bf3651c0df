#!/bin/bash
# What slow calls wait for on a file system that osprof attach watches, beside its own disk, journal and locks: who has a
# lease, too much to be written, memory, a CPU, a FUSE daemon, and a copy of overlayfs. Each is provoked, and named.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
# shellcheck source=../cli/attach_lib.sh
. "$tests_dir/../cli/attach_lib.sh"
. "$tests_dir/causes_lib.sh"
. "$tests_dir/causes_attached_lib.sh"

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
    local cause="ready to run, but without a CPU" cpu
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

make_disk
mnt=$lower
watch_next "$lower"
until=is_in_call named=names_part
provoke_lease
provoke_dirty
memory
until='' named=''
cpu
fuse
fuse_page
overlay
kill -INT "$watcher"
ended 0
[ "${#causes[@]}" -ge 3 ] || fail "only ${#causes[@]} causes were provoked"
echo "${#causes[@]} causes provoked: ${!causes[*]}"
