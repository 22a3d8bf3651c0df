#!/bin/bash
# osprof fuse: a mount that a daemon in the background serves is looked at and controlled by its mount point; and the
# process beside it ends with it, whatever happens.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/profiled_lib.sh"

need_root
need_fuse
need pgrep
daemon=$OSPROFFS # any: only its layer is another

# started OPTION...: osproffs itself, which goes into the background
started() {
    "$OSPROF" fuse -o "$profile" "$@" -- "$daemon" -o profile=/dev/null,live=none "$lower" "$mnt" 2>err || fail "not started: $(<err)"
    assert_eq "" "$(<err)" "messages"
    assert_eq 1 "$(stay_behind | wc -l)" "processes beside the daemon"
}

unmounted() {
    umount "$mnt"
    wait_until 20 test -s "$profile" || fail "no profile is written"
    wait_until 20 nobody_stays || fail "a process is left beside the daemon"
    assert_eq "" "$(ls "$XDG_RUNTIME_DIR/osprof")" "files left beside the daemon's"
}

for i in $(seq 7); do
    echo line >"$lower/file$i"
done

# ---- Looking

started --by process+program+uid+file+directory --joint read:size --interval 0.5 --slow 10ms --label rack=7 -r 4
cat "$mnt"/file[1-5] >/dev/null
[ "$("$OSPROF" show "$mnt" | awk '$1 == "OPEN" { print $2 }' | tail -n 1)" = 5 ] || fail "a mount that is profiled is not shown: $("$OSPROF" show "$mnt")"
"$OSPROF" show --by file "$mnt" | grep -q ' /file3$' || fail "files are not told apart"
"$OSPROF" show --by program "$mnt" | grep -q '^cat ' || fail "programs are not told apart"
"$OSPROF" show --joint "$mnt" | grep -q READ || fail "latencies are not related to sizes"
"$OSPROF" top --batch --count 1 --delay 0.1 "$mnt" >/dev/null || fail "top does not know the mount"
status=0
"$OSPROF" why "$mnt" >/dev/null || status=$?
assert_eq 1 "$status" "status of osprof why of a mount without a slow call"

# ---- Commands

"$OSPROF" save --rotate "$mnt" -o "$scratch/first"
assert_eq 5 "$(calls OPEN "$scratch/first")" "OPEN in the first span"
cat "$mnt"/file[67] >/dev/null
"$OSPROF" save "$mnt" -o "$scratch/second"
assert_eq 2 "$(calls OPEN "$scratch/second")" "OPEN in the second span"
grep -q '^# label rack: 7$' "$scratch/second" || fail "the label is missing"
grep -q '^# resolution: 4$' "$scratch/second" || fail "the resolution is another"
echo notes >"$scratch/notes"
assert_refused "it is there, and is no result of osprof; --force replaces it" "$OSPROF" save --rotate "$mnt" -o "$scratch/notes"
assert_refused "osprof: $mnt: rotate $mnt/span: the file lies in the mount itself" "$OSPROF" save --rotate "$mnt" -o "$mnt/span"
assert_refused "osprof: $mnt: groups uid: not while it runs: osprof attach and osprof fuse take --by when they start" \
    "$OSPROF" ctl "$mnt" groups uid
"$OSPROF" save --rotate "$mnt" -o "$scratch/first"
assert_eq "2 5" "$(calls OPEN "$scratch/first") $(calls OPEN "$scratch/first.old")" "OPEN in the second span, and in the first"
"$OSPROF" ctl "$mnt" reset
cat "$mnt"/file1 >/dev/null
unmounted
assert_eq 1 "$(calls OPEN)" "OPEN after the reset"
"$OSPROF" show --check "$profile" >&2 || fail "osprof show --check finds fault"

# osprof unmount waits for the profile of such a mount too; a directory that is no mount is refused.

rm "$profile"
started
cat "$mnt"/file[1-3] >/dev/null
assert_eq "The profile is in $profile." "$("$OSPROF" unmount "$mnt")" "what osprof unmount says"
assert_eq 3 "$(calls OPEN)" "OPEN in the profile of what was unmounted"
! is_mounted "$mnt" || fail "it is still mounted"
wait_until 20 nobody_stays || fail "a process is left beside the daemon that was unmounted"
assert_refused "no mount of osproffs is there; 'findmnt -t fuse.osproffs' lists them" "$OSPROF" unmount "$mnt"

# ---- Nobody else gets at it

