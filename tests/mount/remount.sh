#!/bin/bash
# mount -o remount,ro of a mount, and back, through mount(8), its helper mount.fuse3 and the command itself: what can
# change does, what cannot is said, and nothing but the mount that is meant is touched.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need mount.fuse3 setpriv findmnt
[ -n "${IN_OWN_NAMESPACE:-}" ] || skip "cannot make a mount namespace"

# The helper finds osproffs in the system's directories only.
mkdir "$scratch/bin"
ln -s "$OSPROFFS" "$scratch/bin/osproffs"
mount_8() {
    local status=0
    mount --bind "$scratch/bin" /usr/local/bin
    mount "$@" || status=$?
    umount /usr/local/bin
    return "$status"
}

options_of() {
    findmnt -no OPTIONS "$1"
}

# assert_option OPTION...: the mount has it
assert_option() {
    local option
    for option; do
        [[ ,$(options_of "$mnt"), == *,"$option",* ]] || fail "not $option: $(options_of "$mnt")"
    done
}

# refuses STATUS WORDS OPTIONS [LOWER MOUNTPOINT]: in one line; the mount is as before
refuses() {
    local before status=0 words=$2 expected=$1 lines
    before=$(options_of "$mnt")
    "$OSPROFFS" -o "$3" "${4:-$lower}" "${5:-$mnt}" 2>"$scratch/err" || status=$?
    assert_eq "$expected" "$status" "status of -o $3: $(<"$scratch/err")"
    mapfile lines <"$scratch/err"
    [[ ${#lines[@]} -eq 1 && ${lines[0]} == *"$words"* ]] || fail "-o $3: expected '$words', found '${lines[*]}'"
    assert_eq "$before" "$(options_of "$mnt")" "options after a refusal"
}

becomes_read_only_and_back() {
    mount_8 -o remount,ro "$mnt" 2>"$scratch/err" || fail "remount,ro: $(<"$scratch/err")"
    [ ! -s "$scratch/err" ] || fail "remount,ro says: $(<"$scratch/err")"
    assert_option ro nosuid allow_other
    assert_refused 'Read-only file system' touch "$mnt/file"
    [ ! -w "$mnt/file" ] || fail "access(2) says that root may write"
    assert_eq text "$(cat "$mnt/file")"
    mount_8 -o remount,rw "$mnt"
    assert_option rw nosuid allow_other
    touch "$mnt/file"
    mount_8 -o remount "$mnt"
    assert_option rw nosuid
    mount_8 -o remount,ro,nosuid "$lower" "$mnt" # with both the options that it had do not count
    assert_option ro nosuid
    mount_8 -o remount,rw,noexec,nodev "$mnt"
    assert_option rw nosuid noexec nodev
}

# A line of fstab(5) has all that the mount was made with.
works_from_fstab() {
    printf '%s %s fuse.osproffs allow_other,nosuid,by=uid,profile=%s 0 0\n' "$lower" "$mnt" "$scratch/out" >"$scratch/fstab"
    mount_8 -T "$scratch/fstab" -o remount,ro "$mnt" 2>"$scratch/err" || fail "by fstab: $(<"$scratch/err")"
    assert_option ro nosuid
    grep -q '^osproffs: note: by, profile: as when .* was mounted' "$scratch/err" || fail "by fstab: $(<"$scratch/err")"
    mount_8 -T "$scratch/fstab" -o remount,rw "$mnt" 2>"$scratch/err"
    assert_option rw nosuid
}

keeps_what_is_not_given() {
    "$OSPROFFS" -o remount,nosuid,nodev,noexec,sync "$lower" "$mnt"
    assert_option nosuid nodev noexec sync
    "$OSPROFFS" -o remount,ro "$lower/../lower" "$mnt/."
    assert_option ro nosuid nodev noexec sync
    "$OSPROFFS" -o remount,rw,exec,async "$lower" "$mnt"
    assert_option rw nosuid nodev
    [[ $(options_of "$mnt") != *noexec* && $(options_of "$mnt") != *sync* ]] || fail "not taken back: $(options_of "$mnt")"
}

refuses_what_cannot_be() {
    mkdir "$scratch/other" "$scratch/tmpfs"
    mount -t tmpfs tmpfs "$scratch/tmpfs"
    refuses 2 "it shows $lower, not $scratch/other" remount,ro "$scratch/other"
    refuses 2 "no mount of osproffs is there" remount,ro "$lower" "$scratch/other"
    refuses 2 "no mount of osproffs is there" remount,ro tmpfs "$scratch/tmpfs"
    refuses 2 "no mount of osproffs is there" remount,ro "$lower" "$scratch/missing"
    refuses 2 "unknown option 'nonsense'" remount,ro,nonsense
    refuses 2 "resolution=3" remount,ro,resolution=3
    refuses 2 "with noatime: that is settled when it is mounted" remount,ro,noatime
    refuses 2 "with no_default_permissions: that is settled" remount,ro,no_default_permissions
    exec {writer}>"$mnt/file"
    refuses 2 "files are open for writing there: Device or resource busy" remount,ro
    exec {writer}>&-
    "$OSPROFFS" -o remount,slow=10ms "$lower" "$mnt" 2>"$scratch/err"
    grep -q 'note: slow: as when' "$scratch/err" || fail "of slow: $(<"$scratch/err")"
    assert_option rw
    umount "$scratch/tmpfs"
}

refuses_others() {
    local message
    chmod 0777 "$lower"
    ! message=$(as_user "$OSPROFFS" -o remount,suid "$lower" "$mnt" 2>&1) || fail "nobody remounts"
    [[ $message == "osproffs: cannot remount $mnt: only root may: Operation not permitted" ]] || fail "nobody is told: $message"
    assert_option nosuid
}

# On a mount of one user's alone the options of others are none.
refuses_others_later() {
    refuses 2 "with allow_other: that is settled" remount,ro,allow_other
    refuses 2 "with default_permissions: that is settled" remount,ro,default_permissions
    "$OSPROFFS" -o remount,ro "$lower" "$mnt"
    assert_option ro
}

# What the mount below forbids stays forbidden when ours is remounted, by whatever means.
forbids_what_is_forbidden_below() {
    mount -t tmpfs -o mode=0755,size=16m,nosuid,nodev tmpfs "$lower"
    cp /usr/bin/id "$lower/set-uid" && chmod 4755 "$lower/set-uid"
    mknod -m 0666 "$lower/zero" c 1 5
    mount_osproffs -o allow_other,cache=none "$lower" "$mnt"
    assert_option nosuid nodev
    assert_eq '4755 1:5' "$(stat -c %a "$mnt/set-uid") $(stat -c %t:%T "$mnt/zero")" "as below"
    # by fsconfig(2), as mount(8) has it since 2.41, FUSE allows no change
    LIBMOUNT_FORCE_MOUNT2=always mount -i -o remount,suid,dev "$mnt"
    assert_eq "$user_uid" "$(as_user "$mnt/set-uid" -u)" "user of a set-uid program on nosuid, after remount,suid"
    ! as_user head -c 1 "$mnt/zero" 2>/dev/null || fail "a device on nodev opens after remount,dev"
    assert_eq '755 0:0' "$(stat -c %a "$mnt/set-uid") $(stat -c %t:%T "$mnt/zero")" "hidden"
    "$OSPROFFS" -o remount,nosuid,nodev "$lower" "$mnt"
    assert_eq '4755 1:5' "$(stat -c %a "$mnt/set-uid") $(stat -c %t:%T "$mnt/zero")" "as below again"
    unmount_osproffs "$mnt"
    umount "$lower"
}

echo text >"$lower/file"
mount_osproffs -o allow_other,nosuid "$lower" "$mnt"
becomes_read_only_and_back
works_from_fstab
keeps_what_is_not_given
refuses_what_cannot_be
refuses_others
unmount_osproffs "$mnt"
assert_profiled GETATTR READ
mount_osproffs "$lower" "$mnt"
refuses_others_later
unmount_osproffs "$mnt"
forbids_what_is_forbidden_below
