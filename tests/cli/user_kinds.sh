#!/bin/bash
# osprof run --layers user: which kinds of files count, on which file systems, of all files, below a directory and with
# --everything.
. "$(dirname "$0")/lib.sh"
# shellcheck source=user_lib.sh
. "$tests_dir/../cli/user_lib.sh"

program=$TEST_PROGRAMS/file_kinds

# counted WANTED ARGUMENT...: so many calls that look at the file are counted
counted() {
    local wanted=$1 found
    shift
    rm -rf "${lower:?}"/*
    user_run 0 "$@"
    found=$(($(calls FSTAT) + $(calls STAT)))
    assert_eq "$wanted" "$found" "calls with ${options:-no option} of: $*"
}

# kinds ALL BELOW ARGUMENT...: so many of all files, and of those below the directory. It is a row for judge_kinds, which runs
# all rows in one job, since starting a job for each takes minutes: a directory and a name of the program for each.
rows=()
kinds() {
    local number=${#rows[@]} dir status=0
    dir=$lower/$number
    mkdir "$dir"
    ln "$scratch/kinds/program" "$scratch/kinds/kind_$number"
    (cd "$dir" && exec "$program" "${@:3}") || status=$?
    [ "$status" = 0 ] || [ "$status" = 77 ] || fail "without osprof: exit status $status of ${*:3}"
    rows+=("$status $1 $2 ${everything:-7} ${*:3}")
    [ "$status" != 0 ] || printf '(cd %q && exec %q%s)\n' "$dir" "$scratch/kinds/kind_$number" "$(printf ' %q' "${@:3}")" >>"$scratch/kinds/job"
}

# judge_kinds OPTIONS COLUMN: with them the programs make as many calls as the rows have in that column
judge_kinds() {
    local number wanted found row
    for number in "${!rows[@]}"; do
        rm -rf "${lower:?}/$number"
        mkdir "$lower/$number"
    done
    options=$1 user_run 0 sh -e "$scratch/kinds/job"
    for number in "${!rows[@]}"; do
        read -ra row <<<"${rows[number]}"
        [ "${row[0]}" = 0 ] || continue
        wanted=${row[$2]}
        found=$(awk -v row="kind_$number" '/^# / { is_row = $0 == "# program: " row } is_row && /^OP_F?STAT / { calls += $2 }
            END { print calls + 0 }' "$scratch/profile")
        assert_eq "$wanted" "$found" "calls with ${1:-no option} of: ${row[*]:4}"
    done
}
mkdir "$scratch/kinds"
cp "$program" "$scratch/kinds/program"

# ---- Kinds of files

kinds 7 7 regular
kinds 7 7 directory
kinds 7 7 link
kinds 7 7 path
kinds 7 7 deleted
kinds 7 7 nameless
kinds 7 7 copied
kinds 0 0 copied_over
kinds 0 0 fifo
kinds 0 0 pipe
kinds 0 0 socket
kinds 0 0 terminal
kinds 0 0 event
kinds 0 0 memory
kinds 0 0 huge_memory
kinds 7 0 shared_memory
# Its child is a program of another name.
options='' counted 0 "$program" memory_for_child
options='--everything' counted 7 "$program" memory_for_child
options='-d . --everything' counted 7 "$program" fifo
options='-d . --everything' counted 0 "$program" pipe

# The opens too.
options='' user_run 0 "$program" open /proc/self/status
assert_calls
options='' user_run 0 "$program" open /etc/passwd
assert_calls OPEN=1 FSTAT=7
# Its message goes to a file.
options='' user_run 1 "$program" open /etc/none
assert_calls OPEN=1 FPRINTF=1
options='' user_run 1 "$program" open /proc/none
assert_calls FPRINTF=1
options='--everything' user_run 1 "$program" open /proc/none
assert_calls OPEN=1 FPRINTF=1
options='--everything' user_run 0 "$program" open /dev/null
assert_calls OPEN=1 FSTAT=7

# ---- Where they are

kinds 7 0 open /etc/passwd
kinds 7 0 open "$program"
kinds 0 0 open /dev/null
kinds 0 0 open /proc/self/status
kinds 0 0 open /proc/self/ns/mnt
kinds 0 0 open /proc
kinds 0 0 open /dev
kinds 0 0 open /sys
kinds 7 0 open /proc/self/cwd/../../../../../../../../etc
ln -sf /proc/self/status status-link
kinds 0 0 open "$scratch/status-link"

# ---- Names, whether they exist or not

everything=11
kinds 11 0 names /etc/passwd
kinds 11 0 names /none/none
kinds 11 11 names none
kinds 0 0 names /proc/self/status
kinds 0 0 names //proc/none
kinds 11 0 names /proc/../etc
kinds 11 0 names /procedures
kinds 0 0 names /dev
kinds 0 0 names /dev/null
kinds 11 0 names /dev/shm
kinds 11 0 names /dev/shm/none
kinds 11 0 names /
kinds 11 0 at /etc passwd
kinds 11 0 at / etc
kinds 11 11 at . ./none
kinds 11 0 at /dev/shm none
kinds 0 0 at /proc/self status
kinds 0 0 at /dev null
# in_directory DIRECTORY NAME WANTED: of all files, for a name that is relative to a directory
in_directory() {
    options='' user_run 0 env -C "$1" "$program" names "$2"
    assert_eq "$3" "$(calls STAT)" "names $2 in $1"
}
in_directory / proc/none 0
in_directory / etc 11
in_directory / . 11
in_directory /dev null 0
in_directory /dev shm/none 11
in_directory /dev/shm none 11
in_directory /dev/shm ../null 0
in_directory /proc/self ../self/status 0
in_directory /proc/self ../../etc 11
in_directory "$lower" ../none 11

# A directory that was removed has no path, and is none of a pseudo file system.
everything=7
kinds 7 0 gone

judge_kinds '' 1
judge_kinds '-d /' 1
judge_kinds '-d .' 2
judge_kinds '--everything' 3

# ---- Inherited descriptors

# inherited FILE WANTED: of all files
inherited() {
    options='' counted "$2" "$program" fd 7 7<"$1"
    options='--everything' counted 7 "$program" fd 7 7<"$1"
}
inherited /etc/passwd 7
inherited /dev/null 0
inherited /proc/self/status 0
inherited /proc/self/ns/mnt 0
options='' counted 0 "$program" fd 7 7< <(:)
options='--everything' counted 7 "$program" fd 7 7< <(:)

# ---- An open whose file turns out not to count is seen while it lasts, and not when it was cancelled

"$TEST_PROGRAMS/watched_opens" "$scratch/opens.live" "$OSPROF_LIBRARIES/libosprof_posix.so"

# ---- The option

expect 125 run --layers fs --everything true
assert_eq "osprof run: --everything is for the layer user; see 'osprof help run'" "$(<err)" "message of --everything for a mount"
options='' user_run 0 true
assert_eq / "$(sed -n 's/^# lower: //p' profile)" "the directory of all files"

# ---- Pseudo file systems that are mounted elsewhere, or later

unshare --mount true 2>/dev/null || exit 0
# elsewhere WANTED TYPE NAME: a file of a file system that the command mounts
elsewhere() {
    rm -rf "${lower:?}"/*
    # shellcheck disable=SC2016
    options='' user_run 0 unshare --mount sh -c 'mkdir in && mount -t "$1" "$1" in && { [ -e "in/$2" ] || : >"in/$2"; } && exec "$3" open "in/$2"' \
        sh "$2" "$3" "$program"
    assert_eq "$1" "$(calls FSTAT)" "calls on a file of a $2 that was mounted later"
}
elsewhere 0 proc self/status
# shellcheck disable=SC2016
unshare --mount sh -c 'mkdir root && mount --rbind / root && mount --rbind /proc root/proc && mount --rbind /dev root/dev &&
    exec "$1" run -q -o profile -- sh -c "$2 open root/proc/self/status; $2 open root/dev; $2 open root/etc/passwd"' sh "$OSPROF" "$program"
assert_eq 7 "$(calls FSTAT)" "calls on files of a directory with /proc and /dev in it"
elsewhere 0 sysfs power/state
elsewhere 7 tmpfs file

# A file of another file system that is bound there makes that one no pseudo file system.
mkdir bound
# shellcheck disable=SC2016
unshare --mount sh -c 'mount -t tmpfs tmpfs bound && : >bound/file && mount --bind bound/file /proc/version &&
    exec "$1" run -q -o profile -- "$2" open bound/file' sh "$OSPROF" "$program"
assert_eq 7 "$(calls FSTAT)" "calls on a file system of which a file is bound to /proc"
