#!/bin/bash
# Mounts that lead back into themselves: LOWER is MOUNTPOINT, MOUNTPOINT lies inside LOWER, a bind mount of the mount
# appears below. Each such path is an error (ELOOP), never a hang.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

loop='Too many levels of symbolic links'
loops() {
    assert_refused "$loop" timeout 20 "$@"
}

lower_is_mountpoint() {
    echo text >"$lower/file"
    mkdir "$lower/directory"
    mount_osproffs "$lower" "$lower"
    assert_eq text "$(timeout 20 cat "$lower/file")" "over itself"
    known_load "$lower/directory"
    timeout 20 find "$lower" >/dev/null
    [ -f "$lower/.osprof" ] || fail "no control file"
    unmount_osproffs "$lower"
    assert_known_load "$final_profile"
    assert_eq text "$(cat "$lower/file")" "uncovered"
    rm -r "${lower:?}"/*
}

mountpoint_inside_lower() {
    mkdir -p "$lower/a/mnt/covered"
    mount_osproffs "$lower" "$lower/a/mnt"
    assert_eq a "$(timeout 20 ls "$lower/a/mnt")" "the lower directory"
    loops stat "$lower/a/mnt/a/mnt"
    loops ls "$lower/a/mnt/a/mnt/"
    loops cat "$lower/a/mnt/a/mnt/file"
    loops touch "$lower/a/mnt/a/mnt/file"
    ! timeout 20 ls -lR "$lower/a/mnt" >/dev/null 2>&1 || fail "ls -lR did not tell"
    timeout 20 ls -f "$lower/a/mnt/a" >/dev/null || fail "the directory that holds it cannot be listed"
    timeout 20 touch "$lower/a/mnt/a/beside"
    [ -e "$lower/a/beside" ] || fail "beside the mount nothing works"
    unmount_osproffs "$lower/a/mnt"
    [ -d "$lower/a/mnt/covered" ] || fail "the covered directory is gone"
}

bound_below() {
    mkdir "$lower/bound"
    mount_osproffs "$lower" "$mnt"
    mount --bind "$mnt" "$lower/bound"
    loops stat "$mnt/bound"
    loops ls "$mnt/bound/bound"
    umount "$lower/bound"
    sleep 1.1 # the cache may say so for a second
    timeout 20 ls "$mnt/bound"
    unmount_osproffs "$mnt"
}

# The name of a file becomes a way to the mount, and a file again, while it is looked up: with one worker each request to
# itself would be the last.
bound_while_looked_up() {
    local looking
    echo text >"$lower/file"
    touch "$lower/target"
    mount_osproffs -s -o cache=none "$lower" "$mnt"
    # shellcheck disable=SC2016 # for the other shell
    timeout 200 bash -c 'while :; do [ -e "$1" ]; done' looking "$mnt/target" &
    looking=$!
    timeout 100 "$TEST_PROGRAMS/bind_again" "$mnt/file" "$lower/target" 500 || fail "the mount hangs, or cannot be bound"
    kill "$looking" || fail "nobody looks any more"
    wait "$looking" || true
    assert_eq text "$(timeout 20 cat "$mnt/file")"
    unmount_osproffs "$mnt"
}

# The profile itself must not go through the mount.
profile_below_own_mount() {
    mount_osproffs -o "profile=$mnt/out" "$lower" "$mnt"
    known_load "$mnt"
    try_unmount "$mnt"
    assert_status 0 "profile in the directory that the mount covers"
    assert_known_load "$mnt/out"
}

lower_is_mountpoint
mountpoint_inside_lower
! is_root || bound_below
! is_root || bound_while_looked_up
profile_below_own_mount
