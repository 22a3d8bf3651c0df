#!/bin/bash
# No room for the final profile: osproffs fails, and says where it is: in the live file; beside it, where there are
# intervals or groups, which that lacks; or in the message itself, if there is no room either. No room for the live file:
# nothing is mounted.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
mkdir full
mount -t tmpfs -o size=64k tmpfs full

fill() {
    ! cat /dev/zero >full/filler 2>/dev/null || fail "the tmpfs does not fill up"
}

final_profile_does_not_fit() {
    local live
    begin -o profile=full/out,interval=0.1,by=uid
    live=$(live_file)
    end_without_room "saved in $live.osprof\$"
    assert_whole "$live.osprof"
    [ ! -e "$live" ] || fail "the live file stays though the whole profile is saved"
    rm full/filler "$live.osprof"
}

# Names of other profiles are not taken.
second_place_keeps_what_is_there() {
    local live
    begin -o profile=full/out,by=uid
    live=$(live_file)
    echo other >"$live.osprof"
    end_without_room "saved in $live-1.osprof\$"
    assert_eq other "$(cat "$live.osprof")" "the other profile"
    assert_eq 7 "$(profile_calls MKDIR "$live-1.osprof")" "MKDIR in the second place"
    rm full/filler "$live.osprof" "$live-1.osprof"
}

# The live file is on the full disk too, and holds all that there is.
live_file_is_whole() {
    local live
    mount -t tmpfs -o size=1m tmpfs full-live
    begin -o profile=full/out,live=full-live
    live=full-live/$daemon_pid.live
    fill_live
    end_without_room "saved in $live (osprof save $live)\$"
    "$OSPROF" save "$live" >recovered
    assert_eq 7:7 "$(profile_calls MKDIR recovered):$(profile_calls RMDIR recovered)" "recovered"
    rm full/filler
    umount full-live
}

# It holds too little: the message has the rest.
live_file_lacks_groups() {
    mount -t tmpfs -o size=1m tmpfs full-live
    begin -o profile=full/out,live=full-live,interval=0.1,by=uid
    fill_live
    end_without_room "it follows\$"
    printed_profile >printed
    assert_whole printed
    rm full/filler
    umount full-live
}

# A path as long as paths may be, in a line of the header.
long_lines_are_printed_whole() {
    local deep
    deep=$(printf '/%0200d' {1..15})
    mkdir -p "$scratch/far$deep"
    mount_osproffs -o profile=full/out,live=none "$scratch/far$deep" "$mnt"
    known_load "$mnt"
    end_without_room "it follows\$"
    printed_profile >printed
    grep -qx "# lower: $scratch/far$deep" printed || fail "the path of $((${#scratch} + 4 + ${#deep})) bytes is cut"
    "$OSPROF" show --check printed >&2 || fail "what is printed is no profile"
    rm full/filler
}

begin() {
    mount_osproffs "$@" "$lower" "$mnt"
    known_load "$mnt"
    rmdir "$mnt"/known-*
    wait_until 20 has_counted_all || fail "a call has not ended"
}

# The kernel does not wait for the end of the last call. Its worker may be one that has counted none yet, for which the
# live file must not be full.
has_counted_all() {
    "$OSPROF" show "$(find run full-live -name "$daemon_pid.live")" | grep -q '^RELEASEDIR '
}

fill_live() {
    ! cat /dev/zero >full-live/filler 2>/dev/null || fail "the tmpfs does not fill up"
}

# end_without_room PATTERN: the message about full/out ends so
end_without_room() {
    fill
    umount -c "$mnt" # calls nothing, which might have to be counted
    assert_status 2 "the profile cannot be written"
    grep -q "$scratch/full/out: No space left on device; $1" "$daemon_log" || fail "message: $(head "$daemon_log")"
    assert_eq filler "$(ls -A full)" "files left behind"
}

printed_profile() {
    sed -n '/; it follows$/,$p' "$daemon_log" | sed '1d; s/^osproffs: //'
}

assert_whole() {
    "$OSPROF" show --check "$1" >&2 || fail "osprof show --check finds fault with $1"
    assert_eq 7:7 "$(profile_calls MKDIR "$1"):$(profile_calls RMDIR "$1")" "calls in $1"
    grep -q '^# interval:' "$1" || fail "no intervals in $1"
    grep -q '^# uid:' "$1" || fail "no groups in $1"
}

# An old profile is not harmed by a new one that does not fit.
old_profile_stays() {
    echo "the old one" >full/out
    mount_osproffs -o profile=full/out "$lower" "$mnt"
    fill
    umount "$mnt"
    assert_status 2 "the profile cannot be written"
    assert_eq "the old one" "$(cat full/out)" "the old profile"
    rm full/filler full/out "$(live_file)"
}

live_file_does_not_fit() {
    fill
    mkdir full/live # takes no block
    start_daemon "$OSPROFFS" -f -o live=full/live "$lower" "$mnt"
    wait_for_end "$daemon_pid" 20 || true
    ! is_mounted "$mnt" || fail "mounts without the live file that was asked for"
    assert_status 2 "no room for a live file"
    grep -q "full/live.*No space left on device" "$daemon_log" || fail "message: $(cat "$daemon_log")"
    rm -r full/filler full/live
}

mkdir full-live
final_profile_does_not_fit
second_place_keeps_what_is_there
live_file_is_whole
live_file_lacks_groups
long_lines_are_printed_whole
old_profile_stays
live_file_does_not_fit
umount full
