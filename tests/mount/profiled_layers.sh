#!/bin/bash
# osprof run --layers daemon: what a daemon that osprof fuse profiles has done for a command, beside what its programs
# waited for, and what the kernel has sent. Time that passes in the daemon is found there.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/profiled_lib.sh"

need_root
need_fuse
daemon=$TEST_PROGRAMS/raw_daemon
mkdir libraries
ln -s "$OSPROF_LIBRARIES"/libosprof_*.so "${OSPROF_LIBRARIES%/fuse}"/posix/libosprof_*.so libraries/
OSPROF_LIBRARIES=$PWD/libraries

# read_time LAYER: calls of READ, and their nanoseconds
read_time() {
    awk -v layer="$1" '
        /^# osprof 1/ { here = 0 }
        /^# layer: / { here = $3 == layer }
        /^# clock: / && here { hz = $4 == "" ? 1000000000 : $4 }
        /^OP_READ / && here { printf "%d %d\n", $2, $3 * 1000000000 / hz }' recording
}

profiled -- "$daemon" sleeps "$mnt"
dd if="$mnt/file" bs=5 count=1 status=none >/dev/null # before the command, so not in its layers
layers=user,daemon
has_fuse=
if "$OSPROF" run --layers fuse -d "$mnt" -q -- true 2>tried && ! grep -q 'not profiled' tried; then
    layers=user,fuse,daemon
    has_fuse=yes
fi
# shellcheck disable=SC2016 # for the shell inside
"$OSPROF" run --layers "$layers" -d "$mnt" -q -o recording -- \
    sh -c 'for i in 1 2 3 4 5 6 7; do dd if="$1/file" bs=5 count=1 status=none; done >/dev/null' sh "$mnt" || fail "the run fails"
read -r user_calls user_ns < <(read_time user)
read -r daemon_calls daemon_ns < <(read_time daemon)
assert_eq "7 7" "$user_calls $daemon_calls" "READ of programs, and in the daemon"
[ "$daemon_ns" -ge $((7 * 30000000)) ] || fail "READ took $daemon_ns ns in the daemon, which sleeps for 7 times 30 ms"
[ "$user_ns" -ge "$daemon_ns" ] || fail "programs waited less ($user_ns ns) than the daemon worked ($daemon_ns ns)"
if [ -n "$has_fuse" ]; then
    read -r fuse_calls fuse_ns < <(read_time fuse)
    assert_eq 7 "$fuse_calls" "READ that the kernel has sent"
    [ "$fuse_ns" -ge "$daemon_ns" ] || fail "the kernel waited less ($fuse_ns ns) than the daemon worked ($daemon_ns ns)"
fi
"$OSPROF" show recording | grep -Eq '^ +daemon +([2-9][0-9][0-9] ms|[0-9.]+ s) +7 ' || fail "the table of layers lacks the daemon: $("$OSPROF" show recording)"

# ---- Who closes a file does not wait for the daemon, which learns of it when the command has ended

# shellcheck disable=SC2016 # for the shell inside
"$OSPROF" run --layers daemon -d "$mnt" -q -o recording -- \
    sh -c 'exec 3<"$1/file"
           dd if="$1/file" bs=5 count=1 status=none >/dev/null &
           until grep -qs fuse_file_read /proc/$!/stack || ! kill -0 $! 2>/dev/null; do :; done' sh "$mnt" || fail "the run fails"
grep -q '^OP_RELEASE [12] ' recording || fail "no RELEASE after the READ that it had to wait for: $(<recording)"

# ---- Its one thread is at another request: that is told apart from the rest, unless other threads answer

# read_by_four: 4 programs read at a time
read_by_four() {
    # shellcheck disable=SC2016 # for the shell inside
    "$OSPROF" run --layers "$layers" -d "$mnt" -q -o recording -- \
        sh -c 'for fd in 3 4 5 6; do eval "exec $fd<\$1/file"; done
               for fd in 3 4 5 6; do dd bs=5 count=1 status=none <&$fd & done >/dev/null; wait' sh "$mnt" || fail "the run fails"
}

# whole_time LAYER: calls of all operations, and their nanoseconds
whole_time() {
    awk -v layer="$1" '
        /^# osprof 1/ { here = 0 }
        /^# layer: / { here = $3 == layer }
        /^# clock: / && here { hz = $4 == "" ? 1000000000 : $4 }
        /^OP_/ && here { calls += $2; cycles += $3 }
        END { printf "%d %d\n", calls, hz ? cycles * 1000000000 / hz : 0 }' recording
}

if [ -n "$has_fuse" ]; then
    for _ in {1..10}; do # until they are at a time
        read_by_four
        read -r queue_calls queue_ns < <(whole_time queue)
        [ "$queue_calls" -lt 3 ] || [ "$queue_ns" -lt 80000000 ] || break
    done
    read -r _ fuse_ns < <(whole_time fuse)
    read -r _ daemon_ns < <(whole_time daemon)
    between_ns=$((fuse_ns - daemon_ns))
    [ "$queue_calls" -ge 3 ] || fail "$queue_calls of 4 requests at a time have waited for the daemon's one thread"
    [ "$queue_ns" -ge 80000000 ] || fail "requests waited for $queue_ns ns only, behind three of 30 ms"
    [ "$queue_ns" -ge $((between_ns * 60 / 100)) ] || fail "of $between_ns ns before the daemon only $queue_ns are its queue"
    [ "$queue_ns" -le "$between_ns" ] || fail "$queue_ns ns in the queue, but $between_ns before the daemon in all"
    "$OSPROF" show recording | grep -Eq '^ +queue +[0-9.]+ ms +[0-9]+ .* READ$' || fail "no row of the queue: $("$OSPROF" show recording)"
fi

assert_refused "lies on no mount that osprof fuse profiles" "$OSPROF" run --layers daemon -d "$lower" -- true
assert_refused "see 'osprof help run'" "$OSPROF" run --layers daemon,fs -d "$mnt" -- true
umount "$mnt"
ended 0

if [ -n "$has_fuse" ]; then
    profiled -- "$daemon" hands_on "$mnt"
    read_by_four
    read -r _ fuse_ns < <(read_time fuse)
    [ "$fuse_ns" -gt 0 ] || fail "the kernel has sent no READ"
    ! grep -q '^# layer: queue' recording || fail "another thread has answered: what waited is not known, but there is a queue"
    umount "$mnt"
    ended 0
fi

# ---- The daemon ends while the command runs: its layer is left out, and the command's status stays

for layers in all user,daemon; do
    profiled -- "$daemon" crashes "$mnt"
    rm -f recording
    status=0
    # shellcheck disable=SC2016 # for the shell inside
    "$OSPROF" run --layers "$layers" -d "$mnt" -q -o recording -- \
        sh -c '! cat "$1/file" 2>/dev/null || exit 3
               until ! ls "$2"/*.ring 2>/dev/null; do sleep 0.01; done >/dev/null; exit 7' \
        sh "$mnt" "$XDG_RUNTIME_DIR/osprof" 2>err || status=$?
    case $layers in
    all) assert_eq 7 $status "exit status where the layer is optional: $(<err)" ;;
    *) assert_eq 125 $status "exit status where the layer was asked for: $(<err)" ;;
    esac
    grep -q '^osprof: the layer daemon is not profiled: ' err || fail "nothing is told: $(<err)"
    grep -q '^# layer: user' recording || fail "no layer user"
    umount "$mnt"
    ended 137
done
