#!/bin/bash
# No room for the final profile: osproffs fails, says where the profile is kept, and `osprof recover` gives the whole of
# it. No room for the live file: a warning, and the profile is still complete at the end.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
mkdir full
mount -t tmpfs -o size=64k tmpfs full

fill() {
    ! cat /dev/zero >full/filler 2>/dev/null || fail "the tmpfs does not fill up"
}

final_profile_does_not_fit() {
    mount_osproffs -o profile=full/out "$lower" "$mnt"
    local live
    live=$(live_file)
    known_load "$mnt"
    rmdir "$mnt"/known-*
    fill
    umount "$mnt"
    assert_status 1 "the profile cannot be written"
    grep -q "$scratch/full/out: No space left on device.*$live" "$daemon_log" || fail "message: $(cat "$daemon_log")"
    [ ! -e full/out ] || fail "a part of a profile stays"
    assert_eq filler "$(ls -A full)" "files left behind"
    "$OSPROF" recover "$live" >recovered
    assert_eq 7:7 "$(profile_calls MKDIR recovered):$(profile_calls RMDIR recovered)" "recovered"
    rm full/filler "$live"
}

# An old profile is not harmed by a new one that does not fit.
old_profile_stays() {
    echo "the old one" >full/out
    mount_osproffs -o profile=full/out "$lower" "$mnt"
    fill
    umount "$mnt"
    assert_status 1 "the profile cannot be written"
    assert_eq "the old one" "$(cat full/out)" "the old profile"
    rm full/filler full/out "$(live_file)"
}

live_file_does_not_fit() {
    fill
    mkdir full/live # takes no block
    start_daemon "$OSPROFFS" -f -o live=full/live "$lower" "$mnt"
    wait_until 20 is_mounted_or_ended || fail "neither mounts nor ends"
    if is_mounted "$mnt"; then
        known_load "$mnt"
        rmdir "$mnt"/known-*
        umount "$mnt"
        assert_status 0 "no room for a live file"
        assert_eq 7:7 "$(profile_calls MKDIR "$final_profile"):$(profile_calls RMDIR "$final_profile")" "final profile"
    else
        assert_status 1 "no room for a live file"
        grep -q "full/live.*No space left on device" "$daemon_log" || fail "message: $(cat "$daemon_log")"
    fi
    rm -r full/filler full/live
}

is_mounted_or_ended() {
    is_mounted "$mnt" || ! kill -0 "$daemon_pid"
}

final_profile_does_not_fit
old_profile_stays
live_file_does_not_fit
umount full
