#!/bin/bash
# osprof fuse in the foreground, whose process beside the daemon is killed: another one goes on with the daemon's ring, all
# calls are in the profile until then or in the one after, and it is said where each is. Where nobody can go on, what is
# left is said.
. "$(dirname "$0")/lib.sh"
. "$tests_dir/helpers.sh"
. "$tests_dir/profiled_lib.sh"

need_root
need_fuse
need pgrep

until_killed=$profile.until-killed
for i in $(seq 7); do
    echo line >"$lower/file$i"
done

# begun [OPTION...]: with the daemon in the foreground
begun() {
    rm -f "$until_killed"
    profiled "$@" -- "$OSPROFFS" -f -o profile=/dev/null,live=none "$lower" "$mnt"
    observer=$(stay_behind)
    wait_for_mount "$mnt"
    served_by=$(pgrep -P "$observer")
}

wait_for_mount() {
    wait_until 20 mountpoint -q "$1" || fail "not mounted: $(<"$scratch/daemon.err")"
}

has_said() {
    grep -qF "$1" "$scratch/daemon.err"
}

said() {
    wait_until 20 has_said "$1" || fail "does not say '$1': $(<"$scratch/daemon.err")"
}

takes_commands() {
    "$OSPROF" show "$mnt" >"$scratch/shown" 2>/dev/null && grep -q '^mount *' "$scratch/shown"
}

# open_on FILE PAUSE: opens files until it is gone, with so many ms between; then tells how often
open_on() {
    local count=0
    while [ -e "$1" ]; do
        read -r _ <"$mnt/file$((count % 7 + 1))"
        count=$((count + 1))
        [ "$2" = 0 ] || nap "$2"
    done
    echo "$count" >"$1.count"
}

# ---- Under load: no call is lost, unless the ring gets full, which is said; and where it cannot, none but the one that was
# just being counted

for pause in 0 0 10; do
    begun
    touch "$scratch/load-1" "$scratch/load-2"
    open_on "$scratch/load-1" "$pause" &
    load1=$!
    open_on "$scratch/load-2" "$pause" &
    load2=$!
    nap 300
    kill -KILL "$observer"
    said "osprof: the process that profiles $OSPROFFS was killed: the profile until then is in $until_killed; another one goes on"
    nap 300
    rm "$scratch/load-1" "$scratch/load-2"
    wait "$load1" "$load2"
    umount "$mnt"
    ended 0
    opened=$(($(<"$scratch/load-1.count") + $(<"$scratch/load-2.count")))
    before=$(calls OPEN "$until_killed")
    after=$(calls OPEN)
    if [ "$before" -eq 0 ] || [ "$after" -eq 0 ]; then
        fail "$before calls before the kill, $after after it"
    fi
    missing=$((opened - before - after))
    [ "$missing" = 0 ] || grep -q '^# incomplete: yes' "$profile" || fail "$missing calls are missing, and it is not said"
    most=$((pause > 0 ? 1 : opened))
    if [ "$missing" -lt 0 ] || [ "$missing" -gt "$most" ]; then
        fail "$opened files were opened; $before before the kill, $after after it"
    fi
    "$OSPROF" show --check "$until_killed" "$profile" >/dev/null || fail "a profile is not consistent"
    assert_eq "" "$(ls "$XDG_RUNTIME_DIR/osprof")" "files left beside the daemon's"
    rm -f "$scratch"/load-*
done

# ---- The other process is controlled as the first one was; and it tells how the daemon ended

begun --slow 100ms --by uid
cat "$mnt"/file[1-3] >/dev/null
"$OSPROF" show "$mnt" >/dev/null # what waits in the ring would be the other one's
kill -KILL "$observer"
said "another one goes on"
wait_until 20 takes_commands || fail "the mount is not shown any more"
cat "$mnt"/file[1-5] >/dev/null
"$OSPROF" ctl "$mnt" reset || fail "no reset by the other process"
cat "$mnt"/file[1-2] >/dev/null
"$OSPROF" save "$mnt" -o "$scratch/dumped" || fail "no dump by the other process"
assert_eq 2 "$(calls OPEN "$scratch/dumped")" "OPEN since the reset"
grep -q '^# uid: 0' "$scratch/dumped" || fail "groups are not asked for again"
grep -qxF "# mount: $mnt" "$scratch/dumped" || fail "the mount is not known to the other process"
umount "$mnt"
ended 0
assert_eq "3 2" "$(calls OPEN "$until_killed") $(calls OPEN)" "OPEN before, and since the reset"

begun
kill -KILL "$observer"
said "another one goes on"
kill -TERM "$front" # passed on
ended 0

