#!/bin/bash
# Many processes that create, link, rename and remove in shared directories at once: no wrong errors, in the end the
# mount shows exactly the lower tree, hard links are one inode, and every write was counted.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

# churn PROCESSES STEPS: prints the number of writes of all of them
churn() {
    local number pids=() writes=0
    for number in $(seq "$1"); do
        timeout 100 "$TEST_PROGRAMS/churn" "$mnt" "$number" "$2" >"$scratch/writes-$number" &
        pids+=($!)
    done
    for number in "${pids[@]}"; do
        wait "$number" || fail "a process failed"
    done
    for number in $(seq "$1"); do
        writes=$((writes + $(<"$scratch/writes-$number")))
    done
    echo "$writes"
}

assert_links_are_one_inode() {
    [ -n "$(find "$mnt" -type f -links +1 -print -quit)" ] || fail "no hard links came about"
    # inode, link count: as many names as the count says
    find "$mnt" -type f -printf '%i %n\n' | sort | uniq -c |
        awk '$1 != $3 { print "inode " $2 ": " $1 " names, " $3 " links"; wrong = 1 } END { exit wrong }' >&2 ||
        fail "links and names disagree"
}

for options in cache=auto cache=none -s; do
    case $options in
    -s) mount_osproffs -s "$lower" "$mnt" ;;
    *) mount_osproffs -o "$options" "$lower" "$mnt" ;;
    esac
    writes=$(churn 8 2003)
    assert_same_view "$lower" "$mnt"
    assert_links_are_one_inode
    unmount_osproffs "$mnt"
    assert_profiled LINK RENAME RENAME2 UNLINK
    [ "$writes" -gt 100 ] || fail "next to nothing was written"
    assert_eq "$writes" "$(profile_calls WRITE "$final_profile")" "writes in the profile ($options)"
done
