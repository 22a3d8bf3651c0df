#!/bin/bash
# The control file: found by name in the root only and not listed, shows one snapshot for each open, obeys commands,
# refuses everything else, and never appears in the profile.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

calls() {
    profile_calls "$1" "$mnt/.osprof"
}

is_found_but_not_listed() {
    [ -f "$mnt/.osprof" ] || fail "no control file"
    [ ! -e "$mnt/directory/.osprof" ] || fail "a control file below the root"
    assert_eq "directory file" "$(listed "$mnt")" "listed in the root"
    assert_eq "644 $(id -u) $(id -g) regular empty file" "$(stat -c '%a %u %g %F' "$mnt/.osprof")" "control file"
    [ "$(head -n 1 "$mnt/.osprof")" = "# osprof 1" ] || fail "it does not begin as a profile"
}

# Whatever the sizes of reads, an open sees one text, though its calls go on being counted.
shows_one_snapshot() {
    command_control reset
    known_load "$mnt/directory"
    exec {early}<"$mnt/.osprof"
    command_control pause
    for size in 1 7 4096 1048576; do
        dd if="$mnt/.osprof" bs="$size" status=none >"$scratch/by-$size"
    done
    command_control resume
    for size in 7 4096 1048576; do
        # the clock's rate is known ever better
        cmp <(grep -Ev '^# (elapsed|clock)' "$scratch/by-1") <(grep -Ev '^# (elapsed|clock)' "$scratch/by-$size") ||
            fail "reads of $size bytes show something else"
    done
    mkdir "$mnt/directory/later"
    cat <&"$early" >"$scratch/early"
    exec {early}<&-
    assert_known_load "$scratch/early"
    assert_eq 8 "$(calls MKDIR)" MKDIR
    assert_eq 3 "$(head -n 3 "$mnt/.osprof" | wc -l)" "lines through head"
    rmdir "$mnt"/directory/*
}

is_never_profiled() {
    command_control reset
    for _ in {1..23}; do
        cat "$mnt/.osprof" >/dev/null
        stat "$mnt/.osprof" >/dev/null
        command_control reset
    done
    assert_eq "" "$(grep '^OP_' "$mnt/.osprof" || true)" "the control file's own traffic"
}

obeys_commands() {
    local word
    for word in reset 0 1 ''; do
        mkdir "$mnt/directory/x"
        assert_eq 1 "$(calls MKDIR)" "before '$word'"
        command_control "$word"
        assert_eq 0 "$(calls MKDIR)" "after '$word'"
        rmdir "$mnt/directory/x"
    done
    command_control pause
    known_load "$mnt/directory"
    assert_eq 0 "$(calls MKDIR)" "paused"
    command_control resume
    mkdir "$mnt/directory/x"
    assert_eq 1 "$(calls MKDIR)" "resumed"
    rmdir "$mnt"/directory/*
    command_control $'reset\npause\nresume'
    assert_eq 0 "$(calls MKDIR)" "several commands in one write"
    mkdir "$mnt/directory/x"
    printf reset | tee -a "$mnt/.osprof" >/dev/null
    assert_eq 0 "$(calls MKDIR)" "no newline, and O_APPEND"
    rmdir "$mnt/directory/x"
}

dumps() {
    command_control reset
    known_load "$mnt/directory"
    command_control "dump $scratch/dumped profile"
    assert_known_load "$scratch/dumped profile"
    command_control dump
    assert_known_load "$final_profile"
    rmdir "$mnt"/directory/*
    assert_refused 'No such file or directory' command_control "dump $scratch/missing/file"
    # into itself: an error, not a deadlock
    assert_refused 'Too many levels of symbolic links' timeout 20 bash -c "echo 'dump $mnt/file' >'$mnt/.osprof'"
}

refuses_other_commands() {
    mkdir "$mnt/directory/x"
    local before bad
    before=$(calls MKDIR)
    for bad in nonsense 'reset now' 2 'pause 5' $'reset\nnonsense' $'pause\nreset x'; do
        assert_refused 'Invalid argument' command_control "$bad"
    done
    assert_eq "$before" "$(calls MKDIR)" "after malformed commands"
    mkdir "$mnt/directory/y"
    assert_eq $((before + 1)) "$(calls MKDIR)" "not paused"
    rmdir "$mnt"/directory/*
    grep -q "unknown command 'nonsense'" "$daemon_log" || fail "the log does not tell the reason"
}

# osprof ctl prints the reason of the process itself; the log has none of that.
ctl_tells_reasons() {
    "$OSPROF" ctl "$mnt" reset
    mkdir "$mnt/directory/x"
    "$OSPROF" ctl "$mnt" pause
    rmdir "$mnt/directory/x"
    assert_refused "osprof: $mnt: 'reset' takes no argument, found 'now'" "$OSPROF" ctl "$mnt" reset now
    assert_refused "osprof: $mnt: interval 1ms: must be a time from 10ms to 24h, such as 100ms or 0.5s" "$OSPROF" ctl "$mnt" interval 1ms
    assert_refused "osprof: $mnt: slow 10: the unit is missing: such as 10ms, or 10s" "$OSPROF" ctl "$mnt" slow 10
    assert_refused "osprof: $mnt: joint smell size: no such operation" "$OSPROF" ctl "$mnt" joint smell size
    ! grep "the unit is missing" "$daemon_log" || fail "the log repeats it"
    ! "$OSPROF" ctl "$mnt" nonsense 2>"$scratch/message" || fail "accepted: nonsense"
    assert_eq "osprof: $mnt: unknown command 'nonsense'; accepted are reset" "$(cut -d , -f 1 "$scratch/message")" "reason"
    assert_refused "osprof ctl: 'osprof save $mnt -o file' writes the profile to a file; see 'osprof help ctl'" "$OSPROF" ctl "$mnt" dump file
    assert_refused "osprof ctl: 'osprof save --rotate $mnt -o file' writes the profile to a file; see 'osprof help ctl'" \
        "$OSPROF" ctl "$mnt" rotate file
    "$OSPROF" ctl "$mnt" resume
    assert_eq "1 0" "$(calls MKDIR) $(calls RMDIR)" "after all that"
    "$OSPROF" ctl "$mnt" dump
    assert_eq 1 "$(profile_calls MKDIR "$final_profile")" "in the place of the final profile"
}

refuses_to_be_changed() {
    local denied='Operation not permitted'
    assert_refused "$denied" rm -f "$mnt/.osprof"
    assert_refused "$denied" mv "$mnt/.osprof" "$mnt/moved"
    assert_refused "$denied" mv -T "$mnt/file" "$mnt/.osprof"
    assert_refused "$denied" ln "$mnt/.osprof" "$mnt/linked"
    assert_refused "$denied" chmod 0600 "$mnt/.osprof"
    assert_refused "$denied" chown 1 "$mnt/.osprof"
    assert_refused "File exists" mkdir "$mnt/.osprof"
    assert_refused "File exists" ln -s x "$mnt/.osprof"
    assert_refused "File exists" ln "$mnt/file" "$mnt/.osprof"
    ! setfattr -n user.x -v y "$mnt/.osprof" 2>/dev/null || fail "took an extended attribute"
    [ -f "$mnt/.osprof" ] || fail "no control file any more"
    [ -f "$mnt/file" ] || fail "what was to replace it is gone"
    assert_eq "directory file" "$(listed "$lower")" "below"
}

refuses_other_users() {
    is_root || return 0
    as_user cat "$mnt/.osprof" >/dev/null || fail "others may not read"
    assert_refused 'Permission denied' as_user bash -c "echo reset >'$mnt/.osprof'"
    assert_refused "permitted: the user who mounted it, and processes with CAP_SYS_ADMIN" as_user "$OSPROF" ctl "$mnt" reset
    as_user "$OSPROF" show "$mnt" >/dev/null || fail "osprof show by another user"
}

hides_a_lower_file() {
    echo secret >"$lower/.osprof"
    mount_osproffs "$lower" "$mnt"
    ! grep -q secret "$mnt/.osprof" || fail "shows the lower file"
    grep -q "warning: $lower/.osprof exists and is hidden" "$daemon_log" || fail "no warning"
    assert_eq "directory file" "$(listed "$mnt")" "listed with a lower .osprof"
    unmount_osproffs "$mnt"
    mount_osproffs -o control=.profile "$lower" "$mnt"
    assert_eq secret "$(cat "$mnt/.osprof")" "under another name"
    known_load "$mnt/directory"
    cat "$mnt/.profile" >"$scratch/other-name"
    assert_known_load "$scratch/other-name"
    unmount_osproffs "$mnt"
    assert_eq secret "$(cat "$lower/.osprof")" "the lower file"
}

mkdir "$lower/directory"
echo text >"$lower/file"
options=cache=always,profile=$scratch/out # what the kernel knows of the root must not expire, and be asked for again
! is_root || options+=,allow_other
final_profile_of_mount=$scratch/out
mount_osproffs -o "$options" "$lower" "$mnt"
final_profile=$final_profile_of_mount
is_found_but_not_listed
shows_one_snapshot
is_never_profiled
obeys_commands
dumps
refuses_other_commands
ctl_tells_reasons
refuses_to_be_changed
refuses_other_users
unmount_osproffs "$mnt"
hides_a_lower_file
