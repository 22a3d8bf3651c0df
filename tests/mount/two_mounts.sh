#!/bin/bash
# Two mounts over one directory under load at the same time: each profile has exactly the calls of its mount, records that both
# append to one file are whole, and both show the same.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need python3
calls=1009
other=$scratch/other
mkdir "$other"

# work MOUNT NAME: its own names in the shared directory, and a record for each in the shared file
work() {
    python3 -c '
import os, sys
os.chdir(sys.argv[1])
name, calls = sys.argv[2], int(sys.argv[3])
log = os.open("log", os.O_WRONLY | os.O_APPEND)
for number in range(calls):
    os.mkdir(f"{name}-{number}")
    os.rename(f"{name}-{number}", f"{name}-moved-{number}")
    assert os.write(log, f"{name} {number:090}\n".encode()) == 93
    if number % 7:
        os.rmdir(f"{name}-moved-{number}")' "$1" "$2" "$calls"
}

assert_exact() { # PROFILE
    "$OSPROF" show --check "$1" >/dev/null || fail "osprof show --check finds fault with $1"
    assert_eq "$calls $calls $calls $((calls - (calls + 6) / 7))" \
        "$(profile_calls MKDIR "$1") $(profile_calls RENAME "$1") $(profile_calls WRITE "$1") $(profile_calls RMDIR "$1")" \
        "MKDIR, RENAME, WRITE and RMDIR of $1"
}

# two_mounts OPTIONS
two_mounts() {
    : >"$lower/log"
    mount_osproffs -o "$1" "$lower" "$mnt"
    local first=$final_profile second pids=()
    mount_osproffs -o "$1" "$lower" "$other"
    second=$final_profile
    work "$mnt" a &
    pids+=("$!")
    work "$other" b &
    pids+=("$!")
    for pid in "${pids[@]}"; do
        wait "$pid" || fail "the load fails with $1"
    done
    assert_eq "$(cd "$mnt" && find . -printf '%p %i %y %s\n' | sort)" "$(cd "$other" && find . -printf '%p %i %y %s\n' | sort)" \
        "what both show"
    unmount_osproffs "$mnt"
    unmount_osproffs "$other"
    assert_exact "$first"
    assert_exact "$second"
    assert_eq "$calls $calls $((2 * calls))" "$(grep -cE '^a [0-9]{90}$' "$lower/log") $(grep -cE '^b [0-9]{90}$' "$lower/log") \
$(wc -l <"$lower/log")" "records of both, and lines"
    find "$lower" -mindepth 1 -delete
}

two_mounts cache=none
two_mounts cache=none,by=process,interval=0.05

# Both end in the same moment, killed or not: neither takes the other's live file or profile.
ends_together() {
    local first second first_live second_live
    mount_osproffs -o "profile=$scratch/out-a" "$lower" "$mnt"
    first=$daemon_pid first_live=$(live_file)
    mount_osproffs -o "profile=$scratch/out-b" "$lower" "$other"
    second=$daemon_pid second_live=$(live_file)
    mkdir "$mnt"/{1..5} "$other"/{6..8}
    kill -KILL "$first"
    kill -TERM "$second"
    wait_for_end "$second" 20 || fail "it does not end"
    wait "$first" 2>/dev/null || true
    wait "$second" || fail "the other one fails: $?"
    try_unmount "$mnt" || fail "cannot unmount what is left"
    "$OSPROF" save "$first_live" >recovered
    assert_eq '5 3' "$(profile_calls MKDIR recovered) $(profile_calls MKDIR "$scratch/out-b")" "MKDIR of both"
    [ ! -e "$second_live" ] || fail "its live file stays"
    rm "$first_live"
}
ends_together
