#!/bin/bash
# Groups that a command switches on and off in a mount that has none: they add up to the whole, the calls from before are
# among the others and counted, and who may not command changes nothing.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

writers=()
before_cleanup() {
    [ ${#writers[@]} -gt 0 ] || return 0
    kill "${writers[@]}" 2>/dev/null || true
    wait "${writers[@]}" 2>/dev/null || true
}

mkdir -p "$lower/a/b" "$lower/c"
for name in a/1 a/2 a/b/3 c/4; do
    echo "$name" >"$lower/$name"
done

# group_calls KIND NAME OP PROFILE: calls of OP in the group of that name
group_calls() {
    awk -v group="# $1: (0 )?$2" -v op="OP_$3" '/^#/ { found = $0 ~ "^" group "$"; next }
        found && $1 == op { sum += $2 } END { print sum + 0 }' "$4"
}

# whole_calls OP PROFILE: of the whole, which comes first
whole_calls() {
    awk -v op="OP_$1" '$1 == op { calls = $2; exit } END { print calls + 0 }' "$2"
}

# others KIND PROFILE: all calls of the group of others
others() {
    awk -v group="# $1: other" '/^#/ { found = $0 == group; next }
        found && /^OP_/ { sum += $2 } END { print sum + 0 }' "$2"
}

ungrouped() {
    awk '/^# ungrouped: / { print $3; found = 1 } END { if (!found) print 0 }' "$1"
}

# assert_sums PROFILE KIND...: the groups of each of these kinds have, bucket by bucket, what the whole has; no other kind is there
assert_sums() {
    local profile=$1 found
    shift
    "$OSPROF" show --check "$profile" >"$scratch/checked" || fail "check: $(<"$scratch/checked")"
    found=$(awk '/^#/ { kind = $2 ~ /^(process|program|cgroup|uid|file|directory):$/ ? $2 : ""; if (kind) kinds[kind]; next }
        /^JOINT_/ { op = ""; next }
        /^OP_/ { op = $1; next }
        op { for (i = 1; i <= NF; i++) if (kind) sum[kind op " " i] += $i; else whole[op " " i] += $i }
        END { for (kind in kinds) { for (cell in whole) if (sum[kind cell] != whole[cell]) lacks = 1
                  print substr(kind, 1, length(kind) - 1) (lacks ? " lacks calls" : "") } }' "$profile" | sort | paste -sd ' ')
    assert_eq "$*" "$found" "groupings, and what they lack, in $profile"
}

take() {
    cat "$mnt/.osprof" >"$scratch/profile"
}

read_all() {
    cat "$mnt/a/1" "$mnt/a/2" "$mnt/a/b/3" "$mnt/c/4" >/dev/null
}

switches_on_and_off() {
    mount_osproffs -o cache=none "$lower" "$mnt"
    read_all
    take
    assert_sums "$scratch/profile"
    assert_eq 0 "$(ungrouped "$scratch/profile")" "without groups"
    "$OSPROF" show --width 200 "$mnt" >"$scratch/shown"
    grep -q "osprof ctl $mnt groups program+file" "$scratch/shown" || fail "next: $(<"$scratch/shown")"

    "$OSPROF" ctl "$mnt" groups program+file+directory
    read_all
    head -c 1 "$mnt/a/1" >/dev/null
    take
    assert_sums "$scratch/profile" directory file program
    assert_eq 1 "$(group_calls program head READ "$scratch/profile")" "reads of head"
    assert_eq 3 "$(group_calls file /a/1 READ "$scratch/profile")" "reads of /a/1"
    assert_eq 5 "$(group_calls directory /a READ "$scratch/profile")" "reads in /a"
    assert_eq 2 "$(group_calls directory /a/b READ "$scratch/profile")" "reads in /a/b"
    before=$(ungrouped "$scratch/profile")
    [ "$before" -gt 8 ] || fail "$before calls are said to be from before"
    assert_eq "$before" "$(others program "$scratch/profile")" "other programs"
    assert_eq "$before" "$(others file "$scratch/profile")" "other files"
    "$OSPROF" show --by file "$mnt" >"$scratch/shown"
    grep -q "^Other: .* of the time; $before calls began before groups were switched on\.$" "$scratch/shown" ||
        fail "what show says: $(<"$scratch/shown")"
    "$OSPROF" show --width 200 "$mnt" >"$scratch/shown"
    grep -q "osprof show --by file $mnt" "$scratch/shown" || fail "next: $(<"$scratch/shown")"
    ! grep -q "osprof ctl .* groups" "$scratch/shown" || fail "next tells to switch on what is on"

    # the same again changes nothing; others are refused
    "$OSPROF" ctl "$mnt" groups directory+program+file
    assert_refused "osprof: $mnt: groups uid failed: others are on; 'groups off' ends them, and forgets their calls" \
        "$OSPROF" ctl "$mnt" groups uid
    assert_refused 'Device or resource busy' command_control 'groups directory:1+program+file'
    grep -q "control file: line 1: groups directory:1+program+file failed: others are on; 'groups off' ends them" \
        "$daemon_log" || fail "the log: $(<"$daemon_log")"
    take
    assert_sums "$scratch/profile" directory file program
    assert_eq "$before" "$(ungrouped "$scratch/profile")" "calls from before, still"

    # JSON says so too
    grep -q "\"ungrouped\": *$before\b" "$mnt/.osprof.json" || fail "JSON lacks it"

    command_control 'groups off'
    take
    assert_sums "$scratch/profile"
    assert_eq 0 "$(ungrouped "$scratch/profile")" "after groups off"
    ! "$OSPROF" show --by file "$mnt" 2>"$scratch/message" || fail "shows files"
    grep -q "no calls by file in $mnt; osproffs -o by=file records them, 'osprof ctl MOUNT groups file' from now on" \
        "$scratch/message" || fail "says: $(<"$scratch/message")"

    # what was seen in the meantime is not in the next groups; directories of a depth
    read_all
    command_control 'groups directory:1'
    read_all
    take
    assert_sums "$scratch/profile" directory
    assert_eq 6 "$(group_calls directory /a READ "$scratch/profile")" "reads in /a and below"
    assert_eq 0 "$(group_calls directory /a/b READ "$scratch/profile")" "reads in /a/b alone"
    unmount_osproffs "$mnt"
    assert_sums "$final_profile" directory
}

# Nothing of a write with a wrong word is done.
refuses_wrong_words() {
    local bad
    mount_osproffs -o cache=none "$lower" "$mnt"
    read_all
    for bad in groups 'groups fil' 'groups file+' 'groups file+file' 'groups none' $'groups file\ngroups x' 'groups file:1'; do
        assert_refused 'Invalid argument' command_control "$bad"
    done
    grep -q "control file: line 1: groups fil: must be off, process, program, cgroup, uid, file, directory, or several of them" \
        "$daemon_log" || fail "the log: $(<"$daemon_log")"
    assert_refused "osprof: $mnt: groups fil: must be off, process, program, cgroup, uid, file, directory, or several of them, such as process+uid" \
        "$OSPROF" ctl "$mnt" groups fil
    assert_refused "osprof: $mnt: one command at a time: 'groups file?reset' has a new line" "$OSPROF" ctl "$mnt" groups $'file\nreset'
    assert_refused "osprof: $mnt: groups: say of what, such as program+file, or off" "$OSPROF" ctl "$mnt" groups
    assert_refused "osprof ctl: a mount point, and a command for it, must be given, such as: osprof ctl /mnt reset; see 'osprof help ctl'" \
        "$OSPROF" ctl "$mnt"
    take
    assert_sums "$scratch/profile"
    assert_eq 8 "$(whole_calls READ "$scratch/profile")" "reads, not reset"
    command_control $'groups off\nreset\ngroups uid'
    read_all
    take
    assert_sums "$scratch/profile" uid
    assert_eq "8 0" "$(whole_calls READ "$scratch/profile") $(ungrouped "$scratch/profile")" "after reset and groups"
    unmount_osproffs "$mnt"

    mount_osproffs -o timing=off "$lower" "$mnt"
    assert_refused "osprof: $mnt: groups file failed: nothing is recorded there (osproffs -o timing)" \
        "$OSPROF" ctl "$mnt" groups file
    unmount_osproffs "$mnt"
}

# What begins with the mount may be ended, and others begun; N groups of each.
replaces_those_of_the_mount() {
    local number
    mount_osproffs -o cache=none,by=process,groups=2 "$lower" "$mnt"
    read_all
    take
    assert_sums "$scratch/profile" process
    assert_eq 0 "$(ungrouped "$scratch/profile")" "groups from the beginning on"
    assert_refused 'Device or resource busy' command_control 'groups file'
    command_control $'groups off\ngroups file'
    read_all
    take
    assert_sums "$scratch/profile" file
    number=$(grep -c '^# file: [0-9]' "$scratch/profile")
    [ "$number" -le 2 ] || fail "$number files are told apart, of 2"
    [ "$(ungrouped "$scratch/profile")" -lt "$(others file "$scratch/profile")" ] || fail "others are from before alone"
    unmount_osproffs "$mnt"
}

# Reset, pause, rotation and intervals are of the groups and the whole alike.
changes_with_the_whole() {
    mount_osproffs -o cache=none,interval=0.05 "$lower" "$mnt"
    read_all
    command_control 'groups file'
    read_all
    command_control "rotate $scratch/rotated"
    assert_sums "$scratch/rotated" file
    assert_eq "8 16" "$(($(group_calls file /a/1 READ "$scratch/rotated") * 4)) $(whole_calls READ "$scratch/rotated")" \
        "reads grouped, and all, in the first span"
    read_all
    take
    assert_sums "$scratch/profile" file
    assert_eq "0 8" "$(ungrouped "$scratch/profile") $(whole_calls READ "$scratch/profile")" "ungrouped, and reads, then"
    command_control pause
    read_all
    take
    assert_eq 2 "$(group_calls file /a/1 READ "$scratch/profile")" "reads of a file in a pause"
    command_control $'resume\nreset'
    read_all
    take
    assert_sums "$scratch/profile" file
    assert_eq 2 "$(group_calls file /a/1 READ "$scratch/profile")" "reads of a file after reset"
    # switched in a pause: all that is shown is from before
    command_control $'groups off\npause\ngroups uid'
    read_all
    take
    assert_sums "$scratch/profile" uid
    assert_eq "$(others uid "$scratch/profile")" "$(ungrouped "$scratch/profile")" "others in a pause"
    command_control resume
    read_all
    take
    assert_sums "$scratch/profile" uid
    assert_eq 16 "$(whole_calls READ "$scratch/profile")" "reads before and after the pause"
    unmount_osproffs "$mnt"
}

# Under load of many threads, with readers, until all are done: no call is lost, none is counted twice.
holds_under_load() {
    mount_osproffs -o cache=none "$lower" "$mnt"
    for _ in 1 2 3; do
        (
            trap 'exit 0' TERM
            while true; do
                cat "$mnt/a/1" "$mnt/c/4" >/dev/null
            done
        ) &
        writers+=("$!")
    done
    for round in {1..15}; do
        command_control 'groups program+file+directory:1'
        for reader in 1 2; do
            cat "$mnt/.osprof" >"$scratch/seen-$round-$reader" &
            writers+=("$!")
        done
        wait "${writers[@]:3}"
        writers=("${writers[@]:0:3}")
        assert_sums "$scratch/seen-$round-1" directory file program
        assert_sums "$scratch/seen-$round-2" directory file program
        command_control 'groups off'
    done
    command_control 'groups program+file'
    kill "${writers[@]}"
    wait "${writers[@]}" || true
    writers=()
    unmount_osproffs "$mnt"
    assert_sums "$final_profile" file program
}

# The live file has no groups, and nothing else is lost.
survives_sigkill() {
    local live
    mount_osproffs -o cache=none "$lower" "$mnt"
    live=$(live_file)
    read_all
    command_control 'groups file+program'
    read_all
    kill -KILL "$daemon_pid"
    wait "$daemon_pid" 2>/dev/null || true
    try_unmount "$mnt" || fail "cannot unmount what is left"
    "$OSPROF" save "$live" >"$scratch/recovered"
    assert_sums "$scratch/recovered"
    assert_eq 16 "$(whole_calls READ "$scratch/recovered")" "reads recovered"
    rm "$live"
}

# Another user may not command, with either way of checking permissions, nor see names of files.
obeys_nobody_else() {
    local mode
    for mode in default_permissions no_default_permissions; do
        mount_osproffs -o "cache=none,allow_other,$mode" "$lower" "$mnt"
        as_user cat "$mnt/a/1" >/dev/null
        ! as_user "$OSPROF" ctl "$mnt" groups file 2>"$scratch/message" || fail "another user may command ($mode)"
        assert_eq 1 "$(wc -l <"$scratch/message")" "lines: $(<"$scratch/message")"
        grep -q "permitted: the user who mounted it" "$scratch/message" || fail "message: $(<"$scratch/message")"
        ! as_user bash -c "echo 'groups file' >'$mnt/.osprof'" 2>/dev/null || fail "another user may write it ($mode)"
        take
        assert_sums "$scratch/profile"
        command_control 'groups file+uid'
        as_user cat "$mnt/a/1" >/dev/null
        ! as_user "$OSPROF" ctl "$mnt" groups off 2>/dev/null || fail "another user may switch groups off ($mode)"
        take
        assert_sums "$scratch/profile" file uid
        as_user cat "$mnt/.osprof" >"$scratch/profile"
        assert_sums "$scratch/profile" uid
        unmount_osproffs "$mnt"
    done
}

switches_on_and_off
refuses_wrong_words
replaces_those_of_the_mount
changes_with_the_whole
holds_under_load
survives_sigkill
[ "$(id -u)" -ne 0 ] || obeys_nobody_else
