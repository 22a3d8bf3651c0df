#!/bin/bash
# SIGKILL while a profile is saved, and while it is rotated: a profile is the old one or the new one, and whole; each call is
# in a profile or in the live file; what else is left is what osproffs(1) says. At random moments ($ROUNDS of each, 10 of them
# unless told otherwise) and, where there is strace, before each system call that could leave something behind.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"

need python3
rounds=${ROUNDS:-10}
saved=$scratch/saved
spans=$scratch/spans
mkdir "$saved" "$spans" "$lower/d"

empty() {
    find "$1" -mindepth 1 -delete
}

header() { # KEY FILE
    sed -n "s/^# $1: //p" "$2"
}

# Up to some milliseconds, most of the time that saving takes
a_moment() {
    sleep "0.$(printf '%05d' $((RANDOM % ${1:-1500})))"
}

kill_daemon() {
    kill -KILL "$daemon_pid" 2>/dev/null || true
    wait "$daemon_pid" 2>/dev/null || true
}

# assert_rest_is_said DIR: beside names there is at most one temporary file
assert_rest_is_said() {
    [ "$(find "$1" -name '.osprof.*.tmp' | wc -l)" -le 1 ] || fail "temporary files: $(ls -A "$1")"
    find "$1" -name '.osprof.*.tmp' -delete
}

# ---- While the final profile is saved

# begin_with_old_profile: a mount whose final profile replaces one of 3 MKDIR, and would have 7
begin_with_old_profile() {
    empty "$saved"
    cp "$scratch/old" "$saved/out"
    mount_osproffs -o "profile=$saved/out,interval=0.01" "$lower" "$mnt"
    live=$(live_file)
    mkdir "$mnt"/d/{1..7}
    rmdir "$mnt"/d/{1..7}
}

# What is there when it was killed at some moment. Counts in before, between and after what happened.
assert_one_is_whole() { # WHEN
    local mkdirs=0
    is_mounted "$mnt" && { try_unmount "$mnt" || fail "cannot unmount what is left, $1"; }
    if [ -e "$saved/out" ]; then
        "$OSPROF" show --check "$saved/out" >/dev/null || fail "the profile is torn, $1"
        mkdirs=$(profile_calls MKDIR "$saved/out")
    fi
    case $mkdirs in
    3) before=$((before + 1)) ;;
    7) after=$((after + 1)) ;;
    *)  # the old one has been given its other name
        assert_eq 3 "$(profile_calls MKDIR "$saved/out.old" 2>/dev/null || true)" "MKDIR in the old profile, $1"
        between=$((between + 1))
        ;;
    esac
    if [ -e "$live" ]; then
        "$OSPROF" save "$live" >recovered || fail "osprof save fails, $1"
        "$OSPROF" show --check recovered >/dev/null || fail "what is recovered is inconsistent, $1"
        assert_eq 7 "$(profile_calls MKDIR recovered)" "MKDIR recovered, $1"
        rm "$live"
    else
        assert_eq 7 "$mkdirs" "MKDIR in the profile without a live file, $1"
    fi
    assert_rest_is_said "$saved"
}

killed_while_saving() {
    local round
    before=0 between=0 after=0
    for ((round = 1; round <= rounds; round++)); do
        begin_with_old_profile
        umount -c "$mnt" &
        a_moment
        kill_daemon
        wait "$!" || true
        assert_one_is_whole "in round $round"
    done
    say "killed while saving: $before before, $between between, $after after"
}

# ---- While it is rotated

rotate_on() {
    local number=0
    while "$OSPROF" save --rotate "$mnt" -o "$spans/$(printf '%04d' "$number")" >rotated 2>&1; do
        number=$((number + 1))
    done
}

# Prints how many were made.
make_on() {
    python3 -c '
import os, sys
made = 0
try:
    while made < 100000:
        os.mkdir(f"{sys.argv[1]}/d/{made}")
        made += 1
except OSError:
    pass
print(made)' "$mnt"
}

