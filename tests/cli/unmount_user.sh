#!/bin/bash
# osprof unmount by an ordinary user, for whom fusermount3 does it: the own mount, and waiting for its profile; not that of
# others.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"

need_user_mounts "$@"
[ -u "$(command -v fusermount3)" ] || skip "fusermount3 is not set-user-id"
chown "$user_uid:$user_gid" "$lower" "$mnt"
profile=$scratch/home-user/profile

mount_osproffs_as_user -o profile="$profile" "$lower" "$mnt"
as_user touch "$mnt/file"
as_user "$OSPROF" unmount "$mnt" >out 2>err || fail "status $? of osprof unmount: $(<err)"
assert_eq "The profile is in $profile." "$(<out)" "where the profile is"
assert_eq "" "$(<err)" "messages"
assert_eq 1 "$(profile_calls CREATE "$profile")" "creations in the final profile"
wait "$daemon_pid"

# What is in use stays mounted.
mount_osproffs_as_user -o profile="$profile" "$lower" "$mnt"
# shellcheck disable=SC2016 # for the shell that is started
(exec_as "$user_uid" "$user_gid" "" sh -c 'cd "$1" && touch there && exec sleep 60' - "$mnt") &
user_pid=$!
wait_until 20 test -e "$lower/there"
status=0
as_user "$OSPROF" unmount "$mnt" 2>err || status=$?
assert_eq 2 "$status" "status of osprof unmount of a mount in use"
kill "$user_pid"
wait "$user_pid" || true
as_user "$OSPROF" unmount "$mnt" >out || fail "status $? of osprof unmount"

mount_osproffs "$lower" "$mnt"
! as_user "$OSPROF" unmount "$mnt" 2>err || fail "unmounts root's"
assert_eq "osprof: cannot unmount $mnt: Operation not permitted; only who mounted it, and root, may, and nobody while it is \
in use ('fuser -vm' tells by what)" "$(tail -n 1 err)" "message"
unmount_osproffs "$mnt"
