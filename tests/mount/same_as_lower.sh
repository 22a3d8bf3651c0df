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
    mmap_shared,*cache=none* | mmap_attributes,*cache=none*) # before Linux 6.6 there are no such mappings
        kernel_is_from 6.6 && return 1
        [ "$1" != mmap_shared ] || echo "shared mapping: ENODEV"
        ;;
    open_flags,*data=passthrough*) echo 'five TWO' ;; # O_APPEND is what it was when the file was opened
    set_id_open,allow_other) # XFS takes the bits of an empty file when it is opened so, not when it is truncated
        [ "$(stat -fc %T "$lower")" = xfs ] && echo 'mode 106777'
        ;;
    *) return 1 ;;
    esac
}

# run_topics DIRECTORY OUTPUT AS TOPIC...: each in a fresh directory anyone may work in
run_topics() {
    local directory=$1 output=$2 as=$3
    shift 3
    rm -rf "$directory"
    mkdir "$directory"
    mkdir -m 0777 "${@/#/$directory/}"
    # shellcheck disable=SC2086 # the function as_user, or nothing
    $as "$probe" "$directory" "$@" >"$output" 2>&1 || echo "exit status $?" >>"$output"
}

# by_topic ARRAY OUTPUT: what each topic printed
by_topic() {
    local -n printed=$1
    local line topic=
    printed=()
    mapfile -t lines <"$2"
    for line in "${lines[@]}"; do
        case $line in
        "topic "*) topic=${line#topic } ;;
        *) printed[${topic:-none}]+=$line$'\n' ;;
        esac
    done
}

# Fails the test at its end only, so that one run shows every difference.
different=0
declare -A below above
compare_topic() {
    local topic=$1 options=$2 as=$3 refusal
    [ -n "${below[$topic]:-}" ] || fail "$topic printed nothing"
    [ "${below[$topic]}" != "${above[$topic]:-}" ] || return 0
    if refusal=$(may_refuse "$topic" "$options") && [[ ${above[$topic]:-} == *"$refusal"* ]]; then
        return
    fi
    printf '%s differs (%s%s, on %s):\n' "$topic" "$options" "${as:+, as another user}" "$(stat -fc %T "$lower")" >&2
    diff <(echo "${below[$topic]}") <(echo "${above[$topic]:-}") >&2 || true
    different=$((different + 1))
}

# compare_topics OPTIONS AS TOPIC...
compare_topics() {
    local options=$1 as=$2 topic
    shift 2
    run_topics "$lower/direct" "$scratch/below" "$as" "$@"
    run_topics "$mnt/mounted" "$scratch/above" "$as" "$@"
    by_topic below "$scratch/below"
    by_topic above "$scratch/above"
    [ "${below[none]:-} ${above[none]:-}" = " " ] || fail "the probe failed: $(cat "$scratch/below" "$scratch/above")"
    for topic; do
        compare_topic "$topic" "$options" "$as"
    done
}

# compare OPTIONS TOPIC...
compare() {
    mount_osproffs -o "allow_other,$1" "$lower" "$mnt"
    compare_topics "$1" "" "${@:2}"
    unmount_osproffs "$mnt"
}

compare_as_user() {
    mount_osproffs -o allow_other "$lower" "$mnt"
    compare_topics allow_other as_user "$@"
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
