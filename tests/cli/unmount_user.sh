#!/bin/bash
# osprof unmount by an ordinary user, for whom fusermount3 does it: the own mount, and waiting for its profile; not that of
# others. Whose a mount is, is said to others than its user.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"

need_user_mounts "$@"
[ -u "$(command -v fusermount3)" ] || skip "fusermount3 is not set-user-id"
chown "$user_uid:$user_gid" "$lower" "$mnt"
profile=$scratch/home-user/profile

mount_osproffs_as_user -o profile="$profile" "$lower" "$mnt"
as_user touch "$mnt/file"
# owner USER ARGUMENT...: as osprof show says it to a user
owner() {
    local show=(as_user "$OSPROF")
    [ "$1" != root ] || show=("$OSPROF")
    "${show[@]}" show "${@:2}" | sed -n 's/^owner  *//p'
}
live=$scratch/run-user/osprof/$daemon_pid.live
named="uid $user_uid"
! getent passwd "$user_uid" >user || named="$(cut -d: -f1 user) (uid $user_uid)"
assert_eq "$named" "$(owner root "$live")" "whose it is, for root"
assert_eq "" "$(owner user "$live")$(owner user "$mnt")" "whose it is, for its user"
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

mount_osproffs -o allow_other,by=uid "$lower" "$mnt"
as_user ls "$mnt" >/dev/null
chmod 711 "$scratch"
assert_eq "root (uid 0)" "$(owner user "$mnt")" "whose it is, for another"
assert_eq "root (uid 0)" "$(owner user --by uid "$mnt")" "whose it is, above a table of users"
assert_eq "" "$(owner root "$mnt")$(owner root --by uid "$mnt")" "whose it is, for root"
! as_user "$OSPROF" unmount "$mnt" 2>err || fail "unmounts root's"
assert_eq "osprof: cannot unmount $mnt: Operation not permitted; only who mounted it, and root, may, and nobody while it is \
in use ('fuser -vm' tells by what)" "$(tail -n 1 err)" "message"
unmount_osproffs "$mnt"
