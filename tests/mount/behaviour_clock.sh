#!/bin/bash
# The time of day is set forth and back while there are intervals, groups, a log of slow calls, events and rotations: all go on
# at once, no call is lost, durations are right, and the mount ends when it should. Only the daemon's clock is set.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need python3
OSPROFFS=$TEST_PROGRAMS/clocked_osproffs
export TEST_CLOCK=$scratch/clock
other=$scratch/other
shifts=(3600 -86400 0 31536000 -1)
caller=
before_cleanup() {
    [ -z "$caller" ] || kill -KILL "$caller" 2>/dev/null || true
    kill -CONT "${pid_of[$other]:-}" 2>/dev/null || true
}

set_clock() {
    printf '%-20d' "$1" 1<>"$TEST_CLOCK"
}
set_clock 0

# call_on DIR NAMES: makes a directory every few milliseconds and removes it. For each line of NAMES, it calls itself so, and
# waits for a lock for 300 ms. Prints how many it made.
cat >call_on.py <<'PYTHON'
import fcntl, os, select, sys, threading, time
os.chdir(sys.argv[1])
names = os.open(sys.argv[2], os.O_RDONLY)
first, second = open("lock", "w"), open("lock", "w")
made = 0
while True:
    if select.select([names], [], [], 0.005)[0]:
        name = os.read(names, 100).decode().strip()
        if not name:
            break
        with open("/proc/self/comm", "w") as comm:
            comm.write(name)
        fcntl.flock(first, fcntl.LOCK_EX)
        threading.Timer(0.3, fcntl.flock, (first, fcntl.LOCK_UN)).start()
        fcntl.flock(second, fcntl.LOCK_EX)
        fcntl.flock(second, fcntl.LOCK_UN)
    os.mkdir("made")
    os.rmdir("made")
    made += 1
print(made)
PYTHON

begin_to_call() {
    mkfifo "$scratch/names"
    python3 call_on.py "$mnt" "$scratch/names" >made &
    caller=$!
    exec {names}>"$scratch/names"
}

end_calling() {
    exec {names}>&-
    wait "$caller" || fail "the caller fails"
    caller=
    rm "$scratch/names"
}

logged() { # COUNT
    [ "$(grep -c '"op": "SETLKW"' "$scratch/slow")" -ge "$1" ]
}

is_shown() { # NAME
    "$OSPROF" show --by process "$mnt" | grep -q "$1"
}

header() { # KEY FILE
    sed -n "s/^# $1: //p" "$2"
}

everything_goes_on() {
    local count=0 shift elapsed borders
    mount_osproffs -o "flock,interval=0.05,by=process,slow=10ms,slowlog=$scratch/slow,events=$scratch/events" "$lower" "$mnt"
    begin_to_call
    for shift in "${shifts[@]}"; do
        count=$((count + 1))
        set_clock "$shift"
        echo "caller-$count" >&"$names"
        wait_until 20 logged "$count" || fail "no line for slow call $count, with the clock at $shift"
        nap 200 # four intervals
        wait_until 20 is_shown "caller-$count" || fail "the caller is not known by its new name, with the clock at $shift"
    done
    end_calling
    unmount_osproffs "$mnt"
    "$OSPROF" show --check "$final_profile" >&2 || fail "the profile is inconsistent"
    assert_eq "$(<made)" "$(profile_calls MKDIR "$final_profile")" "MKDIR"
    assert_eq "$(<made)" "$("$OSPROF" events show "$scratch/events" | grep -c ' MKDIR ')" "MKDIR in the events"
    elapsed=$(header elapsed "$final_profile")
    [ "$elapsed" -lt 3000000000000 ] || fail "$elapsed cycles have passed" # 10 minutes at 5 GHz
    borders=$(header borders "$final_profile")
    [ "$(wc -w <<<"$borders")" -gt 5 ] || fail "hardly any intervals"
    assert_eq "$borders" "$(tr ' ' '\n' <<<"$borders" | sort -n | paste -sd ' ')" "borders, in order"
    python3 - "$scratch/slow" "${shifts[@]}" <<'PYTHON' || fail "the log of slow calls: $(<"$scratch/slow")"
import datetime, json, sys, time
calls = [json.loads(line) for line in open(sys.argv[1])]
waits = [call for call in calls if call["op"] == "SETLKW"]
assert len(waits) == len(sys.argv) - 2, calls
for call, shift in zip(waits, sys.argv[2:]):
    at = datetime.datetime.fromisoformat(call["time"].replace("Z", "+00:00")).timestamp()
    assert abs(at - time.time() - int(shift)) < 600, (call, shift)
PYTHON
}

# ---- Rotations by the clock

series() {
    find "$scratch/profiles" -name 'mnt-*Z.osprof' | sort
}

more_than() { # COUNT
    [ "$(series | wc -l)" -gt "$1" ]
}

rotations_go_on() {
    local shift file end='' total=0
    mkdir "$scratch/profiles"
    mount_osproffs -o "flock,rotate=1,profile=$scratch/profiles" "$lower" "$mnt"
    begin_to_call
    for shift in 3600 -3600; do
        set_clock "$shift"
        wait_until 20 more_than "$(series | wc -l)" || fail "no rotation, with the clock at $shift"
    done
    end_calling
    unmount_osproffs "$mnt"
    while read -r file; do
        "$OSPROF" show --check "$file" >/dev/null || fail "osprof show --check finds fault with $file"
        [ -z "$end" ] || assert_eq "$end" "$(header start "$file")" "beginning of $file"
        end=$(header end "$file")
        total=$((total + $(profile_calls MKDIR "$file")))
    done < <(series)
    assert_eq "$(<made)" "$total" "MKDIR of all spans"
}

# ---- The end

# What hangs is waited for two seconds, also if it is an hour earlier after one of them.
end_is_in_time() {
    is_root || return 0
    mkdir "$other" "$scratch/below"
    set_clock 0
    mount_osproffs "$scratch/below" "$other"
    mount_osproffs -o "flock,slow=10ms,slowlog=$other/slow,events=$other/events" "$lower" "$mnt"
    local log=$daemon_log
    begin_to_call
    echo first >&"$names"
    wait_until 20 test -s "$scratch/below/slow" || fail "nothing is logged"
    hang_daemon "${pid_of[$other]}"
    echo second >&"$names"
    nap 300
    end_calling
    umount -c "$mnt"
    nap 500
    set_clock -3600
    wait_until 20 grep -q "slowlog=.*: writing hangs" "$log" || fail "osproffs waits for the clock: $(<"$log")"
    kill -CONT "${pid_of[$other]}"
    wait_for_end "$daemon_pid" 20 || fail "osproffs does not end"
    unmount_osproffs "$other"
}

everything_goes_on
rotations_go_on
end_is_in_time
