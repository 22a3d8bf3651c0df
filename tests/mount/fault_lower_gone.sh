#!/bin/bash
# The lower directory, or a file in it, goes away: calls fail with plain errors, nothing hangs, and the final
# profile is written.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

assert_profile() {
    try_unmount "$mnt"
    assert_status 0 "$1"
    "$OSPROF" show --check "$final_profile" >&2
    assert_eq 7 "$(profile_calls MKDIR "$final_profile")" "MKDIR, $1"
}

removed() {
    mkdir "$scratch/doomed"
    mount_osproffs -o cache=none "$scratch/doomed" "$mnt"
    known_load "$mnt"
    echo text >"$mnt/file"
    exec {open_file}<"$mnt/file"
    rm -r "$scratch/doomed"
    assert_eq text "$(timeout 20 cat <&"$open_file")" "a file still open"
    exec {open_file}<&-
    assert_refused 'No such file or directory' timeout 20 cat "$mnt/file"
    assert_refused 'No such file or directory' timeout 20 touch "$mnt/new"
    timeout 20 stat "$mnt" >/dev/null || true # the root is still held: either answer is right
    head -n 1 "$mnt/.osprof" >/dev/null
    assert_profile "lower directory removed"
}

# Lazily: the daemon's descriptors hold it, so everything goes on working.
unmounted() {
    mount -t tmpfs -o size=4m tmpfs "$lower"
    echo text >"$lower/file"
    mount_osproffs -o cache=none "$lower" "$mnt"
    umount -l "$lower"
    known_load "$mnt"
    assert_eq text "$(timeout 20 cat "$mnt/file")" "after a lazy umount"
    assert_profile "lower file system unmounted"
}

make_image() {
    need mkfs.ext4
    truncate -s 16M image
    mkfs.ext4 -q image
}

# A device that fails: the errors are the lower file system's own.
shut_down() {
    make_image
    mount -o loop,errors=continue image "$lower" 2>/dev/null || return 0 # no loop devices here
    mount_osproffs -o cache=none "$lower" "$mnt"
    known_load "$mnt"
    echo text >"$mnt/file"
    if "$TEST_PROGRAMS/shut_down" "$lower"; then
        assert_refused 'Input/output error' timeout 20 touch "$mnt/new"
        assert_refused 'Input/output error' timeout 20 bash -c "echo more >>'$mnt/file'"
    fi
    assert_profile "lower file system shut down"
    umount "$lower"
}

# ext4 says ENOMEM for a handle whose inode number is being given to a new file.
number_reused() {
    make_image
    mount -o loop image "$lower" 2>/dev/null || return 0 # no loop devices here
    mount_osproffs -o cache=none "$lower" "$mnt"
    known_load "$mnt"
    "$TEST_PROGRAMS/stale_handle" "$lower" "$mnt" || fail "a file that is gone is not ESTALE"
    assert_profile "inode number reused"
    umount "$lower"
}

removed
if is_root; then
    unmounted
    number_reused
    shut_down
fi