# All that had ended is in one of them; the last span may be in the live file too, if it was killed just then.
assert_all_are_there() { # MADE WHEN
    local span total=0 last='' recovered
    for span in "$spans"/*; do
        [ -e "$span" ] || continue
        "$OSPROF" show --check "$span" >/dev/null || fail "a span is torn, $2"
        total=$((total + $(profile_calls MKDIR "$span")))
        last=$span
    done
    "$OSPROF" save "$live" >recovered || fail "osprof save fails, $2"
    "$OSPROF" show --check recovered >/dev/null || fail "what is recovered is inconsistent, $2"
    recovered=$(profile_calls MKDIR recovered)
    if [ -n "$last" ] && [ "$(header start recovered)" = "$(header start "$last")" ]; then
        total=$((total - $(profile_calls MKDIR "$last")))
        twice=$((twice + 1))
    fi
    total=$((total + recovered))
    [[ $total -eq $1 || $total -eq $(($1 + 1)) ]] || fail "$1 calls had ended, $total are there, $2"
    assert_rest_is_said "$spans"
}

killed_while_rotating() {
    local round maker rotator all=0
    twice=0
    for ((round = 1; round <= rounds; round++)); do
        empty "$spans"
        mount_osproffs "$lower" "$mnt"
        live=$(live_file)
        make_on >made &
        maker=$!
        rotate_on &
        rotator=$!
        wait_until 60 test -e "$spans/0001" -a -e "$lower/d/0" || fail "no rotations, or no calls: $(ls "$spans") $(<rotated)"
        a_moment 3000
        kill_daemon
        wait "$maker" "$rotator"
        try_unmount "$mnt" || fail "cannot unmount what is left"
        assert_all_are_there "$(<made)" "in round $round"
        all=$((all + $(<made)))
        rm "$live"
        empty "$lower/d"
    done
    say "killed while rotating: $all calls, $twice times the last span is in the live file too"
    [ "$all" -ge "$rounds" ] || fail "hardly any calls"
}

# Who asks for it is killed, not who does it.
killed_who_rotates() {
    local round span total=0
    empty "$spans"
    mount_osproffs "$lower" "$mnt"
    for ((round = 1; round <= 2 * rounds; round++)); do
        mkdir "$mnt/d/$round"
        "$OSPROF" save --rotate "$mnt" -o "$spans/$(printf '%04d' "$round")" >/dev/null 2>&1 &
        a_moment 1000
        { kill -KILL "$!" && wait "$!"; } 2>/dev/null || true
    done
    unmount_osproffs "$mnt"
    for span in "$spans"/* "$final_profile"; do
        [ -e "$span" ] || continue
        "$OSPROF" show --check "$span" >/dev/null || fail "a span is torn"
        total=$((total + $(profile_calls MKDIR "$span")))
    done
    assert_eq $((2 * rounds)) "$total" "calls in all spans and the final profile"
    say "killed who rotates: $(find "$spans" -type f | wc -l) spans of $((2 * rounds))"
    empty "$lower/d"
}

# ---- Before each system call

# kill_before CALL NUMBER COMMAND...: COMMAND makes the daemon save; it is killed before its thread's NUMBER-th CALL. Fails
# if it was not.
kill_before() {
    local call=$1 number=$2 tracer status=0
    shift 2
    strace -f -p "$daemon_pid" -o /dev/null -e "trace=$call" -e "inject=$call:signal=KILL:when=$number" 2>traced &
    tracer=$!
    wait_until 20 grep -q attached traced || fail "strace does not attach: $(<traced)"
    "$@" || true
    wait_for_end "$daemon_pid" 30 || fail "osproffs does not end"
    wait "$daemon_pid" 2>/dev/null || status=$?
    wait "$tracer" || true
    [ "$status" -eq 137 ]
}

killed_before_each_call() {
    local call number kills=0
    before=0 between=0 after=0
    for call in openat write fsync linkat renameat,renameat2 unlink,unlinkat; do
        for number in {1..20}; do
            begin_with_old_profile
            kill_before "$call" "$number" umount -c "$mnt" || break
            assert_one_is_whole "before $call number $number"
            kills=$((kills + 1))
        done
        assert_one_is_whole "without a $call number $number"
    done
    say "killed before $kills system calls: $before before, $between between, $after after"
    [[ $before -gt 0 && $after -gt 0 ]] || fail "not killed on both sides of saving"
}

# Who asks does not get on for a while, as on a busy machine, and is hung up on: it asks again.
asked_late() {
    mount_osproffs "$lower" "$mnt"
    mkdir "$mnt/d/x"
    strace -o /dev/null -e trace=sendmsg -e inject=sendmsg:delay_enter=600000:when=1 "$OSPROF" save --rotate "$mnt" -o "$spans/late" >&2 ||
        fail "who asks late is not heard"
    assert_eq 1 "$(profile_calls MKDIR "$spans/late")" "MKDIR in the span that was asked for late"
    unmount_osproffs "$mnt"
    empty "$lower/d"
}

# is_empty: the profile of the mount
is_empty() {
    [ "$(profile_calls MKDIR "$mnt/.osprof")" -eq 0 ]
}

# A span replaces an older one, and who asks is killed before a system call of that: the older one is there under one of its
# names, and the calls are in the profile still.
killed_while_replacing() {
    local call former
    for call in renameat linkat; do
        mount_osproffs "$lower" "$mnt"
        mkdir "$mnt/d/x"
        "$OSPROF" save --rotate "$mnt" -o "$spans/named"
        mkdir "$mnt"/d/{y,z}
        { strace -o /dev/null -e "trace=$call" -e "inject=$call:signal=KILL:when=1" "$OSPROF" save --rotate "$mnt" -o "$spans/named" >&2 &&
            fail "who rotates is not killed before $call"; } 2>/dev/null
        former=$spans/named
        [ -e "$former" ] || former=$spans/named.old
        assert_eq 1 "$(profile_calls MKDIR "$former")" "MKDIR in the older span, killed before $call"
        wait_until 20 has_both || fail "the calls are not in the profile any more, killed before $call"
        unmount_osproffs "$mnt"
        assert_eq 2 "$(profile_calls MKDIR "$final_profile")" "MKDIR in the final profile, killed before $call"
        empty "$lower/d"
        empty "$spans"
    done
}

has_both() {
    [ "$(profile_calls MKDIR "$mnt/.osprof")" -eq 2 ]
}

# killed_before_telling [STRACE-ARGUMENT...]: who asks is killed when the span has its name, before the answer.
killed_before_telling() {
    mount_osproffs "$lower" "$mnt"
    mkdir "$mnt/d/x"
    { strace -o /dev/null -e trace=sendto,openat -e inject=sendto:signal=KILL:when=1 "$@" "$OSPROF" save --rotate "$mnt" -o "$spans/named" >&2 &&
        fail "who rotates is not killed"; } 2>/dev/null
    assert_eq 1 "$(profile_calls MKDIR "$spans/named")" "MKDIR in the span that has its name"
    wait_until 20 is_empty || fail "the span is in the profile too"
    unmount_osproffs "$mnt"
    empty "$lower/d"
    empty "$spans"
}

# In a directory that knows no files without a name, a file has another first.
killed_before_telling_of_renamed() {
    local number
    mount_osproffs "$lower" "$mnt"
    strace -o opened -e trace=openat "$OSPROF" save --rotate "$mnt" -o "$spans/first" >&2 || fail "osprof save --rotate fails"
    unmount_osproffs "$mnt"
    empty "$spans"
    number=$(awk '/O_TMPFILE/ { print NR; exit }' opened)
    [ -n "$number" ] || { say "not shown: a file that has another name first"; return; }
    killed_before_telling -e "inject=openat:error=EOPNOTSUPP:when=$number"
}

mount_osproffs "$lower" "$mnt"
mkdir "$mnt"/d/{1..3}
rmdir "$mnt"/d/{1..3}
unmount_osproffs "$mnt"
cp "$final_profile" "$scratch/old"
killed_while_saving
killed_while_rotating
killed_who_rotates
if grep -q '__asan_init' "$OSPROFFS"; then
    say "not shown: SIGKILL before each system call, as leaks are not looked for under strace"
elif strace -o /dev/null true 2>/dev/null; then
    killed_before_each_call
    asked_late
    killed_while_replacing
    killed_before_telling
    killed_before_telling_of_renamed
else
    say "not shown: SIGKILL before each system call, as strace does not work here"
fi
