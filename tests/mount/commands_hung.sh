#!/bin/bash
# While a call that makes something in the root hangs below, and holds the lock of the root's directory, the profile can
# be looked at, saved, rotated and reset, and the mount be ended with its profile.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need_root
need fsfreeze mkfs.ext4 pgrep

before_cleanup() {
    thaw
    wait
}

truncate -s 16M "$scratch/image"
mkfs.ext4 -q "$scratch/image"
mount -o loop "$scratch/image" "$lower" || skip "cannot mount a file"

hangs() {
    "$OSPROF" show "$mnt" | grep -q '^CREATE'
}

# The same without asking for the call's path.
has_call_in_flight() {
    "$OSPROF" show --check "$mnt" | grep -q 'in flight'
}

# The paths of calls in flight, of what osprof show says.
paths_in_flight() {
    sed -n '/^Calls in flight/,/^operation/p' "$1" | tr -d ' \n'
}

# within_time COMMAND...: what steps into the mount would wait until it thaws
within_time() {
    timeout -k 1 20 "$@" || fail "status $?: $*"
}

"$OSPROFFS" -o "profile=$scratch/final,slow=20ms" "$lower" "$mnt"
mkdir "$mnt/before"
freeze "$lower"
touch "$mnt/hung" &
wait_until 30 has_call_in_flight || fail "no call hangs"
# the path is asked for without a step into the mount, which nobody could take back
within_time "$OSPROF" show "$mnt" >"$scratch/shown"
paths_in_flight "$scratch/shown" | grep -qF "$lower" || fail "no path of the call in flight: $(<"$scratch/shown")"
! pgrep -f "$OSPROF .*$mnt" >&2 || fail "processes of commands are left"
within_time "$OSPROF" save "$mnt" -o "$scratch/dumped" 2>"$scratch/said"
assert_eq 1 "$(profile_calls CREATE "$scratch/dumped")" "CREATE in flight"
assert_eq "" "$(<"$scratch/said")" "what is said of a profile that is whole"
within_time "$OSPROF" save --rotate "$mnt" -o "$scratch/rotated"
assert_eq 1 "$(profile_calls MKDIR "$scratch/rotated")" "MKDIR before the rotation"
within_time "$OSPROF" ctl "$mnt" events "$scratch/events"
within_time "$OSPROF" ctl "$mnt" events off
assert_refused "osprof: $mnt: events off failed: no events are recorded" timeout 20 "$OSPROF" ctl "$mnt" events off
within_time "$OSPROF" ctl "$mnt" reset
within_time "$OSPROF" why "$mnt" >/dev/null
within_time "$OSPROF" show "$mnt" >/dev/null
# somebody hangs in it: it can only be taken away lazily
within_time umount -l "$mnt"
thaw
wait
wait_until 30 test -s "$scratch/final" || fail "no final profile"
assert_eq 0 "$(profile_calls MKDIR "$scratch/final")" "MKDIR after the reset"

# the socket lies below the mount: it is made before, and removed nevertheless
mkdir "$lower/run"
XDG_RUNTIME_DIR=$lower/run timeout 20 "$OSPROFFS" -o "profile=$scratch/final" "$lower" "$lower" || fail "does not mount over its socket"
mkdir "$lower/above"
XDG_RUNTIME_DIR=$lower/run within_time "$OSPROF" ctl "$lower" reset
within_time umount "$lower"
wait_until 30 test ! -e "$lower/run/osprof/"*.sock || fail "the socket is left"

# nobody waits for an answer, and what the end must ask hangs nonetheless
"$OSPROFFS" -o "profile=$scratch/final" "$lower" "$mnt"
mkdir "$mnt/after"
freeze "$lower"
within_time "$OSPROF" unmount "$mnt" >"$scratch/out"
assert_eq "The profile is in $scratch/final." "$(<"$scratch/out")" "what it says"
assert_eq 1 "$(profile_calls MKDIR "$scratch/final")" "MKDIR while frozen"
thaw

# the daemon is told to end while a call hangs: it saves, though its worker stays in the kernel until it thaws
rm "$scratch/final"
"$OSPROFFS" -o "profile=$scratch/final" "$lower" "$mnt"
mkdir "$mnt/last"
pid=$(basename "$scratch/run/osprof/"*.live .live)
freeze "$lower"
touch "$mnt/hung-too" 2>/dev/null &
wait_until 30 hangs || fail "no call hangs"
kill -TERM "$pid"
wait_until 20 test -s "$scratch/final" || fail "no final profile after SIGTERM"
assert_eq 1 "$(profile_calls MKDIR "$scratch/final")" "MKDIR, ended by a signal"
assert_eq 1 "$(profile_calls CREATE "$scratch/final")" "CREATE in flight"
thaw
wait_for_end "$pid" 20 || fail "the daemon does not end"
