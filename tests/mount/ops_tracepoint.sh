#!/bin/bash
# The profile counts what the kernel sent: over a mixed load, op by op, the calls equal the events of the tracepoint
# fuse:fuse_request_send of this connection.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/tracing.sh"


need_root
need setfacl tar

load() {
    local topics=(open_flags tmpfile rename link symlink truncate fallocate seek copy mmap_shared times xattr acl readdir
        inode_flags)
    mkdir "${topics[@]/#/$mnt/}"
    "$TEST_PROGRAMS/posix_probe" "$mnt" "${topics[@]}" >/dev/null &
    tar -C "$scratch/tree" -cf - . | tar -C "$mnt" -xf -
    find "$mnt" -ls -printf %B@ >/dev/null 2>&1 || true # the other load removes what it finds
    wait $!
    grep -r nothing "$mnt/many" || true
    rm -r "$mnt/many"
}

# compare OPTIONS
compare() {
    mount_osproffs -o "$1" "$lower" "$mnt"
    local connection
    connection=$(mountpoint -d "$mnt")
    load
    wait_until 20 all_are_closed || fail "a file is not closed"
    unmount_osproffs "$mnt"
    traced_calls "${connection#*:}" "$daemon_pid" >"$scratch/traced"
    profiled_calls "$final_profile" >"$scratch/profiled"
    assert_eq 0 "$(lost_events)" "trace events lost"
    [ "$(wc -l <"$scratch/traced")" -gt 25 ] || fail "the trace holds next to nothing: $(cat "$scratch/traced"; grep INIT "$instance/trace")"
    diff "$scratch/traced" "$scratch/profiled" >&2 || fail "the profile (>) differs from the kernel's trace (<) with $1"
    find "$lower" -mindepth 1 -delete
    echo >"$instance/trace"
}

make_tree "$scratch/tree"
start_trace
compare cache=auto
compare cache=none,posix_lock,flock
