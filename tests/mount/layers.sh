#!/bin/bash
# One workload as the kernel's own tracepoints count it, by bpftrace, and as osproffs does: what passes through all layers
# has the same count at each.
. "$(dirname "$0")/lib.sh"

need_root
need_fuse
need bpftrace mkfs.ext4 losetup unshare
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

# counted LAYER OP: what the kernel counted
counted() {
    local count
    count=$(sed -n "s/^@$1\[$2\]: //p" "$scratch/counts")
    echo "${count:-0}"
}

# same OP OPCODE: calls of the mount, which are the kernel's requests
same() {
    assert_eq "$(counted fuse "$2")" "$(profile_calls "$1" "$final_profile")" "$1, which the kernel has requested"
}

[ -d /sys/kernel/tracing/events/fuse/fuse_request_send ] ||
    in_tracing test -d /sys/kernel/debug/tracing/events/fuse/fuse_request_send ||
    skip "this kernel has no tracepoint fuse:fuse_request_send, or no tracing"
cp "$(command -v dd)" "$scratch/$program"
cat >workload <<EOF
for number in \$(seq 13); do
    $scratch/$program if=/dev/zero of=$mnt/file\$number bs=64k count=3 conv=fsync status=none
done
EOF
truncate -s 64M image
mkfs.ext4 -q image
loop_device=$(losetup -f --show image) || skip "no loop device"
mount "$loop_device" "$lower"
mount_osproffs "$lower" "$mnt"
connection=$(mountpoint -d "$mnt")
disk=$(mountpoint -d "$lower")
in_tracing bpftrace -q -o "$scratch/counts" -c "$(realpath /bin/bash) $PWD/workload" "$tests_dir/layers.bt" "$program" \
    "${connection#*:}" "${disk%:*}" "${disk#*:}" 2>messages || {
    cat messages >&2
    skip "bpftrace cannot trace here"
}
unmount_osproffs "$mnt"

cat "$scratch/counts" >&2
assert_eq 13 "$(counted user FSYNC)" "FSYNC, system calls"
assert_eq 13 "$(counted fuse 20)" "FSYNC, requests"
same FSYNC 20
same WRITE 16
same CREATE 35
same FLUSH 25
[ "$(counted user WRITE)" -ge 39 ] || fail "only $(counted user WRITE) system calls write"
[ "$(counted block WRITE)" -ge 13 ] || fail "only $(counted block WRITE) requests to the disk for 13 times fsync"
