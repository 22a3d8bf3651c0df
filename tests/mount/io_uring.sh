#!/bin/bash
# io_uring: requests come over rings, or mounting fails and says why. Over rings the other tests hold as well; a call that
# hangs there is in the final profile, and who waits for it is not left waiting.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need mkfs.ext4 fsfreeze taskset
switch=/sys/module/fuse/parameters/enable_uring
was=

before_cleanup() {
    thaw
    [ -z "$was" ] || echo "$was" >"$switch"
}

# assert_mount_refused REASON [OPTION]...: in one message, and nothing stays mounted
assert_mount_refused() {
    local reason=$1 message
    shift
    ! message=$(timeout 20 "$OSPROFFS" -f -o io_uring "$@" "$lower" "$mnt" 2>&1) || fail "not refused: $*"
    [[ $message == "osproffs: io_uring"*"$reason"* ]] || fail "expected '$reason', found '$message'"
    assert_unmounted "$mnt"
}

if ! "$OSPROFFS" -V | grep -q +io_uring; then
    assert_mount_refused "built with" # too old, or not
    skip "this libfuse has no io_uring"
fi
if [ ! -e "$switch" ]; then
    assert_mount_refused "this kernel cannot"
    skip "this kernel has no FUSE over io_uring"
fi
was=$(cat "$switch")
echo N >"$switch" || skip "cannot write to $switch"
assert_mount_refused "echo Y > $switch"
echo Y >"$switch"
assert_mount_refused "exclude each other" -s

# What libfuse prints of requests: "cqe" of those over a ring, "dev" of the others, as are the first.
mount_osproffs -d -o io_uring "$lower" "$mnt"
comes_over_ring() {
    stat -f "$mnt" && grep -q 'cqe unique:.*STATFS' "$daemon_log"
}
wait_until 10 comes_over_ring || fail "no request comes over a ring"
mkdir "$mnt"/made-{1..13}
rmdir "$mnt"/made-*
unmount_osproffs "$mnt"
assert_eq 13 "$(grep -c 'cqe unique:.*MKDIR' "$daemon_log")" "MKDIR over rings"
assert_eq 13 "$(profile_calls MKDIR "$final_profile")" "MKDIR in the profile"

cat >over-ring <<END
#!/bin/sh
exec "$OSPROFFS" -o io_uring "\$@"
END
chmod 755 over-ring
for name in ops_reached same_as_lower interrupts identity data_passthrough fault_abort real_mmap signals; do
    status=0
    OSPROFFS=$scratch/over-ring bash "$tests_dir/$name.sh" || status=$?
    [ "$status" -eq 0 ] || [ "$status" -eq 77 ] || fail "$name fails over io_uring"
done

truncate -s 32M image
mkfs.ext4 -q image
mount -o loop image "$lower" 2>/dev/null || skip "no loop devices"
mkdir "$lower/place"
mount_osproffs -o io_uring "$lower" "$mnt"
stat "$mnt/place" >/dev/null
freeze "$lower"
taskset -c 0 mkdir "$mnt/place/made" 2>/dev/null &
waiting=$!
live=$(live_file)
hangs() {
    "$OSPROF" save "$live" | grep -q '^# call: MKDIR age '
}
wait_until 10 hangs || fail "the call does not hang"
if [ "$(nproc)" -gt 1 ]; then
    timeout 20 taskset -c 1 stat -f "$mnt" >/dev/null || fail "the call holds up those from another CPU"
fi
kill -TERM "$daemon_pid"
wait_for_end "$waiting" 15 || fail "who waited for a call that hangs still does"
assert_eq 1 "$(grep -c '^# call: MKDIR age ' "$final_profile")" "calls in flight that the profile names"
assert_unmounted "$mnt"
thaw
assert_status 0 "SIGTERM while a call hangs"
umount "$lower"
