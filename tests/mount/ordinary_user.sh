#!/bin/bash
# An ordinary user mounts through fusermount3, without privilege: the mount works, others are kept out, the live file is
# private, the final profile is written, and unmounting needs no privilege either.
. "$(dirname "$0")/lib.sh"
need_user_mounts "$@"
. "$tests_dir/helpers.sh"

[ -u "$(command -v fusermount3)" ] || skip "fusermount3 is not set-user-id"

chown "$user_uid:$user_gid" "$lower" "$mnt"
mount_osproffs_as_user "$lower" "$mnt"

live=$scratch/run-user/osprof/$daemon_pid.live
assert_eq "$user_uid 600" "$(stat -c '%u %a' "$live")" "live file"
assert_eq "$user_uid 700" "$(stat -c '%u %a' "$(dirname "$live")")" "its directory"
as_user bash -c "mkdir '$mnt'/known-{1..7} && rmdir '$mnt'/known-{1..5}"
as_user bash -c "echo text >'$mnt/file'; ln -s file '$mnt/link'; ln '$mnt/file' '$mnt/hard'"
as_user bash -c "chmod 0600 '$mnt/file' && touch -d @5 '$mnt/file'"
assert_eq "$user_uid:$user_gid 600 2 5" "$(stat -c '%u:%g %a %h %Y' "$lower/hard")" "a new file"
assert_refused 'Operation not permitted' as_user chown 0 "$mnt/file"
assert_refused 'Permission denied' ls "$mnt" # root too, without allow_other
as_user bash -c "head -n 1 '$mnt/.osprof'" | grep -q '^# osprof' || fail "no control file"
as_user bash -c "echo pause >'$mnt/.osprof' && echo resume >'$mnt/.osprof'" || fail "the owner may not command"
as_user fusermount3 -u "$mnt"
assert_status 0 "unmounted by the user"
assert_known_load "$final_profile"
[ ! -e "$live" ] || fail "the live file stays"

# More files than descriptors, as file handles are for root only.
mkdir "$lower/many"
(cd "$lower/many" && seq 3001 | xargs touch)
chown -R "$user_uid" "$lower/many"
start_daemon exec_as "$user_uid" "$user_gid" "" bash -c 'ulimit -n 64; exec "$@"' - "$OSPROFFS" -f "$lower" "$mnt"
wait_for_mount "$mnt"
as_user timeout 60 ls -l "$mnt/many" >"$scratch/listed" || fail "ls -l of more files than descriptors"
assert_eq 3001 "$(grep -c '^-' "$scratch/listed")" "files listed"
kill -0 "$daemon_pid" || fail "the daemon is gone"
as_user rm -r "$mnt/many"
[ ! -e "$lower/many" ] || fail "rm -r has left files"
kill -TERM "$daemon_pid"
assert_status 0 "SIGTERM"
assert_unmounted "$mnt"
