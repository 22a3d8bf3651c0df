#!/bin/bash
# osprof run --user by root: who the command is, that it gains nothing back, which files it may use, and who else may not;
# what osprof itself needs root for works meanwhile.
. "$(dirname "$0")/lib.sh"
# shellcheck source=../mount/helpers.sh
. "$tests_dir/helpers.sh"
# shellcheck source=run_lib.sh
. "$tests_dir/../cli/run_lib.sh"

need_root
need setpriv getfacl setfacl python3
[ "$is_preloaded" = yes ] || skip "built with a sanitizer"
[ "${IN_OWN_NAMESPACE:-}" ] || skip "cannot make a mount namespace"
name=$(id -un "$user_uid" 2>/dev/null) || skip "no user has the number $user_uid"
other_uid=65533
provide_programs
mkdir libraries
cp "$OSPROF_LIBRARIES/libosprof_posix.so" libraries
export OSPROF_LIBRARIES=$scratch/libraries
mount -t tmpfs -o mode=0755 none /run # nothing is to be made in the machine's
export XDG_RUNTIME_DIR=$scratch/run-open
live_dir=$XDG_RUNTIME_DIR/osprof
mkdir "$XDG_RUNTIME_DIR"
mkdir -m 700 "$live_dir"

# expect_failure MESSAGE ARGUMENT...: of osprof run
expect_failure() {
    local message=$1
    shift
    expect 125 run "$@"
    assert_eq "$message" "$(<err)" "message of: osprof run $*"
    assert_nothing_left
}

# ---- Bad input

expect_failure "osprof: cannot run the command as no-such: there is no such user" --user no-such true
expect_failure "osprof: cannot run the command as : there is no such user" --user "" true
expect_failure "osprof: cannot run the command as 4294967295: there is no such user" --user 4294967295 true
expect_failure "osprof: cannot run the command as ${user_uid}x: there is no such user" --user "${user_uid}x" true
status=0
as_user "$OSPROF" run --user root true 2>err || status=$?
assert_eq "125 osprof: cannot run the command as root: only root can" "$status $(<err)" "by an ordinary user"
status=0
setpriv --bounding-set -setuid "$OSPROF" run --user "$name" true 2>err || status=$?
assert_eq "125 osprof: cannot run the command as $name: Operation not permitted; that takes the capabilities CAP_SETUID and CAP_SETGID" \
    "$status $(<err)" "by root without a capability"
mkdir -m 700 closed
cp "$OSPROF_LIBRARIES/libosprof_posix.so" closed
OSPROF_LIBRARIES=$scratch/closed expect_failure \
    "osprof: the layer user cannot be profiled: $name may not read $scratch/closed/libosprof_posix.so; OSPROF_LIBRARIES names the directory of a copy" \
    --user "$name" true
OSPROF_LIBRARIES=$scratch/closed expect 0 run -q -- true

# ---- Who the command is

# shellcheck disable=SC2016 # for the shell inside
look='id; grep -E "^(Uid|Gid|Groups|Cap(Inh|Prm|Eff|Amb)|NoNewPrivs)" /proc/self/status; pwd; umask; echo "$MARK"
    cat; echo "$HOME $USER $LOGNAME $SHELL"; setpriv --reuid 0 true 2>/dev/null || echo stays'
IFS=: read -r _ _ _ user_gid _ home shell < <(getent passwd "$name")
export MARK=mark
echo typed | HOME=$home USER=$name LOGNAME=$name SHELL=$shell setpriv --reuid "$user_uid" --regid "$user_gid" \
    --init-groups --inh-caps=-all sh -c "$look" >expected
for who in "$name" "$user_uid"; do
    echo typed | "$OSPROF" run -q --user "$who" -- sh -c "$look" >seen 2>err
    diff -u expected seen >&2 || fail "the command of --user $who is somebody else"
    assert_eq "" "$(<err)" "messages"
done
grep -qx stays seen || fail "the command can become root again"
echo typed | setpriv --securebits +no_setuid_fixup "$OSPROF" run -q --user "$name" -- sh -c "$look" >seen 2>err
diff -u expected seen >&2 || fail "capabilities are kept where root has asked for that"
expect 0 run -q --user root -- sh -c 'id -u; grep CapEff /proc/self/status'
assert_eq "0 $(sed -n 's/^CapEff:\t/CapEff: /p' /proc/self/status)" "$(xargs <out)" "the command of root"

# ---- The terminal is that of the user who has started osprof: who has it could type there

# on_terminal ARGUMENT...: osprof run, as a shell starts it there; what the terminal shows is in shown
on_terminal() {
    local status=0
    python3 -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
        "$OSPROF" run -q "$@" </dev/null >shown || status=$?
    assert_eq 7 "$status" "status on a terminal: $(<shown)"
}
has_terminal='if (: </dev/tty) 2>/dev/null; then echo has one; else echo has none; fi; exit 7'
on_terminal --user "$name" -- sh -c "$has_terminal"
assert_eq "has none" "$(tr -d '\r' <shown)" "another user's command"
on_terminal -- sh -c "$has_terminal"
assert_eq "has one" "$(tr -d '\r' <shown)" "the own command"
# What is typed reaches the command all the same.
waits='trap "echo caught; exit 7" INT; echo begun; while :; do sleep 0.1; done'
python3 - "$OSPROF" run -q --user "$name" -- sh -c "$waits" >shown <<'CODE' || fail "Ctrl-C does not end the command: $(<shown)"
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
text = b""
try:
    while b"caught" not in text:
        more = os.read(terminal, 4096)
        if b"begun" in more:
            os.write(terminal, b"\x03")
        text += more
except OSError:
    pass
