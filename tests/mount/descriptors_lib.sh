# shellcheck shell=bash
# Mounts whose lower inodes have no file handles to be opened by, and daemons with few descriptors. Source after lib.sh.
# shellcheck disable=SC2154,SC2034 # assigned there, and used there or by the tests

descriptor_kinds=(user overlay)

# begin_kind KIND: makes $shown, the directory to mount, on a fresh tmpfs; `as` runs commands as who is to use the mount
begin_kind() {
    kind=$1
    mount -t tmpfs tmpfs "$lower"
    mkdir "$lower/shown" "$lower/upper" "$lower/work"
    chown -R "$user_uid:$user_gid" "$lower/shown" "$mnt"
    shown=$lower/shown
    if [ "$kind" = overlay ]; then
        mkdir -p "$scratch/merged"
        mount -t overlay overlay -o "lowerdir=$shown,upperdir=$lower/upper,workdir=$lower/work" "$scratch/merged" ||
            skip "cannot mount an overlay"
        shown=$scratch/merged
    fi
}

end_kind() {
    unmount_osproffs "$mnt"
    [ "$kind" != overlay ] || umount "$scratch/merged"
    umount "$lower"
}

as() {
    if [ "$kind" = user ]; then
        as_user "$@"
    else
        "$@"
    fi
}

# mount_limited LIMIT [OPTION]...: root over the overlay, or the second user
mount_limited() {
    # shellcheck disable=SC2016 # for the shell inside
    local limit=$1 run=(bash -c 'ulimit -n "$1"; shift; exec "$@"' - "$1" "$OSPROFFS" -f "${@:2}" "$shown" "$mnt")
    if [ "$kind" = user ]; then
        start_daemon exec_as "$user_uid" "$user_gid" "" "${run[@]}"
    else
        start_daemon "${run[@]}"
    fi
    pid_of["$mnt"]=$daemon_pid
    wait_for_mount "$mnt"
    assert_eq "$limit" "$(awk '/^Max open files/ { print $5 }' "/proc/$daemon_pid/limits")" "the daemon's limit"
}

# in_silence WHAT COMMAND...: it succeeds, and says nothing of errors
in_silence() {
    as "${@:2}" >"$scratch/out" 2>"$scratch/errors" || fail "$1 ($kind): $(tail -n 1 "$scratch/errors")"
    [ ! -s "$scratch/errors" ] || fail "$1 ($kind): $(head -n 1 "$scratch/errors")"
}
