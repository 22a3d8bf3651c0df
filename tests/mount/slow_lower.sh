#!/bin/bash
# slow_osproffs, which bench/compare-accuracy makes known differences with: as many calls are slow as was asked for, by as
# much, and no other op is.
. "$(dirname "$0")/lib.sh"

need_fuse
OSPROFFS=${OSPROFFS%src/fuse/osproffs}bench/slow_osproffs

# calls_above NANOSECONDS OP: how many finished calls took at least as long, give or take a bucket
calls_above() {
    awk -v ns="$1" -v op="OP_$2" '
        /^# clock:/ { hz = $4 }
        $1 ~ /^OP_/ { mine = $1 == op; next }
        mine { for (b = 0; b < NF; b++) if (2 ^ (b + 1) > ns * hz / 1e9) calls += $(b + 1); mine = 0 }
        END { print calls + 0 }' "$final_profile"
}

# 20 MKDIR, of which those with the fraction of n * golden ratio below 0.3 wait for 50 ms; 20 RMDIR, 0.05 ms each.
export SLOW_OSPROFFS=MKDIR:50000000:0.3,RMDIR:50000:1
mount_osproffs "$lower" "$mnt"
for number in {1..20}; do
    mkdir "$mnt/$number"
done
for number in {1..20}; do
    rmdir "$mnt/$number"
done
unmount_osproffs "$mnt"
"$OSPROF" show --check "$final_profile"
wanted=$(awk 'BEGIN { for (n = 0; n < 20; n++) { x = n * 0.6180339887498949; slow += x - int(x) < 0.3 }; print slow }')
[ "$wanted" -gt 4 ] || fail "only $wanted slow calls were asked for"
[ "$(calls_above 50000000 MKDIR)" -ge "$wanted" ] || fail "fewer than $wanted slow MKDIR in $(<"$final_profile")"
assert_eq 20 "$(profile_calls MKDIR "$final_profile")" "calls of MKDIR"
[ "$(calls_above 50000 RMDIR)" = 20 ] || fail "not every RMDIR is slow in $(<"$final_profile")"
[ ! -e "$lower/1" ] || fail "slow calls did not reach the lower directory"

# Nonsense is refused before anything is mounted.
for nonsense in READ READ:5 READ:-5:1 READ:5:2 NOSUCH:5:1 READ:5:1:1; do
    status=0
    SLOW_OSPROFFS=$nonsense "$OSPROFFS" -f "$lower" "$mnt" 2>err || status=$?
    assert_eq "2 slow_osproffs: SLOW_OSPROFFS: '$nonsense' must be OP:NANOSECONDS:SHARE" "$status $(<err)" "for $nonsense"
done