started
chmod 755 "$XDG_RUNTIME_DIR" "$XDG_RUNTIME_DIR/osprof"
for kind in ring live sock; do
    file=$(find "$XDG_RUNTIME_DIR/osprof" -name "*.$kind")
    assert_eq "600" "$(stat -c %a "$file")" "mode of the $kind"
done
as_user test ! -r "$file" -a ! -w "$file" || fail "another user gets at the socket"
chmod 700 "$XDG_RUNTIME_DIR/osprof"
unmounted

# ---- Ends

# SIGTERM to the process beside the daemon: the profile so far is saved, and it goes on.
started
rm -f "$profile"
cat "$mnt"/file1 >/dev/null
kill -TERM "$(stay_behind)"
wait_until 20 test -s "$profile" || fail "SIGTERM does not save the profile"
assert_eq 1 "$(calls OPEN)" "OPEN before SIGTERM"
cat "$mnt"/file2 >/dev/null
rm "$profile"
unmounted
assert_eq 2 "$(calls OPEN)" "OPEN before and after SIGTERM"

# The daemon is killed
started
cat "$mnt"/file[1-3] >/dev/null
rm -f "$profile"
kill -KILL "$(pgrep -P "$(stay_behind)")"
wait_until 20 test -s "$profile" || fail "no profile of a daemon that was killed"
umount "$mnt"
assert_eq 3 "$(calls OPEN)" "OPEN of a daemon that was killed"

# The process beside it is killed: the daemon goes on, and osprof save takes what was counted
started
cat "$mnt"/file[1-4] >/dev/null
"$OSPROF" show "$mnt" >/dev/null
live=$(find "$XDG_RUNTIME_DIR/osprof" -name '*.live')
served_by=$(pgrep -P "$(stay_behind)")
kill -KILL "$(stay_behind)"
cat "$mnt"/file5 >/dev/null || fail "the daemon does not go on"
"$OSPROF" save -o "$scratch/recovered" --remove "$live"
assert_eq "" "$(ls "$XDG_RUNTIME_DIR/osprof")" "what is left of what was recovered"
assert_eq 4 "$(calls OPEN "$scratch/recovered")" "OPEN that was recovered"
for _ in $(seq 20000); do stat -c %a "$mnt/file1"; done >/dev/null & # more than the ring holds
load=$!
sleep 1
kill "$load"
wait "$load" 2>/dev/null || true
cat "$mnt"/file5 >/dev/null || fail "the daemon does not go on without a reader"
umount "$mnt"
wait_for_end "$served_by" 20 || fail "the daemon does not end"

# ---- Odd names, and a daemon that is stopped

# The directory of live files has a path that is too long for a socket's address.
usual_dir=$XDG_RUNTIME_DIR
XDG_RUNTIME_DIR=$scratch/$(printf 'x%.0s' {1..120})
mkdir -m 700 "$XDG_RUNTIME_DIR"
started
cat "$mnt"/file1 >/dev/null
"$OSPROF" ctl "$mnt" reset || fail "no control where paths are long"
cat "$mnt"/file[1-3] >/dev/null
unmounted
assert_eq 3 "$(calls OPEN)" "OPEN after the reset"
XDG_RUNTIME_DIR=$usual_dir

usual_mnt=$mnt
mnt=$scratch/$'line\nnext\ttab\001'
mkdir "$mnt"
started
cat "$mnt"/file[1-3] >/dev/null
"$OSPROF" show "$mnt" | grep -q '^OPEN' || fail "a mount point of two lines is not shown"
unmounted
"$OSPROF" show --check "$profile" >&2 || fail "a mount point of two lines makes a broken profile"
assert_eq 3 "$(calls OPEN)" "OPEN of a mount point of two lines"
mnt=$usual_mnt

# Nothing that looks at a mount waits for its daemon.
started --slow 10ms
cat "$mnt"/file1 >/dev/null
served_by=$(pgrep -P "$(stay_behind)")
kill -STOP "$served_by"
cat "$mnt"/file2 >/dev/null &
caller=$!
failed=
for command in show "top --batch --count 1 --delay 0.1" save; do
    # shellcheck disable=SC2086 # words
    timeout 20 "$OSPROF" $command "$mnt" >/dev/null || failed=$command
done
status=0
timeout 20 "$OSPROF" why "$mnt" >/dev/null || status=$?
[ "$status" = 1 ] || failed=why # only ended calls are slow
timeout 20 "$OSPROF" ctl "$mnt" reset || failed=reset
kill -CONT "$served_by"
[ -z "$failed" ] || fail "osprof $failed does not work while the daemon is stopped"
wait "$caller"
unmounted

