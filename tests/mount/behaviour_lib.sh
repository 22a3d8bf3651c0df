# shellcheck shell=bash
# What the tests of single behaviours share: topics of the program behaviour are run in a lower directory and in a mount
# of it, by root and by another user, in both permission modes, and their outputs are compared. Source after lib.sh and
# helpers.sh, whose variables it uses.
# shellcheck disable=SC2154 # assigned there

behaviour=$TEST_PROGRAMS/behaviour
different=0

# run_topics BELOW REACHED AS CACHED_MS TOPIC...: each in a fresh directory that anyone may work in, which is made as
# BELOW and in which the topic runs as REACHED
run_topics() {
    local below=$1 reached=$2 as=$3
    export BELOW=$below CACHED_MS=$4
    shift 4
    rm -rf "$below"
    mkdir "$below"
    mkdir -m 0777 "${@/#/$below/}"
    # shellcheck disable=SC2086 # the function as_user, or nothing
    $as "$behaviour" "$reached" "$@" 2>&1 || echo "exit status $?"
}

# compare_topics OPTIONS AS TOPIC...: through a mount that is there. Where the kernel may answer by itself it is given the
# second for which it may.
compare_topics() {
    local options=$1 as=$2 cached_ms=1200
    shift 2
    case $options in
    *cache=none* | *no_default_permissions*) cached_ms=0 ;;
    esac
    run_topics "$lower/direct" "$lower/direct" "$as" 0 "$@" >"$scratch/below"
    run_topics "$lower/mounted" "$mnt/mounted" "$as" "$cached_ms" "$@" >"$scratch/above"
    ! grep -q 'behaviour: \|^exit status' "$scratch/below" || fail "the program failed: $(<"$scratch/below")"
    diff "$scratch/below" "$scratch/above" >&2 && return 0
    printf '^ these differ (%s%s, on %s)\n' "$options" "${as:+, as another user}" "$(stat -fc %T "$lower")" >&2
    different=$((different + 1))
}

# compare OPTIONS AS TOPIC...: in a mount with these options
compare() {
    mount_osproffs -o "$1" "$lower" "$mnt"
    compare_topics "$@"
    unmount_osproffs "$mnt"
}

# on FILE-SYSTEM COMMAND...: with $lower on a new one, made with MKFS_OPTIONS and of SIZE (64M) unless it is tmpfs
on() {
    local type=$1
    shift
    case $type in
    tmpfs) mount -t tmpfs -o size=64m,mode=0755 tmpfs "$lower" ;;
    *)
        mkdir -p "$scratch/memory" # no disk is waited for
        mount -t tmpfs tmpfs "$scratch/memory"
        truncate -s "${SIZE:-64M}" "$scratch/memory/image"
        # shellcheck disable=SC2086 # options
        "mkfs.$type" -q ${MKFS_OPTIONS:-} "$scratch/memory/image" >"$scratch/mkfs" 2>&1 || fail "mkfs.$type: $(<"$scratch/mkfs")"
        mount -o loop "$scratch/memory/image" "$lower"
        chmod 0755 "$lower"
        ;;
    esac
    "$@"
    umount "$lower"
    ! mountpoint -q "$scratch/memory" || umount "$scratch/memory"
}

# The last line of a test: it fails here, so that one run shows every difference.
end_comparison() {
    [ "$different" -eq 0 ] || fail "$different comparisons differ"
}
