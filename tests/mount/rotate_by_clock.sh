#!/bin/bash
# -o rotate: a profile every second in a directory, in the order of their names; together they have each call once, whatever
# happens. Old ones are removed, and nothing else.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

# series: the profiles there are, in the order of their names
series() {
    find "$profiles" -name 'mnt-*Z.osprof' -size +0 | sort
}

at_least() { # COUNT
    [ "$(series | wc -l)" -ge "$1" ]
}

# One that was begun after now has been written.
next_profile() {
    local newest
    newest=$(series | tail -n 1)
    wait_until 20 newer_than "$newest" || fail "no profile more within 20 seconds"
}

newer_than() {
    [[ $(series | tail -n 1) > $1 ]]
}

calls_in_series() { # OP
    series | xargs cat | awk -v op="OP_$1" '$1 == op { calls += $2 } END { print calls + 0 }'
}

header() { # KEY FILE
    sed -n "s/^# $1: //p" "$2"
}

assert_chain() {
    local file end=
    for file in $(series); do
        "$OSPROF" show --check "$file" >/dev/null || fail "osprof show --check finds fault with $file"
        [ -z "$end" ] || assert_eq "$end" "$(header start "$file")" "beginning of $file"
        end=$(header end "$file")
        [ -n "$end" ] || fail "$file does not say when it ended"
    done
}

empty() {
    find "$1" -mindepth 1 -delete
}

together_they_have_each_call() {
    mount_osproffs -o "rotate=1,profile=$profiles/" "$lower" "$mnt"
    local number
    for number in {1..101}; do
        mkdir "$mnt/d/$number"
        nap 20
    done
    at_least 2 || fail "less than 2 profiles in two seconds"
    "$OSPROF" save --rotate "$mnt"
    "$OSPROF" save --rotate "$mnt"
    local before number_of_last=0
    before=$(series | wc -l)
    mkdir "$mnt/d/last"
    unmount_osproffs "$mnt"
    assert_chain
    assert_eq 102 "$(calls_in_series MKDIR)" "MKDIR of $(series | wc -l) profiles"
    while read -r file; do
        number_of_last=$((number_of_last + $(profile_calls MKDIR "$file")))
    done < <(series | tail -n "+$((before + 1))")
    assert_eq 1 "$number_of_last" "MKDIR after the last rotation that was asked for"
    assert_eq "" "$(listed "$profiles" | tr ' ' '\n' | grep -v '^mnt-' || true)" "other files"
    [ ! -s "$daemon_log" ] || fail "messages: $(<"$daemon_log")"
    empty "$lower/d"
    empty "$profiles"
}

# Names that the series could have made, but has not.
old_ones_are_removed_and_nothing_else() {
    local other="mnt-20200101T000000.000Z.osprof"
    echo precious >"$profiles/$other"
    ln -s "$other" "$profiles/mnt-20200101T000000.001Z.osprof"
    mkdir "$profiles/mnt-20200101T000000.002Z.osprof"
    mount_osproffs -o "rotate=1s,keep=3,profile=$profiles" "$lower" "$mnt"
    next_profile
    sed "s|^# mount: .*|# mount: /elsewhere|" "$(series | tail -n 1)" >"$profiles/mnt-20200101T000000.003Z.osprof"
    cp "$(series | tail -n 1)" "$profiles/mnt-20200101T000000.004Z.osprof.kept"
    cp "$(series | tail -n 1)" "$profiles/other-20200101T000000.005Z.osprof"
    cp "$(series | tail -n 1)" "$profiles/mnt-20200101T000000.006Z.osprof"
    ! is_root || {
        cp "$(series | tail -n 1)" "$profiles/made"
        chown "$user_uid" "$profiles/made"
        mv "$profiles/made" "$profiles/mnt-20200101T000000.007Z.osprof"
    }
    for _ in {1..5}; do
        "$OSPROF" save --rotate "$mnt"
    done
    unmount_osproffs "$mnt"
    local expected="mnt-20200101T000000.000Z.osprof mnt-20200101T000000.001Z.osprof mnt-20200101T000000.002Z.osprof"
    expected+=" mnt-20200101T000000.003Z.osprof mnt-20200101T000000.004Z.osprof.kept"
    ! is_root || expected+=" mnt-20200101T000000.007Z.osprof"
    expected+=" other-20200101T000000.005Z.osprof"
    assert_eq "$expected" "$(listed "$profiles" | tr ' ' '\n' | grep 2020 | paste -sd ' ')" "old files that are left"
    assert_eq 3 "$(listed "$profiles" | tr ' ' '\n' | grep -vc 2020)" "profiles that are kept"
    assert_eq precious "$(<"$profiles/$other")" "a file that is no profile"
    empty "$profiles"
}

# The clock was a year ahead once: what comes later is later in the order of names too.
names_are_in_order_whatever_the_clock_does() {
    local ahead
    mount_osproffs -o "rotate=60m,profile=$profiles/web" "$lower" "$mnt"
    "$OSPROF" save --rotate "$mnt"
    mv "$(echo "$profiles"/web-*)" "$profiles/web-20991231T235959.999Z.osprof"
    "$OSPROF" save --rotate "$mnt"
    ahead=$(echo "$profiles"/web-21*)
    assert_eq "$profiles/web-21000101T000000.000Z.osprof" "$ahead" "the name after it"
    for _ in {1..20}; do
        "$OSPROF" save --rotate "$mnt"
    done
    unmount_osproffs "$mnt"
    assert_eq 23 "$(find "$profiles" -name 'web-*' | wc -l)" "profiles"
    empty "$profiles"
}

