# shellcheck shell=bash
# What the kernel sent, by the tracepoint fuse:fuse_request_send. Source after lib.sh, whose variables it uses; then
# start_trace.
# shellcheck disable=SC2154 # assigned there

tracing=/sys/kernel/tracing
mounted_tracing=
instance=$tracing/instances/osproffs-test-$$

end_trace() {
    [ ! -d "$instance" ] || rmdir "$instance"
    [ -z "$mounted_tracing" ] || umount "$tracing"
}

before_cleanup() {
    end_trace
}

# Skips the test where there is no such tracepoint.
start_trace() {
    if [ ! -d "$tracing/instances" ]; then
        mount -t tracefs tracefs "$tracing" 2>/dev/null || skip "no tracefs"
        mounted_tracing=yes
    fi
    mkdir "$instance" || skip "no private tracing instance"
    [ -d "$instance/events/fuse/fuse_request_send" ] || skip "this kernel has no tracepoint fuse:fuse_request_send"
    echo 32768 >"$instance/buffer_size_kb"
    echo 1 >"$instance/events/fuse/fuse_request_send/enable"
}

# connection_of MOUNTPOINT: the number that the kernel gives the connection: that of the mount's device, in its own form
connection_of() {
    local device
    device=$(mountpoint -d "$1")
    echo $(((${device%:*} << 20) | ${device#*:}))
}

# traced_calls CONNECTION PID [EXCEPT]: "OP CALLS" lines of a connection, from the INIT that our daemon caused to that of
# another: device numbers are used again after an unmount. Not counted are what the process EXCEPT asked for, and
# requests that do not reach file systems (and those libfuse refuses because it does not know them). Processes are known
# by their numbers: of one that has just begun the trace may not have the name.
traced_calls() {
    awk -v connection="$1" -v daemon="-$2\$" -v except="-${3:-no such process}\$" -v known="$ops" \
        -v copy_64="$copy_64" '
        BEGIN { split(known, names, " "); for (i in names) known_op[names[i]] = 1 }
        {
            for (i = 1; $i != "connection"; i++)
                if (i > NF) next
            if ($(i + 1) != connection) next
            op = $(i + 6)
            gsub(/[()]|FUSE_/, "", op)
            if ($(i + 5) == copy_64) op = "COPY_FILE_RANGE"
            if (op == "INIT") ours = $1 ~ daemon
            else if (ours && op in known_op && $1 !~ except) calls[op]++
        }
        END { for (op in calls) print op, calls[op] }' "$instance/trace" | sort
}

# profiled_calls PROFILE...: the same of profiles, added up; not of their groups
profiled_calls() {
    awk 'FNR == 1 { group = 0 } /^# (uid|process):/ { group = 1 } /^OP_/ && !group { calls[substr($1, 4)] += $2 } END { for (op in calls) print op, calls[op] }' "$@" | sort
}

# all_are_closed [SPAN]...: every file and directory that was opened. Nobody waits for that, and what of it the daemon has
# not taken when its mount goes, the kernel drops. Asks the live file, which makes no requests.
all_are_closed() {
    "$OSPROF" save "$(live_file)" >"$scratch/now"
    awk 'FNR == 1 { group = 0 }
        /^# (uid|process):/ { group = 1 }
        /^# failed: / { for (i = 4; i < NF; i += 2) calls[$3] -= $(i + 1) }
        /^OP_/ && !group { calls[substr($1, 4)] += $2 }
        END { exit calls["OPENDIR"] != calls["RELEASEDIR"] ||
                   calls["OPEN"] + calls["CREATE"] + calls["TMPFILE"] != calls["RELEASE"] }' "$@" "$scratch/now"
}

lost_events() {
    awk '/^overrun|^dropped/ { lost += $2 } END { print lost + 0 }' "$instance"/per_cpu/cpu*/stats
}

# What reaches the layers. Of later inventions it knows but what its profile shows.
ops="LOOKUP GETATTR SETATTR READLINK SYMLINK MKNOD MKDIR UNLINK RMDIR RENAME RENAME2 LINK OPEN READ WRITE STATFS"
ops+=" RELEASE FSYNC SETXATTR GETXATTR LISTXATTR REMOVEXATTR FLUSH OPENDIR READDIR READDIRPLUS RELEASEDIR FSYNCDIR"
ops+=" GETLK SETLK SETLKW ACCESS CREATE BMAP IOCTL POLL FALLOCATE LSEEK COPY_FILE_RANGE TMPFILE STATX"

# COPY_FILE_RANGE's 64-bit form, which the trace has no name for.
copy_64=53
