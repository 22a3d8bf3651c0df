#!/bin/bash
# The lower file system hangs (a frozen ext4) with every worker in it: the live file still tells what hangs, since when;
# once it goes on, calls that took a second stand in that bucket; and SIGTERM ends the daemon also while it hangs, with
# the calls in flight in the final profile.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need mkfs.ext4 fsfreeze
writers=23

before_cleanup() {
    thaw
    wait_for_writers
}

pids=()
wait_for_writers() {
    local pid
    for pid in ${pids[@]+"${pids[@]}"}; do
        wait "$pid" || true
    done
    pids=()
}

# Only one mkdir in a directory reaches the daemon at a time, so each has its own.
start_writers() {
    local number
    for number in $(seq "$writers"); do
        timeout -s KILL 60 mkdir "$mnt/place-$number/made" 2>/dev/null &
        pids+=($!)
    done
}

all_hang() {
    [ "$("$OSPROF" save "$live" | calls_in_flight)" -eq "$writers" ]
}

# What the counts say: calls less buckets.
calls_in_flight() {
    awk '$1 == "OP_MKDIR" { calls = $2; getline; for (i = 1; i <= NF; i++) calls -= $i; print calls; found = 1 }
        END { if (!found) print 0 }'
}

shows_hung_calls() {
    timeout 20 "$OSPROF" show --width 200 "$1" >"$scratch/shown" || fail "osprof show $1 does not answer"
    sed -n '/in flight/,/^$/p' "$scratch/shown" >"$scratch/hanging"
    assert_eq "$writers" "$(grep -Ec 'MKDIR +[0-9.]+ m?s' "$scratch/hanging")" "calls listed by osprof show $1"
}

# slow_calls PROFILE: calls of MKDIR that took between half a second and eight, by their buckets
slow_calls() {
    awk '/^# clock:/ { hz = $4 }
        $1 == "OP_MKDIR" {
            getline
            for (bucket = 0; bucket < NF; bucket++)
                if (2 ^ bucket >= hz / 4 && 2 ^ bucket < hz * 8) slow += $(bucket + 1)
            print slow + 0
        }' "$1"
}

truncate -s 32M image
mkfs.ext4 -q image
mount -o loop image "$lower" 2>/dev/null || skip "no loop devices"
mkdir "$lower"/place-{1..23}

mount_osproffs "$lower" "$mnt"
live=$(live_file)
stat "$mnt"/place-* >/dev/null
freeze "$lower"
start_writers
wait_until 20 all_hang || fail "not every call hangs: $("$OSPROF" save "$live" | calls_in_flight) do"
shows_hung_calls "$live"
shows_hung_calls "$mnt"
# Of the mount also who they are, and what they work on.
assert_eq "$writers" "$(grep -Ec "MKDIR +[0-9.]+ m?s +[0-9]+  mkdir +$lower/" "$scratch/hanging" || true)" \
    "programs and paths: $(<"$scratch/hanging")"
timeout 20 "$OSPROF" show --json "$mnt" >"$scratch/shown" || fail "no JSON of what hangs"
assert_eq "$writers" "$(grep -c '"program": "mkdir"' "$scratch/shown")" "programs in JSON"
assert_eq "$writers" "$(grep -c "\"path\": \"$lower/place-" "$scratch/shown")" "paths in JSON"
sleep 1
thaw
wait_for_writers
assert_eq "$writers" "$(find "$lower" -name made | wc -l)" "directories made after all"
unmount_osproffs "$mnt"
"$OSPROF" show --check "$final_profile" >&2
assert_eq "$writers" "$(slow_calls "$final_profile")" "calls that took about as long as it hung"
rmdir "$lower"/place-*/made

mount_osproffs "$lower" "$mnt"
live=$(live_file)
stat "$mnt"/place-* >/dev/null
freeze "$lower"
start_writers
wait_until 20 all_hang || fail "not every call hangs"
kill -TERM "$daemon_pid"
wait_until 15 test -s "$final_profile" || fail "no final profile within 15 s"
assert_eq "$writers" "$(calls_in_flight <"$final_profile")" "calls in flight in the final profile"
assert_eq "$writers" "$(grep -c '^# call: MKDIR age ' "$final_profile")" "calls in flight that it names"
assert_eq "$writers" "$(sed -n 's/^# call: MKDIR age .* path \([^ ]*\) .*/\1/p' "$final_profile" | sort -u |
    grep -cx "$lower/place-[0-9]*")" "paths of the directories in which they hang"
thaw
wait_for_writers
assert_status 0 "SIGTERM while calls hang"
assert_unmounted "$mnt"
umount "$lower"