sys.stdout.write(text.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 7)
CODE

# ---- What is counted, and whose results these are

mkdir own
chown "$user_uid" own
# shellcheck disable=SC2016
load='cd "$1" && for i in 1 2 3 4 5 6 7; do echo $i >f$i; done; cat f*; rm f7'
expect 0 run -q -d own -o profile --user "$name" -- sh -c "$load" sh "$scratch/own"
expect 0 run -q -d own -o as-root -- sh -c "$load" sh "$scratch/own"
# counts PROFILE: calls of each operation
counts() {
    awk '/^OP_/ { print $1, $2 } /^# by/ { exit }' "$1" | head -n 20
}
assert_eq "$(counts as-root)" "$(counts profile)" "calls"
[ "$(grep -c ^OP_ profile)" -gt 3 ] || fail "hardly anything is counted: $(<profile)"
! grep '^# not_seen' profile || fail "something was not seen"
assert_eq "$user_uid" "$(stat -c %u own/f1)" "owner of a file"
assert_eq "0 600" "$(find "$XDG_STATE_HOME/osprof" -name '*.osprof' -exec stat -c '%u %a' {} + | sort -u)" "results"
assert_nothing_left

# ---- Who may use the live file

mkfifo begun
chown "$user_uid" begun
"$OSPROF" run -q --user "$name" -- sh -c 'echo >begun; exec sleep 60' 2>err &
run_pid=$!
read -r _ <begun
live=$(find "$live_dir" -name "$run_pid-user-*.live")
[ "$live" ] || fail "no live file in $live_dir: $(ls -l "$live_dir")"
as_user test -r "$live" -a -w "$live" || fail "the user may not use the live file"
! as_user ls "$live_dir" 2>/dev/null || fail "the user may list live files"
! as_user touch "$live_dir/x" 2>/dev/null || fail "the user may make files beside it"
! as_ids "$other_uid" "$other_uid" "" test -r "$live" || fail "another user may read the live file"
! as_ids "$other_uid" "$user_gid" "$user_gid" test -r "$live" || fail "the user's group may read the live file"
assert_eq 0 "$(stat -c %u "$live")" "owner of the live file"
kill -TERM "$run_pid"
wait "$run_pid" || true
run_pid=
assert_nothing_left

assert_eq "group::--- other::--- user::rwx" "$(getfacl -cnp "$live_dir" | sort | xargs)" "rights to the directory afterwards"
assert_eq 700 "$(stat -c %a "$live_dir")" "mode of the directory afterwards"

# Other users and groups that are let in stay so, and the user while there is another run.
setfacl -m "u:$other_uid:--x,g:$other_uid:--x" "$live_dir"
expect 0 run -q --user "$name" -- true
assert_eq "group:$other_uid:--x group::--- mask::--x other::--- user:$other_uid:--x user::rwx" \
    "$(getfacl -cnp "$live_dir" | sort | xargs)" "rights of others"
setfacl -b "$live_dir"
# shellcheck disable=SC2016 # for the shell inside
"$OSPROF" run -q -d own -o profile --user "$name" -- sh -c 'echo >begun; read -r line <begun; shift; cd "$1"; cat f1 >/dev/null' sh begun "$scratch/own" &
run_pid=$!
read -r _ <begun
expect 0 run -q --user "$name" -- true
echo go >begun
wait "$run_pid" || fail "the first of two runs fails"
run_pid=
grep -q '^OP_OPEN 1 ' profile || fail "the first of two runs is locked out: $(<profile)"
assert_eq 700 "$(stat -c %a "$live_dir")" "mode of the directory after both"

# A runtime directory that the user cannot reach gives nobody rights.
mkdir -m 700 unreachable
XDG_RUNTIME_DIR=$scratch/unreachable expect 0 run -q -d own -o profile --user "$name" -- sh -c "$load" sh "$scratch/own"
assert_eq "$(counts as-root)" "$(counts profile)" "calls where the runtime directory is out of reach"
assert_eq 700 "$(stat -c %a unreachable/osprof)" "rights to a directory out of reach"

# ---- Other layers, and several runs

if [ -c /dev/fuse ]; then
    expect 0 run --layers all -q -d own -o all --user "$name" -- sh -c "$load" sh "$scratch/own"
    for layer in user fs; do
        grep -qx "# layer: $layer" all || fail "no layer $layer: $(grep '^# layer' all)"
    done
    assert_eq "$user_uid" "$(stat -c %u own/f2)" "owner of a file made through a mount"
    assert_nothing_left
fi
expect 0 run -q --repeat 3 --warmup 1 --user "$name" -- id -u
assert_eq "$user_uid $user_uid $user_uid $user_uid" "$(xargs <out)" "who several runs are"
expect 0 run -q --vs 'id -un' --user "$name" -- id -u
assert_eq "$name $user_uid" "$(xargs <out)" "who two commands are"
PATH=/usr/bin:/bin expect 127 run -q --user "$name" -- no-such-command
assert_eq "osprof: cannot run no-such-command: No such file or directory" "$(<err)" "command not found"
echo 'echo ran' >only-root
chmod 700 only-root
expect 126 run -q --user "$name" -- ./only-root
assert_eq "osprof: cannot run ./only-root: Permission denied" "$(<err)" "command of root"

# What is set-id is so for that user.
cp /bin/true set-id
chmod 4755 set-id
expect 0 run -o - -q --user "$name" -- ./set-id
grep -q '^# not_seen: set_id 1' out || fail "a set-id program is not told: $(grep '^# not_seen' out)"
expect 0 run -o - -q -- ./set-id
! grep '^# not_seen' out || fail "for its owner it is none"
