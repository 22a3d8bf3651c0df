#!/bin/bash
# osprof run when something ends before its time: signals to it, its daemon killed, itself killed, and a command that
# leaves processes behind. Whatever can be said is said, the profile comes, and nothing is left.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=run_lib.sh
. "$tests_dir/../cli/run_lib.sh"

need_fuse
need ps pgrep
unshare --mount true 2>/dev/null || skip "cannot make a mount namespace"

# begin SCRIPT: starts osprof run of it in the background; returns when the script has made the file "ready"
begin() {
    rm -f "$lower"/* "$scratch/profile"
    set -m # a job of its own, which can be stopped
    "${interruptible[@]}" "$OSPROF" run --layers fs --by none --mount-option "${options:-cache=none}" -d "$lower" -o "$scratch/profile" -- bash -c "cd '$lower'; mkdir known-{1..7}; rmdir known-*; $1" \
        >"$scratch/out" 2>"$scratch/err" &
    run_pid=$!
    set +m
    wait_until 60 test -e "$lower/ready" || fail "the command does not begin: $(<"$scratch/err")"
}

# end STATUS WHAT: it ends by itself with this status
end() {
    local status=0
    wait_for_end "$run_pid" 60 || fail "osprof run does not end: $2; there are:
$(ps -o ppid,pid,stat,wchan:24,comm -p 2 --ppid 2 --deselect)"
    wait "$run_pid" || status=$?
    run_pid=
    assert_eq "$1" "$status" "exit status: $2"
    assert_nothing_left
}

assert_profile() {
    "$OSPROF" show --check profile >&2 || fail "bad profile: $1"
    assert_eq "7 7" "$(profile_calls MKDIR profile) $(profile_calls RMDIR profile)" "MKDIR and RMDIR: $1"
}

# assert_said LINE: osprof has, beside what a sanitizer may say of its daemon
assert_said() {
    grep -qxF -- "$1" "$scratch/err" || fail "it does not say '$1' but: $(<"$scratch/err")"
}

command_pid() {
    pgrep -P "$run_pid" "$1"
}

wait_for_ever='touch ready; while :; do sleep 0.1; done'

# ---- Signals to osprof are the command's

for signal in INT:130 QUIT:131 TERM:143 HUP:129 USR1:138; do
    begin "touch ready; exec sleep 1000"
    wait_until 60 command_pid sleep || fail "the command does not begin to sleep" # bash ignores SIGQUIT
    kill "-${signal%:*}" "$run_pid"
    end "${signal#*:}" "$signal"
    assert_profile "$signal"
done
begin "trap 'rm ready; exit 11' TERM; $wait_for_ever"
kill -TERM "$run_pid"
end 11 "SIGTERM that the command handles"
assert_profile "a handled signal"

is_stopped() {
    [[ $(ps -o state= -p "$1") == T* ]]
}
begin "touch ready; exec sleep 1000"
child=$(command_pid sleep)
kill -TSTP "$run_pid"
wait_until 20 is_stopped "$run_pid" || fail "osprof does not stop"
wait_until 20 is_stopped "$child" || fail "the command does not stop"
kill -CONT "$run_pid"
wait_until 20 eval "! is_stopped $run_pid && ! is_stopped $child" || fail "they do not go on"
kill -TERM "$run_pid"
end 143 "SIGTERM after a stop"

# ---- The daemon is killed: said, and what was counted is not lost

# shellcheck disable=SC2016 # for the shell inside
until_daemon_ends='touch ready; while [ ! -s '$scratch'/daemon ] || kill -0 $(<'$scratch'/daemon) 2>/dev/null; do sleep 0.1; done; exit 13'
end_daemon_by() {
    local daemon
    daemon=$(own_daemons)
    kill "-$1" "$daemon"
    echo "$daemon" >"$scratch/daemon"
}

begin "$until_daemon_ends"
end_daemon_by KILL
end 13 "a daemon that is killed"
assert_profile "recovered"
assert_said "osprof: osproffs was killed by signal 9 (Killed): nothing in $lower can be reached from here on"
assert_said "osprof: the profile of $lower is recovered from the live file: it is what was counted until osproffs was killed"

rm "$lower/ready"
status=0
"$OSPROF" run --layers fs --mount-option live=none -d "$lower" -q -o profile -- bash -c "touch $lower/ready; while ls $lower/ready; do sleep 0.1; done; exit 13" >out 2>err &
run_pid=$!
wait_until 60 test -e "$lower/ready" || fail "the command does not begin"
kill -KILL "$(own_daemons)"
rm "$lower/ready"
wait "$run_pid" || status=$?
assert_eq 125 "$status" "status of a run whose profile is lost"
assert_said "osprof: the profile of $lower is lost: its osproffs was killed, and there is no live file"

rm daemon
begin "$until_daemon_ends"
end_daemon_by TERM
end 13 "a daemon that is told to end"
assert_profile "of a daemon that has ended"
assert_said "osprof: osproffs has ended: what goes on in $lower is not in the profile from here on"

# ---- osprof itself is killed: all goes with it but what was counted, also if what the daemon needs to say the time lies
# in the directory

# kill_osprof CHILD: osprof, and waits until the command and the daemon have gone with it
kill_osprof() {
    kill -KILL "$run_pid"
    wait "$run_pid" || true
    run_pid=
    wait_for_end "$1" 20 || fail "the command goes on"
    wait_until 20 no_daemons || fail "daemons are left: $(own_daemons)"
    rm -f "$XDG_RUNTIME_DIR"/osprof/*-user-*.live # of the layer that tells what FUSE adds
}

TZ=:$lower/zone begin "echo \$\$ >pid; $wait_for_ever"
daemon=$(own_daemons)
kill_osprof "$(<"$lower/pid")"
live=$XDG_RUNTIME_DIR/osprof/$daemon.live
assert_said "osproffs: cannot write profile standard output: Broken pipe; saved in $live (osprof save $live)"
expect 0 save --list
grep -Eq "^ *$daemon  dead .* $live  $lower\$" "$scratch/out" || fail "not listed: $(<"$scratch/out")"
expect 0 save --remove -o profile "$live"
assert_profile "of a killed osprof"
assert_nothing_left

options=cache=none,live=none begin "echo \$\$ >pid; $wait_for_ever"
kill_osprof "$(<"$lower/pid")"
sed -n '/^osproffs: # osprof 1$/,$ s/^osproffs: \(.\)/\1/p' "$scratch/err" >profile
assert_profile "printed, for want of a live file"
assert_nothing_left

# ---- A command that leaves a process behind: the profile is as of its end, and nobody waits

begin 'exec 3>held; (trap "" TERM; while [ ! -e '"$scratch"'/go ]; do sleep 0.1; done; echo late >&3 || echo refused >'"$scratch"'/late) 2>/dev/null & touch ready'
end 0 "a process that is left behind"
assert_profile "with a process left behind"
assert_said "osprof: $lower is still used by processes that the command has left behind: their open files there fail from here on, and are not in the profile"
touch go
wait_until 20 test -s late || fail "the process that was left behind got no error"
