#!/bin/bash
# Sampled profiles: what happened when, adding up to the whole; from the mount option and from the control command.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

# rows OP PROFILE: one line for each interval up to the last that has calls of OP: how many
rows() {
    awk -v op="OP_$1" '/^OP_/ { found = $1 == op; next }
        found { sum = 0; for (i = 1; i <= NF; i++) sum += $i; print sum }' "$2"
}

sum() {
    awk '{ sum += $1 } END { print sum + 0 }'
}

# value KEY PROFILE
value() {
    sed -n "s/^# $1: //p" "$2"
}

mount_osproffs -o cache=none,interval=0.1 "$lower" "$mnt"
mkdir "$mnt"/{1,2,3,4,5}
sleep 0.5
rmdir "$mnt"/{1,2,3,4,5}
cat "$mnt/.osprof" >"$scratch/profile"
"$OSPROF" show --check "$scratch/profile" >/dev/null
assert_eq 5 "$(profile_calls MKDIR "$scratch/profile")" "MKDIR in all"
assert_eq 5 "$(rows MKDIR "$scratch/profile" | sum)" "MKDIR in all intervals"
assert_eq 5 "$(rows RMDIR "$scratch/profile" | sum)" "RMDIR in all intervals"
made=$(rows MKDIR "$scratch/profile" | wc -l) removed=$(rows RMDIR "$scratch/profile" | wc -l)
[ $((removed - made)) -ge 3 ] || fail "calls 0.5 s apart are $((removed - made)) intervals apart"
count=$(value borders "$scratch/profile" | wc -w)
[ "$count" -ge "$removed" ] || fail "$removed intervals and $count borders"
assert_eq "$(value elapsed "$scratch/profile")" "$(value borders "$scratch/profile" | awk '{ print $NF }')" "last border"

command_control "interval off"
assert_eq "" "$(value interval "$mnt/.osprof")" "interval, when off"
command_control "interval 20ms"
sleep 0.2
[ "$(value borders "$mnt/.osprof" | wc -w)" -ge 3 ] || fail "no intervals after the command"
for wrong in interval "interval 0.001" "interval 1ms" "interval 25h" "interval 1d" "interval -1" "interval 1 2" "interval 100000"; do
    ! command_control "$wrong" 2>/dev/null || fail "accepted: $wrong"
done
[ -n "$(value interval "$mnt/.osprof")" ] || fail "a wrong command has ended the sampling"
unmount_osproffs "$mnt"
[ -n "$(value borders "$final_profile")" ] || fail "the final profile has no intervals"
"$OSPROF" show --check "$final_profile" >/dev/null

# Few intervals are merged, and nothing is lost by it.
mount_osproffs -o cache=none,interval=0.01,intervals=4 "$lower" "$mnt"
for number in $(seq 20); do
    mkdir "$mnt/$number"
    sleep 0.02
done
unmount_osproffs "$mnt"
assert_eq 20 "$(rows MKDIR "$final_profile" | sum)" "MKDIR in all intervals, merged"
[ "$(value borders "$final_profile" | wc -w)" -le 5 ] || fail "more intervals than allowed"
