#!/bin/bash
# Every file operation gives the same results below and above the mount: posix_probe's topics are run in a lower
# directory and in a mount of one, by root and by another user, on the file system of the scratch directory and on
# tmpfs, with the kernel's caches and without; their outputs are compared line by line.
. "$(dirname "$0")/lib.sh"

need_root
need setfacl getfacl
probe=$TEST_PROGRAMS/posix_probe
topics=$("$probe" --list)

# may_refuse TOPIC OPTIONS: prints the error that the mount may give instead.
may_refuse() {
    case $1,$2 in
    fallocate_shift,*) echo EOPNOTSUPP ;;                      # this libfuse's FUSE has no words for it
    mmap_shared,*cache=none*) echo "shared mapping: ENODEV" ;; # before Linux 6.6
    open_flags,*data=passthrough*) echo 'five TWO' ;; # O_APPEND is what it was when the file was opened
    set_id_open,allow_other) # XFS takes the bits of an empty file when it is opened so, not when it is truncated
        [ "$(stat -fc %T "$lower")" = xfs ] && echo 'mode 106777'
        ;;
    *) return 1 ;;
    esac
}

# A fresh directory anyone may work in.
make_room() {
    rm -rf "$1"
    mkdir -p "$1"
    chmod 0777 "$1"
}

# run_topic DIRECTORY TOPIC OUTPUT [AS]
run_topic() {
    make_room "$1"
    # shellcheck disable=SC2086 # the function as_user, or nothing
    ${4:-} timeout 60 "$probe" "$1" "$2" >"$3" 2>&1 || echo "exit status $?" >>"$3"
}

# Fails the test at its end only, so that one run shows every difference.
different=0
compare_topic() {
    local topic=$1 options=$2 as=${3:-} refusal
    run_topic "$lower/direct" "$topic" "$scratch/below" "$as"
    run_topic "$mnt/mounted" "$topic" "$scratch/above" "$as"
    [ -s "$scratch/below" ] || fail "$topic printed nothing"
    ! cmp -s "$scratch/below" "$scratch/above" || return 0
    if refusal=$(may_refuse "$topic" "$options") && grep -q "$refusal" "$scratch/above"; then
        return
    fi
    printf '%s differs (%s%s, on %s):\n' "$topic" "$options" "${as:+, as another user}" "$(stat -fc %T "$lower")" >&2
    diff "$scratch/below" "$scratch/above" >&2 || true
    different=$((different + 1))
}

# compare OPTIONS TOPIC...
compare() {
    local options=$1 topic
    shift
    mount_osproffs -o "allow_other,$options" "$lower" "$mnt"
    for topic; do
        compare_topic "$topic" "$options"
    done
    unmount_osproffs "$mnt"
}

compare_as_user() {
    local topic
    mount_osproffs -o allow_other "$lower" "$mnt"
    for topic; do
        compare_topic "$topic" allow_other as_user
    done
    unmount_osproffs "$mnt"
}

# shellcheck disable=SC2086 # a list
compare cache=auto $topics
# shellcheck disable=SC2086
compare cache=none $topics
compare cache=always inode_flags
if "$OSPROFFS" -V | grep -q +passthrough; then
    # shellcheck disable=SC2086
    compare data=passthrough $topics
fi
compare posix_lock,flock record_locks ofd_locks flock
# shellcheck disable=SC2086
compare_as_user ${topics//readdir/}
mount -t tmpfs -o size=64m,mode=0755 tmpfs "$lower"
# shellcheck disable=SC2086
compare cache=auto $topics
umount "$lower"
[ "$different" -eq 0 ] || fail "$different topics differ"
