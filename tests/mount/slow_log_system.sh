#!/bin/bash
# Slow calls in the system log: so many lines a minute, and then how many are not told. The system log is a socket of
# the test's own, at /dev/log of a mount namespace of its own.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/slow_calls.sh"

need_root
need_fuse
need python3 unshare
if [ -z "${IN_PRIVATE_NAMESPACE:-}" ]; then
    unshare --mount --propagation private true 2>/dev/null || skip "cannot make a mount namespace"
    status=0
    IN_PRIVATE_NAMESPACE=1 unshare --mount --propagation private -- bash "$this_test" || status=$?
    exit "$status"
fi
listener=

before_cleanup() {
    resume
    [ -z "$listener" ] || kill "$listener"
}

provide_devices() {
    mkdir "$scratch/devices"
    mount -t tmpfs -o dev,mode=0755 tmpfs "$scratch/devices"
    mknod -m 0666 "$scratch/devices/null" c 1 3
    mknod -m 0666 "$scratch/devices/fuse" c 10 229
    ln -s /proc/self/fd "$scratch/devices/fd"
    mount --bind "$scratch/devices" /dev
}

listen() {
    python3 -c '
import socket
log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
log.bind("/dev/log")
while True:
    print(log.recv(65536).decode().rstrip("\0\n"), flush=True)' >"$scratch/messages" &
    listener=$!
    wait_until 20 test -S /dev/log || fail "nobody listens"
}

# has_messages COUNT PATTERN
has_messages() {
    [ "$(grep -Ec "$2" "$scratch/messages")" -eq "$1" ]
}

expect_messages() {
    wait_until 20 has_messages "$@" || fail "expected $1 messages of '$2': $(<"$scratch/messages")"
}

mount_slow_lower
provide_devices
mkdir other
assert_refused "slowlog=syslog: there is no system log here (/dev/log); log to a file, with slowlog=FILE" \
    "$OSPROFFS" -o slow=50ms,slowlog=syslog "$lower" other
listen
mount_osproffs -o cache=none,slow=50ms,slowlog=syslog,slowlog_rate=3 "$lower" "$mnt"
live=$(live_file)
be_slow 2
expect_messages 2 '^<29>.* osproffs\[[0-9]+\]: @cee: \{"time": "[^"]+Z", "mount": "'"$mnt"'", "op": "LOOKUP", .*"missing": 0\}$'
be_slow 6
expect_messages 3 '@cee: '
unmount_osproffs "$mnt"
expect_messages 1 ": 5 slow calls of $mnt are left out here: more than 3 a minute \(slowlog_rate\)$"
expect_messages 3 '@cee: '
unmount_osproffs "$lower"
