#!/bin/bash
# Live files: a mount is recognised by its text and shown without being touched; those left behind are found, shown
# and turned into profiles.
. "$(dirname "$0")/lib.sh"

live_dir=$XDG_RUNTIME_DIR/osprof
recorder_pid=

before_cleanup() {
    [ -z "$recorder_pid" ] || kill -KILL "$recorder_pid" 2>/dev/null
}

# start_recorder LIVE MOUNT CONTROL [paused]
start_recorder() {
    coproc RECORDER { exec "$TEST_PROGRAMS/record" "$@"; }
    # shellcheck disable=SC2153 # set by coproc
    recorder_pid=$RECORDER_PID
    local answer
    read -r answer <&"${RECORDER[0]}"
    assert_eq ready "$answer" "the recorder's answer"
}

kill_recorder() {
    kill -KILL "$recorder_pid"
    wait "$recorder_pid" 2>/dev/null || true
    recorder_pid=
}

# shown KEY: the rest of the line of the heading
shown() {
    sed -n "s/^$1 *//p" "$scratch/out"
}

expect 0 save --list
grep -q '^ *PID' "$scratch/out" || # root may have others, in /run
    grep -q "^No live files in $live_dir or /" "$scratch/out" || fail "does not say where it looked"

mkdir -m 0700 "$live_dir"
live=$live_dir/4711.live
start_recorder "$live" "$scratch/hung" .control

# The mount point does not even exist: whatever is shown comes from the live file.
for name in hung ./hung/ "$scratch/lower/../hung" hung/.control; do
    expect 0 show --charts "$name"
    assert_eq "$scratch/hung" "$(shown mount)" "mount of $name"
    assert_eq "being recorded by process $recorder_pid" "$(shown state)" "state of $name"
    grep -Eq '^  FSYNC +[0-9.]+ [a-zµ]+ +4711  .* \(not known\)$' "$scratch/out" || fail "the call in flight is not listed"
    grep -q 'no call has ended yet' "$scratch/out" || fail "FSYNC has an histogram"
    assert_eq 7 "$(awk '$1 == "READ" && NF > 1 { print $2 }' "$scratch/out")" "calls of READ"
done
expect 0 show --check hung "$live"
assert_eq 2 "$(grep -c ': consistent: 2 ops, 8 calls, 1 in flight$' "$scratch/out")" "consistent live files"
expect 2 show hung/.osprof
expect 2 show hung/deeper

# The age of the call in flight grows.
age() {
    expect 0 save "$live"
    sed -n 's/^# call: FSYNC age \([0-9]*\) .*inode 131074 pid 4711$/\1/p' "$scratch/out"
}
first_age=$(age)
second_age=$(age)
[ "$second_age" -gt "$first_age" ] || fail "an age of $first_age, then $second_age"

# Saving what still runs: possible, also by the name of the mount, whose process does not answer; but not removing it.
expect 0 save -o now.out "$live"
assert_eq "" "$(<"$scratch/err")" "messages about a file that is in use"
assert_eq 7 "$(profile_calls READ now.out)" "calls in the saved profile"
expect 0 save hung
grep -qxF "osprof: hung does not answer: this is what its live file $live has, without intervals, joint profiles and groups" \
    "$scratch/err" || fail "not told what is missing: $(<"$scratch/err")"
assert_eq 7 "$(profile_calls READ out)" "calls in the profile of a mount that hangs"
expect_trouble \
    "osprof: process $recorder_pid still records into $live: nothing is written or removed; unmount first" \
    save --remove -o never.out "$live"
[ ! -e never.out ] || fail "written all the same"
expect 0 save --list
grep -Eq "^ *$recorder_pid  active     [0-9: -]{19}  $live  $scratch/hung$" "$scratch/out" || fail "not listed as active"

# expect_listed STATE: for programs
expect_listed() {
    expect 0 save --list --json
    python3 - "$1" "$recorder_pid" "$live" "$scratch/hung" <<'END' || fail "not listed as $1 in JSON: $(<"$scratch/out")"
import json, sys
state, pid, live, mount = sys.argv[1:]
row, = [row for row in json.load(open("out"))["live_files"] if row["path"] == live]
assert row["state"] == state and row["mount"] == mount and len(row["since"]) == 19, row
assert not pid or row["pid"] == int(pid), row
END
    ! python=$(python_with jsonschema) || "$python" "$tests_dir/../cli/validate.py" "$data/../../docs/lists.schema.json" out ||
        fail "not by the schema of lists: $(<"$scratch/out")"
}
expect_listed active

