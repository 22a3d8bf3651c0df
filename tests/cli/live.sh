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

expect 0 recover
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
expect 0 check hung "$live"
assert_eq 2 "$(grep -c ': consistent: 2 ops, 8 calls, 1 in flight$' "$scratch/out")" "consistent live files"
expect 2 show hung/.osprof
expect 2 show hung/deeper

# The age of the call in flight grows.
age() {
    expect 0 recover "$live"
    sed -n 's/^# call: FSYNC age \([0-9]*\) .*inode 131074 pid 4711$/\1/p' "$scratch/out"
}
first_age=$(age)
second_age=$(age)
[ "$second_age" -gt "$first_age" ] || fail "an age of $first_age, then $second_age"

# Recovering what still runs: possible, with a warning; but not removing it.
expect 0 recover -o now.out "$live"
assert_eq "osprof: warning: process $recorder_pid still records into $live: the profile is as of now" \
    "$(<"$scratch/err")" warning
assert_eq 7 "$(profile_calls READ now.out)" "calls in the recovered profile"
expect_trouble \
    "osprof: process $recorder_pid still records into $live: not removed and nothing written; unmount first" \
    recover --remove -o never.out "$live"
[ ! -e never.out ] || fail "written all the same"
expect 0 recover
grep -Eq "^ *$recorder_pid  recording  [0-9: -]{19}  $live  $scratch/hung$" "$scratch/out" || fail "not listed as recording"

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
expect 0 recover
grep -Eq "^ *[0-9]+  dead       [0-9: -]{19}  $live  $scratch/hung$" "$scratch/out" || fail "not listed as dead"
expect 2 show hung # nothing serves it any more
expect 0 show "$live"
assert_eq "left behind by process" "$(shown state | cut -d' ' -f1-4)" "state of a dead recorder's file"
expect 0 check "$live"

# To standard output, and over an older file; then the live file may go.
expect 0 recover "$live"
cp "$scratch/out" to-stdout
[ ! -s "$scratch/err" ] || fail "warns of a dead recorder"
expect 0 recover --output=now.out "$live"
cmp now.out to-stdout
expect 0 check now.out
expect_trouble "osprof: cannot write profile no/such/dir: No such file or directory; the live file is untouched" \
    recover --remove -o no/such/dir "$live"
expect 0 recover --remove -o last.out "$live"
cmp last.out to-stdout
[ ! -e "$live" ] || fail "the live file is still there"

expect_trouble "osprof: cannot recover last.out: not a live file; 'osprof recover' lists the live files" \
    recover last.out
mkfifo fifo # nobody is waited for
expect_trouble "osprof: cannot recover fifo: not a live file; 'osprof recover' lists the live files" recover fifo
expect_trouble "osprof: cannot recover $live: No such file or directory; 'osprof recover' lists the live files" \
    recover "$live"

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
expect 0 recover --remove -o last.out "$live_dir/7-0.live"
assert_eq "" "$(ls "$live_dir")" "what is left"
beside "$live_dir/server"
expect 0 recover --remove -o last.out "$live_dir/server.live"
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
expect 0 recover --remove -o last.out "$live_dir/7-0.live"
assert_eq "$others" "$(cd "$live_dir" && echo *)" "what is somebody else's, or of another kind"
rm "$live_dir"/7-0.*

start_recorder "$live" "$scratch/hung" .control paused
expect 0 show hung
assert_eq "being recorded by process $recorder_pid, paused" "$(shown state)" "state of a paused recorder"
expect 0 recover
grep -Eq "^ *$recorder_pid  paused     " "$scratch/out" || fail "not listed as paused"
kill_recorder

# One of another version is named beside those that can be read.
old=$live_dir/old.live
cp "$live" "$old"
printf '\1' | dd of="$old" bs=1 seek=8 conv=notrunc status=none
expect 0 recover
grep -q "  $live  " "$scratch/out" || fail "the other is not listed"
grep -Exq "osprof: cannot read $old: live file has version 1, expected [0-9]+: use the osprof that came with what wrote it" \
    "$scratch/err" || fail "one of another version is not named"
rm "$live"
expect 0 recover
! grep -q "^No live files" "$scratch/out" || fail "denies that there are live files"
