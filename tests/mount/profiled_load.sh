#!/bin/bash
# osprof fuse under load: many callers at once, of which some are killed while they wait, of a daemon with threads and
# with pipes: what is counted is what the daemon has answered, op by op, as the kernel's trace has it.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/tracing.sh"
. "$tests_dir/profiled_lib.sh"

need_root
need_fuse
need bindfs
cleanup_more() {
    end_trace
}
start_trace
echo 1 >"$instance/events/fuse/fuse_request_end/enable"

# What one of many callers does.
write_and_read() {
    local own=$mnt/$1 i
    mkdir "$own"
    for i in $(seq 3); do
        head -c 3145728 /dev/zero >"$own/f$i"
        cat "$own/f$i" >/dev/null
        dd if="$own/f$i" of="$own/direct" bs=1M oflag=direct status=none
        mv "$own/f$i" "$own/g$i"
    done
    stat "$own"/g* "$own"/missing >/dev/null 2>&1 || true
    rm -r "$own"
}

# Commands that are killed at any moment: the kernel takes back what the daemon has not taken yet.
kill_callers() {
    local i
    for i in $(seq 31); do
        timeout -s KILL "0.0$((i % 7))1" dd if="$mnt/big" of=/dev/null bs=64k iflag=direct status=none || true
    done 2>/dev/null
}

# ended_calls CONNECTION N: of the requests from its Nth INIT to the next those that have ended: others were taken back
ended_calls() {
    awk -v connection="$1" -v wanted="$2" -v known="$ops" '
        BEGIN { split(known, names, " "); for (i in names) known_op[names[i]] = 1 }
        {
            for (i = 1; $i != "connection"; i++)
                if (i > NF) next
            if ($(i + 1) != connection) next
            if (/fuse_request_end/) {
                if (begun == wanted && $(i + 3) in op_of) calls[op_of[$(i + 3)]]++
                next
            }
            op = $(i + 6)
            gsub(/[()]|FUSE_/, "", op)
            if (op == "INIT") begun++
            else if (begun == wanted && op in known_op) op_of[$(i + 3)] = op
        }
        END { for (op in calls) print op, calls[op] }' "$instance/trace" | sort
}

# try_load DAEMON...: which mounts $lower at $mnt
try_load() {
    local connection begun caller load=()
    rm -f "$profile"
    echo >"$instance/trace"
    "$OSPROF" fuse -o "$profile" --by process+file --joint read:size --slow 100ms -- \
        "$@" 2>err || fail "not started: $(<err)"
    connection=$(connection_of "$mnt")
    begun=$(grep -c "connection $connection .*FUSE_INIT" "$instance/trace")
    head -c 30000000 /dev/zero >"$mnt/big"
    for caller in $(seq 8); do
        write_and_read "$caller" &
        load+=($!)
    done
    kill_callers
    wait "${load[@]}" || fail "callers fail"
    rm "$mnt/big"
    umount "$mnt"
    wait_until 30 test -s "$profile" || fail "no profile is written"
    wait_until 30 nobody_stays || fail "a process is left beside the daemon"
    ended_calls "$connection" "$begun" >traced
    profiled_calls "$profile" >profiled
    assert_eq 0 "$(lost_events)" "trace events lost"
    diff traced profiled >&2 || fail "the profile (>) differs from the kernel's trace (<): $*"
    ! grep '^# incomplete\|^# call: [^ ]* age ' "$profile" || fail "requests were lost: $*"
    "$OSPROF" show --check "$profile" >&2 || fail "osprof show --check finds fault: $*"
}

try_load bindfs --multithreaded "$lower" "$mnt"
try_load bindfs --multithreaded -o splice_read,splice_write,splice_move,big_writes "$lower" "$mnt"