# Without standard descriptors nothing else has their numbers; and the daemon has none either.
"$OSPROF" fuse -o "$profile" -- sh -c '[ ! -e /dev/fd/1 ] && exec "$@" </dev/null >/dev/null 2>&1' sh \
    "$daemon" -o profile=/dev/null,live=none "$lower" "$mnt" <&- >&- 2>&- || fail "not started without descriptors"
cat "$mnt"/file[1-3] >/dev/null
rm -f "$profile"
unmounted
assert_eq 3 "$(calls OPEN)" "OPEN of a daemon without standard descriptors"

# Somebody overwrites what the daemon tells: the daemon goes on, and the profile says that it lacks something
started
cat "$mnt"/file[1-3] >/dev/null
"$OSPROF" show "$mnt" >/dev/null
head -c 100000 /dev/zero | dd of="$(find "$XDG_RUNTIME_DIR/osprof" -name '*.ring')" conv=notrunc status=none
cat "$mnt"/file[4-6] >/dev/null || fail "the daemon does not go on without a ring"
rm -f "$profile"
unmounted
grep -q '^# incomplete: yes$' "$profile" || fail "what was overwritten is not told of: $(<"$profile")"
"$OSPROF" show --check "$profile" >&2 || fail "osprof show --check finds fault"

# The terminal is closed, whose session osprof leads: a daemon in the foreground ends as it would without it.
if have script; then
    rm -f "$profile"
    script -qec "exec '$OSPROF' fuse -o '$profile' -- '$daemon' -f -o profile=/dev/null,live=none '$lower' '$mnt'" /dev/null </dev/null >/dev/null &
    terminal=$!
    wait_until 20 is_recorded || fail "not started in a terminal"
    cat "$mnt"/file[1-3] >/dev/null
    kill -KILL "$terminal"
    wait "$terminal" 2>/dev/null || true
    wait_until 20 nobody_stays || fail "the daemon does not end with its terminal"
    # one of them is its own: pages are written back before the end
    assert_eq 4 "$(calls OPEN)" "OPEN before the terminal was closed"
    ! mountpoint -q "$mnt" || fail "the mount is left"
fi

# ---- Where the profile goes

