#!/bin/bash
# osprof fuse of daemons that make it hard: they execute themselves, with and without their environment, hand the device
# over, close all descriptors, forbid themselves system calls, crash; other preloaded objects, limits. Each serves as it
# does without osprof; what is not seen is reported in one line.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/profiled_lib.sh"

need_root
need_fuse
daemon=$TEST_PROGRAMS/raw_daemon

# serve STATUS COMMAND...: which mounts the file of raw_daemon.c at $mnt; it is read seven times
serve() {
    local status=0 wanted=$1
    shift
    rm -f "$profile"
    "$OSPROF" fuse -o "$profile" -- "$@" >"$scratch/daemon.out" 2>"$scratch/daemon.err" &
    front=$!
    wait_until 20 mountpoint -q "$mnt" || fail "not mounted: $(<"$scratch/daemon.err")"
    for _ in 1 2 3 4 5 6 7; do
        assert_eq 12345 "$(dd if="$mnt/file" bs=5 count=1 status=none)" "what the file holds: $*"
    done
    umount "$mnt"
    wait "$front" || status=$?
    front=
    assert_eq "$wanted" "$status" "exit status of: $*"
    wait_until 20 nobody_stays || fail "a process is left beside: $*"
}

# seen COMMAND...: which is seen whole, and of which nothing is reported
seen() {
    serve 0 "$@"
    assert_eq "" "$(<daemon.err)" "messages of: $*"
    assert_eq "7 7 7" "$(calls OPEN) $(calls READ) $(calls RELEASE)" "calls of: $*"
    ! grep '^# incomplete\|^# call: [^ ]* age ' "$profile" || fail "calls are lacking of: $*"
}

# half_seen MESSAGE COMMAND...: which serves on, unseen
half_seen() {
    local message=$1
    shift
    serve 0 "$@"
    assert_eq "osprof: $daemon $message: from then on its requests are not measured, and the profile is incomplete" \
        "$(<daemon.err)" "messages of: $*"
    grep -q '^# incomplete: yes$' "$profile" || fail "the profile does not say that it is incomplete: $*"
    assert_eq 0 "$(calls READ)" "READ of: $*"
}

# ---- What daemons do

for mode in executes hands_over closes small; do
    seen "$daemon" "$mode" "$mnt"
done
half_seen "has executed a program without its environment" "$daemon" executes_bare "$mnt"
serve 0 "$daemon" executes_bare_early "$mnt"
grep -q "no request to $daemon was seen: .* or without the environment that it was started with" daemon.err ||
    fail "not told that nothing is seen: $(<daemon.err)"
[ ! -e "$profile" ] || fail "there is a profile of what was not seen"
status=0
"$daemon" sandboxed "$mnt" &
alone=$!
wait_until 20 mountpoint -q "$mnt" || fail "not mounted"
dd if="$mnt/file" bs=5 count=1 status=none >out 2>&1 || status=1
umount "$mnt"
wait "$alone" || true
if [ "$status" = 0 ]; then
    half_seen "has forbidden itself system calls" "$daemon" sandboxed "$mnt"
fi

profiled -- "$daemon" segfaults "$mnt"
! dd if="$mnt/file" bs=5 count=1 status=none 2>/dev/null || fail "a crashed daemon answers"
ended 139
umount "$mnt"
assert_eq "1 1" "$(calls OPEN) $(calls READ)" "calls before the crash"

# ---- What is preloaded beside

for name in libjemalloc.so.2 libtcmalloc_minimal.so.4 libeatmydata.so; do
    library=$(find /usr/lib /usr/lib64 /usr/local/lib -name "$name" 2>/dev/null | head -n 1)
    [ -n "$library" ] || { echo "not tried, as it is not installed: $name" >&2; continue; }
    # shellcheck disable=SC2016 # for the shell inside
    seen sh -c 'LD_PRELOAD=$1:$LD_PRELOAD exec "$2" vectors "$3"' sh "$library" "$daemon" "$mnt"
    # shellcheck disable=SC2016 # for the shell inside
    seen sh -c 'LD_PRELOAD=$LD_PRELOAD:$1 exec "$2" splices "$3"' sh "$library" "$daemon" "$mnt"
done

# ---- Limits

(
    ulimit -f 1000 # of 1 KiB: less than the ring has
    serve 0 "$daemon" plain "$mnt"
    assert_eq "osprof: cannot profile $daemon: nothing can be made in $XDG_RUNTIME_DIR/osprof: File too large
osprof: $daemon runs without being profiled" "$(<daemon.err)" "messages of a limit of file sizes"
    [ ! -e "$profile" ] || fail "there is a profile of nothing"
)
# shellcheck disable=SC2016 # for the shell inside
seen sh -c 'ulimit -f 1 && ulimit -n 4 && exec "$1" plain "$2"' sh "$daemon" "$mnt"

# ---- By mount(8), without HOME, and the handing over of the device by fusermount3 with -o auto_unmount

seen env -u HOME "$daemon" plain "$mnt"
if have bindfs; then
    echo line >"$lower/file"
    rm -f "$profile"
    "$OSPROF" fuse -o "$profile" -- bindfs -o auto_unmount "$lower" "$mnt" 2>err || fail "not started: $(<err)"
    assert_eq "" "$(<err)" "messages of a daemon that fusermount3 stays beside"
    assert_eq line "$(cat "$mnt/file")" "the file through the mount"
    umount "$mnt"
    wait_until 20 test -s "$profile" || fail "no profile is written"
    wait_until 20 nobody_stays || fail "a process is left beside the daemon"
    assert_eq 1 "$(calls OPEN)" "OPEN of a mount that unmounts itself"
fi

# ---- No room, or no right, where live files go: before the daemon starts, while it mounts, while it serves

if unshare --mount true 2>/dev/null; then
    cat >in_small_run <<'END'
mkdir -p small && mount -t tmpfs -o size="$1" tmpfs small || exit 99
[ "$2" != ro ] || mount -o remount,ro small || exit 99
XDG_RUNTIME_DIR=$PWD/small
export XDG_RUNTIME_DIR
"$OSPROF" fuse -o "$4" -- sh -c '[ "$1" != fill ] || head -c 10M /dev/zero >"$XDG_RUNTIME_DIR/fill" 2>/dev/null
    exec "$2" plain "$3"' sh "$2" "$3" "$5" &
front=$!
i=0
until mountpoint -q "$5" || [ "$((i += 1))" -gt 200 ]; do sleep 0.1; done
dd if="$5/file" bs=5 count=1 status=none
umount "$5"
wait "$front"
END
    # small_run SIZE HOW MESSAGE: HOW: ro, fill or plain; what is served is served, and the message told
    small_run() {
        rm -f "$profile"
        unshare --mount --propagation private sh in_small_run "$1" "$2" "$daemon" "$profile" "$mnt" >out 2>err ||
            fail "exit status $? with $1, $2: $(<err)"
        assert_eq 12345 "$(<out)" "what the file holds with $1, $2"
        grep -qF -- "$3" err || fail "with $1, $2: expected '$3', found '$(<err)'"
        [ ! -e "$profile" ] || fail "there is a profile with $1, $2"
    }
    small_run 100k plain "nothing can be made in $PWD/small/osprof: No space left on device"
    small_run 10M ro "nothing can be made in $PWD/small/osprof: Read-only file system"
    small_run 2200k plain "is not profiled: no live file can be made at $PWD/small/osprof/"
    small_run 10M fill "is not profiled: no live file can be made at $PWD/small/osprof/"
fi
