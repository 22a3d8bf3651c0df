#!/bin/bash
# osprof run --layers fuse,block where something fails: no privilege, no disk, signals. One line says so, and the command
# runs.
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

before_cleanup() {
    ! mountpoint -q "$scratch/disk" || umount -l "$scratch/disk"
}

need_root
need_fuse
need setpriv mkfs.ext4 losetup

need_counting fuse "$lower"

# layers_left LAYER...: those that are in the profile, and no others
layers_left() {
    assert_eq "$(printf '%s\n' "$@")" "$(sed -n 's/^# layer: //p' profile)" "layers in the profile"
    rm profile
}

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
as_user "$OSPROF" run --layers user,fuse,block -d "$lower" -q -o "$lower/profile" -- sh -c "ls '$lower'; exit 7" 2>err || status=$?
assert_eq 7 "$status" "exit status of a user's command"
assert_eq "osprof: the layers fuse and block are not profiled: this takes root, or the capabilities CAP_BPF and CAP_PERFMON" \
    "$(<err)" "message to a user"
mv "$lower/profile" .
layers_left user
as_user "$OSPROF" run --layers fuse,block -d "$lower" -q -o "$lower/profile" -- true 2>err
[ ! -e "$lower/profile" ] || fail "a profile of no layer is written"

# With these two capabilities he is counted for.
mkdir disk
truncate -s 32M image
mkfs.ext4 -q image
mount -o loop image disk
chmod 777 disk
capable=(setpriv --reuid "$user_uid" --regid "$user_gid" --clear-groups --inh-caps "+bpf,+perfmon" --ambient-caps "+bpf,+perfmon"
    env HOME="$scratch/home-user" XDG_RUNTIME_DIR="$scratch/home-user" XDG_STATE_HOME="$scratch/home-user")
"${capable[@]}" "$OSPROF" run --layers block -d disk -q -o disk/profile -- sh -c 'echo line >disk/file; sync disk/file' 2>err
assert_eq "" "$(<err)" "messages to a user with capabilities"
mv disk/profile .
[ "$(profile_calls WRITE profile)" -gt 0 ] || fail "a user with capabilities has no requests"
layers_left block
umount disk

# ---- Signals

# begin: osprof run in the background
begin() {
    rm -f ready
    "${interruptible[@]}" "$OSPROF" run --layers fuse,fs -d "$lower" -q -o profile -- sh -c 'touch ready; exec sleep 60' 2>err &
    run_pid=$!
}

begin
wait_until 60 test -e ready || fail "the command does not begin: $(<err)"
kill -TERM "$run_pid"
status=0
wait "$run_pid" || status=$?
assert_eq 143 "$status" "exit status: SIGTERM"
layers_left fuse queue fs
assert_nothing_left

begin
wait_until 60 test -e ready || fail "the command does not begin: $(<err)"
kill -KILL "$run_pid"
wait "$run_pid" || true
run_pid=
rm -rf "$XDG_RUNTIME_DIR/osprof" # live files of the killed one
