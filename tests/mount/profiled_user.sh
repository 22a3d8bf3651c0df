#!/bin/bash
# osprof fuse by an ordinary user: it needs no privilege but what the daemon needs; what it makes is that user's alone.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_user_mounts "$@"
build=${OSPROFFS%/src/fuse/osproffs}
provide_programs
OSPROF_LIBRARIES=${OSPROFFS%/src/fuse/osproffs}/src/interpose/fuse
[ -d "$OSPROF_LIBRARIES" ] || OSPROF_LIBRARIES=$build/src/interpose/fuse
export OSPROF_LIBRARIES
. "$tests_dir/profiled_lib.sh"

XDG_RUNTIME_DIR=$scratch/run-user # as as_user has it
chown "$user_uid:$user_gid" "$lower" "$mnt"
chmod 755 "$scratch"
echo line >"$lower/file"
profile=$scratch/home-user/profile

as_user "$OSPROF" fuse -o "$profile" --by program --slow 20ms -- \
    "$OSPROFFS" -o profile=/dev/null,live=none "$lower" "$mnt" 2>err || fail "not started: $(<err)"
assert_eq "" "$(<err)" "messages"
for _ in 1 2 3; do
    assert_eq line "$(as_user cat "$mnt/file")" "the file through the mount"
done
as_user "$OSPROF" save "$mnt" -o "$scratch/home-user/now"
assert_eq 3 "$(calls OPEN "$scratch/home-user/now")" "OPEN while it is mounted"
as_user "$OSPROF" show --by program "$mnt" | grep -q '^cat ' || fail "programs are not told apart"
assert_eq "$user_uid 600" "$(find "$XDG_RUNTIME_DIR/osprof" -name '*.ring' -printf '%U %m')" "whose the ring is"
as_user fusermount3 -u "$mnt"
wait_until 20 test -s "$profile" || fail "no profile is written"
wait_until 20 nobody_stays || fail "a process is left beside the daemon"
assert_eq 3 "$(calls OPEN)" "OPEN"
assert_eq "$user_uid" "$(stat -c %u "$profile")" "whose the profile is"