# A symbolic link in the place of the live directory, or one that others can write to, is not believed.
mv "$live_dir" "$scratch/elsewhere"
ln -s "$scratch/elsewhere" "$live_dir"
expect 2 show hung
rm "$live_dir"
mv "$scratch/elsewhere" "$live_dir"
chmod 0777 "$live_dir"
expect 2 show hung
chmod 0700 "$live_dir"
expect 0 show hung

kill_recorder
expect 0 save --list
grep -Eq "^ *[0-9]+  dead       [0-9: -]{19}  $live  $scratch/hung$" "$scratch/out" || fail "not listed as dead"
expect_listed dead
expect 2 show hung # nothing serves it any more
expect 0 show "$live"
assert_eq "left behind by process" "$(shown state | cut -d' ' -f1-4)" "state of a dead recorder's file"
expect 0 show --check "$live"

# To standard output, and over an older file; then the live file may go.
expect 0 save "$live"
cp "$scratch/out" to-stdout
[ ! -s "$scratch/err" ] || fail "warns of a dead recorder"
expect 0 save --output=now.out "$live"
cmp now.out to-stdout
expect 0 show --check now.out
expect_trouble "osprof: cannot write no/such/dir: No such file or directory" save --remove -o no/such/dir "$live"
status=0 # as on a full disk
said=$( (trap '' XFSZ && ulimit -f 0 && "$OSPROF" save --remove -o never.out "$live" 2>&1) ) || status=$?
assert_eq "2: osprof: cannot write never.out: File too large; the live file is untouched" "$status: $said" "what cannot be written"
[ -e "$live" ] || fail "removed, and not written"
expect 0 save --remove -o last.out "$live"
cmp last.out to-stdout
[ ! -e "$live" ] || fail "the live file is still there"

mkfifo fifo # nobody is waited for
for name in last.out fifo; do
    expect_trouble "osprof: cannot remove $name: it is no live file; 'osprof save --list' lists them" \
        save --remove -o never.out $name
done
expect_trouble "osprof: cannot save $live: No such file or directory; 'osprof save --list' lists the live files" \
    save --remove -o never.out "$live"
expect_trouble "osprof: cannot open profile $live: No such file or directory; a profile file, a mount point, a live \
file, - or @1 is expected" save "$live"
[ ! -e never.out ] || fail "written all the same"

# What stands beside it goes with it only if it is called as osprof fuse calls it, and is the same user's, and of that
# kind: a live file may have been put beside somebody else's socket.
beside() {
    start_recorder "$1.live" "$scratch/hung" .control
    kill_recorder
    python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$(basename "$1").sock"
    [ "$PWD" = "$(dirname "$1")" ] || mv "$(basename "$1").sock" "$1.sock"
    : >"$1.ring"
}
beside "$live_dir/7-0"
expect 0 save --remove -o last.out "$live_dir/7-0.live"
assert_eq "" "$(ls "$live_dir")" "what is left"
beside "$live_dir/server"
expect 0 save --remove -o last.out "$live_dir/server.live"
assert_eq "server.ring server.sock" "$(cd "$live_dir" && echo *)" "what stood beside a live file of another name"
rm "$live_dir"/server.*
beside "$live_dir/7-0"
rm "$live_dir/7-0.ring"
ln -s "$scratch/last.out" "$live_dir/7-0.ring"
others="7-0.ring"
if [ "$(id -u)" -eq 0 ]; then
    chown 65534 "$live_dir/7-0.sock"
    others="7-0.ring 7-0.sock"
fi
expect 0 save --remove -o last.out "$live_dir/7-0.live"
assert_eq "$others" "$(cd "$live_dir" && echo *)" "what is somebody else's, or of another kind"
rm "$live_dir"/7-0.*

start_recorder "$live" "$scratch/hung" .control paused
expect 0 show hung
assert_eq "being recorded by process $recorder_pid, paused" "$(shown state)" "state of a paused recorder"
expect 0 save --list
grep -Eq "^ *$recorder_pid  paused     " "$scratch/out" || fail "not listed as paused"
expect_listed paused
kill_recorder

# One of another version is named beside those that can be read.
old=$live_dir/old.live
cp "$live" "$old"
printf '\1' | dd of="$old" bs=1 seek=8 conv=notrunc status=none
expect 0 save --list
grep -q "  $live  " "$scratch/out" || fail "the other is not listed"
grep -Exq "osprof: cannot read $old: live file has version 1, expected [0-9]+: use the osprof that came with what wrote it" \
    "$scratch/err" || fail "one of another version is not named"
rm "$live"
expect 0 save --list
! grep -q "^No live files" "$scratch/out" || fail "denies that there are live files"
