#!/bin/bash
# Calls recorded one by one: under two callers, with resets, pauses and rotations between them, the profile that is made
# of them is the one that was recorded; nobody else can read them; they can be begun and ended while calls go on; a full
# disk, a limit and SIGKILL take no more than is said.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/two_callers.sh"

need tar

# ---- Load

begin_load() {
    mkdir -p "$lower/copy"
    touch "$scratch/go-on"
    read_on &
    callers=($!)
    write_on &
    callers+=($!)
}

end_load() {
    rm -f "$scratch/go-on"
    [ ${#callers[@]} -eq 0 ] || wait "${callers[@]}"
    callers=()
}

before_cleanup() {
    thaw
    end_load
}

# ---- What is compared

# ops_of PROFILE: a line for each op, with its calls, total and buckets; without groups
ops_of() {
    awk '/^# uid: / { exit } /^OP_/ { op = $0; next } /^ / && op { print op, $0; op = "" }' "$1" | sort
}

# beside_of PROFILE: bytes and failures
beside_of() {
    awk '/^# uid: / { exit } /^# (bytes|failed): /' "$1" | sort
}

# assert_same_profile EVENTS PROFILE [OPTION...]
assert_same_profile() {
    local file=$1 profile=$2
    shift 2
    timeout 60 "$OSPROF" events profile "$@" "$file" >made || fail "no profile of $file"
    diff <(ops_of "$profile") <(ops_of made) >&2 || fail "the profile of $file (>) is not the recorded one (<)"
    diff <(beside_of "$profile") <(beside_of made) >&2 || fail "bytes and failures of $file (>) are not those recorded (<)"
    [ "$(ops_of made | wc -l)" -gt 3 ] || fail "hardly any calls in $file"
}

# events_in FILE: how many calls it holds
events_in() {
    timeout 60 "$OSPROF" events profile --all "$1" 2>/dev/null | awk '/^OP_/ { calls += $2 } END { print calls + 0 }'
}

calls_in() {
    awk '/^# uid: / { exit } /^OP_/ { calls += $2 } END { print calls + 0 }' "$1"
}

# ---- Tests

profile_of_events_is_the_recorded_one() {
    local round file
    mount_osproffs -o "$1,events=$scratch/events" "$lower" "$mnt"
    begin_load
    for round in {1..12}; do
        nap 60
        command_control pause
        nap 15
        command_control resume
        wait_until 20 called_since 0 || fail "hardly any calls"
        [ "$round" -ne 4 ] || command_control reset
        [ "$round" -ne 6 ] || command_control "rotate $scratch/span"
        [ "$round" -ne 9 ] || command_control pause$'\n'reset$'\n'resume
        [ "$round" -ne 10 ] || command_control "rotate $scratch/last-span"
    done
    wait_until 20 called_since 0 || fail "hardly any calls"
    end_load
    unmount_osproffs "$mnt"
    ! grep -q dropped "$daemon_log" || skip "this machine could not save all calls: $(cat "$daemon_log")"
    assert_same_profile events "$final_profile"
    assert_same_profile events span --span 2
    assert_same_profile events last-span --span 4
    rm span last-span
    find "$lower" -mindepth 1 -delete
}

events_are_their_owners_alone() {
    mount_osproffs -o "events=$scratch/events" "$lower" "$mnt"
    known_load "$mnt"
    assert_eq 600 "$(stat -c %a events)" "permissions"
    command_control "events off"
    assert_refused "No data available" command_control "events off"
    assert_refused "osprof: $mnt: events off failed: no events are recorded" "$OSPROF" ctl "$mnt" events off
    assert_refused "Invalid argument" command_control events
    assert_refused "File exists" command_control "events $scratch/events"
    assert_refused "Too many levels of symbolic links" command_control "events $mnt/inside"
    command_control "events $scratch/other"
    assert_refused "Device or resource busy" command_control "events $scratch/third"
    assert_eq 600 "$(stat -c %a other)" "permissions of a command's file"
    if is_root; then
        chmod 755 "$scratch"
        ! as_user head -c 1 "$scratch/events" >/dev/null 2>&1 || fail "another user can read the events"
    fi
    unmount_osproffs "$mnt"
    [ ! -e third ] || fail "a refused command has made a file"
    rmdir "$lower"/known-*
    rm other
}

# As osprof ctl asks for it, a file of events that is there is kept under another name, and by a refused command as it is.
ctl_keeps_older_files() {
    mount_osproffs "$lower" "$mnt"
    "$OSPROF" ctl "$mnt" events again
    known_load "$mnt"
    "$OSPROF" ctl "$mnt" events off
    "$OSPROF" ctl "$mnt" events again
    [ "$(events_in again.old)" -gt 10 ] || fail "the older file is not kept"
    assert_refused "events go to another file already; 'events off' ends that" "$OSPROF" ctl "$mnt" events again
    [ -e again ] || fail "a refused command takes away the file to which events go"
    [ "$(events_in again.old)" -gt 10 ] || fail "a refused command loses an older file"
    rmdir "$mnt"/known-*
    "$OSPROF" ctl "$mnt" events off
    [ "$(events_in again)" -gt 5 ] || fail "hardly any calls after a refused command"
    echo notes >notes
    assert_refused "cannot write notes: it is there, and is no result of osprof; --force replaces it" "$OSPROF" ctl "$mnt" events notes
    assert_eq notes "$(<notes)" "what is no result"
    "$OSPROF" ctl --force "$mnt" events notes
    unmount_osproffs "$mnt"
    [ ! -e notes.old ] || fail "a copy that nobody asked for"
    rm again again.old notes
}

# The one of the last mount is kept.
old_file_is_kept() {
    cp events before
    mount_osproffs -o "events=$scratch/events" "$lower" "$mnt"
    unmount_osproffs "$mnt"
    cmp before events.old || fail "events.old is not what was there"
    rm before events.old
}

# called_since CALLS: some more than those
called_since() {
    [ "$(calls_in "$mnt/.osprof")" -gt $(($1 + 50)) ]
}

# However seldom the load gets a CPU
recording_begins_and_ends_under_load() {
    local number before all=0
    mount_osproffs "$lower" "$mnt"
    begin_load
    for number in {1..5}; do
        command_control "events $scratch/part-$number"
        before=$(calls_in "$mnt/.osprof")
        nap 100
        wait_until 20 called_since "$before" || fail "hardly any calls"
        command_control "events off"
        nap 30
    done
    end_load
    unmount_osproffs "$mnt"
    for number in {1..5}; do
        timeout 60 "$OSPROF" events show "part-$number" >shown 2>said || fail "part $number cannot be read: $(<said)"
        ! grep -Ei 'missing|whole|broken|ended' said || fail "part $number: $(cat said)"
        [ "$(events_in "part-$number")" -gt 10 ] || fail "hardly any calls in part $number"
        all=$((all + $(events_in "part-$number")))
    done
    [ "$all" -le "$(calls_in "$final_profile")" ] || fail "$all calls in parts, $(calls_in "$final_profile") in the profile"
    rm part-*
}

# Without names nothing in the file tells one; with them what a call was about is there.
names_are_recorded_where_wanted() {
    mount_osproffs -o "events=$scratch/events" "$lower" "$mnt"
    echo x >"$mnt/a-secret-name"
    unmount_osproffs "$mnt"
    ! grep -q a-secret-name events || fail "a name is recorded that nobody asked for"
    mount_osproffs -o "events=$scratch/events,events_names" "$lower" "$mnt"
    echo x >"$mnt/a-secret-name"
    mv "$mnt/a-secret-name" "$mnt/another"
    unmount_osproffs "$mnt"
    timeout 60 "$OSPROF" events show --width 200 events >shown
    grep -q 'RENAME.*a-secret-name' shown || fail "no rename: $(cat shown)"
    rm "$lower/another" events.old
}

# Calls go on while nothing can be saved, are counted, and recorded again when there is room.
full_disk_drops_and_is_gone_on_with() {
    need_root
    local there
    mkdir full
    mount -t tmpfs -o size=16m tmpfs full
    mount_osproffs -o "events=$scratch/full/events" "$lower" "$mnt"
    known_load "$mnt"
    head -c 32M /dev/zero >full/filler 2>/dev/null || true
    rmdir "$mnt"/known-*
    begin_load
    wait_until 60 grep -q "cannot write events to $scratch/full/events: No space left on device" "$daemon_log" ||
        fail "nothing is said of the full disk"
    nap 2000
    rm full/filler
    wait_until 60 grep -q "events are written to $scratch/full/events again" "$daemon_log" ||
        fail "nothing is said of room"
    end_load
    head -c 32M /dev/zero >full/filler 2>/dev/null || true
    ls -R "$mnt" >/dev/null
    rm full/filler
    unmount_osproffs "$mnt"
    cp full/events events
    timeout 60 "$OSPROF" events show events >shown 2>said || fail "the events cannot be read: $(<said)"
    there=$(events_in events)
    [ "$there" -lt "$(calls_in "$final_profile")" ] || grep -q dropped "$daemon_log" || skip "the disk was never too full"
    assert_eq "$(calls_in "$final_profile")" $((there + $(dropped_of "$daemon_log"))) "calls in events, and dropped"
    [ "$(dropped_of "$daemon_log")" = 0 ] || assert_disk_was_full "$there"
    umount full
    rmdir full
}

has_calls() {
    [ "$(events_in "$1")" -gt 0 ]
}

# The file has an end, though nothing else fits on the disk, and says that it was full.
full_disk_leaves_room_for_the_end() {
    need_root
    local there
    mkdir full
    mount -t tmpfs -o size=16m tmpfs full
    mount_osproffs -o "events=$scratch/full/events" "$lower" "$mnt"
    known_load "$mnt"
    wait_until 20 has_calls full/events || fail "no calls are saved"
    head -c 32M /dev/zero >full/filler 2>/dev/null || true
    rmdir "$mnt"/known-*
    begin_load
    wait_until 60 grep -q "cannot write events to $scratch/full/events: No space left on device" "$daemon_log" ||
        fail "nothing is said of the full disk"
    nap 1200
    end_load
    unmount_osproffs "$mnt"
    cp full/events events
    timeout 60 "$OSPROF" events show events >shown 2>said || fail "the events cannot be read: $(<said)"
    ! grep -E 'its end is missing|faster' said || fail "said of a full disk"
    there=$(events_in events)
    assert_eq "$(calls_in "$final_profile")" $((there + $(dropped_of "$daemon_log"))) "calls in events, and dropped"
    assert_disk_was_full "$there"
    umount full
    rmdir full
}

# assert_disk_was_full THERE: both the file and the log say so, with the number of calls that are not among those there
assert_disk_was_full() {
    local dropped
    dropped=$(($(calls_in "$final_profile") - $1))
    grep -Eq "calls were dropped, (since .* could not be written: |.* since .* could not be written \()No space left on device" "$daemon_log" ||
        fail "the log does not say why calls were dropped: $(grep dropped "$daemon_log")"
    assert_eq "$dropped" "$(sed -n 's/^osprof: events: \([0-9,]*\) calls are not in it: .*/\1/p' said | tr -d , | awk '{ sum += $1 } END { print sum + 0 }')" \
        "calls that the file says are not in it"
    grep -q 'calls are not in it: it could not be written: No space left on device$' said ||
        fail "the file does not say why calls are missing: $(<said)"
}

# Found once it is mounted: nothing of the mount is left, nor of the file.
full_disk_is_refused_at_the_beginning() {
    mkdir full
    mount -t tmpfs -o size=64k tmpfs full
    head -c 64K /dev/zero >full/filler
    assert_refused "No space left on device" timeout 20 "$OSPROFFS" -f -o "events=$scratch/full/events" "$lower" "$mnt"
    ! is_mounted "$mnt" || fail "the refused mount is left behind"
    [ ! -e full/events ] || fail "a refused mount has made a file"
    umount full
    rmdir full
}

dropped_of() {
    sed -n 's/^.*events: \([0-9]*\) of [0-9]* calls were dropped.*/\1/p' "$1" | awk '{ print } END { if (!NR) print 0 }'
}

size_is_kept_to() {
    mount_osproffs -o "events=$scratch/events,events_size=1M" "$lower" "$mnt"
    begin_load
    wait_until 120 is_large_enough || fail "the limit is not reached: $(stat -c %s events)"
    nap 1500
    end_load
    unmount_osproffs "$mnt"
    [ "$(stat -c %s events)" -le 1048576 ] || fail "the file has $(stat -c %s events) bytes"
    grep -q "have reached their size" "$daemon_log" || fail "nothing is said of the limit: $(cat "$daemon_log")"
    timeout 60 "$OSPROF" events show events >shown 2>said || fail "the events cannot be read"
    ! grep -E 'could not be written' said || fail "said of a file that reached its size"
}

is_large_enough() {
    [ "$(stat -c %s events)" -gt 900000 ]
}

# The last calls, when asked for and at the end.
ring_keeps_the_last_calls() {
    rm -f events
    mount_osproffs -o "events=$scratch/events,events_ring=1M,slow=1ms" "$lower" "$mnt"
    [ ! -e events ] || fail "the ring is in a file already"
    begin_load
    nap 500
    end_load
    mkdir "$mnt/the-last"
    command_control "events $scratch/asked"
    [ "$(events_in asked)" -gt 100 ] || fail "hardly any calls in the ring"
    [ "$(stat -c %s asked)" -lt 2200000 ] || fail "the ring has $(stat -c %s asked) bytes"
    timeout 60 "$OSPROF" events show asked 2>/dev/null | tail -n 8 | grep -q MKDIR || fail "the last call is not there"
    rmdir "$mnt/the-last"
    unmount_osproffs "$mnt"
    timeout 60 "$OSPROF" events show events 2>/dev/null | tail -n 8 | grep -q RMDIR || fail "the very last call is not there"
    rm -f asked events-*
}

slow_call_has_the_ring_written() {
    need_root
    need fsfreeze mkfs.ext4
    truncate -s 20M image
    mkfs.ext4 -q image
    mkdir frozen
    mount -o loop image frozen 2>/dev/null || skip_part "no loop devices" || return 0
    mount_osproffs -o "events=$scratch/events,events_ring=1M,slow=50ms" "$scratch/frozen" "$mnt"
    mkdir "$mnt/before"
    freeze frozen
    mkdir "$mnt/slow" &
    local caller=$!
    nap 300
    thaw
    wait "$caller"
    wait_until 20 compgen -G "$scratch/events-*Z" || fail "no file for the slow call"
    timeout 60 "$OSPROF" events show --op MKDIR events-*Z 2>/dev/null >shown
    assert_eq 2 "$(grep -c MKDIR shown)" "MKDIRs before the slow call had ended"
    unmount_osproffs "$mnt"
    rm -f events-*Z
    umount frozen
    rm image
}

skip_part() {
    echo "left out: $1" >&2
    return 1
}

# What was saved once a second is there.
sigkill_leaves_what_was_saved() {
    local before
    mount_osproffs -o "events=$scratch/events" "$lower" "$mnt"
    known_load "$mnt"
    before=$(calls_in "$mnt/.osprof")
    nap 2500
    kill -KILL "$daemon_pid"
    wait "$daemon_pid" 2>/dev/null || true
    try_unmount "$mnt" || fail "cannot unmount what is left"
    timeout 60 "$OSPROF" events show events >shown 2>said || fail "the events cannot be read: $(cat said)"
    [ "$(events_in events)" -ge "$before" ] || fail "$before calls had ended, $(events_in events) are there"
    [ -s said ] || fail "nothing is said of the missing end"
    rmdir "$lower"/known-*
}

wrong_options_are_refused() {
    local options
    for options in events= events=no/such/file "events=$scratch" events=e,events_size=1 events=e,events_ring=x \
        events=e,events_ring=2M,events_size=2M events=e,timing=off; do
        assert_refused "" "$OSPROFFS" -f -o "$options" "$lower" "$mnt"
        ! is_mounted "$mnt" || fail "mounted with $options"
    done
    [ ! -e e ] || fail "a refused mount has made a file"
}

callers=()
mkdir tree
for number in {1..97}; do
    echo "$number" >"tree/$number"
done
wrong_options_are_refused
profile_of_events_is_the_recorded_one cache=auto
profile_of_events_is_the_recorded_one cache=none,by=uid,joint=lookup:error,events_names
events_are_their_owners_alone
ctl_keeps_older_files
old_file_is_kept
recording_begins_and_ends_under_load
names_are_recorded_where_wanted
size_is_kept_to
ring_keeps_the_last_calls
sigkill_leaves_what_was_saved
if is_root; then
    full_disk_is_refused_at_the_beginning
    full_disk_drops_and_is_gone_on_with
    full_disk_leaves_room_for_the_end
    slow_call_has_the_ring_written
fi