mkdir here
(cd here && "$OSPROF" fuse -- "$daemon" -o profile=/dev/null,live=none "$lower" "$mnt") || fail "not started"
umount "$mnt"
wait_until 20 test -s here/osprof.out || fail "no profile in the current directory"
cp here/osprof.out first
(cd here && "$OSPROF" fuse -- "$daemon" -o profile=/dev/null,live=none "$lower" "$mnt") || fail "not started"
umount "$mnt"
wait_until 20 test -s here/osprof.out.old || fail "the older profile is lost"
cmp first here/osprof.out.old
wait_until 20 nobody_stays || fail "a process is left beside the daemon"
# The place is gone when the profile is to be written: it stays where osprof save finds it.
mkdir gone
"$OSPROF" fuse -o "$PWD/gone/profile" -- "$daemon" -o profile=/dev/null,live=none "$lower" "$mnt"
cat "$mnt"/file1 >/dev/null
rmdir gone
umount "$mnt"
wait_until 20 nobody_stays || fail "a process is left beside the daemon"
"$OSPROF" save "$XDG_RUNTIME_DIR"/osprof/*.live >"$scratch/recovered"
assert_eq 1 "$(calls OPEN "$scratch/recovered")" "OPEN of a profile that could not be written"
rm "$XDG_RUNTIME_DIR"/osprof/*.live
# Of a daemon that stays in the foreground it is there when that has ended, or it is said that it is not.
foreground() {
    "$OSPROF" fuse "$@" -- "$daemon" -f -o profile=/dev/null,live=none "$lower" "$mnt" 2>err &
    front=$!
    wait_until 20 is_recorded || fail "not profiled: $(<err)"
    cat "$mnt"/file1 >/dev/null
}
foreground -o "$PWD/here/at-once"
umount "$mnt"
wait "$front" || fail "exit status of a daemon in the foreground: $?, $(<err)"
assert_eq 1 "$(calls OPEN here/at-once)" "OPEN of a daemon in the foreground, at once"
mkdir gone
foreground -o "$PWD/gone/profile"
rmdir gone
umount "$mnt"
status=0
wait "$front" || status=$?
front=
assert_eq 125 "$status" "exit status where the profile cannot be written"
grep -q "^osprof: cannot write the profile of $mnt to $PWD/gone/profile: .*; it is in .*, from where" err ||
    fail "not told that the profile cannot be written: $(<err)"
wait_until 20 nobody_stays || fail "a process is left beside the daemon"
rm "$XDG_RUNTIME_DIR"/osprof/*.live

# ---- Two mounts: the first is profiled, and that is said

mkdir other
# shellcheck disable=SC2016 # for the shell inside
"$OSPROF" fuse -o "$profile" -- sh -c '"$1" -o profile=/dev/null,live=none "$2" "$3" && "$1" -o profile=/dev/null,live=none "$2" "$4"' \
    sh "$daemon" "$lower" "$mnt" "$PWD/other" 2>err || fail "not started: $(<err)"
grep -q "makes more than one mount: the first one is profiled" err || fail "not told of a second mount: $(<err)"
cat other/file1 other/file2 >/dev/null
cat "$mnt"/file1 >/dev/null
umount other
unmounted
assert_eq 1 "$(calls OPEN)" "OPEN in the first mount"

# ---- What is no daemon, or cannot be profiled

# exits STATUS MESSAGE ARGUMENT...
exits() {
    local status=0 wanted=$1 message=$2
    shift 2
    timeout 60 "$OSPROF" fuse "$@" >out 2>err || status=$?
    assert_eq "$wanted" "$status" "exit status of osprof fuse $*"
    grep -qF -- "$message" err || fail "osprof fuse $*: expected '$message', found '$(<err)'"
    wait_until 20 nobody_stays || fail "a process is left by osprof fuse $*"
    assert_eq "" "$(ls "$XDG_RUNTIME_DIR/osprof")" "files left by osprof fuse $*"
}
unseen="was seen: it serves no FUSE mount"
exits 0 "$unseen" -- true
exits 7 "$unseen" -- sh -c 'exit 7'
exits 137 "$unseen" -- sh -c 'kill -KILL $$'
exits 127 "osprof: cannot run no-such-daemon: No such file or directory" -- no-such-daemon
exits 126 "osprof: cannot run $lower/file1: Permission denied" -- "$lower/file1"
exits 125 "the daemon must be given"
exits 125 "--slow 25h: must be a time" --slow 25h -- true
exits 125 "--slow 10: the unit is missing" --slow 10 -- true
exits 125 "--joint read:colour: the value must be" --joint read:colour -- true
exits 125 "--joint mkdir:size: the operation has no such value" --joint mkdir:size -- true
exits 125 "--by process+colour: must be of process" --by process+colour -- true
exits 125 "--interval soon: must be a time" --interval soon -- true
exits 125 "--resolution takes 1, 2, 4 or 8" -r 3 -- true
exits 125 "cannot write no/such/place: No such file or directory" -o no/such/place -- true
exits 125 "so it needs a file" -o - -- true
printf 'nonsense\n' >causes
exits 125 "--causes causes: line 1" --causes causes -- true

# The daemon has the signals that osprof has been started with.
signals() {
    "$@" grep '^Sig[BI]' /proc/self/status
}
for ignored in WINCH "HUP QUIT" "INT CHLD TERM"; do
    # shellcheck disable=SC2086 # words
    assert_eq "$(trap '' $ignored && signals)" "$(trap '' $ignored && signals "$OSPROF" fuse -- 2>/dev/null)" "signals ignored: $ignored"
done

# What is statically linked, and a full disk for live files: the daemon runs, without a profile.
if [ -x /sbin/ldconfig ] && ! readelf -l /sbin/ldconfig | grep -q INTERP; then
    exits 0 "cannot profile /sbin/ldconfig from inside: it is statically linked" -- /sbin/ldconfig -V
    grep -q "/sbin/ldconfig runs without being profiled" err || fail "not told that it runs: $(<err)"
    grep -q ldconfig out || fail "a static program did not run: $(<out)"
fi
if unshare --mount true 2>/dev/null; then
    # shellcheck disable=SC2016 # for the shell inside
    unshare --mount --propagation private sh -c 'mkdir small && mount -t tmpfs -o size=100k tmpfs small &&
        XDG_RUNTIME_DIR=$PWD/small exec "$@"' sh "$OSPROF" fuse -- echo works >out 2>err || fail "a full disk keeps the daemon from working: $(<err)"
    assert_eq works "$(<out)" "output of what runs without a profile"
    grep -q "cannot profile echo: nothing can be made in .*: No space left on device" err || fail "a full disk: $(<err)"
fi
