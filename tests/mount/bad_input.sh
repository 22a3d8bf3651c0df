#!/bin/bash
# Wrong input of every kind is refused: one line on standard error that names the thing, a status other than 0, and
# nothing left mounted.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

# assert_error NAMED COMMAND...: fails within some seconds, saying NAMED in a single line on standard error
assert_error() {
    local named=$1 status=0 lines
    shift
    timeout -k 5 20 "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
    [ "$status" -ne 0 ] || fail "accepted: $*"
    [ "$status" -lt 124 ] || fail "status $status: $*"
    mapfile lines <"$scratch/err"
    [[ ${#lines[@]} -eq 1 && ${lines[0]} == *$'\n' ]] || fail "not a line on standard error of: $* (${lines[*]})"
    [[ ${lines[0]} == *"$named"* ]] || fail "'$named' is not named by: $* (${lines[0]})"
    [ ! -s "$scratch/out" ] || fail "standard output of: $*"
    assert_eq "$mounts_at_start" "$(mounts_below "$scratch")" "mounts left by: $*"
    ! compgen -G "$XDG_RUNTIME_DIR/osprof/*.live" >&2 || fail "live files left by: $*"
}

# Once as it is started by hand, once in the background: the message must reach the terminal either way.
refused() {
    assert_error "$1" "$OSPROFFS" -f "${@:2}"
    assert_error "$1" "$OSPROFFS" "${@:2}"
}

wrong_values() {
    local option
    for option in resolution=3 resolution=0 resolution=-1 resolution=16 resolution=x resolution= cache=some cache= \
        timing=fast timing= control=a/b control= control=. control=.. live= profile= \
        max_read=131072; do
        refused "${option%%=*}" -o "$option" "$lower" "$mnt"
    done
    refused default_permissions -o default_permissions,no_default_permissions "$lower" "$mnt"
    for option in nonsense nonsense=1; do
        refused "osproffs: unknown option $option; 'osproffs -h' lists the options" -o "$option" "$lower" "$mnt"
    done
    refused "osproffs: unknown option --nonsense: options are written as -o nonsense, or -o nonsense=VALUE; 'osproffs -h' lists them" \
        --nonsense "$lower" "$mnt"
    refused "osproffs: unknown option -z; 'osproffs -h' lists the options" -z "$lower" "$mnt"
}

wrong_paths() {
    refused "lower directory"
    refused "mount point" "$lower"
    refused third "$lower" "$mnt" third
    refused "$scratch/missing" "$scratch/missing" "$mnt"
    refused "$scratch/missing" "$lower" "$scratch/missing"
    echo >file
    refused "$scratch/file" "$scratch/file" "$mnt"
    refused "$scratch/file" "$lower" "$scratch/file"
    ln -s nowhere dangling
    refused "$scratch/dangling" "$scratch/dangling" "$mnt"
    refused "$scratch/dangling" "$lower" "$scratch/dangling"
}

# Over a mount of osproffs, whichever directory is to be seen through the new one. Other mounts may be covered.
over_mount() {
    mount_osproffs "$lower" "$mnt"
    local mounts_at_start live=$XDG_RUNTIME_DIR
    mounts_at_start=$(mounts_below "$scratch")
    mkdir -p beside runtime
    export XDG_RUNTIME_DIR=$scratch/runtime
    for from in "$lower" "$scratch/beside" "$mnt" "$mnt/."; do
        refused "cannot mount on $mnt: it is a mount of osproffs already, of $lower: unmount it ('osprof unmount $mnt'), or choose another directory" \
            "$from" "$mnt"
    done
    XDG_RUNTIME_DIR=$live
    mkdir "$mnt/deeper"
    mount_osproffs "$lower" "$mnt/deeper"
    unmount_osproffs "$mnt/deeper"
    rmdir "$mnt/deeper"
    unmount_osproffs "$mnt"
    if is_root; then
        mount -t tmpfs none "$mnt"
        mount_osproffs "$lower" "$mnt"
        unmount_osproffs "$mnt"
        ! mountpoint -q "$mnt" || umount "$mnt"
    fi
}

wrong_places() {
    refused "$scratch/missing/out" -o "profile=$scratch/missing/out" "$lower" "$mnt"
    refused "$lower" -o "profile=$lower" "$lower" "$mnt"
    refused "$scratch/missing" -o "live=$scratch/missing" "$lower" "$mnt"
    mkfifo fifo # nobody reads it: no reason to wait for ever
    refused "$scratch/fifo" -o "profile=$scratch/fifo" "$lower" "$mnt"
    ! is_root || mount_read_only
}

# Root may write to any directory, but not on a read-only file system.
mount_read_only() {
    mkdir read-only
    mount -t tmpfs -o ro,size=64k tmpfs read-only
    local named
    for named in "profile=$scratch/read-only/out" "live=$scratch/read-only"; do
        ! timeout 20 "$OSPROFFS" -f -o "$named" "$lower" "$mnt" 2>err >/dev/null || fail "accepted: $named"
        grep -qF "$scratch/read-only" err || fail "not named: $(cat err)"
        assert_unmounted "$mnt"
    done
    umount read-only
}

unwritable_for_users() {
    need setpriv
    mkdir -m 0755 "$scratch/roots"
    chown "$user_uid" "$mnt" "$lower"
    assert_error "$scratch/roots/out" setpriv --reuid="$user_uid" --regid="$user_gid" --clear-groups \
        env XDG_RUNTIME_DIR="$scratch/run-user" "$OSPROFFS" -f -o "profile=$scratch/roots/out" "$lower" "$mnt"
    chown 0 "$mnt" "$lower"
}

broken_profiles() {
    local broken
    printf 'OP_READ 1 1000\n 0 0 5\n' >sum
    printf 'OP_READ -1 1000\n' >negative
    printf 'OP_READ 1\n' >short
    printf '# osprof 1\nOP_READ 99999999999999999999 5\n' >overflow
    printf '# osprof 1\nOP_\0READ 1 5\n' >nul
    printf 'once upon a time\n' >prose
    head -c 5000 /dev/urandom >noise
    : >empty-file
    for broken in sum negative short overflow nul prose noise missing-file lower; do
        assert_error "$broken" "$OSPROF" show "$scratch/$broken"
        assert_error "$broken" "$OSPROF" show --check "$scratch/$broken"
    done
    for broken in sum noise empty-file missing-file lower; do
        assert_error "$broken" "$OSPROF" save -o saved "$scratch/$broken"
        assert_error "$broken" "$OSPROF" save --remove -o saved "$scratch/$broken"
    done
    assert_error "$lower" "$OSPROF" ctl "$lower" reset # no mount
    assert_error "$lower" "$OSPROF" save --rotate "$lower" -o saved
    [ ! -e saved ] || fail "a wrong profile is saved"
    assert_error nonsense "$OSPROF" nonsense
    for broken in check merge recover dump rotate reset groups calibrate; do # names that it had once
        assert_error "'$broken' is not a command" "$OSPROF" "$broken" "$lower"
    done
}

wrong_values
wrong_paths
over_mount
wrong_places
! is_root || unwritable_for_users
broken_profiles