begun
cat "$mnt"/file[1-3] >/dev/null
"$OSPROF" show "$mnt" >/dev/null # what waits in the ring would be the other one's
kill -KILL "$observer"
said "another one goes on"
wait_until 20 takes_commands || fail "the mount is not shown any more"
cat "$mnt"/file[1-5] >/dev/null
kill -KILL "$served_by"
ended 137
umount "$mnt"
assert_eq "3 5" "$(calls OPEN "$until_killed") $(calls OPEN)" "OPEN before and after, of a daemon that was killed then"

# ---- Only the daemon is killed: nothing is said of the process beside it

begun
cat "$mnt"/file[1-4] >/dev/null
kill -KILL "$served_by"
ended 137
umount "$mnt"
assert_eq 4 "$(calls OPEN)" "OPEN of a daemon that was killed"
! has_said "was killed" || fail "the daemon was killed, not what profiles it: $(<"$scratch/daemon.err")"
[ ! -e "$until_killed" ] || fail "there is a profile of what did not happen"

# ---- Both are: what is left is said

begun
cat "$mnt"/file[1-2] >/dev/null
"$OSPROF" show "$mnt" >/dev/null
live=$(find "$XDG_RUNTIME_DIR/osprof" -name '*.live')
kill -STOP "$front" # it looks when both are gone
kill -KILL "$served_by"
kill -KILL "$observer"
nap 100
kill -CONT "$front"
status=0
wait "$front" || status=$?
front=
umount "$mnt"
if [ ! -s "$profile" ]; then # the process was killed before it could save
    assert_eq 125 "$status" "exit status"
    said "osprof: the process that profiles $OSPROFFS was killed, and so was the daemon; 'osprof save' takes the profile until then from $live"
    "$OSPROF" save -o "$scratch/recovered" --remove "$live"
    assert_eq 2 "$(calls OPEN "$scratch/recovered")" "OPEN that was recovered"
fi

# ---- Before there is a mount

"$OSPROF" fuse -o "$profile" -- sh -c 'exec sleep 60' >"$scratch/daemon.out" 2>"$scratch/daemon.err" &
front=$!
has_child() {
    pgrep -P "$(stay_behind)" sleep >"$scratch/child"
}
wait_until 20 has_child || fail "the command is not started"
kill -KILL "$(stay_behind)"
status=0
wait "$front" || status=$?
front=
assert_eq 125 "$status" "exit status without a mount"
said "osprof: the process that profiles sh was killed: the daemon goes on without being profiled"
kill "$(<"$scratch/child")" || fail "the command has not gone on"
rm -f "$XDG_RUNTIME_DIR"/osprof/*

# ---- The profile until then cannot be written: it stays where it is

mkdir "$scratch/gone"
usual=$profile
profile=$scratch/gone/profile
begun
cat "$mnt"/file[1-3] >/dev/null
"$OSPROF" show "$mnt" >/dev/null
live=$(find "$XDG_RUNTIME_DIR/osprof" -name '*.live')
live=${live%-*}-100.live
rmdir "$scratch/gone"
kill -KILL "$observer"
said "its profile cannot be written to $profile.until-killed: No such file or directory; it is in $live, from where 'osprof save' takes it; another one goes on"
cat "$mnt"/file[1-5] >/dev/null
mkdir "$scratch/gone"
umount "$mnt"
ended 0
assert_eq 5 "$(calls OPEN)" "OPEN after the kill"
"$OSPROF" save -o "$scratch/recovered" --remove "$live"
assert_eq 3 "$(calls OPEN "$scratch/recovered")" "OPEN before the kill"
assert_eq "" "$(ls "$XDG_RUNTIME_DIR/osprof")" "files left beside the daemon's"
profile=$usual

# ---- In the background nobody goes on: where the profile is, is said when asked

"$OSPROF" fuse -o "$profile" -- "$OSPROFFS" -o profile=/dev/null,live=none,control=.other "$lower" "$mnt" >&2
cat "$mnt"/file[1-3] >/dev/null
"$OSPROF" show "$mnt" >/dev/null
live=$(find "$XDG_RUNTIME_DIR/osprof" -name '*.live')
killed=$(stay_behind)
kill -KILL "$killed"
is_gone() {
    ! kill -0 "$killed" 2>/dev/null
}
wait_until 20 is_gone || fail "it is there still"
for command in "show $mnt" "why $mnt" "save $mnt" "ctl $mnt reset"; do
    # shellcheck disable=SC2086 # words
    ! "$OSPROF" $command >&2 2>"$scratch/words" || fail "osprof $command works when nobody profiles"
    assert_eq "osprof: what profiled $mnt was killed; the profile until then is in $live: 'osprof save' takes it from there" \
        "$(<"$scratch/words")" "words of osprof $command"
done
assert_eq line "$(cat "$mnt/file1")" "read from the mount"
"$OSPROF" save -o "$scratch/recovered" --remove "$live"
assert_eq 3 "$(calls OPEN "$scratch/recovered")" "OPEN in the background"
umount "$mnt"
