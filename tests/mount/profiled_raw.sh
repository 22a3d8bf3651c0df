#!/bin/bash
# osprof fuse: a daemon without any FUSE library. However it reads requests and writes answers, each is counted, with what
# came of it, and its latency is the daemon's; the kernel's refusals of garbage change nothing.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/profiled_lib.sh"

need_root
need_fuse
daemon=$TEST_PROGRAMS/raw_daemon

# read_file TIMES [MOUNT]
read_file() {
    for _ in $(seq "$1"); do
        assert_eq 12345 "$(dd if="${2:-$mnt}/file" bs=5 count=1 status=none)" "what the file holds"
    done
}

# ---- All ways to read and to write

for mode in plain vectors splices clones garbage faults forks withdraws; do
    profiled -- "$daemon" "$mode" "$mnt"
    read_file 7
    ! cat "$mnt/missing" 2>/dev/null || fail "a missing file is there"
    "$OSPROF" save "$mnt" -o "$scratch/now"
    assert_eq 7 "$(calls READ "$scratch/now")" "READ while it is mounted, $mode"
    umount "$mnt"
    ended 0
    "$OSPROF" show --check "$profile" >&2 || fail "osprof show --check finds fault, $mode"
    assert_eq 7 "$(calls OPEN)" "OPEN, $mode"
    assert_eq 7 "$(calls READ)" "READ, $mode"
    assert_eq 7 "$(calls RELEASE)" "RELEASE, $mode"
    assert_eq "# bytes: READ asked 35 moved 35" "$(grep '^# bytes: READ' "$profile")" "bytes, $mode"
    grep -q '^# failed: LOOKUP ENOENT 1$' "$profile" || fail "the missing file is not told of, $mode"
    ! grep '^# incomplete' "$profile" || fail "requests were lost, $mode"
    assert_eq 0 "$(awk '/^# call: [^ ]* age / { n++ } END { print n + 0 }' "$profile")" "requests in flight, $mode"
    assert_eq "# layer: daemon" "$(grep '^# layer' "$profile")" "the layer"
    assert_eq "# mount: $mnt" "$(grep '^# mount' "$profile")" "the mount"
done

# ---- Two mounts of one process, and of two in a row: the first is profiled, to its own end

mkdir other
profiled -- "$daemon" plain "$mnt" other
read_file 5
read_file 3 other
umount other
read_file 2
umount "$mnt"
ended 0
assert_eq 7 "$(calls OPEN)" "OPEN of the first of two mounts"
grep -q "makes more than one mount: the first one is profiled" "$scratch/daemon.err" || fail "the second mount is not told of: $(<"$scratch/daemon.err")"

# shellcheck disable=SC2016 # for the shell inside
profiled -- sh -c '"$@" "$0"; "$@" other; exit 0' "$mnt" "$daemon" plain
read_file 7
umount "$mnt"
wait_until 20 mountpoint -q other || fail "no second daemon"
read_file 1 other
umount other
ended 0
assert_eq 7 "$(calls OPEN)" "OPEN of the first of two daemons"

# ---- A daemon in namespaces of its own: its mount is not seen from outside, nor are its threads

if unshare --mount --pid --fork --mount-proc true 2>/dev/null; then
    rm -f "$profile" mounted
    # shellcheck disable=SC2016 # for the shell inside
    "$OSPROF" fuse -o "$profile" --slow 10ms -- unshare --mount --pid --fork --mount-proc sh -c '
        "$0" sleeps "$1" & until mountpoint -q "$1"; do sleep 0.1; done
        for i in 1 2 3; do dd if="$1/file" bs=5 count=1 status=none; done; sleep 3; umount "$1"; wait' \
        "$daemon" "$mnt" >out 2>err || fail "a daemon in namespaces: $(<err)"
    assert_eq 123451234512345 "$(<out)" "what the file holds"
    grep -q "its profile has no mount point" err || fail "the mount is found: $(<err)"
    wait_until 20 nobody_stays || fail "a process is left beside the daemon"
    assert_eq 3 "$(calls READ)" "READ in namespaces"
    "$OSPROF" show --check "$profile" >&2 || fail "osprof show --check finds fault, in namespaces"
    ! grep '^# cause: READ' "$profile" | grep -v ' cause_id not_sampled ' || fail "threads of others are looked at"
fi

# ---- What requests wait for

# causes_of MODE: 7 reads of 30 ms each
slow_reads() {
    profiled --slow 10ms -- "$daemon" "$1" "$mnt"
    read_file 7
    "$OSPROF" why "$mnt" >/dev/null || fail "what requests wait for is not told"
    umount "$mnt"
    ended 0
}

# assert_cause CAUSE: it has 95 % of the time of READ, except what the daemon had no CPU after that, and for what nobody got to
# look at on a busy machine; of that it has the most
assert_cause() {
    awk -v cause="$1" '
        /^OP_READ / { total = $3 }
        /^# cause: READ calls / { cycles = $7; before = / other_thread yes / ? "another thread: " : ""; sub(/^.* cause /, before); gsub(/\\040/, " ")
            if ($0 == cause) found += cycles; else if (/without a CPU$|running$|it ended before it was sampled/) busy += cycles }
        END { exit !(total > 0 && found > 0.4 * total && found + busy >= 0.95 * total) }' "$profile" ||
        fail "not 95 % of READ are for '$1': $(grep '^OP_READ\|^# cause' "$profile")"
}

slow_reads sleeps
[ "$(awk '/^# clock/ { hz = $4 } /^OP_READ / { printf "%d", 1000 * $3 / hz }' "$profile")" -ge 210 ] || fail "READ took less than 7 times 30 ms"
assert_cause sleeping
slow_reads waits
assert_cause "waiting for another process at a pipe"
slow_reads hands_on
assert_cause "another thread: sleeping"

# ---- A daemon that crashes

profiled -- "$daemon" crashes "$mnt"
! dd if="$mnt/file" bs=5 count=1 status=none 2>/dev/null || fail "a crashed daemon answers"
ended 137
umount "$mnt"
assert_eq 1 "$(calls OPEN)" "OPEN before the crash"
assert_eq 1 "$(calls READ)" "READ that was never answered"
grep -q '^# call: READ age ' "$profile" || fail "the request that was being served is not told of"
