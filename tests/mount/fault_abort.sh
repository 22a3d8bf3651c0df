#!/bin/bash
# The connection is aborted through /sys/fs/fuse/connections under load: the final profile is written and the mount is
# gone.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
connections=/sys/fs/fuse/connections
mounted_connections=
if [ -z "$(ls "$connections")" ] && ! mountpoint -q "$connections"; then
    mount -t fusectl fusectl "$connections" || skip "no fusectl"
    mounted_connections=yes
fi
before_cleanup() {
    [ -z "$mounted_connections" ] || umount "$connections" 2>/dev/null
}

mount_osproffs "$lower" "$mnt"
known_load "$mnt"
connection=$(mountpoint -d "$mnt")
before=$(profile_calls GETATTR "$mnt/.osprof")
timeout 60 "$TEST_PROGRAMS/count_calls" "$mnt" 5 >"$scratch/finished" &
client=$!
sleep 0.5
echo 1 >"$connections/${connection#*:}/abort"
wait "$client"
assert_status 0 "connection aborted"
assert_unmounted "$mnt"
assert_known_load "$final_profile"
finished=$((before + $(cat "$scratch/finished")))
counted=$(profile_calls GETATTR "$final_profile")
[ "$counted" -ge "$finished" ] || fail "$finished calls had finished, $counted are in the profile"
[ "$counted" -le $((finished + 5)) ] || fail "only $finished calls had finished, $counted are in the profile"
