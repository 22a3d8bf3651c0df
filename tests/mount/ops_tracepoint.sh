#!/bin/bash
# The profile counts what the kernel sent: over a mixed load, op by op, the calls equal the events of the tracepoint
# fuse:fuse_request_send of this connection.
. "$(dirname "$0")/lib.sh"

need_root
need setfacl tar
tracing=/sys/kernel/tracing
mounted_tracing=
if [ ! -d "$tracing/instances" ]; then
    mount -t tracefs tracefs "$tracing" 2>/dev/null || skip "no tracefs"
    mounted_tracing=yes
fi
instance=$tracing/instances/osproffs-test-$$

before_cleanup() {
    [ ! -d "$instance" ] || rmdir "$instance"
    [ -z "$mounted_tracing" ] || umount "$tracing"
}

start_trace() {
    mkdir "$instance" || skip "no private tracing instance"
    [ -d "$instance/events/fuse/fuse_request_send" ] || skip "this kernel has no tracepoint fuse:fuse_request_send"
    echo 32768 >"$instance/buffer_size_kb"
    echo 1 >"$instance/events/fuse/fuse_request_send/enable"
}

# "OP CALLS" lines of a connection, from the INIT that our daemon caused to that of another: device numbers are used
# again after an unmount. Not counted are requests that do not reach file systems (and those libfuse refuses because it
# does not know them).
traced_calls() {
    awk -v connection="$1" -v daemon="osproffs-$2" -v known="$ops" -v copy_64="$copy_64" '
        BEGIN { split(known, names, " "); for (i in names) known_op[names[i]] = 1 }
        {
            for (i = 1; $i != "connection"; i++)
                if (i > NF) next
            if ($(i + 1) != connection) next
            op = $(i + 6)
            gsub(/[()]|FUSE_/, "", op)
            if ($(i + 5) == copy_64) op = "COPY_FILE_RANGE"
            if (op == "INIT") ours = $1 == daemon
            else if (ours && op in known_op) calls[op]++
        }
        END { for (op in calls) print op, calls[op] }' "$instance/trace" | sort
}

profiled_calls() {
    awk '/^OP_/ { print substr($1, 4), $2 }' "$1" | sort
}

# What reaches the layers. Of later inventions it knows but what its profile shows.
ops="LOOKUP GETATTR SETATTR READLINK SYMLINK MKNOD MKDIR UNLINK RMDIR RENAME RENAME2 LINK OPEN READ WRITE STATFS"
ops+=" RELEASE FSYNC SETXATTR GETXATTR LISTXATTR REMOVEXATTR FLUSH OPENDIR READDIR READDIRPLUS RELEASEDIR FSYNCDIR"
ops+=" GETLK SETLK SETLKW ACCESS CREATE BMAP IOCTL POLL FALLOCATE LSEEK COPY_FILE_RANGE TMPFILE STATX"

# COPY_FILE_RANGE's 64-bit form, which the trace has no name for.
copy_64=53

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
    unmount_osproffs "$mnt"
    traced_calls "${connection#*:}" "$daemon_pid" >"$scratch/traced"
    profiled_calls "$final_profile" >"$scratch/profiled"
    assert_eq 0 "$(lost_events)" "trace events lost"
    [ "$(wc -l <"$scratch/traced")" -gt 25 ] || fail "the trace holds next to nothing"
    diff "$scratch/traced" "$scratch/profiled" >&2 || fail "the profile (>) differs from the kernel's trace (<) with $1"
    find "$lower" -mindepth 1 -delete
    echo >"$instance/trace"
}

lost_events() {
    awk '/^overrun|^dropped/ { lost += $2 } END { print lost + 0 }' "$instance"/per_cpu/cpu*/stats
}

make_tree "$scratch/tree"
start_trace
compare cache=auto
compare cache=none,posix_lock,flock
