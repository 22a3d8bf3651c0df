#!/bin/bash
# Root of a container that has no user namespace of its own has the number 0, and few capabilities or none: it gets at
# files as uid 0 does, but does not command the profiler. Files are named by who sees the same directories as osproffs;
# others pass them opened.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need setpriv unshare chroot python3
unshare --mount --pid --uts --fork true 2>/dev/null || skip "cannot make namespaces"

docker=chown,dac_override,fowner,fsetid,kill,mknod,net_bind_service,setuid,setgid,setpcap,sys_chroot,audit_write,setfcap
sees=$scratch/sees # what a container has as its root

# with_only CAPABILITIES COMMAND...: as uid 0 with these only
with_only() {
    local kept=-all
    [ -z "$1" ] || kept=-all,+${1//,/,+}
    setpriv --bounding-set "$kept" --inh-caps "$kept" -- "${@:2}"
}

# as_contained WHO COMMAND...
as_contained() {
    case $1 in
    bare) with_only "" "${@:2}" ;;
    docker) with_only "$docker" "${@:2}" ;;
    container)
        local kept=-all,+${docker//,/,+}
        unshare --mount --pid --uts --fork -- chroot "$sees" setpriv --bounding-set "$kept" --inh-caps "$kept" -- "${@:2}"
        ;;
    esac
}

make_container() {
    mkdir "$sees"
    mount --rbind / "$sees"
    mount --make-rslave "$sees"
}

# assert_refused_to WHO COMMAND: the command is refused and has done nothing
assert_refused_to() {
    local who=$1 command=$2
    # shellcheck disable=SC2016 # for the inner shell
    ! as_contained "$who" sh -c 'printf "%s\n" "$1" >"$2/.osprof"' sh "$command" "$mnt" 2>"$scratch/err" ||
        fail "$who may: $command"
    grep -q 'Permission denied' "$scratch/err" || fail "$who, $command: $(<"$scratch/err")"
    assert_eq "precious" "$(<"$scratch/victim")" "a file of the host, after $who, $command"
    [ ! -e "$scratch/planted" ] || fail "$who, $command: a file has appeared"
    [ "$(profile_calls MKDIR "$mnt/.osprof")" -gt 0 ] || fail "$who, $command: the profile was reset"
}

commands_nothing() {
    local who=$1 command
    for command in "dump $scratch/victim" "dump $scratch/planted" "rotate $scratch/planted" "events $scratch/planted" \
        "events off" reset pause "slow 10ms" "interval 1" "joint READ size" dump; do
        assert_refused_to "$who" "$command"
    done
    # nor by the socket, which file systems let it reach
    for command in "ctl $mnt dump" "save --rotate $mnt -o $scratch/planted" "ctl $mnt reset" \
        "ctl $mnt events $scratch/planted"; do
        # shellcheck disable=SC2086 # words
        ! as_contained "$who" "$OSPROF" $command 2>"$scratch/err" || fail "$who may: osprof $command"
        grep -q 'permitted: the user who mounted it' "$scratch/err" || fail "$who, osprof $command: $(<"$scratch/err")"
        assert_eq "precious" "$(<"$scratch/victim")" "a file, after $who, osprof $command"
        [ ! -e "$scratch/planted" ] || fail "$who, osprof $command: a file has appeared"
    done
    # shellcheck disable=SC2016
    ! as_contained "$who" grep -q '^# longest.*secret' "$mnt/.osprof" || fail "$who is shown paths"
    as_contained "$who" grep -q '^OP_MKDIR' "$mnt/.osprof" || fail "$who is shown no profile"
    # the socket is refused, too
    ! as_contained "$who" "$OSPROF" save "$mnt" >"$scratch/saved" 2>"$scratch/err" || fail "$who saves the mount's profile"
    assert_eq "osprof: cannot save $mnt: Permission denied; permitted: the user who mounted it, and processes with CAP_SYS_ADMIN" \
        "$(<"$scratch/err")" "what is said to $who"
    [ ! -s "$scratch/saved" ] || fail "$who saves something: $(<"$scratch/saved")"
    # what the control file has is without paths and groups
    as_contained "$who" cat "$mnt/.osprof" >"$scratch/saved"
    grep -q '^OP_MKDIR' "$scratch/saved" || fail "$who copies no profile: $(<"$scratch/saved")"
    ! grep -E 'secret|^# file:' "$scratch/saved" || fail "$who copies paths"
}

