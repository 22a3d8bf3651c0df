#!/bin/bash
# alternating_osproffs, which bench/profiling-cost measures with: it goes both ways alternately, and exactly the calls that it
# says went through the prof layer are in the profile.
. "$(dirname "$0")/lib.sh"

need_fuse
OSPROFFS=${OSPROFFS%src/fuse/osproffs}bench/alternating_osproffs

export ALTERNATING_OSPROFFS=$PWD/turns
mount_osproffs -s "$lower" "$mnt"
for hundred in {0..19}; do # turns of both ways, however fast this is
    mkdir "$mnt/$hundred" "$mnt/$hundred"/{1..99}
done
unmount_osproffs "$mnt"
"$OSPROF" show --check "$final_profile"
[ -d "$lower/19/99" ] || fail "calls did not reach the lower directory"
recorded=$(awk '/^OP_/ { calls += $2 } END { print calls + 0 }' "$final_profile")
assert_eq "$recorded" "$(awk '{ calls += $2 } END { print calls + 0 }' turns)" "calls that were profiled"
for way in full off; do
    grep -q "^$way " turns || fail "never $way: $(<turns)"
done
[ "$(awk '{ calls += $3 } END { print calls + 0 }' turns)" -gt 0 ] || fail "every call was profiled"

# What cannot be measured is refused before anything is mounted.
refused() {
    local status=0
    "$OSPROFFS" -f "${@:2}" "$lower" "$mnt" 2>err || status=$?
    assert_eq "2 alternating_osproffs: $1" "$status $(<err)"
}
refused "there is nothing to leave out (timing=off)" -o timing=off
unset ALTERNATING_OSPROFFS
refused "ALTERNATING_OSPROFFS must name a file for what is measured"
