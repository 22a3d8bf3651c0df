#!/bin/bash
# However a mount ends by order, the final profile is written where it belongs, the live file goes, nothing stays
# mounted and the exit status is 0; in the foreground and in the background.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

end_by() {
    case $1 in
    umount) umount "$mnt" ;;
    fusermount3) fusermount3 -u "$mnt" ;;
    lazily) fusermount3 -u -z "$mnt" ;;
    *) kill "-$1" "$daemon_pid" ;;
    esac
}

load() {
    known_load "$mnt"
    rmdir "$lower"/known-*
}

assert_ended() {
    assert_unmounted "$mnt"
    assert_known_load "$1"
    assert_eq "" "$(ls "$XDG_RUNTIME_DIR/osprof")" "live files left"
}

# foreground WAY [OPTIONS PROFILE]
foreground() {
    mount_osproffs ${2:+-o "$2"} "$lower" "$mnt"
    [ -f "$(live_file)" ] || fail "no live file"
    load
    end_by "$1"
    assert_status 0 "$1"
    assert_ended "${3:-$final_profile}"
}

# start_background [OPTION]...: as people do, from the directory they are in
start_background() {
    timeout 20 "$OSPROFFS" "$@" "$lower" "$mnt" >"$scratch/background.out" 2>"$scratch/background.err" </dev/null ||
        fail "status $?: $(cat "$scratch/background.err")"
    daemon_pid=$(basename "$XDG_RUNTIME_DIR"/osprof/*.live .live)
    track_daemon "$daemon_pid"
    is_mounted "$mnt" || fail "the starter returned before the mount was there"
}

background() {
    start_background
    load
    end_by "$1"
    wait_for_end "$daemon_pid" 20 || fail "the daemon in the background does not end ($1)"
    assert_ended osprof.out
    assert_eq "" "$(cat "$scratch/background.out" "$scratch/background.err")" "messages"
}

ways="TERM INT HUP"
! have fusermount3 || ways+=" fusermount3 lazily"
! is_root || ways+=" umount"
for way in $ways; do
    foreground "$way"
done
foreground TERM profile=- "$scratch/daemon-$((daemon_count + 1)).profile"
foreground INT "profile=$scratch/named" "$scratch/named"
foreground HUP profile=relative relative

mkdir start
cd start
runs=0
for way in $ways; do
    background "$way"
    [ "$runs" -eq 0 ] || cmp -s osprof.out.old "$scratch/previous" || fail "osprof.out.old is not the one before"
    cp osprof.out "$scratch/previous"
    runs=$((runs + 1))
done
assert_eq "osprof.out osprof.out.old" "$(listed .)" "files in the start directory"

# A name may stand for another place later; the daemon keeps to the one it was started in.
start_background -o profile=here
load
mv ../start ../moved
end_by TERM
wait_for_end "$daemon_pid" 20 || fail "the daemon does not end"
assert_ended ../moved/here

# Without standard files of its own the daemon must not take the next files that it opens for them.
(exec <&- >&- 2>&- && exec "$OSPROFFS" -o "profile=$scratch/closed" "$lower" "$mnt") || fail "status $? without standard files"
daemon_pid=$(basename "$XDG_RUNTIME_DIR"/osprof/*.live .live)
track_daemon "$daemon_pid"
load
end_by TERM
wait_for_end "$daemon_pid" 20 || fail "the daemon without standard files does not end"
assert_ended "$scratch/closed"