# Who has all capabilities but sees other directories: text names no files, and what it has opened is taken.
elsewhere() {
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount -- bash -c '
        set -e
        mount -t tmpfs none "$1/private"
        ! printf "dump %s\n" "$1/private/text" >"$2/.osprof" 2>/dev/null
        [ ! -e "$1/private/text" ]
        printf "reset\n" >"$2/.osprof"
        mkdir "$2/there"
        "$3" save "$2" -o "$1/private/dumped"
        "$3" save --rotate "$2" -o "$1/private/rotated"
        "$3" ctl "$2" events "$1/private/events"
        rmdir "$2/there"
        "$3" ctl "$2" events off
        grep -q "^OP_MKDIR 1 " "$1/private/dumped"
        grep -q "^OP_MKDIR 1 " "$1/private/rotated"
        "$3" events profile "$1/private/events" | grep -q "^OP_RMDIR 1 "
    ' bash "$scratch" "$mnt" "$OSPROF"
    assert_eq "" "$(ls "$scratch/private")" "what the host has of it"
    grep -q "osprof save" "$daemon_log" || fail "the log does not say what to do"
}

end_strangers() {
    local stranger
    stranger=$(sed -n 's/^connected //p' "$scratch/strangers" 2>/dev/null) || true
    [ -z "$stranger" ] || kill "$stranger"
    : >"$scratch/strangers"
}

before_cleanup() {
    end_strangers
}

# Who connects, and may not ask, keeps nobody waiting: however many they are, and whatever they send.
keeps_nobody_waiting() {
    local who=$1 pid=${pid_of[$mnt]} i
    as_contained "$who" python3 "$tests_dir/strangers.py" "$XDG_RUNTIME_DIR/osprof/$pid.sock" >"$scratch/strangers" &
    wait_until 20 grep -q connected "$scratch/strangers" || fail "nobody connects to the socket"
    for ((i = 0; i < 10; i++)); do
        "$OSPROF" ctl "$mnt" reset || fail "$who keeps others from commanding"
        "$OSPROF" save --rotate "$mnt" -o "$scratch/beside" || fail "$who keeps others from passing a file"
    done
    end_strangers
    wait "$!" || true
    "$OSPROF" ctl "$mnt" reset || fail "no command after the strangers"
}

# A capability is not the file's owner: what it may not write is not written for it.
administrator_writes_with_his_own_rights() {
    mkdir -m 0700 "$scratch/roots"
    mkdir "$scratch/his"
    chown "$user_uid:$user_gid" "$scratch/his"
    local he=(setpriv --reuid "$user_uid" --regid "$user_gid" --clear-groups --inh-caps +sys_admin
        --ambient-caps +sys_admin --)
    # shellcheck disable=SC2016
    ! "${he[@]}" sh -c 'printf "dump %s\n" "$1" >>"$2/.osprof"' sh "$scratch/roots/dump" "$mnt" 2>/dev/null ||
        fail "an administrator writes where he may not"
    [ ! -e "$scratch/roots/dump" ] || fail "a file has appeared"
}

mkdir "$scratch/private"
echo precious >"$scratch/victim"
mount_osproffs -o allow_other,by=file "$lower" "$mnt"
mkdir "$mnt/secret" && touch "$mnt/secret/file"
make_container
for who in bare docker container; do
    commands_nothing "$who"
done
administrator_writes_with_his_own_rights
elsewhere
keeps_nobody_waiting bare
keeps_nobody_waiting docker
# and root as always
printf 'dump %s\n' "$scratch/victim" >"$mnt/.osprof"
grep -q '^# osprof 1' "$scratch/victim" || fail "root cannot dump"
umount -l "$sees"
unmount_osproffs "$mnt"
