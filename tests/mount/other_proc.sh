#!/bin/bash
# What callers may do is read in /proc by their numbers: where that is of another process namespace, these are of others.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need_fuse
need unshare
unshare --mount --pid --fork --mount-proc true 2>/dev/null || skip "cannot make namespaces"

# in_namespace UNSHARE-OPTION...: mounts in a process namespace of its own, and prints the status
in_namespace() {
    local status=0
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child "$@" -- bash -c '
        cd "$1" || exit
        [ -z "$3" ] || umount -l /proc
        "$2" -o allow_other,profile="$1/profile" "$1/lower" "$1/mnt" 2>"$1/said" || exit
        touch "$1/mnt/there"
        umount "$1/mnt"
        for ((i = 0; i < 600; i++)); do [ ! -e "$1/profile" ] || exit 0; sleep 0.1; done
        exit 9
    ' bash "$scratch" "$OSPROFFS" "${without:-}" || status=$?
    echo "$status"
}

assert_eq 2 "$(in_namespace)" "with the /proc of the namespace above"
grep -q 'cannot mount: /proc is missing, or of another process namespace' "$scratch/said" || fail "$(<"$scratch/said")"
without=proc
assert_eq 2 "$(in_namespace)" "without /proc"
grep -q 'cannot mount: /proc is missing' "$scratch/said" || fail "without /proc: $(<"$scratch/said")"
without=
[ ! -e "$lower/there" ] || fail "served all the same"
assert_eq 0 "$(in_namespace --mount-proc)" "with a /proc of its own"
[ -e "$lower/there" ] || fail "not served"
assert_eq 1 "$(profile_calls CREATE "$scratch/profile")" CREATE
