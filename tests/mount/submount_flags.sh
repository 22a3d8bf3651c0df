#!/bin/bash
# A lower mount may forbid more than the mount of osproffs does (nosuid, nodev, noexec), from the beginning or later: it
# holds through osproffs too, for another user and for root.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need setpriv setcap getcap
! findmnt -no OPTIONS -T "$scratch" | grep -qw 'nosuid\|nodev\|noexec' || skip "$scratch is mounted so itself"

submount=$lower/usb
above=$mnt/usb

# fill DIR: programs that show whether bits count, and devices
fill() {
    cp /usr/bin/id "$1/set-uid" && chmod 4755 "$1/set-uid"
    cp /usr/bin/id "$1/set-gid" && chmod 2755 "$1/set-gid"
    cp /usr/bin/id "$1/locked" && chmod 2644 "$1/locked" # set-gid without x is a mark for locking
    cp /usr/bin/cat "$1/capable" && setcap cap_dac_read_search+ep "$1/capable"
    cp /usr/bin/true "$1/program"
    printf '#!/bin/sh\ntrue\n' >"$1/script" && chmod 0755 "$1/script"
    mknod -m 0666 "$1/zero" c 1 5
    mknod -m 0666 "$1/block" b 7 250
    echo secret >"$lower/secret" && chmod 0600 "$lower/secret"
}

# remount FLAGS: the submount's flags are these now, and no others
remount() {
    mount -o "remount,bind,suid,dev,exec,$1" tmpfs "$submount"
}

# What is forbidden at once may be allowed a little later: as late as any change below shows, if the kernel keeps it.
wait_for_caches() {
    case $options in
    *cache=always*) remount_osproffs -o "$options" "$lower" "$mnt" ;;
    *) sleep 1.1 ;;
    esac
}

assert_set_id_counts() {
    assert_eq 0 "$(as_user "$above/set-uid" -u)" "user of a set-uid program"
    assert_eq 0 "$(as_user "$above/set-gid" -g)" "group of a set-gid program"
    as_user "$above/capable" "$lower/secret" >"$scratch/out" || fail "the capability of a file does not count"
    assert_eq 4755 "$(stat -c %a "$above/set-uid")"
}

assert_set_id_is_ignored() {
    local place
    for place in "$submount" "$above"; do
        assert_eq "$user_uid" "$(as_user "$place/set-uid" -u)" "user of a set-uid program on nosuid"
        assert_eq "$user_gid" "$(as_user "$place/set-gid" -g)" "group of a set-gid program on nosuid"
        assert_refused 'Permission denied' as_user "$place/capable" "$lower/secret"
    done
    assert_eq 2644 "$(stat -c %a "$above/locked")" "a mark for locking"
    assert_eq 4755 "$(stat -c %a "$submount/set-uid")" "the bits stay below"
}

assert_devices_work() {
    as_user head -c 1 "$above/zero" >"$scratch/out"
    assert_eq '1:5' "$(stat -c %t:%T "$above/zero")"
}

assert_no_device_opens() {
    local as device
    for as in as_user env; do
        for device in zero block; do
            ! $as head -c 1 "$above/$device" 2>/dev/null || fail "$device on nodev opens ($as)"
            ! $as head -c 1 "$submount/$device" 2>/dev/null || fail "$device on nodev opens below ($as)"
        done
    done
}

assert_programs_run() {
    as_user "$above/program"
    as_user "$above/script"
}

assert_nothing_runs() {
    local as program
    for as in as_user env; do
        for program in program script set-uid; do
            assert_refused 'Permission denied' $as "$above/$program"
        done
    done
    as_user cat "$above/program" >"$scratch/out" || fail "a program on noexec cannot be read"
}

for options in allow_other allow_other,cache=always allow_other,no_default_permissions,dev; do
    mkdir "$submount"
    mount -t tmpfs -o mode=0755,size=16m tmpfs "$submount"
    fill "$submount"
    mount_osproffs -o "$options" "$lower" "$mnt"
    assert_set_id_counts
    assert_devices_work
    assert_programs_run
    remount nosuid
    assert_set_id_is_ignored
    assert_devices_work
    remount nodev
    assert_no_device_opens
    wait_for_caches
    assert_set_id_counts
    remount noexec
    assert_nothing_runs
    assert_devices_work
    remount nosuid,nodev,noexec
    assert_nothing_runs
    assert_no_device_opens
    remount dev
    assert_devices_work
    assert_programs_run
    wait_for_caches
    assert_set_id_counts
    # from the beginning, and what is made there later
    remount nosuid,nodev
    remount_osproffs -o "$options" "$lower" "$mnt"
    assert_no_device_opens
    assert_set_id_is_ignored
    mknod -m 0666 "$above/made" c 1 5
    ! as_user head -c 1 "$above/made" 2>/dev/null || fail "a new device on nodev opens"
    assert_eq '1:5' "$(stat -c %t:%T "$submount/made")" "a device made through the mount"
    unmount_osproffs "$mnt"
    umount "$submount"
    rmdir "$submount"
done

# Where osproffs's own mount forbids as much, everything is shown as it is.
mount -t tmpfs -o mode=0755,size=16m,nosuid,nodev tmpfs "$lower"
fill "$lower"
mount_osproffs -o allow_other "$lower" "$mnt"
findmnt -no OPTIONS "$mnt" | grep -q 'nosuid,nodev' || fail "the flags of the lower mount are lost"
assert_eq '4755 0:0' "$(stat -c '%a %t:%T' "$mnt/set-uid")"
assert_eq '1:5' "$(stat -c '%t:%T' "$mnt/zero")"
assert_eq "$user_uid" "$(as_user "$mnt/set-uid" -u)"
! as_user head -c 1 "$mnt/zero" 2>/dev/null || fail "a device opens"
unmount_osproffs "$mnt"
umount "$lower"
