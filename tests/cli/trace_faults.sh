#!/bin/bash
# osprof run --layers fuse,block where something fails: no privilege, no bpftrace, no disk, signals. One line says so, the
# command runs, and no bpftrace is left.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=run_lib.sh
. "$tests_dir/../cli/run_lib.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"
# shellcheck source=trace_lib.sh
. "$tests_dir/../cli/trace_lib.sh"

expect 125 run --layers user,disk true
assert_eq "osprof run: --layers takes user, fuse, daemon, fs and block, with commas between, or all, not 'user,disk'; see 'osprof help run'" \
    "$(<err)" "message of an unknown layer"
expect 125 run --layers fs,block --vs true true
assert_eq "osprof run: --vs compares one layer, user or fs; see 'osprof help run'" "$(<err)" "message of layers with --vs"

need_root
need_fuse
need setpriv
unshare --mount true 2>/dev/null || skip "cannot make a mount namespace"

# ---- Without bpftrace

# layers_left LAYER...: those that are in the profile, and no others
layers_left() {
    assert_eq "$(printf '%s\n' "$@")" "$(sed -n 's/^# layer: //p' profile)" "layers in the profile"
    rm profile
}

mkdir bin
for tool in sh ls cat; do
    ln -s "$(type -P "$tool")" "bin/$tool"
done
PATH=$scratch/bin expect 7 run --layers all -d "$lower" -q -p profile -- sh -c "ls '$lower'; exit 7"
assert_eq "osprof: the layers fuse and block are not profiled: bpftrace is not in PATH; install the package bpftrace" \
    "$(<err)" "message without bpftrace"
layers_left user fs
PATH=$scratch/bin expect 0 run --layers block,fs -d "$lower" -q -p profile -- ls "$lower"
assert_eq "osprof: the layer block is not profiled: bpftrace is not in PATH; install the package bpftrace" "$(<err)" \
    "message of one layer without bpftrace"
layers_left fs

# One that fails: its last line tells why.
printf '#!/bin/sh\necho stdin:1: noise >&2\necho ERROR: it does not work >&2\nexit 1\n' >bin/bpftrace
chmod +x bin/bpftrace
need_tracepoints fuse/fuse_request_send block/block_rq_issue
PATH=$scratch/bin expect 7 run --layers fuse,fs -d "$lower" -q -p profile -- sh -c 'exit 7'
assert_eq "osprof: the layer fuse is not profiled: ERROR: it does not work" "$(<err)" "message of a bpftrace that fails"
layers_left fs

# One that prints what it gets, when it is to end.
make_bpftrace bin
export PRINTED=''
PATH=$scratch/bin expect 7 run --layers fuse,fs -d "$lower" -q -p profile -- sh -c 'exit 7'
assert_eq "" "$(<err)" "messages where nothing is traced"
assert_eq 0 "$(sed '/^# layer: fs/,$ d' profile | grep -c '^OP_')" "operations where nothing is traced"
layers_left fuse queue fs
PRINTED='{"type": "hist", "data": 7}' PATH=$scratch/bin expect 7 run --layers fuse,fs -d "$lower" -q -p profile -- sh -c 'exit 7'
assert_eq 'osprof: the layer fuse has no profile: what bpftrace printed: expected "data" to be an object' "$(<err)" \
    "message of what cannot be read"
layers_left fs

# ---- An older kernel

# without_fuse_tracepoints COMMAND...: where tracepoints are, but none of FUSE
without_fuse_tracepoints() {
    # shellcheck disable=SC2016 # for the shell inside
    unshare --mount --propagation private sh -c 'mount -t tmpfs tmpfs /sys/kernel/tracing && mkdir /sys/kernel/tracing/events &&
        { [ ! -d /sys/kernel/debug ] || mount -t tmpfs tmpfs /sys/kernel/debug; } && exec "$@"' sh "$@"
}

OSPROF_before=$OSPROF
OSPROF=without_fuse_tracepoints
expect 7 "$OSPROF_before" run --layers fuse,fs -d "$lower" -q -p profile -- sh -c 'exit 7'
OSPROF=$OSPROF_before
assert_eq "osprof: the layer fuse is not profiled: this kernel has no tracepoint fuse/fuse_request_send; there is one since Linux 6.11" \
    "$(<err)" "message of an older kernel"
layers_left fs

# ---- Nothing to trace

mkdir shm
mount -t tmpfs tmpfs shm
expect 0 run --layers fuse,block -d shm -- true
assert_eq "osprof: the layer block does not see shm: it lies on no block device, but on tmpfs
osprof: the layer fuse does not see shm: it is on no FUSE file system, and not profiled as layer fs" "$(<err)" \
    "messages of a tmpfs"
umount shm

# ---- An ordinary user

provide_programs
OSPROF_LIBRARIES=${OSPROF%/src/cli/osprof}/src/interpose/posix
export OSPROF_LIBRARIES
chown "$user_uid:$user_gid" "$lower"
status=0
as_user "$OSPROF" run --layers user,fuse,block -d "$lower" -q -p "$lower/profile" -- sh -c "ls '$lower'; exit 7" 2>err || status=$?
assert_eq 7 "$status" "exit status of a user's command"
assert_eq "osprof: the layers fuse and block are not profiled: only root may trace the kernel" "$(<err)" "message to a user"
mv "$lower/profile" .
layers_left user
as_user "$OSPROF" run --layers fuse,block -d "$lower" -q -p "$lower/profile" -- true 2>err
[ ! -e "$lower/profile" ] || fail "a profile of no layer is written"

# ---- Signals, while bpftrace begins, and later

# begin: osprof run in the background
begin() {
    rm -f ready
    "${interruptible[@]}" "$OSPROF" run --layers fuse,fs -d "$lower" -q -p profile -- sh -c 'touch ready; exec sleep 60' 2>err &
    run_pid=$!
}

has_bpftrace() {
    ! no_bpftraces
}

for signal in INT TERM; do
    begin
    wait_until 60 has_bpftrace || fail "bpftrace is not started"
    kill -"$signal" "$run_pid"
    status=0
    wait "$run_pid" || status=$?
    assert_eq $((128 + $(kill -l "$signal"))) "$status" "exit status: SIG$signal while bpftrace begins"
    [ ! -e ready ] || fail "the command has run"
    wait_until 10 no_bpftraces || fail "a bpftrace is left after SIG$signal"
    assert_nothing_left
done

begin
wait_until 60 test -e ready || fail "the command does not begin: $(<err)"
kill -KILL "$run_pid"
wait "$run_pid" || true
wait_until 10 no_bpftraces || fail "a bpftrace is left after SIGKILL"
run_pid=
rm -rf "$XDG_RUNTIME_DIR/osprof" # live files of the killed one

# The bpftrace is killed: the command goes on.
begin
wait_until 60 test -e ready || fail "the command does not begin: $(<err)"
kill -KILL "$(own_bpftraces)"
pkill -TERM -P "$run_pid" sleep
status=0
wait "$run_pid" || status=$?
assert_eq 143 "$status" "exit status of the command"
assert_eq "osprof: the layer fuse has no profile: bpftrace was killed by signal 9 (Killed)" \
    "$(<err)" "message of a bpftrace that was killed"
layers_left fs
assert_nothing_left