# What cannot be written goes into the next that can be; a line reports each change.
full_disk_loses_nothing() {
    is_root || return 0
    mount -t tmpfs -o size=64k tmpfs "$profiles"
    mount_osproffs -o "rotate=1,profile=$profiles" "$lower" "$mnt"
    next_profile
    mkdir "$mnt/d/a"
    ! cat /dev/zero >"$profiles/filler" 2>/dev/null || fail "the tmpfs does not fill up"
    wait_until 20 grep -q "cannot write profile $profiles/mnt-\*.osprof: No space left on device; what it counts" \
        "$daemon_log" || fail "no message that the disk is full"
    mkdir "$mnt/d/b"
    nap 2500
    mkdir "$mnt/d/c"
    rm "$profiles/filler"
    next_profile
    unmount_osproffs "$mnt"
    assert_eq 1 "$(grep -c 'No space left' "$daemon_log")" "messages that the disk is full"
    assert_eq 1 "$(grep -c 'are written to .* again: mnt-.*Z.osprof has all since' "$daemon_log")" "messages that it works again"
    assert_chain
    assert_eq 3 "$(calls_in_series MKDIR)" "MKDIR"
    umount "$profiles"
    empty "$lower/d"
}

# It is kept elsewhere, as other final profiles are.
last_one_does_not_fit() {
    is_root || return 0
    local live
    mount -t tmpfs -o size=64k tmpfs "$profiles"
    mount_osproffs -o "rotate=1h,profile=$profiles" "$lower" "$mnt"
    live=$(live_file)
    mkdir "$mnt/d/a"
    ! cat /dev/zero >"$profiles/filler" 2>/dev/null || fail "the tmpfs does not fill up"
    unmount_below "$mnt"
    assert_status 2 "the last profile cannot be written"
    grep -q "mnt-\*.osprof: No space left on device; saved in $live" "$daemon_log" || fail "message: $(<"$daemon_log")"
    "$OSPROF" save "$live" >recovered
    assert_eq 1 "$(profile_calls MKDIR recovered)" "recovered"
    umount "$profiles"
    rm "$live"
    empty "$lower/d"
}

# In the background, from where it was started; killed, its live file has what came since the last profile.
killed_in_the_background() {
    local pid live
    (cd "$scratch" && "$OSPROFFS" -o rotate=1,profile=profiles "$lower" "$mnt")
    live=$(find "$XDG_RUNTIME_DIR/osprof" -name '*.live')
    pid=${live##*/}
    pid=${pid%.live}
    track_daemon "$pid"
    mkdir "$mnt/d/a" "$mnt/d/b"
    next_profile
    next_profile
    hang_daemon "$pid" # so that no rotation comes between
    kill -KILL "$pid"
    wait_for_end "$pid" 20 || fail "it cannot be killed"
    try_unmount "$mnt" || fail "cannot unmount what is left"
    "$OSPROF" save "$live" >recovered
    assert_chain
    assert_eq 2 "$(calls_in_series MKDIR)" "MKDIR"
    assert_eq 0 "$(profile_calls MKDIR recovered)" "MKDIR recovered"
    assert_eq "$(header end "$(series | tail -n 1)")" "$(header start recovered)" "beginning of what is recovered"
    rm "$live"
    empty "$lower/d"
    empty "$profiles"
}

expect_refusal() { # OPTIONS MESSAGE
    start_daemon "$OSPROFFS" -f -o "$1" "$lower" "$mnt"
    wait_for_end "$daemon_pid" 20 || fail "mounts with $1"
    wait "$daemon_pid" && fail "status 0 with $1"
    grep -qF -- "$2" "$daemon_log" || fail "with $1: $(<"$daemon_log")"
    : >"$daemon_log"
}

refuses_other_places() {
    local time again="; choose another directory with -o profile=DIR"
    expect_refusal "rotate=1,profile=$scratch/missing/" "cannot write profiles to $scratch/missing/: No such file or directory$again"
    expect_refusal "rotate=1,profile=$scratch/missing/x" "cannot write profiles to $scratch/missing/x: No such file or directory$again"
    expect_refusal "rotate=1,profile=$lower/file" "cannot write profiles to $lower/file: Not a directory$again"
    for time in 1500ms 0s 8785h 1d 1x; do
        expect_refusal "rotate=$time,profile=$profiles" "rotate=$time: must be whole seconds, up to a year, such as 3600, 30m or 1h"
    done
    expect_refusal "rotate=1" "rotate=1: say where profiles go, with profile=DIR"
    is_root || return 0
    mkdir -m 1777 "$scratch/shared"
    as_user mkdir "$scratch/shared/planted"
    as_user ln -s "$profiles" "$scratch/shared/link"
    expect_refusal "rotate=1,profile=$scratch/shared/planted/" "Operation not permitted$again"
    expect_refusal "rotate=1,profile=$scratch/shared/link" "Operation not permitted$again"
    rm -r "$scratch/shared"
}

profiles=$scratch/profiles
mkdir "$lower/d" "$profiles"
echo text >"$lower/file"
together_they_have_each_call
old_ones_are_removed_and_nothing_else
names_are_in_order_whatever_the_clock_does
full_disk_loses_nothing
last_one_does_not_fit
killed_in_the_background
refuses_other_places
