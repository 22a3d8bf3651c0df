#!/bin/bash
# Rotation: spans of the profile go to files of their own, and each call is in exactly one of them, whatever happens
# meanwhile; a span that cannot be written stays. Where there is a tracepoint, spans add up to what the kernel sent:
# rotate_exactly.sh.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

# rotate FILE...
rotate() {
    local file
    for file; do
        command_control "rotate $file"
    done
}

calls() {
    profile_calls "$1" "$mnt/.osprof"
}

# calls_in OP FILE...: of all together
calls_in() {
    local op=OP_$1
    shift
    awk -v op="$op" '$1 == op { calls += $2 } END { print calls + 0 }' "$@"
}

header() { # KEY FILE
    sed -n "s/^# $1: //p" "$2"
}

# No file is left in a directory but these.
assert_files() { # DIR NAMES
    assert_eq "$2" "$(listed "$1")" "files in $1"
}

# ---- Spans

spans_follow_each_other() {
    local -a files=("$spans"/1 "$spans"/2 "$spans"/3)
    local file end=
    for file in "${files[@]}"; do
        known_load "$mnt/d"
        rmdir "$mnt"/d/known-*
        rotate "$file"
        "$OSPROF" show --check "$file" >&2 || fail "osprof show --check finds fault with $file"
        assert_eq 7 "$(profile_calls MKDIR "$file")" "MKDIR in $file"
        assert_eq 7 "$(profile_calls RMDIR "$file")" "RMDIR in $file"
        [ -z "$end" ] || assert_eq "$end" "$(header start "$file")" "beginning of $file"
        end=$(header end "$file")
        [ -n "$end" ] || fail "$file does not say when it ended"
    done
    assert_eq "$end" "$(header start "$mnt/.osprof")" "beginning of the span that goes on"
    assert_eq 0 "$(calls MKDIR)" "calls since"
    assert_files "$spans" "1 2 3"
    rm "$spans"/*
}

# dump and the final profile have what came since, in their own place.
others_have_the_rest() {
    mkdir "$mnt/d/a" "$mnt/d/b"
    rotate "$spans/first"
    mkdir "$mnt/d/c"
    command_control dump
    assert_eq 1 "$(profile_calls MKDIR "$final")" "MKDIR in the dump"
    assert_eq 2 "$(profile_calls MKDIR "$spans/first")" "MKDIR in the span"
    rmdir "$mnt"/d/*
    rm "$spans/first"
}

pauses_are_in_no_span() {
    rotate "$spans/before"
    mkdir "$mnt/d/a"
    command_control pause
    mkdir "$mnt/d/b"
    rotate "$spans/paused"
    mkdir "$mnt/d/c"
    command_control resume
    mkdir "$mnt/d/d"
    rotate "$spans/resumed"
    assert_eq "1 1" "$(profile_calls MKDIR "$spans/paused") $(profile_calls MKDIR "$spans/resumed")" "MKDIR"
    rmdir "$mnt"/d/*
    rm "$spans"/*
}

relative_names_are_where_the_daemon_started() {
    rotate relative
    [ -f relative ] || fail "no file relative to where osproffs was started"
    assert_eq 644 "$(stat -c %a relative)" "permissions"
    rm relative
}

# ---- Refusals: nothing has changed then

expect_refusal() { # ERROR FILE
    local error=$1
    assert_refused "$error" command_control "rotate $2"
    assert_eq 3 "$(calls MKDIR)" "calls after '$2' was refused"
}

refuses_other_places() {
    rotate "$spans/span"
    mkdir "$mnt"/d/{a,b,c} "$scratch/directory"
    ln -s "$spans" "$scratch/way"
    ln -s nowhere "$scratch/link"
    mkfifo "$scratch/fifo"
    expect_refusal 'File exists' "$spans/span"
    expect_refusal 'File exists' "$scratch/directory"
    expect_refusal 'File exists' "$scratch/link"
    expect_refusal 'File exists' "$scratch/fifo"
    expect_refusal 'Device or resource busy' "$final"
    expect_refusal 'Device or resource busy' "$final.old"
    expect_refusal 'Too many levels of symbolic links' "$mnt/file"
    expect_refusal 'Not a directory' "$scratch/way/file"
    expect_refusal 'No such file or directory' "$scratch/missing/file"
    expect_refusal 'Is a directory' "$spans/"
    expect_refusal 'Is a directory' "$spans/.."
    expect_refusal 'Invalid argument' ''
    grep -q 'rotate: the file is missing: only mounts with -o rotate name their files; osprof save --rotate MOUNT -o FILE names one' "$daemon_log" || fail "the log does not tell the reason"
    assert_files "$spans" span
    rmdir "$mnt"/d/* "$scratch/directory"
    rm "$spans/span" "$scratch/way" "$scratch/link" "$scratch/fifo"
}

# osprof save --rotate: an older result is kept under another name, an empty file is replaced, and nothing else.
save_replaces_older_results() {
    local path
    rotate "$spans/before"
    mkdir "$mnt/d/a"
    "$OSPROF" save --rotate "$mnt" -o "$spans/span"
    mkdir "$mnt"/d/{b,c}
    "$OSPROF" save --rotate "$mnt" -o "$spans/span"
    assert_eq "2 1" "$(profile_calls MKDIR "$spans/span") $(profile_calls MKDIR "$spans/span.old")" "MKDIR of the later, and the former"
    mkdir "$mnt"/d/{d,e,f}
    echo precious >"$spans/notes"
    mkdir "$spans/directory"
    ln -s span "$spans/link"
    mkfifo "$spans/fifo"
    while read -r path error; do
        assert_refused "$error" "$OSPROF" save --rotate "$mnt" -o "$path"
        assert_eq 3 "$(calls MKDIR)" "calls after '$path' was refused"
    done <<END
$spans/notes it is there, and is no result of osprof; --force replaces it
$spans/directory Is a directory
$spans/link it is a symbolic link, which is not followed; name the file
$spans/fifo it is no regular file, and only such a file is replaced
$final failed: the final profile goes there; name another file
$mnt/file the file lies in the mount itself
$spans/missing/file No such file or directory
END
    assert_refused "osprof: $mnt: rotate: the file is missing: only mounts with -o rotate name their files; osprof save --rotate MOUNT -o FILE names one" "$OSPROF" save --rotate "$mnt"
    assert_eq "2 precious" "$(profile_calls MKDIR "$spans/span") $(<"$spans/notes")" "what is there"
    : >"$spans/empty"
    "$OSPROF" save --rotate "$mnt" -o "$spans/empty"
    mkdir "$mnt/d/g"
    "$OSPROF" save --force --rotate "$mnt" -o "$spans/notes"
    assert_eq "3 1" "$(profile_calls MKDIR "$spans/empty") $(profile_calls MKDIR "$spans/notes")" "MKDIR in what was replaced"
    assert_files "$spans" "before directory empty fifo link notes span span.old"
    rmdir "$mnt"/d/*
    rm -r "${spans:?}"/*
}

refuses_other_users() {
    is_root || return 0
    mkdir -m 777 "$scratch/everybodys"
    assert_refused 'Permission denied' as_user bash -c "echo 'rotate $scratch/everybodys/x' >'$mnt/.osprof'"
    as_user ln -s "$spans" "$scratch/everybodys/planted"
    assert_refused 'Not a directory' command_control "rotate $scratch/everybodys/planted/x"
    as_user ln -s "$spans/x" "$scratch/everybodys/x"
    assert_refused 'File exists' command_control "rotate $scratch/everybodys/x"
    assert_files "$spans" ""
    rm -r "$scratch/everybodys"
}

# A full disk: the span stays, and the next file has both.
full_disk_loses_nothing() {
    is_root || return 0
    mkdir "$scratch/full"
    mount -t tmpfs -o size=64k tmpfs "$scratch/full"
    rotate "$spans/before"
    mkdir "$mnt/d/a"
    ! cat /dev/zero >"$scratch/full/filler" 2>/dev/null || fail "the tmpfs does not fill up"
    local start
    start=$(header start "$mnt/.osprof")
    assert_refused 'No space left on device' command_control "rotate $scratch/full/span"
    assert_files "$scratch/full" filler
    assert_eq 1 "$(calls MKDIR)" "calls that could not be written"
    mkdir "$mnt/d/b"
    rm "$scratch/full/filler"
    rotate "$scratch/full/span"
    assert_eq 2 "$(profile_calls MKDIR "$scratch/full/span")" "calls when there is room"
    assert_eq "$start" "$(header start "$scratch/full/span")" "its beginning"
    umount "$scratch/full"
    rmdir "$mnt"/d/* "$scratch/full"
    rm "$spans"/*
}

# ---- Processes, values, intervals

# All dimensions of the spans add up.
dimensions_add_up() {
    mount_osproffs -o by=uid,joint=mkdir:error,interval=0.02 "$lower" "$mnt"
    local number
    for number in {1..11}; do
        mkdir "$mnt/d/$number"
        rotate "$spans/$number"
        "$OSPROF" show --check "$spans/$number" >&2 || fail "osprof show --check finds fault with span $number"
    done
    unmount_osproffs "$mnt"
    local files=("$spans"/* "$final_profile")
    assert_eq 11 "$(awk '/^OP_/ { op = $1 } /^# uid/ { group = 1 } FNR == 1 { group = 0 }
        /^OP_MKDIR/ && group { calls += $2 } END { print calls + 0 }' "${files[@]}")" "MKDIR of users"
    assert_eq 11 "$(awk 'FNR == 1 { joint = 0 } joint && /^[A-Z#]/ { joint = 0 }
        joint { for (i = 2; i <= NF; i++) calls += $i } /^JOINT_MKDIR_ERROR/ { joint = 1 }
        END { print calls + 0 }' "${files[@]}")" "MKDIR by error"
    rmdir "$lower"/d/*
    rm "$spans"/*
}

# ---- Many at once

has_rotated() {
    local files=("$spans"/*)
    [ "${#files[@]}" -gt 3 ]
}

# Calls that are counted elsewhere, while two rotate, and while the mount ends: none is lost, none is there twice.
ends_meanwhile() {
    mount_osproffs "$lower" "$mnt"
    rotate_until_it_ends a &
    local first=$!
    rotate_until_it_ends b &
    local second=$! number
    for number in {1..1009}; do
        printf '%s\0' "$mnt/d/$number"
    done | xargs -0 mkdir
    wait_until 60 has_rotated || fail "it hardly rotates"
    umount -l "$mnt" 2>/dev/null || fusermount3 -uz "$mnt"
    assert_status 0 "unmounted while it rotates"
    wait "$first" "$second"
    local files=("$spans"/*)
    assert_eq 1009 "$(calls_in MKDIR "${files[@]}" "$final_profile")" "MKDIR in ${#files[@]} spans and the final profile"
    find "$lower/d" -mindepth 1 -delete
    find "$spans" -type f -delete
}

rotate_until_it_ends() {
    local number=0
    while echo "rotate $spans/$1-$number" | dd of="$mnt/.osprof" conv=notrunc,nocreat status=none 2>/dev/null; do
        number=$((number + 1))
    done
}

# The live file has the span since the last rotation.
killed_after_a_rotation() {
    local live
    mount_osproffs "$lower" "$mnt"
    live=$(live_file)
    mkdir "$mnt"/d/{a,b,c,d,e}
    rotate "$spans/first"
    mkdir "$mnt"/d/{f,g,h}
    kill -KILL "$daemon_pid"
    wait "$daemon_pid" 2>/dev/null || true
    try_unmount "$mnt" || fail "cannot unmount what is left"
    "$OSPROF" save "$live" >recovered || fail "osprof save fails"
    assert_eq "5 3" "$(profile_calls MKDIR "$spans/first") $(profile_calls MKDIR recovered)" "MKDIR"
    assert_eq "$(header end "$spans/first")" "$(header start recovered)" "beginning of what is recovered"
    rmdir "$lower"/d/*
    rm "$live" "$spans/first" recovered
}

spans=$scratch/spans
final=$scratch/out
mkdir "$lower/d" "$spans"
options=profile=$final
! is_root || options+=,allow_other
mount_osproffs -o "$options" "$lower" "$mnt"
spans_follow_each_other
others_have_the_rest
pauses_are_in_no_span
relative_names_are_where_the_daemon_started
refuses_other_places
save_replaces_older_results
refuses_other_users
full_disk_loses_nothing
unmount_osproffs "$mnt"
dimensions_add_up
ends_meanwhile
killed_after_a_rotation
