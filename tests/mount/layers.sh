#!/bin/bash
# Layered profiling for real: one workload seen by bpftrace as system calls, FUSE requests and block requests, and by
# osproffs. The counts of what passes through all layers agree, from the JSON and from the text.
. "$(dirname "$0")/lib.sh"

need_root
need_fuse
need bpftrace mkfs.ext4 losetup unshare
scripts=$(realpath -- "$tests_dir/../../share/bpftrace")
loop_device=
program=dd-$$ # no other test's

before_cleanup() {
    [ -z "$loop_device" ] || { unmount_below "$scratch" && losetup -d "$loop_device"; }
}

# in_tracing COMMAND...: where bpftrace finds the tracing files
in_tracing() {
    # shellcheck disable=SC2016 # for the shell inside
    unshare --mount --propagation private -- bash -c '
        [ -d /sys/kernel/debug/tracing/events ] || mount -t debugfs debugfs /sys/kernel/debug || exit 77
        exec "$@"' - "$@"
}

# arguments_of LAYER: the script for a layer, narrowed down to the workload
arguments_of() {
    local device
    case $1 in
    user) echo "$scripts/syscalls.bt 0 $program" ;;
    fuse)
        device=$(mountpoint -d "$mnt")
        echo "$scripts/fuse.bt ${device#*:}"
        ;;
    block)
        device=$(mountpoint -d "$lower")
        echo "$scripts/block.bt ${device%:*} ${device#*:}"
        ;;
    esac
}

# write_commands LAYER...: each bpftrace begins the one before when it is ready, and prints when that has ended; the
# first begins the workload. bpftrace wants the one bash of several that PATH may find.
write_commands() {
    local inner=workload layer
    cat >"$directory/workload" <<EOF
for number in \$(seq 13); do
    $scratch/$program if=/dev/zero of=$mnt/file bs=64k count=3 conv=fsync status=none
done
EOF
    for layer; do
        echo "exec bpftrace -q -f $format -o $directory/$layer.$format" \
            "-c '$(realpath /bin/bash) $directory/$inner' $(arguments_of "$layer")" >"$directory/$layer"
        inner=$layer
    done
}

# trace FORMAT LAYER...: the workload's profile of each layer, in $directory
trace() {
    local format=$1 layer
    directory=$scratch/$format
    shift
    mkdir "$directory"
    mount_osproffs "$lower" "$mnt"
    write_commands "$@"
    in_tracing bash "$directory/${*: -1}" 2>"$directory/messages" || {
        cat "$directory/messages" >&2
        skip "bpftrace cannot trace here"
    }
    unmount_osproffs "$mnt"
    cp "$final_profile" "$directory/fs.osprof"
    for layer; do
        "$OSPROF" import --map ns --layer "$layer" -o "$directory/$layer.osprof" "$directory/$layer.$format" ||
            fail "cannot import what bpftrace printed of layer $layer"
        ! grep '^# approximate' "$directory/$layer.osprof" || fail "the totals of layer $layer are not known"
        "$OSPROF" check "$directory/$layer.osprof" >&2 || fail "layer $layer is inconsistent"
        "$OSPROF" show "$directory/$layer.osprof" | grep -q "^layer *$layer" || fail "layer $layer cannot be shown"
    done
}

# calls OP LAYER
calls() {
    profile_calls "$1" "$directory/$2.osprof"
}

check_counts() {
    assert_eq "13 13" "$(calls FSYNC fuse) $(calls FSYNC fs)" "FSYNC at fuse and fs layer"
    assert_eq "$(calls WRITE fs)" "$(calls WRITE fuse)" "WRITE at fs and fuse layer"
    [ "$(calls WRITE block)" -ge 13 ] || fail "only $(calls WRITE block) block requests for 13 times fsync"
}

[ -d /sys/kernel/tracing/events/fuse/fuse_request_send ] ||
    in_tracing test -d /sys/kernel/debug/tracing/events/fuse/fuse_request_send ||
    skip "this kernel has no tracepoint fuse:fuse_request_send, or no tracing"
cp "$(command -v dd)" "$scratch/$program"
truncate -s 64M image
mkfs.ext4 -q image
loop_device=$(losetup -f --show image) || skip "no loop device"
mount "$loop_device" "$lower"
trace json user fuse block
check_counts
assert_eq 13 "$(calls FSYNC user)" "FSYNC at user layer"
[ "$(calls WRITE user)" -ge 39 ] || fail "only $(calls WRITE user) system calls write"
trace text fuse block
check_counts
